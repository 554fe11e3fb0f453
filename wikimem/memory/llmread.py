"""Which parts of pages a model was asked about already, so that asking again costs nothing: digests, in the cache."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

READ_FILE: Final = "llm-read.db"
BUSY_TIMEOUT_S: Final = 10.0


class ReadParts:
    """The digests of one vault, in its cache folder. Nothing of a page's text is kept."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / READ_FILE

    def known(self, digests: Collection[str]) -> set[str]:
        """Those that were put down before. A file that cannot be read knows nothing: it is a cache."""
        if not self._file.exists():
            return set()
        try:
            with self._open() as database:
                return {row[0] for row in database.execute("SELECT digest FROM read")} & set(digests)
        except sqlite3.DatabaseError:
            return set()

    def add(self, digests: Collection[str]) -> bool:
        """Put down what was asked about, and whose answer was kept; False where the cache cannot be written."""
        if not digests:
            return True
        try:
            self._add(digests)
        except sqlite3.OperationalError:
            return False
        except sqlite3.DatabaseError:
            # Damaged: it is a cache, and what it knew costs at most the calls that it saved.
            self._file.unlink(missing_ok=True)
            self._add(digests)
        return True

    def _add(self, digests: Collection[str]) -> None:
        with self._open() as database, database:
            database.executemany("INSERT OR IGNORE INTO read VALUES (?)", [(each,) for each in digests])

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with contextlib.closing(sqlite3.connect(self._file, timeout=BUSY_TIMEOUT_S)) as database:
            database.execute("CREATE TABLE IF NOT EXISTS read (digest TEXT PRIMARY KEY) WITHOUT ROWID")
            yield database
