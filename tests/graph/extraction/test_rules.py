"""Extraction by rules: what a reader would find, word for word from the text, and nothing that it only supposes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmark.extraction.__main__ import examples, extracted, half_of, known_names, measure, precision_recall
from wikimem.graph.extraction.extract import extract, extract_observations
from wikimem.graph.extraction.found import Extracted, Named, Setting
from wikimem.graph.extraction.sentences import Observed
from wikimem.graph.vocabulary import ENTITY_TYPES, RELATIONS

SHOP = Setting(project=Named("project", "shop"))


def said(text: str, setting: Setting = SHOP) -> list[str]:
    return [shown(each) for each in extract(text, setting, known_names())]


def shown(edge: Extracted) -> str:
    return f"{edge.subject.name} {edge.relation} {edge.object.name}"


@pytest.mark.parametrize(("half", "precision", "recall"), [("dev", 0.95, 0.95), ("test", 0.85, 0.8)])
def test_precision_and_recall_on_the_labelled_sample(half: str, precision: float, recall: float) -> None:
    found = precision_recall(measure(half)["all"])
    assert found[0] >= precision
    assert found[1] >= recall


def test_the_sample_is_as_large_as_it_should_be_and_both_halves_have_much_of_it() -> None:
    halves = [half_of(example["id"]) for example in examples()]
    assert len(halves) >= 150
    assert min(halves.count("dev"), halves.count("test")) >= 70


def test_every_quote_of_the_sample_stands_in_its_text() -> None:
    known = known_names()
    for example in examples():
        text = example.get("text") or "\n".join(body for _, body in example["observations"])
        for edge in extracted(example, known):
            assert " ".join(edge.quote.split()) in " ".join(text.split()), example["id"]


def test_a_choice_keeps_its_reason_and_what_it_was_chosen_over() -> None:
    text = "We chose jose over jsonwebtoken because the edge runtime has no Node crypto."
    chosen, rejected = extract(text, SHOP, {})
    assert (chosen.relation, chosen.alternatives) == ("uses", ("jsonwebtoken",))
    assert (chosen.reasoning, rejected.reasoning) == ("the edge runtime has no Node crypto", "")
    assert (chosen.weight, chosen.quote) == (1.0, text)


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        (
            "We went with esbuild rather than terser since it's much faster.",
            {"uses esbuild": "it's much faster", "rejected terser": ""},
        ),
        (
            "We picked jose and rejected jsonwebtoken because it needs Node crypto.",
            {"uses jose": "", "rejected jsonwebtoken": "it needs Node crypto"},
        ),
        (
            "확장되지 않기 때문에 Redis 대신 Valkey를 쓰기로 했다.",
            {"uses Valkey": "확장되지 않기", "rejected Redis": ""},
        ),
        ("We rejected Redis because it is slow.", {"rejected Redis": "it is slow"}),
    ],
)
def test_a_reason_is_that_of_the_verb_that_it_follows(text: str, reasons: dict[str, str]) -> None:
    assert {f"{each.relation} {each.object.name}": each.reasoning for each in extract(text, SHOP, {})} == reasons


@pytest.mark.parametrize(
    "text",
    [
        "I replaced 4 callers.",
        "We replaced three helpers.",
        "He replaced Jest.",
        "It replaces express-session.",
        "I've replaced the session store.",
        "Then replaced Webpack.",
        "@ada replaced Jest.",
        "Run `pip install --upgrade pip`.",
        "Run `python3 -m pip install -U pip setuptools wheel` and `npm install -g npm@latest`.",
    ],
)
def test_who_did_it_what_is_counted_and_a_tool_itself_are_nothing_that_a_project_has(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("Redis replaced Memcached.", ["Memcached succeeded_by Redis"]),
        ("Run `pip install -U pip requests`.", ["shop depends_on requests"]),
        ("Nobody liked it, so we chose jose over Redis.", ["shop uses jose", "shop rejected Redis"]),
        ("We chose jose, so we don't need Node crypto.", ["shop uses jose"]),
        ("redis를 쓰지 않기로 했다.", ["shop rejected Redis"]),
        ("jest에서 vitest로 전환했다.", ["jest succeeded_by Vitest"]),
    ],
)
def test_what_is_stated_beside_a_denial_or_a_tool_still_is(text: str, edges: list[str]) -> None:
    assert said(text) == edges


@pytest.mark.parametrize(
    "text",
    [
        "만약 loki를 쓰기로 했다면 디스크가 더 필요합니다.",
        "sqlite를 쓰기로 결정하지 않았습니다.",
        "redis를 쓰기로 결정했다면 서버가 필요합니다.",
        "아마 redis를 쓰기로 했을 겁니다.",
        "redis를 쓰기로 했을지도 모릅니다.",
        "redis를 쓰기로 한 것은 아닙니다.",
        "redis를 쓰기로 했다고 하셨습니다.",
        "옛 문서에는 gulp를 쓰기로 결정했다고 적혀 있다.",
        "Redis 대신 Valkey를 쓰기로 결정하지 못했습니다.",
        "jest에서 vitest로 전환하지 않았다.",
        "I do not think we decided to use Redis.",
        "I don't believe we switched from Jest to Vitest.",
        "Nobody chose Redis over Valkey.",
        "Perhaps we chose Redis over Valkey.",
        "Redis, if we decided to use Kafka, would have to go.",
        "The old README says we decided to use gulp.",
        "According to the old docs, we switched from Gulp to Webpack.",
        "You said we chose Redis over Postgres.",
        "`src/a.ts` probably uses jose.",
        "Perhaps `npm install left-pad` helps.",
        "I didn't run `npm install left-pad`.",
        "Should we use Kafka instead of RabbitMQ?",
        "We might switch from Jest to Vitest.",
        "If we chose Redis over Postgres, restarts would lose jobs.",
        "We have not replaced Webpack with Vite.",
        "`src/a.ts` no longer uses jose.",
        "`src/a.ts` does not import lodash.",
        "Redis 대신 Valkey를 쓸까?",
        "moved the button from the header to the footer",
        "Contact ada@example.org, see https://example.org/a/b.py",
    ],
)
def test_what_is_asked_supposed_or_denied_is_not_stated(text: str) -> None:
    assert said(text) == []


def test_nothing_is_attributed_where_nobody_is_known_to_choose() -> None:
    assert said("Use Vitest instead of Jest.", Setting()) == []
    assert said("We switched from Jest to Vitest.", Setting()) == ["Jest succeeded_by Vitest"]


def test_an_error_that_an_edit_made_go_away_is_fixed_by_that_file() -> None:
    seen = [
        Observed("Bash", "`pytest` failed: KeyError: 'price'", "o-1"),
        Observed("Edit", "`app/cart.py` default price", "o-2"),
        Observed("Bash", "`pytest` 31 passed", "o-3"),
    ]
    (edge,) = extract_observations(seen, SHOP, {})
    assert (shown(edge), edge.weight, edge.block) == ("app/cart.py fixes KeyError", 0.5, "o-2")
    assert extract_observations(seen[:2], SHOP, {}) == []


def test_many_files_of_one_session_are_not_taken_to_belong_together() -> None:
    few = [Observed("Edit", f"`src/{number}.ts` rename", f"o-{number}") for number in range(3)]
    assert {edge.weight for edge in extract_observations(few, SHOP, {})} == {0.1}
    many = [Observed("Edit", f"`src/{number}.ts` rename", f"o-{number}") for number in range(12)]
    assert extract_observations(many, SHOP, {}) == []


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from("ab XY`.,:[]()|*#->\n@/_=\"'{}가를대신 ") | st.characters(codec="utf-8"), max_size=200))
def test_any_text_gives_edges_of_the_vocabulary_with_their_words(text: str) -> None:
    for edge in extract(f"We use jose. {text} over Redis because `a.py` uses Zod.", SHOP, known_names()):
        assert edge.relation in RELATIONS
        assert {edge.subject.type, edge.object.type} <= ENTITY_TYPES.keys()
        assert 0 < edge.weight <= 1


def test_a_long_text_without_an_end_costs_no_more_than_its_length() -> None:
    text = "We chose " + "a-b " * 20_000 + "`" * 5_000 + "[[" * 5_000
    assert isinstance(extract(text, SHOP, known_names()), list)
