"""Frontmatter: reading it, writing a new block, and changing single properties of a block that a person wrote.

Values are the texts that the person wrote; `schema.py` types them. Writing never dumps a block that exists: a change
replaces the span of that one value, and is given back only when the result reads as intended, with every other
property's source and the body as they were.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct, field

from wikimem.errors import Damaged, Invalid, Refused
from wikimem.model.page import Problem, PropertyValue
from wikimem.text.conflicts import place, refuse_conflict
from wikimem.text.otherforms import refuse_other_forms
from wikimem.text.schema import spellings
from wikimem.text.yamlblock import Block, Entry, find_fences, line_of, opens, read_block
from wikimem.text.yamlspans import Splice, Target, apply_splices, removal, replacement, style_of
from wikimem.text.yamltext import Written, text_of, write_entry

BOM = "\ufeff"


class Frontmatter(Struct, frozen=True):
    """What the block says. `parses` is False where it was recovered line by line; such a page is never written.

    `lines` gives the line in the file and `spans` the offsets in the text of each property's value.
    """

    properties: dict[str, PropertyValue]
    lines: dict[str, int]
    body_start: int
    problems: tuple[Problem, ...] = ()
    parses: bool = True
    present: bool = True
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)


def read_frontmatter(text: str, path: str) -> Frontmatter:
    """The properties of a page. Never raises: what is wrong becomes a Problem with its line.

    A page has frontmatter where its first line is `---` and a later one `---` (or `...`), and what stands between
    is nothing or a mapping. Anything else, such as prose between two rules, is body.
    """
    block = read_block(text)
    start = len(BOM) if text.startswith(BOM) else 0
    if block is None:
        unclosed = Problem("frontmatter-unclosed", path, "the first line is `---` and no later line closes it", 1)
        problems = (unclosed,) if opens(text) and find_fences(text) is None else ()
        return Frontmatter({}, {}, start, problems, present=False)
    return Frontmatter(
        {entry.key: entry.value for entry in block.entries},
        {entry.key: entry.line for entry in block.entries},
        block.fences.body,
        tuple(Problem(fault.rule, path, fault.message, fault.line, fault.fixable) for fault in block.faults),
        block.parses,
        spans={entry.key: (entry.start, entry.end) for entry in block.entries},
    )


def decode_page(data: bytes, path: str = "") -> str:
    """The text of a page, a byte order mark included. Raises Damaged, naming the line, for what is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = line_of(data[: error.start].decode("utf-8"), error.start)
        raise Damaged(
            f"{place(path, line)}: byte 0x{data[error.start]:02x} is not UTF-8, so the page is not edited",
            hint="Save the file as UTF-8, then try again.",
        ) from error


def newline_of(text: str) -> str:
    """The line break that the file uses most, a line feed where it has none."""
    crlf = text.count("\r\n")
    if crlf > text.count("\n") - crlf:
        return "\r\n"
    return "\r" if "\r" in text and "\n" not in text else "\n"


def render_frontmatter(properties: Mapping[str, Written]) -> str:
    """The block for a new page, fences included; nothing at all for no properties.

    Raises Invalid for what frontmatter cannot hold. The text is read back and compared before it is returned.
    """
    if not properties:
        return ""
    text = "---\n" + "".join(write_entry(key, value) for key, value in properties.items()) + "---\n"
    block = read_block(text)
    expected = [(key, text_of(value, key)) for key, value in properties.items()]
    if block is None or not block.parses or [(entry.key, entry.value) for entry in block.entries] != expected:
        raise Invalid("these properties cannot be written as frontmatter", hint="Use shorter keys and plain values.")
    return text


def set_properties(
    data: bytes, changes: Mapping[str, Written], *, remove: Collection[str] = (), path: str = ""
) -> bytes:
    """The file with those properties set and those removed, and every other byte as it was.

    A page without frontmatter gets a block in front. A key that the page has in other letters (`Tags` for `tags`) is
    changed there. A value that is already there changes nothing, and neither does the removal of a key that is not.
    Raises Damaged where the page or its frontmatter cannot be read, Refused where the change cannot be made without
    touching more or a merge is unresolved, Invalid for a value that frontmatter cannot hold.
    """
    text = decode_page(data, path)
    block = read_block(text)
    keys = [entry.key for entry in block.entries] if block else []
    changes = {_as_spelled(key, keys): value for key, value in changes.items()}
    remove = [_as_spelled(key, keys) for key in remove]
    both = set(changes) & set(remove)
    if both:
        raise Invalid(f"`{min(both)}` is both set and removed", hint="Do one of the two.")
    wanted = {key: text_of(value, key) for key, value in changes.items()}
    refuse_conflict(text, block.fences.body if block else 0, path)
    gone: list[str] = []
    if block is None:
        if not changes:
            return data
        refuse_other_forms(text, place(path, 1))
        start = len(BOM) if text.startswith(BOM) else 0
        head = render_frontmatter(changes).replace("\n", newline_of(text))
        result = text[:start] + head + text[start:]
        pending = list(wanted)
    else:
        pending, gone = _pending(block, wanted, remove, path)
        if not pending and not gone:
            return data
        result = apply_splices(text, _splices(text, block, {key: changes[key] for key in pending}, gone, path))
    if _differs(text, block, result, {key: wanted[key] for key in pending}, gone):
        names = ", ".join(f"`{key}`" for key in [*pending, *gone])
        raise Refused(
            f"{path + ': ' if path else ''}{names} cannot be changed without changing other parts of the frontmatter",
            hint="Change it in an editor.",
        )
    return result.encode("utf-8")


def _as_spelled(key: str, keys: Collection[str]) -> str:
    """The key as the page spells it, so that one property does not come to stand there twice."""
    return next(iter(spellings(keys, key)), key)


def _pending(
    block: Block, wanted: Mapping[str, PropertyValue], remove: Collection[str], path: str
) -> tuple[list[str], list[str]]:
    """The keys whose value is not there yet, and the keys to remove that are there."""
    if not block.parses:
        first = next(fault for fault in block.faults if fault.rule == "frontmatter-invalid")
        raise Damaged(
            f"{place(path, first.line)}: {first.message}", hint="Correct the frontmatter in an editor, then try again."
        )
    current = {entry.key: entry.value for entry in block.entries}
    pending = [key for key, value in wanted.items() if key not in current or current[key] != value]
    return pending, [key for key in dict.fromkeys(remove) if key in current]


def _splices(text: str, block: Block, changes: Mapping[str, Written], gone: Collection[str], path: str) -> list[Splice]:
    fences, root = block.fences, block.root
    if fences.closing != "---":
        raise Refused(
            f"{place(path, line_of(text, fences.end))}: the frontmatter ends in `...`, which Obsidian does not read",
            hint="Write `---` there, then try again.",
        )
    if root is not None and root.flow_style:
        raise Refused(f"{place(path, 2)}: the frontmatter is written as JSON", hint="Change it in an editor.")
    style = style_of(text, block.entries, fences.newline)
    splices: list[Splice] = []
    for key in [*changes, *gone]:
        entries = [entry for entry in block.entries if entry.key == key]
        if len(entries) > 1:
            raise Refused(
                f"{place(path, entries[1].line)}: `{key}` is given more than once", hint="Remove one of them."
            )
        if entries:
            target = Target(text, entries[0], fences.start, style, place(path, entries[0].line))
            splices += replacement(target, changes[key]) if key in changes else [removal(target)]
    indent = " " * root.start_mark.column if root is not None else ""
    added = [
        write_entry(key, value, indent=indent, list_indent=style.list_indent, newline=fences.newline)
        for key, value in changes.items()
        if all(entry.key != key for entry in block.entries)
    ]
    return [*splices, Splice(fences.end, fences.end, "".join(added))]


def _differs(
    text: str, block: Block | None, result: str, wanted: Mapping[str, PropertyValue], gone: Collection[str]
) -> bool:
    """Whether the result reads as anything else than the text with what was wanted."""

    def told(whole: str, entry: Entry) -> tuple[str, PropertyValue, str]:
        if entry.key in wanted:
            return entry.key, wanted[entry.key], ""
        return entry.key, entry.value, whole[entry.key_start : entry.end]

    old = [told(text, entry) for entry in block.entries if entry.key not in gone] if block else []
    old += [(key, value, "") for key, value in wanted.items() if all(key != known for known, _, _ in old)]
    after = read_block(result)
    if after is None or not after.parses:
        return True
    read_back = {entry.key: entry.value for entry in after.entries}
    body_start = block.fences.body if block else len(BOM) if text.startswith(BOM) else 0
    return (
        [told(result, entry) for entry in after.entries] != old
        or any(read_back.get(key) != value for key, value in wanted.items())
        or result[after.fences.body :] != text[body_start:]
    )
