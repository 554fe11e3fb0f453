"""What retrieval yields: rows of the index, rankings of a stream, hits with their trace."""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct, field


class PageRow(Struct, frozen=True):
    """A page as the index knows it. `number` is internal to one index; `tokens` estimates the page's cost."""

    number: int
    path: str
    id: str
    title: str
    type: str
    status: str
    revision: str
    trust: str
    confidence: float | None = None
    importance: float | None = None
    pinned: bool = False
    created: datetime | None = None
    confirmed: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires: datetime | None = None
    project: str | None = None
    agent: str | None = None
    session: str | None = None
    sources: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    mtime: datetime | None = None
    tokens: int = 0


class PassageRow(Struct, frozen=True):
    """A passage as the index knows it: offsets into the text of the page with `page` as its number."""

    id: int
    page: int
    ordinal: int
    heading: str
    start: int
    end: int


class PageFilter(Struct, frozen=True):
    """Which pages a search may see; applied inside every stream (law 9). None or empty means any.

    A page holds at `as_of` when it began before the end of that date and had not ended by then.
    `project` admits pages of that project and, with `with_global`, pages that belong to no project. `pinned` admits
    pinned pages only.
    """

    as_of: datetime
    project: str | None = None
    with_global: bool = True
    types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    agent: str | None = None
    session: str | None = None
    statuses: tuple[str, ...] = ("active",)
    any_time: bool = False
    pinned: bool = False


class Scored(Struct, frozen=True):
    """One entry of a stream's ranking, best first. `via` is the graph's path in words, for that stream only."""

    passage: int
    score: float
    via: str = ""


class Trace(Struct, frozen=True):
    """Why a hit stands where it stands: its rank (from 1) in each stream, what boosted it, the path that led to it."""

    ranks: dict[str, int] = field(default_factory=dict)
    parts: dict[str, float] = field(default_factory=dict)
    boosts: dict[str, float] = field(default_factory=dict)
    graph_path: str = ""
