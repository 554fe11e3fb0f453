"""connect and disconnect over real settings files in a real home."""

from __future__ import annotations

import json
import os
import stat
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wikimem.agents.agent import agent_named
from wikimem.agents.connect import executable, is_lenient
from wikimem.agents.wiring import CONNECTED, Command, is_ours, wiring

if TYPE_CHECKING:
    from tests.conftest import Home, Run

KEY = "sk-ant-api03-" + "Zx81kQpL" * 11 + "-AA"
CLAUDE = '{\n    "model": "opus",\n    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}\n}'
CODEX = 'model = "gpt-5" # mine\n\n[mcp_servers.other]\ncommand = "x"'
CURSOR = '{"version": 1, "hooks": {"stop": [{"command": "say done"}]}}\r\n'


@pytest.fixture
def settings(home: Home) -> dict[Path, bytes]:
    """A home with settings of every agent, and what they hold."""
    texts = {
        ".claude/settings.json": CLAUDE,
        ".claude.json": '{"numStartups": 3, "oauth": {"token": "t"}}',
        ".codex/config.toml": CODEX,
        ".gemini/settings.json": '{\n\t"theme": "dark",\n\t"mcpServers": {}\n}\n',
        ".cursor/hooks.json": CURSOR,
    }
    for name, text in texts.items():
        file = home.path / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(text.encode())
    return {home.path / name: text.encode() for name, text in texts.items()}


def files_in(home: Path) -> dict[Path, bytes]:
    folders = [home / name for name in (".claude", ".codex", ".gemini", ".cursor")]
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()] + [home / ".claude.json"]
    return {file: file.read_bytes() for file in files}


def hooks_of(file: Path) -> list[str]:
    value = json.loads(file.read_text())
    groups = [group for listed in value["hooks"].values() for group in listed]
    return [handler["command"] for group in groups for handler in group.get("hooks", [group])]


def test_connect_adds_and_disconnect_leaves_every_byte_as_it_was(
    run: Run, home: Home, vault: Path, settings: dict[Path, bytes]
) -> None:
    done = run("connect", "--json")
    assert (done.code, done.json["schema"]) == (0, "wikimem/connect/1")
    assert {file["agent"] for file in done.json["files"]} == set(CONNECTED)
    assert {file["state"] for file in done.json["files"]} == {"made", "changed"}
    (path,) = executable()
    claude = json.loads((home.path / ".claude/settings.json").read_text())
    assert list(claude) == ["model", "hooks"]
    assert claude["hooks"]["Stop"][0] == {"hooks": [{"type": "command", "command": "say done"}]}
    assert f"{path} hook claude SessionStart" in hooks_of(home.path / ".claude/settings.json")
    assert json.loads((home.path / ".claude.json").read_text())["mcpServers"]["wikimem"]["command"] == path
    codex = tomllib.loads((home.path / ".codex/config.toml").read_text())
    assert codex["mcp_servers"] == {"other": {"command": "x"}, "wikimem": {"command": path, "args": ["mcp"]}}
    gemini = json.loads((home.path / ".gemini/settings.json").read_text())
    assert gemini["hooks"]["SessionStart"][0]["hooks"][0]["timeout"] == 10_000
    assert json.loads((home.path / ".cursor/hooks.json").read_text())["version"] == 1
    assert any("/hooks" in note for note in done.json["notes"])
    again = run("connect", "--json").json
    assert {file["state"] for file in again["files"]} == {"unchanged"}
    assert run("disconnect").code == 0
    assert files_in(home.path) == settings


def test_a_dry_run_shows_a_diff_without_secrets_and_changes_nothing(
    run: Run, home: Home, settings: dict[Path, bytes]
) -> None:
    file = home.path / ".claude/settings.json"
    file.write_text(CLAUDE.replace('"opus"', f'"{KEY}"'))
    before = files_in(home.path)
    done = run("connect", "claude", "--dry-run")
    assert done.code == 0
    assert f"+++ {file}" in done.stdout
    assert "hook claude SessionStart" in done.stdout
    assert "[redacted:" in done.stdout
    assert KEY not in done.stdout + done.stderr
    assert files_in(home.path) == before
    assert "no vault yet" in done.stderr


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        (".gemini/settings.json", '{\n  // mine\n  "a": 1\n}', 2),
        (".gemini/settings.json", '{"hooks": {"SessionStart": []},\n "hooks": {}}', 1),
        (".codex/config.toml", "a = 1\nb = = 2\n", 2),
        (".codex/config.toml", 'mcp_servers = { other = { command = "x" } }\n', 1),
        (".cursor/mcp.json", '{"mcpServers": []}', 1),
        (".claude/settings.json", "", 1),
        (".claude/settings.json", b"{\n\xff}", 2),
    ],
)
def test_a_file_that_cannot_be_added_to_is_left_alone_and_said(
    run: Run, home: Home, settings: dict[Path, bytes], name: str, text: str | bytes, line: int
) -> None:
    file = home.path / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    before = file.read_bytes()
    done = run("connect")
    assert done.code == 7
    assert f"not touched  {file}: line {line}: " in done.stdout
    assert "Add by hand:" in done.stdout
    assert file.read_bytes() == before
    others = json.loads(run("connect", "--json").stdout)["files"]
    assert [each["path"] for each in others if each["state"] == "refused"] == [str(file)]
    run("disconnect")
    assert file.read_bytes() == before


def test_a_link_into_dotfiles_is_written_through_and_the_mode_is_kept(run: Run, home: Home) -> None:
    real = home.path / "dotfiles" / "claude.json"
    real.parent.mkdir()
    real.write_text(CLAUDE)
    real.chmod(0o640)
    link = home.path / ".claude" / "settings.json"
    link.parent.mkdir()
    link.symlink_to("../dotfiles/claude.json")
    assert run("connect", "claude").code == 0
    assert link.is_symlink()
    assert "hook claude Stop" in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert list(real.parent.iterdir()) == [real]
    run("disconnect", "claude")
    assert real.read_text() == CLAUDE


def test_what_a_person_changed_since_stays(run: Run, home: Home, settings: dict[Path, bytes]) -> None:
    run("connect", "claude", "codex")
    file = home.path / ".claude/settings.json"
    value: dict[str, Any] = json.loads(file.read_text())
    value["theme"] = "light"
    value["hooks"]["Stop"][1]["hooks"][0]["timeout"] = 60
    value["hooks"]["SessionStart"][0]["hooks"].append({"type": "command", "command": "mine"})
    file.write_text(json.dumps(value))
    servers = home.path / ".claude.json"
    servers.write_text(servers.read_text().replace('["mcp"]', '["mcp", "--tools", "all"]'))
    states = {each["path"]: each["state"] for each in run("connect", "claude", "--json").json["files"]}
    assert states == {str(file): "unchanged", str(servers): "unchanged"}
    assert run("disconnect", "claude").code == 0
    left = json.loads(file.read_text())
    assert left["hooks"] == {
        "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}],
        "SessionStart": [
            {"matcher": "startup|resume|clear|compact", "hooks": [{"type": "command", "command": "mine"}]}
        ],
    }
    assert left["theme"] == "light"
    assert "wikimem" not in servers.read_text()


def test_a_wikimem_that_has_moved_is_replaced_and_a_stranger_of_its_name_is_not(run: Run, home: Home) -> None:
    folder = home.path / ".cursor"
    folder.mkdir()
    (folder / "hooks.json").write_text(
        '{"version": 1, "hooks": {"stop": [{"command": "\'/old place/wikimem\' hook cursor stop"}]}}'
    )
    (folder / "mcp.json").write_text('{"mcpServers": {"wikimem": {"command": "/old place/wikimem", "args": ["mcp"]}}}')
    assert run("connect", "cursor").code == 0
    assert "/old place" not in (folder / "hooks.json").read_text() + (folder / "mcp.json").read_text()
    assert len([each for each in hooks_of(folder / "hooks.json") if each.endswith("cursor stop")]) == 1
    stranger = '{"mcpServers": {"wikimem": {"command": "/opt/other", "args": []}}}'
    (folder / "mcp.json").write_text(stranger)
    done = run("connect", "cursor")
    assert (folder / "mcp.json").read_text() == stranger
    assert "left as it is" in done.stdout


def test_a_project_and_a_vault_that_are_named(run: Run, home: Home, vault: Path, tmp_path: Path) -> None:
    code = home.path / "my code"
    code.mkdir()
    done = run("connect", "claude", "codex", "gemini", "cursor", "--project", "--vault", str(vault), cwd=code)
    assert done.code == 0
    made = {str(file.relative_to(code)) for file in code.rglob("*") if file.is_file()}
    assert made == {
        ".claude/settings.local.json", ".mcp.json", ".codex/hooks.json", ".codex/config.toml", ".gemini/settings.json",
        ".cursor/hooks.json", ".cursor/mcp.json",
    }  # fmt: skip
    assert all(each.endswith(f"--vault {vault}") for each in hooks_of(code / ".claude/settings.local.json"))
    assert json.loads((code / ".mcp.json").read_text())["mcpServers"]["wikimem"]["args"] == [
        "--vault", str(vault), "mcp",
    ]  # fmt: skip
    assert "out of commits" in done.stderr
    assert run("disconnect", "--project", cwd=code).code == 0
    assert not [file for file in code.rglob("*") if file.is_file()]


def test_agents_that_are_not_there_and_names_that_are_none(run: Run, home: Home) -> None:
    assert run("connect").code == 3
    unknown = run("connect", "emacs")
    assert unknown.code == 2
    assert "claude, codex, gemini, cursor" in unknown.stderr
    assert run("connect", "claude-code").code == 0
    assert (home.path / ".claude/settings.json").exists()


def test_the_folders_that_agents_are_told_to_use_are_used(run: Run, home: Home) -> None:
    env = {"CLAUDE_CONFIG_DIR": str(home.path / "c"), "CODEX_HOME": str(home.path / "x")}
    (home.path / "x").mkdir()
    assert run("connect", env=env).code == 0
    assert sorted(os.listdir(home.path / "x")) == ["config.toml", "hooks.json"]
    assert not (home.path / "c").exists()
    run("connect", "claude", env=env)
    assert sorted(os.listdir(home.path / "c")) == [".claude.json", "settings.json"]


@pytest.mark.parametrize("agent", CONNECTED)
def test_every_event_that_is_wired_is_one_that_the_agent_has(agent: str) -> None:
    table = agent_named(agent)
    assert table is not None
    wired = wiring(agent, Command(("/a b/wikimem",)), home=Path("/home/u"), project=None)
    events = [str(entry.path[1]) for file in wired.files for entry in file.entries if entry.path[0] == "hooks"]
    assert events
    assert set(events) <= set(table.events)
    assert is_ours(Command(("/a b/wikimem",)).hook(agent, events[0]))
    assert is_ours(Command(("/usr/bin/python3", "-m", "wikimem")).hook(agent, events[0]))
    assert not is_ours("echo wikimem hooks")


def test_that_there_is_no_default_vault_is_said(run: Run, home: Home, settings: dict[Path, bytes]) -> None:
    assert run("init", "notes").code == 0
    assert "no default vault" in run("connect", "--dry-run").stderr
    assert run("init", str(home.path / "wikimem")).code == 0
    assert "no default vault" not in run("connect", "--dry-run").stderr


def test_nothing_of_the_settings_is_kept_but_what_was_put_in(
    run: Run, home: Home, vault: Path, settings: dict[Path, bytes]
) -> None:
    file = home.path / ".claude/settings.json"
    file.write_text(CLAUDE.replace('"opus"', f'"{KEY}"'))
    state = home.path / ".local/state/wikimem"
    (state / "connected").mkdir(mode=0o700, parents=True, exist_ok=True)
    copy = state / "connected" / "0123456789abcdef.before"
    copy.write_text(KEY)
    assert run("connect", "--dry-run").code == 0
    assert copy.exists()
    assert run("connect").code == 0
    for kept in state.rglob("*"):
        assert not kept.is_file() or KEY.encode() not in kept.read_bytes()
    assert run("disconnect").code == 0
    assert file.read_text() == CLAUDE.replace('"opus"', f'"{KEY}"')
    assert list((state / "connected").iterdir()) == []


def with_claude(home: Home, script: str) -> str:
    """A PATH with a program `claude` that is this script."""
    programs = home.path / "programs"
    programs.mkdir(exist_ok=True)
    (programs / "claude").write_text(f"#!/bin/sh\n{script}\n")
    (programs / "claude").chmod(0o755)
    return f"{programs}:{os.environ['PATH']}"


@pytest.mark.parametrize(
    ("script", "newer"),
    [
        ("echo '2.1.332 (Claude Code)'", True),
        ("echo '2.1.101 (Claude Code)'", True),
        ("echo '10.0.0'", True),
        ("echo '2.1.100 (Claude Code)'", False),
        ("echo '1.9.999'", False),
        ("echo 'Claude Code'; exit 1", False),
        ("head -c 20000 /dev/zero", False),
    ],
)
def test_a_version_that_refuses_unknown_events_is_told_from_one_that_passes_over_them(
    home: Home, monkeypatch: pytest.MonkeyPatch, script: str, newer: bool
) -> None:
    monkeypatch.setenv("PATH", with_claude(home, script))
    assert is_lenient("claude") is newer
    assert not is_lenient("codex")


def test_newer_events_are_wired_only_where_the_version_takes_them(run: Run, home: Home, vault: Path) -> None:
    file = home.path / ".claude/settings.json"
    old = run("connect", "claude", env={"PATH": with_claude(home, "echo 2.1.100")})
    assert "PostToolUseFailure" not in file.read_text()
    assert "2.1.101" in old.stderr
    run("connect", "claude", env={"PATH": with_claude(home, "echo 2.1.332")})
    assert "hook claude PostToolUseFailure" in file.read_text()
    # Where the version cannot be asked later, what is wired stays.
    assert {each["state"] for each in run("connect", "claude", "--json").json["files"]} == {"unchanged"}
    assert run("disconnect", "claude").code == 0
    assert not file.exists()


def test_status_says_which_agents_are_connected_and_what_waits(
    run: Run, home: Home, vault: Path, settings: dict[Path, bytes]
) -> None:
    assert "no agent is connected" in run("status").stdout
    run("connect", "claude", "codex")
    payload = json.dumps({"session_id": "s", "prompt": "cap the cart at 50", "cwd": str(home.path)})
    assert run("hook", "claude", "UserPromptSubmit", input=payload).code == 0
    run("hook", "claude", "UserPromptSubmit", "--vault", str(home.path / "nowhere"), input=payload)
    run("hook", "claude", "UserPromptSubmit", input=json.dumps({"session_id": "s"}))
    spool = next((home.path / ".local/state/wikimem/vaults").glob("*/spool"))
    (spool / "damaged").mkdir()
    (spool / "damaged" / "x.json").write_text("{")
    said = run("status", "--json").json["capture"]
    assert (said["waiting"], said["set_aside"], said["not_kept"]) == (1, 1, 1)
    assert said["oldest"]
    assert said["hooks"] == {"claude": "connected", "codex": "connected"}
    file = home.path / ".claude/settings.json"
    value = json.loads(file.read_text())
    del value["hooks"]["SessionStart"]
    file.write_text(json.dumps(value))
    (home.path / ".codex/hooks.json").unlink()
    told = run("status").stdout
    assert "claude: 6 of 7 hooks left" in told
    assert "codex: not connected any more" in told
    assert "1 event waiting since " in told
    run("disconnect")
    assert run("status", "--json").json["capture"]["hooks"] == {}
