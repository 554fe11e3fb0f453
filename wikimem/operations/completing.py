"""How what is being written on an open page may go on: links to pages, headings and blocks; properties and values."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from wikimem.model.authoring import Completions, Suggestion

if TYPE_CHECKING:
    from wikimem.model.hit import PageRow
    from wikimem.model.page import Page
    from wikimem.operations.authoring import Pages, Read
    from wikimem.text.cursor import LinkAtCursor, PropertyNameAtCursor, PropertyValueAtCursor
    from wikimem.wiki import Wiki

MOST: Final = 100
"""Suggestions at a time; typing on brings others."""

_SHOWN_CHARACTERS: Final = 80
_UNLINKABLE: Final = frozenset("#^[]|\r\n")
"""Characters that no target of a link can hold."""


def complete(wiki: Wiki, page: Page, offset: int, read: Read, pages: Pages) -> Completions:
    """Suggestions for what stands before `offset` in the open page's text; none where that is plain text."""
    from wikimem.text.cursor import LinkAtCursor, PropertyNameAtCursor, at_cursor

    found = at_cursor(page.text, offset)
    if found is None:
        return Completions()
    if isinstance(found, PropertyNameAtCursor):
        suggestions, more = _names(page, found), False
    elif not isinstance(found, LinkAtCursor):
        suggestions, more = _values(wiki, page, found, pages)
    elif found.part == "page":
        suggestions, more = _targets(wiki, page, found, pages)
    else:
        suggestions, more = _parts(wiki, page, found, read)
    mask = wiki.redactor.mask
    # What holds a secret is not offered: with it masked, the link would lead nowhere.
    shown = (each for each in suggestions if mask(f"{each.label}\n{each.text}") == f"{each.label}\n{each.text}")
    return Completions(found.start, found.end, tuple(shown), more)


# Links


def _targets(wiki: Wiki, page: Page, link: LinkAtCursor, pages: Pages) -> tuple[list[Suggestion], bool]:
    in_head = link.start < page.body_start
    # The words that are shown are there already.
    target_only = in_head or page.text.startswith(("|", "#", "\\"), link.end)
    ending = "" if link.closed else "]]"
    found = _pages_named(pages, page, link.typed)
    best = heapq.nsmallest(MOST + 1, found, key=lambda each: each[0])
    suggestions = [
        Suggestion(
            name,
            text + ending,
            "alias" if name in row.aliases else "page",
            _described(row),
            row.status != "active",
        )
        for _, name, row in best[:MOST]
        if (text := link_text(wiki, page, row, name, target_only=target_only))
    ]
    return suggestions, len(best) > MOST


Rank = tuple[int, bool, bool, float, str]


def _pages_named(pages: Pages, page: Page, typed: str) -> Iterator[tuple[Rank, str, PageRow]]:
    """Names of pages that what is typed may be the beginning or a part of, with their rank: lowest first."""
    from wikimem.index.naming import name_key, stem_of, without_suffix

    key = name_key(typed)
    for row in pages():
        if row.path == page.path:
            continue
        names = [without_suffix(row.path)] if "/" in typed else [row.title, *row.aliases]
        if "/" not in typed and name_key(stem_of(row.path)) not in {name_key(name) for name in names}:
            names.append(stem_of(row.path))
        newest = -row.mtime.timestamp() if row.mtime else 0.0
        for name in names:
            fit = _fit(key, name_key(name))
            if fit is not None:
                other = row.project != page.meta.project and row.project is not None
                yield (fit, row.status != "active", other, newest, name), name, row
            if not key:
                break


def _fit(typed: str, name: str) -> int | None:
    """How well a name fits what is typed: 0 begins with it, 1 a word of it does, 2 holds it, 3 holds its words."""
    if name.startswith(typed):
        return 0
    if typed in name:
        return 1 if f" {typed}" in name or f"/{typed}" in name else 2
    return 3 if all(word in name for word in typed.split()) else None


def link_text(wiki: Wiki, page: Page, row: PageRow, name: str, *, target_only: bool) -> str:
    """What goes between `[[` and `]]` so that a page is meant, in Obsidian too, and `name` is shown; empty where no
    link can name it. The file's name is enough where no other page has it."""
    from wikimem.index.naming import name_key, stem_of, without_suffix
    from wikimem.index.resolve import resolve_link

    stem, full = stem_of(row.path), without_suffix(row.path)
    alone = len(wiki.index.named("stem", name_key(stem))) == 1
    target = stem if alone and resolve_link(page.path, stem, "wikilink", wiki.index.named) == row.number else full
    if not _UNLINKABLE.isdisjoint(target):
        return ""
    if target_only or name in (stem, full) or not {"|", "[", "]"}.isdisjoint(name):
        return target
    return f"{target}|{name}"


def _described(row: PageRow) -> str:
    said = [row.type, row.project or "", row.status if row.status != "active" else ""]
    return ", ".join(filter(None, said))


def _parts(wiki: Wiki, page: Page, link: LinkAtCursor, read: Read) -> tuple[list[Suggestion], bool]:
    """Headings or blocks of the page that the link means."""
    from wikimem.memory.checkpage import path_meant
    from wikimem.text.links import parse_wikilink

    meant = parse_wikilink(link.target) if link.target else None
    path = path_meant(wiki, page, meant) if meant else page.path
    target = page if path == page.path else read(path) if path and (meant or not link.target) else None
    if target is None:
        return [], False
    ending = "" if link.closed else "]]"
    key = link.typed.strip().casefold()
    found = _headings(target) if link.part == "heading" else _blocks(target)
    fitting = [each for each in found if key in f"{each.label}\n{each.detail}".casefold()]
    cut = [Suggestion(each.label, each.text + ending, each.kind, each.detail) for each in fitting[:MOST]]
    return cut, len(fitting) > MOST


def _headings(page: Page) -> Iterator[Suggestion]:
    for heading in page.headings:
        # As Obsidian writes a heading in a link.
        words = " ".join("".join(" " if char in _UNLINKABLE | {":"} else char for char in heading.text).split())
        if words:
            yield Suggestion(heading.text, words, "heading", "#" * heading.level)


def _blocks(page: Page) -> Iterator[Suggestion]:
    from wikimem.text.markdown import find_block_ids
    from wikimem.text.oneline import flatten, shorten

    for name, (start, end) in find_block_ids(page.text, page.body_start).items():
        yield Suggestion(name, name, "block", shorten(flatten(page.text[start:end]), _SHOWN_CHARACTERS))


# Frontmatter


def _names(page: Page, written: PropertyNameAtCursor) -> list[Suggestion]:
    from wikimem.text.properties import PROPERTIES

    current = page.text[written.start : written.end].strip().casefold()
    there = {key.casefold() for key in page.properties} - {current}
    colon = "" if written.has_colon else ": "
    return [
        Suggestion(name, name + colon, "property", known.meaning)
        for name, known in PROPERTIES.items()
        if name not in there and written.typed.strip().casefold() in name
    ]


def _values(wiki: Wiki, page: Page, value: PropertyValueAtCursor, pages: Pages) -> tuple[list[Suggestion], bool]:
    from wikimem.text.properties import PROPERTIES

    known = PROPERTIES.get(value.key.lower())
    if known is not None and known.kind == "links":
        return _quoted_links(wiki, page, value, pages)
    words = dict.fromkeys([*(known.choices if known else ()), *_words_in_use(pages, value.key.lower())])
    if known is not None and known.kind == "date":
        words[wiki.clock().date().isoformat()] = None
    key = value.typed.casefold()
    beginning = [word for word in words if word.casefold().startswith(key)]
    holding = [word for word in words if key in word.casefold() and word not in beginning]
    fitting = [*beginning, *holding]
    return [_word(word, value) for word in fitting[:MOST]], len(fitting) > MOST


def _words_in_use(pages: Pages, key: str) -> Iterable[str]:
    """The values of a property that other pages have, the most used first; none for a property without such."""
    if key not in ("type", "project", "tags", "tag", "agent"):
        return ()
    counts: Counter[str] = Counter()
    for row in pages():
        counts.update(row.tags if key in ("tags", "tag") else filter(None, [getattr(row, key)]))
    return [word for word, _ in counts.most_common()]


def _quoted_links(wiki: Wiki, page: Page, value: PropertyValueAtCursor, pages: Pages) -> tuple[list[Suggestion], bool]:
    """Wikilinks as values; they need quotes."""
    found = _pages_named(pages, page, value.typed.strip("\"'[]"))
    best = heapq.nsmallest(MOST + 1, found, key=lambda each: each[0])
    suggestions = []
    for _, name, row in best[:MOST]:
        if target := link_text(wiki, page, row, name, target_only=True):
            link = f"[[{target}]]"
            text = link if value.quoted else '"' + link.replace("\\", "\\\\").replace('"', '\\"') + '"'
            lead = " " if value.needs_space else ""
            suggestions.append(Suggestion(name, lead + text, "page", _described(row), row.status != "active"))
    return suggestions, len(best) > MOST


def _word(word: str, value: PropertyValueAtCursor) -> Suggestion:
    from wikimem.text.yamltext import BARE_KEYS, write_scalar

    bare = [kind] if (kind := BARE_KEYS.get(value.key)) else []
    text = word if value.quoted else write_scalar(word, key=value.key, bare=bare, flow=True)
    return Suggestion(word, (" " if value.needs_space else "") + text, "value")
