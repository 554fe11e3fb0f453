"""Entities and edges as `graph`, `link` and `timeline` answer with them; secrets masked."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING

from wikimem.graph.naming import parse_entity_iri
from wikimem.graph.vocabulary import PROPERTY, relation_name
from wikimem.graph.words import Description, fact_in_words
from wikimem.memory.linksources import source_in_words
from wikimem.model.graph import GraphEdge, GraphEntity

if TYPE_CHECKING:
    from wikimem.graph.fold import Fact
    from wikimem.search.graphview import GraphView


class GraphAnswers:
    """Puts what a view knows into results, as of a moment."""

    def __init__(self, view: GraphView, moment: datetime) -> None:
        self.view = view
        self.moment = moment
        self.mask = view.wiki.redactor.mask
        self.describe: Callable[[str], Description] = cache(lambda iri: view.describe(iri, moment))

    def entity(self, iri: str, distance: int = 0, score: float = 1.0) -> GraphEntity:
        """An entity with its names, properties and page."""
        described, known, page = self.describe(iri), parse_entity_iri(iri), self.view.page_of(iri)
        return GraphEntity(
            id=self.mask(iri),
            type=described.type,
            name=described.label,
            address=self.mask(self.view.address(iri)),
            project=known.project if known else page.project if page else None,
            aliases=tuple(map(self.mask, self.view.aliases(iri))),
            properties={name.removeprefix(PROPERTY): value for name, value in described.properties.items()},
            page=page.path if page else None,
            distance=distance,
            score=round(score, 4),
        )

    def edge(self, fact: Fact) -> GraphEdge:
        """An edge with what is asserted of it."""
        edge, mask = fact.edge, self.mask
        return GraphEdge(
            id=edge.id,
            subject=mask(self.view.address(edge.subject)),
            predicate=relation_name(edge.predicate),
            object=mask(self.view.address(edge.object) if isinstance(edge.object, str) else edge.object.text),
            weight=fact.weight,
            valid_from=fact.valid_from,
            valid_to=fact.valid_to,
            holds=fact.holds(self.moment),
            reasoning=mask(fact.reasoning),
            alternatives=tuple(map(mask, fact.alternatives)),
            sources=tuple(dict.fromkeys(mask(source_in_words(self.view, source)) for source in fact.sources)),
            evidence=fact.evidence,
            known_since=fact.known_since,
            words=mask(fact_in_words(fact, self.describe)),
        )
