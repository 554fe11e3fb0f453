"""When an edge holds, whatever the precision of its dates."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikimem.graph.validity import date_text, ends_before_start, holds_at, moment_of, overlap

NOW = datetime(2025, 12, 1, 10, 30)


@pytest.mark.parametrize(
    ("valid_from", "valid_to", "as_of", "holds"),
    [
        (None, None, "2025-03-15", "yes"),
        ("2025-02-03", "2025-09-12", "2025-02-02", "no"),
        ("2025-02-03", "2025-09-12", "2025-02-03", "yes"),
        ("2025-02-03", "2025-09-12", "2025-09-11", "yes"),
        ("2025-02-03", "2025-09-12", "2025-09-12", "no"),
        ("2025-09-12", None, "2025-09-12", "yes"),
        ("2025-09-12", None, "2025-09-11", "no"),
        ("2025", None, "2024-12-31", "no"),
        ("2025", None, "2025-03-15", "maybe"),
        ("2025", None, "2025-12-31", "yes"),
        ("2025-03", None, "2025-03-15", "maybe"),
        ("2025-03", None, "2025-03", "yes"),
        ("2025-03", None, "2025", "yes"),
        (None, "2025", "2024-12-31", "yes"),
        (None, "2025", "2025-06-01", "maybe"),
        (None, "2025", "2025-12-31", "no"),
        (None, "2025-09-12", "2025-09-12T08:00", "maybe"),
        ("2025-09-12T08:00:00", None, "2025-09-12T07:59:59", "no"),
        ("2025-09-12T08:00:00", None, "2025-09-12T08:00:00", "yes"),
        ("2025-09-12", None, "2025-09-12T08:00", "maybe"),
        ("2025-09-12", "2025-02-03", "2025-06-01", "no"),
        ("2025", "2025", "2025-06-01", "maybe"),
        (None, "..", "2025-06-01", "yes"),
    ],
)
def test_dates_of_any_precision(valid_from: str | None, valid_to: str | None, as_of: str, holds: str) -> None:
    assert holds_at(valid_from, valid_to, moment_of(as_of, NOW)) == holds


def test_without_a_date_the_question_is_about_today() -> None:
    moment = moment_of(None, NOW)
    assert holds_at("2025-12-01", None, moment) == "yes"
    assert holds_at(None, "2025-12-01", moment) == "no"
    assert holds_at("2025-12-02", None, moment) == "no"


def test_an_end_before_its_start() -> None:
    assert ends_before_start("2025-09-12", "2025-02-03")
    assert ends_before_start("2025-09", "2025-08-31")
    assert not ends_before_start("2025-09", "2025-09-12")
    assert not ends_before_start("2025", "2025-01-01")
    assert not ends_before_start(None, "2025")


def test_disjoint_validities() -> None:
    assert not overlap(("2024", "2024-06"), ("2025", None))
    assert overlap(("2024", "2025-06"), ("2025", None))
    assert overlap((None, None), ("2025", "2025"))


def test_a_date_is_kept_as_exactly_as_it_was_given() -> None:
    assert [date_text(text, NOW) for text in ("2025", "2025-03", "2025-03-15", "..")] == [
        "2025",
        "2025-03",
        "2025-03-15",
        "..",
    ]
    assert date_text("yesterday", NOW) == "2025-11-30"
    assert date_text("2025-03-15T10:00:00Z", NOW) == "2025-03-15T10:00:00Z"


days = st.dates(datetime(2020, 1, 1).date(), datetime(2030, 12, 31).date())
precise = st.builds(lambda day, size: day.isoformat()[:size], days, st.sampled_from([4, 7, 10]))


@given(precise, precise, days)
def test_what_certainly_holds_holds_wherever_the_dates_really_lie(start: str, end: str, asked: datetime) -> None:
    """`yes` and `no` are right for the first and for the last day that a date may mean; else it says `maybe`."""
    from wikimem.text.dates import parse_iso

    first, last = parse_iso(start), parse_iso(end)
    assert first
    assert last
    moment = moment_of(asked.isoformat(), NOW)
    said = holds_at(start, end, moment)
    exact = {
        begins < moment and ends + timedelta(days=1) > moment
        for begins in (first.start, first.end - timedelta(days=1))
        for ends in (last.start, last.end - timedelta(days=1))
    }
    if said == "yes":
        assert exact == {True}
    elif said == "no" and not ends_before_start(start, end):
        assert exact == {False}
