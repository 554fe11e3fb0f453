"""From a payload to an event in the spool: what is kept, in which vault, and that no secret reaches the disk."""

from __future__ import annotations

import json
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wikimem.agents.capture import LIMITS, SHORT_LIMIT
from wikimem.model.event import Event
from wikimem.operations.processes import init
from wikimem.vault.folders import vault_folders, vault_key
from wikimem.vault.spool import SPOOL, Spool

if TYPE_CHECKING:
    from tests.conftest import Home

Last = Callable[..., Event]
Hook = Callable[..., Any]

# Made up here, in formats that the gate knows.
SECRETS = (
    "ghp_" + "Zx81kQpL" * 5,
    "sk-ant-" + "api03-" + "Vb72mNqX" * 12,
    "AKIA" + "Q3EGRXW7ZPLM5KTD",
    "xoxb-" + "204857193-" + "kJ28sLmQ4z",
)


def test_an_event_says_what_happened_where_and_when(last: Last) -> None:
    event = last("claude", "UserPromptSubmit", session_id="s1", cwd="/srv/shop", prompt_id="p1", prompt="cap the cart")
    assert (event.kind, event.agent, event.event) == ("prompt", "claude-code", "UserPromptSubmit")
    assert (event.session, event.cwd, event.turn, event.prompt) == ("s1", "/srv/shop", "p1", "cap the cart")
    assert event.time[4] == "-"
    assert event.time[-6] in "+-"
    assert Event.from_document(event.to_document()) == event


def test_an_event_without_a_folder_says_where_its_hook_ran(last: Last, home: Home) -> None:
    event = last("windsurf", "pre_user_prompt", trajectory_id="s1", tool_info={"user_prompt": "cap it"})
    assert (event.cwd, event.ran_in) == ("", str(home.path / "work"))


def test_the_spool_and_its_files_are_for_this_user_alone(hook: Hook) -> None:
    file = Path(hook("claude", "Stop", session_id="s1").file)
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("event", ["SessionStart", "Stop", "SessionEnd", "PreCompact"])
def test_events_of_a_session_count_although_they_say_little(hook: Hook, event: str) -> None:
    assert hook("claude", event, session_id="s1").file
    assert hook("claude", event).reason == "it says nothing"


def test_an_empty_payload_is_not_kept_and_said_so(hook: Hook, spool: Spool) -> None:
    outcome = hook("claude", "PostToolUse", data=b"")
    assert (outcome.file, outcome.reason, outcome.flaws) == (None, "it says nothing", ("empty",))
    assert spool.counts().pending == 0


def test_a_prompt_that_is_all_private_or_all_recalled_is_not_kept(hook: Hook, spool: Spool) -> None:
    for prompt in ("<private>all of it</private>", "```wikimem\n=== recalled\n```"):
        assert "private" in hook("claude", "UserPromptSubmit", session_id="s1", prompt=prompt).reason
    assert spool.counts().pending == 0


def test_private_parts_and_injected_memory_are_not_in_what_is_kept(last: Last, on_disk: Callable[[], bytes]) -> None:
    event = last(
        "claude", "UserPromptSubmit", session_id="s1",
        prompt="cap <private>for Mx. Quillfeather</private> it\n```wikimem\n=== Recalled brontosaurus\n```\nplease",
    )  # fmt: skip
    assert event.prompt.split() == ["cap", "it", "please"]
    assert b"Quillfeather" not in on_disk()
    assert b"brontosaurus" not in on_disk()


def test_long_fields_are_cut_and_named(last: Last) -> None:
    event = last(
        "claude", "PostToolUse", session_id="s1", tool_name="Bash", tool_use_id="u1",
        tool_input={"command": "make"}, tool_response={"stdout": "begin " + "line of it\n" * 5000 + "end"},
    )  # fmt: skip
    assert event.cut == ("output",)
    assert len(event.output) < LIMITS["output"] + 100
    assert event.output.startswith("begin ")
    assert event.output.endswith("end")
    assert len(last("claude", "Stop", session_id="s" * 5000).session) < SHORT_LIMIT + 100


def test_a_text_that_utf8_cannot_write_is_kept(hook: Hook) -> None:
    outcome = hook(
        "claude", "UserPromptSubmit", data=b'{"session_id": "\\udce9", "prompt": "a \\ud83d b", "x": "\\udc00"}'
    )
    json.loads(Path(outcome.file).read_bytes().decode("utf-8")).get("prompt").encode("utf-8")


@pytest.mark.parametrize("cwd", ["/a\0b", "/\ud800", "x" * 100_000, "/" + "d/" * 5000, "~", "relative", 7, ["/"], None])
def test_a_folder_that_cannot_be_means_the_default_vault(hook: Hook, spool: Spool, cwd: object) -> None:
    assert hook("claude", "UserPromptSubmit", session_id="s1", prompt="hello", cwd=cwd).file
    assert spool.counts().pending == 1


# Law 4


@pytest.mark.parametrize(
    "place",
    ["session_id", "cwd", "prompt", "model", "transcript_path", "hook_event_name", "agent_id", "new_field", "source"],
)
def test_a_secret_in_any_field_is_not_on_the_disk(hook: Hook, on_disk: Callable[[], bytes], place: str) -> None:
    for secret in SECRETS:
        payload = {"session_id": "s1", "prompt": "cap the cart", "hook_event_name": "UserPromptSubmit"} | {
            place: secret
        }
        hook("claude", "UserPromptSubmit", **payload)
        assert secret.encode() not in on_disk()


def test_a_value_with_the_name_of_a_secret_is_not_on_the_disk(hook: Hook, on_disk: Callable[[], bytes]) -> None:
    hook("claude", "UserPromptSubmit", session_id="s1", prompt="x", password="Ur4nia-Swan-88")
    hook("claude", "PostToolUse", session_id="s1", tool_name="login", tool_input={"db": {"password": "Ur4nia-Swan-88"}})
    hook("claude", "PostToolUse", session_id="s1", tool_name="Bash", tool_input={"command": "x"},
         tool_response='{"db_password": "Ur4nia-Swan-88"}')  # fmt: skip
    hook("claude", "PostToolUse", session_id="s1", tool_name="Write",
         tool_input={"file_path": ".env", "content": "DB_PASSWORD=Ur4nia-Swan-88\n"})  # fmt: skip
    assert b"Ur4nia-Swan-88" not in on_disk()


JSON_PLACES = st.recursive(
    st.just("SECRET"),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3) | st.dictionaries(st.text("abc", min_size=1), inner, min_size=1)
    ),
    max_leaves=4,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(
    secret=st.sampled_from(SECRETS),
    event=st.sampled_from(["PostToolUse", "PreToolUse", "Stop", "UserPromptSubmit", "Notification", "Unheard"]),
    tool=st.sampled_from(["Bash", "Edit", "Write", "mcp__x__y", ""]),
    at=st.sampled_from(["tool_input", "tool_response", "error", "message", "edits", "whatever"]),
    value=JSON_PLACES,
    damage=st.integers(0, 400),
)
def test_a_secret_in_a_payload_of_any_shape_whole_or_damaged_is_not_on_the_disk(
    hook: Hook, on_disk: Callable[[], bytes], secret: str, event: str, tool: str, at: str, value: object, damage: int
) -> None:
    payload = {"session_id": "s1", "tool_name": tool, at: value, "prompt": "p"}
    text = json.dumps(payload).replace("SECRET", f"with {secret} in it")
    for data in (text, text[:damage], text[:damage] + '"' + text[damage:]):
        hook("claude", event, data=data.encode())
    assert secret.encode() not in on_disk()


def test_the_users_own_rules_apply_and_a_changed_rule_applies_at_once(
    hook: Hook, home: Home, on_disk: Callable[[], bytes]
) -> None:
    config = Path(home.env["XDG_CONFIG_HOME"]) / "wikimem" / "config.toml"
    for number, (name, badge) in enumerate([("badge", "BN-2001"), ("ticket", "TK-2002"), ("ticket", "TK-2003")]):
        config.write_text(f"[redact]\n{name} = '{badge[:2]}-[0-9]{{4}}'\n")
        file = hook("claude", "UserPromptSubmit", session_id=f"s{number}", prompt=f"badge {badge} is lost").file
        assert f"[redacted:{name}:" in Path(file).read_text()
        assert badge.encode() not in on_disk()


def test_with_settings_that_cannot_be_read_nothing_is_kept(hook: Hook, home: Home, spool: Spool) -> None:
    (Path(home.env["XDG_CONFIG_HOME"]) / "wikimem" / "config.toml").write_text("[redact\n")
    outcome = hook("claude", "UserPromptSubmit", session_id="s1", prompt="hello")
    assert outcome.file is None
    assert "config.toml" in outcome.reason
    assert spool.counts().pending == 0


# One event, reported twice


def drained(spool: Spool) -> list[Event]:
    with spool.claim() as batch:
        events = list(batch)
        batch.acknowledge()
    return events


def test_a_retry_counts_once_also_when_the_first_was_drained_long_before(hook: Hook, spool: Spool) -> None:
    payload = {"session_id": "s1", "tool_name": "Bash", "tool_use_id": "u1", "tool_input": {"command": "make"}}
    hook("claude", "PostToolUse", **payload)
    hook("claude", "PostToolUse", **payload)
    assert len(drained(spool)) == 1
    hook("claude", "PostToolUse", **payload)
    assert drained(spool) == []
    hook("claude", "PostToolUse", **payload | {"tool_use_id": "u2"})
    assert len(drained(spool)) == 1


def test_a_prompt_in_two_turns_is_two_events(hook: Hook, spool: Spool) -> None:
    hook("codex", "UserPromptSubmit", session_id="s1", turn_id="t1", prompt="go on")
    hook("codex", "UserPromptSubmit", session_id="s1", turn_id="t2", prompt="go on")
    hook("codex", "UserPromptSubmit", session_id="s1", turn_id="t2", prompt="go on")
    first, second = drained(spool)
    assert first.prompt == second.prompt
    assert first.key != second.key


def test_one_event_that_two_hosts_report_counts_once(hook: Hook, spool: Spool) -> None:
    """Cursor runs its own hooks and also those of Claude Code, with its own session id."""
    shared = {"conversation_id": "s1", "workspace_roots": ["/srv/shop"]}
    hook("cursor", "beforeSubmitPrompt", **shared, generation_id="g1", prompt="cap it")
    hook("claude", "UserPromptSubmit", session_id="s1", cwd="/srv/shop", prompt_id="p1", prompt="cap it")
    edit = {"old_string": "1", "new_string": "2"}
    hook("claude", "PostToolUse", session_id="s1", cwd="/srv/shop", tool_name="Edit", tool_use_id="u1",
         tool_input={"file_path": "a.py", **edit})  # fmt: skip
    hook("cursor", "afterFileEdit", **shared, generation_id="g1", file_path="/srv/shop/a.py", edits=[edit])
    hook(
        "cursor", "afterFileEdit", **shared, generation_id="g1", file_path="/srv/shop/a.py", edits=[{"new_string": "3"}]
    )
    assert [(event.kind, event.input) for event in drained(spool)] == [("prompt", ""), ("tool", "2"), ("tool", "3")]


def test_the_same_in_two_sessions_or_two_subagents_is_two_events(hook: Hook, spool: Spool) -> None:
    hook("claude", "UserPromptSubmit", session_id="s1", prompt="go on")
    hook("claude", "UserPromptSubmit", session_id="s2", prompt="go on")
    hook("claude", "SubagentStart", session_id="s1", agent_id="a1", agent_type="Explore")
    hook("claude", "SubagentStart", session_id="s1", agent_id="a2", agent_type="Explore")
    assert len({event.key for event in drained(spool)}) == 4


# Which vault


def spool_of(root: Path) -> Spool:
    return Spool(vault_folders(vault_key(root)).state / SPOOL)


def test_an_event_goes_to_the_vault_around_its_folder_else_to_the_default(hook: Hook, home: Home, spool: Spool) -> None:
    notes = home.path / "notes"
    init(notes, cwd=home.path)
    (notes / "deep").mkdir()
    hook("claude", "UserPromptSubmit", session_id="s1", cwd=str(notes / "deep"), prompt="about my notes")
    hook("claude", "UserPromptSubmit", session_id="s1", cwd="/somewhere/else", prompt="about the shop")
    assert [event.prompt for event in drained(spool_of(notes))] == ["about my notes"]
    assert [event.prompt for event in drained(spool)] == ["about the shop"]


def test_a_vault_that_is_away_keeps_its_events(hook: Hook, vault: Path, spool: Spool) -> None:
    vault.rename(vault.with_name("unplugged"))
    assert hook("claude", "UserPromptSubmit", session_id="s1", prompt="kept for later").file
    assert [event.prompt for event in drained(spool)] == ["kept for later"]


def test_an_event_in_somebody_elses_vault_is_kept_nowhere(hook: Hook, home: Home, on_disk: Callable[[], bytes]) -> None:
    clone = home.path / "clone"
    (clone / ".wikimem").mkdir(parents=True)
    outcome = hook("claude", "UserPromptSubmit", session_id="s1", cwd=str(clone), prompt="aardvark")
    assert outcome.file is None
    assert "wikimem trust" in outcome.reason
    assert b"aardvark" not in on_disk()


def test_without_a_vault_nothing_is_kept(home: Home) -> None:
    from wikimem.agents.capture import capture

    outcome = capture("claude", "UserPromptSubmit", b'{"session_id": "s1", "prompt": "aardvark"}')
    assert (outcome.file, outcome.reason) == (None, "this user has no vault; run `wikimem init`")
    assert not any(b"aardvark" in file.read_bytes() for file in home.path.rglob("*") if file.is_file())


def test_capture_changes_nothing_in_the_vault(hook: Hook, vault: Path) -> None:
    before = subprocess.run(["git", "-C", str(vault), "status", "-s"], capture_output=True, check=True).stdout
    listed = sorted(str(path) for path in vault.rglob("*"))
    hook("claude", "UserPromptSubmit", session_id="s1", cwd=str(vault), prompt="hello")
    assert sorted(str(path) for path in vault.rglob("*")) == listed
    assert subprocess.run(["git", "-C", str(vault), "status", "-s"], capture_output=True, check=True).stdout == before
