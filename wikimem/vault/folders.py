"""Where wikimem keeps what belongs to this user and not to a vault: settings, caches, state (law 12).

Nothing of this lies in a vault's tree. Every folder has mode 0700 and is checked before use, because what is read
from it is trusted: the index holds pickles, the key makes redaction tags, the registry says which vaults to open.
Where the folders lie is the platform's custom, with the `XDG_*` variables honoured (platformdirs).
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import os
import re
import secrets
import stat
import unicodedata
from pathlib import Path
from typing import Final

from msgspec import Struct
from platformdirs import user_cache_path, user_config_path, user_state_path

from wikimem.errors import Damaged, Refused, Unavailable
from wikimem.vault.files import write_atomically
from wikimem.vault.lock import write_lock

APP_NAME: Final = "wikimem"
KEY_BYTES: Final = 32
_PRIVATE_FOLDER: Final = 0o700
_PRIVATE_FILE: Final = 0o600
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_SLUG_LENGTH: Final = 40


class UserFolders(Struct, frozen=True):
    """This user's folders. `config` and `state` may be one folder (they are on macOS); file names do not clash."""

    config: Path
    cache: Path
    state: Path


class VaultFolders(Struct, frozen=True):
    """One vault's folders: `cache` may be deleted at any time, `state` cannot be rebuilt."""

    key: str
    cache: Path
    state: Path

    @property
    def index(self) -> Path:
        """The search index; made by whoever opens it."""
        return self.cache / "index"


def user_folders() -> UserFolders:
    """This user's folders, made with mode 0700 where missing, and checked.

    Refused where one is a symbolic link, belongs to another user or can be written by others; Unavailable where
    one cannot be made.
    """
    return UserFolders(
        config=private_folder(user_config_path(APP_NAME, appauthor=False)),
        cache=private_folder(user_cache_path(APP_NAME, appauthor=False)),
        state=private_folder(user_state_path(APP_NAME, appauthor=False)),
    )


def vault_key(root: Path) -> str:
    """The name of a vault's folders: its folder's name made plain, and a digest of its real path."""
    real = os.path.realpath(root)
    plain = unicodedata.normalize("NFKD", os.path.basename(real)).encode("ascii", "ignore").decode("ascii").lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain)[:_SLUG_LENGTH].strip("-") or "vault"
    return f"{slug}-{hashlib.blake2b(os.fsencode(real), digest_size=8).hexdigest()}"


def vault_folders(key: str) -> VaultFolders:
    """The folders of the vault with this key, made and checked as `user_folders` does."""
    user = user_folders()
    cache = private_folder(private_folder(user.cache / "vaults") / key)
    state = private_folder(private_folder(user.state / "vaults") / key)
    return VaultFolders(key=key, cache=cache, state=state)


def user_key() -> bytes:
    """This user's 32 secret bytes: for redaction tags and for the stamp on an index. Made once, then kept.

    Refused where others can read the file; Damaged where it does not hold 32 bytes. A damaged key is never replaced
    silently: equal secrets would stop looking equal.
    """
    folder = user_folders().state
    path = folder / "key"
    if not os.path.lexists(path):
        with write_lock(folder / "key.lock", "making this user's key"):
            if not os.path.lexists(path):
                write_atomically(path, secrets.token_bytes(KEY_BYTES), mode=_PRIVATE_FILE)
    data = read_private(path, limit=KEY_BYTES + 1)
    if len(data) != KEY_BYTES:
        raise Damaged(
            f"{path} does not hold a key of {KEY_BYTES} bytes",
            hint=f"Restore it from a backup, or delete {path}: redaction tags change then, and indexes are rebuilt.",
        )
    return data


def index_stamp(key: bytes, root: Path) -> str:
    """What proves that this user's wikimem wrote the index of the vault at `root`: 64 hex digits."""
    message = b"wikimem index\0" + os.fsencode(os.path.realpath(root))
    return hmac.new(key, message, hashlib.sha256).hexdigest()


def private_folder(path: Path) -> Path:
    """`path`, made with mode 0700 (as are missing parents) and checked; errors as in `user_folders`."""
    try:
        for parent in reversed(path.parents):
            if not os.path.exists(parent):
                parent.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)
        path.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)
        seen = path.lstat()
    except FileExistsError as error:
        raise Refused(f"{path} is not a folder", hint=f"Move {path} away.") from error
    except OSError as error:
        raise Unavailable(
            f"cannot make the folder {path}: {error.strerror}",
            hint="Free some space, change the permissions, or name other places with the XDG_* variables.",
        ) from error
    _check_owner(path, seen)
    if not stat.S_ISDIR(seen.st_mode):
        raise Refused(f"{path} is not a folder", hint=f"Move {path} away.")
    if seen.st_mode & _OTHERS_WRITE:
        raise Refused(f"other users can write into {path}", hint=f"Look at what is in it, then run `chmod 700 {path}`.")
    if stat.S_IMODE(seen.st_mode) != _PRIVATE_FOLDER:
        path.chmod(_PRIVATE_FOLDER)
    return path


def read_private(path: Path, *, limit: int) -> bytes:
    """At most `limit` bytes of a file of this user that nobody else can read; a link is not followed.

    FileNotFoundError where there is none; Refused where it is a link, another user's, or open to others.
    """
    try:
        # O_NONBLOCK: opening a FIFO that somebody put there must not hang.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            raise Refused(f"{path} is a symbolic link", hint=f"Put the file itself at {path}.") from error
        raise
    with os.fdopen(descriptor, "rb") as file:
        seen = os.fstat(descriptor)
        _check_owner(path, seen)
        if not stat.S_ISREG(seen.st_mode):
            raise Refused(f"{path} is not a regular file", hint=f"Move {path} away.")
        if stat.S_IMODE(seen.st_mode) & 0o077:
            raise Refused(f"other users can read or write {path}", hint=f"Run `chmod 600 {path}`.")
        return file.read(limit)


def _check_owner(path: Path, seen: os.stat_result) -> None:
    if stat.S_ISLNK(seen.st_mode):
        raise Refused(f"{path} is a symbolic link", hint=f"Put a folder of your own at {path}.")
    if seen.st_uid != os.geteuid():
        raise Refused(
            f"{path} belongs to another user (uid {seen.st_uid})",
            hint="Run wikimem as that user, or look at what is in it and move it away.",
        )
