"""forget: take a page out of the vault."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from wikimem.errors import Invalid, NotFound
from wikimem.model.results import ForgetResult
from wikimem.operations.answering import notes_of, page_ref, search_scope
from wikimem.operations.registry import Arg, operation

if TYPE_CHECKING:
    from wikimem.model.hit import PageRow
    from wikimem.wiki import Wiki

MOST_BY_QUERY = 20
"""Pages that one query may take out at once."""


@operation(
    "destroy",
    examples=(
        "wikimem forget 5C1R6W0N --reason 'was wrong from the start'",
        "wikimem forget --query 'staging database password' --dry-run",
    ),
)
def forget(
    wiki: Wiki,
    page: Annotated[
        str | None, Arg("The page: id, end of its id, path, title, alias or [[wikilink]].", positional=True, raw=True)
    ] = None,
    query: Annotated[
        str | None, Arg("Forget the pages that hold every one of these words.", only="cli", raw=True)
    ] = None,
    reason: Annotated[str | None, Arg("Why; it goes into the commit message.")] = None,
    dry_run: Annotated[bool, Arg("Only say what would be forgotten.")] = False,
) -> ForgetResult:
    """Forget a page: remove it, in one commit. Git keeps its history, and can bring it back."""
    from wikimem.memory.forget import check_forgettable, inbound_links
    from wikimem.memory.forget import forget as run

    if (page is None) == (query is None):
        raise Invalid("forget takes a page or a query", hint="For example `wikimem forget 5C1R6W0N`.")
    refreshed = wiki.refresh()
    rows = [wiki.find(page)] if page is not None else _matching(wiki, query or "")
    check_forgettable(wiki, rows)
    if dry_run:
        commit, inbound = None, inbound_links(wiki, rows)
    else:
        done = run(wiki, rows, reason)
        commit, inbound = done.commit, done.inbound
    return ForgetResult(
        pages=tuple(page_ref(wiki, row) for row in rows),
        commit=commit,
        dry_run=dry_run,
        links_in=inbound,
        notes=notes_of(wiki, refreshed),
    )


def _matching(wiki: Wiki, query: str) -> list[PageRow]:
    """Pages that hold all the words: a ranking would also take what is merely alike."""
    from wikimem.search.filters import ANY, make_filter

    words = [word.casefold() for word in query.split()]
    if not words:
        raise Invalid("query: there is nothing to look for", hint="Give the words that the pages hold.")
    scope, _ = search_scope(wiki, None)
    where = make_filter(now=wiki.clock(), status=ANY, project=scope)
    rows = []
    for row in wiki.index.list_pages(where):
        page = wiki.read_page(row.path)
        if page is not None and all(word in f"{page.title}\n{page.text}".casefold() for word in words):
            rows.append(row)
    if not rows:
        raise NotFound(f"no page holds all of '{query}'", hint="See `wikimem search` for what is near.")
    if len(rows) > MOST_BY_QUERY:
        raise Invalid(
            f"{len(rows)} pages hold all of '{query}', more than {MOST_BY_QUERY}", hint="Add words, or forget by id."
        )
    return rows
