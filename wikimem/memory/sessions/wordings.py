"""Sentences that say something lasting: a decision, or what is still open. English and Korean.

Patterns find what is said in so many words and miss the rest. A question decides nothing.
"""

from __future__ import annotations

import re
from typing import Final

_SENTENCE: Final = re.compile(r"(?<=[.!?。！？])[\"')\]]*\s+|\s*\n+\s*")
_MARKUP: Final = re.compile(r"^(?:[-*+]|\d+[.)]|#+|>)\s+")
_LEAST: Final = 8
_MOST: Final = 400

_DECIDED: Final = re.compile(
    r"\b(?:we|i|we've|i've|we have|i have)\s+(?:have\s+|then\s+|finally\s+|therefore\s+)?"
    r"(?:decided|chose|chosen|picked|settled on|opted|agreed|went with|rejected|ruled out)\b"
    r"|\b(?:let's|let us|we'll|we will|i'll|i will|we should|please)\s+(?:just\s+|not\s+)?"
    r"(?:use|go with|keep|stick (?:with|to)|switch to|move to|avoid|drop|stay (?:with|on)|standardi[sz]e on)\b"
    r"|^(?:decision|decided)\b\s*:?"
    r"|\bdecided (?:to|on|against|that)\b"
    r"|^(?:use|using|chose|choose|picked|prefer|keep|go with|going with|switched to|went with)\b.{1,80}"
    r"\b(?:over|instead of|rather than)\b"
    r"|\b(?:chose|picked|selected)\s.{1,80}\b(?:over|instead of|rather than|because)\b"
    r"|^(?:from now on|never|always)\b",
    re.IGNORECASE,
)
_DECIDED_KOREAN: Final = re.compile(
    r"기로\s*(?:했|함|결정|정했|하자|합시다|하겠|해요|할게)"
    r"|(?:으로|로)\s*(?:하자|합시다|가자|갑시다|정하자|정했|결정|통일|바꾸자|바꿨|하겠)"
    r"|(?:을|를|만)\s*(?:쓰자|씁시다|사용하자|사용합시다|유지하자|유지합시다|선택)"
    r"|(?:대신|보다)\s.{0,60}(?:쓰자|씁시다|쓰겠|썼|사용하|사용했|선택|택했)"
    r"|채택|선택했|결정했|결정\s*:|앞으로(?:는)?\s.{1,80}(?:자|시다|세요|것|함)[.!]?$"
)
_OPEN: Final = re.compile(
    r"\b(?:to-?do|fixme|next steps?|remaining|still (?:need|needs|has|have|to|fails?|missing|open)|not (?:yet|done)"
    r"|left (?:to do|open|for later)|follow[- ]?ups?|haven't|hasn't|remains? to|yet to be)\b",
    re.IGNORECASE,
)
_OPEN_KOREAN: Final = re.compile(r"남은\s|남아\s|남았|아직|다음\s*단계|추후|나중에|미완|못\s*했")


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text, without marks of lists and headings; code blocks are left out."""
    prose = re.sub(r"(?s)```.*?(?:```|\Z)", "\n", text)
    parts = (_MARKUP.sub("", part.strip()) for part in _SENTENCE.split(prose))
    return [part for part in parts if part]


def decisions(text: str) -> list[str]:
    """The sentences that say what was decided, as they stand."""
    return [each for each in sentences(text) if _LEAST <= len(each) <= _MOST and _is_decision(each)]


def _is_decision(sentence: str) -> bool:
    plain = sentence.replace("’", "'")
    if plain.rstrip("\"')").endswith(("?", "？")):
        return False
    return bool(_DECIDED.search(plain) or _DECIDED_KOREAN.search(plain))


def open_ends(text: str) -> list[str]:
    """The sentences that say what is left to do."""
    return [
        each
        for each in sentences(text)
        if _LEAST <= len(each) <= _MOST and (_OPEN.search(each.replace("’", "'")) or _OPEN_KOREAN.search(each))
    ]
