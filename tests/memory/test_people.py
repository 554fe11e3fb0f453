"""Committing people's edits: what is committed, as whom, under which words; and everything that is left alone."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from wikimem.memory.people import GONE_LEAST, Look, PeopleEdits, rest_of
from wikimem.model.caller import Caller
from wikimem.operations.processes import init, trust
from wikimem.vault.config import VaultConfig
from wikimem.vault.uncommitted import TakeUp
from wikimem.wiki import Wiki, open_wiki

REST_S = 0.05
SECRET = "AKIA" + "Z7QX4MNBV2LKJHGF"


@dataclass
class Desk:
    """A vault, somebody's hands in it, and who looks after their edits."""

    root: Path
    wiki: Wiki
    people: PeopleEdits

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def git(self, *args: str, check: bool = True) -> str:
        done = subprocess.run(["git", "-C", str(self.root), *args], capture_output=True, text=True, check=check)
        return done.stdout.strip()

    def committed(self, path: str, text: str) -> None:
        self.write(path, text)
        self.git("add", "-A")
        self.git("commit", "-qm", f"have {path}")

    def look(self, *, afresh: bool = True) -> Look:
        """Look until all has rested and was judged: the last look, or the one that committed."""
        for _ in range(20):
            look = self.people.look(self.wiki, afresh=afresh)
            if look.taken or look.left or look.again_s is None:
                return look
            time.sleep(REST_S)
        raise AssertionError("never at rest")

    def subject(self) -> str:
        return self.git("log", "-1", "--format=%s")

    def trailers(self, name: str) -> list[str]:
        return self.git("log", "-1", f"--format=%(trailers:key={name},valueonly)").split()

    def files(self) -> set[str]:
        return set(self.git("show", "--name-only", "--no-renames", "--format=").splitlines())


def opened(root: Path) -> Wiki:
    wiki = open_wiki(str(root), cwd=root, caller=Caller(cwd=root))
    wiki.user = replace(wiki.user, commit_after=REST_S)
    wiki.refresh()
    return wiki


@pytest.fixture
def desk(vault: Path) -> Iterator[Desk]:
    wiki = opened(vault)
    yield Desk(vault, wiki, PeopleEdits())
    wiki.close()


@pytest.fixture
def theirs(home: Any) -> Iterator[Desk]:
    """Somebody's existing repository, taken as a vault."""
    root = home.path / "notes"
    root.mkdir()
    (root / "known.md").write_text("# Known\n\nwritten long ago\n")
    subprocess.run(["git", "init", "-q", root], check=True)
    subprocess.run(["git", "-C", root, "add", "-A"], check=True)
    subprocess.run(["git", "-C", root, "commit", "-qm", "mine"], check=True)
    init(root, cwd=home.path)
    wiki = opened(root)
    yield Desk(root, wiki, PeopleEdits())
    wiki.close()


def test_an_edit_that_came_to_rest_is_committed_as_the_persons(desk: Desk) -> None:
    desk.committed("Note.md", "# A note\n\nbefore\n")
    desk.write("Note.md", "# A note\n\nafter\n")
    look = desk.look()
    assert look.taken is not None
    assert desk.subject() == look.taken.subject == "edit: A note"
    assert desk.git("log", "-1", "--format=%an <%ae> %cn") == "Ada Example <ada@example.org> Ada Example"
    assert desk.trailers("Wikimem-Op") == ["edit"]
    page = desk.wiki.read_page("Note.md")
    assert page is not None
    assert desk.trailers("Wikimem-Page") == [page.id]
    assert desk.files() == {"Note.md"}
    assert desk.git("status", "--porcelain") == ""
    assert desk.look() == Look()


def test_the_words_of_the_commit_name_every_page_by_what_was_done_to_it(desk: Desk) -> None:
    for name in ("one", "two", "three", "four", "away", "old place"):
        desk.write(f"{name}.md", f"# Page {name}\n\n" + f"words about {name}\n" * 5)
    desk.git("add", "-A")
    desk.git("commit", "-qm", "all")
    for name in ("one", "two", "three", "four"):
        desk.write(f"{name}.md", f"# Page {name}\n\nother words\n")
    (desk.root / "away.md").unlink()
    (desk.root / "moved").mkdir()
    os.rename(desk.root / "old place.md", desk.root / "moved" / "new place.md")
    desk.write("fresh.md", "# Fresh\n")
    assert desk.look().taken is not None
    assert desk.subject() == (
        "edit: Page four, Page one, Page three and 1 more; create: Fresh; "
        "rename: Page old place (old place.md to moved/new place.md); delete: Page away"
    )
    body = desk.git("log", "-1", "--format=%b")
    assert "rename: old place.md -> moved/new place.md" in body
    assert len(desk.trailers("Wikimem-Page")) == 7
    named = {path for line in body.splitlines() if ": " in line for path in line.partition(": ")[2].split(" -> ")}
    assert desk.files() <= named


def test_a_page_that_is_still_being_edited_waits(desk: Desk) -> None:
    desk.committed("Note.md", "one\n")
    head = desk.git("rev-parse", "HEAD")
    for number in range(8):
        desk.write("Note.md", f"edit {number}\n")
        look = desk.people.look(desk.wiki)
        assert look.taken is None
        assert look.again_s is not None
    assert desk.git("rev-parse", "HEAD") == head
    assert desk.look().taken is not None


def test_somebody_who_never_stops_editing_one_page_keeps_no_other_back(desk: Desk) -> None:
    desk.wiki.user = replace(desk.wiki.user, commit_after=1.0)
    desk.write("Done.md", "# Done\n")
    taken = None
    end = time.monotonic() + 60
    number = 0
    while taken is None and time.monotonic() < end:
        number += 1
        desk.write(f"busy/{number % 5}.md", f"edit {number}\n")
        taken = desk.people.look(desk.wiki).taken
    assert taken is not None
    assert "Done.md" in taken.pages


def test_a_file_that_keeps_its_old_time_rests_from_when_it_was_seen(desk: Desk) -> None:
    desk.committed("Note.md", "one\n")
    desk.write("Note.md", "two, and longer\n")
    os.utime(desk.root / "Note.md", (1, 1))
    assert desk.people.look(desk.wiki).taken is None
    os.utime(desk.root / "Note.md", (time.time() + 1e6,) * 2)
    assert desk.look().taken is not None


def test_an_agents_write_is_never_taken_for_a_persons(desk: Desk) -> None:
    from wikimem.operations import OPERATIONS

    remember = next(each for each in OPERATIONS if each.name == "remember")
    desk.git("bisect", "start")
    agent = desk.wiki.on_behalf(agent="robot")
    remember.run(agent, {"title": "Written while git was busy", "text": "words"})
    for _ in range(3):
        assert desk.people.look(desk.wiki).taken is None
        time.sleep(REST_S)
    desk.git("bisect", "reset")
    look = desk.look()
    assert look.taken is None
    assert desk.git("log", "-1", "--format=%an") == "robot"
    assert desk.git("status", "--porcelain") == ""


@pytest.mark.parametrize("operation", ["merge", "rebase", "cherry-pick", "bisect", "detached"])
def test_nothing_is_committed_in_the_midst_of_an_operation_of_gits(desk: Desk, operation: str) -> None:
    desk.committed("Other.md", "other\n")
    desk.committed("Note.md", "base\n")
    desk.git("checkout", "-qb", "side")
    desk.committed("Note.md", "side\n")
    desk.git("checkout", "-q", "main")
    desk.committed("Note.md", "main\n")
    if operation == "bisect":
        desk.git("bisect", "start")
    elif operation == "detached":
        desk.git("checkout", "-q", "--detach")
    else:
        desk.git(*([operation, "side"]), check=False)
    head = desk.git("rev-parse", "HEAD")
    desk.write("Other.md", "edited meanwhile\n")
    desk.people.look(desk.wiki)
    time.sleep(2 * REST_S)
    look = desk.people.look(desk.wiki)
    assert look.taken is None
    assert look.again_s is not None
    assert desk.git("rev-parse", "HEAD") == head
    assert (desk.root / "Other.md").read_text() == "edited meanwhile\n"


def test_conflict_markers_are_left_alone_and_said_once(desk: Desk) -> None:
    desk.committed("Note.md", "one\n")
    desk.committed("Fine.md", "one\n")
    marked = "<<<<<<< HEAD\none\n=======\ntwo\n>>>>>>> side\n"
    desk.write("Note.md", marked)
    desk.write("Fine.md", "two\n")
    look = desk.look()
    assert look.taken is not None
    assert look.taken.pages == ("Fine.md",)
    assert [(each.path, "conflict markers" in each.why) for each in look.left] == [("Note.md", True)]
    assert desk.look().left == ()
    assert (desk.root / "Note.md").read_text() == marked
    desk.write("Note.md", "resolved\n")
    assert desk.look().taken is not None


def test_a_new_secret_is_left_alone_and_never_shown(desk: Desk) -> None:
    desk.committed("Note.md", "one\n")
    desk.write("Note.md", f"aws_access_key_id = {SECRET}\n")
    look = desk.look()
    assert look.taken is None
    assert len(look.left) == 1
    assert "secret" in look.left[0].why
    assert SECRET not in look.left[0].why
    assert desk.git("log", "--all", "-S", SECRET, "--format=%h") == ""
    assert SECRET in (desk.root / "Note.md").read_text()


def test_a_page_whose_secret_is_in_history_already_may_be_edited(desk: Desk) -> None:
    desk.committed("Note.md", f"aws_access_key_id = {SECRET}\n")
    desk.write("Note.md", f"aws_access_key_id = {SECRET}\nand more\n")
    assert desk.look().taken is not None


def test_what_somebody_has_staged_is_theirs_to_commit(desk: Desk) -> None:
    for name in ("same.md", "other.md", "gone.md", "free.md"):
        desk.committed(name, "one\n")
    for name in ("same.md", "other.md", "free.md"):
        desk.write(name, f"two of {name}\n")
    desk.git("add", "same.md", "other.md")
    desk.git("rm", "-q", "--cached", "gone.md")
    desk.write("other.md", "three\n")
    before = desk.git("diff", "--cached")
    look = desk.look()
    assert look.taken is not None
    assert look.taken.pages == ("free.md",)
    assert {each.path for each in look.left} >= {"same.md", "other.md"}
    assert desk.git("diff", "--cached") == before


def test_only_pages_are_committed_and_no_other_file(desk: Desk) -> None:
    desk.committed("Note.md", "one\n")
    desk.committed("data.csv", "1\n")
    desk.write("Note.md", "two\n")
    desk.write("data.csv", "2\n")
    desk.write("new.png", "x")
    desk.write("templates/extra.md", "a template\n")
    desk.write("Note.sync-conflict-20260101-120000-ABC.md", "two\n")
    desk.write("Note (Conflicted copy laptop 202612010900).md", "two\n")
    look = desk.look()
    assert look.taken is not None
    assert desk.files() == {"Note.md"}


def test_new_notes_in_somebodys_repository_stay_theirs_and_their_edits_are_committed(theirs: Desk) -> None:
    theirs.write("known.md", "# Known\n\nwritten now\n")
    theirs.write("unknown.md", "# Unknown\n")
    look = theirs.look()
    assert look.taken is not None
    assert look.taken.pages == ("known.md",)
    assert [each.path for each in look.left] == ["unknown.md"]
    assert theirs.git("status", "--porcelain") == "?? unknown.md"


def test_a_rename_in_somebodys_repository_is_committed_as_one(theirs: Desk) -> None:
    os.rename(theirs.root / "known.md", theirs.root / "better.md")
    look = theirs.look()
    assert look.taken is not None
    assert set(look.taken.pages) == {"known.md", "better.md"}
    assert theirs.subject() == "rename: Known (known.md to better.md)"


def test_a_rename_is_whole_or_not_at_all(desk: Desk) -> None:
    desk.committed("old.md", "# Old\n\n" + "many words stay the same\n" * 10)
    text = (desk.root / "old.md").read_text()
    (desk.root / "old.md").unlink()
    desk.write("new.md", text + f"aws_access_key_id = {SECRET}\n")
    look = desk.look()
    assert look.taken is None
    assert {each.path for each in look.left} == {"old.md", "new.md"}


def test_what_an_interrupted_checkout_left_behind_is_not_committed(desk: Desk) -> None:
    for name in ("a.md", "b.md", "c.md"):
        desk.committed(name, f"{name} of main\n")
    desk.git("checkout", "-qb", "side")
    for name in ("a.md", "b.md"):
        desk.write(name, f"{name} of side\n")
    desk.write("only-side.md", "only there\n")
    desk.git("rm", "-q", "c.md")
    desk.git("add", "-A")
    desk.git("commit", "-qm", "side")
    desk.git("checkout", "-q", "main")
    head, index = desk.git("rev-parse", "HEAD"), desk.git("ls-files", "--stage")
    # As git goes about it: files that go, then files that come; the index and HEAD at the end.
    (desk.root / "c.md").unlink()
    desk.write("a.md", "a.md of side\n")
    desk.write("only-side.md", "only there\n")
    look = desk.look()
    assert look.taken is None
    assert {each.path for each in look.left} == {"a.md", "c.md", "only-side.md"}
    assert (desk.git("rev-parse", "HEAD"), desk.git("ls-files", "--stage")) == (head, index)


def test_a_branch_that_was_moved_without_its_files_is_not_reversed(desk: Desk) -> None:
    desk.committed("a.md", "old\n")
    old = desk.git("rev-parse", "HEAD")
    desk.committed("a.md", "new\n")
    desk.committed("b.md", "also new\n")
    new = desk.git("rev-parse", "HEAD")
    desk.git("reset", "-q", "--hard", old)
    # As a fetch into the branch that is checked out does.
    desk.git("update-ref", "refs/heads/main", new)
    look = desk.look()
    assert look.taken is None
    assert desk.git("rev-parse", "HEAD") == new
    assert desk.git("show", "HEAD:a.md") == "new"


def test_a_folder_that_is_moved_back_is_an_edit(desk: Desk) -> None:
    desk.write("one/a.md", "# A\n\nwords of a\n")
    os.utime(desk.root / "one/a.md", (1e9, 1e9))
    desk.git("add", "-A")
    desk.git("commit", "-qm", "have a")
    for old, new in (("one", "two"), ("two", "one")):
        os.rename(desk.root / old, desk.root / new)
        assert desk.look().taken is not None
        assert desk.subject() == f"rename: A ({old}/a.md to {new}/a.md)"


def test_what_was_taken_out_of_a_commit_by_a_reset_stays_out(desk: Desk) -> None:
    desk.committed("a.md", "old\n")
    desk.committed("a.md", "new, to be split up\n")
    desk.git("reset", "-q", "HEAD~1")
    assert desk.look().taken is None
    assert (desk.root / "a.md").read_text() == "new, to be split up\n"


def test_a_stash_that_was_applied_is_an_edit(desk: Desk) -> None:
    desk.committed("a.md", "old\n")
    desk.write("a.md", "put away\n")
    desk.git("stash")
    desk.git("stash", "apply")
    assert desk.look().taken is not None
    assert desk.git("show", "HEAD:a.md") == "put away"


def test_a_git_that_was_killed_is_waited_for(desk: Desk) -> None:
    desk.committed("a.md", "old\n")
    desk.write("a.md", "new\n")
    lock = desk.root / ".git" / "index.lock"
    lock.write_text("")
    desk.people.look(desk.wiki)
    time.sleep(2 * REST_S)
    assert desk.people.look(desk.wiki).taken is None
    lock.unlink()
    assert desk.look().taken is not None


def test_a_vault_that_seems_to_be_emptied_is_no_edit(desk: Desk) -> None:
    for number in range(GONE_LEAST + 5):
        desk.write(f"many/{number}.md", f"page {number} {'x' * number}\n")
    desk.git("add", "-A")
    desk.git("commit", "-qm", "many")
    desk.wiki.refresh()
    for number in range(GONE_LEAST + 5):
        (desk.root / f"many/{number}.md").unlink()
    head = desk.git("rev-parse", "HEAD")
    look = desk.look()
    assert look.taken is None
    assert "gone at once" in look.left[0].why
    assert desk.git("rev-parse", "HEAD") == head


def test_a_deletion_is_committed(desk: Desk) -> None:
    desk.committed("a.md", "# Going\n")
    (desk.root / "a.md").unlink()
    assert desk.look().taken is not None
    assert desk.subject() == "delete: Going"


def test_a_crash_between_staging_and_commit_is_made_good(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.committed("a.md", "old\n")
    desk.write("a.md", "new\n")

    def killed(*_: object, **__: object) -> bytes:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(TakeUp, "_advance", killed)
        with pytest.raises(SystemExit):
            desk.look()
    assert desk.git("diff", "--cached", "--name-only") == "a.md"
    assert desk.look().taken is not None
    assert desk.git("status", "--porcelain") == ""
    assert desk.git("show", "HEAD:a.md") == "new"


@pytest.mark.parametrize("theirs_first", [["a.md"], ["a.md", "b.md"]])
def test_what_the_person_commits_first_is_not_committed_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, theirs_first: list[str]
) -> None:
    """Between the judgement and the commit they run git themselves: a commit on top would say what it does not hold."""
    desk.committed("a.md", "old\n")
    desk.write("a.md", "new\n")
    desk.write("b.md", "another\n")
    advance = TakeUp._advance

    def overtaken(take_up: TakeUp, *given: Any, **options: Any) -> bytes:
        monkeypatch.setattr(TakeUp, "_advance", advance)
        desk.git("commit", "-qm", "mine", "--", *theirs_first)
        return advance(take_up, *given, **options)

    monkeypatch.setattr(TakeUp, "_advance", overtaken)
    look = desk.look()
    rest = {"a.md", "b.md"} - set(theirs_first)
    assert (look.taken is not None) == bool(rest)
    assert desk.subject() == ("create: b" if rest else "mine")
    assert desk.files() == (rest or set(theirs_first))
    assert desk.git("status", "--porcelain") == ""


def test_the_vaults_setting_makes_it_longer_or_switches_it_off_and_never_shorter(desk: Desk) -> None:
    def rest(mine: float | None, vaults: float) -> float:
        desk.wiki.user = replace(desk.wiki.user, commit_after=mine)
        desk.wiki.config = VaultConfig(commit_after=vaults)
        return rest_of(desk.wiki)[0]

    off = float("inf")
    assert [rest(None, 0), rest(None, 10), rest(None, 600), rest(None, off)] == [120, 120, 600, off]
    assert [rest(30, 0), rest(30, 10), rest(300, 600), rest(off, 0), rest(off, 600)] == [30, 30, 600, off, off]


@pytest.mark.parametrize(
    ("plugins", "settings", "off"),
    [
        (["obsidian-git"], {"autoSaveInterval": 10}, True),
        (["obsidian-git"], {"autoSaveInterval": 0}, False),
        (["dataview"], {"autoSaveInterval": 10}, False),
        (["obsidian-git"], {}, False),
        (["obsidian-git"], "broken", False),
    ],
)
def test_where_obsidian_git_commits_wikimem_does_not(desk: Desk, plugins: list[str], settings: Any, off: bool) -> None:
    desk.write(".obsidian/community-plugins.json", json.dumps(plugins))
    desk.write(".obsidian/plugins/obsidian-git/data.json", json.dumps(settings))
    rest_s, why = rest_of(desk.wiki)
    assert (rest_s == float("inf")) == off
    assert ("Obsidian Git" in why) == off


def test_a_vault_inside_a_larger_repository_is_asked_for(home: Any) -> None:
    outer = home.path / "code"
    (outer / "notes").mkdir(parents=True)
    (outer / "notes" / "a.md").write_text("a\n")
    (outer / "main.py").write_text("x\n")
    subprocess.run(["git", "init", "-q", outer], check=True)
    subprocess.run(["git", "-C", outer, "add", "-A"], check=True)
    subprocess.run(["git", "-C", outer, "commit", "-qm", "code"], check=True)
    init(outer / "notes", cwd=home.path)
    wiki = opened(outer / "notes")
    desk = Desk(outer / "notes", wiki, PeopleEdits())
    desk.write("a.md", "edited\n")
    (outer / "main.py").write_text("y\n")
    wiki.user = replace(wiki.user, commit_after=None)
    assert "larger repository" in rest_of(wiki)[1]
    wiki.user = replace(wiki.user, commit_after=REST_S)
    assert desk.look().taken is not None
    assert desk.files() == {"notes/a.md"}
    wiki.close()


def test_a_clone_of_a_vault_takes_new_notes_as_the_vault_itself_does(desk: Desk, home: Any) -> None:
    subprocess.run(["git", "clone", "-q", desk.root, home.path / "clone"], check=True)
    trust(home.path / "clone", cwd=home.path)
    wiki = opened(home.path / "clone")
    clone = Desk(home.path / "clone", wiki, PeopleEdits())
    clone.write("New.md", "# New\n")
    assert clone.look().taken is not None
    assert clone.subject() == "create: New"
    wiki.close()
