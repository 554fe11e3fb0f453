"""The git repository under a vault: what HEAD and the index say of a path, objects, and moving the branch.

Objects and trees are written with dulwich, whose cost follows the change and not the vault. The index and the ref
go through `git` where it is installed: that is much faster on a large index, and writes the reflogs that people
expect; dulwich does both where git is missing.
"""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import stat
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path

from dulwich.errors import NotGitRepository
from dulwich.file import FileLocked
from dulwich.index import IndexEntry
from dulwich.object_store import commit_tree_changes, tree_lookup_path
from dulwich.objects import Blob, Commit, ObjectID, Tree
from dulwich.refs import Ref
from dulwich.repo import Repo

from wikimem.errors import Conflict, Damaged, NotFound, Refused, Unavailable
from wikimem.vault.gitcommand import run_git

FILE_MODE = 0o100644
HEAD = Ref(b"HEAD")
INDEX_WAIT_S = 15.0
"""How long to wait while another git holds `.git/index.lock`; a commit of a person's with hooks takes seconds."""

_OPERATIONS = {
    "MERGE_HEAD": "merge",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "BISECT_LOG": "bisect",
}
"""What git leaves in its folder while an operation is under way."""

_CONVERTING = ("filter", "working-tree-encoding", "ident")
_LINE_ENDINGS = ("text", "eol", "crlf")


@dataclass(frozen=True, slots=True)
class Person:
    """A name and an address as git wants them."""

    name: str
    email: str

    def __bytes__(self) -> bytes:
        return f"{_clean(self.name)} <{_clean(self.email)}>".encode()


@dataclass(frozen=True, slots=True)
class Entry:
    """What a tree or the index holds at a path."""

    mode: int
    blob: bytes


class Repository:
    """A repository with a work tree; the vault is its whole tree or the subtree at `prefix`."""

    def __init__(self, root: Path) -> None:
        """Open the repository that `root` lies in. Raises NotFound without one, Refused for kinds not supported."""
        self.root = root
        self.top = _find_top(root)
        try:
            self._repo = Repo(str(self.top))
        except NotGitRepository as error:
            raise NotFound(f"'{root}' is in no git repository", hint=f"Run `wikimem init {root}`.") from error
        except (ValueError, NotImplementedError) as error:
            raise Refused(
                f"the repository at '{self.top}' has a format that wikimem does not support: {error}",
                hint="Use a repository in git's default formats (sha1 objects, files refs).",
            ) from error
        if self._repo.bare:
            raise Refused(f"'{self.top}' is a bare repository", hint="Clone it and use the clone as the vault.")
        self.git_dir = Path(os.fsdecode(self._repo.controldir()))
        self.common_dir = Path(os.fsdecode(self._repo.commondir()))
        self._repo.object_store.fsync_object_files = True
        relative = root.relative_to(self.top).as_posix()
        self.prefix = "" if relative == "." else relative + "/"
        self.has_git = shutil.which("git") is not None
        self._refuse_unsupported()

    def close(self) -> None:
        self._repo.close()

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
        user = getpass.getuser()
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
        """What git's index holds at each vault path. Raises Conflict for a path with unmerged stages."""
        found: dict[str, Entry | None] = dict.fromkeys(paths)
        if not self.has_git:
            index = self._repo.open_index()
            for path in paths:
                name = self._git_path(path)
                entry = index[name] if name in index else None  # noqa: SIM401 - it has no get
                if isinstance(entry, IndexEntry):
                    found[path] = Entry(entry.mode, bytes(entry.sha))
                elif entry is not None:
                    raise _unmerged(path)
            return found
        by_git_path = {self._git_path(path): path for path in paths}
        names = [os.fsdecode(name) for name in by_git_path]
        listed = run_git(self.top, "ls-files", "-z", "--stage", "--", *names).stdout
        for record in filter(None, listed.split(b"\0")):
            info, _, name = record.partition(b"\t")
            mode, blob, stage = info.split(b" ")
            if name not in by_git_path:
                continue
            if stage != b"0":
                raise _unmerged(by_git_path[name])
            found[by_git_path[name]] = Entry(int(mode, 8), blob)
        return found

    def blob(self, blob: bytes) -> bytes:
        """The bytes of a blob. Raises Damaged where it is missing."""
        try:
            found = self._repo.object_store[ObjectID(blob)]
        except KeyError as error:
            raise Damaged(
                f"git object {blob.decode()} is missing", hint="Run `git fsck`, or fetch from a remote."
            ) from error
        return bytes(found.as_raw_string())

    def resolve(self, revision: str) -> bytes:
        """The commit that a revision names (anything git resolves). Raises NotFound."""
        if revision.startswith("-"):
            raise NotFound(f"no revision '{revision}'", hint="Name a commit, a branch or a tag.")
        if not self.has_git:
            raise Unavailable("naming a revision needs git", hint="Install git.")
        asked = run_git(self.top, "rev-parse", "--verify", "--quiet", revision + "^{commit}", check=False)
        if asked.returncode != 0:
            raise NotFound(f"no revision '{revision}'", hint="See `wikimem log` for the commits of the vault.")
        return asked.stdout.strip()

    def commit_before(self, moment: datetime) -> bytes:
        """The last first-parent commit with a committer time at or before `moment` (local). Raises NotFound."""
        limit = int(moment.timestamp())
        commit = self.head()
        while commit is not None:
            found = self._commit(commit)
            if found.commit_time <= limit:
                return commit
            commit = bytes(found.parents[0]) if found.parents else None
        raise NotFound(f"the vault has no commit at or before {moment:%Y-%m-%d %H:%M}", hint="See `wikimem log`.")

    def contains(self, ancestor: bytes, within: int = 200) -> bool:
        """Whether `ancestor` is among the last `within` first-parent commits of HEAD."""
        commit = self.head()
        for _ in range(within):
            if commit is None or commit == ancestor:
                break
            parents = self._commit(commit).parents
            commit = bytes(parents[0]) if parents else None
        return commit == ancestor

    # Writing: objects, index, commit, ref

    def blob_id(self, path: str, data: bytes, *, write: bool = False) -> bytes:
        """The id of the blob that git would store for these work-tree bytes at `path`, written where asked."""
        if self._converts(path, data):
            if not self.has_git:
                raise Unavailable(f"git attributes convert '{path}', which needs git", hint="Install git.")
            name = os.fsdecode(self._git_path(path))
            flags = ["-w"] if write else []
            return run_git(self.top, "hash-object", *flags, f"--path={name}", "--stdin", stdin=data).stdout.strip()
        blob = Blob.from_string(data)
        if write:
            self._repo.object_store.add_object(blob)
        return bytes(blob.get_id(self._repo.object_format))

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
                    raise Conflict(error.message, hint=self._index_lock_hint()) from error
            time.sleep(pause)
            pause = min(pause * 1.6, 0.25)

    def make_commit(
        self, parent: bytes | None, changes: Mapping[str, Entry | None], message: str, author: Person, when: datetime
    ) -> bytes:
        """Write the trees and the commit that apply `changes` on top of `parent`, and return the commit's id."""
        store = self._repo.object_store
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
        commit.tree = commit_tree_changes(store, tree_id, listed) if listed else tree_id
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
        """Move the current branch from `old` to `new`; False where somebody moved it first (compare-and-swap)."""
        if self.has_git:
            expected = (old or self._zero_id()).decode()
            moved = run_git(self.top, "update-ref", "-m", reason, "HEAD", new.decode(), expected, check=False)
            if moved.returncode == 0:
                return True
            if self.head() != old or b"lock" in moved.stderr.lower():
                return False
            raise Damaged(f"git could not move HEAD: {moved.stderr.decode('utf-8', 'replace').strip()}")
        try:
            if old is None:
                return bool(self._repo.refs.add_if_new(HEAD, ObjectID(new), message=reason.encode()))
            return bool(self._repo.refs.set_if_equals(HEAD, ObjectID(old), ObjectID(new), message=reason.encode()))
        except FileLocked:
            return False

    # Inside

    def _commit(self, commit: bytes) -> Commit:
        try:
            found = self._repo.object_store[ObjectID(commit)]
        except KeyError as error:
            raise Damaged(f"commit {commit.decode()} is missing", hint="Run `git fsck`.") from error
        if not isinstance(found, Commit):
            raise Damaged(f"{commit.decode()} is no commit", hint="Run `git fsck`.")
        return found

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

    def _converts(self, path: str, data: bytes) -> bool:
        if not self.has_git:
            return self._has_attributes
        name = os.fsdecode(self._git_path(path))
        wanted = (*_CONVERTING, *_LINE_ENDINGS)
        answer = run_git(self.top, "check-attr", "-z", *wanted, "--", name).stdout.split(b"\0")
        states = {answer[at + 1].decode(): answer[at + 2] for at in range(0, len(answer) - 2, 3)}
        off = (b"unspecified", b"unset")
        if any(states.get(attribute, b"unspecified") not in off for attribute in _CONVERTING):
            return True
        line_endings = any(states.get(attribute, b"unspecified") not in off for attribute in _LINE_ENDINGS)
        return b"\r" in data and (line_endings or self._autocrlf)

    @cached_property
    def _autocrlf(self) -> bool:
        try:
            value = self._repo.get_config_stack().get((b"core",), b"autocrlf")
        except KeyError:
            return False
        return value.strip().lower() not in (b"false", b"no", b"off", b"0", b"")

    @cached_property
    def _has_attributes(self) -> bool:
        return (self.top / ".gitattributes").exists() or (self.common_dir / "info" / "attributes").exists()

    def _put_index_without_git(self, entries: Mapping[str, Entry | None]) -> None:
        index = self._repo.open_index()
        for path, entry in entries.items():
            name = self._git_path(path)
            if entry is None:
                if name in index:
                    del index[name]
                continue
            index[name] = IndexEntry(0, 0, 0, 0, entry.mode, 0, 0, 0, ObjectID(entry.blob))
        index.write()

    def _index_lock_hint(self) -> str:
        lock = self.git_dir / "index.lock"
        try:
            age = time.time() - lock.stat().st_mtime
        except OSError:
            return "Try again."
        return f"'{lock}' is {age:.0f} seconds old. If no git process is running there, remove that file and try again."

    def _refuse_unsupported(self) -> None:
        config = self._repo.get_config()
        for name, known in ((b"refstorage", b"files"), (b"objectformat", b"sha1")):
            try:
                value = config.get((b"extensions",), name).lower()
            except KeyError:
                continue
            if value != known:
                raise Refused(
                    f"the repository at '{self.top}' uses extensions.{name.decode()} = {value.decode()}, "
                    "which wikimem does not support yet",
                    hint="Use a repository in git's default formats (sha1 objects, files refs).",
                )


def _find_top(root: Path) -> Path:
    for folder in (root, *root.parents):
        if (folder / ".git").exists():
            return folder
        if (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir():
            raise Refused(f"'{folder}' is a bare repository", hint="Clone it and use the clone as the vault.")
    raise NotFound(f"'{root}' is in no git repository", hint=f"Run `wikimem init {root}`.")


def _unmerged(path: str) -> Conflict:
    return Conflict(
        f"'{path}' has an unresolved merge conflict in git's index",
        hint="Resolve it (`git status` shows how), then try again.",
    )


def _clean(text: str) -> str:
    return "".join(" " if char in "<>\r\n\0" else char for char in text).strip() or "unknown"
