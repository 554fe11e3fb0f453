"""The journal of a write under way: what the next command needs to finish it or to take it back.

One JSON file for each write in the vault's state folder (per user, never in the tree), put there before the first
page is touched and removed when the commit is in place. Writes that a merge or rebase made wait there as well.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from wikimem.errors import Damaged
from wikimem.vault.files import remove_file, write_atomically
from wikimem.vault.repository import Entry, Person


@dataclass(frozen=True, slots=True)
class Planned:
    """One path of a write: its bytes before and after (None: no file) and its entries in git before and after."""

    path: str
    old: bytes | None
    new: bytes | None
    base: Entry | None
    entry: Entry | None


@dataclass(frozen=True, slots=True)
class JournalRecord:
    """A write as it was planned. `commit` is set once the commit object exists; `deferred` while git is busy."""

    name: str
    message: str
    author: Person
    when: datetime
    planned: tuple[Planned, ...]
    commit: bytes | None = None
    deferred: bool = False


class Journal:
    """The records in one folder, oldest first."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, record: JournalRecord) -> None:
        write_atomically(self._file(record.name), json.dumps(_render(record)).encode(), mode=0o600)

    def remove(self, record: JournalRecord) -> None:
        remove_file(self._file(record.name))

    def records(self) -> Iterator[JournalRecord]:
        """Every record, oldest first. Raises Damaged, naming the file, for one that cannot be read."""
        for file in sorted(self.folder.glob("write-*.json")):
            try:
                yield _parse(json.loads(file.read_bytes()))
            except (ValueError, KeyError, TypeError) as error:
                raise Damaged(
                    f"the journal file '{file}' cannot be read: {error}",
                    hint="It describes a write that was interrupted. Move it away to go on without it.",
                ) from error

    def _file(self, name: str) -> Path:
        return self.folder / f"write-{name}.json"


def _render(record: JournalRecord) -> dict[str, Any]:
    return {
        "name": record.name,
        "message": record.message,
        "author": [record.author.name, record.author.email],
        "when": record.when.isoformat(),
        "commit": record.commit.decode() if record.commit else None,
        "deferred": record.deferred,
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
        deferred=bool(data["deferred"]),
    )


def _packed(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def _unpacked(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)


def _entry(entry: Entry | None) -> list[Any] | None:
    return None if entry is None else [entry.mode, entry.blob.decode()]


def _parsed_entry(data: Any) -> Entry | None:
    return None if data is None else Entry(int(data[0]), str(data[1]).encode())
