"""Payloads that are cut, damaged or hostile: what can be saved of them, and that nothing raises."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikimem.agents.normal import normalised
from wikimem.agents.payload import DAMAGED, EMPTY, NO_OBJECT, NOT_TEXT, read_payload

PAYLOAD = {
    "session_id": "s1",
    "cwd": "/p",
    "hook_event_name": "PostToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "make all", "description": 'say "done"\n'},
    "tool_response": {"stdout": "all is well here", "stderr": ""},
}
WHOLE = json.dumps(PAYLOAD)


def test_a_whole_payload_is_itself() -> None:
    assert read_payload(WHOLE.encode()) == (PAYLOAD, [])


@pytest.mark.parametrize(
    ("data", "flaw"), [(b"", EMPTY), (b" \n", EMPTY), (b"[1, 2]", NO_OBJECT), (b"7", NO_OBJECT), (b"hello", DAMAGED)]
)
def test_what_is_no_object_gives_nothing_and_says_so(data: bytes, flaw: str) -> None:
    assert read_payload(data) == ({}, [flaw])


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_understood(encoding: str) -> None:
    assert read_payload(WHOLE.encode(encoding)) == (PAYLOAD, [])


def test_json_in_a_json_string_is_understood() -> None:
    assert read_payload(json.dumps(WHOLE).encode())[0] == PAYLOAD


def test_bytes_that_are_no_utf8_cost_only_themselves() -> None:
    fields, flaws = read_payload(b'{"session_id": "s1", "prompt": "caf\xe9 au lait"}')
    assert fields == {"session_id": "s1", "prompt": "caf\N{REPLACEMENT CHARACTER} au lait"}
    assert flaws == [NOT_TEXT]


def test_the_later_of_two_equal_keys_counts() -> None:
    assert read_payload(b'{"prompt": "a", "prompt": "b"}') == ({"prompt": "b"}, [])


def test_nan_and_infinity_are_words() -> None:
    fields, flaws = read_payload(b'{"a": NaN, "b": -Infinity, "session_id": "s1"}')
    assert fields == {"a": "NaN", "b": "-Infinity", "session_id": "s1"}
    assert flaws == []


def test_line_breaks_within_strings_are_read() -> None:
    assert read_payload(b'{"prompt": "one\ntwo"}') == ({"prompt": "one\ntwo"}, [])


@pytest.mark.parametrize("deep", ["[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000])
def test_what_is_nested_too_deeply_costs_only_itself(deep: str) -> None:
    text = '{"session_id": "s1", "tool_input": ' + deep + ', "tool_name": "Bash", "cwd": "/p"}'
    fields, flaws = read_payload(text.encode())
    assert fields["session_id"] == "s1"
    assert fields["tool_name"] == "Bash"
    assert fields["cwd"] == "/p"
    assert flaws == [DAMAGED]


def test_a_number_of_many_digits_costs_only_itself() -> None:
    fields, _ = read_payload(b'{"session_id": "s1", "n": ' + b"9" * 10_000 + b', "prompt": "x"}')
    assert (fields["session_id"], fields["prompt"]) == ("s1", "x")


def test_a_bad_escape_costs_only_itself() -> None:
    fields, flaws = read_payload(rb'{"session_id": "s1", "cwd": "C:\proj\x", "prompt": "x"}')
    assert (fields["session_id"], fields["prompt"]) == ("s1", "x")
    assert flaws == [DAMAGED]


@pytest.mark.parametrize("cut", range(1, len(WHOLE)))
def test_a_truncated_payload_keeps_every_field_before_the_cut(cut: int) -> None:
    fields, flaws = read_payload(WHOLE[:cut].encode())
    assert flaws == [DAMAGED]
    kept = [name for name, value in fields.items() if value == PAYLOAD[name]]
    before = [name for name in PAYLOAD if WHOLE.find(json.dumps(PAYLOAD[name])) + len(json.dumps(PAYLOAD[name])) <= cut]
    assert kept[: len(before)] == before


def test_a_text_that_breaks_off_loses_its_last_word() -> None:
    half = "ghp_" + "a1B2" * 3
    fields, _ = read_payload(('{"session_id": "s1", "prompt": "my key is ' + half).encode())
    assert fields == {"session_id": "s1", "prompt": "my key is "}
    assert read_payload(('{"prompt": "' + "a1B2" * 1000).encode())[0] == {"prompt": ""}


def test_fields_after_a_middle_that_was_left_out_are_found_at_the_end() -> None:
    head = '{"session_id": "s1", "tool_name": "Bash", "tool_response": {"stdout": "' + "line of output " * 50
    end = 'more \\"session_id\\": \\"fake\\" output"}, "tool_use_id": "c9", "cwd": "/p"}'
    fields, flaws = read_payload(head.encode(), end.encode())
    assert (fields["session_id"], fields["tool_use_id"], fields["cwd"]) == ("s1", "c9", "/p")
    assert flaws == [DAMAGED]


@given(st.binary(max_size=400), st.binary(max_size=100))
def test_no_bytes_fail(data: bytes, tail: bytes) -> None:
    fields, _ = read_payload(data, tail)
    normalised("claude", "PostToolUse", fields, {})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=5),
    max_leaves=20,
)
NAMES = st.sampled_from(
    ["session_id", "cwd", "prompt", "tool_name", "tool_input", "tool_response", "edits", "workspace_roots", "extra",
     "tool_info", "event", "model", "file_path", "paths", "toolArgs", "command", "message", "timestamp", "success"]
)  # fmt: skip


@given(
    st.sampled_from(["claude", "cursor", "windsurf", "cline", "hermes", "opencode", "copilot", "x"]),
    st.sampled_from(["PostToolUse", "UserPromptSubmit", "Stop", "afterMCPExecution", "file.edited", "Q"]),
    st.dictionaries(NAMES, JSON, max_size=8),
    st.integers(0, 300),
)
def test_no_payload_of_any_shape_fails(agent: str, event: str, payload: dict[str, object], cut: int) -> None:
    text = json.dumps(payload)
    for data in (text, text[:cut], text[cut:], text[:cut] + "\\" + text[cut:]):
        fields, _ = read_payload(data.encode("utf-8", "surrogatepass"))
        document = normalised(agent, event, fields, {})
        assert document is None or isinstance(document["kind"], str)
