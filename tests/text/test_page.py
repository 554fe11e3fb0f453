"""Pages are read from any bytes, and an edit leaves every byte alone that it was not asked to change."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from wikimem.errors import Damaged, Invalid, NotFound, Refused, WikimemError
from wikimem.text.frontmatter import newline_of
from wikimem.text.ids import derived_id, revision_of
from wikimem.text.markdown import section_span
from wikimem.text.page import append_text, edit_section, parse_page, render_page, replace_body, replace_text

GUIDE = """---
title: Guide # keep
---
# Guide

Intro.

## Setup

Install it.

### Details

Some detail.

```
## not a heading
```

## Use

Run it.
"""
SETUP = GUIDE[GUIDE.index("Install") : GUIDE.index("\n\n## Use")]
DETAILS = GUIDE[GUIDE.index("Some detail") : GUIDE.index("\n\n## Use")]


def test_a_page_with_everything() -> None:
    data = (
        b"---\nid: 01JDZK3V9Q4T8M2X7B5C1R6W0N\ntype: decision\ntitle: Use jose\nsources:\n"
        b'  - "[[Session 1#^o-1|first]]"\n  - https://example.org\nrelated: [[Edge]]\ntags: [auth]\nmood: good\n---\n'
        b"# Heading\n\nSee [[Target#Part|words]] and #edge. `[[code]]`\n\nuses:: [[jose]]\n"
    )
    page = parse_page("projects/shop/Use jose.md", data)
    assert (page.id, page.title, page.revision) == ("01JDZK3V9Q4T8M2X7B5C1R6W0N", "Use jose", revision_of(data))
    assert page.meta.type == "decision"
    assert page.properties["mood"] == "good"
    assert page.property_lines["mood"] == 10
    assert page.tags == ("auth", "edge")
    assert page.body.startswith("# Heading")
    assert [
        (link.target, link.kind, link.fragment, link.line, page.text[link.start : link.end]) for link in page.links
    ] == [
        ("Session 1", "sources", "^o-1", 6, "[[Session 1#^o-1|first]]"),
        ("Edge", "related", "", 8, "[[Edge]]"),
        ("Target", "wikilink", "Part", 14, "[[Target#Part|words]]"),
        ("jose", "uses", "", 16, "[[jose]]"),
    ]
    assert [problem.rule for problem in page.problems] == ["unquoted-wikilink"]
    assert page.writable


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: From the properties\n---\n# From the heading\n", "From the properties"),
        ("---\ntitle: 2024-06-01\n---\n", "2024-06-01"),
        ("---\ntags: [a]\n---\n## Second\n\n# From the heading\n", "From the heading"),
        ("```\n# in code\n```\n## Second\n", "File name v1.2"),
        ("", "File name v1.2"),
        ("---\ntitle:\n---\n#\n", "File name v1.2"),
    ],
)
def test_the_title_is_the_property_then_the_first_heading_then_the_file_name(text: str, title: str) -> None:
    assert parse_page("a/File name v1.2.md", text.encode()).title == title


def test_a_page_of_somebody_else_has_an_id_from_its_path() -> None:
    page = parse_page("a/b.md", b"---\nid: 17\n---\n")
    assert page.id == derived_id("a/b.md")
    assert page.properties["id"] == "17"


def test_links_in_properties_are_found_where_their_source_is_escaped() -> None:
    text = "---\nrelated: 'see [[Bob''s page]]'\nsources:\n  - \"[[A \\\"b\\\"]]\"\n  - [[C]]\n  - '[[C]]'\n---\n"
    links = parse_page("a.md", text.encode()).links
    assert [(link.target, link.kind, link.line) for link in links] == [
        ("Bob's page", "related", 2),
        ('A "b"', "sources", 4),
        ("C", "sources", 5),
        ("C", "sources", 6),
    ]
    assert [text[link.start : link.end] for link in links[2:]] == ["[[C]]", "[[C]]"]
    assert links[2].start != links[3].start


def test_a_link_that_breaks_the_properties_is_still_a_link() -> None:
    page = parse_page("a.md", b"---\ntitle: T\nrelated:\n  - [[Target]]suffix\n---\nbody [[B]]\n")
    assert [(link.target, link.kind) for link in page.links] == [("Target", "related"), ("B", "wikilink")]
    assert page.title == "T"
    assert not page.writable
    assert [(problem.rule, problem.line) for problem in page.problems] == [("frontmatter-invalid", 3)]


@pytest.mark.parametrize(
    ("data", "rule", "line", "writable"),
    [
        (b"caf\xe9 au lait\n", "encoding", 1, False),
        (b"a\nb\nc\xff\n", "encoding", 3, False),
        ("# UTF-16\n".encode("utf-16"), "encoding", 1, False),
        (b"a\nb\x00c\n", "control-character", 2, True),
        (b"---\na: b\n", "frontmatter-unclosed", 1, True),
        (b"---\na: b\na: c\n---\n", "duplicate-key", 3, True),
        (b"---\na: b: c\n---\n", "frontmatter-invalid", 2, False),
        (b"x\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> theirs\n", "conflict-markers", 2, False),
        (b"x\r\n<<<<<<< HEAD\r\na\r\n||||||| base\r\n=======\r\nb\r\n>>>>>>> t\r\n", "conflict-markers", 2, False),
        (b"<<<<<<< a\n---\ntitle: x\n=======\n---\ntitle: y\n>>>>>>> b\n---\n", "conflict-markers", 1, False),
        (b"---\nstatus: gone\n---\n", "property-value", 2, True),
    ],
)
def test_problems_are_reported_with_their_line(data: bytes, rule: str, line: int, writable: bool) -> None:
    page = parse_page("p/a.md", data)
    assert [(problem.rule, problem.path, problem.line) for problem in page.problems] == [(rule, "p/a.md", line)]
    assert page.writable is writable


def test_conflict_markers_in_the_properties_are_found() -> None:
    page = parse_page("a.md", b"---\ntitle: x\n<<<<<<< HEAD\nstatus: a\n=======\nstatus: b\n>>>>>>> t\n---\nbody")
    assert ("conflict-markers", 3) in [(problem.rule, problem.line) for problem in page.problems]
    assert not page.writable
    assert page.title == "x"


@pytest.mark.parametrize(
    "text",
    [
        "```\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> theirs\n```\n",
        "Title\n=======\n\n>>>>>>> quoted\n",
        ">>>>>>> b\n=======\n<<<<<<< a\n",
        "<<<<<<<< eight\n========\n>>>>>>>> eight\n",
        " <<<<<<< inset\n=======\n>>>>>>> x\n",
        "<<<<<<< a\n>>>>>>> b\n",
    ],
)
def test_what_is_no_conflict(text: str) -> None:
    assert parse_page("a.md", text.encode()).writable


def test_bytes_that_are_not_utf_8_are_read_as_far_as_they_go() -> None:
    page = parse_page("a.md", b"---\ntitle: caf\xe9\ntags: [x]\n---\nna\xefve [[Link]]\n")
    assert page.title == "caf\ufffd"
    assert page.tags == ("x",)
    assert page.links[0].target == "Link"
    assert parse_page("b.md", "---\ntitle: Wide\n---\nä\n".encode("utf-16")).title == "Wide"


@given(st.binary(max_size=200) | st.text("-ab:'\"[]{}#&*|<>=`\n\r\t ", max_size=200).map(str.encode))
def test_any_bytes_are_a_page(noise: bytes) -> None:
    for data in (noise, b"---\n" + noise + b"\n---\n" + noise):
        page = parse_page("a/b.md", data)
        assert page.revision == revision_of(data)
        assert page.title
        assert 0 <= page.body_start <= len(page.text)
        for link in page.links:
            assert page.text[link.start : link.end]


def test_a_huge_page_is_read() -> None:
    """Quadratic work in any part would take minutes here."""
    body = "Words with a [[link]], `code` and a #tag.\n\n" * 20_000
    page = parse_page("a.md", ("---\ntitle: x\n---\n" + body).encode())
    assert len(page.links) == 20_000
    assert parse_page("b.md", b"---\n" * 200_000).title == "b"
    assert parse_page("c.md", b"---\ntitle: x\n" + b"key: 'v\n" * 200_000 + b"---\n").title == "x"


texts = st.text(st.characters(codec="utf-8"), max_size=30) | st.text("-ab: #\n\r", max_size=12)
properties = st.dictionaries(texts.filter(bool), texts | st.lists(texts, max_size=3).map(tuple) | st.none(), max_size=4)


@given(properties, texts)
def test_a_rendered_page_is_read_back_the_same(found: dict[str, object], body: str) -> None:
    assume(found or not body.startswith("\ufeff"))  # at the start of a file that is a byte order mark
    page = parse_page("a.md", render_page(found, body))  # type: ignore[arg-type]
    assert page.properties == found
    assert page.body == body


def test_a_body_that_begins_like_frontmatter_stays_a_body() -> None:
    assert render_page({}, "---\na: b\n---\n") == b"---\n---\n---\na: b\n---\n"
    assert render_page({}, "words\n") == b"words\n"


# Sections


@pytest.mark.parametrize(
    ("mode", "heading", "text", "before", "after"),
    [
        ("replace", "Use", "Run it twice.", "Run it.\n", "Run it twice.\n"),
        ("append", "Use", "Then stop.", "Run it.\n", "Run it.\n\nThen stop.\n"),
        ("prepend", "Use", "First look.", "Run it.\n", "First look.\n\nRun it.\n"),
        ("append", "Details", "More.", "```\n\n## Use", "```\n\nMore.\n\n## Use"),
        ("append", "Setup", "More.", "```\n\n## Use", "```\n\nMore.\n\n## Use"),
        ("prepend", "Setup", "First.", "Install it.", "First.\n\nInstall it."),
        ("replace", "Setup > Details", "None.", DETAILS, "None."),
        ("replace", "Setup", "None.", SETUP, "None."),
        ("replace", "Setup", "## Setup\n\n### New\n\nNone.\n", SETUP, "### New\n\nNone."),
        ("replace", "Use", "# use\nRun it twice.\n\n", "Run it.\n", "Run it twice.\n"),
        ("replace", "Use", "Use\n---\n\n  indented\n", "Run it.\n", "  indented\n"),
        ("append", "Use", "## Use\n\nThen stop.", "Run it.\n", "Run it.\n\nThen stop.\n"),
        ("replace", "Use", "", "## Use\n\nRun it.\n", "## Use\n"),
        ("replace", "Details", "", f"### Details\n\n{DETAILS}\n\n", "### Details\n\n"),
    ],
)  # fmt: skip
def test_a_section_is_edited_and_nothing_else(mode: str, heading: str, text: str, before: str, after: str) -> None:
    assert GUIDE.count(before) == 1
    expected = GUIDE.replace(before, after)
    assert edit_section(GUIDE.encode(), heading, text, mode).decode() == expected  # type: ignore[arg-type]
    crlf = GUIDE.replace("\n", "\r\n").encode()
    assert edit_section(crlf, heading, text, mode) == expected.replace("\n", "\r\n").encode()  # type: ignore[arg-type]
    bare = GUIDE.removesuffix("\n").encode()
    if after != "## Use\n":
        assert edit_section(bare, heading, text, mode) == expected.removesuffix("\n").encode()  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", ["replace", "append", "prepend"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("## A\n\n## B\n", "## A\n\nnew\n\n## B\n"),
        ("## A\n## B\n", "## A\n\nnew\n\n## B\n"),
        ("## A\n", "## A\n\nnew\n"),
        ("## A", "## A\n\nnew"),
        ("## A\n\n\n\n## B", "## A\n\nnew\n\n## B"),
        ("---\na: b\n---\n## A\n", "---\na: b\n---\n## A\n\nnew\n"),
        ("A\n===\n", "A\n===\n\nnew\n"),
    ],
)
def test_an_empty_section_is_filled(mode: str, before: str, after: str) -> None:
    assert edit_section(before.encode(), "A", "new\n", mode).decode() == after  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("mode", "before", "text", "after"),
    [
        ("append", "## Log\n\n- one\n- two\n\n## B\n", "- three\n", "## Log\n\n- one\n- two\n- three\n\n## B\n"),
        ("prepend", "## Log\n- two\n", "- one", "## Log\n- one\n- two\n"),
        ("append", "## Log\n\n1. one\n", "2. two", "## Log\n\n1. one\n2. two\n"),
        ("append", "## Log\n\n- one\n", "Words.", "## Log\n\n- one\n\nWords.\n"),
        ("replace", "## Log\ntight\n\n## B\n", "", "## Log\n\n## B\n"),
        ("replace", "## Log\ntight\n\n## B\n", "new", "## Log\nnew\n\n## B\n"),
    ],
)
def test_lists_are_continued_and_spacing_is_kept(mode: str, before: str, text: str, after: str) -> None:
    assert edit_section(before.encode(), "Log", text, mode).decode() == after  # type: ignore[arg-type]


def test_a_section_that_is_not_there_or_not_the_only_one() -> None:
    with pytest.raises(NotFound, match="no heading 'Nowhere'"):
        edit_section(GUIDE.encode(), "Nowhere", "x", "append")
    with pytest.raises(NotFound):
        edit_section(GUIDE.encode(), "not a heading", "x", "append")
    with pytest.raises(Invalid, match="lines 1, 3"):
        edit_section(b"## A\n\n## A\n", "A", "x", "append")
    with pytest.raises(Invalid, match="no mode 'insert'"):
        edit_section(b"## A\n", "A", "x", "insert")  # type: ignore[arg-type]


# Words


def test_words_are_replaced_where_they_stand_once() -> None:
    assert replace_text(GUIDE.encode(), "Run it.", "Run it now.").decode() == GUIDE.replace("Run it.", "Run it now.")
    assert replace_text(b"a\r\nb\r\n", "a\nb", "x\ny\nz") == b"x\r\ny\r\nz\r\n"
    assert replace_text(b"a\r\nb\nc\n", "a\r\nb", "x") == b"x\nc\n"
    assert replace_text("\ufeff가나다".encode(), "나", "") == "\ufeff가다".encode()
    assert replace_text(b"same", "same", "same") == b"same"


@pytest.mark.parametrize(
    ("data", "old", "message"),
    [
        (b"---\ntitle: x\n---\na b\n\na b\na b\n", "a b", r"stands 3 times in p\.md: lines 4, 6, 7$"),
        (b"aaa", "aa", r"stands 2 times in p\.md: lines 1, 1$"),
        (b"x\n" * 9, "x", r"stands 9 times in p\.md: lines 1, 2, 3, 4, 5, \.\.\.$"),
        (b"one\n\ntwo   words\nhere\n", "two words here", r"not in p\.md, but with other spaces .* in line 3$"),
        (b"---\ntitle: only here\n---\nbody\n", "only here", r"is in the frontmatter of p\.md"),
        (b"---\ntitle: a\n  b\n---\nbody\n", "a b", r"is not in p\.md$"),
        (b"body", "nowhere", r"is not in p\.md$"),
        (b"body", "", "no text to replace"),
        (b"body", " \n ", r"is not in p\.md$"),
    ],
)
def test_words_that_are_not_there_once_are_refused_with_their_lines(data: bytes, old: str, message: str) -> None:
    with pytest.raises(Invalid, match=message) as caught:
        replace_text(data, old, "new", path="p.md")
    assert caught.value.hint


def test_text_that_would_become_frontmatter_is_refused() -> None:
    edits: list[Callable[[], bytes]] = [
        lambda: replace_text(b"start\nrest", "start", "---\nid: x\n---\n"),
        lambda: replace_body(b"old", "---\nid: x\n---\nnew"),
        lambda: append_text(b"", "---\nid: x\n---\nnew"),
        lambda: append_text(b"---\nid: x\n", "more\n---\n"),
    ]
    for edit in edits:
        with pytest.raises(Refused, match="its beginning would be read as frontmatter"):
            edit()


# Body and end


@pytest.mark.parametrize(
    ("data", "text", "expected"),
    [
        (b"a\n", "b", b"a\n\nb\n"),
        (b"a", "b\n", b"a\n\nb"),
        (b"a\n\n", "b", b"a\n\nb\n"),
        (b"a\n\n\n", "\n\nb\n\n", b"a\n\n\nb\n"),
        (b"a\r\n", "b\nc", b"a\r\n\r\nb\r\nc\r\n"),
        (b"", "b", b"b\n"),
        (b"---\nt: x\n---\n", "b", b"---\nt: x\n---\nb\n"),
        (b"---\nt: x\n---", "b", b"---\nt: x\n---\nb\n"),
        (b"---\nt: x\n---\n\n", "b", b"---\nt: x\n---\n\nb\n"),
        (b"a\n   ", "b", b"a\n   \nb"),
        (b"\xef\xbb\xbf", "b", b"\xef\xbb\xbfb\n"),
        (b"a", " \n", b"a"),
        (b"a\n", "    code", b"a\n\n    code\n"),
    ],
)
def test_text_is_added_after_one_blank_line(data: bytes, text: str, expected: bytes) -> None:
    assert append_text(data, text) == expected


@pytest.mark.parametrize(
    ("data", "text", "expected"),
    [
        (b"---\nt: x # c\n---\nold\n", "new", b"---\nt: x # c\n---\nnew\n"),
        (b"---\r\nt: x\r\n---\r\nold", "new\nlines", b"---\r\nt: x\r\n---\r\nnew\r\nlines"),
        (b"---\nt: x\n---", "new", b"---\nt: x\n---\nnew"),
        (b"\xef\xbb\xbfold\n", "new", b"\xef\xbb\xbfnew\n"),
        (b"old\n", "", b""),
        (b"", "new", b"new\n"),
    ],
)
def test_a_body_is_replaced_under_its_frontmatter(data: bytes, text: str, expected: bytes) -> None:
    assert replace_body(data, text) == expected


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (b"caf\xe9", Damaged, r"^p\.md:1: byte 0xe9 is not UTF-8"),
        (b"---\ntitle: a: b\n---\nx\n", Damaged, r"^p\.md:2: `title` does not parse"),
        (b"x\n<<<<<<< a\n=======\n>>>>>>> b\n", Refused, r"^p\.md:2: .*conflict markers"),
    ],
)
def test_a_page_that_is_not_writable_is_never_edited(data: bytes, error: type[WikimemError], message: str) -> None:
    assert not parse_page("p.md", data).writable
    edits: list[Callable[[], bytes]] = [
        lambda: replace_text(data, "x", "y", path="p.md"),
        lambda: append_text(data, "y", path="p.md"),
        lambda: replace_body(data, "y", path="p.md"),
        lambda: edit_section(data, "x", "y", "append", path="p.md"),
    ]
    for edit in edits:
        with pytest.raises(error, match=message):
            edit()


def test_half_a_character_is_refused() -> None:
    with pytest.raises(Invalid, match="surrogate"):
        append_text(b"a\n", "\ud83d")


bodies = st.lists(
    st.sampled_from(
        ["# A", "## B", "### C", "words", "- item", "", "", "```", "---", "A", "===", "> ## B", "a: b", "\ufeff"]
    ),
    max_size=12,
)


@settings(max_examples=200)
@given(
    bodies,
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "---\ntitle: x\n---\n", "\ufeff", "---\n---"]),
    st.sampled_from(["A", "B", "C"]),
    st.sampled_from(["new", "- item", "## B\n\nnew", "", "a\n\nb\n", "---\nx: y\n---"]),
    st.sampled_from(["replace", "append", "prepend"]),
)
def test_an_edit_keeps_what_is_before_and_after_it(
    lines: list[str], newline: str, head: str, heading: str, text: str, mode: str
) -> None:
    data = (head.replace("\n", newline) + newline.join(lines)).encode()
    page = parse_page("a.md", data)
    assume(page.writable)
    assume(page.body_start or not page.text.startswith("---"))  # what is left could become frontmatter; that is refused
    try:
        _, start, end = section_span(page.text, heading, page.body_start)
    except WikimemError as error:
        with pytest.raises(type(error)):
            edit_section(data, heading, text, mode)  # type: ignore[arg-type]
        return
    mark = len(data.decode()) - len(page.text)
    whole = edit_section(data, heading, text, mode).decode()[mark:]  # type: ignore[arg-type]
    assert parse_page("a.md", whole.encode()).properties == page.properties
    assert whole.startswith(page.text[:start])
    assert whole.endswith(page.text[end:])
    section = whole[start : len(whole) - (len(page.text) - end)]
    old_words, new_words = page.text[start:end].strip(), text.strip().replace("\n", newline_of(page.text))
    if mode == "replace":
        assert section.strip() == new_words.removeprefix(f"## {heading}").strip()
    else:
        assert old_words in section
        assert new_words.removeprefix(f"## {heading}").strip() in section


@given(st.binary(max_size=60) | st.text("-ab:'#<>=`\n\r\t ", max_size=60).map(str.encode), st.text(max_size=8))
def test_edits_of_any_bytes_raise_nothing_else(data: bytes, text: str) -> None:
    edits: list[Callable[[], bytes]] = [
        lambda: replace_text(data, text, "new"),
        lambda: replace_text(data, "a", text),
        lambda: append_text(data, text),
        lambda: replace_body(data, text),
        lambda: edit_section(data, "a", text, "replace"),
        lambda: edit_section(data, text, "new", "append"),
    ]
    for edit in edits:
        try:
            result = edit()
        except WikimemError:
            continue
        assert parse_page("a.md", result).properties == parse_page("a.md", data).properties
