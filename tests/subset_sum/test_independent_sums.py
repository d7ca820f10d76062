"""Sums of independent numbers: the same as by enumeration, as from the task, and as by tables."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.backends.contract import Budget
from fairdsl.backends.rates import joints
from fairdsl.backends.rates.linear import refinement as refinement_of
from fairdsl.backends.rates.linear.independent import Independent, independent_of, independent_of_task
from fairdsl.backends.rates.linear.lowering import task_of
from fairdsl.backends.rates.linear.refinement import Sums
from fairdsl.backends.rates.linear.task import Meter, OutOfTimeError, WeightedSum, weighted_sum
from fairdsl.clock import Deadline
from fairdsl.ir.domain import Attribute, Integer
from fairdsl.ir.expr import Member, Relation, Variable
from fairdsl.ir.feature import AttributeInput, IndicatorInput, Input
from fairdsl.ir.population import Factor, Network
from fairdsl.ir.problem import Problem
from fairdsl.metrics.joint import Joint
from fairdsl.metrics.subject import subject_of
from tests.builders import with_memory
from tests.strategies import shares
from tests.subset_sum.laws import (
    asked,
    bernoulli,
    booleans,
    encloses,
    enumerated,
    factor,
    linear,
    network,
    refinement,
    value,
)

F = Fraction
RELATIONS = (Relation.GE, Relation.GT, Relation.LE, Relation.LT, Relation.EQ, Relation.NE)


def meter() -> Meter:
    return Meter(deadline=Deadline.within(60), entries=1 << 24)


def sums_of(problem: Problem) -> tuple[Sums, Independent, WeightedSum]:
    weighted = weighted_sum(subject_of(problem))
    found = independent_of(weighted)
    assert found is not None
    return Sums(found, weighted.event), found, weighted


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Groups of one or two columns that may depend on each other, and columns whose laws are theirs or everybody's."""
    groups = draw(st.integers(1, 2))
    sizes = draw(st.lists(st.integers(2, 3), min_size=groups, max_size=groups))
    sizes += draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    columns = tuple(Attribute(name=f"x{k}", type=Integer(low=0, high=size - 1)) for k, size in enumerate(sizes))
    factors: list[Factor] = []
    for column, size in enumerate(sizes):
        before = range(min(column, groups))
        parents = tuple(parent for parent in before if draw(st.booleans()))
        rows = {cells: draw(shares(size)) for cells in product(*(range(sizes[parent]) for parent in parents))}
        factors.append(factor(column, rows, parents))
    inputs: list[Input] = [AttributeInput(column) for column in range(len(sizes)) if draw(st.booleans())]
    for _ in range(draw(st.integers(0, 2))):
        column = draw(st.integers(0, len(sizes) - 1))
        inputs.append(IndicatorInput(Member(variable=Variable(column), values=frozenset({F(0), F(2)}))))
    weight = st.fractions(-3, 3, max_denominator=4)
    weights = [draw(weight) for _ in inputs]
    model = linear(weights, draw(weight), draw(st.sampled_from(RELATIONS)), inputs=inputs, bias=draw(weight))
    return asked(network(columns, factors), model, *range(groups))


@given(problems())
def test_sums_are_what_enumeration_finds(problem: Problem) -> None:
    sums, _, _ = sums_of(problem)
    part, total = enumerated(problem)
    exact, bounded = sums.exact(meter()), sums.bounded(meter())
    for key, mass in total.items():
        assert exact.total[key].low == exact.total[key].high == bounded.total[key].low == mass
        assert exact.favourable[key].low == exact.favourable[key].high == part[key]
        assert encloses(bounded.favourable[key], part[key])
        assert bounded.favourable[key].high - bounded.favourable[key].low <= F(1, 10**13)


@given(problems())
def test_the_task_says_the_same(problem: Problem) -> None:
    _, found, weighted = sums_of(problem)
    assert independent_of_task(task_of(weighted, 16), weighted.keys) == found


@given(problems())
def test_tables_say_the_same(problem: Problem) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Sums, "dense", False)
        tables = refinement(problem)
        assert tables.improve()
    sums = refinement(problem)
    assert sums.improve()
    assert sums.exact
    assert tables.exact
    assert sums.joint == tables.joint


def many(columns: int, chance: Fraction, heaviest: int) -> Network:
    """Columns of alternating laws: everybody's, and those of two groups."""
    factors = [factor(0, bernoulli(F(1, 3)))]
    for column in range(1, columns):
        p = chance * column
        if column % 3:
            factors.append(factor(column, bernoulli(p)))
        else:
            factors.append(factor(column, {(0,): bernoulli(p), (1,): bernoulli(1 - p)}, (0,)))
    return network(booleans(*(f"x{k}" for k in range(columns))), factors)


@pytest.mark.parametrize(
    ("chance", "threshold"),
    [(F(1, 200), 60), (F(1, 200), -250), (F(1, 10**30), 200), (F(1, 10**300), 150), (F(1, 10**300), 10)],
)
def test_long_sums_enclose_the_exact_ones_also_where_masses_underflow(chance: Fraction, threshold: int) -> None:
    law = many(40, chance, 50)
    weights = [(column * 37) % 101 - 50 for column in range(40)]
    sums, _, _ = sums_of(asked(law, linear(weights, threshold), 0))
    exact, bounded = sums.exact(meter()), sums.bounded(meter())
    for key, bounds in exact.favourable.items():
        assert encloses(bounded.favourable[key], bounds.low)
        assert 0 < bounds.low < 1
        loose = F(1, 10**12) * bounds.low + F(1, 1 << 998)
        assert bounded.favourable[key].high - bounded.favourable[key].low <= loose


def test_many_columns_are_scaled_back_in_time() -> None:
    # The most probable cells have 2**-1500 together, less than any float.
    law = network(booleans("A", *(f"x{k}" for k in range(1500))), [factor(k, bernoulli(F(1, 2))) for k in range(1501)])
    sums, _, _ = sums_of(asked(law, linear([0, *([1] * 1500)], 751), 0))
    exact, bounded = sums.exact(meter()), sums.bounded(meter())
    for key, bounds in exact.favourable.items():
        assert encloses(bounded.favourable[key], bounds.low)
        assert bounds.low < F(1, 4) < bounds.low + F(1, 50)
        assert bounded.favourable[key].high - bounded.favourable[key].low <= F(1, 10**11)


def test_a_tie_is_decided_exactly_after_floats_have_not() -> None:
    # Symmetric: exactly half of everybody is above the middle of an odd number of ones.
    law = network(booleans("A", *(f"x{k}" for k in range(61))), [factor(k, bernoulli(F(1, 2))) for k in range(62)])
    weights = [0, *(2**k % 97 + 1 for k in range(61))]
    problem = asked(law, linear(weights, F(sum(weights), 2)), 0)
    refined = refinement(problem)
    assert refined.improve()
    assert not refined.exact
    first = refined.joint
    assert isinstance(first, Joint)
    assert refined.improve()
    assert refined.exact
    assert not refined.improve()
    assert isinstance(refined.joint, Joint)
    for key, bounds in refined.joint.favourable.items():
        assert bounds.low == bounds.high
        assert encloses(first.favourable[key], bounds.low)


def test_small_sums_stay_exact() -> None:
    law = network(booleans("A", *(f"x{k}" for k in range(12))), [factor(k, bernoulli(0.3)) for k in range(13)])
    found = value(asked(law, linear(range(13), 20), 0))
    assert "exact arithmetic" in found.evidence.method
    assert all(rate.low == rate.high for rate in found.rates)


def test_what_is_no_sum_of_independent_numbers() -> None:
    chain = network(
        booleans("A", "X", "Y"),
        [
            factor(0, bernoulli(0.5)),
            factor(1, bernoulli(0.5)),
            factor(2, {(0,): bernoulli(0.2), (1,): bernoulli(0.6)}, (1,)),
        ],
    )
    assert independent_of(weighted_sum(subject_of(asked(chain, linear([0, 1, 1], 1), 0)))) is None
    # What Y depends on does not matter where nobody reads Y, nor that of a key among keys.
    assert independent_of(weighted_sum(subject_of(asked(chain, linear([0, 1, 0], 1), 0)))) is not None
    assert independent_of(weighted_sum(subject_of(asked(chain, linear([0, 1, 0], 1), 1, 2)))) is not None
    assert independent_of(weighted_sum(subject_of(asked(chain, linear([0, 1, 0], 1), 2)))) is None
    true = Member(variable=Variable(1), values=frozenset({F(1)}))
    assert independent_of(weighted_sum(subject_of(asked(chain, linear([0, 1, 0], 1), 0, where=true)))) is None
    gap = network(booleans("A", "X"), [factor(0, bernoulli(0.5)), factor(1, {(0,): bernoulli(0.2)}, (0,))])
    assert independent_of(weighted_sum(subject_of(asked(gap, linear([0, 1], 1), 0)))) is None


def test_no_table_is_weighed_where_sums_of_independent_numbers_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    law = network(
        booleans("A", "X", "Y"), [factor(0, bernoulli(0.5)), factor(1, bernoulli(0.3)), factor(2, bernoulli(0.2))]
    )
    monkeypatch.setattr(joints, "refusal_of_sum", lambda _: pytest.fail("tables were thought of"))
    restated: list[WeightedSum] = []

    def counted(of: WeightedSum) -> Independent | None:
        restated.append(of)
        return independent_of(of)

    monkeypatch.setattr(refinement_of, "independent_of", counted)
    found = value(asked(law, linear([1, 1, 1], 2), 0))
    assert found.low == found.high == F(3, 10) + F(7, 10) * F(2, 10) - F(3, 10) * F(2, 10)
    assert len(restated) == 1


def test_sums_that_leave_gaps_are_left_to_tables() -> None:
    law = network(booleans("A", *(f"x{k}" for k in range(9))), [factor(k, bernoulli(0.3)) for k in range(10)])
    sums, _, _ = sums_of(asked(law, linear([10**k for k in range(10)], 10**8), 0))
    assert not sums.dense


def test_the_deadline_holds_and_small_memory_does_not_crash() -> None:
    law = network(booleans("A", *(f"x{k}" for k in range(300))), [factor(k, bernoulli(F(1, 3))) for k in range(301)])
    problem = asked(law, linear([0, *(1000 + k for k in range(300))], 10**5), 0)
    with pytest.raises(OutOfTimeError):
        sums_of(problem)[0].bounded(Meter(deadline=Deadline(0.0), entries=1 << 24))
    with pytest.raises(OutOfTimeError):
        refinement(problem, budget=Budget.of(-1.0)).improve()
    small = refinement(problem, budget=with_memory(Budget.of(20.0), 1 << 20))
    assert small.improve()  # on a grid instead
    large = refinement(problem)
    assert large.improve()
    assert small.joint is not None
    assert large.joint is not None
    for key, bounds in large.joint.favourable.items():
        rough = small.joint.favourable[key]
        assert rough.low <= bounds.high
        assert bounds.low <= rough.high
