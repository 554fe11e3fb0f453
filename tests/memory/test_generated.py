"""The generated section of a page: wikimem's while nobody edits it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wikimem.memory.generated import renewed, without_generated

PAGE = "---\ntitle: jose\n---\nA library.\n"


def test_it_comes_at_the_end_and_is_replaced_in_its_place() -> None:
    first = renewed(PAGE, "- one\n").text
    assert first.startswith(PAGE)
    after = first + "\nMy own last words.\n"
    second = renewed(after, "- two\n")
    assert "- one" not in second.text
    assert second.text.startswith(PAGE)
    assert second.text.endswith("\nMy own last words.\n")
    assert renewed(second.text, "- two\n").text == second.text, "nothing changed, so nothing changes"


def test_what_a_person_edited_there_is_theirs() -> None:
    mine = renewed(PAGE, "- one\n").text.replace("- one", "- one, and I know more")
    assert renewed(mine, "- two\n") == renewed(mine, "")
    assert renewed(mine, "- two\n").text == mine
    assert renewed(mine, "- two\n").theirs
    assert "I know more" in without_generated(mine)


def test_half_a_section_or_two_are_left_alone() -> None:
    whole = renewed(PAGE, "- one\n").text
    for broken in (whole.replace("%% /wikimem:known %%\n", ""), whole + whole.removeprefix(PAGE)):
        assert renewed(broken, "- two\n").theirs
        assert renewed(broken, "- two\n").text == broken


def test_an_empty_section_is_taken_out_and_its_text_is_not_read_as_the_persons() -> None:
    whole = renewed(PAGE, "- uses [[x]]\n").text
    assert "uses" not in without_generated(whole)
    assert renewed(whole, "").text.rstrip() == PAGE.rstrip()
    assert renewed(PAGE, "").text == PAGE


def test_line_endings_of_the_page_are_kept() -> None:
    page = PAGE.replace("\n", "\r\n")
    first = renewed(page, "- one\n- two\n").text
    assert first.count("\n") == first.count("\r\n")
    assert renewed(first, "- one\n- two\n").text == first


@given(
    st.text(max_size=80),
    st.text(st.characters(exclude_characters="\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), max_size=40),
)
def test_the_persons_bytes_survive_any_renewal(text: str, line: str) -> None:
    content = f"- {line}\n".replace("%%", "")
    first = renewed(text, content)
    assert first.text.startswith(text)
    if not first.theirs:
        assert renewed(first.text, content).text == first.text
