"""Cutting a page into passages: the pieces that are indexed and retrieved.

A passage is a stretch of the body of roughly 60 to 200 words under one heading. Cuts fall at headings, then between
paragraphs, list items, tables and pieces of code, and inside one of these only where it is too long itself.

    words       a run of characters without white space counts as one word for every 24 characters begun, so that a
                600 kB line is many words; two Chinese, Japanese or Korean characters count as one
    headings    a heading stands at the start of the first passage under it; one without text of its own is taken
                into the passage that follows, whose heading path names both
    observations   a list item that ends with a block id is cited by it and stays whole, up to `_WHOLE` words
    skipped     base64-like runs (`_RUN` characters and more without white space, or as many in equal lines) are in no
                passage: they would fill the index with what nobody searches for
    nothing     a body without any words gives one passage of zero length, so that the page is found by its title
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from wikimem.model.page import Heading, Page, Passage
from wikimem.text.blocks import Line, Span, scan
from wikimem.text.lazyregex import lazily
from wikimem.text.markdown import find_headings

_LEAST: Final = 60
_GOOD: Final = 120
"""A passage that has reached `_LEAST` takes nothing more that would carry it past this."""
_MOST: Final = 200
_WHOLE: Final = 400

_CJK: Final = (
    "\u1100-\u11ff\u2e80-\u303f\u3041-\u30ff\u3131-\u318e\u31f0-\u4dbf\u4e00-\ua4cf\uac00-\ud7a3\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff"
)
_WORD: Final = lazily(rf"[^\s{_CJK}]{{1,24}}|[{_CJK}]{{1,2}}")
_RUN: Final = 1000
_BASE64: Final = r"A-Za-z0-9+/=_%-"
_SKIPPED: Final = lazily(
    rf"(?<![{_BASE64}])(?:[{_BASE64}]{{{_RUN + 1},}}|(?:[{_BASE64}]{{60,}}[ \t>]*\r?\n[ \t>]*){{16,}}[{_BASE64}]*)"
)
_ASCII: Final = lazily(r"[!-~]{0,64}")
_ENDS_WITH_ID: Final = lazily(r"\s\^[A-Za-z0-9-]+\s*\Z")
_SENTENCE_END: Final = lazily(r"[.!?…]['\")\]*_]{0,3}\Z|[。！？｡]['\")\]」』）]{0,3}\Z")


def count_words(text: str, start: int = 0, end: int | None = None) -> int:
    """Words as this module counts them (see above)."""
    return len(_WORD.findall(text, start, len(text) if end is None else end))


@dataclass(slots=True)
class _Unit:
    """What is not cut without need: a paragraph, a list item with all in it, a table, a piece of code."""

    start: int
    end: int
    words: int


def cut_passages(page: Page) -> tuple[Passage, ...]:
    """The passages of a page in order, without overlaps; every word outside skipped runs is in exactly one."""
    text = page.text
    read = scan(text, page.body_start)
    skipped = _skipped_runs(text, page.body_start)
    pieces: list[tuple[str, int, int]] = []
    line_starts = [line.start for line in read.lines]
    for heading, start, end in _sections(text, page.body_start):
        for first, last in _outside(skipped, start, end):
            at = max(0, bisect_right(line_starts, first) - 1)
            units = _units(text, read.lines, at, first, last)
            pieces += ((heading, *span) for span in _grouped(_cut_to_size(text, units)))
    return _numbered(page, pieces or [("", page.body_start, page.body_start)])


def _skipped_runs(text: str, start: int) -> list[Span]:
    """Base64-like runs with what is joined to them, such as `data:image/png;base64,` before and `)` after."""
    spans: list[Span] = []
    for match in _SKIPPED.finditer(text, start):
        first, least = match.start(), spans[-1][1] if spans else start
        while first > max(least, match.start() - 64) and "!" <= text[first - 1] <= "~":
            first -= 1
        joined = _ASCII.match(text, match.end())
        spans.append((first, joined.end() if joined else match.end()))
    return spans


def _outside(spans: Sequence[Span], start: int, end: int) -> Iterator[Span]:
    """The parts of `start` to `end` that lie in no span."""
    for index in range(max(0, bisect_right(spans, (start, start)) - 1), len(spans)):
        first, last = spans[index]
        if last <= start:
            continue
        if first >= end:
            break
        if first > start:
            yield start, first
        start = max(start, last)
    if start < end:
        yield start, end


def _sections(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """Heading path, start and end of every stretch between headings; see "headings" above."""
    path: list[Heading] = []
    names, begin, content = "", start, start
    for heading in find_headings(text, start):
        if text[content : heading.start].strip():
            yield names, begin, heading.start
            begin = heading.start
        while path and path[-1].level >= heading.level:
            path.pop()
        path.append(heading)
        names = " > ".join(part.text for part in path if part.text)
        content = heading.end
    yield names, begin, len(text)


def _units(text: str, lines: Sequence[Line], at: int, start: int, end: int) -> list[_Unit]:
    """The blocks between two offsets, the first of them on line `at`; blank lines belong to none."""
    units: list[_Unit] = []
    previous: Line | None = None
    for index in range(at, len(lines)):
        line = lines[index]
        if line.after <= start or not text[line.start : line.end].strip():
            continue
        if line.start >= end:
            break
        first, last = max(line.start, start), min(line.end, end)
        if previous is not None and _joined(previous, line):
            units[-1].end = last
        else:
            units.append(_Unit(first, last, 0))
        previous = line
    for unit in units:
        unit.words = count_words(text, unit.start, unit.end)
    return [unit for unit in units if unit.words]


def _joined(previous: Line, line: Line) -> bool:
    """Whether a line goes on with the block of the line with words before it."""
    if line.root >= 0 or previous.root >= 0:
        return line.root == previous.root
    if line.kind == "underline" or previous.kind in ("heading", "underline"):
        return True
    return previous.after == line.start and (previous.kind == line.kind or previous.depth > 0 < line.depth)


def _cut_to_size(text: str, units: Iterable[_Unit]) -> Iterator[_Unit]:
    for unit in units:
        whole = _WHOLE if _ENDS_WITH_ID.search(text, max(unit.start, unit.end - 100), unit.end) else _MOST
        if unit.words <= whole:
            yield unit
        else:
            yield from _cut(text, unit)


def _cut(text: str, unit: _Unit) -> Iterator[_Unit]:
    """Pieces of at most `_MOST` words: up to the last line end, else sentence end, else gap, else anywhere."""
    begin, count, previous = unit.start, 0, -1
    best: dict[int, tuple[int, int]] = {}
    for match in _WORD.finditer(text, unit.start, unit.end):
        if previous >= 0:
            rank = _boundary(text, previous, match.start())
            if rank == 3 or count >= _LEAST:
                best[rank] = (match.start(), count)
        if count >= _MOST:
            cut, words = best[max(best)]
            yield _Unit(begin, cut, words)
            begin, count = cut, count - words
            best = {rank: (at, n - words) for rank, (at, n) in best.items() if at > cut}
        count += 1
        previous = match.end()
    yield _Unit(begin, unit.end, count)


def _boundary(text: str, end: int, start: int) -> int:
    """How good a cut is between two words: 3 a line end, 2 a sentence end, 1 a gap, 0 within a run."""
    gap = text[end:start]
    if "\n" in gap or "\r" in gap:
        return 3
    sentence = _SENTENCE_END.search(text, max(0, end - 5), end)
    if sentence and (gap or sentence[0][0] in "。！？｡"):
        return 2
    return 1 if gap else 0


def _grouped(units: Iterable[_Unit]) -> list[Span]:
    """Neighbours joined into passages; a short rest goes with what stands before it where both fit."""
    groups: list[_Unit] = []
    for unit in units:
        last = groups[-1] if groups else None
        if last and (last.words + unit.words <= _GOOD or (last.words < _LEAST and last.words + unit.words <= _MOST)):
            last.end, last.words = unit.end, last.words + unit.words
        else:
            groups.append(_Unit(unit.start, unit.end, unit.words))
    if len(groups) > 1 and groups[-1].words < _LEAST and groups[-2].words + groups[-1].words <= _MOST:
        rest = groups.pop()
        groups[-1].end = rest.end
    return [(group.start, group.end) for group in groups]


def _numbered(page: Page, pieces: Iterable[tuple[str, int, int]]) -> tuple[Passage, ...]:
    """With ids and without white space at both ends."""
    header = blake2b(digest_size=16)
    for part in (page.path, page.title, *page.meta.aliases, "", *page.meta.tags, "", *page.tags):
        header.update(part.encode("utf-8", "surrogatepass") + b"\0")
    passages = []
    equal: Counter[tuple[str, str]] = Counter()
    for ordinal, (heading, start, end) in enumerate(pieces):
        words = page.text[start:end].strip()
        first = page.text.find(words, start)
        number = equal[heading, words]
        equal[heading, words] += 1
        said = f"{heading}\0{number}\0{words}".encode("utf-8", "surrogatepass")
        digest = blake2b(said, key=header.digest(), digest_size=8)
        passage_id = int.from_bytes(digest.digest(), "big") >> 1
        passages.append(Passage(passage_id, ordinal, heading, first, first + len(words)))
    return tuple(passages)
