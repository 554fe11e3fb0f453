"""The index lock: one process writes the index at a time. Readers never take it.

flock belongs to the open file, so that a process that dies lets go of it.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from wikimem.errors import Refused, Unavailable

_FIRST_PAUSE_S: Final = 0.002
_LONGEST_PAUSE_S: Final = 0.05


@contextmanager
def index_lock(path: Path, timeout_s: float) -> Iterator[bool]:
    """Hold the lock while the body runs; yields False where another process kept it for `timeout_s` seconds."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise Unavailable(
            f"cannot open the index lock '{path}': {error.strerror}",
            hint="See to free space and to the permissions of wikimem's cache folder.",
        ) from error
    try:
        yield _acquired(descriptor, path, timeout_s)
    finally:
        os.close(descriptor)


def _acquired(descriptor: int, path: Path, timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    pause = _FIRST_PAUSE_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
        except OSError as error:
            raise Refused(
                f"locks do not work on '{path}': {error.strerror}",
                hint="Keep wikimem's cache folder on a local file system.",
            ) from error
        time.sleep(pause)
        pause = min(pause * 1.5, _LONGEST_PAUSE_S)
