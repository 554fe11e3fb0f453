"""The spool: what was acknowledged is there, whole, once, and in order, whoever dies meanwhile."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from wikimem.errors import Locked
from wikimem.model.event import Event
from wikimem.vault import spool as module
from wikimem.vault.spool import KEEP_DONE_NS, REPEAT_NS, Spool, event_name, is_repeat, parse_name, put

ROOT = Path(__file__).parents[2]
START = 1_800_000_000_000_000_000


def name_of(number: int, *, content: str = "", ident: str = "n", agent: str = "claude-code", after_ns: int = 0) -> str:
    return event_name(START + number + after_ns, content or f"{number:016x}", ident, agent)


def data_of(number: int, **fields: object) -> bytes:
    event = Event("prompt", "claude-code", "UserPromptSubmit", "2027-01-15T08:00:00+00:00", f"key{number}", prompt="x")
    return json.dumps(event.to_document() | {"session": f"s{number}"} | fields).encode()


def put_one(spool: Spool, number: int, **name: object) -> str:
    file = name_of(number, **name)  # type: ignore[arg-type]
    put(spool.folder, file, data_of(number))
    return file


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    (tmp_path / "spool").mkdir(mode=0o700)
    return Spool(tmp_path / "spool")


def sessions(spool: Spool, **claim: int) -> list[str]:
    with spool.claim(**claim) as batch:
        return [event.session for event in batch]


def test_a_name_says_what_it_was_made_of() -> None:
    name = parse_name(event_name(7, "ab12", "c0f", "claude-code"))
    assert name is not None
    assert (name.time_ns, name.content, name.ident, name.agent) == (7, "ab12", "c0f", "claude-code")
    for other in ("notes.txt", "x.json", "7_ab_n_claude.json", ".00000000000000000007_ab_n_c.json.tmp"):
        assert parse_name(other) is None


def test_events_come_in_the_order_of_their_time(spool: Spool) -> None:
    for number in (3, 1, 2):
        put_one(spool, number)
    assert sessions(spool) == ["s1", "s2", "s3"]
    assert sessions(spool, limit=2) == ["s1", "s2"]


def test_what_is_not_acknowledged_comes_again(spool: Spool) -> None:
    put_one(spool, 1)
    assert sessions(spool) == sessions(spool) == ["s1"]
    with spool.claim() as batch:
        batch.acknowledge()
    assert sessions(spool) == []
    assert spool.counts().pending == 0


def test_a_part_of_a_batch_can_be_acknowledged(spool: Spool) -> None:
    for number in (1, 2, 3):
        put_one(spool, number)
    with spool.claim() as batch:
        batch.acknowledge(batch.events[:2])
    assert sessions(spool) == ["s3"]


def test_what_was_said_does_not_stay_after_it_was_acknowledged(spool: Spool) -> None:
    put_one(spool, 1)
    with spool.claim() as batch:
        batch.acknowledge()
    left = [file for file in Path(spool.folder).rglob("*") if file.is_file() and file.name.endswith(".json")]
    assert [file.read_bytes() for file in left] == [b""]


def test_one_process_drains_at_a_time(spool: Spool) -> None:
    put_one(spool, 1)
    with spool.claim(), pytest.raises(Locked):
        spool.claim().__enter__()
    assert sessions(spool) == ["s1"]


def test_hooks_add_while_another_process_drains(spool: Spool) -> None:
    put_one(spool, 1)
    with spool.claim() as batch:
        put_one(spool, 2)
        batch.acknowledge()
    assert sessions(spool) == ["s2"]


@pytest.mark.parametrize(
    "damaged",
    [b"", b"{", b"[]", b"\xff\xfe", b'{"format": 99}', b"[" * 5000, data_of(1)[:40], data_of(1, kind="new kind")],
)
def test_a_damaged_file_is_set_aside_and_reported_and_the_rest_goes_on(spool: Spool, damaged: bytes) -> None:
    file = name_of(1)
    (Path(spool.folder) / file).write_bytes(damaged)
    put_one(spool, 2)
    with spool.claim() as batch:
        assert [event.session for event in batch] == ["s2"]
        assert [name for name, _ in batch.damaged] == [file]
        batch.acknowledge()
    assert (Path(spool.folder) / "damaged" / file).read_bytes() == damaged
    assert (spool.counts().pending, spool.counts().damaged) == (0, 1)


def test_a_link_or_a_folder_in_the_place_of_an_event_is_set_aside(spool: Spool, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(data_of(9))
    (Path(spool.folder) / name_of(1)).symlink_to(tmp_path / "elsewhere")
    (Path(spool.folder) / name_of(2)).mkdir()
    put_one(spool, 3)
    with spool.claim() as batch:
        assert [event.session for event in batch] == ["s3"]
        assert len(batch.damaged) == 2


def test_files_of_others_are_left_alone(spool: Spool) -> None:
    (Path(spool.folder) / "README").write_text("mine")
    put_one(spool, 1)
    with spool.claim() as batch:
        batch.acknowledge()
    assert (Path(spool.folder) / "README").read_text() == "mine"


def test_counts_say_how_many_wait_and_since_when(spool: Spool) -> None:
    assert (spool.counts().pending, spool.counts().oldest_ns) == (0, 0)
    put_one(spool, 5)
    put_one(spool, 2)
    assert (spool.counts().pending, spool.counts().oldest_ns) == (2, START + 2)


def test_a_spool_that_does_not_exist_is_empty(tmp_path: Path) -> None:
    assert Spool(tmp_path / "none").counts().pending == 0
    assert sessions(Spool(tmp_path / "none")) == []


# Repeats


@pytest.mark.parametrize(
    ("ident", "agent", "after_ns", "repeat"),
    [
        ("c1", "claude-code", 0, True),
        ("c1", "claude-code", 3600 * 10**9, True),
        ("c2", "claude-code", 0, False),
        ("c2", "cursor", 0, True),
        ("c2", "cursor", REPEAT_NS + 1, False),
        ("n", "claude-code", REPEAT_NS, True),
        ("n", "claude-code", REPEAT_NS + 1, False),
    ],
)
def test_two_reports_are_one_event_by_id_or_by_time(ident: str, agent: str, after_ns: int, repeat: bool) -> None:
    earlier = parse_name(name_of(1, content="aa", ident="c1"))
    later = parse_name(name_of(1, content="aa", ident=ident, agent=agent, after_ns=after_ns))
    other = parse_name(name_of(1, content="bb", ident=ident, agent=agent, after_ns=after_ns))
    assert earlier is not None
    assert later is not None
    assert other is not None
    assert is_repeat(later, earlier) is repeat
    assert not is_repeat(other, earlier)


def test_a_repeat_in_a_later_drain_is_known_for_a_day(spool: Spool, monkeypatch: pytest.MonkeyPatch) -> None:
    put_one(spool, 1, content="aa", ident="c1")
    monkeypatch.setattr(module.time, "time_ns", lambda: START + 10**9)
    with spool.claim() as batch:
        batch.acknowledge()
    put_one(spool, 1, content="aa", ident="c1", after_ns=10**9)
    with spool.claim() as batch:
        assert (batch.events, len(batch.repeats)) == ([], 1)
        batch.acknowledge()
    assert spool.counts().pending == 0
    monkeypatch.setattr(module.time, "time_ns", lambda: START + KEEP_DONE_NS + 10**10)
    with spool.claim() as batch:
        batch.acknowledge()
    assert list((Path(spool.folder) / "done").iterdir()) == []


# Crashes

WRITER = """
import sys
from wikimem.vault.spool import event_name, put
folder, template = sys.argv[1], sys.argv[2].encode()
number = 0
while True:
    number += 1
    put(folder, event_name(1_800_000_000_000_000_000 + number, f"{number:016x}", "n", "a"),
        template.replace(b"NUMBER", str(number).encode()) + b" " * 20000)
    sys.stdout.write(f"{number}\\n")
    sys.stdout.flush()
"""


@pytest.mark.parametrize("round_", range(8))
def test_a_hook_that_is_killed_at_any_point_loses_no_acknowledged_event(spool: Spool, round_: int) -> None:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, spool.folder, data_of(0, session="NUMBER").decode()],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        text=True,
    )
    with writer:
        assert writer.stdout is not None
        acknowledged = [int(writer.stdout.readline())]
        time.sleep(random.Random(round_).uniform(0.0, 0.05))
        writer.send_signal(signal.SIGKILL)
        acknowledged += [int(line) for line in writer.stdout.read().splitlines() if line]
    with spool.claim(limit=1_000_000) as batch:
        kept = [int(event.session) for event in batch]
        assert batch.damaged == []
        assert kept[: len(acknowledged)] == acknowledged
        assert len(kept) <= len(acknowledged) + 1
        batch.acknowledge()
    assert spool.counts().pending == 0


DRAINER = """
import sys
from wikimem.vault.spool import Spool
while True:
    with Spool(sys.argv[1]).claim(limit=3) as batch:
        for event in batch:
            with open(sys.argv[2], "a") as committed:
                committed.write(event.session + "\\n")
        batch.acknowledge()
"""


def test_a_drain_that_is_killed_is_done_again_and_loses_nothing(spool: Spool, tmp_path: Path) -> None:
    """What it had done and not acknowledged comes again: whoever drains knows it by the event's key."""
    for number in range(60):
        put_one(spool, number)
    committed = tmp_path / "committed"
    committed.write_text("")
    for seed in range(6):
        drainer = subprocess.Popen(
            [sys.executable, "-c", DRAINER, spool.folder, str(committed)],
            env=os.environ | {"PYTHONPATH": str(ROOT)},
        )
        before = len(committed.read_text())
        deadline = time.monotonic() + 60
        while spool.counts().pending and len(committed.read_text()) == before and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(random.Random(seed).uniform(0.0, 0.005))
        drainer.kill()
        drainer.wait()
    with spool.claim() as batch:
        rest = [event.session for event in batch]
        assert batch.damaged == []
    assert {*committed.read_text().split(), *rest} == {f"s{number}" for number in range(60)}


def test_temporary_files_of_killed_hooks_are_swept_when_they_are_old(spool: Spool) -> None:
    old, new = Path(spool.folder) / ".old.json.tmp", Path(spool.folder) / ".new.json.tmp"
    old.write_bytes(b"half")
    new.write_bytes(b"half")
    os.utime(old, ns=(0, 0))
    assert sessions(spool) == []
    assert not old.exists()
    assert new.exists()


def test_many_writers_and_a_drainer_lose_and_double_nothing(spool: Spool) -> None:
    def write(first: int) -> None:
        for number in range(first, first + 25):
            put_one(spool, number)

    writers = [threading.Thread(target=write, args=(100 * one,)) for one in range(4)]
    for writer in writers:
        writer.start()
    seen: list[str] = []
    while any(writer.is_alive() for writer in writers) or spool.counts().pending:
        with spool.claim(limit=7) as batch:
            seen += [event.session for event in batch]
            batch.acknowledge()
    assert sorted(seen) == sorted(f"s{100 * one + number}" for one in range(4) for number in range(25))
