"""Putting git's index right where it does not follow HEAD for the paths of a write.

A person's `git commit` reads the index, and only then locks it to write it back. What wikimem entered between the two
is lost from the index by that: it then reads as if the person had staged the reversal of the agent's page, and their
next commit would carry that out. So a write looks again after its commit, and for some seconds so do the next ones;
and what such a commit did carry out is put right.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from wikimem.errors import Conflict
from wikimem.vault.journal import Planned
from wikimem.vault.pagefiles import PageFiles
from wikimem.vault.repository import Entry, Repository

SETTLED_S: Final = 5.0
"""How long a write is looked at again. A `git commit` takes milliseconds from reading the index to locking it."""

_LOCK_WAIT_S: Final = 1.0
_MOST_TIMES: Final = 5


def settle_index(repository: Repository, files: PageFiles, done: Sequence[Planned]) -> None:
    """Where HEAD and the file are as these writes left them, and the index is as before one of them, HEAD's entry
    comes back. What anybody staged otherwise stays."""
    known: dict[str, set[bytes | None]] = {}
    latest: dict[str, Planned] = {}
    for each in done:
        known.setdefault(each.path, set()).update((blob_of(each.base), blob_of(each.entry)))
        latest[each.path] = each
    for _ in range(_MOST_TIMES):
        _await_index(repository)
        try:
            staged = repository.index_entries(list(latest))
        except Conflict:
            # A merge has these paths in its hands: what was entered is gone from there.
            return
        in_head = repository.head_entries(list(latest))
        wrong = {
            path: each.entry
            for path, each in latest.items()
            if not same_blob(staged[path], each.entry)
            and blob_of(staged[path]) in known[path]
            and same_blob(in_head[path], each.entry)
            and files.read(path) == each.new
        }
        if not wrong:
            return
        repository.put_index(wrong)


def unstage(repository: Repository, planned: Sequence[Planned]) -> None:
    """Where the index still holds what a write entered that is taken back, HEAD's entry comes back."""
    paths = [each.path for each in planned]
    try:
        staged = repository.index_entries(paths)
    except Conflict:
        return  # as above
    in_head = repository.head_entries(paths)
    wrong = {
        each.path: in_head[each.path]
        for each in planned
        if same_blob(staged[each.path], each.entry) and not same_blob(in_head[each.path], each.entry)
    }
    if wrong:
        repository.put_index(wrong)


def _await_index(repository: Repository) -> None:
    """Whoever holds the index now will write it: look after that. A lock that stays is not waited for."""
    deadline = time.monotonic() + _LOCK_WAIT_S
    while (repository.git_dir / "index.lock").exists() and time.monotonic() < deadline:
        time.sleep(0.005)


def reversed_pages(
    repository: Repository, files: PageFiles, done: Sequence[Planned], pending: Sequence[Planned]
) -> dict[str, tuple[Entry | None, Entry | None]]:
    """Paths that HEAD has as before writes that are in its history, though they are on disk as written: HEAD's entry,
    and the one that was written.

    That is the mark of a commit made from an index that was written back late: whoever reverts a page on purpose
    changes the file as well. `pending` are writes that were interrupted on top of those.
    """
    known: dict[str, set[bytes | None]] = {}
    latest: dict[str, Planned] = {}
    for each in done:
        known.setdefault(each.path, set()).add(blob_of(each.base))
        latest[each.path] = each
    on_disk = {path: {each.new} for path, each in latest.items()}
    for each in pending:
        if each.path in on_disk and same_blob(each.base, latest[each.path].entry):
            on_disk[each.path].add(each.new)
    in_head = repository.head_entries(list(latest))
    return {
        path: (in_head[path], each.entry)
        for path, each in latest.items()
        if blob_of(in_head[path]) in known[path]
        and not same_blob(in_head[path], each.entry)
        and files.read(path) in on_disk[path]
    }


def blob_of(entry: Entry | None) -> bytes | None:
    """The content of an entry, by name; None where there is no entry."""
    return entry.blob if entry else None


def same_blob(one: Entry | None, other: Entry | None) -> bool:
    """Whether two entries hold the same content, whatever their modes."""
    return blob_of(one) == blob_of(other)
