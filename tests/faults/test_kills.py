"""kill -9 at every step of a write and of an index update, and at random: the next command mends what is left."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wikimem.text.analysis import query_terms

if TYPE_CHECKING:
    from tests.faults.conftest import Person, Yard

WRITE_STEPS = ("blob", "journal", "stage", "file", "index", "commit", "ref", "end")
INDEX_STEPS = ("_announce", "_write_words", "_write_vectors", "_conclude")
KILLED = -signal.SIGKILL


def test_killed_at_every_step_of_a_write(yard: Yard, tmp_path: Path) -> None:
    for number, step in enumerate(WRITE_STEPS):
        first, second = f"First {number} agent one", f"Second {number}"
        assert yard.operation("remember", title=first, text="begin\nend\n", type="fact") == 0
        known = len(yard.acknowledged())
        write = ["remember", {"title": second, "text": "fact", "type": "fact", "supersedes": [first]}]
        nth = 2 if step in ("blob", "stage", "file") else 1
        assert yard.run("operations", operations=[write], kill=[step, nth]) == KILLED, step
        assert len(yard.acknowledged()) == known

        # Whether the next command writes or reads, it ends what was interrupted.
        next_command = ("remember", {"title": f"Third {number}", "text": "fact"}) if number % 2 else ("list", {})
        assert yard.operation(next_command[0], **next_command[1]) == 0, yard.drivers.said()
        yard.assert_sound()
        finished = step not in ("blob", "journal")
        assert ("superseded_by" in (yard.root / f"global/facts/{first}.md").read_text()) == finished, step
        assert (yard.root / f"global/facts/{second}.md").exists() == finished, step
        assert yard.git("log", "--format=%s").split("\n").count(f"remember(fact): {second}") == finished, step
    yard.assert_acknowledged()
    yard.assert_index(tmp_path / "rebuilt")


def test_killed_at_every_step_of_an_index_update(yard: Yard, tmp_path: Path) -> None:
    assert yard.operation("remember", title="First agent one", text="begin\nend\n", type="fact") == 0
    for number, step in enumerate(INDEX_STEPS):
        write = ["edit", {"page": "First agent one", "text": f"- begin word{number}\n", "mode": "append"}]
        assert yard.run("operations", operations=[write], kill=[step, 1]) == KILLED, step
        assert yard.operation("search", query=f"word{number}") == 0, yard.drivers.said()
        yard.assert_sound(tmp_path / f"rebuilt {number}")
        with yard.wiki() as wiki:
            assert len(wiki.index.words.search(query_terms(f"word{number}"), 10, None)) == 1, step


def test_the_lock_stays_with_a_git_that_outlives_its_wikimem(yard: Yard, tmp_path: Path) -> None:
    slow = tmp_path / "bin"
    slow.mkdir()
    real = shutil.which("git")
    (slow / "git").write_text(
        f'#!/bin/sh\ncase "$*" in *update-ref*) touch "{tmp_path}/reached"; sleep 1.5;; esac\nexec {real} "$@"\n'
    )
    (slow / "git").chmod(0o755)
    write = ["remember", {"title": "First", "text": "fact", "type": "fact"}]
    environment = {"PATH": f"{slow}:{os.environ['PATH']}"}
    pid = yard.start("operations", operations=[write], env=environment)
    deadline = time.monotonic() + 30
    while not (tmp_path / "reached").exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    yard.drivers.wait(pid)
    assert yard.operation("remember", title="Second", text="fact") == 0, yard.drivers.said()
    yard.assert_sound()
    subjects = yard.git("log", "--format=%s").split("\n")
    assert subjects[:2] == ["remember(fact): Second", "remember(fact): First"]
    assert subjects.count("remember(fact): First") == 1


def kill_at_random(yard: Yard, person: Person, folder: Path, *, kills: int, each: int, workers: int = 3) -> int:
    """Kill writers at random moments, `each` between two looks at everything; returns the acknowledged writes."""
    chance = random.Random(20250912)
    done = 0
    with person:
        while done < kills:
            running: dict[int, int] = {}
            for _ in range(min(each, kills - done)):
                while len(running) < workers:
                    number = done + len(running) + chance.randrange(1_000_000_000)
                    running[yard.start("any", agent=f"w{len(running)}", seed=number)] = number
                time.sleep(chance.uniform(0.02, 0.35))
                victim = chance.choice(list(running))
                os.kill(victim, signal.SIGKILL)
                assert yard.drivers.wait(victim) == KILLED, yard.drivers.said()
                del running[victim]
                done += 1
            for pid in running:
                os.kill(pid, signal.SIGKILL)
                yard.drivers.wait(pid)
            assert yard.operation("remember", title=f"Look {done}", text="begin") == 0, yard.drivers.said()
            yard.assert_nothing_left()
            yard.assert_acknowledged()
    yard.assert_sound(folder / "rebuilt")
    person.assert_kept()
    assert yard.drivers.said() == ""
    return len([line for line in yard.acknowledged() if line.get("commit")])


def test_random_kills(yard: Yard, person: Callable[..., Person], tmp_path: Path) -> None:
    assert kill_at_random(yard, person(), tmp_path, kills=15, each=15) > 0


@pytest.mark.slow
def test_a_thousand_random_kills(yard: Yard, person: Callable[..., Person], tmp_path: Path, capsys: Any) -> None:
    kills = int(os.environ.get("FAULT_KILLS", "1000"))
    started = time.monotonic()
    written = kill_at_random(yard, person(gc=True), tmp_path, kills=kills, each=50)
    with capsys.disabled():
        print(f"\n{kills} kills, {written} acknowledged writes, {time.monotonic() - started:.0f} s")  # noqa: T201 - the numbers of the run
