"""extract: what pages state becomes their assertions, when somebody asks for it, and entities get what is known."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wikimem.errors import NotFound
from wikimem.graph.extraction.sentences import Observed
from wikimem.memory.extraction import add_stated, assertions_of
from wikimem.present.text import text
from wikimem.search.edges import asserted_edges
from wikimem.search.filters import make_filter
from wikimem.search.graphview import open_view
from wikimem.search.search import search

Desk = Any
EXAMPLE = Path(__file__).parents[2] / "example-vault"
CHOICE = "JWTs are verified with jose in `src/auth.ts`, because the edge runtime has no Node crypto.\n"


def edges(desk: Desk, entity: str, **more: Any) -> list[str]:
    return [edge.words for edge in desk.run("graph", entity=entity, depth=1, **more).edges]


def remembered(desk: Desk, title: str, words: str, **more: Any) -> Any:
    return desk.run("remember", title=title, text=words, **{"type": "fact", "project": "shop"} | more).page


def test_a_dry_run_says_what_it_would_add_and_writes_nothing(desk: Desk) -> None:
    page = remembered(desk, "Auth", CHOICE)
    before = desk.git("rev-parse", "HEAD")
    found = desk.run("extract", page="Auth", dry_run=True)
    assert [(e.page, e.subject, e.predicate, e.object, e.new) for e in found.edges] == [
        (page.path, "file:src/auth.ts", "uses", "library:jose", True)
    ]
    assert (found.new, found.commits) == (1, ())
    assert "file:src/auth.ts --uses--> library:jose (1)" in text(found)
    assert desk.git("rev-parse", "HEAD") == before
    assert desk.git("status", "--porcelain") == ""
    with pytest.raises(NotFound):
        desk.run("graph", entity="library:jose")


def test_a_real_run_commits_assertions_that_cite_the_page_and_its_words(desk: Desk) -> None:
    page = remembered(desk, "Auth", CHOICE)
    done = desk.run("extract", page="Auth")
    assert done.commits == (desk.git("rev-parse", "HEAD"),)
    assert desk.git("log", "-1", "--format=%s") == "extract: 1 statement of Auth"
    changed = desk.git("show", "--name-only", "--format=", "HEAD").splitlines()
    assert changed == ["graph/.gitattributes", f"graph/{changed[1].split('/')[1]}/{page.id}.nt"]
    (edge,) = desk.run("graph", entity="library:jose").edges
    assert edge.words == "[file] src/auth.ts --uses--> [library] jose (the edge runtime has no Node crypto)"
    assert edge.sources == (page.path,)
    assert CHOICE.strip() in desk.text(changed[1])


def test_extracting_again_changes_nothing(desk: Desk) -> None:
    remembered(desk, "Auth", CHOICE)
    desk.run("extract", page="all")
    before = desk.git("rev-parse", "HEAD")
    again = desk.run("extract", page="all")
    assert (again.new, again.commits, desk.git("rev-parse", "HEAD")) == (0, (), before)
    assert [edge.new for edge in again.edges] == [False]


def test_what_is_edited_away_counts_no_more_and_what_is_written_instead_does(desk: Desk) -> None:
    page = remembered(desk, "Auth", CHOICE)
    desk.run("extract", page="Auth")
    desk.run("edit", page="Auth", replace=["verified with jose", "verified with Zod"])
    with pytest.raises(NotFound):
        desk.run("graph", entity="library:jose")
    desk.run("extract", page="Auth")
    assert len(edges(desk, "library:Zod")) == 1
    desk.run("edit", page="Auth", replace=["verified with Zod", "verified with jose"])
    assert len(edges(desk, "library:jose")) == 1, "the words are there again"
    assert desk.run("graph", entity="file:src/auth.ts", project="shop").edges[0].sources == (page.path,)


def test_what_a_person_took_back_is_not_stated_again(desk: Desk) -> None:
    remembered(desk, "Auth", CHOICE)
    desk.run("extract", page="Auth")
    said = {"subject": "file:src/auth.ts", "relation": "uses", "object": "library:jose", "project": "shop"}
    desk.run("link", **said, retract=True)
    assert desk.run("extract", page="Auth").new == 0
    with pytest.raises(NotFound):
        desk.run("graph", entity="library:jose")


def test_an_agent_may_take_back_what_rules_found(desk: Desk) -> None:
    remembered(desk, "Auth", CHOICE)
    desk.run("extract", page="Auth")
    said = {"subject": "file:src/auth.ts", "relation": "uses", "object": "library:jose", "project": "shop"}
    assert desk.run("link", by="codex", **said, retract=True).edge is None


def test_a_decision_dates_what_it_states(desk: Desk) -> None:
    remembered(desk, "Use Hono", "We chose Hono over Fastify.\n", type="decision", valid_from="2025-08-18")
    desk.run("extract", page="Use Hono")
    assert "[decision] Use Hono --rejected--> [library] Fastify since 2025-08-18" in edges(desk, "library:Fastify")


def test_a_secret_in_a_persons_page_goes_into_no_file(desk: Desk) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    desk.put("Auth.md", f"We switched from Jest to Vitest, token {secret}.\n\nWe switched from Express to Hono.\n")
    found = desk.run("extract", page="Auth")
    assert secret not in str(found)
    assert [edge.object for edge in found.edges] == ["library:Hono"]


def test_nothing_of_a_forgotten_page_comes_back(desk: Desk) -> None:
    page = remembered(desk, "Auth", CHOICE)
    desk.run("extract", page="Auth")
    desk.run("forget", page=page.id)
    assert desk.run("extract", page="all").new == 0
    with pytest.raises(NotFound):
        desk.run("graph", entity="library:jose")


def test_observations_can_be_kept_with_the_page_that_is_being_written(desk: Desk) -> None:
    wiki = desk.wiki("codex")
    page = remembered(desk, "Session", "- 09:14:40 **Edit** `src/auth.ts` verify tokens with jose ^o-1\n")
    seen = [Observed("Edit", "`src/auth.ts` verify tokens with jose", "o-1")]
    stated = assertions_of(wiki, wiki.find(page.path), seen)
    with open_view(wiki) as view, wiki.transaction("session") as draft:
        assert add_stated(view, draft, stated) == 1
        draft.subject = "session"
    (edge,) = desk.run("graph", entity="library:jose").edges
    assert (edge.weight, edge.sources) == (0.5, (f"{page.path}#^o-1",))


def test_a_page_that_supposes_denies_and_counts_states_nothing(desk: Desk) -> None:
    lines = (
        "I replaced 4 callers.",
        "Run `pip install --upgrade pip` first.",
        "The old README says we decided to use gulp.",
        "I do not think we decided to use Redis.",
        "만약 loki를 쓰기로 했다면 디스크가 더 필요합니다.",
        "sqlite를 쓰기로 결정하지 않았습니다.",
    )
    remembered(desk, "Talk", "\n\n".join(lines) + "\n\nWe went with esbuild rather than terser since it's faster.\n")
    found = desk.run("extract", page="Talk", dry_run=True).edges
    assert [(each.predicate, each.object, each.reasoning) for each in found] == [
        ("uses", "library:esbuild", "it's faster"),
        ("rejected", "concept:terser", ""),
    ]


# Pages of entities


def speak_of_hono(desk: Desk, count: int) -> None:
    for number in range(count):
        remembered(desk, f"Note {number}", f"`src/part{number}.ts` uses Hono.\n")


def test_a_page_is_made_for_an_entity_that_three_pages_speak_of(desk: Desk) -> None:
    speak_of_hono(desk, 2)
    assert desk.run("extract", page="all", pages=True).written == ()
    remembered(desk, "Note 2", "`src/part2.ts` uses Hono.\n")
    done = desk.run("extract", page="all", pages=True)
    assert done.written == ("global/entities/Hono.md",)
    made = desk.text("global/entities/Hono.md")
    assert "tags:\n  - library" in made or "tags: [library]" in made
    assert "- is used by src/part0.ts" in made
    assert "Sources: [[Note 0]], [[Note 1]], [[Note 2]]" in made
    before = desk.git("rev-parse", "HEAD")
    assert desk.run("extract", page="all", pages=True).written == ()
    assert desk.git("rev-parse", "HEAD") == before


def test_a_persons_page_keeps_its_words_and_an_edited_section_is_theirs(desk: Desk) -> None:
    desk.put("Hono.md", "---\ntype: entity\ntags: [library]\n---\nFast.\n")
    remembered(desk, "Note", "`src/part.ts` uses Hono.\n")
    assert desk.run("extract", page="all", pages=True, dry_run=True).written == ()
    desk.run("extract", page="all")
    assert desk.run("extract", page="all", pages=True, dry_run=True).written == ("Hono.md",)
    assert desk.text("Hono.md").endswith("Fast.\n")
    desk.run("extract", page="all", pages=True)
    assert desk.text("Hono.md").startswith("---\ntype: entity\ntags: [library]\n---\nFast.\n\n%% wikimem:known ")
    mine = desk.text("Hono.md").replace("is used by", "is very much used by")
    desk.put("Hono.md", mine)
    remembered(desk, "Other", "`src/other.ts` uses Hono.\n")
    done = desk.run("extract", page="all", pages=True)
    assert (done.written, done.theirs) == ((), ("Hono.md",))
    assert desk.text("Hono.md") == mine
    assert "Left as somebody edited them" in text(done)


SECRET_PLAN = "because of the SECRETPLAN of the board"


def turbine_and_rotor(desk: Desk, **more: Any) -> None:
    """Two pages of entities that say why the one uses the other, as a third page stated it."""
    for title in ("Turbine", "Rotor"):
        remembered(desk, title, "Mine.\n", type="entity", tags=["library"], project=None)
    remembered(desk, "Turbine choice", "As decided.\n")
    desk.run("link", **TURBINE_USES_ROTOR, reasoning=SECRET_PLAN, **more)
    desk.run("extract", page="all", pages=True)
    assert len(told_of_the_plan(desk)) == 2


TURBINE_USES_ROTOR = {"subject": "library:turbine", "relation": "uses", "object": "library:rotor"}


def told_of_the_plan(desk: Desk) -> list[str]:
    hits = desk.run("search", query="SECRETPLAN", limit=10).hits
    return sorted(hit.path for hit in hits if "SECRETPLAN" in desk.text(hit.path))


@pytest.mark.parametrize("unlink", [False, True])
def test_forgetting_a_page_takes_what_it_stated_out_of_the_pages_of_entities_in_the_same_commit(
    desk: Desk, unlink: bool
) -> None:
    turbine_and_rotor(desk, source="[[Turbine choice]]")
    before = int(desk.git("rev-list", "--count", "HEAD"))
    done = desk.run("forget", page="Turbine choice", unlink=unlink)
    assert (done.links_in, done.unlinked, done.notes) == ((), (), ())
    assert int(desk.git("rev-list", "--count", "HEAD")) == before + 1
    assert told_of_the_plan(desk) == []
    files = [path for kind in ("*.md", "*.nt") for path in desk.root.rglob(kind)]
    assert not any("SECRETPLAN" in path.read_text(encoding="utf-8") for path in files)
    assert desk.text("global/entities/Turbine.md").rstrip().endswith("Mine.")
    assert desk.git("status", "--porcelain") == ""


def test_what_is_taken_back_leaves_the_pages_of_entities_in_the_same_commit(desk: Desk) -> None:
    turbine_and_rotor(desk)
    desk.run("link", subject="library:turbine", relation="depends_on", object="library:blade")
    desk.run("extract", page="all", pages=True)
    desk.run("link", **TURBINE_USES_ROTOR, retract=True)
    assert told_of_the_plan(desk) == []
    assert "- depends on blade" in desk.text("global/entities/Turbine.md")
    assert "wikimem:known" not in desk.text("global/entities/Rotor.md")


def test_a_section_that_nothing_is_asserted_of_any_more_is_emptied(desk: Desk) -> None:
    turbine_and_rotor(desk, source="[[Turbine choice]]")
    page = next(path for path in desk.root.rglob("Turbine choice.md"))
    page.unlink()
    for path in desk.root.glob("graph/*/*.nt"):
        path.unlink()
    desk.run("extract", page="all", pages=True)
    assert told_of_the_plan(desk) == []


def test_a_section_whose_links_followed_a_moved_page_is_still_renewed(desk: Desk) -> None:
    turbine_and_rotor(desk, source="[[Turbine choice]]")
    desk.run("move", page="Turbine choice", to="Chosen turbine")
    assert "[[Chosen turbine]]" in desk.text("global/entities/Turbine.md")
    done = desk.run("forget", page="Chosen turbine")
    assert (done.notes, told_of_the_plan(desk)) == ((), [])


def test_an_edited_section_is_named_when_what_it_says_is_forgotten(desk: Desk) -> None:
    turbine_and_rotor(desk, source="[[Turbine choice]]")
    path = "global/entities/Turbine.md"
    desk.put(path, desk.text(path).replace("- uses", "- very much uses"))
    notes = desk.run("forget", page="Turbine choice").notes
    assert any(path in note and "edited" in note for note in notes)
    assert "very much uses" in desk.text(path)


def test_a_reason_on_the_page_of_an_entity_links_hides_and_tags_nothing(desk: Desk) -> None:
    remembered(desk, "Home", "The start.\n", project=None)
    remembered(desk, "Gizmo", "Mine.\n", type="entity", tags=["library"], project=None)
    reason = "<script>x</script> [[[Home]]] [Home](Home.md) uses:: x %%% hidden #tagged ^block $$ /wikimem:known"
    desk.run("link", by="codex", subject="library:gizmo", relation="uses", object="library:alpha", reasoning=reason)
    desk.run("extract", page="all", pages=True)
    section = desk.text("global/entities/Gizmo.md").partition("Mine.")[2]
    assert "hidden" in section
    for sign in ("<script", "</script", "[[", "](", "::", " %% hidden", "#tagged", "^block", "$$"):
        assert sign not in section.replace("%% wikimem:known", "").replace("%% /wikimem:known", ""), sign
    assert desk.wiki().find("Gizmo").tags == ("library",)
    assert [edge.object for edge in desk.run("graph", entity="library:gizmo").edges] == ["library:alpha"]


def test_links_in_a_generated_section_are_no_edges_and_those_of_the_person_are(desk: Desk) -> None:
    turbine_and_rotor(desk)
    assert len(edges(desk, "library:turbine")) == 1, "the section links to the page of what it uses"
    path = "global/entities/Turbine.md"
    desk.put(path, desk.text(path).replace("Mine.", "Mine, like [[Rotor]]."))
    assert sorted(" ".join(edge.split()[2:3]) for edge in edges(desk, "library:turbine")) == [
        "--related_to-->",
        "--uses-->",
    ]


# What it adds to search

QUESTIONS = (
    ("what replaced jsonwebtoken?", "jose"),
    ("which library does the auth middleware use?", "jose"),
    ("what does src/middleware/auth.ts use?", "jose"),
    ("what did we reject when we chose jose?", "jsonwebtoken"),
    ("why was jsonwebtoken rejected?", "Use jose for JWT verification"),
    ("what took the place of Jest?", "Vitest"),
    ("which decision ruled out Fastify?", "Build the API on Hono"),
    ("what replaced Express?", "Build the API on Hono"),
    ("what fixed ECONNREFUSED?", "ECONNREFUSED 127.0.0.1-5432 on the build machine"),
    ("which file fixes the CORS failure?", "CORS failure when the checkout posts an order"),
    ("where was the TypeError about sub thrown?", "TypeError - Cannot read properties of undefined (reading 'sub')"),
    ("where is withRetry() defined?", "재시도는 지수 백오프로 한다"),
    ("what was the alternative to an idempotency key?", "Require an idempotency key for new orders"),
    ("what replaced the in-memory counters of the rate limit?", "Redis"),
    ("what did the JWT auth use before?", "jsonwebtoken"),
    ("what provides JWT auth?", "jose"),
    ("who ruled out hand-written verification?", "Use jose for JWT verification"),
    ("what replaced offset pagination?", "Paginate lists with a cursor"),
    ("what uses jose?", "src-middleware-auth.ts"),
    ("which files were edited with src/middleware/auth.ts?", "2025-09-12 0912 claude-code add-jwt-auth"),
    ("what did node:test lose against?", "Test with Vitest"),
    ("what fixes ERR_MODULE_NOT_FOUND?", "ERR_MODULE_NOT_FOUND after the switch to ES modules"),
    ("jsonwebtoken 대신 무엇을 쓰나?", "jose"),
    ("what replaced login sessions?", "Log in with JWT access tokens"),
    ("which library succeeded jsonwebtokn?", "jose"),
)
"""A question about a relation, and the name of the page that answers it."""


def reciprocal_ranks(desk: Desk, *, with_edges: bool) -> list[float]:
    wiki = desk.wiki()
    wiki.refresh()
    where = make_filter(now=wiki.clock())
    ranks = []
    for question, answer in QUESTIONS:
        with asserted_edges(wiki, where) as found:
            outcome = search(
                wiki.index,
                question,
                where,
                now=wiki.clock(),
                read_page=wiki.page_to_recall,
                mask=wiki.redactor.mask,
                edges=found if with_edges else None,
            )
        names = [Path(hit.path).stem for hit in outcome.hits]
        ranks.append(1 / (names.index(answer) + 1) if answer in names else 0.0)
    return ranks


def test_relational_questions_are_answered_better_with_the_graph(make_desk: Callable[..., Desk]) -> None:
    desk = make_desk("example")
    shutil.copytree(EXAMPLE, desk.root, dirs_exist_ok=True)
    desk.git("add", "-A")
    desk.git("commit", "-qm", "the example")
    desk.now = desk.now.replace(year=2026, month=2)
    desk.run("extract", page="all")
    without, with_ = (reciprocal_ranks(desk, with_edges=each) for each in (False, True))
    assert sum(with_) > sum(without) * 1.1
    assert sum(rank >= 1 / 3 for rank in with_) > sum(rank >= 1 / 3 for rank in without)
    worse = [question for (question, _), old, new in zip(QUESTIONS, without, with_, strict=True) if new < old / 2]
    assert worse == []
