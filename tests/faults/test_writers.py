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


def write_at_once(
    yard: Yard, person: Person, folder: Path, *, writers: int, each: int, shared: int = 1, pause_s: float = 0.1
) -> dict[str, int]:
    """`writers` processes write `each` times, all to one of the `shared` pages at a time; returns what was counted.

    Two processes read meanwhile, and rest for `pause_s` seconds between two rounds.
    """
    pages = [f"The page that all write to {number}" for number in range(shared)]
    for page in pages:
        assert yard.operation("remember", title=page, text=f"begin {page}\nend {page}\n", type="fact") == 0
    stop = folder / "stop"
    with person:
        readers = [yard.start("read", agent=f"r{number}", stop=str(stop), pause_s=pause_s) for number in range(2)]
        running = [yard.start("shared", agent=f"w{number}", pages=pages, times=each) for number in range(writers)]
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
    written = "\n".join((yard.root / f"global/facts/{page}.md").read_text() for page in pages)
    assert sorted(line for line in written.split("\n") if line.startswith("- line ")) == sorted(lines)
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
    # A third of the steps is a new page, and half of those is forgotten again: 7 writes in 6 steps. One page that grew
    # to thousands of lines would only measure what such a page costs.
    writes = int(os.environ.get("FAULT_WRITES", "10000"))
    started = time.monotonic()
    beside = person(sweep=True, gc=True, pause_s=0.3)
    each = writes * 6 // 7 // 8 + 1
    counted = write_at_once(yard, beside, tmp_path, writers=8, each=each, shared=writes // 500 + 1, pause_s=0.5)
    with capsys.disabled():
        print(f"\n{counted}, {time.monotonic() - started:.0f} s")  # noqa: T201 - the numbers of the run
