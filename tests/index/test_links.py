"""Links: which page each means, walks over them, and pages that a question names."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from wikimem.index.index import Index
from wikimem.index.links import HUB_LINKS, SHARED_NAME
from wikimem.index.parts import Allowed

Opener = Callable[..., Index]
Putter = Callable[..., tuple[int, int]]


def target(index: Index, path: str) -> str | None:
    (link,) = index.links_out(path)
    return link.resolved


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("[[jose]]", "lib/jose.md"),
        ("[[JOSE]]", "lib/jose.md"),
        ("[[jose#Usage]]", "lib/jose.md"),
        ("[[jose|the library]]", "lib/jose.md"),
        ("![[jose]]", "lib/jose.md"),
        ("[[lib/jose]]", "lib/jose.md"),
        ("[[lib/jose.md]]", "lib/jose.md"),
        ("[[deep/lib/other]]", "very/deep/lib/other.md"),
        ("[[lib/other]]", "very/deep/lib/other.md"),
        ("[[JWT library]]", "lib/jose.md"),
        ("[[The title of other]]", "very/deep/lib/other.md"),
        ("[x](lib/jose.md)", "lib/jose.md"),
        ("[x](../lib/jose.md)", "lib/jose.md"),
        ("[[../lib/jose]]", "lib/jose.md"),
        ("[[README]]", "README.md"),
        ("[[twin]]", "notes/twin.md"),
        ("[x](README.md)", "notes/README.md"),
        ("[[absent]]", None),
        ("[[jos]]", None),
    ],
)
def test_a_link_means_what_it_means_in_obsidian(
    open_index: Opener, put: Putter, written: str, meant: str | None
) -> None:
    index = open_index()
    put(index, {"notes/a.md": f"see {written} for it"})
    put(
        index,
        {
            "lib/jose.md": "---\naliases: [JWT library]\n---\n# Jose\n",
            "very/deep/lib/other.md": "---\ntitle: The title of other\n---\n",
            "README.md": "root",
            "notes/README.md": "beside the linking page",
            "notes/twin.md": "beside the linking page",
            "lib/twin.md": "elsewhere, and as deep",
        },
    )
    assert target(index, "notes/a.md") == meant
    assert index.links_out("notes/a.md")[0].broken is (meant is None)


def test_a_link_follows_pages_that_come_and_go(open_index: Opener, put: Putter) -> None:
    index = open_index()
    put(index, {"a.md": "[[jose]]"})
    assert (target(index, "a.md"), index.counts().broken_links) == (None, 1)
    put(index, {"deep/down/jose.md": "x"})
    assert target(index, "a.md") == "deep/down/jose.md"
    put(index, {"deep/jose.md": "y"})
    assert target(index, "a.md") == "deep/jose.md", "the page fewer folders deep wins"
    put(index, {"other.md": "---\naliases: [jose]\n---\n"}, removed=("deep/jose.md",))
    assert target(index, "a.md") == "deep/down/jose.md", "a file name wins over an alias"
    put(index, {}, removed=("deep/down/jose.md",))
    assert target(index, "a.md") == "other.md"
    assert [link.source for link in index.links_in("other.md")] == ["a.md"]
    put(index, {"other.md": "no alias any more"})
    assert target(index, "a.md") is None


def test_a_picture_is_not_a_broken_link(open_index: Opener, put: Putter) -> None:
    index = open_index()
    put(index, {"a.md": "![[diagram.png]] [code](../src/auth.ts) [[gone]]"})
    assert [link.broken for link in index.links_out("a.md")] == [False, False, True]


def test_frontmatter_links_have_the_kind_of_their_key(open_index: Opener, put: Putter) -> None:
    index = open_index()
    put(index, {"new.md": '---\nsupersedes:\n  - "[[old]]"\n---\nbody', "old.md": "x"})
    (link,) = index.links_in("old.md")
    assert (link.kind, link.source) == ("supersedes", "new.md")
    assert walked(index, "old", 1)["new"] == (0.5, "old <--supersedes-- new")


def walked(index: Index, start: str, depth: int, allowed: Allowed | None = None) -> dict[str, tuple[float, str]]:
    (row,) = index.find_pages(start)
    found = index.links.walk({row.number: 1.0}, depth, allowed)
    rows = index.pages_by_number({number for number, _, _ in found})
    return {rows[number].title: (score, via) for number, score, via in found}


def test_a_walk_says_its_way_in_words_and_weakens_with_distance(open_index: Opener, put: Putter) -> None:
    index = open_index()
    put(index, {"Use jose.md": "with [[jose]]", "jose.md": "by panva", "Edge.md": "needs:: [[Use jose]]"})
    found = walked(index, "Use jose", 2)
    assert found["Use jose"] == (1.0, "Use jose")
    assert found["jose"] == (0.5, "Use jose --[[jose]]--> jose")
    assert found["Edge"] == (0.5, "Use jose <--needs-- Edge")
    score, via = walked(index, "Edge", 2)["jose"]
    assert score == pytest.approx(1 / 3)
    assert via == "Edge --needs--> Use jose --[[jose]]--> jose"
    assert "jose" not in walked(index, "Edge", 1)


def test_a_walk_never_passes_through_a_page_that_is_not_allowed(open_index: Opener, put: Putter) -> None:
    index = open_index()
    put(index, {"a.md": "[[b]]", "b.md": "[[c]]", "c.md": "end"})
    numbers = {row.path: row.number for row in index.list_pages()}
    assert set(walked(index, "a", 3, Allowed([numbers["a.md"], numbers["c.md"]]))) == {"a"}
    assert walked(index, "a", 3, Allowed([])) == {}


def test_a_hub_is_reached_but_not_walked_through(open_index: Opener, put: Putter) -> None:
    index = open_index()
    listed = {f"p{number}.md": "x" for number in range(HUB_LINKS + 2)}
    put(index, {"Home.md": " ".join(f"[[{path[:-3]}]]" for path in listed), **listed, "p0.md": "see [[p1]]"})
    assert set(walked(index, "p0", 2)) == {"p0", "p1", "Home"}
    assert len(walked(index, "Home", 1)) == HUB_LINKS + 3


def named(index: Index, question: str) -> dict[str, float]:
    found = index.links.named_in(question)
    rows = index.pages_by_number(found)
    return {rows[number].path: weight for number, weight in found.items()}


@pytest.mark.parametrize(
    ("question", "paths"),
    [
        ("what is jose for?", {"jose.md"}),
        ("Why do we use JOSE FOR JWT verification at all", {"Use jose for JWT verification.md"}),
        ("is C++ allowed", {"C++.md"}),
        ("josephine", set()),
        ("the JWT library?", {"jose.md"}),
        ("認証の方針は何ですか", {"認証の方針.md"}),
        ("결제 인증은 어떻게", {"인증.md"}),
        ("what did we do", set()),
        ("", set()),
    ],
)
def test_a_question_names_pages(open_index: Opener, put: Putter, question: str, paths: set[str]) -> None:
    index = open_index()
    put(
        index,
        {
            "jose.md": "---\naliases: [JWT library]\n---\n",
            "Use jose for JWT verification.md": "x",
            "C++.md": "x",
            "認証の方針.md": "x",
            "인증.md": "x",
            "what.md": "x",
            "we.md": "x",
        },
    )
    assert set(named(index, question)) == paths


def test_a_name_that_many_share_names_none(open_index: Opener, put: Putter) -> None:
    index = open_index()
    put(index, {"a/plan.md": "x", "b/plan.md": "x"})
    assert named(index, "the plan") == {"a/plan.md": 0.5, "b/plan.md": 0.5}
    put(index, {f"{number}/plan.md": "x" for number in range(SHARED_NAME)})
    assert named(index, "the plan") == {}
