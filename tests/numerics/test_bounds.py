"""The bounds contain exact values: of random networks and points, corners, and adversarial cancellation."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import Relation
from fairdsl.ir.model import ByThreshold, Layer, Model
from fairdsl.numerics.bounds import (
    float_layers,
    greatest,
    outward,
    preactivation_bounds,
    upper_lines,
)
from tests.drawing import examples

Vector = list[Fraction]


def model_of(layers: Sequence[Layer]) -> Model:
    rule = ByThreshold(relation=Relation.GT, low=Fraction(0), high=Fraction(0), granted=1, otherwise=0)
    return Model(name="m", outcomes=("no", "yes"), inputs=(), layers=tuple(layers), rule=rule)


def layer_of(weight: object, bias: object, slope: float | Fraction = 0) -> Layer:
    biases = ExactArray.from_fractions(np.array(bias, dtype=object))
    return Layer(
        weight=ExactArray.from_fractions(np.array(weight, dtype=object)),
        bias=biases,
        slope=ExactArray.from_fractions(np.array([Fraction(slope)] * biases.shape[0], dtype=object)),
    )


def exact_preactivations(model: Model, point: Vector) -> list[Vector]:
    """All pre-activations in exact arithmetic, straight from the definition."""
    found, current = [], point
    for layer in model.layers:
        weight, bias, slope = layer.weight.exact, layer.bias.exact, layer.slope.exact
        z = [
            sum((Fraction(w) * x for w, x in zip(row, current, strict=True)), Fraction(b))
            for row, b in zip(weight, bias, strict=True)
        ]
        found.append(z)
        current = [v if v >= 0 else Fraction(s) * v for v, s in zip(z, slope, strict=True)]
    return found


def assert_contains(model: Model, lower: np.ndarray, upper: np.ndarray, points: Sequence[Vector]) -> None:
    bounds = preactivation_bounds(float_layers(model), lower[None], upper[None])
    rows = np.eye(model.score_count)
    lines = upper_lines(float_layers(model), bounds, lower[None], upper[None], rows)
    tops = greatest(lines, lower[None], upper[None])[0]
    for point in points:
        values = exact_preactivations(model, point)
        for found, exact in zip(bounds, values, strict=True):
            for low, high, value in zip(found.low[0], found.high[0], exact, strict=True):
                assert low == -inf or Fraction(float(low)) <= value
                assert high == inf or value <= Fraction(float(high))
        for target, (score, top) in enumerate(zip(values[-1], tops, strict=True)):
            assert top == inf or score <= Fraction(float(top))
            line = Fraction(0)
            if np.isfinite(lines.constants[0, target]):
                line = Fraction(float(lines.constants[0, target]))
                for c, x in zip(lines.coefficients[0, target], point, strict=True):
                    line += Fraction(float(c)) * x
                assert score <= line


def random_network(rng: np.random.Generator, widths: Sequence[int], slope: Fraction, kind: str) -> Model:
    layers = []
    for fan_in, width in itertools.pairwise(widths):
        weight = rng.normal(size=(width, fan_in)) * 10.0 ** rng.integers(-3, 4, size=(width, fan_in))
        bias = rng.normal(size=width)
        if kind == "thirds":
            exact = np.vectorize(lambda v: Fraction(int(v * 7), 3), otypes=[object])
            layers.append(layer_of(exact(weight), exact(bias), slope))
        else:
            weight, bias = weight.astype(np.float32), bias.astype(np.float32)
            layer = Layer(
                weight=ExactArray.from_floats(weight),
                bias=ExactArray.from_floats(bias),
                slope=ExactArray.from_fractions(np.array([slope] * width, dtype=object)),
            )
            layers.append(layer)
    last = layers[-1]
    layers[-1] = Layer(weight=last.weight, bias=last.bias, slope=ExactArray.from_floats(np.ones(last.width)))
    return model_of(layers)


@settings(max_examples=examples(1), deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    widths=st.lists(st.integers(1, 6), min_size=2, max_size=5),
    slope=st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(1)]),
    kind=st.sampled_from(["float32", "thirds"]),
)
def test_contains_exact_values(seed: int, widths: list[int], slope: Fraction, kind: str) -> None:
    rng = np.random.default_rng(seed)
    model = random_network(rng, widths, slope, kind)
    centre = rng.normal(size=widths[0]) * 10.0 ** rng.integers(-2, 3)
    radius = np.abs(rng.normal(size=widths[0])) * rng.integers(0, 2, size=widths[0])
    lower, upper = centre - radius, centre + radius
    points = []
    for _ in range(8):
        shares = rng.integers(0, 3, size=widths[0])  # corners, and the middle
        low, high = ([Fraction(float(x)) for x in v] for v in (lower, upper))
        points.append([a + (b - a) * int(s) / 2 for a, b, s in zip(low, high, shares, strict=True)])
    assert_contains(model, lower, upper, points)


def test_cancellation_is_enclosed() -> None:
    """Trap 10: huge terms that cancel leave a remainder which plain float64 gets wrong."""
    big = Fraction(2**80 + 2**28)
    first = layer_of([[big, 1], [big, Fraction(1, 3)]], [Fraction(0), Fraction(-1, 7)], 1)
    second = layer_of([[1, -1]], [Fraction(0)], 1)
    model = model_of([first, second])
    point = [Fraction(12345678), Fraction(1)]
    box = np.array([12345678.0, 1.0])
    assert_contains(model, box, box, [point])


def test_negative_inputs_and_ties() -> None:
    """Trap 10: negative sides; trap 5: an exact zero is not bounded away from zero."""
    model = model_of([layer_of([[-3, 2]], [1]), layer_of([[1]], [0], 1)])
    lower, upper = np.array([-5.0, -4.0]), np.array([-1.0, 3.0])
    corners = [[Fraction(a), Fraction(b)] for a in (-5, -1) for b in (-4, 3)]
    assert_contains(model, lower, upper, [*corners, [Fraction(-1), Fraction(-2)]])
    *_, scores = preactivation_bounds(float_layers(model), lower[None], upper[None])
    assert scores.low[0, 0] <= 0


def test_sums_of_zeros_stay_exact() -> None:
    """A unit that is provably never negative at zero is known to be stable."""
    model = model_of([layer_of([[2, 3]], [0]), layer_of([[1]], [0], 1)])
    bounds = preactivation_bounds(float_layers(model), np.zeros((1, 2)), np.ones((1, 2)))
    assert bounds[0].low[0, 0] == 0.0


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e300])
def test_underflow_and_overflow_are_enclosed(scale: float) -> None:
    exact = Fraction(scale)
    model = model_of([layer_of([[exact, 1]], [0], Fraction(1, 3)), layer_of([[exact]], [0], 1)])
    lower, upper = np.array([-scale, -scale]), np.array([scale, 2 * scale])
    points = [[Fraction(scale), Fraction(2 * scale)], [Fraction(-scale), Fraction(-scale)]]
    assert_contains(model, lower, upper, points)


def test_unbounded_inputs_spoil_only_their_readers() -> None:
    model = model_of([layer_of([[1, 0], [0, 1]], [0, 0]), layer_of([[1, 0], [1, 1]], [0, 0], 1)])
    lower, upper = np.array([[0.0, -inf]]), np.array([[1.0, inf]])
    bounds = preactivation_bounds(float_layers(model), lower, upper)
    assert bounds[0].low[0].tolist()[1] == -inf
    assert bounds[1].high[0, 0] == pytest.approx(1.0)
    assert bounds[1].high[0, 1] == inf
    lines = upper_lines(float_layers(model), bounds, lower, upper, np.eye(2))
    assert greatest(lines, lower, upper)[0, 1] == inf
    assert greatest(lines, lower, upper)[0, 0] == pytest.approx(1.0)


def test_batches_agree_with_single_boxes() -> None:
    rng = np.random.default_rng(5)
    model = random_network(rng, [3, 5, 4, 2], Fraction(0), "float32")
    lower = rng.normal(size=(7, 3))
    upper = lower + rng.random((7, 3))
    together = preactivation_bounds(float_layers(model), lower, upper)
    for box in range(7):
        alone = preactivation_bounds(float_layers(model), lower[box : box + 1], upper[box : box + 1])
        for one, many in zip(alone, together, strict=True):
            np.testing.assert_allclose(one.low[0], many.low[box], rtol=1e-9)
            np.testing.assert_allclose(one.high[0], many.high[box], rtol=1e-9)


@given(st.fractions(max_denominator=1000), st.fractions(max_denominator=1000))
def test_outward(first: Fraction, second: Fraction) -> None:
    low, high = outward(min(first, second), max(first, second))
    assert Fraction(low) <= min(first, second)
    assert Fraction(high) >= max(first, second)


def test_outward_at_the_ends() -> None:
    assert outward(None, None) == (-inf, inf)
    assert outward(Fraction(10) ** 400, Fraction(10) ** 400) == (1.7976931348623157e308, inf)
