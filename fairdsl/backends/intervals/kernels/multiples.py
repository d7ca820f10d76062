"""Rows of many boxes, bounded by half-spaces as well: which multiples of these to add (weak duality).

Who proves a share bounds regions so before the checker does, which has the same multiples in whole numbers.
"""

from __future__ import annotations

from math import inf

from fairdsl.backends.intervals.kernels.layout import Floats
from fairdsl.numerics.kernels.compiled import exact, part


@part
def _add(row: Floats, half: Floats, times: float) -> None:
    for at in range(len(row)):
        row[at] += times * half[at]


@part
def _times(
    moved: Floats, slopes: Floats, constant: float, its_moved: Floats, its: Floats, low: Floats, high: Floats
) -> float:
    """By which multiple of a half-space a row's least is greatest; 0 where it is none, or any.

    It grows by what the half-space is where the row is least, which is less from each bend on.
    """
    gains, best, there = constant, inf, 0.0
    for m in range(len(moved)):
        if moved[m] < best:
            best, there = moved[m], its_moved[m]
    gains += there
    for a in range(len(slopes)):
        gains += its[a] * (low[a] if slopes[a] > 0.0 or (slopes[a] == 0.0 and its[a] > 0.0) else high[a])
    last = 0.0
    while gains > 0.0:
        nearest = inf
        for a in range(len(slopes)):
            if slopes[a] * its[a] < 0.0 and last < -slopes[a] / its[a] < nearest:
                nearest = -slopes[a] / its[a]
        if nearest == inf:
            return 0.0
        for a in range(len(slopes)):
            if slopes[a] * its[a] < 0.0 and -slopes[a] / its[a] == nearest:
                gains -= abs(its[a]) * (high[a] - low[a])
        last = nearest
    return last


@exact
def add_multiples(
    constant: Floats,
    moved: Floats,
    slopes: Floats,
    half_constant: Floats,
    half_moved: Floats,
    half_slopes: Floats,
    low: Floats,
    high: Floats,
) -> None:
    """Make the least of each row greater, in place, by multiples of half-spaces of its box, the last one first.

    Rows are [boxes, rows] with what assignments and attributes add behind that, half-spaces [half-spaces, boxes].
    """
    for box in range(constant.shape[0]):
        for row in range(constant.shape[1]):
            for step in range(half_constant.shape[0]):
                k = half_constant.shape[0] - 1 - step
                times = _times(
                    moved[box, row],
                    slopes[box, row],
                    half_constant[k, box],
                    half_moved[k, box],
                    half_slopes[k, box],
                    low[box],
                    high[box],
                )
                if times > 0.0:
                    constant[box, row] += times * half_constant[k, box]
                    _add(moved[box, row], half_moved[k, box], times)
                    _add(slopes[box, row], half_slopes[k, box], times)
