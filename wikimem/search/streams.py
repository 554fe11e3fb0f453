"""The three ways in which passages are found: by their words, by their meaning, by the links between pages.

A stream ranks passages and knows nothing of the others. The graph starts from what the others found, so it is
built with their rankings in hand: it cannot be asked before they have answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from msgspec import Struct

from wikimem.index.parts import Allowed, Missing
from wikimem.model.hit import Scored
from wikimem.search.query import Query

if TYPE_CHECKING:
    from wikimem.index.index import Index

STREAM_NAMES: Final[tuple[str, ...]] = ("words", "vectors", "graph")
"""In the order in which they are asked."""

NAMED_DEPTH: Final = 2
"""How many links the graph follows from a page that the query names."""
SEED_PASSAGES: Final = 5
"""How many of the other streams' best passages the graph starts from, besides what the query names."""
SEED_DEPTH: Final = 1
SEED_WEIGHT: Final = 0.5
"""What is merely near a good passage is worth half of what is near a page that was named."""

_SEED_RANK_CONSTANT: Final = 60


class Stream(Protocol):
    """One way to find passages. `allowed` holds the pages that the search may see: the stream looks at no others."""

    @property
    def name(self) -> str: ...

    def unavailable(self, query: Query) -> str | None:
        """Say in a few words why this stream cannot answer this query; None when it can."""

    def retrieve(self, query: Query, allowed: Allowed, limit: int) -> list[Scored]:
        """Rank at most `limit` passages, best first, equal scores by passage id."""


class EdgeWalks(Protocol):
    """What is asserted beyond the links of pages; each walk gives (page, score, way in words)."""

    def from_question(
        self, question: str, pages: Mapping[int, float], allowed: Allowed
    ) -> list[tuple[int, float, str]]:
        """Walk from what a question names; `pages` (number -> weight) are those that it names."""
        ...

    def from_pages(self, pages: Mapping[int, float], allowed: Allowed) -> list[tuple[int, float, str]]:
        """Walk from pages (number -> weight), which are not found again."""
        ...


class WordsStream(Struct, frozen=True):
    """BM25 over the query's terms: any of them, never all required."""

    index: Index
    name: str = "words"

    def unavailable(self, query: Query) -> str | None:  # noqa: ARG002 - the protocol's; this stream always can
        return None

    def retrieve(self, query: Query, allowed: Allowed, limit: int) -> list[Scored]:
        if not query.terms:
            return []
        return _ranked(Scored(*found) for found in self.index.words.search(query.terms, limit, allowed))


class VectorsStream(Struct, frozen=True):
    """Cosine between the query and each passage; those below `floor` are left out."""

    index: Index
    floor: float = -1.0
    name: str = "vectors"

    def unavailable(self, query: Query) -> str | None:
        vectors = self.index.vectors
        return vectors.reason if isinstance(vectors, Missing) else vectors.left_out(query.text) or None

    def retrieve(self, query: Query, allowed: Allowed, limit: int) -> list[Scored]:
        vectors = self.index.vectors
        if isinstance(vectors, Missing):
            return []
        found = vectors.search(query.text, limit, allowed)
        return _ranked(Scored(*entry) for entry in found if entry[1] >= self.floor)


class GraphStream(Struct, frozen=True):
    """Walks over links and assertions: from what the query names, and from the best passages of the other streams.

    A page that the query names is found by that. A page that another stream found is not found again by being a
    start, which would be a second vote for one finding, but it is by a link from another start. A page is represented
    by the passage that the other streams ranked highest, else by its first one. `edges` is None where nothing is
    asserted, and links are all that there is.
    """

    index: Index
    found: Mapping[str, Sequence[Scored]]
    edges: EdgeWalks | None = None
    name: str = "graph"

    def unavailable(self, query: Query) -> str | None:  # noqa: ARG002 - the protocol's; this stream always can
        return None

    def retrieve(self, query: Query, allowed: Allowed, limit: int) -> list[Scored]:
        order = _interleaved(self.found)
        rows = self.index.passages(order)
        best_passage: dict[int, int] = {}
        for passage in order:
            if passage in rows:
                best_passage.setdefault(rows[passage].page, passage)
        reached: dict[int, tuple[float, str]] = {}
        named = self.index.links.named_in(query.text)
        for page, score, via in self.index.links.walk(named, NAMED_DEPTH, allowed):
            _keep_best(reached, page, score, via)
        seeds = dict.fromkeys(rows[passage].page for passage in order[:SEED_PASSAGES] if passage in rows)
        for seed in seeds:
            for page, score, via in self.index.links.walk({seed: SEED_WEIGHT}, SEED_DEPTH, allowed):
                if page != seed:
                    _keep_best(reached, page, score, via)
        if self.edges is not None:
            walked = self.edges.from_question(query.text, named, allowed)
            walked += self.edges.from_pages(dict.fromkeys(seeds, 1.0), allowed)
            for page, score, via in walked:
                if page not in reached or score > reached[page][0]:
                    reached[page] = (score, via)
        scored = []
        for page, (score, via) in reached.items():
            representative = best_passage.get(page) or self._first_passage(page)
            if representative is not None:
                scored.append(Scored(representative, score, via))
        return _ranked(scored)[:limit]

    def _first_passage(self, page: int) -> int | None:
        passages = self.index.page_passages(page)
        return min(passages, key=lambda row: row.ordinal).id if passages else None


def _ranked(scored: Iterable[Scored]) -> list[Scored]:
    return sorted(scored, key=lambda entry: (-entry.score, entry.passage))


def _keep_best(reached: dict[int, tuple[float, str]], page: int, score: float, via: str) -> None:
    known = reached.get(page)
    if known is None or (score, known[1]) > (known[0], via):
        reached[page] = (score, via)


def _interleaved(found: Mapping[str, Sequence[Scored]]) -> list[int]:
    """Order what the other streams found by unweighted reciprocal ranks: the graph takes no side between them."""
    totals: dict[int, float] = {}
    for stream in sorted(found):
        for rank, entry in enumerate(found[stream], start=1):
            totals[entry.passage] = totals.get(entry.passage, 0.0) + 1.0 / (_SEED_RANK_CONSTANT + rank)
    return sorted(totals, key=lambda passage: (-totals[passage], passage))
