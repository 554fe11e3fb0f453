"""The closed vocabulary: types of entities, relations between them, and the terms of other vocabularies that are used.

The ontology file beside this module says the same in Turtle (see `ontology.py`); a test compares the two.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

NS: Final = "urn:wikimem:ns:"
"""Namespace of wikimem's own terms. A URN: it belongs to no host, and nothing is ever fetched."""
PROPERTY: Final = "urn:wikimem:property:"
"""Namespace of the properties that entities are given (`provider = jose`): an open set."""

RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
OWL: Final = "http://www.w3.org/2002/07/owl#"
XSD: Final = "http://www.w3.org/2001/XMLSchema#"
SKOS: Final = "http://www.w3.org/2004/02/skos/core#"
PROV: Final = "http://www.w3.org/ns/prov#"
SCHEMA: Final = "https://schema.org/"
DCT: Final = "http://purl.org/dc/terms/"

PREFIXES: Final[dict[str, str]] = {
    "wm": NS,
    "prop": PROPERTY,
    "rdf": RDF,
    "rdfs": RDFS,
    "owl": OWL,
    "xsd": XSD,
    "skos": SKOS,
    "prov": PROV,
    "schema": SCHEMA,
    "dct": DCT,
}

TYPE: Final = RDF + "type"
LABEL: Final = SKOS + "prefLabel"
ALIAS: Final = SKOS + "altLabel"
"""Relation of an entity to another name of it, a literal."""
SAME_AS: Final = OWL + "sameAs"
"""Relation of an entity to the one that it is merged into."""
SUBJECT: Final = RDF + "subject"
PREDICATE: Final = RDF + "predicate"
OBJECT: Final = RDF + "object"
VALID_FROM: Final = SCHEMA + "validFrom"
VALID_THROUGH: Final = SCHEMA + "validThrough"
DERIVED_FROM: Final = PROV + "wasDerivedFrom"
GENERATED: Final = PROV + "generatedAtTime"
INVALIDATED: Final = PROV + "invalidatedAtTime"
ATTRIBUTED: Final = PROV + "wasAttributedTo"
ASSERTS: Final = NS + "asserts"
"""From an assertion to its edge."""
VALID_TO: Final = NS + "validTo"
"""The end that an assertion stated when it was made. A later end is an Ending."""
ENDS: Final = NS + "ends"
"""From an ending (a date, and when it was said) to the assertion whose end it is."""
WEIGHT: Final = NS + "weight"
QUOTE: Final = NS + "quote"
REASONING: Final = NS + "reasoning"
SENTIMENT: Final = NS + "sentiment"
ALTERNATIVE: Final = NS + "alternative"
PROJECT: Final = NS + "project"
FORGOTTEN: Final = NS + "forgotten"
"""The one line that is left of a file: its page was forgotten, and nothing else that it may hold counts."""

OPEN_END: Final = ".."
"""An end that takes an earlier end back (the open end of ISO 8601-2)."""

STATED: Final = 1.0
INFERRED: Final = 0.5
GUESSED: Final = 0.1


class EntityType(Struct, frozen=True):
    """A type of entity. `scoped` entities belong to one project: the same name in another is another entity.

    `broader` is the class of another vocabulary that this one is a kind of.
    """

    name: str
    comment: str
    scoped: bool = False
    broader: str = ""

    @property
    def iri(self) -> str:
        return NS + self.name.capitalize()


class Relation(Struct, frozen=True):
    """A relation. `inverse` is its wording from the object's side; empty `subjects` or `objects` allow every type."""

    name: str
    inverse: str
    comment: str
    subjects: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    symmetric: bool = False
    broader: str = ""

    @property
    def iri(self) -> str:
        return NS + self.name

    @property
    def label(self) -> str:
        return self.name.replace("_", " ")


_TYPES: Final = (
    EntityType("file", "A file of a code base, by its path in the project.", True, SCHEMA + "DigitalDocument"),
    EntityType("function", "A function, method or class of a code base.", True),
    EntityType("concept", "An idea that is talked about by name.", False, SKOS + "Concept"),
    EntityType("error", "An error, by its message, code or exception.", True),
    EntityType("decision", "A choice that was made.", True),
    EntityType("pattern", "How something is done in a code base.", True),
    EntityType("library", "A package that code depends on.", False, SCHEMA + "SoftwareApplication"),
    EntityType("person", "A person.", False, PROV + "Person"),
    EntityType("project", "A code base.", False, SCHEMA + "Project"),
    EntityType("preference", "How somebody wants things.", False),
    EntityType("location", "A place.", False, SCHEMA + "Place"),
    EntityType("organization", "A company, team or institution.", False, PROV + "Organization"),
    EntityType("event", "Something that happened at a time.", False, SCHEMA + "Event"),
)
ENTITY_TYPES: Final[dict[str, EntityType]] = {each.name: each for each in _TYPES}
"""By name, in the order of the design."""

_ACTORS: Final = ("person", "organization", "project")
_CODE: Final = ("file", "function", "library", "project")

_RELATIONS: Final = (
    Relation("uses", "is used by", "The subject works with the object.", broader=DCT + "requires"),
    Relation("imports", "is imported by", "Code names other code that it needs.", _CODE, _CODE),
    Relation("modifies", "is modified by", "The subject changes the object."),
    Relation("causes", "is caused by", "The subject brings the object about."),
    Relation("fixes", "is fixed by", "The subject makes the object go away."),
    Relation("depends_on", "is needed by", "The subject does not work without the object.", broader=DCT + "requires"),
    Relation("related_to", "is related to", "The two have to do with each other.", (), (), True, SKOS + "related"),
    Relation(
        "works_at",
        "employs",
        "A person belongs to an organization or a project.",
        ("person",),
        ("organization", "project"),
        broader=SCHEMA + "worksFor",
    ),
    Relation("prefers", "is preferred by", "Somebody wants the object.", _ACTORS),
    Relation("blocked_by", "blocks", "The subject cannot go on because of the object."),
    Relation("caused_by", "causes", "The object brought the subject about."),
    Relation("optimizes_for", "is optimized for by", "The subject serves the object before other aims."),
    Relation(
        "rejected",
        "was rejected by",
        "The subject decided against the object.",
        (*_ACTORS, "decision"),
    ),
    Relation("avoids", "is avoided by", "The subject keeps away from the object."),
    Relation(
        "located_in",
        "holds",
        "The subject is in that place.",
        (),
        ("location", "organization", "project", "file"),
        broader=SCHEMA + "location",
    ),
    Relation("succeeded_by", "succeeds", "The object took the subject's place.", broader=DCT + "isReplacedBy"),
    Relation("requires", "is required by", "A task needs the object first.", broader=DCT + "requires"),
    Relation("unlocks", "is unlocked by", "When the task is done, the object can begin."),
    Relation("spawned_by", "spawned", "A task came out of the object."),
    Relation("gated_by", "gates", "A task waits for the object's approval."),
    Relation("conflicts_with", "conflicts with", "The two cannot both be done.", (), (), True),
)
RELATIONS: Final[dict[str, Relation]] = {each.name: each for each in _RELATIONS}
"""By name, in the order of the design."""

NAMING: Final[dict[str, str]] = {"alias": ALIAS, "same_as": SAME_AS}
"""What `link` takes besides relations: another name of an entity, and the entity that it is merged into."""

KNOWN_PREDICATES: Final = frozenset({ALIAS, SAME_AS, *(each.iri for each in _RELATIONS)})

PAGE_CLASS: Final = NS + "Page"
ASSERTION_CLASS: Final = NS + "Assertion"
EDGE_CLASS: Final = RDF + "Statement"


def relation_name(predicate: str) -> str:
    """A predicate's name as people write it: `uses`, `alias`, `provider`; the IRI itself for one of no vocabulary."""
    for name, iri in NAMING.items():
        if predicate == iri:
            return name
    for space in (NS, PROPERTY):
        if predicate.startswith(space):
            return predicate.removeprefix(space)
    return predicate


def is_property(predicate: str) -> bool:
    """Whether the predicate gives an entity a property, of which the latest value counts."""
    return predicate.startswith(PROPERTY)
