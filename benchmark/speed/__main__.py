"""`python -m benchmark.speed [SIZE ...]`: measure generated vaults and print a table for the manual.

Each size runs in a process of its own, with its own home, so that nothing of the user's is touched and peak memory is
that size's. Results go to benchmark/results/speed.json (not kept in git).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "results"

ROWS = (
    ("index build, CPU s", "index_build_cpu_s", "", ""),
    ("index build / Whoosh alone", "index_build_cpu_s", "whoosh_build_cpu_s", "x"),
    ("index build / FTS5", "index_build_cpu_s", "fts5_build_cpu_s", "x"),
    ("index on disk, MB", "index_mb", "", ""),
    ("search p50, ms", "search_p50_ms", "", ""),
    ("search p95, ms", "search_p95_ms", "", ""),
    ("search p50 / Whoosh alone", "search_p50_ms", "whoosh_search_p50_ms", "x"),
    ("search p50 / FTS5", "search_p50_ms", "fts5_search_p50_ms", "x"),
    ("saved page findable p50, ms", "find_changed_page_p50_ms", "", ""),
    ("remember (one commit) p50, ms", "remember_p50_ms", "", ""),
    ("remember p50 / git add + commit", "remember_p50_ms", "git_commit_p50_ms", "x"),
    ("objects of one commit, kB", "objects_kb_per_commit", "", ""),
    ("cold search from the shell p50, ms", "cold_search_p50_ms", "", ""),
    ("cold search / bare Python start", "cold_search_p50_ms", "bare_python_p50_ms", "x"),
    ("peak memory of all of it, MB", "peak_rss_mb", "", ""),
)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure wikimem on generated vaults.")
    parser.add_argument("sizes", nargs="*", type=int, default=[1_000, 10_000], help="pages of each vault")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        from benchmark.speed.measure import measure

        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(measure(Path(folder), chosen.one)))
        return
    results = [_in_a_process(size) for size in chosen.sizes]
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "speed.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores\n")
    print(table(results))


def table(results: list[dict[str, Any]]) -> str:
    """The figures as Markdown, a column for each size."""
    lines = ["| | " + " | ".join(f"{each['pages']:,} pages" for each in results) + " |"]
    lines.append("|---|" + "---|" * len(results))
    for name, key, base, unit in ROWS:
        cells = [each[key] / each[base] if base else each[key] for each in results]
        lines.append(f"| {name} | " + " | ".join(f"{cell:,.1f}{unit}" for cell in cells) + " |")
    return "\n".join(lines)


def _in_a_process(size: int) -> dict[str, Any]:
    print(f"measuring {size:,} pages", file=sys.stderr)
    with tempfile.TemporaryDirectory() as home:
        env = os.environ | {"HOME": home, "PYTHONPATH": str(Path(__file__).parents[2])}
        env |= {f"XDG_{name}_HOME": f"{home}/{name.lower()}" for name in ("CONFIG", "CACHE", "STATE")}
        config = Path(home) / "gitconfig"
        config.write_text("[user]\n\tname = b\n\temail = b@example.org\n", encoding="utf-8")
        env |= {"GIT_CONFIG_GLOBAL": str(config)}
        command = [sys.executable, "-m", "benchmark.speed", "--one", str(size)]
        done = subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE, text=True)
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


if __name__ == "__main__":
    main()
