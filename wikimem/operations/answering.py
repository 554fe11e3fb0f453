"""Parts that several operations' results share. Dates are ISO 8601 texts."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from wikimem.errors import Invalid
from wikimem.model.hit import PageRow
from wikimem.model.results import PageRef, PageSummary, SessionCommit

if TYPE_CHECKING:
    from wikimem.memory.sessions.commits import Commit
    from wikimem.memory.sessions.listing import Session
    from wikimem.refresh import Refreshed
    from wikimem.wiki import Wiki


def page_ref(wiki: Wiki, row: PageRow) -> PageRef:
    return PageRef(row.id, row.path, wiki.redactor.mask(row.title), row.type)


def page_summary(wiki: Wiki, row: PageRow) -> PageSummary:
    return PageSummary(
        id=row.id,
        path=row.path,
        title=wiki.redactor.mask(row.title),
        type=row.type,
        status=row.status,
        project=row.project,
        tags=row.tags,
        confidence=row.confidence,
        trust=row.trust,
        pinned=row.pinned,
        created=date_text(row.created),
        changed=date_text(row.mtime),
        valid_from=date_text(row.valid_from),
        valid_to=date_text(row.valid_to),
    )


def session_commit(wiki: Wiki, session: Session, commit: Commit, block: str) -> SessionCommit:
    """A commit of the code base that a session made, and the line of its page that says so."""
    return SessionCommit(
        commit=commit.hash,
        time=commit.when.isoformat(timespec="seconds"),
        kind=commit.label,
        subject=wiki.redactor.mask(commit.subject),
        source=session.address(block),
    )


def date_text(moment: datetime | None) -> str | None:
    """A day where the moment is midnight, which is how a date without a time is read; else date and time."""
    if moment is None:
        return None
    if (moment.hour, moment.minute, moment.second, moment.microsecond) == (0, 0, 0, 0):
        return moment.date().isoformat()
    return moment.isoformat(timespec="seconds")


@contextlib.contextmanager
def vault_state(wiki: Wiki, at: str | None) -> Iterator[tuple[Wiki, datetime]]:
    """The vault at the revision or date `at`, with the moment that is now there; without `at` the vault as it is.

    A past state is checked out and has to be indexed, in folders that are gone afterwards.
    """
    if at is None:
        yield wiki, wiki.clock()
        return
    from wikimem.operations.read import commit_at
    from wikimem.search.pastvault import vault_at

    commit = commit_at(wiki, at)
    moment = wiki.repository.time_of(commit)
    with vault_at(wiki, commit) as past:
        past.notes.append(f"as the vault was at {commit[:10].decode()} of {moment:%Y-%m-%d %H:%M}")
        yield past, moment


def notes_of(wiki: Wiki, refreshed: Refreshed | None = None) -> tuple[str, ...]:
    """What the caller should be told besides the result: repairs, rebuilds, why the index lags."""
    notes = list(dict.fromkeys(wiki.notes))
    if refreshed is not None and refreshed.why:
        notes.append(f"{refreshed.behind} pages are not in the index: {refreshed.why}")
    wiki.notes.clear()
    return tuple(wiki.redactor.mask(note) for note in notes)


def offset_of(cursor: str | None) -> int:
    """The place that a cursor stands for. Raises Invalid for one that wikimem did not give."""
    if cursor is None:
        return 0
    if not cursor.isascii() or not cursor.isdigit() or len(cursor) > 9:
        raise Invalid(f"cursor: '{cursor[:40]}' is not one that wikimem gave", hint="Pass `next` or `cursor` as given.")
    return int(cursor)


def search_scope(wiki: Wiki, project: str | None) -> tuple[str | None, bool]:
    """The project that a search is scoped to, and whether the caller named it.

    Unnamed, the working directory's project counts where the vault knows it: a search from an unknown repository
    must not find nothing.
    """
    named = project or wiki.caller.project
    if named:
        return named, True
    detected = wiki.project
    if detected is not None and detected in wiki.index.projects():
        return detected, False
    return None, False
