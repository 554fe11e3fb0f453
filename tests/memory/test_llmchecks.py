"""What a model answers is checked against the page: whatever it says, only the page's own words get through."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikimem.graph.vocabulary import ENTITY_TYPES, RELATIONS
from wikimem.memory.llmchecks import LEAST_QUOTE, LONGEST_QUOTE, checked, misshapen, source_of, span_in

PAGE = (
    "The *gateway* talks to `Keycloak` (see [[Auth]]).\n- 09:14:40 **said** Redis \u201ccaches\u201d the gateway ^o-1\n"
)
SOURCE = source_of(PAGE, PAGE, ["The title", "shop"])

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=8,
)
WORDS = st.sampled_from(
    ["gateway", "Keycloak", "Redis", "Auth", "shop", "mallory", "", "\ud800", "a\0b", "[redacted:x:00000000]"]
)
NAMED = (
    st.fixed_dictionaries({"type": st.sampled_from([*ENTITY_TYPES, "credential", ""]), "name": WORDS}) | WORDS | JSON
)
ITEMS = st.fixed_dictionaries(
    {
        "subject": NAMED,
        "relation": st.sampled_from([*RELATIONS, "Depends On", "alias", "obeys"]) | JSON,
        "object": NAMED,
        "quote": st.sampled_from([PAGE[:40], "gateway talks to Keycloak", 'Redis "caches" the gateway', "none"]) | JSON,
        "basis": st.sampled_from(["stated", "inferred"]) | JSON,
        "reason": JSON,
        "alternatives": st.lists(WORDS | JSON, max_size=3) | JSON,
    }
)


@given(st.lists(ITEMS | JSON, max_size=6))
def test_nothing_that_a_model_may_say_breaks_anything_or_gets_past_the_page(items: list[Any]) -> None:
    dropped: Counter[str] = Counter()
    found = checked(items, SOURCE, dropped)
    assert 0 <= misshapen(items) <= len(items)
    assert len(found) + sum(dropped.values()) <= len(items)
    for edge in found:
        assert edge.quote in SOURCE.written
        assert edge.reasoning in SOURCE.written
        assert edge.relation in RELATIONS
        assert {edge.subject.type, edge.object.type} <= set(ENTITY_TYPES)
        assert edge.weight <= 0.5
        said = (SOURCE.sent + " ".join(SOURCE.about)).casefold()
        assert all(name.casefold() in said for name in (edge.subject.name, edge.object.name, *edge.alternatives))


@given(st.text(max_size=300), st.integers(0, 300), st.integers(0, 300))
def test_any_words_of_a_page_are_found_as_they_are(text: str, start: int, length: int) -> None:
    source = source_of(text, text, [])
    wanted = source.written[start : start + length].strip('"\u201c\u201d ')
    span = span_in(source, wanted)
    if LEAST_QUOTE <= len(wanted) <= LONGEST_QUOTE:
        assert span == wanted
    else:
        assert span is None or span in source.written


@pytest.mark.parametrize(
    ("quote", "span"),
    [
        ("The gateway talks to Keycloak", "The *gateway* talks to `Keycloak"),
        ('Redis "caches" the gateway', "Redis \u201ccaches\u201d the gateway"),
        ("see Auth).  -\n09:14:40", "see [[Auth]]). - 09:14:40"),
        ("the gateway talks to Keycloak", None),
        ("*********", None),
        ("gateway", None),
    ],
)
def test_typography_and_marks_may_differ_and_letters_may_not(quote: str, span: str | None) -> None:
    assert span_in(SOURCE, quote) == span


def test_what_was_sent_but_is_no_longer_written_does_not_count() -> None:
    assert span_in(source_of("The gateway talks to Keycloak", "The gateway is gone", []), "talks to Keycloak") is None
