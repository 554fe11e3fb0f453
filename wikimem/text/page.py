"""Pages: bytes in, `Page` out; and edits that leave every byte alone that they were not asked to change.

Reading never fails: what cannot be read becomes a Problem, and a page that cannot be edited safely is not writable.
Edits take and return the bytes of the whole file; they raise Damaged or Refused for a page that is not writable.
Text that comes in takes on the line breaks of the file.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from wikimem.errors import Damaged, Invalid, Refused
from wikimem.model.page import Heading, Link, Page, Problem
from wikimem.text.conflicts import conflict_start, place, refuse_conflict
from wikimem.text.frontmatter import BOM, Frontmatter, decode_page, newline_of, read_frontmatter, render_frontmatter
from wikimem.text.ids import derived_id, revision_of
from wikimem.text.links import find_links, links_in_value
from wikimem.text.markdown import find_headings, find_tags, section_span
from wikimem.text.schema import read_metadata
from wikimem.text.yamlblock import BREAK, line_of
from wikimem.text.yamltext import Written

SectionMode = Literal["replace", "append", "prepend"]

_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_LIST_LINE: Final = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\S")
_LINES_SHOWN: Final = 5


def parse_page(path: str, data: bytes) -> Page:
    """The page that these bytes are. Never raises; `path` is relative to the vault, with `/`."""
    text, problems = _decoded(path, data)
    head = read_frontmatter(text, path)
    problems += head.problems
    conflict = conflict_start(text, head.body_start)
    if conflict is not None:
        message = "unresolved conflict markers of a git merge"
        problems.append(Problem("conflict-markers", path, message, line_of(text, conflict)))
    control = _CONTROL.search(text)
    if control:
        message = f"control character U+{ord(control[0]):04X}"
        problems.append(Problem("control-character", path, message, line_of(text, control.start())))
    metadata, misfits = read_metadata(head.properties, head.lines, path)
    headings = find_headings(text, head.body_start)
    # What stands after a conflict may be of either side: its `=======` even makes a heading of the lines before it.
    agreed = headings if conflict is None else tuple(each for each in headings if each.end <= conflict)
    return Page(
        path=path,
        id=metadata.id or derived_id(path),
        title=metadata.title or _first_heading(agreed) or PurePosixPath(path).stem,
        revision=revision_of(data),
        text=text,
        body_start=head.body_start,
        meta=metadata,
        properties=head.properties,
        links=(*_property_links(text, head), *find_links(text, head.body_start)),
        headings=headings,
        tags=_all_tags(metadata.tags, find_tags(text, head.body_start)),
        problems=(*problems, *misfits),
        writable=head.parses and conflict is None and not any(problem.rule == "encoding" for problem in problems),
        property_lines=head.lines,
    )


def _decoded(path: str, data: bytes) -> tuple[str, list[Problem]]:
    """The text without byte order mark, and the problem that it is not UTF-8."""
    try:
        return data.decode("utf-8").removeprefix(BOM), []
    except UnicodeDecodeError as error:
        if data.startswith(_UTF16_MARKS):
            text = data.decode("utf-16", errors="replace")
            return text, [Problem("encoding", path, "the file is UTF-16, not UTF-8", 1)]
        line = line_of(data[: error.start].decode("utf-8"), error.start)
        message = f"byte 0x{data[error.start]:02x} is not UTF-8"
        return data.decode("utf-8", errors="replace").removeprefix(BOM), [Problem("encoding", path, message, line)]


def _first_heading(headings: tuple[Heading, ...]) -> str:
    return next((heading.text for heading in headings if heading.level == 1 and heading.text), "")


def _all_tags(of_properties: tuple[str, ...], of_body: tuple[str, ...]) -> tuple[str, ...]:
    found: dict[str, str] = {}
    for tag in (*of_properties, *of_body):
        found.setdefault(tag.casefold(), tag)
    return tuple(found.values())


def _property_links(text: str, head: Frontmatter) -> tuple[Link, ...]:
    """Wikilinks in properties, where their source stands; where that is escaped or folded, the whole value's place."""
    if "[[" not in text[: head.body_start]:
        return ()
    breaks = [found.end() for found in BREAK.finditer(text, 0, head.body_start)]
    links: list[Link] = []
    for key, (start, end) in head.spans.items():
        value, cursor = head.properties[key], start
        for item in (value,) if isinstance(value, str) else value or ():
            for link in links_in_value(key, item):
                source = item[link.start : link.end]
                found = text.find(source, cursor, end)
                cursor = found + len(source) if found >= 0 else cursor
                span = (found, cursor) if found >= 0 else (start, end)
                links.append(replace(link, start=span[0], end=span[1], line=1 + bisect_right(breaks, span[0])))
    return tuple(links)


def render_page(properties: Mapping[str, Written], body: str) -> bytes:
    """A new page: frontmatter, then the body as it is. Raises Invalid for what frontmatter cannot hold."""
    head = render_frontmatter(properties)
    text = head + body
    if read_frontmatter(text, "").body_start != len(head):
        # The body begins like frontmatter: an empty block in front keeps it a body.
        text = "---\n---\n" + body
    return _encoded(text)


class _Draft(Struct, frozen=True):
    """A page that may be edited: its text with byte order mark, and where its body begins in that."""

    text: str
    body_start: int
    newline: str
    path: str

    def with_breaks(self, text: str) -> str:
        """Text from outside with the line breaks of the file."""
        return BREAK.sub(self.newline, text)

    def changed(self, start: int, end: int, new: str) -> bytes:
        """The file with `new` in place of `text[start:end]`, once it is sure that the frontmatter reads as before."""
        result = self.text[:start] + new + self.text[end:]
        before, after = read_frontmatter(self.text, self.path), read_frontmatter(result, self.path)
        # The closing fence may be the end of the file, and get its line break only now.
        same_head = result[: after.body_start].rstrip("\r\n") == self.text[: before.body_start].rstrip("\r\n")
        if not same_head or after.properties != before.properties:
            raise Refused(
                f"{self.path or 'the page'}: after this change its beginning would be read as frontmatter",
                hint="Begin the page with something other than `---`.",
            )
        return _encoded(result)


def _draft(data: bytes, path: str) -> _Draft:
    text = decode_page(data, path)
    head = read_frontmatter(text, path)
    refuse_conflict(text, head.body_start, path)
    if not head.parses:
        first = next(problem for problem in head.problems if problem.rule == "frontmatter-invalid")
        raise Damaged(
            f"{place(path, first.line or 1)}: {first.message}", hint="Correct the frontmatter in an editor first."
        )
    return _Draft(text, head.body_start, newline_of(text), path)


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Invalid("the text holds half of a character (a lone surrogate)", hint="Send it as UTF-8.") from error


def replace_text(data: bytes, old: str, new: str, *, path: str = "") -> bytes:
    """The file with `old`, which must stand in the body exactly once, replaced by `new`.

    Line breaks may differ in kind. Raises Invalid, with the lines, where `old` is not there or is there more than once.
    """
    draft = _draft(data, path)
    if not old:
        raise Invalid("there is no text to replace", hint="Give the words that are to be replaced.")
    start = draft.text.find(old, draft.body_start)
    if start < 0:
        old = draft.with_breaks(old)
        start = draft.text.find(old, draft.body_start)
    if start < 0:
        raise _not_there(draft, old)
    if draft.text.find(old, start + 1) >= 0:
        raise _too_often(draft, old)
    return draft.changed(start, start + len(old), draft.with_breaks(new))


def _too_often(draft: _Draft, old: str) -> Invalid:
    lines: list[int] = []
    start = draft.text.find(old, draft.body_start)
    while start >= 0 and len(lines) < _LINES_SHOWN:
        lines.append(line_of(draft.text, start))
        start = draft.text.find(old, start + 1)
    count = max(draft.text.count(old, draft.body_start), 2)
    shown = ", ".join(map(str, lines)) + (", ..." if start >= 0 else "")
    return Invalid(
        f"the text to replace stands {count} times in {draft.path or 'the page'}: lines {shown}",
        hint="Give more of the words around the one that you mean.",
        data={"count": count, "lines": lines},
    )


def _not_there(draft: _Draft, old: str) -> Invalid:
    name = draft.path or "the page"
    words = old.split()
    # Words parted by any blank, with what belongs to a quote or a list at the start of the next line.
    loose = re.compile(r"\s+".join(map(re.escape, words))) if words else None
    near = loose.search(draft.text, draft.body_start) if loose else None
    if near:
        line = line_of(draft.text, near.start())
        return Invalid(
            f"the text to replace is not in {name}, but with other spaces or line breaks it is in line {line}",
            hint="Copy the text exactly as the page has it.",
            data={"count": 0, "lines": [line]},
        )
    if old in draft.text[: draft.body_start]:
        return Invalid(
            f"the text to replace is in the frontmatter of {name}", hint="Change properties with set KEY=VALUE."
        )
    return Invalid(
        f"the text to replace is not in {name}", hint="Read the page again: it may have changed.", data={"count": 0}
    )


def replace_body(data: bytes, text: str, *, path: str = "") -> bytes:
    """The file with another body. It ends in a line break unless the file did not."""
    draft = _draft(data, path)
    body = draft.with_breaks(text)
    if body and not body.endswith(draft.newline) and (not draft.text or draft.text.endswith(("\n", "\r"))):
        body += draft.newline
    return draft.changed(draft.body_start, len(draft.text), _line_before(draft, draft.body_start) + body)


def append_text(data: bytes, text: str, *, path: str = "") -> bytes:
    """The file with text at its end, after one blank line; without a final line break if it had none."""
    draft = _draft(data, path)
    added = draft.with_breaks(_trimmed(text))
    if not added:
        return data
    end = len(draft.text)
    final = draft.newline if end == draft.body_start or draft.text.endswith(("\n", "\r")) else ""
    return draft.changed(end, end, _gap_before(draft, draft.body_start, end) + added + final)


def edit_section(data: bytes, heading: str, text: str, mode: SectionMode, *, path: str = "") -> bytes:
    """The file with a section's text replaced, or added to at its end or its beginning; the heading stays.

    The section reaches to the next heading of the same or a higher level. Text that begins with the section's own
    heading is taken without it. Raises NotFound or Invalid where the heading is not there or names several sections.
    """
    if mode not in _SECTION_EDITS:
        raise Invalid(f"no mode '{mode}'", hint=f"Modes: {', '.join(_SECTION_EDITS)}.")
    draft = _draft(data, path)
    head, start, end = section_span(draft.text, heading, draft.body_start)
    name = next(each.text for each in find_headings(draft.text, draft.body_start) if each.start == head)
    added = draft.with_breaks(_without_heading(_trimmed(text), name))
    if not added and mode != "replace":
        return data
    section = _Section(draft, start, end)
    return _SECTION_EDITS[mode](section, added)


def _trimmed(text: str) -> str:
    """Without blank lines at either end; the indentation of the first line stays."""
    text = text.rstrip()
    first = re.match(r"(?:[^\S\r\n]*(?:\r\n|\n|\r))*", text)
    return text[first.end() :] if first else text


def _without_heading(text: str, name: str) -> str:
    first = next(iter(find_headings(text)), None)
    if (
        first is None
        or first.start != 0
        or " ".join(first.text.split()).casefold() != " ".join(name.split()).casefold()
    ):
        return text
    return _trimmed(text[first.end :])


def _line_before(draft: _Draft, end: int) -> str:
    """The line break that is missing before `end`, if the line there is not finished."""
    return draft.newline if end and draft.text[end - 1] not in "\r\n\ufeff" else ""


def _gap_before(draft: _Draft, start: int, end: int) -> str:
    """The line breaks to add at `end`, so that a blank line parts what follows from the words in `text[start:end]`."""
    words_end = end
    while words_end > start and draft.text[words_end - 1] in " \t\r\n":
        words_end -= 1
    if words_end == start:
        return _line_before(draft, end)
    breaks = len(BREAK.findall(draft.text, words_end, end))
    unfinished = draft.text[end - 1] not in "\r\n"
    return draft.newline * (max(0, 2 - breaks) if breaks < 2 or not unfinished else 1)


class _Section(Struct, frozen=True):
    """What stands under a heading: `text[start:end]`, of which `first` to `last` is neither blank nor spacing."""

    draft: _Draft
    start: int
    end: int

    @property
    def first(self) -> int:
        blank = re.compile(r"(?:[ \t]*(?:\r\n|\n|\r))*").match(self.draft.text, self.start, self.end)
        return blank.end() if blank else self.start

    @property
    def last(self) -> int:
        last = self.end
        while last > self.start and self.draft.text[last - 1] in " \t\r\n":
            last -= 1
        return last


def _replace_section(section: _Section, added: str) -> bytes:
    draft, start, end = section.draft, section.start, section.end
    if section.last == start:
        return _fill_section(section, added)
    if added:
        return draft.changed(section.first, section.last, added)
    # Of the blank lines before and after the words only one set stays, and none at the end of the file.
    begin = section.first if section.first > start and end < len(draft.text) else start
    if begin > start or end == len(draft.text):
        return draft.changed(begin, end, "")
    tail = BREAK.match(draft.text, section.last, end)
    return draft.changed(start, tail.end() if tail else section.last, "")


def _fill_section(section: _Section, added: str) -> bytes:
    """Text for a section that has none: a blank line before it, and after it where another section follows."""
    draft, end = section.draft, section.end
    if not added:
        return draft.changed(end, end, "")
    final = end == len(draft.text)
    unfinished = draft.text[section.start - 1] not in "\r\n"
    new = draft.newline * (2 if unfinished else 1) + added + ("" if final and unfinished else draft.newline)
    return draft.changed(section.start, end, new if final else new + draft.newline)


def _append_to_section(section: _Section, added: str) -> bytes:
    draft, last = section.draft, section.last
    if last == section.start:
        return _fill_section(section, added)
    last_line = draft.text[max(draft.text.rfind("\n", 0, last), draft.text.rfind("\r", 0, last)) + 1 : last]
    joins = _LIST_LINE.match(last_line) and _LIST_LINE.match(added)
    return draft.changed(last, last, draft.newline * (1 if joins else 2) + added)


def _prepend_to_section(section: _Section, added: str) -> bytes:
    draft, first = section.draft, section.first
    if section.last == section.start:
        return _fill_section(section, added)
    first_line = draft.text[first : section.last].splitlines()[0]
    last_added = added.splitlines()[-1]
    joins = _LIST_LINE.match(last_added) and _LIST_LINE.match(first_line)
    return draft.changed(first, first, added + draft.newline * (1 if joins else 2))


_SECTION_EDITS: Final[dict[str, Callable[[_Section, str], bytes]]] = {
    "replace": _replace_section,
    "append": _append_to_section,
    "prepend": _prepend_to_section,
}
