"""The words of a name, as a question that may say the name is matched with them."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

from wikimem.text.analysis import is_stop_word
from wikimem.text.lazyregex import lazily

LONGEST_NAME: Final = 24
"""Words (or characters of a script without spaces) of a name that are looked for in a question."""

_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
)
_UNSPACED_CHARACTER: Final = lazily(f"[{_UNSPACED}]")
_NAME_WORD: Final = lazily(r"[^\W_](?:[^\W_]|\+\+|#(?!\w))*")


def name_words(text: str) -> list[str]:
    """The words of a name or a question; every character of a script without spaces is one."""
    text = unicodedata.normalize("NFC", text).casefold()
    if not text.isascii():
        text = _UNSPACED_CHARACTER.sub(r" \g<0> ", text)
    return _NAME_WORD.findall(text)


@lru_cache(1 << 14)
def words_key(name: str) -> str:
    """The words of a name joined, as a question is matched with; empty for a name that would match by accident.

    Accidents are stop words alone, a single letter or kana, and bare numbers.
    """
    words = name_words(name)
    joined = "".join(words)
    if not words or len(words) > LONGEST_NAME or len(joined) < 2 or joined.isdigit():
        return ""
    return "" if all(is_stop_word(word) for word in words) else " ".join(words)
