"""What `sessions`, `observe` and `files` return. Dates are ISO 8601 texts, local time where the session was."""

from __future__ import annotations

from dataclasses import dataclass

from wikimem.model.results import PageRef


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session: its name, its pages (`path` is the last part), what came of it. `ended` is None while it is open."""

    session: str
    title: str
    agent: str | None
    project: str | None
    started: str | None
    ended: str | None
    observations: int
    parts: int
    outcome: str
    path: str


@dataclass(frozen=True, slots=True)
class SessionsResult:
    """Sessions, the latest first; `waiting` counts captured events that are not on a page yet."""

    sessions: tuple[SessionSummary, ...]
    total: int
    waiting: int
    project: str | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ObserveResult:
    """The observation that was kept: its block id, its session, the page where it is on one already."""

    observation: str
    session: str
    path: str | None
    commit: str | None
    redacted: dict[str, int]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileMention:
    """What a session did to a file: a line of its page, and the address of that line."""

    time: str
    text: str
    source: str


@dataclass(frozen=True, slots=True)
class FileSession:
    """A session that named a file, with the lines that do."""

    session: str
    title: str
    agent: str | None
    started: str | None
    path: str
    mentions: tuple[FileMention, ...]


@dataclass(frozen=True, slots=True)
class FileFix:
    """An error that was gone after a change of the file, and the observations that say so."""

    text: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CoEdited:
    """A file that was changed in the same sessions, and in how many."""

    path: str
    sessions: int


@dataclass(frozen=True, slots=True)
class FileKnowledge:
    """What is known of one file. `pages` are those that are neither decisions, errors nor sessions."""

    file: str
    decisions: tuple[PageRef, ...]
    errors: tuple[PageRef, ...]
    fixes: tuple[FileFix, ...]
    sessions: tuple[FileSession, ...]
    coedited: tuple[CoEdited, ...]
    pages: tuple[PageRef, ...]


@dataclass(frozen=True, slots=True)
class FilesResult:
    """What is known of each file that was asked about, in the order of the question."""

    files: tuple[FileKnowledge, ...]
    project: str | None
    notes: tuple[str, ...]
