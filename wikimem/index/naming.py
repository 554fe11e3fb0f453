"""The names by which a page can be found: its path, file name, title, aliases and id, each in the form of a key.

Keys are NFC and casefolded, because macOS hands out decomposed names and people do not mind capitals.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from wikimem.text.analysis import is_stop_word

LONGEST_NAME: Final = 24
"""Words (or characters of a script without spaces) of a name that are looked for in a question."""

_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
)
_NAME_WORD: Final = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}_](?:[^\W{_UNSPACED}_]|\+\+|#(?!\w))*")


def name_key(name: str) -> str:
    """A name as it is compared: NFC, casefolded, single spaces."""
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def without_suffix(path: str) -> str:
    """A path without its `.md`, in whatever case that is written."""
    return path[:-3] if path.lower().endswith(".md") else path


def stem_of(path: str) -> str:
    """The file name of a page without `.md`: what most wikilinks say."""
    return without_suffix(path.rsplit("/", 1)[-1])


def name_words(text: str) -> list[str]:
    """The words of a name or a question; every character of a script without spaces is one."""
    return _NAME_WORD.findall(unicodedata.normalize("NFC", text).casefold())


def words_key(name: str) -> str:
    """The words of a name joined, as a question is matched with; empty for a name that would match by accident.

    Accidents are stop words alone, a single letter or kana, and bare numbers.
    """
    words = name_words(name)
    joined = "".join(words)
    if not words or len(words) > LONGEST_NAME or len(joined) < 2 or joined.isdigit():
        return ""
    return "" if all(is_stop_word(word) for word in words) else " ".join(words)


def keys_of(path: str, page_id: str, title: str, aliases: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Kind and key of every name of a page. Ids are stored backwards, so that a suffix is found by its index."""
    stem = stem_of(path)
    yield "id", page_id[::-1]
    yield "path", name_key(without_suffix(path))
    yield "stem", name_key(stem)
    yield "title", name_key(title)
    for alias in aliases:
        yield "alias", name_key(alias)
    for name in (title, stem, *aliases):
        if key := words_key(name):
            yield "words", key
