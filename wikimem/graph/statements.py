"""Edges and assertions, and the triples that say them.

    edge       <E> rdf:subject, rdf:predicate, rdf:object, and schema:validFrom where a start was stated
    assertion  <A> wm:asserts <E>; prov:wasDerivedFrom its source; prov:generatedAtTime each time that it was made,
               prov:invalidatedAtTime each time that it was taken back; weight, reasoning, validTo and the rest
    ending     <N> wm:ends <A>; schema:validThrough; prov:generatedAtTime: an end that was said later

Every name is a digest of what it stands for, so that two clones that learn the same thing write the same lines, and
their union is right. A file says all that its assertions need: edge, names and types of the entities.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from typing import Final

from msgspec import Struct, field

from wikimem.graph.naming import Entity
from wikimem.graph.vocabulary import (
    ALTERNATIVE,
    ASSERTS,
    ATTRIBUTED,
    DERIVED_FROM,
    ENDS,
    ENTITY_TYPES,
    GENERATED,
    INVALIDATED,
    LABEL,
    OBJECT,
    PREDICATE,
    PROJECT,
    QUOTE,
    REASONING,
    SENTIMENT,
    STATED,
    SUBJECT,
    TYPE,
    VALID_FROM,
    VALID_THROUGH,
    VALID_TO,
    WEIGHT,
    XSD,
)
from wikimem.text.triples import Literal, Term, Triple, render_term

EDGE: Final = "urn:wikimem:edge:"
ASSERTION: Final = "urn:wikimem:assertion:"
ENDING: Final = "urn:wikimem:ending:"
_DIGEST_BYTES: Final = 16
_DATE_TYPES: Final = (
    (re.compile(r"\d{4}"), XSD + "gYear"),
    (re.compile(r"\d{4}-\d\d"), XSD + "gYearMonth"),
    (re.compile(r"\d{4}-\d\d-\d\d"), XSD + "date"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"), XSD + "dateTime"),
)


# The same few entities and relations are named by many edges.
_said = lru_cache(1 << 14)(render_term)


class Edge(Struct, frozen=True, dict=True):
    """Subject, predicate and object (an IRI, or the value of a property), and the stated start of validity if any."""

    subject: str
    predicate: str
    object: Term
    valid_from: str | None = None

    @cached_property
    def id(self) -> str:
        """Its IRI, the same wherever it is stated."""
        return EDGE + digest(_said(self.subject), _said(self.predicate), _said(self.object), self.valid_from or "")

    def triples(self) -> Iterator[Triple]:
        """What makes it an edge."""
        yield Triple(self.id, SUBJECT, self.subject)
        yield Triple(self.id, PREDICATE, self.predicate)
        yield Triple(self.id, OBJECT, self.object)
        if self.valid_from:
            yield Triple(self.id, VALID_FROM, date_literal(self.valid_from))


class Ending(Struct, frozen=True):
    """An end that was said at `time`; `through` is the date as it was stated, or `..` for an open end."""

    time: str
    through: str

    def triples(self, assertion: str) -> Iterator[Triple]:
        name = ENDING + digest(assertion, self.time, self.through)
        yield Triple(name, ENDS, assertion)
        yield Triple(name, VALID_THROUGH, date_literal(self.through))
        yield Triple(name, GENERATED, time_literal(self.time))


class Assertion(Struct, frozen=True, dict=True):
    """An edge as one source states it, or what one file says of that: parts of an assertion merge by union.

    Times are UTC texts as `time_text` gives them, so that they compare as texts. `valid_to` are ends that were stated
    with it. `by` says who (an IRI), `project` where; None is for everywhere.
    """

    edge: str
    source: str
    weights: frozenset[float] = frozenset()
    quotes: frozenset[str] = frozenset()
    reasoning: frozenset[str] = frozenset()
    sentiments: frozenset[str] = frozenset()
    alternatives: frozenset[str] = frozenset()
    valid_to: frozenset[str] = frozenset()
    generated: frozenset[str] = frozenset()
    invalidated: frozenset[str] = frozenset()
    by: frozenset[str] = frozenset()
    projects: frozenset[str] = frozenset()
    endings: frozenset[Ending] = field(default_factory=frozenset)

    @cached_property
    def id(self) -> str:
        """Its IRI: one for each edge and source."""
        return ASSERTION + digest(self.edge, self.source)

    @property
    def lives(self) -> bool:
        """Made, and not taken back since."""
        return bool(self.generated) and max(self.generated) > max(self.invalidated, default="")

    @property
    def weight(self) -> float:
        return max(self.weights, default=STATED)

    @property
    def last_time(self) -> str:
        """The latest time that anything was said of it; empty where none is known."""
        said = [*self.generated, *self.invalidated, *(ending.time for ending in self.endings)]
        return max(said, default="")

    def ends(self) -> Iterator[Ending]:
        """Every end that it states. One that was stated with it counts as said when it was first made."""
        yield from self.endings
        first = min(self.generated, default="")
        yield from (Ending(first, through) for through in self.valid_to)

    def merged(self, other: Assertion) -> Assertion:
        """What this and another part of the same assertion say."""
        return Assertion(
            self.edge,
            self.source,
            self.weights | other.weights,
            self.quotes | other.quotes,
            self.reasoning | other.reasoning,
            self.sentiments | other.sentiments,
            self.alternatives | other.alternatives,
            self.valid_to | other.valid_to,
            self.generated | other.generated,
            self.invalidated | other.invalidated,
            self.by | other.by,
            self.projects | other.projects,
            self.endings | other.endings,
        )

    def triples(self) -> Iterator[Triple]:
        """All that it says, without its edge."""
        name = self.id
        yield Triple(name, ASSERTS, self.edge)
        yield Triple(name, DERIVED_FROM, self.source)
        for weight in self.weights:
            yield Triple(name, WEIGHT, Literal(f"{weight:g}" if weight % 1 else f"{weight:.1f}", XSD + "decimal"))
        for predicate, texts in (
            (QUOTE, self.quotes),
            (REASONING, self.reasoning),
            (SENTIMENT, self.sentiments),
            (ALTERNATIVE, self.alternatives),
            (PROJECT, self.projects),
        ):
            yield from (Triple(name, predicate, Literal(text)) for text in texts)
        yield from (Triple(name, VALID_TO, date_literal(text)) for text in self.valid_to)
        yield from (Triple(name, GENERATED, time_literal(time)) for time in self.generated)
        yield from (Triple(name, INVALIDATED, time_literal(time)) for time in self.invalidated)
        yield from (Triple(name, ATTRIBUTED, who) for who in self.by)
        for ending in self.endings:
            yield from ending.triples(name)


def entity_triples(entity: Entity) -> Iterator[Triple]:
    """What an entity is, and what it is called."""
    yield Triple(entity.iri, TYPE, ENTITY_TYPES[entity.type].iri)
    yield Triple(entity.iri, LABEL, Literal(entity.label))


def digest(*parts: str) -> str:
    """32 hexadecimal digits that name what the parts say together."""
    joined = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(joined, digest_size=_DIGEST_BYTES).hexdigest()


def date_literal(text: str) -> Literal:
    """A date of validity with the datatype that its precision has in XML Schema; plain where it has none."""
    return Literal(text, next((datatype for form, datatype in _DATE_TYPES if form.fullmatch(text)), ""))


def time_literal(time: str) -> Literal:
    return Literal(time, XSD + "dateTime")


def time_text(moment: datetime) -> str:
    """A moment in UTC to the microsecond, always as long, so that texts compare as the moments do.

    A moment without a zone is local time.
    """
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def read_time(text: str) -> str | None:
    """A time that somebody wrote, in the form of `time_text`; None where it is no time."""
    try:
        return time_text(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        return None
