"""A folder for a state of the vault that is looked at for a moment: gone afterwards, whatever ends the command.

Its owner holds a lock in it, which the kernel lets go of when the owner dies; a folder whose lock nobody holds was left
by a command that was killed, and is removed by the next one.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NoReturn

_PREFIX: Final = "past-"
_LOCK: Final = "owner.lock"
_UNLOCKED: Final = "owner.new"
_BEING_MADE_S: Final = 60.0
"""A folder without a lock file, so young, is only being made."""


@contextlib.contextmanager
def past_folder(cache: Path) -> Iterator[Path]:
    """A new folder in `cache` that only this user can enter."""
    import shutil
    import tempfile

    remove_left_folders(cache)
    place = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=cache))
    try:
        with (place / _UNLOCKED).open("wb") as lock, _ended_in_order():
            fcntl.flock(lock, fcntl.LOCK_EX)
            # Only now it has the name by which others look for it: a free lock always means that its owner is gone.
            (place / _UNLOCKED).rename(place / _LOCK)
            yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def remove_left_folders(cache: Path) -> None:
    """Remove what killed commands left in `cache`."""
    try:
        left = [cache / name for name in os.listdir(cache) if name.startswith(_PREFIX)]
    except OSError:
        return
    for place in left:
        with contextlib.suppress(OSError):
            _remove_if_left(place)


def _remove_if_left(place: Path) -> None:
    import shutil

    try:
        descriptor = os.open(place / _LOCK, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        if time.time() - place.lstat().st_mtime > _BEING_MADE_S:
            shutil.rmtree(place, ignore_errors=True)
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(place, ignore_errors=True)
    except BlockingIOError:
        return  # its owner is alive
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _ended_in_order() -> Iterator[None]:
    """Meanwhile SIGTERM and SIGHUP end the process as an interrupt does, so that what comes last is still done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _: object) -> NoReturn:
        raise SystemExit(128 + number)

    ending = [each for each in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(each) is signal.SIG_DFL]
    for each in ending:
        signal.signal(each, end)
    try:
        yield
    finally:
        for each in ending:
            signal.signal(each, signal.SIG_DFL)
