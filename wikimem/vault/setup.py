"""Making a vault and taking one in: what `wikimem init` and `wikimem trust` do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from wikimem.errors import Conflict, Damaged, NotFound, Refused
from wikimem.text.ids import new_ulid
from wikimem.vault.commit import Committer, FileChange
from wikimem.vault.config import read_user_config, read_vault_config
from wikimem.vault.create import NativeLook, VaultPlan, add_lines, native_files, plan_vault, templates_folder
from wikimem.vault.files import make_folders, write_atomically
from wikimem.vault.folders import user_folders, vault_folders, vault_key
from wikimem.vault.gitcommand import run_git
from wikimem.vault.journal import Journal
from wikimem.vault.lock import write_lock
from wikimem.vault.project import find_work_tree
from wikimem.vault.registry import MARKER, VaultRegistry, default_root
from wikimem.vault.repository import Repository
from wikimem.vault.scan import scan


class SetUp(Struct, frozen=True):
    """What `set_up` did, or with `dry_run` would do."""

    root: Path
    existing: bool
    git_init: bool
    made: tuple[str, ...]
    excluded: tuple[str, ...]
    commit: str | None
    default: bool
    notes: tuple[str, ...]
    native: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def set_up(path: Path, *, dry_run: bool, clock: Callable[[], datetime], native: bool = False) -> SetUp:
    """Make a vault of the folder at `path` and register it for this user.

    A new folder gets the whole layout in a first commit; somebody's own keeps every byte and its `git status`. With
    `native` that one, or a vault, gets the files of a new vault's look that it lacks, in no commit.
    """
    plan = plan_vault(path, templates_folder())
    if plan.kind == "vault":
        # Whoever runs init on a folder with `.wikimem/` says so themselves, as with trust; a bad one stays out.
        read_vault_config(plan.root)
    folders = user_folders()
    registry = VaultRegistry(folders.config)
    remarks = () if plan.needs_git else _look_at_repository(plan.root)
    look = _look_of(plan) if native and plan.kind != "new" else NativeLook({}, (), ())
    commit = None if dry_run else _carry_out(plan, registry, clock)
    if not dry_run:
        _write(plan.root, look.files)
    chosen = default_root(read_user_config(folders.config).default_vault, registry, Path.home())
    return SetUp(
        root=plan.root,
        existing=plan.kind != "new",
        git_init=plan.needs_git,
        made=tuple(plan.files),
        excluded=plan.excludes,
        commit=commit,
        default=Path(os.path.realpath(chosen)) == plan.root,
        notes=(*plan.notes, *look.notes, *remarks),
        native=tuple(sorted(look.files)),
        kept=look.kept,
    )


def _look_of(plan: VaultPlan) -> NativeLook:
    exclude = read_vault_config(plan.root).exclude if plan.kind == "vault" else plan.exclude
    return native_files(plan.root, templates_folder(), exclude)


def take_in(path: Path) -> tuple[Path, int, tuple[str, ...]]:
    """Register a vault that came from elsewhere; returns its real path, how many pages it holds, and what a person
    should know of its repository.

    A copy without a repository gets one, without a commit.

    Raises NotFound for a folder that is no vault, and what a bad `.wikimem/config.toml` raises: such a vault is not
    taken in.
    """
    root = Path(os.path.realpath(path))
    if not os.path.isdir(root / MARKER):
        raise NotFound(f"'{root}' is no vault: it has no {MARKER} folder", hint=f"Run `wikimem init {root}`.")
    config = read_vault_config(root)
    if find_work_tree(root) is None:
        _git_init(root)
    remarks = _look_at_repository(root)
    pages = len(scan(root, config.exclude).files)
    VaultRegistry(user_folders().config).register(root, "trusted")
    return root, pages, remarks


def _look_at_repository(root: Path) -> tuple[str, ...]:
    """What to know of the repository around `root`. Raises by name what wikimem or git cannot work with, before
    anything is written."""
    repository = Repository(root)
    try:
        repository.check()
        return repository.remarks()
    finally:
        repository.close()


def _carry_out(plan: VaultPlan, registry: VaultRegistry, clock: Callable[[], datetime]) -> str | None:
    try:
        plan.root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refused(
            f"cannot make the folder '{plan.root}': {error.strerror}", hint="Choose another place."
        ) from error
    if plan.needs_git:
        _git_init(plan.root)
    if plan.excludes:
        plan.exclude_file.parent.mkdir(parents=True, exist_ok=True)
        before = plan.exclude_file.read_bytes() if plan.exclude_file.is_file() else b""
        after = add_lines(before, plan.excludes)
        if after != before:
            write_atomically(plan.exclude_file, after)
    commit = None
    if plan.kind == "new":
        commit = _first_commit(plan, clock)
    else:
        _write(plan.root, plan.files)
    registry.register(plan.root, "made")
    return commit


def _write(root: Path, files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        file = root / name
        make_folders(file.parent, root)
        if os.path.lexists(file):
            raise Conflict(f"'{file}' was made meanwhile", hint="Look at it, then run `wikimem init` again.")
        write_atomically(file, data)


def _first_commit(plan: VaultPlan, clock: Callable[[], datetime]) -> str | None:
    repository = Repository(plan.root)
    state = vault_folders(vault_key(plan.root)).state / "journal"
    state.mkdir(mode=0o700, exist_ok=True)
    changes = [FileChange(name, None, data) for name, data in plan.files.items()]
    with write_lock(repository.lock_path, "wikimem init"):
        now = clock()
        done = Committer(repository, Journal(state)).commit(
            new_ulid(now), changes, "init: a vault for wikimem\n\nWikimem-Op: init\n", repository.person(), now
        )
    repository.close()
    return done.commit


def _git_init(root: Path) -> None:
    if shutil.which("git") is None:
        from dulwich.repo import Repo

        Repo.init(str(root), default_branch=b"main").close()
        return
    run_git(root, "init", "--quiet", "--initial-branch=main")
    if not (root / ".git").exists():
        raise Damaged(f"`git init` made no repository in '{root}'", hint="Run it by hand and look at what it says.")
