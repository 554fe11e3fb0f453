"""move: the page goes, and every link still means what it meant."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wikimem.errors import Conflict, Invalid, NotFound, Refused
from wikimem.vault.origins import NO_ORIGINS, Origins, read_origins

Desk = Any


def commits(desk: Desk) -> int:
    return int(desk.git("rev-list", "--count", "HEAD"))


def meanings(desk: Desk, path: str) -> list[tuple[str, str | None]]:
    return [(link.text, link.path) for link in desk.run("read", page=path).links_out]


def settle(desk: Desk) -> None:
    desk.git("add", "-A")
    desk.git("commit", "-qm", "by hand")


def test_every_form_of_a_link_follows_in_one_commit(desk: Desk) -> None:
    desk.put("notes/Deploy.md", "---\nid: 01JDZK3V9Q4T8M2X7B5C1R6W0N\n---\n# How we deploy\n\n## Steps\none ^b1\n")
    desk.put(
        "a/Links.md",
        "---\n"
        'up: "[[Deploy]]" # the parent\n'
        "related:\n  - '[[notes/Deploy|the plan]]'\n  - [[Deploy#Steps]]\n"
        'sources: ["[[Deploy#^b1]]", x]\n'
        "bare: [[deploy]]\n"
        "---\n"
        "[[Deploy]] [[deploy|that]] ![[Deploy#Steps]] [[notes/Deploy#Steps|s]] [[Deploy#^b1]] [[../notes/Deploy]]\n"
        "[md](../notes/Deploy.md) [frag](../notes/Deploy.md#steps 'title') ![e](../notes/Deploy.md) "
        "[r](/notes/Deploy)\n"
        "- uses:: [[Deploy]] and [needs:: [[Deploy]]]\n"
        "| a | [[Deploy\\|cell]] |\n|---|---|\n"
        "`[[Deploy]]` %% [[Deploy]] %% [[Deploying]] [[Other]]\n\n"
        "```\n[[Deploy]]\n```\n\n"
        '[ref]: ../notes/Deploy.md "A title"\n',
    )
    settle(desk)
    before = desk.text("a/Links.md")
    count = commits(desk)
    done = desk.run("move", page="notes/Deploy.md", to="archive/2025/Ship it.md")
    assert done.page.path == "archive/2025/Ship it.md"
    assert done.page.id == "01JDZK3V9Q4T8M2X7B5C1R6W0N"
    assert done.rewritten == ("a/Links.md",)
    assert done.left == ()
    assert commits(desk) == count + 1
    assert desk.git("status", "--porcelain") == ""
    assert desk.git("show", "--name-status", "--format=", "HEAD").splitlines() == [
        "M\ta/Links.md",
        "R100\tnotes/Deploy.md\tarchive/2025/Ship it.md",
    ]
    assert "Wikimem-Op: move" in desk.git("log", "-1", "--format=%B")
    assert not (desk.root / "notes").exists()
    assert desk.text("a/Links.md") == (
        "---\n"
        'up: "[[Ship it]]" # the parent\n'
        "related:\n  - '[[archive/2025/Ship it|the plan]]'\n  - [[Ship it#Steps]]\n"
        'sources: ["[[Ship it#^b1]]", x]\n'
        "bare: [[Ship it]]\n"
        "---\n"
        "[[Ship it]] [[Ship it|that]] ![[Ship it#Steps]] [[archive/2025/Ship it#Steps|s]] [[Ship it#^b1]] "
        "[[../archive/2025/Ship it]]\n"
        "[md](../archive/2025/Ship%20it.md) [frag](../archive/2025/Ship%20it.md#steps 'title') "
        "![e](../archive/2025/Ship%20it.md) [r](/archive/2025/Ship%20it)\n"
        "- uses:: [[Ship it]] and [needs:: [[Ship it]]]\n"
        "| a | [[Ship it\\|cell]] |\n|---|---|\n"
        "`[[Deploy]]` %% [[Deploy]] %% [[Deploying]] [[Other]]\n\n"
        "```\n[[Deploy]]\n```\n\n"
        '[ref]: ../archive/2025/Ship%20it.md "A title"\n'
    )
    assert done.links == 19
    assert len(desk.run("read", page="Ship it").links_in) == 19
    back = desk.run("move", page="Ship it", to="notes/Deploy.md")
    assert back.links == 19
    # The one link in other capitals comes back in the page's own.
    assert desk.text("a/Links.md") == before.replace("[[deploy]]", "[[Deploy]]").replace("[[deploy|", "[[Deploy|")


def test_links_that_still_find_the_page_keep_their_bytes(desk: Desk) -> None:
    desk.put("notes/Deploy.md", "---\naliases: [ship it]\n---\n# The big deploy\n")
    text = "[[Deploy]] [[ship it]] [[The big deploy]] [[deploy|x]]\n"
    desk.put("a/Links.md", text)
    done = desk.run("move", page="notes/Deploy.md", to="archive/")
    assert (done.page.path, done.rewritten) == ("archive/Deploy.md", ())
    assert desk.text("a/Links.md") == text
    assert {link.path for link in desk.run("read", page="a/Links.md").links_out} == {"archive/Deploy.md"}


def test_a_new_name_and_a_title_made_from_the_old_one(desk: Desk) -> None:
    page = desk.run("remember", title="Deploy: the plan", text="# Deploy: the plan\n").page
    desk.put("own.md", "---\ntitle: My own title\n---\nx\n")
    assert page.path == "global/facts/Deploy - the plan.md"
    done = desk.run("move", page=page.id, to="Deploy: the sequel?")
    assert done.page.path == "global/facts/Deploy - the sequel.md"
    assert done.page.id == page.id
    text = desk.text(done.page.path)
    assert 'title: "Deploy: the sequel?"\n' in text
    assert text.endswith("# Deploy: the plan\n")
    desk.run("move", page="own.md", to="mine")
    assert desk.text("mine.md") == "---\ntitle: My own title\n---\nx\n"


@pytest.mark.parametrize(
    ("to", "path"),
    [
        ("archive/", "archive/Deploy.md"),
        ("./archive//", "archive/Deploy.md"),
        ("archive/Other", "archive/Other.md"),
        ("archive/v1.2", "archive/v1.2.md"),
        ("Other.md", "Other.md"),
        ("Other.MD", "Other.MD"),
        ("Other", "notes/Other.md"),
        ("  Release   1.2 ", "notes/Release 1.2.md"),
        ("Café", "notes/Café.md"),
        ("Cafe\u0301", "notes/Café.md"),
        ("東京の計画 🚀", "notes/東京の計画 🚀.md"),
        ("con", "notes/con_.md"),
        ("Why? #2", "notes/Why 2.md"),
        ("deploy", "notes/deploy.md"),
        ("notes/Deploy.md", "notes/Deploy.md"),
        ("Deploy", "notes/Deploy.md"),
    ],
)
def test_what_to_means(desk: Desk, to: str, path: str) -> None:
    desk.put("notes/Deploy.md", "x\n")
    desk.put("a.md", "[[Deploy]] [x](notes/Deploy.md)\n")
    done = desk.run("move", page="notes/Deploy.md", to=to)
    assert done.page.path == path
    assert desk.text(path) == "x\n"
    assert {aim for _, aim in meanings(desk, "a.md")} == {path}
    assert (done.commit is None) == (path == "notes/Deploy.md")


@pytest.mark.parametrize(
    ("to", "kind"),
    [
        ("", Invalid),
        ("   ", Invalid),
        ("???", Invalid),
        ("..", Invalid),
        ("/", Refused),
        ("../outside/", Refused),
        ("../outside.md", Refused),
        ("/etc/passwd.md", Refused),
        ("C:\\x.md", Refused),
        (".git/x.md", Refused),
        (".GIT/x.md", Refused),
        ("a/.git/x.md", Refused),
        (".hidden.md", Refused),
        (".obsidian/", Refused),
        ("a/../b.md", Refused),
        ("a\nb.md", Refused),
        ("x" * 300 + ".md", Refused),
        ("a/what?.md", Invalid),
        ("a/b|c.md", Invalid),
        ("a/[x].md", Invalid),
        ("a/con.md", Invalid),
        ("a/b .md", Invalid),
        ("notes\\x.md", Invalid),
        ("folder", Invalid),
        ("sub/folder", Invalid),
        ("taken.md", Conflict),
        ("TAKEN.md", Conflict),
        ("Notes/x.md", Conflict),
        ("taken.md/x.md", Conflict),
        ("link/x.md", Refused),
        ("link/", Refused),
        ("ignored/", Refused),
        ("out/", Refused),
        ("excluded/", Refused),
        ("inner/", Refused),
    ],
)
def test_places_that_are_not_for_a_page(desk: Desk, tmp_path: Path, to: str, kind: type[Exception]) -> None:
    desk.put("notes/Deploy.md", "x\n")
    desk.put("taken.md", "y\n")
    for folder in ("folder", "sub/folder", "inner"):
        (desk.root / folder).mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(desk.root / "inner")], check=True)
    (desk.root / "link").symlink_to(tmp_path)
    desk.put(".gitignore", "ignored/\nout/*\n")
    desk.put(".wikimemignore", "excluded/\n")
    settled = desk.git("rev-parse", "HEAD")
    with pytest.raises(kind) as caught:
        desk.run("move", page="notes/Deploy.md", to=to)
    assert caught.value.hint  # type: ignore[attr-defined]
    assert desk.text("notes/Deploy.md") == "x\n"
    assert desk.text("taken.md") == "y\n"
    assert desk.git("rev-parse", "HEAD") == settled
    assert not list(tmp_path.glob("*.md"))


def test_a_page_that_is_not_there(desk: Desk) -> None:
    with pytest.raises(NotFound):
        desk.run("move", page="nothing", to="x")


def test_a_name_that_would_capture_other_links(desk: Desk) -> None:
    desk.put("deep/down/Port.md", "the other\n")
    desk.put("deep/down/Beside.md", "[[Port]]\n")
    desk.put("notes/Old.md", "mine\n")
    desk.put("a.md", "[[Port]] [[Port#x|alias]] ![[port]] [[Old]]\n")
    assert meanings(desk, "a.md")[0] == ("Port", "deep/down/Port.md")
    done = desk.run("move", page="Old", to="Port.md")
    assert desk.text("a.md") == ("[[deep/down/Port]] [[deep/down/Port#x|alias]] ![[deep/down/Port]] [[Port]]\n")
    # The page beside it wins in Obsidian, so this one keeps its meaning by itself... unless the exact path does.
    assert {path for _, path in meanings(desk, "deep/down/Beside.md")} == {"deep/down/Port.md"}
    assert "a.md" in done.rewritten
    assert [path for _, path in meanings(desk, "a.md")] == ["deep/down/Port.md"] * 3 + ["Port.md"]


def test_a_page_that_leaves_a_namesake_behind(desk: Desk) -> None:
    desk.put("a/Deploy.md", "one\n")
    desk.put("b/c/Deploy.md", "two\n")
    desk.put("x.md", "[[Deploy]] and [[b/c/Deploy]]\n")
    assert [path for _, path in meanings(desk, "x.md")] == ["a/Deploy.md", "b/c/Deploy.md"]
    desk.run("move", page="a/Deploy.md", to="a/d/e/f/")
    assert desk.text("x.md") == "[[a/d/e/f/Deploy]] and [[b/c/Deploy]]\n"
    desk.run("move", page="a/d/e/f/Deploy.md", to="a/Ship")
    assert desk.text("x.md") == "[[a/Ship]] and [[b/c/Deploy]]\n"


def test_a_link_to_a_page_that_was_missing_may_find_it_now(desk: Desk) -> None:
    desk.put("notes/Draft.md", "x\n")
    desk.put("a.md", "[[Final]]\n")
    done = desk.run("move", page="Draft", to="Final")
    assert done.rewritten == ()
    assert meanings(desk, "a.md") == [("Final", "notes/Final.md")]


def test_a_new_name_that_is_another_pages_alias(desk: Desk) -> None:
    desk.put("notes/Jose.md", "---\naliases: [JWT]\n---\nx\n")
    desk.put("notes/Tokens.md", "y\n")
    desk.put("a.md", "[[JWT]] [[Tokens]]\n")
    desk.run("move", page="Tokens", to="JWT")
    assert desk.text("a.md") == "[[Jose]] [[JWT]]\n"
    assert [path for _, path in meanings(desk, "a.md")] == ["notes/Jose.md", "notes/JWT.md"]


def test_the_pages_own_relative_links_follow_the_folder(desk: Desk) -> None:
    desk.put("notes/pics/a b.png", "png")
    desk.put("notes/Beside.md", "x\n")
    desk.put("other/Beside.md", "not this one\n")
    desk.put("code.py", "x")
    desk.put(
        "notes/Page.md",
        "---\nup: '[[./Beside]]'\n---\n"
        "[[Beside]] [b](Beside.md) [[./Beside#h]] ![](pics/a%20b.png) ![p](<pics/a b.png>) [c](../code.py)\n"
        "[self](Page.md#x) [[Page]] [[#x]] [f](pics/) [gone](gone.md) [web](https://example.org/Page.md) "
        "![[a b.png]]\n",
    )
    done = desk.run("move", page="notes/Page.md", to="other/Page.md")
    assert desk.text("other/Page.md") == (
        "---\nup: '[[../notes/Beside]]'\n---\n"
        "[[notes/Beside]] [b](../notes/Beside.md) [[../notes/Beside#h]] ![](../notes/pics/a%20b.png) "
        "![p](<../notes/pics/a b.png>) [c](../code.py)\n"
        "[self](Page.md#x) [[Page]] [[#x]] [f](../notes/pics/) [gone](gone.md) [web](https://example.org/Page.md) "
        "![[a b.png]]\n"
    )
    assert done.rewritten == ("other/Page.md",)
    found = {path for text, path in meanings(desk, "other/Page.md") if "Beside" in text}
    assert found == {"notes/Beside.md"}
    desk.run("move", page="other/Page.md", to="other/deep/")
    assert "[b](../../notes/Beside.md)" in desk.text("other/deep/Page.md")
    assert "[c](../../code.py)" in desk.text("other/deep/Page.md")


def test_a_relative_link_that_only_the_index_would_still_find(desk: Desk) -> None:
    """Git hosts know no names: a Markdown link to a place has to name the new place."""
    desk.put("notes/A.md", "[b](B.md) [root](notes/B.md)\n")
    desk.put("notes/B.md", "x\n")
    desk.run("move", page="notes/B.md", to="notes/sub/")
    assert desk.text("notes/A.md") == "[b](sub/B.md) [root](notes/sub/B.md)\n"
    desk.run("move", page="notes/sub/B.md", to="notes/sub/b.md")
    assert desk.text("notes/A.md") == "[b](sub/b.md) [root](notes/sub/b.md)\n"


def test_bytes_that_are_no_link_stay(desk: Desk) -> None:
    raw = (
        b'\xef\xbb\xbf---\r\n# comment\r\ntags: [x,  y]\r\nup:   "[[Old]]"   # why\r\n---\r\n\r\n'
        b"caf\xc3\xa9 [[Old]]\t[x]( Old.md )  \r\n\r\nno newline at the end [[ Old | shown ]]"
    )
    desk.put("notes/Old.md", "x\n")
    (desk.root / "notes/Page.md").write_bytes(raw)
    desk.run("move", page="notes/Old.md", to="New")
    assert (desk.root / "notes/Page.md").read_bytes() == raw.replace(b"Old", b"New")


def test_values_that_need_other_quotes_after(desk: Desk) -> None:
    desk.put("notes/Plan.md", "x\n")
    desk.put("a.md", "---\none: '[[Plan]]'\ntwo: \"[[Plan]]\"\nthree: |\n  see [[Plan]]\nfour: see [[Plan]] now\n---\n")
    desk.run("move", page="Plan", to="Ada's plan")
    assert desk.run("read", page="a.md").frontmatter == {
        "one": "[[Ada's plan]]",
        "two": "[[Ada's plan]]",
        "three": "see [[Ada's plan]]\n",
        "four": "see [[Ada's plan]] now",
    }
    assert "one: '[[Ada''s plan]]'\n" in desk.text("a.md")
    desk.run("move", page="Ada's plan", to="Plan")
    assert set(desk.run("read", page="a.md").frontmatter.values()) == {
        "[[Plan]]",
        "see [[Plan]]\n",
        "see [[Plan]] now",
    }


def test_a_value_that_must_be_written_again_leaves_the_others_alone(desk: Desk) -> None:
    desk.put("decisions/Use jose.md", "x\n")
    head = (
        "---\nsources:\n-   \"[[Use jose]]\"   # why this\n-   'see [[Use jose]] twice'\n"
        "up: '[[Use jose]]' # the parent\nrel: [ \"[[Use jose]]\",  b ] # both\n"
    )
    rest = 'note: >-\n  about [[Use\n  jose]]\nmixed:\n  - "[[Use jose]]" # stays\n  - "[[Use \\x6aose]]"\n---\nbody\n'
    desk.put("a.md", head + rest)
    desk.run("move", page="Use jose", to="Use paseto")
    after = desk.text("a.md")
    assert after.startswith(head.replace("Use jose", "Use paseto"))
    assert '  - "[[Use paseto]]" # stays\n  - "[[Use paseto]]"\n---\nbody\n' in after
    assert desk.run("read", page="a.md").frontmatter["note"] == "about [[Use paseto]]"


def test_pages_that_cannot_be_edited_are_named_and_left(desk: Desk) -> None:
    desk.put("notes/Old.md", "x\n")
    broken = "---\ntitle: a: b\nup: [[Old]], [[Old]]\n---\n[[Old]]\n"
    merging = "<<<<<<< ours\n[[Old]]\n=======\nx\n>>>>>>> theirs\n"
    desk.put("broken.md", broken)
    desk.put("merging.md", merging)
    (desk.root / "latin.md").write_bytes(b"caf\xe9 [[Old]]\n")
    desk.put("fine.md", "[[Old]]\n")
    done = desk.run("move", page="Old", to="New")
    assert done.rewritten == ("fine.md",)
    assert sorted(each.partition(":")[0] for each in done.left) == ["broken.md", "latin.md", "merging.md"]
    assert desk.text("broken.md") == broken
    assert desk.text("merging.md") == merging
    assert (desk.root / "latin.md").read_bytes() == b"caf\xe9 [[Old]]\n"


def test_a_page_that_cannot_be_edited_can_be_moved_but_not_in_a_merge(desk: Desk) -> None:
    desk.put("notes/Bad.md", "---\ntitle: a: b\n---\n[x](Other.md)\n")
    desk.put("notes/Other.md", "x\n")
    desk.put("merging.md", "<<<<<<< ours\n=======\nx\n>>>>>>> theirs\n")
    done = desk.run("move", page="notes/Bad.md", to="archive/")
    assert desk.text("archive/Bad.md") == "---\ntitle: a: b\n---\n[x](Other.md)\n"
    assert [each.partition(":")[0] for each in done.left] == ["archive/Bad.md"]
    with pytest.raises(Refused, match="conflict markers"):
        desk.run("move", page="merging.md", to="archive/")


def test_a_persons_unsaved_changes_are_committed_as_theirs(desk: Desk) -> None:
    desk.put("notes/Old.md", "first\n")
    desk.put("a.md", "[[Old]]\n")
    settle(desk)
    desk.put("notes/Old.md", "changed by hand\n")
    desk.put("a.md", "[[Old]] by hand\n")
    desk.put("unrelated.md", "not yours\n")
    count = commits(desk)
    desk.run("move", by="codex", page="Old", to="New")
    assert commits(desk) == count + 2
    assert desk.git("log", "-2", "--format=%an").splitlines() == ["codex", "Ada Example"]
    assert desk.git("show", "HEAD~1:notes/Old.md") == "changed by hand"
    assert desk.text("notes/New.md") == "changed by hand\n"
    assert desk.text("a.md") == "[[New]] by hand\n"
    assert desk.git("status", "--porcelain") == "?? unrelated.md"


def test_one_revert_undoes_a_move(desk: Desk) -> None:
    desk.put("notes/Old.md", "x\n")
    desk.put("a.md", "[[Old]]\n")
    settle(desk)
    done = desk.run("move", page="Old", to="New")
    desk.git("revert", "--no-edit", done.commit)
    assert desk.text("notes/Old.md") == "x\n"
    assert meanings(desk, "a.md") == [("Old", "notes/Old.md")]


def test_a_page_without_an_id_keeps_the_one_it_was_given(desk: Desk, make_desk: Callable[..., Desk]) -> None:
    desk.put("notes/Old.md", "x\n")
    first = desk.run("read", page="notes/Old.md").id
    assert desk.run("move", page="Old", to="New").page.id == first
    assert desk.run("read", page="notes/New.md").id == first
    desk.run("reindex", full=True)
    assert desk.run("read", page="notes/New.md").id == first
    # A page that is put in the old place is another page.
    desk.put("notes/Old.md", "another\n")
    second = desk.run("read", page="notes/Old.md").id
    assert second != first
    assert desk.run("move", page="notes/Old.md", to="archive/").page.id == second
    assert desk.run("move", page="notes/New.md", to="notes/Old.md").page.id == first
    assert desk.run("reindex", verify=True).differences == ()


def test_a_write_that_fails_leaves_the_ids_alone(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    from wikimem.vault.commit import Committer

    desk.put("notes/Old.md", "x\n")
    wiki = desk.wiki()
    monkeypatch.setattr(Committer, "commit", lambda *_, **__: (_ for _ in ()).throw(Conflict("lost the race")))
    with pytest.raises(Conflict):
        desk.run("move", page="notes/Old.md", to="New")
    assert wiki.origins().seeds == NO_ORIGINS.seeds
    assert desk.text("notes/Old.md") == "x\n"


def test_origins_are_kept_apart() -> None:
    moved = Origins().moved("a.md", "b.md").moved("b.md", "c.md")
    assert moved.page_id("c.md") == NO_ORIGINS.page_id("a.md")
    assert moved.page_id("b.md") == NO_ORIGINS.page_id("b.md")
    assert moved.page_id("a.md") != moved.page_id("c.md")
    assert moved.moved("c.md", "a.md") == NO_ORIGINS


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"a": 1}', b"\xff"])
def test_origins_that_cannot_be_read_count_as_none(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "origins.json").write_bytes(data)
    assert read_origins(tmp_path) == NO_ORIGINS


def test_the_profile_of_a_project_stays(desk: Desk) -> None:
    desk.run("remember", title="x", project="shop")
    with pytest.raises(Refused, match="registers the project"):
        desk.run("move", page="projects/shop/Profile.md", to="archive/")


def test_a_project_that_the_page_still_names_is_said(desk: Desk) -> None:
    page = desk.run("remember", title="x", project="shop").page
    desk.run("remember", title="y", project="till")
    done = desk.run("move", page=page.id, to="projects/till/facts/")
    assert any("still says 'shop'" in note for note in done.notes)


def test_a_persons_secret_goes_along_and_is_not_shown(desk: Desk) -> None:
    secret = "ghp_" + "Ab3" * 12
    desk.put("notes/Keys.md", f"token {secret}\n")
    desk.put("a.md", "[[Keys]]\n")
    desk.git("add", ".")
    desk.git("commit", "-qm", "mine")
    done = desk.run("move", page="notes/Keys.md", to="Tokens")
    assert secret in desk.text("notes/Tokens.md")
    assert secret not in repr(done)
    with pytest.raises(Conflict):
        desk.run("move", page="a.md", to="notes/Tokens.md")
    named = desk.run("move", page="a.md", to=f"about {secret}")
    assert secret not in named.page.path


def test_the_file_keeps_its_mode_of_names(desk: Desk) -> None:
    """A name in other capitals alone is a move too, where the disk tells them apart."""
    desk.put("notes/deploy.md", "x\n")
    desk.put("a.md", "[x](notes/deploy.md) [[deploy]]\n")
    settle(desk)
    done = desk.run("move", page="notes/deploy.md", to="Deploy")
    assert done.page.path == "notes/Deploy.md"
    assert os.listdir(desk.root / "notes") == ["Deploy.md"]
    assert desk.text("a.md") == "[x](notes/Deploy.md) [[deploy]]\n"
    assert desk.git("ls-files", "notes") == "notes/Deploy.md"
    assert desk.git("status", "--porcelain") == ""


def test_editing_after_a_move_writes_to_the_new_place(desk: Desk) -> None:
    page = desk.run("remember", title="Port", text="8080").page
    desk.run("move", page="Port", to="archive/")
    desk.run("edit", page=page.id, replace=["8080", "9090"])
    assert desk.text("archive/Port.md").endswith("9090\n")
    assert not (desk.root / page.path).exists()


def test_where_the_disk_takes_both_spellings_for_one(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a disk says that the new name is there already, and is the same file: the page goes by a third name."""
    desk.put("notes/deploy.md", "x\n")
    desk.put("a.md", "[x](notes/deploy.md)\n")
    settle(desk)
    before = commits(desk)
    there = os.path.lexists
    monkeypatch.setattr(os.path, "lexists", lambda path: there(path) or str(path).endswith("notes/Deploy.md"))
    monkeypatch.setattr(os.path, "samefile", lambda one, other: str(one).lower() == str(other).lower())
    done = desk.run("move", page="notes/deploy.md", to="Deploy")
    assert done.page.path == "notes/Deploy.md"
    assert commits(desk) == before + 2
    assert os.listdir(desk.root / "notes") == ["Deploy.md"]
    assert desk.text("a.md") == "[x](notes/Deploy.md)\n"
