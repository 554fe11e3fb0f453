"""The time that a question names, and how far a page lies from it."""

from __future__ import annotations

from datetime import datetime
from itertools import islice
from typing import Final

from wikimem.errors import Invalid
from wikimem.model.hit import PageRow
from wikimem.text.dates import Period, parse_date, parse_iso
from wikimem.text.lazyregex import lazily

LONGEST_PHRASE: Final = 6
"""Words of a date in words: `the day before yesterday`, `on the 5th of march 2025`."""
MOST_WORDS: Final = 64
"""How far into a question a date is looked for."""

_WORD = lazily(r"\S+")
_TRIGGER = lazily(
    r"\d{4}|ago$|^(?:last|past|previous|this|next|yesterday|today|tomorrow)$"
    r"|^(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)[a-z]*$"
    r"|[\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
)
_DOUBTFUL_ALONE: Final = frozenset({"march", "may", "second", "now"})
"""Words that are a date after `in`, `on` or `last`, and usually something else on their own."""
_YEAR = lazily(r"(?:19|20)\d\d")
_STAMP = lazily(r"(?<!\d)((?:19|20)\d\d-\d\d(?:-\d\d)?)(?!\d)")
_SECONDS_OF_A_DAY: Final = 86400.0


def find_period(text: str, now: datetime) -> Period | None:
    """Find the longest date in a question, the first among equals; None when it names none."""
    words = [match.group().strip("?!.,;:()\"'\u201c\u201d") for match in islice(_WORD.finditer(text), MOST_WORDS)]
    lowered = [word.lower() for word in words]
    for length in range(min(LONGEST_PHRASE, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            phrase = lowered[start : start + length]
            if not any(_TRIGGER.search(word) for word in phrase) or (length == 1 and _is_doubtful(phrase[0])):
                continue
            if lowered[start + length : start + length + 1] == ["ago"]:
                continue  # "in a month ago" is no month to come
            try:
                return parse_date(" ".join(phrase), now)
            except Invalid:
                continue
    return None


def distance_days(period: Period, page: PageRow) -> float | None:
    """Give the days between a period and the nearest date that the page states, 0 inside; None for an undated page.

    A page states a date by `valid_from`, by `created`, or by an ISO date in its title or file name, as session
    pages do.
    """
    dates = [moment for moment in (page.valid_from, page.created) if moment is not None]
    for place in (page.title, page.path.rsplit("/", 1)[-1]):
        stamp = _STAMP.search(place)
        written = parse_iso(stamp.group(1)) if stamp else None
        if written is not None:
            dates.append(written.start)
    if not dates:
        return None
    return min(_seconds_outside(period, moment) for moment in dates) / _SECONDS_OF_A_DAY


def length_days(period: Period) -> float:
    """Give the length of a period in days."""
    return (period.end - period.start).total_seconds() / _SECONDS_OF_A_DAY


def _seconds_outside(period: Period, moment: datetime) -> float:
    if moment < period.start:
        return (period.start - moment).total_seconds()
    return max((moment - period.end).total_seconds(), 0.0)


def _is_doubtful(word: str) -> bool:
    if word.isdigit():
        return _YEAR.fullmatch(word) is None
    # Three letters may be a month or a weekday, and just as well a name or a word (sun, sat, dec, jan).
    return word in _DOUBTFUL_ALONE or (word.isascii() and word.isalpha() and len(word) <= 3)
