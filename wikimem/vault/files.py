"""Files put on disk so that a crash leaves either the old bytes or the new ones."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile
from pathlib import Path

from wikimem.errors import Damaged, NotFound, Refused


def write_atomically(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Write `data` to `path`: temporary file in the same folder, fsync, rename, fsync of the folder.

    The mode of a file that is replaced is kept unless `mode` is given. Raises Refused where the folder cannot be
    written, or the disk is full; the old file is untouched then and no temporary file is left.
    """
    try:
        if mode is None:
            mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_umask()
        handle, temporary = tempfile.mkstemp(prefix=".wikimem-", suffix=".tmp", dir=path.parent)
    except OSError as error:
        raise Refused(
            f"cannot write '{path}': {error.strerror}", hint="Check the folder's permissions and free space."
        ) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode)
            sync_file(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise Refused(
            f"cannot write '{path}': {error.strerror}", hint="Check the folder's permissions and free space."
        ) from error
    sync_folder(path.parent)


def make_folders(folder: Path, root: Path) -> None:
    """Make `folder` and its missing parents below `root`, each synced into its parent."""
    missing: list[Path] = []
    current = folder
    while current != root and not current.exists():
        missing.append(current)
        current = current.parent
    for made in reversed(missing):
        try:
            made.mkdir(exist_ok=True)
        except OSError as error:
            raise Refused(
                f"cannot make the folder '{made}': {error.strerror}",
                hint="Check the folder's permissions and free space.",
            ) from error
        sync_folder(made.parent)


def remove_file(path: Path) -> None:
    """Remove `path` and sync its folder; a file that is already gone is fine."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise Refused(f"cannot remove '{path}': {error.strerror}", hint="Check the folder's permissions.") from error
    sync_folder(path.parent)


def read_file(path: Path) -> bytes:
    """The bytes of a regular file. Raises NotFound, or Damaged where the file cannot be read."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFound(f"no file '{path}'") from error
    except OSError as error:
        raise Damaged(f"cannot read '{path}': {error.strerror}", hint="Check the file's permissions.") from error


def sync_file(descriptor: int) -> None:
    """fsync that reaches the disk: macOS needs F_FULLFSYNC, its plain fsync stops at the drive's cache."""
    if sys.platform == "darwin":
        import fcntl

        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
    else:
        os.fsync(descriptor)


def sync_folder(folder: Path) -> None:
    """Make a rename in `folder` durable. A file system that cannot sync folders says EINVAL: nothing to do there."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return
    try:
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    current = os.umask(0o077)
    os.umask(current)
    return current
