"""Pages of every name: each opens by the path that results show, and a write reaches it and no other."""

from __future__ import annotations

import os
import subprocess
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest

from wikimem.errors import Invalid, NotFound, Refused
from wikimem.operations import OPERATIONS
from wikimem.vault.names import MAX_NAME_BYTES

Desk = Any
Run = Any

BY_NAME = {operation.name: operation for operation in OPERATIONS}

NAMES = {
    "emoji": ("🚢 ship 👩‍👩‍👧.md", "🇮🇸.md", "❤️.md", "❤.md"),
    "scripts": ("日本語のページ.md", "Ünï/cödé/ø.md", "İstanbul.md", "ſharp.md", "می‌خواهم.md"),
    "forms": ("Caf\u00e9.md", "Cafe\u0301.md", "\u00c5.md", "A\u030a.md", "\u212b.md", "\ufb01.md", "fi.md"),
    "case": ("Same.md", "same.md", "SAME.MD", "k.md", "K.md", "\u212a.md"),
    "endings": ("Harbour.MD", "Notes.markdown", "NOTES.MARKDOWN", "Notes.md", "x.md.md", "x.md/inner.md", "dots...md"),
    "reserved": ("CON.md", "aux.md", "nul.txt.md", "com1/lpt9.md", "git~1.md"),
    "blanks": (
        "lead.md",
        " lead.md",
        "lead .md",
        "a b  c.md",
        "nb\u00a0sp.md",
        "\u200bzero.md",
        "trail. .md",
        "x /y.md",
    ),
    "quotes": ('quo"te.md', "apos'.md", "back\\slash.md", "a;b&c$d`e.md", "<lt>.md", "{brace}.md", "$(x).md"),
    "links": ("hash#tag.md", "car^et.md", "br[ack]et.md", "br[[x]].md", "[[Wiki]].md", "pi|pe.md", "per%cent%20.md"),
    "options": ("-dash.md", "--all.md", "--.md", "-.md", "-/--help.md"),
    "git": ("HEAD.md", "@.md", "@{u}.md", "~tilde.md", "~/x.md", "!bang.md", "main.md", "HEAD"),
    "patterns": (":(glob)**.md", ":!x.md", ":x.md", "*.md", "st*ar.md", "que?.md", "[a-z].md", "colon: x.md"),
    "ids": ("01J8ZQ6V5T9YB3N4M7K2C1D0EF.md", "123456.md", "0.md"),
    "titles": ("one/Title.md", "two/Title.md", "three/Title.md"),
    "long": ("a" * 252 + ".md", "é" * 126 + ".md", "deep/" * 60 + "Deep.md"),
}


@pytest.fixture(params=NAMES)
def names(request: pytest.FixtureRequest, desk: Desk) -> tuple[str, ...]:
    found = tuple(name for name in NAMES[request.param] if name.lower().endswith((".md", ".markdown")))
    for number, name in enumerate(found):
        desk.put(name, text(number))
    desk.git("add", "-A")
    desk.git("commit", "-qm", "mine")
    return found


def text(number: int) -> str:
    return f"The word quay{number}mark is on this page alone.\n"


def test_each_page_opens_by_the_path_that_is_shown(desk: Desk, names: tuple[str, ...]) -> None:
    wiki = desk.wiki()
    listed = {page.path: page.id for page in BY_NAME["list"].run(wiki, {"limit": 1000}).pages}
    assert listed.keys() >= set(names)
    for number, name in enumerate(names):
        read = BY_NAME["read"].run(wiki, {"page": name})
        assert (read.path, read.body) == (name, text(number))
        assert BY_NAME["search"].run(wiki, {"query": f"quay{number}mark"}).hits[0].path == name


def test_a_write_reaches_just_that_page(desk: Desk, names: tuple[str, ...]) -> None:
    wiki = desk.wiki()
    everything = {page.path for page in BY_NAME["list"].run(wiki, {"limit": 1000}).pages}
    for number, name in enumerate(names):
        done = BY_NAME["edit"].run(wiki, {"page": name, "replace": ["is on", "was on"]})
        shown = ["git", "-C", str(desk.root), "show", "--name-only", "-z", "--format=", done.commit]
        assert subprocess.run(shown, capture_output=True, text=True, check=True).stdout == f"{name}\0"
        assert desk.text(name) == text(number).replace("is on", "was on")
        log = BY_NAME["log"].run(wiki, {"page": name})
        assert [entry.commit for entry in log.entries[:1]] == [done.commit]
        assert log.entries[0].pages == (name,)
        assert len(log.entries) == 2
    for name in names:
        BY_NAME["forget"].run(wiki, {"page": name})
        everything.remove(name)
        assert {page.path for page in BY_NAME["list"].run(wiki, {"limit": 1000}).pages} == everything
        assert not os.path.lexists(desk.root / name)
    assert desk.git("status", "--porcelain") == ""
    assert desk.git("fsck", "--strict", "--no-dangling") == ""


@pytest.mark.parametrize("title", ["Caf\u00e9", "Cafe\u0301", "ＣＡＦÉ", "café"])
def test_a_page_of_the_same_look_is_not_made_twice(desk: Desk, title: str) -> None:
    desk.put("global/facts/Cafe\u0301.md", "mine\n")
    if unicodedata.normalize("NFC", title).casefold() == "café":
        with pytest.raises(Exception, match="exists") as caught:
            desk.run("remember", title=title, text="another")
        assert caught.value.data["path"] == "global/facts/Cafe\u0301.md"
    else:
        desk.run("remember", title=title, text="another")
    assert desk.text("global/facts/Cafe\u0301.md") == "mine\n"


def test_names_that_no_page_can_have_are_reported_and_left_alone(desk: Desk) -> None:
    odd = {b"bad\xff.md": "UTF-8", b"new\nline.md": "control", b"tab\there.md": "control", b"bell\x07.md": "control"}
    for name in odd:
        (desk.root / os.fsdecode(name)).write_bytes(b"ferry\n")
    desk.put(".hidden.md", "ferry\n")
    desk.put(".obsidian/Plugin.md", "ferry\n")
    desk.git("add", "-A")
    desk.git("commit", "-qm", "mine")
    problems = [each for each in desk.run("status").problems if each.rule == "file-name"]
    assert sorted(each.message.split()[-1] for each in problems) == ["UTF-8", "character", "character", "character"]
    assert all(each.path.isprintable() for each in problems)
    assert desk.run("search", query="ferry").hits == ()
    for address in ("new\nline.md", "tab\there.md", ".hidden.md", ".obsidian/Plugin.md", "bad\udcff.md"):
        with pytest.raises((NotFound, Refused, Invalid)):
            desk.run("read", page=address)
    assert all((desk.root / os.fsdecode(name)).read_bytes() == b"ferry\n" for name in odd)
    assert desk.git("status", "--porcelain") == ""


TITLES = (
    *("../../etc/passwd", "/etc/passwd", "..", ".git/config", ".hidden", "CON", "con.txt"),
    *("a" * 300, "🚢" * 300, "👩‍👩‍👧 and é", "-rf --no-preserve-root", "tab\tand   blanks "),
    *("[[Wiki]] #tag ^id | 50% of it?", 'quo"te \\ back`tick`', ":(glob)**"),
)


def test_a_title_of_any_kind_makes_a_page_that_every_system_can_hold(desk: Desk) -> None:
    wiki = desk.wiki()

    def run(operation: str, **arguments: Any) -> Any:
        return BY_NAME[operation].run(wiki, arguments)

    for title in TITLES:
        done = run("remember", title=title, text=f"The ferry leaves at nine, says {len(title)}.")
        name = done.page.path.rpartition("/")[2]
        assert done.page.path == f"global/facts/{name}"
        assert len(name.removesuffix(".md").encode()) <= MAX_NAME_BYTES
        assert not set(name) & set('\\/:*?"<>|#^[]')
        assert not name.startswith((".", " "))
        assert not name.removesuffix(".md").endswith((".", " "))
        read = run("read", page=done.page.path)
        assert (read.id, read.title) == (done.page.id, " ".join(title.split()))
        assert run("read", page=done.page.id).path == done.page.path
        run("edit", page=done.page.path, replace=["nine", "ten"])
        assert run("log", page=done.page.path).entries[0].pages == (done.page.path,)
    for page in run("list", type="fact", limit=100).pages:
        run("forget", page=page.path)
    assert desk.git("status", "--porcelain") == ""
    assert desk.git("fsck", "--strict", "--no-dangling") == ""


def test_one_title_twice_is_ambiguous_and_says_which_pages(desk: Desk) -> None:
    for folder in ("one", "two"):
        desk.put(f"{folder}/Title.md", "---\ntitle: The title\n---\nx\n")
    with pytest.raises(Invalid, match=r"names 2 pages: one/Title.md .*two/Title.md"):
        desk.run("edit", page="The title", set=["a=b"])
    assert desk.run("read", page="two/Title").path == "two/Title.md"


def test_names_that_look_like_options_work_on_the_command_line(run: Run, vault: Any) -> None:
    for name in ("--all.md", "-x.md"):
        (vault / name).write_text("The ferry leaves at nine.\n")
    listed = {page["path"] for page in run("list", "--json").json["pages"]}
    assert {"--all.md", "-x.md"} <= listed
    for name in ("--all.md", "-x.md"):
        assert run("read", "--json", "--", name).json["path"] == name
        assert run("log", "--json", f"--page={name}").code == 0
        assert run("edit", "--replace", "nine", "ten", "--", name).code == 0
        assert "ten" in (vault / name).read_text()
        assert run("forget", "--yes", "--", name).code == 0
        assert not (vault / name).exists()


def test_a_folder_that_is_full_of_odd_names_takes_more(make_desk: Callable[..., Desk]) -> None:
    desk = make_desk("a vault: with # odd [name] 🚢")
    done = desk.run("remember", title="In an odd place")
    assert desk.run("read", page=done.page.path).title == "In an odd place"
    assert desk.git("status", "--porcelain") == ""
