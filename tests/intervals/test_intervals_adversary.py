"""Numbers that vanish, overflow or cancel in float64: what once was certified wrongly, or ended in an exception."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairdsl.backends.contract import Offer, Refusal
from fairdsl.backends.intervals import Intervals
from fairdsl.backends.intervals.kernels.layout import LATTICE, TABLE, Box, Law, Shape
from fairdsl.backends.intervals.lowering import lower
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.model import ByHighest, ByThreshold
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Quantity, Relaxation
from fairdsl.verdict import Holds, Shares
from tests.agreement.engines import ask, disagreement
from tests.builders import BOOLEAN, category, domain, integer, layer, linear, member, model, problem, real, score
from tests.drawing import examples
from tests.intervals.called_parts import law_without, mass_inside, mass_touching, measure_spans
from tests.oracle import truth
from tests.strategies import problems

SHARE = Quantity.FAIR_SHARE
TINY = Fraction(1, 10**400)


def power(exponent: int, factor: object = 1) -> Fraction:
    return Fraction(factor) * Fraction(2) ** exponent


def answered(asked: Problem, seconds: float = 2.0) -> object:
    found = ask(Intervals(), asked, seconds)
    assert found is not None
    return found


# Paths that no float can show


def test_a_path_shorter_than_any_float_is_still_a_path() -> None:
    """x in [0, 1e-400] is granted if x > 0; as floats, all ends of its range are one."""
    asked = problem(domain(x=real(0, TINY), sex=BOOLEAN), score([1, 0]), 0)
    assert (lower(asked).task.moves != 0).any()
    assert not isinstance(answered(asked), Holds)


@pytest.mark.parametrize("number", [TINY, power(-1074, "1/3")], ids=["1e-400", "2^-1074/3"])
def test_no_number_of_a_task_but_zero_is_zero(number: Fraction) -> None:
    hidden, last = layer([[1, 0], [0, 1]], [0, 0], slope=number), layer([[1, 1]], [0], 1)
    asked = problem(domain(x=integer(-2, 2), sex=BOOLEAN), model(hidden, last, attributes=2), 1)
    (slope,) = lower(asked).task.slopes
    assert (slope > 0).all()


def test_units_with_a_slope_that_no_float_shows_pass_paths_on() -> None:
    """Only negative numbers reach the score, times 1e-400: granted to everybody but women with x = 0."""
    hidden, last = layer([[-1, -1]], [0], slope=TINY), layer([[1]], [0], 1)
    asked = problem(domain(x=integer(0, 3), sex=BOOLEAN), model(hidden, last, attributes=2, relation=">="), 1)
    assert disagreement(asked, answered(asked), truth(asked)) is None


def test_rows_of_scores_that_hardly_differ_are_refused() -> None:
    """The differences of scores are what is refined: 1e-400 x, though every weight is about 1."""
    hidden = layer([[1 + TINY, 0], [1, 0]], [0, 0], 1)
    asked = problem(domain(x=integer(0, 3), sex=BOOLEAN), model(hidden, attributes=2), 1)
    asked = replace(asked, model=replace(asked.model, rule=ByHighest(), outcomes=("a", "b")))
    assert isinstance(Intervals().offer(asked), Refusal)


# Products that underflow


def test_slopes_of_products_that_underflow() -> None:
    """The slope in x is 1.5 * 2^-595, as a product of floats 2^-594: unfair for 1/4 < x <= 3/4."""
    first = layer([[power(-518, "3/2"), 0], [0, 1]], [0, 0], 1)
    second = layer([[power(-537), 0], [0, 1]], [0, 0], 1)
    third = layer([[power(460), power(-596, "-3/2")]], [power(-597, "-3/2")], 1)
    people = domain(x=real(0, 1), sex=BOOLEAN)
    found = answered(problem(people, model(first, second, third, attributes=2), 1, quantity=SHARE), 0.5)
    assert isinstance(found, Shares)
    assert found.certified <= Fraction(1, 2) <= 1 - found.falsified


@pytest.mark.parametrize("quantity", [Quantity.HOLDS, SHARE])
def test_zeros_on_a_fibre_shorter_than_any_float(quantity: Quantity) -> None:
    """1e100 x - 5e99 + 2^-830 sex > 0 is unfair for x = 1/2 and hardly anybody else."""
    hidden = layer([[10**100, 0], [0, power(-830)]], [-(10**100) // 2, 0], 1)
    rule = model(hidden, layer([[1, 1]], [0], 1), attributes=2)
    found = answered(problem(domain(x=real(0, 1), sex=BOOLEAN), rule, 1, quantity=quantity), 0.5)
    assert not isinstance(found, Holds)
    assert not isinstance(found, Shares) or found.certified < 1


@pytest.mark.parametrize("count", [100, 150, 230])
def test_a_single_one_of_very_many_is_somebody(count: int) -> None:
    """Tables of 256 values, of which one adds 1 and the others 0: all of them together for one in 256^count."""
    shape = Shape(np.full(count, TABLE), np.full(count, 256), np.arange(count + 1) * 256)
    width = count * 256
    box = Box(np.zeros(width), np.ones(width), np.repeat(2 * np.arange(count), 256))
    entries, spans = np.zeros(600), np.zeros((2, count))
    law = Law(np.zeros((2, 264)), entries.astype(np.int64), entries, np.arange(count + 1), *spans)
    mean = np.tile([*np.zeros(255), 1.0], count)
    measure_spans(shape, law, box, mean)
    side, top, step, spread, lowest = law_without(shape, law, box, mean, -1, 256)
    strip = (law.mass[side], top, step, 0.0, 1.0, False)
    most = mass_touching(*strip, count - lowest - spread, count - lowest + spread, 1e300)
    assert Fraction(most) >= Fraction(1, 256**count)
    everybody = top * step
    least = mass_inside(*strip, everybody - step / 2, everybody + step / 2)
    assert Fraction(least) <= Fraction(1, 256**count)


def test_grids_of_steps_that_are_hardly_floats_stay_within_their_arrays() -> None:
    """A sum of 300 units of 2^-1074 on 232 steps: rounded, a step is one of them, and 300 cells do not fit."""
    shape = Shape(np.array([LATTICE]), np.array([301]), np.array([0, 1]))
    box = Box(np.zeros(1), np.array([300.0]), np.array([-1]))
    entries = np.zeros(600)
    law = Law(np.zeros((2, 600)), entries.astype(np.int64), entries, np.zeros(2, dtype=np.int64), *np.zeros((2, 1)))
    mean = np.array([2.0**-1074])
    measure_spans(shape, law, box, mean)
    _, top, *_ = law_without(shape, law, box, mean, -1, 256)
    assert top < 256


# Numbers beyond floats


def test_more_units_than_floats_can_tell_are_refused() -> None:
    people = domain(**{f"x{number}": BOOLEAN for number in range(1100)}, sex=BOOLEAN)
    rule = score([1] * 1101, -1100)
    assert isinstance(Intervals().offer(problem(people, rule, 1100)), Refusal)
    fewer = domain(**{f"x{number}": BOOLEAN for number in range(900)}, sex=BOOLEAN)
    asked = problem(fewer, score([1] * 901, -900), 900, quantity=SHARE)
    assert isinstance(Intervals().offer(asked), Offer)
    found = answered(asked, 0.5)
    assert isinstance(found, Shares)
    assert found.certified <= 1 - Fraction(1, 2**900)


@pytest.mark.parametrize("kind", [integer(0, 5), real(0, 5)])
def test_relaxations_beyond_any_float(kind: object) -> None:
    relax = (Relaxation(attribute=0, by=Fraction(10) ** 400),)
    asked = problem(domain(x=kind, sex=BOOLEAN), score([1, 1], -30), 1, relax=relax)  # type: ignore[arg-type]
    assert isinstance(answered(asked), Holds)


def test_thresholds_beyond_any_float_are_refused() -> None:
    asked = problem(domain(x=integer(0, 5), sex=BOOLEAN), score([1, 1], threshold=10**400), 1)
    assert isinstance(Intervals().offer(asked), Refusal)


def test_conditions_and_tables_with_numbers_beyond_any_float() -> None:
    far = linear({0: 10**200, 1: -(10**200), 2: Fraction(1, 10**200)}, ">=")
    people = domain(far, x=integer(0, 3), y=integer(0, 3), z=integer(0, 3), sex=BOOLEAN)
    asked = problem(people, score([1, 1, 1, 1], -4), 3, quantity=SHARE)
    assert disagreement(asked, answered(asked), truth(asked)) is None
    hidden, last = layer([[10**100, Fraction(1, 10**240)]], [0]), layer([[1]], [0], 1)
    rule = replace(model(hidden, last, attributes=2), inputs=(IndicatorInput(member(0, 1)), *score([1, 1]).inputs[1:]))
    asked = problem(domain(x=category(0, 1, 2), sex=BOOLEAN), rule, 1, quantity=SHARE)
    assert disagreement(asked, answered(asked), truth(asked)) is None


# Everything at once

FACTORS = st.sampled_from(
    [Fraction(1)] * 6
    + [power(exponent) for exponent in (-1078, -1070, -800, -500, -60, 60, 150, 400)]
    + [Fraction(1, 10), Fraction(1, 10**200), Fraction(1, 10**120), Fraction(10**100)]
)


@st.composite
def scaled(draw: st.DrawFn, array: ExactArray) -> ExactArray:
    """The numbers times factors far from 1: one for all, or each its own."""
    alike = draw(FACTORS) if draw(st.booleans()) else None
    numbers = [Fraction(v) * (draw(FACTORS) if alike is None else alike) for v in array.exact.ravel().tolist()]
    return ExactArray.from_fractions(np.array([*numbers, None], dtype=object)[:-1].reshape(array.shape))


@st.composite
def nasty(draw: st.DrawFn) -> Problem:
    asked = draw(problems())
    stack = [
        replace(each, weight=draw(scaled(each.weight)), bias=draw(scaled(each.bias))) for each in asked.model.layers
    ]
    rule = asked.model.rule
    if isinstance(rule, ByThreshold):
        threshold = rule.low * draw(FACTORS)
        rule = replace(rule, low=threshold, high=threshold)
    return replace(asked, model=replace(asked.model, layers=tuple(stack), rule=rule))


@settings(max_examples=examples(0.7), deadline=None, suppress_health_check=list(HealthCheck))
@given(nasty())
def test_numbers_of_any_size_are_certified_rightly(asked: Problem) -> None:
    found = ask(Intervals(), asked, 1.0)
    assert found is None or disagreement(asked, found, truth(asked)) is None
