from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wikimem.text.blocks import scan

LINES = st.lists(
    st.sampled_from(
        [
            "text",
            "- item",
            "  - sub",
            "    deep",
            "\ttab",
            "> quote",
            "> > qq",
            "```",
            "~~~~",
            "> ```",
            "- ```",
            "1. one",
            "# H",
            "===",
            "---",
            "* * *",
            "",
            "-",
            "    code",
            "<!-- open",
            "close -->",
            "<!-- c -->",
            "%%",
            "%% c %%",
            "$$",
            "[x]: y",
            "[^1]: note",
            "`code",
            "lo` x",
            "[[a]] `[[b]]`",
            ">",
            "<pre>",
            "</pre>",
            "^id",
            "text ^id",
        ]
    ),
    max_size=12,
)


def kinds(text: str) -> list[str]:
    return [line.kind for line in scan(text).lines]


def hidden(text: str) -> list[str]:
    return [text[first:last] for first, last in scan(text).hidden]


@settings(max_examples=300, deadline=None)
@given(
    LINES.map("\n".join) | st.text(alphabet="`~-># \n\t*[]%$<!ab\r", max_size=60), st.sampled_from(["\n", "\r\n", "\r"])
)
def test_lines_make_up_the_text_and_spans_keep_their_order(text: str, line_end: str) -> None:
    text = text.replace("\n", line_end)
    found = scan(text)
    assert "".join(text[line.start : line.after] for line in found.lines) == text
    assert all(line.start <= line.content <= line.end <= line.after for line in found.lines)
    for spans in (found.code, found.hidden, found.wikilinks):
        assert all(first < last for first, last in spans)
        assert all(one[1] <= other[0] for one, other in pairwise(spans))
    assert set(found.code) <= set(found.hidden)
    assert all(first < last <= len(text) for first, last in found.items)


@settings(max_examples=100, deadline=None)
@given(LINES.map("\n".join))
def test_line_endings_do_not_change_what_a_line_is(text: str) -> None:
    assert kinds(text) == kinds(text.replace("\n", "\r\n"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```\na\n```\nb", ["code", "code", "code", "text"]),
        ("````\n```\n````\nb", ["code", "code", "code", "text"]),
        ("~~~ lang\n```\n~~~~\nb", ["code", "code", "code", "text"]),
        ("   ```\na\n  ```\nb", ["code", "code", "code", "text"]),
        ("```\na\n    ```\nb", ["code", "code", "code", "code"]),
        ("a\n```\nopen to the end", ["text", "code", "code"]),
        ("``` not `code`\nb", ["text", "text"]),
        ("> ```\n> a\n> ```\n> b", ["code", "code", "code", "text"]),
        ("> ```\n> a\nb", ["code", "code", "text"]),
        ("- ```\n  a\n  ```\n  b", ["code", "code", "code", "text"]),
        ("- ```\nb", ["code", "text"]),
        ("1. a\n\n   ```\n   b\n   ```", ["text", "blank", "code", "code", "code"]),
        ("a\n    b", ["text", "text"]),
        ("a\n\n    b\n\n    c", ["text", "blank", "code", "blank", "code"]),
        ("- a\n\n    b", ["text", "blank", "text"]),
        ("- a\n\n      b", ["text", "blank", "code"]),
        ("- a\n\t- b\n\t\t- c", ["text", "text", "text"]),
        ("[^1]: note\n\n    goes on", ["text", "blank", "text"]),
        ("[x]: y\n    code", ["text", "code"]),
        ("<pre>\n# a\n\n</pre>\nb", ["code", "code", "code", "code", "text"]),
        ("<!-- a\n\n# b\n-->\nc", ["comment", "comment", "comment", "comment", "text"]),
        ("<!-- a -->\n---", ["comment", "rule"]),
        ("<!-- a --> b\n---", ["text", "underline"]),
        ("%%\n# b\n%%\nc", ["comment", "comment", "comment", "text"]),
        ("%% left open\n# b", ["text", "heading"]),
        ("$$\n# b\n$$\nc", ["math", "math", "math", "text"]),
        ("a\n---\n\n---", ["text", "underline", "blank", "rule"]),
        ("| a |\n|---|\n| b |", ["text", "text", "text"]),
        ("> a\n---", ["text", "rule"]),
        ("#tag\n#\n####### x", ["text", "heading", "text"]),
        ("-\n\n    code", ["blank", "blank", "code"]),
    ],
)
def test_what_each_line_is(text: str, expected: list[str]) -> None:
    assert kinds(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a `b` c", ["`b`"]),
        ("``a ` b`` c", ["``a ` b``"]),
        ("`` a ` b", []),
        (r"\`a `b`", ["`b`"]),
        ("`a\\` b`", ["`a\\`"]),
        ("`a\nb` c", ["`a\nb`"]),
        ("`a\n\nb`", []),
        ("[[a|`b`]] `c`", ["`c`"]),
        ("`[[a]]`", ["`[[a]]`"]),
        ("a <!-- b --> c %% d %% e", ["<!-- b -->", "%% d %%"]),
        ("100%% sure\n\n100%% wrong", []),
        ("x $$a_{[[1]]}$$", ["$$a_{[[1]]}$$"]),
        ("`a <!-- b` c -->", ["`a <!-- b`"]),
        ("# head `x`", ["`x`"]),
    ],
)
def test_what_is_hidden_inside_a_paragraph(text: str, expected: list[str]) -> None:
    assert hidden(text) == expected


def test_an_item_spans_what_is_nested_in_it_and_not_the_blank_lines_after() -> None:
    text = "- a\n  - b\n\n    more b\n\n- c\n\nafter"
    assert [text[first:last] for first, last in scan(text).items] == [
        "- a\n  - b\n\n    more b",
        "  - b\n\n    more b",
        "- c",
    ]


def test_lines_are_counted_from_the_top_of_the_file() -> None:
    assert scan("---\na: 1\n---\nbody", 13).first_line == 4


@pytest.mark.parametrize(
    "unit", ["[[", "`", "` ", ">", "> ", "- ", "<!--", "%%", "$$", "[](", "[^a]: ", "\t", "\\", "# ", "1. "]
)
def test_hostile_repetition_is_read_to_the_end(unit: str) -> None:
    for text in (unit * 50_000, (unit + "\n") * 5_000):
        found = scan(text)
        assert found.lines[-1].after == len(text)
