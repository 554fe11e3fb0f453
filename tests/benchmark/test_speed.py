"""The speed benchmark runs on a vault of a few pages, goes on where it stopped, and draws what it measured."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmark.speed.report import table
from benchmark.speed.vault import PROJECTS, TYPES, page_paths
from wikimem.vault.layout import page_path

ROOT = Path(__file__).parents[2]


def speed(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmark.speed", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)


def test_pages_lie_where_wikimem_would_put_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last of many pages, in folders that were full before; small ones, to be quick."""
    for module in ("benchmark.speed.vault", "wikimem.vault.layout"):
        monkeypatch.setattr(f"{module}.FOLDER_LIMIT", 20)
    paths = list(page_paths(1_500))
    for path in paths[:-40]:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    assert any(path.count("/") > 3 for path in paths)
    for number in range(len(paths) - 40, len(paths)):
        project = PROJECTS[number // len(TYPES) % len(PROJECTS)]
        assert page_path(TYPES[number % len(TYPES)], f"Page {number}", project, tmp_path) == paths[number]


def test_parts_are_measured_one_by_one_and_not_twice_when_resumed(tmp_path: Path) -> None:
    where = ("12", "--runs", "2", "--out", str(tmp_path / "out"), "--keep", str(tmp_path / "keep"))
    done = speed(*where, "--only", "fts5")
    assert "fts5 took" in done.stderr
    done = speed(*where, "--only", "fts5", "--only", "commit", "--resume")
    assert "fts5 took" not in done.stderr
    assert "| objects of one commit | " in done.stdout
    figures = json.loads((tmp_path / "out" / "speed-12.json").read_text(encoding="utf-8"))
    assert set(figures["parts"]) == {"vault", "fts5", "commit"}
    assert figures["commit_p50_ms"] > 0
    assert figures["commit_objects"] >= 3


def test_a_table_compares_the_largest_vault_with_the_smallest() -> None:
    small = {"pages": 10, "commit_p50_ms": 2.0, "git_commit_p50_ms": 4.0}
    large = {"pages": 1000, "commit_p50_ms": 6.0}
    assert table([small, large]).splitlines() == [
        "| | 10 pages | 1,000 pages | 1,000 / 10 |",
        "|---|---|---|---|",
        "| commit of one page p50, ms | 2.0 | 6.0 | 3.0x |",
        "| commit / git add + commit | 0.5x | - |  |",
    ]


def test_figures_are_drawn_by_size(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from benchmark.speed.plots import write_plots

    results = [{"pages": size, "commit_cpu_ms": size / 9, "git_commit_cpu_ms": size / 5} for size in (10, 1000)]
    assert [file.name for file in write_plots(results, tmp_path)] == ["write.svg", "speed.png", "speed.svg"]
    drawn = (tmp_path / "write.svg").read_text(encoding="utf-8")
    assert "git add + commit" in drawn
    assert len(drawn) < 60_000
