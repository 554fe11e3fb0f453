"""Who does a vault's background work: one process at a time among all of this user's.

The duty is a lock (flock) on a file in the vault's state folder, so that it ends with its owner, however that ends. A
process of a higher rank claims it by another lock, which the owner sees and gives way to; a claim, too, ends with
its owner.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, get_args

from msgspec import Struct

from wikimem.vault.files import cannot

Rank = Literal["mcp", "resident", "watch", "serve"]
RANKS: Final[tuple[Rank, ...]] = get_args(Rank)
"""From the lowest: a stdio MCP server, the resident process, `wikimem watch`, `wikimem serve`."""

_LOCK: Final = "duty.lock"
_TRIES: Final = 3
"""Somebody who only looks whether the duty is taken holds its lock for a moment."""


class DutyHolder(Struct, frozen=True):
    """The process that does the background work: its rank, its id, and since when."""

    rank: str
    pid: int
    since: datetime | None

    def __str__(self) -> str:
        since = f", since {self.since:%Y-%m-%d %H:%M:%S}" if self.since else ""
        name = {"mcp": "an MCP server", "resident": "the resident process"}.get(self.rank, f"`wikimem {self.rank}`")
        return f"{name} (process {self.pid}{since})"


class Duty:
    """The duty of one vault, for a process of this rank; `folder` is the vault's state folder."""

    def __init__(self, folder: Path, rank: Rank) -> None:
        self.rank = rank
        self._folder = folder
        self._held: int | None = None
        self._claim: int | None = None

    @property
    def is_held(self) -> bool:
        return self._held is not None

    def take(self) -> bool:
        """Take the duty where nobody has it and nobody of a higher rank wants it; True where it is held now.

        Otherwise this process claims it until it has it, or `release` is called: an owner of a lower rank gives way.
        """
        if self._held is not None:
            return True
        if self._claim is None:
            self._claim = _lock(self._folder / _claim_name(self.rank), shared=True)
        if self.is_wanted():
            return False
        for left in reversed(range(_TRIES)):
            self._held = _lock(self._folder / _LOCK)
            if self._held is not None:
                self._describe(self._held)
                self._unclaim()
                return True
            if left:
                time.sleep(0.01)
        return False

    def is_wanted(self) -> bool:
        """Whether a process of a higher rank claims the duty."""
        for rank in RANKS[RANKS.index(self.rank) + 1 :]:
            path = self._folder / _claim_name(rank)
            if not path.exists():
                continue
            free = _lock(path)
            if free is None:
                return True
            os.close(free)
        return False

    def release(self) -> None:
        """Give up the duty, and the claim on it; harmless to repeat."""
        self._unclaim()
        if self._held is not None:
            with contextlib.suppress(OSError):
                os.ftruncate(self._held, 0)
            os.close(self._held)
            self._held = None

    def _unclaim(self) -> None:
        if self._claim is not None:
            os.close(self._claim)
            self._claim = None

    def _describe(self, descriptor: int) -> None:
        """Say in the file who holds it; a full disk must not keep anybody from the duty."""
        note = {"rank": self.rank, "pid": os.getpid(), "since": datetime.now().isoformat(timespec="seconds")}
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, json.dumps(note).encode(), 0)


def duty_holder(folder: Path) -> DutyHolder | None:
    """The process that has the duty of the vault with this state folder; None where nobody has it.

    A process that died does not count, whatever it has written.
    """
    path = folder / _LOCK
    if not path.exists():
        return None
    free = _lock(path, shared=True)
    if free is not None:
        os.close(free)
        return None
    try:
        note = json.loads(path.read_bytes() or b"{}")
        return DutyHolder(str(note["rank"]), int(note["pid"]), datetime.fromisoformat(note["since"]))
    except (OSError, ValueError, KeyError, TypeError):
        # Taken this very moment, or the disk was full when it was.
        return DutyHolder("unknown", 0, None)


def _claim_name(rank: Rank) -> str:
    return f"duty-claim-{rank}.lock"


def _lock(path: Path, *, shared: bool = False) -> int | None:
    """A descriptor that holds the lock on `path`; None where somebody else does."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise cannot(f"open the lock file '{path}'", error) from error
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
