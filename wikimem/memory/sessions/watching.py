"""When the process on duty drains the spool, and when it gives up waiting for the end of a session."""

from __future__ import annotations

import re
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wikimem.memory.sessions.digest import STALE
from wikimem.memory.sessions.drain import Drained, Flushed, add_by_rule, drain, spool_of
from wikimem.memory.sessions.pages import find_parts
from wikimem.model.hit import PageFilter
from wikimem.text.sessionpage import ENDED, Observation, observation_id

if TYPE_CHECKING:
    from wikimem.wiki import Wiki

SETTLE_S: Final = 30.0
"""How long an event waits for others of its session, in seconds."""

SETTLE_EVENTS: Final = 20
"""As many events do not wait."""

STALE_AFTER: Final = timedelta(hours=6)
"""Without an event for so long, a session has ended without a word."""

STALE_EVERY_S: Final = 600.0
_STALE_WITHIN: Final = timedelta(days=60)
_HEAD_BYTES: Final = 4096
_MOST_BYTES: Final = 200_000
_OPEN: Final = re.compile(rb"^open: true\r?$", re.MULTILINE)
_END_MARKS: Final = (b'"kind":"session_end"', b'"kind": "session_end"')


class SpoolWatch:
    """Looks at a vault's spool from time to time, for the process on duty."""

    def __init__(self) -> None:
        self._looked: dict[str, bool] = {}
        self._left: frozenset[str] = frozenset()
        self._stale_at = 0.0

    def look(self, wiki: Wiki) -> Drained | None:
        """Drain where it is time to; None where it is not. Never raises what may go wrong with a drain."""
        due = self._is_due(wiki)
        drained = drain(wiki) if due else None
        if due:
            self._left = frozenset(name.file for name in spool_of(wiki).names())
        if time.monotonic() >= self._stale_at:
            self._stale_at = time.monotonic() + STALE_EVERY_S
            ended = end_stale(wiki)
            if ended:
                drained = drained or Drained()
                drained = Drained((*drained.flushed, *ended), drained.events, drained.notes, drained.waiting)
        return drained

    def _is_due(self, wiki: Wiki) -> bool:
        spool = spool_of(wiki)
        names = [name for name in spool.names() if name.file not in self._left]
        if not names:
            self._looked.clear()
            return False
        files = {name.file for name in names}
        self._looked = {file: ends for file, ends in self._looked.items() if file in files}
        for file in files - set(self._looked):
            self._looked[file] = _ends_session(Path(spool.folder) / file)
        age_s = (time.time_ns() - names[0].time_ns) / 1e9
        return len(names) >= SETTLE_EVENTS or age_s >= SETTLE_S or any(self._looked.values())


def _ends_session(file: Path) -> bool:
    """Whether an event of the spool says that a session has ended, so that its page need not wait."""
    try:
        with file.open("rb") as opened:
            data = opened.read(_MOST_BYTES)
    except OSError:
        return False
    return any(mark in data for mark in _END_MARKS)


def end_stale(wiki: Wiki) -> list[Flushed]:
    """End the sessions of which nothing was heard for long, with a digest that says so."""
    now = wiki.clock().replace(tzinfo=None)
    where = PageFilter(as_of=now, types=("session",), statuses=(), any_time=True)
    done: list[Flushed] = []
    open_ones = {
        row.session
        for row in wiki.index.list_pages(where)
        if row.session and row.created and now - row.created < _STALE_WITHIN and _is_open(wiki.root / row.path)
    }
    for session in sorted(open_ones):
        done += _end(wiki, session, now)
    return done


def _is_open(file: Path) -> bool:
    try:
        with file.open("rb") as opened:
            return _OPEN.search(opened.read(_HEAD_BYTES)) is not None
    except OSError:
        return False


def _end(wiki: Wiki, session: str, now: datetime) -> list[Flushed]:
    parts = find_parts(wiki, session)
    seen = [each for part in parts for each in part.seen]
    last = max((each.when for each in seen), default=None)
    ended = any(each.label == ENDED and each.when == last for each in seen)
    if last is None or ended or now - last < STALE_AFTER:
        return []
    hours = int(STALE_AFTER.total_seconds() // 3600)
    body = f"{STALE}: nothing was heard for {hours} hours"
    stale = Observation(observation_id(session, "stale", last.isoformat()), last, ENDED, body)
    flushed = add_by_rule(wiki, session, stale, parts)
    return [flushed] if flushed else []
