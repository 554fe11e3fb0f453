"""Bringing the index up to date with what is on disk; the vault's bytes are only read.

A sweep compares each page's stat with what the index knows and reads the pages that differ. The index is derived:
where it cannot be brought up to date in time, answers come from what it has, and `behind` says by how much it lags.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from wikimem.errors import Unavailable, WikimemError
from wikimem.index.index import Index
from wikimem.model.caller import Progress
from wikimem.model.page import FileStat, Page, Problem
from wikimem.text.ids import revision_of
from wikimem.text.redact import Redactor
from wikimem.vault.hints import Hints
from wikimem.vault.lastclean import to_recall
from wikimem.vault.origins import Origins, OriginStore
from wikimem.vault.renames import committed_bytes, match_moves
from wikimem.vault.scan import Scan, look_at, scan

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


def with_secrets_reported(page: Page, redactor: Redactor) -> Page:
    """A person's own secret stays on their page, masked wherever wikimem shows it; they are told of it."""
    found = tuple(
        Problem(
            "secret",
            page.path,
            f"looks like a secret ({finding.kind}); it is masked in the index and in every answer",
            page.text.count("\n", 0, finding.start) + 1,
        )
        for finding in redactor.find(page.text)
    )
    return replace(page, problems=(*page.problems, *found)) if found else page


class Refreshed(Struct, frozen=True):
    """What bringing the index up to date did. `behind` pages are not in it yet, for the reason in `why`.

    `partial` where only what a watcher named was looked at.
    """

    indexed: int = 0
    removed: int = 0
    behind: int = 0
    why: str = ""
    skipped: tuple[Problem, ...] = ()
    partial: bool = False


class Refresher(Struct, frozen=True):
    """Keeps the index of the vault at `root` in step with its files."""

    root: Path
    exclude: Sequence[str]
    index: Index
    redactor: Redactor
    progress: Progress | None
    identity: OriginStore

    def refresh(self, *, full: bool = False, wait_s: float = 0.0, hints: Hints | None = None) -> Refreshed:
        """Bring the index up to date with the files on disk; the vault's bytes are only read.

        `full` indexes every page anew and accepts that most pages are gone. Where another process is indexing and
        does not finish within `wait_s` seconds, nothing is done and `behind` counts what is missing. With `hints` only
        what they name is looked at, where that is enough.
        """
        if hints is None:
            return self._refresh(None, full=full, wait_s=wait_s)
        paths = hints.paths()
        refreshed = self._refresh(None if full else paths, full=full, wait_s=wait_s)
        if refreshed.partial:
            refreshed = replace(refreshed, skipped=hints.skipped)
        if not refreshed.behind:
            hints.settled(refreshed.skipped)
        return refreshed

    def _refresh(self, paths: Collection[str] | None, *, full: bool, wait_s: float) -> Refreshed:
        known = self.index.stats()
        origins = self._caught_up()
        relabelled = self._relabelled(origins)
        found = None
        if paths is not None and not relabelled:
            found = look_at(self.root, {*paths, *self.index.stale}, known)
        if found is None:
            found = scan(self.root, self.exclude, known=None if full else known, standing=self.index.standing)
        refreshed = self._bring_in(found, known, origins, relabelled, full=full, wait_s=wait_s)
        return replace(refreshed, partial=found.only is not None)

    def _bring_in(
        self,
        found: Scan,
        known: Mapping[str, FileStat],
        origins: Origins,
        relabelled: Sequence[str],
        *,
        full: bool,
        wait_s: float,
    ) -> Refreshed:
        gone, changed = self._differences(found, full=full)
        behind = len(gone) + len({*changed, *relabelled})
        lost = len(gone)
        if not full and lost >= max(GONE_LEAST, GONE_SHARE * len(known)):
            # A folder that was renamed takes its pages along: they are not lost.
            lost -= len(self._moves(gone, changed))
        if not full and lost >= max(GONE_LEAST, GONE_SHARE * len(known)):
            why = f"{lost} of {len(known)} known pages are gone from '{self.root}'; the index was left as it is"
            return Refreshed(behind=behind, why=why, skipped=found.skipped)
        if not behind:
            self._keep(origins)
            self.index.keep_standing(found.standing)
            return Refreshed(skipped=found.skipped)
        try:
            with self.index.writing(wait_s if known else FIRST_INDEX_WAIT_S) as held:
                if not held:
                    return Refreshed(behind=behind, why="another process is indexing", skipped=found.skipped)
                # Asked again: taking the lock repairs what an interrupted update left, and others may have indexed.
                gone, changed = self._differences(found, full=full)
                # A page that another process indexed meanwhile was written after this scan: it is not gone.
                now = self.index.stats()
                gone = [path for path in gone if now.get(path) == known.get(path)]
                origins = self._with_moves(origins, gone, changed)
                if full:
                    self.index.clear()
                again = frozenset(path for path in relabelled if path in found.files)
                indexed, removed = self._index_pages(
                    list(dict.fromkeys((*changed, *again))), gone, found.files, origins, again
                )
            self._keep(origins)
            self.index.keep_standing(found.standing)
        except Unavailable as error:
            if full or not known:
                raise
            # A full or closed disk: what the index has is still there to answer from.
            return Refreshed(behind=behind, why=error.message, skipped=found.skipped)
        return Refreshed(indexed, removed, skipped=found.skipped)

    def _caught_up(self) -> Origins:
        """The origins by git's history as it is now. Where git cannot say, those known before: ids stay as they are."""
        try:
            return self.identity.caught_up()
        except WikimemError as error:
            log.warning("renames in git's history are not followed: %s", error.message)
            return self.identity.read()

    def _keep(self, origins: Origins) -> None:
        """Remember how far git's history was read; where that cannot be written, it is read again the next time."""
        try:
            self.identity.keep(origins)
        except WikimemError as error:
            log.warning("%s", error.message)

    def _relabelled(self, origins: Origins) -> list[str]:
        """Indexed pages that have another id by `origins`: git tells now that they are older than they seemed."""
        known = self.identity.read()
        if origins == known:
            return []
        found = []
        for path in sorted(known.differing(origins)):
            row = self.index.page(path)
            if row is not None and row.id == known.page_id(path) != origins.page_id(path):
                found.append(path)
        return found

    def _moves(self, gone: Sequence[str], changed: Sequence[str]) -> dict[str, str]:
        """Pages that are at another path now, old path -> new path, whether git knows of it or not."""
        indexed = self.index.stats()
        new = [path for path in changed if path not in indexed]
        if not gone or not new:
            return {}
        known = self.index.manifest()
        return match_moves(
            {path: known[path][1] for path in gone},
            new,
            self._bytes,
            lambda paths: committed_bytes(self.root, paths),
        )

    def _with_moves(self, origins: Origins, gone: Sequence[str], changed: Sequence[str]) -> Origins:
        """`origins` with the moved pages whose id would change otherwise; they are remembered as well."""
        before = self.identity.read()
        moves = []
        for old, new in self._moves(gone, changed).items():
            row = self.index.page(old)
            if row is None or row.id != before.page_id(old) or row.id == origins.page_id(new):
                continue
            from wikimem.text.page import parse_page

            if row.id == origins.page_id(old) and not parse_page(new, self._bytes(new)).meta.id:
                moves.append((old, new))
        if not moves:
            return origins
        try:
            recorded = self.identity.record(moves)
        except WikimemError as error:
            # Right for now; git's history says it again once they are committed.
            log.warning("moved pages are not remembered: %s", error.message)
            for old, new in moves:
                origins = origins.moved(old, new)
            return origins
        return recorded.with_history(origins.history, origins.commit)

    def _bytes(self, path: str) -> bytes:
        """What is at a path now; nothing where that is gone or closed since the scan."""
        try:
            return (self.root / path).read_bytes()
        except OSError:
            return b""

    def _differences(self, found: Scan, *, full: bool) -> tuple[list[str], list[str]]:
        """Pages that the index knows and the disk has not, and pages whose file is not as the index knows it."""
        known = self.index.stats()
        if found.only is not None:
            gone = [path for path in found.only if path in known and path not in found.files]
            return sorted(gone), [path for path, stat in found.files.items() if known.get(path) != stat]
        gone = [path for path in known.keys() - found.files.keys() if not found.is_unread(path)]
        if full:
            return sorted(gone), list(found.files)
        return sorted(gone), [path for path, stat in found.files.items() if known.get(path) != stat]

    def _index_pages(
        self,
        changed: Sequence[str],
        gone: Sequence[str],
        stats: Mapping[str, FileStat],
        origins: Origins,
        again: frozenset[str] = frozenset(),
    ) -> tuple[int, int]:
        """`again` are paths to be indexed anew though their files are as the index knows them."""
        # A search that finds no page changed need not load what reads Markdown and YAML.
        from wikimem.text.page import parse_page

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
                    gone_now = isinstance(error, FileNotFoundError)
                    log.log(logging.DEBUG if gone_now else logging.WARNING, "cannot read %s: %s", path, error)
                    continue
                stat = stats[path]
                if now - stat.mtime_ns < _SETTLED_NS:
                    # No file has this inode, so the next sweep reads the page again.
                    stat = stat._replace(inode=-1)
                # Asked for last: a page that was just written is never known already.
                if known.get(path) == revision_of(data) and path not in stale() and path not in again:
                    touched[path] = stat
                    continue
                page = parse_page(path, data)
                if not page.meta.id:
                    page = replace(page, id=origins.page_id(path))
                yield to_recall(self.root, with_secrets_reported(page, self.redactor)), stat

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

    def show(self, paths: Sequence[str]) -> bool:
        """Show pages that were just written; False where another process kept the index too long."""
        stats: dict[str, FileStat] = {}
        for path in paths:
            with contextlib.suppress(FileNotFoundError):
                entry = os.stat(self.root / path)
                stats[path] = FileStat(entry.st_size, entry.st_mtime_ns, entry.st_ino)
        with self.index.writing(INDEX_WAIT_S) as held:
            if held:
                gone = [path for path in paths if path not in stats]
                self._index_pages(list(stats), gone, stats, self.identity.read())
            return held
