"""links: what leads to a page and from it."""

from __future__ import annotations

from typing import Any

import pytest

from wikimem.errors import Invalid, NotFound
from wikimem.operations import OPERATIONS
from wikimem.present.text import text

Desk = Any


@pytest.fixture
def chain(desk: Desk) -> Desk:
    """a -> b -> c -> d -> e, and what else may stand on a page."""
    desk.put("a.md", "[[b]]\n")
    desk.put("b.md", "---\nup: '[[c#Part|x]]'\n---\n- uses:: [[c]]\n- ![[pic.png]] [[b]] [[missing]] [[missing]]\n")
    desk.put("c.md", "[d](d.md)\n")
    desk.put("d.md", "[[e]]\n")
    desk.put("e.md", "end\n")
    desk.put("alone.md", "no link\n")
    return desk


def edges(desk: Desk, **arguments: Any) -> list[tuple[str, str | None, str, str]]:
    return [(e["from"], e["to"], e["kind"], e["text"]) for e in desk.run("links", **arguments).links]


def test_both_directions_with_kind_and_text(chain: Desk) -> None:
    assert edges(chain, page="b") == [
        ("b.md", "c.md", "up", "c#Part"),
        ("b.md", "c.md", "uses", "c"),
        ("b.md", None, "embed", "pic.png"),
        ("b.md", "b.md", "wikilink", "b"),
        ("b.md", None, "wikilink", "missing"),
        ("a.md", "b.md", "wikilink", "b"),
    ]
    found = chain.run("links", page="b").links
    assert [edge["text"] for edge in found if edge["broken"]] == ["missing"]
    assert [edge["depth"] for edge in found] == [1] * 6


def test_one_direction_and_depth(chain: Desk) -> None:
    assert edges(chain, page="c", direction="in") == [("b.md", "c.md", "up", "c#Part"), ("b.md", "c.md", "uses", "c")]
    assert edges(chain, page="c", direction="out") == [("c.md", "d.md", "markdown", "d.md")]
    out = chain.run("links", page="a", direction="out", depth=3).links
    assert {(edge["to"], edge["depth"]) for edge in out if edge["to"]} == {
        ("b.md", 1),
        ("b.md", 2),
        ("c.md", 2),
        ("d.md", 3),
    }
    assert all(edge["from"] != "d.md" for edge in out)


def test_a_circle_ends(desk: Desk) -> None:
    desk.put("x.md", "[[y]]\n")
    desk.put("y.md", "[[x]] [[x]]\n")
    assert edges(desk, page="x", depth=3) == [
        ("x.md", "y.md", "wikilink", "y"),
        ("y.md", "x.md", "wikilink", "x"),
    ]


def test_the_rest_is_said_to_be_there(desk: Desk) -> None:
    desk.put("many.md", " ".join(f"[[n{number}]]" for number in range(30)) + "\n")
    done = desk.run("links", page="many", limit=10)
    assert (len(done.links), done.more) == (10, True)
    assert "--limit" in text(done)
    assert desk.run("links", page="many", limit=30).more is False


def test_what_makes_no_sense(chain: Desk) -> None:
    with pytest.raises(NotFound):
        chain.run("links", page="nothing")
    for wrong in ({"depth": 0}, {"depth": 4}, {"direction": "up"}):
        with pytest.raises(Invalid):
            chain.run("links", page="a", **wrong)


def test_in_words_and_as_a_document(chain: Desk) -> None:
    done = chain.run("links", page="b")
    shown = text(done)
    assert "a.md" in shown
    assert "[[missing]]" in shown
    assert text(chain.run("links", page="alone")) == "No links to or from alone.md."
    operation = next(each for each in OPERATIONS if each.name == "links")
    document = operation.document(done)
    assert document["links"][0] == {
        "from": "b.md",
        "to": "c.md",
        "kind": "up",
        "text": "c#Part",
        "broken": False,
        "depth": 1,
    }
    schema = operation.output_schema()["properties"]["links"]["items"]
    assert set(schema["required"]) == {"from", "to", "kind", "text", "broken", "depth"}


def test_a_secret_in_a_link_is_masked(desk: Desk) -> None:
    secret = "ghp_" + "Ab3" * 12
    desk.put("a.md", f"[[{secret}]]\n")
    assert secret not in repr(desk.run("links", page="a"))
