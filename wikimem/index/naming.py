"""The names by which a page can be found: its path, file name, title, aliases and id, each in the form of a key.

Keys are NFC and casefolded, because macOS hands out decomposed names and people do not mind capitals.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from wikimem.text.namewords import LONGEST_NAME, name_words, words_key

__all__ = ["LONGEST_NAME", "keys_of", "name_key", "name_words", "stem_of", "without_suffix", "words_key"]


def name_key(name: str) -> str:
    """A name as it is compared: NFC, casefolded, single spaces."""
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def without_suffix(path: str) -> str:
    """A path without its `.md`, in whatever case that is written."""
    return path[:-3] if path.lower().endswith(".md") else path


def stem_of(path: str) -> str:
    """The file name of a page without `.md`: what most wikilinks say."""
    return without_suffix(path.rsplit("/", 1)[-1])


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
