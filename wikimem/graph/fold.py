"""From parts of assertions to facts: an edge with its weight, its end and its evidence.

The order in which parts come never matters, nor how often: each is a set, and the same sets give the same fact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from wikimem.graph.reading import UNKNOWN_TIME, FileStatements
from wikimem.graph.statements import Assertion, Edge, Ending
from wikimem.graph.validity import Holds, holds_at, sort_key
from wikimem.graph.vocabulary import OPEN_END, SAME_AS

Counts = Callable[[Assertion], bool]
"""Whether an assertion counts: it may be seen by who asks, and its page still says what it quotes."""


class Fact(Struct, frozen=True):
    """An edge that lives, with what its living assertions say together.

    `weight` is the highest, `valid_to` the end that was said last (None: open), `evidence` the number of independent
    sources: several blocks of one page count once.
    """

    edge: Edge
    assertions: tuple[Assertion, ...]
    weight: float
    valid_to: str | None
    evidence: int

    @property
    def valid_from(self) -> str | None:
        return self.edge.valid_from

    @property
    def reasoning(self) -> str:
        """Every reason that was given, the latest first."""
        return "; ".join(dict.fromkeys(text for each in self.assertions for text in sorted(each.reasoning)))

    @property
    def alternatives(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(text for each in self.assertions for text in sorted(each.alternatives)))

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(each.source for each in self.assertions)

    @property
    def known_since(self) -> str | None:
        """When it was first asserted; None where only a hand-written triple says it."""
        times = [time for each in self.assertions for time in each.generated if time != UNKNOWN_TIME]
        return min(times, default=None)

    def holds(self, moment: datetime) -> Holds:
        """Whether it holds just before `moment`: see `validity`."""
        return holds_at(self.valid_from, self.valid_to, moment)


def everything(assertion: Assertion) -> bool:
    """The Counts that leaves nothing out."""
    del assertion
    return True


def fold_edge(edge: Edge, parts: Iterable[Assertion], counts: Counts = everything) -> Fact | None:
    """The fact of an edge; None where no assertion of it lives and counts."""
    merged: dict[str, Assertion] = {}
    for part in parts:
        known = merged.get(part.source)
        merged[part.source] = known.merged(part) if known else part
    living = [each for each in merged.values() if each.lives and counts(each)]
    if not living:
        return None
    living.sort(key=lambda each: each.id)
    living.sort(key=lambda each: max(each.generated), reverse=True)
    last = max((ending for each in living for ending in each.ends()), key=_said_order, default=None)
    return Fact(
        edge,
        tuple(living),
        max(each.weight for each in living),
        None if last is None or last.through == OPEN_END else last.through,
        len({each.source.partition("#")[0] for each in living}),
    )


def _said_order(ending: Ending) -> tuple[str, datetime, str]:
    return ending.time, sort_key(ending.through), ending.through


def fold_files(files: Iterable[FileStatements], counts: Counts = everything) -> dict[str, Fact]:
    """The facts of several files by edge: what the store gives, without a store."""
    edges: dict[str, Edge] = {}
    parts: dict[str, list[Assertion]] = {}
    for file in files:
        edges |= file.edges
        for assertion in file.assertions.values():
            parts.setdefault(assertion.edge, []).append(assertion)
    folded = ((name, fold_edge(edges[name], found, counts)) for name, found in sorted(parts.items()))
    return {name: fact for name, fact in folded if fact is not None}


def merged_names(facts: Iterable[Fact]) -> dict[str, str]:
    """Which entity each merged one counts as, from the facts that say `same_as`.

    All entities that are joined by such facts are one. It has the name of the one that others were merged into and
    that was merged into none; where there are several, or in a circle, the first in the alphabet. So the order of the
    merges does not matter, and taking one back splits what it joined.
    """
    into: dict[str, set[str]] = {}
    merged: set[str] = set()
    for fact in facts:
        if fact.edge.predicate == SAME_AS and isinstance(fact.edge.object, str):
            merged.add(fact.edge.subject)
            into.setdefault(fact.edge.subject, set()).add(fact.edge.object)
            into.setdefault(fact.edge.object, set()).add(fact.edge.subject)
    roots: dict[str, str] = {}
    for start in sorted(into):
        if start in roots:
            continue
        group, waiting = {start}, [start]
        while waiting:
            new = into[waiting.pop()] - group
            group |= new
            waiting += new
        root = min(group - merged or group)
        roots |= dict.fromkeys(group, root)
    return roots


def latest(facts: Sequence[Fact]) -> Fact:
    """Of several values of one property the one that counts: the latest start, then the latest said."""
    return max(facts, key=lambda fact: (sort_key(fact.valid_from), max(fact.assertions[0].generated), fact.edge.id))


def properties_of(facts: Iterable[Fact]) -> Mapping[str, str]:
    """Predicate -> value, of one entity's property facts; latest wins."""
    by_predicate: dict[str, list[Fact]] = {}
    for fact in facts:
        by_predicate.setdefault(fact.edge.predicate, []).append(fact)
    said = ((predicate, latest(found).edge.object) for predicate, found in sorted(by_predicate.items()))
    return {predicate: value if isinstance(value, str) else value.text for predicate, value in said}
