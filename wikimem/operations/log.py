"""log: who changed what, when and on whose behalf."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from wikimem.errors import NotFound
from wikimem.model.results import LogEntry, LogResult
from wikimem.operations.answering import notes_of
from wikimem.operations.registry import Arg, operation
from wikimem.text.dates import parse_date

if TYPE_CHECKING:
    from wikimem.wiki import Wiki


@operation(
    "read",
    idempotent=True,
    examples=("wikimem log", "wikimem log --page Deploy", "wikimem log --agent codex --since yesterday"),
)
def log(
    wiki: Wiki,
    page: Annotated[str | None, Arg("Only commits that touched this page, followed through renames.", raw=True)] = None,
    agent: Annotated[str | None, Arg("Only commits on behalf of this agent.")] = None,
    session: Annotated[str | None, Arg("Only commits of this session.")] = None,
    op: Annotated[str | None, Arg("Only commits of this operation, such as remember or edit.")] = None,
    since: Annotated[str | None, Arg("Only commits since this date.")] = None,
    until: Annotated[str | None, Arg("Only commits until the end of this date.")] = None,
    limit: Annotated[int, Arg("Most entries to return.", ge=1, le=1000)] = 20,
) -> LogResult:
    """Tell the history of the vault or of one page, newest first."""
    from wikimem.vault.history import HistoryQuery, read_history

    now = wiki.clock()
    path, own_id = _path_of(wiki, page) if page else (None, None)
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
    )


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
