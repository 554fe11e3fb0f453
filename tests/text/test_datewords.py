from __future__ import annotations

from datetime import datetime, timedelta

from wikimem.text.dates import parse_date, parse_duration
from wikimem.text.datewords import CALENDAR_WORDS, DAY_WORDS, MONTHS, SECONDS, UNITS, WEEKDAYS

NOW = datetime(2025, 4, 16, 10, 45, 30)


def test_every_day_word_names_the_day_so_far_from_today() -> None:
    for word, offset in DAY_WORDS.items():
        assert parse_date(word, NOW).start == datetime(2025, 4, 16) + timedelta(days=offset), word


def test_every_calendar_word_names_a_week_a_month_or_a_year() -> None:
    longest = {"week": 7, "month": 31, "year": 366}
    for word, (unit, offset) in CALENDAR_WORDS.items():
        found = parse_date(word, NOW)
        assert longest[unit] * 0.9 <= (found.end - found.start).days <= longest[unit], word
        assert (found.start <= NOW < found.end) == (offset == 0), word


def test_every_unit_is_a_duration_and_a_distance_in_time() -> None:
    for word, unit in UNITS.items():
        assert parse_duration(f"2 {word}") == 2 * SECONDS[unit], word
        assert parse_date(f"2 {word} ago", NOW).start < NOW, word


def test_every_month_and_weekday_is_found_by_its_name() -> None:
    for word, month in MONTHS.items():
        assert parse_date(f"{word} 2023", NOW).start == datetime(2023, month, 1), word
    for word, weekday in WEEKDAYS.items():
        assert parse_date(word, NOW).start.weekday() == weekday, word
