"""Walks: how far, in which order, at what score."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from msgspec.structs import replace

from wikimem.graph.fold import Fact
from wikimem.graph.statements import Assertion, Edge
from wikimem.graph.vocabulary import RELATIONS
from wikimem.graph.walk import HUB_EDGES, walk
from wikimem.graph.words import Description, path_in_words

NOW = datetime(2025, 12, 1)
USES = RELATIONS["uses"].iri


def fact(subject: str, object_: str, weight: float = 1.0, since: str | None = None, relation: str = "uses") -> Fact:
    edge = Edge(f"urn:x:{subject}", RELATIONS[relation].iri, f"urn:x:{object_}", since)
    return Fact(edge, (Assertion(edge.id, "urn:x:source"),), weight, None, 1)


class Facts:
    def __init__(self, *facts: Fact) -> None:
        self.facts = facts

    def facts_of(self, iris: Collection[str]) -> dict[str, Fact]:
        return {each.edge.id: each for each in self.facts if {each.edge.subject, each.edge.object} & set(iris)}

    def hubs(self, iris: Collection[str], most: int) -> set[str]:
        return {iri for iri in iris if len(self.facts_of([iri])) > most}


def scores(source: Facts, depth: int = 2, **arguments: object) -> dict[str, float]:
    walked = walk(source, {"urn:x:a": 1.0}, depth, moment=NOW, **arguments)  # type: ignore[arg-type]
    return {iri[-1]: round(reached.score, 3) for iri, reached in walked.reached.items()}


def test_the_score_is_the_mean_weight_over_the_length() -> None:
    chain = Facts(fact("a", "b"), fact("c", "b", 0.5), fact("c", "d"))
    assert scores(chain) == {"a": 1.0, "b": 0.5, "c": 0.25}
    assert scores(chain, depth=3)["d"] == round((2.5 / 3) / 4, 3)
    assert scores(chain, share=0.5) == {"a": 0.5, "b": 0.25, "c": 0.125}


def test_the_shortest_way_wins_and_of_equals_the_strongest() -> None:
    source = Facts(fact("a", "b", 0.1), fact("a", "c"), fact("c", "b"), fact("b", "d"), fact("c", "d"))
    walked = walk(source, {"urn:x:a": 1.0}, 2, moment=NOW)
    assert len(walked.reached["urn:x:b"].path) == 1
    assert walked.reached["urn:x:d"].path[0].end == "urn:x:c"


def test_what_does_not_hold_and_other_relations_are_not_followed() -> None:
    source = Facts(fact("a", "b", since="2026"), fact("a", "c", relation="fixes"), fact("a", "d"), fact("a", "a"))
    assert set(scores(source)) == {"a", "c", "d"}
    assert set(scores(source, predicate=USES)) == {"a", "d"}


def test_a_circle_ends() -> None:
    assert set(scores(Facts(fact("a", "b"), fact("b", "c"), fact("c", "a")), depth=9)) == {"a", "b", "c"}


def test_hubs_are_reached_and_not_walked_through() -> None:
    spokes = [fact(f"n{number}", "h") for number in range(HUB_EDGES)]
    source = Facts(fact("a", "h"), *spokes)
    walked = walk(source, {"urn:x:a": 1.0}, 2, moment=NOW)
    assert (set(walked.reached), walked.cut) == ({"urn:x:a", "urn:x:h"}, {"urn:x:h"})
    assert len(walk(source, {"urn:x:h": 1.0}, 1, moment=NOW).reached) == HUB_EDGES + 2


def test_a_path_in_words() -> None:
    reason = frozenset({"edge runtime"})
    first = fact("auth", "jose", since="2025-09-12")
    first = replace(first, assertions=(replace(first.assertions[0], reasoning=reason),))
    source = Facts(first, replace(fact("shop", "jose"), valid_to="2026"))
    walked = walk(source, {"urn:x:auth": 1.0}, 2, moment=NOW)

    def describe(iri: str) -> Description:
        name = iri.removeprefix("urn:x:")
        return Description(
            "library" if name == "jose" else "concept", name, {"provider": "x"} if name == "auth" else {}
        )

    assert path_in_words(walked.reached["urn:x:shop"].path, "urn:x:auth", describe) == (
        "[concept] auth (provider = x) --uses--> [library] jose (edge runtime) since 2025-09-12 "
        "<--uses-- [concept] shop until 2026"
    )
