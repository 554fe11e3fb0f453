"""Reads N-Triples: what wikimem exports, its own files, and plain triples of its entities with any predicate.

Edges are taken with what is asserted of them; who asserted it elsewhere is not: the file is the source here.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from wikimem.errors import Invalid
from wikimem.graph.incoming.edges import Incoming, Reading, cut, entity_of_iri
from wikimem.graph.naming import Entity, page_id_of
from wikimem.graph.plainlines import read_lines
from wikimem.graph.statements import ASSERTION, EDGE, ENDING, read_time
from wikimem.graph.validity import sort_key
from wikimem.graph.vocabulary import (
    ALTERNATIVE,
    ASSERTS,
    DCT,
    ENDS,
    GENERATED,
    INVALIDATED,
    KNOWN_PREDICATES,
    LABEL,
    NS,
    OBJECT,
    OPEN_END,
    PREDICATE,
    PROJECT,
    QUOTE,
    REASONING,
    SENTIMENT,
    SKOS,
    STATED,
    SUBJECT,
    TYPE,
    VALID_FROM,
    VALID_THROUGH,
    VALID_TO,
    WEIGHT,
    is_property,
)
from wikimem.text.dates import parse_iso
from wikimem.text.triples import Literal, Term, Triple

_SHOWN: Final = 5
_DESCRIBES: Final = frozenset({TYPE, LABEL, PROJECT, SKOS + "inScheme"})
"""What is said of entities without being an edge."""
_OF_PAGES: Final = (NS, DCT, VALID_FROM, VALID_THROUGH)

Said = dict[str, dict[str, list[Term]]]


def read_ntriples(text: str, name: str, source: str) -> Reading:
    """The edges of a file called `name`. Raises Invalid with file and line where a line is no triple."""
    triples, bad = read_lines(text)
    if bad:
        lines = "; ".join(f"{name}:{each.line}: {each.message}" for each in bad[:_SHOWN])
        more = f" (and {len(bad) - _SHOWN} more)" if len(bad) > _SHOWN else ""
        raise Invalid(f"{lines}{more}", hint="Mend those lines, or take them out. Nothing was written.")
    said: Said = defaultdict(dict)
    for triple in triples:
        said[triple.subject].setdefault(triple.predicate, []).append(triple.object)
    return _Reader(said, triples, name, source).read()


class _Reader:
    def __init__(self, said: Said, triples: list[Triple], name: str, source: str) -> None:
        self.said = said
        self.triples = triples
        self.name = name
        self.source = source
        self.found = Reading(files=1)
        self.ends_said: dict[str, list[tuple[str, str]]] = defaultdict(list)
        """Of an assertion: when an end was said, and which."""
        self.asserted: dict[str, list[str]] = defaultdict(list)

    def read(self) -> Reading:
        for subject, said in self.said.items():
            if subject.startswith(ENDING):
                time = next(iter(_texts(said, GENERATED)), "")
                for assertion in said.get(ENDS, ()):
                    self.ends_said[str(assertion)] += [(time, end) for end in _texts(said, VALID_THROUGH)]
            elif subject.startswith(ASSERTION):
                for edge in said.get(ASSERTS, ()):
                    self.asserted[str(edge)].append(subject)
        taken: set[tuple[str, str, Term]] = set()
        for subject, said in self.said.items():
            if subject.startswith(EDGE):
                self.read_edge(subject, said, taken)
        for subject, predicate, object_ in self.triples:
            resource = subject.startswith((EDGE, ASSERTION, ENDING))
            if not resource and (subject, predicate, object_) not in taken:
                self.read_plain(subject, predicate, object_)
        return self.found

    def read_edge(self, name: str, said: dict[str, list[Term]], taken: set[tuple[str, str, Term]]) -> None:
        subject, predicate, object_ = (next(iter(said.get(term, ())), None) for term in (SUBJECT, PREDICATE, OBJECT))
        if not isinstance(subject, str) or not isinstance(predicate, str) or object_ is None:
            self.found.skip(f"{self.name}: <{name}>", "an edge without subject, predicate or object")
            return
        taken.add((subject, predicate, object_))
        named = [self.said[each] for each in self.asserted.get(name, ())]
        living = [each for each in named if _lives(each)]
        if named and not living:
            self.found.skip(f"{self.name}: <{name}>", "it was taken back")
            return
        weights = [weight for each in living for weight in map(_weight, _texts(each, WEIGHT)) if weight is not None]
        self.take(
            subject,
            predicate,
            object_,
            f"{self.name}: <{name}>",
            weight=max(weights, default=STATED),
            valid_from=next(iter(_texts(said, VALID_FROM)), None),
            valid_to=self.end_of(name, said, living),
            reasoning=_all(living, REASONING),
            sentiments=_all(living, SENTIMENT),
            alternatives=_all(living, ALTERNATIVE),
            quotes=_all(living, QUOTE),
        )

    def end_of(self, name: str, said: dict[str, list[Term]], living: list[dict[str, list[Term]]]) -> str | None:
        """The end that an export says of an edge, else the one that was said last."""
        of_edge = _texts(said, VALID_THROUGH)
        if of_edge:
            return of_edge[0]
        ends = [(min(_texts(each, GENERATED), default=""), end) for each in living for end in _texts(each, VALID_TO)]
        for assertion in self.asserted.get(name, ()):
            ends += self.ends_said.get(assertion, ())
        last = max(ends, key=lambda end: (end[0], sort_key(end[1]), end[1]), default=("", OPEN_END))[1]
        return None if last == OPEN_END else last

    def read_plain(self, subject: str, predicate: str, object_: Term) -> None:
        if predicate in _DESCRIBES or (page_id_of(subject) is not None and _is_of_page(predicate)):
            return
        self.take(subject, predicate, object_, f"{self.name}: <{subject}> <{predicate}>")

    def take(
        self,
        subject: str,
        predicate: str,
        object_: Term,
        place: str,
        *,
        weight: float = STATED,
        valid_from: str | None = None,
        valid_to: str | None = None,
        reasoning: tuple[str, ...] = (),
        sentiments: tuple[str, ...] = (),
        alternatives: tuple[str, ...] = (),
        quotes: tuple[str, ...] = (),
    ) -> None:
        named = {end: self.entity(end) for end in (subject, object_) if isinstance(end, str)}
        known = predicate in KNOWN_PREDICATES or is_property(predicate)
        if named[subject] is None and page_id_of(subject) is None:
            self.found.skip(place, "its subject is no entity and no page")
            return
        if known and isinstance(object_, str) and named[object_] is None and page_id_of(object_) is None:
            self.found.skip(place, "its object is no entity and no page")
            return
        odd = [date for date in (valid_from, valid_to) if date is not None and parse_iso(date) is None]
        if odd:
            self.found.skip(place, f"'{odd[0][:40]}' is no ISO 8601 date")
            return
        if not known:
            self.found.foreign[predicate] += 1
        self.found.edges.append(
            Incoming(
                subject,
                predicate,
                object_._replace(text=cut(object_.text)) if isinstance(object_, Literal) else object_,
                place,
                self.source,
                tuple(each for each in named.values() if each is not None),
                weight,
                valid_from,
                valid_to,
                reasoning,
                sentiments,
                alternatives,
                quotes,
            )
        )

    def entity(self, iri: str) -> Entity | None:
        labels = _texts(self.said[iri], LABEL) if iri in self.said else []
        return entity_of_iri(iri, min(labels, default=None))


def _texts(said: dict[str, list[Term]], predicate: str) -> list[str]:
    return [term.text for term in said.get(predicate, ()) if isinstance(term, Literal)]


def _all(living: list[dict[str, list[Term]]], predicate: str) -> tuple[str, ...]:
    return tuple(sorted({cut(text) for each in living for text in _texts(each, predicate)} - {""}))


def _lives(said: dict[str, list[Term]]) -> bool:
    made, gone = ([time for time in map(read_time, _texts(said, term)) if time] for term in (GENERATED, INVALIDATED))
    return not gone or max(made, default="") > max(gone)


def _weight(text: str) -> float | None:
    try:
        weight = float(text)
    except ValueError:
        return None
    return weight if 0 <= weight <= 1 else None


def _is_of_page(predicate: str) -> bool:
    """Whether an export says that of a page itself: its path, its title, its dates."""
    return predicate not in KNOWN_PREDICATES and predicate.startswith(_OF_PAGES)
