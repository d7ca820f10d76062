"""Sums of independent numbers in float64: their bounds enclose what whole numbers say, and are narrow."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from fairdsl.backends.rates.linear.halves import ExactHalves, halved
from fairdsl.backends.rates.linear.independent import Weighed
from fairdsl.backends.rates.linear.task import Meter
from fairdsl.clock import NEVER


def drawn(chosen: random.Random, groups: int) -> Weighed:
    """A column of one to four cells, some of probability 0 and some of next to none, for all groups or for each."""
    size = chosen.choice([1, 2, 2, 2, 3, 4])

    def law() -> tuple[Fraction, ...]:
        weights = [chosen.choice([0, 1, 2, 5, 10 ** chosen.randint(0, 40)]) for _ in range(size)]
        whole = sum(weights) or 1
        return (
            tuple(Fraction(weight, whole) for weight in weights)
            if sum(weights)
            else (*[Fraction(0)] * (size - 1), Fraction(1))
        )

    laws = tuple(law() for _ in range(groups if chosen.random() < 0.3 else 1))
    return [chosen.randint(-6, 6) for _ in range(size)], laws


@pytest.mark.parametrize("seed", range(40))
def test_bounds_enclose_the_exact_probability(seed: int) -> None:
    chosen = random.Random(seed)
    groups, count = chosen.choice([1, 2, 3]), 60 if seed % 20 == 0 else chosen.choice([1, 2, 4, 8])
    columns = [drawn(chosen, groups) for _ in range(count)]
    extents = [max(adds) - min(adds) for adds, _ in columns]
    halves, rooms = (columns[::2], columns[1::2]), (sum(extents[::2]), sum(extents[1::2]))
    bounded = halved(halves, rooms, Meter(deadline=NEVER, entries=1 << 28))
    exact = ExactHalves(halves, Meter(deadline=NEVER, entries=1 << 28))
    for target in range(-3 * count, 3 * count, count):
        for group in range(groups):
            (low, high, under), (known, _, over) = (each.reaching(target, group) for each in (bounded, exact))
            assert Fraction(low, under) <= Fraction(known, over) <= Fraction(high, under)
            assert Fraction(high - low, under) < Fraction(1, 10**12)
