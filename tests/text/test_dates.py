from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wikimem.errors import Invalid
from wikimem.text.dates import Period, parse_date, parse_duration, parse_iso

NOW = datetime(2025, 4, 16, 10, 45, 30)  # a Wednesday
DAY = 86400.0


@pytest.fixture
def seoul(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Asia/Seoul")
        time.tzset()
        yield
    time.tzset()


def period(start: str, end: str) -> Period:
    return Period(datetime.fromisoformat(start), datetime.fromisoformat(end))


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2025", "2025-01-01", "2026-01-01"),
        ("2025-02", "2025-02-01", "2025-03-01"),
        ("2024-02-29", "2024-02-29", "2024-03-01"),
        ("20240229", "2024-02-29", "2024-03-01"),
        ("2025-W10", "2025-03-03", "2025-03-10"),
        ("2020-W53", "2020-12-28", "2021-01-04"),
        ("2025-W10-7", "2025-03-09", "2025-03-10"),
        ("2025-03-15T10", "2025-03-15T10:00", "2025-03-15T11:00"),
        ("2025-03-15T10:00", "2025-03-15T10:00", "2025-03-15T10:01"),
        ("2025-03-15 10:00", "2025-03-15T10:00", "2025-03-15T10:01"),
        ("2025-03-15T10:00:07", "2025-03-15T10:00:07", "2025-03-15T10:00:08"),
        ("2025-03-15T10:00:07.123", "2025-03-15T10:00:07.123", "2025-03-15T10:00:07.124"),
        ("2025-12-31T23:59:59", "2025-12-31T23:59:59", "2026-01-01"),
        (" 2025-03-15\n", "2025-03-15", "2025-03-16"),
    ],
)
def test_an_iso_date_of_any_precision_is_a_half_open_period(text: str, start: str, end: str) -> None:
    assert parse_iso(text) == period(start, end)
    assert parse_date(text, NOW) == period(start, end)


@pytest.mark.usefixtures("seoul")
@pytest.mark.parametrize(
    "text",
    [
        "2025-03-15T01:00Z",
        "2025-03-15t01:00z",
        "2025-03-15T10:00+09:00",
        "2025-03-15 10:00+0900",
        "2025-03-15T02:00+01",
    ],
)
def test_a_time_with_a_zone_becomes_local_time(text: str) -> None:
    assert parse_iso(text) == period("2025-03-15T10:00", "2025-03-15T10:01")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "25",
        "yesterday",
        "2025-02-30",
        "2025-13",
        "2025-W54",
        "0000",
        "2025-03-15T25:00",
        "2025-3-15",
        "2025-03-15T10:00 or so",
        "no",
        "1.10",
        "12:30",
        "x" * 10_000,
    ],
)
def test_what_is_no_iso_date_is_none(text: str) -> None:
    assert parse_iso(text) is None


def test_the_last_year_of_the_calendar_ends_with_it() -> None:
    assert parse_iso("9999") == Period(datetime(9999, 1, 1), datetime.max)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("today", "2025-04-16", "2025-04-17"),
        ("Yesterday", "2025-04-15", "2025-04-16"),
        ("  tomorrow ", "2025-04-17", "2025-04-18"),
        ("the day before yesterday", "2025-04-14", "2025-04-15"),
        ("3 days ago", "2025-04-13", "2025-04-14"),
        ("a week ago", "2025-04-09", "2025-04-10"),
        ("3 weeks ago", "2025-03-26", "2025-03-27"),
        ("two months ago", "2025-02-16", "2025-02-17"),
        ("1 year ago", "2024-04-16", "2024-04-17"),
        ("12 hours ago", "2025-04-15T22:45", "2025-04-15T22:46"),
        ("in 2 weeks", "2025-04-30", "2025-05-01"),
        ("last 7 days", "2025-04-09T10:45:30", "2025-04-16T10:45:30"),
        ("past month", "2025-03-16T10:45:30", "2025-04-16T10:45:30"),
        ("last week", "2025-04-07", "2025-04-14"),
        ("this week", "2025-04-14", "2025-04-21"),
        ("next week", "2025-04-21", "2025-04-28"),
        ("last month", "2025-03-01", "2025-04-01"),
        ("this month", "2025-04-01", "2025-05-01"),
        ("next month", "2025-05-01", "2025-06-01"),
        ("last year", "2024-01-01", "2025-01-01"),
        ("next year", "2026-01-01", "2027-01-01"),
        ("last monday", "2025-04-14", "2025-04-15"),
        ("last wednesday", "2025-04-09", "2025-04-10"),
        ("next wednesday", "2025-04-23", "2025-04-24"),
        ("this friday", "2025-04-18", "2025-04-19"),
        ("wednesday", "2025-04-16", "2025-04-17"),
        ("on thu", "2025-04-10", "2025-04-11"),
        ("last march", "2025-03-01", "2025-04-01"),
        ("last april", "2024-04-01", "2024-05-01"),
        ("next april", "2026-04-01", "2026-05-01"),
        ("in may 2023", "2023-05-01", "2023-06-01"),
        ("May 2023", "2023-05-01", "2023-06-01"),
        ("in may", "2024-05-01", "2024-06-01"),
        ("april", "2025-04-01", "2025-05-01"),
        ("march 15 2025", "2025-03-15", "2025-03-16"),
        ("March 15th, 2025", "2025-03-15", "2025-03-16"),
        ("15 March 2025", "2025-03-15", "2025-03-16"),
        ("the 15th of march 2025", "2025-03-15", "2025-03-16"),
        ("dec 24", "2024-12-24", "2024-12-25"),
        ("feb 29", "2024-02-29", "2024-03-01"),
        ("2025/03/15", "2025-03-15", "2025-03-16"),
        ("2025-3-5", "2025-03-05", "2025-03-06"),
        ("Q2 2025", "2025-04-01", "2025-07-01"),
        ("2025-Q4", "2025-10-01", "2026-01-01"),
        ("yesterday 10:00", "2025-04-15T10:00", "2025-04-15T10:01"),
        ("march 15 2025 at 12am", "2025-03-15T00:00", "2025-03-15T00:01"),
        ("monday 3 pm", "2025-04-14T15:00", "2025-04-14T15:01"),
        ("어제", "2025-04-15", "2025-04-16"),
        ("오늘", "2025-04-16", "2025-04-17"),
        ("내일", "2025-04-17", "2025-04-18"),
        ("그제", "2025-04-14", "2025-04-15"),
        ("이틀 전", "2025-04-14", "2025-04-15"),
        ("지난주", "2025-04-07", "2025-04-14"),
        ("지난 주", "2025-04-07", "2025-04-14"),
        ("지난주 월요일", "2025-04-07", "2025-04-08"),
        ("지난달", "2025-03-01", "2025-04-01"),
        ("작년", "2024-01-01", "2025-01-01"),
        ("작년 3월", "2024-03-01", "2024-04-01"),
        ("3주 전", "2025-03-26", "2025-03-27"),
        ("일주일 전에", "2025-04-09", "2025-04-10"),
        ("3개월 전", "2025-01-16", "2025-01-17"),
        ("최근 30일", "2025-03-17T10:45:30", "2025-04-16T10:45:30"),
        ("2025년", "2025-01-01", "2026-01-01"),
        ("2025년 3월", "2025-03-01", "2025-04-01"),
        ("2025년 3월 15일", "2025-03-15", "2025-03-16"),
        ("3월 15일", "2025-03-15", "2025-03-16"),
        ("2025. 3. 15.", "2025-03-15", "2025-03-16"),
        ("2025年3月15日", "2025-03-15", "2025-03-16"),
        ("昨日", "2025-04-15", "2025-04-16"),
    ],
)
def test_words_are_relative_to_now(text: str, start: str, end: str) -> None:
    assert parse_date(text, NOW) == period(start, end)


def test_now_begins_now_and_is_not_empty() -> None:
    found = parse_date("now", NOW)
    assert found.start == NOW < found.end


def test_months_ago_from_a_long_month_stays_in_the_short_one() -> None:
    assert parse_date("1 month ago", datetime(2025, 3, 31)) == period("2025-02-28", "2025-03-01")


def test_new_year_is_the_border_of_last_year_and_last_week() -> None:
    new_year = datetime(2026, 1, 1)
    assert parse_date("last month", new_year) == period("2025-12-01", "2026-01-01")
    assert parse_date("this week", new_year) == period("2025-12-29", "2026-01-05")


@pytest.mark.parametrize(
    "text",
    [
        "2025-02-30",
        "29 feb 2023",
        "2025년 2월 30일",
        "2025-13",
        "2025-03-15T25:00",
        "april 31",
        "yesterday at 13pm",
        "999999 years ago",
        "0000",
    ],
)
def test_a_date_that_does_not_exist_is_refused_by_name(text: str) -> None:
    with pytest.raises(Invalid, match="is not a date that exists") as caught:
        parse_date(text, NOW)
    assert text in caught.value.message
    assert "2025-03-15" in caught.value.hint


@pytest.mark.parametrize("text", ["", "soon", "3 bananas ago", "last banana", "ago", "12:30", "1.10", "x" * 5_000_000])
def test_other_text_is_refused_with_examples(text: str) -> None:
    with pytest.raises(Invalid, match="is not a date") as caught:
        parse_date(text, NOW)
    assert "3 weeks ago" in caught.value.hint
    assert len(caught.value.message) < 100


def test_a_date_that_could_be_march_or_april_is_refused() -> None:
    with pytest.raises(Invalid, match="may have the day or the month first"):
        parse_date("03/04/2025", NOW)


@settings(max_examples=80, deadline=None)
@given(
    st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9998, 1, 1)),
    st.sampled_from(["%Y", "%Y-%m", "%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S"]),
)
def test_a_moment_lies_in_the_period_of_its_own_date(moment: datetime, form: str) -> None:
    text = moment.strftime(form).zfill(4) if form == "%Y" else moment.strftime(form)
    if moment.year < 1000:  # strftime does not pad years on every platform
        text = moment.isoformat(sep="T")[: {"%Y": 4, "%Y-%m": 7, "%Y-%m-%d": 10, "%Y-%m-%dT%H:%M": 16}.get(form, 19)]
    found = parse_iso(text)
    assert found is not None
    assert found.start <= moment < found.end


@settings(max_examples=150, deadline=None)
@given(
    st.text(max_size=40)
    | st.lists(
        st.sampled_from(
            [
                "last",
                "next",
                "march",
                "3",
                "weeks",
                "ago",
                "of",
                "in",
                "2025",
                "-",
                "/",
                "3월",
                "15일",
                "전",
                "monday",
                "10:00",
                "pm",
            ]
        ),
        max_size=5,
    ).map(" ".join)
)
def test_any_text_gives_a_period_or_is_refused(text: str) -> None:
    try:
        found = parse_date(text, NOW)
    except Invalid:
        return
    assert found.start <= found.end


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("P1Y", 365 * DAY),
        ("P6M", 180 * DAY),
        ("P30D", 30 * DAY),
        ("PT12H", DAY / 2),
        ("P1W", 7 * DAY),
        ("P1Y6M", 545 * DAY),
        ("P1DT1H1M1.5S", DAY + 3661.5),
        ("PT5M", 300),
        ("p0,5d", DAY / 2),
        ("30d", 30 * DAY),
        ("2 weeks", 14 * DAY),
        ("1y", 365 * DAY),
        ("1y 6mo", 545 * DAY),
        ("1 week and 2 days", 9 * DAY),
        ("a month", 30 * DAY),
        ("90 min", 5400),
        ("6개월", 180 * DAY),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "P", "PT", "P1DT", "1", "forever", "P1", "1 fortnight", "P1H", "2 weeks later", "x" * 5_000_000]
)
def test_what_is_no_duration_is_refused_with_examples(text: str) -> None:
    with pytest.raises(Invalid, match="is not a duration") as caught:
        parse_duration(text)
    assert "P30D" in caught.value.hint


@pytest.mark.parametrize("text", ["P0D", "-P1D", "0d", "-30d", "PT0S"])
def test_a_duration_is_longer_than_zero(text: str) -> None:
    with pytest.raises(Invalid, match="not longer than zero"):
        parse_duration(text)


def test_a_bare_m_could_be_months_or_minutes() -> None:
    with pytest.raises(Invalid, match="months or minutes"):
        parse_duration("6m")


def test_a_duration_ends_before_the_calendar_does() -> None:
    with pytest.raises(Invalid, match="9999 years"):
        parse_duration("P999999999Y")
    assert NOW - timedelta(seconds=parse_duration("P2024Y")) < NOW
