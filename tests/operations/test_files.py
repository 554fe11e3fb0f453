"""`files`: decisions, errors and their fixes, sessions and co-edited files of a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.conftest import Run


def edit(file: str, number: int, session: str) -> dict[str, Any]:
    return {
        "session_id": session, "hook_event_name": "PostToolUse", "tool_name": "Edit",
        "tool_use_id": f"{session}{number}",
        "tool_input": {"file_path": file, "old_string": "a", "new_string": f"const value{number} = 1"},
        "tool_response": {},
    }  # fmt: skip


def command(output: str, number: int, session: str, *, failed: bool) -> dict[str, Any]:
    return {
        "session_id": session, "hook_event_name": "PostToolUseFailure" if failed else "PostToolUse",
        "tool_name": "Bash", "tool_input": {"command": "npm test"}, "tool_use_id": f"{session}{number}",
        **({"error": output} if failed else {"tool_response": {"stdout": output}}),
    }  # fmt: skip


@pytest.fixture
def told(run: Run, vault: Path) -> Run:
    events = [
        command("Exit code 1\nTypeError: sub is undefined", 1, "s1", failed=True),
        edit("src/middleware/auth.ts", 2, "s1"),
        edit("src/jwt.ts", 3, "s1"),
        command("Tests: 4 passed, 4 total", 4, "s1", failed=False),
        edit("src/middleware/auth.ts", 5, "s2"),
        edit("src/jwt.ts", 6, "s2"),
        edit("docs/auth.ts.md", 7, "s2"),
        edit("other/oauth.ts", 8, "s3"),
    ]
    for event in events:
        run("hook", "claude", event["hook_event_name"], input=json.dumps(event))
    run("remember", "Use jose for JWT verification", "--type", "decision", "--text", "In `src/middleware/auth.ts`.")
    run("remember", "Tokens without sub", "--type", "error", "--sources", "file:src/middleware/auth.ts@a1b2c3d")
    run("remember", "The oauth module is old", "--text", "See other/oauth.ts.")
    return run


def test_what_is_known_of_a_file_is_found_by_its_path_or_the_end_of_it(told: Run) -> None:
    for name in ("src/middleware/auth.ts", "auth.ts", "./middleware/auth.ts"):
        (known,) = told("files", name, "--json").json["files"]
        assert [page["title"] for page in known["decisions"]] == ["Use jose for JWT verification"]
        assert [page["title"] for page in known["errors"]] == ["Tokens without sub"]
        assert known["pages"] == []
        assert sorted(session["session"] for session in known["sessions"]) == ["s1", "s2"]
        assert known["coedited"][0] == {"path": "src/jwt.ts", "sessions": 2}
        assert {each["path"] for each in known["coedited"]} == {"src/jwt.ts", "docs/auth.ts.md"}
        (fix,) = known["fixes"]
        change = "gone after a change of `src/middleware/auth.ts`, `src/jwt.ts`"
        assert fix["text"] == f"TypeError: sub is undefined: {change}"


def test_the_sources_of_a_fix_can_be_followed(told: Run, vault: Path) -> None:
    (known,) = told("files", "src/jwt.ts", "--json").json["files"]
    for source in (*known["fixes"][0]["sources"], *(each["source"] for each in known["sessions"][0]["mentions"])):
        stem, _, block = source.strip("[]").partition("#^")
        (page,) = vault.rglob(f"{stem}.md")
        assert page.read_text().count(f" ^{block}\n") == 1


def test_several_files_are_answered_in_order_and_the_unknown_are_told(told: Run) -> None:
    done = told("files", "other/oauth.ts", "src/nowhere.ts")
    assert done.stdout.startswith("other/oauth.ts\n")
    assert done.stdout.rstrip().endswith("src/nowhere.ts\n  Nothing is known of it.")
    assert "The oauth module is old" in done.stdout


def test_no_file_is_refused(run: Run, vault: Path) -> None:
    for arguments in ((), ("",)):
        assert run("files", *arguments).code == 2
