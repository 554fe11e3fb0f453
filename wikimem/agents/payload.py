"""Bytes from an agent as a payload: what can be saved of one that is cut, damaged, hostile or no JSON at all.

    fields, flaws = read_payload(data)

Nothing here raises, whatever the input. What cannot be read is left out, and `flaws` say so.
"""

from __future__ import annotations

import json

from wikimem.agents import spellings as say
from wikimem.text.redact_values import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

EMPTY = "empty"
NOT_TEXT = "not UTF-8"
DAMAGED = "damaged JSON"
NO_OBJECT = "no JSON object"
"""What can be wrong with a payload, as the log and `Event.flaws` say it."""

_DECODER = json.JSONDecoder(strict=False, parse_constant=str)
_KEY = r'(?s)[\s,]*"((?:[^"\\]|\\.){1,200}+)"\s*:\s*'
_LATER_KEY = r'(?<![\\\w])"[A-Za-z_]{2,40}"\s*:\s*'
_STRING = r'(?s)(?:[^"\\]++|\\.)*+'
_ESCAPE = r"(?s)\\(?:u([0-9a-fA-F]{4})|(.))"
_CLOSING = r"\s*\}?"
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_MOST_DEPTH = 4
_MOST_REPAIRS = 32
"""Each repair may read the rest once more, so that a hostile payload is given up and not worked on for minutes."""
_LAST_WORD = 8192
_END_CHARACTERS = 65_536
_OUTER = say.LEFT_OUT.difference(say.COMMAND, say.FILES, say.FILE_LISTS)


def read_payload(data: bytes, tail: bytes = b"") -> tuple[dict[str, object], list[str]]:
    """The fields of a payload and what was wrong with it. `tail` is its end, where its middle was left out."""
    text, flaws = _decoded(data)
    if not text.strip():
        return {}, [*flaws, EMPTY]
    try:
        value: object = json.loads(text, strict=False, parse_constant=str)
        if isinstance(value, str):
            value = json.loads(value, strict=False, parse_constant=str)
    except (ValueError, RecursionError):
        return _saved(text, _decoded(tail)[0] if tail else ""), [*flaws, DAMAGED]
    if isinstance(value, list):
        value = next((item for item in value if isinstance(item, dict)), None)
    if not isinstance(value, dict):
        return {}, [*flaws, NO_OBJECT]
    return value, flaws


def _decoded(data: bytes) -> tuple[str, list[str]]:
    encoding = "utf-8"
    for bom, name in _BOMS:
        if data.startswith(bom):
            data, encoding = data[len(bom) :], name
            break
    try:
        return data.decode(encoding), []
    except UnicodeDecodeError:
        return data.decode(encoding, "replace"), [NOT_TEXT]


def _saved(text: str, tail: str) -> dict[str, object]:
    start = text.find("{")
    repair = _Repair(text)
    found = repair.fields(start + 1) if start >= 0 else {}
    if tail or repair.skipped:
        end = _Repair(tail or text[-_END_CHARACTERS:])
        for name, value in end.known_fields().items():
            found.setdefault(name, value)
    return found


class _Repair:
    """Reads fields of a damaged object one by one, and goes on after what it cannot read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.repairs = 0
        self.skipped = False

    def fields(self, at: int) -> dict[str, object]:
        return self._object(at, 0)[0]

    def known_fields(self) -> dict[str, object]:
        """Fields whose names agents use, wherever they stand: in the end of a payload nobody knows the depth."""
        found: dict[str, object] = {}
        for key in compiled(_LATER_KEY).finditer(self.text):
            name = key[0][1:].partition('"')[0]
            if name in _OUTER and name not in found and self.repairs < _MOST_REPAIRS:
                value, _, whole = self._value(key.end(), _MOST_DEPTH)
                if whole:
                    found[name] = value
        return found

    def _object(self, at: int, depth: int) -> tuple[dict[str, object], int]:
        found: dict[str, object] = {}
        while (key := compiled(_KEY).match(self.text, at)) is not None:
            name, (value, at, whole) = key[1], self._value(key.end(), depth)
            if value is not None:
                found.setdefault(name, value)
            if not whole:
                later = compiled(_LATER_KEY).search(self.text, at)
                if later is None or self.repairs >= _MOST_REPAIRS:
                    return found, len(self.text)
                at = later.start()
        return found, at

    def _value(self, at: int, depth: int) -> tuple[object, int, bool]:
        """The value at `at`, where it ends, and whether it was whole. None where nothing can be said."""
        try:
            value, end = _DECODER.raw_decode(self.text, at)
        except (ValueError, RecursionError):
            self.repairs += 1
        else:
            return value, end, True
        opening = self.text[at : at + 1]
        if opening == '"':
            body = compiled(_STRING).match(self.text, at + 1)
            assert body is not None  # it matches the empty text
            if self.text[body.end() : body.end() + 1] == '"':
                return _unescaped(body[0]), body.end() + 1, True
            return _without_last_word(_unescaped(body[0])), len(self.text), False
        if opening == "{" and depth < _MOST_DEPTH and self.repairs < _MOST_REPAIRS:
            inner, end = self._object(at + 1, depth + 1)
            closing = compiled(_CLOSING).match(self.text, end)
            assert closing is not None
            return inner, closing.end(), self.text[closing.end() - 1 : closing.end()] == "}"
        self.skipped = self.skipped or opening in ("[", "{")
        return None, at + 1, False


def _unescaped(body: str) -> str:
    return compiled(_ESCAPE).sub(_meant, body) if "\\" in body else body


def _meant(found: re.Match[str]) -> str:
    if found[1]:
        return chr(int(found[1], 16))
    return _SIMPLE.get(found[2], found[2])


def _without_last_word(text: str) -> str:
    """Where a text breaks off, its last word may be half a secret, which nothing would recognise."""
    text = text.rstrip()
    last = text[-_LAST_WORD:]
    cut = max((last.rfind(blank) for blank in " \t\r\n"), default=-1)
    return text[: len(text) - len(last) + cut + 1]
