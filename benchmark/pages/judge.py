"""The judge of an edit: what the bytes and PyYAML say, and nothing of wikimem's.

It knows a page by its fences: a first line `---` (behind a byte order mark or not) and a later line `---` or `...`,
with nothing, comments or a mapping between; and `+++` and a first `{` as Hugo's other two kinds. Everything else is
body. Values are compared as PyYAML loads them, by type and value, merges resolved; where it cannot load them (tags of
one's own, lists as keys), node by node.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, Literal

import yaml

Verdict = Literal["just its key", "other bytes", "corrupted"]

BOM: Final = b"\xef\xbb\xbf"
_OPEN: Final = re.compile(rb"---[ \t]*(\r\n|\n|\r)")
_CLOSE: Final = re.compile(rb"(?:(?<=\n)|(?<=\r))(?:---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)")
_TOML: Final = re.compile(rb"\+\+\+[ \t]*\r?\n(.*?)^\+\+\+[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_LINE: Final = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_STANDARD: Final = "tag:yaml.org,2002:"
_YAML_1_1_BREAKS: Final = str.maketrans({"\x85": "\ue085", "\u2028": "\ue028", "\u2029": "\ue029"})
"""YAML 1.1 ends lines at these, YAML 1.2 and people do not; each becomes another character of its own."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One `key: value`: what it means, and from which byte of the page to which its lines reach."""

    key: Hashable
    value: Hashable
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Reading:
    """A page as the judge reads it. `why` says why the block is not readable; `block` is where it stands."""

    kind: Literal["yaml", "toml", "json", "none", "unreadable"]
    body: bytes
    pairs: tuple[Pair, ...] = ()
    block: tuple[int, int] = (0, 0)
    loaded: dict[Hashable, Hashable] | None = None
    why: str = ""
    foreign: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judgement:
    verdict: Verdict
    why: str = ""


def judge(before: bytes, after: bytes, key: str, value: object) -> Judgement:
    """What an edit that set `key` to `value` (None: removed it) did to a page. `value` is a text, number or tuple."""
    was = read(before)
    if was.kind in ("toml", "json"):
        return _judge_foreign(was, before, after)
    if was.kind == "unreadable":
        return _judge_unreadable(was, before, after, key)
    now = read(after)
    fault = _meaning_fault(was, now, key, value)
    if fault:
        return Judgement("corrupted", fault)
    if _only_lines_of_key(was, before, after, key):
        return Judgement("just its key")
    return Judgement("other bytes", _what_else(was, now, before, after))


@lru_cache(maxsize=8)
def read(data: bytes) -> Reading:
    """The page that these bytes are. Never raises."""
    start = len(BOM) if data.startswith(BOM) else 0
    toml = _TOML.match(data, start)
    if toml:
        return _foreign("toml", lambda: tomllib.loads(toml[1].decode().replace("\r\n", "\n")), data, toml.end())
    if data.startswith(b"{", start) and not data.startswith(b"{{", start):
        return _json_page(data, start)
    opening = _OPEN.match(data, start)
    closing = _CLOSE.search(data, opening.end()) if opening else None
    if opening is None or closing is None:
        return Reading("none", data[start:])
    block = (opening.end(), closing.start())
    try:
        source = data[slice(*block)].decode("utf-8").translate(_YAML_1_1_BREAKS)
        data[closing.end() :].decode("utf-8")
        root = yaml.compose(source, Loader=yaml.CSafeLoader)
        if root is not None and not isinstance(root, yaml.MappingNode):
            return Reading("none", data[start:])
        pairs = tuple(_pairs(root, source, block[0])) if root is not None else ()
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError) as error:
        return Reading("unreadable", data[closing.end() :], block=block, why=" ".join(str(error).split()))
    return Reading("yaml", data[closing.end() :], pairs, block, _loaded(source))


def _json_page(data: bytes, start: int) -> Reading:
    text = data[start:].decode("utf-8", errors="replace")
    try:
        value, end = json.JSONDecoder().raw_decode(text)
    except ValueError:
        return Reading("none", data[start:])
    if not isinstance(value, dict):
        return Reading("none", data[start:])
    return Reading("json", text[end:].encode(), foreign=value)


def _foreign(kind: Literal["toml"], load: Any, data: bytes, body: int) -> Reading:
    try:
        return Reading(kind, data[body:], foreign=load())
    except (ValueError, UnicodeDecodeError):
        return Reading("none", data)


# What the block means


def _pairs(root: yaml.MappingNode, source: str, base: int) -> Any:
    offsets = _byte_offsets(source, base)
    for key_node, value_node in root.value:
        first = key_node.start_mark.index
        last = value_node.start_mark.index
        end = _end_of(value_node) if last >= first else key_node.end_mark.index  # an alias's marks are its anchor's
        line_start = max(source.rfind("\n", 0, first), source.rfind("\r", 0, first)) + 1
        yield Pair(_meaning(key_node), _meaning(value_node), offsets[line_start], offsets[_line_end(source, end)])


def _byte_offsets(source: str, base: int) -> list[int]:
    """The byte of each character. Stand-ins are counted as what they stand for."""
    offsets, place = [], base
    for character in source:
        offsets.append(place)
        place += 2 if character == "\ue085" else len(character.encode("utf-8"))
    return [*offsets, place]


def _end_of(node: yaml.Node) -> int:
    """Where a node's own text ends; a block collection's end mark runs on over comments to what comes next."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        inner = last[1] if isinstance(last, tuple) else last
        if inner.start_mark.index < node.start_mark.index:
            break
        node = inner
    return int(node.end_mark.index)


def _line_end(source: str, place: int) -> int:
    """The end of the line of the character before `place`, its line break included."""
    at_start = place > 0 and source[place - 1] in "\r\n"
    if at_start:
        return place
    for index in range(place, len(source)):
        if source[index] in "\r\n":
            return index + (2 if source[index : index + 2] == "\r\n" else 1)
    return len(source)


def _meaning(node: yaml.Node, above: tuple[int, ...] = ()) -> Hashable:
    """What a node says: tag, type and value; lists and mappings as tuples, so that anything can be compared."""
    if id(node) in above:
        return ("cycle",)
    inside = (*above, id(node))
    if isinstance(node, yaml.SequenceNode):
        return ("list", node.tag, tuple(_meaning(each, inside) for each in node.value))
    if isinstance(node, yaml.MappingNode):
        pairs = [(_meaning(key, inside), _meaning(each, inside)) for key, each in node.value]
        return ("map", node.tag, tuple(sorted(pairs, key=repr)))
    return ("scalar", node.tag, _scalar(node))


def _scalar(node: yaml.Node) -> Hashable:
    if not node.tag.startswith(_STANDARD):
        return str(node.value)
    constructor = yaml.constructor.SafeConstructor()
    try:
        value = constructor.construct_object(node)
    except (yaml.YAMLError, ValueError):
        return str(node.value)
    return (type(value).__name__, repr(value))


def _loaded(source: str) -> dict[Hashable, Hashable] | None:
    """The mapping as PyYAML loads it, merges done; None where it cannot (tags of one's own, lists as keys)."""
    try:
        loaded = yaml.load(source, Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError):
        return None
    return {repr(key): _frozen(value) for key, value in loaded.items()} if isinstance(loaded, dict) else {}


def _frozen(value: object) -> Hashable:
    """A loaded value, of which types count and the order of a mapping does not."""
    if isinstance(value, dict):
        return ("map", tuple(sorted(((repr(key), _frozen(each)) for key, each in value.items()), key=repr)))
    if isinstance(value, list):
        return ("list", tuple(map(_frozen, value)))
    return (type(value).__name__, repr(value))


def _expected(value: object) -> Hashable:
    """What the meaning of a value that was set has to be."""
    if isinstance(value, tuple):
        return ("list", f"{_STANDARD}seq", tuple(_expected(item) for item in value))
    name = type(value).__name__
    return ("scalar", _STANDARD + name, (name, repr(value)))


def _meaning_fault(was: Reading, now: Reading, key: str, value: object) -> str:
    """What means something else after the edit, in words; empty where all is as it should be."""
    if now.kind == "unreadable":
        return f"the page no longer parses: {now.why}"
    if now.kind not in ("yaml", "none"):
        return f"the page is now read as {now.kind}"
    wanted = ("scalar", f"{_STANDARD}str", ("str", repr(key)))
    after = [pair for pair in now.pairs if pair.key == wanted]
    if value is None and after:
        return "the key is still there"
    if value is not None:
        if not after:
            return "the key is not there" if now.kind == "yaml" else "the page has no frontmatter"
        if after[-1].value != _expected(value):
            return f"the key has another value: {str(after[-1].value)[:80]}"
    if was.loaded is None or now.loaded is None:
        others = [(pair.key, pair.value) for pair in was.pairs if pair.key != wanted]
        kept = [(pair.key, pair.value) for pair in now.pairs if pair.key != wanted]
    else:
        others, kept = list(_without(was, key).items()), list(_without(now, key).items())
    if sorted(map(repr, others)) != sorted(map(repr, kept)):
        return _other_key(others, kept)
    if _body_words(was.body) != _body_words(now.body):
        return "the body says something else"
    return ""


def _other_key(others: list[tuple[Any, Any]], kept: list[tuple[Any, Any]]) -> str:
    before, after = dict(others), dict(kept)
    lost = [key for key in before if key not in after]
    if lost:
        return f"another key is gone: {_name(lost[0])}"
    changed = [key for key in before if before[key] != after[key]]
    if changed:
        return f"another key has another value: {_name(changed[0])}: {before[changed[0]]} -> {after[changed[0]]}"[:200]
    new = [key for key in after if key not in before]
    return f"another key came: {_name(new[0])}" if new else "a repetition of a key is gone"


def _name(key: Any) -> str:
    return key if isinstance(key, str) else str(key[-1])


def _without(reading: Reading, key: str) -> dict[Hashable, Hashable]:
    return {name: value for name, value in (reading.loaded or {}).items() if name != repr(key)}


def _body_words(body: bytes) -> bytes:
    """The body for what Markdown makes of it: blank lines at either end and the kind of line end say nothing."""
    body = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return re.sub(rb"\A(?:[ \t]*\n)+", b"", body).rstrip(b" \t\n")


# What the bytes are


def _only_lines_of_key(was: Reading, before: bytes, after: bytes, key: str) -> bool:
    """Whether before and after are equal up to the key's lines and from their end on."""
    if before == after:
        return True
    wanted = ("scalar", f"{_STANDARD}str", ("str", repr(key)))
    own = [pair for pair in was.pairs if pair.key == wanted]
    if was.kind == "none":
        mark = before[: len(before) - len(was.body)]
        return after.startswith(mark) and after.endswith(was.body) and len(after) >= len(before)
    if len(own) > 1:
        return False
    start, end = (own[0].start, own[0].end) if own else _place_between(was, before, after)
    fits = len(after) >= start + len(before) - end
    return fits and after[:start] == before[:start] and after.endswith(before[end:])


def _place_between(was: Reading, before: bytes, after: bytes) -> tuple[int, int]:
    """Where new lines were put in: as far into the block as both pages are alike."""
    place, last = was.block[0], was.block[1]
    while place < last and before[place : place + 1] == after[place : place + 1]:
        place += 1
    return place, place


def _what_else(was: Reading, now: Reading, before: bytes, after: bytes) -> str:
    """Which kinds of other bytes changed, in words."""
    found: list[str] = []
    if before.startswith(BOM) and not after.startswith(BOM):
        found.append("byte order mark lost")
    if was.body != now.body:
        found.append("body's blank ends or line ends")
    if before.count(b"\r") > after.count(b"\r"):
        found.append("line ends")
    old, new = before[slice(*was.block)], after[slice(*now.block)]
    if old.count(b"#") > new.count(b"#"):
        found.append("comments lost")
    names = [[pair.key for pair in reading.pairs] for reading in (was, now)]
    if [key for key in names[0] if key in names[1]] != [key for key in names[1] if key in names[0]]:
        found.append("order of keys")
    return ", ".join(found) or "spelling of other keys"


def _judge_unreadable(was: Reading, before: bytes, after: bytes, key: str) -> Judgement:
    """Of a page that PyYAML cannot read only the bytes can say that all else is as it was."""
    if before == after:
        return Judgement("just its key")
    line = re.compile(rb"(?:(?<=\n)|(?<=\r))" + re.escape(key.encode()) + rb"[ \t]*:")
    found = line.search(before, *was.block)
    start = end = found.start() if found else was.block[1]
    if found:
        end = _LINE.match(before, start).end()  # type: ignore[union-attr]
        while end < was.block[1] and before[end : end + 1] in (b" ", b"\t", b"-", b"\n", b"\r"):
            end = _LINE.match(before, end).end()  # type: ignore[union-attr]
    else:
        start, end = _place_between(was, before, after)
    fits = len(after) >= start + len(before) - end
    if fits and after[:start] == before[:start] and after.endswith(before[end:]):
        return Judgement("just its key", "a page that PyYAML cannot read")
    return Judgement("corrupted", f"written though it cannot be read: {was.why}")


def _judge_foreign(was: Reading, before: bytes, after: bytes) -> Judgement:
    """A page whose properties are TOML or JSON: a YAML block in front hides them from the tools that read them."""
    now = read(after)
    if before == after:
        return Judgement("just its key")
    if now.kind != was.kind:
        return Judgement("corrupted", f"its {was.kind.upper()} frontmatter is no longer frontmatter")
    gone = [name for name, value in was.foreign.items() if name != "key" and now.foreign.get(name) != value]
    if gone or _body_words(was.body) != _body_words(now.body):
        return Judgement("corrupted", "another key or the body says something else")
    return Judgement("other bytes", "inside TOML or JSON")
