"""Boosts are light, bounded, and say what they are for."""

from __future__ import annotations

from datetime import datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from wikimem.model.hit import PageRow
from wikimem.search.boosts import DATE, LARGEST_BOOST, NAME, PHRASE, TITLE, date_boosts, page_boosts, phrase_boost
from wikimem.search.query import parse_query

NOW = datetime(2026, 3, 1, 12, 0)
WORDS = ["jose", "token", "edge", "Joanna", "deploy", "parseToken", "認証"]


def row(**fields: object) -> PageRow:
    plain: dict[str, object] = {
        "number": 1, "path": "a.md", "id": "A", "title": "Untitled", "type": "fact",
        "status": "active", "revision": "r", "trust": "human",
    }  # fmt: skip
    return PageRow(**{**plain, **fields})  # type: ignore[arg-type]


@given(
    text=st.lists(st.sampled_from(WORDS), min_size=1).map(" ".join),
    title=st.lists(st.sampled_from(WORDS), min_size=1).map(" ".join),
    heading=st.lists(st.sampled_from(WORDS)).map(" > ".join),
    confidence=st.none() | st.floats(-1, 2),
    importance=st.none() | st.floats(-1, 2),
    age_days=st.floats(-1000, 100000),
    pinned=st.booleans(),
)
@settings(max_examples=100)
def test_all_boosts_together_never_exceed_a_fifth_besides_the_date(
    text: str,
    title: str,
    heading: str,
    confidence: float | None,
    importance: float | None,
    age_days: float,
    pinned: bool,
) -> None:
    query = parse_query(f'{text} "{title}" last week', NOW)
    page = row(
        title=title, confidence=confidence, importance=importance, created=NOW - timedelta(days=age_days), pinned=pinned
    )
    shares = page_boosts(query, page, heading, now=NOW) | phrase_boost(query, title)
    assert -0.0401 <= sum(shares.values()) <= LARGEST_BOOST + 1e-12
    assert LARGEST_BOOST <= 0.2


def dates(text: str, *days: datetime | None) -> list[float]:
    return date_boosts(parse_query(text, NOW), [row(created=day) for day in days])


def boost(text: str, **fields: object) -> dict[str, float]:
    return page_boosts(parse_query(text, NOW), row(**fields), "", now=NOW)


def test_a_title_in_the_question_counts_by_how_much_of_it_is_asked_for() -> None:
    assert boost("how do we deploy the worker", title="Deploy the worker")["title"] == TITLE
    assert 0 < boost("how do we deploy", title="Deploy the worker")["title"] < TITLE
    assert "title" not in boost("how do we bake bread", title="Deploy the worker")


def test_an_alias_counts_like_a_title() -> None:
    assert boost("what is k8s", title="Kubernetes", aliases=("k8s",))["title"] == TITLE


def test_a_title_in_another_script_counts_too() -> None:
    assert boost("認証トークンの期限は", title="認証トークン")["title"] == TITLE


def test_a_page_about_the_person_in_the_question_is_lifted_over_one_about_another() -> None:
    joanna = boost("What are Joanna's hobbies?", title="Joanna (designer)")
    nate = boost("What are Joanna's hobbies?", title="Nate's hobbies")
    assert joanna["name"] == NAME
    assert "name" not in nate


def test_confidence_moves_both_ways_and_silence_is_neutral() -> None:
    assert boost("x", confidence=1.0)["confidence"] > 0
    assert boost("x", confidence=0.2)["confidence"] < 0
    assert "confidence" not in boost("x", confidence=None)


def test_freshness_halves_with_age_and_the_checkout_time_does_not_make_an_old_page_new() -> None:
    old = NOW - timedelta(days=900)
    fresh = boost("x", created=NOW - timedelta(days=1))["freshness"]
    assert boost("x", created=NOW - timedelta(days=91))["freshness"] < 0.51 * fresh
    assert boost("x", created=old, mtime=NOW)["freshness"] < 0.01 * fresh
    assert boost("x", created=old, confirmed=NOW)["freshness"] > fresh
    assert boost("x", mtime=NOW)["freshness"] > fresh


def test_a_phrase_is_found_over_line_breaks_and_case() -> None:
    query = parse_query('the "edge runtime" rule', NOW)
    assert phrase_boost(query, "On the Edge\n  runtime, no crypto.") == {"phrase": PHRASE}
    assert phrase_boost(query, "runtime at the edge") == {}


def test_a_page_of_the_time_that_the_question_names_is_lifted() -> None:
    days = (datetime(2026, 2, 20), datetime(2026, 2, 27), datetime(2024, 2, 20), None)
    within, near, far, undated = dates("what broke last week", *days)
    assert DATE / 3 < within < DATE
    assert 0 < near < within
    assert far < 1e-9
    assert undated == 0
    assert dates("what broke", *days) == [0.0] * len(days)


def test_a_time_that_most_pages_share_says_little() -> None:
    of_the_week, other = datetime(2026, 2, 20), datetime(2024, 2, 20)
    alone = dates("what broke last week", of_the_week, *[other] * 19)[0]
    common = dates("what broke last week", *[of_the_week] * 18, other, other)[0]
    assert common < alone / 4
