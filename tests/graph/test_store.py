"""The store is derived: it keeps up with the files, and where it cannot be used it is made again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from wikimem.errors import Unavailable
from wikimem.graph.store import GraphStore
from wikimem.graph.vocabulary import ALIAS, RELATIONS

USES = RELATIONS["uses"].iri
FILE = "graph/links/a.nt"


def line(subject: str, object_: str) -> str:
    return f"<urn:wikimem:library:{subject}> <{USES}> <urn:wikimem:library:{object_}> .\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    put(tmp_path, line("a", "b"))
    return tmp_path


@pytest.fixture
def store(root: Path) -> Iterator[GraphStore]:
    opened = GraphStore(root / "graph.db", "stamp")
    opened.sync(root)
    yield opened
    opened.close()


def put(root: Path, text: str, path: str = FILE) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def edges(store: GraphStore) -> set[tuple[str, str]]:
    facts = store.facts().values()
    return {(fact.edge.subject[-1], str(fact.edge.object)[-1]) for fact in facts}


def test_it_keeps_up_with_files_that_change_come_and_go(root: Path, store: GraphStore) -> None:
    put(root, line("a", "c"))
    put(root, line("x", "y"), "graph/links/b.nt")
    assert store.sync(root).read == 2
    assert edges(store) == {("a", "c"), ("x", "y")}
    (root / FILE).unlink()
    assert store.sync(root).gone == 1
    assert edges(store) == {("x", "y")}


def test_a_file_that_was_only_touched_is_not_read_as_new(root: Path, store: GraphStore) -> None:
    os.utime(root / FILE, (1, 1))
    assert store.sync(root).read == 0
    assert edges(store) == {("a", "b")}


def test_files_that_are_out_of_sight_are_not_gone(root: Path, store: GraphStore) -> None:
    (root / FILE).unlink()
    assert store.sync(root, keep_missing=True).gone == 0
    assert edges(store) == {("a", "b")}


def test_two_processes_share_it(root: Path, store: GraphStore) -> None:
    other = GraphStore(root / "graph.db", "stamp")
    put(root, line("a", "d"))
    other.sync(root)
    assert edges(store) == {("a", "d")}
    other.close()


def test_what_is_not_ours_or_no_database_is_made_again(root: Path, store: GraphStore) -> None:
    store.close()
    for spoil in (lambda: None, lambda: (root / "graph.db").write_bytes(b"no database at all" * 100)):
        spoil()
        other = GraphStore(root / "graph.db", "another stamp")
        assert edges(other) in (set(), {("a", "b")})
        other.sync(root)
        assert edges(other) == {("a", "b")}
        other.close()


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="cannot be opened"):
        GraphStore(tmp_path / "nowhere" / "graph.db", "stamp")


def test_names_and_aliases_in_any_capitals(root: Path, store: GraphStore) -> None:
    put(root, line("a", "b") + f'<urn:wikimem:library:a> <{ALIAS}> "Big  A" .\n')
    store.sync(root)
    assert store.named("big a") == {"urn:wikimem:library:a"}
    assert store.labels(["urn:wikimem:library:a"]) == {}, "an alias is not what it is called"
    assert store.degrees(["urn:wikimem:library:b"]) == {"urn:wikimem:library:b": 1}
