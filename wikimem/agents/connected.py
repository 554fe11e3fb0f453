"""What `connect` wrote into which settings file, kept in this user's state folder so that `disconnect` is exact.

Of the file itself nothing is kept but one copy from before the first change, readable for this user alone.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from wikimem.vault.files import write_atomically
from wikimem.vault.folders import private_folder
from wikimem.vault.locate import digest

FOLDER: Final = "connected"
"""Its name in this user's state folder."""


@dataclass(frozen=True, slots=True)
class Record:
    """`pieces` were put into `file`, in order; `made` where there was no such file before."""

    file: str
    pieces: tuple[str, ...]
    made: bool


class Connected:
    """The records in the state folder `state`, by file."""

    def __init__(self, state: Path) -> None:
        self._folder = state / FOLDER

    def find(self, file: Path) -> Record | None:
        """The record of a file; None where there is none, or none that can be read."""
        try:
            document = json.loads(self._path(file, ".json").read_bytes())
            record = Record(document["file"], tuple(document["pieces"]), bool(document["made"]))
        except (OSError, ValueError, TypeError, KeyError):
            return None
        return record if all(isinstance(piece, str) for piece in record.pieces) else None

    def keep(self, record: Record, before: bytes | None) -> None:
        """Write the record, before the file is changed; and `before`, the file as it is, where no copy is kept yet."""
        file = Path(record.file)
        private_folder(self._folder)
        copy = self.copy_of(file)
        if before is not None and not copy.exists():
            write_atomically(copy, before, mode=0o600)
        write_atomically(self._path(file, ".json"), json.dumps(asdict(record)).encode("ascii"), mode=0o600)

    def drop(self, file: Path) -> None:
        """Forget the file, and the copy of it."""
        for path in (self._path(file, ".json"), self.copy_of(file)):
            with contextlib.suppress(FileNotFoundError):
                path.unlink()

    def copy_of(self, file: Path) -> Path:
        """Where the copy from before the first change lies."""
        return self._path(file, ".before")

    def _path(self, file: Path, suffix: str) -> Path:
        return self._folder / f"{digest(os.fsencode(file), 8)}{suffix}"
