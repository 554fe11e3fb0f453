"""link and graph: what is stated is found, with who says it, since when, why, and what else there was."""

from __future__ import annotations

import re
from typing import Any

import pytest

from wikimem.errors import Invalid, NotFound, Refused
from wikimem.present.text import text

Desk = Any
AUTH = "file:src/auth.ts"


def words(desk: Desk, entity: str, **arguments: Any) -> list[str]:
    return [edge.words for edge in desk.run("graph", entity=entity, depth=1, **arguments).edges]


def test_a_statement_is_one_commit_and_is_found(desk: Desk) -> None:
    before = desk.git("rev-parse", "HEAD")
    desk.run("link", subject="concept:JWT auth", relation="property:provider", object="jose")
    done = desk.run(
        "link",
        subject="concept:JWT auth",
        relation="uses",
        object="library:jose",
        valid_from="2025-09-12",
        reasoning="edge runtime",
        alternatives=["jsonwebtoken"],
    )
    assert desk.git("rev-list", "--count", f"{before}..HEAD") == "2"
    assert desk.git("log", "-1", "--format=%s") == "link: JWT auth uses jose"
    assert desk.git("status", "--porcelain") == ""
    assert done.commit == desk.git("rev-parse", "HEAD")
    said = "[concept] JWT auth (provider = jose) --uses--> [library] jose (edge runtime) since 2025-09-12"
    found = desk.run("graph", entity="library:jose")
    assert [edge.words for edge in found.edges] == [said]
    assert found.edges[0].alternatives == ("jsonwebtoken",)
    assert found.edges[0].sources == ("stated by Ada Example",)
    assert desk.run("graph", entity="JWT auth").paths == (said,)
    assert said in text(found)
    assert "considered: jsonwebtoken" in text(found)


def test_the_files_carry_their_merge_rule_in_the_same_commit(desk: Desk) -> None:
    desk.run("link", subject=AUTH, relation="uses", object="library:jose")
    changed = desk.git("show", "--name-only", "--format=", "HEAD").splitlines()
    assert "graph/.gitattributes" in changed
    assert "merge=union" in desk.text("graph/.gitattributes")
    (path,) = [path for path in changed if path.endswith(".nt")]
    assert path.startswith("graph/links/")
    lines = desk.text(path).splitlines()
    assert lines == sorted(set(lines))


def test_stating_it_again_with_an_end_ends_it_and_only_adds_lines(desk: Desk) -> None:
    said = {"subject": AUTH, "relation": "uses", "object": "library:jsonwebtoken"}
    desk.run("link", **said, valid_from="2025-02-03")
    path = desk.git("show", "--name-only", "--format=", "HEAD").splitlines()[-1]
    before = set(desk.text(path).splitlines())
    ended = desk.run("link", **said, valid_to="2025-09-12")
    assert (ended.edge.valid_from, ended.edge.valid_to) == ("2025-02-03", "2025-09-12")
    assert before < set(desk.text(path).splitlines())
    assert [len(words(desk, AUTH, as_of=day)) for day in ("2025-02-02", "2025-09-11", "2025-09-12")] == [0, 1, 0]
    assert desk.run("link", **said, valid_to="2025-10-01").edge.valid_to == "2025-10-01"
    assert desk.run("link", **said, valid_to="..").edge.valid_to is None
    assert len(words(desk, AUTH)) == 1


def test_the_same_again_changes_nothing_and_another_source_is_evidence(desk: Desk) -> None:
    page = desk.run("remember", title="Auth uses jose", type="decision", project="shop").page
    said = {"subject": AUTH, "relation": "uses", "object": "library:jose", "project": "shop"}
    first = desk.run("link", **said)
    again = desk.run("link", **said)
    assert (again.commit, again.existing) == (None, True)
    assert first.edge.evidence == 1
    second = desk.run("link", **said, source=page.title, weight=0.5)
    assert (second.edge.evidence, second.edge.weight, second.edge.id) == (2, 1.0, first.edge.id)
    third = desk.run("link", **said, source=f"[[{page.title}#^o-1]]")
    assert third.edge.evidence == 2, "another block of the same page is no independent source"
    assert f"{page.path}#^o-1" in third.edge.sources
    assert f"graph/{page.id}" not in third.edge.sources
    assert desk.git("ls-files", f"graph/*/{page.id}.nt")


def test_taking_back_and_reviving(desk: Desk) -> None:
    said = {"subject": AUTH, "relation": "uses", "object": "library:jose"}
    desk.run("link", **said)
    gone = desk.run("link", **said, retract=True)
    assert gone.edge is None
    with pytest.raises(NotFound):
        desk.run("graph", entity="library:jose")
    with pytest.raises(NotFound, match="nobody states"):
        desk.run("link", **said, retract=True)
    assert desk.run("link", **said).edge.evidence == 1
    assert len(words(desk, "library:jose")) == 1


def test_of_what_was_taken_back_the_graph_says_so_and_never_offers_the_name_itself(desk: Desk) -> None:
    said = {"subject": "library:pump", "relation": "uses", "object": "library:rotor"}
    desk.run("link", **said)
    desk.run("link", **said, retract=True)
    for address in ("pump", "library:pump", "Library:PUMP"):
        with pytest.raises(NotFound, match=f"nothing is asserted of '{address}' any more") as caught:
            desk.run("graph", entity=address)
        assert "Closest" not in (caught.value.hint or "")
    with pytest.raises(NotFound, match="no entity 'pumpe'") as caught:
        desk.run("graph", entity="pumpe")
    assert "'pump'" not in (caught.value.hint or "")
    desk.run("link", **said)
    with pytest.raises(NotFound, match="no entity") as caught:
        desk.run("graph", entity="pumpe")
    assert "'pump'" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("valid_from", "valid_to", "noted"),
    [
        ("2025-06-10", "2025-06-10", True),
        ("2025-06-10", "2025-06-11", False),
        ("2025-06", "2025-06", False),
        ("2025-06-10", "2025-06", False),
        ("2025-06-10T09:00:00Z", "2025-06-10T12:00:00Z", True),
    ],
)
def test_what_begins_and_ends_on_one_day_is_noted_to_hold_on_none(
    desk: Desk, valid_from: str, valid_to: str, noted: bool
) -> None:
    said = {"subject": "library:p1", "relation": "uses", "object": "library:p2"}
    done = desk.run("link", **said, valid_from=valid_from, valid_to=valid_to)
    assert any("holds on no day" in note for note in done.notes) == noted


def test_one_fact_with_two_validities(desk: Desk) -> None:
    said = {"subject": "person:ada", "relation": "works_at", "object": "organization:Acme"}
    desk.run("link", **said, valid_from="2019", valid_to="2020")
    desk.run("link", **said, valid_from="2024-03")
    held = [len(words(desk, "person:ada", as_of=day)) for day in ("2018", "2019-06", "2022", "2024-03", "2025")]
    assert held == [0, 1, 0, 1, 1]
    (edge,) = desk.run("graph", entity="person:ada", as_of="2019-06").edges
    assert edge.holds == "maybe"
    assert "perhaps" in text(desk.run("graph", entity="person:ada", as_of="2019-06"))


def test_the_difference_between_two_dates(desk: Desk) -> None:
    desk.run("link", subject=AUTH, relation="uses", object="library:a", valid_from="2024", valid_to="2025-03-01")
    desk.run("link", subject=AUTH, relation="uses", object="library:b", valid_from="2025-03-01")
    found = desk.run("graph", entity=AUTH, since="2025-02-01", as_of="2025-04-01")
    assert ["library] b" in each for each in found.began] == [True]
    assert ["library] a" in each for each in found.ended] == [True]


def test_properties_where_the_latest_wins(desk: Desk) -> None:
    for value, day in (("jsonwebtoken", "2025-02-03"), ("jose", "2025-09-12")):
        desk.run("link", subject="concept:JWT auth", relation="provider=", object=value, valid_from=day)
    desk.run("link", subject="concept:JWT auth", relation="related_to", object="concept:login")
    assert desk.run("graph", entity="JWT auth").entity.properties == {"provider": "jose"}
    assert desk.run("graph", entity="JWT auth", as_of="2025-03").entity.properties == {"provider": "jsonwebtoken"}


def test_names_that_mean_the_same_entity(desk: Desk) -> None:
    desk.run("link", subject="person:ada", relation="alias", object="Ada Example")
    desk.run("link", subject="person:Ada Example", relation="prefers", object="concept:small commits")
    assert len(words(desk, "ada example")) == 1
    assert desk.run("graph", entity="person:ada").entity.aliases == ("Ada Example",)
    desk.run("link", subject="function:Foo.bar(x)", relation="uses", object="library:npm:@Scope/Name@2")
    assert words(desk, "function:foo.bar") == words(desk, "library:@scope/name")


def test_merging_and_splitting_entities(desk: Desk) -> None:
    desk.run("link", subject="library:panva-jose", relation="uses", object="concept:web crypto")
    desk.run("link", subject="library:jose", relation="uses", object="concept:jwk")
    desk.run("link", subject="library:panva-jose", relation="same_as", object="library:jose")
    merged = desk.run("graph", entity="library:panva-jose")
    assert merged.entity.name == "jose"
    assert {edge.object for edge in merged.edges} == {"concept:web crypto", "concept:jwk"}
    desk.run("link", subject="library:panva-jose", relation="same_as", object="library:jose", retract=True)
    assert len(words(desk, "library:jose")) == len(words(desk, "library:panva-jose")) == 1


def test_a_name_of_several_entities_lists_them(desk: Desk) -> None:
    desk.run("link", subject="library:redis", relation="related_to", object="concept:Redis")
    with pytest.raises(Invalid, match="names 2 entities") as error:
        desk.run("graph", entity="redis")
    assert set(error.value.data["candidates"]) == {"library:redis", "concept:Redis"}
    assert len(words(desk, "library:redis")) == 1


def test_pages_and_entities_are_one_where_the_page_is_about_it(desk: Desk) -> None:
    desk.put("jose.md", "---\ntype: entity\ntitle: jose\ntags: [library]\naliases: [panva]\n---\nA library.\n")
    desk.put("Use.md", "---\ntype: decision\ntitle: Use jose\nvalid_from: 2025-09-12\n---\nuses:: [[jose]]\n")
    (edge,) = desk.run("graph", entity="panva").edges
    assert edge.words == "[decision] Use jose --uses--> [library] jose since 2025-09-12"
    assert edge.sources == ("Use.md",)
    assert desk.run("graph", entity="jose", as_of="2025-01-01").edges == ()
    desk.run("link", subject="[[Use]]", relation="causes", object="event:rewrite")
    assert len(desk.run("graph", entity="decision:Use jose", depth=1).edges) == 2
    desk.put("Note.md", "see [[jose]]\n")
    assert "[note] Note --related_to--> [library] jose" in words(desk, "library:jose")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"relation": "uuses"}, "no relation"),
        ({"object": AUTH}, "the same entity"),
        ({"relation": "works_at"}, "cannot be the subject"),
        ({"valid_from": "2025-09-12", "valid_to": "2025-02-03"}, "before valid_from"),
        ({"valid_from": "soonish"}, "valid_from"),
        ({"subject": "gadget:x"}, "no entity"),
        ({"subject": "jose"}, "no entity"),
        ({"subject": "file:"}, "no name"),
        ({"relation": "same_as"}, "cannot be the same"),
        ({"relation": "property:9 lives!"}, "no name for a property"),
        ({"alternatives": [" "]}, "alternatives"),
        ({"source": "no such page"}, "no page"),
    ],
)
def test_what_makes_no_sense_is_refused_and_writes_nothing(desk: Desk, arguments: dict[str, Any], said: str) -> None:
    before = desk.git("rev-parse", "HEAD")
    with pytest.raises((Invalid, NotFound), match=said):
        desk.run("link", **{"subject": AUTH, "relation": "uses", "object": "library:jose", **arguments})
    assert (desk.git("rev-parse", "HEAD"), desk.git("status", "--porcelain")) == (before, "")


def test_an_agent_does_not_end_what_a_person_stated(desk: Desk) -> None:
    said = {"subject": AUTH, "relation": "uses", "object": "library:jose"}
    desk.run("link", **said)
    for change in ({"valid_to": "2025-09-12"}, {"retract": True}):
        with pytest.raises(Refused, match="a person stated"):
            desk.run("link", by="codex", **said, **change)
    other = {**said, "object": "library:hono"}
    desk.run("link", by="codex", **other)
    assert desk.run("link", by="codex", **other, valid_to="2025-09-12").edge.valid_to == "2025-09-12"
    assert "stated by codex" in desk.run("graph", entity="library:hono", as_of="2025-01-01").edges[0].sources


def test_a_project_sees_its_own_and_what_belongs_to_none(desk: Desk) -> None:
    for project in ("shop", "bank"):
        desk.run("link", subject="file:a.py", relation="uses", object="library:jose", project=project)
        desk.run("link", subject="concept:auth", relation="uses", object=f"library:{project}-kit", project=project)
    desk.run("link", subject="concept:auth", relation="uses", object="library:jose")
    seen = {edge.subject for edge in desk.run("graph", entity="library:jose", project="shop", depth=1).edges}
    assert seen == {"file:a.py (project shop)", "concept:auth"}
    objects = {edge.object for edge in desk.run("graph", entity="concept:auth", project="shop").edges}
    assert objects == {"library:jose", "library:shop-kit"}
    with pytest.raises(NotFound):
        desk.run("graph", entity="library:bank-kit", project="shop")
    with pytest.raises(Invalid, match="2 entities"):
        desk.run("graph", entity="file:a.py")


def test_forgetting_a_page_forgets_what_it_asserts(desk: Desk) -> None:
    page = desk.run("remember", title="Auth uses jose", text="x", type="decision").page
    said = {"subject": AUTH, "relation": "uses", "object": "library:jose"}
    desk.run("link", **said, source=page.id)
    desk.run("forget", page=page.id)
    (path,) = desk.git("ls-files", "graph/*.nt").splitlines()
    assert desk.text(path).count("\n") == 1
    assert "forgotten" in desk.text(path)
    with pytest.raises(NotFound):
        desk.run("graph", entity="library:jose")
    desk.git("revert", "--no-edit", "HEAD")
    assert len(words(desk, "library:jose")) == 1, "git brings it back"


def test_an_assertion_whose_quote_has_gone_from_its_page_counts_nothing(desk: Desk) -> None:
    from wikimem.memory.link import Statement, link

    page = desk.run("remember", title="Auth", text="We verify\ntokens with jose.", type="fact").page
    statement = Statement(AUTH, "uses", "library:jose", source=page.id, quote="verify tokens with jose")
    link(desk.wiki(), statement)
    assert len(words(desk, "library:jose")) == 1
    desk.put(page.path, desk.text(page.path).replace("jose", "something else"))
    with pytest.raises(NotFound):
        desk.run("graph", entity="library:jose")


def test_secrets_do_not_reach_the_graph(desk: Desk) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    done = desk.run("link", subject=AUTH, relation="uses", object="library:jose", reasoning=f"token {token}")
    assert done.redacted
    assert token not in desk.git("log", "-p", "--all")
    assert all(token not in edge.words for edge in desk.run("graph", entity="library:jose").edges)


def test_odd_names_are_kept_apart_and_found(desk: Desk) -> None:
    names = [
        'say "hi"',
        "a\\b",
        "x > y < z",
        "東京 タワー",
        "emoji 😀",
        "50% off",
        "a:b:c",
        "[[x]]",
        "tab and {brace}|",
    ]
    for number, name in enumerate(names):
        desk.run("link", subject=f"concept:{name}", relation="related_to", object=f"event:e{number}")
    for number, name in enumerate(names):
        (edge,) = desk.run("graph", entity=f"concept:{name}", depth=1).edges
        assert edge.words == f"[concept] {name} --related_to--> [event] e{number}"
    assert desk.run("graph", entity="event:e1").problems == ()


def test_a_name_with_an_arrow_in_it_is_not_listed_as_further_away(desk: Desk) -> None:
    desk.run("link", subject="concept:--> two", relation="related_to", object="concept:plain two")
    shown = text(desk.run("graph", entity="concept:plain two"))
    assert shown.count("[concept] --> two --related_to--> [concept] plain two") == 1
    assert "Further away" not in shown
    desk.run("link", subject="concept:--> two", relation="related_to", object="concept:three")
    assert "Further away:" in text(desk.run("graph", entity="concept:plain two"))


def test_circles_end(desk: Desk) -> None:
    for one, other in (("a", "b"), ("b", "c"), ("c", "a"), ("b", "a")):
        desk.run("link", subject=f"concept:{one}", relation="causes", object=f"concept:{other}")
    found = desk.run("graph", entity="concept:a", depth=4)
    assert [(each.name, each.distance) for each in found.entities] == [("a", 0), ("b", 1), ("c", 1)]
    assert len(found.edges) == 4


def test_lines_that_a_person_adds_and_lines_that_are_none(desk: Desk) -> None:
    line = "<urn:wikimem:concept:a> <https://x.example/knows> <urn:wikimem:concept:b> .\n"
    desk.put("graph/links/hand.nt", line + "nonsense\n")
    found = desk.run("graph", entity="concept:a")
    assert [edge.predicate for edge in found.edges] == ["https://x.example/knows"]
    assert any("graph/links/hand.nt:2" in each for each in found.problems)
    assert any("unknown-predicate" in each for each in found.problems)


def test_a_hub_is_reached_and_not_walked_through(desk: Desk) -> None:
    hub = "urn:wikimem:library:hub"
    lines = [f"<urn:wikimem:concept:c{number}> <urn:wikimem:ns:uses> <{hub}> .\n" for number in range(10_000)]
    desk.put("graph/links/hub.nt", "".join(lines))
    through = desk.run("graph", entity="concept:c1", depth=3)
    assert [each.name for each in through.entities] == ["c1", "hub"]
    assert through.hubs == ("[library] hub",)
    of_it = desk.run("graph", entity="library:hub")
    assert len(of_it.edges) == 100
    assert of_it.more == 9_900
    assert any("not walked on from" in note for note in of_it.notes)


@pytest.mark.parametrize("picture", ["mermaid", "dot", "canvas", "svg"])
def test_pictures(desk: Desk, picture: str) -> None:
    import json
    import xml.etree.ElementTree as ET

    desk.put("jose.md", "---\ntype: entity\ntitle: jose\ntags: [library]\n---\n")
    desk.run("link", subject='concept:"<b>auth</b>" --> x', relation="uses", object="library:jose")
    drawn = text(desk.run("graph", entity="library:jose", format=picture))
    assert "jose" in drawn
    if picture == "canvas":
        canvas = json.loads(drawn)
        assert [each.get("file") for each in canvas["nodes"]] == ["jose.md", None]
        assert len(canvas["edges"]) == 1
    elif picture == "svg":
        assert ET.fromstring(drawn).tag.endswith("svg")
    else:
        assert "uses" in drawn
        assert not re.search(r'(?<!\\)"<b>', drawn), "no name ends its own quotes"
