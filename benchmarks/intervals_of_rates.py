"""Approximate intervals for rates from rows, as statistics books have them: what guaranteed ones are held against."""

from __future__ import annotations

from math import acos, cos, pi, sqrt
from statistics import NormalDist

import numpy as np

__all__ = ["bootstrap_gap", "miettinen_nurminen", "newcombe"]

Ends = tuple[float, float]


def newcombe(x: int, m: int, y: int, n: int, level: float) -> Ends:
    """Newcombe's hybrid score interval (his method 10) of x / m - y / n."""
    p, q = x / m, y / n
    (a, b), (c, d) = _wilson(x, m, level), _wilson(y, n, level)
    return p - q - sqrt((p - a) ** 2 + (d - q) ** 2), p - q + sqrt((b - p) ** 2 + (q - c) ** 2)


def _wilson(x: int, n: int, level: float) -> Ends:
    z = NormalDist().inv_cdf((1 + level) / 2)
    p = x / n
    spread = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (p + z * z / (2 * n) - spread) / (1 + z * z / n), (p + z * z / (2 * n) + spread) / (1 + z * z / n)


def miettinen_nurminen(x: int, m: int, y: int, n: int, level: float) -> Ends:
    """The score interval of x / m - y / n (Statistics in Medicine 4, 1985): where its statistic is the quantile."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    estimate = x / m - y / n

    def root(outside: float) -> float:
        inside = estimate
        for _ in range(40):
            middle = (inside + outside) / 2
            far = abs(_score(x, m, y, n, middle)) > z
            inside, outside = (inside, middle) if far else (middle, outside)
        return inside

    return root(-1.0), root(1.0)


def _score(x: int, m: int, y: int, n: int, delta: float) -> float:
    """(p' - q' - delta) over its standard deviation where p - q = delta, at the likeliest such rates."""
    total = m + n
    b, c = (m + 2 * n) * delta - total - (x + y), (n * delta - total - 2 * y) * delta + x + y
    d = y * delta * (1 - delta)
    v = (b / (3 * total)) ** 3 - b * c / (6 * total**2) + d / (2 * total)
    u = (1.0 if v > 0 else -1.0) * sqrt(max(0.0, (b / (3 * total)) ** 2 - c / (3 * total)))
    w = (pi + acos(max(-1.0, min(1.0, v / u**3 if u else 0.0)))) / 3
    q = min(1.0, max(0.0, 2 * u * cos(w) - b / (3 * total)))
    p = min(1.0, max(0.0, q + delta))
    variance = (p * (1 - p) / m + q * (1 - q) / n) * total / (total - 1)
    off = x / m - y / n - delta
    return off / sqrt(variance) if variance > 0 else float("inf") if abs(off) > 1e-12 else 0.0


def bootstrap_gap(hits: list[int], n: int, level: float, random: np.random.Generator, rounds: int = 2000) -> Ends:
    """The percentile bootstrap's interval of max - min of groups of n rows each."""
    again = random.binomial(n, np.array(hits) / n, (rounds, len(hits))) / n
    low, high = np.quantile(again.max(axis=1) - again.min(axis=1), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
