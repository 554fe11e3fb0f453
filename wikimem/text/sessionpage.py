"""The page of a session: its observations, one list item each, and the digest between markers.

    ## Observations
    - 09:12:04 **prompt** add JWT auth to the API ^o-c41v0n8rte
    - 09:13:00 **sub-agent** Explore ^o-5sk2h81mnd
      - 09:13:20 **Bash** `npm ls jose` is not there ^o-qx02b7ttma
    - 2025-09-13 00:02:11 **said** done ^o-7f3k2m9qxa

A line whose day is not that of the page names it. Lines are kept in the order of their times, so that the page is the
same in whatever order events come in. A person's lines and edits stay, byte for byte, below the item that they follow.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from typing import Final

from wikimem.text.frontmatter import newline_of
from wikimem.text.markdown import find_headings

MOST_OBSERVATIONS: Final = 250
"""Observations on one page; a longer session goes on in another part."""

OBSERVATIONS: Final = "Observations"
DIGEST: Final = "Digest"
SUBAGENT: Final = "sub-agent"
"""The label of the item that holds what a sub-agent did."""

ENDED: Final = "ended"
"""The label of the item that says that the session ended, and how."""

_ID_DIGITS: Final = "0123456789abcdefghijklmnopqrstuv"
_ID_LENGTH: Final = 10
_HASH_DIGITS: Final = 16
_ITEM: Final = re.compile(
    r"(?P<indent>[ \t]{0,4})- (?:(?P<day>\d{4}-\d\d-\d\d) )?(?P<time>\d\d:\d\d:\d\d) \*\*(?P<label>[^*\r\n]{1,80})\*\*"
    r"(?: (?P<body>[^\r\n]*?))? \^(?P<id>o-[a-z0-9]{10})[ \t]*"
)
_BLOCK_ID: Final = re.compile(r"\s\^(o-[a-z0-9]{10})[ \t]*$", re.MULTILINE)
_BEGIN: Final = "<!-- wikimem:begin digest"
_END: Final = "<!-- wikimem:end -->"
_DIGEST: Final = re.compile(
    rf"^{_BEGIN} (?P<hash>[0-9a-f]{{16}}) -->(?:\r\n|\n|\r)(?P<text>.*?)^{_END}", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Observation:
    """What is worth recalling of one event. `body` is inline Markdown; `group` the id of its sub-agent's item.

    `when` is local time; a line gives it to the second, and keeps its place among those of that second.
    """

    id: str
    when: datetime
    label: str
    body: str
    group: str = ""


def observation_id(session: str, *event: str) -> str:
    """The block id of an observation: `o-` and 10 characters of a hash of session and event."""
    digest = hashlib.blake2b("\0".join((session, *event)).encode("utf-8", "replace"), digest_size=8).digest()
    number = int.from_bytes(digest, "big")
    return "o-" + "".join(_ID_DIGITS[number >> 5 * place & 31] for place in range(_ID_LENGTH))


def observation_ids(text: str) -> frozenset[str]:
    """Every observation's id on a page, also of lines that a person has rewritten or moved elsewhere."""
    return frozenset(_BLOCK_ID.findall(text))


@dataclass(slots=True)
class _Item:
    """An observation with the line that holds it (empty: not written yet) and what follows it up to the next."""

    seen: Observation
    line: str = ""
    day: date | None = None
    tail: list[str] = field(default_factory=list)
    inner: list[_Item] = field(default_factory=list)


class ObservationList:
    """The items of a page's section of observations; `day` is the page's own day."""

    def __init__(self, section: str, day: date) -> None:
        self.day = day
        self.lead: list[str] = []
        self.items: list[_Item] = []
        for line in re.findall(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z", section):
            self._take(line)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[Observation]:
        """In the order of the page; a sub-agent's item before what it holds."""
        for item in self.items:
            yield item.seen
            yield from (inner.seen for inner in item.inner)

    def add(self, new: Observation) -> None:
        """Put an observation in its place. One of a group whose item is not there makes that item."""
        blank = self._take_blank_end()
        self._put(new)
        if self.items:
            self._last().tail += blank

    def _take_blank_end(self) -> list[str]:
        """The blank lines after the last item, which stay at the end."""
        blank: list[str] = []
        while self.items and self._last().tail and not self._last().tail[-1].strip():
            blank.insert(0, self._last().tail.pop())
        return blank

    def _put(self, new: Observation) -> None:
        if not new.group:
            self._join(self.items, new)
            return
        parent = next((item for item in self.items if item.seen.id == new.group), None)
        if parent is None:
            parent = self._join(self.items, Observation(new.group, new.when, SUBAGENT, ""))
        elif new.when < parent.seen.when:
            parent = self._moved(parent, new.when)
        self._join(parent.inner, replace(new, group=new.group))

    def name_group(self, group: str, body: str) -> None:
        """Say what the sub-agent of a group is, where its item does not."""
        for item in self.items:
            if item.seen.id == group and not item.seen.body and body:
                item.seen = replace(item.seen, body=body)
                item.line = ""

    def text(self, newline: str) -> str:
        """The section again. Lines that were there are as they were, unless the page's day has changed."""
        parts = list(self.lead)
        for item in self.items:
            parts += self._lines(item, "", newline)
            for inner in item.inner:
                parts += self._lines(inner, "  ", newline)
        # A line without a break can only be the last.
        return "".join(part if part.endswith(("\n", "\r")) else part + newline for part in parts[:-1]) + (
            parts[-1] if parts else ""
        )

    def _take(self, line: str) -> None:
        found = _ITEM.fullmatch(line.rstrip("\r\n"))
        if found is None:
            (self._last().tail if self.items else self.lead).append(line)
            return
        day = date.fromisoformat(found["day"]) if found["day"] else self.day
        when = datetime.combine(day, time.fromisoformat(found["time"]))
        inside = bool(found["indent"]) and bool(self.items) and self.items[-1].seen.label == SUBAGENT
        group = self.items[-1].seen.id if inside else ""
        seen = Observation(found["id"], when, found["label"], found["body"] or "", group)
        (self.items[-1].inner if inside else self.items).append(_Item(seen, line, self.day))

    def _last(self) -> _Item:
        return self.items[-1].inner[-1] if self.items[-1].inner else self.items[-1]

    def _join(self, items: list[_Item], new: Observation) -> _Item:
        item = _Item(new)
        _insert(items, item)
        return item

    def _moved(self, parent: _Item, when: datetime) -> _Item:
        self.items.remove(parent)
        parent.seen = replace(parent.seen, when=when)
        parent.line = ""
        _insert(self.items, parent)
        return parent

    def _lines(self, item: _Item, indent: str, newline: str) -> list[str]:
        line = item.line if item.line and (item.day == self.day or _names_day(item.line)) else ""
        return [line or indent + line_of(item.seen, self.day) + newline, *item.tail]


def _insert(items: list[_Item], item: _Item) -> None:
    """In order, after what came before it; most come last."""
    place = len(items)
    while place and items[place - 1].seen.when > item.seen.when:
        place -= 1
    items.insert(place, item)


def _names_day(line: str) -> bool:
    found = _ITEM.fullmatch(line.rstrip("\r\n"))
    return bool(found and found["day"])


def line_of(seen: Observation, day: date) -> str:
    """The list item of an observation on a page of that day."""
    when = f"{seen.when:%H:%M:%S}" if seen.when.date() == day else f"{seen.when:%Y-%m-%d %H:%M:%S}"
    body = f" {seen.body}" if seen.body else ""
    return f"- {when} **{seen.label}**{body} ^{seen.id}"


def observations_span(text: str, body_start: int) -> tuple[int, int] | None:
    """Where the lines under the heading of the observations stand; None where there is no such heading."""
    headings = find_headings(text, body_start)
    mine = [at for at, each in enumerate(headings) if each.level == 2 and each.text == OBSERVATIONS]
    if not mine:
        return None
    return headings[mine[-1]].end, next((each.start for each in headings[mine[-1] + 1 :] if each.level <= 2), len(text))


def read_observations(text: str, body_start: int, day: date) -> tuple[Observation, ...]:
    """The observations of a page, in its order."""
    span = observations_span(text, body_start)
    return tuple(ObservationList(text[span[0] : span[1]], day)) if span else ()


def add_observations(
    text: str, body_start: int, days: tuple[date, date], new: Iterable[Observation], groups: Iterable[tuple[str, str]]
) -> str:
    """The page's text with these observations in their places. `days` are the page's day until now and from now on;
    `groups` are ids of sub-agents' items, and what each sub-agent is."""
    newline = newline_of(text)
    span = observations_span(text, body_start)
    if span is None:
        gap = "" if not text[body_start:].strip() else newline if text.endswith(("\n", "\r")) else newline * 2
        text += f"{gap}## {OBSERVATIONS}{newline}"
        span = len(text), len(text)
    elif text[span[0] - 1] not in "\r\n":
        text = text[: span[0]] + newline + text[span[0] :]
        span = span[0] + len(newline), span[1] + len(newline)
    items = ObservationList(text[span[0] : span[1]], days[0])
    items.day = days[1]
    for each in new:
        items.add(each)
    for group, body in groups:
        items.name_group(group, body)
    return text[: span[0]] + items.text(newline) + text[span[1] :]


def digest_of(text: str) -> str | None:
    """What stands between the markers of the digest, or None where there are none."""
    found = _DIGEST.search(text)
    return found["text"] if found else None


def without_digest(text: str) -> str:
    """`text` without a digest that wikimem made: it repeats the observations. One that a person has edited stays."""
    return _DIGEST.sub(lambda found: found[0] if _hash(found["text"]) != found["hash"] else "", text)


def put_digest(text: str, body_start: int, digest: str, *, may_add: bool) -> str:
    """The page's text with this digest. One that a person has edited is theirs and stays; one that is not there is
    added before the observations only where it may be."""
    newline = newline_of(text)
    inner = digest.strip("\n") + "\n"
    block = f"{_BEGIN} {_hash(inner)} -->\n{inner}{_END}".replace("\n", newline)
    found = _DIGEST.search(text, body_start)
    if found is not None:
        theirs = _hash(found["text"]) != found["hash"]
        return text if theirs else text[: found.start()] + block + text[found.end() :]
    if not may_add:
        return text
    headings = find_headings(text, body_start)
    place = next((each.start for each in headings if each.level == 2 and each.text == OBSERVATIONS), len(text))
    return f"{text[:place]}## {DIGEST}{newline}{newline}{block}{newline}{newline}{text[place:]}"


def _hash(digest: str) -> str:
    plain = digest.replace("\r\n", "\n").replace("\r", "\n")
    return hashlib.sha256(plain.encode("utf-8", "replace")).hexdigest()[:_HASH_DIGITS]
