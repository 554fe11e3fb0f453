"""Changing links on a page: other targets, or their text instead, and no other byte.

A link is changed where it stands. In frontmatter that may need other quotes than the person used; then that value
alone is written again, by the rules of `set_properties`. What comes out is read back before it is given back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from wikimem.errors import Refused
from wikimem.model.page import Link, Page, PropertyValue
from wikimem.text.frontmatter import read_frontmatter, set_properties
from wikimem.text.knownsection import with_hash_kept
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
    values = _links_of_values(page)
    body = _body_splices(page, {place: edit for place, edit in edits.items() if place >= len(values)})
    head = _head_splices(page, values, {place: edit for place, edit in edits.items() if place < len(values)})
    mark = _BOM if data.startswith(_BOM) else b""
    wanted = _wanted(page, edits)
    in_place = with_hash_kept(page.text, apply_splices(page.text, [*body, *head]))
    current = read_frontmatter(in_place, page.path).properties
    left = {key: value for key, value in wanted.items() if value != current.get(key)}
    result = set_properties(mark + in_place.encode("utf-8"), left, path=page.path)
    if not _reads_as(page, result, wanted, edits, dropped=dropped):
        raise Refused(
            f"links of '{page.path}' cannot be changed without changing more", hint="Change them in an editor."
        )
    return result


def _body_splices(page: Page, edits: Mapping[int, LinkEdit]) -> list[Splice]:
    splices: list[Splice] = []
    for place, edit in sorted(edits.items()):
        link = page.links[place]
        splices.append(_smallest(link.start, page.text[link.start : link.end], edit(page.text, link)))
    ends = sorted((splice.start, splice.end) for splice in splices)
    if any(first[1] > second[0] for first, second in pairwise(ends)):
        raise Refused(f"'{page.path}' has a link within a link", hint="Change it in an editor.")
    return splices


def _head_splices(page: Page, values: Sequence[_InValue], edits: Mapping[int, LinkEdit]) -> list[Splice]:
    """Cuts in those texts of the frontmatter that read as they are to when they are cut; the other texts stay."""
    of_texts: dict[tuple[str, int], list[int]] = defaultdict(list)
    for place in sorted(edits):
        of_texts[values[place].key, values[place].number].append(place)
    cuts: dict[int, Splice] = {}
    for places in of_texts.values():
        links = [(page.links[place], values[place]) for place in places]
        if all(page.text[link.start : link.end] == own.source for link, own in links):
            for place, (link, own) in zip(places, links, strict=True):
                cuts[place] = _smallest(link.start, own.source, edits[place](own.text, own.link))
    if _holds(page, cuts, edits):
        return list(cuts.values())
    by_text = [{place: cuts[place] for place in places if place in cuts} for places in of_texts.values()]
    return [splice for each in by_text if _holds(page, each, edits) for splice in each.values()]


def _holds(page: Page, cuts: Mapping[int, Splice], edits: Mapping[int, LinkEdit]) -> bool:
    """Whether the frontmatter with these cuts reads as with the edits that they are for."""
    after = read_frontmatter(apply_splices(page.text, list(cuts.values())), page.path)
    return after.parses and after.properties == _wanted(page, {place: edits[place] for place in cuts})


def _smallest(start: int, old: str, new: str) -> Splice:
    """The change without what both have at either end: a link may stand in the words of another."""
    most = min(len(old), len(new))
    before = next((place for place in range(most) if old[place] != new[place]), most)
    most -= before
    after = next((place for place in range(most) if old[-1 - place] != new[-1 - place]), most)
    return Splice(start + before, start + len(old) - after, new[before : len(new) - after])


class _InValue(Struct, frozen=True):
    """A link in the frontmatter: its key, which item of the value, the item's text, and the link's place in that."""

    key: str
    number: int
    text: str
    link: Link

    @property
    def source(self) -> str:
        return self.text[self.link.start : self.link.end]


def _links_of_values(page: Page) -> list[_InValue]:
    """In the order of `page.links`, which has those of the frontmatter first."""
    return [
        _InValue(key, number, item, link)
        for key, value in page.properties.items()
        for number, item in enumerate((value,) if isinstance(value, str) else value or ())
        for link in links_in_value(key, item)
    ]


def _wanted(page: Page, edits: Mapping[int, LinkEdit]) -> dict[str, PropertyValue]:
    """The properties as they are to read afterwards."""
    wanted = dict(page.properties)
    values = _links_of_values(page)
    for place in sorted((place for place in edits if place < len(values)), reverse=True):
        own = values[place]
        value = wanted[own.key]
        items = [value] if isinstance(value, str) else list(value or ())
        text = items[own.number]
        # From the last link of a value to the first, so that the places of those before it stay right.
        items[own.number] = text[: own.link.start] + edits[place](text, own.link) + text[own.link.end :]
        wanted[own.key] = items[0] if isinstance(value, str) else tuple(items)
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
