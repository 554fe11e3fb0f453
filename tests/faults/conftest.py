"""A vault under fire: processes that write to it and die, a person's git beside them, and what must hold afterwards."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pytest

from wikimem.model.caller import Caller
from wikimem.text.analysis import query_terms
from wikimem.wiki import Wiki, open_wiki

DRIVER = Path(__file__).with_name("driver.py")
QUERIES = ("fact", "line of the fact", "begin", "agent one", "profile")


class Drivers:
    """Starts and ends jobs in processes of their own (see driver.py)."""

    def __init__(self, folder: Path) -> None:
        self.errors = folder / "stderr"
        with self.errors.open("ab") as stderr:
            self._process = subprocess.Popen(
                [sys.executable, str(DRIVER)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2]), "OPENBLAS_NUM_THREADS": "1"},
                cwd=folder,
                text=True,
            )

    def start(self, job: str, **options: Any) -> int:
        return int(self._ask({"job": job, **options})["pid"])

    def wait(self, pid: int) -> int:
        """The exit code of a job, or minus the signal that ended it."""
        return int(self._ask({"wait": pid})["status"])

    def run(self, job: str, **options: Any) -> int:
        return self.wait(self.start(job, **options))

    def said(self) -> str:
        return self.errors.read_text("utf-8", "replace")

    def close(self) -> None:
        with self._process:
            assert self._process.stdin is not None
            self._process.stdin.close()

    def _ask(self, order: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer


@dataclass
class Yard:
    """One vault, the processes that write to it, and the file in which they say what was acknowledged."""

    root: Path
    home: Path
    state: Path
    env: dict[str, str]
    drivers: Drivers

    @property
    def acks(self) -> Path:
        return self.home / "acks.jsonl"

    def acknowledged(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.acks.read_text().splitlines()] if self.acks.exists() else []

    def start(self, job: str, **options: Any) -> int:
        env = self.env | options.pop("env", {})
        return self.drivers.start(job, root=str(self.root), acks=str(self.acks), env=env, **{"agent": "one", **options})

    def run(self, job: str, **options: Any) -> int:
        return self.drivers.wait(self.start(job, **options))

    def operation(self, name: str, **arguments: Any) -> int:
        return self.run("operations", operations=[[name, arguments]])

    def git(self, *args: str, check: bool = True) -> str:
        done = subprocess.run(
            ["git", "-C", str(self.root), *args], capture_output=True, text=True, check=check, env=self.env
        )
        return done.stdout.strip() if done.returncode == 0 else ""

    @contextlib.contextmanager
    def wiki(self) -> Iterator[Wiki]:
        wiki = open_wiki(str(self.root), cwd=self.root, caller=Caller(agent=None, cwd=self.root))
        try:
            yield wiki
        finally:
            wiki.close()

    # What must hold

    def assert_sound(self, rebuilt: Path | None = None) -> None:
        """Tree clean, repository whole, nothing left over, the index as if it were made now."""
        assert self.git("status", "--porcelain") == ""
        fsck = subprocess.run(
            ["git", "-C", str(self.root), "fsck", "--strict", "--no-dangling"], capture_output=True, check=False
        )
        assert (fsck.returncode, fsck.stdout, fsck.stderr) == (0, b"", b"")
        self.assert_nothing_left()
        if rebuilt is not None:
            self.assert_index(rebuilt)

    def assert_nothing_left(self) -> None:
        names = [name for folder, _, names in os.walk(self.root) if "/.git" not in folder for name in names]
        assert [name for name in names if name.startswith(".wikimem-")] == []
        assert [file for file in (self.state / "journal").iterdir() if not file.name.startswith("done-")] == []

    def assert_acknowledged(self) -> None:
        """Every acknowledged commit is in the history of HEAD, and none was made twice."""
        history = self.git("log", "--format=%H").split("\n")
        lost = [line for line in self.acknowledged() if line.get("commit") and line["commit"] not in set(history)]
        assert lost == []
        pages = self.git("log", "--format=%(trailers:key=Wikimem-Op,valueonly,separator=%x2C)|%s").split("\n")
        remembered = [subject for subject in pages if subject.startswith("remember|")]
        assert len(remembered) == len(set(remembered)), "a write was committed twice"

    def assert_index(self, rebuilt: Path) -> None:
        with self.wiki() as wiki:
            wiki.refresh(wait_s=30)
            now = picture(wiki)
            with wiki.over_index(rebuilt) as anew:
                anew.refresh()
                assert now == picture(anew)


def picture(wiki: Wiki) -> dict[str, Any]:
    """What an index says, without the numbers that it gave to pages."""
    index = wiki.index
    rows = index.list_pages(None)
    return {
        "pages": [{name: getattr(row, name) for name in row.__struct_fields__ if name != "number"} for row in rows],
        "links": {row.path: index.links_out(row.path) for row in rows},
        "words": {
            query: [(found, round(score, 4)) for found, score in index.words.search(query_terms(query), 100_000, None)]
            for query in QUERIES
        },
        "vectors": index.vectors.ids(),
    }


class Person:
    """Somebody's git beside wikimem: their own files, committed by name or swept up with `add -A`.

    They rest for `pause_s` seconds between two commits: git lets nobody else commit meanwhile.
    """

    def __init__(self, yard: Yard, *, sweep: bool, gc: bool, pause_s: float) -> None:
        self.yard, self.sweep, self.gc, self.pause_s = yard, sweep, gc, pause_s
        self.done = threading.Event()
        self.commits: list[str] = []
        self._thread = threading.Thread(target=self._work)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.done.set()
        self._thread.join()
        # A git of theirs may have met another's lock and given up: what it left is theirs to commit.
        self.yard.git("add", "-A", "--", "mine")
        if self.yard.git("commit", "-m", "mine rest", check=False):
            self.commits.append("mine rest")

    def _work(self) -> None:
        number = 0
        while not self.done.is_set() or number < 3:
            number += 1
            name = f"mine/{number % 50}.txt"
            file = self.yard.root / name
            file.parent.mkdir(exist_ok=True)
            file.write_text(f"mine {number}\n")
            self.yard.git("add", *(["-A"] if self.sweep else [name]), check=False)
            if self.yard.git("commit", "-m", f"mine {number}", check=False):
                self.commits.append(f"mine {number}")
            if self.gc and number % 100 == 99:
                self.yard.git("gc", "--quiet", check=False)
            self.done.wait(self.pause_s)

    def assert_kept(self) -> None:
        """All their commits are there, and nothing of theirs was removed or changed by anybody else."""
        subjects = self.yard.git("log", "--format=%s").split("\n")
        assert [subject for subject in reversed(subjects) if subject.startswith("mine ")] == self.commits
        for line in self.yard.git("log", "--no-renames", "--format=>%s", "--name-status", "--", "mine").split("\n"):
            if line.startswith(">"):
                assert line.startswith(">mine "), line


@pytest.fixture(scope="session")
def drivers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Drivers]:
    started = Drivers(tmp_path_factory.mktemp("drivers"))
    yield started
    started.close()


@pytest.fixture
def yard(home: Any, vault: Path, drivers: Drivers) -> Yard:
    (state,) = (Path(home.env["XDG_STATE_HOME"]) / "wikimem" / "vaults").iterdir()
    (vault / ".gitignore").write_text(".obsidian/workspace*\n.wikimem-*.tmp\n")
    drivers.errors.write_text("")
    yard = Yard(vault, home.path, state, home.env, drivers)
    yard.git("add", "-A")
    yard.git("commit", "-qm", "setup", check=False)
    with yard.wiki() as wiki:
        wiki.refresh(wait_s=30)
    return yard


@pytest.fixture
def person(yard: Yard) -> Callable[..., Person]:
    return lambda **options: Person(yard, **{"sweep": False, "gc": False, "pause_s": 0.05, **options})
