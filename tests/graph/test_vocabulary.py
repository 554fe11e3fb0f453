"""The vocabulary is that of the design, and the ontology file says the same."""

from __future__ import annotations

from wikimem.graph.ontology import ENTITY_CLASS, ONTOLOGY_FILE, ontology_page, ontology_triples
from wikimem.graph.vocabulary import (
    ENTITY_TYPES,
    KNOWN_PREDICATES,
    RDFS,
    RELATIONS,
    SKOS,
    is_property,
    relation_name,
)


def test_the_types_and_relations_of_the_design() -> None:
    types = "file function concept error decision pattern library person project preference location organization event"
    assert " ".join(ENTITY_TYPES) == types
    scoped = [name for name, kind in ENTITY_TYPES.items() if kind.scoped]
    assert scoped == ["file", "function", "error", "decision", "pattern"]
    relations = (
        "uses imports modifies causes fixes depends_on related_to works_at prefers blocked_by caused_by optimizes_for "
        "rejected avoids located_in succeeded_by requires unlocks spawned_by gated_by conflicts_with"
    )
    assert " ".join(RELATIONS) == relations


def test_the_ontology_file_is_up_to_date() -> None:
    assert ONTOLOGY_FILE.read_text(encoding="utf-8") == ontology_page(), "run python -m wikimem.graph.ontology"


def test_the_ontology_file_is_turtle_that_says_what_the_code_does() -> None:
    from rdflib import Graph, URIRef

    graph = Graph()
    graph.parse(data=ONTOLOGY_FILE.read_text(encoding="utf-8"), format="turtle")
    assert len(graph) == len(set(ontology_triples()))
    classes = {str(each) for each in graph.subjects(URIRef(RDFS + "subClassOf"), URIRef(ENTITY_CLASS))}
    assert classes == {kind.iri for kind in ENTITY_TYPES.values()}
    for relation in RELATIONS.values():
        labels = {str(each) for each in graph.objects(URIRef(relation.iri), URIRef(SKOS + "prefLabel"))}
        assert labels == {relation.label}


def test_types_that_relations_name_exist() -> None:
    for relation in RELATIONS.values():
        assert {*relation.subjects, *relation.objects} <= set(ENTITY_TYPES), relation.name
        assert relation.inverse


def test_predicates_have_names() -> None:
    assert {relation_name(iri) for iri in KNOWN_PREDICATES} == {*RELATIONS, "alias", "same_as"}
    assert relation_name("urn:wikimem:property:provider") == "provider"
    assert is_property("urn:wikimem:property:provider")
    assert relation_name("https://x.example/knows") == "https://x.example/knows"
