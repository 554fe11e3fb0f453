"""Who speaks on a page: what the person said, apart from what an agent, a tool or a model said.

A question in the first person ("which port did I choose?") is about what the person said, and answers to it drown in
what was said to them. Turns are known by how they begin:

    **user**: text      ## User      user: text      - 09:12:04 **prompt** text
"""

from __future__ import annotations

import re
from typing import Final

from wikimem.text.lazyregex import lazily

Span = tuple[int, int]

_PERSON: Final = frozenset({"user", "human", "prompt", "me", "사용자", "用户", "用戶", "ユーザー"})
_OTHERS: Final = frozenset(
    {
        *("assistant", "agent", "ai", "bot", "model", "system", "tool", "어시스턴트", "助手", "アシスタント"),
        *("claude", "codex", "gemini", "cursor", "copilot", "chatgpt", "gpt"),
    }
)
_BEGINNING: Final = lazily(
    r"^(?:[-*+][ \t]+)?(?:"
    # An observation of a session: a time, and in bold what it is.
    r"\d\d:\d\d(?::\d\d)?[ \t]+\*\*(?P<observed>[^*\n]{1,40})\*\*"
    r"|\*\*(?P<bold>[^*\n:]{1,40}):?\*\*:?"
    r"|#{1,6}[ \t]+(?P<heading>[^\n:]{1,40}?):?[ \t]*$"
    r"|(?P<plain>[^\W\d_]{1,20}):(?=\s)"
    r")",
    re.MULTILINE,
)


def said_by_person(text: str, start: int = 0) -> tuple[Span, ...] | None:
    """Spans of `text`, from `start` on, that the person said; None where nobody is named as speaking.

    A turn goes on to where the next one begins.
    """
    spans: list[Span] = []
    begun: int | None = None
    named = False
    for match in _BEGINNING.finditer(text, start):
        observed = match["observed"]
        name = (observed or match["bold"] or match["heading"] or match["plain"]).strip().casefold()
        person = name in _PERSON
        if not (person or observed or name in _OTHERS):
            continue
        named = True
        if begun is not None:
            spans.append((begun, match.start()))
        begun = match.end() if person else None
    if begun is not None:
        spans.append((begun, len(text)))
    return tuple(spans) if named else None


def cut_out(text: str, spans: tuple[Span, ...], start: int, end: int) -> str:
    """What of `spans` lies within `text[start:end]`, one piece a line."""
    pieces = (text[max(first, start) : min(last, end)] for first, last in spans if first < end and last > start)
    return "\n".join(piece.strip() for piece in pieces)
