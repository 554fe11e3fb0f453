"""The files of a write in the work tree: what they are now, and putting them all in place."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path

from wikimem.errors import Conflict, StaleRevision
from wikimem.text.ids import revision_of
from wikimem.vault.files import discard_file, make_folders, place_file, remove_file, stage_file, write_atomically


class PageFiles:
    """The pages below one root, by vault path. The caller holds the vault's write lock."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def read(self, path: str) -> bytes | None:
        """The bytes of a regular file; None where there is none."""
        file = self.root / path
        return file.read_bytes() if file.is_file() and not file.is_symlink() else None

    def expect(self, path: str, old: bytes | None) -> None:
        """Raises Conflict where the file is not what a change was based on."""
        now = self.read(path)
        if now == old:
            return
        if now is None:
            raise Conflict(f"'{path}' is gone", hint="Somebody removed or moved it; look with `git status`.")
        if old is None:
            raise Conflict(f"'{path}' exists already", hint="Read it and edit it, or choose another title.")
        raise StaleRevision(
            f"'{path}' was changed meanwhile",
            hint="Read it again and repeat the edit on the current text.",
            data={"revision": revision_of(now)},
        )

    def change(self, changes: Mapping[str, tuple[bytes | None, bytes | None]], fault: Callable[[str], None]) -> None:
        """Bring each path from its first bytes to its second; one that has those already is left alone.

        All are staged before the first is put in place: a full disk is met before any page has changed. Raises
        Conflict where an editor saves meanwhile.
        """
        staged: dict[str, Path] = {}
        made: list[Path] = []
        todo = {path: each for path, each in changes.items() if self.read(path) != each[1]}
        try:
            for path, (_, new) in todo.items():
                if new is not None:
                    fault("stage")
                    made += make_folders((self.root / path).parent, self.root)
                    staged[path] = stage_file(self.root / path, new)
            for path, (old, _) in todo.items():
                fault("file")
                # Staging took its time, in which an editor may have saved.
                self.expect(path, old)
                if path in staged:
                    place_file(staged[path], self.root / path)
                else:
                    self.remove(path)
        except BaseException:
            for file in staged.values():
                discard_file(file)
            for folder in reversed(made):
                with contextlib.suppress(OSError):
                    folder.rmdir()
            raise

    def put(self, path: str, data: bytes | None) -> None:
        """Write or remove one file, whatever is there."""
        if data is None:
            self.remove(path)
            return
        make_folders((self.root / path).parent, self.root)
        write_atomically(self.root / path, data)

    def remove(self, path: str) -> None:
        """Remove a file, and the folders that are empty then."""
        remove_file(self.root / path)
        folder = (self.root / path).parent
        with contextlib.suppress(OSError):
            # Ends at the first folder that still holds something.
            while folder != self.root:
                folder.rmdir()
                folder = folder.parent
