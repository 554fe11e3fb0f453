"""What a file of triples says: edges, parts of assertions, names, and what is odd about it.

Hand-written triples count too: `<entity> <predicate> <entity or value> .` is an edge that the file itself states.
A predicate outside the vocabulary is kept and reported.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from wikimem.graph.blocks import read_blocks
from wikimem.graph.files import page_of_file
from wikimem.graph.naming import page_id_of, page_iri, parse_entity_iri, quoted_iri
from wikimem.graph.plainlines import read_lines
from wikimem.graph.statements import ASSERTION, EDGE, ENDING, Assertion, Edge, Ending, read_time
from wikimem.graph.validity import ends_before_start
from wikimem.graph.vocabulary import (
    ALTERNATIVE,
    ASSERTS,
    ATTRIBUTED,
    DERIVED_FROM,
    ENDS,
    FORGOTTEN,
    GENERATED,
    INVALIDATED,
    KNOWN_PREDICATES,
    LABEL,
    OBJECT,
    OPEN_END,
    PREDICATE,
    PROJECT,
    QUOTE,
    REASONING,
    SENTIMENT,
    SUBJECT,
    TYPE,
    VALID_FROM,
    VALID_THROUGH,
    VALID_TO,
    WEIGHT,
    is_property,
)
from wikimem.model.page import Problem
from wikimem.text.dates import parse_iso
from wikimem.text.triples import Literal, Term, Triple

UNKNOWN_TIME: Final = "0001-01-01T00:00:00.000000Z"
"""When a hand-written triple was made, for want of anything better: before everything else."""
MOST_PROBLEMS: Final = 50
"""Of one file."""

Said = dict[str, list[Term]]
"""Predicate -> objects, of one subject."""


@dataclass(slots=True)
class FileStatements:
    """What one file says. `forgotten` files say nothing else."""

    edges: dict[str, Edge] = field(default_factory=dict)
    assertions: dict[str, Assertion] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    forgotten: bool = False


def read_statements(text: str, path: str) -> FileStatements:
    """Read the file at `path`, which is named in problems."""
    blocks = read_blocks(text)
    if blocks is not None:
        return FileStatements(*blocks)
    triples, bad = read_lines(text)
    if any(triple.predicate == FORGOTTEN for triple in triples):
        return FileStatements(forgotten=True)
    found = gather(triples, path)
    found.problems[:0] = [Problem("triple", path, line.message, line.line) for line in bad[:MOST_PROBLEMS]]
    del found.problems[MOST_PROBLEMS:]
    return found


def gather(triples: Iterable[Triple], path: str) -> FileStatements:
    """Put the triples of one file together."""
    return _Reader(path, triples).read()


class _Reader:
    def __init__(self, path: str, triples: Iterable[Triple]) -> None:
        self.path = path
        self.found = FileStatements()
        self.said: defaultdict[str, Said] = defaultdict(dict)
        for subject, predicate, object_ in triples:
            said = self.said[subject]
            if predicate in said:
                said[predicate].append(object_)
            else:
                said[predicate] = [object_]

    def read(self) -> FileStatements:
        endings = self.read_endings()
        for subject, said in self.said.items():
            if subject.startswith(EDGE):
                self.read_edge(subject, said)
        for subject, said in self.said.items():
            if subject.startswith(ASSERTION):
                self.read_assertion(subject, said, endings.get(subject, []))
            elif not subject.startswith((EDGE, ENDING)):
                self.read_entity(subject, said)
        self.check_edges()
        return self.found

    def report(self, rule: str, message: str) -> None:
        self.found.problems.append(Problem(rule, self.path, message))

    def read_endings(self) -> dict[str, list[Ending]]:
        endings: defaultdict[str, list[Ending]] = defaultdict(list)
        for subject, said in self.said.items():
            if subject.startswith(ENDING):
                time = next(iter(self.times(said, GENERATED)), UNKNOWN_TIME)
                for assertion in _iris(said, ENDS):
                    endings[assertion] += [Ending(time, through) for through in self.dates(said, VALID_THROUGH)]
        return endings

    def read_edge(self, name: str, said: Said) -> None:
        subject, predicate = _least_iri(said, SUBJECT), _least_iri(said, PREDICATE)
        objects = said.get(OBJECT, [])
        if subject is None or predicate is None or not objects:
            self.report("edge", f"<{name}> has no subject, predicate or object; it says nothing")
            return
        starts = self.dates(said, VALID_FROM)
        edge = Edge(subject, predicate, min(objects, key=str), starts[0] if starts else None)
        if edge.id != name:
            self.report("edge", f"<{name}> was changed by hand; state another edge instead of changing one")
            return
        self.found.edges[name] = edge

    def read_assertion(self, name: str, said: Said, endings: Sequence[Ending]) -> None:
        edge, source = _least_iri(said, ASSERTS), _least_iri(said, DERIVED_FROM)
        if edge is None or source is None or edge not in self.found.edges:
            self.report("assertion", f"<{name}> names no edge of this file, or no source; it says nothing")
            return
        assertion = Assertion(
            edge,
            source,
            frozenset(self.weights(said)) if WEIGHT in said else _NO_WEIGHTS,
            _texts(said, QUOTE),
            _texts(said, REASONING),
            _texts(said, SENTIMENT),
            _texts(said, ALTERNATIVE),
            frozenset(self.dates(said, VALID_TO)),
            frozenset(self.times(said, GENERATED)),
            frozenset(self.times(said, INVALIDATED)),
            frozenset(_iris(said, ATTRIBUTED)),
            _texts(said, PROJECT),
            frozenset(endings),
        )
        if assertion.id != name:
            self.report("assertion", f"<{name}> is not the assertion of its edge and source; it says nothing")
            return
        self.found.assertions[name] = assertion

    def read_entity(self, iri: str, said: Said) -> None:
        labels = _texts(said, LABEL)
        if labels:
            self.found.labels[iri] = min(labels)
        if parse_entity_iri(iri) is None and page_id_of(iri) is None:
            self.report("entity", f"<{iri}> is no entity and no page; what is said of it is not used")
            return
        for predicate, objects in said.items():
            if predicate in (TYPE, LABEL):
                continue
            for object_ in objects:
                edge = Edge(iri, predicate, object_)
                self.found.edges[edge.id] = edge
                made = Assertion(edge.id, file_source(self.path), generated=frozenset({UNKNOWN_TIME}))
                self.found.assertions[made.id] = made

    def check_edges(self) -> None:
        for edge in self.found.edges.values():
            if edge.predicate not in KNOWN_PREDICATES and not is_property(edge.predicate):
                self.report("unknown-predicate", f"<{edge.predicate}> is not in the vocabulary; it is kept")
            if edge.subject == edge.object:
                self.report("self-edge", f"<{edge.subject}> is related to itself; walks leave that out")
        for assertion in self.found.assertions.values():
            if not assertion.valid_to and not assertion.endings:
                continue
            start = self.found.edges[assertion.edge].valid_from
            for ending in assertion.ends():
                if ends_before_start(start, ending.through):
                    self.report(
                        "ends-before-start", f"<{assertion.edge}> ends ({ending.through}) before it starts ({start})"
                    )

    def weights(self, said: Said) -> Iterable[float]:
        for text in _texts(said, WEIGHT):
            try:
                weight = float(text)
            except ValueError:
                weight = -1.0
            if 0 <= weight <= 1:
                yield weight
            else:
                self.report("weight", f"'{text}' is no weight from 0 to 1")

    def times(self, said: Said, predicate: str) -> list[str]:
        if predicate not in said:
            return []
        read = {text: _time(text) for text in _texts(said, predicate)}
        for text, time in read.items():
            if time is None:
                self.report("time", f"'{text}' is no date and time")
        return [time for time in read.values() if time is not None]

    def dates(self, said: Said, predicate: str) -> list[str]:
        if predicate not in said:
            return []
        found = sorted(_texts(said, predicate))
        for text in found:
            if not _is_date(text):
                self.report("date", f"'{text}' is no ISO 8601 date")
        return [text for text in found if _is_date(text)]


_NOTHING: Final = frozenset[str]()
_NO_WEIGHTS: Final = frozenset[float]()


@lru_cache(1 << 12)
def _is_date(text: str) -> bool:
    return text == OPEN_END or parse_iso(text) is not None


@lru_cache(1 << 12)
def _time(text: str) -> str | None:
    return read_time(text)


def file_source(path: str) -> str:
    """The source of what a file states without saying whence: the page whose file it is, or the file itself."""
    page = page_of_file(path)
    return page_iri(page) if page else f"urn:wikimem:file-of:{quoted_iri(path)}"


def _iris(said: Said, predicate: str) -> list[str]:
    terms = said.get(predicate)
    return [term for term in terms if isinstance(term, str)] if terms else []


def _least_iri(said: Said, predicate: str) -> str | None:
    return min(_iris(said, predicate), default=None)


def _texts(said: Said, predicate: str) -> frozenset[str]:
    # Most predicates are not there: this is asked a dozen times for each assertion of a first load.
    terms = said.get(predicate)
    return frozenset([term.text for term in terms if isinstance(term, Literal)]) if terms else _NOTHING
