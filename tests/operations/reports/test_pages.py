"""Pages as strangers write them: none stops another, none is half written, both sides of a merge stay out."""

from __future__ import annotations

from typing import Any

import pytest

from wikimem.errors import Refused, WikimemError

Desk = Any

BROKEN = {
    "a backquote": "key: `C:\\agent\\x` ",
    "quotes inside quotes": 'description: "say "yes" now"',
    "a tab": "key:\n\t- one",
    "an alias of nothing": "key: *nobody",
    "an open list": "tags: [one, two",
    "an open quote": "title: 'never closed",
}
CONFLICTS = {
    "after a paragraph": "One line\n<<<<<<< HEAD\nouroryx\n=======\ntheiroryx\n>>>>>>> other\n",
    "with the base between": "<<<<<<< HEAD\nouroryx\n||||||| base\nbaseoryx\n=======\ntheiroryx\n>>>>>>> other\n",
    "in headings": "<<<<<<< HEAD\n# Ouroryx\n=======\n# Theiroryx\n>>>>>>> other\n",
    "with a fence of one side": "<<<<<<< HEAD\n```\nouroryx\n=======\n```\ntheiroryx\n>>>>>>> other\n",
    "in Windows lines": "x\r\n<<<<<<< HEAD\r\nouroryx\r\n=======\r\ntheiroryx\r\n>>>>>>> other\r\n",
    "in the properties": "---\ntitle: T\n<<<<<<< HEAD\nport: 2\n=======\nport: 3\n>>>>>>> other\n---\nouroryx\n",
}


@pytest.mark.parametrize("line", BROKEN.values(), ids=BROKEN)
def test_a_broken_page_is_named_and_hides_no_other(desk: Desk, line: str) -> None:
    desk.put("notes/bad.md", f"---\n{line}\n---\nThe okapi stands here.\n")
    for number in range(5):
        desk.put(f"notes/good{number}.md", f"---\ntitle: Good {number}\n---\nThe ibex{number} is well.\n")
    desk.git("add", "-A")
    desk.git("commit", "-qm", "mine")
    for _ in range(2):
        assert desk.run("search", query="okapi").hits[0].path == "notes/bad.md"
    desk.put("notes/later.md", "A tapir comes later.\n")
    assert desk.run("search", query="tapir").hits[0].path == "notes/later.md"
    assert [desk.run("search", query=f"ibex{number}").hits[0].title for number in range(5)] == [
        f"Good {number}" for number in range(5)
    ]
    named = [problem for problem in desk.run("check").problems if problem.rule == "frontmatter-invalid"]
    assert {problem.path for problem in named} == {"notes/bad.md"}
    assert all(problem.line in (2, 3) for problem in named)
    assert desk.git("status", "--porcelain") == "?? notes/later.md"


@pytest.mark.parametrize("line", BROKEN.values(), ids=BROKEN)
def test_a_broken_page_is_superseded_by_nothing_and_the_error_names_it(desk: Desk, line: str) -> None:
    text = f"---\n{line}\n---\nOld.\n"
    desk.put("notes/bad.md", text)
    with pytest.raises(WikimemError, match=r"notes/bad\.md:\d"):
        desk.run("remember", title="Newer", supersedes=["notes/bad.md"])
    assert desk.text("notes/bad.md") == text
    assert not (desk.root / "global/facts/Newer.md").exists()


@pytest.mark.parametrize("committed", [False, True], ids=["unsaved in git", "committed by somebody"])
@pytest.mark.parametrize("text", CONFLICTS.values(), ids=CONFLICTS)
def test_no_side_of_a_merge_is_an_answer_or_gets_written(desk: Desk, text: str, committed: bool) -> None:
    (desk.root / "merge.md").write_bytes(text.encode())
    if committed:
        desk.git("add", "-A")
        desk.git("commit", "-qm", "everything")
    head = desk.git("rev-parse", "HEAD")
    for word in ("ouroryx", "theiroryx", "baseoryx"):
        assert "merge.md" not in [hit.path for hit in desk.run("search", query=word, streams=["words"]).hits]
    assert "oryx" not in desk.run("read", page="merge.md").title.lower()
    assert "conflict-markers" in {problem.rule for problem in desk.run("status").problems}
    for write in (
        {"name": "edit", "page": "merge.md", "set": ["confidence=0.5"]},
        {"name": "edit", "page": "merge.md", "text": "More.", "mode": "append"},
        {"name": "remember", "title": "Newer", "supersedes": ["merge.md"]},
    ):
        with pytest.raises(Refused, match=r"merge\.md:\d+: the page holds conflict markers"):
            desk.run(write.pop("name"), **write)
    desk.run("check", fix=True)
    assert (desk.root / "merge.md").read_bytes() == text.encode()
    assert desk.git("rev-parse", "HEAD") == head


@pytest.mark.parametrize("text", CONFLICTS.values(), ids=CONFLICTS)
@pytest.mark.parametrize("committed", [False, True], ids=["unsaved in git", "committed by somebody"])
def test_during_a_merge_a_page_is_recalled_as_it_was(desk: Desk, text: str, committed: bool) -> None:
    desk.put("merge.md", "---\ntitle: Enclosure\n---\nThe okapi lives here, as ever.\n")
    desk.git("add", "-A")
    desk.git("commit", "-qm", "before")
    (desk.root / "merge.md").write_bytes(text.encode())
    if committed:
        desk.git("add", "-A")
        desk.git("commit", "-qm", "everything")
    found = desk.run("search", query="okapi")
    assert [(hit.path, hit.title) for hit in found.hits] == [("merge.md", "Enclosure")]
    assert found.hits[0].passage == "The okapi lives here, as ever."
    assert any("merge.md holds an unresolved merge" in note for note in found.notes)
    assert "okapi" in desk.run("context", query="okapi").text
    assert desk.run("search", query="theiroryx", streams=["words"]).hits == ()
    desk.put("merge.md", "---\ntitle: Enclosure\n---\nThe wombat lives here.\n")
    assert desk.run("search", query="wombat").hits[0].passage == "The wombat lives here."


def test_an_example_of_a_merge_is_an_ordinary_text(desk: Desk) -> None:
    desk.put("howto.md", "# Merging\n\n```\n<<<<<<< HEAD\nmarmot\n=======\nbadger\n>>>>>>> other\n```\n")
    assert desk.run("search", query="marmot").hits[0].path == "howto.md"
    desk.run("edit", page="howto.md", set=["confidence=0.5"])


@pytest.mark.parametrize("title", ["2024-06-01", "1458", "0x1F", "1e3", "yes", "12:30:45", "010", ".inf"])
def test_a_title_that_yaml_takes_for_something_else_names_its_page(desk: Desk, title: str) -> None:
    desk.put("notes/odd.md", f"---\ntitle: {title}\ntags: {title}\n---\nx\n")
    assert desk.run("read", page=title).path == "notes/odd.md"
    assert desk.run("search", query=title).hits[0].title == title
    assert desk.run("list", tag=[title]).total == 1


@pytest.mark.parametrize(
    ("payload", "left"),
    [
        ("## One\n\nnew", "new"),
        ("##  One ##\nnew", "new"),
        ("One\n---\nnew", "new"),
        ("\n\n## one\nnew", "new"),
        ("## One", ""),
        ("new\n\n## More\n\nnewer", "new\n\n## More\n\nnewer"),
        ("## Oneself\n\nnew", "## Oneself\n\nnew"),
    ],
)
def test_a_section_is_replaced_with_its_subsections_and_its_heading_stands_once(
    desk: Desk, payload: str, left: str
) -> None:
    desk.put("s.md", "# T\n\n## One\n\nold\n\n```\n## no heading\n```\n\n### Child\n\nold too\n\n## Two\n\nstays\n")
    desk.run("edit", page="s.md", section="One", text=payload)
    between = f"\n{left}\n" if left else ""
    assert desk.text("s.md") == f"# T\n\n## One\n{between}\n## Two\n\nstays\n"


def test_a_callout_is_prose(desk: Desk) -> None:
    desk.put("notes/jose.md", "# jose\n")
    desk.put("notes/c.md", "# C\n\n> [!info] A pangolin [[jose]]\n> more\n\n> [!warning]- Folded\n")
    read = desk.run("read", page="notes/c.md")
    assert (read.frontmatter, read.title, read.problems) == ({}, "C", ())
    assert [(link.kind, link.path) for link in read.links_out] == [("wikilink", "notes/jose.md")]
    assert desk.run("search", query="pangolin").hits[0].path == "notes/c.md"
