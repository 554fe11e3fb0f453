from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wikimem.errors import Invalid, NotFound
from wikimem.text.markdown import code_spans, find_block_ids, find_headings, find_tags, hidden_spans, section_span

PAGE = """\
---
title: T
# comment: no heading
---
# Setup

intro

## Notes ##
first

### Deep
d

```sh
## Notes
```

# Usage
## Notes
second

Old style *here*
----------------
rest
"""
BODY = PAGE.index("# Setup")


def section(heading: str, text: str = PAGE, start: int = BODY) -> str:
    first, content, end = section_span(text, heading, start)
    assert first < content <= end
    return text[first:end]


def test_headings_carry_level_line_and_offsets() -> None:
    found = [(h.level, h.text, h.line, PAGE[h.start : h.end]) for h in find_headings(PAGE, BODY)]
    assert found == [
        (1, "Setup", 5, "# Setup\n"),
        (2, "Notes", 9, "## Notes ##\n"),
        (3, "Deep", 12, "### Deep\n"),
        (1, "Usage", 19, "# Usage\n"),
        (2, "Notes", 20, "## Notes\n"),
        (2, "Old style *here*", 23, "Old style *here*\n----------------\n"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A ^id-1", ["A"]),
        ("# C#", ["C#"]),
        ("# C #", ["C"]),
        ("#", [""]),
        ("#\tTab", ["Tab"]),
        ("two\nlines\n===", ["two lines"]),
        ("- # in a list\n\n> # in a quote", []),
        ("#no\n\n    # code\n\n```\n# code\n```\n%%\n# comment\n%%", []),
        ("# Same\n\n# Same", ["Same", "Same"]),
        ("# Größe 한국어\r\nx\r\n# B\r\n", ["Größe 한국어", "B"]),
    ],
)
def test_which_lines_are_headings(text: str, expected: list[str]) -> None:
    assert [heading.text for heading in find_headings(text)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#tag and #nested/tag, #snake_case #kebab-case.", ["tag", "nested/tag", "snake_case", "kebab-case"]),
        ("#한글 #日本語。 #дом #café", ["한글", "日本語", "дом", "café"]),
        ("#🚀launch #👩‍💻", ["🚀launch", "👩‍💻"]),
        ("#1984 #y1984 #2024-01 #- #/", ["y1984", "2024-01"]),
        ("#Tag #tag #TAG", ["Tag"]),
        ("> #quoted\n>#tight\n- #item\n| #cell |", ["quoted", "tight", "item", "cell"]),
        ("a#b (#c) https://x.y/#frag [t](#anchor) \\#esc &#39; #", []),
        ("# Heading #in-heading", ["in-heading"]),
        ("`#code` [[note #not]] <!-- #c --> %% #d %%\n\n    #indented\n\n```\n#fenced\n```", []),
        ("#one#two", ["one"]),
    ],
)
def test_tags_follow_the_rules_of_obsidian(text: str, expected: list[str]) -> None:
    assert list(find_tags(text)) == expected


def test_frontmatter_is_not_read() -> None:
    text = "---\ntags: [#no]\nx: '# no ^no'\n---\nbody #yes ^b1\n"
    start = text.index("body")
    assert find_tags(text, start) == ("yes",)
    assert list(find_block_ids(text, start)) == ["b1"]
    assert not code_spans(text, start)
    assert not find_headings(text, start)


def test_code_is_told_from_other_hidden_text() -> None:
    text = "`a` <!-- b --> %% c %% $$d$$"
    assert [text[first:last] for first, last in code_spans(text)] == ["`a`"]
    assert [text[first:last] for first, last in hidden_spans(text)] == ["`a`", "<!-- b -->", "%% c %%", "$$d$$"]


@pytest.mark.parametrize(
    ("text", "name", "block"),
    [
        ("x\n\na para\nof two ^p-1\n\ny", "p-1", "a para\nof two ^p-1"),
        ("- 09:12:04 **prompt** add ^o-c41v0n8rte\n- next", "o-c41v0n8rte", "- 09:12:04 **prompt** add ^o-c41v0n8rte"),
        ("- a ^a\n  - b ^b\n- c", "a", "- a ^a\n  - b ^b"),
        ("- a ^a\n  - b ^b\n- c", "b", "  - b ^b"),
        ("| a |\n|---|\n| b |\n\n^table", "table", "| a |\n|---|\n| b |"),
        ("| a |\n|---|\n| b |\n^table", "table", "| a |\n|---|\n| b |\n^table"),
        ("```\ncode\n\nmore\n```\n\n^code", "code", "```\ncode\n\nmore\n```"),
        ("> [!note] T\n> said\n\n^q", "q", "> [!note] T\n> said"),
        ("- a\n- b\n\n- c\n\n^list", "list", "- a\n- b\n\n- c"),
        ("# Head ^h1\n", "h1", "# Head ^h1\n"),
        ("a ^A1\r\n\r\nb", "A1", "a ^A1"),
        ("first ^x\n\nsecond ^x", "x", "first ^x"),
    ],
)
def test_a_block_id_names_its_block(text: str, name: str, block: str) -> None:
    first, last = find_block_ids(text)[name]
    assert text[first:last].rstrip("\n") == block.rstrip("\n")


@pytest.mark.parametrize("text", ["2^8", "a ^b c", "`a ^b`", "```\na ^b\n```", "a^b", "[[n#^b]]", "a ^b_c", "a ^b\nc"])
def test_what_is_no_block_id(text: str) -> None:
    assert find_block_ids(text) == {}


def test_a_section_ends_at_the_next_heading_as_high_and_not_inside_code() -> None:
    assert section("Setup") == PAGE[BODY : PAGE.index("# Usage")]
    assert section("Deep").endswith("## Notes\n```\n\n")
    assert section("Old style *here*") == "Old style *here*\n----------------\nrest\n"


@pytest.mark.parametrize(
    "address", ["Usage > Notes", "usage > notes", "# Usage > ## Notes", "Usage#Notes", "#Usage#Notes", "USAGE#notes"]
)
def test_a_heading_is_addressed_by_its_parents(address: str) -> None:
    assert section(address).endswith("second\n\n")


def test_marks_prefer_their_level_and_exact_case_comes_first() -> None:
    text = "# Log\na\n## log\nb\n## Log\nc\n"
    assert section("## Log", text, 0) == "## Log\nc\n"
    assert section("log", text, 0) == "## log\nb\n"
    assert section("# LOG", text, 0) == text


def test_a_heading_that_holds_separators_is_found_whole() -> None:
    text = "# C# notes\na\n# A > B\nb\n# Why: x|y?\nc\n"
    assert section("C# notes", text, 0).endswith("a\n")
    assert section("A > B", text, 0).endswith("b\n")
    assert section("Why x y", text, 0).endswith("c\n")  # as Obsidian writes it in a link


def test_an_unknown_heading_is_not_found_and_the_nearest_are_named() -> None:
    with pytest.raises(NotFound, match="no heading 'Nots'") as caught:
        section_span(PAGE, "Nots", BODY)
    assert "'Notes'" in caught.value.hint
    with pytest.raises(NotFound) as caught:
        section_span("plain", "Notes")
    assert caught.value.hint == "The page has no headings."


@pytest.mark.parametrize("address", ["", "#", "##", " > ", "zzz > Notes", "Notes > Setup"])
def test_an_address_that_fits_nothing_is_not_found(address: str) -> None:
    with pytest.raises(NotFound):
        section_span(PAGE, address, BODY)


def test_several_headings_are_refused_with_their_lines_and_how_to_name_one() -> None:
    with pytest.raises(Invalid, match="2 headings match 'notes': lines 9, 20") as caught:
        section_span(PAGE, "notes", BODY)
    assert "'Setup > Notes', 'Usage > Notes'" in caught.value.hint
    assert caught.value.data["lines"] == [9, 20]


def test_ten_thousand_equal_headings_are_counted_and_not_all_listed() -> None:
    text = "# Same\nx\n" * 10_000
    with pytest.raises(Invalid, match="10000 headings") as caught:
        section_span(text, "same")
    assert len(caught.value.message) + len(caught.value.hint) < 1000


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 6), st.sampled_from(["A", "B b", "*C*"])), min_size=1, max_size=8))
def test_a_heading_named_with_its_parents_is_found_or_is_one_of_those_listed(shape: list[tuple[int, str]]) -> None:
    text = "".join(f"{'#' * level} {name}\n\n" for level, name in shape)
    headings = find_headings(text)
    for number, heading in enumerate(headings):
        above: list[tuple[int, str]] = [(heading.level, heading.text)]
        for other in reversed(headings[:number]):
            if other.level < above[0][0]:
                above.insert(0, (other.level, other.text))
        address = " > ".join(name for _, name in above)
        try:
            first, content, end = section_span(text, address)
        except Invalid as refused:
            lines = refused.data["lines"]
        else:
            lines = [heading.line]
            assert (first, content) == (heading.start, heading.end)
            assert end == next((h.start for h in headings[number + 1 :] if h.level <= heading.level), len(text))
        assert heading.line in lines
