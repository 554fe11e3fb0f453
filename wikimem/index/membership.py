"""Which numbers of an array are among others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def is_among(values: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.bool_]:
    """For each of `values` whether it is in `wanted`, which is in ascending order.

    `np.isin` says the same; the first time that it sorts it imports `numpy.ma`, which takes longer than a search.
    """
    if not len(wanted):
        return np.zeros(len(values), dtype=bool)
    places = np.searchsorted(wanted, values)
    places[places == len(wanted)] = 0
    found: NDArray[np.bool_] = wanted[places] == values
    return found
