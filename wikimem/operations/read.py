"""read: one page, whole or one section of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from wikimem.errors import Invalid, NotFound
from wikimem.model.results import LinkIn, LinkOut, ReadResult
from wikimem.operations.answering import notes_of
from wikimem.operations.registry import Arg, operation
from wikimem.text.dates import parse_date, parse_iso

if TYPE_CHECKING:
    from wikimem.model.page import Page
    from wikimem.wiki import Wiki


@operation(
    "read",
    idempotent=True,
    examples=(
        "wikimem read 'Use jose for JWT verification'",
        "wikimem read 5C1R6W0N --section Alternatives",
        "wikimem read Deploy --at 'last march'",
    ),
)
def read(
    wiki: Wiki,
    page: Annotated[
        str, Arg("The page: id, end of its id, path, title, alias or [[wikilink]].", positional=True, raw=True)
    ],
    at: Annotated[str | None, Arg("As it was at this revision or date.", raw=True)] = None,
    section: Annotated[str | None, Arg("Only the section under this heading.", raw=True)] = None,
) -> ReadResult:
    """Read a page: frontmatter, text, revision, and its links in both directions."""
    refreshed = wiki.refresh()
    row = wiki.find(page)
    found = _at(wiki, row.path, at) if at else wiki.read_page(row.path)
    if found is None:
        _refuse_closed(wiki, row.path)
        raise NotFound(f"'{row.path}' is gone", hint="`wikimem log` tells what happened to it.")
    mask = wiki.redactor.mask
    links_out = () if at else wiki.index.links_out(row.path)
    links_in = () if at else wiki.index.links_in(row.path)
    return ReadResult(
        id=row.id,
        path=found.path,
        title=mask(found.title),
        type=found.meta.type,
        frontmatter={
            mask(key): mask(value) if isinstance(value, str) else tuple(mask(item) for item in value or ()) or None
            for key, value in found.properties.items()
        },
        body=mask(_section(found, section) if section else found.body),
        revision=found.revision,
        writable=found.writable,
        links_out=tuple(LinkOut(mask(link.target), link.kind, link.resolved) for link in links_out),
        links_in=tuple(LinkIn(link.source, link.kind) for link in links_in),
        problems=tuple(f"{each.path}:{each.line or 1}: {mask(each.message)}" for each in found.problems),
        notes=notes_of(wiki, refreshed),
    )


def _section(page: Page, heading: str) -> str:
    from wikimem.text.markdown import section_span

    start, _, end = section_span(page.text, heading, page.body_start)
    return page.text[start:end]


def _refuse_closed(wiki: Wiki, path: str) -> None:
    from wikimem.vault.files import cannot

    try:
        (wiki.root / path).open("rb").close()
    except PermissionError as error:
        raise cannot(f"read '{path}'", error) from error
    except OSError:
        pass


def _at(wiki: Wiki, path: str, at: str) -> Page:
    from wikimem.text.page import parse_page

    commit = commit_at(wiki, at)
    entry = wiki.repository.head_entries([path], commit)[path]
    if entry is None:
        raise NotFound(f"'{path}' was not there at {at}", hint=f"See `wikimem log --page '{path}'`.")
    return parse_page(path, wiki.repository.file_bytes(path, entry.blob))


def commit_at(wiki: Wiki, at: str) -> bytes:
    """The commit that REV names: a revision of git, or the last first-parent commit of a DATE.

    A full date is never a revision; anything else is one first, so that a branch may be called `may`.
    """
    if len(at) >= len("2025-03") and parse_iso(at) is not None:
        return wiki.repository.commit_before(parse_date(at, wiki.clock(), "at").end)
    try:
        return wiki.repository.resolve(at)
    except NotFound as not_a_revision:
        try:
            moment = parse_date(at, wiki.clock()).end
        except Invalid:
            raise not_a_revision from None
        return wiki.repository.commit_before(moment)
