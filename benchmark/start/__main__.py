"""`python -m benchmark.start [--pages N] [--runs N]`: CPU of `wikimem search` as a ratio to `python -c pass`.

All in one run, each kind of start in turn, so that a busy machine weighs on all of them alike. CPU is user and system
time as the kernel counts it for each process that was waited for; the server's is read before and after.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmark.speed.vault import make_vault

ROOT = Path(__file__).parents[2]
DEADLINE_S = 120.0
TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what a command costs from the shell.")
    parser.add_argument("--pages", type=int, default=1_000, help="pages of the vault")
    parser.add_argument("--runs", type=int, default=21, help="starts of each kind")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), chosen.pages, chosen.runs)


def measure(folder: Path, pages: int, runs: int) -> None:
    """Make a vault, start every kind of process `runs` times in turn, and print a table."""
    made = make_vault(folder / "made", pages, progress=lambda _: None)
    env = _environment(folder)
    off, on = env | {"WIKIMEM_RESIDENT": "off"}, env | {"WIKIMEM_RESIDENT": "15"}
    wikimem = [sys.executable, "-m", "wikimem", "--vault", os.fspath(made.root)]
    search = [*wikimem, "search", made.queries[0]]
    subprocess.run([*wikimem, "init"], env=off, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(search, env=off, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(search, env=on, check=True, stdout=subprocess.DEVNULL)
    pid = _server(folder)
    kinds: dict[str, Callable[[], float]] = {
        "python -c pass": lambda: cpu_ms([sys.executable, "-c", "pass"], env),
        "wikimem --version": lambda: cpu_ms([*wikimem[:3], "--version"], env),
        "search, resident: client": lambda: cpu_ms(search, on),
        "search, cold": lambda: cpu_ms(search, off),
        "read, cold": lambda: cpu_ms([*wikimem, "read", made.paths[0]], off),
    }
    seen: dict[str, list[float]] = {name: [] for name in kinds}
    served: list[float] = []
    try:
        for _ in range(runs):
            for name, start in kinds.items():
                before = _used_ms(pid)
                seen[name].append(start())
                if name == "search, resident: client":
                    served.append(_used_ms(pid) - before)
    finally:
        subprocess.run([*wikimem, "resident", "stop"], env=on, check=False, stdout=subprocess.DEVNULL)
    # The kernel counts another process in ticks of 10 ms: only the mean of many says something.
    rows = {name: statistics.median(each) for name, each in seen.items()}
    rows["search, resident: server"] = statistics.fmean(served)
    print(f"{pages:,} pages, {runs} starts of each kind in turn, load {os.getloadavg()[0]:.1f}\n")
    print("| | CPU ms | beside bare Python |\n|---|---|---|")
    for name, value in rows.items():
        print(f"| {name} | {value:.0f} | {value / rows['python -c pass']:.1f}x |")


def cpu_ms(command: list[str], env: dict[str, str]) -> float:
    """User and system time of one process and what it waited for."""
    output = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
    pid = os.posix_spawn(command[0], command, env, file_actions=output)
    _, status, used = os.wait4(pid, 0)
    if status:
        raise RuntimeError(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    return (used.ru_utime + used.ru_stime) * 1000


def _used_ms(pid: int) -> float:
    """User and system time of a running process (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / TICKS


def _server(folder: Path) -> int:
    """The process id of the resident process, once it listens."""
    from wikimem.operations.resident import read_record

    until = time.monotonic() + DEADLINE_S
    while time.monotonic() < until:
        for state in (folder / "state/wikimem/vaults").glob("*"):
            record = read_record(state)
            if record is not None and not record.ended:
                return record.pid
        time.sleep(0.05)
    raise RuntimeError("no resident process came up")


def _environment(folder: Path) -> dict[str, str]:
    config = folder / "gitconfig"
    config.write_text("[user]\n\tname = b\n\temail = b@example.org\n", encoding="utf-8")
    env = {name: value for name, value in os.environ.items() if not name.startswith(("WIKIMEM_", "XDG_", "PYTHON"))}
    env |= {"HOME": os.fspath(folder), "PYTHONPATH": os.fspath(ROOT), "GIT_CONFIG_GLOBAL": os.fspath(config)}
    return env | {f"XDG_{name}_HOME": f"{folder}/{name.lower()}" for name in ("CONFIG", "CACHE", "STATE")}


if __name__ == "__main__":
    main()
