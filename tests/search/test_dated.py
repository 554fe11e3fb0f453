"""The time in a question is found where there is one, and not where there is none."""

from __future__ import annotations

from datetime import datetime

import pytest

from wikimem.model.hit import PageRow
from wikimem.search.dated import distance_days, find_period
from wikimem.text.dates import Period

NOW = datetime(2026, 3, 4, 12, 0)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("What did we decide yesterday?", (2026, 3, 3), (2026, 3, 4)),
        ("which tests failed the day before yesterday", (2026, 3, 2), (2026, 3, 3)),
        ("What broke in May 2025, and why?", (2025, 5, 1), (2025, 6, 1)),
        ("errors of 2025-09-12", (2025, 9, 12), (2025, 9, 13)),
        ("what was deployed last week?", (2026, 2, 23), (2026, 3, 2)),
        ("who joined on May 7, 2025 (Ana?)", (2025, 5, 7), (2025, 5, 8)),
        ("what did we plan in a month ago?", (2026, 2, 4), (2026, 2, 5)),
        ("지난주 배포 오류", (2026, 2, 23), (2026, 3, 2)),
    ],
)
def test_a_date_in_a_question(text: str, start: tuple[int, int, int], end: tuple[int, int, int]) -> None:
    assert find_period(text, NOW) == Period(datetime(*start), datetime(*end))


@pytest.mark.parametrize(
    "text",
    ["may we march on", "the sun sat there", "error 5000 on port 8080", "last resort", "second try", "(", "this page"],
)
def test_a_question_without_a_date(text: str) -> None:
    assert find_period(text, NOW) is None


def test_a_page_is_dated_by_its_fields_or_by_its_name() -> None:
    day = Period(datetime(2025, 9, 12), datetime(2025, 9, 13))

    def row(title: str, created: datetime | None = None) -> PageRow:
        return PageRow(1, f"{title}.md", "A", title, "session", "active", "r", "agent", created=created)

    assert distance_days(day, row("2025-09-12 0912 claude-code add-jwt-auth")) == 0
    assert distance_days(day, row("2025-09-10 late fix")) == 2
    assert distance_days(day, row("Deploy", datetime(2025, 9, 15))) == 2
    assert distance_days(day, row("Deploy")) is None
    assert distance_days(day, row("2025-99-99 odd")) is None
