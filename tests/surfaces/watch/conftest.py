"""`wikimem watch` as a process, and what it says."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from wikimem.model.caller import Caller
from wikimem.text.ids import revision_of
from wikimem.wiki import open_wiki

PACKAGE = Path(__file__).parents[3]
WITHIN_S = 90.0


class Watcher:
    """One `wikimem watch --json`; its lines are gathered as they come."""

    def __init__(self, root: Path, env: dict[str, str], *options: str) -> None:
        self.lines: list[dict[str, Any]] = []
        self._more = threading.Condition()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "wikimem", "--vault", str(root), "--json", "watch", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=env | {"PYTHONPATH": str(PACKAGE)},
            cwd=root.parent,
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._more:
                self.lines.append(json.loads(line))
                self._more.notify_all()

    def await_event(self, event: str, fits: Callable[[dict[str, Any]], bool] = lambda _: True) -> dict[str, Any]:
        """The first line about `event` that fits, now or later."""

        def found() -> dict[str, Any] | None:
            return next((line for line in self.lines if line["event"] == event and fits(line)), None)

        with self._more:
            assert self._more.wait_for(lambda: found() is not None, WITHIN_S), self.lines
            line = found()
        assert line is not None
        return line

    def end(self, how: int = signal.SIGTERM) -> tuple[int, str]:
        """Its exit code, and what it said on standard error."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(WITHIN_S)
        self._reader.join(WITHIN_S)
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        with self.process.stdout, self.process.stderr as stderr:
            return code, stderr.read()


@pytest.fixture
def watch(home: Any, vault: Path) -> Iterator[Callable[..., Watcher]]:
    """Start watching the vault: `watch("--poll")`; ended with the test."""
    started: list[Watcher] = []
    (home.path / ".config/wikimem/config.toml").write_text("commit_after = 1\n")

    def start(*options: str, ready: bool = True) -> Watcher:
        watcher = Watcher(vault, home.env, *options)
        started.append(watcher)
        if ready:
            watcher.await_event("indexed")
        return watcher

    yield start
    for watcher in started:
        if watcher.process.poll() is None:
            watcher.end(signal.SIGKILL)


def on_disk(root: Path) -> dict[str, str]:
    """Path -> revision of every page in the tree."""
    return {
        file.relative_to(root).as_posix(): revision_of(file.read_bytes())
        for file in sorted(root.rglob("*.md"))
        if not any(part.startswith(".") or part == "templates" for part in file.relative_to(root).parts)
    }


def in_index(root: Path) -> dict[str, str]:
    """Path -> revision of every page that the index has; nothing is refreshed for the question."""
    wiki = open_wiki(str(root), cwd=root, caller=Caller(cwd=root))
    try:
        return {row.path: row.revision for row in wiki.index.list_pages(None)}
    finally:
        wiki.close()


@pytest.fixture
def await_index(vault: Path) -> Callable[[], None]:
    """Wait until the index has what is on disk; nobody but the watcher brings it there."""

    def wait() -> None:
        deadline = time.monotonic() + WITHIN_S
        while in_index(vault) != on_disk(vault):
            assert time.monotonic() < deadline, set(on_disk(vault).items()) ^ set(in_index(vault).items())
            time.sleep(0.2)

    return wait
