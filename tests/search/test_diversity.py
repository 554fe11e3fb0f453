"""At most three hits of one origin in a window, and never a shorter answer for it."""

from __future__ import annotations

from collections import Counter
from itertools import islice

from hypothesis import given, settings
from hypothesis import strategies as st

from wikimem.search.diversity import diversify

Item = tuple[int, str]
items = st.lists(st.sampled_from("aaabc-"), max_size=30).map(lambda keys: list(enumerate(keys)))


def spread(ranked: list[Item], window: int) -> list[Item]:
    return list(diversify(ranked, origins=_origins, verify=lambda item: item, window=window))


def _origins(item: Item) -> set[str]:
    return set() if item[1] == "-" else {item[1]}


@given(ranked=items, window=st.integers(1, 12))
@settings(max_examples=80)
def test_nothing_is_lost_or_given_twice(ranked: list[Item], window: int) -> None:
    assert sorted(spread(ranked, window)) == ranked


@given(ranked=items, window=st.integers(1, 12))
@settings(max_examples=80)
def test_a_fourth_hit_of_one_session_appears_only_when_nothing_else_is_left(ranked: list[Item], window: int) -> None:
    first = spread(ranked, window)[:window]
    counts = Counter(key for item in first for key in _origins(item))
    crowded = {key for key, count in counts.items() if count > 3}
    if crowded:
        available = [item for item in ranked if item not in first]
        full = {key for key, count in counts.items() if count >= 3}
        assert all(_origins(item) & full for item in available)


def test_the_best_three_of_a_session_stay_and_the_fourth_waits_for_the_next_window() -> None:
    ranked = [(n, "a") for n in range(5)] + [(5, "b"), (6, "-")]
    assert [n for n, _ in spread(ranked, 5)] == [0, 1, 2, 5, 6, 3, 4]


def test_places_that_nothing_else_can_take_are_filled_with_what_was_held_back() -> None:
    ranked = [(n, "a") for n in range(5)] + [(5, "b")]
    assert [n for n, _ in spread(ranked, 5)] == [0, 1, 2, 5, 3, 4]


def test_a_hit_that_fails_its_check_takes_nobodys_room() -> None:
    ranked = [(n, "a") for n in range(5)] + [(5, "b")]
    gone = {0, 1}
    kept = diversify(ranked, origins=_origins, verify=lambda i: None if i[0] in gone else i, window=4)
    assert [n for n, _ in kept] == [2, 3, 4, 5]


def test_a_page_of_two_sessions_counts_for_both() -> None:
    ranked = ["ab", "ab", "ab", "a", "b", "c"]
    assert list(diversify(ranked, origins=set, verify=lambda i: i, window=4)) == ["ab", "ab", "ab", "c", "a", "b"]


def test_only_what_is_given_is_checked() -> None:
    """The check reads a page from disk: a page of hits must not read the whole ranking."""
    checked: list[int] = []

    def verify(item: Item) -> Item:
        checked.append(item[0])
        return item

    ranked = [(n, "-") for n in range(100)]
    list(islice(diversify(ranked, origins=_origins, verify=verify, window=5), 5))
    assert len(checked) == 5
