"""The one thread that works on the vault.

A Wiki is not for two threads at once, and its database handles belong to the thread that opened them; the server's
own loop must stay free to answer. So all work goes through one worker, in the order in which it came.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from wikimem.model.caller import Progress
from wikimem.wiki import Caller, Wiki, open_wiki

Result = TypeVar("Result")


class Start(Struct, frozen=True):
    """What the command line said when the server was started: the vault, and on whose behalf it works."""

    vault: str | None
    cwd: Path
    agent: str | None = None
    session: str | None = None
    project: str | None = None


class Desk:
    """Opens the vault when the first call needs it, and again on each call until that succeeds.

    So a server that was started before its vault was made or trusted begins to work without a restart.
    """

    def __init__(self, start: Start) -> None:
        self._start = start
        self._wiki: Wiki | None = None
        self._index: tuple[int, int] | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="wikimem")

    async def run(self, work: Callable[[Wiki], Result], *, agent: str, progress: Progress | None = None) -> Result:
        """Do `work` on behalf of `agent`, unless the command line named one. Raises as `open_wiki` does."""

        def job() -> Result:
            wiki = self._opened().on_behalf(agent=self._start.agent or agent)
            wiki.progress = progress
            try:
                return work(wiki)
            finally:
                self._index = self._index or index_folder(wiki)

        return await asyncio.get_running_loop().run_in_executor(self._thread, job)

    def mask(self, text: str) -> str:
        """The text without secrets."""
        if self._wiki is not None:
            return self._wiki.redactor.mask(text)
        from wikimem.text.redact import mask_without_key

        return mask_without_key(text)

    def close(self) -> None:
        """Finish what is under way, then close the vault in the thread that opened it."""
        self._thread.submit(self._close).result()
        self._thread.shutdown()

    def _opened(self) -> Wiki:
        if self._wiki is not None and self._index not in (None, index_folder(self._wiki)):
            # The index may be deleted at any time, also under a server that has it open.
            self._close()
        if self._wiki is None:
            start = self._start
            caller = Caller(start.agent, start.session, start.project, start.cwd)
            self._wiki = open_wiki(start.vault, cwd=start.cwd, caller=caller)
        return self._wiki

    def _close(self) -> None:
        if self._wiki is not None:
            self._wiki.close()
            self._wiki = self._index = None


def index_folder(wiki: Wiki) -> tuple[int, int] | None:
    """Which folder on disk the vault's index is now, by device and inode; None where there is none."""
    try:
        found = wiki.folders.index.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
