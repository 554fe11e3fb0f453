"""What an earlier scan decided about names, kept for as long as everything that it was decided by stands unchanged.

Asking git which files it ignores takes longer than looking at every page. Its answer can only change with a few files:
its settings, its ignore lists, and its index where a tracked file is ignored too. While none of them has changed, what
was decided about a name holds, and git is asked only when a name is new.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

_VERSION: Final = 1
_VARIABLES: Final = ("HOME", "XDG_CONFIG_HOME", "PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
_SETTLED_NS: Final = 50_000_000
"""A file changed this recently may change again within the same time stamp: kernels' clocks tick every 4 to 10 ms."""

Stamp = list[int]
"""Change time and modification time (ns), size and inode of a file; empty where there is none."""


class Standing(Struct, frozen=True):
    """Decisions about names (True: a page or a folder to enter) and the stamps of the files that they rest on.

    `text` is the whole as JSON, for an index to keep. Names of folders end in a slash. Pages are not listed: the index
    knows them.
    """

    decided: dict[str, bool]
    places: dict[str, Stamp]
    text: str

    def stands(self, path: str) -> bool:
        """Whether a file that the decisions rest on is as it was; one that is new is not."""
        return bool(self.places.get(path)) and self.places[path] == stamp_of(path)


def stamp_of(path: str | Path) -> Stamp:
    """The stamp of what is at `path`, a symbolic link followed."""
    try:
        seen = os.stat(path)
    except OSError:
        return []
    return [seen.st_ctime_ns, seen.st_mtime_ns, seen.st_size, seen.st_ino]


def standing_from(text: str, exclude: Sequence[str]) -> Standing | None:
    """The decisions that `text` keeps, if all that they rest on is as it was, under the same `exclude` patterns."""
    if not text:
        return None
    try:
        kept = json.loads(text)
        if kept["version"] != _VERSION or kept["exclude"] != list(exclude) or kept["variables"] != _variables():
            return None
        places: dict[str, Stamp] = kept["places"]
        if any(stamp_of(path) != stamp for path, stamp in places.items()):
            return None
        return Standing(kept["decided"], places, text)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def standing_of(
    decided: dict[str, bool], places: dict[str, Stamp], exclude: Sequence[str], *, since_ns: int
) -> Standing | None:
    """The decisions of a scan that began at `since_ns`; None where a file that they rest on changed since, or just so.

    `places` holds the stamps that the files had before they were read.
    """
    latest = min(since_ns, time.time_ns()) - _SETTLED_NS
    if any(stamp and stamp[0] > latest for stamp in places.values()):
        return None
    kept = {
        "version": _VERSION,
        "exclude": list(exclude),
        "variables": _variables(),
        "places": places,
        "decided": decided,
    }
    return Standing(decided, places, json.dumps(kept))


def stamps_of(paths: Iterable[Path]) -> dict[str, Stamp]:
    """Each file's stamp, by path."""
    return {os.fspath(path): stamp_of(path) for path in paths}


def _variables() -> list[str]:
    return [os.environ.get(name, "") for name in _VARIABLES]
