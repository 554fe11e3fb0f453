"""Which pages a vault has: every Markdown file that git does not ignore and the vault does not exclude.

One walk of the disk finds the files and everything odd beside them; git (without git: dulwich's reading of the same
rules) says what is ignored. Symbolic links below the root never yield a page: writing one would replace the link,
and what it leads to is a page of its own where it lies in the vault.
"""

from __future__ import annotations

import errno
import os
import stat
import time
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from msgspec import Struct

from wikimem.errors import NotFound, Refused, Unavailable, WikimemError
from wikimem.model.page import FileStat, Problem
from wikimem.vault.gitcommand import run_git
from wikimem.vault.layout import is_page_name
from wikimem.vault.pagerules import (
    IGNORE_FILE,
    Rules,
    exclude_rules,
    git_index_of,
    git_rules,
    ignored_folders,
    ignores_all,
    lists_tracked_but_ignored,
    places_of_git_rules,
    rules_without_git,
)
from wikimem.vault.standing import Stamp, Standing, stamp_of, stamps_of, standing_from, standing_of

MAX_PAGE_BYTES: Final = 10_000_000
"""A larger file is a log or a dump with the ending of a page; it would be most of the index."""

_KIND_AND_READ: Final = 0o170_000 | stat.S_IRUSR


class Scan(Struct, frozen=True):
    """What is on the disk. `files` maps a page's path, spelled as on disk, to its stat.

    `skipped` says what was passed over and why. `unread` are folders (and files) that could not be read: what an
    earlier scan found there is not gone. `standing` keeps what was decided about names, for the next scan. `only` are
    the paths that were looked at where not the whole vault was.
    """

    files: dict[str, FileStat]
    skipped: tuple[Problem, ...] = ()
    unread: tuple[str, ...] = ()
    standing: str = ""
    only: frozenset[str] | None = None

    def is_unread(self, path: str) -> bool:
        """Whether nothing can be said about `path`, because it or a folder above it could not be read."""
        return any(path == place or path.startswith(f"{place}/") for place in self.unread)


def scan(
    root: Path,
    exclude: Sequence[str] = (),
    *,
    max_bytes: int = MAX_PAGE_BYTES,
    known: Mapping[str, FileStat] | None = None,
    standing: str = "",
) -> Scan:
    """Walk the vault at `root` (which may be a symbolic link) and list its pages.

    `exclude` are patterns as in a .gitignore, from the root; a file `.wikimemignore` there adds to them. They hold
    for tracked pages too. Hidden files and folders, nested repositories and submodules are not entered. NotFound
    where the root is no folder, Unavailable where it cannot be read, Damaged where git cannot read its own index.

    `known` are the pages that an earlier scan found and `standing` what it decided: while that stands, git is asked
    only where a name is new. The result is the same without them.
    """
    top = Path(os.path.realpath(root))
    walk = _Walk(top, exclude, max_bytes)
    if not os.path.isdir(top):
        raise NotFound(f"the vault's folder {root} is not there", hint="Is the drive mounted, or was it moved?")
    if not os.access(top, os.R_OK | os.X_OK):
        raise Unavailable(f"cannot read the vault's folder {top}", hint="Check its permissions.")
    if known:
        walk.known, walk.standing = known, standing_from(standing, exclude)
    if walk.standing is None:
        _ = walk.git  # a repository that git cannot read is refused even where the vault is empty
    walk.run()
    return Scan(
        files=dict(sorted(walk.files.items())),
        skipped=tuple(sorted(walk.problems, key=lambda problem: (problem.path, problem.rule))),
        unread=tuple(sorted(walk.unread)),
        standing=walk.now_standing(),
    )


def look_at(root: Path, paths: Collection[str], known: Mapping[str, FileStat]) -> Scan | None:
    """What became of `paths`, in a vault whose pages were `known`; None where only a scan of the whole can tell.

    That is so for a page of a new name, since git may ignore it, and for the lists that say what is ignored.
    """
    files: dict[str, FileStat] = {}
    for path in paths:
        name = path.rpartition("/")[2]
        if name in (".gitignore", IGNORE_FILE):
            return None
        try:
            seen = os.lstat(root / path)
        except FileNotFoundError:
            continue
        except OSError:
            return None
        if path not in known:
            if is_page_name(name) and not any(part.startswith(".") for part in path.split("/")):
                return None
            continue
        if not stat.S_ISREG(seen.st_mode) or seen.st_size > MAX_PAGE_BYTES or not _is_readable(str(root / path), seen):
            return None
        files[path] = FileStat(seen.st_size, seen.st_mtime_ns, seen.st_ino)
    return Scan(files, only=frozenset(paths))


def why_overlooked(root: Path, path: str, exclude: Sequence[str] = ()) -> str:
    """Why `scan` would not find a page that was put at `path`, in words; empty where it would."""
    top = Path(os.path.realpath(root))
    excluded = exclude_rules(top, exclude, lambda *_: None)
    folder = ""
    for part in path.split("/")[:-1]:
        folder = f"{folder}/{part}" if folder else part
        if not excluded.enters(folder):
            return f"'{folder}' is excluded from the vault"
        if os.path.lexists(top / folder / ".git"):
            return f"'{folder}' is a git repository of its own"
    if not excluded.takes(path):
        return "it is excluded from the vault"
    try:
        # The dot keeps a name that begins with a colon from being read as magic.
        literal = {"GIT_LITERAL_PATHSPECS": "0"}
        done = run_git(top, "check-ignore", "-q", "--", f"./{path}", env=literal, check=False)
        ignored = done.returncode == 0
    except (Unavailable, NotFound, Refused):
        ignored = not rules_without_git(top).takes(path)
    return "git ignores it" if ignored else ""


@dataclass
class _Walk:
    root: Path
    exclude: Sequence[str]
    max_bytes: int
    known: Mapping[str, FileStat] = field(default_factory=dict)
    standing: Standing | None = None
    files: dict[str, FileStat] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unread: set[str] = field(default_factory=set)
    decided: dict[str, bool] = field(default_factory=dict)
    places: dict[str, Stamp] = field(default_factory=dict)
    shut: list[str] = field(default_factory=list)
    started_ns: int = field(default_factory=time.time_ns)

    def run(self) -> None:
        me = os.geteuid()
        folders = [""]
        while folders:
            folder = folders.pop()
            entries = self.list_folder(folder)
            names = {entry.name for entry in entries}
            if folder and ".git" in names:
                self.report("nested-repository", folder, "a git repository of its own; its pages are not indexed")
                continue
            if ".gitignore" in names:
                self.look_at_ignore_file(os.path.join(self.root, folder, ".gitignore"))
            prefix = f"{folder}/" if folder else ""
            for entry in entries:
                path = prefix + entry.name
                known = self.known.get(path) if self.standing else None
                if known is not None and _is_as_known(entry, known, me):
                    self.files[path] = known
                    continue
                if entry.name.startswith("."):
                    continue
                if entry.is_symlink():
                    self.links.append(path)
                elif entry.is_dir(follow_symlinks=False):
                    if self.enters(path) and self.has_fit_name(path, is_folder=True):
                        folders.append(path)
                elif is_page_name(entry.name):
                    self.look_at(path, entry)
        # After all pages are known: a link to one of them is no loss.
        for path in self.links:
            self.look_at_link(path)

    # What is decided about names

    def look_at_ignore_file(self, path: str) -> None:
        """A list that is new, or not as it was, may decide otherwise about everything below its folder."""
        self.places[path] = stamp_of(path)
        if self.standing and not self.standing.stands(path):
            self.standing = None

    @cached_property
    def excluded(self) -> Rules:
        self.places |= stamps_of([self.root / IGNORE_FILE])
        return exclude_rules(self.root, self.exclude, self.report)

    @cached_property
    def git(self) -> Rules:
        """Read when a name is met about which nothing was decided."""
        with suppress(WikimemError):  # no repository, or no git: then these rules are not lasting
            self.places |= stamps_of([*places_of_git_rules(self.root), git_index_of(self.root)])
        return git_rules(self.root, self.report)

    def decide(self, name: str, ask: Callable[[], bool]) -> bool:
        decided = self.standing.decided.get(name) if self.standing else None
        self.decided[name] = ask() if decided is None else decided
        return self.decided[name]

    def enters(self, path: str) -> bool:
        return self.decide(f"{path}/", lambda: self.excluded.enters(path) and self.git_enters(path))

    def git_enters(self, path: str) -> bool:
        enters = self.git.enters(path)
        if not enters:
            self.shut.append(path)
        return enters

    def takes(self, path: str) -> bool:
        return self.decide(path, lambda: self.excluded.takes(path) and self.git.takes(path))

    def now_standing(self) -> str:
        """What the next scan may rest on, as text; empty where it has to decide anew."""
        asked = "git" in self.__dict__
        if not asked:
            return self.standing.text if self.standing else ""
        if not (self.git.lasting and self.excluded.lasting):
            return ""
        if self.standing:
            # Some of it was decided by what the scan before looked at.
            self.places = self.standing.places | self.places
        decided = {name: taken for name, taken in self.decided.items() if name not in self.files}
        ignored = ignored_folders(self.root, self.shut)
        for folder in self.shut:
            if folder in ignored:
                continue
            # git lists nothing in there now, which may change with what is put there.
            inner = os.path.join(self.root, folder, ".gitignore")
            if not os.path.lexists(inner):
                decided[f"{folder}/"] = True
            elif ignores_all(inner):
                self.places[inner] = stamp_of(inner)
            else:
                return ""
        if all(decided.values()) and not lists_tracked_but_ignored(self.root):
            # What is tracked makes no difference then, and the index changes with every commit.
            del self.places[os.fspath(git_index_of(self.root))]
        standing = standing_of(decided, self.places, self.exclude, since_ns=self.started_ns)
        return standing.text if standing else ""

    # What is on the disk

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
        stands = self.standing is not None and path in self.known
        # git lists regular files only, so it cannot be asked about a FIFO.
        if not stands and not (self.takes(path) if regular else self.excluded.takes(path)):
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
        if not self.takes(path):
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


def _is_as_known(entry: os.DirEntry[str], known: FileStat, me: int) -> bool:
    """Whether a page is still the same file, and one that its owner `me` (a user id) can read."""
    try:
        seen = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    return (
        seen.st_mtime_ns == known.mtime_ns
        and seen.st_size == known.size
        and seen.st_ino == known.inode
        and seen.st_mode & _KIND_AND_READ == stat.S_IFREG | stat.S_IRUSR
        and seen.st_uid == me
    )


def _is_readable(path: str, seen: os.stat_result) -> bool:
    # The mode answers for one's own files, nearly all of them, without another system call.
    if seen.st_uid == os.geteuid() and seen.st_mode & stat.S_IRUSR:
        return True
    return os.access(path, os.R_OK)


def _printable(path: str) -> str:
    shown = os.fsencode(path).decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in shown)
