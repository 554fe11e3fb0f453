"""One write is one commit of just its own bytes, in real repositories, beside a real git."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from wikimem.errors import Conflict, Refused, StaleRevision
from wikimem.vault.commit import Committed, Committer, FileChange
from wikimem.vault.journal import Journal
from wikimem.vault.repository import Person, Repository

NOW = datetime(2025, 9, 12, 9, 14)
AGENT = Person("claude-code", "claude-code@agents.wikimem.invalid")


class Place:
    """A repository with a person's git beside wikimem's committer."""

    def __init__(self, top: Path, root: Path, state: Path) -> None:
        self.top, self.root, self.state = top, root, state
        self.names = 0

    def git(self, *args: str) -> str:
        done = subprocess.run(["git", "-C", str(self.top), *args], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def committer(self, fault: Callable[[str], None] = lambda _: None) -> Committer:
        return Committer(Repository(self.root), Journal(self.state), fault=fault)

    def write(self, *changes: FileChange, message: str = "remember(fact): x\n\nWikimem-Op: remember\n") -> Committed:
        self.names += 1
        return self.committer().commit(f"{self.names:026}", changes, message, AGENT, NOW)

    def name(self, path: str) -> str:
        """The vault path as git names it from the top."""
        return str((self.root / path).relative_to(self.top))

    def clean(self) -> bool:
        return self.git("status", "--porcelain") == ""


@pytest.fixture(params=["whole repository", "subfolder"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    (tmp_path / "gitconfig").write_text("[user]\n\tname = Ada Example\n\temail = ada@example.org\n")
    top = tmp_path / "repository"
    root = top / "notes" if request.param == "subfolder" else top
    root.mkdir(parents=True)
    (tmp_path / "state").mkdir()
    subprocess.run(["git", "init", "-q", "-b", "main", str(top)], check=True)
    return Place(top, root, tmp_path / "state")


def test_the_first_commit_of_a_repository(place: Place) -> None:
    done = place.write(FileChange("facts/a.md", None, b"one\n"))
    assert (place.root / "facts/a.md").read_bytes() == b"one\n"
    assert done.commit == place.git("rev-parse", "HEAD")
    assert place.clean()
    assert place.git("log", "-1", "--format=%an <%ae>|%cn|%s|%(trailers:key=Wikimem-Op,valueonly)") == (
        "claude-code <claude-code@agents.wikimem.invalid>|Ada Example|remember(fact): x|remember"
    )


def test_changes_and_removals_go_into_one_commit(place: Place) -> None:
    place.write(FileChange("a.md", None, b"a\n"), FileChange("deep/er/b.md", None, b"b\n"))
    place.write(FileChange("a.md", b"a\n", b"A\n"), FileChange("deep/er/b.md", b"b\n", None))
    assert place.clean()
    assert sorted(place.git("show", "--name-status", "--format=", "HEAD").split("\n")) == sorted(
        [f"M\t{place.name('a.md')}", f"D\t{place.name('deep/er/b.md')}"]
    )
    assert not (place.root / "deep").exists()
    assert place.git("fsck", "--strict", "--no-dangling") == ""


def test_a_persons_staged_and_unsaved_work_is_never_swept_in(place: Place) -> None:
    (place.top / "mine.txt").write_text("committed\n")
    place.git("add", "mine.txt")
    place.git("commit", "-qm", "mine")
    (place.top / "staged.txt").write_text("staged\n")
    place.git("add", "staged.txt")
    (place.top / "mine.txt").write_text("not committed\n")
    (place.top / "untracked.txt").write_text("untracked\n")
    before = place.git("status", "--porcelain")
    place.write(FileChange("a.md", None, b"a\n"))
    assert place.git("status", "--porcelain") == before
    assert place.git("show", "--name-only", "--format=", "HEAD").endswith("a.md")


def test_the_person_commits_next_without_deleting_the_agents_page(place: Place) -> None:
    place.write(FileChange("a.md", None, b"a\n"))
    (place.top / "mine.txt").write_text("mine\n")
    place.git("add", "mine.txt")
    place.git("commit", "-qm", "mine")
    assert place.git("show", "--name-status", "--format=", "HEAD") == "A\tmine.txt"


def test_a_page_that_a_person_changed_is_committed_first_as_theirs(place: Place) -> None:
    place.write(FileChange("a.md", None, b"a\n"))
    (place.root / "a.md").write_bytes(b"a, by hand\n")
    done = place.write(FileChange("a.md", b"a, by hand\n", b"a, by hand\nand more\n"))
    assert done.people == place.git("rev-parse", "HEAD~1")
    assert place.git("log", "-1", "--format=%an|%s", "HEAD~1") == "Ada Example|edit: a.md (by hand)"
    assert place.git("show", f"HEAD~1:{(place.root / 'a.md').relative_to(place.top)}") == "a, by hand"
    assert place.clean()


def test_a_page_staged_with_other_content_is_refused(place: Place) -> None:
    place.write(FileChange("a.md", None, b"a\n"))
    (place.root / "a.md").write_bytes(b"staged\n")
    place.git("add", ".")
    (place.root / "a.md").write_bytes(b"on disk\n")
    head = place.git("rev-parse", "HEAD")
    with pytest.raises(Refused, match="staged with other content"):
        place.write(FileChange("a.md", b"on disk\n", b"agent\n"))
    assert place.git("rev-parse", "HEAD") == head
    assert (place.root / "a.md").read_bytes() == b"on disk\n"
    assert place.git("diff", "--cached", "--name-only").endswith("a.md")


def test_a_change_based_on_other_bytes_is_a_conflict(place: Place) -> None:
    place.write(FileChange("a.md", None, b"a\n"))
    with pytest.raises(StaleRevision) as caught:
        place.write(FileChange("a.md", b"old\n", b"new\n"))
    assert len(caught.value.data["revision"]) == 16
    with pytest.raises(Conflict, match="exists already"):
        place.write(FileChange("a.md", None, b"new\n"))
    assert (place.root / "a.md").read_bytes() == b"a\n"


def test_what_a_person_swept_up_gets_an_empty_commit_with_the_trailers(place: Place) -> None:
    place.write(FileChange("a.md", None, b"a\n"))

    def sweep(step: str) -> None:
        if step == "commit" and place.git("log", "-1", "--format=%s") != "backup":
            place.git("add", "-A")
            place.git("commit", "-qm", "backup")

    place.committer(sweep).commit("9", [FileChange("b.md", None, b"b\n")], "remember(fact): b\n", AGENT, NOW)
    assert place.git("log", "--format=%s").split("\n")[:2] == ["remember(fact): b", "backup"]
    assert place.git("show", "--name-only", "--format=", "HEAD") == ""
    assert place.clean()


def test_the_branch_moved_by_somebody_else_is_committed_upon(place: Place) -> None:
    place.write(FileChange("a.md", None, b"a\n"))
    moved = []

    def move(step: str) -> None:
        if step == "ref" and not moved:
            moved.append(step)
            (place.top / "mine.txt").write_text("mine\n")
            place.git("add", "mine.txt")
            place.git("commit", "-qm", "mine", "--", "mine.txt")

    place.committer(move).commit("9", [FileChange("b.md", None, b"b\n")], "remember(fact): b\n", AGENT, NOW)
    assert place.git("log", "--format=%s").split("\n")[:2] == ["remember(fact): b", "mine"]
    assert place.clean()
    assert {"a.md", "b.md", "mine.txt"} == {
        Path(name).name for name in place.git("ls-tree", "-r", "--name-only", "HEAD").split("\n")
    }


class Crash(BaseException):
    """Stands for the death of the process at a step."""


STEPS = ("blob", "journal", "file", "index", "commit", "ref", "end")


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("nth", [1, 2])
def test_a_crash_at_any_step_is_finished_or_taken_back(place: Place, step: str, nth: int) -> None:
    place.write(FileChange("a.md", None, b"a\n"), FileChange("gone.md", None, b"gone\n"))
    seen = []

    def crash(name: str) -> None:
        seen.append(name)
        if seen.count(step) == nth and name == step:
            raise Crash

    changes = [
        FileChange("a.md", b"a\n", b"A\n"),
        FileChange("b.md", None, b"b\n"),
        FileChange("gone.md", b"gone\n", None),
    ]
    try:
        place.committer(crash).commit("9", changes, "edit: three\n\nWikimem-Op: edit\n", AGENT, NOW)
    except Crash:
        pass
    place.committer().recover()
    place.write(FileChange("c.md", None, b"c\n"))
    assert place.clean(), place.git("status", "--porcelain")
    assert place.git("fsck", "--strict", "--no-dangling") == ""
    on_disk = {path.name: path.read_bytes() for path in place.root.glob("*.md")}
    before = {"a.md": b"a\n", "gone.md": b"gone\n", "c.md": b"c\n"}
    after = {"a.md": b"A\n", "b.md": b"b\n", "c.md": b"c\n"}
    assert on_disk in (before, after)
    if seen.count(step) < nth:
        assert on_disk == after
    if step in ("file", "index", "commit", "ref", "end"):
        assert on_disk == after, "a write whose journal is there is finished"
    assert place.git("log", "--format=%s").split("\n").count("edit: three") == (on_disk == after)


def test_an_interrupted_write_gives_way_to_a_persons_edit(place: Place) -> None:
    place.write(FileChange("a.md", None, b"a\n"), FileChange("b.md", None, b"b\n"))

    def crash(name: str) -> None:
        if name == "index":
            raise Crash

    with pytest.raises(Crash):
        place.committer(crash).commit(
            "9", [FileChange("a.md", b"a\n", b"A\n"), FileChange("b.md", b"b\n", b"B\n")], "edit: two\n", AGENT, NOW
        )
    (place.root / "b.md").write_bytes(b"a person's own\n")
    told = place.committer().recover()
    assert told == ("took back 'edit: two', which was interrupted before it was acknowledged",)
    assert (place.root / "a.md").read_bytes() == b"a\n"
    assert (place.root / "b.md").read_bytes() == b"a person's own\n"
    assert place.git("status", "--porcelain").split() == ["M", str((place.root / "b.md").relative_to(place.top))]


def test_during_a_merge_the_commit_waits_and_comes_afterwards(place: Place) -> None:
    place.write(FileChange("a.md", None, b"a\n"))
    place.git("switch", "-qc", "other")
    (place.top / "x.txt").write_text("theirs\n")
    place.git("add", "x.txt")
    place.git("commit", "-qm", "theirs")
    place.git("switch", "-q", "main")
    (place.top / "x.txt").write_text("ours\n")
    place.git("add", "x.txt")
    place.git("commit", "-qm", "ours")
    subprocess.run(["git", "-C", str(place.top), "merge", "-q", "other"], capture_output=True, check=False)
    done = place.write(FileChange("b.md", None, b"b\n"))
    assert done == Committed(None, "merge")
    assert (place.root / "b.md").read_bytes() == b"b\n"
    (place.top / "x.txt").write_text("both\n")
    place.git("add", "x.txt")
    place.git("commit", "-qm", "merged")
    assert "b.md" not in place.git("ls-tree", "-r", "--name-only", "HEAD")
    told = place.committer().recover()
    assert len(told) == 1
    assert "had waited for git" in told[0]
    assert place.clean()
    assert place.git("log", "-1", "--format=%an|%s") == "claude-code|remember(fact): x"


def test_a_page_that_a_filter_converts_is_stored_as_git_would(place: Place) -> None:
    (place.top / ".gitattributes").write_text("*.md text eol=crlf\n")
    place.git("add", ".gitattributes")
    place.git("commit", "-qm", "attributes")
    place.write(FileChange("a.md", None, b"a\r\nb\r\n"))
    assert place.clean()
    command = ["git", "-C", str(place.top), "cat-file", "blob", f"HEAD:{place.name('a.md')}"]
    stored = subprocess.run(command, capture_output=True, check=True)
    assert stored.stdout == b"a\nb\n"
    assert (place.root / "a.md").read_bytes() == b"a\r\nb\r\n"


def test_everything_works_without_git_on_the_path(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    place.write(FileChange("a.md", None, b"a\n"))
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", "/nonexistent")
    place.write(FileChange("a.md", b"a\n", b"A\n"), FileChange("b/c.md", None, b"c\n"))
    monkeypatch.setenv("PATH", path)
    assert place.clean()
    assert place.git("fsck", "--strict", "--no-dangling") == ""
    assert place.git("log", "--format=%s", "-1") == "remember(fact): x"


@pytest.mark.parametrize("kind", ["bare", "sha256"])
def test_repositories_that_are_not_supported_are_refused_by_name(tmp_path: Path, kind: str) -> None:
    top = tmp_path / "repository"
    option = "--bare" if kind == "bare" else "--object-format=sha256"
    subprocess.run(["git", "init", "-q", option, str(top)], check=True)
    with pytest.raises(Refused, match=kind):
        Repository(top)
