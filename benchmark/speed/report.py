"""The figures as a table for the manual: a row for each, a column for each size, and the last beside the first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

Result = dict[str, Any]

ROWS: Final = (
    ("commit of one page p50, ms", "commit_p50_ms", ""),
    ("commit of one page, CPU ms", "commit_cpu_ms", ""),
    ("commit / git add + commit", "commit_p50_ms", "git_commit_p50_ms"),
    ("objects of one commit", "commit_objects", ""),
    ("objects of one commit, kB", "commit_objects_kb", ""),
    ("remember (the whole write) p50, ms", "remember_p50_ms", ""),
    ("remember (the whole write) p95, ms", "remember_p95_ms", ""),
    ("remember (the whole write), CPU ms", "remember_cpu_ms", ""),
    ("edit --set (the whole write) p50, ms", "edit_p50_ms", ""),
    ("edit --set (the whole write), CPU ms", "edit_cpu_ms", ""),
    ("remember / git add + commit", "remember_p50_ms", "git_commit_p50_ms"),
    ("index build, CPU s", "index_build_cpu_s", ""),
    ("index build / Whoosh alone", "index_build_cpu_s", "whoosh_build_cpu_s"),
    ("index build / FTS5", "index_build_cpu_s", "fts5_build_cpu_s"),
    ("index build / tantivy", "index_build_cpu_s", "tantivy_build_cpu_s"),
    ("index on disk, MB", "index_mb", ""),
    ("index on disk / text of the pages", "index_mb", "pages_mb"),
    ("search p50, ms", "search_p50_ms", ""),
    ("search p95, ms", "search_p95_ms", ""),
    ("search, CPU ms", "search_cpu_ms", ""),
    ("of it the sweep of the files p50, ms", "sweep_p50_ms", ""),
    ("search p50 / Whoosh alone", "search_p50_ms", "whoosh_search_p50_ms"),
    ("search p50 / FTS5", "search_p50_ms", "fts5_search_p50_ms"),
    ("search beside a watcher p50, ms", "watched_search_p50_ms", ""),
    ("search beside a watcher p95, ms", "watched_search_p95_ms", ""),
    ("search beside a watcher p50 / FTS5", "watched_search_p50_ms", "fts5_search_p50_ms"),
    ("search beside a watcher p50 / tantivy", "watched_search_p50_ms", "tantivy_search_p50_ms"),
    ("ranking by words alone p50, ms", "words_ranking_p50_ms", ""),
    ("ranking by words alone p95, ms", "words_ranking_p95_ms", ""),
    ("ranking by words alone p50 / FTS5", "words_ranking_p50_ms", "fts5_search_p50_ms"),
    ("ranking by words alone p50 / tantivy", "words_ranking_p50_ms", "tantivy_search_p50_ms"),
    ("FTS5 p50, ms", "fts5_search_p50_ms", ""),
    ("tantivy p50, ms", "tantivy_search_p50_ms", ""),
    ("saved page findable p50, ms", "find_changed_page_p50_ms", ""),
    ("saved page findable beside a watcher p50, ms", "watched_find_p50_ms", ""),
    ("saved page findable beside a watcher p95, ms", "watched_find_p95_ms", ""),
    ("cold search from the shell p50, ms", "cold_search_p50_ms", ""),
    ("cold search / bare Python start", "cold_search_p50_ms", "bare_python_p50_ms"),
    ("peak memory of the index build, MB", "index_build_peak_mb", ""),
    ("peak memory of a process that searches, MB", "search_peak_mb", ""),
)
"""Name, figure, and the figure that it is a ratio to."""


def table(results: Sequence[Result]) -> str:
    """Markdown; a figure that was not measured is a dash."""
    sizes = [f"{each['pages']:,} pages" for each in results]
    growth = len(results) > 1
    if growth:
        sizes.append(f"{results[-1]['pages']:,} / {results[0]['pages']:,}")
    lines = ["| | " + " | ".join(sizes) + " |", "|---|" + "---|" * len(sizes)]
    for name, key, base in ROWS:
        values = [_value(each, key, base) for each in results]
        if all(value is None for value in values):
            continue
        cells = ["-" if value is None else f"{value:,.1f}{'x' if base else ''}" for value in values]
        if growth:
            first, last = values[0], values[-1]
            cells.append("" if base or not first or last is None else f"{last / first:,.1f}x")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _value(result: Result, key: str, base: str) -> float | None:
    value = result.get(key)
    if value is None or not base:
        return value
    other = result.get(base)
    return value / other if other else None
