"""What a text and a question are cut into."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wikimem.text.analysis import index_terms, query_terms


@pytest.mark.parametrize(
    ("written", "whole", "parts"),
    [
        ("src/middleware/auth.ts", "src/middleware/auth.ts", {"src", "auth", "ts"}),
        ("Foo.bar()", "foo.bar()", {"foo.bar", "foo", "bar"}),
        ("ERR_MODULE_NOT_FOUND", "err_module_not_found", {"err", "modul", "found"}),
        ("--no-verify", "--no-verify", {"verifi"}),
        ("v1.10.2", "v1.10.2", {"v1", "10", "2"}),
        ("C++", "c++", {"c"}),
        ("C#", "c#", {"c"}),
        ("parseHTTPResponse", "parsehttpresponse", {"pars", "http", "respons"}),
        ("snake_case_name", "snake_case_name", {"snake", "case", "name"}),
        (".gitignore", ".gitignore", {"gitignor"}),
        ("@scope/package", "@scope/package", {"scope", "packag"}),
        ("2025-09-12", "2025-09-12", {"2025", "09", "12"}),
        ("GB/s", "gb/s", {"gb"}),
        ("GOALS.md", "goals.md", {"goal", "md"}),
        ("9router", "9router", set()),
        ("pre-edit", "pre-edit", {"pre", "edit"}),
    ],
)
def test_a_code_token_is_kept_whole_and_in_parts(written: str, whole: str, parts: set[str]) -> None:
    for found in (index_terms(f"we use ({written}), always."), query_terms(f"where is {written}?")):
        assert whole in found
        assert parts <= set(found)


def test_a_question_is_its_content_words() -> None:
    assert query_terms("What did we decide about JWT verification?") == ["decid", "jwt", "verif"]
    assert query_terms("How do I run the tests") == ["run", "test"]
    assert query_terms("Tell me about rate limits") == ["rate", "limit"]
    assert query_terms("don't you remember Anna's birthday?") == ["anna", "birthday"]


@pytest.mark.parametrize("text", ["the who", "to be or not to be", "What is it?", "tell me", "I"])
def test_stop_words_alone_are_kept(text: str) -> None:
    assert query_terms(text)
    assert index_terms(text)


def test_words_are_stemmed_alike_on_both_sides() -> None:
    assert index_terms("decisions deciding") == ["decis", "decid"]
    assert set(query_terms("running tests")) == set(index_terms("runs test"))


def test_accents_may_be_left_out() -> None:
    assert "cafe" in index_terms("Café")
    assert query_terms("cafe") == ["cafe"]
    assert "café" in query_terms("cafe\u0301"), "a decomposed accent is the same letter"


def test_chinese_is_found_by_any_two_characters() -> None:
    terms = set(index_terms("中文合約轉換體驗課問題"))
    assert set(query_terms("體驗課")) <= terms
    assert query_terms("生日") == ["生日"]
    assert set(query_terms("雨")) <= set(index_terms("今天下雨了"))


def test_a_question_in_characters_asks_for_pairs_only() -> None:
    assert all(len(term) == 2 for term in query_terms("認証の方針は何ですか"))
    assert all(len(term) == 2 for term in query_terms("인증은 어떻게 하나요"))


def test_latin_words_inside_japanese_stay_whole() -> None:
    terms = query_terms("JWT認証の方針はGOALS.md、9router")
    assert {"jwt", "認証", "goals.md", "9router"} <= set(terms)
    assert query_terms("ＡＰＩキー")[0] == "api", "full-width letters are letters"


@pytest.mark.parametrize("text", ["สวัสดีชาวโลก", "ສະບາຍດີ", "សួស្តី", "Привет", "שלום", "مرحبا", "हिन्दी", "한", "Ελλάδα"])
def test_no_script_gives_an_empty_stream(text: str) -> None:
    terms = set(index_terms(text))
    assert terms
    assert set(query_terms(text)) <= terms


def test_an_emoji_can_be_searched() -> None:
    assert query_terms("🐘") == ["🐘"]
    assert "🐘" in index_terms("Postgres 🐘 notes")


@pytest.mark.parametrize(
    "text",
    ["tier1-test AND unicode", "GB/s", "don't", "C++", "(", '"open', "*", "a:b", "[x TO y]", "/internal/mcp/", "|",
     "\\", "acpt-probe", "~", "^", "title:", "NOT", "\ud800", "\x00", ""],
)  # fmt: skip
def test_no_text_is_query_syntax(text: str) -> None:
    assert set(query_terms(text)) <= set(index_terms(text)) | {""}


def test_a_blob_adds_next_to_nothing() -> None:
    blob = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9w" * 2_000
    terms = index_terms(f"before {blob} after")
    assert len(terms) < 60
    assert all(len(term) <= 80 for term in terms)
    assert index_terms("x" * 500) == ["x" * 80]


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200))
def test_what_a_text_says_finds_it(text: str) -> None:
    """A question in a text's own words asks for nothing that the text does not have."""
    indexed = index_terms(text)
    assert set(query_terms(text)) <= set(indexed) | set(index_terms(text.lower()))
    assert not any(char.isalnum() for char in text) or indexed
    assert all(term and len(term) <= 82 for term in indexed)
