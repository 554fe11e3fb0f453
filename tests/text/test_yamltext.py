"""What is written is read as that very text by YAML 1.1 and by our reader, and is quoted only where it must be."""

from __future__ import annotations

import math

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from wikimem.errors import Invalid
from wikimem.text.yamltext import kind_of, write_entry, write_flow, write_key, write_scalar

texts = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=30),
    st.text("ab01 -:#,[]{}&*!|>'\"%@`?\\\t\n~=.ynofx_", max_size=12),
    st.from_regex(r"[-+]?[0-9_.:eExXob]{1,8}", fullmatch=True),
)


@given(texts)
def test_yaml_1_1_reads_a_written_text_as_that_text(text: str) -> None:
    """The full YAML 1.1 loader, which guesses at everything, finds a text and the right one."""
    assert yaml.safe_load(f"key: {write_scalar(text)}") == {"key": text}
    assert yaml.safe_load(f"key: {write_flow([text, text])}") == {"key": [text, text]}


@given(texts.filter(bool))
def test_yaml_1_1_reads_a_written_key_as_that_key(key: str) -> None:
    assert yaml.safe_load(f"{write_key(key)}: x") == {key: "x"}


@pytest.mark.parametrize(
    "text",
    [
        *("no", "Yes", "on", "OFF", "y", "true", "null", "~", "", "007", "1.10", "12:30", "1_000", "0x1F", "0o17"),
        *("1e3", "12e03", "+1", "-.5", ".inf", ".NaN", "2024-06-01", "2024-6-1 10:00", "- item", "a: b", "a #b", "a:"),
        *(
            "#tag",
            "@handle",
            "`code`",
            "%x",
            "*a",
            "&a",
            "!t",
            "|",
            ">",
            "'q",
            '"q',
            "[a]",
            "{a}",
            ",a",
            "?",
            "=",
            "<<",
        ),
        *(
            "[[Page]]",
            "see [[Page]]",
            " lead",
            "trail ",
            "two\nlines",
            "tab\there",
            "\u2028",
            "\x85",
            "\ufeffx",
            "...",
            "---",
        ),
    ],
)
def test_text_that_a_reader_would_take_for_something_else_is_quoted(text: str) -> None:
    assert write_scalar(text).startswith('"')


@pytest.mark.parametrize(
    "text",
    [
        *("Use jose for JWT verification", "it's", "a, b", "C#", "http://x.org/a?b=c#d", "12:30 lunch", "P1Y", "v1.10"),
        *(
            "commit:a1b2c3d",
            "한국어 제목",
            "日本語",
            "🚀 launch",
            "a (b) [c]",
            "50%",
            "01JDZK3V9Q4T8M2X7B5C1R6W0N",
            "nope",
        ),
    ],
)
def test_text_that_needs_no_quotes_gets_none(text: str) -> None:
    assert write_scalar(text) == text


def test_printable_characters_are_never_escaped() -> None:
    assert write_scalar("é: 🚀 [[한글]]") == '"é: 🚀 [[한글]]"'


@pytest.mark.parametrize(
    ("value", "written"), [(True, "true"), (False, "false"), (3, "3"), (0.9, "0.9"), (1e-7, "0.0000001"), (2.0, "2.0")]
)
def test_booleans_and_numbers_stand_bare(value: bool | float, written: str) -> None:
    assert write_scalar(value) == written


def test_keys_of_the_schema_keep_their_types_in_obsidian() -> None:
    assert write_entry("valid_from", "2025-09-12") == "valid_from: 2025-09-12\n"
    assert write_entry("created", "2025-09-12T09:12:00") == "created: 2025-09-12T09:12:00\n"
    assert write_entry("confidence", "0.9") == "confidence: 0.9\n"
    assert write_entry("title", "2025-09-12") == 'title: "2025-09-12"\n'
    assert write_entry("valid_to", "2025") == 'valid_to: "2025"\n'
    assert write_entry("valid_from", "2025-9-1") == 'valid_from: "2025-9-1"\n'


def test_entries_take_the_shape_that_they_are_given() -> None:
    assert write_entry("tags", ("a", "#b"), newline="\r\n") == 'tags:\r\n  - a\r\n  - "#b"\r\n'
    assert write_entry("tags", ("a",), list_indent="") == "tags:\n- a\n"
    assert write_entry("tags", ()) == "tags: []\n"
    assert write_entry("note", None, indent="  ") == "  note:\n"


def test_a_persons_quotes_are_used_again_where_they_can_be() -> None:
    assert write_scalar("it's", quote="'") == "'it''s'"
    assert write_scalar("two\nlines", quote="'") == '"two\\nlines"'
    assert write_scalar('say "x"', quote='"') == '"say \\"x\\""'


@pytest.mark.parametrize("value", [math.nan, math.inf, "\ud800", b"x", {"a": "b"}, ("a", 1j), object()])
def test_what_frontmatter_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(Invalid, match="`key`"):
        write_entry("key", value)  # type: ignore[arg-type]


def test_a_key_needs_a_name() -> None:
    with pytest.raises(Invalid, match="needs a name"):
        write_key("")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "null"),
        ("No", "boolean"),
        ("1:30", "number"),
        ("2024-06-01T10:00", "date"),
        ("2024-06", "text"),
        ("x", "text"),
    ],
)
def test_kinds(text: str, kind: str) -> None:
    assert kind_of(text) == kind
