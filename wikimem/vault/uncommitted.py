"""What a person changed in the work tree and has not committed: what git says of it, and committing it as theirs.

A change is told from what an interrupted checkout, or a branch that was moved without its files, leaves behind: there
a page is as some commit had it. So bytes that a commit of that path holds already are never committed again here.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from wikimem.errors import Conflict, WikimemError
from wikimem.vault.files import remove_file, write_atomically
from wikimem.vault.gitcommand import run_git
from wikimem.vault.journal import JournalRecord, Planned
from wikimem.vault.layout import is_page_name, refuse_links
from wikimem.vault.repository import FILE_MODE, PROGRAM_MODE, Entry, Person, Repository
from wikimem.vault.settle import same_blob, settle_index, unstage
from wikimem.vault.steps import Overtaken, WriteSteps

MOST_BRANCHES: Final = 20
_MOST_MOVES_OF_HEAD: Final = 100
_MOST_ASKED: Final = 200
"""Paths in one command line."""
_LIST_TIMEOUT_S: Final = 600
_MARK: Final = "takeup.json"


class Difference(Struct, frozen=True):
    """A page that is on disk otherwise than HEAD has it.

    `kind`: `edited`, `gone`, or `new` (git does not know it); `staged` where git's index has it otherwise than HEAD.
    """

    path: str
    kind: str
    staged: bool = False


def find_differences(repository: Repository) -> dict[str, Difference]:
    """The pages that `git status` lists, by path; unmerged ones and those that are only announced count as staged.

    Errors as in `run_git`.
    """
    status = run_git(
        repository.root,
        *("status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=all"),
        *("--", "."),
        timeout_s=_LIST_TIMEOUT_S,
    )
    found: dict[str, Difference] = {}
    for record in status.stdout.split(b"\0"):
        kind, _, rest = record.partition(b" ")
        if kind == b"?":
            difference = Difference(_vault_path(repository, rest), "new")
        elif kind == b"1":
            states, _, _, _, _, _, _, name = rest.split(b" ", 7)
            staged = states[:1] != b"." or states[1:] not in (b"M", b"D")
            difference = Difference(_vault_path(repository, name), "gone" if states[1:] == b"D" else "edited", staged)
        elif kind == b"u":
            difference = Difference(_vault_path(repository, rest.split(b" ", 9)[9]), "edited", True)
        else:
            continue
        if is_page_name(difference.path):
            found[difference.path] = difference
    return found


def is_own_vault(repository: Repository) -> bool:
    """Whether the vault was made by `wikimem init` in a new folder: only then are its settings in the repository."""
    path = ".wikimem/config.toml"
    return repository.head_entries([path])[path] is not None


def known_versions(repository: Repository, blobs: Mapping[str, bytes]) -> set[str]:
    """Paths whose blob some commit has, or had, at that very path: of any branch or tag, or where HEAD has been.

    A stash does not count: it is applied on purpose.
    """
    if not blobs:
        return set()
    asked = b"".join(blob + b"\n" for blob in blobs.values())
    answers = run_git(repository.top, "cat-file", "--batch-check=%(objecttype)", stdin=asked).stdout.splitlines()
    stored = [path for path, answer in zip(blobs, answers, strict=True) if answer == b"blob"]
    if not stored:
        return set()
    moves = run_git(repository.top, "reflog", f"--max-count={_MOST_MOVES_OF_HEAD}", "--format=%H", "HEAD", check=False)
    places = ["--exclude=refs/stash", "--all", *moves.stdout.decode("ascii", "replace").split()]
    found: set[str] = set()
    for start in range(0, len(stored), _MOST_ASKED):
        found |= _had_there(repository, {path: blobs[path] for path in stored[start : start + _MOST_ASKED]}, places)
    return found


def _had_there(repository: Repository, blobs: Mapping[str, bytes], places: Sequence[str]) -> set[str]:
    """Those of these paths at which a commit of `places` has, adds or takes away the blob."""
    listed = run_git(
        repository.top,
        *("log", "-z", "--raw", "--format=", "--no-abbrev", "--no-renames", "--full-history", "-m", "--ignore-missing"),
        *(*places, "--", *(repository.prefix + path for path in blobs)),
        timeout_s=_LIST_TIMEOUT_S,
        check=False,
    )
    if listed.returncode != 0:
        # Where git cannot say, the pages are rather left alone.
        return set(blobs)
    fields = listed.stdout.split(b"\0")
    versions = {
        (_vault_path(repository, name), blob)
        for line, name in zip(fields[0::2], fields[1::2], strict=False)
        for blob in line.split()[2:4]
    }
    return {path for path, blob in blobs.items() if (path, blob) in versions}


def lacking_elsewhere(repository: Repository, paths: Sequence[str]) -> set[str]:
    """Those of `paths` that another local branch does not have: a checkout of that removes them."""
    if not paths:
        return set()
    listed = run_git(repository.top, "for-each-ref", "--format=%(refname)", "refs/heads").stdout.decode().split()
    here = f"refs/heads/{repository.branch()}"
    lacking: set[str] = set()
    for name in [name for name in listed if name != here][:MOST_BRANCHES]:
        lacking |= {path for path, entry in _entries_of(repository, name, paths).items() if entry is None}
    return lacking


def _entries_of(repository: Repository, name: str, paths: Sequence[str]) -> dict[str, Entry | None]:
    return repository.head_entries(paths, repository.resolve(name))


def _vault_path(repository: Repository, name: bytes) -> str:
    return os.fsdecode(name).removeprefix(repository.prefix)


class TakeUp(WriteSteps):
    """Commits what a person edited, as it is on disk. No file is written. The caller holds the vault's write lock.

    There is no record of it before it is done: a crash leaves at most pages that are staged as they are on disk, and a
    note (`interrupted`) that it was not the person who did that.
    """

    def interrupted(self) -> dict[str, bytes]:
        """Path -> blob of what a crash left staged."""
        try:
            noted = json.loads((self.journal.folder.parent / _MARK).read_bytes())
            return {str(path): str(blob).encode() for path, blob in noted.items()}
        except (OSError, ValueError, AttributeError):
            return {}

    def commit(
        self, name: str, pages: Mapping[str, bytes | None], message: str, author: Person, when: datetime
    ) -> str | None:
        """Commit these pages (path -> its bytes on disk, None where it is gone) and return the commit.

        None where HEAD has them so already, or came to have one of them: what is left is another commit, with another
        message. Raises Conflict where one is otherwise on disk or staged by now.
        """
        planned = self._look_at(pages)
        if not planned:
            return None
        entries = {each.path: each.entry for each in planned}
        mark = self.journal.folder.parent / _MARK
        noted = {path: entry.blob.decode() if entry else "" for path, entry in entries.items()}
        write_atomically(mark, json.dumps(noted).encode(), mode=0o600)
        try:
            self.fault("index")
            self.repository.put_index(entries)
            bases = {each.path: each.base for each in planned}
            commit = self._advance(entries, bases, message, author, when, whole=True)
        except (WikimemError, OSError) as error:
            with contextlib.suppress(WikimemError, OSError):
                unstage(self.repository, planned)
                remove_file(mark)
            if isinstance(error, Overtaken):
                return None
            raise
        settle_index(self.repository, self.files, planned)
        self.journal.put(
            JournalRecord(self.journal.next_name(name), message, author, when, planned, commit, state="done")
        )
        remove_file(mark)
        return commit.decode()

    def _look_at(self, pages: Mapping[str, bytes | None]) -> tuple[Planned, ...]:
        paths = list(pages)
        in_head, staged = self.repository.head_entries(paths), self.repository.index_entries(paths)
        ours = self.interrupted()
        planned: list[Planned] = []
        for path, data in pages.items():
            refuse_links(self.repository.root, path)
            self.files.expect(path, data)
            base, index = in_head[path], staged[path]
            entry = None
            if data is not None:
                mode = base.mode if base else self.repository.new_mode(path)
                entry = Entry(mode, self.repository.blob_id(path, data, write=True))
            if same_blob(base, entry):
                continue
            is_ours = same_blob(index, entry) and ours.get(path) == (entry.blob if entry else b"")
            if not same_blob(index, base) and not is_ours:
                raise Conflict(f"'{path}' is staged otherwise", hint="Commit it or unstage it.")
            modes = {each.mode for each in (base, index) if each}
            if (index is not None and index.hidden) or len(modes) > 1 or not modes <= {FILE_MODE, PROGRAM_MODE}:
                raise Conflict(f"'{path}' is no plain page in git's index", hint="Commit it yourself.")
            planned.append(Planned(path, data, data, base, entry))
        return tuple(planned)
