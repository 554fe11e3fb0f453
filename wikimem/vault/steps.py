"""Steps of a write that ending an interrupted one takes as well: files, git's index, the commit, and the way back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from msgspec.structs import replace

from wikimem.errors import Conflict
from wikimem.vault.journal import Journal, JournalRecord, Planned
from wikimem.vault.pagefiles import PageFiles
from wikimem.vault.repository import Entry, Person, Repository
from wikimem.vault.settle import same_blob, unstage

_MOST_RACES = 50
"""How often a lost race for the branch is run again; each loss means that somebody else's commit went through."""

FaultPoint = Callable[[str], None]
"""Called with the name of each step just before it; tests make it raise or kill the process there."""


def no_fault(_: str) -> None:
    """The fault point of every real write."""


class Overtaken(Conflict):
    """Somebody committed the same content meanwhile: a commit on top of theirs would be empty, in whole or in part."""


class WriteSteps:
    """A repository, the journal of one vault, and what is done to both. The caller holds the vault's write lock."""

    def __init__(self, repository: Repository, journal: Journal, *, fault: FaultPoint = no_fault) -> None:
        self.repository = repository
        self.journal = journal
        self.files = PageFiles(repository.root)
        self.fault = fault

    def _write_files(self, record: JournalRecord) -> None:
        self.files.change({planned.path: (planned.old, planned.new) for planned in record.planned}, self.fault)

    def _advance_record(self, record: JournalRecord) -> bytes:
        entries = {planned.path: planned.entry for planned in record.planned}
        bases = {planned.path: planned.base for planned in record.planned}
        return self._advance(entries, bases, record.message, record.author, record.when, record)

    def _advance(
        self,
        entries: Mapping[str, Entry | None],
        bases: Mapping[str, Entry | None],
        message: str,
        author: Person,
        when: datetime,
        record: JournalRecord | None = None,
        *,
        whole: bool = False,
    ) -> bytes:
        """Commit `entries` on the branch. `whole`: nothing is committed where HEAD has one of them already."""
        for _ in range(_MOST_RACES):
            head = self.repository.head()
            in_head = self.repository.head_entries(list(bases), head)
            for path, base in bases.items():
                # A person's `git add -A` and commit may have swept our change up: then HEAD holds our entry already.
                if same_blob(in_head[path], base):
                    continue
                if whole and same_blob(in_head[path], entries[path]):
                    raise Overtaken(f"'{path}' was committed meanwhile", hint="Nothing is to be done about it.")
                if not same_blob(in_head[path], entries[path]):
                    raise Conflict(
                        f"'{path}' was committed by somebody else meanwhile",
                        hint="Read it again and repeat the write on the current text.",
                    )
            self.fault("commit")
            commit = self.repository.make_commit(head, entries, message, author, when)
            if record is not None:
                self.journal.put(replace(record, commit=commit))
            self.fault("ref")
            if self.repository.move_head(head, commit, "wikimem: " + message.partition("\n")[0]):
                return commit
        raise Conflict("the branch kept moving while wikimem tried to commit", hint="Try again in a moment.")

    def _commit_theirs(
        self,
        theirs: Mapping[str, Entry | None],
        planned: Sequence[Planned],
        bases: Mapping[str, Entry | None],
        when: datetime,
    ) -> bytes:
        for each in planned:
            if each.path in theirs and each.old is not None:
                self.repository.blob_id(each.path, each.old, write=True)
        names = ", ".join(theirs) if len(theirs) <= 3 else f"{len(theirs)} pages"
        message = f"edit: {names} (by hand)\n\nWikimem-Op: person\n"
        self.repository.put_index(theirs)
        return self._advance(theirs, {path: bases[path] for path in theirs}, message, self.repository.person(), when)

    def _entry_of_old(self, planned: Planned) -> Entry | None:
        if planned.old is None:
            return None
        mode = planned.base.mode if planned.base else self.repository.new_mode(planned.path)
        return Entry(mode, self.repository.blob_id(planned.path, planned.old))

    def _restage(self, planned: Sequence[Planned]) -> None:
        """Enter a write that was interrupted, or had to wait, in git's index, except where a person has staged since
        what is neither before nor after it."""
        if not planned:
            return
        staged = self.repository.index_entries([each.path for each in planned])
        self.repository.put_index(
            {
                each.path: each.entry
                for each in planned
                if any(
                    same_blob(staged[each.path], known) for known in (each.base, each.entry, self._entry_of_old(each))
                )
            }
        )

    def _take_back(self, record: JournalRecord) -> None:
        in_head = self.repository.head_entries([planned.path for planned in record.planned])
        for planned in record.planned:
            head = in_head[planned.path]
            if self.files.read(planned.path) != planned.new or same_blob(head, planned.entry):
                # Somebody's own by now, never written, or committed by a person's `git add -A` and `git commit`.
                continue
            data = (
                planned.old
                if same_blob(head, planned.base)
                else (self.repository.file_bytes(planned.path, head.blob) if head else None)
            )
            self.files.put(planned.path, data)
        unstage(self.repository, record.planned)
