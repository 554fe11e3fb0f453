"""Changing links on a page: other targets, or their text instead, and no other byte.

A link is changed where it stands. In frontmatter that may need other quotes than the person used; then the whole value
is written again, by the rules of `set_properties`. What comes out is read back before it is given back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from msgspec.structs import replace

from wikimem.errors import Refused
from wikimem.model.page import Link, Page, PropertyValue
from wikimem.text.frontmatter import set_properties
from wikimem.text.links import links_in_value, rewrite_link
from wikimem.text.page import parse_page
from wikimem.text.yamlspans import Splice, apply_splices

LinkEdit = Callable[[str, Link], str]
"""From a text and a link in it to what is to stand there instead of the link."""

_BOM: Final = b"\xef\xbb\xbf"


def retargeted(target: str) -> LinkEdit:
    """The edit that gives a link another target."""
    return lambda text, link: rewrite_link(text, link, target)


def shown_text(text: str, link: Link) -> str:
    """The edit that leaves what a reader sees of a link: its alias, the words in its brackets, or its target."""
    source = text[link.start : link.end]
    if source.startswith(("[[", "![[")):
        return link.alias or link.target
    inner = source.removeprefix("!")
    end = inner.rfind("](")
    return inner[1:end] if end > 0 else link.alias or link.target


def edit_links(page: Page, data: bytes, edits: Mapping[int, LinkEdit], *, dropped: bool = False) -> bytes:
    """The file with those links of `page.links` (by their place there) changed; `page` is what `data` reads as.

    `dropped` says that an edited link is none afterwards. Raises Refused, or Damaged, where it cannot be done without
    changing more.
    """
    if not edits:
        return data
    if not page.writable:
        raise Refused(f"'{page.path}' cannot be read without loss, so it is not edited", hint="See `wikimem check`.")
    body, head = _splices(page, edits)
    mark = _BOM if data.startswith(_BOM) else b""
    wanted = _wanted(page, edits)
    if head is not None:
        in_place = mark + apply_splices(page.text, [*body, *head]).encode("utf-8")
        if _reads_as(page, in_place, wanted, edits, dropped=dropped):
            return in_place
    changed = {key: value for key, value in wanted.items() if value != page.properties[key]}
    result = set_properties(mark + apply_splices(page.text, body).encode("utf-8"), changed, path=page.path)
    if not _reads_as(page, result, wanted, edits, dropped=dropped):
        raise Refused(
            f"links of '{page.path}' cannot be changed without changing more", hint="Change them in an editor."
        )
    return result


def _splices(page: Page, edits: Mapping[int, LinkEdit]) -> tuple[list[Splice], list[Splice] | None]:
    """Cuts in the body, and in the frontmatter; None for the latter where a value's source is not its text."""
    body: list[Splice] = []
    head: list[Splice] | None = []
    values = _links_of_values(page)
    for place, edit in sorted(edits.items()):
        link = page.links[place]
        source = page.text[link.start : link.end]
        if link.start >= page.body_start:
            body.append(_smallest(link.start, source, edit(page.text, link)))
            continue
        _, _, item, local = values[place]
        if head is not None and source == item[local.start : local.end]:
            head.append(_smallest(link.start, source, edit(item, local)))
        else:
            head = None
    ends = sorted((splice.start, splice.end) for splice in body)
    if any(first[1] > second[0] for first, second in pairwise(ends)):
        raise Refused(f"'{page.path}' has a link within a link", hint="Change it in an editor.")
    return body, head


def _smallest(start: int, old: str, new: str) -> Splice:
    """The change without what both have at either end: a link may stand in the words of another."""
    most = min(len(old), len(new))
    before = next((place for place in range(most) if old[place] != new[place]), most)
    most -= before
    after = next((place for place in range(most) if old[-1 - place] != new[-1 - place]), most)
    return Splice(start + before, start + len(old) - after, new[before : len(new) - after])


def _links_of_values(page: Page) -> list[tuple[str, int, str, Link]]:
    """For each link in the frontmatter its key, which item of the value, the item's text, and its place in that.

    In the order of `page.links`, which has those of the frontmatter first.
    """
    return [
        (key, number, item, link)
        for key, value in page.properties.items()
        for number, item in enumerate((value,) if isinstance(value, str) else value or ())
        for link in links_in_value(key, item)
    ]


def _wanted(page: Page, edits: Mapping[int, LinkEdit]) -> dict[str, PropertyValue]:
    """The properties as they are to read afterwards."""
    wanted = dict(page.properties)
    values = _links_of_values(page)
    for place in sorted((place for place in edits if place < len(values)), reverse=True):
        key, number, _, link = values[place]
        value = wanted[key]
        items = [value] if isinstance(value, str) else list(value or ())
        text = items[number]
        # From the last link of a value to the first, so that the places of those before it stay right.
        items[number] = text[: link.start] + edits[place](text, link) + text[link.end :]
        wanted[key] = items[0] if isinstance(value, str) else tuple(items)
    return wanted


def _reads_as(
    page: Page, data: bytes, wanted: Mapping[str, PropertyValue], edits: Mapping[int, LinkEdit], *, dropped: bool
) -> bool:
    after = parse_page(page.path, data)
    if not after.writable or after.properties != wanted:
        return False
    stay: Sequence[Link] = [
        link if place not in edits else replace(link, target="")
        for place, link in enumerate(page.links)
        if not (dropped and place in edits)
    ]
    return len(after.links) == len(stay) and all(
        (old.fragment, old.kind) == (new.fragment, new.kind) and old.target in ("", new.target)
        for old, new in zip(stay, after.links, strict=True)
    )
