"""A stream of what happens in a vault's folder: file-system events, sorted, settled, and with a barrier.

One thread alone takes events from the watch. It never lets the watch time out, and ends it only where a sweep
follows: on both ways out the watch forgets what came in at that moment.

What an overflowing event queue drops is not reported by the watch, and neither is what happens in a new folder before
that has a watch of its own. So whoever listens sweeps at start, after folder events, and now and then besides.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import secrets
import shutil
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wikimem.vault.changes import MOST_PATHS, Changes, EventSorter, Heap
from wikimem.vault.mounts import silent_disk
from wikimem.vault.project import WorkTree, find_work_tree

if TYPE_CHECKING:
    from watchfiles._rust_notify import RustNotify

__all__ = ["MOST_PATHS", "ChangeFeed", "Changes"]

log = logging.getLogger(__name__)

DEBOUNCE_S: Final = 0.3
STEP_S: Final = 0.05
"""A burst is over after this time without an event, and is given after DEBOUNCE_S at the latest."""

AGAIN_S: Final = 1.0
"""How long after a folder's event the second sweep comes."""

POLL_MS: Final = 1_000
_CALM_MS: Final = 25
_ALERT_MS: Final = 3
_ALERT_S: Final = 10.0
"""How often the watch looks at what came in; more often for some seconds after somebody asked `caught_up`."""

_LOOK_S: Final = 1.0
_MOST_MISSED: Final = 3
_COOKIE_FOLDER: Final = re.compile(r"feed-(\d+)-[0-9a-f]{8}")


class ChangeFeed:
    """What happens in the vault at `root`. Safe for use by two threads: one waits in `changes`, one asks `caught_up`.

    Each of the two is told everything, also what the other was told: whoever was told first may not have acted on it
    yet. `cookies` is a folder of this user's outside the vault; `exclude` has patterns as in a .gitignore. With
    `poll`, or where there are no events to be had, the disk is looked through every second; `why_polling` says so.
    """

    def __init__(self, root: Path, cookies: Path, exclude: Sequence[str], *, poll: bool = False) -> None:
        self.root = Path(os.path.realpath(root))
        self.why_polling = "asked to" if poll else ""
        self._poll = poll
        self._exclude = tuple(exclude)
        _sweep_cookies(cookies)
        self._cookies = Path(os.path.realpath(cookies)) / f"feed-{os.getpid()}-{secrets.token_hex(4)}"
        self._cookies.mkdir(mode=0o700, parents=True)
        self._told = threading.Condition()
        self._waiting, self._asking = Heap(sweep=True), Heap(sweep=True)
        self._arrived: set[str] = set()
        self._first_at = self._last_at = 0.0
        self._again_at = float("inf")
        self._alert_until = 0.0
        self._identity: tuple[tuple[int, int] | None, ...] = ()
        self._is_open = self._closed = False
        self._missed = 0
        self._reopen = threading.Event()
        self._opened = threading.Event()
        self._thread = threading.Thread(target=self._pump, name="wikimem changes", daemon=True)
        self._thread.start()
        # What happens after this constructor has returned is seen.
        self._opened.wait(30)

    @property
    def polling(self) -> bool:
        """Whether the disk is looked through every second, in want of events."""
        return bool(self.why_polling)

    def changes(self, wait_s: float) -> Changes:
        """What happened since the last call, once a burst is over; an empty answer after `wait_s` seconds of rest."""
        deadline = time.monotonic() + wait_s
        with self._told:
            while not self._closed:
                now = time.monotonic()
                if now >= self._again_at:
                    self._again_at = float("inf")
                    self._waiting.sweep = True
                if self._waiting and (pause := self._until_settled(now)) <= 0:
                    break
                if not self._waiting:
                    if now >= deadline:
                        break
                    pause = min(deadline, self._again_at, now + _LOOK_S) - now
                self._told.wait(max(pause, 0.001))
                self._look_after()
            folders = self._waiting.folders
        if folders:
            self._await_folders(self._waiting, 2.0)
        with self._told:
            if folders:
                self._again_at = time.monotonic() + AGAIN_S
            return self._waiting.take()

    def caught_up(self, within_s: float) -> Changes:
        """Everything that happened since the last call and up to this moment; `sweep` where that cannot be told
        within `within_s` seconds."""
        deadline = time.monotonic() + within_s
        with self._told:
            self._look_after()
            exact = self._is_open and not self._closed and not self.polling and not self._reopen.is_set()
            self._alert_until = time.monotonic() + _ALERT_S
        exact = exact and self._barrier(deadline)
        if exact and self._asking.folders:
            exact = self._await_folders(self._asking, deadline - time.monotonic())
        with self._told:
            self._asking.sweep |= not exact
            return self._asking.take()

    def close(self) -> None:
        """Let go of the watch; a waiting `changes` returns."""
        with self._told:
            self._closed = True
            self._reopen.set()
            self._told.notify_all()
        self._thread.join(5)
        shutil.rmtree(self._cookies, ignore_errors=True)

    # What the listeners do

    def _until_settled(self, now: float) -> float:
        return min(self._last_at + STEP_S, self._first_at + DEBOUNCE_S) - now

    def _look_after(self) -> None:
        """Notice that the vault is another folder now, or gone; and let the watch rest when nobody asks any more."""
        if self._is_open and not self._reopen.is_set() and self._identities() != self._identity:
            self._reopen.set()
            self._waiting.sweep = self._asking.sweep = True
        if 0 < self._alert_until < time.monotonic():
            self._alert_until = 0.0
            self._put_cookie("calm")

    def _barrier(self, deadline: float) -> bool:
        """Whether every event so far has come in: a file that is made now comes in after them."""
        name = secrets.token_hex(8)
        self._put_cookie(name, keep=True)
        came = self._await(name, deadline)
        with contextlib.suppress(OSError):
            (self._cookies / name).unlink()
        with self._told:
            self._missed = 0 if came else self._missed + 1
            if self._missed >= _MOST_MISSED:
                # The watch is lost. Without this it would stay so.
                self._missed = 0
                self._reopen.set()
        return came

    def _await_folders(self, heap: Heap, within_s: float) -> bool:
        """Wait until new folders are watched: their watches are made in order, so a folder made now comes after them.

        What happened in them before is found by a sweep; what happens later is reported.
        """
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline and not self.polling:
            with self._told:
                heap.folders = False
            folder = self._cookies / secrets.token_hex(8)
            with contextlib.suppress(OSError):
                folder.mkdir(mode=0o700)
            number, came = 0, False
            while not came and time.monotonic() < deadline and not self._reopen.is_set():
                number += 1
                name = f"{folder.name}/{number}"
                self._put_cookie(name, keep=True)
                came = self._await(name, min(deadline, time.monotonic() + 0.02 * number))
            shutil.rmtree(folder, ignore_errors=True)
            if not came:
                return False
            if not heap.folders:
                return True
        return False

    def _put_cookie(self, name: str, *, keep: bool = False) -> None:
        with contextlib.suppress(OSError):
            os.close(os.open(self._cookies / name, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
            if not keep:
                (self._cookies / name).unlink()

    def _await(self, name: str, deadline: float) -> bool:
        with self._told:
            came = self._told.wait_for(
                lambda: name in self._arrived or self._reopen.is_set(), max(0.0, deadline - time.monotonic())
            )
            came = came and name in self._arrived
            self._arrived.discard(name)
            return came

    # What the watching thread does

    def _pump(self) -> None:
        away = False
        while True:
            self._reopen.clear()
            if self._closed:
                return
            watch = self._open()
            if not (watch is None and away):
                self._mark(Heap(sweep=True, refs=True))
            away = watch is None
            self._opened.set()
            if watch is None:
                self._reopen.wait(0.2)
                continue
            with self._told:
                self._is_open = True
            try:
                self._listen(*watch)
            except (OSError, RuntimeError) as error:
                # Such as a file whose name is no text: the watch is of no use after that.
                log.warning("the watch on %s ended: %s", self.root, error)
                self._reopen.wait(0.2)
            finally:
                with self._told:
                    self._is_open = False
                watch[0].close()

    def _listen(self, watch: RustNotify, sorter: EventSorter) -> None:
        prefix = f"{self._cookies}/"
        while not self._reopen.is_set():
            step = _ALERT_MS if time.monotonic() < self._alert_until else _CALM_MS
            events = watch.watch(1, step, 0, self._reopen)
            if isinstance(events, str):
                continue
            paths = {path for _, path in events}
            cookies = {path for path in paths if path.startswith(prefix)}
            heap = sorter.sort(paths - cookies)
            if self.polling and heap:
                # A file that is saved twice within a second looks the same to whoever compares times.
                heap.sweep = heap.refs = True
            self._mark(heap, {path.removeprefix(prefix) for path in cookies})

    def _mark(self, heap: Heap, cookies: set[str] | None = None) -> None:
        now = time.monotonic()
        with self._told:
            if heap:
                self._first_at = self._first_at if self._waiting else now
                self._last_at = now
                self._waiting.add(heap)
                self._asking.add(heap)
                if self.polling:
                    self._again_at = now + 2 * POLL_MS / 1000
            self._arrived |= cookies or set()
            self._told.notify_all()

    def _open(self) -> tuple[RustNotify, EventSorter] | None:
        """A watch on the vault, its git folders and the cookies; None while the vault is away."""
        from watchfiles._rust_notify import RustNotify

        tree = find_work_tree(self.root) if self.root.is_dir() else None
        places = [self.root, self._cookies, *_outer_git_folders(self.root, tree)]
        self._identity = self._identities()
        if not self._poll:
            disk = silent_disk(self.root)
            self.why_polling = f"a disk of the kind {disk} reports no changes of others" if disk else ""
        for polling in (False, True):
            if polling < self.polling:
                continue
            try:
                sorter = EventSorter(self.root, tree, self._exclude)
                watch = RustNotify([os.fspath(place) for place in places], False, polling, POLL_MS, True, False)
            except FileNotFoundError:
                return None
            except (OSError, RuntimeError) as error:
                if polling:
                    log.warning("cannot watch %s: %s", self.root, error)
                    return None
                self.why_polling = f"the system gives no more watches ({error})"
                continue
            return watch, sorter
        return None

    def _identities(self) -> tuple[tuple[int, int] | None, ...]:
        """Which folders lie at the vault's root and at its repository's now."""
        found: list[tuple[int, int] | None] = []
        for place in (self.root, self.root / ".git"):
            try:
                seen = os.stat(place)
                found.append((seen.st_dev, seen.st_ino))
            except OSError:
                found.append(None)
        return tuple(found)


def _outer_git_folders(root: Path, tree: WorkTree | None) -> list[Path]:
    """The folders of the repository that do not lie in the vault itself (a linked worktree, a vault in a subfolder)."""
    if tree is None:
        return []
    places = {place for place in (tree.git_dir, tree.common_dir) if not place.is_relative_to(root)}
    return [place for place in sorted(places) if not any(each in place.parents for each in places)]


def _sweep_cookies(folder: Path) -> None:
    """Remove what feeds of processes that are gone have left."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            if (found := _COOKIE_FOLDER.fullmatch(name)) and not _is_alive(int(found[1])):
                shutil.rmtree(folder / name, ignore_errors=True)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
