"""`python -m benchmark.hooks.injecting`: what hooks cost that give memory, beside a bare start of Python.

On a copy of the example vault, with the resident process and without it; every run is a session of its own. `said` is
the share of runs in which the model was told something within the time that hooks have.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmark.hooks.__main__ import BARE, ROOT, SCRIPT, row_of

PROMPT = "Add rate limiting to the public API, in src/middleware/rate.ts."
READY_S = 60.0


def main() -> int:
    """Measure and print a table; `--runs N`, `--wait SECONDS`."""
    parser = argparse.ArgumentParser(prog="python -m benchmark.hooks.injecting", description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--wait", type=float, help="seconds that hooks have, instead of what they take by themselves")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(Path(folder), given.runs, given.wait)
    print(
        "| event | CPU p50 (p95) | as bare Python | wall p50 (p95) | as bare Python | said |\n|---|---|---|---|---|---|"
    )
    for name, row in rows.items():
        print(
            f"| {name} | {row['cpu_p50']:.0f} ms ({row['cpu_p95']:.0f}) | {row['cpu_ratio']:.2f} "
            f"| {row['wall_p50']:.0f} ms ({row['wall_p95']:.0f}) | {row['wall_ratio']:.2f} | {row['said']:.0%} |"
        )
    return 0


def measure(folder: Path, runs: int, wait_s: float | None = None) -> dict[str, dict[str, float]]:
    """The figures of each event, with the resident process and without."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("WIKIMEM_", "XDG_", "PYTHON"))}
    env |= {"HOME": str(folder), "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(folder / "pyc")}
    if wait_s is not None:
        env["WIKIMEM_HOOK_WAIT"] = str(wait_s)
    shutil.copytree(ROOT / "example-vault", folder / "wikimem")
    code = folder / "shop-api"
    code.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=code, check=True)
    script = folder / "wikimem.py"
    script.write_text(SCRIPT)
    wikimem = [sys.executable, "-P", str(script)]
    off = env | {"WIKIMEM_RESIDENT": "off"}
    for command in (["init", str(folder / "wikimem")], ["search", "jose"]):
        subprocess.run([*wikimem, *command], env=off, cwd=folder, check=True, capture_output=True)
    rows = {}
    for event in ("SessionStart", "UserPromptSubmit"):
        rows[f"{event}, alone"] = _alternating([*wikimem, "hook", "claude", event], code, off, runs)
    subprocess.run([*wikimem, "search", "jose"], env=env, cwd=folder, check=True, capture_output=True)
    try:
        _await_resident(wikimem, env, folder)
        for event in ("SessionStart", "UserPromptSubmit"):
            rows[f"{event}, resident"] = _alternating([*wikimem, "hook", "claude", event], code, env, runs)
    finally:
        subprocess.run([*wikimem, "resident", "stop"], env=env, cwd=folder, check=True, capture_output=True)
    return rows


def _await_resident(wikimem: list[str], env: dict[str, str], folder: Path) -> None:
    until = time.monotonic() + READY_S
    while time.monotonic() < until:
        done = subprocess.run([*wikimem, "resident", "--json"], env=env, cwd=folder, check=True, capture_output=True)
        if json.loads(done.stdout)["running"]:
            time.sleep(1)  # it holds its lock a moment before it listens
            return
        time.sleep(0.2)
    raise SystemExit("no resident process came up")


def _alternating(command: list[str], code: Path, env: dict[str, str], runs: int) -> dict[str, float]:
    bare: list[tuple[float, float]] = []
    hook: list[tuple[float, float]] = []
    said = 0
    for run in range(runs + 2):
        payload = {"session_id": f"{command[-1]}-{run}-{time.time_ns()}", "cwd": str(code), "prompt": PROMPT}
        one, _ = _run(BARE, "", env)
        other, output = _run(command, json.dumps(payload), env)
        if run >= 2:  # the first write the compiled modules
            bare.append(one)
            hook.append(other)
            said += bool(output)
    return row_of(bare, hook) | {"said": said / runs}


def _run(command: list[str], text: str, env: dict[str, str]) -> tuple[tuple[float, float], bytes]:
    """CPU and wall milliseconds of a process, and its output."""
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stdout:
        stdin.write(text.encode())
        stdin.seek(0)
        started = time.perf_counter()
        process = subprocess.Popen(command, stdin=stdin, stdout=stdout, env=env)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        stdout.seek(0)
        return ((usage.ru_utime + usage.ru_stime) * 1000, wall * 1000), stdout.read()


if __name__ == "__main__":
    sys.exit(main())
