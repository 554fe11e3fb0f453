"""`KEY=VALUE` texts as changes of a page's properties: what each key means, and what its value may be."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from wikimem.errors import Invalid, Refused
from wikimem.memory.wording import checked_tags, checked_title
from wikimem.model.page import MEMORY_TYPES, STATUSES, Page, PropertyValue
from wikimem.text.dates import parse_duration, parse_iso
from wikimem.text.schema import SCHEMA_KEYS, known_key, spellings
from wikimem.text.yamlblock import read_block
from wikimem.text.yamltext import Written

LIST_KEYS: Final = ("tags", "aliases", "sources", "supersedes", "superseded_by", "remotes")
FIXED_KEYS: Final = ("id", "created", "trust")
"""Who said it first, when, and which page it is: never changed by an edit."""

_KEY: Final = re.compile(r"[^\W\d][\w .-]{0,79}")
_YAML_LIST: Final = re.compile(r"\[(?!\[(?!\[)).*\]", re.DOTALL)
"""Square brackets round the whole, which are not those of a wikilink."""
_ITEM: Final = re.compile(
    r"""(?: \[\[[^\[\]]*\]\]
          | \[[^\[\]]*\]\([^()\s]*\)
          | (?<![\w+.-])[a-z][a-z0-9+.-]*://(?: [^\s,] | ,(?![\s,]|\Z|\[\[|[a-z][a-z0-9+.-]*://|(?:file|commit):) )*
          | [^,] )+""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
"""What stands between two commas: one within a link parts nothing, and one within a URL only where another item
begins behind it."""
_WIKILINK: Final = re.compile(r"\[\[[^\[\]]+\]\]")


def parse_assignments(assignments: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Each key as wikimem reads it -> the values given for it, none to remove it (`KEY=`).

    Raises Invalid for what is no assignment or no value of its key, Refused for `FIXED_KEYS`.
    """
    assigned: dict[str, tuple[str, ...]] = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        key = known_key(name.strip())
        if not equals or not _KEY.fullmatch(key):
            raise Invalid(f"set: '{assignment}' is not KEY=VALUE", hint="For example --set confidence=0.9.")
        if key.casefold() in FIXED_KEYS:
            raise Refused(f"set: '{key}' is never changed by an edit", hint="Make a new page that supersedes this one.")
        if key in assigned and not (value and assigned[key]):
            raise _given_twice(key)
        assigned[key] = (*assigned.get(key, ()), value) if value else ()
    for key, values in assigned.items():
        if values and key in SCHEMA_KEYS:
            _typed(key, values, listed=False)
    return assigned


def changes_of(assigned: Mapping[str, tuple[str, ...]], page: Page) -> tuple[dict[str, Written], list[str]]:
    """What `parse_assignments` gave, as properties of `page` to set and to remove, spelled as they are there.

    A key that wikimem does not know takes a list where the page has one, else a text. Raises Invalid, or Refused where
    a page has one property under two spellings.
    """
    changes: dict[str, Written] = {}
    removed: list[str] = []
    for key, values in assigned.items():
        name = _spelled(page, key)
        if values:
            changes[name] = _typed(key, values, listed=isinstance(page.properties.get(name), tuple))
        else:
            removed.append(name)
    return changes, removed


def _spelled(page: Page, key: str) -> str:
    found = spellings(page.properties, key)
    if len(found) > 1 and not (key not in SCHEMA_KEYS and found[0] == key):
        raise Refused(
            f"'{page.path}' has {' and '.join(f'`{name}`' for name in found)}, which are read as one property",
            hint="Remove all but one of them in an editor, then try again.",
        )
    return found[0] if found else key


def _given_twice(key: str) -> Invalid:
    return Invalid(f"set: '{key}' is given twice", hint="Give it once; only a list takes a key for each of its items.")


def _typed(key: str, values: Sequence[str], *, listed: bool) -> Written:
    """The value as the schema has it; a key that wikimem does not know stays text, or a list. Raises Invalid."""
    if key in LIST_KEYS or (listed and key not in SCHEMA_KEYS):
        return _list_of(key, values)
    if len(values) > 1:
        raise _given_twice(key)
    value = values[0]
    if key in ("confidence", "importance"):
        return _share_of(key, value)
    if key == "pinned":
        if value.lower() not in ("true", "false"):
            raise Invalid(f"set: pinned is true or false, not '{value}'")
        return value.lower() == "true"
    if key == "title":
        return checked_title(value)
    if key in ("valid_from", "valid_to", "confirmed") and parse_iso(value) is None:
        raise Invalid(f"set: {key} is a date such as 2025-09-12, not '{value}'")
    if key == "ttl":
        parse_duration(value, "set: ttl")
    allowed = {"status": STATUSES, "type": MEMORY_TYPES}.get(key)
    if allowed and value not in allowed:
        raise Invalid(f"set: {key} '{value}' is unknown", hint="One of: " + ", ".join(allowed) + ".")
    return value


def _list_of(key: str, values: Sequence[str]) -> tuple[str, ...]:
    """The items of one value, or each value as one item where the key is given more than once."""
    parts = values if len(values) > 1 else split_list(key, values[0])
    items = tuple(dict.fromkeys(part.strip() for part in parts if part.strip()))
    if key == "tags":
        return checked_tags(items)
    if key in ("supersedes", "superseded_by"):
        return tuple(_as_link(key, item) for item in items)
    return items


def split_list(key: str, value: str) -> Sequence[str]:
    """The items of a list on one line: between commas, or as YAML writes it, `[a, "b, c"]`. Raises Invalid."""
    value = value.strip()
    if not _YAML_LIST.fullmatch(value) or "](" in value:
        return _ITEM.findall(value)
    block = read_block(f"---\nlist: {value}\n---\n")
    found: PropertyValue = block.entries[0].value if block and block.parses and len(block.entries) == 1 else None
    if not isinstance(found, tuple):
        raise Invalid(
            f"set: {key} '{value}' is no list that YAML can read",
            hint=f"Write --set '{key}=[\"one, two\", three]', or give the key once for each item.",
        )
    return found


def _as_link(key: str, item: str) -> str:
    if _WIKILINK.fullmatch(item):
        return item
    if "[" in item or "]" in item:
        raise Invalid(f"set: {key} takes links to pages, not '{item}'", hint="For example [[Use jose]].")
    return f"[[{item}]]"


def _share_of(key: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise Invalid(f"set: {key} is a number from 0 to 1, not '{value}'")
    return number
