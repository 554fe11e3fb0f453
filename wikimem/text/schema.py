"""Properties typed by wikimem's schema: texts in, `Metadata` and problems out.

The person's text decides, never YAML's guess at it: `title: no` is a title, `pinned: no` is a no. A value that does
not fit its key counts as absent and is reported with its line; nothing is rewritten.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

from wikimem.errors import Invalid
from wikimem.model.page import MEMORY_TYPES, PLAIN_TYPE, STATUSES, TRUST_ORDER, Metadata, Problem, PropertyValue
from wikimem.text.dates import parse_duration, parse_iso
from wikimem.text.ids import is_ulid
from wikimem.text.properties import PROPERTIES

_SHORT_KEYS: Final = {"tag": "tags", "alias": "aliases"}
SCHEMA_KEYS: Final = frozenset(PROPERTIES) | {"remotes"}
"""Names of the properties that wikimem reads; `remotes` stands on the Profile pages of projects."""

_NUMBER: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?", re.ASCII)
_YES: Final = frozenset({"true", "yes", "on", "1"})
_NO: Final = frozenset({"", "false", "no", "off", "0"})
_BETWEEN_TAGS: Final = re.compile(r"[\s,]+")
_BETWEEN_ALIASES: Final = re.compile(r"\s*,\s*")
_SHOWN_CHARACTERS: Final = 60


def read_metadata(
    properties: Mapping[str, PropertyValue], lines: Mapping[str, int], path: str
) -> tuple[Metadata, tuple[Problem, ...]]:
    """What wikimem's schema makes of a page's properties.

    Keys are found whatever their case, the exact one first, as in Obsidian.
    """
    reader = _Reader(properties, lines, path)
    valid_from, valid_to = reader.date("valid_from"), reader.date("valid_to")
    if valid_from and valid_to and valid_from > valid_to:
        reader.report("valid_to", "`valid_to` is earlier than `valid_from`")
    ttl, ttl_seconds = reader.duration("ttl")
    found_id = reader.text("id")
    metadata = Metadata(
        id=found_id.upper() if found_id and is_ulid(found_id) else None,
        type=reader.type_name(),
        title=reader.text("title"),
        status=reader.choice("status", STATUSES, absent="active", unknown="active"),
        confidence=reader.share("confidence"),
        ttl=ttl,
        ttl_seconds=ttl_seconds,
        confirmed=reader.date("confirmed"),
        created=reader.date("created"),
        valid_from=valid_from,
        valid_to=valid_to,
        sources=reader.texts("sources"),
        supersedes=reader.texts("supersedes"),
        superseded_by=reader.texts("superseded_by"),
        project=reader.text("project"),
        agent=reader.text("agent"),
        session=reader.text("session"),
        # An unknown word must not buy trust: it counts as the least.
        trust=reader.choice("trust", TRUST_ORDER, absent="human", unknown=TRUST_ORDER[0]),
        importance=reader.share("importance"),
        pinned=reader.flag("pinned"),
        tags=_once(tag for key in ("tags", "tag") for tag in reader.tags(key)),
        aliases=_once(alias for key in ("aliases", "alias") for alias in reader.aliases(key)),
    )
    return metadata, tuple(reader.problems)


def known_key(key: str) -> str:
    """The property of `SCHEMA_KEYS` that is read under this key, whatever its case; any other key as it is."""
    folded = key.lower()
    folded = _SHORT_KEYS.get(folded, folded)
    return folded if folded in SCHEMA_KEYS else key


def spellings(keys: Iterable[str], key: str) -> list[str]:
    """Those of a page's `keys` under which a property is read: the exact one first, then as they stand.

    Keys that wikimem does not know differ in case only by mistake, since Obsidian takes them for one.
    """
    wanted = known_key(key)
    found = dict.fromkeys(name for name in keys if known_key(name) == wanted or name.lower() == key.lower())
    return sorted(found, key=lambda name: name != key)


def property_value(properties: Mapping[str, PropertyValue], key: str) -> PropertyValue:
    """What a page says under a key that wikimem knows, whatever its case there."""
    return next((properties[name] for name in spellings(properties, key)), None)


def property_texts(properties: Mapping[str, PropertyValue], key: str) -> tuple[str, ...]:
    """The same as a list: one text counts as a list of one."""
    value = property_value(properties, key)
    return (value,) if isinstance(value, str) else tuple(value or ())


def _once(texts: Iterable[str]) -> tuple[str, ...]:
    """Each text once, whatever its case, as first written."""
    found: dict[str, str] = {}
    for text in texts:
        found.setdefault(text.casefold(), text)
    return tuple(found.values())


class _Reader:
    """Reads one key at a time and collects what does not fit."""

    def __init__(self, properties: Mapping[str, PropertyValue], lines: Mapping[str, int], path: str) -> None:
        self.problems: list[Problem] = []
        self._lines, self._path = lines, path
        self._properties = properties
        self._keys = {key.lower(): key for key in reversed(list(properties))} | {key: key for key in properties}

    def report(self, key: str, message: str) -> None:
        line = self._lines.get(self._keys.get(key, key))
        self.problems.append(Problem("property-value", self._path, message, line))

    def _value(self, key: str) -> PropertyValue:
        return self._properties[self._keys[key]] if key in self._keys else None

    def _misfit(self, key: str, value: str, expected: str) -> None:
        shown = value if len(value) <= _SHOWN_CHARACTERS else value[:_SHOWN_CHARACTERS] + "..."
        self.report(key, f"`{key}` is {expected}, not '{shown}'")

    def text(self, key: str) -> str | None:
        """One line of text; a list of one item counts as the item."""
        value = self._value(key)
        if isinstance(value, tuple):
            if len(value) > 1:
                self._misfit(key, ", ".join(value), "one text")
                return None
            value = value[0] if value else None
        return " ".join(value.split()) or None if value else None

    def texts(self, key: str) -> tuple[str, ...]:
        value = self._value(key)
        return tuple(text for text in ((value,) if isinstance(value, str) else value or ()) if text.strip())

    def tags(self, key: str) -> list[str]:
        """Tags without `#`. In one text they are parted by commas or spaces, in a list each item is one."""
        value = self._value(key)
        if isinstance(value, str):
            # A list whose brackets do not close is recovered as text.
            items = [item.strip("[]\"'") for item in _BETWEEN_TAGS.split(value)]
        else:
            items = list(value or ())
        tags = (unicodedata.normalize("NFC", item.strip().lstrip("#").strip("/ \t")) for item in items)
        return [tag for tag in tags if tag]

    def aliases(self, key: str) -> list[str]:
        """Names of the page. Obsidian parts a single text at its commas; a name with a comma goes into a list."""
        value = self._value(key)
        names = _BETWEEN_ALIASES.split(value) if isinstance(value, str) else value or ()
        return [" ".join(name.split()) for name in names if name.strip()]

    def type_name(self) -> str:
        """A memory type, or whatever else the person calls the page."""
        found = self.text("type")
        if not found:
            return PLAIN_TYPE
        return found.lower() if found.lower() in MEMORY_TYPES else found

    def choice(self, key: str, choices: tuple[str, ...], *, absent: str, unknown: str) -> str:
        found = self.text(key)
        if not found:
            return absent
        if found.lower() in choices:
            return found.lower()
        self._misfit(key, found, f"one of {', '.join(choices)}")
        return unknown

    def share(self, key: str) -> float | None:
        """A number from 0 to 1."""
        found = self.text(key)
        if found is None:
            return None
        number = float(found) if _NUMBER.fullmatch(found) else -1.0
        if 0 <= number <= 1:
            return number
        self._misfit(key, found, "a number from 0 to 1")
        return None

    def flag(self, key: str) -> bool:
        found = (self.text(key) or "").lower()
        if found not in _YES and found not in _NO:
            self._misfit(key, found, "true or false")
        return found in _YES

    def date(self, key: str) -> datetime | None:
        """The first instant of an ISO date of any precision."""
        found = self.text(key)
        if found is None:
            return None
        period = parse_iso(found)
        if period is None:
            self._misfit(key, found, "a date such as 2025-09-12")
            return None
        return period.start

    def duration(self, key: str) -> tuple[str | None, float | None]:
        found = self.text(key)
        if found is None:
            return None, None
        try:
            return found, parse_duration(found)
        except Invalid:
            self._misfit(key, found, "a duration such as P90D")
            return None, None
