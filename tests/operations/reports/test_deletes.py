"""What is deleted is gone from every answer, and nothing else is."""

from __future__ import annotations

from typing import Any

import pytest

from wikimem.errors import NotFound

Desk = Any


@pytest.mark.parametrize("shown", ["search", "list", "read"])
def test_an_id_that_was_shown_is_one_that_forget_takes(desk: Desk, shown: str) -> None:
    made = desk.run("remember", title="The okapi", text="x").page
    page_id = {
        "search": lambda: desk.run("search", query="okapi").hits[0].id,
        "list": lambda: next(page.id for page in desk.run("list").pages if page.path == made.path),
        "read": lambda: desk.run("read", page="The okapi").id,
    }[shown]()
    assert [page.path for page in desk.run("forget", page=page_id[-8:]).pages] == [made.path]
    for gone in (page_id, page_id[-8:], "The okapi", "1"):
        with pytest.raises(NotFound):
            desk.run("forget", page=gone)


@pytest.mark.parametrize("how", ["forget", "rm", "git rm"])
def test_a_page_that_is_gone_leaves_nothing_and_its_name_is_free(desk: Desk, how: str) -> None:
    page = desk.run("remember", title="Canary", text="The zebracanary sings.", tags=["birds"]).page
    other = desk.run("remember", title="Other", text="See [[Canary]].").page
    if how == "forget":
        done = desk.run("forget", page=page.id, reason="was wrong")
        assert (done.links_in, done.removed.pages) == ((other.path,), 1)
    elif how == "rm":
        (desk.root / page.path).unlink()
    else:
        desk.git("rm", "-q", page.path)
        desk.git("commit", "-qm", "away")
    for full in (False, True):
        desk.run("reindex", full=full)
        assert "zebracanary" not in repr(desk.run("search", query="zebracanary", status="any").hits)
        assert "zebracanary" not in desk.run("context", query="zebracanary").text
        assert desk.run("list", tag=["birds"]).total == 0
        assert [link["broken"] for link in desk.run("links", page=other.id).links] == [True]
    assert desk.run("reindex", verify=True).differences == ()
    if how == "rm":
        desk.git("add", "-A")
        desk.git("commit", "-qm", "away")
    again = desk.run("remember", title="Canary", text="Another bird.").page
    assert (again.path, again.id == page.id) == (page.path, False)
    assert [link["broken"] for link in desk.run("links", page=other.id).links] == [False]


def test_of_several_pages_of_one_name_the_others_stay(desk: Desk) -> None:
    for folder in ("x", "y", "x/y"):
        desk.put(f"{folder}/README.md", f"The okapi of {folder}.\n")
    desk.git("add", "-A")
    desk.git("commit", "-qm", "mine")
    desk.run("forget", page="x/README.md")
    left = {hit.path for hit in desk.run("search", query="okapi", streams=["words"]).hits}
    assert left == {"y/README.md", "x/y/README.md"}
