"""edit: change one part of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from wikimem.model.results import EditResult, PageRef
from wikimem.operations.answering import notes_of
from wikimem.operations.registry import Arg, operation

if TYPE_CHECKING:
    from wikimem.wiki import Wiki


@operation(
    "write",
    examples=(
        "wikimem edit Deploy --set confidence=0.9 --set tags=ops,ci",
        "wikimem edit Deploy --replace 'port 8080' 'port 9090' --base 3f2a9c1d5e6b7a80",
        "wikimem edit Deploy --section Rollback --mode append --text '- tell the channel'",
    ),
)
def edit(
    wiki: Wiki,
    page: Annotated[
        str, Arg("The page: id, end of its id, path, title, alias or [[wikilink]].", positional=True, raw=True)
    ],
    base: Annotated[str | None, Arg("The revision that the edit is based on; a stale one is refused.")] = None,
    set: Annotated[
        list[str], Arg("KEY=VALUE of the frontmatter; repeat for several; KEY= removes it.", metavar="KEY=VALUE")
    ] = [],  # noqa: B006
    replace: Annotated[
        list[str],
        Arg(
            "Two texts: the exact old one, which must be on the page once, and the new one.",
            raw=True,
            metavar="OLD NEW",
        ),
    ] = [],  # noqa: B006
    section: Annotated[str | None, Arg("The heading of the section that the text is for.", raw=True)] = None,
    text: Annotated[
        str | None,
        Arg("The text: of the section, to append, or of the whole page; - reads standard input.", stdin=True),
    ] = None,
    mode: Annotated[Literal["replace", "append", "prepend"], Arg("What to do with the text.")] = "replace",
) -> EditResult:
    """Change one part of a page, and no other byte of it, in one commit.

    One of: set, replace, section with text, or text. Somebody's uncommitted change to that page is committed
    first, as theirs.
    """
    from wikimem.memory.edit import Edit
    from wikimem.memory.edit import edit as run

    wiki.prepare_to_write()
    if len(replace) == 2:
        replace = [replace[0], wiki.gate(replace[1])]
    done = run(wiki, page, Edit(set=set, replace=replace, section=section, text=text, mode=mode, base=base))
    row = wiki.index.page(done.path)
    return EditResult(
        page=PageRef(
            done.id, done.path, wiki.redactor.mask(row.title if row else done.path), row.type if row else "note"
        ),
        commit=done.commit,
        revision=done.revision,
        redacted=dict(wiki.redacted),
        notes=notes_of(wiki),
    )
