"""export and import: the graph as other tools read and write it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import rdflib

from wikimem.errors import Invalid, NotFound, Refused
from wikimem.present.text import text

# rdflib's reader of JSON-LD calls what rdflib itself has deprecated.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib")
Desk = Any
JOSE, OLD = "urn:wikimem:library:jose", "urn:wikimem:library:jsonwebtoken"
READERS = {"nt": "nt", "ttl": "turtle", "jsonld": "json-ld"}


@pytest.fixture
def auth(desk: Desk) -> Desk:
    said = {"subject": "file:auth.ts", "relation": "uses"}
    desk.run("link", **said, object="library:jsonwebtoken", valid_from="2025-02-03", valid_to="2025-09-12")
    desk.run("link", **said, object="library:jose", valid_from="2025-09-12", reasoning='"edge"\truntime, 엣지')
    desk.run("link", subject="concept:JWT auth", relation="property:provider", object="jose")
    desk.put("Note.md", "---\ntype: fact\ntitle: A fact\nconfidence: 0.9\n---\nuses:: [[Other]]\n")
    desk.put("Other.md", "x\n")
    return desk


def parsed(desk: Desk, format: str, **arguments: Any) -> set[Any]:
    done = desk.run("export", format=format, **arguments)
    found = set(rdflib.Graph().parse(data=done.text, format=READERS[format]))
    assert done.count == len(found)
    return found


def used(triples: set[Any]) -> set[str]:
    uses = rdflib.URIRef("urn:wikimem:ns:uses")
    return {str(o) for s, p, o in triples if p == uses and str(s).startswith("urn:wikimem:file:")}


def test_every_format_says_the_same_and_is_the_same_each_time(auth: Desk) -> None:
    said = [parsed(auth, name) for name in READERS]
    assert said[0] == said[1] == said[2]
    assert used(said[0]) == {JOSE}
    assert used(parsed(auth, "ttl", as_of="2025-03-15")) == {OLD}
    predicates = {str(p) for _, p, _ in said[0]}
    assert {"http://www.w3.org/ns/prov#wasDerivedFrom", "http://purl.org/dc/terms/title"} <= predicates
    for name in READERS:
        assert auth.run("export", format=name).text == auth.run("export", format=name).text


def test_one_entity_is_exported_with_its_edges_only(auth: Desk) -> None:
    said = auth.run("export", entity="library:jose").text
    assert JOSE in said
    assert OLD not in said
    assert "A fact" not in said
    assert "runtime" in said
    assert "A fact" in auth.run("export", entity="Note.md").text
    with pytest.raises(NotFound):
        auth.run("export", entity="library:nothing")
    with pytest.raises(Invalid):
        auth.run("export", entity=" ")


def test_an_export_goes_to_a_file_outside_of_the_vault(auth: Desk, tmp_path: Path) -> None:
    done = auth.run("export", format="ttl", out=str(tmp_path / "graph.ttl"))
    assert (done.text, done.path) == (None, str(tmp_path / "graph.ttl"))
    assert (tmp_path / "graph.ttl").read_text(encoding="utf-8") == auth.run("export", format="ttl").text
    for out, error in (("graph.ttl", Refused), (str(tmp_path), Invalid), ("", Invalid)):
        with pytest.raises(error):
            auth.run("export", out=out)


def test_secrets_that_stand_in_files_are_masked_in_every_format(auth: Desk) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    reason = "urn:wikimem:property:token"
    auth.put("graph/links/hand.nt", f'<{JOSE}> <{reason}> "{secret[:40]}" .\n')
    for name in READERS:
        said = auth.run("export", format=name).text
        assert secret[:40] not in said
        assert "redacted" in said


def test_an_export_can_be_imported_once(auth: Desk, make_desk: Any, tmp_path: Path) -> None:
    file = tmp_path / "graph.nt"
    file.write_text(auth.run("export", entity="file:auth.ts").text, encoding="utf-8")
    other = make_desk("other")
    before = other.git("rev-parse", "HEAD")
    dry = other.run("import", host="nt", path=str(file), dry_run=True)
    assert (dry.new, dry.known, dry.commit, other.git("rev-parse", "HEAD")) == (2, 0, None, before)
    first = other.run("import", host="nt", path=str(file))
    assert (first.new, other.git("rev-list", "--count", f"{before}..HEAD")) == (2, "1")
    again = other.run("import", host="nt", path=str(file))
    assert (again.new, again.known, again.commit) == (0, 2, None)
    (edge,) = other.run("graph", entity="file:auth.ts").edges
    assert (edge.object, edge.valid_from, edge.reasoning) == ("library:jose", "2025-09-12", '"edge" runtime, 엣지')
    assert edge.sources == ("import:graph.nt",)
    (past,) = other.run("graph", entity="file:auth.ts", as_of="2025-03-15").edges
    assert (past.object, past.valid_to) == ("library:jsonwebtoken", "2025-09-12")


def test_what_an_import_brought_may_be_ended_by_an_agent_and_stays_taken_back(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "a.nt"
    file.write_text("<urn:wikimem:concept:a> <urn:wikimem:ns:uses> <urn:wikimem:library:b> .\n")
    desk.run("import", host="nt", path=str(file))
    assert len(desk.run("graph", entity="concept:a").edges) == 1
    desk.run("link", by="codex", subject="concept:a", relation="uses", object="library:b", retract=True)
    assert desk.run("import", host="nt", path=str(file)).new == 0
    with pytest.raises(NotFound):
        desk.run("graph", entity="concept:a")


def test_a_line_that_is_no_triple_is_named_and_nothing_is_written(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "bad.nt"
    file.write_text("<urn:wikimem:concept:a> <urn:wikimem:ns:uses> <urn:wikimem:library:b> .\n<urn:x> nonsense\n")
    before = desk.git("rev-parse", "HEAD")
    with pytest.raises(Invalid, match=r"bad\.nt:2: "):
        desk.run("import", host="nt", path=str(file))
    file.write_bytes(b"# fine\n\xff\n")
    with pytest.raises(Invalid, match=r"bad\.nt:2: "):
        desk.run("import", host="nt", path=str(file))
    with pytest.raises(NotFound):
        desk.run("import", host="nt", path=str(tmp_path / "gone.nt"))
    assert desk.git("status", "--porcelain") == ""
    assert desk.git("rev-parse", "HEAD") == before


def test_foreign_predicates_are_kept_and_what_cannot_be_an_edge_is_named(desk: Desk, tmp_path: Path) -> None:
    a, b, uses = "<urn:wikimem:concept:a>", "<urn:wikimem:concept:b>", "<urn:wikimem:ns:uses>"
    lines = [
        f"{a} <http://example.org/likes> {b} .",
        f"{a} {uses} {a} .",
        f"<http://example.org/x> {uses} {b} .",
        f"{a} {uses} <urn:wikimem:page:01JGONE0000000000000000000> .",
        f'{a} <http://www.w3.org/2004/02/skos/core#prefLabel> "A" .',
    ]
    (tmp_path / "a.nt").write_text("\n".join(lines))
    done = desk.run("import", host="nt", path=str(tmp_path / "a.nt"))
    assert (done.new, done.foreign, len(done.skipped)) == (1, {"http://example.org/likes": 1}, 3)
    assert "not in the vocabulary" in text(done)
    (edge,) = desk.run("graph", entity="concept:a").edges
    assert edge.predicate == "http://example.org/likes"


def test_notes_of_basic_memory_become_entities_and_relations(desk: Desk, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    (notes / "sub").mkdir(parents=True)
    (notes / "Auth.md").write_text(
        "---\ntitle: Auth\ntype: note\n---\n# Auth\n- depends_on [[sub/Tokens|the tokens]] (they are signed)\n"
        "- part of [[System]]\n- used_by [[Web]]\n- [[Anything]]\n- [method] Sign it #jwt (from a talk)\n"
        "- [ ] a task for [[Nobody]]\n```\n- uses [[Code]]\n```\n"
    )
    (notes / "sub" / "Tokens.md").write_text("---\ntitle: JWT tokens\ntype: decision\n---\nx\n")
    plain = desk.run("import", host="basic-memory", path=str(notes), dry_run=True)
    assert (plain.files, plain.new, plain.reworded) == (2, 4, {"part of": 1})
    assert "--observations" in plain.skipped[0]
    done = desk.run("import", host="basic-memory", path=str(notes), observations=True)
    assert done.new == 5
    said = {(e.subject, e.predicate, e.object, e.reasoning) for e in desk.run("graph", entity="concept:Auth").edges}
    assert said == {
        ("concept:Auth", "depends_on", "decision:JWT tokens", "they are signed"),
        ("concept:Auth", "related_to", "concept:System", "part of"),
        ("concept:Web", "uses", "concept:Auth", ""),
        ("concept:Auth", "related_to", "concept:Anything", ""),
    }
    assert desk.run("graph", entity="concept:Auth").entity.properties == {"method": "Sign it #jwt"}
    assert desk.run("import", host="basic-memory", path=str(notes), observations=True).new == 0


def test_the_graph_of_agentmemory_is_taken_with_its_dates_and_reasons(desk: Desk, tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    document = {
        "version": "0.9.29",
        "sessions": [{"id": "s"}],
        "actionEdges": [{"type": "requires", "from": "a", "to": "b"}],
        "whatComesLater": {"x": 1, "y": 2},
        "graphNodes": [
            {"id": "1", "type": "library", "name": "zod", "properties": {"lang": "ts"}, "aliases": ["Zod 3"]},
            {"id": "2", "type": "file", "name": "src/a.ts", "properties": {}},
            {"id": "3", "type": "planet", "name": "Mars", "properties": {}},
        ],
        "graphEdges": [
            {
                "type": "uses", "sourceNodeId": "2", "targetNodeId": "1", "weight": 0.7, "tvalid": "2025-02-01",
                "context": {"reasoning": f"the token is {secret[:40]}", "alternatives": ["yup"]},
            },
            {"type": "uses", "sourceNodeId": "2", "targetNodeId": "3"},
            {"type": "fixes", "sourceNodeId": "2", "targetNodeId": "1", "isLatest": False},
        ],
    }  # fmt: skip
    file = tmp_path / "export.json"
    file.write_text(json.dumps(document))
    done = desk.run("import", host="agentmemory", path=str(file), project="shop")
    assert (done.new, len(done.skipped), done.redacted) == (3, 6, {"github-token": 1})
    assert ["actionEdges: 1" in done.skipped[-2], "whatComesLater: 2" in done.skipped[-1]] == [True, True]
    (edge,) = desk.run("graph", entity="library:zod").edges
    assert (edge.weight, edge.valid_from, edge.alternatives) == (0.7, "2025-02-01", ("yup",))
    assert edge.subject == "file:src/a.ts (project shop)"
    assert secret[:40] not in desk.git("grep", "-h", "reasoning", "HEAD", "--", "graph")
    for bad in ("{", "[]", '{"graphNodes": 3}'):
        file.write_text(bad)
        with pytest.raises(Invalid, match=r"export\.json"):
            desk.run("import", host="agentmemory", path=str(file))


def test_reindex_loads_the_graph_and_an_empty_name_is_no_entity(auth: Desk) -> None:
    store = auth.wiki().index.parts().folder.path / "graph.db"
    store.unlink()
    auth.run("reindex")
    assert store.stat().st_size > 0
    with pytest.raises(Invalid):
        auth.run("graph", entity=" ")
