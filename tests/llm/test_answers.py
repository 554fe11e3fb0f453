"""The list of edges is found in whatever a model says around it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikimem.llm.answers import MOST_ITEMS, read_items

FIELDS = ("subject", "relation", "object", "quote", "alternatives")
EDGE = {"subject": {"type": "file", "name": "a.ts"}, "relation": "uses", "quote": "a.ts uses [[jose]] {}"}
DOCUMENT = json.dumps({"edges": [EDGE]})


def read(text: str) -> list[Any] | None:
    return read_items(text, "edges", FIELDS)


@pytest.mark.parametrize(
    "text",
    [
        DOCUMENT,
        f"\n\n  {DOCUMENT}\n",
        json.dumps([EDGE]),
        f"```json\n{DOCUMENT}\n```",
        f"Here you are:\n```\n{DOCUMENT}\n```\nAnything else? {{}}",
        f"Sure. {DOCUMENT} That is all.",
        f"<think>There is {{}} and [] and <edges></edges> {DOCUMENT[:20]}</think>{DOCUMENT}",
        json.dumps({"answer": {"edges": [EDGE]}}),
        f"\ufeff{DOCUMENT}",
    ],
)
def test_json_is_found_bare_fenced_and_among_words(text: str) -> None:
    assert read(text) == [EDGE]


def test_xml_is_read_with_attributes_or_tags_and_without_escapes() -> None:
    text = """Here is the list:
<edges>
<edge><subject type="file">a.ts</subject><relation>uses</relation>
  <object><type>library</type><name>jose</name></object>
  <quote>if (a < b && c > d) [] {"edges": 1} &amp; jose</quote></edge>
<edge subject="file:b.ts" relation='imports' object="library:x"><quote><![CDATA[b <b> imports x]]></quote></edge>
</edges>"""
    assert read(text) == [
        {
            "subject": {"type": "file", "name": "a.ts"},
            "relation": "uses",
            "object": {"type": "library", "name": "jose"},
            "quote": 'if (a < b && c > d) [] {"edges": 1} & jose',
        },
        {"subject": "file:b.ts", "relation": "imports", "object": "library:x", "quote": "b <b> imports x"},
    ]


@pytest.mark.parametrize("text", ['{"edges": []}', "[]", "<edges></edges>", "<edges/>", "None: <edges />"])
def test_nothing_found_is_an_answer(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot help with that.",
        "<!DOCTYPE html><html><body>502</body></html>",
        DOCUMENT[:-2],
        DOCUMENT[:-2].replace('"quote"', '"alternatives": [], "quote"'),
        f"```json\n{DOCUMENT[:40]}",
        '{"edges": "none"}',
        "[1, 2]",
        "<edges><edge><subject>",
        "[" * 100_000,
        '{"edges":' * 5_000,
        "null",
    ],
)
def test_what_is_no_list_is_not_taken_for_an_empty_one(text: str) -> None:
    assert read(text) is None


def test_entities_of_xml_are_not_expanded_and_no_list_is_endless() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><edges><edge><quote>&b;</quote></edge></edges>'
    assert read(bomb) == [{"quote": "&b;"}]
    assert len(read(json.dumps({"edges": [EDGE] * 9_000})) or []) == MOST_ITEMS
    assert len(read("<edges>" + "<edge><quote>x</quote></edge>" * 9_000 + "</edges>") or []) == MOST_ITEMS
    assert read("<edge>" * 200_000) is None
    assert read("<edges>" + "<edge " * 200_000 + "</edges>") == []


@given(st.text(alphabet=st.sampled_from(list('{}[]<>/edgs":, \n`')), max_size=200))
def test_any_text_at_all_gives_a_list_or_none(text: str) -> None:
    found = read(text)
    assert found is None or isinstance(found, list)


@given(st.text(max_size=60), st.text(alphabet=st.characters(exclude_characters="{[<`"), max_size=60))
def test_a_quote_comes_back_as_it_was_whatever_stands_around(quote: str, around: str) -> None:
    document = json.dumps({"edges": [{"quote": quote}]})
    assert read(f"{around}\n{document}\n{around}") == [{"quote": quote}]
