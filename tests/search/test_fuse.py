"""Fusion: whatever the lists, the parts add up, the order of lists does not matter, and a better rank never hurts."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wikimem.search.fuse import ConvexFusion, Fusion, Ranking, ReciprocalRankFusion

FUSIONS: list[Fusion] = [ReciprocalRankFusion(), ConvexFusion()]

scores = st.floats(min_value=-1.0, max_value=30.0, allow_nan=False)


def ranking() -> st.SearchStrategy[Ranking]:
    entries = st.dictionaries(st.integers(0, 12), scores, max_size=10)
    return entries.map(lambda found: sorted(found.items(), key=lambda entry: (-entry[1], entry[0])))


def rankings() -> st.SearchStrategy[dict[str, Ranking]]:
    return st.dictionaries(st.sampled_from(["words", "vectors", "graph"]), ranking(), min_size=1)


@pytest.mark.parametrize("fusion", FUSIONS, ids=lambda fusion: fusion.name)
@given(lists=rankings())
@settings(max_examples=60)
def test_parts_add_up_to_the_score_exactly(fusion: Fusion, lists: dict[str, Ranking]) -> None:
    for entry in fusion.fuse(lists):
        assert math.fsum(entry.parts.values()) == entry.score
        assert entry.parts.keys() == entry.ranks.keys()


@pytest.mark.parametrize("fusion", FUSIONS, ids=lambda fusion: fusion.name)
@given(lists=rankings())
@settings(max_examples=60)
def test_the_order_in_which_streams_are_given_does_not_matter(fusion: Fusion, lists: dict[str, Ranking]) -> None:
    assert fusion.fuse(lists) == fusion.fuse(dict(reversed(lists.items())))


@pytest.mark.parametrize("fusion", FUSIONS, ids=lambda fusion: fusion.name)
@given(lists=rankings())
@settings(max_examples=60)
def test_everything_found_is_ranked_once_best_first(fusion: Fusion, lists: dict[str, Ranking]) -> None:
    fused = fusion.fuse(lists)
    assert {entry.key for entry in fused} == {key for found in lists.values() for key, _ in found}
    assert len({entry.key for entry in fused}) == len(fused)
    assert [(-e.score, e.key) for e in fused] == sorted((-e.score, e.key) for e in fused)


@pytest.mark.parametrize("fusion", FUSIONS, ids=lambda fusion: fusion.name)
@given(lists=rankings())
@settings(max_examples=60)
def test_the_short_way_to_the_order_gives_the_same(fusion: Fusion, lists: dict[str, Ranking]) -> None:
    assert fusion.order(lists) == [entry.key for entry in fusion.fuse(lists)]


@given(lists=rankings(), stream=st.sampled_from(["words", "vectors", "graph"]), place=st.integers(1, 9))
@settings(max_examples=80)
def test_a_better_rank_in_one_stream_never_lowers_the_score(lists: dict[str, Ranking], stream: str, place: int) -> None:
    found = list(lists.get(stream, ()))
    if place >= len(found):
        return
    climber = found[place][0]
    found[place - 1], found[place] = found[place], found[place - 1]
    before = {entry.key: entry.score for entry in ReciprocalRankFusion().fuse(lists)}
    after = {entry.key: entry.score for entry in ReciprocalRankFusion().fuse({**lists, stream: found})}
    assert after[climber] > before[climber]


def test_ranks_count_from_one_and_weights_are_renormalised_over_the_streams_that_answered() -> None:
    fused = ReciprocalRankFusion().fuse({"words": [(7, 3.0), (8, 1.0)], "graph": []})
    assert [(entry.key, entry.ranks) for entry in fused] == [(7, {"words": 1}), (8, {"words": 2})]
    assert fused[0].score == pytest.approx((0.4 / 0.7) / 61)


def test_equal_scores_are_ordered_by_key() -> None:
    fused = ReciprocalRankFusion({"words": 1.0, "vectors": 1.0}).fuse({"words": [(9, 1.0)], "vectors": [(4, 0.5)]})
    assert [entry.key for entry in fused] == [4, 9]


def test_a_key_that_comes_twice_counts_where_it_came_first() -> None:
    fused = ReciprocalRankFusion().fuse({"words": [(1, 5.0), (1, 4.0), (2, 3.0)]})
    assert {entry.key: entry.ranks["words"] for entry in fused} == {1: 1, 2: 2}


def test_convex_fusion_keeps_the_distance_between_scores() -> None:
    """Where one stream is sure and another is not, the sure one decides; ranks alone would call it a draw."""
    lists: dict[str, Ranking] = {"words": [(1, 20.0), (2, 2.0), (3, 1.0)], "vectors": [(2, 0.40), (1, 0.39), (3, 0.0)]}
    even = {"words": 1.0, "vectors": 1.0}
    assert ConvexFusion(even).fuse(lists)[0].key == 1


def test_a_distant_link_stays_distant_in_convex_fusion() -> None:
    """The graph scores from 0 to 1 by itself; its best find may still be a weak one."""
    words = [(1, 9.0), (2, 5.0), (3, 1.0)]
    lists: dict[str, Ranking] = {"words": words, "page": words, "graph": [(4, 0.25)]}
    assert [entry.key for entry in ConvexFusion().fuse(lists)] == [1, 2, 4, 3]


def test_where_pages_are_single_passages_the_whole_page_says_nothing_and_meaning_more() -> None:
    lists: dict[str, Ranking] = {
        "words": [(1, 2.0), (2, 1.0)],
        "page": [(1, 2.0), (2, 1.0)],
        "vectors": [(2, 0.9), (1, 0.1)],
    }
    long, flat = ConvexFusion().fuse(lists), ConvexFusion().fuse(lists, company=0.0)
    assert [entry.key for entry in long] == [1, 2]
    assert [entry.key for entry in flat] == [2, 1]
    assert {entry.parts["page"] for entry in flat} == {0.0}


def test_reciprocal_ranks_are_of_streams_alone() -> None:
    fused = ReciprocalRankFusion().fuse({"words": [(1, 2.0)], "page": [(1, 2.0)], "closeness": [(1, 0.5)]})
    assert [set(entry.parts) for entry in fused] == [{"words"}]
