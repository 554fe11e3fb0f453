"""Metrics and their intervals: worked by hand on small rankings, and by properties on any."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikimem.search.evaluation import METRICS, compare, percentile, places, score, summarise

names = st.sampled_from("abcdefgh")
rankings = st.lists(st.sets(names, max_size=2), max_size=14)
golds = st.sets(names, min_size=1, max_size=4)


def test_the_only_answer_in_second_place() -> None:
    got = score([["x"], ["a"]], {"a"})
    assert got == {
        "R@1": 0.0,
        "R@5 any": 1.0,
        "R@5 all": 1.0,
        "R@10 any": 1.0,
        "MRR@10": 0.5,
        "NDCG@10": pytest.approx(1 / math.log2(3)),
    }


def test_one_of_two_answers_within_five_is_any_and_not_all() -> None:
    got = score([["a"], [], [], [], [], ["b"]], {"a", "b"})
    assert (got["R@1"], got["R@5 any"], got["R@5 all"]) == (1.0, 1.0, 0.0)
    best = 1 + 1 / math.log2(3)
    assert got["NDCG@10"] == pytest.approx((1 + 1 / math.log2(7)) / best)


def test_what_comes_after_the_tenth_place_counts_for_nothing() -> None:
    assert set(score([[]] * 10 + [["a"]], {"a"}).values()) == {0.0}


def test_nothing_found_is_zero_throughout() -> None:
    assert set(score([], {"a"}).values()) == {0.0}


def test_an_answer_counts_where_it_comes_first() -> None:
    assert places([["x"], ["a"], ["a", "b"]], {"a", "b"}) == {"a": 2, "b": 3}


@given(rankings, golds)
def test_every_metric_is_a_share_and_they_agree_with_each_other(ranked: list[set[str]], wanted: set[str]) -> None:
    got = score(ranked, wanted)
    assert set(got) == set(METRICS)
    assert all(0 <= value <= 1 for value in got.values())
    assert got["R@1"] <= got["R@5 any"] <= got["R@10 any"]
    assert got["R@5 all"] <= got["R@5 any"]
    assert got["R@1"] <= got["MRR@10"] <= got["R@10 any"]


@given(rankings, golds)
def test_a_page_more_in_front_never_helps(ranked: list[set[str]], wanted: set[str]) -> None:
    pushed = score([set(), *ranked], wanted)
    assert all(pushed[metric] <= score(ranked, wanted)[metric] for metric in METRICS)


def test_intervals_hold_the_mean_and_are_the_same_again() -> None:
    rows = [score([["a"]] if number % 3 else [["b"], ["a"]], {"a"}) for number in range(40)]
    got = summarise(rows)
    assert got == summarise(rows)
    assert got["R@1"].mean == pytest.approx(26 / 40)
    assert got["R@1"].low < 26 / 40 < got["R@1"].high
    assert (got["R@5 any"].low, got["R@5 any"].high) == (1.0, 1.0)


def test_more_questions_narrow_the_interval() -> None:
    few = [score([["a"]] if number % 2 else [], {"a"}) for number in range(10)]
    narrow, wide = summarise(few * 20)["R@1"], summarise(few)["R@1"]
    assert narrow.high - narrow.low < wide.high - wide.low


def test_a_small_change_on_hard_and_easy_questions_alike_is_seen_when_they_are_paired() -> None:
    """The same sets seen as two groups overlap; each question for itself became better."""
    before = [dict.fromkeys(METRICS, number / 50) for number in range(40)]
    after = [dict.fromkeys(METRICS, number / 50 + 0.02) for number in range(40)]
    apart = summarise(before)["NDCG@10"], summarise(after)["NDCG@10"]
    assert apart[0].high > apart[1].low
    change = compare(before, after)["NDCG@10"]
    assert (change.low, change.mean, change.high) == pytest.approx((0.02, 0.02, 0.02))


def test_sides_of_different_questions_are_not_compared() -> None:
    with pytest.raises(ValueError, match="shorter"):
        compare([score([["a"]], {"a"})], [])


def test_percentiles_are_values_that_occurred() -> None:
    times = [float(number) for number in range(1, 101)]
    assert (percentile(times, 0.5), percentile(times, 0.95), percentile([7.0], 0.95)) == (50.0, 95.0, 7.0)
