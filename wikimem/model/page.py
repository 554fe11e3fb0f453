"""A page of the vault as it was read: its typed frontmatter, its links, its problems."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final, Literal, NamedTuple, get_args

from msgspec import Struct, field
from msgspec.structs import replace

MemoryType = Literal[
    "fact",
    "decision",
    "preference",
    "pattern",
    "lesson",
    "error",
    "procedure",
    "entity",
    "topic",
    "profile",
    "session",
    "source",
    "task",
    "routine",
]
MEMORY_TYPES: Final[tuple[str, ...]] = get_args(MemoryType)
PLAIN_TYPE: Final = "note"
"""The type of a page whose frontmatter names none."""

Status = Literal["active", "superseded", "expired", "quarantined", "archived", "disputed"]
STATUSES: Final[tuple[str, ...]] = get_args(Status)

Trust = Literal["human", "agent", "tool", "web"]
TRUST_ORDER: Final[tuple[str, ...]] = ("web", "tool", "agent", "human")
"""From least to most trusted."""

CONFLICT_RULE: Final = "conflict-markers"
"""The rule of the problem that a page with an unresolved merge has."""

PropertyValue = str | tuple[str, ...] | None
"""A frontmatter value exactly as the person wrote it: a scalar's text, a list of texts, or nothing after the colon."""


class Problem(Struct, frozen=True):
    """Something on a page that a person should look at; `line` counts from 1 in the file."""

    rule: str
    path: str
    message: str
    line: int | None = None
    fixable: bool = False


class Link(Struct, frozen=True):
    """A link as it is written. `target` is the page part only, `fragment` a heading or `^block-id`.

    `kind` is `wikilink`, `embed` or `markdown` for links in the body, and the frontmatter key
    (`sources`, `supersedes`, ...) or the inline-field key (`uses` of `uses:: [[jose]]`) where there is one.
    `start` and `end` are character offsets of the whole link in the page's text.
    """

    target: str
    kind: str
    start: int
    end: int
    fragment: str = ""
    alias: str = ""
    line: int = 0


class Heading(Struct, frozen=True):
    """An ATX or Setext heading outside code. `start` is the offset of its line, `end` of the text after it."""

    level: int
    text: str
    start: int
    end: int
    line: int


class Metadata(Struct, frozen=True):
    """Frontmatter read by wikimem's schema. A value that does not fit its type is None here and a Problem on the page.

    `valid_from`, `valid_to`, `confirmed` and `created` are the first instant of the date that was written
    (2025 is 2025-01-01T00:00:00), local time without zone. `ttl_seconds` is approximate for months and years
    (30 and 365 days).
    """

    id: str | None = None
    type: str = PLAIN_TYPE
    title: str | None = None
    status: str = "active"
    confidence: float | None = None
    ttl: str | None = None
    ttl_seconds: float | None = None
    confirmed: datetime | None = None
    created: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    sources: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    project: str | None = None
    agent: str | None = None
    session: str | None = None
    trust: str = "human"
    importance: float | None = None
    pinned: bool = False
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


class Page(Struct, frozen=True):
    """One Markdown file, parsed. `text` is the whole file decoded (BOM removed, line endings as on disk).

    `body_start` is the offset in `text` where the body begins; `writable` is False where the frontmatter
    does not parse or the bytes are not UTF-8: such a page is indexed and reported, never edited.
    """

    path: str
    id: str
    title: str
    revision: str
    text: str
    body_start: int
    meta: Metadata
    properties: Mapping[str, PropertyValue]
    links: tuple[Link, ...] = ()
    headings: tuple[Heading, ...] = ()
    tags: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    writable: bool = True
    property_lines: Mapping[str, int] = field(default_factory=dict)

    @property
    def body(self) -> str:
        return self.text[self.body_start :]

    @property
    def has_conflict(self) -> bool:
        """Whether the text holds the markers of an unresolved merge."""
        return any(problem.rule == CONFLICT_RULE for problem in self.problems)

    def without_conflict(self) -> Page:
        """This page without its text where that holds the markers of an unresolved merge: no side of it is a fact."""
        if not self.has_conflict:
            return self
        return replace(self, text=self.text[: self.body_start], headings=())


class Passage(Struct, frozen=True):
    """The piece of a page that is retrieved: `text[start:end]` of the page, with its heading path.

    `id` is a 63-bit digest of the page's path and header fields, the passage's words and its place among equals,
    so that an unchanged passage keeps its id from one indexing to the next.
    """

    id: int
    ordinal: int
    heading: str
    start: int
    end: int


class FileStat(NamedTuple):
    """What a sweep compares before it reads a file (bytes, nanoseconds, inode number)."""

    size: int
    mtime_ns: int
    inode: int
