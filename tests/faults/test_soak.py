"""Everybody at once in one vault: an editor, a person's git, three agents, and `wikimem watch`.

A few seconds of it run with every test; `SOAK_SECONDS=300 python -m pytest -m slow tests/faults/test_soak.py` is the
long form.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wikimem.operations.reindex import verify_index

if TYPE_CHECKING:
    from tests.faults.conftest import Yard

PACKAGE = Path(__file__).parents[2]
AGENTS = ("ann", "bob", "cyd")
SETTLED_WITHIN_S = 120.0
BUSY_S, RESTING_S = 15.0, 8.0
"""The person works, and then does nothing for long enough that the watcher commits what they left."""


class Editor:
    """Somebody in Obsidian: saves in every way, renames, moves folders, deletes. Knows what each page must hold.

    `hands` is held while it does one thing: the same person does not type while their git checks out another branch.
    """

    def __init__(self, root: Path, seed: int) -> None:
        self.root = root / "desk"
        self.hands = threading.Lock()
        self.pages: dict[str, str] = {}
        self.number = 0
        self._chance = random.Random(seed)
        self.root.mkdir()

    def act(self) -> None:
        with self.hands:
            self.number += 1
            chance = self._chance
            act = chance.choices(
                [self._new, self._save, self._rename, self._move_folder, self._delete, self._burst],
                [3, 9, 2, 1, 1, 0.4],
            )[0]
            if not self.pages and act not in (self._new, self._burst):
                act = self._new
            act()

    def _text(self, title: str) -> str:
        return f"# {title}\n\n" + f"edit {self.number} of {title}, {self._chance.random()}\n" * 3

    def _some(self) -> str:
        return self._chance.choice(sorted(self.pages))

    def _new(self) -> None:
        folder = self._chance.choice(["", "a/", "b/", "b/c/"])
        self._write(f"{folder}page {self.number}.md", "atomic")

    def _burst(self) -> None:
        for count in range(20):
            self._write(f"burst {self.number}/{self.number} {count}.md", "in place")

    def _save(self) -> None:
        self._write(self._some(), self._chance.choice(["atomic", "in place", "backup"]))

    def _write(self, name: str, how: str) -> None:
        file = self.root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        text = self._text(file.stem)
        if how == "atomic":
            temporary = file.with_name(f".{file.name}.tmp")
            temporary.write_text(text)
            os.replace(temporary, file)
        elif how == "backup" and file.exists():
            backup = file.with_name(file.name + "~")
            os.rename(file, backup)
            file.write_text(text)
            backup.unlink()
        else:
            file.write_text(text)
        self.pages[name] = text

    def _rename(self) -> None:
        old = self._some()
        new = old.rpartition("/")[0] + f"/renamed {self.number}.md"
        new = new.lstrip("/")
        os.rename(self.root / old, self.root / new)
        self.pages[new] = self.pages.pop(old)

    def _move_folder(self) -> None:
        folders = sorted({name.partition("/")[0] for name in self.pages if "/" in name})
        if not folders:
            return
        old, new = self._chance.choice(folders), f"moved {self.number}"
        os.rename(self.root / old, self.root / new)
        for name in [name for name in self.pages if name.startswith(old + "/")]:
            self.pages[new + name.removeprefix(old)] = self.pages.pop(name)

    def _delete(self) -> None:
        name = self._some()
        (self.root / name).unlink()
        del self.pages[name]

    def on_disk(self) -> dict[str, str]:
        return {file.relative_to(self.root).as_posix(): file.read_text() for file in self.root.rglob("*.md")}


class PersonsGit:
    """The same person's git: commits, branches, checkouts, merges, stashes, gc."""

    def __init__(self, yard: Yard, editor: Editor) -> None:
        self.yard, self.editor = yard, editor
        self.number = 0
        self.did: Counter[str] = Counter()

    def act(self) -> None:
        self.number += 1
        acts = (self._stash, self._branch, self._gc, self._commit, self._branch, self._stash)
        act = acts[self.number % len(acts)]
        act()
        self.did[act.__name__] += 1

    def git(self, *args: str) -> bool:
        """Whether it worked; a lock of somebody else's is waited for, as a person does."""
        for _ in range(40):
            done = subprocess.run(
                ["git", "-C", str(self.yard.root), *args],
                capture_output=True,
                text=True,
                env=self.yard.env,
                check=False,
            )
            if done.returncode == 0 or not any(word in done.stderr for word in (".lock", "cannot lock")):
                return done.returncode == 0
            time.sleep(0.1)
        return False

    def _commit(self) -> None:
        with self.editor.hands:
            (self.yard.root / "mine.txt").write_text(f"{self.number}\n")
            self.git("add", "-A")
            self.git("commit", "-qm", f"mine {self.number}")

    def _stash(self) -> None:
        with self.editor.hands:
            before = self.editor.on_disk()
            # git itself brings back a file that is staged as new and gone from the disk.
            self.git("reset", "-q", "--", "desk")
            # Tracked changes only, so that what agents write meanwhile is not put away with them.
            if self.git("stash", "push", "-q", "--", "desk"):
                time.sleep(0.5)
                # A push that met a lock half-way was done again: then there are two, each with a part.
                while self.yard.git("stash", "list") and self.git("stash", "pop", "-q"):
                    pass
            assert self.editor.on_disk() == before

    def _branch(self) -> None:
        side = f"side-{self.number}"
        with self.editor.hands:
            if not self.git("checkout", "-q", "-b", side):
                return
        time.sleep(1.5)
        with self.editor.hands:
            # What is changed and not committed may bar the way: then the branch is brought along as it is.
            if self.git("checkout", "-q", "main"):
                if not self.git("merge", "-q", "--no-edit", side):
                    self.git("checkout", "--theirs", "--", ".")
                    self.git("add", "-A")
                    self.git("commit", "-qm", f"mine merge {self.number}")
            else:
                while not (self.git("branch", "-f", "main", "HEAD") and self.git("checkout", "-q", "main")):
                    time.sleep(0.05)
            self.git("branch", "-q", "-d", side)

    def _gc(self) -> None:
        self.git("gc", "--quiet")


def soak(yard: Yard, seconds: float, folder: Path) -> dict[str, Any]:
    """All of them for so long; what was done."""
    (Path(yard.env["XDG_CONFIG_HOME"]) / "wikimem" / "config.toml").write_text("commit_after = 2\n")
    (yard.root / "Shared.md").write_text("# Shared\n\nEvery agent adds to this page.\n")
    yard.git("add", "-A")
    yard.git("commit", "-qm", "mine shared")
    environment = yard.env | {"PYTHONPATH": str(PACKAGE), "OPENBLAS_NUM_THREADS": "1"}
    stop, said = folder / "stop", folder / "watch.ndjson"
    with said.open("w") as lines, (folder / "stderr").open("w") as errors:
        watch = subprocess.Popen(
            [sys.executable, "-m", "wikimem", "--vault", str(yard.root), "--json", "watch"],
            stdout=lines, stderr=errors, env=environment, cwd=folder,
        )  # fmt: skip
        agents = [
            subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name("soak_agent.py")), name, str(yard.root), str(yard.acks),
                 str(stop)],
                stdout=errors, stderr=errors, env=environment, cwd=folder,
            )
            for name in AGENTS
        ]  # fmt: skip
        editor = Editor(yard.root, seed=7)
        person = PersonsGit(yard, editor)
        start = time.monotonic()
        typing = threading.Thread(target=_type, args=(editor, start, seconds))
        try:
            typing.start()
            while time.monotonic() < start + seconds:
                time.sleep(1.0)
                if not _rests(start):
                    person.act()
            # The last edits are nobody's to commit but the watcher's.
            for _ in range(10):
                editor.act()
            typing.join()
            stop.touch()
            codes = [agent.wait(60) for agent in agents]
            assert codes == [0] * len(agents), (folder / "stderr").read_text()
            _await_rest(yard)
            watch.send_signal(signal.SIGTERM)
            assert watch.wait(60) == 0
        finally:
            stop.touch()
            for process in (watch, *agents):
                process.kill()
                process.wait()
            typing.join()
    assert "Traceback" not in (folder / "stderr").read_text()
    events = [json.loads(line) for line in said.read_text().splitlines()]
    return {"editor": editor, "person": person, "events": events}


def _rests(start: float) -> bool:
    return (time.monotonic() - start) % (BUSY_S + RESTING_S) > BUSY_S


def _type(editor: Editor, start: float, seconds: float) -> None:
    chance = random.Random(3)
    while time.monotonic() < start + seconds:
        if not _rests(start):
            editor.act()
        time.sleep(chance.uniform(0.02, 0.3))


def _await_rest(yard: Yard) -> None:
    """Wait until the watcher has committed what there is; what it leaves alone stays."""
    deadline = time.monotonic() + SETTLED_WITHIN_S
    while yard.git("status", "--porcelain", "--untracked-files=all"):
        if time.monotonic() > deadline:
            raise AssertionError(yard.git("status", "--porcelain", "--untracked-files=all"))
        time.sleep(0.5)


def assert_held(yard: Yard, done: dict[str, Any]) -> None:
    editor: Editor = done["editor"]
    acks = yard.acknowledged()
    # No edit of a person's is lost, and none of their pages says what they did not write.
    assert editor.on_disk() == editor.pages
    tree = {
        name: yard.git("show", f"HEAD:{name}")
        for name in yard.git("-c", "core.quotePath=false", "ls-tree", "-r", "--name-only", "HEAD", "desk").splitlines()
    }
    assert tree == {f"desk/{name}": text.rstrip("\n") for name, text in editor.pages.items()}
    # No write of an agent's is lost.
    yard.assert_acknowledged()
    shared = yard.git("log", "-p", "--format=", "--", "Shared.md")
    lost = [ack["text"] for ack in acks if ack.get("did") == "shared" and f"+- {ack['text']}\n" not in shared + "\n"]
    assert lost == []
    events = Counter(event["event"] for event in done["events"])
    assert (events["committed"] > 0, events["error"]) == (True, 0), events
    assert_commits_are_honest(yard, acks)
    yard.assert_sound()
    assert_index_is_whole(yard)


def assert_commits_are_honest(yard: Yard, acks: list[dict[str, Any]]) -> None:
    """Every commit of wikimem's holds the pages that it names, and those alone."""
    owners = {ack["page"]: ack["agent"] for ack in acks if ack.get("did") == "remember"}
    mark = "<commit>"
    trailer = "%(trailers:key=Wikimem-Op,valueonly,separator=%x2C)"
    listed = yard.git(
        "-c", "core.quotePath=false", "log", "--no-merges", "-m", "--name-only", "--no-renames",
        f"--format={mark}%an%x00{trailer}%x00%s%x00%b%x00",
    )  # fmt: skip
    for part in listed.split(mark)[1:]:
        author, op, subject, body, names = part.split("\0")
        files = {name for name in names.split("\n") if name}
        if author in AGENTS:
            assert files <= {name for name in files if owners.get(name, author) == author or name == "Shared.md"}, part
            assert not any(name.startswith("desk/") for name in files), part
            assert len(files) <= 1, part
        elif op == "edit":
            named = {
                path for line in body.split("\n") if ": " in line for path in line.partition(": ")[2].split(" -> ")
            }
            assert files <= named, part
            assert files == {path for path in named if path.endswith(".md")}, part
            counted = sum(1 for line in body.split("\n") if line.partition(": ")[0] in VERBS)
            assert counted == _counted(subject), part
        elif op == "person":
            assert all(name in subject or f"{len(files)} pages" in subject for name in files), part
        else:
            assert op in ("", "init", "restore", "person"), part
            assert op or subject.startswith(("mine", "setup")), part


VERBS = ("edit", "create", "rename", "delete")


def _counted(subject: str) -> int:
    """How many pages a subject of the watcher's speaks of."""
    count = 0
    for part in subject.split("; "):
        names, _, more = part.partition(": ")[2].partition(" and ")
        count += len(names.split(", ")) + (int(more.split()[0]) if more else 0)
    return count


def assert_index_is_whole(yard: Yard) -> None:
    """What the index says is what one made anew of the same files says."""
    with yard.wiki() as wiki:
        assert verify_index(wiki) == ()


def test_everybody_at_once_for_some_seconds(yard: Yard, tmp_path: Path) -> None:
    assert_held(yard, soak(yard, 10, tmp_path))


@pytest.mark.slow
def test_everybody_at_once_for_long(yard: Yard, tmp_path: Path) -> None:
    seconds = float(os.environ.get("SOAK_SECONDS", "300"))
    done = soak(yard, seconds, tmp_path)
    counted = Counter(event["event"] for event in done["events"])
    acks = Counter(ack.get("did") or f"failed {ack['error']}" for ack in yard.acknowledged())
    sys.stderr.write(
        f"\n{seconds:g} s: {done['editor'].number} edits, git {dict(done['person'].did)}, agents {dict(acks)}, "
        f"watch {dict(counted)}\n"
    )
    kept = os.environ.get("SOAK_KEEP")
    if kept:
        shutil.copytree(yard.root, kept, dirs_exist_ok=True)
    assert_held(yard, done)
    assert counted["committed"] >= seconds / (BUSY_S + RESTING_S) / 2, "the watcher commits in the pauses"
