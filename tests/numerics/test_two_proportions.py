"""Buehler's bounds: how often they cover, by enumeration; how near they are to the best; how wide they are."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from fairdsl.numerics.two_proportions import Counts, least_difference, least_quotient

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
GRID = np.linspace(0.0, 1.0, 41)


def chances(trials: int, p: float) -> NDArray[np.float64]:
    """The probability of every number of hits: a convolution of single trials."""
    found = np.ones(1)
    for _ in range(trials):
        found = np.convolve(found, [1 - p, p])
    return found


@pytest.mark.parametrize(("m", "n", "level"), [(4, 4, 0.95), (2, 6, 0.9), (5, 2, 0.5), (7, 6, 0.8)])
def test_each_bound_misses_no_more_often_than_it_says(m: int, n: int, level: float) -> None:
    """Over all samples, where that is most: the number is just below some sample's bound, for any q on a grid."""
    tail = (1 - level) / 2
    shape = (m + 1, n + 1)
    of_q = [chances(n, q) for q in GRID]
    for of in (least_difference, least_quotient):
        bounds = np.array([float(of(Counts(x, m), Counts(y, n), tail)) for x, y in np.ndindex(shape)]).reshape(shape)
        for bound, (q, likely) in product(np.unique(bounds), zip(GRID, of_q, strict=True)):
            p = float(bound + q if of is least_difference else bound * q)
            if 0 < p <= 1:
                assert chances(m, p) @ (bounds >= bound) @ likely <= tail


@pytest.mark.parametrize(
    ("x", "m", "y", "n"), [(8, 10, 2, 9), (3, 10, 3, 9), (10, 10, 0, 9), (0, 10, 4, 9), (1, 4, 0, 15)]
)
def test_the_bound_is_nearly_the_best_that_follows_its_order(x: int, m: int, y: int, n: int) -> None:
    """The infimum by a fine grid over all rates, with the order of all samples written out."""
    tail = 0.05

    def limit(x: int, y: int) -> float:
        p, q, z = x / m, y / n, 1.6448536269514722
        low = (p + z * z / (2 * m) - z * np.sqrt(p * (1 - p) / m + z * z / (4 * m * m))) / (1 + z * z / m)
        high = (q + z * z / (2 * n) + z * np.sqrt(q * (1 - q) / n + z * z / (4 * n * n))) / (1 + z * z / n)
        return float(p - q - np.sqrt((p - low) ** 2 + (high - q) ** 2))

    above = np.array([[limit(a, b) >= limit(x, y) - 1e-12 for b in range(n + 1)] for a in range(m + 1)])
    fine = np.linspace(0.0, 1.0, 201)
    of_p, of_q = (np.array([chances(size, at) for at in fine]) for size in (m, n))
    likely = of_p @ above @ of_q.T
    best = min((fine[i] - fine[j] for i, j in zip(*np.nonzero(likely >= tail), strict=True)), default=1.0)
    found = float(least_difference(Counts(x, m), Counts(y, n), tail))
    # The grid's infimum is above the true one by a step at most; ours below it by what leaving q out and cells cost.
    assert best - 0.06 <= found <= best + 1e-9


def test_more_hits_raise_the_bound_and_more_of_the_other_lower_it() -> None:
    n = 8
    found = np.array(
        [[float(least_difference(Counts(x, n), Counts(y, n), 0.025)) for y in range(n + 1)] for x in range(n + 1)]
    )
    assert np.all(np.diff(found, axis=0) >= -5e-3)
    assert np.all(np.diff(found, axis=1) <= 5e-3)


@pytest.mark.parametrize(("level", "rates", "times"), [(0.95, (0.02, 0.05), 1.05), (0.5, (0.02, 0.05), 1.3)])
def test_differences_are_hardly_wider_than_miettinen_and_nurminens(
    level: float, rates: tuple[float, float], times: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mean over most samples of 80 and 80 rows, by their probabilities."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from intervals_of_rates import miettinen_nurminen

    n, tail = 80, (1 - level) / 2
    likely = np.outer(*(chances(n, rate) for rate in rates))
    samples = [(x, y) for x, y in np.ndindex(likely.shape) if likely[x, y] > 5e-3]
    found = known = 0.0
    for x, y in samples:
        one, other = Counts(x, n), Counts(y, n)
        found -= float(likely[x, y]) * float(least_difference(one, other, tail) + least_difference(other, one, tail))
        low, high = miettinen_nurminen(x, n, y, n, level)
        known += float(likely[x, y]) * (high - low)
    assert sum(likely[sample] for sample in samples) > 0.8
    assert found <= times * known


def test_miettinen_and_nurminens_own_example(monkeypatch: pytest.MonkeyPatch) -> None:
    """56 of 70 and 48 of 80 (Newcombe 1998, table II, row a, method 7 of score intervals)."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from intervals_of_rates import miettinen_nurminen, newcombe

    assert miettinen_nurminen(56, 70, 48, 80, 0.95) == pytest.approx((0.0528, 0.3382), abs=2e-4)
    assert newcombe(56, 70, 48, 80, 0.95) == pytest.approx((0.0524, 0.3339), abs=1e-4)


def test_many_rows() -> None:
    one, other = Counts(10_000, 20_000), Counts(9_980, 20_000)
    low, high = float(least_difference(one, other, 0.025)), -float(least_difference(other, one, 0.025))
    assert low == pytest.approx(0.001 - 1.96 * 0.005, abs=6e-4)
    assert high == pytest.approx(0.001 + 1.96 * 0.005, abs=6e-4)


def test_nothing_is_known_where_all_speaks_against_it() -> None:
    assert least_difference(Counts(0, 5), Counts(5, 5), 0.025) == -1
    assert least_quotient(Counts(0, 5), Counts(5, 5), 0.025) == 0
    assert isinstance(least_difference(Counts(3, 5), Counts(1, 5), 0.025), Fraction)
    with pytest.raises(ValueError, match="part of the trials"):
        Counts(6, 5)
