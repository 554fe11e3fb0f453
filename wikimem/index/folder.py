"""The folder of one index: whose it is, which format it has, whether its files are those that were written.

Only files that this user's wikimem wrote are opened: Whoosh's hold pickles, and unpickling runs code. The stamp proves
it: a keyed digest that the caller makes with a secret kept outside every vault.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import secrets
import shutil
import sys
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from wikimem.errors import Refused, Unavailable

FORMAT: Final = 1
"""Of the folder as a whole. A higher one than this is refused, a lower one is emptied and made again."""
STAMP_FILE: Final = "stamp.json"
LOCK_FILE: Final = "index.lock"
WORDS_FOLDER: Final = "words"
VECTORS_VERSION: Final = "2"
"""Changes with the format of the vectors' files; those of another version are made again."""
_MOST_PAGES: Final = 1 << 40
"""More page numbers than any vault uses up."""
_VECTOR_FILES: Final = ("vectors.f32", "vectors.ids", "vectors.pcs")


class Stamp(Struct, frozen=True):
    """What the stamp file says. `making` is new each time the index is emptied, so that other processes notice."""

    format: int
    stamp: str
    making: str


class IndexFolder:
    """Paths in the folder, and what may be done with the files as a whole."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.words = path / WORDS_FOLDER
        self.manifest = path / "manifest.db"
        self.lock = path / LOCK_FILE
        with self.writable():
            path.mkdir(mode=0o700, parents=True, exist_ok=True)

    def read_stamp(self) -> Stamp | None:
        """The stamp, or None where there is none that can be read."""
        try:
            data = json.loads((self.path / STAMP_FILE).read_bytes())
            return Stamp(int(data["format"]), str(data["stamp"]), str(data["making"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def standing(self, stamp: str) -> str:
        """`ours`, `new` (nothing there), `foreign` or `old`. Raises Refused where a newer wikimem wrote it."""
        found = self.read_stamp()
        if found is None or not hmac.compare_digest(found.stamp.encode(), stamp.encode()):
            return "new" if found is None and not self._entries() else "foreign"
        if found.format > FORMAT:
            raise Refused(
                f"the index in '{self.path}' has format {found.format}; this wikimem knows formats up to {FORMAT}",
                hint="Use the newer wikimem, or delete that folder: the index is made from the pages again.",
            )
        return "ours" if found.format == FORMAT else "old"

    def has_manifest(self) -> bool:
        """Whether there is a manifest with anything in it; SQLite takes an empty file for a new one."""
        try:
            return self.manifest.stat().st_size > 0
        except OSError:
            return False

    def reset(self, stamp: str) -> None:
        """Empty the folder and make it ours. The caller holds the index lock, whose file stays."""
        with self.writable():
            for entry in self._entries():
                if entry.is_dir() and not entry.is_symlink():
                    shutil.rmtree(entry)
                else:
                    entry.unlink()
            data = {"format": FORMAT, "stamp": stamp, "making": secrets.token_hex(8)}
            fresh = self.path / f"{STAMP_FILE}.new"
            fresh.write_text(json.dumps(data), encoding="utf-8")
            fresh.replace(self.path / STAMP_FILE)

    @contextlib.contextmanager
    def writable(self) -> Iterator[None]:
        """What the system refuses while the folder is written, as Unavailable: it is no damage."""
        try:
            yield
        except OSError as error:
            raise Unavailable(
                f"the index in '{self.path}' cannot be written: {error.strerror or error}",
                hint="See to free space and to the permissions of wikimem's cache folder.",
            ) from error

    def drop_words(self) -> None:
        shutil.rmtree(self.words, ignore_errors=True)

    def drop_vectors(self) -> None:
        for name in _VECTOR_FILES:
            (self.path / name).unlink(missing_ok=True)

    def words_files(self) -> str:
        """Names and sizes of Whoosh's files. Another list than the manifest's means a crash, a loss or a writer."""
        try:
            with os.scandir(self.words) as entries:
                found = [(file.name, file.stat().st_size) for file in entries if file.name.endswith((".toc", ".seg"))]
        except OSError:
            return ""
        return json.dumps(sorted(found))

    def sync_words(self, known: str) -> None:
        """Force Whoosh's files that `known` does not name to the disk: Whoosh itself never does."""
        old = {name for name, _ in json.loads(known or "[]")}
        for name, _ in json.loads(self.words_files() or "[]"):
            if name not in old:
                descriptor = os.open(self.words / name, os.O_RDONLY | os.O_CLOEXEC)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)

    def vector_stamps(self) -> tuple[tuple[int, int, int], ...]:
        """Size, time of change and inode of each of the vectors' files that is there."""
        found = []
        for name in _VECTOR_FILES:
            with contextlib.suppress(OSError):
                seen = (self.path / name).stat()
                found.append((seen.st_size, seen.st_mtime_ns, seen.st_ino))
        return tuple(found)

    def vector_rows(self, dimensions: int) -> int:
        """Rows that belong to a passage and have their floats; 0 where the ids cannot be what wikimem wrote."""
        entries = array("q")
        try:
            data = (self.path / "vectors.ids").read_bytes()
            rows = (self.path / "vectors.f32").stat().st_size
        except OSError:
            return 0
        entries.frombytes(data[: len(data) // 16 * 16])
        if sys.byteorder == "big":
            entries.byteswap()
        ids, pages = entries[::2], entries[1::2]
        free = ids.count(-1)
        # A free row is of no page, and nothing else is.
        if ids and (min(ids) < -1 or min(pages) < 0 or max(pages) > _MOST_PAGES or pages.count(0) != free):
            return 0
        return min(len(ids) - free, rows // (4 * dimensions))

    def _entries(self) -> list[Path]:
        return [entry for entry in self.path.iterdir() if entry.name != LOCK_FILE]
