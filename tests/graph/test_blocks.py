"""The fast readers give what the strict parser and the general reader give, or leave a file to them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from wikimem.graph.blocks import read_blocks
from wikimem.graph.naming import make_entity
from wikimem.graph.plainlines import read_lines
from wikimem.graph.reading import gather, read_statements
from wikimem.graph.statements import Assertion, Edge, Ending, entity_triples
from wikimem.graph.vocabulary import PROPERTY, RELATIONS
from wikimem.text.triples import Literal, Triple, read_triples, render_triples

PATH = "graph/links/a.nt"
TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
DATES = st.sampled_from(["2024", "2025-03", "2025-03-15"])
TIMES = st.sampled_from(["2025-01-01T00:00:00.000000Z", "2025-02-01T00:00:00.000000Z"])
ENTITIES = st.sampled_from(
    [make_entity("library", "jose"), make_entity("file", "한글/a b.ts", "p"), make_entity("person", "Ada")]
)
SOME = st.frozensets(TEXTS, max_size=2)


@st.composite
def statements(draw: st.DrawFn) -> list[Triple]:
    subject, object_ = draw(ENTITIES), draw(ENTITIES)
    value = draw(st.booleans())
    edge = Edge(
        subject.iri,
        PROPERTY + "provider" if value else RELATIONS[draw(st.sampled_from(["uses", "fixes"]))].iri,
        Literal(draw(TEXTS)) if value else object_.iri,
        draw(st.none() | DATES),
    )
    assertion = Assertion(
        edge.id,
        "urn:wikimem:stated:x",
        draw(st.frozensets(st.sampled_from([1.0, 0.5]), max_size=1)),
        draw(SOME),
        draw(SOME),
        draw(SOME),
        draw(SOME),
        draw(st.frozensets(DATES, max_size=1)),
        draw(st.frozensets(TIMES, min_size=1)),
        draw(st.frozensets(TIMES, max_size=1)),
        endings=draw(st.frozensets(st.builds(Ending, TIMES, DATES), max_size=1)),
    )
    return [*edge.triples(), *assertion.triples(), *entity_triples(subject), *entity_triples(object_)]


@settings(max_examples=150, deadline=None)
@given(st.lists(statements(), max_size=4), st.text("abc <>\n", max_size=8))
def test_a_file_reads_the_same_whoever_reads_it(written: list[list[Triple]], noise: str) -> None:
    text = render_triples(triple for each in written for triple in each) + noise
    triples, bad = read_triples(text)
    fast, fast_bad = read_lines(text)
    assert (sorted(map(str, fast)), fast_bad) == (sorted(map(str, triples)), bad)
    general, said = gather(triples, PATH), read_statements(text, PATH)
    assert (said.edges, said.assertions, said.labels) == (general.edges, general.assertions, general.labels)
    assert {each.message for each in said.problems} >= {each.message for each in general.problems}


def test_what_wikimem_writes_takes_the_fast_way_and_what_is_odd_does_not() -> None:
    jose, auth = make_entity("library", "jose"), make_entity("file", "auth.ts")
    edge = Edge(auth.iri, RELATIONS["uses"].iri, jose.iri, "2025")
    made = frozenset({"2025-01-01T00:00:00.000000Z"})
    said = Assertion(
        edge.id, "urn:a:b", reasoning=frozenset({'"so"\n'}), alternatives=frozenset({"a", "b"}), generated=made
    )
    text = render_triples([*edge.triples(), *said.triples(), *entity_triples(jose), *entity_triples(auth)])
    found = read_blocks(text)
    assert found == ({edge.id: edge}, {said.id: said}, {jose.iri: "jose", auth.iri: "auth.ts"})
    assert read_blocks("") == ({}, {}, {})
    changed = text.replace(RELATIONS["uses"].iri, RELATIONS["fixes"].iri)
    backwards = "".join(f"{line}\n" for line in reversed(text.splitlines()))
    for odd in (text + text, text + "# a comment\n", changed, backwards, text.replace('\\n"', '\\uD800"'), text[:-1]):
        assert read_blocks(odd) is None
    assert [each.rule for each in read_statements(changed, PATH).problems] == ["edge", "assertion"]
    assert set(read_statements(backwards, PATH).edges) == {edge.id}


def test_bad_lines_are_named_by_their_number_between_plain_ones() -> None:
    line = "<urn:a:a> <urn:a:b> <urn:a:c> .\n"
    triples, bad = read_lines("\ufeff" + line + "nonsense\n\n" + line + '<urn:a:a> <urn:a:b> "\\q" .\n' + line.strip())
    assert (len(triples), [each.line for each in bad]) == (3, [2, 5])
