"""From the arguments of an operation to the filter of the streams."""

from __future__ import annotations

from datetime import datetime

import pytest

from wikimem.errors import Invalid
from wikimem.search.filters import make_filter
from wikimem.text.dates import Period

NOW = datetime(2026, 3, 1, 12, 0)
DAY = Period(datetime(2025, 9, 12), datetime(2025, 9, 13))


def test_nothing_said_means_active_pages_that_hold_now() -> None:
    where = make_filter(now=NOW)
    assert (where.statuses, where.as_of, where.any_time) == (("active",), NOW, False)


def test_a_past_date_admits_what_was_replaced_since_and_reaches_to_the_end_of_that_date() -> None:
    where = make_filter(now=NOW, as_of=DAY)
    assert where.statuses == ("active", "superseded", "expired", "archived")
    assert where.as_of.date() == datetime(2025, 9, 12).date()
    assert where.as_of > datetime(2025, 9, 12, 23, 59, 59)
    assert not where.any_time


def test_a_past_date_with_a_status_keeps_to_that_status() -> None:
    assert make_filter(now=NOW, as_of=DAY, status="active").statuses == ("active",)


def test_any_lifts_the_status_and_a_status_is_wanted_whenever_it_held() -> None:
    assert make_filter(now=NOW, status="any").statuses == ()
    assert make_filter(now=NOW, status="any").any_time
    superseded = make_filter(now=NOW, status="superseded")
    assert (superseded.statuses, superseded.any_time) == (("superseded",), True)
    assert not make_filter(now=NOW, status="active").any_time
    assert not make_filter(now=NOW, status="any", as_of=DAY).any_time


def test_unknown_names_are_refused_with_the_choice() -> None:
    with pytest.raises(Invalid, match="no status 'old'"):
        make_filter(now=NOW, status="old")
    with pytest.raises(Invalid, match="no type 'memo'") as refused:
        make_filter(now=NOW, types=["memo"])
    assert "decision" in refused.value.hint


def test_a_tag_may_be_written_with_its_hash() -> None:
    assert make_filter(now=NOW, tags=["#auth", "edge"]).tags == ("auth", "edge")
