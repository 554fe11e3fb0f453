"""What happened in a vault's folder, made of the paths that a file-system watch names.

An event is a hint: it says where to look and never what is there. Where the hints do not suffice (folders, bursts,
rules on what is ignored) the answer is a sweep.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from msgspec import Struct

from wikimem.vault.layout import is_page_name
from wikimem.vault.project import WorkTree

MOST_PATHS: Final = 200
"""More pages than this at once are looked for by a sweep: a checkout touches thousands, and some events are lost."""

_RULES: Final = (".gitignore", ".wikimemignore")
_SETTINGS: Final = ".wikimem/config.toml"
_GIT_FILES: Final = frozenset(
    {"HEAD", "index", "packed-refs", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG",
     "rebase-merge", "rebase-apply", "sequencer"}
)  # fmt: skip
"""Files and folders of git's that say where HEAD is, what is staged, and whether an operation is under way."""


class Changes(Struct, frozen=True):
    """What happened: `paths` of pages relative to the vault's root (they may be gone by now), `sweep` where paths do
    not tell all of it, `refs` where git's HEAD, refs or index changed or an operation of git's began or ended."""

    paths: frozenset[str] = frozenset()
    sweep: bool = False
    refs: bool = False

    def __bool__(self) -> bool:
        return bool(self.paths) or self.sweep or self.refs


@dataclass(slots=True)
class Heap:
    """What has happened and was not taken yet. `folders` is set while a folder's own watch may still be missing."""

    paths: set[str] = field(default_factory=set)
    sweep: bool = False
    refs: bool = False
    folders: bool = False

    def add(self, other: Heap) -> None:
        self.paths |= other.paths
        self.refs |= other.refs
        self.folders |= other.folders
        self.sweep |= other.sweep or other.folders or len(self.paths) > MOST_PATHS
        if self.sweep:
            self.paths.clear()

    def take(self) -> Changes:
        taken = Changes(frozenset(self.paths), self.sweep, self.refs)
        self.paths = set()
        self.sweep = self.refs = self.folders = False
        return taken

    def __bool__(self) -> bool:
        return bool(self.paths) or self.sweep or self.refs


class EventSorter:
    """Makes a heap of events' paths. `root` is a real path, `exclude` has patterns as in a .gitignore."""

    def __init__(self, root: Path, tree: WorkTree | None, exclude: Sequence[str]) -> None:
        self._root = os.fspath(root)
        self._git = [] if tree is None else sorted({os.fspath(tree.git_dir), os.fspath(tree.common_dir)}, key=len)[::-1]
        self._excluded = _exclusion(exclude)
        self._folders = {*walk_folders(self._root, "")}

    def sort(self, events: Iterable[str]) -> Heap:
        """What the absolute paths of these events mean together."""
        heap = Heap()
        for path in events:
            if any(self._of_git(path, folder, heap) for folder in self._git):
                continue
            if path == self._root:
                heap.sweep = True
            elif path.startswith(self._root + "/"):
                self._in_vault(path[len(self._root) + 1 :], heap)
        if heap.folders or len(heap.paths) > MOST_PATHS:
            heap.sweep = True
        return heap

    def _of_git(self, path: str, folder: str, heap: Heap) -> bool:
        if not path.startswith(folder + "/"):
            return False
        name = path[len(folder) + 1 :]
        if name == "info/exclude":
            heap.sweep = True
        elif not name.endswith(".lock") and (name in _GIT_FILES or name.startswith("refs/")):
            heap.refs = True
        return True

    def _in_vault(self, path: str, heap: Heap) -> None:
        name = path.rpartition("/")[2]
        if name in _RULES or path == _SETTINGS or path == ".git":
            heap.sweep = True
            return
        if path.startswith(".") or "/." in path or self._excluded(path):
            return
        if self._is_folder(path):
            heap.folders = True
        elif is_page_name(name):
            heap.paths.add(path)

    def _is_folder(self, path: str) -> bool:
        """Whether there is a folder at `path`, or was until now."""
        try:
            is_folder = os.path.isdir(f"{self._root}/{path}") and not os.path.islink(f"{self._root}/{path}")
        except (OSError, ValueError):
            is_folder = False
        was_folder = path in self._folders
        if is_folder and not was_folder:
            self._folders |= {path, *walk_folders(self._root, path)}
        if was_folder and not is_folder:
            self._folders = {each for each in self._folders if each != path and not each.startswith(path + "/")}
        return is_folder or was_folder


def walk_folders(root: str, below: str) -> Iterable[str]:
    """The folders under `root`/`below` that may hold pages, relative to `root`; links and hidden ones are left out."""
    places = [below]
    while places:
        place = places.pop()
        with contextlib.suppress(OSError), os.scandir(f"{root}/{place}" if place else root) as entries:
            for entry in entries:
                if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
                    path = f"{place}/{entry.name}" if place else entry.name
                    places.append(path)
                    yield path


def _exclusion(patterns: Sequence[str]) -> Callable[[str], bool]:
    if not patterns:
        return lambda _: False
    from dulwich.ignore import IgnoreFilter  # heavy

    rules = IgnoreFilter([os.fsencode(pattern) for pattern in patterns])

    def excluded(path: str) -> bool:
        parts = path.split("/")
        folders = ("/".join(parts[:depth]) + "/" for depth in range(1, len(parts) + 1))
        return bool(rules.is_ignored(path)) or any(rules.is_ignored(folder) for folder in folders)

    return excluded
