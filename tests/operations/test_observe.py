"""`observe`: what is recorded by hand goes through the spool onto the session's page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.conftest import Run


def session_text(vault: Path) -> str:
    (page,) = vault.rglob("sessions/**/*.md")
    return page.read_text("utf-8")


def test_an_observation_by_hand_is_on_the_page_of_its_session(run: Run, vault: Path) -> None:
    done = run("observe", "decision", "Use jose, the edge has no Node crypto", "--agent", "codex", "--session", "7f3a",
               "--files", "src/auth.ts", "--json")  # fmt: skip
    assert done.code == 0, done.stderr
    assert done.json["commit"]
    assert f"**decision** Use jose, the edge has no Node crypto `src/auth.ts` ^{done.json['observation']}\n" in (
        session_text(vault)
    )
    assert "agent: codex\n" in session_text(vault)
    run("observe", "prompt", "-", "--agent", "codex", "--session", "7f3a", input="And now\nthe limits?")
    run("observe", "tool_failed", "2 failed", "--command", "npm test", "--agent", "codex", "--session", "7f3a")
    text = session_text(vault)
    assert "**prompt** And now the limits? ^o-" in text
    assert "**Bash** `npm test` failed: 2 failed ^o-" in text


def test_an_observation_joins_the_page_that_hooks_made(run: Run, vault: Path) -> None:
    payload = {"session_id": "7f3a", "hook_event_name": "UserPromptSubmit", "prompt": "Add JWT auth"}
    run("hook", "claude", "UserPromptSubmit", input=json.dumps(payload))
    run("observe", "note", "It also needs a refresh route", "--session", "7f3a", "--agent", "claude-code")
    assert ("**prompt** Add JWT auth" in session_text(vault), "**note** It also" in session_text(vault)) == (True, True)


def test_a_person_observes_under_their_own_name(run: Run, vault: Path) -> None:
    assert run("observe", "note", "The build machine is slow today").code == 0
    text = session_text(vault)
    assert "\nagent:" not in text
    assert "trust: human\n" in text
    (line,) = [each for each in run("log").stdout.splitlines() if "session:" in each]
    assert "by Ada Example" in line


def test_a_secret_is_taken_out_first(run: Run, vault: Path) -> None:
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    done = run("observe", "note", f"the token is {secret}", "--json")
    assert done.json["redacted"]
    assert secret not in session_text(vault)


def test_nonsense_is_refused(run: Run, vault: Path) -> None:
    for arguments in (("", "x"), ("a b\n", "x"), ("note", ""), ("note", "  \n"), ("notification", "hello")):
        done = run("observe", *arguments, "--json")
        assert (done.code, done.error["kind"]) == (2, "invalid"), arguments
        assert done.error["hint"]
    assert list(vault.rglob("sessions/**/*.md")) == []
