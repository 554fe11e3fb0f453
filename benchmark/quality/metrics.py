"""What is reported of a ranking, and how sure it is."""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Mapping, Sequence
from typing import Final

METRICS: Final = ("R@1", "R@5 any", "R@5 all", "R@10 any", "MRR@10", "NDCG@10")
RESAMPLES: Final = 1_000


def score(ranked: Sequence[Collection[str]], golds: Collection[str]) -> dict[str, float]:
    """Judge one ranking, best first; each place holds one thing, or several that were found together.

    `any` asks for one gold among the first k, `all` for every one. NDCG's ideal has all golds in front. A gold counts
    at the first place that holds it.
    """
    place: dict[str, int] = {}
    for rank, held in enumerate(ranked, start=1):
        for name in held:
            if name in golds:
                place.setdefault(name, rank)
    best = min(place.values(), default=0)
    gains = {rank for rank in place.values() if rank <= 10}
    gain = math.fsum(1 / math.log2(rank + 1) for rank in gains)
    ideal = math.fsum(1 / math.log2(rank + 1) for rank in range(1, min(len(golds), 10) + 1))
    return {
        "R@1": float(best == 1),
        "R@5 any": float(0 < best <= 5),
        "R@5 all": float(len(place) == len(golds) and max(place.values()) <= 5),
        "R@10 any": float(0 < best <= 10),
        "MRR@10": 1 / best if 0 < best <= 10 else 0.0,
        "NDCG@10": min(gain / ideal, 1.0),
    }


def summarise(scores: Sequence[Mapping[str, float]]) -> dict[str, tuple[float, float, float]]:
    """Mean of each metric in per cent with the bounds of its 95 % interval, by bootstrap over the questions."""
    chance = random.Random(0)
    count = len(scores)
    drawn = [[chance.randrange(count) for _ in range(count)] for _ in range(RESAMPLES)]
    found = {}
    for metric in METRICS:
        values = [score[metric] * 100 for score in scores]
        means = sorted(math.fsum(values[at] for at in places) / count for places in drawn)
        bounds = means[int(RESAMPLES * 0.025)], means[int(RESAMPLES * 0.975) - 1]
        found[metric] = (math.fsum(values) / count, *bounds)
    return found
