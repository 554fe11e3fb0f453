"""The feed of changes: exact where it says so, and a sweep where it does not; each on a real disk."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from wikimem.vault.changes import MOST_PATHS, Changes
from wikimem.vault.feed import ChangeFeed
from wikimem.vault.mounts import silent_disk

WITHIN_S = 20.0


def git(folder: Path, *args: str) -> None:
    subprocess.run(["git", "-C", str(folder), *args], check=True, capture_output=True)


@pytest.fixture
def root(home: object, tmp_path: Path) -> Path:
    vault = tmp_path / "notes"
    (vault / "old").mkdir(parents=True)
    (vault / "old" / "page.md").write_text("old\n")
    git(tmp_path, "init", "-q", str(vault))
    git(vault, "add", "-A")
    git(vault, "commit", "-qm", "first")
    return vault


@pytest.fixture
def feeds(tmp_path: Path) -> Iterator[Callable[..., ChangeFeed]]:
    made: list[ChangeFeed] = []

    def make(root: Path, *, poll: bool = False, exclude: tuple[str, ...] = ()) -> ChangeFeed:
        feed = ChangeFeed(root, tmp_path / "cookies", exclude, poll=poll)
        made.append(feed)
        feed.caught_up(WITHIN_S)  # the sweep at start
        feed.changes(0)
        return feed

    yield make
    for feed in made:
        feed.close()


def gathered(feed: ChangeFeed, enough: Callable[[Changes], bool]) -> Changes:
    """What `changes` gives, together, until that is enough."""
    deadline = time.monotonic() + WITHIN_S
    found = Changes()
    while not enough(found):
        assert time.monotonic() < deadline, found
        now = feed.changes(1)
        found = Changes(found.paths | now.paths, found.sweep or now.sweep, found.refs or now.refs)
    return found


def test_at_start_everything_is_to_be_looked_at(root: Path, tmp_path: Path) -> None:
    feed = ChangeFeed(root, tmp_path / "cookies", ())
    assert feed.caught_up(WITHIN_S).sweep
    assert feed.changes(WITHIN_S).sweep
    feed.close()


def test_what_was_written_before_the_question_is_in_the_answer(root: Path, feeds: Callable[..., ChangeFeed]) -> None:
    feed = feeds(root)
    for number in range(60):
        name = f"{number}.md" if number % 2 else f"old/{number}.md"
        (root / name).write_text("now\n")
        if number % 7 == 3:
            os.rename(root / name, root / f"moved {number}.md")
            assert feed.caught_up(WITHIN_S).paths >= {name, f"moved {number}.md"}
        elif number % 5 == 3:
            (root / name).unlink()
            assert name in feed.caught_up(WITHIN_S).paths
        else:
            assert feed.caught_up(WITHIN_S) == Changes(frozenset({name}))
    assert feed.caught_up(WITHIN_S) == Changes()


@pytest.mark.parametrize("how", ["in place", "temporary and rename", "backup and new"])
def test_a_save_is_seen_however_the_editor_does_it(root: Path, feeds: Callable[..., ChangeFeed], how: str) -> None:
    feed = feeds(root)
    page = root / "old" / "page.md"
    if how == "in place":
        page.write_text("saved\n")
    elif how == "temporary and rename":
        (root / "old" / "page.md.tmp.1234").write_text("saved\n")
        os.replace(root / "old" / "page.md.tmp.1234", page)
    else:
        (root / "old" / "4913").write_text("")
        (root / "old" / "4913").unlink()
        os.rename(page, root / "old" / "page.md~")
        page.write_text("saved\n")
        (root / "old" / "page.md~").unlink()
    assert feed.changes(WITHIN_S) == Changes(frozenset({"old/page.md"}))
    assert feed.caught_up(WITHIN_S) == Changes(frozenset({"old/page.md"}))


def test_events_of_a_folder_lead_to_a_sweep_and_later_to_another(root: Path, feeds: Callable[..., ChangeFeed]) -> None:
    feed = feeds(root)
    (root / "new" / "inner").mkdir(parents=True)
    (root / "new" / "inner" / "a.md").write_text("a\n")
    assert feed.caught_up(WITHIN_S).sweep
    # Once that is answered, the new folder is watched.
    (root / "new" / "inner" / "b.md").write_text("b\n")
    assert feed.caught_up(WITHIN_S) == Changes(frozenset({"new/inner/b.md"}))
    assert feed.changes(WITHIN_S).sweep
    assert feed.changes(WITHIN_S).sweep
    assert not feed.changes(0)


@pytest.mark.parametrize("what", ["renamed", "moved out", "removed"])
def test_a_folder_that_goes_leads_to_a_sweep(
    root: Path, feeds: Callable[..., ChangeFeed], tmp_path: Path, what: str
) -> None:
    feed = feeds(root)
    if what == "renamed":
        os.rename(root / "old", root / "other")
    elif what == "moved out":
        os.rename(root / "old", tmp_path / "elsewhere")
    else:
        shutil.rmtree(root / "old")
    assert feed.caught_up(WITHIN_S).sweep


def test_a_burst_leads_to_a_sweep(root: Path, feeds: Callable[..., ChangeFeed]) -> None:
    feed = feeds(root)
    for number in range(MOST_PATHS + 1):
        (root / f"{number}.md").write_text("x\n")
    found = feed.caught_up(WITHIN_S)
    assert found == Changes(sweep=True)


@pytest.mark.parametrize(
    "place", [".gitignore", "old/.gitignore", ".wikimemignore", ".wikimem/config.toml", ".git/info/exclude"]
)
def test_changed_rules_lead_to_a_sweep(root: Path, feeds: Callable[..., ChangeFeed], place: str) -> None:
    (root / place).parent.mkdir(exist_ok=True)
    feed = feeds(root)
    (root / place).write_text("nothing\n")
    assert feed.caught_up(WITHIN_S).sweep


def test_what_is_hidden_excluded_or_no_page_is_nothing(root: Path, feeds: Callable[..., ChangeFeed]) -> None:
    (root / ".obsidian").mkdir()
    (root / "templates").mkdir()
    feed = feeds(root, exclude=("/templates/",))
    (root / ".obsidian" / "workspace.json").write_text("{}")
    (root / ".hidden.md").write_text("x")
    (root / "templates" / "daily.md").write_text("x")
    (root / "templates" / "deep").mkdir()
    (root / "picture.png").write_bytes(b"x")
    assert feed.caught_up(WITHIN_S) == Changes()


def test_commits_checkouts_and_staging_are_seen(root: Path, feeds: Callable[..., ChangeFeed]) -> None:
    feed = feeds(root)
    (root / "a.md").write_text("a\n")
    feed.caught_up(WITHIN_S)
    git(root, "add", "a.md")
    assert feed.caught_up(WITHIN_S) == Changes(refs=True)
    git(root, "commit", "-qm", "second")
    assert feed.caught_up(WITHIN_S).refs
    git(root, "checkout", "-qb", "side")
    assert feed.caught_up(WITHIN_S).refs


def test_the_refs_of_a_linked_worktree_and_of_an_outer_repository_are_seen(
    root: Path, feeds: Callable[..., ChangeFeed], tmp_path: Path
) -> None:
    git(root, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "linked")
    for vault in (tmp_path / "linked", root / "old"):
        feed = feeds(vault)
        (vault / "c.md").write_text(f"{vault}\n")
        git(vault, "add", ".")
        git(vault, "commit", "-qm", "third")
        found = feed.caught_up(WITHIN_S)
        assert found.refs
        assert "c.md" in found.paths


def test_two_listeners_are_told_everything_each(root: Path, feeds: Callable[..., ChangeFeed]) -> None:
    feed = feeds(root)
    told: set[str] = set()
    stop = threading.Event()

    def listen() -> None:
        while not stop.is_set():
            told.update(feed.changes(0.2).paths)

    listener = threading.Thread(target=listen)
    listener.start()
    asked: set[str] = set()
    names = {f"{number}.md" for number in range(40)}
    for name in sorted(names):
        (root / name).write_text("x\n")
        now = feed.caught_up(WITHIN_S)
        assert name in now.paths
        asked |= now.paths
    deadline = time.monotonic() + WITHIN_S
    while told != names and time.monotonic() < deadline:
        time.sleep(0.05)
    stop.set()
    listener.join()
    assert (told, asked) == (names, names)


def test_a_vault_that_goes_away_and_comes_back_is_watched_again(
    root: Path, feeds: Callable[..., ChangeFeed], tmp_path: Path
) -> None:
    feed = feeds(root)
    os.rename(root, tmp_path / "away")
    assert gathered(feed, lambda found: found.sweep)
    assert feed.caught_up(1).sweep
    os.rename(tmp_path / "away", root)
    gathered(feed, lambda found: found.sweep)
    deadline = time.monotonic() + WITHIN_S
    while feed.caught_up(1).sweep:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    (root / "back.md").write_text("x\n")
    assert "back.md" in feed.caught_up(WITHIN_S).paths


def test_a_name_that_is_no_text_ends_nothing(root: Path, feeds: Callable[..., ChangeFeed]) -> None:
    feed = feeds(root)
    with open(os.fsencode(root) + b"/caf\xe9.md", "wb") as file:
        file.write(b"x")
    deadline = time.monotonic() + WITHIN_S
    while feed.caught_up(1).sweep:
        assert time.monotonic() < deadline
    (root / "text.md").write_text("x\n")
    assert "text.md" in feed.caught_up(WITHIN_S).paths


def test_polling_sees_changes_too_and_promises_nothing(root: Path, feeds: Callable[..., ChangeFeed]) -> None:
    feed = feeds(root, poll=True)
    assert feed.polling
    assert feed.caught_up(WITHIN_S).sweep
    (root / "old" / "page.md").write_text("changed and longer\n")
    os.utime(root / "old" / "page.md", (time.time() + 5, time.time() + 5))
    assert gathered(feed, lambda found: found.sweep).sweep


def test_where_the_system_gives_no_watches_it_says_so_and_polls(root: Path, tmp_path: Path) -> None:
    script = (
        "import sys\nfrom pathlib import Path\nfrom wikimem.vault.feed import ChangeFeed\n"
        "Path('/proc/sys/user/max_inotify_instances').write_text('0')\n"
        "feed = ChangeFeed(Path(sys.argv[1]), Path(sys.argv[2]), ())\n"
        "print(feed.why_polling)\n"
        "while feed.changes(0.1): pass\n"
        "(Path(sys.argv[1]) / 'new.md').write_text('x')\n"
        "print(any(feed.changes(1).sweep for _ in range(20)))\nfeed.close()\n"
    )
    own = ["unshare", "--user", "--map-root-user"]
    if shutil.which("unshare") is None or subprocess.run([*own, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no user namespaces here")
    done = subprocess.run(
        [*own, sys.executable, "-c", script, str(root), str(tmp_path / "cookies")],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=Path(__file__).parents[2],
    )
    assert done.stdout.splitlines()[1:] == ["True"], done.stderr
    assert "no more watches" in done.stdout


def test_a_lost_watch_is_noticed_and_made_again(root: Path, feeds: Callable[..., ChangeFeed]) -> None:
    feed = feeds(root)
    # Without the folder that the watch was set on, no barrier comes in.
    shutil.rmtree(feed._cookies)
    feed._cookies.mkdir()
    answers = [feed.caught_up(0.2).sweep for _ in range(4)]
    assert answers == [True] * 4
    deadline = time.monotonic() + WITHIN_S
    while feed.caught_up(1).sweep:
        assert time.monotonic() < deadline
    (root / "again.md").write_text("x\n")
    assert feed.caught_up(WITHIN_S).paths == {"again.md"}


def test_closing_ends_a_wait_and_leaves_nothing_behind(
    root: Path, feeds: Callable[..., ChangeFeed], tmp_path: Path
) -> None:
    feed = feeds(root)
    waiting = threading.Thread(target=feed.changes, args=(600,))
    waiting.start()
    feed.close()
    waiting.join(WITHIN_S)
    assert not waiting.is_alive()
    assert list((tmp_path / "cookies").iterdir()) == []
    assert not any(thread.name == "wikimem changes" for thread in threading.enumerate())


def test_cookies_of_processes_that_are_gone_are_removed(root: Path, tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    left = tmp_path / "cookies" / f"feed-{gone.pid}-0123abcd"
    left.mkdir(parents=True)
    ChangeFeed(root, tmp_path / "cookies", ()).close()
    assert not left.exists()


MOUNTS = """\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw
30 22 0:30 / /mnt/share rw - nfs4 server:/x rw
31 22 0:31 / /mnt/c rw - 9p drvfs rw
32 30 0:32 / /mnt/share/my\\040disk rw - ext4 /dev/sdb rw
33 22 0:33 / /mnt/cloud rw - fuse.rclone remote: rw
"""


@pytest.mark.parametrize(
    ("place", "kind"),
    [("/home/me/notes", ""), ("/mnt/share/notes", "nfs4"), ("/mnt/c/Users/notes", "9p"), ("/mnt/share/my disk/v", ""),
     ("/mnt/cloud", "fuse.rclone"), ("/mnt/cloudy", "")],
)  # fmt: skip
def test_a_disk_that_others_change_unseen_is_known_by_its_kind(place: str, kind: str) -> None:
    assert silent_disk(Path(place), MOUNTS) == kind
