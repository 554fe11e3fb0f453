"""What is known of the resident process of a vault, and keeping what it needs warm. Not an operation.

Two files in the vault's state folder: `resident.lock`, which the process holds as long as it lives, so that there is
one at most; and `resident.json`, in which it says who it is and, at its end, why it ended.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import asdict, replace

from wikimem import __version__

if TYPE_CHECKING:
    from wikimem.wiki import Wiki

_LOCK: Final = "resident.lock"
_RECORD: Final = "resident.json"
_MOST_BYTES: Final = 10_000


class Record(Struct, frozen=True):
    """The process that serves or last served the vault: `since` is local time, `ended` says why, or is empty."""

    pid: int
    since: str
    version: str
    socket: str = ""
    ended: str = ""


def lock_file(state: Path) -> Path:
    """What the process holds as long as it lives."""
    return state / _LOCK


@contextlib.contextmanager
def only_one(state: Path) -> Iterator[bool]:
    """Be the vault's one resident process while the body runs; yields False where another is."""
    descriptor = os.open(state / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        yield _lock(descriptor, fcntl.LOCK_EX)
    finally:
        os.close(descriptor)


def is_running(state: Path) -> bool:
    """Whether the vault with this state folder has a resident process; the kernel knows, whatever a file says."""
    try:
        descriptor = os.open(state / _LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return not _lock(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def record_start(state: Path, socket: str) -> Record:
    """Say who serves the vault from now on."""
    record = Record(os.getpid(), datetime.now().isoformat(timespec="seconds"), __version__, socket)
    _write(state, record)
    return record


def record_end(state: Path, record: Record, why: str) -> None:
    """Say why the process ends."""
    _write(state, replace(record, ended=why))


def _write(state: Path, record: Record) -> None:
    """A full disk must not end the process: what is written is only for people."""
    with contextlib.suppress(OSError):
        file = state / f"{_RECORD}.new"
        file.write_text(json.dumps(asdict(record)) + "\n", encoding="utf-8")
        file.replace(state / _RECORD)


def read_record(state: Path) -> Record | None:
    """What the last resident process said of itself; None where there was none, or it cannot be read."""
    try:
        with (state / _RECORD).open(encoding="utf-8") as file:
            return Record(**json.loads(file.read(_MOST_BYTES)))
    except (OSError, ValueError, TypeError):
        return None


def resident_line(wiki: Wiki) -> str:
    """Whether the vault has a resident process, and why not, in words."""
    state = wiki.folders.state
    record = read_record(state)
    if is_running(state):
        return f"yes, process {record.pid} since {record.since}" if record else "yes, it is starting"
    if not wiki.user.resident:
        return "no: switched off in your settings"
    if record is None:
        return "no: a reading command starts it"
    return f"no: process {record.pid} ended ({record.ended or 'killed'}); a reading command starts one"


def warm(wiki: Wiki) -> None:
    """Load what a search needs: modules, the model, the words. Nothing is written, and no index is made."""
    import wikimem.memory.check
    import wikimem.search.context
    import wikimem.search.injection
    import wikimem.search.search
    import wikimem.vault.history  # noqa: F401 - each is what some command would load

    if wiki.index.is_empty():
        return
    from wikimem.index.parts import Missing

    vectors = wiki.index.vectors
    if not isinstance(vectors, Missing):
        vectors.word_share(["warm"])
    wiki.index.words.ids()
