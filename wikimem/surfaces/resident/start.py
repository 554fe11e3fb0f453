"""Starting the resident process of a vault, after a command that it would have answered."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wikimem.operations.resident import is_running, lock_file
from wikimem.surfaces.resident import place, wire
from wikimem.surfaces.resident.server import idle_minutes

if TYPE_CHECKING:
    from wikimem.wiki import Wiki

_LOG_BYTES: Final = 1_000_000
_AGAIN_S: Final = 2.0
"""A server that cannot start is not started by every command of a loop."""

_PROGRAM: Final = (
    "import sys; parent = sys.argv.pop(1); parent in sys.path or sys.path.insert(0, parent); "
    "from wikimem.__main__ import main; sys.exit(main())"
)
"""Runs the very package that the client runs, which may lie where only its working directory made it importable."""


def start_after(wiki: Wiki, arguments: list[str]) -> bool:
    """Start the vault's resident process where there is none and one is wanted; whether one was started."""
    offered = place.is_offered(arguments) or place.is_injection(arguments)
    if place.is_off() or not offered or not idle_minutes(wiki.user.resident):
        return False
    folder, root = place.made_folder(), os.fspath(wiki.root)
    if not folder or place.is_within(folder, root) or not sys.executable:
        return False
    _remember_default(folder, root, arguments)
    if is_running(wiki.folders.state) or not _begin(lock_file(wiki.folders.state)):
        return False
    _spawn(root, log_file(wiki))
    return True


def log_file(wiki: Wiki) -> Path:
    """Where the resident process of this vault says what happens to it."""
    return wiki.folders.state / "log" / "resident.log"


def _remember_default(folder: str, root: str, arguments: list[str]) -> None:
    """Let the next client know which vault is meant where nothing names one."""
    try:
        if place.stated_root(arguments, os.getcwd()):
            return
        link = place.default_link(folder)
        if os.path.lexists(link) and os.readlink(link) == root:
            return
        made = f"{link}.{os.getpid()}"
        os.symlink(root, made)
        os.replace(made, link)
    except OSError:
        # Without it the next command that names no vault runs in its own process.
        return


def _begin(lock: Path) -> bool:
    """Note the time of this start; False where the last one was a moment ago."""
    try:
        if lock.exists() and abs(time.time() - lock.stat().st_mtime) < _AGAIN_S:
            return False
        lock.touch(mode=0o600)
    except OSError:
        return False
    return True


def _spawn(root: str, log: Path) -> None:
    parent = os.path.dirname(wire.identity()[2])
    command = [sys.executable, "-P", "-c", _PROGRAM, parent, "--vault", root, "resident", "run"]
    try:
        log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        output = os.open(log, flags | (os.O_TRUNC if log.exists() and log.stat().st_size > _LOG_BYTES else 0), 0o600)
    except OSError:
        return
    try:
        started = subprocess.Popen(
            command, cwd="/", stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
        # It outlives this process, which never waits for it.
        started.returncode = 0
    except OSError:
        # What was asked for is done; the next command tries again.
        return
    finally:
        os.close(output)
