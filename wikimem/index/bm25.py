"""BM25's constants, the weight of a text's length, and the best of many scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from wikimem.index.postings import FIELDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

K1: Final = 1.2
B: Final = 0.75
"""BM25's usual constants: Robertson and Zaragoza (2009), and the defaults of Lucene and Whoosh."""
BOOSTS: Final = dict(zip(FIELDS, (3.0, 3.0, 1.5, 2.0, 1.0), strict=True))
"""A title says thrice what the body says, as Lucene's examples have it; headings lie between. Not tuned."""


def field_norms(lengths: NDArray[np.float64], averages: NDArray[np.float64]) -> NDArray[np.float32]:
    """boost / (1 - b + b * length / average length), for each of FIELDS (rows) and passage or page (columns)."""
    boosts = np.array([BOOSTS[field] for field in FIELDS])
    norms: NDArray[np.float32] = (boosts[:, None] * norm(lengths, averages[:, None])).astype(np.float32)
    return norms


def norm(lengths: NDArray[np.float64], averages: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """How much a term in a text of such a length weighs, beside one in a text of average length."""
    weighs: NDArray[np.float64] = 1 / (1 - B + B * lengths / np.where(averages == 0, 1.0, averages))
    return weighs


def best_of(ids: NDArray[np.int64], scores: NDArray[np.float32], limit: int) -> list[tuple[int, float]]:
    """The `limit` best, best first; equal ones by id."""
    if len(ids) > limit:
        least = np.partition(scores, len(scores) - limit)[len(scores) - limit]
        ids, scores = ids[scores >= least], scores[scores >= least]
    order = np.lexsort((ids, -scores))[:limit]
    return list(zip(ids[order].tolist(), scores[order].tolist(), strict=True))
