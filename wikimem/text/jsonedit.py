"""Adding to a JSON text and taking out of it again, byte for byte: all that is not asked for stays as it is written.

    text = JsonText(source)                       strict JSON, or Invalid with the line
    text.add(("mcpServers", "wikimem"), {...})    objects on the way are made where they are missing
    text.text, text.added                         the new text, and the pieces that were put in, in order

Cutting the pieces out again, last first, gives back the source exactly.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from wikimem.errors import Invalid

Path = tuple[str | int, ...]
"""Keys of objects and places in arrays, from the top."""

_DECODER: Final = json.JSONDecoder()
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_PLAIN: Final = re.compile(r"[^\s,\]}]+")
_INDENT: Final = re.compile(r"\n([ \t]+)\S")
_BOM: Final = "\ufeff"
_MOST_DEPTH: Final = 200


@dataclass(slots=True)
class Node:
    """A value in the text: `text[start:end]`. `members` of an object, `items` of an array; `key_start` of a member."""

    start: int
    end: int
    kind: str
    members: dict[str, Node] = field(default_factory=dict)
    items: list[Node] = field(default_factory=list)
    key_start: int = -1

    @property
    def begin(self) -> int:
        """Where the member or item begins, with its key."""
        return self.start if self.key_start < 0 else self.key_start

    @property
    def children(self) -> list[Node]:
        """Members or items, in order."""
        return list(self.members.values()) if self.kind == "{" else self.items


def read_json(text: str) -> Any:
    """The value of a strict JSON text; a byte order mark is passed over.

    Raises Invalid, naming the line in `data`, for comments, trailing commas, a key that stands twice, and NaN.
    """
    try:
        return json.loads(text.removeprefix(_BOM), object_pairs_hook=_unique, parse_constant=_constant)
    except json.JSONDecodeError as error:
        raise Invalid(f"line {error.lineno}: {error.msg}", data={"line": error.lineno}) from error
    except RecursionError as error:
        raise Invalid("it is nested too deeply", data={"line": 1}) from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Invalid(f"the key '{twice}' stands twice in one object", data={"line": 1})
    return found


def _constant(name: str) -> Any:
    raise Invalid(f"{name} is no JSON", data={"line": 1})


class JsonText:
    """A JSON text that is being edited. Raises Invalid as `read_json` does."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.added: list[str] = []
        self.value = read_json(text)
        self._newline = "\r\n" if "\r\n" in text else "\n"
        found = _INDENT.search(text.replace("\r", ""))
        self._unit = found[1] if found else "  "

    def add(self, path: Path, value: Any) -> None:
        """Put a member, or an item at the end of an array, where `path` says; the last part of the path is its key.

        An int as last part means the end of the array that the path before it names. Objects on the way are made where
        they are missing, an array where an int follows. Raises Invalid where something else is in the way.
        """
        node, done = self._tree(), 0
        while done < len(path) - 1 and (below := _child(node, path[done])) is not None:
            node, done = below, done + 1
        for part in reversed(path[done + 1 :]):
            value = [value] if isinstance(part, int) else {part: value}
        self._insert(node, path[done], value, path[:done])

    def remove(self, path: Path) -> None:
        """Take out the member or item at `path`, with the comma and the space that belong to it. It must be there."""
        node = self._tree()
        for part in path[:-1]:
            below = _child(node, part)
            assert below is not None
            node = below
        target = _child(node, path[-1])
        assert target is not None
        siblings = node.children
        at = next(number for number, each in enumerate(siblings) if each is target)
        if at > 0:
            start, end = siblings[at - 1].end, target.end
        elif len(siblings) > 1:
            start, end = target.begin, siblings[1].begin
        else:
            start, end = node.start + 1, node.end - 1
        self._set(self.text[:start] + self.text[end:])

    def _insert(self, node: Node, part: str | int, value: Any, where: Path) -> None:
        if node.kind != ("[" if isinstance(part, int) else "{"):
            place = ".".join(map(str, where)) or "the top"
            raise Invalid(f"{place} is no {'list' if isinstance(part, int) else 'object'}", data={"line": 1})
        base = self._indent_at(node.start)
        last = node.children[-1] if node.children else None
        spread = last is None or "\n" in self.text[node.start : last.begin]
        indent = self._indent_at(last.begin) if last is not None and spread else base + self._unit
        key = "" if isinstance(part, int) else f"{json.dumps(part, ensure_ascii=False)}: "
        if not spread:
            written, before = f"{key}{json.dumps(value, ensure_ascii=False)}", ", "
        else:
            lines = json.dumps(value, ensure_ascii=False, indent=self._unit).split("\n")
            written, before = key + f"{self._newline}{indent}".join(lines), f",{self._newline}{indent}"
        if last is not None:
            self._put(last.end, before + written)
            return
        inside = self.text[node.start + 1 : node.end - 1]
        closing = "" if "\n" in inside else f"{self._newline}{base}"
        self._put(node.start + 1, f"{self._newline}{indent}{written}{closing}")

    def _put(self, at: int, piece: str) -> None:
        self.added.append(piece)
        self._set(self.text[:at] + piece + self.text[at:])

    def _set(self, text: str) -> None:
        self.text = text
        self.value = read_json(text)

    def _indent_at(self, at: int) -> str:
        line = self.text[self.text.rfind("\n", 0, at) + 1 : at]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _tree(self) -> Node:
        return _scan(self.text, _skip(self.text, len(_BOM) if self.text.startswith(_BOM) else 0), 0)


def without_pieces(text: str, pieces: Sequence[str]) -> str | None:
    """`text` without the pieces that were added to it; None where one of them is not there, or more than once."""
    for piece in reversed(pieces):
        if text.count(piece) != 1:
            return None
        text = text.replace(piece, "")
    return text


def _child(node: Node, part: str | int) -> Node | None:
    if isinstance(part, str):
        return node.members.get(part)
    return node.items[part] if part < len(node.items) else None


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _scan(text: str, at: int, depth: int) -> Node:
    """The value that begins at `at`, in a text that is known to be JSON."""
    if depth > _MOST_DEPTH:
        raise Invalid("it is nested too deeply", data={"line": 1})
    kind = text[at]
    if kind == '"':
        return Node(at, _DECODER.raw_decode(text, at)[1], kind)
    if kind not in "{[":
        found = _PLAIN.match(text, at)
        return Node(at, found.end() if found else at, "")
    node = Node(at, at, kind)
    place = _skip(text, at + 1)
    while text[place] not in "}]":
        key, key_start = "", -1
        if kind == "{":
            key_start = place
            key, place = _DECODER.raw_decode(text, place)
            place = _skip(text, _skip(text, place) + 1)
        child = _scan(text, place, depth + 1)
        child.key_start = key_start
        if kind == "{":
            node.members[key] = child
        else:
            node.items.append(child)
        place = _skip(text, child.end)
        if text[place] == ",":
            place = _skip(text, place + 1)
    node.end = place + 1
    return node
