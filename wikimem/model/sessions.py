"""What `sessions`, `observe` and `files` return. Dates are ISO 8601 texts, local time where the session was."""

from __future__ import annotations

from msgspec import Struct

from wikimem.model.results import PageRef, SessionCommit


class SessionSummary(Struct, frozen=True):
    """A session: its name, its pages (`path` is the last part), what came of it. `ended` is None while it is open.

    `commits` are those that stand, without what was amended or rebased since.
    """

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
    commits: tuple[SessionCommit, ...] = ()


class SessionsResult(Struct, frozen=True):
    """Sessions, the latest first; `waiting` counts captured events that are not on a page yet."""

    sessions: tuple[SessionSummary, ...]
    total: int
    waiting: int
    project: str | None
    notes: tuple[str, ...]


class ObserveResult(Struct, frozen=True):
    """The observation that was kept: its block id, its session, the page where it is on one already."""

    observation: str
    session: str
    path: str | None
    commit: str | None
    redacted: dict[str, int]
    notes: tuple[str, ...]


class FileMention(Struct, frozen=True):
    """What a session did to a file: a line of its page, and the address of that line."""

    time: str
    text: str
    source: str


class FileSession(Struct, frozen=True):
    """A session that named a file, with the lines that do, and its commits that changed it."""

    session: str
    title: str
    agent: str | None
    started: str | None
    path: str
    mentions: tuple[FileMention, ...]
    commits: tuple[SessionCommit, ...] = ()


class FileFix(Struct, frozen=True):
    """An error that was gone after a change of the file, and the observations that say so."""

    text: str
    sources: tuple[str, ...]


class CoEdited(Struct, frozen=True):
    """A file that was changed in the same sessions, and in how many."""

    path: str
    sessions: int


class FileKnowledge(Struct, frozen=True):
    """What is known of one file. `pages` are those that are neither decisions, errors nor sessions."""

    file: str
    decisions: tuple[PageRef, ...]
    errors: tuple[PageRef, ...]
    fixes: tuple[FileFix, ...]
    sessions: tuple[FileSession, ...]
    coedited: tuple[CoEdited, ...]
    pages: tuple[PageRef, ...]


class FilesResult(Struct, frozen=True):
    """What is known of each file that was asked about, in the order of the question."""

    files: tuple[FileKnowledge, ...]
    project: str | None
    notes: tuple[str, ...]
