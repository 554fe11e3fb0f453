"""What the readers of other graphs give: edges as their files say them, and what was not taken."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from msgspec import Struct

from wikimem.errors import Invalid
from wikimem.graph.naming import Entity, make_entity, parse_entity_iri
from wikimem.graph.vocabulary import ALIAS, PROPERTY, RELATIONS, STATED
from wikimem.text.triples import Literal, Term

LONGEST_TEXT: Final = 2_000
"""Characters of a reasoning, a quote or a value; what is longer is cut."""
_SYNONYMS: Final = {
    "relates_to": "related_to",
    "related": "related_to",
    "links_to": "related_to",
    "see_also": "related_to",
    "references": "related_to",
    "depend_on": "depends_on",
    "superseded_by": "succeeded_by",
    "replaced_by": "succeeded_by",
}
_INVERSE: Final = {
    each.inverse.removeprefix("is ").removeprefix("was ").replace(" ", "_"): each.name for each in RELATIONS.values()
} | {"supersedes": "succeeded_by", "replaces": "succeeded_by", "caused": "caused_by"}
"""Wordings from the object's side: the two ends change places."""


class Incoming(Struct, frozen=True):
    """One edge. `place` says where it stands (`file:line`), `source` names the file that states it; dates are ISO 8601.

    `subject`, `predicate` and `object` are as in `Edge`; `named` are the entities that they name, for their labels.
    """

    subject: str
    predicate: str
    object: Term
    place: str
    source: str
    named: tuple[Entity, ...] = ()
    weight: float = STATED
    valid_from: str | None = None
    valid_to: str | None = None
    reasoning: tuple[str, ...] = ()
    sentiments: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()
    quotes: tuple[str, ...] = ()


@dataclass(slots=True)
class Reading:
    """What some files say. `skipped` says what was not taken and why, each with its place."""

    files: int = 0
    edges: list[Incoming] = field(default_factory=list)
    foreign: Counter[str] = field(default_factory=Counter)
    reworded: Counter[str] = field(default_factory=Counter)
    skipped: list[str] = field(default_factory=list)

    def skip(self, place: str, why: str) -> None:
        self.skipped.append(f"{place}: {why}")


class Related(Struct, frozen=True):
    """A relation of another tool in ours. `turned`: subject and object change places. `words`: what `related_to` stands
    for; empty where the vocabulary has the relation."""

    name: str
    turned: bool = False
    words: str = ""


def related(written: str) -> Related:
    """The relation that is meant by a name that people made up: `related_to`, with its words, for one of no vocabulary.

    Plain `related_to` where nothing is written.
    """
    name = re.sub(r"[\s-]+", "_", written.strip().casefold())
    bare = name.removeprefix("is_").removeprefix("was_")
    if not name:
        return Related("related_to")
    if name in RELATIONS or name in _SYNONYMS:
        return Related(_SYNONYMS.get(name, name))
    if bare in _INVERSE:
        return Related(_INVERSE[bare], turned=True)
    return Related("related_to", words=" ".join(written.split()))


def related_between(written: str, subject: Entity, object_: Entity) -> tuple[Related, Entity, Entity]:
    """As `related`, with the two in their order. A relation that does not join such entities becomes `related_to`."""
    found = related(written)
    first, second = (object_, subject) if found.turned else (subject, object_)
    allowed = RELATIONS[found.name]
    if (allowed.subjects and first.type not in allowed.subjects) or (
        allowed.objects and second.type not in allowed.objects
    ):
        return Related("related_to", words=" ".join(written.split())), subject, object_
    return found, first, second


def property_name(written: str) -> str | None:
    """The predicate of a property of that name; None where none can be made of it."""
    name = re.sub(r"[^a-z0-9]+", "_", written.casefold()).strip("_")[:40].rstrip("_")
    return PROPERTY + name if re.match("[a-z]", name) else None


def alias_of(entity: Entity, name: str, place: str, source: str) -> Incoming | None:
    """That an entity has another name; None where it is the same name, or none."""
    value = " ".join(name.split())[:LONGEST_TEXT]
    if not value or value == entity.label:
        return None
    return Incoming(entity.iri, ALIAS, Literal(value), place, source, (entity,))


def entity_or_why(type: str, name: str, project: str | None) -> Entity | str:
    """The entity, or in words why there is none of that name and type."""
    try:
        return make_entity(type, name, project)
    except Invalid as error:
        return error.message


def entity_of_iri(iri: str, label: str | None) -> Entity | None:
    """The entity that an IRI of ours names, with its label; None for any other."""
    known = parse_entity_iri(iri)
    return Entity(known.type, known.key, known.project, label or known.label) if known else None


def cut(text: str) -> str:
    """One line of at most LONGEST_TEXT characters."""
    return " ".join(text.split())[:LONGEST_TEXT]
