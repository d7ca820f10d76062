"""Means over seeds with Student's intervals, and where the variance between runs lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import atan, cos, exp, lgamma, pi, sqrt
from statistics import fmean, stdev

__all__ = ["Mean", "mean_of", "variance_parts"]

#: Panels of Simpson's rule, and halvings of the bracket that holds the quantile.
_PANELS, _HALVINGS = 200, 60
_CONFIDENCE = 0.95


@dataclass(frozen=True)
class Mean:
    """A mean over independent runs, and the 95 % interval of Student's t for it (the runs taken for normal)."""

    value: float
    low: float
    high: float


def mean_of(values: Sequence[float]) -> Mean:
    """At least two values."""
    value = fmean(values)
    error = _quantile(len(values) - 1) * stdev(values) / sqrt(len(values))
    return Mean(value, value - error, value + error)


def variance_parts(rows: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Of the variance of all values, the parts between rows and between columns (two-way, without repetition).

    The rest is neither. Both are 0 where all values are equal.
    """
    everything = [value for row in rows for value in row]
    middle = fmean(everything)
    whole = sum((value - middle) ** 2 for value in everything)
    if whole == 0.0:
        return 0.0, 0.0
    columns = list(zip(*rows, strict=True))
    between_rows = len(columns) * sum((fmean(row) - middle) ** 2 for row in rows)
    between_columns = len(rows) * sum((fmean(column) - middle) ** 2 for column in columns)
    return between_rows / whole, between_columns / whole


@cache
def _quantile(freedom: int) -> float:
    """Where Student's t of so many degrees of freedom has all but half of 1 - 95 % below it."""
    low, high = 0.0, 1000.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < _CONFIDENCE else (low, middle)
    return high


def _within(bound: float, freedom: int) -> float:
    """The probability of [-bound, bound]: with t = sqrt(freedom) tan(angle) the density is a power of the cosine."""
    front = exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)) / sqrt(pi)
    end = atan(bound / sqrt(freedom))
    width = end / _PANELS
    heights = [cos(panel * width) ** (freedom - 1) for panel in range(_PANELS + 1)]
    return 2 * front * width / 3 * (heights[0] + heights[-1] + 4 * sum(heights[1:-1:2]) + 2 * sum(heights[2:-1:2]))
