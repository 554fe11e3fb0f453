"""Which repositories wikimem works in, and what their settings say of it.

Whatever is not supported is refused by name before anything is written. git's own settings are read with dulwich: no
process is started for them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from dulwich.config import ConfigFile
from dulwich.errors import NotGitRepository
from dulwich.repo import InvalidWorktreeConfiguration, Repo, UnsupportedExtension, UnsupportedVersion

from wikimem.errors import NotFound, Refused
from wikimem.vault.project import find_work_tree

_COMMIT_HOOKS: Final = ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "reference-transaction")
"""The hooks that `git commit` would run (githooks(5))."""

_DEFAULT_FORMATS: Final = "Use a repository in git's default formats (sha1 objects, files refs)."


def find_top(root: Path) -> Path:
    """The top of the work tree around `root`, as git finds it; what stops git stops here too.

    Raises NotFound outside of any, Refused for a bare repository and for a `.git` file that leads nowhere.
    """
    tree = find_work_tree(root)
    for folder in (root, *root.parents):
        if tree is not None and folder == tree.top:
            return folder
        link = folder / ".git"
        if link.is_file():
            raise Refused(
                f"'{link}' leads to no repository",
                hint="Run `git worktree repair` in the main work tree, or clone again.",
            )
        if (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir():
            raise Refused(f"'{folder}' is a bare repository", hint="Clone it and use the clone as the vault.")
    raise NotFound(f"'{root}' is in no git repository", hint=f"Run `wikimem init {root}`.")


def open_repo(top: Path) -> Repo:
    """The repository whose work tree is `top`. Raises Refused for kinds that are not supported."""
    tree = find_work_tree(top)
    if tree is not None:
        # Before dulwich opens it, which makes files of its own in some of them.
        _refuse_formats(ConfigFile.from_path(str(tree.common_dir / "config")), top)
    try:
        repo = Repo(str(top))
    except NotGitRepository as error:
        raise NotFound(f"'{top}' is in no git repository", hint=f"Run `wikimem init {top}`.") from error
    except (
        *(ValueError, NotImplementedError),
        *(UnsupportedExtension, UnsupportedVersion, InvalidWorktreeConfiguration),
    ) as error:
        raise Refused(
            f"the repository at '{top}' has a format that wikimem does not support: {error}", hint=_DEFAULT_FORMATS
        ) from error
    try:
        _refuse_unsupported(repo, top)
    except Refused:
        repo.close()
        raise
    return repo


def flag(repo: Repo, section: str, name: str, *, default: bool = False) -> bool:
    """A setting of git's that is true or false, from the repository, the user and the machine."""
    try:
        value = repo.get_config_stack().get((section.encode(),), name.encode())
    except KeyError:
        return default
    return value.strip().lower() not in (b"false", b"no", b"off", b"0", b"")


def is_partial(repo: Repo) -> bool:
    """Whether git fetches some objects of this clone only when they are asked for."""
    config = repo.get_config()
    return any(
        section[0] == b"remote" and name.lower() == b"promisor"
        for section in config.sections()
        for name, _ in config.items(section)
    )


def remarks(repo: Repo, top: Path) -> tuple[str, ...]:
    """What a person may expect of every commit here and does not get from wikimem's."""
    said: list[str] = []
    if flag(repo, "commit", "gpgsign"):
        said.append("commit.gpgSign is on: wikimem's own commits are not signed, because signing may ask for a key")
    try:
        hooks = top / os.path.expanduser(os.fsdecode(repo.get_config_stack().get((b"core",), b"hookspath")))
    except KeyError:
        hooks = Path(os.fsdecode(repo.commondir())) / "hooks"
    found = [name for name in _COMMIT_HOOKS if os.access(hooks / name, os.X_OK)]
    if found:
        said.append(f"wikimem's own commits run none of the repository's hooks (here: {', '.join(found)})")
    return tuple(said)


def _refuse_unsupported(repo: Repo, top: Path) -> None:
    if repo.bare:
        raise Refused(f"'{top}' is a bare repository", hint="Clone it and use the clone as the vault.")
    config = repo.get_config()
    # A linked worktree shares the settings of its bare repository and is none itself.
    linked = os.path.realpath(repo.controldir()) != os.path.realpath(repo.commondir())
    if not linked and config.get_boolean((b"core",), b"bare", False):
        raise Refused(
            f"'{top}' is a bare repository by its own settings (core.bare)",
            hint=f"If it is none, run `git -C {top} config core.bare false`.",
        )
    tree = Path(os.path.realpath(repo.path))
    if tree != top:
        raise Refused(
            f"the repository at '{top}' keeps its work tree elsewhere (core.worktree = {tree})",
            hint="Use a repository whose .git lies in its work tree, such as a clone of it.",
        )


def _refuse_formats(config: ConfigFile, top: Path) -> None:
    for section, name, known in (
        (b"core", b"repositoryformatversion", (b"0", b"1")),
        (b"extensions", b"refstorage", (b"files",)),
        (b"extensions", b"objectformat", (b"sha1",)),
    ):
        try:
            value = config.get((section,), name).lower()
        except KeyError:
            continue
        if value not in known:
            raise Refused(
                f"the repository at '{top}' has {section.decode()}.{name.decode()} = {value.decode()}, "
                "which wikimem does not support yet",
                hint=_DEFAULT_FORMATS,
            )
