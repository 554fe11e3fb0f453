"""A write under way: the pages that it changes, and what its commit will say."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from wikimem.errors import NotFound
from wikimem.vault.commit import Committed, FileChange


@dataclass
class Draft:
    """The pages of a write under way, and what the commit will say. Filled inside `Wiki.transaction`."""

    root: Path
    subject: str = ""
    pages: list[str] = field(default_factory=list)
    committed: Committed | None = None
    _changes: dict[str, tuple[bytes | None, bytes | None]] = field(default_factory=dict)

    def read(self, path: str) -> bytes:
        """The bytes of a page as this write has them so far. Raises NotFound."""
        data = self._changes[path][1] if path in self._changes else self._on_disk(path)
        if data is None:
            raise NotFound(f"no page '{path}'", hint="See `wikimem list`.")
        return data

    def exists(self, path: str) -> bool:
        data = self._changes[path][1] if path in self._changes else self._on_disk(path)
        return data is not None

    def put(self, path: str, data: bytes) -> None:
        self._put(path, data)

    def remove(self, path: str) -> None:
        self._put(path, None)

    def _put(self, path: str, data: bytes | None) -> None:
        old = self._changes[path][0] if path in self._changes else self._on_disk(path)
        self._changes[path] = (old, data)

    def changes(self) -> tuple[FileChange, ...]:
        return tuple(FileChange(path, old, new) for path, (old, new) in self._changes.items() if old != new)

    def _on_disk(self, path: str) -> bytes | None:
        file = self.root / path
        return file.read_bytes() if file.is_file() else None
