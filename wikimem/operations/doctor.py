"""doctor: whether wikimem, git, the disk and the agents can work together here. Not an operation: it needs no vault.

Each look says ok, warn or fail, and what to do. Nothing is changed, and what one look finds out stops no other.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wikimem import __version__
from wikimem.errors import Locked, WikimemError
from wikimem.model.setupresults import DoctorLine, DoctorResult

if TYPE_CHECKING:
    from wikimem.vault.config import UserConfig
    from wikimem.vault.repository import Repository

LEAST_PYTHON: Final = (3, 11)
LEAST_GIT: Final = (2, 20)
SCARCE_BYTES: Final = 1_000_000_000
FULL_BYTES: Final = 100_000_000
"""Free space from which on a person should see to it, and below which writes are about to fail."""

_INOTIFY: Final = Path("/proc/sys/fs/inotify")
_OTHERS: Final = 0o077
_MOST_SETTINGS: Final = 5_000_000

AGENTS: Final[tuple[tuple[str, str, tuple[str, ...]], ...]] = (
    ("Claude Code", ".claude", (".claude.json", ".claude/settings.json")),
    ("Codex", ".codex", (".codex/config.toml", ".codex/hooks.json")),
    ("Gemini CLI", ".gemini", (".gemini/settings.json",)),
    ("Cursor", ".cursor", (".cursor/mcp.json", ".cursor/hooks.json")),
    ("Windsurf", ".codeium/windsurf", (".codeium/windsurf/mcp_config.json",)),
    ("Copilot CLI", ".copilot", (".copilot/mcp-config.json",)),
    ("Zed", ".config/zed", (".config/zed/settings.json",)),
    ("Kiro", ".kiro", (".kiro/settings/mcp.json",)),
    ("Qwen Code", ".qwen", (".qwen/settings.json",)),
)
"""Agents: name, the folder by which one sees that it is installed, and its settings, from the home folder."""


@dataclass
class _Patient:
    """What the looks find out on the way, for those after them; None where a look could not."""

    named: str | None
    cwd: Path
    user: UserConfig | None = None
    root: Path | None = None
    repository: Repository | None = None
    folders: list[Path] = field(default_factory=list)


def doctor(named: str | None, *, cwd: Path) -> DoctorResult:
    """Look at everything that a vault needs; `named` is the vault that the caller named, if one."""
    patient = _Patient(named, cwd)
    lines: list[DoctorLine] = []
    try:
        for name, look in _LOOKS:
            try:
                lines += look(patient)
            except WikimemError as error:
                lines.append(DoctorLine(name, "fail", error.message, error.hint or ""))
    finally:
        if patient.repository is not None:
            patient.repository.close()
    failed = any(line.state == "fail" for line in lines)
    return DoctorResult(str(patient.root) if patient.root else None, tuple(lines), failed=failed, notes=())


def _python(_: _Patient) -> Iterator[DoctorLine]:
    version = platform.python_version()
    state = "ok" if sys.version_info >= LEAST_PYTHON else "fail"
    yield DoctorLine(
        "python",
        state,
        f"Python {version}, wikimem {__version__}",
        "" if state == "ok" else f"Install Python {LEAST_PYTHON[0]}.{LEAST_PYTHON[1]} or newer.",
    )


def _git(_: _Patient) -> Iterator[DoctorLine]:
    from wikimem.vault.gitcommand import run_git

    if shutil.which("git") is None:
        yield DoctorLine("git", "warn", "git is not on the PATH", "Install git: large vaults are much slower without.")
        return
    said = run_git(Path("/"), "version").stdout.decode("utf-8", "replace").strip()
    found = re.search(r"(\d+)\.(\d+)", said)
    fit = found is not None and (int(found[1]), int(found[2])) >= LEAST_GIT
    least = ".".join(map(str, LEAST_GIT))
    yield DoctorLine("git", "ok" if fit else "fail", said, "" if fit else f"Install git {least} or newer.")


def _folders(patient: _Patient) -> Iterator[DoctorLine]:
    """Looked at before anything makes or mends them."""
    from platformdirs import user_cache_path, user_config_path, user_state_path

    from wikimem.vault.folders import APP_NAME

    places = {each(APP_NAME, appauthor=False) for each in (user_config_path, user_cache_path, user_state_path)}
    patient.folders = sorted(places)
    for folder in patient.folders:
        try:
            seen = folder.lstat()
        except FileNotFoundError:
            yield DoctorLine("folder", "ok", f"{folder} is made when it is needed", "")
            continue
        except OSError as error:
            yield DoctorLine("folder", "fail", f"{folder}: {error.strerror}", "Change its permissions.")
            continue
        yield _folder_line(folder, seen)


def _folder_line(folder: Path, seen: os.stat_result) -> DoctorLine:
    mode = stat.S_IMODE(seen.st_mode)
    if not stat.S_ISDIR(seen.st_mode):
        return DoctorLine("folder", "fail", f"{folder} is not a folder", f"Move {folder} away.")
    if seen.st_uid != os.geteuid():
        return DoctorLine("folder", "fail", f"{folder} belongs to another user", "Look at what is in it; move it away.")
    if mode & (stat.S_IWGRP | stat.S_IWOTH):
        remedy = f"Look at what is in it, then run `chmod 700 {folder}`."
        return DoctorLine("folder", "fail", f"other users can write into {folder} (mode {mode:o})", remedy)
    if mode & _OTHERS:
        remedy = f"Run `chmod 700 {folder}`; the next command does, too."
        return DoctorLine("folder", "warn", f"other users can read {folder} (mode {mode:o})", remedy)
    return DoctorLine("folder", "ok", f"{folder} is yours alone", "")


def _settings(patient: _Patient) -> Iterator[DoctorLine]:
    from wikimem.vault.config import CONFIG_NAME, read_user_config
    from wikimem.vault.folders import user_folders

    folder = user_folders().config
    patient.user = read_user_config(folder)
    there = (folder / CONFIG_NAME).exists()
    yield DoctorLine("settings", "ok", f"{folder / CONFIG_NAME} {'is in order' if there else 'is not there'}", "")


def _vault(patient: _Patient) -> Iterator[DoctorLine]:
    from wikimem.vault.config import read_vault_config
    from wikimem.vault.folders import user_folders
    from wikimem.vault.registry import VaultRegistry, default_root, resolve_vault

    registry = VaultRegistry(user_folders().config)
    default = default_root(patient.user.default_vault if patient.user else None, registry, Path.home())
    root = resolve_vault(patient.named, cwd=patient.cwd, registry=registry, default=default)
    patient.root = root
    known = registry.find(root)
    yield DoctorLine("vault", "ok", f"{root} is a vault that you {known.how if known else 'made'}", "")
    read_vault_config(root)


def _repository(patient: _Patient) -> Iterator[DoctorLine]:
    from wikimem.vault.repository import Repository

    if patient.root is None:
        return
    patient.repository = repository = Repository(patient.root)
    repository.check()
    branch = repository.branch() or "no branch"
    operation = repository.operation()
    if operation:
        remedy = "Finish or abort it; until then wikimem writes pages and commits them later."
        yield DoctorLine("repository", "warn", f"{repository.top}: in a {operation}", remedy)
    else:
        yield DoctorLine("repository", "ok", f"{repository.top}, on {branch}", "")
    for remark in repository.remarks():
        yield DoctorLine("repository", "warn", remark, "See `wikimem help git`.")
    if (repository.git_dir / "index.lock").exists():
        lock = repository.git_dir / "index.lock"
        yield DoctorLine("repository", "warn", f"'{lock}' is there", "If no git is running there, remove it.")


def _locks(patient: _Patient) -> Iterator[DoctorLine]:
    from wikimem.vault.lock import write_lock

    if patient.repository is None:
        return
    path = patient.repository.lock_path
    try:
        with write_lock(path, "wikimem doctor", timeout_s=0):
            pass
    except Locked as error:
        yield DoctorLine("locks", "ok", f"work; now {error.data.get('owner', 'another process')} writes", "")
        return
    yield DoctorLine("locks", "ok", f"work on {path.parent}", "")


def _index(patient: _Patient) -> Iterator[DoctorLine]:
    from wikimem.index.folder import IndexFolder
    from wikimem.vault.folders import index_stamp, user_key, vault_folders, vault_key

    if patient.root is None:
        return
    place = vault_folders(vault_key(patient.root)).index
    if not place.exists():
        yield DoctorLine("index", "ok", "there is none yet; the next search makes it", "")
        return
    standing = IndexFolder(place).standing(index_stamp(user_key(), patient.root))
    if standing in ("ours", "new"):
        yield DoctorLine("index", "ok", f"{place} is this user's", "")
    else:
        what = "was not written by this user's wikimem" if standing == "foreign" else "has an older format"
        yield DoctorLine("index", "warn", f"{place} {what}", "Nothing to do: the next command makes it again.")


def _model(patient: _Patient) -> Iterator[DoctorLine]:
    from wikimem.index.embedder import Embedder
    from wikimem.index.index import SHIPPED_MODEL
    from wikimem.index.modelfiles import ModelFiles

    files = ModelFiles.read((patient.user.model if patient.user else None) or SHIPPED_MODEL)
    if files.reason:
        yield DoctorLine("model", "fail", files.reason, "Install wikimem again, or correct `model` in your settings.")
        return
    width = Embedder(files.folder).encode(["a test"]).shape[1]
    yield DoctorLine("model", "ok", f"{files.name} loads ({width} dimensions)", "")


def _reranker(patient: _Patient) -> Iterator[DoctorLine]:
    from wikimem.model.reranker import RerankerFolder
    from wikimem.search.localreranker import why_no_model

    chosen = patient.user.reranker if patient.user else None
    if not isinstance(chosen, RerankerFolder):
        return
    if reason := why_no_model(chosen.path):
        remedy = "Correct `path` under [reranker] in your settings; until then no search is reranked."
        yield DoctorLine("reranker", "warn", reason, remedy)
        return
    yield DoctorLine("reranker", "ok", f"'{chosen.path}' holds a model", "")


def _space(patient: _Patient) -> Iterator[DoctorLine]:
    seen: set[int] = set()
    for folder in (patient.root, *patient.folders):
        place = next((each for each in (folder, *folder.parents) if each.exists()), None) if folder else None
        if place is None or place.stat().st_dev in seen:
            continue
        seen.add(place.stat().st_dev)
        free = shutil.disk_usage(place).free
        state = "fail" if free < FULL_BYTES else "warn" if free < SCARCE_BYTES else "ok"
        remedy = "" if state == "ok" else "Free some space: a write that does not fit is refused."
        yield DoctorLine("disk", state, f"{free / 1e9:.1f} GB free on the disk of {place}", remedy)


def _watching(patient: _Patient) -> Iterator[DoctorLine]:
    from wikimem.vault.duty import duty_holder
    from wikimem.vault.folders import vault_folders, vault_key
    from wikimem.vault.mounts import silent_disk

    if patient.root is None:
        return
    holder = duty_holder(vault_folders(vault_key(patient.root)).state)
    yield DoctorLine("watching", "ok", f"{holder} watches the vault" if holder else "no process watches the vault", "")
    if silent := silent_disk(patient.root):
        remedy = "Nothing to do: changes are found by looking through the disk, which is slower."
        yield DoctorLine("watching", "warn", f"the disk ({silent}) does not report all changes", remedy)
        return
    try:
        most = int((_INOTIFY / "max_user_watches").read_text("ascii"))
    except (OSError, ValueError):
        return
    folders = sum(1 for _ in os.walk(patient.root))
    state = "ok" if folders * 2 < most else "warn"
    remedy = "" if state == "ok" else "Raise fs.inotify.max_user_watches with sysctl; until then the disk is polled."
    yield DoctorLine("watching", state, f"{folders} folders to watch; inotify allows {most}", remedy)


def _agents(_: _Patient) -> Iterator[DoctorLine]:
    """Only agents that are installed are named; that wikimem is not set up for one is no fault."""
    home = Path.home()
    for name, folder, settings in AGENTS:
        if not (home / folder).is_dir():
            continue
        named = [place for place in settings if _names_wikimem(home / place)]
        if named:
            yield DoctorLine("agent", "ok", f"{name}: wikimem is in ~/{', ~/'.join(named)}", "")
        else:
            yield DoctorLine("agent", "ok", f"{name}: wikimem is not in its settings", "See `wikimem help agents`.")


def _names_wikimem(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return b"wikimem" in file.read(_MOST_SETTINGS)
    except OSError:
        return False


_LOOKS: Final[tuple[tuple[str, Callable[[_Patient], Iterator[DoctorLine]]], ...]] = (
    ("python", _python),
    ("git", _git),
    ("folder", _folders),
    ("settings", _settings),
    ("vault", _vault),
    ("repository", _repository),
    ("locks", _locks),
    ("index", _index),
    ("model", _model),
    ("reranker", _reranker),
    ("disk", _space),
    ("watching", _watching),
    ("agent", _agents),
)
"""In the order in which one needs the other."""
