"""The order of a write: check, journal, files, git's index, objects, ref. A crash between any two is repaired.

Files come before the commit, so that a crash never looks like a reversal of somebody's change. The index comes
before the ref, because a ref that moves without it makes the person's next `git commit` delete the agent's pages.
Only the paths of the write are ever entered or committed (law 2: only own bytes).

The caller holds the vault's write lock for all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from wikimem.errors import Conflict, Refused, StaleRevision
from wikimem.text.ids import revision_of
from wikimem.vault.files import make_folders, remove_file, write_atomically
from wikimem.vault.journal import Journal, JournalRecord, Planned
from wikimem.vault.repository import FILE_MODE, Entry, Person, Repository

_MOST_RACES = 50
"""How often a lost race for the branch is run again; each loss means that somebody else's commit went through."""

FaultPoint = Callable[[str], None]
"""Called with the name of each step just before it; tests make it raise or kill the process there."""


@dataclass(frozen=True, slots=True)
class FileChange:
    """What a write does to one vault path: the bytes that it was based on (None: no file) and the bytes after."""

    path: str
    old: bytes | None
    new: bytes | None


@dataclass(frozen=True, slots=True)
class Committed:
    """`commit` is the new commit, in hex; None where git is busy with `deferred` and the commit waits for its end."""

    commit: str | None
    deferred: str = ""
    people: str | None = None


def no_fault(_: str) -> None:
    """The fault point of every real write."""


class Committer:
    """Writes pages and commits them, in a repository and with the journal of one vault."""

    def __init__(self, repository: Repository, journal: Journal, *, fault: FaultPoint = no_fault) -> None:
        self.repository = repository
        self.journal = journal
        self.fault = fault

    def commit(
        self, name: str, changes: Sequence[FileChange], message: str, author: Person, when: datetime
    ) -> Committed:
        """Write `changes` and commit them as one; `name` is a sortable name for the journal.

        Raises Conflict where a file is not what the change was based on, or a person staged something else for it.
        Nothing is written then.
        """
        busy = self.repository.operation()
        planned = self._plan(changes)
        people = None if busy else self._commit_people_first(planned, when)
        if people:
            planned = self._plan(changes)
        record = JournalRecord(name, message, author, when, planned, deferred=bool(busy))
        self.fault("journal")
        self.journal.put(record)
        self._write_files(record)
        if busy:
            return Committed(None, busy)
        try:
            commit = self._commit_record(record)
        except Conflict:
            self._take_back(record)
            self.journal.remove(record)
            raise
        self.fault("end")
        self.journal.remove(record)
        return Committed(commit.decode(), people=people)

    def recover(self) -> tuple[str, ...]:
        """Finish or take back writes that a crash interrupted, and commit those that waited for git.

        Returns what was done, in words. A write is finished where each of its files is as it was before or after
        the write; otherwise somebody has edited one since, and what is left of the write (never acknowledged) is
        taken back from the others.
        """
        done: list[str] = []
        busy = self.repository.operation()
        for record in list(self.journal.records()):
            subject = record.message.partition("\n")[0]
            if record.commit and self.repository.contains(record.commit):
                self._finish_index(record)
            elif record.deferred and busy:
                continue
            elif record.deferred:
                commit = self._commit_deferred(record)
                done.append(f"committed '{subject}', which had waited for git, as {commit[:10].decode()}")
            elif all(self._disk(planned) in (planned.old, planned.new) for planned in record.planned):
                if busy:
                    self.journal.put(replace(record, deferred=True))
                    self._write_files(record)
                    continue
                self._write_files(record)
                commit = self._commit_record(record)
                done.append(f"finished '{subject}', which was interrupted, as {commit[:10].decode()}")
            else:
                self._take_back(record)
                done.append(f"took back '{subject}', which was interrupted before it was acknowledged")
            self.journal.remove(record)
        return tuple(done)

    # Steps

    def _plan(self, changes: Sequence[FileChange]) -> tuple[Planned, ...]:
        paths = [change.path for change in changes]
        in_head = self.repository.head_entries(paths)
        planned: list[Planned] = []
        for change in changes:
            base = in_head[change.path]
            self._check_disk(change)
            if base is not None and base.mode not in (FILE_MODE, 0o100755):
                raise Refused(f"'{change.path}' is a symbolic link or a submodule in git", hint="Edit its target.")
            entry = None
            if change.new is not None:
                self.fault("blob")
                blob = self.repository.blob_id(change.path, change.new, write=True)
                entry = Entry(base.mode if base else FILE_MODE, blob)
            planned.append(Planned(change.path, change.old, change.new, base, entry))
        return tuple(planned)

    def _check_disk(self, change: FileChange) -> None:
        file = self.repository.root / change.path
        if file.is_symlink():
            raise Refused(f"'{change.path}' is a symbolic link", hint="Edit the file that it points to.")
        now = file.read_bytes() if file.is_file() else None
        if now == change.old:
            return
        if now is None:
            raise Conflict(f"'{change.path}' is gone", hint="Somebody removed or moved it; look with `git status`.")
        if change.old is None:
            raise Conflict(f"'{change.path}' exists already", hint="Read it and edit it, or choose another title.")
        raise StaleRevision(
            f"'{change.path}' was changed meanwhile",
            hint="Read it again and repeat the edit on the current text.",
            data={"revision": revision_of(now)},
        )

    def _commit_people_first(self, planned: Sequence[Planned], when: datetime) -> str | None:
        """Commit what a person changed in these very pages and has not committed, as theirs."""
        staged = self.repository.index_entries([each.path for each in planned])
        theirs: dict[str, Entry | None] = {}
        for each in planned:
            here = None
            if each.old is not None:
                here = Entry(each.base.mode if each.base else FILE_MODE, self.repository.blob_id(each.path, each.old))
            index = staged[each.path]
            if not _same(index, each.base) and not _same(index, here):
                raise Refused(
                    f"'{each.path}' is staged with other content than it has on disk",
                    hint="Commit it or unstage it (`git restore --staged`), then try again.",
                )
            if not _same(here, each.base):
                theirs[each.path] = here
        if not theirs:
            return None
        for each in planned:
            if each.path in theirs and each.old is not None:
                self.repository.blob_id(each.path, each.old, write=True)
        names = ", ".join(theirs) if len(theirs) <= 3 else f"{len(theirs)} pages"
        message = f"edit: {names} (by hand)\n\nWikimem-Op: person\n"
        self.repository.put_index(theirs)
        return self._advance(theirs, {}, message, self.repository.person(), when).decode()

    def _write_files(self, record: JournalRecord) -> None:
        for planned in record.planned:
            file = self.repository.root / planned.path
            if self._disk(planned) == planned.new:
                continue
            self.fault("file")
            if planned.new is None:
                remove_file(file)
                self._drop_empty_folders(file.parent)
            else:
                make_folders(file.parent, self.repository.root)
                write_atomically(file, planned.new)

    def _commit_record(self, record: JournalRecord) -> bytes:
        entries = {planned.path: planned.entry for planned in record.planned}
        bases = {planned.path: planned.base for planned in record.planned}
        self.fault("index")
        self.repository.put_index(entries)
        return self._advance(entries, bases, record.message, record.author, record.when, record)

    def _commit_deferred(self, record: JournalRecord) -> bytes:
        """Commit a write that waited, except for paths whose page changed in the meantime: those are somebody's."""
        in_head = self.repository.head_entries([planned.path for planned in record.planned])
        entries: dict[str, Entry | None] = {}
        for planned in record.planned:
            if _same(in_head[planned.path], planned.base):
                entries[planned.path] = planned.entry
        self.repository.put_index(entries)
        return self._advance(entries, {}, record.message, record.author, record.when, record)

    def _advance(
        self,
        entries: Mapping[str, Entry | None],
        bases: Mapping[str, Entry | None],
        message: str,
        author: Person,
        when: datetime,
        record: JournalRecord | None = None,
    ) -> bytes:
        for _ in range(_MOST_RACES):
            head = self.repository.head()
            in_head = self.repository.head_entries(list(bases), head)
            for path, base in bases.items():
                # A person's `git add -A` and commit may have swept our change up: then HEAD holds our entry already.
                if not _same(in_head[path], base) and not _same(in_head[path], entries[path]):
                    raise Conflict(
                        f"'{path}' was committed by somebody else meanwhile",
                        hint="Read it again and repeat the write on the current text.",
                    )
            self.fault("commit")
            commit = self.repository.make_commit(head, entries, message, author, when)
            if record is not None:
                self.journal.put(replace(record, commit=commit, deferred=False))
            self.fault("ref")
            if self.repository.move_head(head, commit, "wikimem: " + message.partition("\n")[0]):
                return commit
        raise Conflict("the branch kept moving while wikimem tried to commit", hint="Try again in a moment.")

    def _take_back(self, record: JournalRecord) -> None:
        in_head = self.repository.head_entries([planned.path for planned in record.planned])
        for planned in record.planned:
            if self._disk(planned) != planned.new:
                continue
            base = in_head[planned.path]
            data = planned.old if _same(base, planned.base) else (self.repository.blob(base.blob) if base else None)
            file = self.repository.root / planned.path
            if data is None:
                remove_file(file)
                self._drop_empty_folders(file.parent)
            else:
                make_folders(file.parent, self.repository.root)
                write_atomically(file, data)
        self._finish_index(record)

    def _finish_index(self, record: JournalRecord) -> None:
        """Where the index still holds what this write entered but HEAD says otherwise, HEAD's entry comes back."""
        paths = [planned.path for planned in record.planned]
        staged, in_head = self.repository.index_entries(paths), self.repository.head_entries(paths)
        wrong = {
            planned.path: in_head[planned.path]
            for planned in record.planned
            if _same(staged[planned.path], planned.entry) and not _same(in_head[planned.path], planned.entry)
        }
        if wrong:
            self.repository.put_index(wrong)

    def _disk(self, planned: Planned) -> bytes | None:
        file: Path = self.repository.root / planned.path
        return file.read_bytes() if file.is_file() and not file.is_symlink() else None

    def _drop_empty_folders(self, folder: Path) -> None:
        while folder != self.repository.root and not any(folder.iterdir()):
            folder.rmdir()
            folder = folder.parent


def _same(one: Entry | None, other: Entry | None) -> bool:
    return (one.blob if one else None) == (other.blob if other else None)
