"""What kind of text every line of a Markdown body is, and what inside a paragraph is not prose.

    scan(text, start) -> Scan

Written by hand because wikimem edits and cites by character offset, and because the dialect is Obsidian's
(`%%` comments, `[[links]]`, block ids): Markdown parsers give line numbers at best and know none of these.
It follows CommonMark for what decides where prose is (containers, fences, indented code, paragraphs, Setext) and
nothing further. Work is linear in the text; containers nested deeper than `_DEEPEST` are read as text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from wikimem.text.lazyregex import lazily

LineKind = Literal["blank", "text", "heading", "underline", "rule", "code", "comment", "math"]

Span = tuple[int, int]

_DEEPEST: Final = 64


class Line(NamedTuple):
    """One line. `content` is the offset after quote marks, list markers and indentation; `end` excludes the break.

    `item` and `root` are the innermost and the outermost list item that hold the line (-1: none), `depth` counts all
    containers, and `opens` says that the line begins the item `item`.
    """

    start: int
    content: int
    end: int
    after: int
    kind: LineKind
    depth: int
    item: int
    root: int
    opens: bool


class Paragraph(NamedTuple):
    """Lines `first` up to and including `last` that are read as one run of inline text; a heading is one, too."""

    first: int
    last: int
    level: int
    """1 to 6 for a heading, else 0."""


class Scan(Struct, frozen=True):
    """Lines of `text[start:]` and the spans in them, each tuple in order and without overlaps."""

    lines: tuple[Line, ...]
    paragraphs: tuple[Paragraph, ...]
    items: tuple[Span, ...]
    """Of every list item: its first character and the end of its last line that is not blank."""
    code: tuple[Span, ...]
    """Fenced and indented code, `<pre>` and its like, inline code."""
    hidden: tuple[Span, ...]
    """`code` and also comments (`<!-- -->`, `%% %%`) and display math (`$$ $$`)."""
    wikilinks: tuple[Span, ...]
    """`[[...]]` and `![[...]]` outside hidden text; not yet judged."""
    first_line: int
    """The number in the file of `lines[0]`, counted from 1."""


_LINE: Final = lazily(r"([^\r\n]*+)(\r\n|\r|\n|\Z)")
_MARKER: Final = lazily(r"([-*+]|(\d{1,9})[.)])(?=[ \t]|\Z|[\r\n])")
_FOOTNOTE: Final = lazily(r"\[\^[^\[\]\s]{1,200}\]:")
_FENCE: Final = lazily(r"(`{3,}+)[^`\r\n]*+(?=[\r\n]|\Z)|(~{3,}+)")
_ATX: Final = lazily(r"(#{1,6})(?=[ \t\r\n]|\Z)")
_UNDERLINE: Final = lazily(r"(=++|-++)[ \t]*+(?=[\r\n]|\Z)")
_RULE: Final = lazily(r"(?:(?:\*[ \t]*+){3,}+|(?:_[ \t]*+){3,}+|(?:-[ \t]*+){3,}+)(?=[\r\n]|\Z)")
_RAW: Final = lazily(r"<(pre|script|style|textarea)(?=[\s>]|\Z)", re.IGNORECASE)
DEFINITION: Final = lazily(
    r"\[(?!\^)([^\[\]\r\n]{1,999})\]:[ \t]*+(<[^<>\r\n]*>|(?!<)\S++)"
    r"(?=[ \t]*+(\"[^\"]*\"|'[^']*'|\([^()]*\))?[ \t]*+\Z)"
)
"""A link reference definition on one line: label, destination, title."""

_INLINE: Final = lazily(r"\\.|`+|<!--|%%|\$\$|!?\[\[[^\[\]\r\n]++\]\]")
_BACKTICKS: Final = lazily("`+")
_QUIET: Final = lazily(r"[^\\`<%$\[]*+\Z")


@dataclass(slots=True)
class _Container:
    width: int
    """Columns that a line must be indented by to stay inside; 0 for a block quote."""
    item: int = -1


@dataclass(slots=True)
class _Open:
    """A block that runs over lines until `closer`; it also ends with the container that it stands in."""

    kind: LineKind
    closer: str
    depth: int
    least: int = 0
    """For a fence: the number of marks that closes it."""


class _Scanner:
    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.lines: list[Line] = []
        self.paragraphs: list[Paragraph] = []
        self.items: list[list[int]] = []
        self.stack: list[_Container] = []
        self.block: _Open | None = None
        self.paragraph = -1
        """Index of the line where the open paragraph began, or -1."""
        self.defining = False
        """The open paragraph holds nothing but link reference definitions."""
        self.last_text_end = start
        self.missing: set[str] = set()
        """Closers that do not occur in the rest of the text."""
        for match in _LINE.finditer(text, start):
            if match[0]:
                self._line(match.start(), match.end(1), match.end())
        self._end_paragraph()
        self._close(0)

    def _line(self, start: int, end: int, after: int) -> None:
        text = self.text
        content, indent = self._indentation(start, 0, end)
        column, matched = indent, 0
        for container in self.stack:
            if container.width:
                if content < end and indent < container.width:
                    break
                indent = max(0, indent - container.width)
            elif content < end and indent <= 3 and text[content] == ">":
                content, column, indent = self._after_mark(content + 1, column + 1, end)
            else:
                break
            matched += 1
        if self.block is not None and matched >= self.block.depth:
            self._inside(self.block, start, content, end, after, indent)
            return
        self.block = None
        lazy = matched < len(self.stack)
        opened = False
        while content < end and indent <= 3 and len(self.stack) < _DEEPEST:
            if text[content] == ">":
                self._close_for_new(matched)
                content, column, indent = self._after_mark(content + 1, column + 1, end)
                self.stack.append(_Container(0))
            else:
                width = self._item_width(content, end, interrupts=self.paragraph >= 0 and not lazy)
                if not width:
                    break
                self._close_for_new(matched)
                is_item = text[content] != "["
                mark_end = content + width
                content, spaces = self._indentation(mark_end, column + width, end)
                column += width + spaces
                inner = 1 if content >= end or spaces > 4 else spaces
                needed = indent + width + inner if is_item else 4
                self.stack.append(_Container(needed, len(self.items) if is_item else -1))
                if is_item:
                    self.items.append([start if not opened else mark_end - width, end])
                    opened = True
                indent = max(0, spaces - inner)
            matched, lazy = len(self.stack), False
        self._leaf(start, content, end, after, indent, matched, opened)

    def _indentation(self, position: int, column: int, end: int) -> tuple[int, int]:
        """Where the white space from `position` on ends, and its width in columns; a tab goes to a multiple of 4."""
        text, at = self.text, column
        while position < end:
            char = text[position]
            if char == " ":
                at += 1
            elif char == "\t":
                at += 4 - at % 4
            else:
                break
            position += 1
        return position, at - column

    def _after_mark(self, position: int, column: int, end: int) -> tuple[int, int, int]:
        """Past a quote mark: one column of white space belongs to the mark."""
        content, spaces = self._indentation(position, column, end)
        return content, column + spaces, max(0, spaces - 1)

    def _item_width(self, content: int, end: int, *, interrupts: bool) -> int:
        """Columns of the list marker or footnote label at `content`, 0 where there is none."""
        text = self.text
        if text[content] == "[":
            label = _FOOTNOTE.match(text, content, end)
            return label.end() - content if label else 0
        marker = _MARKER.match(text, content, end)
        if marker is None or _RULE.match(text, content, end):
            return 0
        if interrupts and (marker[2] not in (None, "1") or not text[marker.end() : end].strip()):
            return 0
        return marker.end() - content

    def _inside(self, block: _Open, start: int, content: int, end: int, after: int, indent: int) -> None:
        if block.least:
            rest = self.text[content:end].rstrip(" \t")
            closed = indent <= 3 and len(rest) >= block.least and not rest.strip(block.closer)
        else:
            closed = block.closer in self.text[content:end].lower()
        self._add(start, content, end, after, block.kind)
        if closed:
            self.block = None

    def _leaf(self, start: int, content: int, end: int, after: int, indent: int, matched: int, opened: bool) -> None:
        text = self.text
        lazy = matched < len(self.stack)
        if content >= end:
            self._end_paragraph()
            if not opened and self.lines and self.lines[-1].opens and self.lines[-1].kind == "blank":
                matched = min(matched, len(self.stack) - 1)  # an item begins with at most one blank line
            self._close(matched)
            self._add(start, content, end, after, "blank", opened)
            return
        if indent > 3:
            if self.paragraph >= 0 and not self.defining:
                self._add(start, content, end, after, "text", opened)
                return
            self._close_for_new(matched)
            self._add(start, content, end, after, "code", opened)
            return
        if (
            self.paragraph >= 0
            and not lazy
            and not opened
            and (underline := _UNDERLINE.match(text, content, end))
            and not self.defining
        ):
            self._add(start, content, end, after, "underline")
            self._end_paragraph(1 if underline[1][0] == "=" else 2)
            return
        kind, level = self._start_of_block(content, end, matched)
        if kind == "text":
            defines = text[content] == "[" and DEFINITION.match(text, content, end) is not None
            if self.defining and not defines:
                self._end_paragraph()
            if self.paragraph < 0:
                self._close(matched)
                self.paragraph, self.defining = len(self.lines), defines
            self._add(start, content, end, after, "text", opened)
            return
        self._close_for_new(matched)
        if kind == "heading":
            self.paragraphs.append(Paragraph(len(self.lines), len(self.lines), level))
        self._add(start, content, end, after, kind, opened)

    def _start_of_block(self, content: int, end: int, depth: int) -> tuple[LineKind, int]:
        """What the line begins, and a heading's level; a block of several lines is entered as `self.block`."""
        text = self.text
        char = text[content]
        if char == "#" and (atx := _ATX.match(text, content, end)):
            return "heading", len(atx[1])
        if char in "`~" and (fence := _FENCE.match(text, content, end)):
            marks = fence[1] or fence[2]
            self.block = _Open("code", marks[0], depth, len(marks))
            return "code", 0
        if char in "*-_" and _RULE.match(text, content, end):
            return "rule", 0
        if char == "<":
            if text.startswith("<!--", content):
                # Prose may follow a comment on its line: only a line without any is left out as a whole.
                close = text.find("-->", content + 4, end)
                if close < 0:
                    self.block = _Open("comment", "-->", depth)
                return ("comment" if close < 0 or not text[close + 3 : end].strip() else "text"), 0
            if raw := _RAW.match(text, content, end):
                closer = f"</{raw[1].lower()}>"
                if closer not in text[content:end].lower():
                    self.block = _Open("code", closer, depth)
                return "code", 0
        if char in "%$" and text.startswith(char * 2, content):
            marks = char * 2
            if text.find(marks, content + 2, end) < 0 and self._occurs(marks, end):
                self.block = _Open("comment" if char == "%" else "math", marks, depth)
                return self.block.kind, 0
        return "text", 0

    def _occurs(self, closer: str, position: int) -> bool:
        if closer not in self.missing and self.text.find(closer, position) < 0:
            self.missing.add(closer)
        return closer not in self.missing

    def _add(self, start: int, content: int, end: int, after: int, kind: LineKind, opened: bool = False) -> None:
        item = root = -1
        for container in self.stack:
            if container.item >= 0:
                item = container.item
                root = item if root < 0 else root
        if kind != "blank":
            self.last_text_end = end
        self.lines.append(Line(start, content, end, after, kind, len(self.stack), item, root, opened))

    def _end_paragraph(self, level: int = 0) -> None:
        if self.paragraph >= 0:
            self.paragraphs.append(Paragraph(self.paragraph, len(self.lines) - 1, level))
            self.paragraph, self.defining = -1, False

    def _close_for_new(self, matched: int) -> None:
        self._end_paragraph()
        self._close(matched)

    def _close(self, depth: int) -> None:
        """Leave the containers beyond `depth`; the items among them end with the last line that was not blank."""
        for container in self.stack[depth:]:
            if container.item >= 0:
                self.items[container.item][1] = max(self.items[container.item][1], self.last_text_end)
        del self.stack[depth:]


class _Inlines:
    """Finds what is not prose inside paragraphs, leftmost first, as Obsidian does."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.code: list[Span] = []
        self.other: list[Span] = []
        self.wikilinks: list[Span] = []

    def read(self, start: int, end: int) -> None:
        text = self.text
        if _QUIET.match(text, start, end):
            return
        runs: dict[int, list[int]] | None = None
        missing: set[str] = set()
        position = start
        while match := _INLINE.search(text, position, end):
            position, mark = match.end(), match[0]
            if mark[0] == "`":
                if runs is None:
                    runs = self._runs(match.start(), end)
                places = runs.get(len(mark), [])
                at = bisect_left(places, position)
                if at < len(places):
                    position = places[at] + len(mark)
                    self.code.append((match.start(), position))
            elif mark[-1] == "]":
                self.wikilinks.append(match.span())
            elif mark[0] != "\\":
                closer = "-->" if mark == "<!--" else mark
                found = -1 if closer in missing else text.find(closer, position, end)
                if found < 0:
                    missing.add(closer)
                else:
                    position = found + len(closer)
                    self.other.append((match.start(), position))

    def _runs(self, start: int, end: int) -> dict[int, list[int]]:
        runs: dict[int, list[int]] = {}
        for match in _BACKTICKS.finditer(self.text, start, end):
            runs.setdefault(match.end() - match.start(), []).append(match.start())
        return runs


@lru_cache(maxsize=2)
def scan(text: str, start: int = 0) -> Scan:
    """Read `text[start:]`. The last results are kept: one page is asked for its links, headings and tags in turn."""
    scanner = _Scanner(text, start)
    inlines = _Inlines(text)
    for paragraph in scanner.paragraphs:
        inlines.read(scanner.lines[paragraph.first].content, scanner.lines[paragraph.last].end)
    code, other = inlines.code, inlines.other
    for kinds, spans in ((("code",), code), (("comment", "math"), other)):
        spans.extend(_runs_of_lines(scanner.lines, kinds))
        spans.sort()
    return Scan(
        lines=tuple(scanner.lines),
        paragraphs=tuple(scanner.paragraphs),
        items=tuple((first, last) for first, last in scanner.items),
        code=tuple(code),
        hidden=tuple(sorted(code + other)),
        wikilinks=tuple(inlines.wikilinks),
        first_line=1 + sum(1 for _ in re.finditer(r"\r\n|\r|\n", text[:start])),
    )


def _runs_of_lines(lines: list[Line], kinds: tuple[str, ...]) -> list[Span]:
    spans: list[Span] = []
    previous = -1
    for line in lines:
        if line.kind not in kinds:
            previous = -1
        elif line.start == previous:
            spans[-1] = (spans[-1][0], line.end)
            previous = line.after
        else:
            spans.append((line.start, line.end))
            previous = line.after
    return spans
