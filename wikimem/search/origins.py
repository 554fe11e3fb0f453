"""Which sessions a page comes from: its own, and those whose session pages it cites."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wikimem.model.hit import PageRow
from wikimem.text.links import parse_wikilink

if TYPE_CHECKING:
    from wikimem.index.index import Index


@dataclass(slots=True)
class Origins:
    """Finds the origins of the pages of one search; each citation is looked up once."""

    index: Index
    _cited: dict[str, frozenset[str]] = field(default_factory=dict)

    def of(self, row: PageRow, *, by_page: bool) -> frozenset[str]:
        """Give a page's origins as opaque keys. With `by_page` the page is an origin too: its passages share it."""
        keys = {f"page {row.path}"} if by_page else set()
        keys |= _session_keys(row)
        for source in row.sources:
            keys |= self._of_citation(source)
        return frozenset(keys)

    def _of_citation(self, source: str) -> frozenset[str]:
        link = parse_wikilink(source) if source.startswith("[[") else None
        if link is None:
            return frozenset()
        known = self._cited.get(link.target)
        if known is None:
            pages = self.index.find_pages(link.target)
            known = frozenset(key for page in pages if page.type == "session" for key in _session_keys(page))
            self._cited[link.target] = known
        return known


def _session_keys(row: PageRow) -> frozenset[str]:
    """A session page without a session key is its own session."""
    if row.session is not None:
        return frozenset({f"session {row.session}"})
    return frozenset({f"session page {row.path}"}) if row.type == "session" else frozenset()
