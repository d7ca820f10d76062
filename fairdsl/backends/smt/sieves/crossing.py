"""Walks across the decision boundary, in many partitions at once.

A pair of individuals is treated differently where the two scores have different signs, so next to the
boundary. Between a granted and a refused unit of one partition attributes are exchanged until the decision turns
(:mod:`fairdsl.numerics.exchange`); then the last exchanged number is halved. What is left is two neighbours with the
boundary between them. Boxes contain every mixture of two of their points.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fairdsl.numerics.exchange import exchanged

__all__ = ["neighbours"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

#: Halvings of a number at most.
_HALVINGS = 24


def neighbours(
    one: FloatArray,
    other: FloatArray,
    like_one: Callable[[FloatArray], BoolArray],
    whole: BoolArray,
    halvable: BoolArray,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Points [n, attributes] on both sides of the boundary between rows of ``one`` and of ``other``.

    ``like_one`` says which points are decided like rows of ``one`` (it is true of ``one`` and false of
    ``other``). ``halvable`` [attributes]: every number (of ``whole`` ones every integer) between two values
    of the attribute is a value too.
    """
    near, far, last = exchanged(one, other, like_one, rng)
    rows = np.arange(len(one))
    for _ in range(_HALVINGS):
        begin, end = near[rows, last], far[rows, last]
        middle_values = np.where(whole[last], np.floor((begin + end) / 2), ((begin + end) / 2).astype(np.float32))
        moved = halvable[last] & (middle_values != begin) & (middle_values != end)
        if not moved.any():
            break
        point = near.copy()
        point[rows, last] = np.where(moved, middle_values, begin)
        alike = like_one(point)
        near = np.where((moved & alike)[:, None], point, near)
        far = np.where((moved & ~alike)[:, None], point, far)
    return near, far
