"""Markers of a merge: where they are a conflict, and where they show what one looks like."""

from __future__ import annotations

import pytest

from wikimem.errors import Refused
from wikimem.text.conflicts import conflict_start, refuse_conflict
from wikimem.text.frontmatter import set_properties
from wikimem.text.mend import quote_properties
from wikimem.text.page import parse_page

WHOLE = "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n"


@pytest.mark.parametrize(
    ("text", "start"),
    [
        (WHOLE, 0),
        (f"x\n{WHOLE}", 2),
        (f"# T\n\n- item\n{WHOLE}", 12),
        (WHOLE.replace("a", "```\na").replace("b", "```\nb"), 0),
        (f"```\n{WHOLE}".replace("a\n", "a\n```\n"), 4),
        (f"`x\n{WHOLE}".replace("a\n", "a`\n"), 3),
        (f"```\n{WHOLE}```\n\n{WHOLE}", 4 + len(WHOLE) + 5),
        (WHOLE.replace("=======", "||||||| base\nc\n======="), 0),
    ],
)
def test_a_conflict_begins_at_its_first_marker(text: str, start: int) -> None:
    assert conflict_start(text, 0) == start


@pytest.mark.parametrize(
    "text",
    [
        f"```\n{WHOLE}```\n",
        "```\n<<<<<<< HEAD\n```\nthen\n```\n=======\n```\nthen\n```\n>>>>>>> x\n```\n",
        WHOLE.replace("=======", "========"),
        "<<<<<<< a\n>>>>>>> b\n=======\n",
        "T\n=======\n",
    ],
)
def test_an_example_or_a_part_of_one_is_none(text: str) -> None:
    assert conflict_start(text, 0) is None
    refuse_conflict(text, 0, "a.md")


def test_a_title_is_one_that_both_sides_have() -> None:
    assert parse_page("a.md", f"# Kept\n\n{WHOLE}".encode()).title == "Kept"
    assert parse_page("a.md", f"words\n{WHOLE}# Later\n".encode()).title == "a"
    assert parse_page("a.md", WHOLE.replace("a\n", "# One\n").encode()).title == "a"


def test_no_property_of_such_a_page_is_changed_or_mended() -> None:
    data = f"---\ntitle: a: b\n---\n{WHOLE}".encode()
    with pytest.raises(Refused, match=r"^a\.md:4: "):
        set_properties(data, {"title": "c"}, path="a.md")
    with pytest.raises(Refused, match=r"^line 1: "):
        set_properties(WHOLE.encode(), {"title": "c"})
    assert quote_properties(data) == data
