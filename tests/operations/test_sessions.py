"""`sessions`, and what is found of sessions: through real hook processes and the command line."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wikimem.memory.duties import Deed, Duties
from wikimem.model.caller import Caller
from wikimem.wiki import open_wiki

if TYPE_CHECKING:
    from tests.conftest import Home, Run

SESSION: list[tuple[str, dict[str, Any]]] = [
    ("SessionStart", {"source": "startup"}),
    ("UserPromptSubmit", {"prompt": "Add JWT auth to the API, the edge has no Node crypto"}),
    ("PostToolUse", {"tool_name": "Write", "tool_input": {"file_path": "src/middleware/auth.ts",
                     "content": "export async function verifyToken() {}"}, "tool_response": {}, "tool_use_id": "t1"}),
    ("PostToolUseFailure", {"tool_name": "Bash", "tool_input": {"command": "npm test"}, "tool_use_id": "t2",
                            "error": "Exit code 1\nTypeError: Cannot read properties of undefined (reading 'sub')"}),
    ("PostToolUse", {"tool_name": "Edit", "tool_input": {"file_path": "src/middleware/auth.ts",
                     "old_string": "payload.sub", "new_string": "payload?.sub"}, "tool_response": {},
                     "tool_use_id": "t3"}),
    ("PostToolUse", {"tool_name": "Bash", "tool_input": {"command": "npm test"},
                     "tool_response": {"stdout": "Tests: 4 passed, 4 total"}, "tool_use_id": "t4"}),
    ("Stop", {"last_assistant_message": "JWT auth works. We chose jose over jsonwebtoken because of the edge."}),
    ("SessionEnd", {"reason": "exit"}),
]  # fmt: skip


def report(run: Run, events: list[tuple[str, dict[str, Any]]], session: str = "7f3a", agent: str = "claude") -> None:
    for name, fields in events:
        done = run("hook", agent, name, input=json.dumps({"session_id": session, "hook_event_name": name, **fields}))
        assert (done.code, done.stderr) == (0, "")


def test_a_session_is_listed_after_the_next_write(run: Run, vault: Path) -> None:
    report(run, SESSION)
    waiting = run("sessions", "--json").json
    assert (waiting["sessions"], waiting["waiting"]) == ([], len(SESSION))
    assert run("remember", "The API runs on port 8080").code == 0
    listed = run("sessions", "--json").json
    (session,) = listed["sessions"]
    assert (listed["schema"], listed["waiting"], listed["total"]) == ("wikimem/sessions/1", 0, 1)
    assert (session["title"], session["agent"], session["session"]) == (
        "Add JWT auth to the API, the edge has no Node crypto", "claude-code", "7f3a",
    )  # fmt: skip
    assert session["outcome"] == "JWT auth works. We chose jose over jsonwebtoken because of the edge."
    assert session["ended"] is not None
    page = (vault / session["path"]).read_text()
    assert "TypeError: Cannot read properties of undefined (reading 'sub'): gone after a change of" in page
    shown = run("sessions").stdout
    assert "Add JWT auth to the API, the edge has no Node crypto  (claude-code" in shown


def test_sessions_are_filtered_by_agent_project_and_date(run: Run, home: Home, vault: Path) -> None:
    report(run, [("UserPromptSubmit", {"prompt": "Port the importer"})], "a")
    report(run, [("UserPromptSubmit", {"prompt": "Write the docs"})], "b", "codex")
    run("remember", "A fact")

    def titles(*options: str) -> list[str]:
        return [each["title"] for each in run("sessions", "--json", *options).json["sessions"]]

    assert titles() == ["Write the docs", "Port the importer"]
    assert titles("--agent", "codex") == ["Write the docs"]
    assert titles("--limit", "1") == ["Write the docs"]
    assert titles("--since", "tomorrow") == []
    assert titles("--project", "other") == []


def test_a_session_is_found_by_what_was_said_and_by_its_files(run: Run, vault: Path) -> None:
    report(run, SESSION)
    run("remember", "The cart lives in Redis")
    for question in (
        "JWT auth",
        "edge without Node crypto",
        "src/middleware/auth.ts",
        "auth.ts",
        "jose or jsonwebtoken",
    ):
        hits = run("search", question, "--json").json["hits"]
        assert hits[0]["type"] == "session", question


def test_what_a_session_led_to_and_its_page_share_the_places_of_one_session(run: Run, vault: Path) -> None:
    report(run, SESSION)
    run("remember", "Something else")
    page = next(vault.rglob("sessions/**/*.md"))
    block = page.read_text().rpartition("^")[2].strip()
    for number in range(6):
        run("remember", f"JWT auth detail {number}", "--text", f"JWT auth of the API, point {number}",
            "--sources", f"[[{page.stem}#^{block}]]")  # fmt: skip
    run("remember", "JWT auth elsewhere", "--text", "Another product has JWT auth in its API too")
    hits = run("search", "JWT auth of the API", "--json", "--limit", "5").json["hits"]
    assert len(hits) == 5
    assert "JWT auth elsewhere" in [hit["title"] for hit in hits[:4]], "three of one session, then others"


def test_the_process_on_duty_writes_a_session_when_it_ends(run: Run, home: Home, vault: Path) -> None:
    deeds: list[Deed] = []

    def make() -> Any:
        return open_wiki(str(vault), cwd=vault, caller=Caller(cwd=vault))

    duties = Duties(make, "watch", deeds.append)
    try:
        assert duties.step(0.1)
        report(run, SESSION[1:2])
        assert duties.step(0.1)
        assert list(vault.rglob("sessions/**/*.md")) == []
        report(run, SESSION[2:])
        deadline = time.monotonic() + 60
        while not list(vault.rglob("sessions/**/*.md")) and time.monotonic() < deadline:
            duties.step(0.2)
    finally:
        duties.close()
    (said,) = [deed.text for deed in deeds if deed.event == "session"]
    assert said == "session Add JWT auth to the API, the edge has no Node crypto: 7 observations"


def test_a_session_page_that_somebody_wrote_by_hand_is_listed_too(run: Run, vault: Path) -> None:
    page = vault / "notes/talk.md"
    page.parent.mkdir()
    page.write_text(
        "---\ntype: session\ntitle: A talk\ncreated: 2025-03-05T14:02:40\nsession: d81f\n---\n"
        "## Digest\nNumbers collided. A sequence replaced them.\n\n## Observations\n"
        "- 14:02:40 **prompt** find out why ^o-zf9sjerong\n"
    )
    (session,) = run("sessions", "--json").json["sessions"]
    assert (session["outcome"], session["observations"]) == ("Numbers collided. A sequence replaced them.", 1)
    assert (session["started"], session["ended"]) == ("2025-03-05T14:02:40", None)
