"""The vocabulary as an ontology: `python -m wikimem.graph.ontology` writes `ontology.ttl` from `vocabulary.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from wikimem.graph.vocabulary import (
    ALTERNATIVE,
    ASSERTION_CLASS,
    ASSERTS,
    DERIVED_FROM,
    EDGE_CLASS,
    ENDS,
    ENTITY_TYPES,
    FORGOTTEN,
    NS,
    OWL,
    PAGE_CLASS,
    PREFIXES,
    PROJECT,
    PROV,
    QUOTE,
    RDF,
    RDFS,
    REASONING,
    RELATIONS,
    SCHEMA,
    SENTIMENT,
    SKOS,
    TYPE,
    VALID_THROUGH,
    VALID_TO,
    WEIGHT,
    XSD,
)
from wikimem.text.triples import Literal, Term, Triple, render_term

ONTOLOGY_FILE: Final = Path(__file__).with_name("ontology.ttl")
ENTITY_CLASS: Final = NS + "Entity"
ENDING_CLASS: Final = NS + "Ending"

_TERMS: Final = (
    (ASSERTS, "asserts", "The edge that an assertion states.", ASSERTION_CLASS, EDGE_CLASS),
    (ENDS, "ends", "The assertion whose end an ending says.", ENDING_CLASS, ASSERTION_CLASS),
)
_VALUES: Final = (
    (WEIGHT, "weight", "1.0 stated, 0.5 inferred, 0.1 guessed.", XSD + "decimal"),
    (QUOTE, "quote", "The words of the source that say it.", XSD + "string"),
    (REASONING, "reasoning", "Why it is so.", XSD + "string"),
    (SENTIMENT, "sentiment", "How the source feels about it.", XSD + "string"),
    (ALTERNATIVE, "alternative", "What else was considered.", XSD + "string"),
    (VALID_TO, "valid to", "The end that was stated with the assertion.", ""),
    (PROJECT, "project", "The project that it was stated in.", XSD + "string"),
)


def ontology_triples() -> Iterator[Triple]:
    """Every statement of the ontology."""
    yield from _described(NS.rstrip(":"), OWL + "Ontology", "wikimem", "Entities, relations and assertions of wikimem.")
    yield from _described(ENTITY_CLASS, OWL + "Class", "entity", "A named thing that pages and assertions are about.")
    yield from _described(PAGE_CLASS, OWL + "Class", "page", "A page of the vault.")
    yield Triple(PAGE_CLASS, RDFS + "subClassOf", PROV + "Entity")
    yield from _described(ASSERTION_CLASS, OWL + "Class", "assertion", "An edge, stated by one source.")
    yield Triple(ASSERTION_CLASS, RDFS + "subClassOf", PROV + "Entity")
    yield from _described(ENDING_CLASS, OWL + "Class", "ending", "An end of validity, and when it was said.")
    for kind in ENTITY_TYPES.values():
        yield from _described(kind.iri, OWL + "Class", kind.name, kind.comment)
        yield Triple(kind.iri, RDFS + "subClassOf", ENTITY_CLASS)
        if kind.broader:
            yield Triple(kind.iri, RDFS + "subClassOf", kind.broader)
    for relation in RELATIONS.values():
        yield from _described(relation.iri, OWL + "ObjectProperty", relation.label, relation.comment)
        yield Triple(relation.iri, SKOS + "altLabel", Literal(relation.inverse, "", "en"))
        if relation.symmetric:
            yield Triple(relation.iri, TYPE, OWL + "SymmetricProperty")
        if relation.broader:
            yield Triple(relation.iri, RDFS + "subPropertyOf", relation.broader)
        for allowed, term in ((relation.subjects, "domainIncludes"), (relation.objects, "rangeIncludes")):
            for name in allowed:
                yield Triple(relation.iri, SCHEMA + term, ENTITY_TYPES[name].iri)
    for iri, label, comment, subject, object_ in _TERMS:
        yield from _described(iri, OWL + "ObjectProperty", label, comment)
        yield Triple(iri, RDFS + "domain", subject)
        yield Triple(iri, RDFS + "range", object_)
    for iri, label, comment, datatype in _VALUES:
        yield from _described(iri, OWL + "DatatypeProperty", label, comment)
        yield Triple(iri, RDFS + "domain", ASSERTION_CLASS)
        if datatype:
            yield Triple(iri, RDFS + "range", datatype)
    yield from _described(FORGOTTEN, OWL + "DatatypeProperty", "forgotten", "All that is left of a forgotten page.")
    yield Triple(VALID_TO, RDFS + "subPropertyOf", VALID_THROUGH)
    yield Triple(ASSERTION_CLASS, RDFS + "seeAlso", DERIVED_FROM)


def _described(iri: str, kind: str, label: str, comment: str) -> Iterator[Triple]:
    yield Triple(iri, TYPE, kind)
    yield Triple(iri, RDFS + "label", Literal(label, "", "en"))
    yield Triple(iri, SKOS + "prefLabel", Literal(label, "", "en"))
    yield Triple(iri, RDFS + "comment", Literal(comment, "", "en"))


def ontology_page() -> str:
    """The ontology in Turtle: subjects in the order of the vocabulary."""
    lines = [f"@prefix {name}: <{space}> ." for name, space in PREFIXES.items()]
    by_subject: dict[str, list[Triple]] = {}
    for triple in ontology_triples():
        by_subject.setdefault(triple.subject, []).append(triple)
    for subject, triples in by_subject.items():
        said = " ;\n    ".join(f"{_verb(triple.predicate)} {_short(triple.object)}" for triple in triples)
        lines += ["", f"{_short(subject)} {said} ."]
    return "\n".join(lines) + "\n"


def _verb(predicate: str) -> str:
    return "a" if predicate == RDF + "type" else _short(predicate)


def _short(term: Term) -> str:
    if isinstance(term, str):
        for name, space in PREFIXES.items():
            local = term.removeprefix(space)
            if local != term and local.replace("_", "a").isalnum():
                return f"{name}:{local}"
    return render_term(term)


if __name__ == "__main__":
    ONTOLOGY_FILE.write_text(ontology_page(), encoding="utf-8")
