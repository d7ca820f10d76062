"""Which pairs to show first: those far apart from each other, so that a few of them span the domain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.domain import Domain, Integer, Real


def spread(points: NDArray[np.float64], domain: Domain, most: int) -> list[int]:
    """Rows of ``points`` [n, attributes], at most so many, each as far as can be from those before it.

    The first row comes first, so put the most convincing one there. Distances are sums over attributes: of
    numbers the part of their range, of names 0 or 1. Going on to the farthest point leaves the smallest
    distance at least half of what the best choice has (Gonzalez, Theoretical Computer Science 38, 1985).
    Rows equal to a chosen one are left out.
    """
    chosen: list[int] = []
    if not len(points) or most < 1:
        return chosen
    ordered = np.array([isinstance(attribute.type, Integer | Real) for attribute in domain.attributes], dtype=np.bool_)
    drawn = np.ptp(points, axis=0).tolist()
    lengths = np.array([_length(domain, index, drawn[index]) for index in range(len(drawn))], dtype=np.float64)
    nearest = np.full(len(points), np.inf)
    while len(chosen) < most:
        farthest = int(np.argmax(nearest))
        if nearest[farthest] == 0.0:
            break
        chosen.append(farthest)
        apart = np.abs(points - points[farthest])
        nearest = np.minimum(nearest, np.where(ordered, apart / lengths, apart > 0).sum(axis=1))
    return chosen


def _length(domain: Domain, index: int, drawn: float) -> float:
    """The range of an attribute; of an unbounded one, that of the points."""
    low, high = domain.attributes[index].bounds
    length = drawn if low is None or high is None else float(high - low)
    return length or 1.0
