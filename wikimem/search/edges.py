"""What files of the graph assert, as one search may see it: two walks that lead to pages, with the way to each.

    asserted_edges    opens it for a search; None where nothing is asserted, which then costs nothing
    AssertedEdges     `from_question` walks from the entities that a question names, `from_pages` from good passages
    related_pages, walk_from_pages     the two walks over any view

Links between pages are edges of the same walks, so that a way may begin with an assertion and end with a link.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from wikimem.errors import Damaged, Unavailable
from wikimem.graph.files import FOLDER
from wikimem.graph.naming import page_id_of
from wikimem.graph.store import GraphStore
from wikimem.graph.walk import Reached, Walked, walk
from wikimem.graph.words import Describe, path_in_words
from wikimem.index.parts import Allowed
from wikimem.model.hit import PageFilter
from wikimem.search.askedrelations import asked_relations
from wikimem.search.graphview import GraphView, open_store
from wikimem.search.namedentities import named_entities
from wikimem.search.pagefacts import entity_of_page

if TYPE_CHECKING:
    from wikimem.wiki import Wiki

PASSAGE_SHARE: Final = 0.5
"""Weight of a walk that begins at pages which other streams found, against one from entities that a question names."""
PASSAGE_DEPTH: Final = 1
ENTITY_DEPTH: Final = 2
MOST_EDGES: Final = 400
"""Edges that a search looks at from the entities of one distance."""
MOST_PAGES: Final = 60
"""Pages that one walk gives."""

Found = tuple[int, float, str]
"""A page's number, its score, and the way there in words."""


class RelatedPage(Struct, frozen=True):
    """A page that the graph leads to: its score, and the way there in words."""

    path: str
    score: float
    graph_path: str


class AssertedEdges:
    """The two walks for one search. Pages that the search may not see are not walked through, and not believed."""

    def __init__(self, wiki: Wiki, store: GraphStore, where: PageFilter) -> None:
        # What a hit must be (a type, a tag) says nothing about what may lead to it; who may see it does.
        passable = replace(where, types=(), tags=(), pinned=False)
        self._allowed = wiki.index.allowed(passable)
        self._view = GraphView(wiki, store, where.project, allowed=self._allowed, most=MOST_EDGES)
        self._moment = where.as_of
        self._describe = cache(lambda iri: self._view.describe(iri, self._moment))

    def from_question(self, question: str, pages: Mapping[int, float], allowed: Allowed) -> list[Found]:
        """Walk from the entities that a question names and from the `pages` (number -> weight) that it names."""
        starts = named_entities(self._view, question)
        for number, row in self._view.wiki.index.pages_by_number(list(pages)).items():
            if number in self._allowed:
                iri = self._view.root(entity_of_page(row))
                starts[iri] = max(starts.get(iri, 0.0), pages[number])
        if not starts:
            return []
        asked = asked_relations(question)
        return self._numbered(related_pages(self._view, starts, self._moment, asked, self._describe), allowed)

    def from_pages(self, pages: Mapping[int, float], allowed: Allowed) -> list[Found]:
        """Walk from pages (number -> weight) that other streams found; they themselves are not found again."""
        rows = self._view.wiki.index.pages_by_number(list(pages))
        weights = {row.path: pages[number] for number, row in rows.items()}
        return self._numbered(walk_from_pages(self._view, weights, self._moment, self._describe), allowed)

    def _numbered(self, found: list[RelatedPage], allowed: Allowed) -> list[Found]:
        rows = ((page, self._view.pages.row(page.path)) for page in found)
        return [(row.number, page.score, page.graph_path) for page, row in rows if row and row.number in allowed]


@contextlib.contextmanager
def asserted_edges(wiki: Wiki, where: PageFilter, *, keep_missing: bool = False) -> Iterator[AssertedEdges | None]:
    """What a search may see of what is asserted; None where nothing is.

    Where the store cannot be opened a note says so, and the search goes on without it.
    """
    if not (wiki.root / FOLDER).is_dir():
        yield None
        return
    with contextlib.ExitStack() as stack:
        edges = None
        try:
            store = stack.enter_context(open_store(wiki, keep_missing=keep_missing))
            if not store.is_empty():
                edges = AssertedEdges(wiki, store, where)
        except (Unavailable, Damaged) as error:
            wiki.notes.append(f"the graph is searched by links only: {error.message}")
        yield edges


def related_pages(
    view: GraphView,
    entities: Mapping[str, float],
    moment: datetime,
    asked: Collection[str] = (),
    describe: Describe | None = None,
) -> list[RelatedPage]:
    """Pages that a walk of depth 2 from `entities` (IRI -> weight) leads to, best first.

    They are the pages about what was reached, and those that state the edges of the way there. What an edge of one of
    the `asked` predicates joins to an entity answers the question: it counts as much as the entity itself.
    """
    walked = walk(view, _rooted(view, entities), ENTITY_DEPTH, moment=moment)
    for iri, reached in walked.reached.items():
        if len(reached.path) == 1 and reached.path[0].fact.edge.predicate in asked:
            walked.reached[iri] = replace(reached, score=reached.score * 2)
    return _pages_of(view, walked, moment, describe)


def walk_from_pages(
    view: GraphView, pages: Mapping[str, float], moment: datetime, describe: Describe | None = None
) -> list[RelatedPage]:
    """As `related_pages`, from pages (path -> weight) that other streams found: to depth 1, at half weight."""
    entities = {iri: pages[path] for path, iri in view.store.entities_of(pages).items() if view.pages.row(path)}
    walked = walk(view, _rooted(view, entities), PASSAGE_DEPTH, moment=moment, share=PASSAGE_SHARE)
    return _pages_of(view, walked, moment, describe, besides=pages)


def _rooted(view: GraphView, entities: Mapping[str, float]) -> dict[str, float]:
    starts: dict[str, float] = {}
    for iri, weight in entities.items():
        if view.may_see_entity(iri):
            root = view.root(iri)
            starts[root] = max(weight, starts.get(root, 0.0))
    return starts


def _pages_of(
    view: GraphView,
    walked: Walked,
    moment: datetime,
    describe: Describe | None,
    besides: Collection[str] = (),
) -> list[RelatedPage]:
    best: dict[str, Reached] = {}
    ranked = sorted(walked.reached.values(), key=lambda reached: (-reached.score, reached.iri))
    for reached in ranked:
        for path in _pages_at(view, reached):
            if path not in besides:
                best.setdefault(path, reached)
        if len(best) >= MOST_PAGES:
            break
    named: Describe = describe or cache(lambda iri: view.describe(iri, moment))
    words = cache(lambda iri: _words(view, walked.reached[iri], named))
    return [
        RelatedPage(path, reached.score, words(reached.iri))
        for path, reached in sorted(best.items(), key=lambda item: (-item[1].score, item[0]))
    ]


def _pages_at(view: GraphView, reached: Reached) -> Iterator[str]:
    """The pages about an entity, and those that state the edge that led to it."""
    for member in view.members([reached.iri]):
        yield from (row.path for row in view.pages.rows_of([member]).get(member, ()))
    if reached.path:
        sources = {page_id_of(source) for source in reached.path[-1].fact.sources} - {None}
        for path in view.store.paths_of_ids([each for each in sources if each]).values():
            if view.pages.row(path):
                yield path


def _words(view: GraphView, reached: Reached, describe: Describe) -> str:
    words = path_in_words(reached.path, reached.start, describe)
    # Names are masked already; only reasons are text of their own.
    reasons = any(step.fact.reasoning for step in reached.path)
    return view.wiki.redactor.mask(words) if reasons else words
