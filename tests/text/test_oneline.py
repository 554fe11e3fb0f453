"""Any text on one line of Markdown: shown as it was written, and without effect."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikimem.text.links import find_links
from wikimem.text.markdown import find_block_ids, find_headings, find_tags, hidden_spans
from wikimem.text.oneline import as_code, as_line, as_written, code_spans, flatten, shorten

PIECES = st.sampled_from(
    ["[[Page]]", "![[x]]", "](y)", "[a](b)", "`", "``", "```", "`c`", "<!--", "-->", "<b>", "%%", "$$", "$", "**", "\\",
     "\\[", " ^o-aaaaaaaaaa", "#tag", "# h", "---", "\n", "\r\n", " ", "uses:: ", "a", "word", "&lt;", "|", "~~~", "- ",
     "[redacted:password:0123abcd]", "한국어", "\u202e", "\x00", "\u2028", "> ", "!"]
)  # fmt: skip
TEXT = st.lists(PIECES, max_size=20).map("".join) | st.text(max_size=60)


@given(TEXT)
def test_what_a_reader_sees_is_what_was_written(text: str) -> None:
    assert as_written(as_line(text, 10_000)) == flatten(text)


@given(TEXT)
def test_a_text_has_no_effect_on_its_line_or_any_other(text: str) -> None:
    page = f"- 09:00:00 **prompt** {as_line(text, 10_000)} ^o-bbbbbbbbbb\n\n## After\n\n[[Link]] #seen\n"
    assert [heading.text for heading in find_headings(page)] == ["After"]
    assert [link.target for link in find_links(page)] == ["Link"]
    assert find_tags(page) == ("seen",)
    assert list(find_block_ids(page)) == ["o-bbbbbbbbbb"]
    line_end = page.index("\n")
    assert all(end <= line_end for _, end in hidden_spans(page)), "what is hidden ends with the line"
    assert all(page[start] == "`" for start, _ in hidden_spans(page)), "nothing is hidden but as code"


def test_colours_of_a_terminal_leave_nothing_on_the_line() -> None:
    assert as_line("\x1b[31m1 failed\x1b[0m in \x1b[1ma.py\x1b[0m", 100) == "1 failed in a.py"


@given(TEXT)
def test_a_code_span_holds_all_of_a_text(text: str) -> None:
    spans = code_spans(as_code(text, 10_000))
    assert [span.strip("` ") for span in spans] == ([flatten(text).strip("` ")] if flatten(text) else [])


@given(TEXT, st.integers(10, 80))
def test_what_is_cut_is_short_and_says_so(text: str, limit: int) -> None:
    flat = flatten(text)
    cut = shorten(flat, limit)
    assert len(cut) <= limit
    assert cut == flat or cut.endswith("…")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("fix `src/auth.ts`, then\nrun it", "fix `src/auth.ts`, then run it"),
        ("see [[Home]] and ![x](http://a)", r"see \[\[Home]] and \!\[x](http://a)"),
        ("cost $5 #urgent", r"cost \$5 \#urgent"),
        ("C# and a < b and 5 % 2", "C# and a < b and 5 % 2"),
        ("key [redacted:password:0123abcd]!", "key [redacted:password:0123abcd]!"),
    ],
)
def test_a_text_stays_readable(text: str, line: str) -> None:
    assert as_line(text, 200) == line


def test_half_a_placeholder_is_not_kept() -> None:
    assert shorten("the key is [redacted:password:0123abcd] as said", 30) == "the key is…"
