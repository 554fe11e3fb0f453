"""graph: what is known of an entity, and how it is connected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from wikimem.errors import Invalid
from wikimem.model.graph import GraphResult
from wikimem.operations.answering import notes_of, search_scope
from wikimem.operations.registry import Arg, operation

if TYPE_CHECKING:
    from wikimem.wiki import Wiki

Picture = Literal["text", "mermaid", "dot", "canvas", "svg"]


@operation(
    "read",
    idempotent=True,
    examples=(
        "wikimem graph library:jose",
        "wikimem graph library:jose --as-of 2025-03-15",
        "wikimem graph src/middleware/auth.ts --since 2025-01-01 --depth 1",
        "wikimem graph jose --format mermaid",
    ),
)
def graph(
    wiki: Wiki,
    entity: Annotated[
        str, Arg("An entity: type:name (library:jose), its name or an alias; or a page.", positional=True, raw=True)
    ],
    depth: Annotated[int, Arg("How many edges to go.", ge=1, le=4)] = 2,
    relation: Annotated[str | None, Arg("Follow this relation only, such as uses.")] = None,
    as_of: Annotated[str | None, Arg("What held on this date: 2025-03-15, or words such as 'last march'.")] = None,
    since: Annotated[str | None, Arg("Also say what began and ended since this date.")] = None,
    project: Annotated[str | None, Arg("Only what belongs to this project, or to none.")] = None,
    limit: Annotated[int, Arg("Most edges to return, the nearest and strongest.", ge=1, le=10_000)] = 100,
    format: Annotated[Picture, Arg("Draw it: canvas opens in Obsidian.")] = "text",
) -> GraphResult:
    """Show what is known of an entity and how it is connected, now or on a date.

    Each edge says since when it holds, why, what else was considered, and who states it.
    """
    from wikimem.graph.drawing import draw
    from wikimem.graph.validity import moment_of
    from wikimem.graph.walk import telling
    from wikimem.memory.link import predicate_of
    from wikimem.operations.graphanswers import GraphAnswers
    from wikimem.search.graphview import open_view

    if not entity.strip():
        raise Invalid("entity: there is nothing to look for", hint="Name an entity, such as library:jose, or a page.")
    now = wiki.clock()
    moment = moment_of(as_of, now)
    predicate = predicate_of(relation) if relation else None
    refreshed = wiki.refresh()
    scope, _ = search_scope(wiki, project)
    with open_view(wiki, scope, keep_missing=bool(refreshed.why)) as view:
        answers = GraphAnswers(view, moment)
        start = view.find(entity)
        walked = view.explore(start, depth, moment, predicate)
        distance = {iri: len(reached.path) for iri, reached in walked.reached.items()}
        ranked = sorted(
            walked.facts.values(),
            key=lambda fact: (
                min(distance.get(fact.edge.subject, depth), distance.get(str(fact.edge.object), depth)),
                *telling(fact),
            ),
        )
        shown = ranked[:limit]
        ends = {end for fact in shown for end in (fact.edge.subject, str(fact.edge.object))} | {start}
        near = sorted(
            (reached for iri, reached in walked.reached.items() if iri in ends),
            key=lambda reached: (len(reached.path), -reached.score, reached.iri),
        )
        entities = tuple(answers.entity(each.iri, len(each.path), each.score) for each in near)
        if walked.left:
            wiki.notes.append(f"{walked.left} entities were reached and not walked on from; ask about one of them")
        changes = view.changes(start, moment_of(since, now, "since"), moment) if since else ((), ())
        return GraphResult(
            entity=answers.entity(start),
            entities=entities,
            edges=tuple(map(answers.edge, shown)),
            paths=tuple(view.words_for(walked, each.iri, moment) for each in near if each.path),
            began=tuple(answers.edge(fact).words for fact in changes[0]),
            ended=tuple(answers.edge(fact).words for fact in changes[1]),
            hubs=tuple(sorted(answers.describe(iri).in_words() for iri in walked.cut)),
            more=len(ranked) - len(shown),
            as_of=as_of,
            project=scope,
            picture=None if format == "text" else draw(format, shown, start, answers.describe, view.page_path),
            problems=tuple(
                f"{each.path}{f':{each.line}' if each.line else ''}: {wiki.redactor.mask(each.message)} ({each.rule})"
                for each in view.store.problems()[:20]
            ),
            notes=notes_of(wiki, refreshed),
        )
