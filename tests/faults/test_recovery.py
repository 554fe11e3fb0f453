"""What people do between a crash and the next command, and while a commit waits for git: nothing of theirs is lost,
nothing acknowledged is lost, and what was reported as failed never appears."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

import pytest

from wikimem.errors import Conflict, Refused, StaleRevision
from wikimem.vault.commit import Committed, Committer, FileChange
from wikimem.vault.draft import Draft
from wikimem.vault.journal import Journal
from wikimem.vault.repository import Person, Repository

NOW = datetime(2025, 9, 12, 9, 14)
AGENT = Person("claude-code", "claude-code@agents.wikimem.invalid")
STEPS = ("stage", "file", "index", "commit", "ref", "end")


class Crash(BaseException):
    """Stands for the death of the process at a step."""


class Place:
    """A repository with two pages, a person's git and wikimem's committer."""

    def __init__(self, folder: Path) -> None:
        self.root, self.state = folder / "notes", folder / "state"
        self.opened: list[Repository] = []
        self.state.mkdir()
        subprocess.run(["git", "init", "-q", "-b", "main", str(self.root)], check=True)
        self.write(FileChange("a.md", None, b"a\n"), FileChange("b.md", None, b"b\n"), name="1", message="first")

    def git(self, *args: str, check: bool = True) -> str:
        done = subprocess.run(["git", "-C", str(self.root), *args], capture_output=True, text=True, check=check)
        return done.stdout.strip()

    def committer(self, fault: Callable[[str], None] = lambda _: None) -> Committer:
        self.opened.append(Repository(self.root))
        return Committer(self.opened[-1], Journal(self.state), fault=fault)

    def write(self, *changes: FileChange, name: str = "2", message: str = "agent") -> Committed:
        return self.committer().commit(name, changes, f"{message}\n", AGENT, NOW)

    def crash(self, step: str, *changes: FileChange, called: str = "2") -> None:
        def fault(name: str) -> None:
            if name == step:
                raise Crash

        with pytest.raises(Crash):
            self.committer(fault).commit(called, changes, f"agent {called}\n", AGENT, NOW)

    def recover(self) -> tuple[str, ...]:
        return self.committer().recover()

    def bytes_of(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def journal(self) -> list[Path]:
        """What the journal holds, but for writes that are done."""
        return [file for file in self.state.iterdir() if not file.name.startswith("done-")]

    def in_head(self, path: str) -> str:
        return self.git("show", f"HEAD:{path}")

    def subjects(self) -> list[str]:
        return self.git("log", "--format=%s").split("\n")

    def assert_sound(self, status: str = "") -> None:
        assert self.git("status", "--porcelain") == status
        assert self.git("fsck", "--strict", "--no-dangling") == ""
        assert self.journal() == []
        assert [*self.root.rglob("*.tmp")] == []

    def conflicting_merge(self) -> None:
        """Leave a merge under way, with a conflict in x.txt that has nothing to do with the pages."""
        self.git("switch", "-qc", "other")
        for branch in ("other", "main"):
            self.git("switch", "-q", branch)
            (self.root / "x.txt").write_text(f"{branch}\n")
            self.git("add", "x.txt")
            self.git("commit", "-qm", branch)
        self.git("merge", "-q", "other", check=False)
        assert "UU" in self.git("status", "--porcelain") or "AA" in self.git("status", "--porcelain")

    def end_merge(self) -> None:
        (self.root / "x.txt").write_text("both\n")
        self.git("add", "x.txt")
        self.git("commit", "-qm", "merged")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    (tmp_path / "gitconfig").write_text("[user]\n\tname = Ada Example\n\temail = ada@example.org\n")
    place = Place(tmp_path)
    yield place
    for repository in place.opened:
        repository.close()


# Between the crash and the next command


@pytest.mark.parametrize("step", STEPS)
def test_a_person_commits_everything_after_the_crash(place: Place, step: str) -> None:
    place.crash(step, FileChange("a.md", b"a\n", b"A\n"), FileChange("c.md", None, b"c\n"))
    (place.root / "mine.txt").write_text("mine\n")
    place.git("add", "mine.txt")
    place.git("commit", "-qam", "mine")
    place.recover()
    place.assert_sound()
    assert (place.bytes_of("a.md"), place.bytes_of("c.md")) == (b"A\n", b"c\n")
    assert place.subjects().count("agent 2") == 1
    assert "mine" in place.subjects()


@pytest.mark.parametrize("step", STEPS)
def test_a_person_moves_the_branch_back_after_the_crash(place: Place, step: str) -> None:
    """HEAD is then neither before nor after the write: it is taken back, and never again in anybody's way."""
    place.write(FileChange("a.md", b"a\n", b"a2\n"), name="15", message="second")
    place.crash(step, FileChange("a.md", b"a2\n", b"A\n"), FileChange("c.md", None, b"c\n"))
    back = "HEAD~2" if step == "end" else "HEAD~1"
    place.git("reset", "-q", "--mixed", back)
    place.recover()
    done = place.write(FileChange("b.md", b"b\n", b"B\n"), name="3", message="next")
    assert done.commit
    assert place.journal() == []
    assert place.subjects()[0] == "next"
    assert not (place.root / "c.md").exists() or step == "end"


def test_a_person_stages_another_version_after_the_crash(place: Place) -> None:
    place.crash("commit", FileChange("a.md", b"a\n", b"A\n"))
    (place.root / "a.md").write_bytes(b"staged by hand\n")
    place.git("add", "a.md")
    (place.root / "a.md").write_bytes(b"A\n")
    place.recover()
    assert place.in_head("a.md") == "A"
    assert place.git("show", ":a.md") == "staged by hand", "what they staged is still staged"


def test_a_person_switches_the_branch_after_the_ref_had_moved(place: Place) -> None:
    place.git("branch", "other")
    place.crash("end", FileChange("a.md", b"a\n", b"A\n"))
    place.git("switch", "-q", "other")
    assert place.recover() == ()
    place.assert_sound()
    assert place.bytes_of("a.md") == b"a\n"
    assert place.git("log", "--all", "--format=%s").split("\n").count("agent 2") == 1


def test_the_state_folder_is_lost_after_the_crash(place: Place) -> None:
    place.crash("commit", FileChange("a.md", b"a\n", b"A\n"), FileChange("c.md", None, b"c\n"))
    shutil.rmtree(place.state)
    place.state.mkdir()
    assert place.recover() == ()
    # What is left looks like a person's own change, and is treated as one: kept, and committed as theirs.
    place.write(FileChange("a.md", b"A\n", b"AA\n"), FileChange("c.md", b"c\n", b"cc\n"), message="next")
    place.assert_sound()
    assert place.subjects()[:2] == ["next", "edit: a.md, c.md (by hand)"]


def test_several_interrupted_writes_are_finished_in_their_order(place: Place) -> None:
    """Two records are there when a command that ended the first was killed as well."""
    place.crash("index", FileChange("a.md", b"a\n", b"A\n"), called="2")
    (first,) = place.journal()
    held = first.read_bytes()
    first.unlink()
    place.crash("commit", FileChange("b.md", b"b\n", b"B\n"), FileChange("c.md", None, b"c\n"), called="3")
    first.write_bytes(held)
    assert len(place.recover()) == 2
    place.assert_sound()
    assert place.subjects()[:2] == ["agent 3", "agent 2"]
    assert (place.in_head("a.md"), place.in_head("b.md"), place.in_head("c.md")) == ("A", "B", "c")


def test_the_journal_keeps_its_order_when_the_clock_does_not(place: Place) -> None:
    place.conflicting_merge()
    place.write(FileChange("a.md", b"a\n", b"a1\n"), name="01ZZZZ", message="earlier")
    place.write(FileChange("a.md", b"a1\n", b"a2\n"), name="01AAAA", message="later")
    place.end_merge()
    place.recover()
    assert place.subjects()[:2] == ["later", "earlier"]
    place.assert_sound()


def test_temporary_files_of_a_killed_write_are_swept(place: Place) -> None:
    place.crash("commit", FileChange("a.md", b"a\n", b"A\n"))
    (place.root / ".wikimem-abcd1234.tmp").write_bytes(b"half")
    (place.state / ".wikimem-abcd1234.tmp").write_bytes(b"half")
    (place.root / ".wikimem-mine.tmp").write_bytes(b"a person's own")
    place.recover()
    assert [file.name for file in place.root.glob(".wikimem*")] == [".wikimem-mine.tmp"]
    assert place.journal() == []


# Failures that were reported


@pytest.mark.parametrize("step", ["stage", "file", "index", "commit", "ref"])
@pytest.mark.parametrize("also", ["", "take back"])
def test_a_write_that_failed_never_appears(place: Place, monkeypatch: pytest.MonkeyPatch, step: str, also: str) -> None:
    def fault(name: str) -> None:
        if name == step:
            raise Refused("the disk is full", hint="Free some space.")

    with monkeypatch.context() as patched:
        if also:

            def refuse(*_: object) -> None:
                raise Refused("the disk is still full")

            patched.setattr(Committer, "_take_back", refuse)
        with pytest.raises(Refused, match="the disk is full"):
            place.committer(fault).commit(
                "2", [FileChange("a.md", b"a\n", b"A\n"), FileChange("d/c.md", None, b"c\n")], "agent\n", AGENT, NOW
            )
    if also and step != "stage":
        place.recover()
    place.recover()
    place.assert_sound()
    assert place.bytes_of("a.md") == b"a\n"
    assert not (place.root / "d").exists()
    assert "agent" not in place.subjects()


def test_a_write_whose_failure_came_after_the_branch_moved_is_done(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Repository.move_head

    def move(self: Repository, *args: bytes) -> bool:
        real(self, *args)  # type: ignore[arg-type]
        raise Refused("git was stopped")

    with monkeypatch.context() as patched:
        patched.setattr(Repository, "move_head", move)
        done = place.write(FileChange("a.md", b"a\n", b"A\n"))
    assert done.commit == place.git("rev-parse", "HEAD")
    place.assert_sound()


# An editor beside


def test_a_save_between_the_look_and_the_write_is_never_lost(place: Place) -> None:
    draft = Draft(place.root)
    read = draft.read("a.md")
    (place.root / "a.md").write_bytes(b"saved by hand\n")
    draft.put("a.md", read + b"agent\n")
    with pytest.raises(StaleRevision):
        place.write(*draft.changes())
    assert place.bytes_of("a.md") == b"saved by hand\n"


@pytest.mark.parametrize("path", ["a.md", "c.md"])
def test_a_save_at_the_last_moment_is_never_written_over(place: Place, path: str) -> None:
    def fault(name: str) -> None:
        if name == "file":
            (place.root / path).write_bytes(b"saved by hand\n")

    with pytest.raises(Conflict):
        place.committer(fault).commit(
            "2", [FileChange("a.md", b"a\n", b"A\n"), FileChange("c.md", None, b"c\n")], "agent\n", AGENT, NOW
        )
    assert place.bytes_of(path) == b"saved by hand\n"
    place.assert_sound("M a.md" if path == "a.md" else "?? c.md")
    assert "agent" not in place.subjects()


# While git is busy


def test_two_writes_of_one_page_during_a_merge_are_both_committed(place: Place) -> None:
    place.conflicting_merge()
    assert place.write(FileChange("a.md", b"a\n", b"a1\n"), message="one").deferred == "merge"
    assert place.write(FileChange("a.md", b"a1\n", b"a2\n"), message="two").deferred == "merge"
    assert place.write(FileChange("a.md", b"a2\n", None), message="three").deferred == "merge"
    place.end_merge()
    assert len(place.recover()) == 3
    place.assert_sound()
    assert place.subjects()[:4] == ["three", "two", "one", "merged"]
    assert place.git("log", "--format=%an", "-3").split("\n") == ["claude-code"] * 3


def test_what_a_person_saves_during_a_merge_is_committed_as_theirs(place: Place) -> None:
    place.conflicting_merge()
    place.write(FileChange("a.md", b"a\n", b"a1\n"), message="one")
    (place.root / "a.md").write_bytes(b"a1\nby hand\n")
    place.write(FileChange("a.md", b"a1\nby hand\n", b"a1\nby hand\na2\n"), message="two")
    place.end_merge()
    place.recover()
    place.assert_sound()
    assert place.subjects()[:3] == ["two", "edit: a.md (by hand)", "one"]
    assert place.git("log", "--format=%an", "-3").split("\n") == ["claude-code", "Ada Example", "claude-code"]


@pytest.mark.parametrize("step", ["stage", "file", "wait"])
def test_a_crash_during_a_merge_is_finished_too(place: Place, step: str) -> None:
    place.conflicting_merge()
    place.crash(step, FileChange("a.md", b"a\n", b"A\n"), FileChange("c.md", None, b"c\n"))
    place.recover()
    assert (place.bytes_of("a.md"), place.bytes_of("c.md")) == (b"A\n", b"c\n")
    place.end_merge()
    place.recover()
    place.assert_sound()
    assert place.subjects()[:2] == ["agent 2", "merged"]


def test_a_crash_in_a_merge_that_ends_before_the_next_command(place: Place) -> None:
    place.conflicting_merge()
    place.crash("stage", FileChange("a.md", b"a\n", b"A\n"))
    place.end_merge()
    place.recover()
    place.assert_sound()
    assert place.in_head("a.md") == "A"


def test_a_page_with_an_open_conflict_is_not_written(place: Place) -> None:
    place.git("switch", "-qc", "other")
    for branch in ("other", "main"):
        place.git("switch", "-q", branch)
        (place.root / "a.md").write_text(f"{branch}\n")
        place.git("commit", "-qam", branch)
    place.git("merge", "-q", "other", check=False)
    before = place.bytes_of("a.md")
    with pytest.raises(Conflict, match="unresolved merge conflict"):
        place.write(FileChange("a.md", before, b"agent\n"))
    assert place.bytes_of("a.md") == before
    assert place.write(FileChange("b.md", b"b\n", b"B\n")).deferred == "merge"


def test_writes_during_a_rebase_are_committed_on_the_rebased_branch(place: Place) -> None:
    place.git("switch", "-qc", "topic")
    (place.root / "x.txt").write_text("topic\n")
    place.git("add", "x.txt")
    place.git("commit", "-qm", "topic")
    place.git("switch", "-q", "main")
    (place.root / "x.txt").write_text("main\n")
    place.git("add", "x.txt")
    place.git("commit", "-qm", "main")
    place.git("switch", "-q", "topic")
    place.git("rebase", "-q", "main", check=False)
    assert place.write(FileChange("c.md", None, b"c\n"), message="one").deferred == "rebase"
    assert place.write(FileChange("c.md", b"c\n", b"cc\n"), message="two").deferred == "rebase"
    (place.root / "x.txt").write_text("both\n")
    place.git("add", "x.txt")
    place.git("-c", "core.editor=true", "rebase", "--continue")
    assert len(place.recover()) == 2
    place.assert_sound()
    assert place.subjects()[:4] == ["two", "one", "topic", "main"]


def test_a_deferred_write_that_a_person_swept_up_is_not_reversed(place: Place) -> None:
    place.conflicting_merge()
    place.write(FileChange("a.md", b"a\n", b"A\n"), message="one")
    (place.root / "x.txt").write_text("both\n")
    place.git("add", "-A")
    place.git("commit", "-qm", "merged")
    (place.root / "a.md").write_bytes(b"A\nby hand\n")
    place.git("commit", "-qam", "mine")
    place.recover()
    place.assert_sound()
    assert place.in_head("a.md") == "A\nby hand"
    assert place.subjects()[:2] == ["one", "mine"]


def test_gc_between_the_crash_and_the_next_command(place: Place) -> None:
    place.crash("ref", FileChange("a.md", b"a\n", b"A\n"), FileChange("d/c.md", None, b"c\n"))
    place.git("rm", "-q", "--cached", "d/c.md")
    place.git("gc", "-q", "--prune=now")
    place.recover()
    assert place.git("fsck", "--strict", "--no-dangling") == ""
    assert place.in_head("d/c.md") == "c"
    place.assert_sound()


# A person's git that writes back an index which it had read before


def test_an_index_written_back_by_a_git_that_had_read_it_before_is_put_right(place: Place) -> None:
    stale = (place.root / ".git/index").read_bytes()

    def fault(name: str) -> None:
        if name == "end":
            (place.root / ".git/index").write_bytes(stale)

    changes = [FileChange("a.md", b"a\n", b"A\n"), FileChange("b.md", b"b\n", None), FileChange("c.md", None, b"c\n")]
    place.committer(fault).commit("2", changes, "agent\n", AGENT, NOW)
    place.assert_sound()


def test_an_index_written_back_later_is_put_right_by_the_next_write(place: Place) -> None:
    stale = (place.root / ".git/index").read_bytes()
    place.write(FileChange("a.md", b"a\n", b"A\n"), name="2")
    place.write(FileChange("c.md", None, b"c\n"), name="3")
    (place.root / ".git/index").write_bytes(stale)
    assert place.recover() == ()
    place.write(FileChange("a.md", b"A\n", b"AA\n"), name="4")
    place.assert_sound()


def test_what_a_person_stages_after_a_write_stays_staged(place: Place) -> None:
    place.write(FileChange("a.md", b"a\n", b"A\n"), FileChange("c.md", None, b"c\n"))
    place.git("rm", "-q", "c.md")
    (place.root / "a.md").write_bytes(b"by hand\n")
    place.git("add", "a.md")
    place.recover()
    assert place.git("status", "--porcelain").split("\n") == ["M  a.md", "D  c.md"]


@pytest.mark.parametrize("then", ["", "index", "commit"])
def test_a_commit_made_from_such_an_index_is_put_right(place: Place, then: str) -> None:
    """Also where the next write of the page was killed meanwhile."""
    stale = (place.root / ".git/index").read_bytes()
    place.write(FileChange("a.md", b"a\n", b"A\n"), FileChange("c.md", None, b"c\n"), name="2")
    if then:
        place.crash(then, FileChange("a.md", b"A\n", b"AA\n"), called="3")
    (place.root / ".git/index").write_bytes(stale)
    (place.root / "mine.txt").write_text("mine\n")
    place.git("add", "mine.txt")
    place.git("commit", "-qm", "mine")
    assert place.in_head("a.md") == "a", "git reversed the page, as it had read the index before"
    told = place.recover()
    assert told[0] == "restored a.md, c.md: a git commit had reversed it, with an index that it had read before"
    place.assert_sound()
    assert place.in_head("a.md") == ("AA" if then else "A")
    assert place.in_head("c.md") == "c"
    assert place.in_head("mine.txt") == "mine"


@pytest.mark.parametrize("how", ["--soft", "--mixed", "--hard"])
def test_a_write_that_a_person_takes_back_stays_taken_back(place: Place, how: str) -> None:
    place.write(FileChange("a.md", b"a\n", b"A\n"))
    place.git("reset", "-q", how, "HEAD~1")
    before = place.git("status", "--porcelain")
    assert place.recover() == ()
    assert place.git("status", "--porcelain") == before
    assert place.in_head("a.md") == "a"


def test_a_revert_by_a_person_stays(place: Place) -> None:
    place.write(FileChange("a.md", b"a\n", b"A\n"))
    place.git("revert", "--no-edit", "HEAD")
    assert place.recover() == ()
    place.assert_sound()
    assert place.in_head("a.md") == "a"
