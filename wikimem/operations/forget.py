"""forget: take a page out of the vault."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from msgspec.structs import astuple

from wikimem.errors import Invalid, NotFound
from wikimem.model.results import ForgetResult, Removed
from wikimem.operations.answering import notes_of, page_ref, search_scope
from wikimem.operations.registry import Arg, operation

if TYPE_CHECKING:
    from wikimem.model.hit import PageRow
    from wikimem.model.page import Page
    from wikimem.wiki import Wiki

MOST_BY_QUERY = 20
"""Pages that one query may take out at once."""


@operation(
    "destroy",
    examples=(
        "wikimem forget 5C1R6W0N --reason 'was wrong from the start'",
        "wikimem forget 'Old deploy notes' --unlink",
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
    unlink: Annotated[bool, Arg("Replace links to it by their text, in the same commit.")] = False,
    dry_run: Annotated[bool, Arg("Only say what would be forgotten.")] = False,
) -> ForgetResult:
    """Forget a page: remove it, in one commit. Git keeps its history, and can bring it back.

    Links to it stay as they are written and are reported, unless unlink replaces them by their text. What every part
    of the index held of the page is counted, and the index is looked through afterwards.
    """
    from wikimem.memory.forget import check_forgettable, plan_forget
    from wikimem.memory.forget import forget as run

    if (page is None) == (query is None):
        raise Invalid("forget takes a page or a query", hint="For example `wikimem forget 5C1R6W0N`.")
    refreshed = wiki.refresh()
    rows = [wiki.find(page)] if page is not None else _matching(wiki, query or "")
    check_forgettable(wiki, rows)
    done = plan_forget(wiki, rows) if dry_run else run(wiki, rows, reason, unlink=unlink)
    return ForgetResult(
        pages=tuple(page_ref(wiki, row) for row in rows),
        commit=done.commit,
        dry_run=dry_run,
        links_in=done.inbound,
        removed=None if done.removed is None else Removed(*astuple(done.removed)),
        unlinked=done.unlinked,
        notes=notes_of(wiki, refreshed),
    )


def _matching(wiki: Wiki, query: str) -> list[PageRow]:
    """Pages that hold all the words: a ranking would also take what is merely alike."""
    from wikimem.search.filters import ANY, make_filter

    words = [_whole_word(word) for word in query.casefold().split()]
    if not words:
        raise Invalid("query: there is nothing to look for", hint="Give the words that the pages hold.")
    scope, _ = search_scope(wiki, None)
    where = make_filter(now=wiki.clock(), status=ANY, project=scope)
    rows = []
    for row in wiki.index.list_pages(where):
        page = wiki.read_page(row.path)
        if page is not None and _holds(page, words):
            rows.append(row)
    if not rows:
        raise NotFound(f"no page holds all of '{query}'", hint="See `wikimem search` for what is near.")
    if len(rows) > MOST_BY_QUERY:
        raise Invalid(
            f"{len(rows)} pages hold all of '{query}', more than {MOST_BY_QUERY}", hint="Add words, or forget by id."
        )
    return rows


def _holds(page: Page, words: Sequence[re.Pattern[str]]) -> bool:
    text = f"{page.title}\n{page.text}".casefold()
    return all(word.search(text) for word in words)


def _whole_word(word: str) -> re.Pattern[str]:
    """The word with no letter or digit beside it; scripts without spaces have no such edge, and match anywhere."""
    before = r"(?<!\w)" if word[0].isascii() else ""
    after = r"(?!\w)" if word[-1].isascii() else ""
    return re.compile(before + re.escape(word) + after)
