"""The procedure: offers and refusals, ranges, budgets, and a domain that nobody enumerates."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest

from fairdsl.backends.contract import Budget, Facts, Offer, Refusal, Silent
from fairdsl.backends.rates import Rates
from fairdsl.backends.rates.cover import Cover
from fairdsl.ir.domain import Attribute, Boolean, Integer, Real
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import Relation
from fairdsl.ir.feature import AttributeInput, IndicatorInput
from fairdsl.ir.model import ByThreshold, Layer, Model
from fairdsl.ir.population import Cell, Inside, Network, Normal
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Threshold
from fairdsl.metrics.subject import subject_of
from fairdsl.verdict import Reason, Value
from tests import builders
from tests.subset_sum.laws import asked, bernoulli, booleans, factor, network, points

F = Fraction
A = Attribute(name="A", type=Boolean())


def answered(problem: Problem, seconds: float = 20.0) -> Value:
    found = Rates().answer(problem, Facts(), Budget.of(seconds), Silent())
    assert isinstance(found, Value), found
    return found


def relu(attributes: int, *rows: list[object], out: list[object], bias: object = 0, threshold: object = 0) -> Model:
    hidden = builders.layer(list(rows), [0] * len(rows))
    return builders.model(hidden, builders.layer([out], [bias], 1), attributes=attributes, threshold=threshold)


def with_range(kind: Integer | Real, cell: Cell) -> Network:
    column = Attribute(name="x", type=kind)
    return network((A, column), [factor(0, bernoulli(F(1, 4))), factor(1, (F(1),))], [points((0, 1)), (cell,)])


def rates(problem: Problem) -> dict[Fraction, tuple[Fraction, Fraction]]:
    found = Cover(subject_of(problem))
    while not found.finished:
        found.improve()
    joint = found.joint()
    return {
        key[0]: (bounds.low / joint.total[key].high, bounds.high / joint.total[key].low)
        for key, bounds in joint.favourable.items()
    }


def test_uniform_whole_numbers_are_counted() -> None:
    cell = Cell(low=F(0), high=F(9999), inside=Inside.UNIFORM)
    law = with_range(Integer(low=0, high=9999), cell)
    # relu(x - 4000 A) > 2500: x from 2501, or from 6501
    model = relu(2, [-4000, 1], out=[1], threshold=2500)
    assert rates(asked(law, model, 0)) == {F(0): (F(7499, 10000),) * 2, F(1): (F(3499, 10000),) * 2}


def test_uniform_reals_are_enclosed_and_cut_at_the_tests_of_a_tree() -> None:
    law = with_range(Real(low=F(0), high=F(1)), Cell(low=F(0), high=F(1), inside=Inside.UNIFORM))
    found = rates(asked(law, relu(2, [0, 3], out=[1], threshold=1), 0))
    for low, high in found.values():
        assert low <= F(2, 3) <= high
        assert high - low < F(1, 500)
    test = builders.linear({1: 3}, ">", 1)
    model = replace(relu(1, [1], out=[1]), inputs=(IndicatorInput(test),))
    assert set(rates(asked(law, model, 0)).values()) == {(F(2, 3), F(2, 3))}


def test_an_unknown_inside_counts_only_where_all_agree() -> None:
    bins = (
        Cell(low=F(0), high=F(9), inside=Inside.UNKNOWN),
        Cell(low=F(10), high=F(19), inside=Inside.UNKNOWN),
        Cell(low=F(20), high=F(29), inside=Inside.UNKNOWN),
    )
    column = Attribute(name="x", type=Integer(low=0, high=29), bins=(F(10), F(20)))
    law = network(
        (A, column),
        [factor(0, bernoulli(F(1, 2))), factor(1, (F(1, 2), F(1, 3), F(1, 6)))],
        [points((0, 1)), bins],
    )
    # 1 - relu(x - 12) > 0 up to 12; the middle bin lies on both sides.
    model = relu(2, [0, 1], out=[-1], bias=13)
    assert set(rates(asked(law, model, 0)).values()) == {(F(1, 2), F(5, 6))}
    # Groups may be bins as well.
    assert rates(asked(law, model, 1)) == {F(0): (F(1),) * 2, F(10): (F(0), F(1)), F(20): (F(0),) * 2}


def test_values_that_are_no_floats_are_decided_exactly() -> None:
    third = Attribute(name="x", type=Real(low=F(0), high=F(1)))
    law = network(
        (A, third),
        [factor(0, bernoulli(F(1, 2))), factor(1, (F(1, 5), F(4, 5)))],
        [points((0, 1)), points((F(1, 3), 1))],
    )
    model = relu(2, [0, 3], out=[-1], bias=1, threshold=0)
    # 1 - relu(3 x) is exactly 0 at 1/3.
    assert set(rates(asked(law, model, 0)).values()) == {(F(0), F(0))}
    at_least = replace(model, rule=replace(model.rule, relation=Relation.GE))
    assert set(rates(asked(law, at_least, 0)).values()) == {(F(1, 5), F(1, 5))}


def test_offers_and_refusals() -> None:
    law = network(booleans("A", "X"), [factor(0, bernoulli(0.5)), factor(1, bernoulli(0.5))])
    plain = asked(law, relu(2, [1, 1], out=[1]), 0)
    assert isinstance(Rates().offer(plain), Offer)
    normal = with_range(Real(low=None, high=None), Cell(low=None, high=None, inside=Inside.UNKNOWN))
    factors = (normal.factors[0], factor(1, {(): Normal(mean=F(0), sd=F(1))}))
    refused = {
        "normal": asked(replace(normal, factors=factors), relu(2, [1, 1], out=[1]), 0),
        "no population": replace(plain, population=None),
        "no favourable": replace(plain, model=replace(plain.model, favourable=None)),
    }
    for why, problem in refused.items():
        found = Rates().offer(problem)
        assert isinstance(found, Refusal), why
        assert why in found.why
    # A normal column that nobody looks at is no reason.
    unread = replace(relu(1, [1], out=[1]), inputs=(AttributeInput(0),))
    assert isinstance(Rates().offer(asked(replace(normal, factors=factors), unread, 0)), Offer)


def test_no_time_is_said() -> None:
    cell = Cell(low=F(0), high=F(9999), inside=Inside.UNIFORM)
    law = with_range(Integer(low=0, high=9999), cell)
    found = answered(asked(law, relu(2, [-4000, 1], out=[1], threshold=2500), 0), seconds=0.0)
    assert found.reason is Reason.TIMEOUT
    assert found.low < F(2, 5) < found.high


@pytest.mark.parametrize("dependent", [False, True])
def test_a_large_domain_reaches_a_verdict(dependent: bool) -> None:
    """More than 10^9 individuals and a network of 8 hidden units: the 80 % rule is decided in seconds."""
    sizes = (2, 10, 20, 16, 12, 40, 8, 20, 50)
    assert prod(sizes) > 10**9
    random = np.random.default_rng(1)

    def row(size: int) -> tuple[Fraction, ...]:
        weights = [int(weight) for weight in random.integers(1, 100, size)]
        return tuple(F(weight, sum(weights)) for weight in weights)

    columns = tuple(Attribute(name=f"x{n}", type=Integer(low=0, high=size - 1)) for n, size in enumerate(sizes))
    factors = [factor(0, row(2))]
    for column, size in enumerate(sizes[1:], start=1):
        parents = (0, 1) if dependent and column == 2 else (0,)
        keys = product(*(range(sizes[parent]) for parent in parents))
        factors.append(factor(column, {key: row(size) for key in keys}, parents))
    inner = random.normal(size=(8, len(sizes))) / np.array(sizes)
    inner[:, 0] = -0.8
    layers = [(inner, np.full(8, 0.5), 0.0), (np.abs(random.normal(size=(1, 8))), np.array([-2.5]), 1.0)]
    model = Model(
        name="m",
        outcomes=("no", "yes"),
        inputs=tuple(AttributeInput(n) for n in range(len(sizes))),
        layers=tuple(
            Layer(
                weight=ExactArray.from_floats(weight),
                bias=ExactArray.from_floats(bias),
                slope=ExactArray.from_floats(np.full(len(bias), slope)),
            )
            for weight, bias, slope in layers
        ),
        rule=ByThreshold(relation=Relation.GT, low=F(0), high=F(0), granted=1, otherwise=0),
        favourable=1,
    )
    problem = asked(network(columns, factors), model, 0, metric="impact_ratio")
    threshold = Threshold(relation=Relation.GE, limit=F(4, 5), text="80%")
    found = answered(replace(problem, threshold=threshold), seconds=30.0)
    assert found.reason is None
    assert found.low >= F(4, 5) or found.high < F(4, 5)
