"""Files put on disk so that a crash leaves either the old bytes or the new ones."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from wikimem.errors import Refused, Unavailable, WikimemError

_PREFIX: Final = ".wikimem-"
_SUFFIX: Final = ".tmp"
_TEMPORARY: Final = re.compile(r"\.wikimem-[a-z0-9_]{8}\.tmp")
"""What `tempfile.mkstemp` makes of prefix and suffix."""

_CANNOT_SYNC: Final = (errno.EINVAL, errno.ENOTSUP, errno.EBADF)
"""What file systems say that cannot sync a folder at all."""


def write_atomically(path: Path, data: bytes, *, mode: int | None = None) -> None:
    """Write `data` to `path`: temporary file in the same folder, fsync, rename, fsync of the folder.

    The mode of a file that is replaced is kept unless `mode` is given. Errors as in `cannot`, where the folder cannot
    be written or the disk is full: the old file is untouched then and no temporary file is left.
    """
    staged = stage_file(path, data, mode=mode)
    try:
        place_file(staged, path)
    except BaseException:
        discard_file(staged)
        raise


def stage_file(path: Path, data: bytes, *, mode: int | None = None) -> Path:
    """The temporary file, beside `path`, that `place_file` puts there: all that a full disk can refuse is done."""
    temporary = ""
    try:
        if mode is None:
            mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o666 & ~_umask()
        handle, temporary = tempfile.mkstemp(prefix=_PREFIX, suffix=_SUFFIX, dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode)
            sync_file(file.fileno())
    except BaseException as error:
        if temporary:
            discard_file(Path(temporary))
        if isinstance(error, OSError):
            raise cannot(f"write '{path}'", error) from error
        raise
    return Path(temporary)


def place_file(staged: Path, path: Path) -> None:
    """Give a staged file its name, durably."""
    try:
        os.replace(staged, path)
    except OSError as error:
        raise cannot(f"write '{path}'", error) from error
    sync_folder(path.parent)


def discard_file(staged: Path) -> None:
    """Remove a staged file, if it is still there; what cannot be removed now is swept by a later write."""
    with contextlib.suppress(OSError):
        staged.unlink()


def sweep_temporaries(folder: Path) -> None:
    """Remove the temporary files that a crash left in `folder`. The caller holds the lock under which it is written."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _TEMPORARY.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                discard_file(Path(entry.path))


def make_folders(folder: Path, root: Path) -> list[Path]:
    """Make `folder` and its missing parents below `root`, each synced into its parent; returns those made."""
    missing: list[Path] = []
    current = folder
    while current != root and not current.exists():
        missing.append(current)
        current = current.parent
    missing.reverse()
    for made in missing:
        try:
            made.mkdir(exist_ok=True)
        except OSError as error:
            raise cannot(f"make the folder '{made}'", error) from error
        sync_folder(made.parent)
    return missing


def remove_file(path: Path) -> None:
    """Remove `path` and sync its folder; a file that is already gone is fine."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise cannot(f"remove '{path}'", error) from error
    sync_folder(path.parent)


def cannot(what: str, error: OSError) -> WikimemError:
    """The error that says what the system would not do, and what to see to: Unavailable where it may pass by itself
    (no file handles left), Refused otherwise (full or read-only disk, permissions, a disk that fails)."""
    message = f"cannot {what}: {error.strerror or error}"
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return Unavailable(
            message, hint="End programs that hold many files open, or raise `ulimit -n`; then try again."
        )
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Refused(message, hint="Free some space on that disk, then try again.")
    if error.errno == errno.EROFS:
        return Refused(message, hint="That file system is mounted read-only: mount it for writing, then try again.")
    if error.errno in (errno.EACCES, errno.EPERM):
        return Refused(message, hint="Check the permissions of that folder.")
    if error.errno == errno.EIO:
        return Refused(message, hint="The disk failed: look at the system's log, and copy the vault elsewhere.")
    return Refused(message, hint="Check the folder's permissions and free space.")


@contextlib.contextmanager
def disk_errors(root: Path) -> Iterator[None]:
    """What the system refuses below `root` meanwhile, as an error that names the file."""
    try:
        yield
    except OSError as error:
        raise cannot(f"write in '{error.filename or root}'", error) from error


def sync_file(descriptor: int) -> None:
    """fsync that reaches the disk: macOS needs F_FULLFSYNC, its plain fsync stops at the drive's cache."""
    if sys.platform == "darwin":
        import fcntl

        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
    else:
        os.fsync(descriptor)


def sync_folder(folder: Path) -> None:
    """Make a rename in `folder` durable. Where a file system cannot sync folders there is nothing to do."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except (FileNotFoundError, PermissionError):
        # Gone with its last file; or a folder that may be written to and not listed.
        return
    except OSError as error:
        raise cannot(f"sync the folder '{folder}'", error) from error
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC:
            raise cannot(f"sync the folder '{folder}'", error) from error
    finally:
        os.close(descriptor)


def _umask() -> int:
    current = os.umask(0o077)
    os.umask(current)
    return current
