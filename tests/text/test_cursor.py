"""What is being written where the cursor (`|`) is; `$` stands for a real bar."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikimem.text.cursor import LinkAtCursor, PropertyNameAtCursor, PropertyValueAtCursor, at_cursor, property_at


def found_in(written: str) -> tuple[str, object]:
    offset = written.index("|")
    text = (written[:offset] + written[offset + 1 :]).replace("$", "|")
    return text, at_cursor(text, offset)


@pytest.mark.parametrize(
    ("written", "part", "target", "typed", "replaced", "closed"),
    [
        ("see [[Jo|", "page", "Jo", "Jo", "Jo", False),
        ("see [[Jo|se]] now", "page", "Jo", "Jo", "Jose", True),
        ("see [[Jo| and more", "page", "Jo", "Jo", "Jo", False),
        ("[[a]] [[b|]]", "page", "b", "b", "b", True),
        ("[[|]]", "page", "", "", "", True),
        ("[[Jo|#Setup$shown]]", "page", "Jo", "Jo", "Jo", True),
        ("[[Jo#Se|]]", "heading", "Jo", "Se", "Se", True),
        ("[[#A#B|", "heading", "", "B", "B", False),
        ("[[Jo#^o-1|]]", "block", "Jo", "o-1", "o-1", True),
        ('---\nsources:\n  - "[[Jo|]]"\n---\n', "page", "Jo", "Jo", "Jo", True),
        ("😀 [[Jo|", "page", "Jo", "Jo", "Jo", False),
    ],
)
def test_a_link_is_known_before_it_is_closed(
    written: str, part: str, target: str, typed: str, replaced: str, closed: bool
) -> None:
    text, found = found_in(written)
    assert isinstance(found, LinkAtCursor)
    assert (found.part, found.target, found.typed, found.closed) == (part, target, typed, closed)
    assert text[found.start : found.end] == replaced


@pytest.mark.parametrize("written", ["a|b", "[[a]]|", "[[a$b|", "`[[x|`", "```\n[[x|\n```", "[[a\nb|", "---\n---|\n"])
def test_nothing_is_completed_in_plain_text_code_or_a_finished_link(written: str) -> None:
    assert found_in(written)[1] is None


@pytest.mark.parametrize(
    ("written", "typed", "replaced", "has_colon"),
    [
        ("---\nty|\n---\n", "ty", "ty", False),
        ("---\n|\n---\n", "", "", False),
        ("---\nsta|tus: active\n---\n", "sta", "status", True),
        ("---\r\ntitle: x\r\nty|\r\n---\r\n", "ty", "ty", False),
        ("---\ntitle: x\nty|", "ty", "ty", False),
    ],
)
def test_the_name_of_a_property(written: str, typed: str, replaced: str, has_colon: bool) -> None:
    text, found = found_in(written)
    assert isinstance(found, PropertyNameAtCursor)
    assert (found.typed, text[found.start : found.end], found.has_colon) == (typed, replaced, has_colon)


@pytest.mark.parametrize(
    ("written", "key", "typed", "replaced", "quoted", "needs_space"),
    [
        ("---\ntype: |\n---\n", "type", "", "", False, False),
        ("---\ntype:|\n---\n", "type", "", "", False, True),
        ("---\ntype: de|cision # why\n---\n", "type", "de", "decision", False, False),
        ('---\nstatus: "ac|"\n---\n', "status", "ac", "ac", True, False),
        ("---\ntags: [a, b|c, d]\n---\n", "tags", "b", "bc", False, False),
        ("---\ntags: [|\n---\n", "tags", "", "", False, False),
        ("---\ntags:\n  - a\n  - b|\n---\n", "tags", "b", "b", False, False),
        ("---\ntags:\n- |\n---\n", "tags", "", "", False, False),
        ("---\nProject: x|", "Project", "x", "x", False, False),
    ],
)
def test_the_value_of_a_property(
    written: str, key: str, typed: str, replaced: str, quoted: bool, needs_space: bool
) -> None:
    text, found = found_in(written)
    assert isinstance(found, PropertyValueAtCursor)
    assert (found.key, found.typed, found.quoted, found.needs_space) == (key, typed, quoted, needs_space)
    assert text[found.start : found.end] == replaced


def test_a_list_item_belongs_to_the_property_above_it() -> None:
    text = "---\ntags:\n  - a\n\n  - b\ntype: fact\n---\nbody: text\n"
    assert property_at(text, text.index("- b")) == "tags"
    assert property_at(text, text.index("fact")) == "type"
    assert property_at(text, text.index("body")) == ""


@given(st.text(alphabet="-[]#^|:\"' \n\rab,é😀", max_size=40), st.data())
def test_what_is_replaced_stands_around_the_cursor_whatever_the_text(text: str, data: st.DataObject) -> None:
    for prefix in ("", "---\n"):
        whole = prefix + text
        offset = data.draw(st.integers(0, len(whole)))
        found = at_cursor(whole, offset)
        property_at(whole, offset)
        if found is not None:
            assert 0 <= found.start <= offset <= found.end <= len(whole)
            assert "\n" not in whole[found.start : found.end]
