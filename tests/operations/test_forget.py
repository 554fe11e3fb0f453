"""forget: what links to the page, and what every part of the index held of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from wikimem.errors import Damaged, NotFound
from wikimem.present.text import text

Desk = Any


def test_counts_are_those_of_the_index_before_and_nothing_after(desk: Desk) -> None:
    desk.put("a.md", "---\naliases: [zebra]\ntags: [striped]\n---\n# A\n\nzanzibar [[b]] [[c]]\n\n## B\n\ngiraffe\n")
    desk.put("b.md", "[[a]]\n")
    wiki = desk.wiki()
    wiki.refresh()
    passages = len(wiki.index.page_passages(wiki.index.page("a.md").number))
    plan = desk.run("forget", page="a.md", dry_run=True)
    assert (plan.removed.pages, plan.removed.passages, plan.removed.links) == (1, passages, 2)
    assert "would go from the index: 1 pages" in text(plan)
    done = desk.run("forget", page="a.md")
    assert done.removed == plan.removed
    assert done.links_in == ("b.md",)
    assert "gone from the index: 1 pages" in text(done)
    for query in ("zanzibar", "giraffe", "zebra", "striped"):
        assert all(hit.path != "a.md" for hit in desk.run("search", query=query, status="any").hits)
    with pytest.raises(NotFound):
        desk.run("read", page="zebra")
    assert desk.run("reindex", verify=True).differences == ()


def test_a_part_that_keeps_something_is_an_error(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    from wikimem.index.vectors import VectorIndex

    desk.put("a.md", "zanzibar\n")
    desk.run("status")
    monkeypatch.setattr(VectorIndex, "apply", lambda *_: None)
    with pytest.raises(Damaged, match="1 passages in the vectors"):
        desk.run("forget", page="a.md")
    assert not (desk.root / "a.md").exists()


def test_a_name_that_was_forgotten_can_be_used_again(desk: Desk) -> None:
    first = desk.run("remember", title="Port", text="8080").page
    desk.run("forget", page="Port")
    second = desk.run("remember", title="Port", text="9090").page
    assert second.path == first.path
    assert second.id != first.id
    assert desk.run("read", page="Port").body == "9090\n"


def test_of_two_pages_of_one_name_only_the_one_named_goes(desk: Desk) -> None:
    desk.put("a/README.md", "one\n")
    desk.put("b/README.md", "two\n")
    done = desk.run("forget", page="a/README.md")
    assert [page.path for page in done.pages] == ["a/README.md"]
    assert desk.text("b/README.md") == "two\n"


def test_unlink_leaves_the_text_of_the_links(desk: Desk) -> None:
    desk.put("notes/Old.md", "x\n")
    desk.put("notes/Kept.md", "y\n")
    before = (
        '---\nup: "[[Old]]" # why\nrel:\n  - \'[[Old|that]]\'\n  - "[[Kept]]"\nbare: [[Old]]\n---\n'
        "[[Old]] [[notes/Old|the *old* one]] ![[Old#x]] [see **it**](Old.md) [[Kept]]\r\n"
        "uses:: [[Old]]\n| [[Old\\|cell]] |\n|---|\n`[[Old]]`"
    )
    (desk.root / "notes/a.md").write_bytes(before.encode())
    done = desk.run("forget", page="Old", unlink=True)
    assert (desk.root / "notes/a.md").read_bytes().decode() == (
        '---\nup: "Old" # why\nrel:\n  - \'that\'\n  - "[[Kept]]"\nbare: Old\n---\n'
        "Old the *old* one Old see **it** [[Kept]]\r\n"
        "uses:: Old\n| cell |\n|---|\n`[[Old]]`"
    )
    assert done.unlinked == ("notes/a.md",)
    assert done.links_in == ()
    assert sorted(desk.git("show", "--name-only", "--format=", "HEAD").splitlines()) == ["notes/Old.md", "notes/a.md"]
    assert desk.run("check", rule=["broken-link"]).problems == ()


def test_unlinking_in_a_folded_value_keeps_the_comments_of_others(desk: Desk) -> None:
    desk.put("Old way.md", "x\n")
    head = '---\nrel:\n-   "[[Old way]]"   # why this\nup: "[[Old way]]" # and that\n'
    desk.put("a.md", head + "note: >-\n  about [[Old\n  way]]\n---\n")
    desk.run("forget", page="Old way.md", unlink=True)
    assert desk.text("a.md") == head.replace("[[Old way]]", "Old way") + "note: about Old way\n---\n"


def test_what_cannot_be_unlinked_stays_and_is_named(desk: Desk) -> None:
    desk.put("notes/Old.md", "x\n")
    broken = "---\ntitle: a: b\n---\n[[Old]]\n"
    desk.put("broken.md", broken)
    desk.put("refs.md", "[old one][old] [[Old]]\n\n[old]: notes/Old.md\n")
    desk.put("mine.md", "---\nsupersedes: '[[Old]]'\n---\n[[Old]]\n")
    desk.put("notes/Old.md", "---\ntrust: agent\n---\nx\n")
    done = desk.run("forget", by="codex", page="Old", unlink=True)
    assert desk.text("broken.md") == broken
    assert desk.text("refs.md") == "[old one][old] Old\n\n[old]: notes/Old.md\n"
    assert desk.text("mine.md") == "---\nsupersedes: '[[Old]]'\n---\nOld\n"
    assert done.links_in == ("broken.md", "mine.md", "refs.md")
    assert done.unlinked == ("mine.md", "refs.md")
    assert any("broken.md" in note for note in done.notes)


def test_a_link_within_the_words_of_another(desk: Desk) -> None:
    desk.put("Old.md", "x\n")
    desk.put("a.md", "[![p](p.png)](Old.md)\n")
    desk.run("forget", page="Old.md", unlink=True)
    assert desk.text("a.md") == "![p](p.png)\n"


def test_links_that_mean_another_page_now_are_said(desk: Desk) -> None:
    desk.put("a/Deploy.md", "one\n")
    desk.put("b/c/Deploy.md", "two\n")
    desk.put("x.md", "[[Deploy]]\n")
    done = desk.run("forget", page="a/Deploy.md")
    assert any("b/c/Deploy.md" in note for note in done.notes)


def test_one_revert_brings_page_and_links_back(desk: Desk, make_desk: Callable[..., Desk]) -> None:
    desk.put("Old.md", "x\n")
    desk.put("a.md", "[[Old]]\n")
    done = desk.run("forget", page="Old.md", unlink=True)
    desk.git("revert", "--no-edit", done.commit)
    assert desk.text("a.md") == "[[Old]]\n"
    assert [link.path for link in desk.run("read", page="a.md").links_out] == ["Old.md"]
