"""The journal of a write under way: what the next command needs to finish it or to take it back.

One JSON file for each write in the vault's state folder (per user, never in the tree), put there before the first
page is touched and removed some seconds after the commit is in place. Its name says how the write stands, so that
this can change by a rename, which a full disk allows too:

    write-*.json   under way, or interrupted
    wait-*.json    its pages are in place; the commit waits for the end of a merge or rebase
    undo-*.json    it failed, and its caller was told so: what it changed is to be taken back
    done-*.json    it is committed; the next writes look whether git's index still has it (see settle.py)
"""

from __future__ import annotations

import base64
import json
import os
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from wikimem.errors import Damaged
from wikimem.vault.files import cannot, remove_file, sweep_temporaries, sync_folder, write_atomically
from wikimem.vault.pending import STATES, State, pending_files
from wikimem.vault.repository import Entry, Person

_DIGITS: Final = 8


class Planned(Struct, frozen=True):
    """One path of a write: its bytes before and after (None: no file) and its entries in git before and after."""

    path: str
    old: bytes | None
    new: bytes | None
    base: Entry | None
    entry: Entry | None


class JournalRecord(Struct, frozen=True):
    """A write as it was planned. `commit` is set once the commit object exists."""

    name: str
    message: str
    author: Person
    when: datetime
    planned: tuple[Planned, ...]
    commit: bytes | None = None
    state: State = "write"


class Journal:
    """The records in one folder, oldest first. Used under the vault's write lock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def next_name(self, name: str) -> str:
        """`name` with a number before it that puts it behind every other record, whatever the clock does."""
        taken = [
            int(file.name.split("-")[1]) for file in pending_files(self.folder) if file.name.split("-")[1].isdigit()
        ]
        return f"{max(taken, default=0) + 1:0{_DIGITS}}-{name}"

    def put(self, record: JournalRecord) -> None:
        write_atomically(self._file(record), json.dumps(_render(record)).encode(), mode=0o600)

    def move(self, record: JournalRecord, state: State) -> JournalRecord:
        """Say that the write now stands otherwise."""
        moved = replace(record, state=state)
        try:
            os.rename(self._file(record), self._file(moved))
        except OSError as error:
            raise cannot(f"write '{self._file(moved)}'", error) from error
        sync_folder(self.folder)
        return moved

    def holds(self, record: JournalRecord) -> bool:
        return os.path.lexists(self._file(record))

    def remove(self, record: JournalRecord) -> None:
        remove_file(self._file(record))

    def records(self) -> Iterator[JournalRecord]:
        """Every record, oldest first. Raises Damaged, naming the file, for one that cannot be read."""
        sweep_temporaries(self.folder)
        for file in pending_files(self.folder):
            try:
                record = _parse(json.loads(file.read_bytes()))
            except (ValueError, KeyError, TypeError) as error:
                raise Damaged(
                    f"the journal file '{file}' cannot be read: {error}",
                    hint="It describes a write that was interrupted. Move it away to go on without it.",
                ) from error
            yield replace(record, state=next(state for state in STATES if file.name.startswith(f"{state}-")))

    def age_s(self, record: JournalRecord) -> float:
        """Seconds since the record got its present bytes; 0 where the clock has gone back since."""
        try:
            return max(0.0, time.time() - self._file(record).stat().st_mtime)
        except FileNotFoundError:
            return 0.0

    def find(self, name: str) -> JournalRecord | None:
        return next((record for record in self.records() if record.name == name), None)

    def _file(self, record: JournalRecord) -> Path:
        return self.folder / f"{record.state}-{record.name}.json"


def _render(record: JournalRecord) -> dict[str, Any]:
    return {
        "name": record.name,
        "message": record.message,
        "author": [record.author.name, record.author.email],
        "when": record.when.isoformat(),
        "commit": record.commit.decode() if record.commit else None,
        "planned": [
            {
                "path": planned.path,
                "old": _packed(planned.old),
                "new": _packed(planned.new),
                "base": _entry(planned.base),
                "entry": _entry(planned.entry),
            }
            for planned in record.planned
        ],
    }


def _parse(data: Any) -> JournalRecord:
    return JournalRecord(
        name=str(data["name"]),
        message=str(data["message"]),
        author=Person(*data["author"]),
        when=datetime.fromisoformat(data["when"]),
        planned=tuple(
            Planned(
                path=str(planned["path"]),
                old=_unpacked(planned["old"]),
                new=_unpacked(planned["new"]),
                base=_parsed_entry(planned["base"]),
                entry=_parsed_entry(planned["entry"]),
            )
            for planned in data["planned"]
        ),
        commit=data["commit"].encode() if data["commit"] else None,
    )


def _packed(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def _unpacked(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


def _entry(entry: Entry | None) -> list[Any] | None:
    return None if entry is None else [entry.mode, entry.blob.decode()]


def _parsed_entry(data: Any) -> Entry | None:
    return None if data is None else Entry(int(data[0]), str(data[1]).encode())
