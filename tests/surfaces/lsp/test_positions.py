"""Positions in code units and offsets in characters are the same places."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol.types import Position

from wikimem.surfaces.lsp.positions import Encoding, Lines

TEXTS = st.text(alphabet="aé漢😀\n\r\u2028\x0c", max_size=30)


@pytest.mark.parametrize(("encoding", "character"), [("utf-8", 7), ("utf-16", 4), ("utf-32", 3)])
def test_characters_are_counted_as_the_client_counts_them(encoding: Encoding, character: int) -> None:
    lines = Lines("x\né😀b!", encoding)
    assert lines.position(5) == Position(1, character)
    assert lines.offset(Position(1, character)) == 5


@given(TEXTS, st.sampled_from(["utf-8", "utf-16", "utf-32"]), st.data())
def test_an_offset_survives_the_way_there_and_back(text: str, encoding: Encoding, data: st.DataObject) -> None:
    lines = Lines(text, encoding)
    offset = data.draw(st.integers(0, len(text)))
    back = lines.offset(lines.position(offset))
    within_break = text[offset - 1 : offset + 1] == "\r\n"
    assert back == (offset - 1 if within_break else offset)


def test_only_line_feeds_and_carriage_returns_end_a_line() -> None:
    lines = Lines("a\u2028b\x0cc\r\nd\re", "utf-16")
    assert lines.position(5) == Position(0, 5)
    assert lines.position(6) == Position(0, 5)
    assert lines.position(7) == Position(1, 0)
    assert lines.position(9) == Position(2, 0)


def test_positions_outside_the_text_are_brought_into_it() -> None:
    lines = Lines("a😀\nb", "utf-16")
    assert lines.offset(Position(0, 99)) == 2
    assert lines.offset(Position(9, 0)) == 4
    assert lines.offset(Position(0, 2)) == 1, "within a character: its start"
