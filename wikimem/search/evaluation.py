"""How good a ranking is, and how sure that is: the one definition for `wikimem eval` and the project's benchmarks.

    score         judges one ranking
    summarise     means over questions, with intervals
    compare       the mean change from one configuration to another, over the same questions
    percentile    of times

All shares run from 0 to 1. Intervals come from the bootstrap over questions, with a fixed seed: the same answers give
the same figures.
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from msgspec import Struct

METRICS: Final = ("R@1", "R@5 any", "R@5 all", "R@10 any", "MRR@10", "NDCG@10")
"""What `score` gives. `any` asks for one expected thing among the first k, `all` for every one."""

DEPTH: Final = 10
"""How far down the metrics look."""

RESAMPLES: Final = 1_000
CONFIDENCE: Final = 0.95


class Interval(Struct, frozen=True):
    """A mean and the bounds of its 95 % interval."""

    mean: float
    low: float
    high: float


def score(ranked: Sequence[Collection[str]], golds: Collection[str]) -> dict[str, float]:
    """Judge one ranking, best first; each place holds one thing, or several that were found together.

    A gold counts at the first place that holds it. NDCG's ideal has all golds in front; a place counts once there,
    however many golds it holds. `golds` must not be empty.
    """
    place = places(ranked, golds)
    best = min(place.values(), default=0)
    gain = math.fsum(1 / math.log2(rank + 1) for rank in set(place.values()) if rank <= DEPTH)
    ideal = math.fsum(1 / math.log2(rank + 1) for rank in range(1, min(len(golds), DEPTH) + 1))
    return {
        "R@1": float(best == 1),
        "R@5 any": float(0 < best <= 5),
        "R@5 all": float(len(place) == len(golds) and max(place.values()) <= 5),
        "R@10 any": float(0 < best <= DEPTH),
        "MRR@10": 1 / best if 0 < best <= DEPTH else 0.0,
        "NDCG@10": min(gain / ideal, 1.0),
    }


def places(ranked: Sequence[Collection[str]], golds: Collection[str]) -> dict[str, int]:
    """The first rank (from 1) of each gold that the ranking holds."""
    found: dict[str, int] = {}
    for rank, held in enumerate(ranked, start=1):
        for name in held:
            if name in golds:
                found.setdefault(name, rank)
    return found


def summarise(scores: Sequence[Mapping[str, float]]) -> dict[str, Interval]:
    """The mean of each metric over some questions, at least one, with its interval."""
    drawn = _drawn(len(scores))
    return {metric: _interval([each[metric] for each in scores], drawn) for metric in METRICS}


def compare(before: Sequence[Mapping[str, float]], after: Sequence[Mapping[str, float]]) -> dict[str, Interval]:
    """The mean change of each metric from `before` to `after`, the same questions in the same order.

    Paired: the questions are drawn and each brings both of its scores, so that what makes a question hard for both
    sides cancels out.
    """
    drawn = _drawn(len(before))
    pairs = list(zip(before, after, strict=True))
    return {metric: _interval([new[metric] - old[metric] for old, new in pairs], drawn) for metric in METRICS}


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` (0 to 1) of the values lie, by the nearest rank. `values` must not be empty."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, math.ceil(share * len(ordered)) - 1))]


def _drawn(count: int) -> list[list[int]]:
    chance = random.Random(0)  # noqa: S311 - the same draws every time are what is wanted
    return [[chance.randrange(count) for _ in range(count)] for _ in range(RESAMPLES)]


def _interval(values: Sequence[float], drawn: Sequence[Sequence[int]]) -> Interval:
    count = len(values)
    means = sorted(math.fsum(values[at] for at in chosen) / count for chosen in drawn)
    tail = (1 - CONFIDENCE) / 2
    low, high = means[round(len(means) * tail)], means[round(len(means) * (1 - tail)) - 1]
    return Interval(math.fsum(values) / count, low, high)
