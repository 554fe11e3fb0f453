"""sparql and timeline: the graph asked in other ways, and the jose story through the command line."""

from __future__ import annotations

import shutil
import socket
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wikimem.errors import Invalid, NotFound, Refused, Unavailable
from wikimem.present.text import text

if TYPE_CHECKING:
    from tests.conftest import Run

Desk = Any
EXAMPLE = Path(__file__).parents[2] / "example-vault"
AUTH = "file:src/middleware/auth.ts"
JOSE_PAGE = "[[2025-09-12 0912 claude-code add-jwt-auth#^o-7f3k2m9qxa]]"


@pytest.fixture
def auth(desk: Desk) -> Desk:
    """What the auth middleware used, and a page."""
    said = {"subject": "file:auth.ts", "relation": "uses"}
    desk.run("link", **said, object="library:jsonwebtoken", valid_from="2025-02-03", valid_to="2025-09-12")
    desk.run("link", **said, object="library:jose", valid_from="2025-09-12", reasoning="edge runtime")
    desk.put("Note.md", "---\ntype: fact\ntitle: A fact\nconfidence: 0.9\n---\nuses:: [[Other]]\n")
    desk.put("Other.md", "x\n")
    return desk


USED = "SELECT ?library WHERE { <urn:wikimem:file::auth.ts> wm:uses ?library }"


def test_what_holds_is_there_as_plain_triples(auth: Desk) -> None:
    jose, old = "urn:wikimem:library:jose", "urn:wikimem:library:jsonwebtoken"
    assert auth.run("sparql", query=USED).rows == ((jose,),)
    assert auth.run("sparql", query=USED, as_of="2025-03-15").rows == ((old,),)
    assert auth.run("sparql", query=USED, as_of="2025-01-01").rows == ()


def test_assertions_provenance_and_pages_can_be_asked_for(auth: Desk) -> None:
    query = """
        SELECT ?label ?why ?end WHERE {
          ?edge rdf:predicate wm:uses ; rdf:object ?library . ?library skos:prefLabel ?label .
          ?assertion wm:asserts ?edge ; prov:generatedAtTime ?time ; prov:wasAttributedTo ?who .
          OPTIONAL { ?assertion wm:reasoning ?why } OPTIONAL { ?edge schema:validThrough ?end }
        } ORDER BY ?label
    """
    found = auth.run("sparql", query=query)
    assert found.vars == ("label", "why", "end")
    assert found.rows == (("jose", "edge runtime", None), ("jsonwebtoken", None, "2025-09-12"))
    pages = auth.run("sparql", query="SELECT ?t WHERE { ?p a wm:Page ; dct:title ?t ; wm:confidence 0.9 }")
    assert pages.rows == (("A fact",),)
    assert text(pages).splitlines() == ["?t", "A fact"]
    linked = "ASK { ?a dct:title 'A fact' . ?b dct:title 'Other' . ?a wm:uses ?b }"
    assert auth.run("sparql", query=linked).rows == (("true",),)


def test_rows_in_which_nothing_is_bound_are_rows_too(auth: Desk) -> None:
    nothing = "SELECT ?x WHERE { ?s a wm:Library OPTIONAL { ?s wm:nothing ?x } }"
    assert auth.run("sparql", query=nothing).rows == ((None,), (None,))
    first = "SELECT ?x ?n WHERE { ?s a wm:Library ; skos:prefLabel ?n OPTIONAL { ?s wm:nothing ?x } } ORDER BY ?n"
    assert auth.run("sparql", query=first).rows == ((None, "jose"), (None, "jsonwebtoken"))
    made = auth.run("sparql", query="CONSTRUCT { ?s a wm:Library } WHERE { ?s a wm:Library }")
    assert (made.vars, len(made.rows)) == (("subject", "predicate", "object"), 2)


def test_rows_are_limited(auth: Desk) -> None:
    found = auth.run("sparql", query="SELECT * WHERE { ?s ?p ?o }", limit=3)
    assert (len(found.rows), found.more) == (3, True)
    assert "--limit" in text(found)


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("DELETE WHERE { ?s ?p ?o }", Refused),
        ("INSERT DATA { <urn:a> <urn:b> <urn:c> }", Refused),
        ("LOAD <file:///etc/hostname>", Refused),
        ("DROP ALL", Refused),
        ("SELECT * WHERE { SERVICE <{url}> { ?s ?p ?o } }", Refused),
        ("SELECT * WHERE { ?s ?p ?o FILTER EXISTS { SERVICE SILENT <{url}> { ?a ?b ?c } } }", Refused),
        ("SELECT * FROM <{url}> WHERE { ?s ?p ?o }", Refused),
        ("SELECT * FROM NAMED <{url}> WHERE { GRAPH ?g { ?s ?p ?o } }", Refused),
        ("SELECT * WHERE { SELECT * WHERE { SERVICE <{url}> { ?s ?p ?o } } }", Refused),
        ("SELECT ?s WHERE { GRAPH ?g { ?s ?p ?o } }", Refused),
        ("ASK { ?a ?b ?c FILTER NOT EXISTS { GRAPH <urn:g> { ?s ?p ?o } } }", Refused),
        ("SELECT", Invalid),
        ("", Invalid),
        ("SELECT ?x WHERE { ?x nope:y ?z }", Invalid),
        ("x" * 30_000, Invalid),
    ],
)
def test_a_query_changes_nothing_and_reaches_nobody(auth: Desk, query: str, error: type[Exception]) -> None:
    before = auth.git("rev-parse", "HEAD")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/"
        with pytest.raises(error):
            auth.run("sparql", query=query.replace("{url}", address))
        with pytest.raises(TimeoutError):
            server.accept()
    assert auth.git("rev-parse", "HEAD") == before


def test_a_query_that_runs_for_ever_is_stopped(auth: Desk) -> None:
    endless = "SELECT (count(*) AS ?n) WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n2 ?o }"
    with pytest.raises(Unavailable, match="longer than 2 seconds"):
        auth.run("sparql", query=endless, timeout=2)


def test_a_timeline_is_in_the_order_of_the_world(auth: Desk) -> None:
    found = auth.run("timeline", about="file:auth.ts")
    assert [(each.time, each.kind) for each in found.entries] == [
        ("2025-02-03", "began"),
        ("2025-09-12", "ended"),
        ("2025-09-12", "began"),
    ]
    late = auth.run("timeline", about="file:auth.ts", since="2025-06", until="2025-12-31").entries
    assert [each.kind for each in late] == ["ended", "began"]
    assert "jose" in text(found)


@pytest.mark.parametrize("end", ["2025-06", "2025-06-10", "2025"])
def test_what_began_and_ended_in_one_period_began_first(desk: Desk, end: str) -> None:
    said = {"subject": "library:a", "relation": "uses", "object": "library:b"}
    desk.run("link", **said, valid_from="2025-06-10", valid_to=end)
    found = desk.run("timeline", about="library:a")
    assert [(each.time, each.kind) for each in found.entries] == [("2025-06-10", "began"), (end, "ended")]


def test_a_timeline_of_a_page_and_of_words(auth: Desk) -> None:
    auth.put(
        "Rule.md", "---\ntype: fact\ntitle: Freeze\nvalid_from: 2025-11-01\nvalid_to: 2025-12-01\n---\nNo deploy.\n"
    )
    for about in ("Freeze", "no deploy during the freeze"):
        found = auth.run("timeline", about=about)
        assert [(each.time, each.kind, each.source) for each in found.entries] == [
            ("2025-11-01", "began", "Rule.md"),
            ("2025-12-01", "ended", "Rule.md"),
        ]
    with pytest.raises((NotFound, Invalid)):
        auth.run("timeline", about=" ")


def git(root: Path, *arguments: str) -> None:
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def stated_before(run: Run, root: Path) -> None:
    said = ("--vault", str(root), "link", AUTH, "uses", "library:jsonwebtoken", "--project", "shop-api")
    page = "[[Use jsonwebtoken for JWT verification]]"
    done = run(*said, "--valid-from", "2025-02-03", "--source", page, "--reasoning", "the API ran on Node only",
               "--alternatives", "passport with a JWT strategy")  # fmt: skip
    assert done.code == 0, done.stderr
    assert run(*said, "--valid-to", "2025-09-12", "--source", "[[Use jose for JWT verification]]").code == 0


def stated_after(run: Run, root: Path) -> None:
    done = run("--vault", str(root), "link", AUTH, "uses", "library:jose", "--project", "shop-api",
               "--valid-from", "2025-09-12", "--source", JOSE_PAGE, "--reasoning", "the edge has no Node crypto",
               "--alternatives", "hand-written verification")  # fmt: skip
    assert done.code == 0, done.stderr


def used(run: Run, root: Path, day: str) -> list[tuple[str, str, list[str]]]:
    done = run("--vault", str(root), "--json", "graph", AUTH, "--relation", "uses", "--depth", "1", "--as-of", day)
    assert done.code == 0, done.stderr
    return [(edge["object"], edge["reasoning"], edge["alternatives"]) for edge in done.json["edges"]]


def story(run: Run, root: Path) -> None:
    """Before, at and after the switch."""
    old = ("library:jsonwebtoken", "the API ran on Node only", ["passport with a JWT strategy"])
    new = ("library:jose", "the edge has no Node crypto", ["hand-written verification"])
    days = ("2025-03-15", "2025-09-11", "2025-09-12")
    assert [used(run, root, day) for day in days] == [[old], [old], [new]]
    shown = run("--vault", str(root), "graph", "library:jose", "--as-of", "2025-09-12").stdout
    assert "[file] src/middleware/auth.ts --uses--> [library] jose (the edge has no Node crypto)" in shown
    assert "considered: hand-written verification" in shown
    assert "#^o-7f3k2m9qxa" in shown


def example(run: Run, folder: Path) -> Path:
    """The example vault, without what this test states itself."""
    root = folder / "example"
    shutil.copytree(EXAMPLE, root, ignore=shutil.ignore_patterns("graph"))
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "x")
    assert run("trust", str(root)).code == 0
    return root


def test_the_jose_story(run: Run, tmp_path: Path) -> None:
    root = example(run, tmp_path)
    stated_before(run, root)
    stated_after(run, root)
    story(run, root)


def test_the_jose_story_after_two_clones_learned_different_halves(run: Run, tmp_path: Path) -> None:
    root = example(run, tmp_path)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(root), str(clone))
    assert run("trust", str(clone)).code == 0
    stated_before(run, root)
    stated_after(run, clone)
    git(clone, "pull", "-q", "--no-rebase", "--no-edit", "origin", "HEAD")
    story(run, clone)


def test_the_example_vault_tells_the_story_itself(desk: Desk) -> None:
    shutil.copytree(EXAMPLE / "projects", desk.root / "projects")
    shutil.copytree(EXAMPLE / "global", desk.root / "global", dirs_exist_ok=True)
    shutil.copytree(EXAMPLE / "graph", desk.root / "graph")
    asked = {"entity": AUTH, "project": "shop-api", "relation": "uses", "depth": 1}
    held = [
        [edge.object for edge in desk.run("graph", **asked, as_of=day).edges] for day in ("2025-03-15", "2025-09-12")
    ]
    assert held == [["library:jsonwebtoken"], ["library:jose"]]
    said = "[concept] JWT auth (provider = jose) --uses--> [library] jose (edge runtime) since 2025-09-12"
    assert said in desk.run("graph", entity="JWT auth", project="shop-api", as_of="2025-10-01").paths
    assert desk.run("graph", entity="JWT auth", as_of="2025-03-15").entity.properties == {"provider": "jsonwebtoken"}
    (edge,) = desk.run("graph", **asked, as_of="2025-09-12").edges
    assert len(edge.alternatives) == 3
    assert desk.run("graph", entity=AUTH, project="shop-api").problems == ()
