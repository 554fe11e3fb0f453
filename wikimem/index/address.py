"""PAGE addresses: which pages an id, the end of an id, a path, a title, an alias or a wikilink names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

from wikimem.index.manifest import Manifest
from wikimem.index.naming import name_key, stem_of, without_suffix
from wikimem.index.resolve import resolve_link
from wikimem.model.hit import PageRow
from wikimem.text.links import parse_wikilink

LEAST_SUFFIX: Final = 6
"""Characters of the end of an id that suffice: a chance of one in a billion for two pages of a vault to share them."""
_ID_END: Final = re.compile(rf"[0-9A-HJKMNP-TV-Z]{{{LEAST_SUFFIX},26}}")


def find_pages(manifest: Manifest, address: str) -> tuple[PageRow, ...]:
    """All pages that `address` names in the best way in which it names any; several are for the caller to refuse.

    In order: a path exactly as it is on disk; an id or its end; a path; a title, an alias, a file name as they are
    written; a path, a title, an alias, a file name in other capitals; the end of a path. A wikilink in brackets is
    followed as a link of the vault's root.
    """
    try:
        address.encode()
    except UnicodeEncodeError:
        return ()  # bytes that are no UTF-8, from a command line: no page has such a name
    # As written, before anything is made equal: two pages may differ in form or in blanks alone.
    exact = manifest.rows("SELECT number FROM pages WHERE path = ?", (address,))
    if exact:
        return tuple(manifest.pages_by_number({number for (number,) in exact}).values())
    text = unicodedata.normalize("NFC", address).strip()
    if text.startswith("[[") and text.endswith("]]"):
        link = parse_wikilink(text)
        text = link.target if link else text[2:-2].strip()
    if not text:
        return ()
    for numbers in _candidates(manifest, text):
        if numbers:
            found = manifest.pages_by_number(numbers)
            return tuple(sorted(found.values(), key=lambda row: row.path))
    return ()


def _candidates(manifest: Manifest, text: str) -> Iterator[set[int]]:
    yield _by_id(manifest, text)
    path = text.removeprefix("./").lstrip("/")
    for written in dict.fromkeys((path, f"{path}.md")):
        yield {number for (number,) in manifest.rows("SELECT number FROM pages WHERE path = ?", (written,))}
    key = name_key(text)
    titled = manifest.pages_by_number({number for number, _ in manifest.named("title", key)})
    aliased = manifest.pages_by_number({number for number, _ in manifest.named("alias", key)})
    stem_key = name_key(without_suffix(text))
    stems = dict(manifest.named("stem", stem_key))
    yield {number for number, row in titled.items() if row.title == text}
    yield {number for number, row in aliased.items() if text in row.aliases}
    yield {number for number, found in stems.items() if stem_of(found) == without_suffix(text)}
    yield {number for number, _ in manifest.named("path", name_key(without_suffix(path)))}
    yield set(titled)
    yield set(aliased)
    yield set(stems)
    if "/" in path:
        ending = resolve_link("", path, "wikilink", manifest.named)
        yield set() if ending is None else {ending}


def _by_id(manifest: Manifest, text: str) -> set[int]:
    wanted = text.upper()
    if _ID_END.fullmatch(wanted) is None:
        return set()
    backwards = wanted[::-1]
    # Keys that begin with `backwards` sort from it up to the same text with a character after Z.
    found = manifest.rows(
        "SELECT page FROM names WHERE kind = 'id' AND key >= ? AND key < ?", (backwards, backwards + "[")
    )
    return {page for (page,) in found}


def near_titles(rows: Iterable[PageRow], address: str) -> str:
    """A hint for an address that names no page: the titles that are written most like it, else where to look."""
    import difflib

    titles = {row.title.casefold(): row.title for row in rows}
    close = difflib.get_close_matches(address.casefold(), titles, n=3, cutoff=0.5)
    if not close:
        return f"See `wikimem search '{address}'` or `wikimem list`."
    return "Closest: " + ", ".join(f"'{titles[name]}'" for name in close) + "."
