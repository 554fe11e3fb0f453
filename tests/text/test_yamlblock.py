"""Where frontmatter is, and what it holds: values are the person's own text, and broken blocks give what they can."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wikimem.text import yamlblock
from wikimem.text.yamlblock import Block, line_of, opens, read_block


@pytest.fixture(params=["libyaml", "pure Python"], autouse=True)
def loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test here holds with and without PyYAML's C part."""
    if request.param == "pure Python":

        class NodeLoader(yaml.BaseLoader):
            def get_single_data(self) -> yaml.Node | None:
                return self.get_single_node()

        monkeypatch.setattr(yamlblock, "_NodeLoader", NodeLoader)


def block_of(text: str) -> Block:
    block = read_block(text)
    assert block is not None
    return block


def values_of(lines: str) -> dict[str, object]:
    return {entry.key: entry.value for entry in block_of(f"---\n{lines}\n---\nbody").entries}


@pytest.mark.parametrize(
    "written",
    [
        *("2024-06-01", "no", "Yes", "1.10", "007", "12:30", "12:30:45", "~", "null", "1e3", "0x1F", "true", "1_000"),
        *("2024-06-01T09:12:00Z", "x#5", "C#", ".5", "a, b", "http://x.org/#y", "<% tp.date.now() %>", "=", "한국어"),
    ],
)
def test_a_value_is_the_text_that_was_written(written: str) -> None:
    assert values_of(f"key: {written}") == {"key": written}
    assert values_of(f"key: {written}  # a comment") == {"key": written}
    assert values_of(f'key: "{written}"') == {"key": written}
    assert values_of(f"key:\n- {written}") == {"key": (written,)}


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        ("key:", None),
        ("key:   # nothing yet", None),
        ('key: ""', ""),
        ("key: x #5", "x"),
        ("key: 'it''s # not a comment'", "it's # not a comment"),
        (r'key: "tab\there"', "tab\there"),
        ("key: >-\n  folded\n  text\n\n  more", "folded text\nmore"),
        ("key: |\n  two\n    lines\n", "two\n  lines\n"),
        ("key: two\n  lines", "two lines"),
        ("key: []", ()),
        ("key: [a, 'b, c', 007]", ("a", "b, c", "007")),
        ("key:\n  - a\n  -\n  - c", ("a", "", "c")),
        ("key:\n  name: x\n  mail: y  # c\n# end", "name: x\n  mail: y"),
        ("key: {a: 1, b: 2}", "{a: 1, b: 2}"),
        ("key:\n  - [1, 2]\n  - {a: b}\n  - - x\n    - y", ("[1, 2]", "{a: b}", "- x\n    - y")),
        ("key: {{date}}", "{{date}}"),
        ("key: [{{tag}}, b]", ("{{tag}}", "b")),
        ("key: !!str 5", "5"),
        ("key: !custom 5", "!custom 5"),
        ("key: !!python/object:os.system x", "x"),
        ("key: x\u2028y \x85 z", "x\u2028y \x85 z"),
    ],
)
def test_yaml_is_read_as_yaml(lines: str, value: object) -> None:
    assert values_of(lines) == {"key": value}


def test_anchors_and_aliases_are_followed() -> None:
    assert values_of("a: &x 1\nb: *x\nc: &l [1, 2]\nd: *l\n<<: *l") == {
        "a": "1",
        "b": "1",
        "c": ("1", "2"),
        "d": ("1", "2"),
        "<<": ("1", "2"),
    }


def test_a_list_that_holds_itself_is_read() -> None:
    assert "a" in values_of("a: &a\n  - *a\n  - b")


def test_keys_are_texts_whatever_they_look_like() -> None:
    assert values_of("1: a\ntrue: b\n2024-01-01: c\n'q k': d\n? [x, y]\n: e") == {
        "1": "a",
        "true": "b",
        "2024-01-01": "c",
        "q k": "d",
        "[x, y]": "e",
    }


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        ("key: [[Target]]", "[[Target]]"),
        ("key: [[a/b#Heading|shown]]", "[[a/b#Heading|shown]]"),
        ("key: [[Smith, John]]", "[[Smith, John]]"),
        ("key: [[[A]], [[B]]]", ("[[A]]", "[[B]]")),
        ("key:\n  - [[A]]\n  - plain", ("[[A]]", "plain")),
    ],
)
def test_a_wikilink_without_quotes_is_a_link_and_a_problem(lines: str, value: object) -> None:
    block = block_of(f"---\ntitle: x\n{lines}\n---\n")
    assert block.entries[1].value == value
    assert block.parses
    assert {fault.rule for fault in block.faults} == {"unquoted-wikilink"}
    assert block.faults[0].line == (4 if "\n" in lines else 3)


def test_nested_lists_that_are_no_link_stay_lists() -> None:
    block = block_of("---\nmatrix: [[1, 2], [3, 4]]\n---\n")
    assert block.entries[0].value == ("[1, 2]", "[3, 4]")
    assert not block.faults


def test_of_a_repeated_key_the_last_counts_and_the_line_is_reported() -> None:
    block = block_of("---\ntitle: a\ntags: [x]\ntitle: b\n---\n")
    assert [(entry.key, entry.value) for entry in block.entries] == [("title", "a"), ("tags", ("x",)), ("title", "b")]
    assert [(fault.rule, fault.line) for fault in block.faults] == [("duplicate-key", 4)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "body",
        "\n---\na: b\n---\n",
        " ---\na: b\n---\n",
        "----\na: b\n---\n",
        "--- a: b\n---\n",
        "---",
        "---\n",
        "---\na: b\n",
        "---\na: b\n----\n",
        "---\na: b\n --- \n",
        "---\nProse between two rules.\n---\n",
        "---\nProse that ends in a colon:\nand goes on here\n---\n",
        "---\n- a\n- b\n---\n",
        "---\n# A heading between two rules\n---\n",
        "---\n\n# Slide\n\n- `code`: [x\n\n---\n",
        "---\n{{frontmatter}}\n---\n",
        "---\n# filled in by a tool\n{{ card_data }}\n---\n",
        "---\n> a: quote\n> `b`: [\n---\n",
        "---\n| a: | b |\n---\n",
    ],
)
def test_what_is_no_frontmatter(text: str) -> None:
    assert read_block(text) is None


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("fences", [("---", "---"), ("---  ", "---\t"), ("---", "...")])
def test_the_fences_in_every_form(newline: str, start: str, fences: tuple[str, str]) -> None:
    text = start + newline.join([fences[0], "a: b", fences[1], "body"])
    block = block_of(text)
    assert [(entry.key, entry.value, entry.line) for entry in block.entries] == [("a", "b", 2)]
    assert text[block.fences.body :] == "body"
    assert block.fences.newline == newline


@pytest.mark.parametrize(("text", "body"), [("---\n---\nx", "x"), ("---\n---", ""), ("---\n\n \n---\nx", "x")])
def test_an_empty_block_is_frontmatter(text: str, body: str) -> None:
    block = block_of(text)
    assert block.parses
    assert not block.entries
    assert text[block.fences.body :] == body


def test_mixed_line_endings_give_the_right_lines() -> None:
    block = block_of("---\r\na: 1\nb: 2\r\nc: 3\n---\r\n")
    assert [(entry.key, entry.line) for entry in block.entries] == [("a", 2), ("b", 3), ("c", 4)]


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("key: `C:\\agent\\x`", "`C:\\agent\\x`"),
        ("key: Constraints (REQ): read x.md", "Constraints (REQ): read x.md"),
        ('key: "abc "def" ghi"', '"abc "def" ghi"'),
        ("key: @handle", "@handle"),
        ("key: {{title}} - draft", "{{title}} - draft"),
        ("key: [a, b", "[a, b"),
        ('key: "never closed', '"never closed'),
        ("key:\n  - [[Target]]suffix\n  - 'ok'", ("[[Target]]suffix", "ok")),
        ("key:\n\t- a\n\t- b", ("a", "b")),
        ("key: a\x00b", "a\x00b"),
        ("key: *nowhere", "*nowhere"),
    ],
)
def test_one_bad_property_costs_no_other(line: str, value: object) -> None:
    block = block_of(f"---\nid: 01ARZ3NDEKTSV4RRFFQ69G5FAV\ntags: [x, y]\n{line}\ntitle: After  # c\n---\nbody")
    assert {entry.key: entry.value for entry in block.entries} == {
        "id": "01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "tags": ("x", "y"),
        "key": value,
        "title": "After",
    }
    assert not block.parses
    assert [(fault.rule, fault.line) for fault in block.faults] == [("frontmatter-invalid", 4)]
    assert "`key`" in block.faults[0].message


def test_of_many_faults_the_one_that_forbids_writing_is_told_first() -> None:
    block = block_of("---\n" + "".join(f"key{n}: [[P]]\n" for n in range(50)) + "title: a: b\n---\n")
    assert (block.faults[0].rule, block.faults[0].line) == ("frontmatter-invalid", 52)
    assert len(block.faults) == 20


def test_a_stray_line_is_reported_and_costs_no_property() -> None:
    block = block_of("---\nstray words\ntitle: X\ntags:\n- a\n---\n")
    assert {entry.key: entry.value for entry in block.entries} == {"title": "X", "tags": ("a",)}
    assert [fault.rule for fault in block.faults] == ["frontmatter-invalid"]


def test_properties_on_both_sides_of_a_conflict_are_recovered() -> None:
    block = block_of("---\ntitle: X\n<<<<<<< HEAD\nstatus: a\n=======\nstatus: b\n>>>>>>> theirs\n---\n")
    assert not block.parses
    assert [(entry.key, entry.value) for entry in block.entries] == [("title", "X"), ("status", "a"), ("status", "b")]


def test_a_block_of_unreasonable_length_is_recovered_from() -> None:
    block = block_of("---\ntitle: X\n" + "".join(f"key{n}: value\n" for n in range(30_000)) + "---\nbody")
    assert not block.parses
    assert block.entries[0].value == "X"
    assert "longer" in block.faults[0].message


def test_deep_nesting_is_a_fault_and_not_a_crash() -> None:
    block = block_of("---\ntitle: X\nkey: " + "[" * 1500 + "\n---\n")
    assert block.entries[0].value == "X"
    assert not block.parses


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # the loader is the same for every example
@given(st.text(st.sampled_from("-ab:'\"[]{}#&*!|>%@`?,.~= \t\n\r\x00\x85\u2028\ufeff🚀"), max_size=60))
def test_any_text_between_fences_is_read_without_raising(source: str) -> None:
    for text in (f"---\n{source}\n---\nbody", source, f"---\ntitle: x\n{source}\n---\n"):
        block = read_block(text)
        for entry in block.entries if block else ():
            assert block is not None
            assert block.fences.start <= entry.key_start <= entry.start <= entry.end <= block.fences.end
            assert entry.line == line_of(text, entry.key_start)


def test_opens() -> None:
    assert opens("---\nx")
    assert opens("\ufeff---\r\nx")
    assert not opens("---x\n")
    assert not opens("---")
