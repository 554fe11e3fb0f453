"""The benchmark of odd pages: its judge tells what an edit did, and wikimem harms none of its pages."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from benchmark.pages.__main__ import OUTCOMES, PAGES, outcome, run, summarise, tables
from benchmark.pages.edits import EDITS
from benchmark.pages.judge import judge
from benchmark.pages.oddpage import OddPage
from benchmark.pages.tools import TOOLS, with_wikimem

PAGE = b"---\nkey: old # why\nother: [x, 1] # c\n---\nbody\n\n    code\n"


@pytest.mark.parametrize(
    ("after", "verdict", "why"),
    [
        (PAGE.replace(b"old", b"new"), "just its key", ""),
        (PAGE.replace(b"old # why", b"new"), "just its key", ""),
        (PAGE.replace(b"old", b"new").replace(b"[x, 1] # c", b"[x, 1]"), "other bytes", "comments lost"),
        (PAGE.replace(b"old", b"new").replace(b"[x, 1]", b"[ x,1 ]"), "other bytes", "spelling"),
        (PAGE.replace(b"old", b"new").replace(b"\n", b"\r\n"), "other bytes", "line ends"),
        (b"---\nother: [x, 1] # c\nkey: new # why\n---\nbody\n\n    code\n", "other bytes", "order of keys"),
        (PAGE, "corrupted", "the key has another value"),
        (PAGE.replace(b"old", b"[new]"), "corrupted", "the key has another value"),
        (PAGE.replace(b"old", b"new").replace(b"1]", b"'1']"), "corrupted", "another key has another value"),
        (PAGE.replace(b"old", b"new").replace(b"other: [x, 1] # c\n", b""), "corrupted", "another key is gone"),
        (PAGE.replace(b"old", b"new").replace(b"    code", b"code"), "corrupted", "the body says something else"),
        (PAGE.replace(b"old", b"new: er"), "corrupted", "no longer parses"),
        (b"---\nkey: new\n---\n" + PAGE, "corrupted", "another key is gone"),
        (b"", "corrupted", "the page has no frontmatter"),
    ],
)
def test_the_judge_says_what_an_edit_did(after: bytes, verdict: str, why: str) -> None:
    found = judge(PAGE, after, "key", "new")
    assert (found.verdict, why in found.why) == (verdict, True), found


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        (b"body\n", b"---\nkey: new\n---\nbody\n", "just its key"),
        (b"\xef\xbb\xbfbody\n", b"---\nkey: new\n---\nbody\n", "other bytes"),
        (b"---\na: &x {n: 1}\n<<: *x\n---\n", b"---\na: &x {n: 1}\n<<: *x\nkey: new\n---\n", "just its key"),
        (b"---\na: &x {n: 1}\n<<: *x\n---\n", b"---\na: {n: 1}\nn: 1\nkey: new\n---\n", "other bytes"),
        (b"---\na: !mine x\n---\n", b"---\na: x\nkey: new\n---\n", "corrupted"),
        (b"---\na: b: c\n---\nbody\n", b"---\na: b: c\nkey: new\n---\nbody\n", "just its key"),
        (b"---\na: b: c\n---\nbody\n", b"---\na: 'b: c'\nkey: new\n---\nbody\n", "corrupted"),
        (b"+++\na = 1\n+++\nbody\n", b"---\nkey: new\n---\n+++\na = 1\n+++\nbody\n", "corrupted"),
        (b'{"a": 1}\nbody\n', b'{"a": 1, "key": "new"}\nbody\n', "other bytes"),
        (b"---\n# none yet\n---\nbody\n", b"---\n# none yet\nkey: new\n---\nbody\n", "just its key"),
        (b"---\nkey: |\n  a\n\n  b\n# c\nz: 1\n---\n", b"---\nkey: new\n# c\nz: 1\n---\n", "just its key"),
    ],
)
def test_the_judge_knows_pages_of_every_kind(before: bytes, after: bytes, verdict: str) -> None:
    assert judge(before, after, "key", "new").verdict == verdict


def test_a_removal_is_judged_by_the_key_that_is_gone() -> None:
    assert judge(PAGE, PAGE.replace(b"key: old # why\n", b""), "key", None).verdict == "just its key"
    assert judge(PAGE, PAGE, "key", None).why == "the key is still there"
    assert judge(b"body", b"body", "key", None).verdict == "just its key"


def test_the_corpus_is_large_and_no_two_pages_are_alike() -> None:
    assert len(PAGES) >= 100
    assert max(Counter(page.data for page in PAGES).values()) == 1
    assert max(Counter((page.group, page.name) for page in PAGES).values()) == 1
    assert len([page for page in PAGES if page.key.encode() in page.data]) > 150


@pytest.mark.parametrize("group", sorted({page.group for page in PAGES} - {"sizes"}))
def test_wikimem_changes_just_the_key_or_refuses_with_a_reason(group: str) -> None:
    cases = list(run([page for page in PAGES if page.group == group], EDITS, {"wikimem": with_wikimem}))
    assert [case for case in cases if case.outcome not in ("just its key", "refused")] == []
    assert all(case.why for case in cases if case.outcome == "refused")


def test_refusal_is_for_what_cannot_be_done() -> None:
    """Of the groups where nothing is broken or shared, wikimem edits nearly everything."""
    pages = [page for page in PAGES if page.group in ("scalars", "block scalars", "lists", "comments")]
    cases = list(run(pages, EDITS, {"wikimem": with_wikimem}))
    assert sum(case.outcome == "just its key" for case in cases) > 0.97 * len(cases)


def test_other_tools_are_judged_in_the_same_way() -> None:
    pytest.importorskip("ruamel.yaml")
    pages = [
        OddPage("comments", "try", b"---\nkey: old\nother: x   # c\n---\nbody\n"),
        OddPage("broken", "try", b"---\nkey: a: b\n---\nbody\n"),
    ]
    cases = list(run(pages, EDITS[:1], TOOLS))
    assert [(case.tool, case.outcome) for case in cases] == [
        ("wikimem", "just its key"),
        ("python-frontmatter", "other bytes"),
        ("ruamel.yaml", "just its key"),
        ("wikimem", "refused"),
        ("python-frontmatter", "refused"),
        ("ruamel.yaml", "refused"),
    ]
    found = summarise(cases)
    assert json.loads(json.dumps(found)) == found
    assert found["tools"]["wikimem"]["just its key"] == found["tools"]["wikimem"]["refused"] == 1
    assert "| python-frontmatter | 2 | 0 | 1 | 1 | 0 | 0 | 0 |" in tables(cases)


def test_an_error_of_another_kind_is_a_crash() -> None:
    def broken(data: bytes, key: str, value: object) -> bytes:
        raise KeyError(key)

    assert outcome(PAGES[0], EDITS[0], broken) == ("crashed", "KeyError: 'key'")
    assert set(OUTCOMES) > {"crashed", "refused"}
