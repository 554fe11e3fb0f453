"""Two clones that state, end, take back and forget: their union is right, in any order and however often it is made."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wikimem.graph.files import (
    ATTRIBUTES,
    ATTRIBUTES_PATH,
    find_graph_files,
    page_file,
    tombstone,
    with_triples,
)
from wikimem.graph.fold import Fact, fold_files
from wikimem.graph.naming import make_entity, page_iri
from wikimem.graph.reading import read_statements
from wikimem.graph.statements import Assertion, Edge, Ending, entity_triples, time_text
from wikimem.graph.store import GraphStore
from wikimem.graph.validity import sort_key
from wikimem.graph.vocabulary import RELATIONS
from wikimem.text.ids import derived_id
from wikimem.text.triples import Triple

Files = dict[str, bytes]
PAGES = tuple(derived_id(f"page {number}") for number in range(4))
ENTITIES = tuple(make_entity("library", name) for name in ("a", "b", "c"))
START = datetime(2025, 1, 1)


@dataclass(frozen=True)
class Event:
    """One thing that a source does; `time` counts seconds, and is different for every event."""

    kind: Literal["state", "end", "retract", "forget"]
    page: str
    edge: Edge
    time: int
    weight: float
    end: str

    @property
    def at(self) -> str:
        return time_text(START + timedelta(seconds=self.time))


edges = st.builds(
    lambda subject, predicate, object_, start: Edge(subject.iri, RELATIONS[predicate].iri, object_.iri, start),
    st.sampled_from(ENTITIES),
    st.sampled_from(["uses", "fixes"]),
    st.sampled_from(ENTITIES),
    st.sampled_from([None, "2024", "2025-02-03"]),
)
events = st.lists(
    st.builds(
        Event,
        st.sampled_from(["state", "state", "state", "end", "retract", "forget"]),
        st.sampled_from(PAGES),
        edges,
        st.integers(0, 10**6),
        st.sampled_from([1.0, 0.5, 0.1]),
        st.sampled_from(["2025-06-01", "2025-07", "2026", ".."]),
    ),
    max_size=14,
    unique_by=lambda event: event.time,
)


def triples_of(event: Event) -> list[Triple]:
    """What `link` adds for the event."""
    part = Assertion(event.edge.id, page_iri(event.page))
    if event.kind == "retract":
        part = part.merged(Assertion(part.edge, part.source, invalidated=frozenset({event.at})))
    else:
        endings = frozenset({Ending(event.at, event.end)}) if event.kind == "end" else frozenset[Ending]()
        made = frozenset({event.at})
        weights = frozenset({event.weight})
        part = part.merged(Assertion(part.edge, part.source, weights, generated=made, endings=endings))
    names = [triple for entity in ENTITIES for triple in entity_triples(entity)]
    return [*event.edge.triples(), *part.triples(), *names]


def written(history: Iterable[Event], files: Files | None = None) -> Files:
    """The files after a history, from those that were there before, as `link` and `forget` would write them."""
    after = dict(files or {})
    waiting: dict[str, list[Triple]] = {}

    def flush(path: str) -> None:
        if path in waiting:
            after[path] = with_triples(after.get(path, b""), waiting.pop(path))

    for event in history:
        path = page_file(event.page)
        if event.kind != "forget":
            waiting.setdefault(path, []).extend(triples_of(event))
            continue
        flush(path)
        if path in after:
            after[path] = tombstone(event.page)
    for path in list(waiting):
        flush(path)
    return after


def loaded(files: Files) -> dict[str, Fact]:
    """The facts that the files say together."""
    return fold_files(read_statements(data.decode(), path) for path, data in files.items())


def expected(history: Iterable[Event], forgotten: Iterable[str]) -> dict[str, tuple[float, str | None, int]]:
    """Edge -> weight, end, evidence: told from the events alone, without files."""
    gone = set(forgotten)
    said: dict[tuple[str, str], list[Event]] = {}
    for event in history:
        if event.kind != "forget" and event.page not in gone:
            said.setdefault((event.edge.id, event.page), []).append(event)
    living: dict[str, list[list[Event]]] = {}
    for (edge, _), done in said.items():
        if max(done, key=lambda event: event.time).kind != "retract":
            living.setdefault(edge, []).append(done)
    found: dict[str, tuple[float, str | None, int]] = {}
    for edge, sources in living.items():
        made = [event for done in sources for event in done if event.kind != "retract"]
        ends = [event for event in made if event.kind == "end"]
        last = max(ends, key=lambda event: (event.time, sort_key(event.end)), default=None)
        end = None if last is None or last.end == ".." else last.end
        found[edge] = (max(event.weight for event in made), end, len(sources))
    return found


def summary(facts: dict[str, Fact]) -> dict[str, tuple[float, str | None, int]]:
    return {name: (fact.weight, fact.valid_to, fact.evidence) for name, fact in facts.items()}


def union(*sides: Files, shuffle: random.Random | None = None) -> Files:
    """What `merge=union` may leave: the lines of all sides, in any order, some of them twice."""
    merged: Files = {}
    for path in {path for side in sides for path in side}:
        lines = [line for side in sides for line in side.get(path, b"").splitlines(keepends=True)]
        if shuffle:
            shuffle.shuffle(lines)
        merged[path] = b"".join(lines)
    return merged


def forgotten(*histories: list[Event]) -> set[str]:
    """Pages whose file was there to be cut when they were forgotten."""
    gone: set[str] = set()
    for history in histories:
        stated: set[str] = set()
        for event in history:
            if event.kind == "forget" and event.page in stated:
                gone.add(event.page)
            elif event.kind != "forget":
                stated.add(event.page)
    return gone


@settings(max_examples=100, deadline=None)
@given(events, st.randoms(use_true_random=False))
def test_the_union_of_two_clones_is_what_both_said(history: list[Event], chance: random.Random) -> None:
    base = [event for event in history if event.time % 3 == 0 and event.kind != "forget"]
    ours = [event for event in history if event.time % 3 == 1]
    theirs = [event for event in history if event.time % 3 == 2]
    before = written(base)
    left, right = written(ours, before), written(theirs, before)
    gone = forgotten([*base, *ours], [*base, *theirs])
    wanted = expected([*base, *ours, *theirs], gone)
    for merged in (union(left, right, shuffle=chance), union(right, left), union(left, right, left, before)):
        assert summary(loaded(merged)) == wanted
        assert loaded(merged) == loaded(union(left, right))


@settings(max_examples=60, deadline=None)
@given(events)
def test_order_and_repetition_change_nothing(history: list[Event]) -> None:
    said = [event for event in history if event.kind != "forget"]
    files = written(said)
    assert loaded(written(reversed(said))) == loaded(files)
    assert loaded(written([*said, *said])) == loaded(files)
    assert summary(loaded(files)) == expected(said, ())
    assert written(reversed(said)) == files, "the very same bytes, since lines are sorted"


@settings(max_examples=15, deadline=None)
@given(first=events, second=events)
def test_a_store_that_keeps_up_equals_one_made_anew(
    first: list[Event], second: list[Event], tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("vault")
    store = GraphStore(root / "kept.db", "stamp")
    files: Files = {}
    for history in (first, second):
        files = written(history, files)
        put(root, files)
        store.sync(root)
    fresh = GraphStore(root / "fresh.db", "stamp")
    fresh.sync(root)
    assert store.facts() == fresh.facts() == loaded(files)
    assert store.sync(root).gone == 0
    store.close()
    fresh.close()


def put(root: Path, files: Files) -> None:
    for path, data in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *identity, *arguments], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def commit(root: Path, files: Files) -> None:
    put(root, files)
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", "x")


def merged_by_git(folder: Path, base: Files, left: Files, right: Files) -> Files:
    """What plain git makes of two clones, without wikimem."""
    one, other = folder / "one", folder / "other"
    one.mkdir()
    git(one, "init", "-q")
    (one / "graph").mkdir()
    (one / ATTRIBUTES_PATH).write_bytes(ATTRIBUTES)
    commit(one, base)
    git(folder, "clone", "-q", str(one), str(other))
    commit(one, left)
    commit(other, right)
    git(other, "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
    assert git(other, "status", "--porcelain") == ""
    return {path: (other / path).read_bytes() for path in find_graph_files(other)}


def many(seed: int, count: int) -> list[Event]:
    chance = random.Random(seed)
    names = [f"urn:wikimem:library:l{number}" for number in range(60)]
    kinds = ["state"] * 6 + ["end", "retract"]
    return [
        Event(
            chance.choice(kinds),  # type: ignore[arg-type]
            chance.choice(PAGES[:3]),
            Edge(chance.choice(names[:30]), RELATIONS["uses"].iri, chance.choice(names[30:]), None),
            2 * number + seed,
            chance.choice([1.0, 0.5]),
            chance.choice(["2025-06-01", "2026"]),
        )
        for number in range(count)
    ]


def test_plain_git_merges_two_clones_of_500_statements_each(tmp_path: Path) -> None:
    left, right = many(0, 500), many(1, 500)
    found = merged_by_git(tmp_path, {}, written(left), written(right))
    assert summary(loaded(found)) == expected([*left, *right], ())


def test_plain_git_merges_what_one_clone_forgot_and_the_other_went_on_with(tmp_path: Path) -> None:
    base, left, right = many(0, 60), many(1, 60), many(2, 60)
    before = written(base)
    gone = Event("forget", PAGES[0], base[0].edge, 10**7, 1.0, "..")
    found = merged_by_git(tmp_path, before, written([*left, gone], before), written(right, before))
    wanted = expected([*base, *left, *right], [PAGES[0]])
    assert summary(loaded(found)) == wanted
    assert b"forgotten" in b"".join(found.values())


@settings(max_examples=4, deadline=None)
@given(history=events)
def test_plain_git_merges_any_histories(history: list[Event], tmp_path_factory: pytest.TempPathFactory) -> None:
    ours = [event for event in history if event.time % 2]
    theirs = [event for event in history if not event.time % 2]
    left, right = written(ours), written(theirs)
    found = merged_by_git(tmp_path_factory.mktemp("clones"), {}, left, right)
    assert loaded(found) == loaded(union(left, right))
