"""Frontmatter that YAML refuses or misreads, mended where that takes no judgement: quotes round a value.

    up: [[Page]]                  up: "[[Page]]"
    title: Deploy: the sequel     title: "Deploy: the sequel"

Only such values are touched, and the result is given back only where the whole block then reads as it was recovered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import yaml

from wikimem.text.conflicts import conflict_start
from wikimem.text.yamlblock import BREAK, Block, Entry, node_end, read_block
from wikimem.text.yamlspans import Splice, apply_splices
from wikimem.text.yamltext import write_scalar

_WIKILINK: Final = re.compile(r"\[\[[^\[\]\r\n]+\]\]")
_RAW_ITEM: Final = re.compile(r"[ \t]*-[ \t]+(.*?)[ \t]*")
_NO_PLAIN_TEXT: Final = re.compile(r"[\"'&*!|>{#-]|\[(?!\[)")
"""How a value begins that its writer meant as something else than plain text."""


def quote_properties(data: bytes) -> bytes:
    """The file with those values in quotes; the same bytes where there are none, or where quotes do not mend it, or
    where a merge is unresolved.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return data
    block = read_block(text)
    if block is None or conflict_start(text, block.fences.body) is not None:
        return data
    splices = list(_splices(text, block))
    if not splices:
        return data
    result = apply_splices(text, splices)
    after = read_block(result)
    if after is None or not after.parses or any(fault.fixable for fault in after.faults):
        return data
    same = [(entry.key, entry.value) for entry in after.entries] == [
        (entry.key, entry.value) for entry in block.entries
    ]
    return result.encode("utf-8") if same and result[after.fences.body :] == text[block.fences.body :] else data


def _splices(text: str, block: Block) -> Iterator[Splice]:
    for entry in block.entries:
        if entry.node is None:
            yield from _of_raw(text, entry)
        elif not entry.shared:
            yield from _of_links(text, entry)


def _of_links(text: str, entry: Entry) -> Iterator[Splice]:
    """Wikilinks that YAML reads as lists in lists: the value itself, or items of its list."""
    node = entry.node
    if not isinstance(node, yaml.SequenceNode):
        return
    if isinstance(entry.value, str):
        yield _quoted(text, entry.start, entry.end)
        return
    if not node.value:
        return
    # Marks count from the beginning of what was composed: the block, or in a recovered one the key's own lines.
    base = entry.start - node.start_mark.index
    for item in node.value:
        start, end = base + item.start_mark.index, node_end(text, item, base)
        if isinstance(item, yaml.SequenceNode) and _WIKILINK.fullmatch(text, start, end):
            yield _quoted(text, start, end)


def _of_raw(text: str, entry: Entry) -> Iterator[Splice]:
    """A value that YAML refuses, and that is one line of plain text or a list of such lines."""
    end = max(entry.start, entry.end)
    lines = [(entry.start, text[entry.start : end])]
    if isinstance(entry.value, tuple):
        breaks = list(BREAK.finditer(text, entry.start, end))
        stops = [*(found.start() for found in breaks[1:]), end]
        items = [_RAW_ITEM.fullmatch(text, found.end(), stop) for found, stop in zip(breaks, stops, strict=True)]
        lines = [(item.start(1), item[1]) for item in items if item]
    for start, line in lines:
        value = line.strip(" \t")
        place = start + len(line) - len(line.lstrip(" \t"))
        if not value or BREAK.search(value) or " #" in value or _NO_PLAIN_TEXT.match(value):
            continue
        if isinstance(entry.value, tuple) and not (_WIKILINK.match(value) or ": " in value or value[0] in "@`%"):
            continue
        yield _quoted(text, place, place + len(value))


def _quoted(text: str, start: int, end: int) -> Splice:
    value = text[start:end]
    written = write_scalar(value)
    return Splice(start, end, written if written != value else write_scalar(value, quote='"'))
