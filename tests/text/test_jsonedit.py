"""Editing JSON text: what is asked for comes in, every other byte stays, and it can be cut out again exactly."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikimem.errors import Invalid
from wikimem.text.jsonedit import JsonText, read_json, without_pieces

END = 1_000_000
TEXTS = st.text(max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


def with_hook(value: dict[str, Any]) -> bool:
    hooks = value.get("hooks", {})
    return isinstance(hooks, dict) and isinstance(hooks.get("Stop", []), list)


@given(
    st.dictionaries(st.sampled_from(["hooks", "mcpServers", "a", "b"]) | TEXTS, VALUES, max_size=4).filter(with_hook),
    st.sampled_from([None, 1, 2, 4, "\t"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["", "\n", "\n\n"]),
)
def test_what_was_added_is_there_and_cutting_it_out_gives_the_source(
    value: dict[str, Any], indent: int | str | None, crlf: bool, bom: bool, end: str
) -> None:
    source = json.dumps(value, indent=indent, ensure_ascii=False) + end
    source = ("\ufeff" if bom else "") + (source.replace("\n", "\r\n") if crlf else source)
    edited = JsonText(source)
    edited.add(("hooks", "Stop", END), {"command": "wikimem hook claude Stop"})
    edited.add(("new", "wikimem"), {"args": ["mcp"]})
    there = read_json(edited.text)
    assert there["hooks"]["Stop"][-1] == {"command": "wikimem hook claude Stop"}
    assert there["new"]["wikimem"] == {"args": ["mcp"]}
    assert list(there)[: len(value)] == list(value)
    assert without_pieces(edited.text, edited.added) in (source, None)
    edited.remove(("hooks", "Stop", len(there["hooks"]["Stop"]) - 1))
    edited.remove(("new", "wikimem"))
    left = read_json(edited.text)
    assert all(left[name] == value[name] for name in value if name not in ("hooks", "new"))


def test_it_is_written_as_the_file_is_written() -> None:
    spread = JsonText('{\n    "a": 1\n}\n')
    spread.add(("mcpServers", "wikimem"), {"command": "w"})
    assert spread.text == (
        '{\n    "a": 1,\n    "mcpServers": {\n        "wikimem": {\n            "command": "w"\n        }\n    }\n}\n'
    )
    flat = JsonText('{"a": [1]}')
    flat.add(("a", END), {"b": 2})
    assert flat.text == '{"a": [1, {"b": 2}]}'
    tabs = JsonText('{\r\n\t"a": {}\r\n}')
    tabs.add(("a", "b"), 1)
    assert tabs.text == '{\r\n\t"a": {\r\n\t\t"b": 1\r\n\t}\r\n}'


@pytest.mark.parametrize(
    ("text", "line"),
    [("{\n// mine\n}", 2), ('{"a": 1,\n}', 2), ("", 1), ('{"a": 1, "a": 2}', 1), ('{"a": NaN}', 1), ("[" * 100_000, 1)],
)
def test_what_is_no_strict_json_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(Invalid) as error:
        JsonText(text)
    assert error.value.data["line"] == line


def test_what_is_in_the_way_is_not_replaced() -> None:
    edited = JsonText('{"hooks": "none"}')
    with pytest.raises(Invalid, match="hooks is no object"):
        edited.add(("hooks", "Stop", END), 1)
    assert edited.text == '{"hooks": "none"}'
