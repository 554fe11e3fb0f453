"""From what somebody asked for to the filter that every stream applies."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from wikimem.errors import Invalid
from wikimem.model.hit import PageFilter
from wikimem.model.page import MEMORY_TYPES, PLAIN_TYPE, STATUSES
from wikimem.text.dates import Period

ANY: Final = "any"
"""The status that lifts the status filter."""

ONCE_HELD: Final = ("active", "superseded", "expired", "archived")
"""What may have held on a past date: a page that was replaced since was right then."""

_INSTANT: Final = timedelta(microseconds=1)


def make_filter(
    *,
    now: datetime,
    as_of: Period | None = None,
    status: str | Sequence[str] | None = None,
    project: str | None = None,
    with_global: bool = True,
    types: Sequence[str] = (),
    tags: Sequence[str] = (),
    agent: str | None = None,
    session: str | None = None,
) -> PageFilter:
    """Turn an operation's arguments into a filter. Raises Invalid for a status or type that does not exist.

    Nothing said: active pages that hold now. `as_of` alone: whatever held at the end of that date, also what has
    been superseded, has expired or was archived since. A status that was asked for without a date is wanted
    whenever it held, because a superseded page never holds now; `any` lifts the status.
    """
    asked = (status,) if isinstance(status, str) else tuple(status or ())
    _check_names(asked, (*STATUSES, ANY), "status")
    _check_names(types, (*MEMORY_TYPES, PLAIN_TYPE), "type")
    statuses = asked or (ONCE_HELD if as_of is not None else ("active",))
    return PageFilter(
        # A date's end is the first instant of the next; the last instant of the date is what still belongs to it.
        as_of=as_of.end - _INSTANT if as_of is not None else now,
        project=project,
        with_global=with_global,
        types=tuple(types),
        tags=tuple(tag.removeprefix("#") for tag in tags),
        agent=agent,
        session=session,
        statuses=() if ANY in statuses else statuses,
        any_time=as_of is None and statuses != ("active",),
    )


def _check_names(names: Sequence[str], known: Sequence[str], what: str) -> None:
    for name in names:
        if name not in known:
            raise Invalid(f"there is no {what} '{name}'", hint=f"Choose one of: {', '.join(known)}.")
