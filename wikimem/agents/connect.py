"""connect and disconnect: wikimem's hooks and MCP server in the settings of agents, put in and taken out.

Not operations: they need no vault. A file that does not parse strictly is left alone, with what to add by hand.
"""

from __future__ import annotations

import difflib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from wikimem.agents.recursion import child_environment
from wikimem.agents.settingsedit import by_hand, holds, is_outdated, server_in, server_of, with_ours, without_ours
from wikimem.agents.wiring import CONNECTED, LENIENT, SERVER, Command, SettingsFile, Wiring, wiring
from wikimem.errors import Conflict, Invalid, NotFound, Unavailable, WikimemError
from wikimem.model.setupresults import ConnectedFile, ConnectResult
from wikimem.text.jsonedit import without_pieces
from wikimem.text.redact import Redactor
from wikimem.vault.config import read_user_config
from wikimem.vault.connections import Connections, Record
from wikimem.vault.files import write_atomically
from wikimem.vault.folders import user_folders, user_key
from wikimem.vault.registry import VaultRegistry, default_root

PASSING: Final = ("/archive-v0/", "/.cache/", "/uv/cache/")
"""Parts of a path whose programs may be gone tomorrow."""

_VERSION_S: Final = 15.0
_VERSION: Final = re.compile(rb"(?<![\d.])(\d{1,6})\.(\d{1,6})\.(\d{1,6})")
_MOST_BYTES: Final = 20_000_000


@dataclass(frozen=True, slots=True)
class _Change:
    """What is to become of one file: `after` None for a file that goes. Unchanged where `after` equals `before`."""

    file: Path
    before: bytes | None
    after: bytes | None
    record: Record | None = None
    kept: str = ""


def connect(
    agents: Sequence[str], *, vault: str | None, home: Path, project: Path | None, dry_run: bool = False
) -> ConnectResult:
    """Write wikimem into the settings of these agents, or of all that are installed.

    `vault` is the one that their sessions mean, where it is not to be found by each session's folder; `project` a
    folder whose own settings are meant instead of the user's. Raises Invalid for an agent that is not known, NotFound
    where none is installed. A file that could not be changed is in the result.
    """
    command = Command(executable(), vault or "")
    wired = _wired(agents, command, home, project)
    notes = [note for each in wired for note in each.notes]
    if any(part in command.words[0] for part in PASSING):
        notes.append(f"'{command.words[0]}' may not stay where it is: install wikimem, and connect again.")
    folders = user_folders()
    registry = VaultRegistry(folders.config)
    default = default_root(read_user_config(folders.config).default_vault, registry, Path.home())
    if not registry.vaults():
        notes.append("You have no vault yet, so hooks keep nothing: run `wikimem init`.")
    elif not vault and registry.find(default) is None:
        notes.append(
            "You have no default vault, so what happens outside your vaults' folders is not kept: run `wikimem init`, "
            "or connect with `--vault`."
        )
    if project is not None:
        notes.append("What was written names a path of this machine: keep these files out of commits.")
    return _work("connect", wired, _connected, dry_run=dry_run, notes=notes)


def disconnect(agents: Sequence[str], *, home: Path, project: Path | None, dry_run: bool = False) -> ConnectResult:
    """Take wikimem out of the settings of these agents, or of all; every other byte stays. Errors as `connect`."""
    names = _known(agents) or list(CONNECTED)
    wired = [wiring(name, Command(("wikimem",)), home=home, project=project) for name in names]
    result = _work("disconnect", wired, _disconnected, dry_run=dry_run, notes=[])
    if not dry_run:
        store = Connections(user_folders().state)
        bare = {file.path for file in result.files if file.state == "unchanged"}
        for wanted in (file for each in wired for file in each.files if str(file.path) in bare):
            # Somebody else took out what was put in, or the file itself.
            store.drop(Path(os.path.realpath(wanted.path)))
    return result


def executable() -> tuple[str, ...]:
    """How to start this wikimem by its whole path, which also a program with a bare PATH finds."""
    for candidate in (sys.argv[0], os.path.join(os.path.dirname(sys.executable), "wikimem"), "wikimem"):
        found = shutil.which(candidate) if os.path.basename(candidate) == "wikimem" else None
        if found:
            # Links stay: where wikimem is updated, they go on to lead to it.
            return (os.path.abspath(found),)
    return sys.executable, "-m", "wikimem"


def is_lenient(agent: str) -> bool:
    """Whether the version of this agent that is installed passes over events that it does not know, as far as its own
    command says; False where there is none."""
    least = LENIENT.get(agent)
    program = shutil.which(agent) if least else None
    if least is None or program is None:
        return False
    try:
        done = subprocess.run(
            [program, "--version"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=child_environment(), timeout=_VERSION_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return False
    found = _VERSION.search(done.stdout)
    return found is not None and tuple(int(number) for number in found.groups()) >= least


def _known(agents: Sequence[str]) -> list[str]:
    names = [agent.lower().removesuffix("-code").removesuffix("-cli") for agent in agents]
    for name, agent in zip(names, agents, strict=True):
        if name not in CONNECTED:
            raise Invalid(
                f"there is no agent '{agent}' to connect",
                hint=f"Choose from: {', '.join(CONNECTED)}. `wikimem help hooks` says how others are wired by hand.",
            )
    return list(dict.fromkeys(names))


def _wired(agents: Sequence[str], command: Command, home: Path, project: Path | None) -> list[Wiring]:
    named = _known(agents)
    found = [wiring(name, command, home=home, project=project, lenient=is_lenient(name)) for name in named or CONNECTED]
    if not named:
        found = [each for each in found if any(sign.exists() for sign in each.signs)]
    if not found:
        raise NotFound(
            "no agent that can be connected is installed for this user",
            hint=f"Name one to write its settings all the same: {', '.join(CONNECTED)}.",
        )
    return found


def _work(
    action: str,
    wired: Sequence[Wiring],
    plan: Callable[[SettingsFile, Connections], _Change],
    *,
    dry_run: bool,
    notes: list[str],
) -> ConnectResult:
    folders = user_folders()
    store = Connections(folders.state)
    if not dry_run:
        store.remove_copies()
    mask = Redactor(user_key(), tuple(read_user_config(folders.config).redact.items())).mask
    files = tuple(
        _done(each.agent, wanted, plan, store, mask, dry_run=dry_run) for each in wired for wanted in each.files
    )
    return ConnectResult(action, files, dry_run, any(file.state == "refused" for file in files), tuple(notes))


def _done(
    agent: str,
    wanted: SettingsFile,
    plan: Callable[[SettingsFile, Connections], _Change],
    store: Connections,
    mask: Callable[[str], str],
    *,
    dry_run: bool,
) -> ConnectedFile:
    path = str(wanted.path)
    try:
        change = plan(wanted, store)
        if change.before == change.after:
            return ConnectedFile(agent, path, "unchanged", change.kept)
        state = {True: "made", False: "changed"}[change.before is None] if change.after is not None else "removed"
        if not dry_run:
            _apply(change, store)
    except WikimemError as error:
        adds = by_hand(wanted) if plan is _connected else ""
        return ConnectedFile(agent, path, "refused", error.message, by_hand=adds)
    return ConnectedFile(agent, path, state, change.kept, diff=mask(_diff(path, change)))


def _connected(wanted: SettingsFile, store: Connections) -> _Change:
    file = Path(os.path.realpath(wanted.path))
    before = _read(file)
    text = wanted.blank if before is None else _text(before)
    try:
        if before is not None and holds(text, wanted):
            return _Change(file, before, before, kept=_kept(text, wanted))
        record = store.find(file)
        asked, there = server_of(wanted), server_in(text, wanted)
        outdated = asked is not None and is_outdated(there, asked)
        base = _base(text, wanted, record if outdated or there is None else None, server=outdated)
        edited = with_ours(base, wanted)
    except Invalid as error:
        raise _unfit(error) from error
    made = before is None or (record is not None and record.made)
    after = edited.text.encode("utf-8")
    return _Change(file, before, after, Record(str(file), edited.pieces, made), edited.kept)


def _disconnected(wanted: SettingsFile, store: Connections) -> _Change:
    file = Path(os.path.realpath(wanted.path))
    before = _read(file)
    record = store.find(file)
    if before is None or SERVER.encode() not in before:
        return _Change(file, before, before)
    text = _text(before)
    try:
        there = server_in(text, wanted)
        left = _base(text, wanted, record, server=True)
    except Invalid as error:
        raise _unfit(error) from error
    if record is not None and record.made and left.strip() == wanted.blank.strip():
        return _Change(file, before, None)
    return _Change(file, before, left.encode("utf-8"), kept="" if left != text or there is None else _foreign())


def _base(text: str, wanted: SettingsFile, record: Record | None, *, server: bool) -> str:
    """`text` without what is wikimem's: exactly as it was before, where nobody has touched what was put in."""
    exact = without_pieces(text, record.pieces) if record is not None and record.pieces else None
    if exact is not None and without_ours(exact, wanted, server=server) == exact:
        return exact
    return without_ours(text, wanted, server=server)


def _kept(text: str, wanted: SettingsFile) -> str:
    asked, there = server_of(wanted), server_in(text, wanted)
    return "" if asked is None or there == asked else "the server that it has was left as it is"


def _foreign() -> str:
    return "it has a server of that name which is not wikimem's"


def _apply(change: _Change, store: Connections) -> None:
    if _read(change.file) != change.before:
        raise Conflict(f"'{change.file}' was changed at this moment by another program", hint="Run the command again.")
    if change.record is not None:
        store.keep(change.record)
    if change.after is None:
        change.file.unlink()
    else:
        _make_folder(change.file.parent)
        write_atomically(change.file, change.after, mode=0o600 if change.before is None else None)
    if change.record is None:
        store.drop(change.file)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(
            f"cannot make the folder '{folder}': {error.strerror}", hint="Make it, then try again."
        ) from error


def _read(file: Path) -> bytes | None:
    try:
        if file.is_file() and file.stat().st_size > _MOST_BYTES:
            raise Invalid(f"it is larger than {_MOST_BYTES:,} bytes")
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unavailable(f"it cannot be read: {error.strerror}") from error


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Invalid(f"line {line}: not UTF-8; the file was not touched") from error


def _unfit(error: Invalid) -> Invalid:
    line = error.data.get("line", 1)
    said = error.message.removeprefix(f"line {line}: ")
    return Invalid(f"line {line}: {said}; the file was not touched")


def _diff(path: str, change: _Change) -> str:
    """A unified diff of the change. Masked by the caller: settings hold keys of other services."""
    old, new = ((data or b"").decode("utf-8").splitlines(keepends=True) for data in (change.before, change.after))
    lines = difflib.unified_diff(old, new, path if change.before is not None else os.devnull,
                                 path if change.after is not None else os.devnull)  # fmt: skip
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
