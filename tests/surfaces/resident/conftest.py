"""A home in which resident processes are allowed, and in which none is left when the test ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

import wikimem
from wikimem.operations.resident import Record, is_running, read_record

if TYPE_CHECKING:
    from tests.conftest import Home

ROOT = Path(wikimem.__file__).parents[1]
T = TypeVar("T")
DEADLINE_S = 60.0
PROGRAM = """
import os, sys
from wikimem.surfaces.cli.main import main
code = main(sys.argv[2:])
with open(sys.argv[1], "w") as told:
    told.write("here" if "click" in sys.modules else "handed over")
sys.exit(code)
"""
"""The command line, which says at its end whether it came to parse anything itself."""


@dataclass(frozen=True)
class Answer:
    """What a command left; `handed_over` tells whether the resident process answered it."""

    code: int
    stdout: bytes
    stderr: bytes
    handed_over: bool


@dataclass
class Desktop:
    """A user with a home, who types commands."""

    home: Home
    env: dict[str, str]
    told: Path
    count: int = 0
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def begin(self, *arguments: str | bytes, **settings: Any) -> tuple[subprocess.Popen[bytes], Path]:
        """Start a command; the file says at its end how it was done."""
        self.count += 1
        told = self.told / str(self.count)
        settings = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **settings}
        settings["env"] = self.env | settings.get("env", {})
        settings.setdefault("cwd", self.home.path / "work")
        process = subprocess.Popen([sys.executable, "-P", "-c", PROGRAM, str(told), *arguments], **settings)
        self.running.append(process)
        return process, told

    def ask(self, *arguments: str | bytes, **settings: Any) -> Answer:
        """Run a command to its end."""
        process, told = self.begin(*arguments, **settings)
        out, err = process.communicate(timeout=120)
        return Answer(process.returncode, out, err, told.exists() and told.read_text() == "handed over")

    def here(self, *arguments: str | bytes, **settings: Any) -> Answer:
        """Run a command without the resident process."""
        return self.ask(*arguments, **settings | {"env": {**settings.get("env", {}), "WIKIMEM_RESIDENT": "off"}})

    def states(self) -> list[Path]:
        """The state folders of all vaults of this home."""
        return sorted((self.home.path / ".local/state/wikimem/vaults").glob("*"))

    def state(self) -> Path:
        """The state folder of the one vault."""
        (state,) = self.states()
        return state

    def server(self, *, other_than: int = 0) -> Record:
        """The resident process of the one vault, once it answers."""

        def found() -> Record | None:
            state = self.state()
            record = read_record(state)
            ready = record and not record.ended and record.pid != other_than and is_running(state)
            return record if record and ready and Path(record.socket).is_socket() else None

        return wait_for(found, lambda: f"a resident process\n{self.log()}")

    def replaced(self, pid: int) -> Record:
        """The resident process that took the place of `pid`: no command starts one within seconds of the last start."""
        wait_for(lambda: self.ask("list").handed_over, lambda: f"an answer from a new one\n{self.log()}")
        return self.server(other_than=pid)

    def started(self, *arguments: str) -> Record:
        """The resident process that a first command has started."""
        self.ask(*(arguments or ("list",)))
        return self.server()

    def log(self) -> str:
        """What all resident processes have logged."""
        return "".join(file.read_text() for state in self.states() for file in state.glob("log/resident.log"))


def wait_for(found: Callable[[], T | None], what: Callable[[], str] | str) -> T:
    until = time.monotonic() + DEADLINE_S
    while time.monotonic() < until:
        if value := found():
            return value
        time.sleep(0.02)
    raise AssertionError(f"waited in vain for {what if isinstance(what, str) else what()}")


def is_gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has waited for yet counts as gone."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z"


@pytest.fixture
def desktop(home: Home, tmp_path: Path) -> Iterator[Desktop]:
    """A user whose resident processes are stopped when the test ends, with what they run."""
    told = tmp_path / "told"
    told.mkdir()
    env = home.env | {"PYTHONPATH": str(ROOT), "WIKIMEM_RESIDENT": "15"}
    made = Desktop(home, env, told)
    yield made
    for process in made.running:
        if process.poll() is None:
            process.kill()
        process.wait(timeout=DEADLINE_S)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
    for state in made.states():
        # One that was just spawned takes the lock in a moment; it ends by itself where the vault has gone by then.
        while is_running(state):
            record = read_record(state)
            if record is not None and not record.ended:
                stop(record.pid)
            time.sleep(0.02)


def stop(pid: int) -> None:
    """End a resident process, which may be stopped or gone."""
    for number in (signal.SIGCONT, signal.SIGTERM):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return
