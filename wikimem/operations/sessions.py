"""sessions: the runs of agents that the vault remembers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from wikimem.model.sessions import SessionsResult, SessionSummary
from wikimem.operations.answering import date_text, notes_of, session_commit
from wikimem.operations.registry import Arg, operation
from wikimem.text.dates import parse_date

if TYPE_CHECKING:
    from wikimem.memory.sessions.listing import Session
    from wikimem.wiki import Wiki


@operation(
    "read",
    idempotent=True,
    examples=(
        "wikimem sessions",
        "wikimem sessions --agent codex --since 'last week'",
        "wikimem sessions --commit a1b2c3d",
    ),
)
def sessions(
    wiki: Wiki,
    project: Annotated[str | None, Arg("Only sessions of this project.")] = None,
    agent: Annotated[str | None, Arg("Only sessions of this agent.")] = None,
    since: Annotated[str | None, Arg("Only sessions since this date.")] = None,
    commit: Annotated[str | None, Arg("Only the session that made this commit of the code base.", raw=True)] = None,
    limit: Annotated[int, Arg("Most sessions to return.", ge=1, le=1000)] = 20,
) -> SessionsResult:
    """List the sessions of agents, the latest first, with what came of them."""
    from wikimem.memory.sessions.drain import spool_of
    from wikimem.memory.sessions.listing import list_sessions, read_sessions, that_made
    from wikimem.model.hit import PageFilter

    refreshed = wiki.refresh()
    scope = project or wiki.caller.project
    where = PageFilter(
        as_of=wiki.clock(),
        project=scope,
        with_global=False,
        types=("session",),
        agent=agent,
        statuses=(),
        any_time=True,
    )
    start = parse_date(since, wiki.clock(), "since").start if since is not None else None
    found = list_sessions(wiki, where, start)
    if commit is not None:
        found = that_made(wiki, found, commit)
    return SessionsResult(
        sessions=tuple(_summary(wiki, session) for session in read_sessions(wiki, found[:limit])),
        total=len(found),
        waiting=len(spool_of(wiki).names()),
        project=scope,
        notes=notes_of(wiki, refreshed),
    )


def _summary(wiki: Wiki, session: Session) -> SessionSummary:
    first, last = session.parts[0].page, session.parts[-1].page
    mask = wiki.redactor.mask
    return SessionSummary(
        session=session.name,
        title=mask(first.title),
        agent=first.meta.agent,
        project=first.meta.project,
        started=date_text(session.started),
        ended=date_text(session.ended),
        observations=len(session.seen),
        parts=len(session.parts),
        outcome=mask(session.outcome),
        path=last.path,
        commits=tuple(session_commit(wiki, session, each, block) for each, block in session.commits),
    )
