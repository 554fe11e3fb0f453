"""From where pages without an id of their own came: what keeps their derived id through renames.

The id of such a page is a digest of the first path in its history. Two accounts say which path that is:

- git's history, followed through renames (`renames.read_history`). It is the same on every machine that has the
  commits, so it lies in the vault's cache folder and is read again where it is missing.
- what was seen on this machine: a move by wikimem, or a page found at another path before git knew of it. It lies in
  the state folder and overrules the other, until git says the same.

A page that is put where a moved one was before is another page, and gets another id.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from wikimem.text.ids import derived_id
from wikimem.vault.files import write_atomically
from wikimem.vault.lock import write_lock
from wikimem.vault.renames import head_commit, read_renames

FILE_NAME: Final = "origins.json"
HISTORY_NAME: Final = "renames.json"
_AGAIN: Final = "\nagain"
"""No path holds a line break, so that no page has this as its path."""


class Origins(Struct, frozen=True, dict=True):
    """What ids are derived from, by present path, where that is not the path itself.

    `seeds` was seen on this machine, `history` is in git up to `commit`; the former counts where both speak.
    """

    seeds: Mapping[str, str] = field(default_factory=dict)
    history: Mapping[str, str] = field(default_factory=dict)
    commit: str = ""

    def page_id(self, path: str) -> str:
        """The id of the page at `path`, where its frontmatter gives none."""
        return derived_id(self._seed(path))

    def moved(self, old: str, new: str) -> Origins:
        """These origins once the page at `old` is at `new`."""
        seed = self._seed(old)
        seeds = {path: each for path, each in self.seeds.items() if path not in (old, new)}
        if self.history.get(new, new) != seed or new in self.history.values():
            seeds[new] = seed
        if old in self.history:
            others = {each for path, each in {**self.history, **seeds}.items() if path != old}
            seeds[old] = _free(old, others)
        return replace(self, seeds=seeds)

    def with_history(self, history: Mapping[str, str], commit: str) -> Origins:
        """These origins with another account of git's; what git says too need not be remembered any more."""
        taken = set(history.values())
        seeds = {
            path: seed
            for path, seed in self.seeds.items()
            if not (history[path] == seed if path in history else seed == path and path not in taken)
        }
        return Origins(seeds, history, commit)

    def differing(self, other: Origins) -> frozenset[str]:
        """Paths at which a page without an id of its own may have another id by `other`."""
        mine, theirs = self._merged, other._merged
        paths = {path for path in (*mine, *theirs) if mine.get(path) != theirs.get(path)}
        return frozenset(paths | (set(mine.values()) ^ set(theirs.values())))

    @cached_property
    def _merged(self) -> dict[str, str]:
        return {**self.history, **self.seeds}

    @cached_property
    def _taken(self) -> frozenset[str]:
        return frozenset(self._merged.values())

    def _seed(self, path: str) -> str:
        return self._merged.get(path) or _free(path, self._taken)


NO_ORIGINS: Final = Origins()


class OriginStore(Struct):
    """The origins of the vault at `root`, kept in its `state` and `cache` folders.

    `lasting` is False for a second index of the same files: what it learns must not outlive it.
    """

    root: Path
    state: Path
    cache: Path
    lasting: bool = True
    _read: tuple[object, Origins] = (None, NO_ORIGINS)

    def read(self) -> Origins:
        """The origins as they were last kept; read again only where a file has changed."""
        places = (self.state / FILE_NAME, self.cache / HISTORY_NAME)
        stamp = tuple(map(_stamp, places))
        if self._read[0] != stamp:
            origins = read_origins(self.state)
            told = _document(places[1])
            history, commit = told.get("history"), told.get("commit")
            if isinstance(history, dict) and isinstance(commit, str) and _is_mapping(history):
                origins = replace(origins, history=history, commit=commit)
            self._read = stamp, origins
        return self._read[1]

    def caught_up(self) -> Origins:
        """The origins by git's history as it is now; nothing is kept. Errors as in `read_renames`."""
        known = self.read()
        head = head_commit(self.root)
        if head == known.commit:
            return known
        if not head:
            return known.with_history({}, "")
        renames = read_renames(self.root, since=known.commit, until=head)
        base = known.history if renames.continues else {}
        return known.with_history(followed(base, renames.changes), head)

    def keep(self, origins: Origins) -> None:
        """Keep git's account, once the index has it."""
        if not self.lasting or origins.commit == self.read().commit:
            return
        with self._lock():
            seeds = replace(read_origins(self.state)).with_history(origins.history, origins.commit).seeds
            _write(self.cache / HISTORY_NAME, {"commit": origins.commit, "history": dict(origins.history)})
            if seeds != read_origins(self.state).seeds:
                write_origins(self.state, Origins(seeds))

    def record(self, moves: Iterable[tuple[str, str]]) -> Origins:
        """Remember pages, as (old path, new path), that are at another path now; returns the origins since."""
        with self._lock():
            origins = before = replace(self.read(), seeds=read_origins(self.state).seeds)
            for old, new in moves:
                origins = origins.moved(old, new)
            if self.lasting and origins.seeds != before.seeds:
                write_origins(self.state, origins)
            return origins

    def _lock(self) -> Any:
        return write_lock(self.state / "origins.lock", "remembering moved pages")


def followed(known: Mapping[str, str], changes: Iterable[tuple[tuple[str, str], ...]]) -> dict[str, str]:
    """What git's history makes of `known` with more commits, oldest first.

    Each commit is its (old path, new path) pairs; the old path is empty where a page was added.
    """
    seeds = dict(known)
    taken = set(seeds.values())
    for commit in changes:
        moved = [(old, new, seeds.get(old) or _free(old, taken)) for old, new in commit if old]
        for old, _, _ in moved:
            taken.discard(seeds.pop(old, ""))
        for _, new, seed in moved:
            taken.discard(seeds.pop(new, ""))
            if seed != new or seed in taken:
                seeds[new] = seed if seed not in taken else _free(seed, taken)
                taken.add(seeds[new])
        for old, new in commit:
            # One that was there before is the same page again, brought back.
            if not old and new not in seeds and new in taken:
                seeds[new] = _free(new, taken)
                taken.add(seeds[new])
    return seeds


def read_origins(folder: Path) -> Origins:
    """The seen origins in a vault's state folder. A file that cannot be read counts as none: ids are then those of
    git's history and of paths."""
    seeds = _document(folder / FILE_NAME)
    return Origins(seeds) if seeds and _is_mapping(seeds) else NO_ORIGINS


def write_origins(folder: Path, origins: Origins) -> None:
    """Keep the seen origins; see `OriginStore.record` for adding to them."""
    _write(folder / FILE_NAME, dict(origins.seeds))


def _free(path: str, taken: Iterable[str]) -> str:
    seed, others = path, taken if isinstance(taken, set | frozenset) else set(taken)
    while seed in others:
        seed += _AGAIN
    return seed


def _document(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}


def _is_mapping(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(each, str) for each in value.values())


def _stamp(path: Path) -> tuple[int, int, int]:
    try:
        seen = path.stat()
    except OSError:
        return 0, 0, 0
    return seen.st_mtime_ns, seen.st_size, seen.st_ino


def _write(path: Path, document: Mapping[str, Any]) -> None:
    data = json.dumps(document, ensure_ascii=False, indent=1, sort_keys=True)
    write_atomically(path, data.encode("utf-8", "surrogatepass"), mode=0o600)
