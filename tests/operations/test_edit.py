"""edit: just the bytes that were asked for, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wikimem.errors import Invalid, NotFound, Refused, StaleRevision

Desk = Any

PAGE = """---
# a comment of mine
title:   'Deploy'   # keep
tags: [ops,  "ci"]
---
# Deploy

Push to port 8080.

## Rollback
- tell the channel

## After
Watch the graphs.
"""


@pytest.fixture
def page(desk: Desk) -> str:
    desk.put("ops/Deploy.md", PAGE)
    desk.git("add", ".")
    desk.git("commit", "-qm", "mine")
    return "ops/Deploy.md"


def test_a_key_is_set_and_every_other_byte_stays(desk: Desk, page: str) -> None:
    done = desk.run("edit", page="Deploy", set=["confidence=0.9"])
    assert desk.text(page) == PAGE.replace('"ci"]\n', '"ci"]\nconfidence: 0.9\n')
    assert desk.run("read", page="Deploy").revision == done.revision
    assert desk.git("log", "-1", "--format=%s") == "edit: Deploy (set confidence)"
    assert desk.git("status", "--porcelain") == ""


def test_an_exact_passage_is_replaced(desk: Desk, page: str) -> None:
    desk.run("edit", page="Deploy", replace=["port 8080", "port 9090"])
    assert desk.text(page) == PAGE.replace("8080", "9090")


def test_a_section_is_appended_to(desk: Desk, page: str) -> None:
    desk.run("edit", page="Deploy", section="Rollback", mode="append", text="- restore the snapshot")
    assert desk.text(page) == PAGE.replace("channel\n", "channel\n- restore the snapshot\n")


def test_the_whole_text_needs_the_revision_that_was_read(desk: Desk, page: str) -> None:
    with pytest.raises(Invalid, match="needs the revision"):
        desk.run("edit", page="Deploy", text="new")
    read = desk.run("read", page="Deploy")
    desk.run("edit", page="Deploy", text="All new.\n", base=read.revision)
    assert desk.text(page) == PAGE[: PAGE.index("# Deploy")] + "All new.\n"


def test_a_stale_revision_is_refused_with_the_current_text(desk: Desk, page: str) -> None:
    read = desk.run("read", page="Deploy")
    desk.put(page, PAGE + "\nAdded by hand.\n")
    with pytest.raises(StaleRevision) as caught:
        desk.run("edit", page="Deploy", replace=["8080", "9090"], base=read.revision)
    assert caught.value.data["body"].endswith("Added by hand.\n")
    assert desk.text(page) == PAGE + "\nAdded by hand.\n"
    desk.run("edit", page="Deploy", replace=["8080", "9090"], base=caught.value.data["revision"])
    assert desk.git("log", "--format=%an|%s", "-2").split("\n") == [
        "Ada Example|edit: Deploy (replace a passage)",
        "Ada Example|edit: ops/Deploy.md (by hand)",
    ]


def test_a_secret_in_the_new_text_is_taken_out(desk: Desk, page: str) -> None:
    secret = "sk-ant-api03-" + "aB3-" * 24
    done = desk.run("edit", page="Deploy", section="After", mode="append", text=f"The key is {secret}.")
    assert done.redacted
    assert secret not in desk.git("log", "-p")
    done = desk.run("edit", page="Deploy", replace=["port 8080", f"port {secret}"])
    assert done.redacted
    assert secret not in desk.git("log", "-p")


def test_two_halves_of_a_secret_are_refused_when_they_meet(desk: Desk, page: str) -> None:
    desk.run("edit", page="Deploy", section="After", mode="append", text="ghp_" + "Ab3" * 5 + "HALF")
    with pytest.raises(Refused, match="would then hold a secret"):
        desk.run("edit", page="Deploy", replace=["HALF", "Ab3" * 8])


def test_a_persons_own_secret_is_masked_and_never_overwritten_by_its_mask(desk: Desk, page: str) -> None:
    secret = "ghp_" + "Zy9" * 12
    desk.put(page, PAGE + f"\nMy token is {secret}\n")
    with pytest.raises(Refused, match="uncommitted secret"):
        desk.run("edit", page="Deploy", replace=["port 8080", "port 9090"])
    assert secret not in desk.git("log", "-p")
    desk.git("commit", "-qam", "mine")
    read = desk.run("read", page="Deploy")
    assert secret not in read.body
    with pytest.raises(Refused, match="would overwrite it"):
        desk.run("edit", page="Deploy", text=read.body, base=read.revision)
    after = desk.run("read", page="Deploy", section="After").body
    with pytest.raises(Refused, match="would overwrite it"):
        desk.run("edit", page="Deploy", section="After", text=after.replace("Watch", "See"))
    desk.run("edit", page="Deploy", replace=["port 8080", "port 9090"])
    assert f"My token is {secret}\n" in desk.text(page)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"page": "Deploi", "set": ["a=b"]}, NotFound, "Deploi"),
        ({"page": "Deploy"}, Invalid, "an edit is one of"),
        ({"page": "Deploy", "set": ["confidence"]}, Invalid, "KEY=VALUE"),
        ({"page": "Deploy", "set": ["confidence=high"]}, Invalid, "0 to 1"),
        ({"page": "Deploy", "set": ["valid_to=soon"]}, Invalid, "soon"),
        ({"page": "Deploy", "set": ["status=gone"]}, Invalid, "gone"),
        ({"page": "Deploy", "set": ["id=01JDZK3V9Q4T8M2X7B5C1R6W0N"]}, Refused, "id"),
        ({"page": "Deploy", "set": ["ttl=P1D", "ttl=P2D"]}, Invalid, "given twice"),
        ({"page": "Deploy", "set": ["tags=a b"]}, Invalid, "no tag"),
        ({"page": "Deploy", "set": ["TRUST=human"]}, Refused, "never changed"),
        ({"page": "Deploy", "set": ["valid_from=2025-05-01", "valid_to=2025-01-01"]}, Invalid, "before valid_from"),
        ({"page": "Deploy", "replace": ["port 1", "x"]}, Invalid, "not"),
        ({"page": "Deploy", "replace": ["e", "x"]}, Invalid, "times|lines"),
        ({"page": "Deploy", "section": "Nowhere", "text": "x"}, NotFound, "Nowhere"),
    ],
)
def test_bad_edits_change_nothing(
    desk: Desk, page: str, arguments: dict[str, Any], error: type[Exception], words: str
) -> None:
    head = desk.git("rev-parse", "HEAD")
    with pytest.raises(error, match=words):
        desk.run("edit", **arguments)
    assert desk.text(page) == PAGE
    assert desk.git("rev-parse", "HEAD") == head


def test_an_agent_cannot_raise_or_close_a_persons_page(desk: Desk, page: str) -> None:
    for assignment in ("status=superseded", "valid_to=2025-01-01"):
        with pytest.raises(Refused, match="which a person stated"):
            desk.run("edit", by="codex", page="Deploy", set=[assignment])
    with pytest.raises(Refused, match="an agent cannot set pinned"):
        desk.run("edit", by="codex", page="Deploy", set=["pinned=true"])
    with pytest.raises(Refused, match="never changed"):
        desk.run("edit", by="codex", page="Deploy", set=["trust=human"])
    done = desk.run("edit", by="codex", page="Deploy", section="After", mode="append", text="Then rest.")
    assert done.commit
    assert desk.git("log", "-1", "--format=%an") == "codex"


def test_an_agent_adds_to_a_memory_that_a_person_stated_and_changes_none_of_it(desk: Desk) -> None:
    done = desk.run("remember", title="Fridays", type="preference", text="# Rule\nNever deploy on Fridays.")
    for change in (
        {"replace": ["Never", "Always"]},
        {"section": "Rule", "text": "Always."},
        {"set": ["title=Mondays"]},
        {"set": ["tags=x"]},
    ):
        with pytest.raises(Refused, match="which a person stated"):
            desk.run("edit", by="codex", page="Fridays", **change)
    desk.run("edit", by="codex", page="Fridays", mode="append", text="Agreed in May.")
    assert desk.text(done.page.path).endswith("# Rule\nNever deploy on Fridays.\n\nAgreed in May.\n")


@pytest.mark.parametrize("text", ["a\0b", "\x1b[31mred", "x\x07"])
def test_control_characters_are_refused(desk: Desk, page: str, text: str) -> None:
    with pytest.raises(Invalid, match=r"control character U\+00"):
        desk.run("edit", page="Deploy", mode="append", text=text)
    with pytest.raises(Invalid, match="control character"):
        desk.run("remember", title="x", text=text)
    assert desk.text(page) == PAGE


def test_a_page_that_does_not_parse_is_never_written(desk: Desk) -> None:
    desk.put("bad.md", '---\ntitle: "a" b\nkey: `C:\\x`\n---\nbody\n')
    before = (desk.root / "bad.md").read_bytes()
    with pytest.raises(Exception, match=r"bad\.md") as caught:
        desk.run("edit", page="bad.md", set=["a=b"])
    assert caught.value.kind in ("damaged", "refused")
    assert (desk.root / "bad.md").read_bytes() == before


OTHER_CASE = ["Status=archived", "VALID_TO=2025-01-01", "Type=fact", "Confidence=0.1", "Superseded_By=[[x]]", "TTL=P1D"]


@pytest.mark.parametrize("assignment", [*OTHER_CASE, *(f"{each.partition('=')[0]}=" for each in OTHER_CASE)])
def test_an_agent_gains_nothing_by_writing_a_key_in_other_letters(desk: Desk, page: str, assignment: str) -> None:
    desk.put("plain.md", "mine\n")
    for address in ("Deploy", "plain.md"):
        with pytest.raises(Refused, match="which a person stated"):
            desk.run("edit", by="codex", page=address, set=[assignment])
    assert desk.text(page) == PAGE
    assert desk.text("plain.md") == "mine\n"


@pytest.mark.parametrize("assignment", ["Pinned=true", "PINNED=", "Importance=1", "iMPORTANCE=", "Trust=human", "Id="])
def test_an_agent_cannot_raise_its_own_page_by_writing_a_key_in_other_letters(desk: Desk, assignment: str) -> None:
    done = desk.run("remember", by="codex", title="Mine", text="said by an agent")
    before = desk.text(done.page.path)
    with pytest.raises(Refused, match=r"cannot set|never changed"):
        desk.run("edit", by="codex", page="Mine", set=[assignment])
    assert desk.text(done.page.path) == before


def test_a_page_that_says_its_trust_in_other_letters_is_guarded_as_any(desk: Desk) -> None:
    desk.put("a.md", "---\nTrust: Human\n---\nNever on Fridays.\n")
    for change in ({"replace": ["Never", "Always"]}, {"set": ["project=x"]}):
        with pytest.raises(Refused, match="which a person stated"):
            desk.run("edit", by="codex", page="a.md", **change)


@pytest.mark.parametrize(
    ("before", "assignment", "after"),
    [
        ("Tags: [old]", "tags=new", "Tags: [new]"),
        ("tags: [old]", "Tags=new", "tags: [new]"),
        ("tag: [old]", "tags=new", "tag: [new]"),
        ("Confidence: 0.5 # so so", "confidence=0.9", "Confidence: 0.9 # so so"),
        ("STATUS: active", "Status=archived", "STATUS: archived"),
        ("Related: [a]", "related=b", "Related: [b]"),
        ("x: 1\nAliases: [one]", "aliases=", "x: 1"),
    ],
)
def test_a_property_is_changed_where_it_stands_whatever_its_letters(
    desk: Desk, before: str, assignment: str, after: str
) -> None:
    desk.put("a.md", f"---\n{before}\n---\nx\n")
    desk.run("edit", page="a.md", set=[assignment])
    assert desk.text("a.md") == f"---\n{after}\n---\nx\n"


def test_a_property_that_a_page_has_twice_is_not_set(desk: Desk) -> None:
    both = "---\nTags: [one]\ntags: [two]\n---\n"
    desk.put("a.md", both)
    for assignment in ("tags=x", "Tags=x", "TAGS="):
        with pytest.raises(Refused, match=r"`(tags` and `Tags|Tags` and `tags)`"):
            desk.run("edit", page="a.md", set=[assignment])
    assert desk.text("a.md") == both


@pytest.mark.parametrize(
    "assignments",
    [["Confidence=9"], ["Status=gone"], ["PINNED=perhaps"], ["Valid_To=soon"], ["Status=active", "status=archived"]],
)
def test_values_are_checked_whatever_the_letters_of_the_key(desk: Desk, page: str, assignments: list[str]) -> None:
    with pytest.raises(Invalid):
        desk.run("edit", page="Deploy", set=assignments)
    assert desk.text(page) == PAGE


def test_dates_out_of_order_are_seen_whatever_the_letters_of_the_key(desk: Desk) -> None:
    desk.put("a.md", "---\nValid_From: 2025-05-01\n---\n")
    with pytest.raises(Invalid, match="before valid_from"):
        desk.run("edit", page="a.md", set=["VALID_TO=2025-01-01"])


@pytest.mark.parametrize(
    ("assignments", "items"),
    [
        (["supersedes=[[Use A, not B]]"], ["[[Use A, not B]]"]),
        (["supersedes=[[Use A, not B]], C,[[D|d, e]]"], ["[[Use A, not B]]", "[[C]]", "[[D|d, e]]"]),
        (["supersedes=[C, D]"], ["[[C]]", "[[D]]"]),
        (['supersedes=["[[Use A, not B]]", C]'], ["[[Use A, not B]]", "[[C]]"]),
        (["supersedes=[[[A]], [[B, C]]]"], ["[[A]]", "[[B, C]]"]),
        (["sources=[[A, B]],https://e.org/?a=1,2"], ["[[A, B]]", "https://e.org/?a=1,2"]),
        (["sources=https://e.org/@1,2,3z, other"], ["https://e.org/@1,2,3z", "other"]),
        (
            ["sources=https://e.org/1,2,https://f.org,commit:3f2a9c1,https://g.org,[[A]]"],
            ["https://e.org/1,2", "https://f.org", "commit:3f2a9c1", "https://g.org", "[[A]]"],
        ),
        (["sources=[one, two](https://e.org), [[A]]"], ["[one, two](https://e.org)", "[[A]]"]),
        (["aliases=Smith, John", "Aliases=J. S."], ["Smith, John", "J. S."]),
        (['aliases=["Smith, John", J. S.]'], ["Smith, John", "J. S."]),
        (["tags=a, b,a,"], ["a", "b"]),
        (["tags=[a, b]"], ["a", "b"]),
    ],
)
def test_a_list_is_parted_between_its_items_and_nowhere_else(
    desk: Desk, page: str, assignments: list[str], items: list[str]
) -> None:
    key = assignments[0].partition("=")[0]
    desk.run("edit", page=page, set=assignments)
    assert list(desk.run("read", page=page).frontmatter[key]) == items


@pytest.mark.parametrize("assignment", ["supersedes=[[A", "supersedes=[A](b.md)", 'tags=["a, b]', "tags=[a]\nb: [c]"])
def test_what_is_no_list_is_refused(desk: Desk, page: str, assignment: str) -> None:
    with pytest.raises(Invalid):
        desk.run("edit", page=page, set=[assignment])
    assert desk.text(page) == PAGE


@pytest.mark.parametrize(
    ("before", "assignments", "after"),
    [
        (
            'related:\n- "[[A]]" # why\n- "[[B]]"',
            ["related=[[A]], [[C, D]]"],
            'related:\n- "[[A]]" # why\n- "[[C, D]]"',
        ),
        ("flow: [a,  b] # mine", ["flow=c"], "flow: [c] # mine"),
        ("flow: [a, b]", ["flow=b, c"], "flow: [b, c]"),
        ("flow: []", ["flow=x", "flow=y, z"], 'flow: [x, "y, z"]'),
        ("flow: [a]", ["flow=[c, d]"], "flow: [c, d]"),
        ("words: a, b", ["words=c, d"], "words: c, d"),
    ],
)
def test_a_list_of_the_persons_own_stays_a_list(desk: Desk, before: str, assignments: list[str], after: str) -> None:
    desk.put("a.md", f"---\n{before}\n---\nx\n")
    desk.run("edit", page="a.md", set=assignments)
    assert desk.text("a.md") == f"---\n{after}\n---\nx\n"


def test_a_list_whose_comments_would_be_lost_is_left(desk: Desk) -> None:
    before = "---\nflow: [a, # one\n  b]\n---\nx\n"
    desk.put("a.md", before)
    with pytest.raises(Refused, match="comments"):
        desk.run("edit", page="a.md", set=["flow=c"])
    assert desk.text("a.md") == before


def test_a_key_of_one_value_is_given_once(desk: Desk) -> None:
    desk.put("a.md", "---\nmine: x\n---\n")
    for assignments in (["mine=y", "mine=z"], ["tags=x", "tags="], ["new=y", "new=z"]):
        with pytest.raises(Invalid, match="given twice"):
            desk.run("edit", page="a.md", set=assignments)


def test_the_command_of_an_agent_is_refused_in_whatever_letters(vault: Path, run: Callable[..., Any]) -> None:
    (vault / "m.md").write_text("mine\n")
    done = run("edit", "m", "--set", "Status=archived", "--set", "Valid_To=2020-01-01", "--agent", "bot")
    assert done.code == 5
    assert "an agent cannot change status, valid_to of 'm.md', which a person stated" in done.stderr
    assert run("edit", "m", "--set", "Pinned=true", "--agent", "bot").code == 5
    assert (vault / "m.md").read_text() == "mine\n"
