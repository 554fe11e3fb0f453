"""Dates and durations that people write, as half-open periods of local time.

A date of any precision is a period: `2025` is the whole year, `2025-03-15T10:00` one minute. Callers take `start`
where they need the first instant (frontmatter) and `end` where a question asks what held as of that date.

    Period  parse_iso  parse_date  parse_duration

Words are English and Korean, and the plain forms of Japanese and Chinese. They are relative to `now`, which the
caller gives; nothing here reads the clock. What is ambiguous is settled so:

    3 weeks ago, 2 months ago   that one day, not the week or month around it; hours and minutes: that minute
    last week                   the calendar week before this one, Monday to Sunday
    last monday                 the latest Monday before today, last march the latest March that is over
    may, may 5, monday          the latest that has begun, since memory is about the past
    last 30 days                from 30 days before now until now
    03/04/2025                  refused: day and month cannot be told apart
"""

from __future__ import annotations

import calendar
import re
import unicodedata
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from wikimem.errors import Invalid
from wikimem.text.datewords import (
    A_MONTH,
    A_NUMBER,
    A_UNIT,
    A_WEEK_WORD,
    A_WEEKDAY,
    A_YEAR_WORD,
    CALENDAR_WORDS,
    DAY_WORDS,
    MONTHS,
    NUMBERS,
    SECONDS,
    STEPS,
    UNITS,
    WEEKDAYS,
)
from wikimem.text.lazyregex import lazily

_LONGEST: Final = 100
"""Characters of a date or duration in words; longer text is refused unread."""

_SHOWN: Final = 60
"""Characters of a refused text that the message repeats."""


class Period(Struct, frozen=True):
    """`start` up to and not including `end`: naive local time."""

    start: datetime
    end: datetime


def _day(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _after(start: datetime, length: timedelta) -> Period:
    try:
        return Period(start, start + length)
    except OverflowError:
        return Period(start, datetime.max)


def _day_of(year: int, month: int, day: int) -> Period:
    return _after(datetime(year, month, day), timedelta(days=1))


def _month_of(year: int, month: int) -> Period:
    return _after(datetime(year, month, 1), timedelta(days=calendar.monthrange(year, month)[1]))


def _year_of(year: int) -> Period:
    return _after(datetime(year, 1, 1), timedelta(days=366 if calendar.isleap(year) else 365))


_ISO_DATE: Final = lazily(r"(\d{4})(?:-W(\d\d)(?:-([1-7]))?|-(\d\d)(?:-(\d\d))?|(\d\d)(\d\d))?", re.ASCII)
_ISO_TIME: Final = lazily(
    r"(\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d{1,9}))?)?)?\s?(Z|[+-]\d\d(?::?\d\d)?)?", re.ASCII | re.IGNORECASE
)


def parse_iso(text: str) -> Period | None:
    """The period of an ISO 8601 date or time of any precision, None for any other text and for impossible dates.

    A space may stand for the `T`. A time with a zone is converted to local time.
    """
    text = text.strip()
    if not 4 <= len(text) <= _LONGEST:
        return None
    date, time = text, ""
    if match := re.match(r"([\dW-]{8,10})(?:[Tt]|[ ]+)(?=\d)", text, re.ASCII):
        date, time = match[1], text[match.end() :]
    try:
        day = _iso_day(date)
        return _iso_time(day.start, time) if day and time else day
    except (ValueError, OverflowError):
        return None


def _iso_day(text: str) -> Period | None:
    match = _ISO_DATE.fullmatch(text)
    if match is None:
        return None
    year, week, weekday, month, day, short_month, short_day = match.groups()
    if week:
        start = datetime.fromisocalendar(int(year), int(week), int(weekday or 1))
        return _after(start, timedelta(days=1 if weekday else 7))
    month, day = month or short_month, day or short_day
    if day:
        return _day_of(int(year), int(month), int(day))
    return _month_of(int(year), int(month)) if month else _year_of(int(year))


def _iso_time(day: datetime, text: str) -> Period | None:
    match = _ISO_TIME.fullmatch(text)
    if match is None:
        return None
    hour, minute, second, fraction, zone = match.groups()
    start = day.replace(hour=int(hour), minute=int(minute or 0), second=int(second or 0))
    length = timedelta(hours=1) if not minute else timedelta(seconds=1 if second else 60)
    if fraction:
        start = start.replace(microsecond=int(fraction[:6].ljust(6, "0")))
        length = timedelta(microseconds=10 ** max(0, 6 - len(fraction)))
    if zone:
        offset = "+00:00" if zone in "zZ" else zone if len(zone) != 3 else zone + ":00"
        aware = datetime.fromisoformat(start.isoformat() + (offset if ":" in offset else f"{offset[:3]}:{offset[3:]}"))
        start = aware.astimezone().replace(tzinfo=None)
    return _after(start, length)


def _shift_months(moment: datetime, months: int) -> datetime:
    """The same day so many months away, or the last day of that month where it is shorter."""
    year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
    return moment.replace(
        year=year, month=month + 1, day=min(moment.day, calendar.monthrange(max(year, 1), month + 1)[1])
    )


def _shift(now: datetime, count: int, unit: str) -> datetime:
    if unit in ("month", "year"):
        return _shift_months(now, count * (12 if unit == "year" else 1))
    return now + timedelta(seconds=count * SECONDS[unit])


def _count(text: str) -> int:
    return NUMBERS[text] if text in NUMBERS else int(text or 1)


def _distance(match: re.Match[str], now: datetime, sign: int) -> Period:
    unit = UNITS[match["unit"]]
    moment = _shift(now, sign * _count(match["n"]), unit)
    if unit in ("second", "minute", "hour"):
        return _after(moment.replace(second=0, microsecond=0), timedelta(minutes=1))
    return _after(_day(moment), timedelta(days=1))


def _span(match: re.Match[str], now: datetime) -> Period:
    return Period(_shift(now, -_count(match["n"]), UNITS[match["unit"]]), now)


def _calendar(unit: str, offset: int, now: datetime) -> Period:
    if unit == "week":
        return _after(_day(now) + timedelta(days=7 * offset - now.weekday()), timedelta(days=7))
    if unit == "month":
        first = _shift_months(_day(now).replace(day=1), offset)
        return _month_of(first.year, first.month)
    return _year_of(now.year + offset)


def _weekday(name: str, step: int | None, now: datetime) -> Period:
    """`step` None: the latest, today included; -1 the latest before today; 0 of this week; 1 the first after today."""
    wanted, today = WEEKDAYS[name], now.weekday()
    offset = {None: -((today - wanted) % 7), -1: -((today - wanted - 1) % 7 + 1), 0: wanted - today,
              1: (wanted - today - 1) % 7 + 1}[step]  # fmt: skip
    return _after(_day(now) + timedelta(days=offset), timedelta(days=1))


def _month(month: int, step: int | None, now: datetime) -> Period:
    """`step` as for `_weekday`, with this month for today and this year for this week."""
    year = now.year
    if (step is None and month > now.month) or (step == -1 and month >= now.month):
        year -= 1
    elif step == 1 and month <= now.month:
        year += 1
    return _month_of(year, month)


def _month_day(month: int, day: int, now: datetime) -> Period:
    """The latest such day that has begun; 29 February looks back to the last leap year."""
    for year in range(now.year, max(0, now.year - 9), -1):
        if day <= calendar.monthrange(year, month)[1] and datetime(year, month, day) <= now:
            return _day_of(year, month, day)
    raise ValueError("no such day")


def _numbered(match: re.Match[str], now: datetime) -> Period:
    """A date whose groups are y, m and d: a month is a name or a number, any of them may be missing."""
    found = match.groupdict()
    year, month, day = found.get("y"), found.get("m"), found.get("d")
    number = (MONTHS.get(month) or int(month)) if month else 0
    if year is None:
        return _month_day(number, int(day), now) if day else _month(number, None, now)
    of_year = now.year + CALENDAR_WORDS[year][1] if year in CALENDAR_WORDS else int(year)
    if day:
        return _day_of(of_year, number, int(day))
    return _month_of(of_year, number) if month else _year_of(of_year)


def _stepped(match: re.Match[str], now: datetime) -> Period:
    step, what = STEPS[match["step"]], match["what"]
    if what in ("week", "month", "year", "주", "달", "해"):
        return _calendar({"주": "week", "달": "month", "해": "year"}.get(what, what), step, now)
    if what in WEEKDAYS:
        return _weekday(what, step, now)
    return _month(MONTHS.get(what) or int(what.rstrip("월")), step, now)


def _week_and_day(match: re.Match[str], now: datetime) -> Period:
    week = _calendar("week", CALENDAR_WORDS[match["week"].replace(" ", "")][1], now).start
    return _after(week + timedelta(days=WEEKDAYS[match["day"]]), timedelta(days=1))


def _quarter(match: re.Match[str], _now: datetime) -> Period:
    first = 3 * int(match["q1"] or match["q2"]) - 2
    year = int(match["y1"] or match["y2"])
    return Period(_month_of(year, first).start, _month_of(year, first + 2).end)


_LENGTH: Final = rf"(?P<n>{A_NUMBER})\s?(?P<unit>{A_UNIT})"
_D: Final = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"
_COMMA_YEAR: Final = r"(?:,? (?:of )?(?P<y>\d{4}))?"
_CJK_DAY: Final = r"(?P<m>\d{1,2})[월月] ?(?:(?P<d>\d{1,2})[일日号])?"

_FORMS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str], datetime], Period]], ...]] = tuple(
    (lazily(pattern, re.ASCII), reader)
    for pattern, reader in (
        (rf"(?:about )?{_LENGTH}\s?(?:ago|전|前)(?:에)?", lambda match, now: _distance(match, now, -1)),
        (rf"{_LENGTH}\s?(?:from now|후|뒤|後|后)(?:에)?", lambda match, now: _distance(match, now, 1)),
        (rf"in {_LENGTH}", lambda match, now: _distance(match, now, 1)),
        (rf"(?:(?:in|over|during) )?(?:the )?(?:last|past|지난|최근)\s?{_LENGTH}(?:간|동안)?", _span),
        (rf"(?:(?:in|over|during) )?(?:the )?past (?P<n>)(?P<unit>{A_UNIT})", _span),
        (rf"(?:in )?(?P<step>last|previous|this|next) (?P<what>week|month|year|{A_WEEKDAY}|{A_MONTH})", _stepped),
        (rf"(?P<step>지난|이번|다음) (?P<what>주|달|해|{A_WEEKDAY}|\d{{1,2}}월)", _stepped),
        (rf"(?P<week>{A_WEEK_WORD}|(?:지난|이번|다음) 주) ?(?P<day>{A_WEEKDAY})", _week_and_day),
        (rf"(?:on )?(?P<what>{A_WEEKDAY})", lambda match, now: _weekday(match["what"], None, now)),
        (r"(?:in )?(?P<y>\d{4})", _numbered),
        (r"(?P<y>\d{4})([-/.])(?P<m>\d{1,2})(?:\2(?P<d>\d{1,2}))?", _numbered),
        (r"(?P<y>\d{4})\. ?(?P<m>\d{1,2})\. ?(?P<d>\d{1,2})\.?", _numbered),
        (rf"(?:on )?(?P<m>{A_MONTH})\.? {_D}{_COMMA_YEAR}", _numbered),
        (rf"(?:on )?(?:the )?{_D} (?:of )?(?P<m>{A_MONTH})\.?{_COMMA_YEAR}", _numbered),
        (rf"(?:in )?(?P<m>{A_MONTH})\.?{_COMMA_YEAR}", _numbered),
        (rf"(?P<y>\d{{4}}(?=[년年])|{A_YEAR_WORD})[년年]?(?:의|の|的)? ?(?:{_CJK_DAY})?", _numbered),
        (_CJK_DAY, _numbered),
        (r"q(?P<q1>[1-4])[ -]?(?P<y1>\d{4})|(?P<y2>\d{4})[ -]?q(?P<q2>[1-4])", _quarter),
    )
)

_DAY_OR_MONTH_FIRST: Final = lazily(r"\d{1,2}([/.-])\d{1,2}\1(?:\d{4}|\d\d)", re.ASCII)
_LIKE_ISO: Final = lazily(r"\d{4}-[\dw]", re.ASCII)
_CLOCK: Final = lazily(r"(?P<day>.+?),? (?:at )?(?P<h>\d{1,2})(?::(?P<min>\d\d))?(?P<half> ?[ap]m)?", re.ASCII)
_EXAMPLES: Final = "Write 2025-03-15, 2025-03, 2025-W10, 'yesterday', 'last march', '3 weeks ago' or 'march 15 2025'."


def parse_date(text: str, now: datetime, name: str = "") -> Period:
    """The period that a date names: ISO 8601 of any precision, or words relative to `now` (naive local time).

    Raises Invalid for text that is no date and for dates that do not exist; `name` is the parameter that it names.
    """
    if now.tzinfo is not None:
        now = now.astimezone().replace(tzinfo=None)
    shown = _quoted(name, text)
    if len(text) > _LONGEST:
        raise Invalid(f"{shown} is not a date", hint=_EXAMPLES)
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    try:
        found = parse_iso(plain.upper()) or _words(plain, now) or _words_and_clock(plain, now)
    except (ValueError, OverflowError) as error:
        raise Invalid(f"{shown} is not a date that exists", hint=_EXAMPLES) from error
    if found is None and _DAY_OR_MONTH_FIRST.fullmatch(plain):
        raise Invalid(f"{shown} may have the day or the month first", hint="Write the year first: 2025-03-15.")
    if found is None:
        exists = " that exists" if _LIKE_ISO.match(plain) else ""
        raise Invalid(f"{shown} is not a date{exists}", hint=_EXAMPLES)
    return found


def _quoted(name: str, text: str) -> str:
    """The text as a message shows it, after the name of its parameter where there is one."""
    text = text.strip()
    shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
    return f"{name}: '{shown}'" if name else f"'{shown}'"


def _words(text: str, now: datetime) -> Period | None:
    if text in ("now", "지금", "今", "现在"):
        return _after(now, timedelta(microseconds=1))
    compact = text.replace(" ", "")
    if compact in DAY_WORDS:
        return _after(_day(now) + timedelta(days=DAY_WORDS[compact]), timedelta(days=1))
    if compact in CALENDAR_WORDS:
        return _calendar(*CALENDAR_WORDS[compact], now)
    for pattern, reader in _FORMS:
        if match := pattern.fullmatch(text):
            return reader(match, now)
    return None


def _words_and_clock(text: str, now: datetime) -> Period | None:
    """A day in words with a time of day after it: `yesterday 10:00`, `march 15 2025 at 3pm`."""
    match = _CLOCK.fullmatch(text)
    if match is None or not (match["min"] or match["half"]):
        return None
    day = _words(match["day"], now)
    if day is None or day.end - day.start != timedelta(days=1):
        return None
    hour, half = int(match["h"]), (match["half"] or "").strip()
    if half:
        if not 1 <= hour <= 12:
            raise ValueError("no such hour")
        hour = hour % 12 + (12 if half == "pm" else 0)
    return _after(day.start.replace(hour=hour, minute=int(match["min"] or 0)), timedelta(minutes=1))


_N: Final = r"(\d{1,12}(?:[.,]\d{1,6})?)"
_ISO_DURATION: Final = lazily(
    rf"([+-])?P(?:{_N}Y)?(?:{_N}M)?(?:{_N}W)?(?:{_N}D)?(?:T(?:{_N}H)?(?:{_N}M)?(?:{_N}S)?)?", re.ASCII | re.IGNORECASE
)
_ISO_ORDER: Final = ("year", "month", "week", "day", "hour", "minute", "second")
_DURATION_PART: Final = lazily(rf"\s*(?:and |,)?\s*(\d{{1,12}}(?:\.\d{{1,6}})?|an?(?= ))\s*({A_UNIT})", re.ASCII)
_LONGEST_SECONDS: Final = 9999 * SECONDS["year"]
"""What a calendar of four-digit years can hold."""

_DURATION_EXAMPLES: Final = "Write P30D, P6M, P1Y, PT12H, '30d', '2 weeks' or '1y'; a month counts 30 days, a year 365."


def parse_duration(text: str, name: str = "") -> float:
    """The seconds of an ISO 8601 duration (`P1Y6M`, `PT12H`) or of the short forms `30d`, `2 weeks`, `1y 6mo`.

    A month counts 30 days and a year 365. Raises Invalid for anything else, and for zero and negative lengths, naming
    the parameter by `name`. `6m` is refused: it could be months or minutes.
    """
    plain = unicodedata.normalize("NFKC", text[: _LONGEST + 1]).strip().casefold()
    shown = _quoted(name, text)
    if re.fullmatch(r"\d+(?:\.\d+)? ?m", plain, re.ASCII):
        raise Invalid(f"{shown} could be months or minutes", hint="Write P6M or '6 months', PT6M or '6 min'.")
    seconds = _duration_seconds(plain) if len(plain) <= _LONGEST else None
    if seconds is None:
        raise Invalid(f"{shown} is not a duration", hint=_DURATION_EXAMPLES)
    if seconds <= 0:
        raise Invalid(f"{shown} is not longer than zero", hint=_DURATION_EXAMPLES)
    if seconds > _LONGEST_SECONDS:
        raise Invalid(f"{shown} is longer than 9999 years", hint="Leave it out for what never ends.")
    return seconds


def _duration_seconds(plain: str) -> float | None:
    if match := _ISO_DURATION.fullmatch(plain):
        parts = match.groups()[1:]
        if not any(parts) or plain.endswith("t"):
            return None
        total = sum(
            float(part.replace(",", ".")) * SECONDS[unit] for part, unit in zip(parts, _ISO_ORDER, strict=True) if part
        )
        return -total if match[1] == "-" else total
    sign = -1 if plain.startswith("-") else 1
    position, total = len(plain) - len(plain.lstrip("+-")), 0.0
    if not plain[position:]:
        return None
    while position < len(plain):
        part = _DURATION_PART.match(plain, position)
        if part is None:
            return None
        total += (1.0 if part[1].startswith("a") else float(part[1])) * SECONDS[UNITS[part[2]]]
        position = part.end()
    return sign * total
