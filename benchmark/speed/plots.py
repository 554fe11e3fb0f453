"""The figures by size of the vault, drawn: a picture for each question, and one with all of them for the manual."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmark.speed.report import Result


@dataclass(frozen=True, slots=True)
class Line:
    """One curve: the figure it shows, what it is called, and whether it is wikimem's or a peer's."""

    key: str
    label: str
    peer: bool = False


@dataclass(frozen=True, slots=True)
class Plot:
    """One picture. Both axes are logarithmic: a straight line up is a cost that grows with the vault."""

    name: str
    title: str
    unit: str
    lines: tuple[Line, ...]


PLOTS: Final = (
    Plot(
        "write",
        "One write",
        "CPU ms",
        (
            Line("remember_cpu_ms", "remember, all of it"),
            Line("edit_cpu_ms", "edit, all of it"),
            Line("commit_cpu_ms", "its commit alone"),
            Line("git_commit_cpu_ms", "git add + commit", peer=True),
        ),
    ),
    Plot(
        "search",
        "One search, process open",
        "CPU ms",
        (
            Line("search_cpu_ms", "search"),
            Line("sweep_cpu_ms", "of it the sweep"),
            Line("whoosh_search_cpu_ms", "Whoosh alone", peer=True),
            Line("fts5_search_cpu_ms", "SQLite FTS5", peer=True),
        ),
    ),
    Plot(
        "build",
        "First index",
        "CPU s",
        (
            Line("index_build_cpu_s", "wikimem"),
            Line("whoosh_build_cpu_s", "Whoosh alone", peer=True),
            Line("fts5_build_cpu_s", "SQLite FTS5", peer=True),
        ),
    ),
    Plot(
        "change",
        "Saved page to hit, cold search",
        "wall ms, median",
        (
            Line("find_changed_page_p50_ms", "saved page findable"),
            Line("cold_search_p50_ms", "search from the shell"),
            Line("version_p50_ms", "wikimem --version"),
            Line("bare_python_p50_ms", "bare Python start", peer=True),
        ),
    ),
    Plot(
        "disk",
        "On disk",
        "MB",
        (
            Line("index_mb", "index"),
            Line("pages_mb", "text of the pages", peer=True),
            Line("whoosh_mb", "Whoosh alone", peer=True),
            Line("fts5_mb", "SQLite FTS5 (with text)", peer=True),
        ),
    ),
    Plot(
        "memory",
        "Peak memory of a process",
        "MB",
        (
            Line("index_build_peak_mb", "first index"),
            Line("search_peak_mb", "search"),
            Line("write_peak_mb", "remember and edit"),
            Line("whoosh_peak_mb", "Whoosh alone", peer=True),
            Line("fts5_peak_mb", "SQLite FTS5", peer=True),
        ),
    ),
)
OURS: Final = ("#1f5fa8", "#c2571a", "#2f8f4e")
PEERS: Final = {"git": "#555555", "bare": "#555555", "Whoosh": "#555555", "SQLite": "#9a7fb8", "text": "#b09a3c"}
"""Colour of a peer by the first word of its label."""


def write_plots(results: Sequence[Result], out: Path) -> list[Path]:
    """Draw each picture into `out`, as NAME.svg, and all as speed.svg and speed.png. Needs the extra `benchmark`."""
    import matplotlib as mpl

    mpl.use("agg")
    mpl.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "wikimem", "font.size": 9}
    from matplotlib import pyplot as plt

    out.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    drawn = [plot for plot in PLOTS if any(line.key in each for line in plot.lines for each in results)]
    for plot in drawn:
        figure, axes = plt.subplots(figsize=(4.6, 3.4), layout="constrained")
        _draw(axes, plot, results)
        files.append(_saved(figure, out / f"{plot.name}.svg"))
    columns = min(3, len(drawn))
    rows = -(-len(drawn) // columns)
    figure, grid = plt.subplots(rows, columns, figsize=(4 * columns, 3.2 * rows), layout="constrained", squeeze=False)
    for axes in grid.flat[len(drawn) :]:
        axes.remove()
    for axes, plot in zip(grid.flat, drawn, strict=False):
        _draw(axes, plot, results)
    figure.savefig(out / "speed.png", dpi=110)
    return [*files, out / "speed.png", _saved(figure, out / "speed.svg")]


def _draw(axes: Any, plot: Plot, results: Sequence[Result]) -> None:
    ours = iter(OURS)
    for line in plot.lines:
        points = [(each["pages"], each[line.key]) for each in results if each.get(line.key)]
        if not points:
            continue
        colour = PEERS[line.label.split()[0]] if line.peer else next(ours)
        style = {"linestyle": "--", "marker": "s"} if line.peer else {"linestyle": "-", "marker": "o"}
        axes.plot(*zip(*points, strict=True), color=colour, label=line.label, markersize=4, linewidth=1.4, **style)
    axes.set_xscale("log")
    axes.set_yscale("log")
    sizes = [each["pages"] for each in results]
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.set_xticks([], minor=True)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axes.set_xlabel("pages")
    axes.set_ylabel(plot.unit)
    axes.set_title(plot.title, loc="left", fontsize=10)
    axes.grid(which="major", color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * (high / low) ** 0.45)  # room for the legend above the curves
    axes.legend(frameon=False, fontsize=7.5, loc="upper left", ncols=2, handlelength=2.2, columnspacing=1)


def _saved(figure: Any, file: Path) -> Path:
    figure.savefig(file, metadata={"Date": None})
    return file
