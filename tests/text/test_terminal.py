"""What is for a terminal's eyes is taken out of a text, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikimem.text.terminal import without_sequences


@pytest.mark.parametrize(
    ("printed", "text"),
    [
        ("\x1b[31m\x1b[1m1 failed\x1b[0m, \x1b[32m6 passed\x1b[0m in 0.12s", "1 failed, 6 passed in 0.12s"),
        ("\x1b[38;5;208mwarm\x1b[39m\x1b[K", "warm"),
        ("\x1b[?25l\x1b[2Kdone\x1b[?25h", "done"),
        ("\x9b31mred\x9b0m", "red"),
        ("\x1b]8;;https://host.example/a\x1b\\a.py\x1b]8;;\x07:3", "a.py:3"),
        ("\x1b]0;a title\x07$ make", "$ make"),
        ("a\x1b]never closed\nnext line", "a]never closed\nnext line"),
        ("\x1b(Bplain\x1b=", "plain"),
        ("at the end \x1b", "at the end "),
        ("arr[31m] and [0m", "arr[31m] and [0m"),
    ],
)
def test_sequences_are_taken_out(printed: str, text: str) -> None:
    assert without_sequences(printed) == text


@given(st.text())
def test_a_text_without_escapes_stays_and_no_escape_is_left(text: str) -> None:
    plain = text.replace("\x1b", "").replace("\x9b", "").replace("\x9d", "")
    assert without_sequences(plain) == plain
    assert "\x1b" not in without_sequences(text)
