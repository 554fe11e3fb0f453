"""A real vault of this test alone, and what a caller can do with it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from wikimem.operations import OPERATIONS
from wikimem.operations.processes import init
from wikimem.wiki import Caller, Wiki, open_wiki

BY_NAME = {operation.name: operation for operation in OPERATIONS}
NOW = datetime(2025, 9, 12, 9, 14, 40)


class Desk:
    """Runs operations on one vault, for a person or for an agent."""

    def __init__(self, root: Path, cwd: Path) -> None:
        self.root = root
        self.cwd = cwd
        self.now = NOW
        self._open: list[Wiki] = []

    def wiki(self, agent: str | None = None) -> Wiki:
        caller = Caller(agent=agent, cwd=self.cwd)
        wiki = open_wiki(str(self.root), cwd=self.cwd, caller=caller, clock=lambda: self.now)
        self._open.append(wiki)
        return wiki

    def run(self, name: str, by: str | None = None, **arguments: Any) -> Any:
        """Run an operation, for a person or, with `by`, for that agent."""
        return BY_NAME[name].run(self.wiki(by), arguments)

    def git(self, *args: str) -> str:
        done = subprocess.run(["git", "-C", str(self.root), *args], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def text(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def put(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def close(self) -> None:
        for wiki in self._open:
            wiki.close()


@pytest.fixture
def make_desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Desk]]:
    home = tmp_path / "home"
    home.mkdir()
    for name, folder in (("CONFIG", ".config"), ("CACHE", ".cache"), ("STATE", ".local/state")):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / folder))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    (home / "gitconfig").write_text("[user]\n\tname = Ada Example\n\temail = ada@example.org\n")
    desks: list[Desk] = []

    def make(name: str = "vault", cwd: Path | None = None) -> Desk:
        init(tmp_path / name, cwd=tmp_path)
        desks.append(Desk(tmp_path / name, cwd or tmp_path / name))
        return desks[-1]

    yield make
    for desk in desks:
        desk.close()


@pytest.fixture
def desk(make_desk: Callable[..., Desk]) -> Desk:
    return make_desk()
