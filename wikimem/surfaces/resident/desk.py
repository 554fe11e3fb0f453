"""The vault that the server keeps open, and what it may do with it for one client at a time."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from wikimem.surfaces.resident.streams import Outlet

if TYPE_CHECKING:
    from wikimem.operations.attending import Attendance
    from wikimem.wiki import Wiki


class NotServed(BaseException):
    """The command means another vault than the one that is served. No Exception: it is no error to be worded."""


class Desk:
    """Keeps the index open from one command to the next. Each command still opens the vault anew: whether it is
    registered, what the settings say and which key is in use are asked every time, as in a process of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.wiki: Wiki | None = None
        self.outlet: Outlet | None = None
        self.attendance: Attendance | None = None
        self.settings_changed = False
        self._index: object = None

    def take(self, wiki: Wiki) -> None:
        """Let a command's own wiki go on with what is open. Raises NotServed where it is another vault's."""
        if wiki.root != self.root:
            raise NotServed
        if self.wiki is not None and self._index == index_files(self.wiki):
            self.settings_changed |= not self.wiki.hand_over(wiki)
        elif self.wiki is not None:
            # The index may be deleted at any time, also under a server that has it open.
            self.wiki.close()
            self._sweep_next()
        self.wiki = wiki
        # What is watched depends on the settings.
        wiki.hints = self.attendance.hints if self.attendance and not self.settings_changed else None
        shown, outlet = wiki.progress, self.outlet

        def progress(what: str, done: int, total: int) -> None:
            if outlet is not None:
                outlet.check()
            if shown is not None:
                shown(what, done, total)

        wiki.progress = progress

    def finish(self) -> None:
        """Note what the index is, after a command."""
        if self.wiki is not None:
            self._index = index_files(self.wiki)
            self.wiki.progress = None

    def drop(self) -> None:
        """Close everything: after a command that was interrupted somewhere, and at the end."""
        wiki, self.wiki = self.wiki, None
        self._sweep_next()
        if wiki is not None:
            wiki.close()

    def _sweep_next(self) -> None:
        if self.attendance is not None:
            self.attendance.hints.sweep_next = True


def index_files(wiki: Wiki) -> object:
    """Which making of the index is on disk: its folder and its stamp; None where there is none."""
    try:
        folder, stamp = wiki.folders.index.stat(), (wiki.folders.index / "stamp.json").stat()
    except OSError:
        return None
    return folder.st_dev, folder.st_ino, stamp.st_ino, stamp.st_mtime_ns


class LoadedCode:
    """The modules that this process runs, to notice that they were replaced under it by an upgrade."""

    def __init__(self) -> None:
        self._since_ns = time.time_ns()
        self._seen: dict[str, int] = {}

    def is_replaced(self) -> bool:
        """Whether a file that was loaded is gone, or another one by now."""
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None) if name.partition(".")[0] == "wikimem" else None
            if file is None:
                continue
            try:
                # Not the time of the content, which an installer copies from the package.
                changed_ns = os.stat(file).st_ctime_ns
            except OSError:
                return True
            if self._seen.setdefault(file, changed_ns) != changed_ns or changed_ns > self._since_ns:
                return True
        return False
