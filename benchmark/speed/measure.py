"""What is measured of one vault size. Times are wall seconds unless a key says CPU; peers run in the same process."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from whoosh import fields, index, qparser

from benchmark.speed.vault import make_vault, page_path
from wikimem.model.caller import Caller
from wikimem.operations import OPERATIONS
from wikimem.operations.processes import init
from wikimem.wiki import Wiki, open_wiki

RUNS = 15
BY_NAME = {operation.name: operation for operation in OPERATIONS}


def measure(folder: Path, pages: int) -> dict[str, Any]:
    """Everything about a vault of so many pages, made anew in `folder`."""
    root = folder / "vault"
    queries = make_vault(root, pages)
    texts = {page_path(number): (root / page_path(number)).read_text(encoding="utf-8") for number in range(pages)}
    init(root, cwd=folder)
    figures: dict[str, Any] = {"pages": pages}
    wiki = open_wiki(str(root), cwd=folder, caller=Caller(cwd=folder))
    with _timed(figures, "index_build"):
        wiki.refresh()
    figures["index_mb"] = _size_mb(wiki.folders.index)
    figures |= _prefixed("search", _percentiles([_time(lambda q=q: _search(wiki, q)) for q in queries]))
    figures |= _prefixed("find_changed_page", _percentiles([_change_and_find(wiki, run) for run in range(RUNS)]))
    figures |= _prefixed("remember", _percentiles([_time(lambda r=r: _remember(wiki, r)) for r in range(RUNS)]))
    figures["objects_kb_per_commit"] = _objects_kb(wiki)
    wiki.close()
    figures |= _prefixed("git_commit", _percentiles([_git_commit(root, run) for run in range(RUNS)]))
    figures |= _prefixed("cold_search", _percentiles([_cold(root, queries[run]) for run in range(5)]))
    figures |= _prefixed("bare_python", _percentiles([_bare_python() for _ in range(9)]))
    figures |= _whoosh_alone(folder / "whoosh", texts, queries)
    figures |= _fts5(folder / "fts5.db", texts, queries)
    figures["peak_rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return figures


def _search(wiki: Wiki, query: str) -> Any:
    return BY_NAME["search"].run(wiki, {"query": query, "limit": 10})


def _remember(wiki: Wiki, run: int) -> Any:
    return BY_NAME["remember"].run(wiki, {"title": f"Measured fact {run}", "text": "One sentence about it."})


def _change_and_find(wiki: Wiki, run: int) -> float:
    """Seconds from a page saved in an editor to a search that finds what was written."""
    word = f"quuxword{run}x"
    file = wiki.root / page_path(run)
    file.write_text(file.read_text(encoding="utf-8") + f"\nChanged: {word}.\n", encoding="utf-8")
    started = time.perf_counter()
    hits = _search(wiki, word).hits
    seconds = time.perf_counter() - started
    if not hits or hits[0].path != page_path(run):
        raise SystemExit(f"the changed page {page_path(run)} was not found")
    return seconds


def _objects_kb(wiki: Wiki) -> float:
    """Kilobytes of loose objects that one more `remember` adds."""
    objects = wiki.root / ".git" / "objects"
    before = _size_mb(objects)
    BY_NAME["remember"].run(wiki, {"title": "One more measured fact", "text": "One sentence about it."})
    return round((_size_mb(objects) - before) * 1024, 1)


def _git_commit(root: Path, run: int) -> float:
    name = page_path(run)
    (root / name).write_text(f"changed by git {run}\n", encoding="utf-8")
    git = ["git", "-C", str(root), "-c", "user.name=b", "-c", "user.email=b@example.org"]
    return _time(
        lambda: [
            subprocess.run([*git, "add", "--", name], check=True),
            subprocess.run([*git, "commit", "-q", "-m", "one page", "--", name], check=True, stdout=subprocess.DEVNULL),
        ]
    )


def _cold(root: Path, query: str) -> float:
    command = [sys.executable, "-m", "wikimem", "--vault", str(root), "search", query]
    return _time(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))


def _bare_python() -> float:
    return _time(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True))


def _whoosh_alone(folder: Path, texts: dict[str, str], queries: list[str]) -> dict[str, Any]:
    """Whoosh as it comes: one document a page, its stemming analyser, its own scoring."""
    figures: dict[str, Any] = {}
    folder.mkdir()
    schema = fields.Schema(path=fields.ID(stored=True), body=fields.TEXT(analyzer=None))
    with _timed(figures, "whoosh_build"):
        made = index.create_in(str(folder), schema)
        writer = made.writer(limitmb=256)
        for path, text in texts.items():
            writer.add_document(path=path, body=text)
        writer.commit()
    parser = qparser.QueryParser("body", schema, group=qparser.OrGroup)
    with made.searcher() as searcher:
        times = [_time(lambda q=q: searcher.search(parser.parse(q), limit=50)) for q in queries]
    figures["whoosh_mb"] = _size_mb(folder)
    shutil.rmtree(folder)
    return figures | _prefixed("whoosh_search", _percentiles(times))


def _fts5(file: Path, texts: dict[str, str], queries: list[str]) -> dict[str, Any]:
    """SQLite's full-text index on the same text, words OR-ed and ranked by its BM25."""
    figures: dict[str, Any] = {}
    with contextlib.closing(sqlite3.connect(file)) as database:
        with _timed(figures, "fts5_build"):
            database.execute("CREATE VIRTUAL TABLE pages USING fts5(path UNINDEXED, body, tokenize='porter')")
            database.executemany("INSERT INTO pages VALUES (?, ?)", texts.items())
            database.commit()
        select = "SELECT path FROM pages WHERE pages MATCH ? ORDER BY rank LIMIT 50"
        times = [_time(lambda q=q: database.execute(select, (" OR ".join(q.split()),)).fetchall()) for q in queries]
    figures["fts5_mb"] = round(file.stat().st_size / 1e6, 1)
    file.unlink()
    return figures | _prefixed("fts5_search", _percentiles(times))


def _time(call: Callable[[], Any]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


@contextlib.contextmanager
def _timed(figures: dict[str, Any], name: str) -> Iterator[None]:
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    figures[f"{name}_s"] = round(time.perf_counter() - wall, 3)
    figures[f"{name}_cpu_s"] = round(time.process_time() - cpu, 3)


def _percentiles(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    return {
        "p50_ms": round(statistics.median(ordered) * 1000, 2),
        "p95_ms": round(ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))] * 1000, 2),
    }


def _prefixed(name: str, figures: dict[str, float]) -> dict[str, float]:
    return {f"{name}_{key}": value for key, value in figures.items()}


def _size_mb(folder: Path) -> float:
    return sum(os.lstat(os.path.join(at, name)).st_size for at, _, names in os.walk(folder) for name in names) / 1e6
