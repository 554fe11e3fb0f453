"""Which vault an event belongs to, and where its spool lies: the registry's answer at a hook's price.

`vault.folders`, `vault.registry` and `vault.config` say the same with checks, errors and types that cost several times
what starting Python does. What is rare (a first run, a settings file that has changed) is left to them.
"""

from __future__ import annotations

import json
import os
import stat
import sys

from wikimem.text.redact_values import compiled

_APP = "wikimem"
_MARKER = ".wikimem"
_REGISTRY_BYTES = 1_000_000
_SETTINGS_CACHE = "hook-settings.json"
_SETTINGS_FORMAT = 2
_INJECTED = [1000, 500]


class NoVault(Exception):
    """There is no vault of this user to keep an event in; says why, for the log."""


class Settings:
    """What hooks need of the user's settings: the default vault, or nothing; rules as (name, expression); and how many
    tokens are given at a session's start and at a prompt."""

    __slots__ = ("default_vault", "injected", "redact")

    def __init__(self, default_vault: str, redact: list[list[str]], injected: list[int]) -> None:
        self.default_vault = default_vault
        self.redact = redact
        self.injected = injected


class Place:
    """Where an event is kept: the state folder of its vault, and what user and vault want redacted besides.

    `injected` are the tokens that this user wants given at a session's start and at a prompt.
    """

    __slots__ = ("injected", "redact", "root", "state")

    def __init__(self, root: str, state: str, redact: list[tuple[str, str]], injected: list[int]) -> None:
        self.root = root
        self.state = state
        self.redact = redact
        self.injected = injected

    def has_index(self) -> bool:
        """Whether the vault has been indexed."""
        return os.path.exists(f"{cache_folder()}/vaults/{os.path.basename(self.state)}/index/stamp.json")


def digest(data: bytes, size: int) -> str:
    """BLAKE2b of `data` as `2 * size` hex digits, without loading OpenSSL as `hashlib` does."""
    try:
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b
    found: str = blake2b(data, digest_size=size).hexdigest()
    return found


def state_folder() -> str:
    """This user's state folder; not made and not checked."""
    return _user_folder("XDG_STATE_HOME", "~/.local/state", "user_state_dir")


def config_folder() -> str:
    """This user's configuration folder; not made and not checked."""
    return _user_folder("XDG_CONFIG_HOME", "~/.config", "user_config_dir")


def cache_folder() -> str:
    """This user's cache folder; not made and not checked."""
    return _user_folder("XDG_CACHE_HOME", "~/.cache", "user_cache_dir")


def place_for(named: str | None, cwd: str, state: str) -> Place:
    """The place of an event that happened in `cwd`; `named` is a vault that was named. `state` as `state_folder`.

    Raises NoVault where this user has none that is meant; WikimemError where a list or a setting cannot be read.
    """
    config = config_folder()
    roots, default = _registered(config)
    if not roots:
        raise NoVault("this user has no vault; run `wikimem init`")
    settings = _settings(config, state)
    root = _meant(named, cwd, roots, default or "", settings.default_vault)
    own = f"{state}/vaults/{_key_of(root)}"
    rules = [(name, rule) for name, rule in (*settings.redact, *_rules_of_vault(root, own))]
    return Place(root, own, rules, settings.injected)


def user_key(state: str) -> bytes:
    """This user's secret key, as `vault.folders.user_key` gives it."""
    try:
        descriptor = os.open(f"{state}/key", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        descriptor = -1
    if descriptor >= 0:
        try:
            seen = os.fstat(descriptor)
            data = os.read(descriptor, 33) if stat.S_ISREG(seen.st_mode) else b""
        finally:
            os.close(descriptor)
        if len(data) == 32 and seen.st_uid == os.geteuid() and not stat.S_IMODE(seen.st_mode) & 0o077:
            return data
    from wikimem.vault import folders

    return folders.user_key()


def private_folder(path: str) -> str:
    """`path`, made with mode 0700 and checked, as `vault.folders.private_folder` does."""
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    except OSError:
        return _made_with_parents(path)
    seen = os.lstat(path)
    if stat.S_ISDIR(seen.st_mode) and seen.st_uid == os.geteuid() and stat.S_IMODE(seen.st_mode) == 0o700:
        return path
    return _made_with_parents(path)


def _made_with_parents(path: str) -> str:
    from pathlib import Path

    from wikimem.vault import folders

    return os.fspath(folders.private_folder(Path(path)))


def _user_folder(variable: str, below_home: str, platform_name: str) -> str:
    home = os.environ.get("HOME", "")
    named = os.environ.get(variable, "")
    if sys.platform == "linux" and home.startswith("/"):
        if named.startswith("/"):
            return os.path.join(named, _APP)
        if not named:
            return os.path.join(home, below_home[2:], _APP)
    import platformdirs

    found: str = getattr(platformdirs, platform_name)(_APP, appauthor=False)
    return found


def _registered(config: str) -> tuple[list[str], str | None]:
    """The real paths of this user's vaults and of the chosen default."""
    try:
        descriptor = os.open(f"{config}/vaults.json", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return [], None
    with os.fdopen(descriptor, "rb") as file:
        seen = os.fstat(descriptor)
        mine = seen.st_uid == os.geteuid() and not stat.S_IMODE(seen.st_mode) & 0o077
        data = file.read(_REGISTRY_BYTES) if mine and stat.S_ISREG(seen.st_mode) else b""
    try:
        document = json.loads(data)
        if document["format"] == 1:
            roots = [row["root"] for row in document["vaults"]]
            default = document.get("default")
            if all(isinstance(path, str) and path.startswith("/") for path in (*roots, default or "/")):
                return roots, default
    except (ValueError, TypeError, KeyError):
        pass
    from pathlib import Path

    from wikimem.vault.registry import VaultRegistry

    registry = VaultRegistry(Path(config))
    return [os.fspath(vault.root) for vault in registry.vaults()], os.fspath(registry.default or "") or None


def _meant(named: str | None, cwd: str, roots: list[str], chosen: str, configured: str) -> str:
    if named and named.strip():
        root = _find(os.path.realpath(os.path.join(cwd, os.path.expanduser(named))), roots)
        if root is None:
            raise NoVault("the vault that was named is none of this user's; run `wikimem trust` for it")
        return root
    try:
        place = os.path.realpath(cwd)
    except ValueError:
        place = "/"  # a NUL, or what is no character: there is no such folder
    while True:
        root = _find(place, roots)
        if root is not None:
            return root
        if os.path.lexists(os.path.join(place, _MARKER)):
            raise NoVault("the session ran in a vault that this user never trusted; run `wikimem trust` for it")
        parent = os.path.dirname(place)
        if parent == place:
            break
        place = parent
    default = _find(os.path.realpath(configured or chosen or os.path.expanduser("~/wikimem")), roots)
    if default is None:
        raise NoVault("this user's default vault is not registered; run `wikimem init` or `wikimem trust` for it")
    return default


def _find(place: str, roots: list[str]) -> str | None:
    """The vault at `place`, also under another spelling where the file system takes both for one."""
    if place in roots:
        return place
    folded = place.casefold()
    for root in roots:
        if root.casefold() == folded:
            try:
                if os.path.samefile(root, place):
                    return root
            except OSError:
                pass
    return None


def _key_of(root: str) -> str:
    """As `vault.folders.vault_key`, for the usual names."""
    name = os.path.basename(root)
    if not name.isascii():
        from pathlib import Path

        from wikimem.vault import folders

        return folders.vault_key(Path(root))
    slug = compiled(r"[^a-z0-9]+").sub("-", name.lower())[:40].strip("-") or "vault"
    return f"{slug}-{digest(os.fsencode(root), 8)}"


def _settings(config: str, state: str) -> Settings:
    """What hooks need of the user's settings: read by `vault.config` once, then from a copy until the file changes."""
    try:
        seen = os.stat(f"{config}/config.toml")
    except OSError:
        return Settings("", [], _INJECTED)
    stamp = [seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns]
    copy = f"{state}/{_SETTINGS_CACHE}"
    try:
        with open(copy, "rb") as file:
            document = json.loads(file.read(_REGISTRY_BYTES))
        if document["format"] == _SETTINGS_FORMAT and document["of"] == stamp:
            said = document["settings"]
            return Settings(said["default_vault"], said["redact"], said["injected"])
    except (OSError, ValueError, TypeError, KeyError):
        pass
    return _copied(config, copy, stamp)


def _rules_of_vault(root: str, state: str) -> list[list[str]]:
    """What a vault wants redacted besides: read by `vault.config` once, then from a copy until the file changes."""
    try:
        seen = os.lstat(f"{root}/{_MARKER}/config.toml")
    except OSError:
        return []
    stamp = [seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns]
    copy = f"{state}/{_SETTINGS_CACHE}"
    try:
        with open(copy, "rb") as file:
            document = json.loads(file.read(_REGISTRY_BYTES))
        if document["format"] == _SETTINGS_FORMAT and document["of"] == stamp:
            return [[str(name), str(rule)] for name, rule in document["redact"]]
    except (OSError, ValueError, TypeError, KeyError):
        pass
    from pathlib import Path

    from wikimem.errors import WikimemError
    from wikimem.vault.config import read_vault_config
    from wikimem.vault.files import write_atomically

    rules = [[name, rule] for name, rule in read_vault_config(Path(root)).redact.items()]
    document = {"format": _SETTINGS_FORMAT, "of": stamp, "redact": rules}
    try:
        private_folder(state)
        write_atomically(Path(copy), json.dumps(document).encode("ascii"), mode=0o600)
    except WikimemError:
        pass  # the next hook reads the settings themselves once more
    return rules


def _copied(config: str, copy: str, stamp: list[int]) -> Settings:
    from pathlib import Path

    from wikimem.errors import WikimemError
    from wikimem.vault.config import read_user_config
    from wikimem.vault.files import write_atomically

    user = read_user_config(Path(config))
    settings = Settings(
        os.fspath(user.default_vault) if user.default_vault else "",
        [list(rule) for rule in user.redact.items()],
        [user.inject_at_start, user.inject_at_prompt],
    )
    document = {
        "format": _SETTINGS_FORMAT,
        "of": stamp,
        "settings": {name: getattr(settings, name) for name in Settings.__slots__},
    }
    try:
        write_atomically(Path(copy), json.dumps(document).encode("ascii"), mode=0o600)
    except WikimemError:
        pass  # the next hook reads the settings themselves once more
    return settings
