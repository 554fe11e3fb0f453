"""Writing git objects so that a process that dies leaves nothing in the way of the next one.

dulwich writes an object to `<object>.lock` first, and takes a file that is there for another writer's: after a
kill -9, that very object could never be written again, and a retried write makes that very object. Here it is written
as git does: to a temporary file of its own name, which `git gc` removes where a crash left it.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from typing import TYPE_CHECKING, Final

from dulwich.file import adjust_shared_perm
from msgspec import Struct

if TYPE_CHECKING:
    from dulwich.object_store import DiskObjectStore
    from dulwich.objects import ObjectID, ShaFile

_TEMPORARY: Final = "tmp_obj_"
"""The prefix of git's own temporary objects (git-prune(1) removes them)."""
_MODE: Final = 0o444


class ObjectWriter(Struct, frozen=True):
    """The part of an object store that dulwich's `commit_tree_changes` uses; every object is synced."""

    store: DiskObjectStore

    def __getitem__(self, name: ObjectID) -> ShaFile:
        return self.store[name]

    def add_object(self, added: ShaFile) -> None:
        name = added.get_id(self.store.object_format).decode()
        folder = os.path.join(os.fspath(self.store.path), name[:2])
        path = os.path.join(folder, name[2:])
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder)
            adjust_shared_perm(folder, self.store.shared_perm)
        with contextlib.suppress(FileNotFoundError, PermissionError):
            # There already: a new time stamp keeps a `git gc` of somebody's from pruning it before it is referred to.
            os.utime(path)
            return
        handle, temporary = tempfile.mkstemp(prefix=_TEMPORARY, dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(added.as_legacy_object())
                file.flush()
                os.fchmod(file.fileno(), _MODE)
                os.fsync(file.fileno())
            adjust_shared_perm(temporary, self.store.shared_perm)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
