"""Origins: ids of pages without one stay with them, whatever is renamed, and two pages never share one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikimem.vault.origins import NO_ORIGINS, Origins, OriginStore, followed, read_origins

PATHS = ("a.md", "b.md", "c.md", "d/a.md")
STEP = st.tuples(st.sampled_from(("add", "move", "remove")), st.sampled_from(PATHS), st.sampled_from(PATHS))
STEPS = st.lists(STEP, max_size=25)
UNREADABLE = [b"", b"{", b"[]", b'{"commit": 3, "history": {}}', b'{"commit": "x", "history": [1]}', b"\xff"]


def possible(steps: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Those of the steps that a file system would allow, one after the other."""
    live: set[str] = set()
    done = []
    for kind, one, other in steps:
        if kind == "add" and one not in live:
            live.add(one)
        elif kind == "remove" and one in live:
            live.discard(one)
        elif kind == "move" and one in live and other not in live:
            live.discard(one)
            live.add(other)
        else:
            continue
        done.append((kind, one, other))
    return done


@given(STEPS)
def test_by_gits_history_ids_are_kept_and_never_shared(steps: list[tuple[str, str, str]]) -> None:
    history: dict[str, str] = {}
    live: dict[str, str] = {}
    for kind, one, other in possible(steps):
        if kind == "remove":
            del live[one]
            continue
        history = followed(history, [(("", one),) if kind == "add" else ((one, other),)])
        origins = Origins(history=history)
        if kind == "move":
            live[other] = live.pop(one)
        else:
            live[one] = origins.page_id(one)
        assert {path: origins.page_id(path) for path in live} == live
        assert len(set(live.values())) == len(live)


@given(STEPS)
def test_by_what_was_seen_ids_are_kept_and_never_shared(steps: list[tuple[str, str, str]]) -> None:
    origins = NO_ORIGINS
    live: dict[str, str] = {}
    for kind, one, other in possible(steps):
        if kind == "remove":
            del live[one]
        elif kind == "add":
            live[one] = origins.page_id(one)
        else:
            origins = origins.moved(one, other)
            live[other] = live.pop(one)
        # A page that is gone may leave its id to one that is put at its first path; no live one does.
        assert len(set(live.values())) == len(live)
        assert all(origins.page_id(path) == live[path] for path in (other,) if kind == "move")


@given(STEPS)
def test_what_was_seen_and_what_git_says_agree_for_renames(steps: list[tuple[str, str, str]]) -> None:
    seen, history = NO_ORIGINS, dict[str, str]()
    live: set[str] = set()
    for kind, one, other in possible([step for step in steps if step[0] != "remove"]):
        if kind == "move":
            seen = seen.moved(one, other)
            history = followed(history, [((one, other),)])
            live = live - {one} | {other}
        else:
            history = followed(history, [(("", one),)])
            live.add(one)
    told = Origins(history=history)
    if all(kind == "move" or one not in history.values() for kind, one, _ in steps):
        assert {path: seen.page_id(path) for path in live} == {path: told.page_id(path) for path in live}


def test_several_moves_of_one_commit_are_taken_together() -> None:
    swapped = followed({}, [(("a.md", "b.md"), ("b.md", "a.md"))])
    assert swapped == {"a.md": "b.md", "b.md": "a.md"}


def test_what_git_says_too_need_not_be_remembered() -> None:
    seen = NO_ORIGINS.moved("a.md", "b.md")
    assert seen.with_history({"b.md": "a.md"}, "c1").seeds == {}
    assert seen.with_history({}, "c1").seeds == {"b.md": "a.md"}
    assert seen.with_history({"b.md": "a.md"}, "c1").moved("b.md", "c.md").page_id("c.md") == NO_ORIGINS.page_id("a.md")


def test_a_page_put_where_git_says_that_a_moved_one_was() -> None:
    told = Origins(history={"b.md": "a.md"})
    moved = told.moved("b.md", "c.md")
    ids = [moved.page_id(path) for path in ("a.md", "b.md", "c.md")]
    assert len(set(ids)) == 3
    assert ids[2] == told.page_id("b.md")


@pytest.mark.parametrize("data", UNREADABLE)
def test_an_account_that_cannot_be_read_is_read_from_git_again(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "renames.json").write_bytes(data)
    assert OriginStore(tmp_path, tmp_path, tmp_path).read() == NO_ORIGINS


def test_a_store_that_is_not_to_last_keeps_nothing(tmp_path: Path) -> None:
    store = OriginStore(tmp_path, tmp_path, tmp_path, lasting=False)
    assert store.record([("a.md", "b.md")]).page_id("b.md") == NO_ORIGINS.page_id("a.md")
    store.keep(Origins(history={"b.md": "a.md"}, commit="x"))
    assert read_origins(tmp_path) == NO_ORIGINS
    lasting = OriginStore(tmp_path, tmp_path, tmp_path)
    lasting.record([("a.md", "b.md")])
    lasting.keep(Origins(history={"c.md": "x.md"}, commit="x"))
    assert OriginStore(tmp_path, tmp_path, tmp_path).read() == Origins({"b.md": "a.md"}, {"c.md": "x.md"}, "x")
