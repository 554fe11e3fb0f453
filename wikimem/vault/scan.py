"""Which pages a vault has: every Markdown file that git does not ignore and the vault does not exclude.

One walk of the disk finds the files and everything odd beside them; git (without git: dulwich's reading of the same
rules) says what is ignored. Symbolic links below the root never yield a page: writing one would replace the link,
and what it leads to is a page of its own where it lies in the vault.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wikimem.errors import Damaged, NotFound, Refused, Unavailable
from wikimem.model.page import FileStat, Problem
from wikimem.vault.gitcommand import run_git
from wikimem.vault.layout import is_page_name
from wikimem.vault.names import folded
from wikimem.vault.project import WorkTree, find_work_tree

if TYPE_CHECKING:
    from dulwich.ignore import IgnoreFilter, IgnoreFilterManager

MAX_PAGE_BYTES: Final = 10_000_000
"""A larger file is a log or a dump with the ending of a page; it would be most of the index."""

IGNORE_FILE: Final = ".wikimemignore"
_MAX_IGNORE_BYTES: Final = 256_000
_LIST_TIMEOUT_S: Final = 600
_UNOPENED: Final = re.compile(rb"could not open directory '(.+?)/?': ")


@dataclass(frozen=True, slots=True)
class Scan:
    """What is on the disk. `files` maps a page's path, spelled as on disk, to its stat.

    `skipped` says what was passed over and why. `unread` are folders (and files) that could not be read: what an
    earlier scan found there is not gone.
    """

    files: dict[str, FileStat]
    skipped: tuple[Problem, ...] = ()
    unread: tuple[str, ...] = ()

    def is_unread(self, path: str) -> bool:
        """Whether nothing can be said about `path`, because it or a folder above it could not be read."""
        return any(path == place or path.startswith(f"{place}/") for place in self.unread)


def scan(root: Path, exclude: Sequence[str] = (), *, max_bytes: int = MAX_PAGE_BYTES) -> Scan:
    """Walk the vault at `root` (which may be a symbolic link) and list its pages.

    `exclude` are patterns as in a .gitignore, from the root; a file `.wikimemignore` there adds to them. They hold
    for tracked pages too. Hidden files and folders, nested repositories and submodules are not entered. NotFound
    where the root is no folder, Unavailable where it cannot be read, Damaged where git cannot read its own index.
    """
    walk = _Walk(Path(os.path.realpath(root)), max_bytes)
    if not os.path.isdir(walk.root):
        raise NotFound(f"the vault's folder {root} is not there", hint="Is the drive mounted, or was it moved?")
    if not os.access(walk.root, os.R_OK | os.X_OK):
        raise Unavailable(f"cannot read the vault's folder {walk.root}", hint="Check its permissions.")
    walk.excluded = _exclude_rules(walk, exclude)
    walk.git = _git_rules(walk)
    walk.run()
    return Scan(
        files=dict(sorted(walk.files.items())),
        skipped=tuple(sorted(walk.problems, key=lambda problem: (problem.path, problem.rule))),
        unread=tuple(sorted(walk.unread)),
    )


def why_overlooked(root: Path, path: str, exclude: Sequence[str] = ()) -> str:
    """Why `scan` would not find a page that was put at `path`, in words; empty where it would."""
    walk = _Walk(Path(os.path.realpath(root)), MAX_PAGE_BYTES)
    excluded = _exclude_rules(walk, exclude)
    folder = ""
    for part in path.split("/")[:-1]:
        folder = f"{folder}/{part}" if folder else part
        if not excluded.enters(folder):
            return f"'{folder}' is excluded from the vault"
        if os.path.lexists(walk.root / folder / ".git"):
            return f"'{folder}' is a git repository of its own"
    if not excluded.takes(path):
        return "it is excluded from the vault"
    try:
        # The dot keeps a name that begins with a colon from being read as magic.
        literal = {"GIT_LITERAL_PATHSPECS": "0"}
        done = run_git(walk.root, "check-ignore", "-q", "--", f"./{path}", env=literal, check=False)
        ignored = done.returncode == 0
    except (Unavailable, NotFound, Refused):
        ignored = not _rules_without_git(walk).takes(path)
    return "git ignores it" if ignored else ""


@dataclass(frozen=True, slots=True)
class _Rules:
    """Answers for paths relative to the root: may a folder hold pages, is a file one of them."""

    enters: Callable[[str], bool]
    takes: Callable[[str], bool]


_EVERYTHING: Final = _Rules(lambda _: True, lambda _: True)


@dataclass(slots=True)
class _Walk:
    root: Path
    max_bytes: int
    git: _Rules = _EVERYTHING
    excluded: _Rules = _EVERYTHING
    files: dict[str, FileStat] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unread: set[str] = field(default_factory=set)

    def run(self) -> None:
        folders = [""]
        while folders:
            folder = folders.pop()
            entries = self.list_folder(folder)
            if folder and any(entry.name == ".git" for entry in entries):
                self.report("nested-repository", folder, "a git repository of its own; its pages are not indexed")
                continue
            for entry in entries:
                path = f"{folder}/{entry.name}" if folder else entry.name
                if entry.name.startswith("."):
                    continue
                if entry.is_symlink():
                    self.links.append(path)
                elif entry.is_dir(follow_symlinks=False):
                    if self.git.enters(path) and self.excluded.enters(path) and self.has_fit_name(path, is_folder=True):
                        folders.append(path)
                elif is_page_name(entry.name):
                    self.look_at(path, entry)
        # After all pages are known: a link to one of them is no loss.
        for path in self.links:
            self.look_at_link(path)

    def list_folder(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self.root / folder) as listing:
                return list(listing)
        except OSError as error:
            if not folder:
                raise Unavailable(
                    f"cannot read the vault's folder {self.root}: {error.strerror}", hint="Is the drive still there?"
                ) from error
            if not isinstance(error, FileNotFoundError):  # removed since its parent was listed
                self.report_unread(folder, error)
            return []

    def look_at(self, path: str, entry: os.DirEntry[str]) -> None:
        try:
            seen = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return  # removed since its folder was listed
        except OSError as error:
            self.report_unread(path, error)
            return
        regular = stat.S_ISREG(seen.st_mode)
        # git lists regular files only, so it cannot be asked about a FIFO.
        if not self.excluded.takes(path) or (regular and not self.git.takes(path)):
            return
        if not self.has_fit_name(path, is_folder=False):
            return
        if not regular:
            self.report("not-a-file", path, "named like a page, but not a regular file")
        elif seen.st_size > self.max_bytes:
            size = f"{seen.st_size / 1e6:.1f} MB"
            self.report("too-large", path, f"{size}; pages larger than {self.max_bytes / 1e6:g} MB are not indexed")
        elif not _is_readable(entry.path, seen):
            self.report_unread(path, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
        else:
            self.files[path] = FileStat(seen.st_size, seen.st_mtime_ns, seen.st_ino)

    def look_at_link(self, path: str) -> None:
        """Report a link where a page may be missed through it: it leaves the vault, loops, or leads to no page."""
        if not self.excluded.takes(path) or not self.git.takes(path):
            return
        named_page = is_page_name(path)
        try:
            target = Path(os.path.realpath(self.root / path, strict=True))
            is_folder = target.is_dir()
        except OSError as error:
            if named_page or error.errno == errno.ELOOP:
                why = "leads in a circle" if error.errno == errno.ELOOP else "leads nowhere"
                self.report("broken-symlink", path, f"a symbolic link that {why}")
            return
        if not is_folder and not named_page:
            return
        inside = target.is_relative_to(self.root)
        if not inside:
            self.report("link-leaves-vault", path, "a symbolic link that leaves the vault; it is not followed")
        elif not is_folder and target.relative_to(self.root).as_posix() not in self.files:
            self.report("symlink", path, "a symbolic link to a file of the vault that is not a page")

    def has_fit_name(self, path: str, *, is_folder: bool) -> bool:
        name = path.rpartition("/")[2]
        if name.isascii() and name.isprintable():
            return True
        thing = "a folder" if is_folder else "a page"
        try:
            name.encode("utf-8")
        except UnicodeEncodeError:
            self.report("file-name", path, f"{thing} whose name is not UTF-8")
            return False
        if any(unicodedata.category(char) in ("Cc", "Zl", "Zp") for char in name):
            self.report("file-name", path, f"{thing} whose name holds a control character")
            return False
        return True

    def report_unread(self, path: str, error: OSError) -> None:
        self.unread.add(path)
        self.report("unreadable", path, f"cannot be read: {error.strerror}")

    def report(self, rule: str, path: str, message: str) -> None:
        self.problems.append(Problem(rule=rule, path=_printable(path), message=message))


def _exclude_rules(walk: _Walk, exclude: Sequence[str]) -> _Rules:
    """Rules from the settings and from `.wikimemignore`; the later and more exact of two patterns wins, as in git."""
    lines = [pattern.encode("utf-8", "surrogateescape") for pattern in exclude]
    path = walk.root / IGNORE_FILE
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                lines += file.read(_MAX_IGNORE_BYTES).removeprefix(b"\xef\xbb\xbf").splitlines()
            else:
                walk.report("unreadable", IGNORE_FILE, "not a regular file, so its patterns do not hold")
    except FileNotFoundError:
        pass
    except OSError as error:
        walk.report("unreadable", IGNORE_FILE, f"cannot be read, so its patterns do not hold: {error.strerror}")
    if not any(line.strip() and not line.startswith(b"#") for line in lines):
        return _EVERYTHING
    from dulwich.ignore import IgnoreFilter, read_ignore_patterns  # heavy, and most vaults have no pattern

    composed = [_composed(line.decode("utf-8", "surrogateescape")) for line in lines]
    rules = IgnoreFilter(read_ignore_patterns(iter(os.fsencode(line) for line in composed)))  # type: ignore[arg-type]
    return _Rules(
        enters=lambda path: not _is_ignored(rules, path, is_folder=True),
        takes=lambda path: not _is_ignored(rules, path, is_folder=False),
    )


def _is_ignored(rules: IgnoreFilter, path: str, *, is_folder: bool) -> bool:
    """Whether the last pattern that fits ignores `path`; its folders were asked about before it."""
    name = os.fsencode(_composed(path))
    decisive = next((pattern for pattern in reversed(rules.patterns) if pattern.matches(name, is_folder)), None)
    return decisive is not None and decisive.is_exclude


def _git_rules(walk: _Walk) -> _Rules:
    try:
        done = run_git(
            walk.root,
            *("ls-files", "-z", "--cached", "--others", "--exclude-standard"),
            timeout_s=_LIST_TIMEOUT_S,
        )
    except Refused as error:
        walk.report("git-ownership", "", f"{error.message}; {error.hint}")
        return _rules_without_git(walk)
    except (Unavailable, NotFound):
        return _rules_without_git(walk)
    names = {os.fsdecode(name) for name in done.stdout.split(b"\0") if name}
    listed = {name for name in names if not name.endswith("/")}
    # Entered to be reported: a nested repository is listed with a slash, and what git could not open it names.
    barred = {name.rstrip("/") for name in names - listed}
    barred |= {os.fsdecode(match[1]) for match in _UNOPENED.finditer(done.stderr)}
    tree = find_work_tree(walk.root)
    if not listed and tree is not None and ignored_around(tree, walk.root):
        walk.report("ignored-vault", "", "the repository around the vault ignores its folder, so no page is seen")
    pages = _Names(walk.root, listed)
    # A submodule is listed like a file.
    folders = _Names(walk.root, _folders_of(listed) | barred | _folders_of(barred) | listed)
    return _Rules(enters=folders.__contains__, takes=pages.__contains__)


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


def _rules_without_git(walk: _Walk) -> _Rules:
    """git's rules as dulwich reads them; tracked files are kept whatever the rules say."""
    tree = find_work_tree(walk.root)
    top = tree.top if tree else walk.root
    prefix = "" if top == walk.root else walk.root.relative_to(top).as_posix() + "/"
    manager = _filters_without_git(top, tree)
    tracked = _tracked_without_git(tree, prefix) if tree else frozenset()
    tracked_folders = _folders_of(tracked)
    return _Rules(
        enters=lambda path: path in tracked_folders or not manager.may_prune_directory(f"{prefix}{path}/"),
        takes=lambda path: path in tracked or not manager.is_ignored(prefix + path),
    )


def _filters_without_git(top: Path, tree: WorkTree | None) -> IgnoreFilterManager:
    """The .gitignore files below `top`, the repository's info/exclude, and the user's own ignore file."""
    from dulwich.config import StackedConfig
    from dulwich.ignore import IgnoreFilter, IgnoreFilterManager, default_user_ignore_filter_path

    places = [Path(default_user_ignore_filter_path(StackedConfig.default())).expanduser()]
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


def _is_readable(path: str, seen: os.stat_result) -> bool:
    # The mode answers for one's own files, nearly all of them, without another system call.
    if seen.st_uid == os.geteuid() and seen.st_mode & stat.S_IRUSR:
        return True
    return os.access(path, os.R_OK)


def _composed(text: str) -> str:
    """NFC, so that a pattern fits a name whichever way the file system spells it."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _printable(path: str) -> str:
    shown = os.fsencode(path).decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in shown)
