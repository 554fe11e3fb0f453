"""Where to cut and what to put in, so that one property of a person's frontmatter gets another value.

The comment on the property's line, its quotes, a list's style and the items that stay keep their bytes. What cannot
be changed without touching more than the value (anchors, aliases, tags, nested mappings) is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final

import yaml
from msgspec import Struct

from wikimem.errors import Refused
from wikimem.text.yamlblock import BREAK, Entry, line_start, node_end
from wikimem.text.yamltext import Kind, Quote, Written, kind_of, text_of, write_flow, write_items, write_scalar

_BLOCK_SCALAR_HEAD: Final = re.compile(r"[|>][-+0-9]*([ \t]+#[^\r\n]*)?")


class Splice(Struct, frozen=True):
    """Put `text` in place of what stands from `start` up to `end`."""

    start: int
    end: int
    text: str


class Style(Struct, frozen=True):
    """What new lines look like in this file: its line break, and how far a list stands in from its key."""

    newline: str
    list_indent: str


class Target(Struct, frozen=True):
    """The property to change. `base` is where the marks of its nodes count from, `where` names file and line."""

    text: str
    entry: Entry
    base: int
    style: Style
    where: str

    def refuse(self, why: str) -> Refused:
        return Refused(f"{self.where}: {why}", hint="Change it in an editor.")

    def refuse_what_is_shared(self) -> None:
        key = self.entry.key
        if self.entry.colon < 0:
            raise self.refuse(f"`{key}` is not written as `key: value` on its own line")
        if self.entry.shared:
            raise self.refuse(f"`{key}` uses a YAML anchor, alias, tag or merge key")


def apply_splices(text: str, splices: Sequence[Splice]) -> str:
    """The text with all splices made; they may touch but not overlap."""
    parts: list[str] = []
    place = 0
    for splice in sorted(splices, key=lambda each: (each.start, each.end)):
        parts += [text[place : splice.start], splice.text]
        place = splice.end
    return "".join([*parts, text[place:]])


def style_of(text: str, entries: Sequence[Entry], newline: str) -> Style:
    """As the first block list does it, else two spaces, as Obsidian writes."""
    for entry in entries:
        if _is_block_list(entry) and not entry.shared and entry.colon >= 0:
            item_column = entry.start - line_start(text, entry.start)
            key_column = entry.key_start - line_start(text, entry.key_start)
            return Style(newline, " " * max(0, item_column - key_column))
    return Style(newline, "  ")


def removal(target: Target) -> Splice:
    """The property's lines; comments on lines of their own stay."""
    target.refuse_what_is_shared()
    return Splice(line_start(target.text, target.entry.key_start), _after_line(target.text, target.entry.end), "")


def replacement(target: Target, value: Written) -> list[Splice]:
    """The splices that give an existing property another value."""
    target.refuse_what_is_shared()
    text, entry = target.text, target.entry
    if isinstance(entry.node, yaml.MappingNode) and not entry.node.flow_style:
        raise target.refuse(f"`{entry.key}` holds nested properties, which are not rewritten")
    new = text_of(value, entry.key)
    if isinstance(new, tuple) and new:
        return _to_list(target, new)
    if value is None:
        return _to_inline(text, entry, "")
    if isinstance(value, tuple):
        return _to_inline(text, entry, "[]")
    quote = _quote(text, entry)
    return _to_inline(text, entry, write_scalar(value, key=entry.key, bare=_bare_kinds(text, entry), quote=quote))


def _is_block_list(entry: Entry) -> bool:
    return isinstance(entry.node, yaml.SequenceNode) and not entry.node.flow_style


def _is_block_scalar(entry: Entry) -> bool:
    return isinstance(entry.node, yaml.ScalarNode) and entry.node.style in ("|", ">")


def _line_end(text: str, place: int) -> int:
    found = BREAK.search(text, place)
    return found.start() if found else len(text)


def _after_line(text: str, place: int) -> int:
    found = BREAK.search(text, place)
    return found.end() if found else len(text)


def _bare_kinds(text: str, entry: Entry) -> tuple[Kind, ...]:
    """A number that stood without quotes may be followed by another; likewise dates and booleans."""
    if not isinstance(entry.node, yaml.ScalarNode) or entry.node.style or entry.start == entry.end:
        return ()
    kind = kind_of(text[entry.start : entry.end])
    return () if kind in ("text", "null") else (kind,)


def _quote(text: str, entry: Entry) -> Quote:
    first = text[entry.start : entry.start + 1]
    if not isinstance(entry.node, yaml.ScalarNode):
        return ""
    return "'" if first == "'" else '"' if first == '"' else ""


def _to_inline(text: str, entry: Entry, written: str) -> list[Splice]:
    after_colon = f" {written}" if written else ""
    if _is_block_list(entry):
        first_item_line = line_start(text, entry.start)
        lists_begin = first_item_line - (2 if text[first_item_line - 2 : first_item_line] == "\r\n" else 1)
        return [
            Splice(entry.colon, entry.colon, after_colon),
            Splice(lists_begin, _line_end(text, entry.end), ""),
        ]
    if _is_block_scalar(entry):
        head = _BLOCK_SCALAR_HEAD.match(text, entry.start)
        comment = (head[1] if head else None) or ""
        return [Splice(entry.colon, entry.end, after_colon + comment)]
    if entry.start == entry.end:
        return [Splice(entry.colon, entry.colon, after_colon)]
    on_key_line = not BREAK.search(text, entry.colon, entry.start)
    return [Splice(entry.start if written or not on_key_line else entry.colon, entry.end, written)]


def _to_list(target: Target, new: tuple[str, ...]) -> list[Splice]:
    text, entry, style = target.text, target.entry, target.style
    if isinstance(entry.node, yaml.SequenceNode):
        if not isinstance(entry.value, tuple) or text[entry.start : entry.end] == "[]":
            return [Splice(entry.start, entry.end, write_flow(new))]
        change = _change_flow_list if entry.node.flow_style else _change_block_list
        return change(target, entry.node.value, entry.value, new)
    indent = " " * (entry.key_start - line_start(text, entry.key_start)) + style.list_indent
    lines = style.newline + write_items(new, indent=indent, newline=style.newline)
    if _is_block_scalar(entry):
        head = _BLOCK_SCALAR_HEAD.match(text, entry.start)
        return [Splice(entry.colon, entry.end, ((head[1] if head else None) or "") + lines)]
    if "#" in text[entry.colon : entry.start]:
        raise target.refuse(f"a comment stands between `{entry.key}` and its value")
    end = _line_end(text, max(entry.end, entry.colon))
    cut = Splice(entry.colon, entry.end, "") if entry.end > entry.start else Splice(entry.colon, entry.colon, "")
    return [cut, Splice(end, end, lines)]


def _change_block_list(
    target: Target, nodes: Sequence[yaml.Node], old: tuple[str, ...], new: tuple[str, ...]
) -> list[Splice]:
    """Items that stay are not touched; the others go and come as whole lines."""
    text, entry, base, style = target.text, target.entry, target.base, target.style
    begin = line_start(text, entry.start)
    indent = text[begin : entry.start]
    dash = re.compile(rf"(?:(?<=[\r\n])){indent}-(?=[ \t\r\n]|\Z)")
    dashes = [found.end() for found in dash.finditer(text, begin, _line_end(text, entry.end))]
    starts = [base + item.start_mark.index for item in nodes]
    bounds = [*dashes[1:], _after_line(text, entry.end) + 1]
    if len(dashes) != len(starts) or not all(
        low <= start < high for low, start, high in zip(dashes, starts, bounds, strict=True)
    ):
        raise target.refuse(f"the list `{entry.key}` cannot be taken apart line by line")
    gap = text[dashes[0] : starts[0]]
    gap = gap if gap and not gap.strip(" ") else " "
    extents = [
        (line_start(text, dash_end - 1), _after_line(text, max(dash_end, node_end(text, item, base))))
        for dash_end, item in zip(dashes, nodes, strict=True)
    ]
    splices: list[Splice] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        if j2 > j1:
            place = extents[i1][0] if tag == "replace" or i1 == 0 else extents[i1 - 1][1]
            lines = write_items(new[j1:j2], indent=indent, newline=style.newline, gap=gap) + style.newline
            splices.append(Splice(place, place, lines))
        splices += [Splice(start, end, "") for start, end in extents[i1:i2]]
    return splices


def _change_flow_list(
    target: Target, nodes: Sequence[yaml.Node], old: tuple[str, ...], new: tuple[str, ...]
) -> list[Splice]:
    """The list between square brackets again, with the items that stay as they were written."""
    text, entry, base = target.text, target.entry, target.base
    spans = [(base + item.start_mark.index, node_end(text, item, base)) for item in nodes]
    edges = [entry.start + 1, *(edge for span in spans for edge in span), entry.end - 1]
    if edges != sorted(edges) or any(text[start : start + 1] in ("&", "!", "*") for start, _ in spans):
        raise target.refuse(f"the list `{entry.key}` uses a YAML anchor, alias or tag")
    between = [text[edges[i] : edges[i + 1]] for i in range(0, len(edges), 2)]
    separator = between[1] if len(spans) > 1 and between[1].strip() == "," else ", "
    if any("#" in part for part in between):
        if new[: len(spans)] != old:
            raise target.refuse(f"the list `{entry.key}` holds comments that would be lost")
        added = ", ".join(write_scalar(value, flow=True) for value in new[len(spans) :])
        return [Splice(spans[-1][1], spans[-1][1], f", {added}")]
    written = {value: text[start:end] for value, (start, end) in zip(old, spans, strict=True)}
    items = (written.get(value) or write_scalar(value, flow=True) for value in new)
    return [Splice(entry.start, entry.end, f"[{between[0]}{separator.join(items)}{between[-1]}]")]
