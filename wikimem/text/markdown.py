"""Headings, sections, tags and block ids of a page, by character offset; none of them inside code.

`start` is where the body begins: what stands before it (frontmatter) is not read. Offsets are always into `text`.
Comments (`<!-- -->`, `%% %%`) and display math hold no headings, tags or links either: what a person has commented
out is meant to have no effect, though it stays searchable as text.
"""

from __future__ import annotations

import difflib
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Final

from wikimem.errors import Invalid, NotFound
from wikimem.model.page import Heading
from wikimem.text.blocks import Line, Scan, Span, scan

_CLOSING_MARKS: Final = re.compile(r"(?:^|[ \t])#+$")
_BLOCK_ID: Final = re.compile(r"(?:^|(?<=\s))\^([A-Za-z0-9-]+)$")
_TAG: Final = re.compile(
    # Obsidian's own set of what ends a tag, and the punctuation of Chinese, Japanese and Korean text.
    "(?<!\\S)#([^\\s\u2000-\u200b\u200e-\u206f\u2e00-\u2e7f\u3000-\u3004\u3008-\u3020\u3030\uff01-\uff0e\uff1a-\uff20"
    "\uff3b-\uff40\uff5b-\uff65'!\"#$%&()*+,.:;<=>?@^`{|}~\\[\\]\\\\]+)"
)
_NO_TAG: Final = re.compile(r"[\d/_-]*", re.ASCII)
_PUNCTUATION: Final = re.compile(r"[\W_]+")

_LISTED: Final = 10
"""Headings that an error names."""


def code_spans(text: str, start: int = 0) -> tuple[Span, ...]:
    """Spans of code: fenced (to the end where it is not closed), indented, `<pre>` and its like, inline.

    In order and without overlaps. Comments and display math are not code: see `hidden_spans`.
    """
    return scan(text, start).code


def hidden_spans(text: str, start: int = 0) -> tuple[Span, ...]:
    """Spans in which nothing is a link, a tag or a heading: code, comments and display math."""
    return scan(text, start).hidden


def find_headings(text: str, start: int = 0) -> tuple[Heading, ...]:
    """ATX and Setext headings that stand in no quote or list: those inside are part of what holds them.

    The text keeps its inline markup and loses closing marks and a trailing `^block-id`.
    """
    page = scan(text, start)
    headings = []
    for paragraph in page.paragraphs:
        first, last = page.lines[paragraph.first], page.lines[paragraph.last]
        if not paragraph.level or first.depth:
            continue
        if first.kind == "heading":
            words = _CLOSING_MARKS.sub("", text[first.content + paragraph.level : first.end].strip(" \t"))
        else:
            words = " ".join(
                text[line.content : line.end].strip() for line in page.lines[paragraph.first : paragraph.last]
            )
        words = _BLOCK_ID.sub("", words.strip(" \t")).strip(" \t")
        headings.append(Heading(paragraph.level, words, first.start, last.after, page.first_line + paragraph.first))
    return tuple(headings)


def find_tags(text: str, start: int = 0) -> tuple[str, ...]:
    """Tags of the body as written, without `#`, each once whatever its case; Obsidian's rules."""
    page = scan(text, start)
    skipped = sorted(page.hidden + page.wikilinks)
    tags: dict[str, str] = {}
    for paragraph in page.paragraphs:
        for line in page.lines[paragraph.first : paragraph.last + 1]:
            if text.find("#", line.content, line.end) < 0:
                continue
            # A slice, so that the lookbehind sees the line's content begin after quote marks.
            for match in _TAG.finditer(text[line.content : line.end]):
                tag = match[1].strip("/")
                if not _is_number(tag) and not within(skipped, line.content + match.start()):
                    tags.setdefault(tag.casefold(), tag)
    return tuple(tags.values())


def _is_number(tag: str) -> bool:
    return tag.isdigit() or not tag.strip("-_/")


def within(spans: Sequence[Span], offset: int) -> bool:
    """Whether `offset` lies in one of the spans, which are in order and do not overlap."""
    at = bisect_right(spans, (offset, float("inf"))) - 1
    return at >= 0 and offset < spans[at][1]


def find_block_ids(text: str, start: int = 0) -> dict[str, Span]:
    """Block id -> span of its block: the paragraph, heading or list item that ends with `^id`.

    An item's span holds what is nested in it. `^id` alone in a paragraph names the block before it (a table, a quote,
    code, a whole list). Where an id occurs twice the first counts.
    """
    page = scan(text, start)
    found: dict[str, Span] = {}
    seen_items: set[int] = set()
    for paragraph in page.paragraphs:
        first, last = page.lines[paragraph.first], page.lines[paragraph.last]
        leads_item = first.item >= 0 and first.item not in seen_items
        seen_items.add(first.item)
        if last.kind == "underline":
            last = page.lines[paragraph.last - 1]
        match = _BLOCK_ID.search(text[last.content : last.end].rstrip())
        if match is None or within(page.hidden, last.content + match.start()):
            continue
        alone = not match.start() and paragraph.first == paragraph.last
        span = _block_before(page, paragraph.first) if alone and not leads_item else None
        if span is None:
            span = page.items[first.item] if leads_item else (first.start, page.lines[paragraph.last].end)
        found.setdefault(match[1], span)
    return found


def _block_before(page: Scan, index: int) -> Span | None:
    """The block that ends before line `index`: all of a list, quote, piece of code or table; None at the top."""
    depth = page.lines[index].depth
    at = index - 1
    while at >= 0 and page.lines[at].kind == "blank":
        at -= 1
    if at < 0 or page.lines[at].kind == "heading":
        return None
    last = page.lines[at]

    def belongs(line: Line) -> bool:
        if last.depth > depth:
            return line.depth > depth
        return line.kind == last.kind and line.depth == last.depth

    first = at
    while at >= 0 and (belongs(page.lines[at]) or (last.depth > depth and page.lines[at].kind == "blank")):
        if page.lines[at].kind != "blank":
            first = at
        at -= 1
    return page.lines[first].start, last.end


def section_span(text: str, heading: str, start: int = 0) -> tuple[int, int, int]:
    """Where a section stands: start of its heading line, start of its content, end (next heading as high or higher).

    `heading` is compared exactly, then without case, then by its words alone (as Obsidian writes headings in links).
    It may carry its marks (`## Notes` prefers that level) and its parents (`Setup > Notes`, `Setup#Notes`).
    Raises NotFound with the nearest headings, Invalid where several match.
    """
    headings = find_headings(text, start)
    parents = _parents(headings)
    matches = _matching(headings, parents, heading)
    if not matches:
        raise NotFound(f"no heading '{heading.strip()}'", hint=_nearest(headings, heading))
    if len(matches) > 1:
        raise _ambiguous(headings, parents, matches, heading)
    chosen = headings[matches[0]]
    end = next((h.start for h in headings[matches[0] + 1 :] if h.level <= chosen.level), len(text))
    return chosen.start, chosen.end, end


def _parents(headings: Sequence[Heading]) -> list[int]:
    """For each heading the index of the heading that holds it, or -1."""
    parents: list[int] = []
    open_ones: list[int] = []
    for index, heading in enumerate(headings):
        while open_ones and headings[open_ones[-1]].level >= heading.level:
            open_ones.pop()
        parents.append(open_ones[-1] if open_ones else -1)
        open_ones.append(index)
    return parents


def _exactly(text: str) -> str:
    return " ".join(text.split())


def _without_case(text: str) -> str:
    return _exactly(text).casefold()


def _words_alone(text: str) -> str:
    return _PUNCTUATION.sub(" ", text).strip().casefold()


_WAYS: Final[tuple[Callable[[str], str], ...]] = (_exactly, _without_case, _words_alone)


def _matching(headings: Sequence[Heading], parents: Sequence[int], address: str) -> list[int]:
    """Indices of the headings that the address fits in the strictest way that fits any."""
    bare = address.strip().lstrip("#")
    level = len(address.strip()) - len(bare)
    bare = bare.strip()
    forms = [[address], [bare]]
    if " > " in bare:
        forms.append([part.strip().lstrip("#") for part in bare.split(" > ")])
    if "#" in bare:
        forms.append([part for part in bare.split("#") if part.strip()])
    for way in _WAYS:
        keys = [way(heading.text) for heading in headings]
        for form in forms:
            wanted = [way(part) for part in form]
            if not all(wanted):
                continue
            found = [
                index
                for index, key in enumerate(keys)
                if key == wanted[-1] and _lies_under(keys, parents, index, wanted[:-1])
            ]
            of_level = [index for index in found if headings[index].level == level]
            if found:
                return of_level or found
    return []


def _lies_under(keys: Sequence[str], parents: Sequence[int], index: int, wanted: list[str]) -> bool:
    """Whether the headings around `index` hold `wanted` in order, from the outside in; levels may be left out."""
    left = len(wanted)
    while left and (index := parents[index]) >= 0:
        left -= keys[index] == wanted[left - 1]
    return not left


def _nearest(headings: Sequence[Heading], address: str) -> str:
    texts = list(dict.fromkeys(heading.text[:80] for heading in headings if heading.text))
    if not texts:
        return "The page has no headings."
    lowered = {text.casefold(): text for text in reversed(texts[:2000])}
    near = difflib.get_close_matches(address.strip("# ").casefold()[:80], list(lowered), n=5, cutoff=0.5)
    shown = [lowered[key] for key in near] or texts[:_LISTED]
    return f"{'Nearest headings' if near else 'Headings'}: {', '.join(repr(text) for text in shown)}."


def _ambiguous(headings: Sequence[Heading], parents: Sequence[int], matches: Sequence[int], address: str) -> Invalid:
    lines = [headings[index].line for index in matches]
    shown = ", ".join(str(line) for line in lines[:_LISTED]) + (", ..." if len(lines) > _LISTED else "")
    ways = [
        f"'{headings[parents[index]].text} > {headings[index].text}'"
        if parents[index] >= 0
        else f"'{'#' * headings[index].level} {headings[index].text}'"
        for index in matches[:_LISTED]
    ]
    if len(set(ways)) == len(ways):
        hint = f"Name one by its parent or its level: {', '.join(ways)}."
    else:
        hint = "Give the section that you mean a heading of its own, or name it by a parent further up."
    return Invalid(
        f"{len(matches)} headings match '{address.strip()}': lines {shown}", hint=hint, data={"lines": lines}
    )
