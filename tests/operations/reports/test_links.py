"""Links as people write them, by the hundred: none is lost, none is called missing that is there."""

from __future__ import annotations

from typing import Any

import pytest

Desk = Any


@pytest.mark.parametrize(
    ("value", "targets"),
    [
        ("\n  - [[Target]]suffix", ["Target"]),
        (" [[Target]], [[Other]]", ["Target", "Other"]),
        (" [[Target]]x [[Other]]", ["Target", "Other"]),
        (' "[[Target]]" and [[Other]]', ["Target", "Other"]),
        ("\n- [[Target#Part|shown]]\n- see [[Other]]", ["Target", "Other"]),
        (" [ [[Target]], [[Other]] ]", ["Target", "Other"]),
        (" >\n  [[Target]]\n  [[Other]]", ["Target", "Other"]),
        ("\n  of: '[[Target]]'", ["Target"]),
    ],
)
def test_links_in_a_property_are_edges_of_its_key_in_every_shape(desk: Desk, value: str, targets: list[str]) -> None:
    for name in ("Target", "Other"):
        desk.put(f"deep/er/{name}.md", "x\n")
    desk.put("a.md", f"---\nrelated:{value}\n---\nx\n")
    links = desk.run("links", page="a.md", direction="out").links
    assert [(link["kind"], link["to"], link["broken"]) for link in links] == [
        ("related", f"deep/er/{name}.md", False) for name in targets
    ]


def test_of_hundreds_of_links_all_are_resolved_in_whatever_folder(desk: Desk) -> None:
    folders = ("people", "Δοκιμή", "a/b/c", "2024")
    for number in range(120):
        following = (number + 1) % 120
        place = folders[number % 4]
        text = f"[[p{following}]] [[Page {following}|shown]] [x](../{folders[following % 4]}/p{following}.md)\n"
        if place == "a/b/c":
            text = text.replace("(../", "(../../../")
        desk.put(f"{place}/p{number}.md", f"# Page {number}\n\n{text}")
    status = desk.run("status").index
    assert status.broken_links == 0
    assert status.links >= 360
    assert [problem for problem in desk.run("check").problems if problem.rule == "broken-link"] == []
    links = desk.run("links", page="people/p0.md", direction="out").links
    assert [link["to"] for link in links] == ["Δοκιμή/p1.md"] * 3


@pytest.mark.parametrize("before", ["w" * 260 + " ", "word " * 300, "**bold** `code` " * 100, "key" * 90 + ":: "])
def test_a_link_far_into_its_line_is_a_link_and_its_page_stays_editable(desk: Desk, before: str) -> None:
    desk.put("Note.md", "x\n")
    desk.put("a.md", f"- {before}[[Note]]\n")
    assert [link["to"] for link in desk.run("links", page="a.md", direction="out").links] == ["Note.md"]
    desk.run("edit", page="a.md", text="More.", mode="append")
    assert desk.text("a.md") == f"- {before}[[Note]]\n\nMore.\n"
    assert [link["to"] for link in desk.run("links", page="a.md", direction="out").links] == ["Note.md"]
