"""Many writers on one vault, beside a person's git that sweeps up everything, and readers meanwhile."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.faults.conftest import Person, Yard

PAGE = "The page that all write to"


def write_at_once(yard: Yard, person: Person, folder: Path, *, writers: int, each: int) -> dict[str, int]:
    """`writers` processes write `each` times; returns what was counted."""
    assert yard.operation("remember", title=PAGE, text=f"begin {PAGE}\nend {PAGE}\n", type="fact") == 0
    stop = folder / "stop"
    with person:
        readers = [yard.start("read", agent=f"r{number}", stop=str(stop)) for number in range(2)]
        running = [yard.start("shared", agent=f"w{number}", page=PAGE, times=each) for number in range(writers)]
        codes = [yard.drivers.wait(pid) for pid in running]
        stop.touch()
        codes += [yard.drivers.wait(pid) for pid in readers]
    assert codes == [0] * (writers + 2), yard.drivers.said()
    assert yard.drivers.said() == ""
    assert yard.operation("remember", title="The last", text="begin\nend\n") == 0, yard.drivers.said()
    # What the person had swept up or left lying is theirs to commit.
    yard.git("add", "-A")
    yard.git("commit", "-qm", "mine, the last", check=False)

    told = yard.acknowledged()
    assert [line["wrong"] for line in told if "wrong" in line] == []
    rounds = sum(line.get("rounds", 0) for line in told)
    assert rounds >= 2, "the readers got through"
    lines = [line["line"] for line in told if "line" in line]
    page = (yard.root / f"global/facts/{PAGE}.md").read_text()
    assert sorted(line for line in page.split("\n") if line.startswith("- line ")) == sorted(lines)
    there = {line["title"] for line in told if line.get("operation") == "remember" and "title" in line}
    there -= {line["title"] for line in told if line.get("operation") == "forget"}
    assert {file.stem for file in (yard.root / "global/facts").rglob("w*.md")} == there
    yard.assert_sound(folder / "rebuilt")
    yard.assert_acknowledged()
    person.assert_kept()
    return {
        "writes": sum("commit" in line for line in told),
        "conflicts": sum("conflict" in line for line in told),
        "rounds of reading": rounds,
        "commits of the person": len(person.commits),
    }


def test_many_writers(yard: Yard, person: Callable[..., Person], tmp_path: Path) -> None:
    counted = write_at_once(yard, person(sweep=True), tmp_path, writers=4, each=8)
    assert counted["writes"] >= 34


@pytest.mark.slow
def test_ten_thousand_writes(yard: Yard, person: Callable[..., Person], tmp_path: Path, capsys: Any) -> None:
    # A third of the steps is a new page, and half of those is forgotten again: 7 writes in 6 steps.
    writes = int(os.environ.get("FAULT_WRITES", "10000"))
    started = time.monotonic()
    counted = write_at_once(
        yard, person(sweep=True, gc=True, pause_s=0.3), tmp_path, writers=8, each=writes * 6 // 7 // 8 + 1
    )
    with capsys.disabled():
        print(f"\n{counted}, {time.monotonic() - started:.0f} s")  # noqa: T201 - the numbers of the run
