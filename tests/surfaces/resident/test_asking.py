"""Hooks and the resident process: it answers them, it is started by them, and they do without it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wikimem.vault.spool import SPOOL, Spool

if TYPE_CHECKING:
    from tests.surfaces.resident.conftest import Desktop

PINNED = "---\ntype: preference\npinned: true\n---\nAsk Ana before a dependency is added.\n"
HEAVY = ("numpy", "whoosh", "click", "wikimem.wiki", "wikimem.search.injection", "threading", "socket")
PROGRAM = """
import sys
from wikimem.surfaces.hooks.main import main
code = main(sys.argv[1:])
print(*[name for name in sys.argv[0].split() + HEAVY if name in sys.modules], file=sys.stderr)
sys.exit(code)
""".replace("HEAVY", repr(list(HEAVY))).replace("sys.argv[0].split() + ", "")


@pytest.fixture
def pinned(vault: Path) -> Path:
    """A vault with a pinned page that belongs to no project, and edits that are left alone."""
    (vault / "Ask.md").write_text(PINNED)
    (vault / ".wikimem/config.toml").write_text("commit_after = 0\n")
    return vault


def start(desktop: Desktop, session: str, wait_s: float = 60.0, **env: str) -> tuple[str, str]:
    """The hook of a session's start: what it said, and which heavy modules it came to load."""
    payload: dict[str, Any] = {"session_id": session, "source": "startup", "cwd": str(desktop.home.path / "work")}
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM, "claude", "SessionStart"],
        input=json.dumps(payload).encode(), capture_output=True, timeout=120, check=True,
        env=desktop.env | {"WIKIMEM_HOOK_WAIT": str(wait_s)} | env,
    )  # fmt: skip
    return done.stdout.decode(), done.stderr.decode().strip()


def test_it_answers_and_the_hook_stays_light(desktop: Desktop, pinned: Path) -> None:
    desktop.started("search", "ana")
    said, loaded = start(desktop, "s1")
    assert "Ask Ana before a dependency is added." in said
    assert loaded == ""
    again, _ = start(desktop, "s1", WIKIMEM_RESIDENT="off")
    assert again == "", "what it gave is known without it"
    alone, loaded = start(desktop, "s2", WIKIMEM_RESIDENT="off")
    assert alone == said
    assert "wikimem.wiki" in loaded


def test_a_page_that_was_just_written_is_given(desktop: Desktop, pinned: Path) -> None:
    desktop.started("search", "ana")
    (pinned / "New.md").write_text("---\npinned: true\n---\nReleases are on Thursdays.\n")
    assert "Releases are on Thursdays." in start(desktop, "s1")[0]


def test_a_hook_starts_one_for_the_next_time(desktop: Desktop, pinned: Path) -> None:
    desktop.here("search", "ana")
    said, _ = start(desktop, "s1")
    assert "Ana" in said
    desktop.server()
    assert start(desktop, "s2") == (said, "")


def test_one_that_does_not_answer_costs_the_answer_and_not_the_event(desktop: Desktop, pinned: Path) -> None:
    server = desktop.started("search", "ana")
    os.kill(server.pid, signal.SIGSTOP)
    try:
        assert start(desktop, "s1", 1.0)[0] == ""
    finally:
        os.kill(server.pid, signal.SIGCONT)
    assert len(Spool(desktop.state() / SPOOL).names()) == 1
    assert "Ana" in start(desktop, "s2")[0]


def test_one_that_was_killed_is_done_without(desktop: Desktop, pinned: Path) -> None:
    server = desktop.started("search", "ana")
    os.kill(server.pid, signal.SIGKILL)
    said, loaded = start(desktop, "s1")
    assert "Ana" in said
    assert "wikimem.wiki" in loaded


def test_a_question_that_no_hook_asks_is_declined_or_refused(desktop: Desktop, pinned: Path) -> None:
    desktop.started("search", "ana")
    for asked in ("no json", "[]", '{"kind": 3}', '{"kind": "prompt", "given": 1}'):
        script = (
            "import sys, time\nfrom wikimem.surfaces.resident.asking import ask\n"
            "print(ask(sys.argv[1], '/', sys.argv[2], time.monotonic() + 60))"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, str(pinned), asked],
            capture_output=True,
            env=desktop.env,
            timeout=120,
            check=True,
        )
        assert done.stdout.strip() == b"b''"
    assert desktop.ask("search", "ana").handed_over
