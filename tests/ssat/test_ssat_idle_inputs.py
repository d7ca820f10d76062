"""Numbers that a model is fed and gives no weight: as trees in ONNX are, which read them by their tests alone."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from fairdsl.backends.contract import Budget, Facts, Offer, Procedure, Refusal, Silent
from fairdsl.backends.rates import Rates
from fairdsl.backends.ssat import Ssat
from fairdsl.ir.domain import Attribute, Real
from fairdsl.ir.expr import Not
from fairdsl.ir.feature import AttributeInput, IndicatorInput
from fairdsl.ir.model import Model, linear_layer
from fairdsl.ir.population import Cell, Inside
from fairdsl.ir.problem import Problem
from fairdsl.metrics.subject import subject_of
from fairdsl.verdict import Value
from tests import builders
from tests.subset_sum.laws import asked, bernoulli, booleans, factor, linear, network, points

F = Fraction
LOW = builders.linear({1: 1}, "<=", F(1, 4))


def tree(weight: int) -> Model:
    """Accepts whoever is at most 1/4, and is fed the number with this weight."""
    inputs = [AttributeInput(1), IndicatorInput(LOW), IndicatorInput(Not(LOW))]
    return replace(linear([weight, 1, 0], F(1, 2), inputs=inputs), groups=((1, 2),))


def problem(model: Model) -> Problem:
    """A number from 0 to 1 that is uniform below 1/2 for one group, and everywhere for the other."""
    real = Attribute(name="r", type=Real(low=F(0), high=F(1)))
    halves = (
        Cell(low=F(0), high=F(1, 2), open=True, inside=Inside.UNIFORM),
        Cell(low=F(1, 2), high=F(1), inside=Inside.UNIFORM),
    )
    rows = {(0,): (F(1), F(0)), (1,): (F(1, 2), F(1, 2))}
    factors = [factor(0, bernoulli(F(1, 2))), factor(1, rows, (0,))]
    return asked(network((*booleans("A"), real), factors, [points((0, 1)), halves]), model, 0)


@pytest.mark.parametrize("procedure", [Ssat(), Rates()])
def test_they_do_not_stand_in_the_way(procedure: Procedure) -> None:
    found = problem(tree(0))
    assert isinstance(procedure.offer(found), Offer)
    value = procedure.answer(found, Facts(), Budget.of(30), Silent())
    assert isinstance(value, Value)
    assert sorted((rate.low, rate.high) for rate in value.rates) == [(F(1, 4), F(1, 4)), (F(1, 2), F(1, 2))]


def test_what_is_weighed_stays() -> None:
    model = tree(3)
    assert subject_of(problem(model)).model == model
    refusal = Ssat().offer(problem(model))
    assert isinstance(refusal, Refusal)
    assert "numbers of `r`" in refusal.why


def test_a_weight_in_one_of_several_scores_is_a_weight() -> None:
    model = tree(0)
    several = replace(model, layers=(linear_layer([[F(0)] * 3, [F(1, 10**400), F(0), F(0)]], [F(0), F(0)]),))
    # Smaller than any float64: zero only where the weight is.
    assert subject_of(problem(several)).model.inputs == several.inputs
    assert subject_of(problem(model)).model.inputs[0] != model.inputs[0]
    assert subject_of(problem(model)).model.inputs[1:] == model.inputs[1:]
