"""The write lock of a vault: one writer at a time among all processes of all users of this machine.

flock belongs to the open file, so the kernel lets go of it when its owner dies: a dead owner never blocks anyone,
and the note in the file about who holds it is only for people. A git that the owner started shares the open file:
where it outlives the owner, the lock stays until it has done what it was told, so that it cannot do so later.

Where the file system does not keep such locks, or keeps them from the other machines that share it, there is no
write: two writers at once would lose pages.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import re
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

from wikimem.errors import Locked, Refused
from wikimem.vault.files import cannot

LOCK_WAIT_S = 30.0
"""How long a writer waits for another: many times the cost of one write, short enough for an agent's tool call."""

_held: Final[set[int]] = set()

_MOUNTS: Final = Path("/proc/self/mountinfo")
_LOCAL_LOCKS: Final = {
    "nfs": ("nolock", "local_lock=all", "local_lock=flock"),
    "nfs4": ("local_lock=all", "local_lock=flock"),
    "cifs": ("nobrl",),
    "smb3": ("nobrl",),
    "fuse.sshfs": (),
    "fuse.rclone": (),
    "fuse.s3fs": (),
    "fuse.davfs": (),
}
"""Network file systems whose flock is not seen by other machines: with one of these mount options (nfs(5),
mount.cifs(8)), or, where none is listed, always (sshfs(1) and the object stores have no locks to offer)."""


_PAUSE_S: Final = 0.01
_SHORTEST_PAUSE_S: Final = 0.001


@contextlib.contextmanager
def write_lock(path: Path, purpose: str, *, timeout_s: float = LOCK_WAIT_S) -> Iterator[None]:
    """Hold the lock file `path` while the body runs. Raises Locked, naming the owner, after `timeout_s` seconds.

    Refused where the file cannot be opened or its file system keeps no locks.
    """
    _refuse_local_locks(path)
    descriptor = _opened(path, purpose, time.monotonic() + timeout_s, timeout_s)
    _held.add(descriptor)
    try:
        yield
    finally:
        _held.discard(descriptor)
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, 0)
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def held_locks() -> tuple[int, ...]:
    """The descriptors of the locks that this process holds, to be passed to what it starts under them."""
    return tuple(_held)


def lock_owner(path: Path) -> str:
    """Who holds the lock, in words, as its owner wrote it; empty where nobody does."""
    try:
        with path.open("rb") as file:
            note = json.loads(file.read(4096) or b"{}")
    except (OSError, ValueError):
        return ""
    if not isinstance(note, dict) or "pid" not in note:
        return ""
    return f"process {note['pid']} ({note.get('purpose', 'unknown')}, since {note.get('since', 'unknown')})"


def local_locks(path: Path, mounts: str) -> str:
    """Why locks on `path` would not hold between machines, by `mounts` (as /proc/self/mountinfo); else empty."""
    best, reason = "", ""
    real = os.path.realpath(path)
    for line in mounts.splitlines():
        mount, _, system = line.partition(" - ")
        fields, kind = mount.split(), system.split()
        if len(fields) < 6 or len(kind) < 3:
            continue
        # A space in a name is written as \040 there.
        point = re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), fields[4])
        if not (real == point or real.startswith(point.rstrip("/") + "/")) or len(point) < len(best):
            continue
        best, reason = point, ""
        if kind[0] in _LOCAL_LOCKS:
            options = {*fields[5].split(","), *kind[2].split(",")}
            found = [option for option in _LOCAL_LOCKS[kind[0]] if option in options]
            if found or not _LOCAL_LOCKS[kind[0]]:
                reason = f"'{point}' is mounted by {' with '.join([kind[0], *found[:1]])}"
    return reason


def _refuse_local_locks(path: Path) -> None:
    try:
        mounts = _MOUNTS.read_text("utf-8", "surrogateescape")
    except OSError:
        # Not Linux, or no /proc: what remains is the look at whether locks hold at all.
        return
    if reason := local_locks(path, mounts):
        raise Refused(
            f"locks on '{path}' are not seen by other machines that share the folder: {reason}",
            hint="Keep a clone on each machine's own disk and let git bring the pages together.",
        )


def _opened(path: Path, purpose: str, deadline: float, timeout_s: float) -> int:
    """An open file that holds the lock, and that is the one which others find at `path`."""
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise cannot(f"open the lock file '{path}'", error) from error
        try:
            _acquire(descriptor, path, deadline, timeout_s)
            if _is_at(descriptor, path):
                _check_that_it_holds(path)
                _describe(descriptor, purpose)
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        # Somebody removed the file while this process waited for it: others would lock another one.
        os.close(descriptor)


def _acquire(descriptor: int, path: Path, deadline: float, timeout_s: float) -> None:
    began = time.monotonic()
    while not _lock(descriptor, path):
        if time.monotonic() >= deadline:
            owner = lock_owner(path) or "another process"
            raise Locked(
                f"the vault is being written by {owner}; waited {timeout_s:g} seconds",
                hint="Try again; if that process hangs, end it: its lock goes with it.",
                data={"owner": owner},
            )
        # Who has waited longer asks more often, so that among many writers none waits without end.
        time.sleep(max(_SHORTEST_PAUSE_S, _PAUSE_S / (1 + time.monotonic() - began)))


def _lock(descriptor: int, path: Path) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES, errno.EAGAIN):
            return False
        raise Refused(
            f"locks do not work on '{path}': {error.strerror}",
            hint="Keep the vault's repository on a local file system.",
        ) from error
    return True


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(descriptor), there)


def _check_that_it_holds(path: Path) -> None:
    """Some file systems grant every lock. Raises Refused where a second one is granted beside that of this process."""
    try:
        second = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise cannot(f"open the lock file '{path}'", error) from error
    try:
        if _lock(second, path):
            raise Refused(
                f"locks do not work on '{path}': two were granted at once",
                hint="Keep the vault's repository on a local file system.",
            )
    finally:
        os.close(second)


def _describe(descriptor: int, purpose: str) -> None:
    """Say in the file who holds it; a full disk must not stop the write for that."""
    note = {"pid": os.getpid(), "purpose": purpose, "since": datetime.now().isoformat(timespec="seconds")}
    with contextlib.suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(note).encode(), 0)
