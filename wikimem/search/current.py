"""Is what the index says still so? Every hit is read again before it is given (law 7).

A page that is gone is dropped. A page whose bytes changed since it was indexed is cut again: its passage stays when
the passage is still there, else the passage of the page that fits the query best takes its place, else the hit goes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from wikimem.index.rowfacts import expiry, project_of
from wikimem.model.hit import PageFilter, PageRow, PassageRow
from wikimem.model.page import TRUST_ORDER, Page, Passage
from wikimem.search.hits import Excerpt
from wikimem.search.query import Query
from wikimem.text.analysis import index_terms
from wikimem.text.ids import revision_of

SURROUNDINGS: Final = 16_384
"""Characters before and after a passage that are looked at with it: several times the longest private key."""

WITHHELD: Final = "[masked]"
"""Stands for a line that can only be judged with its surroundings, and was part of a secret there."""


UnchangedText = Callable[[str, str], str | None]
"""Give the text of the page at a path where its file still has that revision, as `unchanged_in` does."""


def parse_every_page(_path: str, _revision: str) -> str | None:
    """Takes no page to be unchanged."""
    return None


def unchanged_in(root: Path) -> UnchangedText:
    """Reads pages of the vault at `root` that are as they were indexed, of which nothing needs to be parsed anew.

    What holds the markers of a conflict is left to whoever reads a page whole, and so is what is not UTF-8.
    """

    def text_of(path: str, revision: str) -> str | None:
        try:
            data = (root / path).read_bytes()
            if revision_of(data) != revision or b"<<<<<<<" in data:
                return None
            return data.decode("utf-8").removeprefix("\ufeff")
        except (OSError, UnicodeDecodeError):
            return None

    return text_of


@dataclass(slots=True)
class PageReader:
    """Reads each page of one search at most once, and remembers which ones the index was wrong about.

    With `unchanged` only those pages are parsed that are not as they were indexed.
    """

    read_page: Callable[[str], Page | None]
    mask: Callable[[str], str]
    where: PageFilter
    unchanged: UnchangedText = parse_every_page
    stale: set[str] = field(default_factory=set)
    _pages: dict[str, Page | None] = field(default_factory=dict)
    _texts: dict[str, str | None] = field(default_factory=dict)
    _masked: dict[tuple[str, int, int], str] = field(default_factory=dict)

    def current(self, row: PageRow) -> PageRow | None:
        """The row brought up to the page as it is on disk; None where `read` gives none."""
        if self._unchanged_text(row) is not None:
            return row
        page = self.read(row)
        return row_of(page, row) if page is not None else None

    def _unchanged_text(self, row: PageRow) -> str | None:
        if row.path not in self._texts:
            self._texts[row.path] = self.unchanged(row.path, row.revision)
        return self._texts[row.path]

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
        text = self._unchanged_text(row)
        page = self.read(row) if text is None else None
        if page is not None and page.revision == row.revision:
            text = page.text
        if text is not None:
            return tuple(self._excerpt(row.path, text, p) for p in passages)
        if page is None:
            return ()
        # Most searches meet no page that changed.
        from wikimem.text.passages import cut_passages

        cut = {passage.id: passage for passage in cut_passages(page)}
        kept = [cut[p.id] for p in passages if p.id in cut]
        if not kept and cut:
            asked = frozenset(query.terms)
            fit = {p.id: len(asked.intersection(index_terms(page.text[p.start : p.end]))) for p in cut.values()}
            best = max(cut.values(), key=lambda p: (fit[p.id], -p.ordinal))
            kept = [best] if fit[best.id] else []
        return tuple(self._excerpt(page.path, page.text, p) for p in kept)

    def masked_slice(self, path: str, text: str, start: int, end: int) -> str:
        """Mask `text[start:end]` of the page at `path`, knowing what stands around it.

        The middle of a private key looks like nothing on its own. Where the surroundings hold a secret, only lines
        that are still there when they are masked as a whole are shown.
        """
        span = (max(start - SURROUNDINGS, 0), min(end + SURROUNDINGS, len(text)))
        if len(text) <= 4 * SURROUNDINGS:
            span = (0, len(text))
        around = text[slice(*span)]
        whole = self._masked.get((path, *span))
        if whole is None:
            whole = self._masked[path, *span] = self.mask(around)
        piece = text[start:end]
        if whole == around:
            return piece
        piece = self.mask(piece)
        if piece in whole:
            return piece
        shown = set(whole.splitlines())
        return "\n".join(line if line in shown else WITHHELD for line in piece.splitlines())

    def _excerpt(self, path: str, text: str, passage: Passage | PassageRow) -> Excerpt:
        shown = self.masked_slice(path, text, passage.start, passage.end).strip()
        return Excerpt(shown, self.mask(passage.heading), passage.start)


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
