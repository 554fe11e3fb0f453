"""The duty of a vault: one process has it, a higher rank gets it, and a dead one does not keep it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from wikimem.vault.duty import Duty, duty_holder

ROOT = Path(__file__).parents[2]
HOLD = (
    "import sys, time\nfrom pathlib import Path\nfrom wikimem.vault.duty import Duty\n"
    "duty = Duty(Path(sys.argv[1]), sys.argv[2])\nprint(duty.take(), flush=True)\n"
    "while not duty.is_wanted(): time.sleep(0.01)\nduty.release()\nprint('released', flush=True)\ntime.sleep(60)\n"
)


def hold(folder: Path, rank: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(folder), rank], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "True\n"
    return process


def end(process: subprocess.Popen[str]) -> None:
    with process:
        process.kill()


def test_one_process_has_the_duty_and_others_can_read_which(tmp_path: Path) -> None:
    assert duty_holder(tmp_path) is None
    process = hold(tmp_path, "resident")
    holder = duty_holder(tmp_path)
    assert holder is not None
    assert (holder.rank, holder.pid) == ("resident", process.pid)
    assert holder.since is not None
    assert str(process.pid) in str(holder)
    duty = Duty(tmp_path, "mcp")
    assert not duty.take()
    end(process)


def test_a_process_that_was_killed_does_not_keep_it(tmp_path: Path) -> None:
    process = hold(tmp_path, "serve")
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    end(process)
    assert duty_holder(tmp_path) is None
    duty = Duty(tmp_path, "mcp")
    assert duty.take()
    duty.release()
    assert duty_holder(tmp_path) is None


def test_a_lower_rank_gives_way_to_a_higher_one(tmp_path: Path) -> None:
    process = hold(tmp_path, "resident")
    equal, higher = Duty(tmp_path, "resident"), Duty(tmp_path, "watch")
    assert not equal.take()
    assert process.poll() is None
    deadline = time.monotonic() + 20
    while not higher.take():
        assert time.monotonic() < deadline
    assert process.stdout is not None
    assert process.stdout.readline() == "released\n"
    assert not equal.take()
    higher.release()
    assert equal.take()
    equal.release()
    end(process)


def test_a_claim_ends_with_its_process(tmp_path: Path) -> None:
    holding = Duty(tmp_path, "mcp")
    assert holding.take()
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path), "serve"], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "False\n"
    assert holding.is_wanted()
    end(process)
    assert not holding.is_wanted()
    holding.release()
