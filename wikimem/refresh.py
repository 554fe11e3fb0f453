"""Bringing the index up to date with what is on disk; the vault's bytes are only read.

A sweep compares each page's stat with what the index knows and reads the pages that differ. The index is derived:
where it cannot be brought up to date in time, answers come from what it has, and `behind` says by how much it lags.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

from wikimem.errors import Unavailable
from wikimem.index.index import Index
from wikimem.model.caller import Progress
from wikimem.model.page import FileStat, Page, Problem
from wikimem.text.ids import revision_of
from wikimem.text.page import parse_page
from wikimem.text.redact import Redactor
from wikimem.vault.origins import NO_ORIGINS, Origins
from wikimem.vault.scan import Scan, scan

log = logging.getLogger(__name__)

INDEX_WAIT_S: Final = 10.0
"""How long a write waits to show its change to the index; after that the next read does it."""

FIRST_INDEX_WAIT_S: Final = 600.0
"""How long a read waits for another process that makes the first index: without one there is nothing to answer from."""

GONE_SHARE: Final = 0.5
GONE_LEAST: Final = 20
"""A sweep that finds at least this share, and this number, of the known pages gone stops (law 7): a vault that is
not mounted, or half checked out, looks just like that."""

_SETTLED_NS: Final = 20_000_000
"""A file changed this recently may change again within the same time stamp, so its stat proves nothing yet: kernels
stamp files with a clock that ticks every 4 to 10 ms."""

_FEW: Final = 50


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What bringing the index up to date did. `behind` pages are not in it yet, for the reason in `why`."""

    indexed: int = 0
    removed: int = 0
    behind: int = 0
    why: str = ""
    skipped: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Refresher:
    """Keeps the index of the vault at `root` in step with its files."""

    root: Path
    exclude: Sequence[str]
    index: Index
    redactor: Redactor
    progress: Progress | None = None
    origins: Origins = NO_ORIGINS

    def refresh(self, *, full: bool = False, wait_s: float = 0.0) -> Refreshed:
        """Bring the index up to date with the files on disk; the vault's bytes are only read.

        `full` indexes every page anew and accepts that most pages are gone. Where another process is indexing and
        does not finish within `wait_s` seconds, nothing is done and `behind` counts what is missing.
        """
        found = scan(self.root, self.exclude)
        known = len(self.index.manifest())
        gone, changed = self._differences(found, full=full)
        behind = len(gone) + len(changed)
        if not full and len(gone) >= max(GONE_LEAST, GONE_SHARE * known):
            why = f"{len(gone)} of {known} known pages are gone from '{self.root}'; the index was left as it is"
            return Refreshed(behind=behind, why=why, skipped=found.skipped)
        if not behind:
            return Refreshed(skipped=found.skipped)
        try:
            with self.index.writing(wait_s if known else FIRST_INDEX_WAIT_S) as held:
                if not held:
                    return Refreshed(behind=behind, why="another process is indexing", skipped=found.skipped)
                if full:
                    self.index.clear()
                # Asked again: taking the lock repairs what an interrupted update left, and others may have indexed.
                gone, changed = self._differences(found, full=full)
                indexed, removed = self._index_pages(changed, gone, found.files)
        except Unavailable as error:
            if full or not known:
                raise
            # A full or closed disk: what the index has is still there to answer from.
            return Refreshed(behind=behind, why=error.message, skipped=found.skipped)
        return Refreshed(indexed, removed, skipped=found.skipped)

    def _differences(self, found: Scan, *, full: bool) -> tuple[list[str], list[str]]:
        """Pages that the index knows and the disk has not, and pages whose file is not as the index knows it."""
        known = self.index.manifest()
        gone = [path for path in known if path not in found.files and not found.is_unread(path)]
        return gone, [path for path, stat in found.files.items() if full or known.get(path, (None, ""))[0] != stat]

    def _index_pages(
        self, changed: Sequence[str], gone: Sequence[str], stats: Mapping[str, FileStat]
    ) -> tuple[int, int]:
        known = self._revisions(changed)
        touched: dict[str, FileStat] = {}
        now = time.time_ns()
        stale = cache(lambda: self.index.stale)

        def pages() -> Iterator[tuple[Page, FileStat]]:
            for path in changed:
                try:
                    data = (self.root / path).read_bytes()
                except OSError as error:
                    # Gone or closed since the scan: the next one says which.
                    log.warning("cannot read %s: %s", path, error)
                    continue
                stat = stats[path]
                if now - stat.mtime_ns < _SETTLED_NS:
                    # No file has this inode, so the next sweep reads the page again.
                    stat = replace(stat, inode=-1)
                # Asked for last: a page that was just written is never known already.
                if known.get(path) == revision_of(data) and path not in stale():
                    touched[path] = stat
                    continue
                page = parse_page(path, data)
                if not page.meta.id:
                    page = replace(page, id=self.origins.page_id(path))
                yield self._with_secrets_reported(page).without_conflict(), stat

        progress = self.progress
        counts = self.index.update(
            pages(),
            gone,
            mask=self.redactor.mask,
            progress=(lambda done, total: progress("indexing", done, total)) if progress else None,
            total=len(changed),
        )
        self.index.touch(touched)
        return counts

    def _revisions(self, paths: Sequence[str]) -> dict[str, str]:
        """What the index knows these paths at; asked for singly where they are few, so that a write costs no sweep."""
        if len(paths) > _FEW:
            return {path: revision for path, (_, revision) in self.index.manifest().items()}
        rows = {path: self.index.page(path) for path in paths}
        return {path: row.revision for path, row in rows.items() if row}

    def _with_secrets_reported(self, page: Page) -> Page:
        """A person's own secret stays on their page, masked wherever wikimem shows it; they are told of it."""
        found = tuple(
            Problem(
                "secret",
                page.path,
                f"looks like a secret ({finding.kind}); it is masked in the index and in every answer",
                page.text.count("\n", 0, finding.start) + 1,
            )
            for finding in self.redactor.find(page.text)
        )
        return replace(page, problems=(*page.problems, *found)) if found else page

    def show(self, paths: Sequence[str]) -> bool:
        """Show pages that were just written; False where another process kept the index too long."""
        stats: dict[str, FileStat] = {}
        for path in paths:
            with contextlib.suppress(FileNotFoundError):
                entry = os.stat(self.root / path)
                stats[path] = FileStat(entry.st_size, entry.st_mtime_ns, entry.st_ino)
        with self.index.writing(INDEX_WAIT_S) as held:
            if held:
                self._index_pages(list(stats), [path for path in paths if path not in stats], stats)
            return held
