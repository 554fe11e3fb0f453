"""check on what people and their tools do to vaults: types, copies, moved pages, citations; and no false alarms."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Desk = Any

ULID = "01JDZK3V9Q4T8M2X7B5C1R6W0N"
EXAMPLE = Path(__file__).parents[2] / "example-vault"
LONG = " ".join(f"word{number} of a longer text" for number in range(60))


def found(desk: Desk, *rules: str) -> list[tuple[str, str]]:
    return [(each.rule, each.path) for each in desk.run("check", rule=list(rules)).problems]


def messages(desk: Desk, *rules: str) -> list[str]:
    return [each.message for each in desk.run("check", rule=list(rules)).problems]


def settle(desk: Desk, message: str = "by hand") -> None:
    desk.git("add", "-A")
    desk.git("commit", "-qm", message)


# No false alarms


def test_the_example_vault_has_no_problem_but_the_fact_that_is_to_expire(make_desk: Callable[..., Desk]) -> None:
    desk = make_desk("example")
    shutil.rmtree(desk.root / ".obsidian")
    for name in os.listdir(EXAMPLE):
        if name != ".wikimem":
            copy = shutil.copytree if (EXAMPLE / name).is_dir() else shutil.copy
            shutil.rmtree(desk.root / name, ignore_errors=True)
            copy(EXAMPLE / name, desk.root / name)
    settle(desk)
    problems = [each for each in desk.run("check").problems if each.rule != "orphan"]
    assert [(each.rule, each.path.rpartition("/")[2]) for each in problems] == [
        ("expired-but-active", "Staging runs on the spare node pool.md")
    ]


def test_a_plain_vault_of_obsidian_has_no_problem(desk: Desk) -> None:
    """Daily notes from a template, properties of plug-ins, embeds, callouts, headings in links, numbered titles."""
    for day in range(1, 10):
        desk.put(
            f"journal/2025-09-{day:02}.md",
            f"---\ncreated: 2025-09-0{day}\ncssclasses: daily\nmood: {day}\n---\n"
            f"# 2025-09-{day:02}\n\n## Tasks\n- [ ] \n\n## Notes\n"
            f"Went to [[Chapter {1 + day % 3}]] and [[Index#Where things are|the index]].\n",
        )
    for number in (1, 2, 3):
        desk.put(
            f"Chapter {number}.md", f"---\ntags: [book]\nrating: {number}\n---\nText {number} ^start\n\n![[Index]]\n"
        )
    desk.put(
        "Chapter.md", "---\ntags: book\naliases: Book\n---\n> [!info] Not a fact\n> text\n\n[[Chapter 1#^start]]\n"
    )
    desk.put(
        "Index.md",
        "---\nrating: 4.5\ndue: 2025-01-01T10:00\npublish: true\n---\n"
        "# Where things are\n\n## Notes\na\n\n## Notes\nb\n\n"
        "[[#Where things are]] [[Index#Notes]] ![[pic.png]] [x](https://example.org/a#b) [y](Chapter%201.md#start)\n",
    )
    desk.put("projects-old/Meeting-2025.md", "See [[Meeting]].\n")
    desk.put("projects-old/Meeting.md", "Another one.\n")
    assert [(each.rule, each.path, each.message) for each in desk.run("check").problems if each.severity != "note"] == [
        ("broken-fragment", "Index.md", "'Chapter 1.md#start' leads to a page without the heading 'start'")
    ]


# Property types


def test_a_property_of_several_types_is_reported_once(desk: Desk) -> None:
    (desk.root / ".obsidian" / "types.json").unlink()
    for number in range(4):
        desk.put(f"n{number}.md", f"---\npriority: {number}\nseen: 2025-01-0{number + 1}\n---\n")
    desk.put("odd.md", "---\npriority: high\nPriority: [1]\nseen: 2025-01-01T10:00\n---\n")
    done = desk.run("check", rule=["mixed-property-type"])
    assert [(each.path, each.line, each.message) for each in done.problems] == [
        ("odd.md", 2, "`priority` is a number on 4 pages and a text here, as on 1 more pages")
    ]


def test_the_types_that_obsidian_was_told_decide(desk: Desk) -> None:
    (desk.root / ".obsidian" / "types.json").write_text('{"types": {"effort": "number", "people": "multitext"}}')
    desk.put("a.md", "---\neffort: much\npeople: Ada\n---\n")
    desk.put("b.md", "---\neffort: 3\npeople: [Ada, Bo]\n---\n")
    assert messages(desk, "mixed-property-type") == [
        "`effort` is of the type number in .obsidian/types.json and a text here"
    ]
    (desk.root / ".obsidian" / "types.json").write_text("{not json")
    assert len(messages(desk, "mixed-property-type")) == 2, "a file that cannot be read says nothing"


# Pages that say the same


def test_pages_that_say_the_same_or_nearly(desk: Desk) -> None:
    desk.put("a.md", f"---\ntags: [x]\n---\n# One\n\n{LONG}\n")
    desk.put("b.md", f"# One\n{LONG.upper()}\n")
    desk.put("c.md", f"# One\n\n{LONG} and a few words more at its end\n")
    desk.put("d.md", f"---\nstatus: superseded\nsuperseded_by: '[[a]]'\n---\n# One\n\n{LONG}\n")
    desk.put("e.md", " ".join(LONG.split()[::-1]) + "\n")
    desk.put("short.md", "the same few words\n")
    desk.put("shorter.md", "the same few words\n")
    done = desk.run("check", rule=["near-duplicate"])
    assert [(each.path, each.severity) for each in done.problems] == [("b.md", "note"), ("c.md", "note")]
    assert done.problems[0].message == "says the same as 'a.md'"
    assert "of its words' order with 'a.md'" in done.problems[1].message


def test_pages_in_a_script_without_spaces_are_compared_too(desk: Desk) -> None:
    text = "".join(chr(0x4E00 + (number * 37) % 5000) for number in range(200))
    desk.put("a.md", text + "\n")
    desk.put("b.md", text[:190] + "\n")
    assert found(desk, "near-duplicate") == [("near-duplicate", "b.md")]


# Copies of sync tools


@pytest.mark.parametrize(
    ("name", "because"),
    [
        ("Note (Conflicted copy laptop 202612010900).md", "Obsidian Sync"),
        ("Note (Ada's conflicted copy 2025-01-01).md", "Dropbox"),
        ("Note (conflicted copy 2025-01-01 120000).md", "Nextcloud"),
        ("Note (Case Conflict).md", "Dropbox, of capitals"),
        ("Note.sync-conflict-20250101-120000-ABCDEFG.md", "Syncthing"),
        ("Note_conflict-20250101-120000.md", "ownCloud"),
        ("Note (SFConflict ada@example.org 2025-01-01-12-00-00).md", "Seafile"),
        ("Note 2.md", "iCloud"),
        ("Note (1).md", "Google Drive"),
        ("Note-LAPTOP-7Q2.md", "OneDrive"),
        ("Note.Conflict.md", "Resilio"),
        ("Note copy.md", "Finder"),
    ],
)
def test_the_copy_of_each_sync_tool(desk: Desk, name: str, because: str) -> None:
    lines = LONG.replace(" of", "\nof")
    desk.put("Note.md", f"---\nkind: x\n---\n{lines}\n")
    desk.put(name, f"---\nkind: x\n---\n{lines.replace('word3', 'another')}\n")
    assert found(desk, "conflict-copy") == [("conflict-copy", name)], because


def test_a_name_like_a_copys_is_none_without_evidence(desk: Desk) -> None:
    for name in ("Note", "Note 2", "Note (1)", "Note-LAPTOP", "Note copy", "About a conflict", "Sync-conflicts"):
        desk.put(f"{name}.md", f"What {name} is about.\n" + "".join(f"{name} {n}\n" for n in range(30)))
    assert found(desk, "conflict-copy") == []


def test_the_note_that_obsidian_git_leaves_is_no_page_of_yours(desk: Desk) -> None:
    desk.put("conflict-files-obsidian-git.md", "# Conflicts\n- [[Note]]\n")
    done = desk.run("check", rule=["obsidian-git-conflict", "orphan", "conflict-copy"])
    assert [(each.rule, each.severity) for each in done.problems] == [("obsidian-git-conflict", "error")]


# Copies of an id


def test_the_page_that_git_knew_first_keeps_the_id_though_it_was_renamed_since(desk: Desk) -> None:
    page = f"---\nid: {ULID}\n---\n{LONG}\n"
    desk.put("z/Original.md", page)
    settle(desk)
    desk.put("a copy.md", page)
    settle(desk)
    desk.git("mv", "z/Original.md", "z/Renamed and longer.md")
    desk.git("commit", "-qm", "rename")
    done = desk.run("check", rule=["duplicate-id"])
    assert [(each.severity, each.fixable) for each in done.problems] == [("error", True)]
    assert desk.run("check", rule=["duplicate-id"], fix=True, dry_run=True).fixed == (
        "a copy.md: give it an id of its own ('z/Renamed and longer.md' keeps it)",
    )
    assert desk.run("check", rule=["duplicate-id"], fix=True).problems == ()
    assert desk.text("z/Renamed and longer.md") == page
    assert desk.git("log", "-1", "--name-only", "--format=") == "a copy.md"


# Citations, blocks, validity, names


def test_citations_that_are_not_there_any_more(desk: Desk) -> None:
    desk.put("Session.md", "- 09:12 did it ^o-7f3k2m9qxa\n\n## Outcome\nfine\n")
    desk.put(
        "Fact.md",
        "---\nsources:\n  - '[[Session#^o-7f3k2m9qxa]]'\n  - '[[Session#^o-gone]]'\n  - '[[Session#Outcome]]'\n"
        "  - '[[Session#Elsewhere]]'\n  - '[[Lost session]]'\n  - https://example.org\n  - file:a.py@abc\n---\n"
        "[[Session#^o-gone]] [[Session#outcome]] [[Session#Nowhere|x]]\n",
    )
    done = desk.run("check", rule=["missing-citation", "broken-fragment", "broken-link"])
    assert [(each.rule, each.line, each.message) for each in done.problems] == [
        ("missing-citation", 4, "'Session#^o-gone' leads to a page without the block '^o-gone'"),
        ("missing-citation", 6, "'Session#Elsewhere' leads to a page without the heading 'Elsewhere'"),
        ("missing-citation", 7, "'Lost session' leads to no page"),
        ("broken-fragment", 11, "'Session#Nowhere' leads to a page without the heading 'Nowhere'"),
        ("broken-fragment", 11, "'Session#^o-gone' leads to a page without the block '^o-gone'"),
    ]


def test_block_ids_that_are_there_twice(desk: Desk) -> None:
    desk.put("a.md", "one ^x\n\ntwo ^x\n\n```\nthree ^x\n```\n\n- four ^y\n")
    done = desk.run("check", rule=["duplicate-block-id"])
    assert [(each.path, each.line) for each in done.problems] == [("a.md", 3)]


def test_validity_that_has_ended_or_never_was(desk: Desk) -> None:
    desk.put("over.md", "---\nvalid_to: 2025-01-01\n---\n")
    desk.put("open.md", "---\nvalid_to: 2030-01-01\n---\n")
    desk.put("closed.md", "---\nvalid_to: 2025-01-01\nstatus: superseded\nsuperseded_by: '[[open]]'\n---\n")
    desk.put("backwards.md", "---\nvalid_from: 2030-02-01\nvalid_to: 2030-01-01\n---\n")
    done = desk.run("check", rule=["ended-but-active", "property-value"])
    assert [(each.rule, each.path, each.severity) for each in done.problems] == [
        ("property-value", "backwards.md", "warning"),
        ("ended-but-active", "over.md", "note"),
    ]


def test_names_that_no_link_can_hold(desk: Desk) -> None:
    for name in ("C# notes", "a^b", "x [draft]", "one|two", "10:30", "50%% done", "plain", "fine-name (v1.2)"):
        desk.put(f"{name}.md", "x\n")
    paths = [path for _, path in found(desk, "name-not-linkable")]
    assert paths == sorted(["10:30.md", "50%% done.md", "C# notes.md", "a^b.md", "one|two.md", "x [draft].md"])
    assert found(desk, "name-not-portable") == []


# Links to pages that moved


def links_that_missed(desk: Desk) -> None:
    desk.put("notes/Old.md", LONG + "\n")
    desk.put("Bare.md", "[[Old]] and [[Old|shown]] and ![[Old#Part]]\n")
    desk.put("deep/Path.md", "[[notes/Old]] and [text](../notes/Old.md) and `[[Old]]`\n")
    desk.put("Front.md", '---\nsources:\n  - "[[Old]]"\nup: "[[nothing]]"\n---\nx\n')


def assert_followed(desk: Desk, name: str, place: str) -> None:
    done = desk.run("check", rule=["broken-link", "missing-citation"])
    assert {each.path: each.fixable for each in done.problems if "nothing" not in each.message} == {
        "Bare.md": True,
        "deep/Path.md": True,
        "Front.md": True,
    }
    assert all(f"'{place}' now" in each.message for each in done.problems if each.fixable)
    before = desk.git("rev-list", "--count", "HEAD")
    done = desk.run("check", rule=["broken-link", "missing-citation"], fix=True)
    assert [each.message for each in done.problems] == ["'nothing' leads to no page"]
    assert int(desk.git("rev-list", "--count", "HEAD")) == int(before) + 1
    bare = place.removesuffix(".md")
    assert desk.text("Bare.md") == f"[[{name}]] and [[{name}|shown]] and ![[{name}#Part]]\n"
    assert desk.text("deep/Path.md") == f"[[{bare}]] and [text](../{place.replace(' ', '%20')}) and `[[Old]]`\n"
    assert f'- "[[{name}]]"' in desk.text("Front.md")


def test_links_follow_a_page_that_git_renamed(desk: Desk) -> None:
    links_that_missed(desk)
    settle(desk)
    desk.git("mv", "notes/Old.md", "notes/Between.md")
    desk.git("commit", "-qm", "rename")
    desk.git("mv", "notes/Between.md", "New name.md")
    desk.git("commit", "-qm", "rename again")
    assert_followed(desk, "New name", "New name.md")


def test_links_follow_a_page_that_was_renamed_on_disk_only(desk: Desk) -> None:
    links_that_missed(desk)
    settle(desk)
    desk.run("status")
    os.rename(desk.root / "notes/Old.md", desk.root / "notes/New.md")
    assert_followed(desk, "New", "notes/New.md")


def test_links_follow_a_page_by_its_id_where_git_sees_none(desk: Desk) -> None:
    links_that_missed(desk)
    desk.put("notes/Old.md", f"---\nid: {ULID}\n---\n{LONG}\n")
    settle(desk)
    (desk.root / "notes/Old.md").unlink()
    desk.put("notes/New.md", f"---\nid: {ULID}\n---\nQuite another text.\n")
    settle(desk)
    assert "R" not in desk.git("log", "-1", "-M", "--name-status", "--format=")
    assert_followed(desk, "New", "notes/New.md")


def test_a_link_is_left_where_nobody_can_prove_what_it_meant(desk: Desk) -> None:
    desk.put("a/Old.md", LONG + " a\n")
    desk.put("b/Old.md", LONG[::-1] + " b\n")
    desk.put("Links.md", "[[Old]] [[b/Old]] [[Never there]]\n")
    settle(desk)
    desk.git("mv", "a/Old.md", "One.md")
    desk.git("mv", "b/Old.md", "Two.md")
    desk.git("commit", "-qm", "rename both")
    done = desk.run("check", rule=["broken-link"], fix=True)
    assert [each.message for each in done.problems] == ["'Never there' leads to no page", "'Old' leads to no page"]
    assert desk.text("Links.md") == "[[Old]] [[Two]] [[Never there]]\n"


def test_a_link_to_a_page_that_was_deleted_stays(desk: Desk) -> None:
    desk.put("Old.md", LONG + "\n")
    desk.put("Links.md", "[[Old]]\n")
    settle(desk)
    desk.git("rm", "-q", "Old.md")
    desk.git("commit", "-qm", "remove")
    done = desk.run("check", rule=["broken-link"], fix=True)
    assert [(each.message, each.fixable) for each in done.problems] == [("'Old' leads to no page", False)]
    assert done.commit is None
