"""Finding the document in what a model answers: JSON or XML, bare, in a code fence, or with words around it.

    read_items(text, "edges", fields)     the items of the list, each a dict; None where there is no such document

A model that thinks aloud first, wraps its answer in prose or forgets to escape a `<` is read all the same. XML is taken
apart by its tags alone: there are no entities to expand, no documents to fetch.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Collection, Iterator
from typing import Any, Final

MOST_ITEMS: Final = 500
_MOST_PLACES: Final = 40
_THOUGHT: Final = "</think>"
_FENCE: Final = re.compile(r"```[ \t]*\w*[ \t]*\n")
_ATTRIBUTE: Final = re.compile(r"""([A-Za-z_][\w-]{0,30})\s*=\s*(?:"([^"<>]{0,600})"|'([^'<>]{0,600})')""")


def read_items(text: str, name: str, fields: Collection[str]) -> list[Any] | None:
    """The list that the answer calls `name`, at most MOST_ITEMS of it; `fields` are the tags of an item in XML.

    A bare JSON list of objects counts too. None where no such list can be read, as where the answer was cut off.
    """
    said = (text.rpartition(_THOUGHT)[2] if _THOUGHT in text else text).strip()
    found = _from_xml(said, name, fields) if said.startswith("<") else None
    if found is None:
        found = _from_json(said, name)
    if found is None:
        found = _from_xml(said, name, fields)
    return None if found is None else found[:MOST_ITEMS]


def _from_json(text: str, name: str) -> list[Any] | None:
    decoder = json.JSONDecoder()
    for place, begins in _places(text):
        try:
            document, _ = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            continue
        if isinstance(document, dict) and isinstance(document.get(name), list):
            listed: list[Any] = document[name]
            return listed
        # A list further inside belongs to an item, as where the answer was cut off.
        if begins and isinstance(document, list) and all(isinstance(each, dict) for each in document):
            return document
    return None


def _places(text: str) -> Iterator[tuple[int, bool]]:
    """Where a JSON document may stand, and whether the answer or a code fence begins there: those come first."""
    for start in (0, *(match.end() for match in list(_FENCE.finditer(text))[:_MOST_PLACES])):
        at = start + len(text[start:]) - len(text[start:].lstrip())
        if text[at : at + 1] in ("{", "["):
            yield at, True
    for count, match in enumerate(re.finditer(r"\{", text)):
        if count >= _MOST_PLACES:
            return
        yield match.start(), False


def _from_xml(text: str, name: str, fields: Collection[str]) -> list[dict[str, Any]] | None:
    inside = _between(text, name)
    if inside is None:
        return [] if re.search(rf"<{name}\s*/>", text) else None
    item = name.removesuffix("s")
    found: list[dict[str, Any]] = []
    for piece in inside.split(f"</{item}>")[:-1][:MOST_ITEMS]:
        begin = piece.find(f"<{item}")
        if begin >= 0:
            found.append(_item(piece[begin:], fields))
    return found


def _item(piece: str, fields: Collection[str]) -> dict[str, Any]:
    """The fields of an item: from the attributes of its tag, and from the tags inside it."""
    opened, _, rest = piece.partition(">")
    item: dict[str, Any] = {key: value for key, value in _attributes(opened).items() if key in fields}
    for field in fields:
        attributes, value = _element(rest, field)
        if value is not None:
            item[field] = {**attributes, "name": value} if attributes else value
    return item


def _element(text: str, tag: str) -> tuple[dict[str, str], str | None]:
    opened = re.search(rf"<{tag}((?:\s[^<>]{{0,1300}})?)>", text)
    end = text.find(f"</{tag}>", opened.end()) if opened else -1
    if opened is None or end < 0:
        return {}, None
    inside = text[opened.end() : end]
    attributes = _attributes(opened[1])
    for part in ("type", "name"):
        nested = _between(inside, part)
        if nested is not None:
            attributes[part] = _plain(nested)
    if "name" in attributes:
        return attributes, attributes.pop("name")
    return attributes, _plain(inside)


def _between(text: str, tag: str) -> str | None:
    begin = re.search(rf"<{tag}(?:\s[^<>]{{0,300}})?>", text)
    end = text.rfind(f"</{tag}>")
    return text[begin.end() : end] if begin and end >= begin.end() else None


def _attributes(opened: str) -> dict[str, str]:
    return {match[1]: html.unescape(match[2] or match[3] or "") for match in _ATTRIBUTE.finditer(opened[:1500])}


def _plain(text: str) -> str:
    inside = text.strip()
    if inside.startswith("<![CDATA[") and inside.endswith("]]>"):
        return inside.removeprefix("<![CDATA[").removesuffix("]]>").strip()
    return html.unescape(inside)
