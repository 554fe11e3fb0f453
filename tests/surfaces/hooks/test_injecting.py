"""What hooks say: real processes without a resident one, from the index in time or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wikimem.vault.folders import user_folders, vault_folders, vault_key
from wikimem.vault.spool import SPOOL, Spool

if TYPE_CHECKING:
    from tests.conftest import Done, Home, Run

PATIENT = {"WIKIMEM_HOOK_WAIT": "60"}
PINNED = "---\ntype: preference\npinned: true\n---\nAsk Ana before a dependency is added.\n"
START = {"session_id": "s1", "source": "startup"}


@pytest.fixture
def pinned(vault: Path, run: Run) -> Path:
    """A vault with an index and a pinned page that belongs to no project."""
    (vault / "Ask.md").write_text(PINNED)
    run("search", "ana")
    return vault


def hook(run: Run, agent: str, event: str, payload: dict[str, Any], env: dict[str, str] = PATIENT) -> Done:
    done = run("hook", agent, event, input=json.dumps(payload), env=env)
    assert (done.code, done.stderr) == (0, "")
    return done


def waiting(vault: Path) -> int:
    return len(Spool(vault_folders(vault_key(vault)).state / SPOOL).names())


def configure(home: Home, text: str) -> None:
    file = Path(home.env["XDG_CONFIG_HOME"]) / "wikimem" / "config.toml"
    file.write_text(text)


@pytest.mark.parametrize(
    ("agent", "event", "path"),
    [
        ("claude", "SessionStart", ("hookSpecificOutput", "additionalContext")),
        ("codex", "SessionStart", ("hookSpecificOutput", "additionalContext")),
        ("gemini", "BeforeAgent", ("hookSpecificOutput", "additionalContext")),
        ("cursor", "sessionStart", ("additional_context",)),
        ("cline", "UserPromptSubmit", ("contextModification",)),
    ],
)
def test_each_agent_is_told_in_its_own_dialect(
    run: Run, pinned: Path, agent: str, event: str, path: tuple[str, ...]
) -> None:
    value = hook(run, agent, event, START | {"prompt": "add a dependency"}).json
    for key in path:
        value = value[key]
    assert "Ask Ana before a dependency is added." in value
    assert value.startswith("<wikimem>\n")
    assert waiting(pinned) == 1


def test_an_event_that_takes_no_text_is_told_nothing(run: Run, pinned: Path) -> None:
    for agent, event in (
        ("cursor", "beforeSubmitPrompt"),
        ("claude", "PostToolUse"),
        ("claude", "Stop"),
        ("goose", "SessionStart"),
    ):
        done = hook(run, agent, event, START | {"prompt": "add a dependency", "last_assistant_message": "x"})
        assert "Ana" not in done.stdout


def test_a_session_is_told_once_and_again_after_a_compaction(run: Run, pinned: Path) -> None:
    assert "Ana" in hook(run, "claude", "SessionStart", START).stdout
    prompt = {"session_id": "s1", "prompt": "add a dependency"}
    assert hook(run, "claude", "UserPromptSubmit", prompt).stdout == ""
    assert hook(run, "claude", "SessionStart", START | {"source": "resume"}).stdout == ""
    assert hook(run, "cursor", "sessionStart", START | {"source": "resume"}).json == {}
    assert "Ana" in hook(run, "claude", "SessionStart", START | {"source": "compact"}).stdout
    hook(run, "claude", "PreCompact", {"session_id": "s1", "trigger": "auto"})
    assert "Ana" in hook(run, "claude", "UserPromptSubmit", prompt | {"prompt_id": "p2"}).stdout


def test_a_prompt_that_is_all_private_asks_nothing(run: Run, pinned: Path) -> None:
    payload = {"session_id": "s1", "prompt": "<private>add a dependency</private>"}
    assert hook(run, "claude", "UserPromptSubmit", payload).stdout == ""
    assert waiting(pinned) == 0


def test_without_time_the_event_is_kept_and_nothing_is_said(run: Run, pinned: Path) -> None:
    assert hook(run, "claude", "SessionStart", START, {"WIKIMEM_HOOK_WAIT": "0"}).stdout == ""
    assert waiting(pinned) == 1
    assert "Ana" in hook(run, "claude", "UserPromptSubmit", {"session_id": "s1", "prompt": "go on"}).stdout


def test_it_can_be_switched_off_by_the_user_and_by_the_vault(run: Run, home: Home, pinned: Path) -> None:
    configure(home, 'inject_at_start = "off"\n')
    assert hook(run, "claude", "SessionStart", START).stdout == ""
    assert "Ana" in hook(run, "claude", "UserPromptSubmit", {"session_id": "s1", "prompt": "go on"}).stdout
    configure(home, "")
    (pinned / ".wikimem/config.toml").write_text('inject_at_prompt = "off"\ninject_at_start = 2000\n')
    assert hook(run, "claude", "UserPromptSubmit", {"session_id": "s2", "prompt": "go on"}).stdout == ""
    assert "Ana" in hook(run, "claude", "SessionStart", START | {"session_id": "s2"}).stdout
    assert waiting(pinned) == 4


@pytest.mark.parametrize("line", ["inject_at_start = 50", "inject_at_prompt = 5000", 'inject_at_prompt = "on"'])
def test_a_setting_that_makes_no_sense_is_refused_with_its_line(run: Run, home: Home, vault: Path, line: str) -> None:
    configure(home, f"\n{line}\n")
    done = run("status")
    assert done.code == 2
    assert "config.toml, line 2: inject_at_" in done.stderr


def test_a_vault_without_an_index_or_without_its_folder_says_nothing(run: Run, home: Home, vault: Path) -> None:
    (vault / "Ask.md").write_text(PINNED)
    assert hook(run, "claude", "SessionStart", START).stdout == ""
    run("search", "ana")
    vault.rename(vault.with_name("away"))
    assert hook(run, "claude", "SessionStart", START | {"session_id": "s2"}).stdout == ""
    assert waiting(vault) == 2


def test_neither_what_is_said_nor_what_is_noted_holds_a_secret(run: Run, pinned: Path) -> None:
    secret = "ghp_" + "Zx81kQpL" * 5
    (pinned / "Token.md").write_text(f"---\npinned: true\n---\nThe token of the deploy bot is {secret}.\n")
    run("search", "deploy")
    payload = {"session_id": secret, "prompt": f"why does the deploy bot fail with {secret}?"}
    said = hook(run, "claude", "UserPromptSubmit", payload).stdout
    assert "The token of the deploy bot is [redacted:" in said
    assert secret not in said
    folders = user_folders()
    for folder in (folders.state, folders.cache, folders.config):
        for file in folder.rglob("*"):
            assert secret not in file.name
            assert not file.is_file() or secret.encode() not in file.read_bytes()


def test_a_hook_looks_into_the_index_as_it_is_and_gives_no_page_that_has_changed_as_it_was(
    run: Run, pinned: Path
) -> None:
    (pinned / "New.md").write_text(PINNED.replace("Ask Ana", "Ask Bob"))
    (pinned / "Ask.md").write_text(PINNED.replace("Ask Ana", "Ask Eve"))
    said = hook(run, "claude", "SessionStart", START).stdout
    assert "Ask Eve" in said
    assert "Ask Ana" not in said
    assert "Ask Bob" not in said
    (pinned / "Ask.md").unlink()
    assert hook(run, "claude", "SessionStart", START | {"session_id": "s2"}).stdout == ""
    run("search", "ask")
    assert "Ask Bob" in hook(run, "claude", "SessionStart", START | {"session_id": "s3"}).stdout
