"""What many tests need: a home of their own, a vault in it, and the command line as a process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what runs in its background like that, and processes of tests would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

KEPT = ("PATH", "LANG", "LC_ALL", "PYTHONPATH", "VIRTUAL_ENV", "COVERAGE_PROCESS_START")


@dataclass(frozen=True)
class Home:
    """A user's home in a temporary folder: nothing of the real one is read or written."""

    path: Path
    env: dict[str, str]


@dataclass(frozen=True)
class Done:
    """What a process left: its exit code and its two streams, decoded."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        """The document on standard output."""
        return json.loads(self.stdout)

    @property
    def error(self) -> Any:
        """The error document on standard error."""
        return json.loads(self.stderr)["error"]


Run = Callable[..., Done]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """An isolated HOME, with a git identity; also set for this process, and its working directory."""
    path = tmp_path / "home"
    work = path / "work"
    work.mkdir(parents=True)
    gitconfig = path / ".gitconfig"
    gitconfig.write_text("[user]\n\tname = Ada Example\n\temail = ada@example.org\n[init]\n\tdefaultBranch = main\n")
    mine = {
        "HOME": str(path),
        "XDG_CONFIG_HOME": str(path / ".config"),
        "XDG_CACHE_HOME": str(path / ".cache"),
        "XDG_STATE_HOME": str(path / ".local/state"),
        "GIT_CONFIG_GLOBAL": str(gitconfig),
        "GIT_CONFIG_NOSYSTEM": "1",
        "TERM": "xterm",
        # What a test is about starts no process that outlives it, unless the test is about that process.
        "WIKIMEM_RESIDENT": "off",
    }
    env = {name: os.environ[name] for name in KEPT if name in os.environ} | mine
    for name in list(os.environ):
        if name.startswith(("WIKIMEM_", "GIT_", "XDG_")) or name in ("NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name)
    for name, value in mine.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(work)
    return Home(path, env)


@pytest.fixture
def run(home: Home) -> Run:
    """Run the command line as a process: `run("search", "x", cwd=..., input=..., env=...)`."""

    def run_process(
        *arguments: str | bytes, cwd: Path | None = None, input: str | bytes = "", env: dict[str, str] | None = None
    ) -> Done:
        done = subprocess.run(
            [sys.executable, "-m", "wikimem", *arguments],
            cwd=cwd or home.path / "work",
            env=home.env | {"PYTHONPATH": str(Path(__file__).parents[1])} | (env or {}),
            input=input.encode() if isinstance(input, str) else input,
            capture_output=True,
            timeout=120,
            check=False,
        )
        return Done(
            done.returncode, done.stdout.decode("utf-8", "surrogateescape"), done.stderr.decode(errors="replace")
        )

    return run_process


@pytest.fixture
def vault(home: Home) -> Path:
    """The user's default vault, made in this process."""
    from wikimem.operations.processes import init

    root = home.path / "wikimem"
    init(root, cwd=home.path)
    return root
