"""The git repository under a vault: what HEAD and the index say of a path, objects, and moving the branch.

Objects and trees are written with dulwich, whose cost follows the change and not the vault. The index and the ref
go through `git` where it is installed: that is much faster on a large index, and writes the reflogs that people
expect; dulwich does both where git is missing.
"""

from __future__ import annotations

import getpass
import os
import re
import shutil
import socket
import stat
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final, cast

from dulwich.file import FileLocked
from dulwich.index import IndexEntry
from dulwich.object_store import BaseObjectStore, commit_tree_changes, tree_lookup_path
from dulwich.objects import Blob, Commit, ObjectID, Tree
from dulwich.refs import Ref
from msgspec import Struct

from wikimem.errors import Conflict, Damaged, NotFound, Unavailable
from wikimem.vault.attributes import Attributes
from wikimem.vault.gitcommand import failure, run_git
from wikimem.vault.kinds import find_top, flag, is_partial, open_repo, remarks
from wikimem.vault.objects import ObjectWriter

FILE_MODE = 0o100644
PROGRAM_MODE = 0o100755
HEAD = Ref(b"HEAD")
INDEX_WAIT_S = 15.0
"""How long to wait while another git holds `.git/index.lock`; a commit of a person's with hooks takes seconds."""

_OPERATIONS = {
    "MERGE_HEAD": "merge",
    "rebase-merge": "rebase",
    "rebase-apply/applying": "git am",
    "rebase-apply": "rebase",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "sequencer": "cherry-pick or revert",
    "BISECT_LOG": "bisect",
}
"""What git leaves in its folder while an operation is under way. `sequencer` is there between two commits of one."""

_ASSUME_UNCHANGED = 0x8000
_SKIP_WORKTREE = 0x4000
"""Bits of an index entry's flags and of its extended flags (gitformat-index(5))."""


class Person(Struct, frozen=True):
    """A name and an address as git wants them."""

    name: str
    email: str

    def __bytes__(self) -> bytes:
        return f"{_clean(self.name)} <{_clean(self.email)}>".encode()


_OBJECT_NAME: Final = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")


class Entry(Struct, frozen=True):
    """What a tree or the index holds at a path.

    `hidden` names the flag of an index entry by which a person keeps git from looking at the file: `assume-unchanged`
    or `skip-worktree`.
    """

    mode: int
    blob: bytes
    hidden: str = ""


class Repository:
    """A repository with a work tree; the vault is its whole tree or the subtree at `prefix`."""

    def __init__(self, root: Path) -> None:
        """Open the repository that `root` lies in. Raises NotFound without one, Refused for kinds not supported."""
        self.root = root
        self.top = find_top(root)
        self._repo = open_repo(self.top)
        self.git_dir = Path(os.fsdecode(self._repo.controldir()))
        self.common_dir = Path(os.fsdecode(self._repo.commondir()))
        self._writer = ObjectWriter(self._repo.object_store)
        relative = root.relative_to(self.top).as_posix()
        self.prefix = "" if relative == "." else relative + "/"
        self.has_git = shutil.which("git") is not None

    def close(self) -> None:
        self._repo.close()

    def check(self) -> None:
        """Raise, by name, whatever would keep git itself from working here: Refused for an owner that it does not
        trust or an extension that it does not know, Damaged otherwise. Says nothing where git is not installed."""
        if self.has_git:
            run_git(self.top, "rev-parse", "--is-inside-work-tree")

    def remarks(self) -> tuple[str, ...]:
        """What a person may expect of every commit here and does not get from wikimem's."""
        return remarks(self._repo, self.top)

    @property
    def lock_path(self) -> Path:
        return self.common_dir / "wikimem.lock"

    # State

    def head(self) -> bytes | None:
        """The commit that HEAD names, in hex; None before the first commit."""
        try:
            return bytes(self._repo.refs[HEAD])
        except KeyError:
            return None

    def branch(self) -> str | None:
        """The branch that HEAD is on, even one without commits; None where HEAD is detached."""
        target = self._repo.refs.read_ref(HEAD) or b""
        if not target.startswith(b"ref: refs/heads/"):
            return None
        return target.removeprefix(b"ref: refs/heads/").decode("utf-8", "surrogateescape").strip()

    def operation(self) -> str | None:
        """The git operation under way that a commit would disturb: merge, rebase, ..., or a detached HEAD."""
        for name, operation in _OPERATIONS.items():
            if (self.git_dir / name).exists():
                return operation
        return None if self.branch() is not None else "detached HEAD"

    def person(self) -> Person:
        """The git user of this repository, or this machine's user where git knows none."""
        config = self._repo.get_config_stack()
        found: list[str] = []
        for key in (b"name", b"email"):
            try:
                found.append(config.get((b"user",), key).decode("utf-8", "replace").strip())
            except KeyError:
                found.append("")
        try:
            user = getpass.getuser()
        except (KeyError, OSError):
            user = f"user-{os.geteuid()}"  # a container's user often has no entry in the list of users
        return Person(found[0] or user, found[1] or f"{user}@{socket.gethostname()}")

    # Reading

    def head_entries(self, paths: Sequence[str], commit: bytes | None = None) -> dict[str, Entry | None]:
        """What `commit` (default HEAD) holds at each vault path."""
        commit = commit if commit is not None else self.head()
        if commit is None:
            return dict.fromkeys(paths)
        tree = self._commit(commit).tree
        return {path: self._lookup(tree, path) for path in paths}

    def index_entries(self, paths: Sequence[str]) -> dict[str, Entry | None]:
        """What git's index holds at each vault path. Raises Conflict for a path with unmerged stages.

        A page that was only announced (`git add -N`) is not in the index yet.
        """
        found: dict[str, Entry | None] = dict.fromkeys(paths)
        if not self.has_git:
            index = self._repo.open_index()
            for path in paths:
                name = self._git_path(path)
                entry = index[name] if name in index else None  # noqa: SIM401 - it has no get
                if isinstance(entry, IndexEntry):
                    skipped = "skip-worktree" if entry.extended_flags & _SKIP_WORKTREE else ""
                    assumed = "assume-unchanged" if entry.flags & _ASSUME_UNCHANGED else ""
                    found[path] = Entry(entry.mode, bytes(entry.sha), skipped or assumed)
                elif entry is not None:
                    raise _unmerged(path)
            return found
        by_git_path = {self._git_path(path): path for path in paths}
        names = [os.fsdecode(name) for name in by_git_path]
        listed = run_git(self.top, "ls-files", "-z", "--stage", "-v", "--", *names).stdout
        for record in filter(None, listed.split(b"\0")):
            info, _, name = record.partition(b"\t")
            tag, mode, blob, stage = info.split(b" ")
            if name not in by_git_path:
                continue
            if stage != b"0":
                raise _unmerged(by_git_path[name])
            # The tag is S for skip-worktree, and in lower case for assume-unchanged.
            hidden = "skip-worktree" if tag.upper() == b"S" else "assume-unchanged" if tag.islower() else ""
            found[by_git_path[name]] = Entry(int(mode, 8), blob, hidden)
        self._drop_announced(found)
        return found

    def blob(self, blob: bytes) -> bytes:
        """The bytes of a blob as git stores them. Raises Damaged where it is missing, Unavailable where it was not
        fetched into a partial clone."""
        try:
            found = self._repo.object_store[ObjectID(blob)]
        except KeyError as error:
            if is_partial(self._repo):
                raise Unavailable(
                    f"this is a partial clone, and git object {blob.decode()} has not been fetched yet",
                    hint=f"Run `git -C {self.top} cat-file -p {blob.decode()}`, which fetches it, then try again.",
                ) from error
            raise Damaged(
                f"git object {blob.decode()} is missing", hint="Run `git fsck`, or fetch from a remote."
            ) from error
        return bytes(found.as_raw_string())

    def file_bytes(self, path: str, blob: bytes) -> bytes:
        """The bytes that git would check out for a blob at `path`: line endings, encoding and filters applied.

        Raises what `blob` raises, and Refused where a filter fails.
        """
        stored = self.blob(blob)
        converted = self._attributes.checked_out(os.fsdecode(self._git_path(path)), blob)
        return stored if converted is None else converted

    def resolve(self, revision: str) -> bytes:
        """The commit that a revision names (anything git resolves). Raises NotFound."""
        if revision.startswith("-"):
            raise NotFound(f"no revision '{revision}'", hint="Name a commit, a branch or a tag.")
        if not self.has_git:
            raise Unavailable("naming a revision needs git", hint="Install git.")
        # In two steps: `:/text` takes whatever follows into its text, and `^HEAD` is no commit.
        found = revision
        for peeled in ("", "^{commit}"):
            asked = run_git(self.top, "rev-parse", "--verify", "--quiet", found + peeled, check=False)
            found = asked.stdout.strip().decode("ascii", "replace")
            if asked.returncode != 0 or not _OBJECT_NAME.fullmatch(found):
                raise NotFound(f"no revision '{revision}'", hint="See `wikimem log` for the commits of the vault.")
        return found.encode()

    def commit_before(self, moment: datetime) -> bytes:
        """The last first-parent commit with a committer time at or before `moment` (local). Raises NotFound."""
        limit = int(moment.timestamp())
        commit = self.head()
        while commit is not None:
            if self._commit(commit).commit_time <= limit:
                return commit
            commit = self._first_parent(commit)
        hint = "Run `git fetch --unshallow` for all of history." if self._repo.get_shallow() else "See `wikimem log`."
        raise NotFound(f"the vault has no commit at or before {moment:%Y-%m-%d %H:%M}", hint=hint)

    def time_of(self, commit: bytes) -> datetime:
        """When a commit was made (local, naive), by its committer's clock."""
        return datetime.fromtimestamp(self._commit(commit).commit_time)

    def contains(self, ancestor: bytes, within: int = 200) -> bool:
        """Whether `ancestor` is on a branch: among the last `within` first-parent commits of HEAD, or, as git can say,
        anywhere (somebody may have merged it, or switched to another branch since)."""
        commit = self.head()
        for _ in range(within):
            if commit is None or commit == ancestor:
                break
            commit = self._first_parent(commit)
        if commit == ancestor or not self.has_git or ObjectID(ancestor) not in self._repo.object_store:
            return commit == ancestor
        return bool(run_git(self.top, "for-each-ref", "--count=1", "--contains", ancestor.decode()).stdout)

    # Writing: objects, index, commit, ref

    def blob_id(self, path: str, data: bytes, *, write: bool = False) -> bytes:
        """The id of the blob that git would store for these work-tree bytes at `path`, written where asked."""
        stored = self._attributes.stored(os.fsdecode(self._git_path(path)), data, write=write)
        if stored is not None:
            return stored
        blob = Blob.from_string(data)
        if write:
            self._writer.add_object(blob)
        return bytes(blob.get_id(self._repo.object_format))

    def new_mode(self, path: str) -> int:
        """The mode that `git add` would give to the file at `path`, which git does not know yet."""
        if not flag(self._repo, "core", "filemode", default=True):
            return FILE_MODE
        try:
            mode = os.stat(self.root / path).st_mode
        except OSError:
            return FILE_MODE
        return PROGRAM_MODE if mode & stat.S_IXUSR else FILE_MODE

    def put_index(self, entries: Mapping[str, Entry | None]) -> None:
        """Enter these paths in git's index, None removing; no other entry is touched. Waits for index.lock."""
        if not self.has_git:
            self._put_index_without_git(entries)
            return
        zero = b"0" * len(self._zero_id())
        lines = b"".join(
            (b"%06o %s\t" % (entry.mode, entry.blob) if entry else b"0 " + zero + b"\t") + self._git_path(path) + b"\0"
            for path, entry in entries.items()
        )
        deadline = time.monotonic() + INDEX_WAIT_S
        pause = 0.01
        while True:
            try:
                run_git(self.top, "update-index", "-z", "--index-info", stdin=lines)
                return
            except Conflict as error:
                if time.monotonic() > deadline:
                    raise Conflict(
                        error.message.partition("\n")[0], hint=_lock_hint(self.git_dir / "index.lock")
                    ) from error
            time.sleep(pause)
            pause = min(pause * 1.6, 0.25)

    def make_commit(
        self, parent: bytes | None, changes: Mapping[str, Entry | None], message: str, author: Person, when: datetime
    ) -> bytes:
        """Write the trees and the commit that apply `changes` on top of `parent`, and return the commit's id."""
        store = self._writer
        tree_id: ObjectID | Tree = self._commit(parent).tree if parent else Tree()
        listed: list[tuple[bytes, int | None, ObjectID | None]] = []
        for path, entry in changes.items():
            if entry is not None:
                listed.append((self._git_path(path), entry.mode, ObjectID(entry.blob)))
            elif parent and self._lookup(self._commit(parent).tree, path) is not None:
                listed.append((self._git_path(path), None, None))
        if isinstance(tree_id, Tree):
            store.add_object(tree_id)
            tree_id = ObjectID(tree_id.get_id(self._repo.object_format))
        commit = Commit()
        commit.tree = commit_tree_changes(cast(BaseObjectStore, store), tree_id, listed) if listed else tree_id
        commit.parents = [ObjectID(parent)] if parent else []
        commit.author, commit.committer = bytes(author), bytes(self.person())
        commit.author_time = commit.commit_time = int(when.timestamp())
        offset = when.astimezone().utcoffset()
        commit.author_timezone = commit.commit_timezone = int(offset.total_seconds()) if offset else 0
        commit.message = message.encode()
        commit.encoding = None
        store.add_object(commit)
        return bytes(commit.get_id(self._repo.object_format))

    def move_head(self, old: bytes | None, new: bytes, reason: str) -> bool:
        """Move the current branch from `old` to `new`; False where somebody moved it first (compare-and-swap).

        Waits for the locks of HEAD and of the branch. Raises Conflict, naming the lock, where one stays.
        """
        expected = (old or self._zero_id()).decode()
        deadline = time.monotonic() + INDEX_WAIT_S
        while self.has_git:
            moved = run_git(self.top, "update-ref", "-m", reason, "HEAD", new.decode(), expected, check=False)
            if moved.returncode == 0:
                return True
            if self.head() != old:
                return False
            error = failure(self.top, "update-ref", moved)
            if not isinstance(error, Conflict):
                raise error
            held = re.search(rb"'([^']+\.lock)': File exists", moved.stderr)
            if held and time.monotonic() > deadline:
                raise Conflict(error.message, hint=_lock_hint(self.top / os.fsdecode(held[1])))
            time.sleep(0.05)
            if not held:
                return False
        while True:
            try:
                if old is None:
                    return bool(self._repo.refs.add_if_new(HEAD, ObjectID(new), message=reason.encode()))
                return bool(self._repo.refs.set_if_equals(HEAD, ObjectID(old), ObjectID(new), message=reason.encode()))
            except FileLocked as error:
                _wait_for_lock(error, deadline)

    # Inside

    def _commit(self, commit: bytes) -> Commit:
        try:
            found = self._repo.object_store[ObjectID(commit)]
        except KeyError as error:
            raise Damaged(f"commit {commit.decode()} is missing", hint="Run `git fsck`.") from error
        if not isinstance(found, Commit):
            raise Damaged(f"{commit.decode()} is no commit", hint="Run `git fsck`.")
        return found

    def _first_parent(self, commit: bytes) -> bytes | None:
        """None where history begins, in a shallow clone where it is cut off."""
        parents = self._commit(commit).parents if ObjectID(commit) not in self._repo.get_shallow() else ()
        return bytes(parents[0]) if parents else None

    def _lookup(self, tree: ObjectID, path: str) -> Entry | None:
        try:
            mode, blob = tree_lookup_path(self._repo.object_store.__getitem__, tree, self._git_path(path))
        except (KeyError, NotADirectoryError):
            return None
        return None if stat.S_ISDIR(mode) else Entry(mode, bytes(blob))

    def _git_path(self, path: str) -> bytes:
        return os.fsencode(self.prefix + path)

    def _zero_id(self) -> bytes:
        return b"0" * (self._repo.object_format.hex_length)

    def _drop_announced(self, found: dict[str, Entry | None]) -> None:
        """Take out entries of `git add -N`: they hold the empty blob, and HEAD has nothing at their path."""
        empty = bytes(Blob.from_string(b"").get_id(self._repo.object_format))
        paths = [path for path, entry in found.items() if entry is not None and entry.blob == empty]
        for path, entry in self.head_entries(paths).items() if paths else ():
            if entry is None:
                found[path] = None

    @property
    def _attributes(self) -> Attributes:
        return Attributes(self.top, self.common_dir, self.has_git, flag(self._repo, "core", "autocrlf"))

    def _put_index_without_git(self, entries: Mapping[str, Entry | None]) -> None:
        deadline = time.monotonic() + INDEX_WAIT_S
        while True:
            index = self._repo.open_index()
            for path, entry in entries.items():
                name = self._git_path(path)
                if entry is None:
                    if name in index:
                        del index[name]
                    continue
                index[name] = IndexEntry(0, 0, 0, 0, entry.mode, 0, 0, 0, ObjectID(entry.blob))
            try:
                index.write()
                return
            except FileLocked as error:
                _wait_for_lock(error, deadline)


def _wait_for_lock(error: FileLocked, deadline: float) -> None:
    """A short while; Conflict, naming the lock, after `deadline`."""
    lock = Path(os.fsdecode(error.lockfilename))
    if time.monotonic() > deadline:
        raise Conflict(f"another git holds '{lock}'", hint=_lock_hint(lock)) from error
    time.sleep(0.05)


def _lock_hint(lock: Path) -> str:
    try:
        age = time.time() - lock.stat().st_mtime
    except OSError:
        return "Try again."
    return f"'{lock}' is {age:.0f} seconds old. If no git process is running there, remove that file and try again."


def _unmerged(path: str) -> Conflict:
    return Conflict(
        f"'{path}' has an unresolved merge conflict in git's index",
        hint="Resolve it (`git status` shows how), then try again.",
    )


def _clean(text: str) -> str:
    return "".join(" " if char in "<>\r\n\0" else char for char in text).strip() or "unknown"
