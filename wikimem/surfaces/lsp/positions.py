"""Positions of the protocol (a line and code units from its start) and character offsets in a text, both ways.

Lines end where the protocol says: at a line feed, a carriage return or both, and nowhere else.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Literal

from lsprotocol import types

from wikimem.text.yamlblock import BREAK

Encoding = Literal["utf-8", "utf-16", "utf-32"]


class Lines:
    """The lines of one text, for a client that counts in `encoding`."""

    def __init__(self, text: str, encoding: Encoding) -> None:
        self._text = text
        self._encoding = encoding
        breaks = list(BREAK.finditer(text))
        self._starts = [0, *(found.end() for found in breaks)]
        self._ends = [*(found.start() for found in breaks), len(text)]

    def offset(self, position: types.Position) -> int:
        """The offset of a position; of one past the end of its line, that end, and of one within a character, its
        start."""
        if position.line >= len(self._starts):
            return len(self._text)
        start, end = self._starts[position.line], self._ends[position.line]
        left = position.character
        for offset in range(start, end):
            left -= self._units(self._text[offset])
            if left < 0:
                return offset
        return end

    def position(self, offset: int) -> types.Position:
        """The position of an offset; of one within a line break, the end of the line before it."""
        line = bisect_right(self._starts, offset) - 1
        before = self._text[self._starts[line] : min(offset, self._ends[line])]
        return types.Position(line, self._units(before))

    def range(self, start: int, end: int) -> types.Range:
        """The range of `text[start:end]`."""
        return types.Range(self.position(start), self.position(end))

    def _units(self, text: str) -> int:
        if self._encoding == "utf-32":
            return len(text)
        if self._encoding == "utf-8":
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text) + sum(char > "\uffff" for char in text)
