"""Random small networks against enumeration: every bound encloses the truth, and where nothing is open it is exact."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairdsl.backends.contract import Budget
from fairdsl.backends.rates.gate import refusal_of_sum
from fairdsl.backends.rates.linear.lowering import task_of
from fairdsl.backends.rates.linear.refinement import _Work
from fairdsl.backends.rates.linear.rounded import Arithmetic
from fairdsl.backends.rates.linear.task import common_scale, weighted_sum
from fairdsl.ir.expr import TRUE
from fairdsl.ir.feature import AttributeInput, IndicatorInput
from fairdsl.ir.problem import Problem
from fairdsl.metrics.subject import subject_of
from tests.drawing import examples
from tests.rates.laws import random_laws
from tests.strategies import COMPARISONS, RATIONAL, SMALL, predicates
from tests.subset_sum.laws import (
    asked,
    bernoulli,
    booleans,
    encloses,
    enumerated,
    factor,
    joint_of,
    linear,
    network,
    refinement,
)

F = Fraction
RELAXED = settings(max_examples=examples(1), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    law = draw(random_laws(6))
    count = len(law.columns)
    inputs: list[AttributeInput | IndicatorInput] = [AttributeInput(place) for place in range(count)]
    for _ in range(draw(st.integers(0, 2))):
        inputs.append(IndicatorInput(draw(predicates(law.columns))))
    number = draw(st.sampled_from([SMALL, RATIONAL]))
    model = linear(
        [draw(number) for _ in inputs],
        draw(st.one_of(SMALL, RATIONAL)),
        draw(COMPARISONS),
        inputs=inputs,
        bias=draw(number),
        favourable=draw(st.integers(0, 1)),
    )
    across = draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=2, unique=True))
    condition = st.one_of(st.just(TRUE), predicates(law.columns))
    return asked(law, model, *across, where=draw(condition), given=draw(condition))


@RELAXED
@given(problems())
def test_exact_where_everything_is_known(problem: Problem) -> None:
    assert refusal_of_sum(problem) is None
    part, total = enumerated(problem)
    joint = joint_of(problem).joint
    assert {key: (b.low, b.high) for key, b in joint.total.items()} == {key: (t, t) for key, t in total.items()}
    assert {key: (b.low, b.high) for key, b in joint.favourable.items()} == {key: (t, t) for key, t in part.items()}


def work_on(problem: Problem) -> _Work:
    """The first level of precision."""
    weighted = weighted_sum(subject_of(problem))
    return _Work(task_of(weighted, 16), weighted.event, weighted.keys, 0, Budget.of(20))


@RELAXED
@given(problems(), st.integers(0, 12))
def test_every_grid_and_every_arithmetic_encloses(problem: Problem, bits: int) -> None:
    part, total = enumerated(problem)
    work = work_on(problem)
    scale = common_scale(work.task)
    assert scale is not None
    for grid in (F(1 << bits, 37), scale):
        for arithmetic in Arithmetic:
            joint = work._joint(grid, arithmetic, work._meter(None))
            assert all(encloses(joint.favourable[key], truth) for key, truth in part.items())
            assert all(encloses(joint.total[key], truth) for key, truth in total.items())
    floats = work._joint(scale, Arithmetic.FLOAT, work._meter(None)).favourable
    assert all(bounds.high - bounds.low < F(1, 10**13) for bounds in floats.values())


@RELAXED
@given(problems(), st.fractions(0, F(1, 50)))
def test_an_enclosed_threshold_encloses(problem: Problem, width: Fraction) -> None:
    """The threshold lies somewhere in the open interval: what holds of every choice but the ends is enclosed."""
    rule = problem.model.rule
    wide = replace(
        problem, model=replace(problem.model, rule=replace(rule, low=rule.low - width, high=rule.low + width))
    )
    joint = joint_of(wide).joint
    within = rule.low + width / 3
    part, _ = enumerated(replace(problem, model=replace(problem.model, rule=replace(rule, low=within, high=within))))
    if rule.relation.value in ("<", "<=", ">", ">=") and width:
        assert all(encloses(joint.favourable[key], truth) for key, truth in part.items())


@RELAXED
@given(st.lists(st.tuples(st.integers(-(10**9), 10**9), st.integers(0, 10)), min_size=2, max_size=9), st.data())
def test_weights_of_many_digits_meet_in_the_middle(drawn: list[tuple[int, int]], data: st.DataObject) -> None:
    law = network(
        booleans("A", *(f"x{place}" for place in range(len(drawn)))),
        [factor(place, bernoulli(F(chance, 10))) for place, chance in enumerate((5, *(chance for _, chance in drawn)))],
    )
    weights = [data.draw(st.integers(-(10**9), 10**9)), *(weight for weight, _ in drawn)]
    chosen = data.draw(st.lists(st.sampled_from(weights), max_size=4, unique=True))  # so that ties occur
    problem = asked(law, linear(weights, sum(chosen), data.draw(COMPARISONS)), 0)
    part, _ = enumerated(problem)
    joint = joint_of(problem).joint
    assert {key: (b.low, b.high) for key, b in joint.favourable.items()} == {key: (t, t) for key, t in part.items()}
    work = work_on(problem)
    floats = work._joint(common_scale(work.task), Arithmetic.FLOAT, work._meter(None)).favourable
    assert all(encloses(floats[key], truth) for key, truth in part.items())


def test_masses_too_small_for_floats_are_not_lost() -> None:
    """Everybody passes with probability 1/1000 each: 10**-900 in all, which float64 cannot say."""
    count = 300
    law = network(
        booleans("A", *(f"x{place}" for place in range(count))),
        [factor(0, bernoulli(0.5)), *(factor(place + 1, bernoulli(F(1, 1000))) for place in range(count))],
    )
    work = work_on(asked(law, linear([0, *([1] * count)], count), 0))
    bounds = work._joint(F(1), Arithmetic.FLOAT, work._meter(None)).favourable[(F(0),)]
    assert bounds.low <= F(1, 2 * 1000**count) <= bounds.high


def test_hundreds_of_columns_against_a_plain_convolution() -> None:
    draw = random.Random(7)
    count = 300
    chances = [F(draw.randint(0, 1000), 1000) for _ in range(count)]
    weights = [draw.randint(-20, 20) for _ in range(count)]
    law = network(
        booleans(*(f"x{place}" for place in range(count))),
        [factor(place, bernoulli(chance)) for place, chance in enumerate(chances)],
    )
    found = refinement(asked(law, linear(weights, 10), 0))
    assert found.improve()
    assert found.joint is not None
    unit = 10**40  # masses in whole units, cut off: each of 300 steps loses at most one unit a sum
    for first, key in ((weights[0], F(1)), (0, F(0))):
        sums = {first: unit}
        for weight, chance in zip(weights[1:], chances[1:], strict=True):
            share = int(chance * 1000)
            following: dict[int, int] = {}
            for total, mass in sums.items():
                following[total] = following.get(total, 0) + mass * (1000 - share) // 1000
                following[total + weight] = following.get(total + weight, 0) + mass * share // 1000
            sums = following
        own = chances[0] if key else 1 - chances[0]
        truth = own * F(sum(mass for total, mass in sums.items() if total >= 10), unit)
        bounds = found.joint.favourable[(key,)]
        assert bounds.low <= truth + F(1, 10**30)
        assert truth <= bounds.high
        assert bounds.high - bounds.low < F(1, 10**12)
