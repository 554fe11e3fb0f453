from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wikimem.text.tokens import estimate_tokens

MIXED = st.text(alphabet="abcABC  \n\t12.,-_é한국字の🎉ก/", max_size=40)


def test_nothing_costs_nothing() -> None:
    assert estimate_tokens("") == 0


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        # The counts are those of the tokenizer that the docstring names.
        ("JWTs are verified with jose in src/middleware/auth.ts, because the edge runtime has no Node crypto.", 25),
        ("def add(a: int, b: int) -> int:\n    return a + b\n", 20),
        ("검색 결과가 없으면 색인을 다시 만든다.", 20),
        ("\n\n".join(["A paragraph of plain words that people write about their work."] * 20), 278),
    ],
)
def test_the_estimate_is_near_a_real_count_and_seldom_below(text: str, counted: int) -> None:
    assert 0.9 * counted <= estimate_tokens(text) <= 1.4 * counted


@settings(max_examples=200, deadline=None)
@given(MIXED | st.text(max_size=20), MIXED | st.text(max_size=20))
def test_joining_two_texts_changes_the_estimate_by_at_most_one(one: str, other: str) -> None:
    assert abs(estimate_tokens(one + other) - estimate_tokens(one) - estimate_tokens(other)) <= 1


@settings(max_examples=100, deadline=None)
@given(st.text(min_size=1, max_size=60))
def test_every_text_costs_something_and_at_most_a_few_tokens_a_character(text: str) -> None:
    assert 1 <= estimate_tokens(text) <= 2.2 * len(text)
