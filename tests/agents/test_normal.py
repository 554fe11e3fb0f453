"""What agents report, in one form: each agent's events and spellings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wikimem.agents.agent import MODULES, agent_named
from wikimem.agents.dialects import WRITERS
from wikimem.agents.normal import normalised
from wikimem.model.event import KINDS

AT = "/home/ada/shop"
CLAUDE = {"session_id": "s-7", "transcript_path": "/t/s-7.jsonl", "cwd": AT, "permission_mode": "default"}
CURSOR = {
    "conversation_id": "s-7",
    "generation_id": "g-1",
    "workspace_roots": [AT],
    "cursor_version": "3.6",
    "user_email": "ada@example.org",
}
CLINE = {"clineVersion": "3.9", "taskId": "s-7", "workspaceRoots": [AT], "userId": "u-1", "timestamp": "7"}
WINDSURF = {"trajectory_id": "s-7", "execution_id": "e-1", "timestamp": "2026-01-05T10:00:00Z"}
COPILOT = {"sessionId": "s-7", "timestamp": 1796115600000, "cwd": AT}

# agent, event, payload, what the event says (a field that is not named here may say anything, or nothing)
PAYLOADS: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("claude", "SessionStart", {**CLAUDE, "source": "startup"}, {"kind": "session_start", "source": ""}),
    ("claude", "SessionStart", {**CLAUDE, "source": "compact"}, {"kind": "session_start", "source": "compact"}),
    ("claude", "UserPromptSubmit", {**CLAUDE, "prompt": "cap the cart"}, {"kind": "prompt", "prompt": "cap the cart"}),
    ("claude", "UserPromptExpansion", {**CLAUDE, "command_name": "review", "prompt": "/review 7"},
     {"kind": "expansion", "title": "review", "prompt": "/review 7"}),
    ("claude", "PreToolUse", {**CLAUDE, "tool_name": "Write", "tool_input": {"file_path": "a.py", "content": "x = 1"}},
     {"kind": "tool_start", "tool": "Write", "action": "write", "files": ["a.py"], "input": "x = 1"}),
    ("claude", "PostToolUse",
     {**CLAUDE, "tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "u8",
      "tool_response": {"stdout": "", "stderr": "warned", "interrupted": False}},
     {"kind": "tool", "command": "make", "output": "stderr:\nwarned"}),
    ("claude", "PostToolUse",
     {**CLAUDE, "tool_name": "Bash", "tool_input": {"command": "make test", "description": "Run tests"},
      "tool_use_id": "u9", "tool_response": {"stdout": "ok", "stderr": "warned", "interrupted": False}},
     {"kind": "tool", "tool": "Bash", "action": "run", "command": "make test", "call": "u9", "output": "ok\nwarned",
      "input": '{"description": "Run tests"}'}),
    ("claude", "PostToolUse",
     {**CLAUDE, "tool_name": "Edit", "tool_input": {"file_path": f"{AT}/a.py", "old_string": "1", "new_string": "2"},
      "tool_response": {"filePath": f"{AT}/a.py", "originalFile": "the whole file"}},
     {"kind": "tool", "action": "edit", "files": [f"{AT}/a.py"], "input": "2", "output": ""}),
    ("claude", "PostToolUse",
     {**CLAUDE, "tool_name": "Read", "tool_input": {"file_path": "b.py"}, "tool_response": {"content": "long text"}},
     {"kind": "tool", "action": "read", "files": ["b.py"], "output": ""}),
    ("claude", "PostToolUse",
     {**CLAUDE, "tool_name": "mcp__github__search", "tool_input": {"q": "cart"}, "tool_response": [{"text": "2 hits"}]},
     {"kind": "tool", "action": "mcp", "input": '{"q": "cart"}', "output": "2 hits"}),
    ("claude", "PostToolUseFailure",
     {**CLAUDE, "tool_name": "Bash", "tool_input": {"command": "false"}, "error": "Exit code 1"},
     {"kind": "tool_failed", "command": "false", "error": "Exit code 1"}),
    ("claude", "Stop", {**CLAUDE, "last_assistant_message": "Capped."}, {"kind": "turn_end", "text": "Capped."}),
    ("claude", "StopFailure", {**CLAUDE, "error": "rate_limit"}, {"kind": "turn_failed", "error": "rate_limit"}),
    ("claude", "SubagentStart", {**CLAUDE, "agent_id": "a1", "agent_type": "Explore"},
     {"kind": "subagent_start", "subagent": "a1", "subagent_type": "Explore"}),
    ("claude", "SubagentStop",
     {**CLAUDE, "agent_id": "a1", "agent_transcript_path": "/t/a1.jsonl", "last_assistant_message": "Found it."},
     {"kind": "subagent_end", "subagent": "a1", "text": "Found it.", "transcript": "/t/a1.jsonl"}),
    ("claude", "PreCompact", {**CLAUDE, "trigger": "auto"}, {"kind": "pre_compact", "reason": "auto", "source": ""}),
    ("claude", "PostCompact", {**CLAUDE, "compact_summary": "So far."}, {"kind": "post_compact", "text": "So far."}),
    ("claude", "Notification", {**CLAUDE, "message": "May I?", "notification_type": "permission_prompt"},
     {"kind": "notification", "text": "May I?", "reason": "permission_prompt"}),
    ("claude", "TaskCompleted", {**CLAUDE, "task_id": "1", "task_subject": "Tests", "task_description": "Write them"},
     {"kind": "task_end", "title": "Tests", "text": "Write them"}),
    ("claude", "CwdChanged", {**CLAUDE, "cwd": "", "old_cwd": "/a", "new_cwd": AT}, {"kind": "place", "cwd": AT}),
    ("claude", "FileChanged", {**CLAUDE, "file_path": "x.toml", "event": "add"}, {"kind": "file", "files": ["x.toml"]}),
    ("claude", "SessionEnd", {**CLAUDE, "reason": "logout"}, {"kind": "session_end", "reason": "logout"}),
    ("codex", "PostToolUse",
     {**CLAUDE, "turn_id": "t1", "tool_name": "apply_patch",
      "tool_input": {"command": "*** Begin Patch\n*** Update File: src/a.rs\n+x\n*** Add File: b.rs\n*** End Patch"}},
     {"kind": "tool", "action": "edit", "files": ["src/a.rs", "b.rs"], "turn": "t1"}),
    ("codex", "PostToolUse",
     {**CLAUDE, "tool_name": "shell", "tool_input": {"command": ["bash", "-lc", "cargo test"]}, "tool_response": "ok"},
     {"action": "run", "command": "bash -lc cargo test", "output": "ok"}),
    ("gemini", "BeforeAgent", {**CLAUDE, "prompt": "cap it", "timestamp": "2026-01-05T10:00:00.000Z"},
     {"kind": "prompt", "prompt": "cap it", "stamp": "2026-01-05T10:00:00.000Z"}),
    ("gemini", "AfterAgent", {**CLAUDE, "prompt": "cap it", "prompt_response": "Capped."},
     {"kind": "turn_end", "text": "Capped."}),
    ("gemini", "AfterTool",
     {**CLAUDE, "tool_name": "run_shell_command", "tool_input": {"command": "ls"},
      "tool_response": {"llmContent": "a"}},
     {"kind": "tool", "action": "run", "output": "a"}),
    ("gemini", "PreCompress", {**CLAUDE, "trigger": "manual"}, {"kind": "pre_compact"}),
    ("cursor", "beforeSubmitPrompt", {**CURSOR, "prompt": "cap it", "attachments": []},
     {"kind": "prompt", "prompt": "cap it", "turn": "g-1"}),
    ("cursor", "afterFileEdit",
     {**CURSOR, "file_path": f"{AT}/a.py", "edits": [{"old_string": "1", "new_string": "2"}]},
     {"kind": "tool", "tool": "edit", "action": "edit", "files": [f"{AT}/a.py"], "input": "2"}),
    ("cursor", "afterShellExecution", {**CURSOR, "command": "make", "output": "done", "duration": 5},
     {"kind": "tool", "tool": "shell", "action": "run", "command": "make", "output": "done"}),
    ("cursor", "afterMCPExecution",
     {**CURSOR, "tool_name": "query", "tool_input": '{"sql": "select 1"}', "command": "npx db-server",
      "result_json": "1"},
     {"kind": "tool", "tool": "query", "action": "mcp", "output": "1"}),
    ("cursor", "postToolUseFailure",
     {**CURSOR, "tool_name": "Shell", "tool_input": {"command": "false"}, "error_message": "no"},
     {"kind": "tool_failed", "error": "no"}),
    ("cursor", "afterAgentResponse", {**CURSOR, "text": "Capped."}, {"kind": "response", "text": "Capped."}),
    ("cursor", "stop", {**CURSOR, "status": "completed", "loop_count": 0}, {"kind": "turn_end", "reason": "completed"}),
    ("windsurf", "pre_user_prompt", {**WINDSURF, "tool_info": {"user_prompt": "cap it"}},
     {"kind": "prompt", "cwd": "", "prompt": "cap it"}),
    ("windsurf", "post_write_code", {**WINDSURF, "tool_info": {"file_path": "a.go", "edits": [{"new_string": "2"}]}},
     {"kind": "tool", "cwd": "", "action": "edit", "files": ["a.go"], "input": "2"}),
    ("windsurf", "post_run_command", {**WINDSURF, "tool_info": {"command_line": "make", "cwd": AT}},
     {"kind": "tool", "action": "run", "command": "make"}),
    ("cline", "UserPromptSubmit", {**CLINE, "userPromptSubmit": {"prompt": "cap it"}},
     {"kind": "prompt", "prompt": "cap it"}),
    ("cline", "UserPromptSubmit", {**CLINE, "prompt": "cap it"}, {"kind": "prompt", "prompt": "cap it"}),
    ("cline", "TaskStart", {**CLINE, "taskStart": {"taskMetadata": {"taskId": "s-7", "initialTask": "cap it"}}},
     {"kind": "session_start"}),
    ("cline", "PostToolUse",
     {**CLINE, "postToolUse": {"toolName": "execute_command", "parameters": {"command": "make"}, "success": False}},
     {"kind": "tool_failed", "tool": "execute_command", "command": "make"}),
    ("goose", "UserPromptSubmit",
     {"event": "UserPromptSubmit", "session_id": "s-7", "message": "cap it", "working_dir": AT},
     {"kind": "prompt", "prompt": "cap it"}),
    ("vscode", "UserPromptSubmit",
     {"cwd": AT, "sessionId": "s-7", "hookEventName": "UserPromptSubmit", "prompt": "cap it"},
     {"kind": "prompt", "prompt": "cap it"}),
    ("copilot-cli", "userPromptSubmitted", {**COPILOT, "prompt": "cap it"},
     {"kind": "prompt", "prompt": "cap it", "stamp": "1796115600000"}),
    ("copilot-cli", "postToolUse",
     {**COPILOT, "toolName": "bash", "toolArgs": '{"command":"make"}',
      "toolResult": {"resultType": "failure", "textResultForLlm": "2 failed"}},
     {"kind": "tool_failed", "tool": "bash", "command": "make", "output": "2 failed"}),
    ("kiro", "UserPromptSubmit", {**CLAUDE, "prompt": "cap it"}, {"kind": "prompt", "prompt": "cap it"}),
    ("qwen", "SessionEnd", {**CLAUDE, "reason": "exit"}, {"kind": "session_end"}),
    ("hermes", "pre_llm_call",
     {"hook_event_name": "pre_llm_call", "tool_name": None, "session_id": "s-7", "cwd": AT,
      "extra": {"user_message": "cap it"}},
     {"kind": "prompt", "prompt": "cap it"}),
    ("opencode", "session.idle",
     {"event": {"type": "session.idle", "properties": {"sessionID": "s-7"}}, "directory": AT},
     {"kind": "turn_end"}),
    ("some-new-agent", "PostToolUse", {**CLAUDE, "tool_name": "Bash", "tool_input": {"command": "make"}},
     {"kind": "tool", "agent": "some-new-agent", "command": "make"}),
    ("claude", "SomethingNew", {**CLAUDE, "message": "hello"},
     {"kind": "other", "event": "SomethingNew", "text": "hello"}),
]  # fmt: skip


@pytest.mark.parametrize(("agent", "event", "payload", "said"), PAYLOADS, ids=lambda value: str(value)[:24])
def test_a_payload_says_the_same_whoever_reports_it(
    agent: str, event: str, payload: dict[str, Any], said: dict[str, Any]
) -> None:
    document = normalised(agent, event, payload, {})
    assert document is not None
    expected = {"session": "s-7", "cwd": AT} | said
    assert {name: document.get(name) for name in expected} == expected
    json.dumps(document)


@pytest.mark.parametrize("name", MODULES)
def test_a_table_names_only_kinds_and_dialects_that_there_are(name: str) -> None:
    agent = agent_named(name)
    assert agent is not None
    assert {kind for kind, _ in agent.events.values()} <= set(KINDS)
    assert agent.dialect in WRITERS
    assert agent.injects <= set(agent.events)
    assert len(agent.squashed) == len(agent.events), "two events of one agent differ in more than spelling"


def test_every_event_of_claude_code_has_a_meaning() -> None:
    claude = agent_named("claude")
    assert claude is not None
    assert len(claude.events) == 34


@pytest.mark.parametrize("spelling", ["PostToolUse", "postToolUse", "post_tool_use", "post-tool-use", "POSTTOOLUSE"])
def test_an_event_is_known_in_any_spelling(spelling: str) -> None:
    document = normalised("claude", spelling, {"session_id": "s", "tool_name": "Bash"}, {})
    assert document is not None
    assert (document["kind"], document["event"]) == ("tool", "PostToolUse")


def test_the_payload_names_the_event_where_the_command_line_does_not() -> None:
    document = normalised("claude", "", {"hook_event_name": "Stop", "session_id": "s"}, {})
    assert document is not None
    assert document["kind"] == "turn_end"


@pytest.mark.parametrize(
    "tool", [{"tool_name": "mcp__wikimem__search"}, {"tool_name": "mcp_wikimem_remember"},
             {"tool_name": "search", "mcp_server": "wikimem"}]
)  # fmt: skip
def test_wikimems_own_tools_are_left_out(tool: dict[str, str]) -> None:
    payload = {"session_id": "s", **tool, "tool_input": {"query": "cart"}, "tool_response": "what was recalled"}
    assert normalised("claude", "PostToolUse", payload, {}) is None


def test_wikimems_own_tools_are_left_out_where_the_server_is_named_by_its_command() -> None:
    payload = {
        **CURSOR,
        "tool_name": "search",
        "tool_input": "{}",
        "command": "/opt/bin/wikimem mcp",
        "result_json": "x",
    }
    assert normalised("cursor", "afterMCPExecution", payload, {}) is None


def test_a_tool_that_is_only_called_alike_is_kept() -> None:
    payload = {"session_id": "s", "tool_name": "mcp__mywikimemory__get", "tool_input": {}}
    assert normalised("claude", "PostToolUse", payload, {}) is not None


@pytest.mark.parametrize(
    ("command", "kept", "output"),
    [
        ("wikimem search jose", False, ""),
        ("cd /srv && WIKIMEM_VAULT=/v /opt/bin/wikimem context 'rate limits' | head -50", False, ""),
        ("python3 -m wikimem read Home", False, ""),
        ("uvx wikimem log", False, ""),
        ("pytest -q && wikimem remember 'It passes'", True, ""),
        ('timeout 20 wikimem search "retry"', False, ""),
        ("nice -n 19 wikimem context x", False, ""),
        ("env A=1 wikimem log", False, ""),
        ("sudo -u me wikimem log", False, ""),
        ("( wikimem log )", False, ""),
        ("if wikimem read Home; then echo yes; fi", False, ""),
        ("! wikimem doctor", False, ""),
        ("$(wikimem log)", False, ""),
        ("echo Home | xargs -n 1 wikimem read", False, ""),
        ("poetry run wikimem log", False, ""),
        ("uv run --quiet wikimem log", False, ""),
        ("uvx wikimem@latest log", False, ""),
        ('bash -lc "wikimem log"', False, ""),
        ('A="b c" wikimem log', False, ""),
        ("for i in 1 2; do wikimem remember $i; done", False, ""),
        ("wikimem log & wait", False, ""),
        ("python3 -X dev -m wikimem log", False, ""),
        ('git commit -m "$(wikimem read Home)"', True, ""),
        ("ssh box 'wikimem log'", True, ""),
        ("docker exec box wikimem log", True, ""),
        ("find . -name x -exec wikimem read {} +", True, ""),
        ("make " + "x" * 30_000 + "; wikimem log", True, ""),
        ("cd wikimem && ls", True, "text"),
        ("vim wikimem/x.py", True, "text"),
        ("grep wikimem README", True, "text"),
        ("sudo -n grep wikimem README", True, "text"),
        ("git commit -m 'tell; wikimem log'", True, "text"),
        ("cat > notes <<EOF\nwikimem log\nEOF\nmake", True, "text"),
        ("git log --oneline -- wikimem/", True, "text"),
        ("grep -rn wikimem docs", True, "text"),
    ],
)
def test_wikimems_own_commands_are_left_out(command: str, kept: bool, output: str) -> None:
    payload = {"session_id": "s", "tool_name": "Bash", "tool_input": {"command": command}, "tool_response": "text"}
    document = normalised("claude", "PostToolUse", payload, {})
    assert (document is not None) == kept
    if document is not None:
        assert document["output"] == output


def test_streamed_fragments_and_thoughts_are_not_captured() -> None:
    assert normalised("claude", "MessageDisplay", {"session_id": "s", "delta": "Hel"}, {}) is None
    assert normalised("cursor", "afterAgentThought", {**CURSOR, "text": "hm"}, {}) is None


def test_the_environment_names_session_and_folder_where_the_payload_does_not() -> None:
    variables = {"CLAUDE_PROJECT_DIR": AT, "CLAUDE_CODE_SESSION_ID": "s-9"}
    document = normalised("claude", "Stop", {}, variables)
    assert document is not None
    assert (document["session"], document["cwd"]) == ("s-9", AT)


def test_unknown_fields_are_kept_where_they_are_plain_and_no_mail_address() -> None:
    payload = {**CURSOR, "prompt": "x", "composer_mode": "agent", "depth": 3, "blob": {"a": 1}, "long": "y" * 500}
    document = normalised("cursor", "beforeSubmitPrompt", payload, {})
    assert document is not None
    assert document["extra"] == {"composer_mode": "agent", "depth": 3}
