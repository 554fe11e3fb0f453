"""Links and citations that lead nowhere, or to more than one page; and links to pages that have provably moved."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final

from wikimem.errors import Invalid, NotFound
from wikimem.index.naming import name_key, stem_of, without_suffix
from wikimem.memory.formerpaths import FormerPaths
from wikimem.model.hit import PageRow
from wikimem.model.page import Link, Page, Problem
from wikimem.text.markdown import find_block_ids, section_span

if TYPE_CHECKING:
    from wikimem.index.index import LinkRow
    from wikimem.wiki import Wiki

CITATION: Final = "missing-citation"
BROKEN: Final = "broken-link"
FRAGMENT: Final = "broken-fragment"
MOVED_RULES: Final = (BROKEN, CITATION)
"""Rules whose problems are fixable where the page that was meant has moved."""

_SOURCES: Final = "sources"

Named = Callable[[str, str], Iterable[tuple[int, str]]]
"""(kind of name, key) -> number and path of the pages that have it, as `Index.named`."""
Read = Callable[[str], Page | None]
"""The page at a path as it is now; None where there is none."""


def check_links(wiki: Wiki, rows: Sequence[PageRow], links: Iterable[LinkRow]) -> Iterator[Problem]:
    """Broken links, links to headings and blocks that are not there, and ambiguous ones."""
    names = _Names(_by_name(rows))
    targets = _Targets(wiki.read_page)
    moved = FormerPaths(wiki)
    for path, group in groupby(links, key=lambda link: link.source):
        found: list[tuple[int, str, str, bool]] = []
        for place, link in enumerate(group):
            fault = _fault(link, names, targets)
            if fault is None:
                continue
            rule, message = fault
            now = moved.place_of(link.source, link.target, link.kind) if link.broken else None
            message += f"; that page is at '{now}' now" if now else ""
            found.append((place, rule, message, now is not None))
        lines = _lines_of_links(wiki, path) if found else ()
        for place, rule, message, fixable in found:
            yield Problem(rule, path, message, lines[place] if place < len(lines) else None, fixable)


def check_links_of(page: Page, links: Sequence[LinkRow], named: Named, read: Read) -> Iterator[tuple[Link, Problem]]:
    """The same for one page as it is in hand; `links` are what `page.links` mean, in the same order.

    Git's history is not asked where the page of a broken link has gone.
    """
    names, targets = _Names(named), _Targets(read)
    for written, link in zip(page.links, links, strict=True):
        if fault := _fault(link, names, targets):
            yield written, Problem(fault[0], page.path, fault[1], written.line)


def _fault(link: LinkRow, names: _Names, targets: _Targets) -> tuple[str, str] | None:
    """The rule that a link breaks and what is wrong with it, or None."""
    cited = link.kind.lower() == _SOURCES
    written = f"{link.target}#{link.fragment}" if link.fragment else link.target
    if link.broken:
        return CITATION if cited else BROKEN, f"'{written}' leads to no page"
    if missing := targets.missing(link):
        return CITATION if cited else FRAGMENT, f"'{written}' leads to a page without {missing}"
    if others := names.also_meant(link):
        listed = ", ".join(f"'{other}'" for other in others[:5])
        return "ambiguous-link", f"'{written}' is taken for '{link.resolved}' and could mean {listed}"
    return None


def _lines_of_links(wiki: Wiki, path: str) -> Sequence[int]:
    page = wiki.read_page(path)
    return [link.line for link in page.links] if page is not None else ()


class _Targets:
    """Whether the headings and blocks that links name are on their pages; each page is read once."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._pages: dict[str, tuple[Page | None, frozenset[str]]] = {}

    def missing(self, link: LinkRow) -> str:
        """What the link names and its page does not have, in words; empty where it is there, or nobody can say."""
        if not link.fragment or link.resolved is None or link.fragment.startswith("#"):
            return ""
        page, blocks = self._page(link.resolved)
        if page is None:
            return ""
        heading, caret, block = link.fragment.rpartition("^")
        if caret:
            return "" if block.casefold() in blocks else f"the block '^{block}'"
        try:
            section_span(page.text, block or heading, page.body_start)
        except NotFound:
            return f"the heading '{link.fragment}'"
        except Invalid:
            # Several headings of one name: Obsidian takes the first.
            return ""
        return ""

    def _page(self, path: str) -> tuple[Page | None, frozenset[str]]:
        if path not in self._pages:
            page = self._read(path)
            ids = find_block_ids(page.text, page.body_start) if page else ()
            self._pages[path] = page, frozenset(each.casefold() for each in ids)
        return self._pages[path]


def _by_name(rows: Iterable[PageRow]) -> Named:
    """As `Index.named`, for the kinds of name that a link can be ambiguous by, without asking the index each time."""
    found: dict[tuple[str, str], list[tuple[int, str]]] = defaultdict(list)
    for row in rows:
        place = row.number, row.path
        found["stem", name_key(stem_of(row.path))].append(place)
        found["title", name_key(row.title)].append(place)
        for alias in row.aliases:
            found["alias", name_key(alias)].append(place)
    return lambda kind, key: found.get((kind, key), ())


class _Names:
    """Which pages have a name."""

    def __init__(self, named: Named) -> None:
        self._named = named

    def _paths(self, kind: str, name: str) -> list[str]:
        return [path for _, path in self._named(kind, name_key(name))]

    def also_meant(self, link: LinkRow) -> Sequence[str]:
        """Other pages that the link's words fit as well as the one that it is taken for: not by place, nor by case."""
        target, chosen = link.target.strip(), link.resolved
        if not target or chosen is None or target.startswith(("/", "./", "../")):
            return ()
        wanted, folder = without_suffix(target).strip("/"), posixpath.dirname(link.source)
        bare = name_key(without_suffix(chosen))
        if bare in (name_key(wanted), name_key(posixpath.normpath(posixpath.join(folder, wanted)))):
            return ()
        ending = "/" + name_key(wanted)
        same = [
            path
            for path in self._paths("stem", wanted.rpartition("/")[2])
            if ("/" + name_key(without_suffix(path))).endswith(ending)
        ]
        for kind in ("alias", "title"):
            same = same or self._paths(kind, target)
        if chosen not in same or any(posixpath.dirname(path) == folder for path in same):
            return ()
        stem = wanted.rpartition("/")[2]
        exact = [path for path in same if stem_of(path) == stem]
        return [path for path in (exact if chosen in exact else same) if path != chosen]
