"""Keeping one session from filling the answer.

Ten hits from one long session say one thing ten times. Within each window of the answer at most a few hits share
an origin: a session page, whatever carries its session, and whatever cites it. Places that nothing else can take
are then filled with what was held back, so a cap never makes an answer shorter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final, TypeVar

T = TypeVar("T")
V = TypeVar("V")

MOST_OF_ONE_ORIGIN: Final = 3
"""Hits of one session, and what was derived from it, in one window (design section 6)."""


def diversify(
    ranked: Iterable[T],
    *,
    origins: Callable[[T], Collection[str]],
    verify: Callable[[T], V | None],
    window: int,
    most: int = MOST_OF_ONE_ORIGIN,
) -> Iterator[V]:
    """Yield verified hits, window by window: in rank order while their origins have room, then what was held back.

    `verify` is asked only for a hit that is about to be given, because it reads the page; a hit for which it
    answers None is dropped and takes nobody's room. What a window held back and could not place leads the next.
    """
    rest = list(ranked)
    while rest:
        held_back: list[T] = []
        used: Counter[str] = Counter()
        given, seen = 0, 0
        for item in rest:
            if given == window:
                break
            seen += 1
            keys = origins(item)
            if any(used[key] >= most for key in keys):
                held_back.append(item)
                continue
            verified = verify(item)
            if verified is not None:
                used.update(keys)
                given += 1
                yield verified
        filled = 0
        for item in held_back:
            if given == window:
                break
            filled += 1
            verified = verify(item)
            if verified is not None:
                given += 1
                yield verified
        rest = held_back[filled:] + rest[seen:]
