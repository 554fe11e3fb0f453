"""log: who changed what, when and on whose behalf."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from wikimem.errors import NotFound
from wikimem.model.results import LogEntry, LogResult
from wikimem.operations.answering import notes_of, session_commit
from wikimem.operations.registry import Arg, operation
from wikimem.text.dates import parse_date

if TYPE_CHECKING:
    from wikimem.memory.sessions.listing import Session
    from wikimem.wiki import Wiki


@operation(
    "read",
    idempotent=True,
    examples=(
        "wikimem log",
        "wikimem log --page Deploy",
        "wikimem log --agent codex --since yesterday",
        "wikimem log --commit a1b2c3d",
    ),
)
def log(
    wiki: Wiki,
    page: Annotated[str | None, Arg("Only commits that touched this page, followed through renames.", raw=True)] = None,
    agent: Annotated[str | None, Arg("Only commits on behalf of this agent.")] = None,
    session: Annotated[str | None, Arg("Only commits of this session.")] = None,
    commit: Annotated[str | None, Arg("Only the session that made this commit of the code base.", raw=True)] = None,
    op: Annotated[str | None, Arg("Only commits of this operation, such as remember or edit.")] = None,
    since: Annotated[str | None, Arg("Only commits since this date.")] = None,
    until: Annotated[str | None, Arg("Only commits until the end of this date.")] = None,
    limit: Annotated[int, Arg("Most entries to return.", ge=1, le=1000)] = 20,
) -> LogResult:
    """Tell the history of the vault or of one page, newest first; of one session also what it committed to its code.

    Raises NotFound where no session made the commit that is named.
    """
    from wikimem.vault.history import HistoryQuery, read_history

    now = wiki.clock()
    path, own_id = _path_of(wiki, page) if page else (None, None)
    sessions = _sessions(wiki, session, commit) if session or commit else []
    if commit:
        session = sessions[0].name
        # A page whose owner took its session's name away has a history all the same.
        path = path or (None if session else sessions[0].parts[-1].page.path)
    entries = read_history(
        wiki.root,
        HistoryQuery(
            path=path,
            page_id=own_id,
            agent=agent,
            session=session,
            op=op,
            since=parse_date(since, now, "since").start if since else None,
            until=parse_date(until, now, "until").end if until else None,
            limit=limit,
        ),
    )
    mask = wiki.redactor.mask
    return LogResult(
        entries=tuple(
            LogEntry(
                commit=entry.commit,
                time=entry.time.isoformat(timespec="seconds"),
                op=next(iter(entry.trailers.get("Wikimem-Op", ())), None),
                agent=next(iter(entry.trailers.get("Wikimem-Agent", ())), None),
                session=next(iter(entry.trailers.get("Wikimem-Session", ())), None),
                author=entry.author,
                subject=mask(entry.subject),
                pages=entry.pages,
            )
            for entry in entries
        ),
        notes=notes_of(wiki),
        made=tuple(session_commit(wiki, one, each, block) for one in sessions for each, block in reversed(one.commits)),
    )


def _sessions(wiki: Wiki, session: str | None, commit: str | None) -> list[Session]:
    """The session that is meant: by its name, or by a commit that it made. No more than one."""
    from wikimem.memory.sessions.listing import list_sessions, read_sessions, that_made
    from wikimem.model.hit import PageFilter

    wiki.refresh()
    where = PageFilter(as_of=wiki.clock(), session=session, types=("session",), statuses=(), any_time=True)
    found = list_sessions(wiki, where, None)
    if commit:
        found = that_made(wiki, found, commit)
        if not found:
            raise NotFound(
                f"no session is known to have made the commit '{commit.strip()}'",
                hint="`wikimem sessions` lists sessions with their commits. What no hook saw is not known.",
            )
    return read_sessions(wiki, found[:1])


def _path_of(wiki: Wiki, page: str) -> tuple[str, str | None]:
    """Where git has the page, and the id in its frontmatter; a path that is no page any more still has a history."""
    from wikimem.vault.renames import committed_path

    wiki.refresh()
    try:
        path = wiki.find(page).path
    except NotFound:
        if "/" in page or page.endswith(".md"):
            return page, None
        raise
    found = wiki.read_page(path)
    own_id = found.meta.id if found else None
    return committed_path(wiki.root, path) or path, own_id
