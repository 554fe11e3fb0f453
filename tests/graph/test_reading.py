"""Files that people and accidents wrote: what can be used is used, the rest is named."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from wikimem.graph.files import find_graph_files, page_file, page_of_file, tombstone, with_triples
from wikimem.graph.fold import fold_files
from wikimem.graph.naming import make_entity, page_iri
from wikimem.graph.reading import FileStatements, read_statements
from wikimem.graph.statements import Assertion, Edge, entity_triples, time_text
from wikimem.graph.vocabulary import RELATIONS
from wikimem.text.ids import derived_id
from wikimem.text.triples import render_triples

PAGE = derived_id("a page")
PATH = page_file(PAGE)
JOSE, AUTH = make_entity("library", "jose"), make_entity("concept", "auth")
USES = RELATIONS["uses"].iri


def rules(said: FileStatements) -> list[str]:
    return sorted({problem.rule for problem in said.problems})


def stated(edge: Edge, **said: frozenset[str]) -> str:
    made = Assertion(edge.id, page_iri(PAGE), generated=frozenset({time_text(datetime(2025, 1, 1))}), **said)  # type: ignore[arg-type]
    return render_triples([*edge.triples(), *made.triples(), *entity_triples(JOSE), *entity_triples(AUTH)])


def test_what_is_written_is_what_is_read() -> None:
    edge = Edge(AUTH.iri, USES, JOSE.iri, "2025-09-12")
    said = read_statements(stated(edge, valid_to=frozenset({"2026"}), reasoning=frozenset({"edge"})), PATH)
    assert said.problems == []
    assert said.edges == {edge.id: edge}
    (assertion,) = said.assertions.values()
    assert (assertion.valid_to, assertion.reasoning) == (frozenset({"2026"}), frozenset({"edge"}))
    assert assertion.source == page_iri(PAGE)
    assert said.labels == {JOSE.iri: "jose", AUTH.iri: "auth"}


def test_a_line_that_a_person_adds_by_hand_counts() -> None:
    said = read_statements(f"<{AUTH.iri}> <{USES}> <{JOSE.iri}> .\n", PATH)
    (fact,) = fold_files([said]).values()
    assert (fact.edge, fact.sources, fact.weight) == (Edge(AUTH.iri, USES, JOSE.iri), (page_iri(PAGE),), 1.0)
    assert fact.known_since is None


def test_an_unknown_predicate_is_kept_and_reported() -> None:
    said = read_statements(f"<{AUTH.iri}> <https://x.example/knows> <{JOSE.iri}> .\n", PATH)
    assert rules(said) == ["unknown-predicate"]
    assert len(fold_files([said])) == 1


@pytest.mark.parametrize(
    ("text", "rule", "facts"),
    [
        ("nonsense\n", "triple", 1),
        ("<<<<<<< HEAD\n", "triple", 1),
        (f"<urn:wikimem:edge:{'0' * 32}> <{USES}> <{JOSE.iri}> .\n", "edge", 1),
        (f"<urn:wikimem:assertion:{'0' * 32}> <urn:wikimem:ns:asserts> <urn:wikimem:edge:x> .\n", "assertion", 1),
        (f"<https://x.example/a> <{USES}> <{JOSE.iri}> .\n", "entity", 1),
        (f"<{JOSE.iri}> <{USES}> <{JOSE.iri}> .\n", "self-edge", 2),
    ],
)
def test_bad_statements_are_named_and_take_nothing_from_good_ones(text: str, rule: str, facts: int) -> None:
    said = read_statements(stated(Edge(AUTH.iri, USES, JOSE.iri)) + text, PATH)
    assert rule in rules(said)
    assert len(fold_files([said])) == facts
    assert all(problem.path == PATH for problem in said.problems)


def test_an_end_before_its_start_never_holds_and_is_reported() -> None:
    said = read_statements(stated(Edge(AUTH.iri, USES, JOSE.iri, "2025-09-12"), valid_to=frozenset({"2025-01"})), PATH)
    assert rules(said) == ["ends-before-start"]
    (fact,) = fold_files([said]).values()
    assert {fact.holds(datetime(2025, month, 1)) for month in range(1, 13)} == {"no"}


def test_weights_times_and_dates_that_are_none() -> None:
    edge = Edge(AUTH.iri, USES, JOSE.iri)
    text = stated(edge)
    name = Assertion(edge.id, page_iri(PAGE)).id
    text += f'<{name}> <urn:wikimem:ns:weight> "7" .\n<{name}> <urn:wikimem:ns:validTo> "soon" .\n'
    text += f'<{name}> <http://www.w3.org/ns/prov#invalidatedAtTime> "later" .\n'
    said = read_statements(text, PATH)
    assert rules(said) == ["date", "time", "weight"]
    (fact,) = fold_files([said]).values()
    assert (fact.weight, fact.valid_to) == (1.0, None)


def test_an_edge_that_was_changed_by_hand_says_nothing() -> None:
    text = stated(Edge(AUTH.iri, USES, JOSE.iri)).replace(f"object> <{JOSE.iri}>", f"object> <{AUTH.iri}>")
    said = read_statements(text, PATH)
    assert rules(said) == ["assertion", "edge"]
    assert fold_files([said]) == {}


def test_a_tombstone_silences_its_file() -> None:
    text = stated(Edge(AUTH.iri, USES, JOSE.iri))
    said = read_statements(text + tombstone(PAGE).decode(), PATH)
    assert said.forgotten
    assert fold_files([said]) == {}
    cut = tombstone(PAGE)
    assert cut.count(b"\n") == 1
    assert with_triples(cut, entity_triples(JOSE)) == cut


def test_adding_keeps_what_a_person_wrote() -> None:
    data = f"# mine\r\n<{AUTH.iri}>   <{USES}>  <{JOSE.iri}>  .  # why\r\nnonsense\r\n".encode()
    added = with_triples(data, entity_triples(JOSE)).decode()
    assert "# mine" in added
    assert "nonsense" in added
    assert f"<{AUTH.iri}>   <{USES}>  <{JOSE.iri}>  .  # why" in added
    assert with_triples(added.encode(), entity_triples(JOSE)).decode() == added


def test_which_files_are_read(tmp_path: Path) -> None:
    for path in (
        PATH,
        "graph/links/a1.nt",
        "graph/x.nt",
        "graph/zz/a.nt",
        "graph/links/a/b.nt",
        f"graph/00/{PAGE}.ttl",
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
    (tmp_path / "graph/links/linked.nt").symlink_to(tmp_path / "graph/x.nt")
    assert list(find_graph_files(tmp_path)) == sorted([PATH, "graph/links/a1.nt"])
    assert page_of_file(PATH) == PAGE
    assert page_of_file("graph/links/a1.nt") is None
    assert find_graph_files(tmp_path / "nowhere") == {}
