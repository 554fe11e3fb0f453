"""remember, as a person and as an agent use it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wikimem.errors import Conflict, Invalid, NotFound, Refused, Unavailable

Desk = Any


def test_a_memory_is_a_page_and_one_commit(desk: Desk) -> None:
    before = desk.git("rev-list", "--count", "HEAD")
    done = desk.run(
        "remember",
        by="claude-code",
        title="Use jose for JWT verification",
        text="The edge runtime has no Node crypto.",
        type="decision",
        tags=["auth", "#edge"],
        confidence=0.9,
        valid_from="2025-09-12",
        session="s-1",
    )
    assert done.page.path == "global/decisions/Use jose for JWT verification.md"
    assert int(desk.git("rev-list", "--count", "HEAD")) == int(before) + 1
    assert done.commit == desk.git("rev-parse", "HEAD")
    assert desk.git("status", "--porcelain") == ""
    message = desk.git("log", "-1", "--format=%an|%s|%(trailers:only)")
    assert message == (
        "claude-code|remember(decision): Use jose for JWT verification|Wikimem-Op: remember\n"
        f"Wikimem-Agent: claude-code\nWikimem-Session: s-1\nWikimem-Page: {done.page.id}"
    )
    assert desk.text(done.page.path) == (
        f"---\nid: {done.page.id}\ntype: decision\ntitle: Use jose for JWT verification\nstatus: active\n"
        "confidence: 0.9\ncreated: 2025-09-12T09:14:40\nvalid_from: 2025-09-12\nagent: claude-code\nsession: s-1\n"
        "trust: agent\ntags:\n  - auth\n  - edge\n---\nThe edge runtime has no Node crypto.\n"
    )


def test_the_same_memory_again_changes_nothing(desk: Desk) -> None:
    first = desk.run("remember", title="The API runs on port 8080", text="Since the start.")
    again = desk.run("remember", title="The API runs on port 8080", text="Since the start.\n")
    assert (again.existing, again.commit, again.page.id) == (True, None, first.page.id)
    assert desk.git("rev-list", "--count", "HEAD") == "2"


def test_another_memory_of_that_title_is_a_conflict_and_nothing_is_lost(desk: Desk) -> None:
    done = desk.run("remember", title="The API runs on port 8080", text="one")
    with pytest.raises(Conflict, match="The API runs on port 8080"):
        desk.run("remember", title="The API runs on port 8080", text="two")
    with pytest.raises(Conflict):
        desk.run("remember", title="the api runs on PORT 8080", text="three")
    assert desk.text(done.page.path).endswith("one\n")


def test_superseding_closes_the_old_page_and_links_both_ways(desk: Desk) -> None:
    old = desk.run("remember", title="Use jsonwebtoken", type="decision", valid_from="2025-02-03")
    new = desk.run(
        "remember", title="Use jose", type="decision", valid_from="2025-09-12", supersedes=["Use jsonwebtoken"]
    )
    assert new.superseded == (old.page.path,)
    text = desk.text(old.page.path)
    assert "status: superseded\n" in text
    assert "valid_to: 2025-09-12\n" in text
    assert 'superseded_by:\n  - "[[Use jose]]"\n' in text
    assert 'supersedes:\n  - "[[Use jsonwebtoken]]"\n' in desk.text(new.page.path)
    assert desk.git("rev-list", "--count", "HEAD") == "3"
    found = desk.run("search", query="jsonwebtoken jose", as_of="2025-03-15")
    assert [hit.title for hit in found.hits] == ["Use jsonwebtoken"]
    found = desk.run("search", query="jsonwebtoken jose")
    assert [hit.title for hit in found.hits] == ["Use jose"]


def test_a_fact_that_holds_again_is_a_new_page(desk: Desk) -> None:
    first = desk.run("remember", title="Use A", text="A")
    desk.run("remember", title="Use B", text="B", supersedes=["Use A"])
    again = desk.run("remember", title="Use A", text="A", supersedes=["Use B"])
    assert again.commit
    assert again.page.path != first.page.path
    assert again.page.title == "Use A (2025-09-12)"
    assert [hit.title for hit in desk.run("search", query="Use A B", streams=["words"]).hits] == [again.page.title]
    assert "status: superseded" in desk.text(first.page.path)


def test_a_repetition_that_asks_for_more_is_not_a_repetition(desk: Desk) -> None:
    done = desk.run("remember", title="Port", text="8080", tags=["ops"])
    assert desk.run("remember", title="Port", text="8080", tags=["ops"]).existing
    with pytest.raises(Conflict):
        desk.run("remember", title="Port", text="8080", ttl="P1D")
    assert "ttl" not in desk.text(done.page.path)


def test_what_supersedes_begins_after_what_it_supersedes(desk: Desk) -> None:
    old = desk.run("remember", title="Old", valid_from="2025-06-01")
    with pytest.raises(Invalid, match="is before 'Old' began"):
        desk.run("remember", title="New", valid_from="2024-01-01", supersedes=["Old"])
    assert "valid_to" not in desk.text(old.page.path)
    done = desk.run("remember", title="New", valid_from="2025-07-01", supersedes=["Old", "Old"])
    assert done.superseded == (old.page.path,)


def test_an_agent_cannot_pin_itself_in_front(desk: Desk) -> None:
    for raised in ({"pinned": True}, {"importance": 1.0}):
        with pytest.raises(Refused, match="cannot pin"):
            desk.run("remember", by="codex", title="Me first", **raised)


@pytest.mark.parametrize("name", ["s\nWikimem-Op: fake", "Bob <x@y>", "", "\x1b[31m", "x" * 300])
def test_no_name_can_forge_a_trailer(desk: Desk, name: str) -> None:
    with pytest.raises(Invalid, match="is no name"):
        desk.run("remember", title="x", session=name)
    if name:
        with pytest.raises(Invalid, match="is no name"):
            desk.run("remember", by=name, title="x")
    assert desk.git("rev-list", "--count", "HEAD") == "1"


def test_a_project_is_a_name_for_a_folder(desk: Desk) -> None:
    with pytest.raises(Invalid, match="no name for a folder"):
        desk.run("remember", title="x", project=".git")


def test_an_agent_cannot_close_what_a_person_stated(desk: Desk) -> None:
    person = desk.run("remember", title="Deploy on Mondays", type="preference")
    before = desk.text(person.page.path)
    done = desk.run(
        "remember", by="codex", title="Deploy on Fridays", type="preference", supersedes=["Deploy on Mondays"]
    )
    assert done.superseded == ()
    assert done.disputed == (person.page.path,)
    assert desk.text(person.page.path) == before
    assert "status: disputed" in desk.text(done.page.path)
    assert "[[Deploy on Mondays]]" in desk.text(done.page.path)


def test_a_secret_never_reaches_disk_or_git(desk: Desk) -> None:
    secret = "ghp_" + "Ab3" * 12
    done = desk.run(
        "remember",
        title=f"Token {secret} is for CI",
        text=f"password: {'hunter2' * 3}\nand {secret}",
        tags=["ci"],
        sources=[f"https://user:{'pw' * 8}@example.com/x"],
    )
    assert sum(done.redacted.values()) >= 4
    assert secret not in done.page.title
    everything = desk.git("log", "-p", "--format=%B")
    state = b"".join(path.read_bytes() for path in desk.root.parent.rglob("*") if path.is_file())
    for value in (secret, "hunter2" * 3, "pw" * 8):
        assert value not in everything
        assert value.encode() not in state
    assert "[redacted:" in desk.text(done.page.path)


def test_the_project_comes_from_the_working_directory(make_desk: Callable[..., Desk], tmp_path: Path) -> None:
    code = tmp_path / "code" / "shop-api"
    code.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(code)], check=True)
    subprocess.run(["git", "-C", str(code), "remote", "add", "origin", "git@example.com:acme/shop-api.git"], check=True)
    (code / "src").mkdir()
    desk = make_desk(cwd=code / "src")
    done = desk.run("remember", title="Use Hono", type="decision")
    assert done.page.path == "projects/shop-api/decisions/Use Hono.md"
    profile = desk.text("projects/shop-api/Profile.md")
    assert "type: profile" in profile
    assert "example.com/acme/shop-api" in profile
    again = desk.run("remember", title="Use Vitest", type="decision")
    assert again.page.path == "projects/shop-api/decisions/Use Vitest.md"
    assert desk.git("show", "--name-only", "--format=", "HEAD") == again.page.path
    everywhere = desk.run("remember", title="Mira prefers small commits", type="preference", **{"global": True})
    assert everywhere.page.path == "global/preferences/Mira prefers small commits.md"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"title": "  "}, "title"),
        ({"title": "x", "type": "idea"}, "type: there is no 'idea'; one of fact"),
        ({"title": "x", "confidence": 2.0}, "confidence"),
        ({"title": "x", "valid_from": "31 February"}, "31 February"),
        ({"title": "x", "ttl": "soon"}, "soon"),
        ({"title": "x", "valid_from": "2025-09-12", "valid_to": "2025-01-01"}, "before valid_from"),
        ({"title": "x", "global": True, "project": "p"}, "exclude each other"),
        ({"titel": "x"}, "titel"),
    ],
)
def test_bad_input_is_named_and_nothing_is_written(desk: Desk, arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(Invalid, match=words):
        desk.run("remember", **arguments)
    assert desk.git("rev-list", "--count", "HEAD") == "1"
    assert desk.git("status", "--porcelain") == ""


def test_superseding_what_is_not_there_writes_nothing(desk: Desk) -> None:
    with pytest.raises(NotFound, match="Use jsonwebtoken"):
        desk.run("remember", title="Use jose", supersedes=["Use jsonwebtoken"])
    assert desk.git("rev-list", "--count", "HEAD") == "1"


@pytest.mark.parametrize(
    "title",
    [
        *("🐘", "品牌圣经", "销售论证文档", "Deploy: the sequel", "a/b\\c", "CON", "...", "x" * 290),
        *("e\u0301te\u0301", "[[x]] #y ^z", "no", "1.10", "'"),
    ],
)
def test_any_title_makes_a_page_that_is_found_again(desk: Desk, title: str) -> None:
    done = desk.run("remember", title=title, text="What it says.")
    read = desk.run("read", page=done.page.id[-8:])
    assert read.title == done.page.title
    assert read.body == "What it says.\n"
    assert desk.run("read", page=read.title).id == read.id


def test_a_new_vault_is_written_without_git(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", "/nonexistent")
    done = desk.run("remember", title="Written without git")
    desk.run("edit", page=done.page.id, set=["confidence=0.5"])
    (desk.root / ".gitattributes").write_text("*.md filter=crypt\n")
    with pytest.raises(Unavailable, match="needs git"):
        desk.run("remember", title="A filter applies")
    monkeypatch.setenv("PATH", path)
    assert desk.git("log", "-2", "--format=%s").splitlines() == [
        "edit: Written without git (set confidence)",
        "remember(fact): Written without git",
    ]
    assert desk.git("status", "--porcelain").split() == ["M", ".gitattributes"]
