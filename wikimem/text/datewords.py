"""The words of dates and durations: English and Korean, and the plain ones of Japanese and Chinese.

Tables for `dates.py`. Names that begin with `A_` are regular expressions for one word of a table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

UNITS: Final[Mapping[str, str]] = {
    name: unit
    for unit, names in {
        "second": "s sec secs second seconds 초 秒 秒間",
        "minute": "min mins minute minutes 분 分 分間 分钟",
        "hour": "h hr hrs hour hours 시간 時間 小时",
        "day": "d day days 일 日 日間 天",
        "week": "w wk wks week weeks 주 주일 주간 週 週間 周",
        "month": "mo mos month months 개월 달 か月 ヶ月 カ月 个月",
        "year": "y yr yrs year years 년 年 年間",
    }.items()
    for name in names.split()
}
A_UNIT: Final = "|".join(sorted(UNITS, key=len, reverse=True))

SECONDS: Final[Mapping[str, float]] = {
    "second": 1.0,
    "minute": 60.0,
    "hour": 3600.0,
    "day": 86400.0,
    "week": 7 * 86400.0,
    "month": 30 * 86400.0,
    "year": 365 * 86400.0,
}

_MONTH_NAMES: Final = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
MONTHS: Final[Mapping[str, int]] = {
    **{name: n for n, name in enumerate(_MONTH_NAMES, 1)},
    **{name[:3]: n for n, name in enumerate(_MONTH_NAMES, 1)},
    "sept": 9,
}
A_MONTH: Final = "|".join(sorted(MONTHS, key=len, reverse=True))

_WEEKDAY_NAMES: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
WEEKDAYS: Final[Mapping[str, int]] = {
    **{name: n for n, name in enumerate(_WEEKDAY_NAMES)},
    **{name[:3]: n for n, name in enumerate(_WEEKDAY_NAMES)},
    "tues": 1, "thurs": 3,
    **{f"{name}요일": n for n, name in enumerate("월화수목금토일")},
    **{f"{name}曜日": n for n, name in enumerate("月火水木金土日")},
}  # fmt: skip
A_WEEKDAY: Final = "|".join(sorted(WEEKDAYS, key=len, reverse=True))

NUMBERS: Final[Mapping[str, int]] = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "한": 1, "두": 2, "세": 3, "네": 4, "일": 1,
}  # fmt: skip
A_NUMBER: Final = r"\d{1,6}|" + "|".join(sorted(NUMBERS, key=len, reverse=True))

DAY_WORDS: Final[Mapping[str, int]] = {
    name: offset
    for offset, names in {
        -10: "열흘전",
        -4: "나흘전",
        -3: "사흘전 그끄제",
        -2: "그제 그저께 엊그제 이틀전 一昨日 おととい 前天 thedaybeforeyesterday daybeforeyesterday",
        -1: "yesterday 어제 하루전 昨日 昨天",
        0: "today 오늘 今日 今天",
        1: "tomorrow 내일 明日 明天",
        2: "모레 明後日 后天 thedayaftertomorrow dayaftertomorrow",
    }.items()
    for name in names.split()
}
"""Days from today; looked up without spaces, as Korean is written with and without them."""

CALENDAR_WORDS: Final[Mapping[str, tuple[str, int]]] = {
    name: (unit, offset)
    for (unit, offset), names in {
        ("week", -1): "지난주 저번주 先週 上周 上星期",
        ("week", 0): "이번주 금주 今週 本周 这周",
        ("week", 1): "다음주 来週 下周",
        ("month", -1): "지난달 저번달 先月 上个月",
        ("month", 0): "이번달 이달 今月 这个月 本月",
        ("month", 1): "다음달 来月 下个月",
        ("year", -2): "재작년 一昨年 前年",
        ("year", -1): "작년 지난해 去年 昨年",
        ("year", 0): "올해 금년 今年",
        ("year", 1): "내년 来年 明年",
    }.items()
    for name in names.split()
}
STEPS: Final[Mapping[str, int]] = {"last": -1, "previous": -1, "지난": -1, "this": 0, "이번": 0, "next": 1, "다음": 1}
A_YEAR_WORD: Final = "|".join(name for name, (unit, _) in CALENDAR_WORDS.items() if unit == "year")
A_WEEK_WORD: Final = "|".join(name for name, (unit, _) in CALENDAR_WORDS.items() if unit == "week")
