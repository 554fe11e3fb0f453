"""Results in words."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from wikimem.model.results import (
    ContextResult,
    EditResult,
    ForgetResult,
    HitResult,
    LinkIn,
    LinkOut,
    ListResult,
    LogEntry,
    LogResult,
    PageRef,
    PageSummary,
    ReadResult,
    Removed,
    SearchResult,
    TraceResult,
)
from wikimem.model.setupresults import DoctorResult, InitResult, TrustResult
from wikimem.operations import OPERATIONS
from wikimem.present.text import text

ID = "01JK4M8Z2Q7V5C1R6W0N3T9XYB"
PAGE = PageRef(ID, "wiki/Use jose.md", "Use jose", "decision")
HIT = HitResult(
    id=ID,
    path="wiki/Use jose.md",
    title="Use jose",
    type="decision",
    status="active",
    score=0.0321,
    passage="jose verifies JWTs.\n\nIt runs at the edge.",
    heading="Why",
    more=(),
    sources=("commit:3f2a9c1",),
    valid_from="2025-03-01",
    valid_to=None,
    confidence=0.9,
    trust="human",
    project="shop",
    revision="0" * 16,
)
FOUND = SearchResult("jwt", (HIT,), {"words": "ok", "vectors": "ok", "graph": "ok"}, 0, 0, None, None, ())


@pytest.mark.parametrize(
    "kind", [*(operation.result for operation in OPERATIONS), InitResult, TrustResult, DoctorResult]
)
def test_every_result_has_a_text_form(kind: type) -> None:
    assert text.dispatch(kind) is not text.dispatch(object), f"{kind.__name__} has no text form"


def test_a_result_without_a_text_form_is_an_error() -> None:
    @dataclass
    class Unknown:
        pass

    with pytest.raises(TypeError, match="Unknown has no text form"):
        text(Unknown())


def test_a_hit_says_what_where_since_when_and_from_whom() -> None:
    assert text(FOUND).splitlines() == [
        "1. Use jose  [0N3T9XYB]",
        "   wiki/Use jose.md  (decision, shop, since 2025-03-01, by human 0.9)",
        "   # Why",
        "     jose verifies JWTs.",
        "     It runs at the edge.",
        "   sources: commit:3f2a9c1",
    ]


def test_an_explained_hit_tells_its_trace_in_words() -> None:
    trace = TraceResult(1, 13, None, {}, {"pinned": 1.25}, "jose -> JWT")
    shown = text(replace(FOUND, hits=(replace(HIT, trace=trace),)))
    assert "why: words 1st, vectors 13th; boosts pinned 1.25; path jose -> JWT; score 0.0321" in shown


def test_a_stream_that_did_not_answer_is_never_shown_as_nothing_found_alone() -> None:
    shown = text(replace(FOUND, hits=(), streams={"words": "ok", "vectors": "the model is missing"}, behind=3))
    assert shown == (
        "Nothing found for 'jwt'.\n\nvectors did not answer: the model is missing\n3 pages are not indexed yet."
    )


def test_more_hits_are_announced_with_the_cursor_that_gets_them() -> None:
    assert text(replace(FOUND, cursor="10")).endswith("\n\nMore: --cursor 10")


def test_read_shows_revision_properties_body_and_links() -> None:
    page = ReadResult(
        id=ID,
        path="wiki/Use jose.md",
        title="Use jose",
        type="decision",
        frontmatter={"id": ID, "title": "Use jose", "tags": ("jwt", "auth"), "empty": None, "valid_from": "2025"},
        body="\nIt verifies JWTs.\n",
        revision="3f2a9c1d5e6b7a80",
        writable=True,
        links_out=(LinkOut("[[JWT]]", "wikilink", None), LinkOut("[[A]]", "sources", "wiki/A.md")),
        links_in=(LinkIn("wiki/B.md", "embed"),),
        problems=(),
        notes=(),
    )
    assert text(page).splitlines() == [
        f"Use jose  [{ID}]",
        "wiki/Use jose.md  (decision, revision 3f2a9c1d5e6b7a80)",
        "tags: jwt, auth",
        "valid_from: 2025",
        "",
        "It verifies JWTs.",
        "",
        "links to: [[JWT]] (missing), wiki/A.md (sources)",
        "linked from: wiki/B.md",
    ]


def test_a_list_is_a_table_that_wide_characters_do_not_bend() -> None:
    def page(title: str, status: str = "active") -> PageSummary:
        return PageSummary(
            ID, f"{title}.md", title, "fact", status, None, (), None, "human", False, None, None, None, None
        )

    lines = text(ListResult((page("배포"), page("ab", "expired")), "2", 7, ())).splitlines()
    assert lines == [
        "0N3T9XYB  fact           배포  배포.md",
        "0N3T9XYB  fact  expired  ab    ab.md",
        "",
        "2 of 7 pages",
        "More: --cursor 2",
    ]
    assert "expired" not in text(ListResult((page("ab"),), None, 1, ()))


def test_the_log_is_one_line_a_commit() -> None:
    by_agent = LogEntry(
        "a" * 40, "2026-01-02T03:04:05+01:00", "edit", "codex", "s1", "codex", "edit: Deploy", ("Deploy.md",)
    )
    by_person = LogEntry("b" * 40, "2026-01-01T00:00:00+00:00", None, None, None, "Ada", "typo", ())
    assert text(LogResult((by_agent, by_person), ())).splitlines() == [
        "aaaaaaaaaa 2026-01-02 03:04 edit: Deploy  (edit by codex, session s1)",
        "bbbbbbbbbb 2026-01-01 00:00 typo  (by Ada)",
    ]


def test_what_forget_would_do_is_not_said_as_done() -> None:
    would = text(ForgetResult((PAGE,), None, True, ("wiki/B.md",), Removed(1, 2, 3), (), ()))
    assert would.startswith("Would forget: Use jose")
    assert "git revert" not in would
    assert "would go from the index: 1 pages, 2 passages, 3 links" in would
    done = text(ForgetResult((PAGE,), "c" * 40, False, (), None, (), ()))
    assert done.startswith("Forgot: Use jose")
    assert "`git revert cccccccccc`" in done


def test_an_edit_gives_the_revision_for_the_next_one_and_what_was_taken_out() -> None:
    shown = text(EditResult(PAGE, "d" * 40, "3f2a9c1d5e6b7a80", {"jwt": 2}, ()))
    assert "revision: 3f2a9c1d5e6b7a80" in shown
    assert "taken out before writing: 2 jwt" in shown


def test_a_context_carries_its_receipt() -> None:
    empty = ContextResult("", (), 0, 900, 2000, None, 0, {"words": "damaged"}, ())
    assert text(empty) == "Nothing in memory fits this.\nwords did not answer: damaged"


def test_init_as_a_dry_run_speaks_of_what_would_be() -> None:
    shown = text(InitResult("/v", False, True, ("Home.md",), (), None, False, True, ()))
    assert "would be a vault" in shown
    assert "would be written: Home.md" in shown
