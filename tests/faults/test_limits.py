"""What the system refuses: full and read-only disks, failing syncs, no handles left, locks of others, a clock that
jumps back. Each leaves the vault as it was and an error that names the thing; the next command works."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wikimem.errors import Conflict, Refused, WikimemError
from wikimem.model.caller import Caller
from wikimem.operations import OPERATIONS
from wikimem.operations.processes import init
from wikimem.vault import lock, repository
from wikimem.vault.lock import local_locks, write_lock
from wikimem.wiki import open_wiki

if TYPE_CHECKING:
    from tests.faults.conftest import Yard

BY_NAME = {operation.name: operation for operation in OPERATIONS}


def operate(root: Path, name: str, *, clock: Callable[[], datetime] = datetime.now, **arguments: Any) -> Any:
    """Run an operation in this process."""
    with contextlib.closing(open_wiki(str(root), cwd=root, caller=Caller(agent="one", cwd=root), clock=clock)) as wiki:
        return BY_NAME[name].run(wiki, arguments)


def attempt(root: Path, name: str, **arguments: Any) -> tuple[Any, WikimemError | None]:
    try:
        return operate(root, name, **arguments), None
    except WikimemError as error:
        return None, error


def git(root: Path, *args: str) -> str:
    done = subprocess.run(
        ["git", "--no-optional-locks", "-C", str(root), *args], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def look(root: Path) -> dict[str, bytes]:
    """Every file of the work tree, HEAD, and what git says of the tree."""
    files = {
        str(file.relative_to(root)): file.read_bytes()
        for file in root.rglob("*")
        if file.is_file() and ".git" not in file.relative_to(root).parts
    }
    return files | {"HEAD": git(root, "rev-parse", "HEAD").encode(), "status": git(root, "status", "-s").encode()}


@contextlib.contextmanager
def mounted(folder: Path, size: str) -> Iterator[None]:
    """A disk of its own at `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        why = f"a disk cannot be mounted here: {done.stderr.strip()}"
        if os.geteuid() == 0 and "CI" in os.environ:
            pytest.fail(why)
        pytest.skip(why)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path, leave: int = 0) -> Path:
    """A file that takes all the space of the disk but `leave` bytes."""
    filler = folder / ".git" / "filler" if (folder / ".git").exists() else folder / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(b"\0" * 4096):
            pass
    os.truncate(filler, max(0, filler.stat().st_size - leave))
    return filler


# Disks


@pytest.mark.parametrize("leave", [0, 20_000, 60_000])
def test_a_full_disk_under_the_vault(home: Any, tmp_path: Path, leave: int) -> None:
    root = tmp_path / "disk"
    with mounted(root, "4m"):
        init(root, cwd=root)
        operate(root, "remember", title="First", text="begin")
        before = look(root)
        filler = fill(root, leave)
        with pytest.raises(Refused, match="No space left") as caught:
            operate(root, "remember", title="Second", text="a line of text\n" * 8000, supersedes=["First"])
        assert "space" in caught.value.hint
        assert operate(root, "search", query="begin").hits, "reading goes on"
        assert look(root) == before
        filler.unlink()
        operate(root, "remember", title="Second", text="a line of text\n", supersedes=["First"])
        assert git(root, "status", "--porcelain") == ""
        assert git(root, "log", "--format=%s").split("\n")[0] == "remember(fact): Second"
        assert not [*root.rglob("*.tmp")]


@pytest.mark.parametrize("what", ["XDG_STATE_HOME", "XDG_CACHE_HOME"])
def test_a_full_disk_under_wikimems_own_folders(
    home: Any, vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    disk = tmp_path / "disk"
    with mounted(disk, "4m"):
        monkeypatch.setenv(what, str(disk))
        if what == "XDG_STATE_HOME":
            # The key is in there: another one is another user.
            operate(vault, "reindex", full=True)
        operate(vault, "remember", title="First", text="begin")
        before = look(vault)
        filler = fill(disk)
        if what == "XDG_STATE_HOME":
            with pytest.raises(Refused, match="No space left"):
                operate(vault, "remember", title="Second", text="a line\n" * 4000)
            assert look(vault) == before
        else:
            # The index is derived: the write is done, and says that it cannot be found yet.
            done = operate(vault, "remember", title="Second", text="a line\n" * 4000)
            assert done.commit == git(vault, "rev-parse", "HEAD")
            assert any("not yet findable" in note for note in done.notes)
        assert operate(vault, "read", page="First").body.strip() == "begin"
        filler.unlink()
        operate(vault, "remember", title="Third", text="a line\n")
        assert operate(vault, "search", query="line").hits
        assert git(vault, "status", "--porcelain") == ""


def test_a_disk_that_is_read_only(home: Any, tmp_path: Path) -> None:
    root = tmp_path / "disk"
    with mounted(root, "4m"):
        init(root, cwd=root)
        operate(root, "remember", title="First", text="begin")
        before = look(root)
        subprocess.run(["mount", "-o", "remount,ro", str(root)], check=True)
        with pytest.raises(Refused, match="Read-only file system") as caught:
            operate(root, "remember", title="Second", text="more")
        assert "mount" in caught.value.hint
        assert operate(root, "search", query="begin").hits
        assert look(root) == before
        subprocess.run(["mount", "-o", "remount,rw", str(root)], check=True)
        operate(root, "remember", title="Second", text="more")
        assert git(root, "status", "--porcelain") == ""


@pytest.mark.parametrize("where", ["vault", ".git", "objects", "refs", "state", "cache"])
def test_a_folder_that_is_read_only(yard: Yard, where: str) -> None:
    assert yard.operation("remember", title="First", text="begin") == 0
    cache = Path(yard.env["XDG_CACHE_HOME"])
    folders = {
        "vault": [yard.root / "global/facts", yard.root / "global", yard.root],
        ".git": [yard.root / ".git"],
        "objects": [folder for folder in (yard.root / ".git/objects").rglob("*") if folder.is_dir()]
        + [yard.root / ".git/objects"],
        "refs": [yard.root / ".git/refs/heads"],
        "state": [yard.state / "journal", yard.state],
        "cache": [folder for folder in [*cache.rglob("*")] if folder.is_dir()],
    }[where]
    files = [file for folder in folders for file in folder.iterdir() if file.is_file()] if where == "cache" else []
    before = look(yard.root)
    for path in (*folders, *files):
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        told = len(yard.acknowledged())
        write = ["remember", {"title": "Second", "text": "begin again"}]
        code = yard.run("operations", operations=[write], unprivileged=True)
        reading = yard.run("operations", operations=[["read", {"page": "First"}]], unprivileged=True)
    finally:
        for path in (*folders, *files):
            path.chmod(0o700 if path.is_dir() else 0o600)
    said = yard.acknowledged()[told:]
    assert (code, reading) == (0, 0), yard.drivers.said()
    assert said[1]["operation"] == "read"
    if where == "cache":
        # The index is derived: the write is done, and says that it cannot be found yet.
        assert any("not yet findable" in note for note in said[0]["notes"]), said
        yard.assert_sound()
        return
    assert said[0]["error"] == "refused", said
    assert "denied" in said[0]["message"]
    assert "permission" in said[0]["hint"].lower()
    assert look(yard.root) == before
    assert yard.operation("remember", title="Second", text="begin again") == 0, yard.drivers.said()
    yard.assert_sound()


def test_a_sync_that_fails_anywhere(home: Any, vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    operate(vault, "remember", title="First", text="begin")
    real = os.fsync
    for nth in range(1, 60):
        before, calls = look(vault), [0]

        def failing(descriptor: int, nth: int = nth, calls: list[int] = calls) -> None:
            calls[0] += 1
            if calls[0] == nth:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            real(descriptor)

        title = f"Second {nth}"
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", failing)
            done, error = attempt(vault, "remember", title=title, text="more", supersedes=["First"])
        if calls[0] < nth:
            break
        if error is not None:
            assert look(vault) == before, f"the sync number {nth}"
            assert "Input/output error" in error.message
            assert error.hint
        else:
            assert done.commit == git(vault, "rev-parse", "HEAD")
        if nth % 4 == 0:
            operate(vault, "edit", page="First", text=f"- {nth}", mode="append")
        assert git(vault, "status", "--porcelain") == ""
        assert git(vault, "log", "--format=%s").split("\n").count(f"remember(fact): {title}") == (done is not None)
    else:
        pytest.fail("there are more syncs than expected")
    assert nth > 10, "the write does sync"


def test_out_of_file_handles(yard: Yard) -> None:
    assert yard.operation("remember", title="First", text="begin") == 0
    outcomes = set()
    for handles in (9, 12, 15, 18, 22, 60):
        told = len(yard.acknowledged())
        write = ["remember", {"title": f"Second {handles}", "text": "more"}]
        code = yard.run("operations", operations=[write], handles=handles)
        said = yard.acknowledged()[told:]
        assert code in (0, 6), yard.drivers.said()
        failed = code == 6 or "error" in said[0]
        if said and failed:
            assert said[0]["error"] in ("unavailable", "refused", "conflict"), said
        outcomes.add(failed)
        assert yard.git("log", "--format=%s").split("\n").count(f"remember(fact): Second {handles}") == (not failed)
    assert outcomes == {True, False}
    assert yard.operation("remember", title="Third", text="more") == 0, yard.drivers.said()
    yard.assert_sound()


# Locks


@pytest.mark.parametrize(
    ("name", "git_is_there"),
    [
        ("index.lock", True),
        ("HEAD.lock", True),
        ("refs/heads/main.lock", True),
        ("index.lock", False),
        ("refs/heads/main.lock", False),
    ],
)
def test_a_lock_of_git_that_stays_is_named_and_kept(
    home: Any, vault: Path, monkeypatch: pytest.MonkeyPatch, name: str, git_is_there: bool
) -> None:
    monkeypatch.setattr(repository, "INDEX_WAIT_S", 0.2)
    # Git attributes cannot be applied without git.
    git(vault, "rm", "-q", ".gitattributes")
    git(vault, "commit", "-qm", "no attributes")
    operate(vault, "remember", title="First", text="begin")
    before = look(vault)
    held = vault / ".git" / name
    held.touch()
    hour_ago = time.time() - 3600
    os.utime(held, (hour_ago, hour_ago))
    with monkeypatch.context() as patched:
        if not git_is_there:
            patched.setenv("PATH", "/nonexistent")
        with pytest.raises(Conflict) as caught:
            operate(vault, "remember", title="Second", text="more")
    assert str(held) in caught.value.hint
    assert re.search(r"360\d seconds old", caught.value.hint)
    assert held.exists(), "it is never deleted"
    held.unlink()
    assert look(vault) == before
    operate(vault, "remember", title="Second", text="more")
    assert git(vault, "status", "--porcelain") == ""


@pytest.mark.parametrize("name", ["index.lock", "HEAD.lock", "refs/heads/main.lock"])
def test_a_lock_of_git_that_goes_is_waited_for(home: Any, vault: Path, name: str) -> None:
    held = vault / ".git" / name
    held.touch()
    threading.Timer(1.2, held.unlink).start()
    done = operate(vault, "remember", title="First", text="begin")
    assert done.commit == git(vault, "rev-parse", "HEAD")
    assert git(vault, "status", "--porcelain") == ""


def test_a_lock_held_by_a_living_process_is_named(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "LOCK_WAIT_S", 0.1)
    with write_lock(yard.root / ".git/wikimem.lock", "somebody's long write"):
        assert yard.operation("list") == 0, "readers do not wait"
        script = "import sys; from pathlib import Path; from wikimem.vault.lock import write_lock\n"
        script += "with write_lock(Path(sys.argv[1]), 'mine', timeout_s=0.1): pass"
        done = subprocess.run(
            [sys.executable, "-c", script, str(yard.root / ".git/wikimem.lock")],
            capture_output=True,
            text=True,
            check=False,
            env=yard.env | {"PYTHONPATH": str(Path(__file__).parents[2])},
        )
    assert f"process {os.getpid()} (somebody's long write, since " in done.stderr


def test_a_lock_file_that_is_removed_while_one_waits_is_taken_anew(tmp_path: Path) -> None:
    path = tmp_path / "wikimem.lock"
    with write_lock(path, "first"):
        waiting = threading.Thread(target=lambda: _hold(path, entered))
        entered = threading.Event()
        waiting.start()
        time.sleep(0.1)
        path.unlink()
        time.sleep(0.1)
        assert not entered.is_set()
    assert entered.wait(5)
    waiting.join()


def _hold(path: Path, entered: threading.Event) -> None:
    with write_lock(path, "second", timeout_s=10):
        assert path.exists()
        entered.set()


def test_locks_that_do_not_work_are_refused(home: Any, vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = look(vault)

    def no_locks(descriptor: int, what: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    for refusal, flock in (("No locks available", no_locks), ("two were granted at once", lambda *_: None)):
        with (
            monkeypatch.context() as patched,
            contextlib.closing(open_wiki(str(vault), cwd=vault, caller=Caller(agent="one", cwd=vault))) as wiki,
        ):
            wiki.refresh()
            patched.setattr(fcntl, "flock", flock)
            with pytest.raises(Refused, match=refusal) as caught, wiki.transaction("remember"):
                raise AssertionError("no lock, no write")
        assert "local file system" in caught.value.hint
    assert look(vault) == before


MOUNTS = """\
24 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 24 0:40 / /net/good rw,relatime - nfs4 server:/x rw,vers=4.2,local_lock=none
31 24 0:41 / /net/bad rw,relatime - nfs server:/x rw,vers=3,nolock,local_lock=none
32 24 0:42 / /net/my\\040share rw,relatime - cifs //server/x rw,vers=3.1.1,nobrl
33 24 0:43 / /net/far rw,nosuid - fuse.sshfs me@server:/x rw,user_id=0
34 33 0:44 / /net/far/own rw - tmpfs tmpfs rw
"""


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/home/me/notes", ""),
        ("/net/good/notes", ""),
        ("/net/bad/notes", "'/net/bad' is mounted by nfs with nolock"),
        ("/net/badly/notes", ""),
        ("/net/my share/notes", "'/net/my share' is mounted by cifs with nobrl"),
        ("/net/far/notes", "'/net/far' is mounted by fuse.sshfs"),
        ("/net/far/own/notes", ""),
    ],
)
def test_network_folders_without_common_locks_are_known(path: str, said: str) -> None:
    assert local_locks(Path(path), MOUNTS) == said


def test_a_network_folder_without_common_locks_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(f"30 1 0:40 / {tmp_path} rw - fuse.sshfs me@server:/x rw\n")
    monkeypatch.setattr(lock, "_MOUNTS", mounts)
    with (
        pytest.raises(Refused, match=r"not seen by other machines.*fuse\.sshfs") as caught,
        write_lock(tmp_path / "wikimem.lock", "mine"),
    ):
        raise AssertionError("no lock, no write")
    assert "clone" in caught.value.hint


# The clock


def test_a_clock_that_jumps_back(home: Any, vault: Path) -> None:
    start = datetime(2025, 9, 12, 9, 14)
    moments = [start, start - timedelta(days=900), start - timedelta(days=1), start + timedelta(days=400), start]
    ids = set()
    for number, moment in enumerate(moments):
        done = operate(vault, "remember", clock=lambda moment=moment: moment, title=f"Fact {number}", text="begin")
        ids.add(done.page.id)
        operate(vault, "edit", clock=lambda moment=moment: moment, page="Fact 0", text=f"- {number}", mode="append")
    assert len(ids) == len(moments)
    lines = [line for line in (vault / "global/facts/Fact 0.md").read_text().split("\n") if line.startswith("- ")]
    assert lines == ["- 0", "- 1", "- 2", "- 3", "- 4"]
    assert git(vault, "status", "--porcelain") == ""
    assert git(vault, "fsck", "--strict", "--no-dangling") == ""
