"""Ending what was interrupted: writes that a crash cut off, that failed half-way, or that waited for git.

Besides, what a person's `git commit` has undone without knowing it: see settle.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from wikimem.vault.files import disk_errors, sweep_temporaries
from wikimem.vault.journal import JournalRecord, Planned
from wikimem.vault.repository import Entry
from wikimem.vault.settle import SETTLED_S, blob_of, reversed_pages, same_blob, settle_index
from wikimem.vault.steps import WriteSteps


class Recovery(WriteSteps):
    """Deals with everything that the journal holds."""

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
            records = [self._checked(record) for record in self.journal.records()]
            if not busy:
                done += self._settle(records)
            for record in records:
                if record.state == "done":
                    if self.journal.age_s(record) > SETTLED_S:
                        self.journal.remove(record)
                elif not (record.state == "wait" and busy) and (told := self._recover(record, busy, ours)):
                    done.append(told)
        return tuple(done)

    def _checked(self, record: JournalRecord) -> JournalRecord:
        """The record as done, where the crash came after the branch had moved."""
        if record.state != "done" and record.commit and self.repository.contains(record.commit):
            return self.journal.move(record, "done")
        return record

    def _settle(self, records: Sequence[JournalRecord]) -> list[str]:
        """Look once more after writes that are done, and put right what somebody's git has undone unknowingly."""
        done = [record for record in records if record.state == "done"]
        if not done:
            return []
        written = [each for record in done for each in record.planned]
        settle_index(self.repository, self.files, written)
        pending = [each for record in records if record.state == "write" for each in record.planned]
        undone = reversed_pages(self.repository, self.files, written, pending)
        if not undone or not all(record.commit and self.repository.contains(record.commit) for record in done):
            # Somebody moved the branch back (`git reset`): that is meant.
            return []
        entries = {path: entry for path, (_, entry) in undone.items()}
        names = ", ".join(undone) if len(undone) <= 3 else f"{len(undone)} pages"
        message = f"restore: {names} (a commit had reversed it by an index from before)\n\nWikimem-Op: restore\n"
        self.repository.put_index(entries)
        bases = {path: base for path, (base, _) in undone.items()}
        self._advance(entries, bases, message, done[-1].author, done[-1].when)
        return [f"restored {names}: a git commit had reversed it, with an index that it had read before"]

    def _recover(self, record: JournalRecord, busy: str | None, ours: dict[str, set[bytes | None]]) -> str:
        """Deal with one record. `ours` is what earlier ones, which waited as well, have committed for each path."""
        subject = record.message.partition("\n")[0]
        told = ""
        for folder in {(self.repository.root / planned.path).parent for planned in record.planned}:
            sweep_temporaries(folder)
        if record.state == "undo":
            self._take_back(record)
            self.journal.remove(record)
            told = f"took back what was left of '{subject}', which had failed"
        elif record.state == "wait":
            self._store(record)
            commit = self._commit_deferred(record, ours)
            self.journal.move(record, "done")
            told = f"committed '{subject}', which had waited for git, as {commit[:10].decode()}"
        elif self._may_be_finished(record):
            self._write_files(record)
            if busy:
                self.journal.move(record, "wait")
                return ""
            self._store(record)
            self._restage(record.planned)
            commit = self._advance_record(record)
            self.journal.move(record, "done")
            told = f"finished '{subject}', which was interrupted, as {commit[:10].decode()}"
        else:
            self._take_back(record)
            self.journal.remove(record)
            told = f"took back '{subject}', which was interrupted before it was acknowledged"
        return told

    def _may_be_finished(self, record: JournalRecord) -> bool:
        in_head = self.repository.head_entries([planned.path for planned in record.planned])
        return all(
            self.files.read(planned.path) in (planned.old, planned.new)
            and (same_blob(in_head[planned.path], planned.base) or same_blob(in_head[planned.path], planned.entry))
            for planned in record.planned
        )

    def _store(self, record: JournalRecord) -> None:
        """Write the blobs again: nothing in git referred to them, so that a `git gc` may have removed them."""
        for planned in record.planned:
            if planned.new is not None:
                self.repository.blob_id(planned.path, planned.new, write=True)

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
            before = (
                same_blob(head, planned.base) or same_blob(head, here) or blob_of(head) in ours.get(planned.path, ())
            )
            if not before or same_blob(head, planned.entry):
                continue
            kept.append(planned)
            disk = self.files.read(planned.path)
            if blob_of(head) == (None if disk is None else self.repository.blob_id(planned.path, disk)):
                # `git rebase --abort` or `git reset --hard` took the page back on disk: an acknowledged write stays.
                self.files.put(planned.path, planned.new)
            if not same_blob(head, here):
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
            ours.setdefault(planned.path, set()).add(blob_of(planned.entry))
        return commit
