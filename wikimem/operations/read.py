"""read: one page, whole or one section of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec.structs import replace

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
    found = _at(wiki, page, at) if at else _now(wiki, page)
    mask = wiki.redactor.mask
    links_out = () if at else wiki.index.links_out(found.path)
    links_in = () if at else wiki.index.links_in(found.path)
    return ReadResult(
        id=found.id,
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


def _now(wiki: Wiki, address: str) -> Page:
    row = wiki.find(address)
    found = wiki.read_page(row.path)
    if found is None:
        _refuse_closed(wiki, row.path)
        raise NotFound(f"'{row.path}' is gone", hint="`wikimem log` tells what happened to it.")
    return replace(found, id=row.id)


def _at(wiki: Wiki, address: str, at: str) -> Page:
    """The page that an address names, now or then, as it was at a revision or date."""
    from wikimem.text.page import parse_page
    from wikimem.vault.pastpages import named_then, path_then

    commit = commit_at(wiki, at)
    try:
        row = wiki.find(address)
    except NotFound as missing:
        named = named_then(wiki.root, commit.decode(), address)
        if len(named) > 1:
            listed = ", ".join(named[:8])
            raise Invalid(f"'{address}' named {len(named)} pages at {at}: {listed}", hint="Use the path.") from missing
        if not named:
            raise
        path, known_id = named[0], ""
    else:
        found = path_then(wiki.root, commit.decode(), row.path, row.id)
        if found is None:
            raise NotFound(f"'{row.path}' was not there at {at}", hint=f"See `wikimem log --page '{row.path}'`.")
        path, known_id = found, row.id
    entry = wiki.repository.head_entries([path], commit)[path]
    if entry is None:
        raise NotFound(f"'{path}' was not there at {at}", hint=f"See `wikimem log --page '{path}'`.")
    page = parse_page(path, wiki.repository.file_bytes(path, entry.blob))
    return replace(page, id=known_id or page.id)


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
