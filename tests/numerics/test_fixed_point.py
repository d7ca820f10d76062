"""Fixed point: exact without truncation, within its bound with it, and the tiers that settle decisions."""

from __future__ import annotations

import gc
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import Relation
from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.model import ByHighest, ByThreshold, DecisionRule, Layer, Model
from fairdsl.numerics import fixed_point
from fairdsl.numerics.evaluate import BatchEvaluator, points_of
from fairdsl.numerics.exact import exact_scores
from fairdsl.numerics.fixed_point import FixedPoint
from fairdsl.numerics.spectral import spectral_norm
from tests.oracle import outcome, scores

ZERO = ByThreshold(relation=Relation.GT, low=Fraction(0), high=Fraction(0), granted=1, otherwise=0)


def network(
    weights: list[np.ndarray], slope: float = 0.0, biases: list[np.ndarray] | None = None, rule: DecisionRule = ZERO
) -> Model:
    biases = [np.zeros(len(weight)) for weight in weights] if biases is None else biases
    return Model(
        name="m",
        outcomes=("no", "yes", "maybe")[: max(2, len(weights[-1]))],
        inputs=tuple(AttributeInput(index) for index in range(weights[0].shape[1])),
        layers=tuple(
            Layer(
                weight=ExactArray.from_floats(weight),
                bias=ExactArray.from_floats(bias),
                slope=ExactArray.from_floats(np.full(len(weight), 1.0 if weight is weights[-1] else slope)),
            )
            for weight, bias in zip(weights, biases, strict=True)
        ),
        rule=rule,
    )


def random_network(rng: np.random.Generator, widths: list[int], slope: float = 0.0, spread: float = 0.0) -> Model:
    """He initialisation in float32; ``spread`` are the decimal orders of magnitude that weights range over."""
    weights, biases = [], []
    for into, out in pairwise(widths):
        size = 10.0 ** rng.uniform(-spread / 2, spread / 2, (out, into))
        weights.append((rng.standard_normal((out, into)) * np.sqrt(2 / into) * size).astype(np.float32))
        biases.append((rng.standard_normal(out) / 10).astype(np.float32))
    return network(weights, slope, biases)


def assert_sound(rule: Model, rows: np.ndarray) -> Fraction:
    """Both lengths against the definition; returns the truncated error bound."""
    fixed = FixedPoint(rule.layers)
    exact, truncated = (fixed.scores(rows, truncated=flag) for flag in (False, True))
    assert exact is not None
    assert truncated is not None
    assert exact.error == 0
    for row, found, near in zip(points_of(rows), exact.rows(), truncated.rows(), strict=True):
        true = tuple(scores(rule, row))
        assert found == true
        assert all(abs(a - b) <= truncated.error for a, b in zip(near, true, strict=True))
    return truncated.error


@pytest.mark.parametrize("slope", [0.0, 1.0, 0.5, float(np.float32(0.01)), float(np.float32(0.2))])
@pytest.mark.parametrize("kept", [8, 40, 120])
def test_random_networks(monkeypatch: pytest.MonkeyPatch, slope: float, kept: int) -> None:
    """With few bits kept the bound is large and truncation real: a bound that forgets something fails."""
    monkeypatch.setattr(fixed_point, "_KEPT", kept)
    rng = np.random.default_rng(kept)
    for spread in (0.0, 6.0):
        rule = random_network(rng, [4, 9, 7, 8, 3], slope, spread)
        rows = np.concatenate(
            [rng.integers(-5, 6, (4, 4)).astype(float), rng.standard_normal((4, 4)), np.zeros((1, 4))]
        )
        error = assert_sound(rule, rows)
        assert error > 0 or kept == 120


@given(st.integers(0, 2**32 - 1))
def test_drawn_networks(seed: int) -> None:
    rng = np.random.default_rng(seed)
    widths = [3, *rng.integers(1, 6, rng.integers(1, 4)).tolist(), int(rng.integers(1, 4))]
    rule = random_network(rng, widths, float(rng.choice([0.0, 0.25])), float(rng.uniform(0, 12)))
    assert_sound(rule, np.round(rng.standard_normal((3, 3)) * 100, int(rng.integers(0, 3))))


@pytest.mark.parametrize("seed", range(4))
def test_cancellation(seed: int) -> None:
    """The scores are 2**-50 of what they are the difference of."""
    rng = np.random.default_rng(seed)
    big = 10.0 ** rng.uniform(-6, 6, (6, 3)) * rng.choice((-1, 1), (6, 3))
    weights = [np.hstack([big, -big * (1 + 2.0**-50)]), rng.standard_normal((4, 6)), rng.standard_normal((1, 4))]
    rows = rng.standard_normal((5, 3))
    assert_sound(network(weights, 0.5), np.hstack([rows, rows]))


def test_denormals_and_extreme_constants() -> None:
    tiny = np.array([[5e-324, -2e-323], [2.0**-1040, 5e-324]])
    assert_sound(network([tiny, np.array([[1.0, -1.0]])]), np.array([[3.0, 1.0], [-2.0, 7.0]]))
    huge = np.array([[1e50, -1e50], [2.0**180, 2.0**160 + 2.0**120]])
    assert_sound(network([huge, np.array([[1.0, -1.0]])]), np.array([[3.0, 1.0], [-2.0, 7.0]]))
    far = [np.eye(2), np.array([[1.0, 1.0]])]
    assert_sound(network(far, biases=[np.array([1e-40, -1e-45]), np.array([-3.0])]), np.array([[3.0, 1.0], [0.0, 0.0]]))


def test_too_wide_a_range_is_left_to_rational_numbers() -> None:
    mixed = network([np.array([[1e100, 1e-100]]), np.array([[1.0]])])
    assert not FixedPoint(mixed.layers).fits
    assert not FixedPoint(network([np.array([[1e300, 0.0]]), np.array([[1.0]])]).layers).fits
    assert not FixedPoint(network([np.eye(2), np.ones((1, 2))], slope=0.1).layers).fits  # 0.1 has 55 bits
    plain = network([np.eye(2), np.ones((1, 2))])
    assert FixedPoint(plain.layers).scores(np.array([[1e100, 1e-100]]), truncated=False) is None
    assert FixedPoint(plain.layers).scores(np.array([[np.inf, 1.0]]), truncated=False) is None


@pytest.mark.parametrize("terms", [1, 2, 63, 64, 65, 1000, 1024, 1025])
def test_the_largest_slices_and_limbs_are_multiplied_without_rounding(terms: int) -> None:
    """Sums at the limit of 2**53: slices of 2**23, limbs of all ones, every sign."""
    for sign in (1.0, -1.0):
        weight = np.full((1, terms), sign * (2.0**47 - 2.0**23 - 1))
        weight[0, 0] = sign * 2.0**23
        wide = network([np.full((terms, 1), 2.0**53 - 1), weight, np.ones((1, 1))], slope=1.0)
        assert_sound(wide, np.array([[1.0], [-1.0], [2.0**53 - 1]]))


def test_wide_exact_scores_are_those_of_the_definition() -> None:
    rule = random_network(np.random.default_rng(3), [6, 100, 90, 1])
    for row in ((1, 38, 0, 1, 1, 0), (0, -3, 1, Fraction(1, 4), 1, 0), (Fraction(1, 3), 3, 1, 0, 1, 0)):
        point = tuple(Fraction(value) for value in row)
        assert list(exact_scores(rule, point)) == scores(rule, point)


def mirrored(rng: np.random.Generator, nudge: float) -> Model:
    """Every unit of the last hidden layer twice with opposite weights: scores are ``nudge`` and nothing else."""
    rule = random_network(rng, [3, *[40] * 6, 1])
    *weights, second, last = (layer.weight.floats for layer in rule.layers)
    *biases, offset, _ = (layer.bias.floats for layer in rule.layers)
    weights += [np.concatenate([second, second]), np.concatenate([last, -last], axis=1)]
    return network(weights, biases=[*biases, np.concatenate([offset, offset]), np.array([nudge])])


@pytest.mark.parametrize(("nudge", "decision"), [(0.0, 0), (2.0**-60, 1), (-(2.0**-60), 0)])
def test_ties_take_exact_arithmetic_and_near_ties_more_digits(nudge: float, decision: int) -> None:
    rule = mirrored(np.random.default_rng(0), nudge)
    rows = np.array([[float(a), float(b), 1.0] for a in range(-3, 4) for b in range(7)] * 2)
    settled = BatchEvaluator(rule).settled(rows)
    assert settled.decisions.tolist() == [decision] * len(rows)
    assert (settled.doubled, settled.exactly) == ((49, 0) if nudge else (0, 49))  # each distinct point once


def test_what_fits_without_truncation_counts_as_exact() -> None:
    shallow = network([np.full((2, 64), 2.0**-20), np.array([[1.0, -1.0]]) * (1 + 2.0**-50)])
    settled = BatchEvaluator(shallow).settled(np.arange(64.0 * 70).reshape(70, 64) / 3)
    assert not settled.decisions.any()
    assert (settled.doubled, settled.exactly) == (0, 70)


@pytest.mark.parametrize("relation", list(Relation))
def test_a_tie_is_decided_by_the_written_comparison(relation: Relation) -> None:
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 9, (3, 3)).astype(float)
    for nudge in (0.0, 2.0**-70):
        made = mirrored(rng, nudge)
        rule = ByThreshold(relation=relation, low=Fraction(0), high=Fraction(0), granted=1, otherwise=0)
        tied = Model(name="m", outcomes=("no", "yes"), inputs=made.inputs, layers=made.layers, rule=rule)
        assert BatchEvaluator(tied).settled(rows).decisions.tolist() == [outcome(tied, row) for row in points_of(rows)]


def test_the_highest_of_three_scores() -> None:
    rng = np.random.default_rng(2)
    hidden, last = rng.standard_normal((80, 3)), rng.standard_normal((1, 80))
    last = np.concatenate([last, last, last])
    for nudges in ((0.0, 0.0, 0.0), (0.0, 2.0**-60, 0.0), (0.0, 2.0**-60, 2.0**-60)):
        made = network([hidden, last], biases=[np.zeros(80), np.array(nudges)], rule=ByHighest())
        rows = rng.integers(-9, 9, (40, 3)).astype(float)
        assert BatchEvaluator(made).settled(rows).decisions.tolist() == [outcome(made, p) for p in points_of(rows)]


def test_what_was_prepared_goes_with_its_layer() -> None:
    rule = random_network(np.random.default_rng(4), [3, 4, 1])
    FixedPoint(rule.layers)
    keys = [id(layer) for layer in rule.layers]
    assert all(key in fixed_point._PREPARED for key in keys)
    del rule
    gc.collect()
    assert not any(key in fixed_point._PREPARED for key in keys)


@pytest.mark.parametrize("scale", [1.0, 1e-300, 1e300, 3e-42])
def test_the_norm_of_large_matrices_is_bounded_in_float32_too(scale: float) -> None:
    ones = np.full((640, 600), scale)
    true = float(np.sqrt(640.0 * 600.0))
    bound = spectral_norm(ones) / scale
    assert true <= bound <= 1.2 * true
    rng = np.random.default_rng(6)
    uneven = rng.standard_normal((600, 520)) * 10.0 ** rng.uniform(-9, 0, (1, 520))
    assert float(np.linalg.norm(uneven, 2)) * (1 - 1e-12) <= spectral_norm(uneven * scale) / scale
