"""Thresholds that are so far from all scores that, on the scores' scale, they do not fit into 64 bits."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.subset_sum.laws import asked, bernoulli, booleans, factor, linear, network, rates

WEIGHTS = [Fraction(3), Fraction(7, 10**17), Fraction(11, 10**17), Fraction(13, 10**17), Fraction(17, 10**17)]


@pytest.mark.parametrize("size", [9, 30, 50, 80, 95, 10**4, 10**30, pytest.param(10**400, id="1e400")])
@pytest.mark.parametrize("sign", [-1, 1])
def test_nobody_or_everybody_reaches_it(size: int, sign: int) -> None:
    """The scores lie within 3.1 of 0, and are whole numbers on a scale of 1e17; 2^63 is less than 93 times that."""
    columns = booleans("group", "a", "b", "c", "d")
    given = {(0,): bernoulli(Fraction(1, 5)), (1,): bernoulli(Fraction(1, 2))}
    alone = [factor(column, bernoulli(Fraction(1, 3))) for column in (0, 1, 3, 4)]
    law = network(columns, [*alone, factor(2, given, parents=(1,))])
    for weights in (WEIGHTS, [-weight for weight in WEIGHTS]):
        found = rates(asked(law, linear(weights, sign * size), 0))
        expected = Fraction(int(sign < 0))
        assert set(found.values()) == {(expected, expected)}
