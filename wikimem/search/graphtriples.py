"""The graph as triples for SPARQL and interchange: edges, assertions, entities, pages; what holds also as `s p o`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Final

from wikimem.graph.fold import Fact
from wikimem.graph.naming import page_iri, parse_entity_iri
from wikimem.graph.reading import UNKNOWN_TIME
from wikimem.graph.statements import date_literal, time_literal
from wikimem.graph.vocabulary import (
    ASSERTION_CLASS,
    ASSERTS,
    DCT,
    EDGE_CLASS,
    ENTITY_TYPES,
    LABEL,
    NS,
    PAGE_CLASS,
    PROJECT,
    PROV,
    TYPE,
    VALID_FROM,
    VALID_THROUGH,
    XSD,
)
from wikimem.search.pagefacts import entity_of_page
from wikimem.text.triples import Literal, Triple

if TYPE_CHECKING:
    from wikimem.model.hit import PageRow
    from wikimem.search.graphview import GraphView

ABOUT: Final = NS + "about"
"""From a page to the entity that it is about."""
PATH: Final = NS + "path"
STATUS: Final = NS + "status"
KIND: Final = NS + "memoryType"
CONFIDENCE: Final = NS + "confidence"
_UNKNOWN: Final = time_literal(UNKNOWN_TIME)


def graph_triples(view: GraphView, moment: datetime, about: str | None = None) -> Iterator[Triple]:
    """Everything that the view may see, each triple once or more; `s p o` for what holds, or may, at `moment`.

    With `about` (an entity, or a page) only its edges, with what is asserted of them, their ends and its pages.
    """
    facts = view.every_fact() if about is None else view.facts_of([about])
    ends = {about} if about else set[str]()
    for fact in facts.values():
        yield from _fact(fact, moment)
        ends.update(end for end in (fact.edge.subject, fact.edge.object) if isinstance(end, str))
    for row in view.wiki.index.list_pages(None):
        wanted = about is None or page_iri(row.id) in ends or view.root(entity_of_page(row)) == about
        if wanted and view.pages.row(row.path) is not None:
            yield from _page(row)
            ends.add(view.root(entity_of_page(row)))
    for iri in sorted(ends):
        entity = parse_entity_iri(iri)
        if entity is not None:
            yield Triple(iri, TYPE, ENTITY_TYPES[entity.type].iri)
            yield Triple(iri, LABEL, Literal(view.label(iri)))
            if entity.project:
                yield Triple(iri, PROJECT, Literal(entity.project))


def _fact(fact: Fact, moment: datetime) -> Iterator[Triple]:
    edge = fact.edge
    if fact.holds(moment) != "no":
        yield Triple(edge.subject, edge.predicate, edge.object)
    yield Triple(edge.id, TYPE, EDGE_CLASS)
    yield from edge.triples()
    if fact.valid_to:
        yield Triple(edge.id, VALID_THROUGH, date_literal(fact.valid_to))
    for assertion in fact.assertions:
        yield Triple(assertion.id, TYPE, ASSERTION_CLASS)
        yield from (triple for triple in assertion.triples() if triple.object != _UNKNOWN)
        if assertion.edge != edge.id:
            yield Triple(assertion.id, ASSERTS, edge.id)


def _page(row: PageRow) -> Iterator[Triple]:
    iri = page_iri(row.id)
    yield Triple(iri, TYPE, PAGE_CLASS)
    yield Triple(iri, TYPE, PROV + "Entity")
    yield Triple(iri, DCT + "title", Literal(row.title))
    for predicate, text in ((PATH, row.path), (STATUS, row.status), (KIND, row.type), (PROJECT, row.project)):
        if text:
            yield Triple(iri, predicate, Literal(text.encode("utf-8", "replace").decode()))
    if row.confidence is not None:
        yield Triple(iri, CONFIDENCE, Literal(f"{row.confidence:g}", XSD + "decimal"))
    for predicate, date in (
        (VALID_FROM, row.valid_from),
        (VALID_THROUGH, row.valid_to),
        (DCT + "created", row.created),
    ):
        if date is not None:
            yield Triple(iri, predicate, Literal(date.isoformat(), XSD + "dateTime"))
    about = entity_of_page(row)
    if about != iri:
        yield Triple(iri, ABOUT, about)
