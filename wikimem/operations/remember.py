"""remember: make a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from wikimem.errors import Invalid
from wikimem.model.page import MemoryType
from wikimem.model.results import PageRef, RememberResult, SimilarPage
from wikimem.operations.answering import notes_of
from wikimem.operations.registry import Arg, operation

if TYPE_CHECKING:
    from wikimem.wiki import Wiki


@operation(
    "write",
    examples=(
        "wikimem remember 'The API runs on port 8080' --tags ops",
        "wikimem remember 'Use jose for JWT verification' --type decision --supersedes 'Use jsonwebtoken' --text -",
        "wikimem remember 'Mira prefers small commits' --type preference --global",
    ),
)
def remember(
    wiki: Wiki,
    title: Annotated[
        str, Arg("What is true, in one line; it becomes the page's title and file name.", positional=True)
    ],
    text: Annotated[str, Arg("The details, in Markdown; - reads standard input.", stdin=True)] = "",
    type: Annotated[MemoryType, Arg("What kind of memory it is.")] = "fact",
    project: Annotated[str | None, Arg("The project that it belongs to, instead of the working directory's.")] = None,
    tags: Annotated[list[str], Arg("A tag; repeat for several.")] = [],  # noqa: B006
    sources: Annotated[
        list[str], Arg("Where it comes from: a [[page#^block]], a URL, file:path@commit, commit:sha.")
    ] = [],  # noqa: B006
    confidence: Annotated[float | None, Arg("How sure it is, from 0 to 1.", ge=0, le=1)] = None,
    ttl: Annotated[str | None, Arg("How long it stays true: an ISO 8601 duration such as P1Y or P30D.")] = None,
    valid_from: Annotated[str | None, Arg("Since when it holds: a date, or words such as 'last march'.")] = None,
    valid_to: Annotated[str | None, Arg("Until when it holds.")] = None,
    supersedes: Annotated[list[str], Arg("A page that this one replaces: its validity is closed.", raw=True)] = [],  # noqa: B006
    importance: Annotated[float | None, Arg("How much it matters, from 0 to 1.", ge=0, le=1)] = None,
    pinned: Annotated[bool, Arg("Never let it fade, and give it first.")] = False,
    global_: Annotated[bool, Arg("It belongs to no single project.")] = False,
) -> RememberResult:
    """Remember something: make a page for it, in one commit.

    The exact same memory again changes nothing. A page that is superseded is closed and points to the new one.
    Secrets are taken out before anything is written.
    """
    from wikimem.memory.remember import Memory
    from wikimem.memory.remember import remember as run

    if global_ and project:
        raise Invalid("global and project exclude each other", hint="Give one of them.")
    wiki.prepare_to_write()
    belongs = None if global_ else project or wiki.project
    done = run(
        wiki,
        Memory(
            title=title,
            text=text,
            type=type,
            project=belongs,
            tags=tags,
            sources=sources,
            confidence=confidence,
            ttl=ttl,
            valid_from=valid_from,
            valid_to=valid_to,
            supersedes=supersedes,
            importance=importance,
            pinned=pinned,
        ),
    )
    return RememberResult(
        page=PageRef(done.id, done.path, done.title, type),
        commit=done.commit,
        existing=done.existing,
        superseded=done.superseded,
        disputed=done.disputed,
        similar=tuple(
            SimilarPage(each.id, wiki.redactor.mask(each.title), each.path, each.score) for each in done.similar
        ),
        redacted=dict(wiki.redacted),
        notes=notes_of(wiki),
    )
