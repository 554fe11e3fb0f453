"""A question about several things is asked again for each of them, and any other question is left whole."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wikimem.search.compound import MOST_PARTS, subquestions


@pytest.mark.parametrize(
    ("text", "things"),
    [
        ("Which came first, the proxy or the cache?", ("the proxy", "the cache")),
        ("which did we adopt first, Vitest, Hono or Zod?", ("Vitest", "Hono", "Zod")),
        ("Did 'Blue Harbour' or 'Red Lantern' ship later?", ("Blue Harbour", "Red Lantern")),
        ("How many weeks are between the outage and the post-mortem?", ("the outage", "the post-mortem")),
        (
            "Days from the day I cut the release and the day I rolled it back?",
            ("I cut the release", "I rolled it back"),
        ),
    ],
)
def test_each_part_keeps_its_own_thing_and_loses_the_others(text: str, things: tuple[str, ...]) -> None:
    parts = subquestions(text)
    assert len(parts) == len(things)
    for part, own in zip(parts, things, strict=True):
        assert [thing for thing in things if thing in part] == [own]


@pytest.mark.parametrize(
    "text",
    [
        "Which port does the gateway listen on?",
        "What do Ana and Bo think of the cache?",
        "Is it up or down?",
        'say "one thing" and leave',
        "between us",
        "pick one: a, b, c, d, e, f or g?",
        "",
    ],
)
def test_any_other_question_is_left_whole(text: str) -> None:
    assert subquestions(text) == ()


@given(st.text(max_size=700))
@settings(max_examples=200)
def test_whatever_the_text_the_parts_are_few_and_no_error(text: str) -> None:
    assert len(subquestions(text)) in (0, *range(2, MOST_PARTS + 1))


def test_the_page_of_each_thing_is_found_and_the_trace_says_so(vault: Any) -> None:
    crowd = {
        f"Proxy_{n}": f"We adopted the proxy, step {n}: the first proxy, its proxy rules, first things."
        for n in range(8)
    }
    vault.add(Ledger="The ledger of accounts came in with the second quarter.", **crowd)
    hits = vault.search("which did we adopt first, the proxy or the ledger?", limit=5).hits
    assert "Ledger.md" in [hit.path for hit in hits]
    assert all(hit.trace.boosts["part"] > 0 for hit in hits[:2])


def test_passages_are_hits_of_a_compound_question_too(vault: Any) -> None:
    vault.add(Proxy="The proxy came in May.", Ledger="The ledger came in June.")
    hits = vault.search("which came first, the proxy or the ledger?", group="passage").hits
    assert {hit.path for hit in hits} == {"Proxy.md", "Ledger.md"}
