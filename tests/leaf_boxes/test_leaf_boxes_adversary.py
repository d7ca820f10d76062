"""Leaves and borders with numbers that float64 does not hold."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from fairdsl.backends.leaf_boxes import LeafBoxes
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.model import Model, read_attributes
from fairdsl.ir.question import Quantity
from fairdsl.verdict import Shares, Violated
from tests.agreement.engines import ask
from tests.builders import BOOLEAN, Compare, domain, integer, linear, member, problem, real, score

TINY = Fraction(1, 10**400)


def of_indicators(weights: list[object], *predicates: object, threshold: object = 0) -> Model:
    inputs = tuple(IndicatorInput(predicate) for predicate in predicates)  # type: ignore[arg-type]
    return replace(score(weights, threshold=threshold), inputs=inputs)


def test_a_leaf_whose_weight_no_float_shows_decides() -> None:
    """The score is 1e-400 for women, which as a float is 0."""
    rule = of_indicators([TINY], member(1, 1))
    assert read_attributes(rule) == {1}
    found = ask(LeafBoxes(), problem(domain(x=integer(0, 5), sex=BOOLEAN), rule, 1))
    assert isinstance(found, Violated)


@pytest.mark.parametrize("threshold", [10**400, -(10**400), 2 * 10**30], ids=["1e400", "-1e400", "2e30"])
def test_thresholds_beyond_64_bits(threshold: object) -> None:
    rule = of_indicators([10**30, 10**30], member(0, 1), member(1, 1), threshold=threshold)
    asked = problem(domain(x=BOOLEAN, sex=BOOLEAN), rule, 1, quantity=Quantity.FAIR_SHARE)
    found = ask(LeafBoxes(), asked)
    assert isinstance(found, Shares)
    assert found.certified == 1


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (linear({0: 1}, "<", "1/10"), linear({0: 1}, "<=", "1/10")),
        (linear({0: -3}, ">", "-3/10"), linear({0: 2}, "<=", "1/5")),
        (linear({0: 1}, "<=", "1/10"), linear({0: 1}, "<=", Fraction(1, 10) + Fraction(1, 10**30))),
    ],
)
def test_somebody_between_two_borders_that_no_float_parts(low: Compare, high: Compare) -> None:
    """Nobody is unfair by volume, or hardly anybody; but somebody is."""
    rule = of_indicators([-1, 1, "1/2"], low, high, member(1, 1), threshold=1)
    rule = replace(rule, layers=score([-1, 1, "1/2"], threshold=1).layers)
    asked = problem(domain(x=real(0, 1), sex=BOOLEAN), rule, 1)
    assert isinstance(ask(LeafBoxes(), asked), Violated)


def test_borders_beyond_any_float() -> None:
    """``1e-200 x > 1e200`` holds beyond 1e400."""
    far = linear({0: Fraction(1, 10**200)}, ">", 10**200)
    asked = problem(domain(x=real(), sex=BOOLEAN), of_indicators([1, 1], far, member(1, 1), threshold=1), 1)
    found = ask(LeafBoxes(), asked)
    assert isinstance(found, Violated)
    assert all(witness.a.point[0] > 10**400 for witness in found.witnesses)
