"""The write lock among real processes."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from wikimem.errors import Locked, Refused
from wikimem.vault.lock import lock_owner, write_lock

HOLDER = """
import sys, time
from pathlib import Path
from wikimem.vault.lock import write_lock
with write_lock(Path(sys.argv[1]), "a test's write"):
    print("held", flush=True)
    time.sleep(60)
"""


def hold(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_held_lock_names_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "wikimem.lock"
    with hold(path) as holder:
        try:
            with (
                pytest.raises(Locked, match=rf"process {holder.pid} \(a test's write, since "),
                write_lock(path, "mine", timeout_s=0.05),
            ):
                raise AssertionError("two writers at once")
        finally:
            holder.kill()


def test_the_lock_of_a_killed_process_is_free_at_once(tmp_path: Path) -> None:
    path = tmp_path / "wikimem.lock"
    with hold(path) as holder:
        holder.kill()
        holder.wait()
    assert lock_owner(path), "the dead owner's note is still there"
    with write_lock(path, "mine", timeout_s=0.5):
        assert "mine" in lock_owner(path)
    assert lock_owner(path) == ""


def test_a_writer_waits_for_another_that_finishes(tmp_path: Path) -> None:
    path = tmp_path / "wikimem.lock"
    script = HOLDER.replace("time.sleep(60)", "time.sleep(0.3)")
    with subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        started = time.monotonic()
        with write_lock(path, "mine", timeout_s=20):
            assert time.monotonic() - started > 0.05


def test_a_folder_that_cannot_hold_the_lock_is_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(Refused, match="cannot open the lock file"),
        write_lock(tmp_path / "missing" / "wikimem.lock", "mine"),
    ):
        raise AssertionError("no folder, no lock")
