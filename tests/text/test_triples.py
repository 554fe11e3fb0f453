"""N-Triples: what is written is read back, what is wrong is named by its line, and rdflib agrees."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wikimem.errors import Damaged, Invalid
from wikimem.text.triples import (
    Literal,
    Triple,
    parse_line,
    parse_triples,
    read_triples,
    render_triple,
    render_triples,
)

XSD = "http://www.w3.org/2001/XMLSchema#"

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
iris = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters=' \xa0<>"{}|^`\\'), max_size=12
).map("urn:x:{}".format)
literals = st.one_of(
    st.builds(Literal, texts, st.just(""), st.just("")),
    st.builds(Literal, texts, st.sampled_from(["urn:x:t", "urn:x:u"]), st.just("")),
    st.builds(Literal, texts, st.just(""), st.sampled_from(["en", "ko", "zh-hans"])),
)
triples = st.builds(Triple, iris, iris, st.one_of(iris, literals))


@given(st.lists(triples, max_size=8))
def test_what_is_written_is_read_back(said: list[Triple]) -> None:
    written = render_triples(said)
    assert parse_triples(written, "x.nt") == sorted(set(said), key=render_triple)
    assert render_triples(parse_triples(written, "x.nt")) == written
    assert written.count("\n") == len(set(said)), "one line for each, whatever its text holds"


@settings(max_examples=40, deadline=None)
@given(st.lists(triples, min_size=1, max_size=8))
def test_rdflib_reads_the_same(said: list[Triple]) -> None:
    from rdflib import Graph

    graph = Graph()
    graph.parse(data=render_triples(said), format="nt")
    found = {(str(s), str(p), str(o)) for s, p, o in graph}
    assert found == {(s, p, o if isinstance(o, str) else o.text) for s, p, o in said}


@given(st.lists(triples, max_size=6), st.lists(triples, max_size=6))
def test_the_union_of_lines_is_the_union_of_triples(one: list[Triple], other: list[Triple]) -> None:
    union = "".join(sorted(set((render_triples(one) + render_triples(other)).splitlines(keepends=True)), reverse=True))
    assert set(parse_triples(union, "x.nt")) == set(one) | set(other)


@pytest.mark.parametrize(
    ("line", "object_"),
    [
        (r'<urn:a> <urn:b> "caf\u00E9 \U0001F600\t\"q\"\\" .', Literal('café 😀\t"q"\\')),
        ('<urn:a><urn:b>"x"^^<urn:t>.', Literal("x", "urn:t")),
        ('  <urn:a>\t<urn:b>  "x"@EN-us  .  # said', Literal("x", "", "en-us")),
        (f'<urn:a> <urn:b> "x"^^<{XSD}string> .', Literal("x")),
        (r"<urn:a> <urn:b> <urn:c\u00E9> .", "urn:cé"),
        ('<urn:a> <urn:b> "" .', Literal("")),
        ('<urn:a> <urn:b> "a\x85b" .', Literal("a\x85b")),
    ],
)
def test_forms_that_others_write(line: str, object_: Literal | str) -> None:
    assert parse_line(line) == Triple("urn:a", "urn:b", object_)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("<urn:a> <urn:b> <urn:c>", "full stop"),
        ("_:x <urn:b> <urn:c> .", "blank node"),
        ("<urn:a> <urn:b> _:c .", "blank node"),
        ("<a> <urn:b> <urn:c> .", "no absolute IRI"),
        ('"a" <urn:b> <urn:c> .', "no triple"),
        ('<urn:a> "b" <urn:c> .', "no triple"),
        ('<urn:a> <urn:b> "c .', "no triple"),
        (r'<urn:a> <urn:b> "\x" .', "no triple"),
        (r'<urn:a> <urn:b> "\uD800" .', "no character"),
        (r'<urn:a> <urn:b> "\U00110000" .', "no character"),
        (r"<urn:a> <urn:b> <urn:\u0020> .", "no absolute IRI"),
        ("<urn:a> <urn:b> <urn:c> . <urn:d>", "no triple"),
        ("<<<<<<< HEAD", "merge left its markers"),
        ("uses jose", "no triple"),
        ('<urn:a> <urn:b> "x"@ .', "no triple"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(line: str, said: str) -> None:
    with pytest.raises(Invalid, match=said):
        parse_line(line)
    with pytest.raises(Damaged, match=rf"graph/x\.nt:3: .*{said}"):
        parse_triples(f"# a comment\n\n{line}\n", "graph/x.nt")


def test_one_bad_line_takes_nothing_from_the_others() -> None:
    found, bad = read_triples("\ufeff<urn:a> <urn:b> <urn:c> .\r\nnonsense\r\n\r\n<urn:a> <urn:b> <urn:d> .")
    assert [triple.object for triple in found] == ["urn:c", "urn:d"]
    assert [each.line for each in bad] == [2]


@pytest.mark.parametrize(
    "term",
    ["jose", "urn:a b", "urn:<x>", "urn:\x85", "urn:\u2028", "urn:\ud800", Literal("\ud800"), Literal("x", "", "e n")],
)
def test_what_cannot_be_written_is_refused(term: Literal | str) -> None:
    with pytest.raises(Invalid):
        render_triple(Triple("urn:a", "urn:b", term))
