"""What an editor shows of the thing under the cursor: the page that a link means, where it is, who links to it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from wikimem.errors import Invalid, NotFound
from wikimem.model.authoring import Hovered, PageCard, Place, Section
from wikimem.operations.answering import date_text

if TYPE_CHECKING:
    from wikimem.model.page import Heading, Link, Page
    from wikimem.operations.authoring import Read
    from wikimem.wiki import Wiki

MOST_SOURCES: Final = 5
EXCERPT_LINES: Final = 8
EXCERPT_CHARACTERS: Final = 600
MOST_REFERENCES: Final = 2_000
"""Links to one page that are listed."""


def link_at(page: Page, offset: int) -> Link | None:
    """The link that holds the offset, or ends there; of two that meet there, the one that begins."""
    found = [link for link in page.links if link.start <= offset <= link.end]
    return found[-1] if found else None


def hover(wiki: Wiki, page: Page, offset: int, read: Read) -> Hovered | None:
    """What is known of a link, a property or the frontmatter at an offset; None for anything else."""
    from wikimem.memory.checkpage import path_meant
    from wikimem.text.cursor import in_frontmatter, property_at
    from wikimem.text.properties import PROPERTIES

    if link := link_at(page, offset):
        path = path_meant(wiki, page, link)
        target = page if path == page.path else read(path) if path else None
        return Hovered(link.start, link.end, _card(wiki, target, link.fragment)) if target else None
    if not in_frontmatter(page.text, offset):
        return None
    name = property_at(page.text, offset)
    meaning = PROPERTIES[name.lower()].meaning if name.lower() in PROPERTIES else ""
    start = max(page.text.rfind("\n", 0, offset), page.text.rfind("\r", 0, offset)) + 1
    end = start + len(page.text[start : page.body_start].splitlines()[0])
    return Hovered(start, end, _card(wiki, page, ""), wiki.redactor.mask(name) if meaning else "", meaning)


def _card(wiki: Wiki, page: Page, fragment: str) -> PageCard:
    mask = wiki.redactor.mask
    meta = page.meta
    row = wiki.index.page(page.path)
    return PageCard(
        title=mask(page.title),
        path=mask(page.path),
        id=page.id,
        type=mask(meta.type),
        status=meta.status,
        project=mask(row.project) if row and row.project else None,
        confidence=meta.confidence,
        trust=meta.trust,
        valid_from=date_text(meta.valid_from),
        valid_to=date_text(meta.valid_to),
        expires=date_text(row.expires) if row else None,
        sources=tuple(mask(source) for source in meta.sources[:MOST_SOURCES]),
        more_sources=max(0, len(meta.sources) - MOST_SOURCES),
        superseded_by=tuple(mask(each) for each in meta.superseded_by),
        excerpt=_excerpt(mask(page.without_conflict().text[slice(*_part(page, fragment))])),
    )


def _part(page: Page, fragment: str) -> tuple[int, int]:
    """Where a fragment's section or block stands; all of the body without one, or where it is not there."""
    start, end = _span(page, fragment)
    if not end:
        return page.body_start, len(page.text)
    heading = next((each for each in page.headings if each.start == start), None)
    if heading is None or "^" in fragment:
        return start, end
    below = (each.start for each in page.headings if each.start > start and each.level <= heading.level)
    return start, next(below, len(page.text))


def _excerpt(text: str) -> str:
    """The first lines that say something."""
    from wikimem.text.oneline import shorten

    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return shorten("\n".join(lines[:EXCERPT_LINES]), EXCERPT_CHARACTERS)


def _span(page: Page, fragment: str) -> tuple[int, int]:
    """Where the heading or block stands that a fragment names; (0, 0) where it is not on the page, or none is named."""
    from wikimem.text.markdown import find_block_ids, find_headings, section_span

    heading, caret, block = fragment.rpartition("^")
    if caret:
        blocks = find_block_ids(page.text, page.body_start)
        return next((span for name, span in blocks.items() if name.casefold() == block.casefold()), (0, 0))
    if not (wanted := heading or block).strip():
        return 0, 0
    try:
        start, end, _ = section_span(page.text, wanted, page.body_start)
    except NotFound:
        return 0, 0
    except Invalid:
        # Several headings of one name: Obsidian takes the first.
        key = " ".join(wanted.rpartition("#")[2].split()).casefold()
        headings = find_headings(page.text, page.body_start)
        return next(((each.start, each.end) for each in headings if each.text.casefold() == key), (0, 0))
    return start, end


def definition(wiki: Wiki, page: Page, offset: int, read: Read) -> Place | None:
    """Where the link at an offset leads: the heading or block that it names, else the start of its page."""
    from wikimem.memory.checkpage import path_meant

    link = link_at(page, offset)
    path = path_meant(wiki, page, link) if link else None
    if link is None or path is None:
        return None
    target = page if path == page.path else read(path)
    if target is None:
        return None
    start, end = _span(target, link.fragment)
    end = start + len(target.text[start:end].rstrip("\r\n"))
    return Place(path, target.text, start, end)


def references(
    wiki: Wiki, page: Page, offset: int, read: Read, *, opened: Collection[str] = (), declared: bool = False
) -> tuple[Place, ...]:
    """The links to the page that the link at an offset means; without one, to the open page itself.

    On a heading of the open page, or a link to one, only links to that heading. `declared` adds the place itself.
    `opened` are the paths of other open pages, which may have links that are not saved yet.
    """
    from wikimem.memory.checkpage import path_meant

    link = link_at(page, offset)
    path = path_meant(wiki, page, link) if link else page.path
    target = page if path == page.path else read(path) if path else None
    if path is None or target is None:
        return ()
    aim = _span(target, link.fragment) if link else _heading_at(page, offset)
    found = [Place(path, target.text, *aim)] if declared else []
    for source in sorted({page.path, *opened, *(row.source for row in wiki.index.links_in(path))}):
        found += _links_to(wiki, page if source == page.path else read(source), target, aim)
        if len(found) >= MOST_REFERENCES:
            break
    return tuple(found[:MOST_REFERENCES])


def _links_to(wiki: Wiki, source: Page | None, target: Page, aim: tuple[int, int]) -> Iterator[Place]:
    from wikimem.memory.checkpage import path_meant

    if source is None:
        return
    for link in source.links:
        if path_meant(wiki, source, link) == target.path and (not any(aim) or _span(target, link.fragment) == aim):
            yield Place(source.path, source.text, link.start, link.end)


def _heading_at(page: Page, offset: int) -> tuple[int, int]:
    return next(((each.start, each.end) for each in page.headings if each.start <= offset < each.end), (0, 0))


def sections(page: Page) -> tuple[Section, ...]:
    """The headings of a page, those of deeper levels inside the ones above them."""
    return _sections(page.headings, len(page.text))


def _sections(headings: Sequence[Heading], end: int) -> tuple[Section, ...]:
    found: list[Section] = []
    at = 0
    while at < len(headings):
        heading = headings[at]
        following = next((n for n in range(at + 1, len(headings)) if headings[n].level <= heading.level), len(headings))
        stop = headings[following].start if following < len(headings) else end
        found.append(Section(heading, stop, _sections(headings[at + 1 : following], stop)))
        at = following
    return tuple(found)
