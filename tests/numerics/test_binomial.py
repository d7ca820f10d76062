"""Clopper and Pearson's interval: against exact tails, known values, and its own promise."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest

from fairdsl.numerics.binomial import clopper_pearson, upper_tail

F = Fraction


def exact_tail(hits: int, trials: int, p: Fraction) -> Fraction:
    return sum((comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(hits, trials + 1)), F(0))


@pytest.mark.parametrize("trials", [1, 2, 7, 40])
def test_tails_are_those_of_the_definition(trials: int) -> None:
    for hits in range(1, trials + 1):
        for p in (F(1, 1000), F(1, 9), F(1, 2), F(3, 4), F(999, 1000)):
            assert upper_tail(hits, trials, float(p)) == pytest.approx(float(exact_tail(hits, trials, p)), rel=1e-9)


@pytest.mark.parametrize("trials", [1, 3, 10, 60])
def test_the_interval_is_outward_and_tight(trials: int) -> None:
    """At the lower bound so many hits are as unlikely as 2.5 %, and just above it they are likelier."""
    tail = F(25, 1000)
    for hits in range(trials + 1):
        low, high = clopper_pearson(hits, trials, 0.95)
        assert low <= F(hits, trials) <= high
        assert (low == 0) == (hits == 0)
        assert (high == 1) == (hits == trials)
        for bound, successes in ((low, hits), (1 - high, trials - hits)):
            if successes:
                assert exact_tail(successes, trials, bound) <= tail
                assert exact_tail(successes, trials, bound * F(100_001, 100_000)) > tail


@pytest.mark.parametrize(
    ("hits", "trials", "low", "high"),
    [
        (0, 10, 0.0, 0.3084971),
        (1, 10, 0.0025286, 0.4450161),
        (5, 10, 0.1870860, 0.8129140),
        (500_000, 1_000_000, 0.4990195, 0.5009805),
        (0, 1_000_000, 0.0, 3.6888e-6),
    ],
)
def test_known_values(hits: int, trials: int, low: float, high: float) -> None:
    found = clopper_pearson(hits, trials, 0.95)
    assert [float(bound) for bound in found] == pytest.approx([low, high], rel=1e-4, abs=1e-12)


def test_more_hits_than_trials_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="part of the trials"):
        clopper_pearson(3, 2, 0.95)
