"""What a session was given: kept for it alone, forgotten when its model forgets, and without a word of any page."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from wikimem.agents import given as module
from wikimem.agents.given import FOLDER, Given, forget


def soon() -> float:
    return time.monotonic() + 30


def keys(state: Path, session: str = "s1") -> list[str]:
    with Given(str(state), session, soon()) as given:
        return given.keys


def test_keys_are_kept_for_each_session(tmp_path: Path) -> None:
    with Given(str(tmp_path), "s1", soon()) as given:
        given.begin("")
        given.add(["a@1", "b@2#30"])
    assert keys(tmp_path) == ["a@1", "b@2#30"]
    assert keys(tmp_path, "s2") == []
    with Given(str(tmp_path), "s1", soon()) as given:
        given.add(["c@3"])
    assert keys(tmp_path) == ["a@1", "b@2#30", "c@3"]


@pytest.mark.parametrize(
    ("source", "left"), [("", []), ("compact", []), ("clear", []), ("fork", []), ("resume", ["a@1"])]
)
def test_a_session_that_begins_forgets_unless_it_is_resumed(tmp_path: Path, source: str, left: list[str]) -> None:
    with Given(str(tmp_path), "s1", soon()) as given:
        given.begin("other")
        given.add(["a@1"])
    with Given(str(tmp_path), "s1", soon()) as given:
        given.begin(source)
        assert given.keys == left


def test_a_beginning_that_two_agents_report_is_one(tmp_path: Path) -> None:
    for _ in range(2):
        with Given(str(tmp_path), "s1", soon()) as given:
            given.begin("compact")
            given.add(["a@1"])
    assert keys(tmp_path) == ["a@1", "a@1"]


def test_a_compaction_forgets_and_a_session_that_had_nothing_does_not_mind(tmp_path: Path) -> None:
    forget(str(tmp_path), "s1")
    with Given(str(tmp_path), "s1", soon()) as given:
        given.add(["a@1"])
    forget(str(tmp_path), "s1")
    assert keys(tmp_path) == []


@pytest.mark.parametrize(
    "data", [b"", b"{", b'{"given": [1], "began": ["", 0]}', b"[]", b'{"given": "x", "began": 3}\n', b"\xff"]
)
def test_a_damaged_file_is_an_empty_one(tmp_path: Path, data: bytes) -> None:
    keys(tmp_path)
    (file,) = (tmp_path / FOLDER).iterdir()
    file.write_bytes(data)
    assert keys(tmp_path) == []
    with Given(str(tmp_path), "s1", soon()) as given:
        given.add(["a@1"])
    assert keys(tmp_path) == ["a@1"]


def test_one_hook_of_a_session_at_a_time(tmp_path: Path) -> None:
    with Given(str(tmp_path), "s1", soon()):
        with pytest.raises(TimeoutError), Given(str(tmp_path), "s1", time.monotonic()):
            pass
        assert keys(tmp_path, "s2") == []
    assert keys(tmp_path) == []


def test_the_name_of_a_session_is_not_on_the_disk_and_others_cannot_read(tmp_path: Path) -> None:
    session = "ghp_" + "Zx81kQpL" * 5
    with Given(str(tmp_path), session, soon()) as given:
        given.add(["a@1"])
    (file,) = (tmp_path / FOLDER).iterdir()
    assert session not in file.name
    assert session.encode() not in file.read_bytes()
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700


def test_files_of_sessions_long_ago_go(tmp_path: Path) -> None:
    keys(tmp_path, "old")
    (file,) = (tmp_path / FOLDER).iterdir()
    long_ago = time.time() - module.KEEP_S - 60
    os.utime(file, (long_ago, long_ago))
    with Given(str(tmp_path), "new", soon()) as given:
        given.begin("")
    assert not file.exists()
