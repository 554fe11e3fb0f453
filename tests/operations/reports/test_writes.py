"""Writes reach the one page that is meant, and leave what is near, alike or of the same name alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from wikimem.errors import Conflict, Invalid, NotFound, WikimemError

Desk = Any


def test_a_near_page_is_told_and_never_merged(desk: Desk) -> None:
    first = desk.run("remember", title="Mapping of units to products", text="Line A belongs to North.")
    before = desk.text(first.page.path)
    second = desk.run("remember", title="Products by unit: the mapping", text="Line A belongs to South.")
    assert [near.id for near in second.similar] == [first.page.id]
    assert 0 < second.similar[0].score <= 1
    assert desk.text(first.page.path) == before
    found = [hit.path for hit in desk.run("search", query="mapping of line A").hits]
    assert {first.page.path, second.page.path} <= set(found)


@pytest.mark.parametrize("pair", [("purple", "cyan"), ("1", "2"), ("on", "off")])
def test_two_values_of_one_thing_both_live(desk: Desk, pair: tuple[str, str]) -> None:
    pages = [desk.run("remember", title=f"The favourite setting is {value}").page for value in pair]
    statuses = [desk.run("read", page=page.id).frontmatter["status"] for page in pages]
    assert statuses == ["active", "active"]
    found = {hit.path for hit in desk.run("search", query="favourite setting").hits}
    assert {page.path for page in pages} <= found


@pytest.mark.parametrize(
    "address", ["tasks/buy groceries", "TASKS/BUY GROCERIES.md", "[[buy Groceries]]", "Buy groceries"]
)
def test_a_page_is_written_where_it_is_however_it_is_called(desk: Desk, address: str) -> None:
    desk.put("tasks/Buy groceries.md", "milk\n")
    desk.run("edit", page=address, text="eggs", mode="append")
    assert [path.name for path in (desk.root / "tasks").iterdir()] == ["Buy groceries.md"]
    assert desk.text("tasks/Buy groceries.md") == "milk\n\neggs\n"


def test_an_edit_follows_a_page_that_git_moved(desk: Desk) -> None:
    desk.put("wiki/concept/x.md", "---\ntitle: X concept\n---\nbody\n")
    desk.git("add", "-A")
    desk.git("commit", "-qm", "mine")
    desk.run("status")
    (desk.root / "wiki/concepts").mkdir()
    desk.git("mv", "wiki/concept/x.md", "wiki/concepts/x.md")
    desk.git("commit", "-qm", "moved")
    for value in ("0.5", "0.6"):
        assert desk.run("edit", page="X concept", set=[f"confidence={value}"]).page.path == "wiki/concepts/x.md"
    assert [path.name for path in (desk.root / "wiki").rglob("*.md")] == ["x.md"]
    assert [page.path for page in desk.run("list").pages if page.title == "X concept"] == ["wiki/concepts/x.md"]


@pytest.mark.parametrize("title", ["Day one", "day ONE", "Day  one "])
def test_a_day_that_has_a_page_is_not_begun_again(desk: Desk, title: str) -> None:
    first = desk.run("remember", title="Day one", text="Kept.")
    with pytest.raises(Conflict, match="Day one"):
        desk.run("remember", title=title, text="Other.")
    assert "Kept." in desk.text(first.page.path)


def test_one_title_in_two_projects_is_two_pages_and_neither_stands_for_the_other(desk: Desk) -> None:
    api = desk.run("remember", title="Stack", text="The api okapi.", project="api").page
    web = desk.run("remember", title="Stack", text="The web okapi.", project="web").page
    assert api.path != web.path
    for page, project in ((api, "api"), (web, "web")):
        found = desk.run("search", query="okapi stack", project=project, streams=["words"]).hits
        assert [hit.path for hit in found] == [page.path]
        assert desk.run("remember", title="Stack", text=f"The {project} okapi.", project=project).page.id == page.id
    with pytest.raises(Invalid, match="names 2 pages"):
        desk.run("edit", page="Stack", set=["confidence=0.5"])


@pytest.mark.parametrize("form", ["{id}", "{title}", "{path}", "[[{title}]]", "{tail}"])
def test_a_correction_closes_the_old_page_in_whatever_way_it_is_named(desk: Desk, form: str) -> None:
    old = desk.run("remember", title="The okapi port is 1", text="one").page
    bystander = desk.run("remember", title="The okapi port of staging is 1", text="one").page
    before = desk.text(bystander.path)
    address = form.format(id=old.id, title=old.title, path=old.path, tail=old.id[-8:])
    new = desk.run("remember", title="The okapi port is 2", text="two", supersedes=[address])
    assert new.superseded == (old.path,)
    found = [hit.path for hit in desk.run("search", query="okapi port", streams=["words"]).hits]
    assert old.path not in found
    assert {new.page.path, bystander.path} <= set(found)
    assert desk.text(bystander.path) == before


def test_the_same_memory_many_times_is_one_page_and_one_commit(desk: Desk) -> None:
    first = desk.run("remember", title="Likes tea", text="Every morning.")
    head = desk.git("rev-parse", "HEAD")
    for by, title, text in ((None, " Likes  tea ", "Every morning.\n\n"), ("codex", "Likes tea", "Every morning.")) * 5:
        again = desk.run("remember", by=by, title=title, text=text)
        assert (again.page.id, again.existing, again.commit) == (first.page.id, True, None)
    assert desk.git("rev-parse", "HEAD") == head


def test_all_that_is_not_a_page_lies_outside_the_tree(desk: Desk) -> None:
    before = set(desk.git("ls-files").splitlines())
    page = desk.run("remember", title="A fact", text="x").page
    for name, arguments in (
        ("search", {"query": "fact"}),
        ("context", {"query": "fact"}),
        ("read", {"page": page.id}),
        ("links", {"page": page.id}),
        ("check", {}),
        ("reindex", {"verify": True}),
    ):
        desk.run(name, **arguments)
        assert desk.git("status", "--porcelain", "--ignored") == "", name
    assert set(desk.git("ls-files").splitlines()) - before == {page.path}


@pytest.mark.parametrize(
    ("operation", "arguments", "name"),
    [
        ("search", {"query": "x", "as_of": "blurb"}, "as_of"),
        ("search", {"query": "x", "now": "blurb"}, "now"),
        ("context", {"query": "x", "now": "2025-02-30"}, "now"),
        ("list", {"since": "03/04/2025"}, "since"),
        ("log", {"since": "blurb"}, "since"),
        ("log", {"until": "x" * 500}, "until"),
        ("remember", {"title": "T", "valid_from": "blurb"}, "valid_from"),
        ("remember", {"title": "T", "valid_to": "2025-13"}, "valid_to"),
        ("remember", {"title": "T", "ttl": "6m"}, "ttl"),
        ("remember", {"title": "T", "ttl": "soon"}, "ttl"),
    ],
)
def test_a_date_that_is_none_is_refused_by_the_name_of_its_parameter(
    desk: Desk, operation: str, arguments: dict[str, str], name: str
) -> None:
    with pytest.raises(Invalid, match=rf"^{name}: '") as caught:
        desk.run(operation, **arguments)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("search", {"query": "x", "limt": 3}),
        ("search", {"query": "x", "limit": "three"}),
        ("remember", {}),
        ("edit", {"page": "Home"}),
        ("edit", {"page": "Home", "text": "All new."}),
    ],
)
def test_what_to_do_about_a_mistake_is_told_for_every_door(
    desk: Desk, operation: str, arguments: dict[str, Any]
) -> None:
    with pytest.raises(Invalid) as caught:
        desk.run(operation, **arguments)
    said = caught.value.hint.replace(f"or `wikimem {operation} --help` at a command line", "")
    assert said
    assert "--" not in said


@pytest.mark.parametrize(
    "address", ["../x.md", "/etc/passwd", ".git/config", ".wikimem/config.toml", "templates/Fact.md"]
)
@pytest.mark.parametrize(
    ("operation", "more"),
    [("read", {}), ("links", {}), ("edit", {"set": ["a=b"]}), ("move", {"to": "z/"}), ("forget", {})],
)
def test_what_is_no_page_of_the_vault_is_never_reached(
    desk: Desk, operation: str, more: dict[str, Any], address: str
) -> None:
    head = desk.git("rev-parse", "HEAD")
    with pytest.raises(WikimemError):
        desk.run(operation, page=address, **more)
    assert (desk.git("rev-parse", "HEAD"), desk.git("status", "--porcelain")) == (head, "")


def test_the_same_path_in_two_vaults_is_two_pages(make_desk: Callable[..., Desk]) -> None:
    one, two = make_desk("one"), make_desk("two")
    for desk, word in ((one, "okapi"), (two, "ibex")):
        desk.put("README.md", f"The {word}.\n")
        desk.git("add", "-A")
        desk.git("commit", "-qm", "mine")
        desk.run("status")
    one.run("forget", page="README.md")
    with pytest.raises(NotFound):
        one.run("read", page="README.md")
    assert two.run("search", query="ibex").hits[0].path == "README.md"
    assert two.text("README.md") == "The ibex.\n"


def test_a_memory_that_is_all_in_its_title_reaches_an_agent(desk: Desk) -> None:
    desk.run("remember", title="Deploys go through the blue pipeline")
    desk.run("remember", title="Use tabs and never spaces", type="preference", pinned=True)
    given = desk.run("context", query="how do deploys go through the pipeline")
    assert [item.title for item in given.items][:2] == [
        "Use tabs and never spaces",
        "Deploys go through the blue pipeline",
    ]
    assert "Use tabs and never spaces" in desk.run("context", query="what colour is the sky on mars").text
