"""Questions that ask about several things at once: which came first, A or B; the days between A and B.

Each thing may stand on a page of its own, and the page of the thing with the commoner words is crowded out by pages
about the other. Such a question is asked again once for each thing, without the others' words.
"""

from __future__ import annotations

from typing import Final

from wikimem.text.lazyregex import lazily

MOST_PARTS: Final = 4
"""A question is asked again at most this many times; one that lists more things is left whole."""

LONGEST_COMPOUND: Final = 600
"""Characters of a question that is looked at; what is longer is a pasted text."""

_QUOTED: Final = lazily(
    r"(?<!\w)(?:\"([^\"\n]{2,100})\"|\u201c([^\u201d\n]{2,100})\u201d"
    r"|[\u2018']((?:[^'\u2019\n]|['\u2019](?=\w)){2,100})['\u2019](?!\w))"
)
_DAY: Final = lazily(
    r"\bthe (?:day|time|date) (?:that |when |on which )?(.{5,120}?)(?=,? and the (?:day|time|date)\b"
    r"|, the (?:day|time|date)\b|\?|$)"
)
_BETWEEN: Final = lazily(r"\bbetween\s+(?P<first>.{3,140}?)\s+and\s+(?P<last>[^?]{3,140})")
_CHOICE: Final = lazily(
    r"(?:[,:]|\bfirst,?|\bearlier,?|\blast,?|\bmore,?|\bbetter,?)\s+"
    r"(?P<first>[^,:?]{2,120}?(?:,\s*[^,:?]{2,120}?){0,2}),?\s+or\s+(?P<last>[^,?]{2,120})"
)
_ALL_OF_IT: Final = lazily(r"[^\W_]")


def subquestions(text: str) -> tuple[str, ...]:
    """The questions that a compound question consists of, each with one of its things; empty for any other."""
    if len(text) > LONGEST_COMPOUND:
        return ()
    things = [thing.strip() for thing in _things(text)]
    things = [thing for thing in dict.fromkeys(things) if _ALL_OF_IT.search(thing)]
    if not 2 <= len(things) <= MOST_PARTS:
        return ()
    return tuple(_without([other for other in things if other != thing], text) for thing in things)


def _things(text: str) -> list[str]:
    quoted = [next(group for group in match.groups() if group is not None) for match in _QUOTED.finditer(text)]
    if len(quoted) > 1:
        return quoted
    days = [match[1] for match in _DAY.finditer(text)]
    if len(days) > 1:
        return days
    if found := _BETWEEN.search(text):
        return [found["first"], found["last"]]
    if found := _CHOICE.search(text):
        return [*found["first"].split(","), found["last"]]
    return []


def _without(others: list[str], text: str) -> str:
    # The longest first: one may hold another.
    for other in sorted(others, key=len, reverse=True):
        text = text.replace(other, " ", 1)
    return text
