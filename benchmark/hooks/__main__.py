"""`python -m benchmark.hooks`: what one hook costs, beside the start of a bare Python.

Each run of a hook alternates with one of `python -c pass`, so that both see the same machine; times are of the child
process, CPU as the kernel counts it. A home and a vault are made for it in a temporary folder.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from wikimem.operations.processes import init

ROOT = Path(__file__).parents[2]
BARE = [sys.executable, "-c", "pass"]
SCRIPT = "import re\nimport sys\nfrom wikimem.__main__ import main\nif __name__ == '__main__':\n    sys.exit(main())\n"
"""The console script as pip writes it; `python -m` costs a millisecond or two more."""

SIZES = {"2 kB": 2_000, "200 kB": 200_000, "5 MB": 5_000_000}
AT_ONCE = 10
LINES = (
    "tests/api/test_{0}.py::test_answers_a_request_with_{0}_items PASSED                                [ 12%]\n",
    "2026-01-05 10:12:07 INFO  request {0} served in 12 ms, 200, cache hit, user agent curl/8.5, {0} bytes\n",
    "src/server/routes.py:{0}: note: the handler of route {0} is covered by tests/api/test_routes.py\n",
    "tests/auth/test_{0}.py::test_a_token_is_renewed_before_it_expires PASSED                            [ 40%]\n",
)


def main() -> int:
    """Measure and print a table; `--runs N`, `--json FILE`."""
    parser = argparse.ArgumentParser(prog="python -m benchmark.hooks", description=__doc__)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder), given.runs)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=2) + "\n")
    print("| payload | CPU p50 (p95) | as bare Python | wall p50 (p95) | as bare Python |")
    print("|---|---|---|---|---|")
    for name, row in figures.items():
        print(
            f"| {name} | {row['cpu_p50']:.0f} ms ({row['cpu_p95']:.0f}) | {row['cpu_ratio']:.2f} "
            f"| {row['wall_p50']:.0f} ms ({row['wall_p95']:.0f}) | {row['wall_ratio']:.2f} |"
        )
    return 0


def measure(folder: Path, runs: int) -> dict[str, dict[str, float]]:
    """The figures by payload; `cpu_ratio` and `wall_ratio` are medians of each run over the bare one beside it."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("WIKIMEM_", "XDG_", "PYTHON"))}
    env |= {"HOME": str(folder), "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(folder / "pyc")}
    # What hooks keep is measured here; what they say is in `benchmark.hooks.injecting`.
    env["WIKIMEM_RESIDENT"] = "off"
    for name in [name for name in os.environ if name.startswith("XDG_")]:
        del os.environ[name]
    os.environ["HOME"] = str(folder)
    init(folder / "wikimem", cwd=folder)
    script = folder / "wikimem.py"
    script.write_text(SCRIPT)
    hook = [sys.executable, "-P", str(script), "hook", "claude"]
    figures = {}
    for name, size in SIZES.items():
        for event in ("UserPromptSubmit", "PostToolUse"):
            payload = folder / f"{event}-{size}.json"
            payload.write_text(json.dumps(payload_of(event, size, folder)))
            figures[f"{event}, {name}"] = _alternating([*hook, event], payload, env, runs)
    figures[f"PostToolUse, 2 kB, {AT_ONCE} at once"] = _at_once(hook, folder / "PostToolUse-2000.json", env, runs)
    return figures


def payload_of(event: str, size: int, cwd: Path) -> dict[str, Any]:
    """A payload of Claude Code, of about `size` bytes."""
    text = "".join(LINES[number % len(LINES)].format(number) for number in range(size // 80))[:size]
    common = {"session_id": "measured", "cwd": str(cwd), "hook_event_name": event}
    if event == "UserPromptSubmit":
        return common | {"prompt": text}
    return common | {
        "tool_name": "Bash",
        "tool_input": {"command": "pytest -q tests/api"},
        "tool_use_id": "call_1",
        "tool_response": {"stdout": text, "stderr": ""},
    }


def _alternating(command: list[str], payload: Path, env: dict[str, str], runs: int) -> dict[str, float]:
    bare: list[tuple[float, float]] = []
    hook: list[tuple[float, float]] = []
    for run in range(runs + 2):
        one, other = times(BARE, payload, env), times(command, payload, env)
        if run >= 2:  # the first write the compiled modules
            bare.append(one)
            hook.append(other)
    return row_of(bare, hook)


def _at_once(hook: list[str], payload: Path, env: dict[str, str], runs: int) -> dict[str, float]:
    """Ten hooks started together beside ten bare Pythons; wall until the last has ended, CPU of one."""
    rounds = max(runs // 8, 3)
    found: dict[str, list[tuple[float, float]]] = {"bare": [], "hook": []}
    for _ in range(rounds):
        for name, command in (("bare", BARE), ("hook", [*hook, "PostToolUse"])):
            started, before = time.perf_counter(), os.times()
            running = [_started(command, payload, env) for _ in range(AT_ONCE)]
            for process in running:
                process.wait()
            after = os.times()
            cpu = after.children_user + after.children_system - before.children_user - before.children_system
            found[name].append((cpu / AT_ONCE * 1000, (time.perf_counter() - started) * 1000))
    return row_of(found["bare"], found["hook"])


def times(command: list[str], payload: Path, env: dict[str, str]) -> tuple[float, float]:
    """CPU and wall milliseconds of a process."""
    started = time.perf_counter()
    process = _started(command, payload, env)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{command} ended with {process.returncode}")
    return (usage.ru_utime + usage.ru_stime) * 1000, wall * 1000


def _started(command: list[str], payload: Path, env: dict[str, str]) -> subprocess.Popen[bytes]:
    with payload.open("rb") as stdin:
        return subprocess.Popen(command, stdin=stdin, stdout=subprocess.DEVNULL, env=env)


def row_of(bare: list[tuple[float, float]], hook: list[tuple[float, float]]) -> dict[str, float]:
    """Medians, 95th percentiles and ratios of times as `times` gives them."""
    row = {}
    for index, name in enumerate(("cpu", "wall")):
        mine, base = sorted(times[index] for times in hook), [times[index] for times in bare]
        row[f"{name}_p50"] = statistics.median(mine)
        row[f"{name}_p95"] = mine[min(len(mine) * 95 // 100, len(mine) - 1)]
        row[f"{name}_ratio"] = statistics.median(times[index] / bare_ for times, bare_ in zip(hook, base, strict=True))
    return row


if __name__ == "__main__":
    sys.exit(main())
