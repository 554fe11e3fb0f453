"""Is what the index says still so? Every hit is read again before it is given (law 7).

A page that is gone is dropped. A page whose bytes changed since it was indexed is cut again: its passage stays when
the passage is still there, else the passage of the page that fits the query best takes its place, else the hit goes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from wikimem.index.prepare import expiry, project_of
from wikimem.model.hit import PageFilter, PageRow, PassageRow
from wikimem.model.page import TRUST_ORDER, Page
from wikimem.search.hits import Excerpt
from wikimem.search.query import Query
from wikimem.text.analysis import index_terms
from wikimem.text.passages import cut_passages

SURROUNDINGS: Final = 16_384
"""Characters before and after a passage that are looked at with it: several times the longest private key."""

WITHHELD: Final = "[masked]"
"""Stands for a line that can only be judged with its surroundings, and was part of a secret there."""


@dataclass(slots=True)
class PageReader:
    """Reads each page of one search at most once, and remembers which ones the index was wrong about."""

    read_page: Callable[[str], Page | None]
    mask: Callable[[str], str]
    where: PageFilter
    stale: set[str] = field(default_factory=set)
    _pages: dict[str, Page | None] = field(default_factory=dict)
    _masked: dict[tuple[str, int, int], str] = field(default_factory=dict)

    def read(self, row: PageRow) -> Page | None:
        """Give the page as it is on disk; None when it is gone or, having changed, may no longer be seen."""
        if row.path not in self._pages:
            self._pages[row.path] = self.read_page(row.path)
        page = self._pages[row.path]
        if page is None:
            self.stale.add(row.path)
            return None
        if page.revision == row.revision:
            return page
        self.stale.add(row.path)
        return page if admits(self.where, page, row) else None

    def excerpts(self, query: Query, row: PageRow, passages: Sequence[PassageRow]) -> tuple[Excerpt, ...]:
        """Give those passages, best first, as the page has them now; empty when the hit must be dropped."""
        page = self.read(row)
        if page is None:
            return ()
        if page.revision == row.revision:
            return tuple(self._excerpt(page, p.heading, p.start, p.end) for p in passages)
        cut = {passage.id: passage for passage in cut_passages(page)}
        kept = [cut[p.id] for p in passages if p.id in cut]
        if not kept and cut:
            asked = frozenset(query.terms)
            fit = {p.id: len(asked.intersection(index_terms(page.text[p.start : p.end]))) for p in cut.values()}
            best = max(cut.values(), key=lambda p: (fit[p.id], -p.ordinal))
            kept = [best] if fit[best.id] else []
        return tuple(self._excerpt(page, p.heading, p.start, p.end) for p in kept)

    def masked_slice(self, page: Page, start: int, end: int) -> str:
        """Mask `page.text[start:end]`, knowing what stands around it.

        The middle of a private key looks like nothing on its own. Where the surroundings hold a secret, only lines
        that are still there when they are masked as a whole are shown.
        """
        span = (max(start - SURROUNDINGS, 0), min(end + SURROUNDINGS, len(page.text)))
        if len(page.text) <= 4 * SURROUNDINGS:
            span = (0, len(page.text))
        around = page.text[slice(*span)]
        whole = self._masked.get((page.path, *span))
        if whole is None:
            whole = self._masked[page.path, *span] = self.mask(around)
        piece = page.text[start:end]
        if whole == around:
            return piece
        piece = self.mask(piece)
        if piece in whole:
            return piece
        shown = set(whole.splitlines())
        return "\n".join(line if line in shown else WITHHELD for line in piece.splitlines())

    def _excerpt(self, page: Page, heading: str, start: int, end: int) -> Excerpt:
        return Excerpt(self.masked_slice(page, start, end).strip(), self.mask(heading), start)


def row_of(page: Page, row: PageRow) -> PageRow:
    """Bring the index's row up to the page as it is now. Trust is never raised by an edit that was not indexed yet."""
    if page.revision == row.revision:
        return row
    meta = page.meta
    return replace(
        row,
        id=meta.id or row.id,
        title=page.title,
        type=meta.type,
        status=meta.status,
        revision=page.revision,
        trust=min(meta.trust, row.trust, key=_trust_rank),
        confidence=meta.confidence,
        valid_from=meta.valid_from,
        valid_to=meta.valid_to,
        session=meta.session,
        sources=meta.sources,
        project=meta.project or project_of(page.path),
        agent=meta.agent,
        tags=tuple(dict.fromkeys((*meta.tags, *page.tags))),
        aliases=meta.aliases,
        expires=expiry(meta),
    )


def admits(where: PageFilter, page: Page, row: PageRow) -> bool:
    """Judge a page that changed since it was indexed by the same filter that the streams applied to its row."""
    now = row_of(page, row)
    scope: Mapping[str, tuple[str | None, str | None]] = {
        "agent": (where.agent, now.agent),
        "session": (where.session, now.session),
    }
    if any(wanted is not None and wanted != has for wanted, has in scope.values()):
        return False
    if where.project is not None and not _in_project(where.project, now.project, with_global=where.with_global):
        return False
    if where.types and now.type not in where.types:
        return False
    if where.statuses and now.status not in where.statuses:
        return False
    if where.tags and not _has_tags(where.tags, now.tags):
        return False
    return where.any_time or holds(now, where.as_of)


def holds(row: PageRow, moment: datetime) -> bool:
    """Tell whether a page holds at a moment: begun before that day was over, and not ended by then.

    A period that ends before it begins holds nowhere.
    """
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    begun = row.valid_from is None or row.valid_from - day < timedelta(days=1)
    open_still = row.valid_to is None or moment < row.valid_to
    empty = row.valid_from is not None and row.valid_to is not None and row.valid_to <= row.valid_from
    return begun and open_still and not empty and (row.expires is None or moment < row.expires)


def _in_project(wanted: str, has: str | None, *, with_global: bool) -> bool:
    return with_global if has is None else has.casefold() == wanted.casefold()


def _has_tags(wanted: Sequence[str], has: Sequence[str]) -> bool:
    folded = {tag.casefold() for tag in has}
    return all(any(tag == own or own.startswith(f"{tag}/") for own in folded) for tag in map(str.casefold, wanted))


def _trust_rank(trust: str) -> int:
    return TRUST_ORDER.index(trust) if trust in TRUST_ORDER else 0
