"""A vault as it was at a commit, checked out into a folder of its own: the work tree and the index stay as they are.

The folder becomes a repository that borrows the vault's objects, with HEAD at that commit, so that what depends on
history (ids of pages that give none, the last clean revision of a page in conflict) is as it was then. No object is
copied, and no ref of the vault's repository is made.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from wikimem.errors import NotFound
from wikimem.vault.gitcommand import run_git
from wikimem.vault.repository import Repository

CHECKOUT_TIMEOUT_S: Final = 600.0
"""For writing every file of a large vault."""

_HINT: Final = "See `wikimem log` for the commits of the vault."
_PLAIN_FORMATS: Final = {"GIT_DEFAULT_HASH": "sha1", "GIT_DEFAULT_REF_FORMAT": "files"}
"""Those of every repository that wikimem opens, whatever this user's git makes by default."""

_WHOLE_INDEX: Final = {
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "core.splitIndex",
    "GIT_CONFIG_VALUE_0": "false",
}
"""A split index would leave a part of itself in the vault's git folder."""


def check_out(repository: Repository, commit: bytes, folder: Path) -> Path:
    """Write the tree of `commit` into `folder`, which must not exist, and return where the vault is in it.

    Files are as git would check them out: line endings and filters by the vault's own settings. Raises NotFound where
    the vault's folder was not there at that commit, and what `run_git` raises.
    """
    name = commit.decode()
    within = repository.prefix.rstrip("/")
    # As git has it: a link in place of the vault's folder, or of one above it, would lead out of the repository.
    kind = run_git(repository.top, "cat-file", "-t", f"{name}:{within}" if within else name, check=False).stdout.strip()
    if kind != (b"tree" if within else b"commit"):
        raise NotFound(f"the vault's folder '{within}' was not there at {name[:10]}", hint=_HINT)
    folder.mkdir(mode=0o700)
    run_git(folder, "init", "--quiet", "--template=", env=_PLAIN_FORMATS)
    made = folder / ".git"
    _borrow(repository.common_dir, made)
    run_git(folder, "update-ref", "--no-deref", "HEAD", name)
    # The vault's own git folder, with its settings, filters and attributes, over this work tree and this index.
    over = {**_WHOLE_INDEX, "GIT_WORK_TREE": str(folder), "GIT_INDEX_FILE": str(made / "index")}
    theirs = f"--git-dir={repository.git_dir}"
    run_git(folder, theirs, "read-tree", "--no-sparse-checkout", name, env=over, timeout_s=CHECKOUT_TIMEOUT_S)
    run_git(folder, theirs, "checkout-index", "--all", "--quiet", env=over, timeout_s=CHECKOUT_TIMEOUT_S)
    root = folder / within
    if not root.is_dir():
        raise NotFound(f"the vault was empty at {name[:10]}", hint=_HINT)
    return root


def _borrow(common: Path, made: Path) -> None:
    """Let the repository at `made` read the objects of that at `common`, and know where its history ends."""
    information = made / "objects" / "info"
    information.mkdir(parents=True, exist_ok=True)
    (information / "alternates").write_bytes(os.fsencode(common / "objects") + b"\n")
    if (common / "shallow").is_file():
        shutil.copyfile(common / "shallow", made / "shallow")
