"""Links and citations that lead nowhere, or to more than one page; and links to pages that have provably moved."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final

from wikimem.errors import Invalid, NotFound
from wikimem.index.naming import name_key, stem_of, without_suffix
from wikimem.memory.formerpaths import FormerPaths
from wikimem.model.hit import PageRow
from wikimem.model.page import Page, Problem
from wikimem.text.markdown import find_block_ids, section_span

if TYPE_CHECKING:
    from wikimem.index.index import LinkRow
    from wikimem.wiki import Wiki

CITATION: Final = "missing-citation"
BROKEN: Final = "broken-link"
MOVED_RULES: Final = (BROKEN, CITATION)
"""Rules whose problems are fixable where the page that was meant has moved."""

_SOURCES: Final = "sources"


def check_links(wiki: Wiki, rows: Sequence[PageRow], links: Iterable[LinkRow]) -> Iterator[Problem]:
    """Broken links, links to headings and blocks that are not there, and ambiguous ones."""
    names = _Names(rows)
    targets = _Targets(wiki)
    moved = FormerPaths(wiki)
    for path, group in groupby(links, key=lambda link: link.source):
        found: list[tuple[int, str, str, bool]] = []
        for place, link in enumerate(group):
            rule = CITATION if link.kind.lower() == _SOURCES else BROKEN
            written = f"{link.target}#{link.fragment}" if link.fragment else link.target
            if link.broken:
                now = moved.place_of(link.source, link.target, link.kind)
                message = f"'{written}' leads to no page" + (f"; that page is at '{now}' now" if now else "")
                found.append((place, rule, message, now is not None))
            elif missing := targets.missing(link):
                fragment_rule = CITATION if rule == CITATION else "broken-fragment"
                found.append((place, fragment_rule, f"'{written}' leads to a page without {missing}", False))
            elif others := names.also_meant(link):
                listed = ", ".join(f"'{other}'" for other in others[:5])
                message = f"'{written}' is taken for '{link.resolved}' and could mean {listed}"
                found.append((place, "ambiguous-link", message, False))
        lines = _lines_of_links(wiki, path) if found else ()
        for place, rule, message, fixable in found:
            yield Problem(rule, path, message, lines[place] if place < len(lines) else None, fixable)


def _lines_of_links(wiki: Wiki, path: str) -> Sequence[int]:
    page = wiki.read_page(path)
    return [link.line for link in page.links] if page is not None else ()


class _Targets:
    """Whether the headings and blocks that links name are on their pages; each page is read once."""

    def __init__(self, wiki: Wiki) -> None:
        self._wiki = wiki
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
            page = self._wiki.read_page(path)
            ids = find_block_ids(page.text, page.body_start) if page else ()
            self._pages[path] = page, frozenset(each.casefold() for each in ids)
        return self._pages[path]


class _Names:
    """Which pages have a name."""

    def __init__(self, rows: Iterable[PageRow]) -> None:
        self._stems: dict[str, list[str]] = defaultdict(list)
        self._others: tuple[dict[str, list[str]], ...] = (defaultdict(list), defaultdict(list))
        aliases, titles = self._others
        for row in rows:
            self._stems[name_key(stem_of(row.path))].append(row.path)
            titles[name_key(row.title)].append(row.path)
            for alias in row.aliases:
                aliases[name_key(alias)].append(row.path)

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
            for path in self._stems.get(name_key(wanted.rpartition("/")[2]), ())
            if ("/" + name_key(without_suffix(path))).endswith(ending)
        ]
        for names in self._others:
            same = same or list(names.get(name_key(target), ()))
        if chosen not in same or any(posixpath.dirname(path) == folder for path in same):
            return ()
        stem = wanted.rpartition("/")[2]
        exact = [path for path in same if stem_of(path) == stem]
        return [path for path in (exact if chosen in exact else same) if path != chosen]
