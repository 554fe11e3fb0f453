"""Frontmatter as a whole: what is rendered is read back the same, and setting a property changes its lines alone."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from wikimem.errors import Damaged, Invalid, Refused, WikimemError
from wikimem.model.page import PropertyValue
from wikimem.text.frontmatter import decode_page, newline_of, read_frontmatter, render_frontmatter, set_properties

texts = st.text(st.characters(codec="utf-8"), max_size=20) | st.text("ab01 -:#,[]{}&*!|>'\"%@`?\\\t\n~=.", max_size=10)
values = texts | st.lists(texts, max_size=4).map(tuple) | st.none()


@given(st.dictionaries(texts.filter(bool), values, max_size=6), st.text(max_size=20))
def test_rendered_properties_are_read_back_the_same(properties: dict[str, object], body: str) -> None:
    """Over any Unicode: what is written is never refused, or read otherwise, by the reader."""
    head = render_frontmatter(properties)  # type: ignore[arg-type]
    assume(head)
    found = read_frontmatter(head + body, "a.md")
    assert found.parses
    assert found.properties == properties
    assert list(found.properties) == list(properties)
    assert (head + body)[found.body_start :] == body
    assert not found.problems


def test_a_new_page_looks_as_obsidian_would_write_it() -> None:
    assert render_frontmatter(
        {
            "id": "01JDZK3V9Q4T8M2X7B5C1R6W0N",
            "type": "decision",
            "title": "Use jose: not jsonwebtoken",
            "confidence": 0.9,
            "valid_from": "2025-09-12",
            "pinned": True,
            "sources": ("[[2025-09-12 session#^o-7f3k2m9qxa]]", "commit:a1b2c3d"),
            "tags": ("auth", "edge"),
        }
    ) == (
        "---\n"
        "id: 01JDZK3V9Q4T8M2X7B5C1R6W0N\n"
        "type: decision\n"
        'title: "Use jose: not jsonwebtoken"\n'
        "confidence: 0.9\n"
        "valid_from: 2025-09-12\n"
        "pinned: true\n"
        "sources:\n"
        '  - "[[2025-09-12 session#^o-7f3k2m9qxa]]"\n'
        "  - commit:a1b2c3d\n"
        "tags:\n"
        "  - auth\n"
        "  - edge\n"
        "---\n"
    )
    assert render_frontmatter({}) == ""


@pytest.mark.parametrize("properties", [{"k" * 2000: "x"}, {"title": "x" * 300_000}])
def test_what_the_reader_would_not_read_is_not_written(properties: dict[str, str]) -> None:
    with pytest.raises(Invalid):
        render_frontmatter(properties)


def test_a_fence_that_nothing_closes_is_text_and_a_problem() -> None:
    found = read_frontmatter("---\n\nA rule, then prose.\n", "a.md")
    assert not found.present
    assert found.body_start == 0
    assert found.parses
    assert [(problem.rule, problem.path, problem.line) for problem in found.problems] == [
        ("frontmatter-unclosed", "a.md", 1)
    ]


def test_lines_and_spans_lead_to_the_value() -> None:
    text = '\ufeff---\r\ntitle: "A: b" # c\r\ntags:\r\n  - x\r\n  - y # z\r\n---\r\nbody'
    found = read_frontmatter(text, "a.md")
    assert found.lines == {"title": 2, "tags": 3}
    assert {key: text[start:end] for key, (start, end) in found.spans.items()} == {
        "title": '"A: b"',
        "tags": "- x\r\n  - y",
    }
    assert text[found.body_start :] == "body"


@dataclass(frozen=True)
class Part:
    """Lines of a frontmatter block that belong together: a property, or comments and blank lines between two."""

    source: str
    key: str = ""


def _items(indent: str) -> st.SearchStrategy[str]:
    item = st.sampled_from(["a", "'b c'", '"d: e"', "f  # g", "[[P]]", "007", "", '"[[Q|r]]"', "{x: y}", "- n"])
    return st.lists(item, min_size=1, max_size=4).map(lambda items: "".join(f"\n{indent}- {each}" for each in items))


_values = st.one_of(
    st.sampled_from(
        [
            *("", " ", " plain", " a b: ", " 2024-06-01", " no", " 1.10", " 'it''s'", ' "x # y"', " C#", " [[P]]"),
            *(" []", " [a, b]", " [ 'a',b ]", " [a,\n  b]", " {a: b}", " {{date}}", " two\n  lines", "\n  below"),
            *(
                " |\n  one\n\n  # two",
                " >-\n  one\n  two",
                " |+\n  keep\n\n",
                ' "run\n  on"',
                "\n  a: 1\n  b:\n    - c",
            ),
        ]
    ).filter(lambda value: not value.endswith(": ")),
    _items(""),
    _items("  "),
    _items("    "),
)
_comments = st.sampled_from(["", "", "  # why", ' # it\'s: "odd" [', "   "])
_between = st.sampled_from(["", "", "", "\n", "# a comment\n", "\n# key: not one\n\n", " # inset\n"])


@st.composite
def pages(draw: st.DrawFn) -> tuple[str, list[Part], str]:
    """Text before the block, the block's parts, text after it."""
    keys = draw(st.lists(st.sampled_from(["title", "tags", "a-b", "키", "Q r", "x.y", "n1"]), min_size=1, unique=True))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    parts: list[Part] = []
    for key in keys:
        value = draw(_values)
        comment = draw(_comments) if "\n" not in value else ""
        parts += [Part(f"{key}:{value}{comment}\n", key), Part(draw(_between))]
    parts = [Part(part.source.replace("\n", newline), part.key) for part in parts]
    bom = draw(st.sampled_from(["", "\ufeff"]))
    body = draw(st.sampled_from(["", "body", "\nbody\n", "---\nrule\n", "title: not a property\n", "x\r\ny\nz  "]))
    return f"{bom}---{newline}", parts, f"---{newline}{body}"


def _set_or_why_not(text: str, key: str, value: PropertyValue) -> str | Refused:
    try:
        return set_properties(text.encode(), {key: value}).decode()
    except Refused as error:
        return error


@settings(max_examples=300)
@given(pages(), st.data())
def test_setting_a_property_changes_its_own_lines_alone(page: tuple[str, list[Part], str], data: st.DataObject) -> None:
    before, parts, after = page
    text = before + "".join(part.source for part in parts) + after
    head = read_frontmatter(text, "a.md")
    assert head.parses
    assert list(head.properties) == [part.key for part in parts if part.key]
    index = data.draw(st.sampled_from([place for place, part in enumerate(parts) if part.key]))
    value = data.draw(values)
    key = parts[index].key
    result = _set_or_why_not(text, key, value)
    if isinstance(result, Refused):
        assert any(word in result.message for word in ("nested", "comment", "line by line")), result.message
        return
    # What lies between a property and the next may be part of its value (a block scalar's blank lines).
    start = len(before) + sum(len(part.source) for part in parts[:index])
    rest = "".join(part.source for part in parts[index + 1 :]) + after
    assert result.startswith(text[:start])
    assert result.endswith(rest)
    found = read_frontmatter(result, "a.md")
    assert found.properties == {**head.properties, key: value}
    if value == head.properties[key]:
        assert result == text


@settings(max_examples=100)
@given(pages(), values)
def test_a_new_property_is_put_before_the_closing_fence(page: tuple[str, list[Part], str], value: object) -> None:
    before, parts, after = page
    text = before + "".join(part.source for part in parts) + after
    result = set_properties(text.encode(), {"fresh": value}).decode()  # type: ignore[dict-item]
    assert result.startswith(text[: len(text) - len(after)])
    assert result.endswith(after)
    assert read_frontmatter(result, "").properties == {**read_frontmatter(text, "").properties, "fresh": value}


@settings(max_examples=100)
@given(pages(), st.data())
def test_removing_a_property_takes_its_own_lines_alone(page: tuple[str, list[Part], str], data: st.DataObject) -> None:
    before, parts, after = page
    text = before + "".join(part.source for part in parts) + after
    index = data.draw(st.sampled_from([place for place, part in enumerate(parts) if part.key]))
    # A block of nothing but comments would no longer be told from headings between two rules.
    left = "".join(part.source for part in parts[:index] + parts[index + 1 :])
    assume("#" not in left or any(part.key and part.key != parts[index].key for part in parts))
    assume("|+" not in text)  # such a value would take in the blank lines after the one that goes; that is refused
    result = set_properties(text.encode(), {}, remove=[parts[index].key]).decode()
    start = len(before) + sum(len(part.source) for part in parts[:index])
    assert result.startswith(text[:start])
    assert result.endswith("".join(part.source for part in parts[index + 1 :]) + after)
    expected = {key: value for key, value in read_frontmatter(text, "").properties.items() if key != parts[index].key}
    assert read_frontmatter(result, "").properties == expected


@given(st.binary(max_size=80) | st.text("-ab:'\"[]{}#&*|>\n\r\t ", max_size=80).map(str.encode), values)
def test_any_bytes_are_edited_or_refused(noise: bytes, value: object) -> None:
    for data in (noise, b"---\n" + noise + b"\n---\nbody", b"---\ntitle: x\n" + noise + b"\n---\n"):
        try:
            result = set_properties(data, {"title": value})  # type: ignore[dict-item]
        except WikimemError:
            continue
        assert read_frontmatter(result.decode(), "").properties["title"] == value


def test_several_properties_are_set_and_removed_at_once() -> None:
    data = b"---\na: 1\nb: 2 # c\nc:\n  - x\nd: 4\n---\nbody"
    result = set_properties(data, {"b": 3, "c": ("x", "z"), "e": False}, remove=("a", "nowhere"))
    assert result == b"---\nb: 3 # c\nc:\n  - x\n  - z\nd: 4\ne: false\n---\nbody"


def test_a_key_that_is_both_set_and_removed_makes_no_sense() -> None:
    with pytest.raises(Invalid, match="`a` is both set and removed"):
        set_properties(b"---\na: 1\n---\n", {"a": "2"}, remove=("a",))


def test_removing_what_is_not_there_changes_nothing() -> None:
    for data in (b"", b"body", b"---\na: 1\n---\n"):
        assert set_properties(data, {}, remove=("b",)) == data


def test_a_stamp_on_broken_frontmatter_names_file_and_line() -> None:
    data = b'---\ntitle: x\ndescription: "abc "def" ghi"\n---\nbody'
    with pytest.raises(Damaged, match=r"^notes/a\.md:3: `description` does not parse") as caught:
        set_properties(data, {"id": "01JDZK3V9Q4T8M2X7B5C1R6W0N"}, path="notes/a.md")
    assert caught.value.hint


def test_bytes_that_are_not_utf_8_are_never_written() -> None:
    with pytest.raises(Damaged, match=r"^a\.md:3: byte 0xe9 is not UTF-8"):
        set_properties(b"---\ntitle: x\nname: caf\xe9\n---\n", {"title": "y"}, path="a.md")
    with pytest.raises(Damaged, match=r"^line 1: byte 0xff"):
        decode_page(b"\xff\xfea\x00")


@pytest.mark.parametrize(
    ("text", "newline"),
    [("", "\n"), ("a", "\n"), ("a\r\nb", "\r\n"), ("a\nb\r\n", "\n"), ("a\r\nb\r\nc\n", "\r\n"), ("a\rb", "\r")],
)
def test_the_line_break_of_a_file(text: str, newline: str) -> None:
    assert newline_of(text) == newline
