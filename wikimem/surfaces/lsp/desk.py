"""The one thread that works on the vaults whose pages are open in the editor.

A Wiki is not for two threads at once, and its database handles belong to the thread that opened them; the server's own
loop must stay free to answer. So all work goes through one worker, in the order in which it came.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, TypeVar

from msgspec import Struct

from wikimem.model.page import Page, Problem
from wikimem.operations.answering import notes_of
from wikimem.operations.authoring import InVault, Pages, Read, locate, page_of, reading
from wikimem.wiki import Caller, Wiki, open_wiki

Result = TypeVar("Result")

LEAST_REST_S: Final = 1.0
REST_SHARE: Final = 20
"""Between two sweeps of a vault that nothing asks for, this many times as long as a sweep takes, and at least
`LEAST_REST_S`: somebody who types makes a request at every key."""


class Start(Struct, frozen=True):
    """What the command line said when the server was started: the one vault to serve, if it named one."""

    vault: str | None
    cwd: Path


class OpenPage(Struct, frozen=True):
    """A page of a vault as it is in the editor, and how to read the others. `opened` are the paths of all that are
    open there, `skipped` what the last sweep of the vault passed over."""

    wiki: Wiki
    page: Page
    read: Read
    pages: Pages
    opened: Collection[str]
    skipped: tuple[Problem, ...]


class _OpenVault:
    """An open vault, and when it was last looked through."""

    def __init__(self, wiki: Wiki) -> None:
        self.wiki = wiki
        self.pages = Pages(wiki)
        self.skipped: tuple[Problem, ...] = ()
        self.index: tuple[int, int] | None = None
        self.stale = True
        self.looked_at = 0.0
        self.took = 0.0

    def refresh(self, *, wanted: bool) -> None:
        """Look through the vault where that is wanted, or was not done for a while."""
        now = time.monotonic()
        if not (wanted or self.stale or now - self.looked_at > max(LEAST_REST_S, REST_SHARE * self.took)):
            return
        refreshed = self.wiki.refresh()
        self.stale = False
        self.skipped = refreshed.skipped
        self.looked_at = time.monotonic()
        self.took = self.looked_at - now
        self.index = _index_folder(self.wiki)


class Desk:
    """Opens each vault when a page of it is first asked about, and again on each question until that succeeds.

    So a vault that is made or trusted while the editor runs is served from then on. `log` hears what the wiki notes,
    in the worker's thread.
    """

    def __init__(self, start: Start, log: Callable[[str], None]) -> None:
        self._start = start
        self._log = log
        self._vaults: dict[Path, _OpenVault] = {}
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="wikimem")

    async def run(
        self, file: Path, texts: Mapping[Path, str], work: Callable[[OpenPage], Result], *, fresh: bool = False
    ) -> Result | None:
        """Do `work` on the page that `file` is; None where it is in no vault.

        `texts` are the open files as the editor has them, this one among them. With `fresh` the vault is looked
        through first, whenever that was done last. Raises as `locate` and `open_wiki` do.
        """

        def job() -> Result | None:
            place = locate(file, named=self._start.vault, cwd=self._start.cwd)
            if place is None:
                return None
            vault = self._opened(place)
            vault.refresh(wanted=fresh)
            wiki = vault.wiki
            for note in notes_of(wiki):
                self._log(note)
            open_texts = _inside(place.root, texts)
            page = page_of(wiki, place.path, open_texts[place.path])
            return work(OpenPage(wiki, page, reading(wiki, open_texts), vault.pages, open_texts.keys(), vault.skipped))

        return await asyncio.get_running_loop().run_in_executor(self._thread, job)

    def expect_changes(self) -> None:
        """The editor said that files have changed: the next question looks through its vault first."""
        for vault in list(self._vaults.values()):
            vault.stale = True

    def close(self) -> None:
        """Finish what is under way, then close the vaults in the thread that opened them."""
        self._thread.submit(self._close, list(self._vaults)).result()
        self._thread.shutdown()

    def _opened(self, place: InVault) -> _OpenVault:
        found = self._vaults.get(place.root)
        if found is not None and found.index not in (None, _index_folder(found.wiki)):
            # The index may be deleted at any time, also under a server that has it open.
            self._close([place.root])
            found = None
        if found is None:
            wiki = open_wiki(str(place.root), cwd=place.root, caller=Caller(cwd=place.root))
            found = self._vaults[place.root] = _OpenVault(wiki)
        return found

    def _close(self, roots: Iterable[Path]) -> None:
        for root in roots:
            self._vaults.pop(root).wiki.close()


def _inside(root: Path, texts: Mapping[Path, str]) -> dict[str, str]:
    """The open texts of one vault, by path from its root."""
    found = {}
    for file, text in texts.items():
        folder = file.parent.resolve()
        if folder.is_relative_to(root):
            found[(folder / file.name).relative_to(root).as_posix()] = text
    return found


def _index_folder(wiki: Wiki) -> tuple[int, int] | None:
    """Which folder on disk the vault's index is now, by device and inode; None where there is none."""
    try:
        found = wiki.folders.index.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino
