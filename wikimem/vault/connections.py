"""What `connect` wrote into which settings file, kept in this user's state folder so that `disconnect` is exact.

Of the file itself nothing is kept: settings hold keys of other services. What is kept are the pieces that were put in.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from wikimem.vault.files import write_atomically
from wikimem.vault.folders import private_folder
from wikimem.vault.locate import digest

FOLDER: Final = "connected"
"""Its name in this user's state folder."""

_HOOK: Final = re.compile(r"\bhook (?P<agent>[a-z][a-z-]{1,30}) (?P<event>[A-Za-z_-]{2,60})")
_MOST_BYTES: Final = 20_000_000


@dataclass(frozen=True, slots=True)
class Record:
    """`pieces` were put into `file`, in order; `made` where there was no such file before."""

    file: str
    pieces: tuple[str, ...]
    made: bool

    @property
    def hooks(self) -> frozenset[tuple[str, str]]:
        """The hooks among the pieces: agent and event."""
        return frozenset(_hooks_in("".join(self.pieces)))


class Connections:
    """The records in the state folder `state`, by file."""

    def __init__(self, state: Path) -> None:
        self._folder = state / FOLDER

    def find(self, file: Path) -> Record | None:
        """The record of a file; None where there is none, or none that can be read."""
        return _read(self._path(file))

    def all(self) -> list[Record]:
        """Every record that can be read, by file."""
        files = sorted(self._folder.glob("*.json")) if self._folder.is_dir() else []
        return sorted((record for file in files if (record := _read(file))), key=lambda record: record.file)

    def keep(self, record: Record) -> None:
        """Write the record, before the file is changed."""
        private_folder(self._folder)
        write_atomically(self._path(Path(record.file)), json.dumps(asdict(record)).encode("ascii"), mode=0o600)

    def drop(self, file: Path) -> None:
        """Forget the file."""
        with contextlib.suppress(FileNotFoundError):
            self._path(file).unlink()

    def remove_copies(self) -> None:
        """Remove the copies of whole settings files that earlier versions kept."""
        for copy in self._folder.glob("*.before") if self._folder.is_dir() else ():
            with contextlib.suppress(FileNotFoundError):
                copy.unlink()

    def hooked(self) -> dict[str, tuple[int, int]]:
        """For each agent whose hooks were connected: how many of them are still in its settings, and how many were."""
        found: dict[str, tuple[int, int]] = {}
        for record in self.all():
            there = frozenset(_hooks_in(_text_of(record.file)))
            for agent in sorted({name for name, _ in record.hooks}):
                mine = {hook for hook in record.hooks if hook[0] == agent}
                left, total = found.get(agent, (0, 0))
                found[agent] = (left + len(mine & there), total + len(mine))
        return found

    def _path(self, file: Path) -> Path:
        return self._folder / f"{digest(os.fsencode(file), 8)}.json"


def _read(path: Path) -> Record | None:
    try:
        document = json.loads(path.read_bytes())
        record = Record(document["file"], tuple(document["pieces"]), bool(document["made"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return record if all(isinstance(piece, str) for piece in (record.file, *record.pieces)) else None


def _hooks_in(text: str) -> Iterator[tuple[str, str]]:
    return ((found["agent"], found["event"]) for found in _HOOK.finditer(text))


def _text_of(file: str) -> str:
    try:
        with open(file, "rb") as opened:
            return opened.read(_MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
