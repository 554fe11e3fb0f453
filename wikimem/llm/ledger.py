"""What was spent on language models, by day and model, for all vaults of this user: a SQLite file in the state folder.

A call is counted before it is made, with the most that it can cost, and corrected when its answer says what it did. So
two processes at once cannot spend the same rest, and a call whose process died counts as dear as it may have been.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Final

from msgspec import Struct

from wikimem.errors import Damaged, Refused, Unavailable
from wikimem.model.llm import LlmLimits, LlmSpent

LEDGER_FILE: Final = "llm.db"
BUSY_TIMEOUT_S: Final = 10.0


class Reserved(Struct, frozen=True):
    """A call that was counted: its day, and the tokens that were put down for it."""

    day: str
    model: str
    asked: int
    answered: int


class Ledger:
    """The ledger in `folder`; `today` says which day it is here. Any number of processes may use it."""

    def __init__(self, folder: Path, today: Callable[[], date] = date.today) -> None:
        self._file = folder / LEDGER_FILE
        self._today = today

    def reserve(self, model: str, asked: int, answered: int, limits: LlmLimits) -> Reserved:
        """Count a call of at most so many tokens. Raises Refused where the day's limits do not allow it."""
        day = self._today().isoformat()
        with self._writing() as database:
            spent = _spent(database, day)
            if spent.calls + 1 > limits.calls_per_day:
                raise Refused(
                    f"the limit of {limits.calls_per_day} calls of language models a day is reached",
                    hint="Go on tomorrow, or raise calls_per_day in the [llm] table of your configuration.",
                )
            if spent.tokens + asked + answered > limits.tokens_per_day:
                raise Refused(
                    f"of {limits.tokens_per_day} tokens of language models a day {spent.tokens} are spent, and the "
                    f"next call may take {asked + answered}",
                    hint="Go on tomorrow, or raise tokens_per_day in the [llm] table of your configuration.",
                )
            _add(database, day, model, 1, asked, answered)
        return Reserved(day, model, asked, answered)

    def settle(self, reserved: Reserved, asked: int, answered: int) -> None:
        """Put down what a call did cost."""
        with self._writing() as database:
            _add(database, reserved.day, reserved.model, 0, asked - reserved.asked, answered - reserved.answered)

    def spent_today(self) -> LlmSpent:
        """What all models together have cost today."""
        if not self._file.exists():
            return LlmSpent()
        with self._open() as database:
            return _spent(database, self._today().isoformat())

    def by_day(self) -> list[tuple[str, str, LlmSpent]]:
        """Day, model and what was spent, oldest first."""
        if not self._file.exists():
            return []
        with self._open() as database:
            rows = database.execute("SELECT day, model, calls, asked, answered FROM spent ORDER BY day, model")
            return [(day, model, LlmSpent(*counts)) for day, model, *counts in rows]

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._open() as database:
            database.execute("BEGIN IMMEDIATE")
            yield database
            database.execute("COMMIT")

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with contextlib.closing(
                sqlite3.connect(self._file, timeout=BUSY_TIMEOUT_S, isolation_level=None)
            ) as database:
                database.execute(
                    "CREATE TABLE IF NOT EXISTS spent (day TEXT, model TEXT, calls INTEGER NOT NULL, "
                    "asked INTEGER NOT NULL, answered INTEGER NOT NULL, PRIMARY KEY (day, model))"
                )
                yield database
        except sqlite3.OperationalError as error:
            raise Unavailable(
                f"cannot count what language models cost in {self._file}: {error}",
                hint="Nothing is asked that cannot be counted: check the disk and the file's permissions.",
            ) from error
        except sqlite3.DatabaseError as error:
            raise Damaged(
                f"{self._file} cannot be read: {error}",
                hint="Delete the file to begin counting anew; nothing else is in it.",
            ) from error


def _spent(database: sqlite3.Connection, day: str) -> LlmSpent:
    row = database.execute(
        "SELECT COALESCE(SUM(calls), 0), COALESCE(SUM(asked), 0), COALESCE(SUM(answered), 0) FROM spent WHERE day = ?",
        (day,),
    ).fetchone()
    return LlmSpent(*row)


def _add(database: sqlite3.Connection, day: str, model: str, calls: int, asked: int, answered: int) -> None:
    database.execute(
        "INSERT INTO spent VALUES (?, ?, ?, ?, ?) ON CONFLICT (day, model) DO UPDATE SET "
        "calls = calls + excluded.calls, asked = asked + excluded.asked, answered = answered + excluded.answered",
        (day, model, calls, asked, answered),
    )
