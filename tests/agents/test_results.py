"""What the result of a tool says: its text, and whether the run failed, whatever an agent wraps it in."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from wikimem.agents.normal import normalised
from wikimem.model.event import Event

GEMINI = ("gemini", "AfterTool", "run_shell_command")
CODEX = ("codex", "PostToolUse", "shell")
CLAUDE = ("claude", "PostToolUse", "Bash")
TRAILER = "Signal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 80859"


def ran(who: tuple[str, str, str], response: Any, command: str = "npm run build") -> dict[str, Any]:
    agent, event, tool = who
    payload = {"session_id": "s", "tool_name": tool, "tool_input": {"command": command}, "tool_response": response}
    document = normalised(agent, event, payload, {})
    assert document is not None
    return document


def gemini(text: str) -> dict[str, str]:
    return {"llmContent": text, "returnDisplay": "x"}


@pytest.mark.parametrize(
    ("who", "response", "kind", "output"),
    [
        (GEMINI, gemini("Output: src/a.ts(3,1): error TS2307\nExit Code: 2\nProcess Group PGID: 80859"),
         "tool_failed", "Exit code 2\nsrc/a.ts(3,1): error TS2307"),
        (GEMINI, gemini("Output: built\nProcess Group PGID: 80860"), "tool", "built"),
        (GEMINI, gemini("Output: (empty)\nProcess Group PGID: 80860"), "tool", ""),
        (GEMINI, gemini("Output: Error: no module 'x'\n    at y\nExit Code: 1\nProcess Group PGID: 7"),
         "tool_failed", "Exit code 1\nError: no module 'x'\n    at y"),
        (GEMINI, gemini("Output: a\nError: b\nc\nExit Code: 1"), "tool_failed", "Exit code 1\na\nError: b\nc"),
        (GEMINI, gemini(f"Command: npm i x\nDirectory: (root)\nStdout: two\nlines\nStderr: (none)\nError: (none)\n"
                        f"Exit Code: 0\n{TRAILER}"), "tool", "two\nlines"),
        (GEMINI, gemini(f"Command: npm i x\nDirectory: (root)\nStdout: (none)\nStderr: npm error 404\nError: (none)\n"
                        f"Exit Code: 1\n{TRAILER}"), "tool_failed", "Exit code 1\nnpm error 404"),
        (GEMINI, gemini("Command: x\nDirectory: (root)\nOutput: (empty)\nError: spawn x ENOENT\nExit Code: (none)\n"
                        "Signal: (none)"), "tool_failed", "Error: spawn x ENOENT"),
        (GEMINI, gemini("Output: part\nExit Code: (none)\nSignal: 9\nProcess Group PGID: 7"), "tool_failed", "part"),
        (GEMINI, gemini("Command was cancelled by user before it could complete. There was no output."),
         "tool_failed", "Command was cancelled by user before it could complete. There was no output."),
        (GEMINI, gemini("Output: (empty)\nError: spawn x ENOENT"), "tool_failed", "Error: spawn x ENOENT"),
        (CLAUDE, "Output: only looks like it, and stays", "tool", "Output: only looks like it, and stays"),
        (CODEX, '{"output":"a.ts: error TS2304","metadata":{"exit_code":2,"duration_seconds":1}}',
         "tool_failed", "Exit code 2\na.ts: error TS2304"),
        (CODEX, '{"output":"removed 1 package","metadata":{"exit_code":0}}', "tool", "removed 1 package"),
        (CODEX, {"output": "no", "metadata": {"exit_code": 127}}, "tool_failed", "Exit code 127\nno"),
        (CODEX, "Exit code: 2\nWall time: 0.1 seconds\nOutput:\nno such file\n",
         "tool_failed", "Exit code 2\nno such file"),
        (CODEX, "Chunk ID: a1\nWall time: 1 s\nProcess exited with code 0\nOriginal token count: 2\nOutput:\nfine",
         "tool", "fine"),
        (CLAUDE, {"stdout": "x", "stderr": "", "exitCode": 3}, "tool_failed", "Exit code 3\nx"),
        (CLAUDE, {"stdout": "\x1b[31m\x1b[1m1 failed\x1b[0m, \x1b[32m6 passed\x1b[0m", "stderr": ""},
         "tool", "1 failed, 6 passed"),
        (CLAUDE, {"odd": {"a": "\x1b[31mred\x1b[0m \\u001b"}}, "tool", '{"odd": {"a": "red \\\\u001b"}}'),
    ],
)  # fmt: skip
def test_a_run_says_what_it_printed_and_how_it_went(
    who: tuple[str, str, str], response: Any, kind: str, output: str
) -> None:
    document = ran(who, response)
    assert (document["kind"], document["output"]) == (kind, output)


def test_what_is_no_run_may_print_what_looks_like_one() -> None:
    payload = {
        "session_id": "s",
        "tool_name": "mcp__ci__log",
        "tool_input": {},
        "tool_response": "Output: a\nExit Code: 2",
    }
    document = normalised("claude", "PostToolUse", payload, {})
    assert document is not None
    assert (document["kind"], document["output"]) == ("tool", "Output: a\nExit Code: 2")


def test_a_hostile_result_is_read_to_its_end() -> None:
    assert ran(GEMINI, gemini("Output: a" + "\nSignal: (none)" * 50_000))["kind"] == "tool"
    assert ran(CODEX, "Exit code: 1\n" * 50_000)["kind"] == "tool"


@pytest.mark.parametrize("field", ["output", "prompt", "error"])
def test_colours_hide_no_secret_and_leave_nothing_behind(
    last: Callable[..., Event], on_disk: Callable[[], bytes], field: str
) -> None:
    secret = "ghp_" + "c5D6" * 9
    text = f"\x1b[31mtoken: \x1b[1m{secret[:9]}\x1b[0m\x1b[32m{secret[9:]}\x1b[0m done"
    tool = {"tool_name": "Bash", "tool_input": {"command": "make"}}
    if field == "prompt":
        event = last("claude", "UserPromptSubmit", session_id="s", prompt=text)
    elif field == "error":
        event = last("claude", "PostToolUseFailure", session_id="s", **tool, error=text)
    else:
        event = last("claude", "PostToolUse", session_id="s", **tool, tool_response={"stdout": text, "stderr": ""})
    said = getattr(event, field)
    assert said.startswith("token: [redacted:")
    assert said.endswith("] done")
    assert secret[9:].encode() not in on_disk()
    assert json.dumps(said) == f'"{said}"', "nothing but plain characters is left"


QUESTIONS = [
    {"question": "Which CI do you want?", "header": "CI", "multiSelect": False,
     "options": [{"label": "GitHub Actions", "description": "hosted"}, {"label": "Buildkite", "description": "own"}]},
    {"question": "Which checks?", "header": "Checks", "multiSelect": True, "options": [{"label": "lint"}]},
]  # fmt: skip


@pytest.mark.parametrize(
    ("questions", "arguments", "response", "said"),
    [
        (QUESTIONS[:1], {}, {"questions": QUESTIONS[:1], "answers": {"Which CI do you want?": "Buildkite"}},
         "Which CI do you want? Buildkite"),
        (QUESTIONS, {}, {"answers": {"Which CI do you want?": "Buildkite", "Which checks?": ["lint", "types"]}},
         "Which CI do you want? Buildkite\nWhich checks? lint, types"),
        (QUESTIONS[:1], {"answers": {"Which CI do you want?": "Buildkite"}}, None, "Which CI do you want? Buildkite"),
        (QUESTIONS[:1], {}, "The user chose Buildkite.", "Which CI do you want?\nThe user chose Buildkite."),
    ],
)  # fmt: skip
def test_what_a_person_was_asked_is_kept_with_the_answer(
    questions: list[dict[str, Any]], arguments: dict[str, Any], response: Any, said: str
) -> None:
    payload = {
        "session_id": "s",
        "tool_name": "AskUserQuestion",
        "tool_input": {"questions": questions, **arguments},
        "tool_response": response,
    }
    document = normalised("claude", "PostToolUse", payload, {})
    assert document is not None
    assert (document["action"], document["input"], document["output"]) == ("ask", said, "")
