"""link: state how two things are related."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from wikimem.model.graph import LinkResult
from wikimem.operations.answering import notes_of
from wikimem.operations.registry import Arg, operation

if TYPE_CHECKING:
    from wikimem.wiki import Wiki


@operation(
    "write",
    idempotent=True,
    examples=(
        "wikimem link file:src/auth.ts uses library:jose --valid-from 2025-09-12 --reasoning 'edge runtime'",
        "wikimem link file:src/auth.ts uses library:jsonwebtoken --valid-to 2025-09-12",
        "wikimem link 'concept:JWT auth' property:provider jose",
        "wikimem link person:ada alias 'Ada Example'",
        "wikimem link library:jsonwebtoken succeeded_by library:jose --source '[[Use jose for JWT verification]]'",
    ),
)
def link(
    wiki: Wiki,
    subject: Annotated[
        str, Arg("An entity as type:name, its name or alias if it is known; or a page.", positional=True)
    ],
    relation: Annotated[
        str,
        Arg("Such as uses, depends_on or fixes; property:NAME for a property, alias, or same_as.", positional=True),
    ],
    object: Annotated[str, Arg("As the subject; the value of a property, the name for an alias.", positional=True)],
    weight: Annotated[float, Arg("1.0 where it is stated, 0.5 where inferred, 0.1 where guessed.", ge=0, le=1)] = 1.0,
    valid_from: Annotated[str | None, Arg("Since when it holds: 2025, 2025-03, a day, or words.")] = None,
    valid_to: Annotated[str | None, Arg("Until when; given again later, this ends it. `..` opens the end.")] = None,
    reasoning: Annotated[str | None, Arg("Why it is so, in one line.")] = None,
    alternatives: Annotated[list[str], Arg("What else was considered; repeat for several.")] = [],  # noqa: B006
    source: Annotated[
        str | None, Arg("Who says so: a page or [[page#^block]], a URL, file:path@commit, commit:sha.")
    ] = None,
    project: Annotated[str | None, Arg("The project, instead of the working directory's.")] = None,
    retract: Annotated[bool, Arg("Take it back: it never was so. Stating it again revives it.")] = False,
) -> LinkResult:
    """State how two entities or pages are related, in one commit.

    The same statement from another source is further evidence; the very same again changes nothing. Nothing is
    overwritten: an end, a correction and a retraction are added to what was said.
    """
    from wikimem.graph.validity import holds_on_no_day, moment_of
    from wikimem.memory.link import Statement
    from wikimem.memory.link import link as run
    from wikimem.operations.graphanswers import GraphAnswers
    from wikimem.search.graphview import open_view

    wiki.prepare_to_write()
    done = run(
        wiki,
        Statement(
            subject=subject,
            relation=relation,
            object=object,
            weight=weight,
            valid_from=valid_from,
            valid_to=valid_to,
            reasoning=reasoning,
            alternatives=alternatives,
            source=source,
            project=project or wiki.caller.project,
            retract=retract,
        ),
    )
    if done.fact and holds_on_no_day(done.fact.valid_from, done.fact.valid_to):
        wiki.notes.append(
            f"it holds on no day: on {done.fact.valid_to} it has ended already; an end is the first day without it"
        )
    with open_view(wiki) as view:
        answers = GraphAnswers(view, moment_of(None, wiki.clock()))
        return LinkResult(
            edge=answers.edge(done.fact) if done.fact else None,
            commit=done.commit,
            existing=done.existing,
            redacted=dict(wiki.redacted),
            notes=notes_of(wiki),
        )
