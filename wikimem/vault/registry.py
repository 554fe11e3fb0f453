"""Which vaults this user made or trusted, and which of them a command means (law 12).

A folder is a vault for this user only when its real path stands in `vaults.json` in the user's configuration folder.
`.wikimem/` in the folder proves nothing: it comes along with every clone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import Struct

from wikimem.errors import Damaged, NotFound, Refused
from wikimem.text.homepath import named_path
from wikimem.vault.files import write_atomically
from wikimem.vault.folders import read_private
from wikimem.vault.lock import write_lock

MARKER: Final = ".wikimem"
"""The folder that a vault holds."""

FORMAT: Final = 1
_FILE_NAME: Final = "vaults.json"
_MAX_BYTES: Final = 1_000_000

How = Literal["made", "trusted"]


class RegisteredVault(Struct, frozen=True):
    """A vault that this user opened: its real path, and whether `init` made it or `trust` took it in."""

    root: Path
    how: How


class _Entries(Struct, frozen=True):
    vaults: tuple[RegisteredVault, ...] = ()
    default: Path | None = None


class VaultRegistry:
    """The list in `folder` (the user's configuration folder). Read anew at every call: other processes change it.

    Every method raises Damaged, naming file and line, where the file cannot be read as a registry; it is never
    overwritten then.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / _FILE_NAME

    def vaults(self) -> tuple[RegisteredVault, ...]:
        """All of them, in the order in which they were registered; some may be gone from the disk."""
        return self._read().vaults

    @property
    def default(self) -> Path | None:
        """The vault that is meant where nothing names one, if this user chose one with `set_default`."""
        return self._read().default

    def find(self, root: Path) -> RegisteredVault | None:
        """The entry for the folder `root`, found by real path."""
        return _find(self._read().vaults, _real(root))

    def find_for(self, cwd: Path) -> RegisteredVault | None:
        """The innermost registered vault whose root is `cwd` or a parent of it."""
        vaults = self._read().vaults
        real = _real(cwd)
        return next((found for place in (real, *real.parents) if (found := _find(vaults, place))), None)

    def register(self, root: Path, how: How) -> RegisteredVault:
        """Add the folder `root`, or change how it came in. Durable when this returns; NotFound without the folder."""
        entry = RegisteredVault(_real(root), how)
        if not os.path.isdir(entry.root):
            raise NotFound(f"there is no folder {root}", hint="Name the vault's folder.")
        with self._changing():
            entries = self._read()
            others = tuple(vault for vault in entries.vaults if not _same_folder(vault.root, entry.root))
            self._write(_Entries((*others, entry), entries.default))
        return entry

    def forget(self, root: Path) -> bool:
        """Take the folder off the list, present on disk or not; False where it was not on it."""
        real = _real(root)
        with self._changing():
            entries = self._read()
            kept = tuple(vault for vault in entries.vaults if not _same_folder(vault.root, real))
            default = None if entries.default is not None and _same_folder(entries.default, real) else entries.default
            self._write(_Entries(kept, default))
            return len(kept) < len(entries.vaults)

    def set_default(self, root: Path) -> None:
        """Make a registered vault the one that is meant where nothing names one. NotFound where it is none."""
        with self._changing():
            entries = self._read()
            found = _find(entries.vaults, _real(root))
            if found is None:
                raise NotFound(f"{root} is not a registered vault", hint=f"Run `wikimem trust {root}` first.")
            self._write(_Entries(entries.vaults, found.root))

    def _changing(self) -> AbstractContextManager[None]:
        return write_lock(self.path.with_suffix(".lock"), "the list of vaults", timeout_s=10)

    def _read(self) -> _Entries:
        try:
            data = read_private(self.path, limit=_MAX_BYTES)
        except FileNotFoundError:
            return _Entries()
        except OSError as error:
            raise Damaged(
                f"cannot read {self.path}: {error.strerror}", hint="Check the disk and the file's permissions."
            ) from error
        return _parse(self.path, data)

    def _write(self, entries: _Entries) -> None:
        document: dict[str, Any] = {
            "format": FORMAT,
            "vaults": [{"root": os.fspath(vault.root), "how": vault.how} for vault in entries.vaults],
        }
        if entries.default is not None:
            document["default"] = os.fspath(entries.default)
        # ASCII only: a path that is not UTF-8 keeps its bytes as escaped surrogates.
        text = json.dumps(document, indent=2, ensure_ascii=True) + "\n"
        write_atomically(self.path, text.encode("ascii"), mode=0o600)


def resolve_vault(explicit: str | None, *, cwd: Path, registry: VaultRegistry, default: Path) -> Path:
    """The real path of the vault that a command means.

    `explicit` is what the person named (`--vault`, else `WIKIMEM_VAULT`). Without it: the nearest vault around
    `cwd`, else `default`. Raises Invalid for a `~name` that is no home folder, Refused where the folder holds
    `.wikimem/` and this user never registered it, NotFound where it is no vault.
    """
    if explicit is not None and explicit.strip():
        return _checked(_real(cwd / named_path(explicit, "vault")), explicit, registry)
    real = _real(cwd)
    vaults = registry.vaults()
    for place in (real, *real.parents):
        if _find(vaults, place) or os.path.lexists(place / MARKER):
            return _checked(place, os.fspath(place), registry)
    return _checked(_real(default), os.fspath(default), registry)


def default_root(configured: Path | None, registry: VaultRegistry, home: Path) -> Path:
    """The vault that is meant where nothing names one: configured, else chosen at `init`, else `~/wikimem`."""
    return configured or registry.default or home / "wikimem"


def _checked(root: Path, named: str, registry: VaultRegistry) -> Path:
    found = registry.find(root)
    marked = os.path.isdir(root / MARKER)
    if found is not None and marked:
        return root
    if found is not None:
        raise NotFound(
            f"the vault {root} is no longer there"
            if not os.path.isdir(root)
            else f"{root} has lost its {MARKER} folder",
            hint="If it was moved, run `wikimem trust NEW-PATH`; to make it anew, `wikimem init` with its path.",
        )
    if os.path.lexists(root / MARKER):
        raise Refused(
            f"{root} holds {MARKER}/, but you never made or trusted it as a vault",
            hint=f"If you know where it comes from, run `wikimem trust {_quoted(root)}`.",
            data={"root": os.fspath(root)},
        )
    outer = registry.find_for(root)
    if outer is not None:
        raise NotFound(f"{named} is a folder inside the vault {outer.root}", hint=f"Name the vault: {outer.root}.")
    raise NotFound(f"there is no vault at {named}", hint=f"Run `wikimem init {_quoted(root)}` to make one there.")


def _find(vaults: tuple[RegisteredVault, ...], real: Path) -> RegisteredVault | None:
    return next((vault for vault in vaults if _same_folder(vault.root, real)), None)


def _same_folder(one: Path, other: Path) -> bool:
    """Equal by real path, or one folder under two spellings (a case-insensitive file system)."""
    if one == other:
        return True
    if os.fspath(one).casefold() != os.fspath(other).casefold():
        return False
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _quoted(path: Path) -> str:
    import shlex  # an error's hint only

    return shlex.quote(os.fspath(path))


def _parse(path: Path, data: bytes) -> _Entries:
    if len(data) >= _MAX_BYTES:
        raise _damaged(path, 1, f"it is larger than {_MAX_BYTES} bytes")
    try:
        document = json.loads(data)
    except json.JSONDecodeError as error:
        raise _damaged(path, error.lineno, error.msg) from error
    except UnicodeDecodeError as error:
        raise _damaged(path, data.count(b"\n", 0, error.start) + 1, "not UTF-8") from error
    if not isinstance(document, dict):
        raise _damaged(path, 1, "an object is expected")
    version = document.get("format")
    if version != FORMAT:
        raise Refused(
            f"{path} has format {version!r}, this wikimem reads format {FORMAT}", hint="Use the wikimem that wrote it."
        )
    rows = document.get("vaults")
    if not isinstance(rows, list):
        raise _damaged(path, _line_of(data, "vaults"), "`vaults` is not a list")
    default = document.get("default")
    if default is not None and not _is_root(default):
        raise _damaged(path, _line_of(data, "default"), "`default` is not an absolute path")
    return _Entries(
        vaults=tuple(_entry(path, data, row, number) for number, row in enumerate(rows)),
        default=None if default is None else Path(default),
    )


def _entry(path: Path, data: bytes, row: object, number: int) -> RegisteredVault:
    if not isinstance(row, Mapping) or not _is_root(row.get("root")):
        raise _damaged(path, _line_of(data, "vaults"), f"vault {number + 1} has no absolute `root`")
    how = row.get("how")
    if how not in ("made", "trusted"):
        line = _line_of(data, json.dumps(row["root"]).strip('"'))
        raise _damaged(path, line, f"vault {number + 1} was neither made nor trusted, but {how!r}")
    return RegisteredVault(Path(row["root"]), how)


def _is_root(value: object) -> bool:
    return isinstance(value, str) and os.path.isabs(value) and "\0" not in value


def _line_of(data: bytes, words: str) -> int:
    return data.count(b"\n", 0, max(data.find(words.encode()), 0)) + 1


def _damaged(path: Path, line: int, reason: str) -> Damaged:
    return Damaged(
        f"{path}, line {line}: {reason}",
        hint=f"Correct the file, or move it away and run `wikimem trust` for each of your vaults. It is {path.name}.",
        data={"file": os.fspath(path), "line": line},
    )
