"""What once was a wrong `holds`, or might become one: borders between floats, numbers that overflow or vanish."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.backends.contract import Budget, Facts, Silent
from fairdsl.backends.smt import Smt
from fairdsl.backends.smt.case_bounds import Bounder
from fairdsl.backends.smt.cases import cases
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import And, Compare, opposite
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.model import Layer, Model
from fairdsl.ir.problem import Problem
from fairdsl.numerics.bounds import FloatLayer, LayerBounds, greatest, outward, preactivation_bounds, upper_lines
from fairdsl.numerics.bounds import float_layers as nearest_layers
from fairdsl.numerics.dual import Chain, Multipliers, Space, Targets, upper_bounds
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.verdict import Violated
from tests.builders import BOOLEAN, domain, layer, linear, member, model, problem, real, score
from tests.drawing import examples

ONE = np.ones(1)


def between(first: Compare, second: Compare) -> Problem:
    """A tree in which sex decides about those of whom the first test does not hold and the second one does."""
    man = member(1, 1)
    ways = [(first,), (opposite(first), second, man), (opposite(first), second, opposite(man))]
    ways.append((opposite(first), opposite(second)))
    leaves = tuple(IndicatorInput(And(way)) for way in ways)
    tree = replace(score([0, 1, 0, 0], threshold="1/2"), inputs=leaves, groups=((0, 1, 2, 3),))
    return problem(domain(x=real(0, 1), sex=BOOLEAN), tree, 1)


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (linear({0: 1}, "<", "1/10"), linear({0: 1}, "<=", "1/10")),
        (linear({0: -3}, ">", "-3/10"), linear({0: 2}, "<=", "1/5")),
        (linear({0: 1}, "<=", "1/10"), linear({0: 1}, "<=", Fraction(1, 10) + Fraction(1, 10**30))),
        (linear({0: 1}, "<", "1/2"), linear({0: 1}, "<=", "1/2")),
    ],
)
def test_somebody_between_two_borders_that_no_float_parts(low: Compare, high: Compare) -> None:
    asked = between(low, high)
    assert not all(Bounder(asked.model, case).bound([case.region])[0].settled for case in cases(asked))
    assert isinstance(Smt().answer(asked, Facts(), Budget.of(20.0), Silent()), Violated)


def test_nobody_between_equal_borders() -> None:
    """The same border twice leaves nobody between, which bounds alone can tell."""
    asked = between(linear({0: 1}, "<=", "1/10"), linear({0: -2}, ">=", "-1/5"))
    assert all(Bounder(asked.model, case).bound([case.region])[0].settled for case in cases(asked))


@pytest.mark.parametrize("gradient", [0.3, 1e290, 1e300, -1e300, 1.7e308, np.nan, np.inf])
def test_multipliers_that_overflow_prove_nothing(gradient: float) -> None:
    """``1 + relu(1e12 x + 1e12 y - 4)`` is at least 1, whatever its unit is multiplied with."""
    layers = (FloatLayer(np.full((1, 2), 1e12), np.array([-4.0]), np.zeros(1)), FloatLayer(np.eye(1), ONE, ONE))
    bounds = (LayerBounds(np.array([[-2.1]]), np.array([[2.1]])), LayerBounds(np.array([[0.9]]), np.array([[3.2]])))
    space = Space(
        np.full((1, 2), 1e-12), np.full((1, 2), 3e-12), (), np.zeros((0, 2)), np.zeros(0), np.zeros((1, 0), dtype=bool)
    )
    multipliers = Multipliers(np.eye(1), np.zeros((1, 0)), ((np.array([[gradient]]),),))
    chain = Chain(layers, bounds, np.array([0, 1]))
    assert upper_bounds([chain], Targets((np.eye(1),), np.zeros(1)), space, multipliers)[0] >= 1


@st.composite
def nasty(draw: st.DrawFn) -> Fraction:
    """Whole numbers, decimals, and numbers so large or so small that products overflow or vanish."""
    number = draw(st.builds(Fraction, st.integers(-99, 99), st.sampled_from([1, 1, 7, 10])))
    return number * Fraction(2) ** draw(st.sampled_from([0, 0, 0, -1078, -1070, -1000, -500, -60, 60, 150, 400, 900]))


@st.composite
def nasty_layers(draw: st.DrawFn, inputs: int, outputs: int, slopes: list[Fraction]) -> Layer:
    def numbers(*shape: int) -> ExactArray:
        found = np.empty(shape, dtype=object)
        for cell in np.ndindex(found.shape):
            found[cell] = draw(nasty())
        return ExactArray.from_fractions(found)

    slope = ExactArray.from_fractions([draw(st.sampled_from(slopes)) for _ in range(outputs)])
    return Layer(weight=numbers(outputs, inputs), bias=numbers(outputs), slope=slope)


@st.composite
def nasty_models(draw: st.DrawFn) -> Model:
    widths = [2, *draw(st.lists(st.integers(1, 3), max_size=2))]
    slopes = [Fraction(0), Fraction(1), Fraction(1, 10)]
    hidden = [draw(nasty_layers(n, m, slopes)) for n, m in pairwise(widths)]
    return model(*hidden, draw(nasty_layers(widths[-1], 1, [Fraction(1)])), attributes=2)


def signals(rule: Model, individual: list[Fraction]) -> list[list[Fraction]]:
    """The pre-activations of every layer, exactly."""
    found = []
    for one in rule.layers:
        rows = zip(one.weight.exact, one.bias.exact, strict=True)
        found.append([sum((w * x for w, x in zip(row, individual, strict=True)), Fraction(bias)) for row, bias in rows])
        individual = [max(z, 0) + slope * min(z, 0) for z, slope in zip(found[-1], one.slope.exact, strict=True)]
    return found


def below(bound: float, value: Fraction) -> bool:
    return bound == -np.inf or (np.isfinite(bound) and Fraction(bound) <= value)


@settings(max_examples=examples(1))
@given(nasty_models(), st.data())
def test_bounds_enclose_numbers_of_any_size(rule: Model, data: st.DataObject) -> None:
    ends = [sorted((data.draw(nasty()), data.draw(nasty()))) for _ in range(2)]
    lower, upper = (np.array([side]) for side in zip(*(outward(*pair) for pair in ends), strict=True))
    layers = nearest_layers(rule)
    bounds = preactivation_bounds(layers, lower, upper)
    top = greatest(upper_lines(layers, bounds, lower, upper, np.eye(1)), lower, upper)[0, 0]
    gradients = tuple(np.array([[data.draw(GRADIENTS) for _ in range(len(one.bias))]]) for one in layers[:-1])
    space = Space(lower, upper, (), np.zeros((0, 2)), np.zeros(0), np.zeros((1, 0), dtype=bool))
    multipliers = Multipliers(np.eye(1), np.zeros((1, 0)), (gradients,))
    dual = upper_bounds([Chain(layers, bounds, np.arange(2))], Targets((np.eye(1),), np.zeros(1)), space, multipliers)[
        0
    ]
    for shares in data.draw(st.lists(st.tuples(SHARES, SHARES), min_size=4, max_size=4)):
        found = signals(rule, [low + share * (high - low) for (low, high), share in zip(ends, shares, strict=True)])
        for enclosed, values in zip(bounds, found, strict=True):
            for low, high, value in zip(enclosed.low[0], enclosed.high[0], values, strict=True):
                assert below(low, value)
                assert below(-high, -value)
        assert below(-top, -found[-1][0])
        assert below(-dual, -found[-1][0])


GRADIENTS = st.sampled_from([0.0, 1.0, 0.3, -2.0, 1e-300, 1e300, -1e300, np.nan])
SHARES = st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1)])


def test_a_subnormal_weight_meets_a_huge_input() -> None:
    """``(2^-1074 / 3) x`` for x up to 2^900: as a float the weight is 0, or three times itself."""
    tiny = model(layer_of(Fraction(2) ** -1074 / 3), layer_of(Fraction(1)), attributes=1)
    lower, upper = np.array([[2.0**890]]), np.array([[2.0**900]])
    for bounds in preactivation_bounds(nearest_layers(tiny), lower, upper):
        assert Fraction(bounds.low[0, 0]) <= Fraction(2) ** -184 / 3
        assert Fraction(bounds.high[0, 0]) >= Fraction(2) ** -174 / 3


@pytest.mark.parametrize("share", [Fraction(2, 3), Fraction(4, 5)])
def test_decisions_do_not_rest_on_floats_of_subnormal_weights(share: Fraction) -> None:
    """Both weights are 2^-1074 as floats; the score is that times 2^900, less 3/4 of it."""
    last = layer([[share * Fraction(2) ** -1074]], [Fraction(-3, 4) * Fraction(2) ** -174], 1)
    tiny = model(layer([[0]], [Fraction(2) ** 900]), last, attributes=1)
    assert BatchEvaluator(tiny).settled(np.array([[1.0]])).decisions.tolist() == [int(share > Fraction(3, 4))]


def layer_of(weight: Fraction) -> Layer:
    return Layer(
        weight=ExactArray.from_fractions([[weight]]),
        bias=ExactArray.from_floats([0.0]),
        slope=ExactArray.from_floats(ONE),
    )
