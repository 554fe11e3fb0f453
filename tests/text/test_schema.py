"""Properties by wikimem's schema: the person's text decides, what does not fit is absent and reported with its line."""

from __future__ import annotations

import unicodedata
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikimem.model.page import MEMORY_TYPES, Metadata, Problem, PropertyValue
from wikimem.text.frontmatter import read_frontmatter
from wikimem.text.schema import read_metadata


def read(lines: str) -> tuple[Metadata, tuple[Problem, ...]]:
    head = read_frontmatter(f"---\n{lines}\n---\n", "a.md")
    return read_metadata(head.properties, head.lines, "a.md")


def metadata_of(lines: str) -> Metadata:
    metadata, problems = read(lines)
    assert not problems
    return metadata


def test_a_whole_memory() -> None:
    assert metadata_of(
        """\
id: 01JDZK3V9Q4T8M2X7B5C1R6W0N
type: decision
title: Use jose for JWT verification
status: active
confidence: 0.9
ttl: P1Y
created: 2025-09-12T09:12:04
confirmed: 2025-10
valid_from: 2025-09-12
valid_to: 2026
sources:
  - "[[2025-09-12 0912 claude-code add-jwt-auth#^o-7f3k2m9qxa]]"
  - "file:src/middleware/auth.ts@a1b2c3d"
supersedes:
  - "[[Use jsonwebtoken for JWT verification]]"
project: shop
agent: claude-code
session: s-1
trust: agent
importance: 1
pinned: yes
tags: [auth, edge]
aliases: [jose]"""
    ) == Metadata(
        id="01JDZK3V9Q4T8M2X7B5C1R6W0N",
        type="decision",
        title="Use jose for JWT verification",
        status="active",
        confidence=0.9,
        ttl="P1Y",
        ttl_seconds=365 * 86400.0,
        created=datetime(2025, 9, 12, 9, 12, 4),
        confirmed=datetime(2025, 10, 1),
        valid_from=datetime(2025, 9, 12),
        valid_to=datetime(2026, 1, 1),
        sources=("[[2025-09-12 0912 claude-code add-jwt-auth#^o-7f3k2m9qxa]]", "file:src/middleware/auth.ts@a1b2c3d"),
        supersedes=("[[Use jsonwebtoken for JWT verification]]",),
        project="shop",
        agent="claude-code",
        session="s-1",
        trust="agent",
        importance=1.0,
        pinned=True,
        tags=("auth", "edge"),
        aliases=("jose",),
    )


def test_an_empty_page_has_the_defaults() -> None:
    assert metadata_of("") == Metadata()
    assert metadata_of("type:\nstatus:\ntrust:\npinned:\ntags:\nttl:\nconfidence:\nvalid_from:") == Metadata()


@pytest.mark.parametrize("title", ["2024-06-01", "1458", "no", "1.10", "007", "12:30", "~", "null"])
def test_a_title_is_what_was_written(title: str) -> None:
    assert metadata_of(f"title: {title}").title == title
    assert metadata_of(f"tags: {title}").tags == (title,)


def test_types_of_others_are_theirs() -> None:
    assert metadata_of("type: blog").type == "blog"
    assert metadata_of("type: Decision").type == "decision"
    assert all(metadata_of(f"type: {name}").type == name for name in MEMORY_TYPES)


def test_keys_are_found_in_any_case_and_the_exact_one_first() -> None:
    assert metadata_of("Title: A\nTags: [x]").title == "A"
    assert metadata_of("TITLE: A\ntitle: B\nTitle: C").title == "B"


@pytest.mark.parametrize(
    ("lines", "line", "word"),
    [
        ("title: x\nstatus: retired", 3, "status"),
        ("confidence: high", 2, "confidence"),
        ("confidence: 1.2", 2, "confidence"),
        ("importance: -0.1", 2, "importance"),
        ("importance: nan", 2, "importance"),
        ("confidence: 1_0", 2, "confidence"),
        ("confidence: ٠", 2, "confidence"),
        ("pinned: maybe", 2, "pinned"),
        ("ttl: soon", 2, "ttl"),
        ("created: yesterday", 2, "created"),
        ("valid_from: 2025-02-30", 2, "valid_from"),
        ("confirmed: {{date}}", 2, "confirmed"),
        ("trust: full", 2, "trust"),
        ("project: [a, b]", 2, "project"),
        ("valid_from: 2025-02-01\nvalid_to: 2025-01-01", 3, "valid_to"),
        ("Valid_From: 2025-02-01\nVALID_TO: 2025-01-01", 3, "valid_to"),
    ],
)
def test_what_does_not_fit_is_a_problem_with_its_line(lines: str, line: int, word: str) -> None:
    _, problems = read(lines)
    assert [(problem.rule, problem.path, problem.line) for problem in problems] == [("property-value", "a.md", line)]
    assert f"`{word}`" in problems[0].message


def test_what_does_not_fit_counts_as_absent() -> None:
    metadata, problems = read(
        "status: retired\nconfidence: 2\nimportance: x\npinned: maybe\nttl: soon\ncreated: then\ntitle: [a, b]"
    )
    assert metadata == Metadata()
    assert len(problems) == 7


def test_an_unknown_trust_is_the_least_and_an_absent_one_a_persons() -> None:
    assert read("trust: full")[0].trust == "web"
    assert metadata_of("title: x").trust == "human"
    assert metadata_of("trust: Tool").trust == "tool"


@pytest.mark.parametrize(
    ("text", "pinned"),
    [
        ("true", True),
        ("Yes", True),
        ("on", True),
        ("1", True),
        ("false", False),
        ("no", False),
        ("off", False),
        ("0", False),
    ],
)
def test_pinned(text: str, pinned: bool) -> None:
    assert metadata_of(f"pinned: {text}").pinned is pinned


@pytest.mark.parametrize(
    ("lines", "tags"),
    [
        ("tags: [a, '#b', c/d]", ("a", "b", "c/d")),
        ("tags:\n  - a\n  - '#b'", ("a", "b")),
        ("tags: a, b", ("a", "b")),
        ("tags: a b", ("a", "b")),
        ("tags: '#a #b, c'", ("a", "b", "c")),
        ("tag: a\ntags: [b, A]", ("b", "A")),
        ("tag: a", ("a",)),
        ("tags: [a, A, a]", ("a",)),
        ("tags: ['', ' ', '#']", ()),
        ("tags: 2024", ("2024",)),
        ("tags: 한국어, 日本語", ("한국어", "日本語")),
    ],
)
def test_tags_in_every_form(lines: str, tags: tuple[str, ...]) -> None:
    assert metadata_of(lines).tags == tags


def test_tags_are_composed() -> None:
    assert metadata_of("tags: [" + unicodedata.normalize("NFD", "café") + "]").tags == ("café",)


def test_tags_of_a_list_that_does_not_close_are_recovered() -> None:
    assert read("tags: [a, b\ntitle: x")[0].tags == ("a", "b")


@pytest.mark.parametrize(
    ("lines", "aliases"),
    [
        ("aliases: [AI, 'Smith, John']", ("AI", "Smith, John")),
        ("aliases: AI, Artificial Intelligence", ("AI", "Artificial Intelligence")),
        ("alias: AI", ("AI",)),
        ("aliases: [AI, ai]", ("AI",)),
        ("aliases: []", ()),
    ],
)
def test_aliases_in_every_form(lines: str, aliases: tuple[str, ...]) -> None:
    assert metadata_of(lines).aliases == aliases


def test_sources_may_be_one_text() -> None:
    assert metadata_of("sources: https://example.org/a, b").sources == ("https://example.org/a, b",)


@pytest.mark.parametrize("written", ["5", "note-1", "01JDZK3V9Q4T8M2X7B5C1R6W0", ""])
def test_a_foreign_id_is_no_identity(written: str) -> None:
    assert metadata_of(f"id: {written}").id is None


def test_an_id_in_lower_case_is_the_same_id() -> None:
    assert metadata_of("id: 01jdzk3v9q4t8m2x7b5c1r6w0n").id == "01JDZK3V9Q4T8M2X7B5C1R6W0N"


def test_validity_of_one_instant_is_no_contradiction() -> None:
    assert metadata_of("valid_from: 2025-01-01\nvalid_to: 2025-01-01").valid_to == datetime(2025, 1, 1)


keys = st.sampled_from(sorted(Metadata.__struct_fields__)) | st.text(max_size=5)
properties = st.dictionaries(
    keys, st.none() | st.text(max_size=12) | st.lists(st.text(max_size=8), max_size=3).map(tuple)
)


@given(properties)
def test_any_properties_are_read(found: dict[str, PropertyValue]) -> None:
    metadata, problems = read_metadata(found, {}, "a.md")
    assert metadata.status
    assert metadata.trust in ("web", "tool", "agent", "human")
    assert all(problem.path == "a.md" for problem in problems)
