"""Could this regular expression take longer than anybody waits? Asked of a rule before it is ever run.

Only what a person or a vault adds is asked; Python's engine cannot be stopped once it has started, so a rule that can
run away is refused when it is read.
"""

from __future__ import annotations

import re._parser as parser  # type: ignore[import-not-found]  # the stubs leave it out
from typing import Any, Final

OPEN_ENDED: Final = 3
"""How many repeats without a small upper bound may follow each other: the work grows with that power of the length."""

_SMALL: Final = 64
_ONE_CHARACTER: Final = frozenset({"LITERAL", "NOT_LITERAL", "ANY", "IN"})
_GREEDY: Final = frozenset({"MAX_REPEAT", "MIN_REPEAT"})


def why_costly(expression: str) -> str | None:
    """What makes `expression` one that can run away, in a few words; None for one that cannot. It must compile."""
    tree = parser.parse(expression)
    if _nested(tree):
        return "a repeat inside a repeat can take for ever; make the inner one possessive (`++`, `*+`) or fixed (`{8}`)"
    if _open_ended(tree) > OPEN_ENDED:
        return f"more than {OPEN_ENDED} open-ended repeats take too long; give them an upper bound, such as `{{1,40}}`"
    return None


def least_width(expression: str) -> int:
    """How many characters a match of `expression` has at the least. It must compile."""
    return int(parser.parse(expression).getwidth()[0])


def _parts(argument: Any) -> list[Any]:
    """The sub-patterns in the argument of one node."""
    if isinstance(argument, parser.SubPattern):
        return [argument]
    if isinstance(argument, list | tuple):
        return [part for item in argument for part in _parts(item)]
    return []


def _varies(tree: Any) -> bool:
    """Can this match one text in several ways, of several lengths?"""
    for node, argument in tree:
        name = str(node)
        if name in ("POSSESSIVE_REPEAT", "ATOMIC_GROUP", "ASSERT", "ASSERT_NOT"):
            continue
        if name in _GREEDY and argument[0] != argument[1]:
            return True
        if name == "BRANCH" and not _told_apart(argument[1]):
            return True
        if any(_varies(part) for part in _parts(argument)):
            return True
    return False


def _told_apart(ways: Any) -> bool:
    """Does each of these alternatives begin with a character of its own?"""
    first = [way[0] if len(way) else None for way in ways]
    letters = [node[1] for node in first if node is not None and str(node[0]) == "LITERAL"]
    return len(letters) == len(first) == len(set(letters))


def _nested(tree: Any) -> bool:
    for node, argument in tree:
        repeats = str(node) in _GREEDY or str(node) == "POSSESSIVE_REPEAT"
        if repeats and argument[1] > 1 and _varies(argument[2]):
            return True
        if any(_nested(part) for part in _parts(argument)):
            return True
    return False


def _open_ended(tree: Any) -> int:
    """How many repeats can hand characters to each other; of alternatives, those of the worst."""
    count = 0
    for node, argument in tree:
        name = str(node)
        if name in _GREEDY and argument[1] > _SMALL:
            count += 1
        elif name == "BRANCH":
            count += max(_open_ended(way) for way in argument[1])
        elif name not in _ONE_CHARACTER:
            count += sum(_open_ended(part) for part in _parts(argument))
    return count
