"""The spool of a vault: events that hooks acknowledged, one file each, until they are on a page and in a commit.

    put(folder, name, data)                 a hook, as cheap as an fsync lets it be
    with Spool(folder).claim() as batch:    whoever drains: one process at a time
        ...                                 commit what came of batch.events
        batch.acknowledge()

An event stays in its place until it is acknowledged, so that a drain that dies is simply done again. Two reports of
one event are told by their names, see `is_repeat`; the later one is acknowledged and not given out.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self

    from wikimem.model.event import Event

SPOOL = "spool"
"""The spool's name in a vault's state folder."""

DONE = "done"
"""Below the spool: the names of drained events, as empty files."""

DAMAGED = "damaged"
"""Below the spool: files that could not be read."""

LOCK = "drain.lock"
"""Held by whoever drains."""

REPEAT_NS = 10_000_000_000
"""Two reports within ten seconds can be one event: hosts report within a second, a retry comes within a few."""

KEEP_DONE_NS = 24 * 3600 * 1_000_000_000
"""How long names of drained events are kept to know repeats by."""

STALE_NS = 3600 * 1_000_000_000
"""A hook lives for seconds: an older temporary file is one that was killed."""

MOST_BYTES = 4_000_000
"""No event is as large: a hook keeps some 50,000 characters."""

ONLY_ERRORS = "stderr:"
"""The first line of an event's output that came on the standard error alone: it does not tell how the run went."""

LOG = "hooks.log"
"""In this user's state folder, where hooks note what they could not keep; one older log is `hooks.log.1`."""

NOT_KEPT = "not kept: "
"""Begins what the log says of an event that is lost."""

NO_ID = "n"
"""Stands in a name where the agent gave the event no id."""


class EventName:
    """What the name of a spool file says: nanoseconds since 1970, a digest of session, kind and content, the agent's
    own id of the event (`n` where it gave none) and the agent."""

    __slots__ = ("agent", "content", "file", "ident", "time_ns")

    def __init__(self, file: str, time_ns: int, content: str, ident: str, agent: str) -> None:
        self.file = file
        self.time_ns = time_ns
        self.content = content
        self.ident = ident
        self.agent = agent


def event_name(time_ns: int, content: str, ident: str, agent: str) -> str:
    """The file name of an event. `content` is hex, `ident` a letter and hex, or `n`; `agent` a plain name."""
    return f"{time_ns:020d}_{content}_{ident}_{agent}.json"


def parse_name(file: str) -> EventName | None:
    """What the name of a spool file says, or None where it is no event's."""
    parts = file.removesuffix(".json").split("_", 3)
    if not file.endswith(".json") or len(parts) != 4 or len(parts[0]) != 20 or not parts[0].isdigit():
        return None
    return EventName(file, int(parts[0]), parts[1], parts[2], parts[3])


def is_repeat(name: EventName, earlier: EventName) -> bool:
    """Whether two names with one content are reports of one event.

    They are if the agent gave them one id. Without an id, or from two agents, whose ids differ, they are if they came
    within `REPEAT_NS`: asking the same twice in one session is two events, unless it takes less than that.
    """
    if name.content != earlier.content:
        return False
    if name.ident == earlier.ident and name.ident != NO_ID:
        return True
    if abs(name.time_ns - earlier.time_ns) > REPEAT_NS:
        return False
    return name.agent != earlier.agent or NO_ID in (name.ident, earlier.ident)


def put(folder: str, name: str, data: bytes) -> None:
    """Keep an event: when this returns it is on the disk, whole. OSError where it cannot be; nothing is left then."""
    temporary = f"{folder}/.{name}.tmp"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
            _sync(descriptor)
        finally:
            os.close(descriptor)
        os.rename(temporary, f"{folder}/{name}")
    except BaseException:
        _remove(temporary)
        raise
    _sync_folder(folder)


def lost_lately(state: str) -> int:
    """How many events hooks could not keep, in whatever vault, as far back as their log in this user's state folder
    `state` goes."""
    found = 0
    for name in (LOG, f"{LOG}.1"):
        try:
            with open(f"{state}/{name}", "rb") as log:
                found += log.read(MOST_BYTES).count(NOT_KEPT.encode())
        except OSError:
            pass  # nothing was lost, or the log is away
    return found


class Counts:
    """How many events wait, how many files were set aside, and when the oldest that waits was put (0: none waits)."""

    __slots__ = ("damaged", "oldest_ns", "pending")

    def __init__(self, pending: int, damaged: int, oldest_ns: int) -> None:
        self.pending = pending
        self.damaged = damaged
        self.oldest_ns = oldest_ns


class Spool:
    """The spool in `folder`, for those who drain it or report on it."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = os.fspath(folder)

    def names(self) -> list[EventName]:
        """Those that wait, oldest first."""
        found = (parse_name(file) for file in sorted(_listed(self.folder)))
        return [name for name in found if name is not None]

    def counts(self) -> Counts:
        """What `status` says."""
        names = self.names()
        damaged = [file for file in _listed(f"{self.folder}/{DAMAGED}") if file.endswith(".json")]
        return Counts(len(names), len(damaged), names[0].time_ns if names else 0)

    def claim(self, limit: int = 1000, *, wait_s: float = 0.0) -> Batch:
        """The oldest `limit` events, for this process alone while the batch is entered. Raises Locked on entering,
        where another process drains."""
        return Batch(self, limit, wait_s)


class Batch:
    """Claimed events, oldest first, each once.

    `repeats` are files whose event is in `events` or was drained before; `damaged` are (file, reason) of files that
    could not be read: they lie in the folder `damaged` now.
    """

    def __init__(self, spool: Spool, limit: int, wait_s: float) -> None:
        self.spool = spool
        self.limit = limit
        self.wait_s = wait_s
        self.events: list[Event] = []
        self.files: list[str] = []
        self.repeats: list[str] = []
        self.damaged: list[tuple[str, str]] = []
        self._lock: object = None

    def __enter__(self) -> Self:
        from pathlib import Path

        from wikimem.vault.lock import write_lock

        os.makedirs(self.spool.folder, mode=0o700, exist_ok=True)
        lock = write_lock(Path(self.spool.folder) / LOCK, "draining the spool", timeout_s=self.wait_s)
        lock.__enter__()
        self._lock = lock
        try:
            self._load()
        except BaseException:
            lock.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *error: object) -> None:
        from contextlib import AbstractContextManager

        assert isinstance(self._lock, AbstractContextManager)
        self._lock.__exit__(None, None, None)

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def acknowledge(self, events: Sequence[Event] | None = None) -> None:
        """Take events that are committed out of the spool: all of the batch, or just these. Repeats go with them.

        Their names stay among the done for a day, so that a late report of one is known. Durable when this returns.
        """
        done = f"{self.spool.folder}/{DONE}"
        os.makedirs(done, mode=0o700, exist_ok=True)
        wanted = None if events is None else {event.key for event in events}
        for event, file in zip(self.events, self.files, strict=True):
            if wanted is None or event.key in wanted:
                _mark_done(self.spool.folder, file)
        for file in self.repeats:
            _remove(f"{self.spool.folder}/{file}")
        _sync_folder(done)
        _sync_folder(self.spool.folder)
        _prune(done, time.time_ns() - KEEP_DONE_NS)

    def _load(self) -> None:
        now = time.time_ns()
        for file in _listed(self.spool.folder):
            if file.endswith(".tmp") and _modified_ns(f"{self.spool.folder}/{file}") < now - STALE_NS:
                _remove(f"{self.spool.folder}/{file}")
        seen: dict[str, list[EventName]] = {}
        for file in _listed(f"{self.spool.folder}/{DONE}"):
            if (name := parse_name(file)) is not None:
                seen.setdefault(name.content, []).append(name)
        for name in self.spool.names():
            if len(self.events) >= self.limit:
                return
            if any(name.file == other.file or is_repeat(name, other) for other in seen.get(name.content, ())):
                self.repeats.append(name.file)
                continue
            event = self._read(name)
            if event is not None:
                seen.setdefault(name.content, []).append(name)
                self.events.append(event)
                self.files.append(name.file)

    def _read(self, name: EventName) -> Event | None:
        from wikimem.errors import WikimemError
        from wikimem.model.event import Event

        path = f"{self.spool.folder}/{name.file}"
        try:
            return Event.from_document(json.loads(_bytes_of(path)))
        except FileNotFoundError:
            return None
        except (ValueError, RecursionError, WikimemError) as error:
            self._set_aside(name.file, str(error))
        except OSError as error:
            if error.errno not in (errno.ELOOP, errno.EIO):
                raise
            self._set_aside(name.file, error.strerror or str(error))
        return None

    def _set_aside(self, file: str, reason: str) -> None:
        aside = f"{self.spool.folder}/{DAMAGED}"
        os.makedirs(aside, mode=0o700, exist_ok=True)
        os.rename(f"{self.spool.folder}/{file}", f"{aside}/{file}")
        self.damaged.append((file, reason))


def _mark_done(folder: str, file: str) -> None:
    """Leave of an event its name alone: what it said is on a page now, and may be forgotten there."""
    descriptor = os.open(f"{folder}/{DONE}/{file}", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    os.close(descriptor)
    _remove(f"{folder}/{file}")


def _prune(done: str, before_ns: int) -> None:
    for file in _listed(done):
        name = parse_name(file)
        if name is None or name.time_ns < before_ns:
            _remove(f"{done}/{file}")


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _bytes_of(path: str) -> bytes:
    """The bytes of a plain file of reasonable size; ValueError for anything else. No link is followed."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        seen = os.fstat(descriptor)
        if not stat.S_ISREG(seen.st_mode):
            raise ValueError("no plain file")
        if seen.st_size > MOST_BYTES:
            raise ValueError(f"larger than {MOST_BYTES} bytes")
        parts = []
        while part := os.read(descriptor, MOST_BYTES):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(descriptor)


def _modified_ns(path: str) -> int:
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return sys.maxsize


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


# As in `vault.files`, whose import costs a hook more than all of its own work.


def _sync(descriptor: int) -> None:
    if sys.platform == "darwin":
        import fcntl

        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
    else:
        os.fsync(descriptor)


def _sync_folder(folder: str) -> None:
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError):
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise
    finally:
        os.close(descriptor)
