"""The write lock of a vault: one writer at a time among all processes of all users of this machine.

flock belongs to the open file, so the kernel lets go of it when its owner dies: a dead owner never blocks anyone,
and the note in the file about who holds it is only for people.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from wikimem.errors import Locked, Refused

LOCK_WAIT_S = 30.0
"""How long a writer waits for another: many times the cost of one write, short enough for an agent's tool call."""


@contextlib.contextmanager
def write_lock(path: Path, purpose: str, *, timeout_s: float = LOCK_WAIT_S) -> Iterator[None]:
    """Hold the lock file `path` while the body runs. Raises Locked, naming the owner, after `timeout_s` seconds."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise Refused(
            f"cannot open the lock file '{path}': {error.strerror}",
            hint="wikimem needs to write in the repository's .git folder.",
        ) from error
    try:
        _acquire(descriptor, path, timeout_s)
        _describe(descriptor, purpose)
        try:
            yield
        finally:
            os.ftruncate(descriptor, 0)
            fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        os.close(descriptor)


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


def _acquire(descriptor: int, path: Path, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    pause = 0.002
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                owner = lock_owner(path) or "another process"
                raise Locked(
                    f"the vault is being written by {owner}; waited {timeout_s:g} seconds",
                    hint="Try again; if that process hangs, end it: its lock goes with it.",
                    data={"owner": owner},
                ) from None
        except OSError as error:
            raise Refused(
                f"locks do not work on '{path}': {error.strerror}",
                hint="Keep the vault's repository on a local file system.",
            ) from error
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)


def _describe(descriptor: int, purpose: str) -> None:
    note = {"pid": os.getpid(), "purpose": purpose, "since": datetime.now().isoformat(timespec="seconds")}
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, json.dumps(note).encode(), 0)
