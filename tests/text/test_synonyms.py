"""Words that stand for one another: in any form that the index knows, and a file that says what is wrong with it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wikimem.errors import Invalid
from wikimem.text.analysis import query_terms
from wikimem.text.synonyms import COMMON, read_groups, synonyms_in, table_of


def found(text: str, *groups: tuple[str, ...]) -> set[str]:
    return {other for others in synonyms_in(text, table_of(groups)).values() for other in others}


def terms(*words: str) -> set[str]:
    return {query_terms(word)[0] for word in words}


def test_an_abbreviation_stands_for_the_long_form_and_the_other_way_round() -> None:
    assert found("where is the db?") == terms("database")
    assert found("which databases do we have") == terms("db")
    assert found("auth") == terms("authentication", "authorization")
    assert found("authentication") >= terms("auth")


def test_what_the_question_says_itself_stands_for_nothing() -> None:
    assert found("the db is a database") == set()
    assert found("how do people pay") == set()


def test_a_vault_adds_words_in_any_script() -> None:
    assert found("결제", ("결제", "payment")) == terms("payment")
    assert found("which articles are sold out", ("sku", "article")) == terms("sku")


def test_every_common_group_is_of_words_that_the_index_holds() -> None:
    for group in COMMON:
        assert len(group) > 1
        assert len(terms(*group)) == len(group), group


def test_a_file_is_one_group_a_line() -> None:
    assert read_groups("# ours\n\nsku, article  # shop\nétat, state\n", "f") == (("sku", "article"), ("état", "state"))
    assert read_groups("", "f") == ()


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("alone", "at least two"),
        ("a b, c", "'a b' is not one word"),
        ("sku,, article", "missing between"),
        ("the, article", "leave out"),
        ("sku = article, x", "not one word"),
        ("x" * 90 + ", y", "longer than 60"),
        (", ".join(f"w{n}" for n in range(30)), "at most 20"),
    ],
)
def test_what_is_no_group_is_refused_with_its_line(line: str, what: str) -> None:
    with pytest.raises(Invalid) as caught:
        read_groups(f"sku, article\n{line}\n", "synonyms.txt")
    assert "synonyms.txt, line 2" in caught.value.message
    assert what in caught.value.message


@given(st.text(max_size=200))
@settings(max_examples=100)
def test_whatever_a_file_holds_it_is_read_or_refused(text: str) -> None:
    try:
        groups = read_groups(text, "f")
    except Invalid:
        return
    assert all(len(group) > 1 for group in groups)
    table_of(groups)
