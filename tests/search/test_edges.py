"""What is asserted as part of the graph stream: found by it alone, explained, within scope, and free where unused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from wikimem.operations import OPERATIONS
from wikimem.operations.processes import init
from wikimem.search.edges import asserted_edges
from wikimem.search.filters import make_filter
from wikimem.search.graphview import open_view
from wikimem.search.namedentities import is_one_edit, named_entities
from wikimem.wiki import Caller, Wiki, open_wiki

if TYPE_CHECKING:
    from tests.conftest import Home

BY_NAME = {operation.name: operation for operation in OPERATIONS}
PAGES = {
    "jose.md": "---\ntype: entity\ntitle: jose\ntags: [library]\n---\nVerifies tokens on Web Crypto.\n",
    "Choice.md": "---\ntype: decision\ntitle: Tokens at the edge\nproject: shop\n---\nThe worker has no Node crypto.\n",
    "Bank.md": "---\ntype: fact\ntitle: Vault doors\nproject: bank\n---\nThey close at six.\n",
    "Lunch.md": "---\ntype: fact\ntitle: Lunch\n---\nSoup on Mondays.\n",
}


@pytest.fixture
def wiki(home: Home) -> Iterator[Wiki]:
    vault = home.path / "wikimem"
    init(vault, cwd=home.path)
    for name, text in PAGES.items():
        (vault / name).write_text(text)
    opened = open_wiki(str(vault), cwd=vault, caller=Caller(cwd=vault))
    opened.refresh()
    yield opened
    opened.close()


def run(wiki: Wiki, operation: str, **arguments: Any) -> Any:
    return BY_NAME[operation].run(wiki, arguments)


def link(wiki: Wiki, subject: str, relation: str, object_: str, **more: Any) -> None:
    run(wiki, "link", subject=subject, relation=relation, object=object_, **more)


def hits(wiki: Wiki, query: str, **more: Any) -> dict[str, Any]:
    return {hit.path: hit for hit in run(wiki, "search", query=query, explain=True, **more).hits}


def test_a_hit_that_only_the_graph_found_is_kept_and_says_its_way(wiki: Wiki) -> None:
    assert "jose.md" not in hits(wiki, "warehouse scanner login", streams=["words"])
    link(wiki, "file:src/scanner.ts", "uses", "library:jose", reasoning="edge runtime", project="shop")
    link(wiki, "concept:warehouse scanner", "depends_on", "file:src/scanner.ts", project="shop", weight=0.5)
    hit = hits(wiki, "warehouse scanner login", streams=["words", "graph"])["jose.md"]
    assert (hit.trace.words, hit.trace.graph) == (None, 1)
    assert hit.trace.graph_path == (
        "[concept] warehouse scanner --depends_on--> [file] src/scanner.ts --uses--> [library] jose (edge runtime)"
    )
    assert hit.trace.parts["graph"] > 0


def test_context_tells_the_way_too(wiki: Wiki) -> None:
    link(wiki, "concept:scanner", "uses", "library:jose")
    packed = run(wiki, "context", query="scanner")
    assert "graph: [concept] scanner --uses--> [library] jose" in packed.text


def test_what_the_question_asks_for_counts_as_much_as_what_it_names(wiki: Wiki) -> None:
    link(wiki, "concept:scanner", "uses", "library:jose")
    link(wiki, "concept:scanner", "related_to", "Lunch.md")
    found = hits(wiki, "what does the scanner use?", streams=["graph"])
    assert next(iter(found)) == "jose.md"
    assert found["jose.md"].score > 1.5 * found["Lunch.md"].score


def test_a_page_beside_a_good_passage_is_found_at_half_weight(wiki: Wiki) -> None:
    link(wiki, "Lunch.md", "related_to", "library:jose")
    hit = hits(wiki, "soup on mondays")["jose.md"]
    assert hit.trace.graph_path == "[fact] Lunch --related_to--> [library] jose"


@pytest.mark.parametrize(
    ("question", "weight"),
    [
        ("who runs the payment gateway?", 1.0),
        ("is the GATEWAY slow?", 0.25),
        ("the paymint gateway", 0.5),
        ("the pay ment gate way", None),
        ("pay the gate", None),
    ],
)
def test_entities_are_named_exactly_partly_by_whole_words_or_misspelt_by_one_letter(
    wiki: Wiki, question: str, weight: float | None
) -> None:
    link(wiki, "concept:payment gateway", "uses", "library:jose")
    with open_view(wiki) as view:
        named = {view.label(iri): value for iri, value in named_entities(view, question).items()}
    assert named.get("payment gateway") == weight


def test_an_alias_names_its_entity(wiki: Wiki) -> None:
    link(wiki, "person:ada", "prefers", "library:jose")
    link(wiki, "person:ada", "alias", "Ada Example")
    with open_view(wiki) as view:
        assert [view.label(iri) for iri in named_entities(view, "what would Ada Example like?")] == ["ada"]


def test_one_edit() -> None:
    assert all(is_one_edit("token", other) for other in ("tokens", "toke", "tokem", "otken", "toekn"))
    assert not any(is_one_edit("token", other) for other in ("token", "tokenss", "tkoen ", "broken", "tokne "))


def test_another_projects_pages_and_statements_lead_nowhere(wiki: Wiki) -> None:
    link(wiki, "concept:scanner", "uses", "Bank.md")
    link(wiki, "concept:scanner", "uses", "library:jose", source="Bank.md")
    assert {"Bank.md", "jose.md"} <= hits(wiki, "scanner").keys()
    found = hits(wiki, "scanner", project="shop")
    assert "Bank.md" not in found
    assert not any(hit.trace.graph for hit in found.values()), "stated by a page of another project"


def test_what_ended_is_not_walked_and_was_then(wiki: Wiki) -> None:
    link(wiki, "concept:scanner", "uses", "library:jose", valid_from="2024-01-01", valid_to="2024-06-01")
    assert "jose.md" not in hits(wiki, "scanner", streams=["graph"])
    assert "jose.md" in hits(wiki, "scanner", streams=["graph"], as_of="2024-03-01")


def test_a_type_is_what_a_hit_must_have_and_not_what_leads_to_it(wiki: Wiki) -> None:
    link(wiki, "Lunch.md", "related_to", "library:jose")
    link(wiki, "concept:scanner", "related_to", "Lunch.md")
    found = hits(wiki, "scanner", streams=["graph"], type="entity")
    assert list(found) == ["jose.md"]


def test_where_nothing_is_asserted_the_graph_is_not_opened_and_answers_are_the_same(wiki: Wiki) -> None:
    before = run(wiki, "search", query="tokens at the edge", explain=True, now="2026-01-01")
    where = make_filter(now=wiki.clock())
    with asserted_edges(wiki, where) as edges:
        assert edges is None
    (wiki.root / "graph" / "links").mkdir(parents=True)
    with asserted_edges(wiki, where) as edges:
        assert edges is None, "a folder without statements"
    assert run(wiki, "search", query="tokens at the edge", explain=True, now="2026-01-01") == before


def test_a_store_that_cannot_be_used_is_told_and_links_still_answer(wiki: Wiki) -> None:
    link(wiki, "concept:scanner", "uses", "library:jose")
    store = wiki.index.parts().folder.path / "graph.db"
    for ending in ("", "-wal", "-shm"):
        store.with_name(store.name + ending).unlink(missing_ok=True)
    store.mkdir()
    answer = run(wiki, "search", query="tokens at the edge")
    assert [hit.path for hit in answer.hits][:1] == ["Choice.md"]
    assert any("links only" in note for note in answer.notes)


def test_a_hub_is_reached_and_not_walked_through(wiki: Wiki) -> None:
    from wikimem.graph.files import installation_file, with_triples
    from wikimem.graph.naming import make_entity
    from wikimem.graph.statements import Assertion, Edge, entity_triples, time_text
    from wikimem.graph.vocabulary import RELATIONS

    hub = make_entity("concept", "everything")
    triples = []
    for number in range(70):
        other = make_entity("concept", f"thing {number}")
        edge = Edge(other.iri, RELATIONS["related_to"].iri, hub.iri)
        said = Assertion(edge.id, "urn:wikimem:source:x", generated=frozenset({time_text(wiki.clock())}))
        triples += [*edge.triples(), *said.triples(), *entity_triples(other)]
    path = wiki.root / installation_file("ff")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(with_triples(b"", triples))
    link(wiki, "concept:everything", "related_to", "library:jose")
    assert "jose.md" not in hits(wiki, "thing 3", streams=["graph"])
    assert "jose.md" in hits(wiki, "everything", streams=["graph"])
