"""Across the decision boundary, by exchanging attributes between two points that are decided differently.

In a random order the attributes of one point take the other's values, one after the other. Since the decision is
another one at the end, it turns with one of them, which bisection finds: the two points before and after it differ in
that attribute alone, and the boundary lies between them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def exchanged(
    one: FloatArray,
    other: FloatArray,
    like_one: Callable[[FloatArray], NDArray[np.bool_]],
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
    """For each row of ``one`` and of ``other`` [n, attributes]: a point decided like ``one``, one that is not, and the
    only attribute in which these two differ, [n].

    ``like_one`` says which points are decided like rows of ``one`` (it is true of ``one`` and false of ``other``).
    """
    count, width = one.shape
    order = np.argsort(rng.random((count, width)), axis=1)
    rank = np.argsort(order, axis=1)
    # With the first `low` attributes of the order exchanged the decision is that of `one`, with `high` no longer.
    low, high = np.zeros(count, dtype=np.int64), np.full(count, width, dtype=np.int64)
    while (high - low > 1).any():
        middle = (low + high) // 2
        alike = like_one(np.where(rank < middle[:, None], other, one))
        low, high = np.where(alike, middle, low), np.where(alike, high, middle)
    near, far = np.where(rank < low[:, None], other, one), np.where(rank < high[:, None], other, one)
    return near, far, order[np.arange(count), low]
