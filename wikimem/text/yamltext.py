"""Text as YAML: the shortest way to write a value that every reader takes for just that text.

YAML 1.1 (PyYAML, Ruby) and YAML 1.2 (Obsidian) read some plain words as booleans, numbers, dates or nothing. A text
that either of them would misread goes into double quotes; nothing is folded, and nothing printable is escaped.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from decimal import Decimal
from typing import Final, Literal

from wikimem.errors import Invalid
from wikimem.model.page import PropertyValue
from wikimem.text.lazyregex import lazily

Kind = Literal["text", "null", "boolean", "number", "date"]
Quote = Literal["", "'", '"']
Written = PropertyValue | bool | int | float

BARE_KEYS: Final[dict[str, Kind]] = {
    "created": "date",
    "confirmed": "date",
    "valid_from": "date",
    "valid_to": "date",
    "confidence": "number",
    "importance": "number",
    "pinned": "boolean",
}
"""Keys of wikimem's schema whose text is written without quotes when it is of that kind, for Obsidian's types."""

_BOOLEANS: Final = frozenset({"y", "yes", "n", "no", "true", "false", "on", "off"})
_NUMBER: Final = lazily(
    r"""[-+]?(?:0b[01_]+ | 0o?[0-7_]+ | 0x[0-9a-f_]+ | \d[\d_]*(?::\d+)+(?:\.[\d_]*)?
        | (?:\d[\d_]*(?:\.[\d_]*)? | \.\d[\d_]*)(?:e[-+]?\d+)? | \.inf) | \.nan""",
    re.IGNORECASE | re.VERBOSE | re.ASCII,
)
_DATE: Final = lazily(r"\d{4}-\d\d?-\d\d?(?:(?:t|[ \t]+)\d.*)?", re.IGNORECASE | re.ASCII)
_BARE_DATE: Final = lazily(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?", re.ASCII)

# YAML's printable characters (1.2, section 5.1) without the tab, the byte order mark, and the line breaks of YAML 1.1.
_NO_PRINT: Final = "[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
_UNPRINTABLE: Final = lazily(_NO_PRINT)
_SURROGATE: Final = lazily("[\ud800-\udfff]")
_ESCAPED: Final = lazily(f'["\\\\]|{_NO_PRINT}')
_INDICATORS: Final = frozenset("-?:,[]{}#&*!|>'\"%@`~=")
_SHORT_ESCAPES: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}


def kind_of(plain: str) -> Kind:
    """What some YAML reader makes of this text when it stands without quotes."""
    if plain in ("", "~") or plain.lower() == "null":
        return "null"
    if plain.lower() in _BOOLEANS:
        return "boolean"
    if _NUMBER.fullmatch(plain):
        return "number"
    return "date" if _DATE.fullmatch(plain) else "text"


def _may_be_plain(text: str, *, flow: bool) -> bool:
    return not (
        text != text.strip()
        or text[0] in _INDICATORS
        or text.startswith(("...", "<<"))
        or "[[" in text
        or ": " in text
        or " #" in text
        or text.endswith(":")
        or _UNPRINTABLE.search(text)
        or (flow and any(mark in text for mark in ",[]{}:?#\"'"))
    )


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    if character in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[character]
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _in_quotes(text: str, quote: Quote) -> str:
    if quote == "'" and not _UNPRINTABLE.search(text):
        return "'" + text.replace("'", "''") + "'"
    return '"' + _ESCAPED.sub(_escape, text) + '"'


def text_of(value: Written, key: str) -> PropertyValue:
    """The value as it will be read back. Raises Invalid for what frontmatter cannot hold."""
    if value is None:
        return None
    if isinstance(value, (tuple, list)):
        return tuple(_scalar_text(item, key) for item in value)
    return _scalar_text(value, key)


def _scalar_text(value: object, key: str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        if not math.isfinite(value):
            raise Invalid(f"`{key}` cannot be {value}", hint="Give a finite number.")
        return format(Decimal(repr(value)), "f") if isinstance(value, float) else str(value)
    if not isinstance(value, str):
        raise Invalid(
            f"`{key}` cannot hold that kind of value",
            hint="A property is a text, a number, true or false, a list of texts, or empty.",
        )
    if _SURROGATE.search(value):
        raise Invalid(f"`{key}` holds half of a character (a lone surrogate)", hint="Send the text as UTF-8.")
    return value


def write_scalar(
    value: str | bool | float, *, key: str = "", bare: Collection[Kind] = (), quote: Quote = "", flow: bool = False
) -> str:
    """One value on one line.

    `bare` are kinds that may stand without quotes (because the place where they go already held such a value),
    `quote` is the quote to use where the person used it, `flow` says that the value goes between square brackets.
    """
    text = _scalar_text(value, key)
    if not isinstance(value, str):
        return text
    if quote:
        return _in_quotes(text, quote)
    kind = kind_of(text)
    if kind == "text":
        return text if _may_be_plain(text, flow=flow) else _in_quotes(text, '"')
    allowed = kind in bare or BARE_KEYS.get(key) == kind
    safe = _BARE_DATE.fullmatch(text) if kind == "date" else text
    return text if allowed and safe and not flow else _in_quotes(text, '"')


def write_key(key: str) -> str:
    """A key of the mapping, in quotes where it has to be."""
    if not key:
        raise Invalid("a property needs a name", hint="Write KEY=VALUE.")
    text_of(key, "a property's name")
    return key if kind_of(key) == "text" and ":" not in key and _may_be_plain(key, flow=False) else _in_quotes(key, '"')


def write_items(values: Collection[str], *, indent: str, newline: str, gap: str = " ") -> str:
    """A block list: one line an item, without the last line break."""
    return newline.join(f"{indent}-{gap}{write_scalar(value)}" for value in values)


def write_flow(values: Collection[str]) -> str:
    """A list between square brackets."""
    return "[" + ", ".join(write_scalar(value, flow=True) for value in values) + "]"


def write_entry(key: str, value: Written, *, indent: str = "", list_indent: str = "  ", newline: str = "\n") -> str:
    """The lines of one property, each ending in `newline`."""
    head = f"{indent}{write_key(key)}:"
    if value is None:
        return head + newline
    if isinstance(value, (tuple, list)):
        text_of(value, key)
        if not value:
            return f"{head} []{newline}"
        return head + newline + write_items(value, indent=indent + list_indent, newline=newline) + newline
    return f"{head} {write_scalar(value, key=key)}{newline}"
