"""move: give a page another path, and keep every link to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from wikimem.errors import Conflict
from wikimem.model.results import MoveResult, PageRef
from wikimem.operations.answering import notes_of
from wikimem.operations.registry import Arg, operation

if TYPE_CHECKING:
    from wikimem.wiki import Wiki

WAIT_S = 60.0


@operation(
    "write",
    examples=(
        "wikimem move Deploy archive/",
        "wikimem move 5C1R6W0N 'Deploy on Fridays'",
        "wikimem move notes/Deploy.md projects/shop/decisions/Deploy.md",
    ),
)
def move(
    wiki: Wiki,
    page: Annotated[
        str, Arg("The page: id, end of its id, path, title, alias or [[wikilink]].", positional=True, raw=True)
    ],
    to: Annotated[
        str, Arg("A folder (archive/), a path (archive/Deploy or Deploy.md), or else a new name.", positional=True)
    ],
) -> MoveResult:
    """Move or rename a page and rewrite the links that would lose it, in one commit.

    With a slash or `.md`, `to` is a path from the root of the vault; ending in a slash, a folder. Anything else is a
    new name in the same folder, made fit for every file system. A title that the file name was made from follows it;
    headings and other text stay. The page keeps its id. Links that still find the page stay as they are written.
    """
    from wikimem.memory.move import move as run

    refreshed = wiki.refresh(wait_s=WAIT_S)
    if refreshed.why:
        raise Conflict(
            f"the index does not know all links: {refreshed.why}", hint="Try again when `wikimem reindex` has finished."
        )
    row = wiki.find(page)
    done = run(wiki, row, to)
    wiki.notes.extend(done.notes)
    now = wiki.index.page(done.path) or row
    return MoveResult(
        page=PageRef(row.id, done.path, wiki.redactor.mask(now.title), now.type),
        moved_from=row.path,
        commit=done.commit,
        rewritten=done.rewritten,
        links=done.links,
        left=tuple(wiki.redactor.mask(each) for each in done.left),
        notes=notes_of(wiki, refreshed),
    )
