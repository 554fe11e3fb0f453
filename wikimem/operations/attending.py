"""The background work of a vault beside answers from it, in one process: a turn at a time. Not an operation: it lasts.

The environment and the working directory of a process are one; while a client is answered they are the client's, and
nothing else may run that asks for them.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wikimem.errors import WikimemError
from wikimem.operations.watching import open_duties
from wikimem.vault.feed import ChangeFeed, Changes
from wikimem.vault.hints import Hints

if TYPE_CHECKING:
    from wikimem.memory.duties import Deed
    from wikimem.wiki import Wiki

log = logging.getLogger(__name__)

BARRIER_S: Final = 0.1
"""How long an answer waits to hear of every change; then it looks at all files."""

_ENDING_S: Final = 30.0
_ASIDE_S: Final = 0.5


class Turn:
    """What lets one thread work at a time; `since` is the monotonic time at which the one at work began, if any."""

    def __init__(self) -> None:
        self.since: float | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()
        self.since = time.monotonic()

    def __exit__(self, *_: object) -> None:
        self.since = None
        self._lock.release()


class SharedFeed(ChangeFeed):
    """A feed whose listener lets others have their turn while it waits."""

    def __init__(self, root: Path, cookies: Path, exclude: Sequence[str], turn: Turn) -> None:
        super().__init__(root, cookies, exclude)
        self._turn = turn

    def changes(self, wait_s: float) -> Changes:
        self._turn.__exit__()
        try:
            return super().changes(wait_s)
        finally:
            self._turn.__enter__()


class Attendance:
    """Does a vault's background work in a thread of its own, and knows what has changed for those who answer.

    `turn` is held by whoever works: by this thread, or by whoever answers.
    """

    def __init__(self, wiki: Wiki, make_wiki: Callable[[], Wiki], turn: Turn) -> None:
        """Opens a watch on the vault of `wiki`; `make_wiki` opens that vault anew, for the thread."""
        self._make_wiki = make_wiki
        self._turn = turn
        self._stop = threading.Event()
        self._feed = SharedFeed(wiki.root, wiki.folders.state / "cookies", wiki.config.exclude, turn)
        self.hints = Hints(lambda: self._feed.caught_up(BARRIER_S))
        self._thread = threading.Thread(target=self._work, name="wikimem duties", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Finish what is under way and let go of the duty. The caller does not hold the turn."""
        self._stop.set()
        self._feed.close()
        self._thread.join(_ENDING_S)

    def _work(self) -> None:
        try:
            with self._turn:
                duties = open_duties(self._make_wiki, "resident", _ignore, feed=self._feed)
        except (WikimemError, OSError) as error:
            log.warning("the background work cannot begin: %s", error)
            return
        try:
            while not self._stop.is_set():
                with self._turn:
                    on_duty = duties.step()
                if not on_duty:
                    self._stop.wait(_ASIDE_S)
        finally:
            with self._turn:
                duties.close()


def _ignore(deed: Deed) -> None:
    """Deeds are logged where they are done."""
    del deed
