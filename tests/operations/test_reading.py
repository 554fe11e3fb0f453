"""read, list, log, status, forget and reindex on a small vault."""

from __future__ import annotations

import os
import subprocess
from datetime import datetime
from typing import Any

import pytest

from wikimem.errors import Conflict, Invalid, NotFound, Refused, Unavailable
from wikimem.operations.planned import PLANNED, answer_unavailable

Desk = Any


def test_a_page_is_named_in_every_way(desk: Desk) -> None:
    desk.put("notes/Jose.md", "---\naliases: [JWT library]\n---\n# jose, the library\nSee [[Deploy]].\n")
    desk.put("notes/Deploy.md", "With [[Jose]] and [[nothing here]].\n")
    by_path = desk.run("read", page="notes/Jose.md")
    names = ("jose, the library", "JWT library", "jwt LIBRARY", "[[Jose]]", "notes/Jose")
    for address in (*names, by_path.id, by_path.id[-6:]):
        assert desk.run("read", page=address).path == "notes/Jose.md", address
    assert [(link.text, link.path) for link in desk.run("read", page="Deploy").links_out] == [
        ("Jose", "notes/Jose.md"),
        ("nothing here", None),
    ]
    assert [link.path for link in by_path.links_in] == ["notes/Deploy.md"]


def test_an_ambiguous_page_lists_its_candidates(desk: Desk) -> None:
    desk.put("a/Deploy.md", "one\n")
    desk.put("b/Deploy.md", "two\n")
    with pytest.raises(Invalid, match=r"names 2 pages: a/Deploy\.md .*b/Deploy\.md"):
        desk.run("read", page="Deploy")
    with pytest.raises(NotFound) as caught:
        desk.run("read", page="Deploi")
    assert "Deploy" in caught.value.hint


def test_a_page_is_read_as_it_was(desk: Desk) -> None:
    done = desk.run("remember", title="Port", text="8080")
    desk.now = datetime(2025, 10, 1)
    desk.run("edit", page="Port", replace=["8080", "9090"])
    assert desk.run("read", page="Port", at=done.commit).body == "8080\n"
    assert desk.run("read", page="Port", at="2025-09-20").body == "8080\n"
    assert desk.run("read", page="Port", at="HEAD").body == "9090\n"
    assert desk.run("read", page="Port").body == "9090\n"
    with pytest.raises(NotFound):
        desk.run("read", page="Port", at="2020-01-01")
    with pytest.raises(NotFound):
        desk.run("read", page="Port", at="no-such-branch")


def test_one_section_is_read(desk: Desk) -> None:
    desk.put("a.md", "# A\none\n## B\ntwo\n## C\nthree\n")
    assert desk.run("read", page="a.md", section="B").body == "## B\ntwo\n"
    with pytest.raises(NotFound, match="D"):
        desk.run("read", page="a.md", section="D")


def test_pages_are_listed_with_cursors(desk: Desk) -> None:
    for number in range(7):
        desk.put(f"n/{number}.md", f"---\ntype: fact\ntags: [x{number % 2}]\n---\ntext\n")
    first = desk.run("list", type="fact", limit=3)
    rest = desk.run("list", type="fact", limit=10, cursor=first.next)
    assert [page.path for page in (*first.pages, *rest.pages)] == [f"n/{number}.md" for number in range(7)]
    assert (first.total, rest.next) == (7, None)
    assert [page.path for page in desk.run("list", tag=["x1"]).pages] == ["n/1.md", "n/3.md", "n/5.md"]
    with pytest.raises(Invalid, match="cursor"):
        desk.run("list", cursor="x")


def test_the_log_tells_who_did_what(desk: Desk) -> None:
    desk.run("remember", by="codex", title="One", session="s-1")
    desk.run("remember", title="Two")
    desk.put("mine.md", "mine\n")
    desk.git("add", ".")
    desk.git("commit", "-qm", "mine")
    entries = desk.run("log").entries
    assert [(entry.subject, entry.op, entry.agent) for entry in entries if entry.op != "init"] == [
        ("mine", None, None),
        ("remember(fact): Two", "remember", None),
        ("remember(fact): One", "remember", "codex"),
    ]
    assert [entry.subject for entry in desk.run("log", agent="codex").entries] == ["remember(fact): One"]
    assert [entry.subject for entry in desk.run("log", session="s-1").entries] == ["remember(fact): One"]
    assert [entry.pages for entry in desk.run("log", page="Two").entries] == [("global/facts/Two.md",)]
    assert [entry.subject for entry in desk.run("log", op="init").entries] == ["init: a vault for wikimem"]


def test_forgetting_takes_a_page_out_of_everything(desk: Desk) -> None:
    desk.run("remember", title="Zanzibar port", text="zanzibar 8080")
    desk.run("remember", title="Other", text="see [[Zanzibar port]]")
    plan = desk.run("forget", page="Zanzibar port", dry_run=True)
    assert plan.commit is None
    assert [page.title for page in plan.pages] == ["Zanzibar port"]
    done = desk.run("forget", page="Zanzibar port", reason="was wrong")
    assert done.links_in == ("global/facts/Other.md",)
    assert desk.git("log", "-1", "--format=%s") == "forget: Zanzibar port (was wrong)"
    assert not (desk.root / plan.pages[0].path).exists()
    assert "Zanzibar port" not in [hit.title for hit in desk.run("search", query="zanzibar").hits]
    with pytest.raises(NotFound):
        desk.run("read", page=plan.pages[0].id)
    again = desk.run("remember", title="Zanzibar port", text="a new one")
    assert again.commit


def test_forgetting_by_query_takes_only_pages_that_hold_all_words(desk: Desk) -> None:
    desk.run("remember", title="Staging password rotation", text="monthly")
    desk.run("remember", title="Staging host", text="password free")
    desk.run("remember", title="Production host", text="rotation")
    done = desk.run("forget", query="staging ROTATION")
    assert [page.title for page in done.pages] == ["Staging password rotation"]
    with pytest.raises(NotFound):
        desk.run("forget", query="nothing holds this")
    with pytest.raises(Invalid):
        desk.run("forget")


def test_an_agent_cannot_forget_what_a_person_stated(desk: Desk) -> None:
    desk.run("remember", title="Mine")
    desk.run("remember", by="codex", title="Theirs")
    with pytest.raises(Refused, match="which a person stated"):
        desk.run("forget", by="codex", page="Mine")
    assert desk.run("forget", by="codex", page="Theirs").commit


def test_status_says_what_is_there(desk: Desk) -> None:
    desk.run("remember", title="One", type="decision")
    desk.put("bad.md", "---\nkey: `x\n---\nbody\n")
    status = desk.run("status")
    assert status.vault == str(desk.root)
    assert status.pages["decision"] == 1
    assert status.index.behind == 0
    assert status.index.streams["words"] == "ready"
    assert status.index.streams["vectors"] == "ready"
    assert status.git.branch == "main"
    assert status.git.dirty == 1
    problem = next(each for each in status.problems if each.path == "bad.md")
    assert problem.line == 2
    desk.run("context", query="One")
    assert desk.run("status").tokens.given > 0


def test_a_persons_own_secret_is_reported_and_not_shown(desk: Desk) -> None:
    secret = "ghp_" + "Rt5" * 12
    desk.put("mine.md", f"# Mine\n\nThe robot has {secret}.\n")
    found = [each for each in desk.run("status").problems if each.rule == "secret"]
    assert [(each.path, each.line) for each in found] == [("mine.md", 3)]
    assert "github-token" in found[0].message
    assert secret not in repr(found)


def test_the_index_can_be_deleted(desk: Desk) -> None:
    import shutil

    desk.run("remember", title="Use jose", text="for tokens")
    before = desk.run("search", query="jose").hits
    shutil.rmtree(os.environ["XDG_CACHE_HOME"])
    assert desk.run("search", query="jose").hits == before
    assert desk.run("reindex", full=True).indexed >= 1
    assert desk.run("search", query="jose").hits == before


def test_a_vault_that_seems_gone_does_not_empty_the_index(desk: Desk) -> None:
    for number in range(40):
        desk.put(f"n/{number}.md", f"page {number} zebra\n")
    desk.run("reindex")
    hidden = desk.root.parent / "hidden"
    (desk.root / "n").rename(hidden)
    with pytest.raises(Conflict, match="known pages are gone"):
        desk.run("reindex")
    gone = desk.run("search", query="zebra")
    assert gone.hits == ()
    assert gone.behind >= 40
    assert any("are gone" in note for note in gone.notes)
    hidden.rename(desk.root / "n")
    assert len(desk.run("search", query="zebra", limit=50).hits) == 40
    (desk.root / "n").rename(hidden)
    assert desk.run("reindex", full=True).indexed < 20
    assert desk.run("search", query="zebra").behind == 0


def test_what_is_not_built_yet_says_so(desk: Desk) -> None:
    for name in PLANNED:
        with pytest.raises(Unavailable, match=f"'{name}' is not built yet"):
            answer_unavailable(name)


def test_reading_an_existing_vault_changes_nothing_in_it(make_desk: Any, tmp_path: Any) -> None:
    root = tmp_path / "mine"
    (root / "deep").mkdir(parents=True)
    pages = {
        "a.md": b"\xef\xbb\xbf---\r\ntitle: A\r\n---\r\nalpha [[b]]",
        "deep/b.md": b"beta\xff\n",
        "c.MD": b"---\nx: [\n---\ngamma",
        "empty.md": b"",
    }
    for name, data in pages.items():
        (root / name).write_bytes(data)
    subprocess.run(["git", "init", "-q", "-b", "main", str(root)], check=True)
    subprocess.run(["git", "-C", str(root), "add", "a.md", "c.MD"], check=True)
    subprocess.run(["git", "-C", str(root), "commit", "-qm", "mine"], check=True)
    (root / "c.MD").write_bytes(b"changed")
    pages["c.MD"] = b"changed"

    def state() -> tuple[str, str]:
        command = ["git", "-C", str(root), "status", "--porcelain"]
        head = subprocess.run(["git", "-C", str(root), "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout, head.stdout

    before = state()
    desk = make_desk("mine")
    assert [hit.path for hit in desk.run("search", query="alpha").hits][:1] == ["a.md"]
    desk.run("context", query="beta gamma")
    desk.run("status")
    desk.run("reindex", full=True)
    assert state() == before
    assert {name: (root / name).read_bytes() for name in pages} == pages
