"""The sentences of a text, each as it stands in it; code blocks and observations apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from wikimem.graph.extraction.mentions import Coded, Known, names_in

LONGEST_SENTENCE: Final = 600
_FENCE: Final = re.compile(r"(?ms)^[ \t]*(```+|~~~+)[ \t]*([\w+-]*)[^\n]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)")
_END: Final = re.compile(r"(?<=[.!?。！？])[\"')\]]*\s+(?=\S)|\n\s*\n|\n(?=\s*(?:[-*+]|\d+[.)]|#+|>)\s)")
_MARK: Final = re.compile(r"\s*(?:(?:[-*+]|\d+[.)]|#+|>)\s+)*")
_OBSERVATION: Final = re.compile(r"^[ \t]*- (\d\d:\d\d:\d\d) \*\*([^*\n]+)\*\* (.*?) \^(o-[\w-]+)[ \t]*$", re.MULTILINE)
_ABBREVIATION: Final = re.compile(r"(?:^|\s)(?:e\.g|i\.e|etc|vs|cf|resp|approx|no|v)\.$", re.IGNORECASE)


class Sentence(Struct, frozen=True):
    """A sentence as written, and coded; `heading` is the last heading above it."""

    written: str
    coded: Coded
    heading: str = ""


class Block(Struct, frozen=True):
    """A fenced code block: its language as it says, and its text."""

    language: str
    text: str


class Observed(Struct, frozen=True):
    """An observation of a session: `label` is what was done, `body` what of it was kept, `id` its block."""

    label: str
    body: str
    id: str


def blocks_of(text: str) -> list[Block]:
    """The fenced code blocks of a text."""
    return [Block(match[2].casefold(), match[3]) for match in _FENCE.finditer(text)]


def observations_of(text: str) -> list[Observed]:
    """The observations of a session page."""
    return [Observed(match[2].strip(), match[3], match[4]) for match in _OBSERVATION.finditer(text)]


def sentences_of(text: str, known: Known) -> Iterator[Sentence]:
    """The sentences of the prose of a text, without its code blocks and observations."""
    heading = ""
    prose = _OBSERVATION.sub("\n\n", _FENCE.sub("\n\n", text))
    for written in _cut(prose):
        if written.startswith("#"):
            heading = written.lstrip("# ").strip()
            continue
        bare = _MARK.sub("", written, count=1)
        if bare and len(bare) <= LONGEST_SENTENCE:
            yield Sentence(bare, names_in(bare, known), heading)


def _cut(text: str) -> Iterator[str]:
    start = 0
    for match in _END.finditer(text):
        piece = text[start : match.start()]
        if _ABBREVIATION.search(piece):
            continue
        yield from _lines_of(piece)
        start = match.end()
    yield from _lines_of(text[start:])


def _lines_of(piece: str) -> Iterator[str]:
    heading, newline, rest = piece.strip().partition("\n")
    if heading.startswith("#") and newline:
        yield heading
        yield from _lines_of(rest)
    elif piece.strip():
        yield piece.strip()
