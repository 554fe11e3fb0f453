"""list: the pages of the vault, by type, project, status, tag or age."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Literal

from wikimem.model.results import ListResult
from wikimem.operations.answering import notes_of, offset_of, page_summary
from wikimem.operations.registry import Arg, operation
from wikimem.operations.search import StatusFilter
from wikimem.text.dates import parse_date

if TYPE_CHECKING:
    from wikimem.wiki import Wiki

Sort = Literal["changed", "created", "title", "path"]


@operation(
    "read",
    idempotent=True,
    examples=("wikimem list --type decision", "wikimem list --since 'last week' --sort changed"),
)
def list_(
    wiki: Wiki,
    type: Annotated[str | None, Arg("Only pages of this type.")] = None,
    project: Annotated[str | None, Arg("Only pages of this project.")] = None,
    status: Annotated[StatusFilter, Arg("Only pages of this status.")] = "any",
    tag: Annotated[list[str], Arg("Only pages with this tag; repeat for several.")] = [],  # noqa: B006
    since: Annotated[str | None, Arg("Only pages changed on disk since this date.")] = None,
    sort: Annotated[Sort, Arg("The order: newest first for dates.")] = "path",
    limit: Annotated[int, Arg("Most pages to return.", ge=1, le=1000)] = 50,
    cursor: Annotated[str | None, Arg("Go on after an earlier answer: its `next`.")] = None,
) -> ListResult:
    """List pages. Unlike search, this shows every status and every age unless told otherwise."""
    from wikimem.search.filters import make_filter

    refreshed = wiki.refresh()
    where = make_filter(
        now=wiki.clock(),
        status=status,
        project=project or wiki.caller.project,
        with_global=False,
        types=(type,) if type else (),
        tags=tag,
    )
    rows = wiki.index.list_pages(where)
    if since is not None:
        start = parse_date(since, wiki.clock(), "since").start
        rows = [row for row in rows if row.mtime is not None and row.mtime >= start]
    if sort in ("changed", "created"):
        rows.sort(key=lambda row: row.path)
        rows.sort(key=lambda row: (row.mtime if sort == "changed" else row.created) or datetime.min, reverse=True)
    else:
        rows.sort(key=lambda row: (row.title.casefold(), row.path) if sort == "title" else (row.path, ""))
    start_at = offset_of(cursor)
    shown = rows[start_at : start_at + limit]
    return ListResult(
        pages=tuple(page_summary(wiki, row) for row in shown),
        next=str(start_at + limit) if start_at + limit < len(rows) else None,
        total=len(rows),
        notes=notes_of(wiki, refreshed),
    )
