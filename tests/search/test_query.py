"""A question in any form is read without an error, and says what it can."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wikimem.errors import Invalid
from wikimem.search.query import MOST_TERMS, Query
from wikimem.search.query import parse_query as parse_query_at


def parse_query(text: str) -> Query:
    return parse_query_at(text, datetime(2026, 3, 1, 12, 0))


@pytest.mark.parametrize(
    "text",
    [
        "tier1-test AND unicode",
        "pre-edit",
        "GB/s",
        "don't",
        "C++",
        "(",
        '"open',
        "*",
        "a OR NOT b",
        "title:x",
        "\\",
        "^~",
    ],
)
def test_no_character_is_syntax(text: str) -> None:
    """Operators, brackets and quotes of other engines are words or nothing, never an error."""
    assert parse_query(text).text == text


@given(st.text(max_size=200))
@settings(max_examples=100)
def test_only_a_blank_query_is_refused(text: str) -> None:
    if text.strip():
        assert parse_query(text).text == text
    else:
        with pytest.raises(Invalid, match="empty"):
            parse_query(text)


def test_operators_are_searched_as_words() -> None:
    """A leading minus does not take a word out."""
    assert "unicod" in parse_query("tier1 -unicode").terms


def test_quoted_phrases_are_compared_without_case_and_spacing() -> None:
    query = parse_query('where is "Edge  Runtime" and \u201cnode crypto\u201d or \u300c認証トークン\u300d')
    assert query.phrases == ("edge runtime", "node crypto", "認証トークン")


def test_an_open_quote_is_no_phrase() -> None:
    assert parse_query('say "open').phrases == ()


def test_names_are_capitalised_words_inside_a_sentence_and_words_shaped_like_code() -> None:
    query = parse_query("What are Joanna's hobbies? Does parseToken in src/auth.ts set max_retries for Bob.")
    assert query.names == ("Joanna", "parseToken", "src/auth.ts", "max_retries", "Bob")


def test_a_pasted_log_is_cut_to_a_bearable_number_of_terms() -> None:
    assert len(parse_query(" ".join(f"word{n}x" for n in range(5000))).terms) == MOST_TERMS
