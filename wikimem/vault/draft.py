"""A write under way: the pages that it changes, and what its commit will say."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from wikimem.errors import NotFound
from wikimem.vault.commit import Committed, FileChange
from wikimem.vault.files import cannot


@dataclass
class Draft:
    """The pages of a write under way, and what the commit will say. Filled inside `Wiki.transaction`.

    What a page was when the write first looked at it is what the change is based on: a save by an editor after that
    look makes the commit a conflict, and is never written over.
    """

    root: Path
    subject: str = ""
    pages: list[str] = field(default_factory=list)
    committed: Committed | None = None
    _seen: dict[str, bytes | None] = field(default_factory=dict)
    _new: dict[str, bytes | None] = field(default_factory=dict)

    def read(self, path: str) -> bytes:
        """The bytes of a page as this write has them so far. Raises NotFound."""
        data = self._now(path)
        if data is None:
            raise NotFound(f"no page '{path}'", hint="See `wikimem list`.")
        return data

    def exists(self, path: str) -> bool:
        return self._now(path) is not None

    def put(self, path: str, data: bytes) -> None:
        self._now(path)
        self._new[path] = data

    def remove(self, path: str) -> None:
        self._now(path)
        self._new[path] = None

    def changes(self) -> tuple[FileChange, ...]:
        changed = ((path, self._seen[path], data) for path, data in self._new.items())
        return tuple(FileChange(path, old, new) for path, old, new in changed if old != new)

    def _now(self, path: str) -> bytes | None:
        if path not in self._seen:
            file = self.root / path
            try:
                self._seen[path] = file.read_bytes() if file.is_file() else None
            except OSError as error:
                raise cannot(f"read '{path}'", error) from error
        return self._new.get(path, self._seen[path])
