"""README.md is true: its two commands are the ones that CI runs, and its worked session gives what it shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.conftest import Home

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
SESSION = "".join(re.findall(r"```console\n(.*?)```", README, re.DOTALL))


def steps() -> list[tuple[str, str]]:
    """Each command of the session with the output that README shows below it."""
    parts = re.split(r"^\$ ", SESSION, flags=re.MULTILINE)[1:]
    return [(command, output) for command, _, output in (part.partition("\n") for part in parts)]


def as_pattern(shown: str) -> str:
    """What README shows as a pattern: `…` stands for anything within a line, a line of it alone for any lines."""
    lines = [".*" if line.strip() == "…" else re.escape(line).replace("…", ".*") for line in shown.splitlines()]
    return "\n".join("(?:.*\n)*?.*" if line == ".*" else line for line in lines)


def test_the_worked_session_gives_what_it_shows(home: Home, tmp_path: Path) -> None:
    assert len(steps()) >= 6
    program = tmp_path / "bin" / "wikimem"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m wikimem "$@"\n')
    program.chmod(0o755)
    env = home.env | {"PATH": f"{program.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
    folder = home.path
    for command, shown in steps():
        if command.startswith("cd "):
            folder = folder / command.removeprefix("cd ")
            continue
        done = subprocess.run(
            ["bash", "-c", command], cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"
        said = done.stdout.replace(str(home.path), "~").rstrip("\n")
        assert re.fullmatch(as_pattern(shown.rstrip("\n")), said), f"$ {command}\n{said}"


def test_ci_runs_the_test_command_of_the_readme() -> None:
    install_and_run, install_and_test = (command.strip() for command in COMMANDS)
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert install_and_test in ci.splitlines()
    assert install_and_run.startswith("pip install . && ")
    assert "example-vault" in install_and_run
