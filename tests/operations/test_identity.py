"""Renames, moves, copies and deletes that wikimem does not make: a page stays the page that it was."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Desk = Any

ULID = "01JDZK3V9Q4T8M2X7B5C1R6W0N"
BODY = "\n".join(f"Line {number} of what this page says." for number in range(12)) + "\n"
WITH_ID = f"---\nid: {ULID}\n---\n{BODY}"

both_kinds = pytest.mark.parametrize("text", [BODY, WITH_ID], ids=["derived id", "own id"])


def page_id(desk: Desk, path: str) -> str:
    return str(desk.run("read", page=path).id)


def settle(desk: Desk, message: str = "by hand") -> None:
    desk.git("add", "-A")
    desk.git("commit", "-qm", message)


def rename(desk: Desk, old: str, new: str) -> None:
    (desk.root / new).parent.mkdir(parents=True, exist_ok=True)
    os.rename(desk.root / old, desk.root / new)


def subjects(desk: Desk, page: str) -> list[str]:
    return [entry.subject for entry in desk.run("log", page=page).entries]


def is_whole(desk: Desk) -> bool:
    """The index is as one made anew, ids included."""
    return bool(desk.run("reindex", verify=True).differences == ())


@both_kinds
def test_a_page_renamed_in_a_file_manager_keeps_id_and_history(desk: Desk, text: str) -> None:
    desk.put("notes/Old.md", text)
    settle(desk, "write Old")
    first = page_id(desk, "notes/Old.md")
    rename(desk, "notes/Old.md", "elsewhere/New name.md")
    assert page_id(desk, "New name") == first
    assert subjects(desk, "New name") == ["write Old"], "a rename that is in no commit is followed"
    assert is_whole(desk)
    settle(desk, "rename it")
    assert page_id(desk, "New name") == first
    assert subjects(desk, "New name") == ["rename it", "write Old"]
    assert desk.run("read", page=first).path == "elsewhere/New name.md"
    assert is_whole(desk)


@both_kinds
def test_a_page_renamed_with_git_mv_keeps_its_id_whoever_looks_first(desk: Desk, text: str) -> None:
    desk.put("Old.md", text)
    settle(desk)
    first = page_id(desk, "Old.md")
    desk.git("mv", "Old.md", "New.md")
    desk.git("commit", "-qm", "rename")
    desk.git("mv", "New.md", "Newer.md")
    desk.git("commit", "-qm", "rename again")
    assert page_id(desk, "Newer.md") == first
    assert is_whole(desk)


@both_kinds
def test_moved_and_edited_in_one_go(desk: Desk, text: str) -> None:
    desk.put("Old.md", text)
    settle(desk, "write Old")
    first = page_id(desk, "Old.md")
    rename(desk, "Old.md", "sub/New.md")
    desk.put("sub/New.md", text.replace("Line 3", "The third line") + "One more.\n")
    assert page_id(desk, "sub/New.md") == first
    assert subjects(desk, "sub/New.md") == ["write Old"]
    settle(desk, "move and edit")
    assert page_id(desk, "sub/New.md") == first
    assert is_whole(desk)


def test_the_same_content_under_another_path_is_found_and_not_lost(desk: Desk) -> None:
    """A move without an edit must not be taken for something already indexed."""
    desk.put("notes/a/foo.md", BODY + "zebra\n")
    desk.put("b.md", "see [[foo]]\n")
    settle(desk)
    first = desk.run("search", query="zebra").hits[0].id
    desk.git("mv", "notes/a/foo.md", "notes/foo.md")
    hit = desk.run("search", query="zebra").hits[0]
    assert (hit.path, hit.id) == ("notes/foo.md", first)
    assert [link.path for link in desk.run("read", page="notes/foo.md").links_in] == ["b.md"]


def test_a_folder_with_most_of_the_vault_is_renamed(desk: Desk) -> None:
    for number in range(40):
        desk.put(f"notes/{number}.md", f"{BODY}{number}\n")
    settle(desk)
    before = {number: page_id(desk, f"notes/{number}.md") for number in (0, 17, 39)}
    rename(desk, "notes", "archive/2025")
    assert desk.run("status").index.behind == 0, "pages that moved are not lost"
    assert {number: page_id(desk, f"archive/2025/{number}.md") for number in before} == before
    shutil.rmtree(desk.root / "archive")
    assert desk.run("status").index.behind == 40, "pages that are gone are"


@pytest.mark.parametrize("name", ["测试文件.md", "file with 🔥.md", 'inbox/q"uote and \\ slash.md'])
def test_names_that_git_would_quote_are_followed(desk: Desk, name: str) -> None:
    desk.put("Old.md", BODY)
    settle(desk, "write")
    first = page_id(desk, "Old.md")
    rename(desk, "Old.md", name)
    assert page_id(desk, name) == first
    assert subjects(desk, name) == ["write"]
    settle(desk, "rename")
    assert desk.run("log", page=name).entries[0].pages == (name,)
    assert page_id(desk, name) == first
    rename(desk, name, "Plain.md")
    settle(desk)
    assert page_id(desk, "Plain.md") == first


def test_what_was_deleted_is_not_found_and_what_is_there_twice_is_told(desk: Desk) -> None:
    desk.put("Chat.md", BODY * 4)
    assert desk.run("search", query="Line what this page says").hits[0].path == "Chat.md"
    (desk.root / "Chat.md").unlink()
    desk.put("Exported again.md", BODY * 4)
    desk.put("And again.md", BODY * 4)
    paths = {hit.path for hit in desk.run("search", query="Line what this page says").hits}
    assert "Chat.md" not in paths
    done = desk.run("check", rule=["near-duplicate"])
    assert [(each.path, each.message) for each in done.problems] == [
        ("Exported again.md", "says the same as 'And again.md'")
    ]


def test_a_full_disk_for_what_is_remembered_stops_no_answer(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.put("Old.md", BODY)
    settle(desk)
    first = page_id(desk, "Old.md")
    seen = desk.wiki().folders.state / "origins.json"
    seen.unlink(missing_ok=True)
    seen.mkdir()
    rename(desk, "Old.md", "New.md")
    assert page_id(desk, "New.md") == first


def test_another_machine_gives_the_same_ids(desk: Desk, make_desk: Callable[..., Desk]) -> None:
    desk.put("Old.md", BODY)
    desk.put("Short.md", "x\n")
    settle(desk)
    first, short = page_id(desk, "Old.md"), page_id(desk, "Short.md")
    rename(desk, "Old.md", "New.md")
    settle(desk)
    # wikimem's own moves need no likeness: the commit says what they are.
    desk.run("move", page="Short.md", to="other/Name.md")
    desk.put("Old.md", "another page\n")
    settle(desk)
    another = page_id(desk, "Old.md")
    clone = make_desk("clone")
    desk.git("push", "-q", str(clone.root), "HEAD:refs/heads/theirs")
    clone.git("reset", "-q", "--hard", "theirs")
    assert page_id(clone, "New.md") == first
    assert page_id(clone, "other/Name.md") == short
    assert page_id(clone, "Old.md") == another != first


def test_ids_survive_the_loss_of_cache_and_state(desk: Desk, tmp_path: Path) -> None:
    desk.put("Old.md", BODY)
    settle(desk)
    first = page_id(desk, "Old.md")
    rename(desk, "Old.md", "New.md")
    page_id(desk, "New.md")
    settle(desk)
    page_id(desk, "New.md")
    for folder in (desk.wiki().folders.cache, desk.wiki().folders.state):
        shutil.rmtree(folder)
    assert page_id(desk, "New.md") == first


def test_a_delete_seen_before_the_page_is_back_elsewhere(desk: Desk) -> None:
    """Sync tools delete in one round and add in another: the commit shows that it was a move."""
    desk.put("Old.md", BODY)
    settle(desk)
    first = page_id(desk, "Old.md")
    (desk.root / "Old.md").unlink()
    desk.run("status")
    desk.put("New.md", BODY)
    assert page_id(desk, "New.md") != first
    settle(desk)
    assert page_id(desk, "New.md") == first
    assert is_whole(desk)


def test_a_page_put_where_a_moved_one_was_is_another_page_and_stays_one(desk: Desk) -> None:
    desk.put("Old.md", BODY)
    settle(desk)
    first = page_id(desk, "Old.md")
    rename(desk, "Old.md", "New.md")
    page_id(desk, "New.md")
    desk.put("Old.md", "a new thought\n")
    second = page_id(desk, "Old.md")
    settle(desk)
    assert (page_id(desk, "New.md"), page_id(desk, "Old.md")) == (first, second)
    (desk.root / "New.md").unlink()
    settle(desk)
    assert page_id(desk, "Old.md") == second
    desk.git("revert", "--no-edit", "HEAD")
    assert (page_id(desk, "New.md"), page_id(desk, "Old.md")) == (first, second)
    assert is_whole(desk)


@both_kinds
def test_a_deleted_page_that_is_brought_back_is_the_same(desk: Desk, text: str) -> None:
    desk.put("Note.md", text)
    settle(desk)
    first = page_id(desk, "Note.md")
    desk.git("rm", "-q", "Note.md")
    desk.git("commit", "-qm", "remove")
    assert desk.run("search", query="Line").hits == ()
    desk.git("revert", "--no-edit", "HEAD")
    assert page_id(desk, "Note.md") == first


@both_kinds
def test_a_rename_in_capitals_alone(desk: Desk, text: str) -> None:
    desk.put("readme first.md", text)
    desk.put("Links.md", "[[readme first]]\n")
    settle(desk, "write")
    first = page_id(desk, "readme first.md")
    rename(desk, "readme first.md", "README First.md")
    assert page_id(desk, "README First.md") == first
    assert desk.run("check", rule=["broken-link", "case-collision"]).problems == ()
    settle(desk, "capitals")
    assert page_id(desk, "README First.md") == first
    assert subjects(desk, "README First.md") == ["capitals", "write"]


@both_kinds
def test_a_rename_from_composed_to_decomposed(desk: Desk, text: str) -> None:
    composed, decomposed = (unicodedata.normalize(form, "Café à la carte.md") for form in ("NFC", "NFD"))
    desk.put(composed, text)
    desk.put("Links.md", "[[Café à la carte]]\n")
    settle(desk, "write")
    first = page_id(desk, composed)
    rename(desk, composed, decomposed)
    assert page_id(desk, decomposed) == first
    assert desk.run("check", rule=["broken-link"]).problems == ()
    settle(desk, "as macOS spells it")
    assert page_id(desk, decomposed) == first
    assert subjects(desk, decomposed) == ["as macOS spells it", "write"]


def test_a_copy_is_another_page(desk: Desk) -> None:
    desk.put("Note.md", BODY)
    settle(desk)
    first = page_id(desk, "Note.md")
    shutil.copyfile(desk.root / "Note.md", desk.root / "Note copy.md")
    assert page_id(desk, "Note.md") == first
    assert page_id(desk, "Note copy.md") != first
    settle(desk)
    assert page_id(desk, "Note.md") == first
    assert is_whole(desk)


def test_two_pages_of_one_content_change_places(desk: Desk) -> None:
    """Equal pages cannot be told apart by content; their names can."""
    for path in ("a/One.md", "a/Two.md"):
        desk.put(path, BODY)
    settle(desk)
    before = {name: page_id(desk, f"a/{name}.md") for name in ("One", "Two")}
    rename(desk, "a/One.md", "b/One.md")
    rename(desk, "a/Two.md", "c/Two.md")
    assert {"One": page_id(desk, "b/One.md"), "Two": page_id(desk, "c/Two.md")} == before


def test_an_empty_page_is_not_every_other_empty_page(desk: Desk) -> None:
    desk.put("Untitled.md", "")
    settle(desk)
    first = page_id(desk, "Untitled.md")
    (desk.root / "Untitled.md").unlink()
    desk.put("Something else.md", "")
    assert page_id(desk, "Something else.md") != first


def test_branches_have_their_own_account_of_renames(desk: Desk) -> None:
    desk.put("Old.md", BODY)
    settle(desk)
    first = page_id(desk, "Old.md")
    desk.git("checkout", "-q", "-b", "renamed")
    desk.git("mv", "Old.md", "New.md")
    desk.git("commit", "-qm", "rename")
    assert page_id(desk, "New.md") == first
    desk.git("checkout", "-q", "-")
    assert page_id(desk, "Old.md") == first
    desk.git("merge", "-q", "--no-edit", "renamed")
    assert page_id(desk, "New.md") == first
    assert is_whole(desk)


def test_history_that_was_rewritten_is_read_anew(desk: Desk) -> None:
    desk.put("Old.md", BODY)
    settle(desk)
    first = page_id(desk, "Old.md")
    desk.git("mv", "Old.md", "New.md")
    desk.git("commit", "-qm", "rename")
    assert page_id(desk, "New.md") == first
    desk.git("commit", "-q", "--amend", "-m", "rename, in other words")
    assert page_id(desk, "New.md") == first
    desk.git("reset", "-q", "--hard", "HEAD~1")
    assert page_id(desk, "Old.md") == first
    assert is_whole(desk)


def test_a_vault_in_a_subfolder_follows_its_own_renames(make_desk: Callable[..., Desk], tmp_path: Path) -> None:
    from wikimem.operations.processes import init

    make_desk("other")
    outer = tmp_path / "outer"
    (outer / "docs").mkdir(parents=True)
    (outer / "docs" / "Old.md").write_text(BODY)
    subprocess.run(["git", "init", "-q", str(outer)], check=True)
    init(outer / "docs", cwd=tmp_path)
    desk = type(make_desk("third"))(outer / "docs", outer)
    settle(desk, "write")
    first = page_id(desk, "Old.md")
    desk.git("mv", "Old.md", "New.md")
    assert subjects(desk, "New.md") == ["write"]
    desk.git("commit", "-qm", "rename")
    assert page_id(desk, "New.md") == first
    assert subjects(desk, "New.md") == ["rename", "write"]
    desk.close()


def test_a_page_without_a_commit_keeps_its_id_where_only_its_path_changes(desk: Desk) -> None:
    desk.put("Untitled 3.md", BODY)
    first = page_id(desk, "Untitled 3.md")
    rename(desk, "Untitled 3.md", "A real title.md")
    assert page_id(desk, "A real title.md") == first
    assert desk.run("read", page="A real title.md").title == "A real title"
    rename(desk, "A real title.md", "sub/A real title.md")
    assert page_id(desk, "sub/A real title.md") == first


def test_the_log_of_a_page_with_an_id_goes_on_before_a_rename_that_git_does_not_see(desk: Desk) -> None:
    desk.put("Old.md", WITH_ID)
    settle(desk, "write")
    rename(desk, "Old.md", "New.md")
    desk.put("New.md", f"---\nid: {ULID}\n---\nQuite another text, with nothing of what was there.\n")
    assert subjects(desk, "New.md") == ["write"]
    settle(desk, "write it anew")
    desk.put("New.md", desk.text("New.md") + "more\n")
    settle(desk, "more")
    assert subjects(desk, "New.md") == ["more", "write it anew", "write"]
    assert [entry.subject for entry in desk.run("log", page="New.md", limit=2).entries] == ["more", "write it anew"]


def test_no_git_status_changes_by_following_renames(desk: Desk) -> None:
    desk.put("Old.md", BODY)
    settle(desk)
    page_id(desk, "Old.md")
    rename(desk, "Old.md", "New.md")
    before = desk.git("status", "--porcelain")
    page_id(desk, "New.md")
    desk.run("log", page="New.md")
    assert desk.git("status", "--porcelain") == before


def test_what_is_remembered_of_git_is_forgotten_when_git_says_it_too(desk: Desk) -> None:
    desk.put("Old.md", BODY)
    settle(desk)
    page_id(desk, "Old.md")
    rename(desk, "Old.md", "New.md")
    page_id(desk, "New.md")
    seen = desk.wiki().folders.state / "origins.json"
    assert json.loads(seen.read_bytes()) == {"New.md": "Old.md"}
    settle(desk)
    page_id(desk, "New.md")
    assert json.loads(seen.read_bytes()) == {}
