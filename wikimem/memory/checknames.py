"""Names of pages that will not do everywhere: on other file systems, in links, or after a sync tool was at work."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from wikimem.index.naming import stem_of
from wikimem.model.hit import PageRow
from wikimem.model.page import Problem
from wikimem.vault.names import folded, portable_name
from wikimem.vault.renames import likeness

if TYPE_CHECKING:
    from wikimem.wiki import Wiki

OBSIDIAN_GIT_NOTE: Final = "conflict-files-obsidian-git.md"
"""What Obsidian Git writes at the top of a vault where a merge met conflicts."""

LIKE_COPY: Final = 0.8
"""Share of common bytes from which a page `Note 2` is taken for a copy of `Note`; many a real title ends so."""
LEAST_COPY: Final = 200
"""Bytes of a page that can be recognised as a copy of one that is only like it."""

_CONFLICT_COPY: Final = re.compile(
    r"\(.*\bconflicted(?: copy)?\b.*\)|\(case conflict(?: \d+)?\)|\(SFConflict .+\)|\.sync-conflict-\d{8}-\d{6}-\w+"
    r"|_conflict-\d{8}-\d{6}",
    re.IGNORECASE,
)
"""What Obsidian Sync, Dropbox, Nextcloud, pCloud, Seafile, Syncthing and ownCloud put into the names of copies."""
_SUFFIXED: Final = re.compile(
    r"(.+?)(?: [2-9]\d?| \([1-9]\d?\)| copy(?: \d+)?|\.conflict|-[a-z0-9]+(?:-[a-z0-9]+)?)", re.IGNORECASE
)
"""What iCloud, Google Drive, browsers, Finder, Resilio and OneDrive (the machine's name) put there: copies only where
the page of the plain name is there and has the same id or content."""
_UNLINKABLE: Final = re.compile(r"[#^\[\]|:]|%%")


def check_names(wiki: Wiki, rows: Sequence[PageRow], of: Sequence[PageRow] | None = None) -> Iterator[Problem]:
    """Collisions, names that are not portable or that no link can hold, and conflict copies.

    With `of`, the last three only of those pages: collisions are seen among all or not at all.
    """
    of = rows if of is None else of
    yield from _collisions(rows)
    for row in of:
        yield from _unfit(row.path)
    yield from conflict_copies(wiki, rows, of)


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


def _unfit(path: str) -> Iterator[Problem]:
    *folders, _ = path.split("/")
    for name in (*folders, stem_of(path)):
        fit = portable_name(name)
        if _UNLINKABLE.search(name):
            message = f"'{name}' holds what no link in Obsidian can; '{fit}' would do"
            yield Problem("name-not-linkable", path, message)
        # More than one blank in a row is odd, and does no harm.
        elif fit != name and (" ".join(fit.split()) != " ".join(name.split()) or name != name.strip(" .")):
            message = f"'{name}' is no name for every file system; '{fit}' would be"
            yield Problem("name-not-portable", path, message)


def conflict_copies(wiki: Wiki, rows: Sequence[PageRow], of: Sequence[PageRow]) -> Iterator[Problem]:
    """Those pages of `of` that a sync tool made, or that say that one is at work; `rows` are all pages."""
    by_path = {row.path: row for row in rows}
    for row in of:
        folder, slash, name = row.path.rpartition("/")
        stem = stem_of(row.path)
        if row.path == OBSIDIAN_GIT_NOTE:
            yield Problem("obsidian-git-conflict", row.path, "Obsidian Git waits for a merge to be resolved")
        elif is_conflict_copy(stem):
            yield Problem("conflict-copy", row.path, "a copy that a sync tool made of a page that two sides changed")
        elif suffixed := _SUFFIXED.fullmatch(stem):
            other = by_path.get(f"{folder}{slash}{suffixed[1]}{name[len(stem) :]}")
            if other is not None and _is_copy(wiki, row, other):
                yield Problem("conflict-copy", row.path, f"a copy of '{other.path}'")


def _is_copy(wiki: Wiki, row: PageRow, other: PageRow) -> bool:
    if other.id == row.id or other.revision == row.revision:
        return True
    # A copy that was given an id of its own is one still.
    if row.created is not None and (row.created, row.title) == (other.created, other.title):
        return True
    try:
        one, two = ((wiki.root / each.path).read_bytes() for each in (row, other))
    except OSError:
        return False
    return min(len(one), len(two)) >= LEAST_COPY and likeness(one, two) >= LIKE_COPY


def is_conflict_copy(stem: str) -> bool:
    """Whether a file name, without its ending, is one that sync tools give to the copy of the losing side."""
    return _CONFLICT_COPY.search(stem) is not None
