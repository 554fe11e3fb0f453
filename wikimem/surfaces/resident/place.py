"""Which commands the resident process takes, which vault they mean, and where it listens.

The client asks this before it has imported anything: nothing here may need more than `os` and `sys`.
"""

from __future__ import annotations

import os
import sys

SWITCH = "WIKIMEM_RESIDENT"
"""The environment variable that switches the resident process off, or says after how many idle minutes it ends."""

OFF = ("off", "no", "0", "false")
READING = ("search", "context", "read", "list", "links", "log", "graph", "timeline", "sparql", "status", "check")
"""The commands that are handed over. `check` only where it mends nothing."""

INJECT = "inject"
"""What a hook asks instead of a command; see `asking`."""

_VALUED = ("--vault", "--project", "--agent", "--session")
_STAYS = ("--help", "--fix", "--dry-run", "-")
"""Words of a command that stays in its own process: it writes, or it reads standard input."""

_MARKER = ".wikimem"
_PRIME = 2**64 - 59
_LONGEST = 100
"""Bytes of a socket's path that every system takes: macOS allows 104, Linux 108."""


def is_off() -> bool:
    """Whether the environment switches the resident process off."""
    return os.environ.get(SWITCH, "").lower() in OFF


def is_offered(arguments: list[str]) -> bool:
    """Whether this command line is one to hand over."""
    return command_of(arguments) in READING and not any(word in _STAYS for word in arguments)


def is_injection(arguments: list[str]) -> bool:
    """Whether this is a hook's question."""
    return len(arguments) == 5 and arguments[0] == "--vault" and arguments[2] == INJECT


def command_of(arguments: list[str]) -> str:
    """The command: the first word that is neither a common option nor its value; empty where there is none."""
    words = iter(arguments)
    for word in words:
        if word in _VALUED:
            next(words, None)
        elif not word.startswith("-"):
            return word
    return ""


def probable_root(arguments: list[str], cwd: str, folder: str) -> str:
    """The real path of the vault that is probably meant; empty where none comes to mind.

    Whether it is meant, and trusted, is for the server to find out: it resolves the same question in full.
    """
    stated = stated_root(arguments, cwd)
    if stated:
        return stated
    try:
        return os.readlink(default_link(folder))
    except OSError:
        return ""


def stated_root(arguments: list[str], cwd: str) -> str:
    """The real path of the folder that the command line, the environment or the working directory names, if any."""
    named = _named(arguments) or os.environ.get("WIKIMEM_VAULT", "")
    if named.strip():
        return os.path.realpath(os.path.join(cwd, os.path.expanduser(named)))
    place = os.path.realpath(cwd)
    while not os.path.lexists(os.path.join(place, _MARKER)):
        above = os.path.dirname(place)
        if above == place:
            return ""
        place = above
    return place


def _named(arguments: list[str]) -> str:
    """What the last `--vault` names."""
    found = ""
    for at, word in enumerate(arguments):
        if word == "--":
            break
        if word == "--vault" and at + 1 < len(arguments):
            found = arguments[at + 1]
        elif word.startswith("--vault="):
            found = word[len("--vault=") :]
    return found


def socket_folder() -> str:
    """Where this user's sockets lie; it need not exist. Empty where there is no home folder.

    `$XDG_RUNTIME_DIR` where it is this user's alone, else the state folder, as the vault's own folders do it.
    """
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime) and is_private(runtime):
        return os.path.join(runtime, "wikimem")
    home = os.environ.get("HOME", "")
    if not os.path.isabs(home):
        return ""
    own = "Library/Application Support" if sys.platform == "darwin" else ".local/state"
    state = os.environ.get("XDG_STATE_HOME", "").strip() or os.path.join(home, own)
    return os.path.join(os.path.expanduser(state), "wikimem", "run")


def made_folder() -> str:
    """`socket_folder`, made where it is missing; empty where it cannot be had for this user alone."""
    folder = socket_folder()
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
    except OSError:
        return ""
    return folder if is_private(folder) else ""


def is_private(folder: str) -> bool:
    """Whether `folder` is a folder, no link, that belongs to this user and is closed to all others."""
    try:
        seen = os.lstat(folder)
    except OSError:
        return False
    return seen.st_uid == os.geteuid() and seen.st_mode & 0o170077 == 0o040000


def socket_name(root: str) -> str:
    """The name of the socket of the vault at `root`.

    Short, and made without hashlib, whose import costs a quarter of Python's start. Two vaults with one name would
    be told apart by the server, which refuses what is not its own.
    """
    return f"{int.from_bytes(os.fsencode(root), 'big') % _PRIME:016x}"


def default_link(folder: str) -> str:
    """The link to the vault that was meant last where nothing named one."""
    return os.path.join(folder, "default")


def is_within(path: str, root: str) -> bool:
    """Whether `path` lies in `root`. A socket in a vault's tree is never connected to (law 12)."""
    return (os.path.realpath(path) + "/").startswith(root.rstrip("/") + "/")


class Reached:
    """The address of a socket that any length of path can be used for, while this is entered."""

    def __init__(self, folder: str, name: str) -> None:
        self._folder = folder
        self._name = name
        self._came_from = -1

    def __enter__(self) -> str:
        whole = os.path.join(self._folder, self._name)
        if len(os.fsencode(whole)) <= _LONGEST:
            return whole
        # From its own folder, its name alone is short enough.
        self._came_from = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
        os.chdir(self._folder)
        return self._name

    def __exit__(self, *_: object) -> None:
        if self._came_from >= 0:
            os.fchdir(self._came_from)
            os.close(self._came_from)
            self._came_from = -1
