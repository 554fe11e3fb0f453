"""Close reading: how well a passage covers a question, piece by piece, where its one vector only says what it is about.

    closeness   for every piece of the question the best cosine among the pieces of the passage, weighted by how rare
                its word is, and divided by a mild norm of the passage's length: late interaction, or MaxSim, as the
                model's card describes it
    pairs       how many neighbouring words of the question are neighbours in the passage; a pair that many of these
                passages hold counts less. Words are compared by their stems, and stop words between them do not count

Both need the pieces of each passage in their order, which the vectors keep beside the rows. Only the best passages of
the other streams are read this way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LENGTH_NORM: Final = 0.15
"""The share of a passage's length that counts against it; from the model's card."""

Pieces: TypeAlias = "NDArray[np.int64]"


def closeness(
    asked: Pieces,
    weights: NDArray[np.float64],
    passages: Sequence[Pieces],
    rows: Callable[[Pieces], NDArray[np.float32]],
) -> NDArray[np.float64]:
    """Score passages against the pieces of a question, 0 where there are none; `rows` gives the model's."""
    lengths = np.array([len(pieces) for pieces in passages], dtype=np.float64)
    if not weights.any() or not lengths.any():
        return np.zeros(len(passages))
    known, places = np.unique(np.concatenate(passages), return_inverse=True)
    cosines = (_unit(rows(asked)) @ _unit(rows(known)).T)[:, places]
    filled = np.flatnonzero(lengths)
    starts = np.concatenate(([0], np.cumsum(lengths)[:-1])).astype(np.int64)[filled]
    best = np.maximum.reduceat(cosines, starts, axis=1).astype(np.float64)
    scores = np.zeros(len(passages))
    norm = 1 - LENGTH_NORM + LENGTH_NORM * lengths[filled] / lengths.mean()
    scores[filled] = (weights[:, None] * best).sum(axis=0) / weights.sum() / norm
    return scores


def shared_pairs(pairs: Iterable[tuple[int, int]], passages: Sequence[Pieces]) -> NDArray[np.float64]:
    """Score passages by the pairs of neighbours that they hold; all are given as numbers of stems."""
    scores = np.zeros(len(passages))
    if not passages:
        return scores
    stems = np.concatenate(passages)
    owners = np.repeat(np.arange(len(passages)), [len(own) for own in passages])
    together = owners[:-1] == owners[1:]
    for first, second in dict.fromkeys(pairs):
        found = owners[:-1][(stems[:-1] == first) & (stems[1:] == second) & together]
        holding = np.flatnonzero(np.bincount(found))
        scores[holding] += np.log1p((len(passages) - len(holding) + 0.5) / (len(holding) + 0.5))
    return scores


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.linalg.norm(rows, axis=1)
    lengths[lengths == 0] = 1.0
    unit: NDArray[np.float32] = rows / lengths[:, None]
    return unit
