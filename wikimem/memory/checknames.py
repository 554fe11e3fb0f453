"""Names of pages that will not do everywhere: on other file systems, in links, or after a sync tool was at work."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from wikimem.index.naming import stem_of
from wikimem.model.hit import PageRow
from wikimem.model.page import Problem
from wikimem.vault.names import folded, portable_name

_CONFLICT_COPY: Final = re.compile(
    r"\(.*\bconflicted copy\b.*\)|\bconflicted copy host\b|\.sync-conflict-\d{8}-\d{6}-\w+|_conflict-\d{8}-\d{6}"
    r"|^conflict-files-obsidian-git$",
    re.IGNORECASE,
)
"""What Obsidian Sync, Dropbox, Nextcloud, Syncthing, ownCloud and Obsidian Git put into the names of copies."""
_NUMBERED: Final = re.compile(r"(.+?)(?: [2-9]\d?| \([1-9]\d?\))")
"""What iCloud and browsers put there; many a real title ends so as well."""


def check_names(rows: Sequence[PageRow]) -> Iterator[Problem]:
    """Collisions, names that are not portable, and conflict copies."""
    yield from _collisions(rows)
    for row in rows:
        yield from _not_portable(row.path)
    yield from _conflict_copies(rows)


def _collisions(rows: Sequence[PageRow]) -> Iterator[Problem]:
    """Paths, of pages and of folders, that a file system may take for one; each is reported once."""
    spellings: dict[str, str] = {}
    seen: set[str] = set()
    for row in rows:
        parts = row.path.split("/")
        for count in range(1, len(parts) + 1):
            place = "/".join(parts[:count])
            if place in seen:
                continue
            seen.add(place)
            other = spellings.setdefault(folded(place), place)
            if other != place:
                message = f"'{place}' and '{other}' are one name where capitals or accents are not told apart"
                yield Problem("case-collision", row.path, message)
                break


def _not_portable(path: str) -> Iterator[Problem]:
    *folders, _ = path.split("/")
    for name in (*folders, stem_of(path)):
        fit = portable_name(name)
        # More than one blank in a row is odd, and does no harm.
        if fit != name and (" ".join(fit.split()) != " ".join(name.split()) or name != name.strip(" .")):
            message = f"'{name}' is no name for every file system and every link; '{fit}' would be"
            yield Problem("name-not-portable", path, message)


def _conflict_copies(rows: Sequence[PageRow]) -> Iterator[Problem]:
    by_path = {row.path: row for row in rows}
    for row in rows:
        folder, slash, name = row.path.rpartition("/")
        stem = stem_of(row.path)
        if is_conflict_copy(stem):
            yield Problem("conflict-copy", row.path, "a copy that a sync tool made of a page that two sides changed")
        elif numbered := _NUMBERED.fullmatch(stem):
            other = by_path.get(f"{folder}{slash}{numbered[1]}{name[len(stem) :]}")
            if other is not None and (other.id == row.id or other.revision == row.revision):
                yield Problem("conflict-copy", row.path, f"a copy of '{other.path}'")


def is_conflict_copy(stem: str) -> bool:
    """Whether a file name, without its ending, is one that sync tools give to the copy of the losing side."""
    return _CONFLICT_COPY.search(stem) is not None
