"""Clopper and Pearson's interval: against exact tails, known values, and its own promise."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest

from fairdsl.numerics.binomial import clopper_pearson, paired_difference, upper_tail

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


@pytest.mark.parametrize(("p", "q"), [(0.0, 0.0), (0.02, 0.02), (0.1, 0.02), (0.3, 0.1), (0.05, 0.5), (0.5, 0.5)])
@pytest.mark.parametrize("trials", [1, 5, 24])
def test_paired_trials_miss_their_difference_no_more_often_than_said(p: float, q: float, trials: int) -> None:
    """Over all that can be seen of so many trials, of which each is gained, lost or the same."""
    covered = 0.0
    for gained in range(trials + 1):
        for lost in range(trials - gained + 1):
            low, high = paired_difference(gained, lost, trials, 0.9)
            assert -1 <= low <= F(gained - lost, trials) <= high <= 1
            if low <= p - q <= high:
                ways = comb(trials, gained) * comb(trials - gained, lost)
                covered += ways * p**gained * q**lost * (1 - p - q) ** (trials - gained - lost)
    assert covered >= 0.9


def test_paired_trials_say_more_than_two_proportions() -> None:
    low, high = paired_difference(57, 47, 2000, 0.95)
    assert (float(low), float(high)) == pytest.approx((-0.00738, 0.01997), abs=1e-5)
    apart = [clopper_pearson(hits, 2000, 0.95) for hits in (1632, 1622)]
    assert high - low < max(end - start for start, end in apart)
    # Who gains is not who loses: the interval is mirrored.
    assert tuple(paired_difference(47, 57, 2000, 0.95)) == (-high, -low)
