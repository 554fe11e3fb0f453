"""Figures of a run: how far each variant reaches, with intervals. Needs matplotlib (the extra `benchmark`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from wikimem.search.evaluation import Interval

SHOWN: Final = ("R@1", "R@5 any", "R@5 all", "NDCG@10")


def write_plot(title: str, figures: Mapping[str, Mapping[str, Interval]], file: Path) -> None:
    """Draw each row of `figures` (a variant or a type of question, by name) as points with their intervals."""
    import matplotlib as mpl

    mpl.use("Agg")
    # Text stays text, and the same figures give the same file.
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "wikimem"})
    from matplotlib import pyplot as plt

    names = list(figures)
    figure, panes = plt.subplots(1, len(SHOWN), sharey=True, figsize=(11, 1.2 + 0.32 * len(names)))
    for pane, metric in zip(panes, SHOWN, strict=True):
        for row, name in enumerate(names):
            each = figures[name][metric]
            mean, low, high = each.mean * 100, each.low * 100, each.high * 100
            pane.errorbar(mean, row, xerr=[[mean - low], [high - mean]], fmt="o", capsize=3, color="tab:blue")
        pane.set_title(metric, fontsize=10)
        pane.set_xlabel("per cent")
        pane.grid(axis="x", alpha=0.3)
    panes[0].set_yticks(range(len(names)), names)
    panes[0].invert_yaxis()
    figure.suptitle(title, fontsize=10)
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)
