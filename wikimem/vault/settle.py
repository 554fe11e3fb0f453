"""Putting git's index right where it does not follow HEAD for the paths of a write.

A person's `git commit` reads the index, and only then locks it to write it back. What wikimem entered between the two
is lost from the index by that: it then reads as if the person had staged the reversal of the agent's page, and their
next commit would carry that out. So a write looks again after its commit, and for some seconds so do the next ones.
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


def settle_index(repository: Repository, files: PageFiles, planned: Sequence[Planned]) -> None:
    """Where the index holds what these writes knew, before or after, and HEAD says otherwise, HEAD's entry comes back.

    What anybody else staged stays, and so does the entry of a page that is not on disk as it was written.
    """
    known: dict[str, set[bytes | None]] = {}
    latest: dict[str, Planned] = {}
    for each in planned:
        known.setdefault(each.path, set()).update((_blob(each.base), _blob(each.entry)))
        latest[each.path] = each
    for _ in range(_MOST_TIMES):
        _await_index(repository)
        try:
            staged = repository.index_entries(list(known))
        except Conflict:
            # A merge has these paths in its hands: what was entered is gone from there.
            return
        in_head = repository.head_entries(list(known))
        wrong = {
            path: in_head[path]
            for path, each in latest.items()
            if _blob(staged[path]) in known[path]
            and _blob(staged[path]) != _blob(in_head[path])
            and (_blob(in_head[path]) != _blob(each.entry) or files.read(path) == each.new)
        }
        if not wrong:
            return
        repository.put_index(wrong)


def _await_index(repository: Repository) -> None:
    """Whoever holds the index now will write it: look after that. A lock that stays is not waited for."""
    deadline = time.monotonic() + _LOCK_WAIT_S
    while (repository.git_dir / "index.lock").exists() and time.monotonic() < deadline:
        time.sleep(0.005)


def _blob(entry: Entry | None) -> bytes | None:
    return entry.blob if entry else None
