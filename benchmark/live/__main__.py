"""python -m benchmark.live [PAGES ...] [--saves N] [--idle SECONDS]

Makes a vault of so many pages in a home of its own, starts `wikimem watch`, saves pages as an editor does, and waits
for each until the index has it. Prints latency in milliseconds, CPU at rest in percent of a core, and memory in MB.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import quantiles
from typing import Any

FOLDER_PAGES = 250
WORDS = 150
POLL_S = 0.005
PATIENCE_S = 120.0


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmark.live", description=__doc__)
    parser.add_argument("pages", nargs="*", type=int, default=[1_000], help="pages of each vault")
    parser.add_argument("--saves", type=int, default=50, help="how many saves are timed")
    parser.add_argument("--idle", type=float, default=130.0, help="seconds at rest; a sweep comes every minute")
    chosen = parser.parse_args()
    print(
        f"{'pages':>7} {'p50 ms':>8} {'p95 ms':>8} {'CPU ms/save':>12} {'idle CPU %':>11} {'RSS MB':>8} {'PSS MB':>8}"
    )
    for pages in chosen.pages:
        with tempfile.TemporaryDirectory(prefix="wikimem-live-") as folder:
            row = measure(Path(folder), pages, chosen.saves, chosen.idle)
        print(
            f"{pages:>7} {row['p50']:>8.0f} {row['p95']:>8.0f} {row['cpu_save']:>12.0f} {row['idle']:>11.2f} "
            f"{row['rss']:>8.0f} {row['pss']:>8.0f}",
            flush=True,
        )


def measure(folder: Path, pages: int, saves: int, idle_s: float) -> dict[str, Any]:
    """The figures for one size; `folder` is empty."""
    environment = own_home(folder)
    root = make_vault(folder / "vault", pages, environment)
    command = [sys.executable, "-m", "wikimem", "--vault", str(root)]
    subprocess.run([*command, "reindex", "--quiet"], env=environment, check=True, stdout=subprocess.DEVNULL)
    watch = subprocess.Popen(
        [*command, "--json", "watch"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert watch.stdout is not None
        while json.loads(watch.stdout.readline())["event"] != "watching":
            pass
        time.sleep(5)
        before = cpu_s(watch.pid)
        latencies = save_and_find(root, saves)
        spent = cpu_s(watch.pid) - before
        time.sleep(5)
        rested = cpu_s(watch.pid)
        time.sleep(idle_s)
        idle = (cpu_s(watch.pid) - rested) / idle_s
        rss, pss = memory_mb(watch.pid)
    finally:
        watch.terminate()
        watch.wait()
    cuts = quantiles(latencies, n=20)
    return {
        "p50": cuts[9],
        "p95": cuts[18],
        "cpu_save": spent / saves * 1e3,
        "idle": idle * 100,
        "rss": rss,
        "pss": pss,
    }


def own_home(folder: Path) -> dict[str, str]:
    """An environment, for this process too, that touches nothing of the user's."""
    (folder / "home").mkdir()
    config = folder / "home" / ".gitconfig"
    config.write_text("[user]\n\tname = b\n\temail = b@example.org\n[init]\n\tdefaultBranch = main\n")
    for name in [name for name in os.environ if name.startswith(("XDG_", "GIT_", "WIKIMEM_"))]:
        del os.environ[name]
    os.environ |= {"HOME": str(folder / "home"), "GIT_CONFIG_GLOBAL": str(config), "WIKIMEM_RESIDENT": "off"}
    return dict(os.environ)


def make_vault(root: Path, pages: int, environment: dict[str, str]) -> Path:
    """A vault under git with so many pages of made-up words."""
    chance = random.Random(1)
    words = ["".join(chance.choices("bdfgklmnprstvzaeiou", k=chance.randint(4, 9))) for _ in range(20_000)]
    for number in range(pages):
        file = root / f"folder {number // FOLDER_PAGES}" / f"Page {number}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# Page {number}\n\n" + " ".join(chance.choices(words, k=WORDS)) + "\n")
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "pages"]):
        subprocess.run(["git", *command], cwd=root, env=environment, check=True)
    subprocess.run([sys.executable, "-m", "wikimem", "init", str(root), "--quiet"], env=environment, check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    return root


def save_and_find(root: Path, saves: int) -> list[float]:
    """Milliseconds from each save to the moment at which a search of the index has the page's new word."""
    from wikimem.model.caller import Caller
    from wikimem.text.analysis import query_terms
    from wikimem.text.ids import revision_of
    from wikimem.wiki import open_wiki

    wiki = open_wiki(str(root), cwd=root, caller=Caller(cwd=root))
    files = sorted(root.rglob("Page *.md"))
    chance = random.Random(2)
    found: list[float] = []
    for number in range(saves):
        file = chance.choice(files)
        word = f"zq{number}xkcd"
        data = file.read_bytes() + f"\n{word}\n".encode()
        temporary = file.with_name(f".{file.name}.tmp")
        temporary.write_bytes(data)
        started = time.perf_counter()
        os.replace(temporary, file)
        path, revision = file.relative_to(root).as_posix(), revision_of(data)
        while True:
            row = wiki.index.page(path)
            if row is not None and row.revision == revision and wiki.index.words.search(query_terms(word), 1, None):
                break
            if time.perf_counter() - started > PATIENCE_S:
                raise TimeoutError(path)
            time.sleep(POLL_S)
        found.append((time.perf_counter() - started) * 1e3)
        time.sleep(chance.uniform(0.3, 1.2))
    wiki.close()
    return found


def cpu_s(pid: int) -> float:
    """Seconds of CPU that a process and the children it has waited for have taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def memory_mb(pid: int) -> tuple[float, float]:
    """Resident memory, and with shared pages divided among those who share them."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    sizes = {line.split()[0]: int(line.split()[1]) / 1024 for line in rollup[1:]}
    return sizes["Rss:"], sizes["Pss:"]


if __name__ == "__main__":
    main()
