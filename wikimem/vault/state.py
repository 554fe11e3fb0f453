"""Counters of one vault that cannot be derived from it: a SQLite file in the vault's state folder."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import Final

BUSY_TIMEOUT_S: Final = 10.0


class StateStore:
    """Counts that only ever grow. Several processes may add at once: every write is one immediate transaction."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "state.db"

    def add(self, **amounts: int) -> None:
        """Add to counters, each made when it is first added to."""
        with contextlib.closing(self._connect()) as database:
            database.execute("BEGIN IMMEDIATE")
            database.executemany(
                "INSERT INTO counters VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value",
                list(amounts.items()),
            )
            database.execute("COMMIT")

    def counter(self, name: str) -> int:
        if not self._file.exists():
            return 0
        with contextlib.closing(self._connect()) as database:
            row = database.execute("SELECT value FROM counters WHERE name = ?", (name,)).fetchone()
        return int(row[0]) if row else 0

    def _connect(self) -> sqlite3.Connection:
        database = sqlite3.connect(self._file, timeout=BUSY_TIMEOUT_S, isolation_level=None)
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL)")
        return database
