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
from collections.abc import Iterator, Sequence
from datetime import datetime

from msgspec import Struct

from wikimem.errors import Refused, WikimemError
from wikimem.vault.files import disk_errors
from wikimem.vault.journal import JournalRecord, Planned
from wikimem.vault.layout import refuse_links
from wikimem.vault.recover import Recovery
from wikimem.vault.repository import FILE_MODE, Entry, Person
from wikimem.vault.settle import same_blob, settle_index
from wikimem.vault.steps import WriteSteps

log = logging.getLogger(__name__)


class FileChange(Struct, frozen=True):
    """What a write does to one vault path: the bytes that it was based on (None: no file) and the bytes after."""

    path: str
    old: bytes | None
    new: bytes | None


class Committed(Struct, frozen=True):
    """`commit` is the new commit, in hex; None where git is busy with `deferred` and the commit waits for its end."""

    commit: str | None
    deferred: str = ""
    people: str | None = None


class Committer(WriteSteps):
    """Writes pages and commits them, in a repository and with the journal of one vault."""

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
        """Deal with writes that were interrupted or had to wait; what was done, in words. See `Recovery.recover`."""
        return Recovery(self.repository, self.journal, fault=self.fault).recover()

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
            if not same_blob(index, each.base) and not same_blob(index, here):
                raise Refused(
                    f"'{each.path}' is staged with other content than it has on disk",
                    hint="Commit it or unstage it (`git restore --staged`), then try again.",
                )
            if not same_blob(here, each.base):
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

    def _commit_record(self, record: JournalRecord) -> bytes:
        self.fault("index")
        self.repository.put_index({planned.path: planned.entry for planned in record.planned})
        return self._advance_record(record)


@contextlib.contextmanager
def _logged(what: str) -> Iterator[None]:
    """Let a failure pass that a later command makes good."""
    try:
        yield
    except (WikimemError, OSError) as error:
        log.warning("%s: %s", what, error)
