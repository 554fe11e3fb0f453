"""Context: what an agent should know before it goes on, packed into a token budget as fenced, cited data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from wikimem.errors import Invalid
from wikimem.model.hit import PageFilter, PageRow, Trace
from wikimem.model.page import Page
from wikimem.search.boilerplate import own_excerpts
from wikimem.search.current import PageReader, row_of
from wikimem.search.hits import Excerpt, Hit, hit_of
from wikimem.search.packing import ContextPack, Offer, Reason, pack
from wikimem.search.query import fold
from wikimem.search.streams import STREAM_NAMES
from wikimem.text.passages import cut_passages
from wikimem.text.synonyms import Table
from wikimem.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from wikimem.index.index import Index
    from wikimem.search.search import SearchOutcome
    from wikimem.search.streams import EdgeWalks

DEFAULT_BUDGET: Final = 2000
"""Tokens (design section 6)."""

MOST_HITS: Final = 30
"""Pages asked of the search; a larger budget than they fill is left unused rather than filled with weak hits."""
MOST_OF_A_FILE: Final = 5
"""Pages that get in for naming one of the files."""

WHOLE_PAGE_TOKENS: Final = 300
"""A page up to this size goes in whole, where that is at most a fifth of the budget: about two passages' worth."""
WHOLE_PAGE_SHARE: Final = 0.2

LEADING_PASSAGES: Final = 3
"""A pinned page that is too long to go in whole is shown by its beginning."""


@dataclass(slots=True)
class Gathering:
    """What one call reads with: every page is read once, and offered once."""

    index: Index
    where: PageFilter
    now: datetime
    budget: int
    reader: PageReader
    edges: EdgeWalks | None = None
    synonyms: Table | None = None
    pages: dict[str, Page | None] = field(default_factory=dict)
    offered: set[str] = field(default_factory=set)

    def read_page(self, path: str) -> Page | None:
        if path not in self.pages:
            self.pages[path] = self.reader.read_page(path)
        return self.pages[path]

    def search(self, text: str, limit: int, streams: Sequence[str]) -> SearchOutcome:
        # What is given at a session's start is not searched for, and a hook waits for every import.
        from wikimem.search.search import search

        return search(
            self.index,
            text,
            self.where,
            now=self.now,
            read_page=self.read_page,
            mask=self.reader.mask,
            limit=limit,
            streams=streams,
            edges=self.edges,
            synonyms=self.synonyms,
        )

    def whole(self, path: str) -> str | None:
        """Give the page's body where it is small enough to be worth giving whole."""
        page = self.read_page(path)
        if page is None:
            return None
        body = self.reader.masked_slice(page.path, page.text, page.body_start, len(page.text)).strip()
        return body if estimate_tokens(body) <= min(WHOLE_PAGE_TOKENS, self.budget * WHOLE_PAGE_SHARE) else None


def pack_context(
    index: Index,
    query_text: str,
    where: PageFilter,
    *,
    now: datetime,
    read_page: Callable[[str], Page | None],
    mask: Callable[[str], str],
    budget: int = DEFAULT_BUDGET,
    files: Sequence[str] = (),
    streams: Sequence[str] = STREAM_NAMES,
    edges: EdgeWalks | None = None,
    synonyms: Table | None = None,
) -> ContextPack:
    """Pack pinned pages of the project, pages that name the files, and what answers the query, in that order.

    `where` is the filter of the search and holds for pinned and file pages too. Raises Invalid for a budget below
    one token, and where there is neither a query nor a file.
    """
    if budget < 1:
        raise Invalid(f"the budget is {budget} tokens, and must be at least 1")
    if not query_text.strip() and not files:
        raise Invalid("neither a query nor a file was given", hint="Say what the context is for.")
    gathering = Gathering(index, where, now, budget, PageReader(read_page, mask, where), edges, synonyms)
    offers = [*pinned_pages(gathering), *pages_naming(gathering, files)]
    from wikimem.search.search import SearchOutcome

    outcome = SearchOutcome((), {})
    if query_text.strip():
        outcome = gathering.search(query_text, MOST_HITS, streams)
        offers.extend(found_pages(gathering, outcome.hits))
    packed = pack(offers, budget, index.counts().tokens)
    stale = len(gathering.reader.stale) + outcome.stale
    return replace(packed, answered=outcome.answered, stale=stale)


def pinned_pages(gathering: Gathering) -> Iterator[Offer]:
    """Offer the pinned pages of the project at hand, and of none."""
    scopes = (gathering.where.project, None)
    rows = [row for row in gathering.index.list_pages(replace(gathering.where, pinned=True)) if row.project in scopes]
    rows.sort(key=lambda row: (row.project is None, -(row.importance or 0.0), row.path))
    yield from listed_pages(gathering, rows, "pinned")


def listed_pages(
    gathering: Gathering, rows: Iterable[PageRow], reason: Reason, *, section: str = ""
) -> Iterator[Offer]:
    """Offer pages in the order given, by their first passages, of that section where there is one; none twice."""
    for row in rows:
        page = gathering.reader.read(row) if row.path not in gathering.offered else None
        if page is None:
            continue
        passages = cut_passages(page)
        named = [passage for passage in passages if section and section in passage.heading.split(" > ")]
        leading = (named or passages)[:LEADING_PASSAGES]
        excerpts = tuple(
            Excerpt(gathering.reader.masked_slice(page.path, page.text, p.start, p.end).strip(), p.heading, p.start)
            for p in leading
        )
        if not excerpts:
            continue
        gathering.offered.add(row.path)
        hit = hit_of(row_of(page, row), excerpts, Trace(), 0.0, gathering.reader.mask)
        yield Offer(hit, reason, excerpts, None if named else gathering.whole(row.path))


def pages_naming(gathering: Gathering, files: Sequence[str]) -> Iterator[Offer]:
    """Offer pages that name one of the files; those that name its whole path come first."""
    for file in files:
        path = file.replace("\\", "/").strip()
        name = path.rsplit("/", 1)[-1]
        if not name:
            continue
        naming = []
        for hit in gathering.search(path, MOST_HITS, ("words",)).hits:
            page = gathering.read_page(hit.path)
            text = fold(page.text) if page is not None else ""
            if fold(name) in text and hit.path not in gathering.offered:
                naming.append((fold(path) not in text, hit))
        naming.sort(key=lambda entry: entry[0])
        for _, hit in naming[:MOST_OF_A_FILE]:
            gathering.offered.add(hit.path)
            found = (Excerpt(hit.passage, hit.heading, hit.start), *hit.more)
            excerpts = tuple(sorted(found, key=lambda excerpt: fold(name) not in fold(excerpt.text)))
            yield Offer(hit, "file", excerpts, gathering.whole(hit.path))


def found_pages(gathering: Gathering, hits: Sequence[Hit]) -> Iterator[Offer]:
    """Offer what a search found, less what was offered before."""
    for hit in hits:
        if hit.path not in gathering.offered:
            gathering.offered.add(hit.path)
            found = (Excerpt(hit.passage, hit.heading, hit.start), *hit.more)
            excerpts = own_excerpts(hit.path, found)
            if excerpts:
                yield Offer(hit, "search", excerpts, gathering.whole(hit.path) if excerpts == found else None)
