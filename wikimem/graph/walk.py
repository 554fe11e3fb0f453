"""Walks over the graph: breadth first, a short way from where they start, and not through hubs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Protocol

from msgspec import Struct

from wikimem.graph.fold import Fact
from wikimem.graph.vocabulary import RELATIONS

HUB_EDGES: Final = 64
"""An entity with more edges than this is reached but not walked through: what it is joined to has nothing more to do
with each other than that."""


_RELATED: Final = RELATIONS["related_to"].iri
MOST_WALKED: Final = 300
"""Entities of one distance that are walked on from: the best. A start may itself be a hub, of thousands."""


class FactSource(Protocol):
    """Where facts come from: the store, the links of pages, or both. Ends are what merged entities count as."""

    def facts_of(self, iris: Collection[str]) -> Mapping[str, Fact]:
        """The facts with one of these entities at either end, by edge."""
        ...

    def hubs(self, iris: Collection[str], most: int) -> Collection[str]:
        """Those of the entities that have more than `most` edges."""
        ...


class Step(Struct, frozen=True):
    """One edge of a path, as it was walked: `forward` from its subject to its object."""

    fact: Fact
    forward: bool

    @property
    def end(self) -> str:
        end = self.fact.edge.object if self.forward else self.fact.edge.subject
        assert isinstance(end, str)
        return end


class Reached(Struct, frozen=True):
    """An entity that a walk came to: its score, the weight of its start, and the way from there."""

    iri: str
    score: float
    start: str
    path: tuple[Step, ...] = ()


@dataclass(slots=True)
class Walked:
    """Every entity that was reached, by the shortest and best way, and every fact that was seen on the way.

    `cut` are hubs that were not walked through; `left` counts what else was reached and not walked on from.
    """

    reached: dict[str, Reached] = field(default_factory=dict)
    facts: dict[str, Fact] = field(default_factory=dict)
    cut: set[str] = field(default_factory=set)
    left: int = 0


def walk(
    source: FactSource,
    starts: Mapping[str, float],
    depth: int,
    *,
    moment: datetime,
    predicate: str | None = None,
    share: float = 1.0,
) -> Walked:
    """Walk from `starts` (entity -> weight) over the facts that hold just before `moment`, in both directions.

    The score of what is reached is the start's weight times `share` times the mean weight of the path's edges, divided
    by the number of entities on the path: 1 for a start, 1/2 for its neighbours by stated edges, 1/3 for theirs.
    `predicate` follows that one relation only.
    """
    walked = Walked({iri: Reached(iri, weight * share, iri) for iri, weight in starts.items()})
    frontier = dict(walked.reached)
    for distance in range(depth):
        hubs = set(source.hubs(frontier, HUB_EDGES)) if distance else set()
        walked.cut |= hubs
        facts = {
            name: fact
            for name, fact in source.facts_of([iri for iri in frontier if iri not in hubs]).items()
            if _is_followed(fact, predicate) and fact.holds(moment) != "no"
        }
        walked.facts |= facts
        following: dict[str, Reached] = {}
        for fact in sorted(facts.values(), key=telling):
            for step in (Step(fact, True), Step(fact, False)):
                before = frontier.get(fact.edge.subject if step.forward else str(fact.edge.object))
                if before is None or before.iri in hubs or step.end in walked.reached:
                    continue
                found = _extended(before, step, starts[before.start] * share)
                known = following.get(step.end)
                if known is None or found.score > known.score:
                    following[step.end] = found
        walked.reached |= following
        best = sorted(following.values(), key=lambda found: (-found.score, found.iri))[:MOST_WALKED]
        frontier = {found.iri: found for found in best}
        walked.left += len(following) - len(best) if distance + 1 < depth else 0
        if not frontier:
            break
    return walked


def telling(fact: Fact) -> tuple[float, bool, str]:
    """Sorts facts: the strongest first, of equals those that say more than that two things are related."""
    return -fact.weight, fact.edge.predicate == _RELATED, fact.edge.id


def _is_followed(fact: Fact, predicate: str | None) -> bool:
    edge = fact.edge
    return isinstance(edge.object, str) and edge.subject != edge.object and predicate in (None, edge.predicate)


def _extended(before: Reached, step: Step, weight: float) -> Reached:
    path = (*before.path, step)
    mean = sum(each.fact.weight for each in path) / len(path)
    return Reached(step.end, weight * mean / (len(path) + 1), before.start, path)
