from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from wikimem.model.page import Metadata, Page, Passage
from wikimem.text.passages import count_words, cut_passages

LEAST, MOST, WHOLE = 60, 200, 400
"""Words: what a passage aims at, what it never exceeds, and the same for a cited list item."""


def page(body: str, *, front: str = "", title: str = "T", tags: tuple[str, ...] = ()) -> Page:
    return Page("a.md", "id", title, "rev", front + body, len(front), Metadata(tags=tags), {})


def texts(given_page: Page) -> list[str]:
    return [given_page.text[passage.start : passage.end] for passage in cut_passages(given_page)]


def ids(given_page: Page) -> list[int]:
    return [passage.id for passage in cut_passages(given_page)]


def words(count: int, name: str = "word") -> str:
    return " ".join(f"{name}{number}" for number in range(count))


def test_passages_keep_their_heading_path() -> None:
    found = cut_passages(page("intro\n\n# A\na\n\n## B ^b\nb\n\n# C\n\n### D\nd\n"))
    assert [(passage.heading, passage.ordinal) for passage in found] == [("", 0), ("A", 1), ("A > B", 2), ("C > D", 3)]


def test_a_heading_without_text_goes_with_what_follows_and_the_last_one_alone() -> None:
    assert texts(page("# A\n\n## B\nb\n\n# End\n")) == ["# A\n\n## B\nb", "# End"]


def test_short_neighbours_are_joined_and_long_ones_are_not() -> None:
    short = "\n\n".join(words(20, f"s{n}x") for n in range(5))
    assert len(texts(page(short))) == 1
    assert len(texts(page(words(100) + "\n\n" + words(100)))) == 2


def test_a_short_rest_joins_what_stands_before_it() -> None:
    assert texts(page(words(110) + "\n\n" + words(10))) == [words(110) + "\n\n" + words(10)]


def test_frontmatter_is_never_in_a_passage() -> None:
    front = "---\ntags: [" + words(500) + "]\n---\n"
    assert texts(page("body", front=front)) == ["body"]


@pytest.mark.parametrize("body", ["", "\n\n \t\n", "A" * 5_000])
def test_a_body_without_words_gives_one_passage_of_no_length(body: str) -> None:
    front = "---\ntitle: T\n---\n"
    (passage,) = cut_passages(page(body, front=front))
    assert (passage.start, passage.end, passage.heading) == (len(front), len(front), "")


def test_list_items_stay_together_with_what_is_nested_in_them() -> None:
    items = [f"- {words(70, f'i{n}x')}\n  - nested\n\n  {words(20, f'n{n}x')}" for n in range(3)]
    assert texts(page("\n".join(items))) == items


def test_observations_are_grouped_and_each_stays_whole() -> None:
    short = [f"- 09:12:{n:02d} **prompt** add JWT auth to the API of the shop ^o-{n:010d}" for n in range(60)]
    long = f"- 10:00:00 **note** {words(350)}. ^o-long"
    found = texts(page("## Observations\n" + "\n".join([*short, long])))
    lines = [line for text in found for line in text.split("\n") if line.startswith("- ")]
    assert lines == [*short, long]
    assert all(count_words(text) <= MOST for text in found[:-1])
    assert all(text.count("\n- ") >= 5 for text in found[:-1])
    assert len(texts(page(f"- {words(WHOLE + 50)} ^o-1"))) > 1


def test_a_long_paragraph_is_cut_at_sentence_ends() -> None:
    found = texts(page(" ".join(f"This is sentence {n} of a long text." for n in range(100))))
    assert len(found) > 3
    assert all(text.endswith(".") and text.startswith("This") for text in found)


def test_long_code_and_tables_are_cut_at_line_ends() -> None:
    code = "```python\n" + "\n".join(f"value_{n} = compute(value_{n - 1}, {n})" for n in range(200)) + "\n```"
    table = "| a | b |\n|---|---|\n" + "\n".join(f"| row {n} | value {n} |" for n in range(200))
    for text in (code, table):
        found = texts(page(text))
        assert len(found) > 3
        assert "\n".join(found) == text


def test_chinese_japanese_and_korean_are_counted_by_characters() -> None:
    assert count_words("검색결과") == 2
    assert count_words("漢字かな交じり") == 4
    found = texts(page("これは長い文章の一部です。" * 200))
    assert all(LEAST <= count_words(text) <= MOST for text in found)
    assert all(text.endswith("。") for text in found)


def test_a_line_of_600_kb_is_cut_into_pieces_of_the_usual_size() -> None:
    found = texts(page('{"a":1,"b":"x y"},' * 33_000))
    assert 100 < len(found) < 600
    assert all(count_words(text) <= MOST for text in found)


def test_base64_is_in_no_passage_whether_in_one_line_or_many() -> None:
    inline = "before\n\n![](data:image/png;base64," + "QUJD" * 50_000 + ")\n\nafter"
    assert texts(page(inline)) == ["before", "after"]
    block = "before\n\n```\n" + ("QUJD" * 19 + "\n") * 500 + "```\n\nafter"
    assert len("".join(texts(page(block)))) < 100
    links = " ".join(f"https://example.org/{n}/" + "path/" * 20 for n in range(50))
    assert "".join("".join(texts(page(links))).split()) == "".join(links.split())


def test_an_unchanged_passage_keeps_its_id_when_others_change() -> None:
    before = page(f"# A\n{words(80)}\n\n# B\n{words(80, 'b')}\n")
    after = page(f"new first words\n\n# A\n{words(80)}\n\n# B\n{words(81, 'b')}\n")
    assert ids(before)[0] == ids(after)[1]
    assert ids(before)[1] != ids(after)[2]


def test_an_id_says_what_the_index_would_hold() -> None:
    one = page(f"# A\n{words(80)}\n")
    assert ids(one) == ids(replace(one, revision="other"))
    for other in (
        replace(one, path="b.md"),
        replace(one, title="U"),
        replace(one, tags=("x",)),
        page(f"# A\n{words(80)}\n", tags=("x",)),
        replace(one, meta=Metadata(aliases=("x",))),
        page(f"# B\n{words(80)}\n"),
    ):
        assert set(ids(one)).isdisjoint(ids(other))
    assert all(0 <= number < 2**63 for number in ids(one))


def test_long_passages_with_the_same_beginning_and_equal_passages_have_their_own_ids() -> None:
    same = words(150)
    body = f"{same} one\n\n{same} two\n\n{same} one"
    assert len(set(ids(page(body)))) == len(ids(page(body))) == 3


BLOCKS = st.lists(
    st.sampled_from(
        [
            "# A",
            "## B",
            "Setext\n===",
            words(30),
            words(90, "long"),
            "One. Two! " * 80,
            "- item\n  - sub",
            "- ",
            "-",
            "> quote\n>\n> more",
            "```\ncode\n\nmore\n```",
            "한국어 문장이다. " * 40,
            "漢字" * 150,
            "",
            "x" * 900,
            "A" * 1500 + ")",
            "| a |\n|---|",
            "---",
            "- " + words(220) + " ^o-1",
            "\u00a0",
            "<!-- c -->",
            "^id",
        ]
    ),
    max_size=8,
)


@settings(max_examples=120, deadline=None)
@given(BLOCKS, st.sampled_from(["\n", "\n\n", "\r\n", "\r\n\r\n"]))
def test_every_word_outside_skipped_runs_is_in_exactly_one_passage(blocks: list[str], joint: str) -> None:
    given_page = page(joint.join(blocks), front="---\na: b\n---\n")
    text, at = given_page.text, given_page.body_start
    passages: tuple[Passage, ...] = cut_passages(given_page)
    for passage in passages:
        assert set("".join(text[at : passage.start].split())) <= set("A)")
        assert passage.end > passage.start or len(passages) == 1
        assert text[passage.start : passage.end] == text[passage.start : passage.end].strip()
        assert count_words(text, passage.start, passage.end) <= WHOLE
        at = passage.end
    assert set("".join(text[at:].split())) <= set("A)")
    assert [passage.ordinal for passage in passages] == list(range(len(passages)))
    assert len({passage.id for passage in passages}) == len(passages)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=80) | st.text(alphabet="ab#-> \n\r\t`*1.^", max_size=80))
def test_any_body_is_covered(body: str) -> None:
    given_page = page(body)
    assert "".join("".join(texts(given_page)).split()) == "".join(body.split())
