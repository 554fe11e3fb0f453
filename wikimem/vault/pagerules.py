"""What decides whether a file is a page: the vault's exclude patterns, and git's ignore rules.

git says itself what it ignores; without git, dulwich's reading of the same rules does. Where git lists names otherwise
than the disk spells them, they are found all the same.
"""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from wikimem.errors import Damaged, NotFound, Refused, Unavailable
from wikimem.vault.gitcommand import run_git
from wikimem.vault.names import folded
from wikimem.vault.project import WorkTree, find_work_tree

if TYPE_CHECKING:
    from dulwich.ignore import IgnoreFilter, IgnoreFilterManager

IGNORE_FILE: Final = ".wikimemignore"
_MAX_IGNORE_BYTES: Final = 256_000
_LIST_TIMEOUT_S: Final = 600
_UNOPENED: Final = re.compile(rb"could not open directory '(.+?)/?': ")

Report = Callable[[str, str, str], None]
"""Called with rule, path and message for what a person should know."""


class Rules(Struct, frozen=True):
    """Answers for paths relative to the root: may a folder hold pages, is a file one of them.

    `lasting` is False where the answers were worked out otherwise than by a git that could be asked, so that nothing
    should be concluded from them for the next time.
    """

    enters: Callable[[str], bool]
    takes: Callable[[str], bool]
    lasting: bool = True


EVERYTHING: Final = Rules(lambda _: True, lambda _: True)


def exclude_rules(root: Path, exclude: Sequence[str], report: Report) -> Rules:
    """Rules from the settings and from `.wikimemignore`; the later and more exact of two patterns wins, as in git."""
    lines = [pattern.encode("utf-8", "surrogateescape") for pattern in exclude]
    path = root / IGNORE_FILE
    read = True
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                lines += file.read(_MAX_IGNORE_BYTES).removeprefix(b"\xef\xbb\xbf").splitlines()
            else:
                read = False
                report("unreadable", IGNORE_FILE, "not a regular file, so its patterns do not hold")
    except FileNotFoundError:
        pass
    except OSError as error:
        read = False
        report("unreadable", IGNORE_FILE, f"cannot be read, so its patterns do not hold: {error.strerror}")
    if not any(line.strip() and not line.startswith(b"#") for line in lines):
        return EVERYTHING if read else replace(EVERYTHING, lasting=False)
    from dulwich.ignore import IgnoreFilter, read_ignore_patterns  # heavy, and most vaults have no pattern

    patterns = [composed(line.decode("utf-8", "surrogateescape")) for line in lines]
    rules = IgnoreFilter(read_ignore_patterns(iter(os.fsencode(line) for line in patterns)))  # type: ignore[arg-type]
    return Rules(
        enters=lambda path: not _is_ignored(rules, path, is_folder=True),
        takes=lambda path: not _is_ignored(rules, path, is_folder=False),
        lasting=read,
    )


def _is_ignored(rules: IgnoreFilter, path: str, *, is_folder: bool) -> bool:
    """Whether the last pattern that fits ignores `path`; its folders were asked about before it."""
    name = os.fsencode(composed(path))
    decisive = next((pattern for pattern in reversed(rules.patterns) if pattern.matches(name, is_folder)), None)
    return decisive is not None and decisive.is_exclude


def git_rules(root: Path, report: Report) -> Rules:
    """What git lists as tracked, or as neither tracked nor ignored. Raises Damaged where it cannot read its index."""
    try:
        done = run_git(
            root,
            *("ls-files", "-z", "--cached", "--others", "--exclude-standard"),
            timeout_s=_LIST_TIMEOUT_S,
        )
    except Refused as error:
        report("git-ownership", "", f"{error.message}; {error.hint}")
        return rules_without_git(root)
    except (Unavailable, NotFound):
        return rules_without_git(root)
    names = {os.fsdecode(name) for name in done.stdout.split(b"\0") if name}
    listed = {name for name in names if not name.endswith("/")}
    # Entered to be reported: a nested repository is listed with a slash, and what git could not open it names.
    barred = {name.rstrip("/") for name in names - listed}
    barred |= {os.fsdecode(match[1]) for match in _UNOPENED.finditer(done.stderr)}
    tree = find_work_tree(root)
    ignored = not listed and tree is not None and ignored_around(tree, root)
    if ignored:
        report("ignored-vault", "", "the repository around the vault ignores its folder, so no page is seen")
    pages = _Names(root, listed)
    # A submodule is listed like a file.
    folders = _Names(root, _folders_of(listed) | barred | _folders_of(barred) | listed)
    return Rules(enters=folders.__contains__, takes=pages.__contains__, lasting=not ignored)


def ignored_folders(root: Path, folders: Sequence[str]) -> set[str]:
    """Those of `folders` that a rule from above them ignores as a whole, whatever is put into them."""
    if not folders:
        return set()
    # The dot keeps a name that begins with a colon from being read as magic.
    asked = b"".join(os.fsencode(f"./{folder}") + b"\0" for folder in folders)
    literal = {"GIT_LITERAL_PATHSPECS": "0"}
    done = run_git(root, "check-ignore", "-z", "--stdin", stdin=asked, env=literal, check=False)
    return {os.fsdecode(name)[2:] for name in done.stdout.split(b"\0") if name}


def ignores_all(ignore_file: str) -> bool:
    """Whether a .gitignore ignores everything beside it, as those in virtual environments do."""
    try:
        lines = Path(ignore_file).read_bytes().split()
    except OSError:
        return False
    return b"*" in lines and not any(line.startswith(b"!") for line in lines)


def lists_tracked_but_ignored(root: Path) -> bool:
    """Whether git tracks a file below `root` that it would ignore otherwise; True where that cannot be found out."""
    try:
        done = run_git(root, "ls-files", "-z", "--cached", "--ignored", "--exclude-standard", timeout_s=_LIST_TIMEOUT_S)
    except (Unavailable, NotFound, Refused, Damaged):
        return True
    return bool(done.stdout)


def places_of_git_rules(root: Path) -> tuple[Path, ...]:
    """Every file outside the vault's own folders that bears on what git ignores below `root`, present or not.

    git's settings, the ignore files that they name, the repository's own list, and the .gitignore files above `root`.
    Raises as `run_git` does, NotFound where there is no work tree.
    """
    tree = find_work_tree(root)
    if tree is None:
        raise NotFound(f"{root} is in no git repository")
    shown = run_git(root, "config", "--list", "--show-origin", "-z").stdout.split(b"\0")
    origins = {os.fsdecode(origin[5:]) for origin in shown[0::2] if origin.startswith(b"file:")}
    settings = dict(os.fsdecode(pair).partition("\n")[::2] for pair in shown[1::2])
    home, config = Path.home(), os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    own = settings.get("core.excludesfile") or os.path.join(config, "git", "ignore")
    above = [folder / ".gitignore" for folder in root.parents if folder == tree.top or tree.top in folder.parents]
    return (
        *sorted(root / origin for origin in origins),
        *(home / ".gitconfig", Path(config, "git", "config"), Path("/etc/gitconfig")),
        *(tree.common_dir / "config", tree.git_dir / "config.worktree", tree.common_dir / "info" / "exclude"),
        root / os.path.expanduser(own),
        *above,
    )


def git_index_of(root: Path) -> Path:
    """Where git keeps the list of tracked files for the work tree around `root`. Raises NotFound without one."""
    tree = find_work_tree(root)
    if tree is None:
        raise NotFound(f"{root} is in no git repository")
    return tree.git_dir / "index"


class _Names:
    """Paths that git listed. Where git spells a name otherwise than the disk, it is found if both are one file.

    That happens on file systems that ignore case (after `mv readme.md README.md`) and with core.precomposeUnicode.
    """

    def __init__(self, root: Path, names: set[str]) -> None:
        self._root = root
        self._names = names
        self._folded: dict[str, str] | None = None

    def __contains__(self, path: str) -> bool:
        if path in self._names:
            return True
        if self._folded is None:
            self._folded = {folded(name): name for name in self._names}
        other = self._folded.get(folded(path))
        try:
            return other is not None and os.path.samefile(self._root / other, self._root / path)
        except OSError:
            return False


def ignored_around(tree: WorkTree, root: Path) -> bool:
    """Whether the repository around the folder `root`, which need not exist yet, ignores it as a whole."""
    if tree.top == root:
        return False
    # The slash makes it a folder, and the dot keeps a name that begins with a colon from being read as magic.
    inner = f"{root.relative_to(tree.top).as_posix()}/"
    literal = {"GIT_LITERAL_PATHSPECS": "0"}
    try:
        done = run_git(tree.top, "check-ignore", "-q", "--", f"./{inner}", env=literal, check=False)
    except Unavailable:
        return _filters_without_git(tree.top, tree).may_prune_directory(inner)
    if done.returncode not in (0, 1):
        raise Damaged(
            f"git cannot say whether it ignores {root}: {done.stderr.decode('utf-8', 'replace').strip()}",
            hint=f"Run `git -C {tree.top} status` to see what is wrong.",
        )
    return done.returncode == 0


def rules_without_git(root: Path) -> Rules:
    """git's rules as dulwich reads them; tracked files are kept whatever the rules say."""
    tree = find_work_tree(root)
    top = tree.top if tree else root
    prefix = "" if top == root else root.relative_to(top).as_posix() + "/"
    manager = _filters_without_git(top, tree)
    tracked = _tracked_without_git(tree, prefix) if tree else frozenset()
    tracked_folders = _folders_of(tracked)
    return Rules(
        enters=lambda path: path in tracked_folders or not manager.may_prune_directory(f"{prefix}{path}/"),
        takes=lambda path: path in tracked or not manager.is_ignored(prefix + path),
        lasting=False,
    )


def _filters_without_git(top: Path, tree: WorkTree | None) -> IgnoreFilterManager:
    """The .gitignore files below `top`, the repository's info/exclude, and the user's own ignore file."""
    from dulwich.config import StackedConfig
    from dulwich.ignore import IgnoreFilter, IgnoreFilterManager, default_user_ignore_filter_path

    places = [Path(os.path.expanduser(default_user_ignore_filter_path(StackedConfig.default())))]
    if tree:
        places.insert(0, tree.common_dir / "info" / "exclude")
    filters = [IgnoreFilter.from_path(place) for place in places if os.path.isfile(place)]
    return IgnoreFilterManager(os.fspath(top), filters, False)


def _tracked_without_git(repository: WorkTree, prefix: str) -> frozenset[str]:
    """Paths below `prefix` that the index of the work tree names, relative to it."""
    from dulwich.index import Index

    path = repository.git_dir / "index"
    if not os.path.isfile(path):
        return frozenset()
    names = (os.fsdecode(name) for name in Index(path))
    return frozenset(name.removeprefix(prefix) for name in names if name.startswith(prefix))


def _folders_of(paths: Iterable[str]) -> set[str]:
    folders: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return folders


def composed(text: str) -> str:
    """NFC, so that a pattern fits a name whichever way the file system spells it."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)
