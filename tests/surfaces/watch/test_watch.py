"""`wikimem watch` beside editors, git and agents: the index follows, edits are committed, nothing loops."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wikimem.vault.duty import duty_holder
from wikimem.vault.folders import vault_folders, vault_key

if TYPE_CHECKING:
    from tests.conftest import Run
    from tests.surfaces.watch.conftest import Watcher

    Watch = Callable[..., Watcher]
    Await = Callable[[], None]


def git(root: Path, *args: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *args], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit_all(root: Path, message: str) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-qm", message)


def test_every_way_of_saving_moving_and_deleting_reaches_the_index(
    vault: Path, watch: Watch, await_index: Await
) -> None:
    watch()
    page = vault / "notes" / "page.md"
    page.parent.mkdir()
    page.write_text("# First\n")
    await_index()
    (vault / "notes" / ".page.md.tmp").write_text("# Saved atomically\n")
    os.replace(vault / "notes" / ".page.md.tmp", page)
    await_index()
    os.rename(page, vault / "notes" / "page.md~")
    page.write_text("# Saved with a backup\n")
    (vault / "notes" / "page.md~").unlink()
    await_index()
    with page.open("r+") as file:
        file.truncate(0)
        file.flush()
        file.write("# Truncated and written\n")
    await_index()
    os.rename(page, vault / "notes" / "other name.md")
    await_index()
    os.rename(vault / "notes", vault / "renamed folder")
    await_index()
    (vault / "renamed folder" / "deep" / "er").mkdir(parents=True)
    (vault / "renamed folder" / "deep" / "er" / "inner.md").write_text("# Inner\n")
    await_index()
    shutil.rmtree(vault / "renamed folder")
    await_index()


@pytest.mark.parametrize("pages", [300, pytest.param(5_000, marks=pytest.mark.slow)])
def test_a_checkout_of_many_pages_reaches_the_index_and_commits_nothing(
    vault: Path, watch: Watch, await_index: Await, pages: int
) -> None:
    git(vault, "checkout", "-qb", "side")
    for number in range(pages):
        file = vault / f"many/{number % 60}/{number}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# Page {number}\n\nof the side branch\n")
    commit_all(vault, "many")
    git(vault, "checkout", "-q", "main")
    watch()
    before = git(vault, "for-each-ref", "--format=%(objectname)", "refs/heads")
    git(vault, "checkout", "-q", "side")
    await_index()
    git(vault, "checkout", "-q", "main")
    # Most of the vault is gone: that is no reason to empty the index, so it is asked for (law 7).
    subprocess.run(["git", "-C", str(vault), "checkout", "-q", "side"], check=True)
    await_index()
    time.sleep(3)
    assert git(vault, "for-each-ref", "--format=%(objectname)", "refs/heads") == before


def test_edits_are_committed_as_the_person_once_they_rest(vault: Path, watch: Watch) -> None:
    watcher = watch()
    (vault / "Idea.md").write_text("# An idea\n")
    line = watcher.await_event("committed", lambda line: "An idea" in line["subject"])
    assert line["schema"] == "wikimem/watch/1"
    assert line["pages"] == ["Idea.md"]
    assert git(vault, "log", "-1", "--format=%H %an %s") == f"{line['commit']} Ada Example create: An idea"
    (vault / "Idea.md").write_text("<<<<<<< HEAD\n# An idea\n=======\n# Another\n>>>>>>> x\n")
    assert watcher.await_event("left alone")["path"] == "Idea.md"
    assert git(vault, "log", "-1", "--format=%H") == line["commit"]


def test_own_writes_lead_to_nothing(vault: Path, watch: Watch, run: Run) -> None:
    watcher = watch()
    for number in range(3):
        done = run("remember", f"Fact {number}", "--text", "words", "--agent", "robot", "--vault", str(vault))
        assert done.code == 0, done.stderr
    time.sleep(4)
    said = len(watcher.lines)
    head = git(vault, "rev-parse", "HEAD")
    time.sleep(4)
    assert len(watcher.lines) == said
    assert git(vault, "rev-parse", "HEAD") == head
    assert [line for line in watcher.lines if line["event"] in ("committed", "left alone", "error")] == []
    assert git(vault, "log", "--format=%an").splitlines().count("robot") == 3


def test_it_polls_where_it_is_told_to_and_says_so(vault: Path, watch: Watch, await_index: Await) -> None:
    watcher = watch("--poll")
    assert "every second" in watcher.await_event("polling")["text"]
    (vault / "polled.md").write_text("# Polled\n")
    await_index()
    watcher.await_event("committed", lambda line: "Polled" in line["subject"])


def test_a_vault_that_goes_away_and_comes_back_is_watched_on(
    vault: Path, watch: Watch, await_index: Await, tmp_path: Path
) -> None:
    watcher = watch()
    os.rename(vault, tmp_path / "away")
    watcher.await_event("error")
    os.rename(tmp_path / "away", vault)
    (vault / "after.md").write_text("# After\n")
    await_index()
    watcher.await_event("committed", lambda line: "After" in line["subject"])
    assert watcher.end() == (0, "")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_ends_cleanly_when_it_is_told_to(vault: Path, watch: Watch, how: signal.Signals) -> None:
    watcher = watch()
    state = vault_folders(vault_key(vault)).state
    holder = duty_holder(state)
    assert holder is not None
    assert (holder.rank, holder.pid) == ("watch", watcher.process.pid)
    assert watcher.end(how) == (0, "")
    assert duty_holder(state) is None
    assert list((state / "cookies").iterdir()) == []


def test_one_process_watches_and_another_can_wait_for_its_end(vault: Path, watch: Watch) -> None:
    first = watch()
    code, said = watch(ready=False).end(0)
    assert code == 4
    assert str(first.process.pid) in said
    waiting = watch("--wait", ready=False)
    assert waiting.await_event("waiting")["pid"] == first.process.pid
    first.end(signal.SIGKILL)
    waiting.await_event("watching")


def test_changed_settings_are_taken_up(vault: Path, watch: Watch, home: Any) -> None:
    watcher = watch()
    (home.path / ".config/wikimem/config.toml").write_text('commit_after = "off"\n')
    watcher.await_event("commits off")
    (vault / "kept.md").write_text("# Kept\n")
    watcher.await_event("indexed", lambda line: line is not watcher.lines[0] and line["indexed"] == 1)
    time.sleep(3)
    assert git(vault, "status", "--porcelain", "--", "kept.md") == "?? kept.md"
