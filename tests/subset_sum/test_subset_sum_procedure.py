"""The procedure: what it offers and refuses, populations of rows, labels, and what it says when the budget ends."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pytest

from fairdsl.backends.contract import Budget, Facts, Offer, Refusal, Silent
from fairdsl.backends.rates import Rates
from fairdsl.backends.rates.gate import refusal_of_sum
from fairdsl.backends.subset_sum.encoding import SubsetSumInstance
from fairdsl.ir.domain import Attribute, Boolean, Real
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import Compare, Linear, Relation, Variable
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.model import ByHighest, Layer
from fairdsl.ir.population import Cell, Inside, Network
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair, Quantity, Threshold
from fairdsl.verdict import Reason, Unknown, Value
from tests.builders import with_memory
from tests.subset_sum.laws import asked, bernoulli, booleans, factor, linear, network, value

F = Fraction
ZERO, ONE = F(0), F(1)


def two() -> Network:
    return network(
        booleans("A", "X"), [factor(0, bernoulli(0.5)), factor(1, {(0,): bernoulli(0.2), (1,): bernoulli(0.6)}, (0,))]
    )


def refused(problem: Problem) -> str:
    found = Rates().offer(problem)
    assert isinstance(found, Refusal)
    return found.why


def no_sum(problem: Problem) -> str:
    """Why it is not the distribution of a weighted sum; then it is not a file either."""
    found = refusal_of_sum(problem)
    assert found is not None
    assert SubsetSumInstance().offer(problem) == found
    return found.why


def test_offers_and_refusals() -> None:
    plain = asked(two(), linear([0, 1], 1), 0)
    assert isinstance(Rates().offer(plain), Offer)
    assert "metrics of groups" in refused(
        replace(plain, question=Pair(differ=(0,), mode=Differ.ANY), quantity=Quantity.HOLDS)
    )
    assert "names no population" in refused(replace(plain, population=None))
    assert "no favourable outcome" in refused(replace(plain, model=replace(plain.model, favourable=None)))
    assert "highest of several" in no_sum(replace(plain, model=replace(plain.model, rule=ByHighest())))
    deep = replace(plain.model, layers=plain.model.layers * 2)
    assert "not a weighted sum" in no_sum(replace(plain, model=deep))
    one = plain.model.layers[0]
    bent = Layer(weight=one.weight, bias=one.bias, slope=ExactArray.from_floats([0.0]))
    assert "not a weighted sum" in no_sum(replace(plain, model=replace(plain.model, layers=(bent,))))


def of_real(cell: Cell) -> Network:
    columns = (Attribute(name="A", type=Boolean()), Attribute(name="income", type=Real(low=None, high=None)))
    return network(
        columns,
        [factor(0, bernoulli(0.5)), factor(1, (ONE,))],
        [(Cell(low=ZERO, high=ZERO), Cell(low=ONE, high=ONE)), (cell,)],
    )


def test_a_weighed_range_without_end_has_no_sum() -> None:
    open_ = of_real(Cell(low=F(0), high=None, inside=Inside.UNKNOWN))
    endless = asked(open_, linear([0, 1], 1), 0)
    assert "`income`, whose outermost bin has no end" in no_sum(endless)
    boxes = Rates().offer(endless)
    assert isinstance(boxes, Offer)
    assert "branch and bound: the model weighs `income`, whose outermost bin has no end" in boxes.method
    assert isinstance(Rates().offer(asked(open_, linear([1, 0], 1), 0)), Offer)
    endless = asked(open_, linear([1, 0], 1), 0, influence=(1,))
    with pytest.raises(ValueError, match="nothing is uniform on all of `income`"):  # semantics asks for a range before
        Rates().offer(endless)


def test_too_large_tables_are_refused() -> None:
    names = [f"x{k}" for k in range(26)]
    factors = [factor(k, bernoulli(0.5)) for k in range(26)]
    every = Compare(left=Linear.of({Variable(k): ONE for k in range(26)}, F(-13)), relation=Relation.GE)
    law = network(booleans(*names), factors)
    majority = asked(law, linear([1], 1, inputs=[IndicatorInput(every)]), 0)
    assert "too many combinations" in no_sum(majority)
    assert isinstance(Rates().offer(majority), Offer)  # by its states
    assert "groups" in refused(asked(law, linear([1] * 26, 13), *range(20)))


def test_labels_of_a_network() -> None:
    law = network(
        booleans("A", "X", "Y"),
        [
            factor(0, bernoulli(0.5)),
            factor(1, {(0,): bernoulli(0.2), (1,): bernoulli(0.6)}, (0,)),
            factor(2, {(0,): bernoulli(0.25), (1,): bernoulli(0.75)}, (1,)),
        ],
        has_label=True,
    )
    found = value(asked(law, linear([0, 1], 1), 0, metric="odds_gap"))
    by_label = [
        abs(F(2, 10) * p / (F(2, 10) * p + F(8, 10) * q) - F(6, 10) * p / (F(6, 10) * p + F(4, 10) * q))
        for p, q in ((F(3, 4), F(1, 4)), (F(1, 4), F(3, 4)))
    ]
    assert found.low == found.high == max(by_label)
    parity = value(asked(law, linear([0, 1], 1), 0, metric="predictive_gap", deserving=ONE))
    assert parity.low == parity.high == 0


def many(count: int = 60) -> Problem:
    draw = random.Random(5)
    law = network(
        booleans(*(f"x{k}" for k in range(count))),
        [factor(k, bernoulli(F(draw.randint(1, 999), 1000))) for k in range(count)],
    )
    weights = [F(draw.randint(-(10**9), 10**9), 10**7) for _ in range(count)]
    return asked(law, linear(weights, sum(weights) / 2), 0)


def test_trap_18_the_budget_ends_without_a_bound() -> None:
    """Trap 18: what is known when time is up is an interval or nothing, and never the value."""
    found = Rates().answer(many(), Facts(), Budget.of(0.0), Silent())
    assert isinstance(found, Unknown)
    assert found.reason is Reason.TIMEOUT


def test_trap_15_the_grid_is_refined_until_the_threshold_is_decided() -> None:
    """Trap 15: weights of nine digits are not cut off; a coarse grid encloses the rates of the model itself."""
    problem = many()
    free = Rates().answer(problem, Facts(), Budget.of(1.0), Silent())
    assert isinstance(free, Value)
    assert free.reason is Reason.TIMEOUT
    assert 0 < free.high - free.low < F(1, 100)
    limit = Threshold(relation=Relation.LE, limit=free.high + F(1, 10), text="")
    decided = Rates().answer(replace(problem, threshold=limit), Facts(), Budget.of(60.0), Silent())
    assert isinstance(decided, Value)
    assert decided.reason is None
    assert decided.low <= free.high
    assert free.low <= decided.high <= limit.limit


@pytest.mark.parametrize("memory", [1 << 8, 1 << 31])
def test_a_bound_on_memory_leaves_an_interval_or_says_so(memory: int) -> None:
    problem = many(30)
    found = Rates().answer(problem, Facts(), with_memory(Budget.of(10.0), memory), Silent())
    if memory < 1 << 20:
        assert isinstance(found, Unknown)
        assert found.reason is Reason.MEMORY_OUT
    else:
        assert isinstance(found, Value)
