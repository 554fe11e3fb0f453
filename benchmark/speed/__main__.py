"""python -m benchmark.speed [SIZE ...] [--out DIR] [--only PART] [--keep DIR] [--resume] [--plots]

Measures generated vaults of so many pages and prints a table for the manual. Each part runs in a process of its own,
with its own home, so that nothing of the user's is touched and peak memory is that part's. Figures are written to
OUT/speed-SIZE.json as soon as a part is done: an interrupted run is continued with --keep and --resume.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmark.speed.report import Result, table

RESULTS = Path(__file__).parents[1] / "results"
PART_NAMES = ("commit", "index", "search", "change", "watched", "write", "cold", "whoosh", "fts5", "tantivy")


def main() -> None:
    chosen = _arguments()
    if chosen.one:
        _measure_here(chosen.one, chosen.keep, chosen.part, chosen.runs)
        return
    chosen.out.mkdir(parents=True, exist_ok=True)
    for size in () if chosen.report else chosen.sizes:
        with _workplace(chosen.keep, size) as folder:
            _measure_size(size, folder, chosen)
    results = [_read(chosen.out, size) for size in sorted(chosen.sizes)]
    print(f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores\n")
    print(table(results))
    if chosen.plots:
        from benchmark.speed.plots import write_plots

        for file in write_plots(results, chosen.out):
            print(f"wrote {file}", file=sys.stderr)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmark.speed", description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=[1_000, 10_000], help="pages of each vault")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where figures and plots go; not kept in git")
    parser.add_argument("--only", action="append", choices=PART_NAMES, help="measure this part; repeat for several")
    parser.add_argument("--keep", type=Path, help="keep vaults and indexes in this folder, and use what is there")
    parser.add_argument("--resume", action="store_true", help="leave out parts whose figures OUT has already")
    parser.add_argument("--runs", type=int, default=25, help="how often each write, and each saved page, is measured")
    parser.add_argument("--plots", action="store_true", help="draw the figures by size into OUT (extra `benchmark`)")
    parser.add_argument("--report", action="store_true", help="measure nothing; show what OUT has")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--part", help=argparse.SUPPRESS)
    return parser.parse_args()


@contextmanager
def _workplace(keep: Path | None, size: int) -> Iterator[Path]:
    if keep is not None:
        folder = keep.resolve() / str(size)
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="wikimem-speed-") as made:
        yield Path(made)


def _measure_size(size: int, folder: Path, chosen: argparse.Namespace) -> None:
    known = _read(chosen.out, size)
    for part in ("vault", *PART_NAMES):
        if part != "vault" and chosen.only and part not in chosen.only:
            continue
        if part != "vault" and chosen.resume and part in known["parts"]:
            continue
        if part == "tantivy" and find_spec("tantivy") is None:
            print("tantivy is not installed (extra `benchmark`); left out", file=sys.stderr)
            continue
        print(f"{size:,} pages: {part}", file=sys.stderr, flush=True)
        started, load = time.perf_counter(), os.getloadavg()[0]
        known |= _in_a_process(size, folder, part, chosen.runs)
        took = round(time.perf_counter() - started, 1)
        known["parts"][part] = {"s": took, "load": round(load, 1), "at": time.strftime("%Y-%m-%d %H:%M")}
        print(f"{size:,} pages: {part} took {took:,} s", file=sys.stderr, flush=True)
        _file(chosen.out, size).write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


def _file(out: Path, size: int) -> Path:
    return out / f"speed-{size}.json"


def _read(out: Path, size: int) -> Result:
    file = _file(out, size)
    if not file.is_file():
        return {"pages": size, "parts": {}}
    found: Result = json.loads(file.read_text(encoding="utf-8"))
    return found


def _in_a_process(size: int, folder: Path, part: str, runs: int) -> dict[str, Any]:
    home = folder / "home"
    home.mkdir(exist_ok=True)
    env = os.environ | {"HOME": str(home), "PYTHONPATH": str(Path(__file__).parents[2])}
    env |= {f"XDG_{name}_HOME": f"{home}/{name.lower()}" for name in ("CONFIG", "CACHE", "STATE")}
    config = home / "gitconfig"
    config.write_text("[user]\n\tname = b\n\temail = b@example.org\n", encoding="utf-8")
    # Each command that is measured answers by itself; one thread for numpy, as the `wikimem` command has it.
    env |= {"GIT_CONFIG_GLOBAL": str(config), "WIKIMEM_RESIDENT": "off", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmark.speed", "--one", str(size), "--part", part]
    command += ["--keep", str(folder), "--runs", str(runs)]
    done = subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE, text=True)
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def _measure_here(size: int, folder: Path, part: str, runs: int) -> None:
    from benchmark.speed.measure import PARTS, say
    from benchmark.speed.timing import timed
    from benchmark.speed.vault import is_made, keep_vault, make_vault, open_vault
    from wikimem.operations.processes import init

    figures: dict[str, float] = {}
    if part != "vault":
        print(json.dumps(PARTS[part](open_vault(folder, runs))))
        return
    if not is_made(folder):
        made = make_vault(folder, size, progress=say)
        with timed(figures, "init"):
            init(made.root, cwd=folder)
        keep_vault(made)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
