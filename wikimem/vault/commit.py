"""The order of a write: check, journal, files, git's index, objects, ref. A crash between any two is repaired.

Files come before the commit, so that a crash never looks like a reversal of somebody's change. The index comes
before the ref, because a ref that moves without it makes the person's next `git commit` delete the agent's pages.
Only the paths of the write are ever entered or committed (law 2: only own bytes).

A write that fails is taken back before its error is raised. Where even that fails (the disk is full), the journal says
so, and the next command takes it back: what was reported as failed never appears later.

The caller holds the vault's write lock for all of it.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from wikimem.errors import Conflict, Refused, WikimemError
from wikimem.vault.files import disk_errors, sweep_temporaries
from wikimem.vault.journal import Journal, JournalRecord, Planned
from wikimem.vault.layout import refuse_links
from wikimem.vault.pagefiles import PageFiles
from wikimem.vault.repository import FILE_MODE, Entry, Person, Repository
from wikimem.vault.settle import SETTLED_S, settle_index

log = logging.getLogger(__name__)

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
        self.files = PageFiles(repository.root)
        self.fault = fault

    def commit(
        self, name: str, changes: Sequence[FileChange], message: str, author: Person, when: datetime
    ) -> Committed:
        """Write `changes` and commit them as one; `name` is a sortable name for the journal.

        Raises Conflict where a file is not what the change was based on, or a person staged something else for it.
        Nothing is written then.
        """
        with disk_errors(self.repository.root):
            busy = self.repository.operation()
            planned = self._plan(changes)
            people = None
            if busy:
                self._staged(planned)
            elif people := self._commit_people_first(planned, when):
                planned = self._plan(changes)
            self.fault("journal")
            record = JournalRecord(self.journal.next_name(name), message, author, when, planned)
            try:
                self.journal.put(record)
                self._write_files(record)
                if busy:
                    self.fault("wait")
                    self.journal.move(record, "wait")
                    return Committed(None, busy)
                commit = self._commit_record(record)
            except (WikimemError, OSError):
                committed = self._give_up(record)
                if committed is None:
                    raise
                commit = committed
            self.fault("end")
            with _logged(f"cannot look after {commit.decode()}; the next write does"):
                settle_index(self.repository, self.files, record.planned)
                self.journal.move(self.journal.find(record.name) or record, "done")
            return Committed(commit.decode(), people=people)

    def recover(self) -> tuple[str, ...]:
        """Finish or take back writes that were interrupted, and commit those that waited for git.

        Returns what was done, in words. A write is finished where each of its files, and each of its entries in HEAD,
        is as it was before or after the write; otherwise somebody has changed one since, and what is left of the
        write (never acknowledged) is taken back from the others.
        """
        done: list[str] = []
        ours: dict[str, set[bytes | None]] = {}
        with disk_errors(self.repository.root):
            busy = self.repository.operation()
            records = list(self.journal.records())
            self._settle([record for record in records if record.state == "done"], busy)
            for record in records:
                if record.state == "done" or (record.state == "wait" and busy):
                    continue
                if told := self._recover(record, busy, ours):
                    done.append(told)
        return tuple(done)

    def _settle(self, records: Sequence[JournalRecord], busy: str | None) -> None:
        """Look once more after writes that are done, and forget those that were looked after long enough."""
        if records and not busy:
            settle_index(self.repository, self.files, [each for record in records for each in record.planned])
        for record in records:
            if self.journal.age_s(record) > SETTLED_S:
                self.journal.remove(record)

    def _recover(self, record: JournalRecord, busy: str | None, ours: dict[str, set[bytes | None]]) -> str:
        """Deal with one record. `ours` is what earlier ones, which waited as well, have committed for each path."""
        subject = record.message.partition("\n")[0]
        told = ""
        for folder in {(self.repository.root / planned.path).parent for planned in record.planned}:
            sweep_temporaries(folder)
        if record.commit and self.repository.contains(record.commit):
            settle_index(self.repository, self.files, record.planned)
        elif record.state == "undo":
            self._take_back(record)
            told = f"took back what was left of '{subject}', which had failed"
        elif record.state == "wait":
            self._store(record)
            commit = self._commit_deferred(record, ours)
            told = f"committed '{subject}', which had waited for git, as {commit[:10].decode()}"
        elif self._may_be_finished(record):
            self._write_files(record)
            if busy:
                self.journal.move(record, "wait")
                return ""
            self._store(record)
            self._restage(record.planned)
            commit = self._advance_record(record)
            told = f"finished '{subject}', which was interrupted, as {commit[:10].decode()}"
        else:
            self._take_back(record)
            told = f"took back '{subject}', which was interrupted before it was acknowledged"
        self.journal.remove(record)
        return told

    def _may_be_finished(self, record: JournalRecord) -> bool:
        in_head = self.repository.head_entries([planned.path for planned in record.planned])
        return all(
            self.files.read(planned.path) in (planned.old, planned.new)
            and (_same(in_head[planned.path], planned.base) or _same(in_head[planned.path], planned.entry))
            for planned in record.planned
        )

    def _store(self, record: JournalRecord) -> None:
        """Write the blobs again: nothing in git referred to them, so that a `git gc` may have removed them."""
        for planned in record.planned:
            if planned.new is not None:
                self.repository.blob_id(planned.path, planned.new, write=True)

    def _give_up(self, record: JournalRecord) -> bytes | None:
        """Take back a write that failed; the commit instead where the failure came after the branch had moved."""
        with _logged("cannot take back a write that failed; the next command does"):
            if not self.journal.holds(record):
                return None
            # First of all, and without opening a file: there may be no handles left.
            undo = self.journal.move(record, "undo")
            known = self.journal.find(record.name) or undo
            if known.commit and self.repository.contains(known.commit):
                return known.commit
            self._take_back(known)
            self.journal.remove(known)
        return None

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
        refuse_links(self.repository.root, change.path)
        self.files.expect(change.path, change.old)

    def _commit_people_first(self, planned: Sequence[Planned], when: datetime) -> str | None:
        """Commit what a person changed in these very pages and has not committed, as theirs."""
        staged = self._staged(planned)
        theirs: dict[str, Entry | None] = {}
        for each in planned:
            here = self._entry_of_old(each)
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
        return self._commit_theirs(theirs, planned, {each.path: each.base for each in planned}, when).decode()

    def _staged(self, planned: Sequence[Planned]) -> dict[str, Entry | None]:
        """What git's index holds. Raises Conflict for a page that a person is resolving, Refused for one that they keep
        git from looking at or whose mode they have staged: entering it in the index would undo that."""
        staged = self.repository.index_entries([each.path for each in planned])
        for each in planned:
            index = staged[each.path]
            if index is not None and index.hidden:
                raise Refused(
                    f"'{each.path}' is marked {index.hidden} in git's index, to keep changes of it out of commits",
                    hint=f"Run `git update-index --no-{index.hidden} '{each.path}'`, or check it out, then try again.",
                )
            if index is not None and each.base is not None and index.mode != each.base.mode:
                raise Refused(
                    f"'{each.path}' is staged with another mode than in HEAD",
                    hint="Commit that or unstage it (`git restore --staged`), then try again.",
                )
        return staged

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

    def _write_files(self, record: JournalRecord) -> None:
        self.files.change({planned.path: (planned.old, planned.new) for planned in record.planned}, self.fault)

    def _commit_record(self, record: JournalRecord) -> bytes:
        self.fault("index")
        self.repository.put_index({planned.path: planned.entry for planned in record.planned})
        return self._advance_record(record)

    def _advance_record(self, record: JournalRecord) -> bytes:
        entries = {planned.path: planned.entry for planned in record.planned}
        bases = {planned.path: planned.base for planned in record.planned}
        return self._advance(entries, bases, record.message, record.author, record.when, record)

    def _commit_deferred(self, record: JournalRecord, ours: dict[str, set[bytes | None]]) -> bytes:
        """Commit a write that waited, except for paths that somebody committed otherwise meanwhile: those are theirs.

        What a person had changed in a page before this write, also while git was busy, is committed first, as theirs.
        """
        in_head = self.repository.head_entries([planned.path for planned in record.planned])
        theirs: dict[str, Entry | None] = {}
        kept: list[Planned] = []
        for planned in record.planned:
            head = in_head[planned.path]
            here = self._entry_of_old(planned)
            before = _same(head, planned.base) or _same(head, here) or _blob(head) in ours.get(planned.path, ())
            if not before or _same(head, planned.entry):
                continue
            kept.append(planned)
            disk = self.files.read(planned.path)
            if _blob(head) == (None if disk is None else self.repository.blob_id(planned.path, disk)):
                # `git rebase --abort` or `git reset --hard` took the page back on disk: an acknowledged write stays.
                self.files.put(planned.path, planned.new)
            if not _same(head, here):
                theirs[planned.path] = here
        self._restage(kept)
        bases = {planned.path: in_head[planned.path] for planned in kept}
        if theirs:
            self._commit_theirs(theirs, kept, bases, record.when)
            bases |= theirs
            self._restage(kept)
        entries = {planned.path: planned.entry for planned in kept}
        commit = self._advance(entries, bases, record.message, record.author, record.when, record)
        for planned in record.planned:
            ours.setdefault(planned.path, set()).add(_blob(planned.entry))
        return commit

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
                if any(_same(staged[each.path], known) for known in (each.base, each.entry, self._entry_of_old(each)))
            }
        )

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
                self.journal.put(replace(record, commit=commit))
            self.fault("ref")
            if self.repository.move_head(head, commit, "wikimem: " + message.partition("\n")[0]):
                return commit
        raise Conflict("the branch kept moving while wikimem tried to commit", hint="Try again in a moment.")

    def _take_back(self, record: JournalRecord) -> None:
        in_head = self.repository.head_entries([planned.path for planned in record.planned])
        for planned in record.planned:
            head = in_head[planned.path]
            if self.files.read(planned.path) != planned.new or _same(head, planned.entry):
                # Somebody's own by now, never written, or committed by a person's `git add -A` and `git commit`.
                continue
            data = (
                planned.old
                if _same(head, planned.base)
                else (self.repository.file_bytes(planned.path, head.blob) if head else None)
            )
            self.files.put(planned.path, data)
        settle_index(self.repository, self.files, record.planned)


@contextlib.contextmanager
def _logged(what: str) -> Iterator[None]:
    """Let a failure pass that a later command makes good."""
    try:
        yield
    except (WikimemError, OSError) as error:
        log.warning("%s: %s", what, error)


def _blob(entry: Entry | None) -> bytes | None:
    return entry.blob if entry else None


def _same(one: Entry | None, other: Entry | None) -> bool:
    return _blob(one) == _blob(other)
