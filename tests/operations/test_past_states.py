"""Earlier states of a vault, searched and read: nothing from outside gets in, nothing stays behind, nothing is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Home, Run
from wikimem.errors import Invalid, NotFound
from wikimem.operations.processes import trust

Desk = Any

HEEDING_SIGHUP = """
import signal, sys
from wikimem.__main__ import main
signal.signal(signal.SIGHUP, signal.SIG_DFL)
sys.exit(main())
"""
"""The command line; whoever runs the tests under nohup has that signal ignored, and so has what they start."""


def commit(desk: Desk, subject: str) -> None:
    desk.git("add", "-A")
    desk.git("commit", "-qm", subject, "--allow-empty")


def paths(result: Any) -> list[str]:
    return [hit.path for hit in result.hits]


def test_a_link_in_place_of_the_vaults_folder_leads_nowhere(home: Home, tmp_path: Path, run: Run) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "diary.md").write_text("a private quokka\n")
    top = home.path / "project"
    vault = top / "a" / "docs"
    vault.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    assert run("init", str(vault)).code == 0
    (vault / "quokka.md").write_text("a public quokka\n")
    git = ["git", "-C", str(top)]
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "one"], check=True)
    for place, kept in ((vault, "docs"), (top / "a", "a")):
        place.rename(tmp_path / kept)
        place.symlink_to(outside if kept == "docs" else tmp_path)
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-qm", kept], check=True)
        place.unlink()
        (tmp_path / kept).rename(place)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "back"], check=True)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "diary.md").write_text("a private quokka\n")
    for revision in ("HEAD~1", "HEAD~2"):
        done = run("--vault", str(vault), "search", "quokka", "--at", revision)
        assert done.code == 3, done
        assert "private" not in done.stdout + done.stderr
    found = run("--vault", str(vault), "search", "quokka", "--at", "HEAD~3")
    assert (found.code, "public quokka" in found.stdout) == (0, True)


def test_the_rules_of_redaction_are_those_of_then_and_of_now(desk: Desk) -> None:
    desk.put("a.md", "Badge BN-12345678 opens the door, and so does KEY-87654321.\n")
    config = desk.root / ".wikimem/config.toml"
    before = config.read_text()
    config.write_text(before + '\n[redact]\nkey-number = "KEY-[0-9]{8}"\n')
    commit(desk, "then")
    config.write_text(before + '\n[redact]\nbadge-number = "BN-[0-9]{8}"\n')
    commit(desk, "now")
    (hit,) = desk.run("search", query="badge door", at="HEAD~1", streams=["words"]).hits
    assert "BN-12345678" not in hit.passage
    assert "KEY-87654321" not in hit.passage
    assert "badge-number" in hit.passage


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_command_that_is_ended_leaves_no_checkout(home: Home, vault: Path, run: Run, ending: signal.Signals) -> None:
    for number in range(400):
        (vault / f"note {number}.md").write_text(f"the word zebra{number}\n" * 40)
    git = ["git", "-C", str(vault)]
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "many"], check=True)
    assert run("--vault", str(vault), "search", "zebra7").code == 0
    (cache,) = (Path(home.env["XDG_CACHE_HOME"]) / "wikimem" / "vaults").iterdir()
    started = subprocess.Popen(
        [sys.executable, "-c", HEEDING_SIGHUP, "--vault", str(vault), "search", "zebra7", "--at", "HEAD"],
        env=home.env | {"PYTHONPATH": str(Path(__file__).parents[2])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 60
    while not list(cache.glob("past-*/tree/*.md")) and started.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(started.pid, ending)
    started.communicate(timeout=60)
    assert started.returncode != 0, "it was ended before it had answered"
    if ending == signal.SIGKILL:
        assert list(cache.glob("past-*"))
        assert run("--vault", str(vault), "search", "zebra7").code == 0
    assert list(cache.glob("past-*")) == []


def test_what_a_past_search_finds_can_be_read_there(desk: Desk) -> None:
    done = desk.run("remember", title="Walrus", text="The walrus sings.")
    desk.put("gone.md", "A walrus without an id.\n")
    desk.put("plain.md", "Another walrus, of no id.\n" * 3)
    commit(desk, "then")
    desk.run("move", page="Walrus", to="archive/Sea lion")
    desk.git("mv", "plain.md", "moved.md")
    (desk.root / "gone.md").unlink()
    commit(desk, "now")
    found = desk.run("search", query="walrus", at="HEAD~2", limit=20)
    assert set(paths(found)) >= {"global/facts/Walrus.md", "gone.md", "plain.md"}
    for hit in found.hits:
        read = desk.run("read", page=hit.path, at="HEAD~2")
        assert (read.path, read.revision) == (hit.path, hit.revision)
    for address in (done.page.id, done.page.id[-8:], "Walrus", "Sea lion", "archive/Sea lion.md"):
        read = desk.run("read", page=address, at="HEAD~2")
        assert (read.path, read.id) == ("global/facts/Walrus.md", done.page.id)
    assert desk.run("read", page="moved", at="HEAD~2").path == "plain.md"
    assert desk.run("read", page="gone", at="HEAD~2").body == "A walrus without an id.\n"
    with pytest.raises(NotFound):
        desk.run("read", page="gone", at="HEAD")
    for address in ("never", done.page.id[-1], done.page.id[-4:]):
        with pytest.raises(NotFound):
            desk.run("read", page=address, at="HEAD~2")
    desk.run("forget", page="Sea lion")
    assert desk.run("read", page=done.page.id, at="HEAD~1").path == "archive/Sea lion.md"
    assert desk.run("read", page=done.page.id[-8:], at="HEAD~3").path == "global/facts/Walrus.md"


def test_a_name_that_several_pages_had_then_is_no_address(desk: Desk) -> None:
    desk.put("a/Notes.md", "one\n")
    desk.put("b/Notes.md", "two\n")
    commit(desk, "then")
    desk.git("rm", "-rq", "a", "b")
    commit(desk, "now")
    with pytest.raises(Invalid, match=r"named 2 pages at HEAD~1: a/Notes\.md, b/Notes\.md"):
        desk.run("read", page="Notes", at="HEAD~1")


def test_synonyms_that_were_a_folder_do_not_close_the_past(desk: Desk) -> None:
    desk.put("a.md", "The walrus sings.\n")
    desk.put(".wikimem/synonyms.txt/words.txt", "a, b\n")
    commit(desk, "then")
    desk.git("rm", "-rq", ".wikimem/synonyms.txt")
    commit(desk, "now")
    found = desk.run("search", query="walrus sings", at="HEAD~1", streams=["words"])
    assert paths(found) == ["a.md"]
    assert any("synonyms of then cannot be read" in note for note in found.notes)


@pytest.mark.parametrize(
    ("file", "text"),
    [(".wikimem/config.toml", "exclud = ['x']\n"), (".wikimem/synonyms.txt", "alone\n" + "x" * 300_000 + "\n")],
)
def test_a_mistake_that_was_mended_since_does_not_close_the_past(desk: Desk, file: str, text: str) -> None:
    desk.put("a.md", "The walrus sings.\n")
    place = desk.root / file
    before = place.read_text() if place.exists() else None
    place.write_text(text)
    commit(desk, "then")
    if before is None:
        place.unlink()
    else:
        place.write_text(before)
    commit(desk, "now")
    found = desk.run("search", query="walrus sings", at="HEAD~1", streams=["words"])
    assert paths(found) == ["a.md"]
    assert any("those of now are used" in note for note in found.notes)
    assert str(desk.wiki().folders.cache) not in " ".join(found.notes)


def test_a_revision_is_whatever_git_makes_a_commit_of(desk: Desk) -> None:
    desk.put("a.md", "The walrus sings.\n")
    commit(desk, "sings of (walruses)")
    desk.git("tag", "-am", "noted", "v1")
    for revision in ("v1", "v1^{}", "HEAD^0", ":/walruses", "main", desk.git("rev-parse", "HEAD")[:12]):
        assert paths(desk.run("search", query="walrus", at=revision, streams=["words"])) == ["a.md"]
    for revision in ("^HEAD", "HEAD:a.md", "HEAD^{tree}", "v1..HEAD", ":/never said"):
        for name, arguments in (("search", {"query": "walrus"}), ("read", {"page": "a"})):
            with pytest.raises(NotFound, match="no revision"):
                desk.run(name, at=revision, **arguments)


def test_a_shallow_clone_says_that_its_history_is_cut_off(
    desk: Desk, make_desk: Callable[..., Desk], tmp_path: Path
) -> None:
    desk.put("a.md", "The walrus sings.\n")
    commit(desk, "one")
    commit(desk, "two")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{desk.root}", str(clone)], check=True)
    trust(clone, cwd=clone)
    shallow = make_desk("clone")
    for name, arguments in (("search", {"query": "walrus"}), ("read", {"page": "a"})):
        with pytest.raises(NotFound) as told:
            shallow.run(name, at="1999-01-01", **arguments)
        assert "--unshallow" in told.value.hint
    assert paths(shallow.run("search", query="walrus", at="HEAD", streams=["words"])) == ["a.md"]
