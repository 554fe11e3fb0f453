"""edit: just the bytes that were asked for, or nothing."""

from __future__ import annotations

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
