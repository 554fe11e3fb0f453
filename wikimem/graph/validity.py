"""When an edge holds: starts and ends of any precision, compared honestly.

A date is the period that it names: `2025` is a year, `2025-03-15` a day. A start lies somewhere in its period, and so
does an end; a question asks about the last moment of its date. Then an edge

    holds      when all of its start's period is over and no part of its end's period has begun
    may hold   when part of the start's period, or of the end's, has been reached, but not all of it
    does not   before its start's period begins, or once its end's period is over

Two days compare as people expect: on 2025-09-12 what began on 2025-09-12 holds, and what ended then does not.
An edge without a start has always held, one without an end still does.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Literal

from wikimem.graph.vocabulary import OPEN_END
from wikimem.text.dates import Period, parse_date, parse_iso

Holds = Literal["yes", "maybe", "no"]


def moment_of(date: str | None, now: datetime, name: str = "as_of") -> datetime:
    """The first instant after the date that a question names; after today where it names none. Raises Invalid
    naming the parameter `name`."""
    return parse_date(date, now, name).end if date else _tomorrow(now)


def _tomorrow(now: datetime) -> datetime:
    local = now.astimezone().replace(tzinfo=None) if now.tzinfo else now
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight + timedelta(days=1) if midnight.date() < datetime.max.date() else datetime.max


def holds_at(valid_from: str | None, valid_to: str | None, moment: datetime) -> Holds:
    """Whether an edge holds just before `moment` (the end of the date that was asked about)."""
    start, end = _period(valid_from), _period(valid_to)
    if ends_before_start(valid_from, valid_to):
        return "no"
    if (start and start.start >= moment) or (end and end.end <= moment):
        return "no"
    if (start and start.end > moment) or (end and end.start < moment):
        return "maybe"
    return "yes"


def ends_before_start(valid_from: str | None, valid_to: str | None) -> bool:
    """Whether an end is wholly before its start: then no date lies between them."""
    start, end = _period(valid_from), _period(valid_to)
    return start is not None and end is not None and end.end <= start.start


def holds_on_no_day(valid_from: str | None, valid_to: str | None) -> bool:
    """Whether no day is both in its start's period, or after it, and before all of its end's period is over: what
    begins and ends on one day holds on none."""
    start, end = _period(valid_from), _period(valid_to)
    if start is None or end is None:
        return False
    first = start.start.replace(hour=0, minute=0, second=0, microsecond=0)
    return end.end - first <= timedelta(days=1)


def overlap(first: tuple[str | None, str | None], second: tuple[str | None, str | None]) -> bool:
    """Whether two validities (start, end) may share a moment."""
    return _may_begin_before(first[0], second[1]) and _may_begin_before(second[0], first[1])


def _may_begin_before(start: str | None, end: str | None) -> bool:
    begins, ends = _period(start), _period(end)
    return begins is None or ends is None or begins.start < ends.end


def date_text(text: str, now: datetime, name: str = "") -> str:
    """A date as it is stored: ISO 8601 of the precision that was given; a time in UTC, with seconds.

    Words such as `last march` become the day that they begin on. Raises Invalid for what is no date.
    """
    text = text.strip()
    if text == OPEN_END:
        return text
    period = parse_iso(text)
    if period is None:
        return parse_date(text, now, name).start.date().isoformat()
    if period.end - period.start >= timedelta(days=1):
        return text
    return period.start.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def sort_key(text: str | None) -> datetime:
    """The first instant of a date; before all others where there is none."""
    period = _period(text)
    return period.start if period else datetime.min


def _period(text: str | None) -> Period | None:
    return None if not text or text == OPEN_END else parse_iso(text)
