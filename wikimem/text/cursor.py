"""What is being written where the cursor is: a wikilink, the name of a property, a property's value.

The text is one that somebody is in the middle of typing: brackets and frontmatter may not be closed yet. Offsets are
character offsets in the text.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from msgspec import Struct

from wikimem.text.lazyregex import lazily
from wikimem.text.markdown import hidden_spans, within
from wikimem.text.yamlblock import find_fences, opens

LinkPart = Literal["page", "heading", "block"]

_REST_OF_PART: Final = lazily(r"[^\[\]|#\r\n\\]*")
_END_OF_LINK: Final = lazily(r"[^\[\]\r\n]*\]\]")
_KEY: Final = lazily(r"(?P<key>[^\s#\-\"'\[\]{}:][^:\r\n]*?)[ \t]*:(?P<rest>(?:[ \t].*)?)")
_NAME: Final = lazily(r"[^\s#\-\"'\[\]{}:][^:\r\n]*|")
_ITEM: Final = lazily(r"[ \t]*-(?:[ \t]+|$)")
_BLANK_LINE: Final = lazily(r"^[ \t]*$", re.MULTILINE)


class LinkAtCursor(Struct, frozen=True):
    """A wikilink, closed or not. `text[start:end]` is the part that the cursor is in, `typed` what of it stands before.

    `target` is the page part as written, empty in a link to the page itself. `closed` says whether `]]` follows.
    """

    part: LinkPart
    target: str
    typed: str
    start: int
    end: int
    closed: bool


class PropertyNameAtCursor(Struct, frozen=True):
    """The name of a property. `text[start:end]` is what stands there now; `has_colon` says whether a colon follows."""

    typed: str
    start: int
    end: int
    has_colon: bool


class PropertyValueAtCursor(Struct, frozen=True):
    """A property's value, or one item of its list: `text[start:end]`, without quotes around it.

    `quoted` says whether a quote stands before it, `needs_space` whether it would follow the colon directly.
    """

    key: str
    typed: str
    start: int
    end: int
    quoted: bool
    needs_space: bool


AtCursor = LinkAtCursor | PropertyNameAtCursor | PropertyValueAtCursor


def at_cursor(text: str, offset: int) -> AtCursor | None:
    """What is being written at `offset`; None where that is plain text, code or a comment."""
    head = _head(text)
    start, end = _line(text, offset)
    if found := _link(text, start, end, offset, hidden_from=None if head and offset <= head[1] else _body(text)):
        return found
    if head is None or not head[0] <= offset <= head[1]:
        return None
    return _property(text, head[0], start, end, offset)


def in_frontmatter(text: str, offset: int) -> bool:
    """Whether `offset` is in the frontmatter or on the lines that open and close it."""
    fences = find_fences(text)
    return fences is not None and offset < fences.body


def property_at(text: str, offset: int) -> str:
    """The name of the property on whose line `offset` stands, as written; empty where there is none."""
    head = _head(text)
    if head is None or not head[0] <= offset <= head[1]:
        return ""
    start, end = _line(text, offset)
    found = _KEY.fullmatch(text, start, end)
    return found["key"].strip() if found else _key_above(text, head[0], start)


def _head(text: str) -> tuple[int, int] | None:
    """Where the frontmatter's lines stand. While nothing closes it yet, it ends at the first blank line."""
    if fences := find_fences(text):
        return fences.start, fences.end
    if not opens(text):
        return None
    start = _line(text, 0)[1]
    start += 2 if text.startswith("\r\n", start) else 1
    blank = _BLANK_LINE.search(text, start + 1)
    return start, blank.start() if blank else len(text)


def _body(text: str) -> int:
    fences = find_fences(text)
    return fences.body if fences else 0


def _line(text: str, offset: int) -> tuple[int, int]:
    """Start and end, without the line break, of the line of an offset."""
    start = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
    ends = [found for found in (text.find("\n", offset), text.find("\r", offset)) if found >= 0]
    return start, min(ends, default=len(text))


def _link(text: str, start: int, end: int, offset: int, *, hidden_from: int | None) -> LinkAtCursor | None:
    opening = text.rfind("[[", start, offset)
    if opening < 0:
        return None
    inner = text[opening + 2 : offset]
    if "]]" in inner or "|" in inner:
        return None
    if hidden_from is not None and within(hidden_spans(text, hidden_from), opening):
        return None
    target, hash_mark, fragment = inner.partition("#")
    rest = _REST_OF_PART.match(text, offset, end)
    part_end = rest.end() if rest else offset
    closed = _END_OF_LINK.match(text, part_end, end) is not None
    part_end = part_end if closed else offset
    if not hash_mark:
        return LinkAtCursor("page", target.strip(), target.lstrip(), opening + 2, part_end, closed)
    typed = fragment.rpartition("#")[2]
    if typed.startswith("^"):
        return LinkAtCursor("block", target.strip(), typed[1:], offset - len(typed) + 1, part_end, closed)
    return LinkAtCursor("heading", target.strip(), typed, offset - len(typed), part_end, closed)


def _property(text: str, first: int, start: int, end: int, offset: int) -> AtCursor | None:
    line = text[start:end]
    if item := _ITEM.match(line):
        key = _key_above(text, first, start)
        return _value(text, key, start + item.end(), end, offset) if key else None
    found = _KEY.fullmatch(line)
    if found is None:
        name = _NAME.fullmatch(line)
        return PropertyNameAtCursor(text[start:offset], start, end, has_colon=False) if name else None
    colon = start + found.start("rest")
    if offset < colon:
        return PropertyNameAtCursor(text[start:offset], start, start + found.end("key"), has_colon=True)
    return _value(text, found["key"].strip(), colon, end, offset)


def _key_above(text: str, first: int, start: int) -> str:
    """The property whose list the item on the line at `start` belongs to; empty where it is none's."""
    while start > first:
        start, end = _line(text, start - (2 if text.startswith("\r\n", start - 2) else 1))
        line = text[start:end]
        if _ITEM.match(line) or not line.strip():
            continue
        found = _KEY.fullmatch(line)
        return found["key"].strip() if found and not found["rest"].strip() else ""
    return ""


def _value(text: str, key: str, start: int, end: int, offset: int) -> PropertyValueAtCursor | None:
    """The value that starts at or after `start`, or that item of it, in `[a, b]`, which holds the cursor."""
    if offset < start:
        return None
    needs_space = text[start - 1 : start] == ":" and text[start:offset].strip(" \t") == text[start:offset]
    written = text[start:offset].lstrip(" \t")
    at = offset - len(written)
    comment = text.find(" #", offset, end)
    end = comment if comment >= 0 else end
    if written.startswith("["):
        piece = re.split(r"[,\[]", written)[-1].lstrip(" \t")
        at = offset - len(piece)
        closing = re.compile(r"[^,\]]*").match(text, offset, end)
        end = closing.end() if closing else offset
        needs_space = False
    quoted = at < offset and text[at] in "\"'"
    at += quoted
    end = at + len(text[at:end].rstrip(" \t").rstrip("\"'" if quoted else ""))
    return PropertyValueAtCursor(key, text[at:offset], at, max(end, offset), quoted, needs_space)
