"""The block between the `---` lines: where it is, which keys it holds, and where in the text each of them stands.

python-frontmatter's handler reads the YAML, with a loader of ours in three respects: no word is taken for a boolean,
a number or a date (wikimem's schema decides that, per key); the result is the tree of nodes with their places, since
a tree of values could not tell a repeated key, a line or a span; and it is libyaml's parser where PyYAML has it, ten
times as fast. The fences are found here: python-frontmatter takes any pair of rules for frontmatter, misses one behind
a byte order mark, and strips the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, Final

import yaml
from frontmatter.default_handlers import YAMLHandler
from msgspec import Struct

from wikimem.model.page import PropertyValue
from wikimem.text.lazyregex import lazily

try:
    from yaml import CBaseLoader as _PlainLoader
except ImportError:  # PyYAML built without libyaml
    from yaml import BaseLoader as _PlainLoader  # type: ignore[assignment]

BREAK: Final = lazily(r"\r\n|\n|\r")
LONGEST_BLOCK: Final = 256 * 1024
"""Characters of frontmatter that are read as YAML. Longer blocks are a slip of some tool; they are recovered from."""
_RECOVERED: Final = 64 * 1024
_MOST_FAULTS: Final = 20

_OPENING: Final = lazily(r"\ufeff?---[ \t]*(\r\n|\n|\r)")
_CLOSING: Final = lazily(r"(?<=[\r\n])(---|\.\.\.)[ \t]*(?:\r\n|\n|\r|\Z)")
_KEY_LINE: Final = lazily(
    r"""(?P<key>"(?:[^"\\\r\n]|\\.)*" | '[^'\r\n]*' | [^\s\#\-"'\[\]{}<>=|&*!%@`](?:[^:\r\n]|:(?=\S))*?)
        [ \t]*:(?=[ \t\r\n]|\Z)""",
    re.VERBOSE,
)
_LIST_LINE: Final = lazily(r"[ \t]*-(?:[ \t]+(.*))?")
_NEXT_WORD: Final = lazily(r"[ \t\r\n]*([^ \t\r\n]*)")
_UNQUOTED_WIKILINK: Final = lazily(r"\[\[[^\[\]\r\n]+\]\]")
_PROSE_SAFE_KEY: Final = lazily(r"[\w./-]+(?: [\w./-]+){0,2}")
_KNOWN_KEY: Final = lazily(
    r"(?:^|(?<=[\r\n]))(?:id|type|title|status|created|date|tags?|alias(?:es)?|sources?|related|description)[ \t]*:",
    re.IGNORECASE,
)
_CONTROL: Final = lazily(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")
_YAML_1_1_BREAKS: Final = "\x85\u2028\u2029"
_STANDARD_TAGS: Final = "tag:yaml.org,2002:"


class Fences(Struct, frozen=True):
    """Offsets in the text: the block is `text[start:end]`, the closing line begins at `end`, the body at `body`."""

    start: int
    end: int
    body: int
    closing: str
    newline: str


class Entry(Struct, frozen=True):
    """One `key: value` as it stands in the text; `text[start:end]` is the value's source, without what follows it.

    `colon` is the offset after the colon, -1 where the key is not written as `key: value` on a line of its own.
    `node` is None for what was recovered from a block that does not parse.
    """

    key: str
    value: PropertyValue
    line: int
    key_start: int
    colon: int
    start: int
    end: int
    node: yaml.Node | None = None
    shared: bool = False


class Fault(Struct, frozen=True):
    """Something wrong in the block, before it is tied to a path."""

    rule: str
    message: str
    line: int
    fixable: bool = False


class Block(Struct, frozen=True):
    """What the block holds. `root` is None where it is empty or does not parse."""

    fences: Fences
    entries: tuple[Entry, ...]
    faults: tuple[Fault, ...]
    parses: bool
    root: yaml.MappingNode | None = None


class _NodeLoader(_PlainLoader):
    """Loads the tree of nodes itself instead of the values made from it."""

    def get_single_data(self) -> Any:
        return self.get_single_node()


def opens(text: str) -> bool:
    """Whether the first line is `---`."""
    return _OPENING.match(text) is not None


def find_fences(text: str) -> Fences | None:
    """The block's place, or None where the first line does not open one or nothing closes it."""
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return None
    return Fences(opening.end(), closing.start(), closing.end(), closing[1], opening[1])


def line_of(text: str, offset: int) -> int:
    """The line of an offset, counted from 1."""
    before = text[:offset]
    return 1 + before.count("\n") + before.count("\r") - before.count("\r\n")


def read_block(text: str) -> Block | None:
    """The frontmatter of a page, or None where it has none (no fences, or prose between two rules). Never raises."""
    fences = find_fences(text)
    if fences is None:
        return None
    source = text[fences.start : fences.end]
    if len(source) > LONGEST_BLOCK:
        fault = Fault("frontmatter-invalid", f"frontmatter is longer than {LONGEST_BLOCK:,} characters", 1)
        return _recover(text, fences, fault)
    reading = _Reading(text, fences.start, fences.end)
    try:
        root = _compose(source)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        if not _looks_like_properties(source):
            return None
        line, complaint = _complaint(error, source)
        return _recover(
            text, fences, Fault("frontmatter-invalid", f"frontmatter does not parse: {complaint}", 1 + line)
        )
    if root is None:
        return Block(fences, (), (), parses=True) if not source.strip() else None
    if not isinstance(root, yaml.MappingNode) or source.startswith("{{", root.start_mark.index):
        return None
    entries = tuple(reading.entries(root))
    return Block(fences, entries, tuple(reading.faults), parses=True, root=root)


def _compose(source: str) -> yaml.Node | None:
    # YAML 1.1 ends a line at NEL, LS and PS; YAML 1.2 and people do not. Stand-ins keep every offset.
    foreign = [character for character in _YAML_1_1_BREAKS if character in source]
    stand_ins = _unused_characters(source, len(foreign))
    shown = source.translate({ord(old): new for old, new in zip(foreign, stand_ins, strict=True)})
    root: yaml.Node | None = YAMLHandler().load(shown, Loader=_NodeLoader)
    if foreign:
        originals = {ord(new): old for old, new in zip(foreign, stand_ins, strict=True)}
        for node in _nodes(root):
            if isinstance(node, yaml.ScalarNode):
                node.value = node.value.translate(originals)
    return root


def _unused_characters(source: str, count: int) -> list[str]:
    """Private-use characters that the source holds neither as such nor as an escape."""
    found: list[str] = []
    lowered = source.lower() if count else ""
    for code in range(0xE000, 0xF8FF):
        if len(found) == count:
            break
        if chr(code) not in source and f"{code:x}" not in lowered:
            found.append(chr(code))
    return found


def _nodes(root: yaml.Node | None) -> Iterator[yaml.Node]:
    seen: set[int] = set()
    waiting = [root] if root else []
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        if isinstance(node, yaml.MappingNode):
            waiting += [part for pair in node.value for part in pair]
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value


class _Reading:
    """Turns nodes into entries. Offsets of marks count from `start`, the beginning of what was composed."""

    def __init__(self, text: str, start: int, end: int, first_line: int = 2) -> None:
        self.text, self.start, self.end = text, start, end
        self.faults: list[Fault] = []
        self._first_line = first_line
        self._line_starts = [found.end() for found in BREAK.finditer(text, start, end)]

    def line(self, offset: int) -> int:
        return self._first_line + bisect_right(self._line_starts, offset)

    def entries(self, root: yaml.MappingNode) -> Iterator[Entry]:
        seen: set[str] = set()
        for key_node, value_node in root.value:
            entry = self._entry(key_node, value_node)
            if entry.key in seen:
                self._fault("duplicate-key", f"`{entry.key}` is given more than once; the last one counts", entry.line)
            seen.add(entry.key)
            yield entry

    def _fault(self, rule: str, message: str, line: int, *, fixable: bool = False) -> None:
        self.faults.append(Fault(rule, message, line, fixable))

    def _entry(self, key_node: yaml.Node, value_node: yaml.Node) -> Entry:
        text = self.text
        key_start, key_end = self.start + key_node.start_mark.index, self.start + key_node.end_mark.index
        key = key_node.value if isinstance(key_node, yaml.ScalarNode) else text[key_start:key_end]
        line = self.line(key_start)
        colon = self._colon(key_start, key_end)
        start = self.start + value_node.start_mark.index
        if start < key_end:
            # An alias: the node stands where its anchor is.
            alias = _NEXT_WORD.match(text, max(colon, key_end), self.end)
            start, end = alias.span(1) if alias else (key_end, key_end)
            value = self._value(value_node, key, line)
            return Entry(key, value, line, key_start, colon, start, end, value_node, shared=True)
        end = node_end(text, value_node, self.start)
        shared = text[start : start + 1] in ("&", "!") or key == "<<"
        value = self._value(value_node, key, line)
        return Entry(key, value, line, key_start, colon, start, max(start, end), value_node, shared)

    def _colon(self, key_start: int, key_end: int) -> int:
        """The offset after the colon of a simple key at the start of its line, else -1."""
        text = self.text
        before = text[line_start(text, key_start) : key_start]
        place = key_end
        while place < self.end and text[place] in " \t":
            place += 1
        plain = not before.strip(" ") and text[key_start] not in "&!*"
        return place + 1 if plain and text[place : place + 1] == ":" else -1

    def _value(self, node: yaml.Node, key: str, line: int) -> PropertyValue:
        if isinstance(node, yaml.SequenceNode):
            source = self._source(node)
            if _UNQUOTED_WIKILINK.fullmatch(source):
                self._unquoted(source, key, line)
                return source
            return tuple(self._item(item, key) for item in node.value)
        if isinstance(node, yaml.ScalarNode) and self._is_absent(node):
            return None
        return self._text(node)

    def _item(self, node: yaml.Node, key: str) -> str:
        found = self._text(node)
        if isinstance(node, yaml.SequenceNode) and _UNQUOTED_WIKILINK.fullmatch(found):
            self._unquoted(found, key, self.line(self.start + node.start_mark.index))
        return found

    def _text(self, node: yaml.Node) -> str:
        if isinstance(node, yaml.ScalarNode) and (node.tag or _STANDARD_TAGS).startswith(_STANDARD_TAGS):
            return str(node.value)
        return self._source(node)

    def _unquoted(self, link: str, key: str, line: int) -> None:
        message = f"`{key}` holds {link} without quotes, which YAML reads as nested lists"
        self._fault("unquoted-wikilink", message, line, fixable=True)

    def _is_absent(self, node: yaml.ScalarNode) -> bool:
        return not node.value and node.start_mark.index == node.end_mark.index

    def _source(self, node: yaml.Node) -> str:
        return self.text[self.start + node.start_mark.index : node_end(self.text, node, self.start)]


def node_end(text: str, node: yaml.Node, base: int) -> int:
    """Where a node's own text ends: marks of block nodes run on over blank lines and comments.

    `base` is the offset in the text from which the node's marks count.
    """
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        inner = last[1] if isinstance(last, tuple) else last
        if inner.start_mark.index <= node.start_mark.index:  # an alias: its marks are those of its anchor
            return _without_comments(text, base + node.start_mark.index, base + node.end_mark.index)
        node = inner
    start, end = base + node.start_mark.index, base + node.end_mark.index
    if not (isinstance(node, yaml.ScalarNode) and node.style in ("|", ">")):
        return end
    line_end = BREAK.search(text, _back_over_blank(text, start, end), end)
    return line_end.start() if line_end else end


def line_start(text: str, place: int) -> int:
    """The offset where the line of `place` begins."""
    return max(text.rfind("\n", 0, place), text.rfind("\r", 0, place)) + 1


def _without_comments(text: str, start: int, end: int) -> int:
    while True:
        end = _back_over_blank(text, start, end)
        begin = line_start(text, end)
        if begin <= start or not text[begin:end].lstrip().startswith("#"):
            return end
        end = begin


def _back_over_blank(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1] in " \t\r\n":
        end -= 1
    return end


def _complaint(error: Exception, source: str) -> tuple[int, str]:
    """The line within the source (from 1) and the complaint, in one line."""
    control = _CONTROL.search(source)
    if control and isinstance(error, (yaml.reader.ReaderError, ValueError)):
        return line_of(source, control.start()), f"control character U+{ord(control[0]):04X}"
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        lines = max(1, len(BREAK.findall(source)))
        return min(error.problem_mark.line + 1, lines), str(error.problem or error.context)
    return 1, "too deeply nested" if isinstance(error, RecursionError) else "not readable as YAML"


def _looks_like_properties(source: str) -> bool:
    """Whether a block that YAML refuses is broken frontmatter rather than prose between two rules."""
    if _KNOWN_KEY.search(source):
        return True
    for line in BREAK.split(source):
        if line.strip() and not line.startswith(("#", "%", "<<<<<<<")):
            found = _KEY_LINE.match(line)
            return bool(found and (found["key"][0] in "\"'" or _PROSE_SAFE_KEY.fullmatch(found["key"].strip())))
    return False


def _recover(text: str, fences: Fences, fault: Fault) -> Block:
    """Each top-level key by itself: those that parse are read as ever, the others as the text that stands there."""
    end = min(fences.end, fences.start + _RECOVERED)
    starts = [fences.start, *(found.end() for found in BREAK.finditer(text, fences.start, end) if found.end() < end)]
    heads = [
        (line, place)
        for line, place in enumerate(starts, 2)
        if text[place] not in " \t\r\n#" and not _LIST_LINE.match(text, place)
    ]
    entries: list[Entry] = []
    faults: list[Fault] = []
    for (line, head), following in zip(heads, [*(place for _, place in heads[1:]), end], strict=True):
        found = _KEY_LINE.match(text, head, following)
        if found is None:
            continue
        reading = _Reading(text, head, following, line)
        try:
            root = _compose(text[head:following])
            if isinstance(root, yaml.MappingNode) and len(root.value) == 1:
                entries += reading.entries(root)
                faults += reading.faults
                continue
            complaint = "not one property"
        except (yaml.YAMLError, RecursionError, ValueError) as error:
            complaint = _complaint(error, text[head:following])[1]
        key = found["key"].strip()
        key = key[1:-1] if key[0] in "\"'" else key
        value = _raw_value(text[found.end() : following])
        entries.append(Entry(key, value, line, head, found.end(), found.end(), _back_over_blank(text, head, following)))
        faults.append(
            Fault("frontmatter-invalid", f"`{key}` does not parse and is kept as it stands: {complaint}", line)
        )
    broken = [each for each in faults if each.rule == fault.rule] or [fault]
    others = [each for each in faults if each.rule != fault.rule]
    return Block(fences, tuple(entries), tuple([*broken, *others][:_MOST_FAULTS]), parses=False)


def _raw_value(source: str) -> PropertyValue:
    """What stands after the colon of a property that YAML refuses: a list where every line is an item, else text."""
    first, *rest = BREAK.split(source)
    lines = [line for line in rest if line.strip() and not line.lstrip().startswith("#")]
    items = [_LIST_LINE.fullmatch(line) for line in lines]
    if not first.strip() and lines and all(items):
        return tuple(_without_quotes(item[1] or "") for item in items if item)
    return _without_quotes("\n".join([first.strip(), *(line.strip() for line in lines)]).strip()) or None


def _without_quotes(text: str) -> str:
    text = text.strip()
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" and text[0] not in text[1:-1]
    return text[1:-1] if quoted else text
