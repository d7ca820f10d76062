"""Curved units: values to any precision, float64 within its bound, decisions only where they are proved."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import Relation
from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.model import ByHighest, ByThreshold, Curve, Layer, Model, linear_layer
from fairdsl.numerics.bounds import float_layers
from fairdsl.numerics.curve_values import value_near
from fairdsl.numerics.curves import CURVE_ERROR, SLOPE, bend, derivative, growing
from fairdsl.numerics.evaluate import BatchEvaluator, points_of
from fairdsl.numerics.exact import (
    UNDECIDED,
    Enclosed,
    decide_enclosed,
    decision,
    enclosed_scores,
    exact_scores,
    gap_keeps,
    settled_gap,
    settled_scores,
)
from fairdsl.numerics.forward import Forward, Read
from tests.builders import layer, model
from tests.oracle import bent, outcome, scores

F = Fraction
CURVES = [curve for curve in Curve if curve]
#: Where rounding is worst: around 0, where the curves turn flat, where exp overflows, and tiny numbers.
ADVERSARIAL = [
    *(s * 10.0**e for s in (1, -1) for e in range(-12, 3)),
    *(s * v for s in (1, -1) for v in (0.0, 5e-324, 1e-300, 18.9, 19.1, 36.0, 36.8, 37.5, 708.0, 710.0, 745.2, 1e300)),
]


def curved(weight: object, bias: object, *curves: Curve) -> Layer:
    plain = layer(weight, bias)  # type: ignore[arg-type]
    return Layer(weight=plain.weight, bias=plain.bias, slope=plain.slope, curves=curves)


def far_out(curve: Curve, z: Fraction, limit: int) -> Fraction:
    """The curve at any number: beyond the limit those that grow are z, or 0, but for the logarithm."""
    if curve is Curve.LOG1P:
        return bent(curve, F(0), z)
    near = min(max(z, F(-limit)), F(limit))
    return bent(curve, F(0), near) + (max(z - near, F(0)) if growing(np.array([curve]))[0] else 0)


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("bits", [20, 96, 400])
@given(st.fractions(-300, 300, max_denominator=10**6))
def test_values_are_within_a_unit(curve: Curve, bits: int, z: Fraction) -> None:
    found = F(value_near(curve, z.numerator, z.denominator, bits), 2**bits)
    assert abs(found - bent(curve, F(0), z)) <= F(1, 2**bits) + F(1, 2**440)


@pytest.mark.parametrize("curve", CURVES)
def test_values_at_the_edges(curve: Curve) -> None:
    for z in (F(0), F(1, 10**40), F(-1, 10**40), F(97), F(-97), F(-96), F(67), F(10**30), F(-(10**30))):
        found = F(value_near(curve, z.numerator, z.denominator, 96), 2**96)
        assert abs(found - far_out(curve, z, 400)) <= F(1, 2**96) + F(1, 2**440)
    if curve is not Curve.SOFTPLUS:
        assert F(value_near(curve, 0, 1, 96), 2**96) == (F(1, 2) if curve is Curve.SIGMOID else 0)


@pytest.mark.parametrize("curve", CURVES)
def test_float64_curves_keep_their_bound(curve: Curve) -> None:
    rng = np.random.default_rng(3)
    count = 600 if curve in (Curve.SIGMOID, Curve.TANH) else 150
    rows = np.concatenate([ADVERSARIAL, rng.standard_normal(count) * 10.0 ** rng.uniform(-3, 2, count)])
    with np.errstate(all="ignore"):
        found = bend(rows, curve)
    for z, value in zip(rows.tolist(), found.tolist(), strict=True):
        true = far_out(curve, F(z), 2000)
        size = 1 + abs(F(z)) if growing(np.array([curve]))[0] else abs(true)
        assert abs(F(value) - true) <= F(CURVE_ERROR) * size + F(1, 2**440) + F(10) ** -300


@pytest.mark.parametrize("curve", CURVES)
def test_no_curve_is_steeper_than_is_said(curve: Curve) -> None:
    rows = np.linspace(-12, 12, 24001)
    steep = derivative(rows, curve)
    assert 0.99 * SLOPE[curve] <= np.abs(steep).max() <= SLOPE[curve]
    between = np.diff(bend(rows, curve)) / np.diff(rows)
    off = np.abs(between - (steep[1:] + steep[:-1]) / 2)
    corners = {Curve.HARD_SWISH: 2, Curve.LOG1P: 1}
    assert np.count_nonzero(off > 1e-3) == corners.get(curve, 0)


def random_network(rng: np.random.Generator, widths: list[int]) -> Model:
    layers = []
    for place, (into, out) in enumerate(pairwise(widths)):
        last = place == len(widths) - 2
        curves = () if last else tuple(Curve(code) for code in rng.integers(0, len(Curve), out).tolist())
        slopes = [
            1.0 if last else 0.0 if curve else float(rng.choice([0.0, 0.1, 1.0])) for curve in curves or [0] * out
        ]
        weight = rng.standard_normal((out, into)) * 10.0 ** rng.uniform(-2, 2, (out, into))
        layers.append(
            Layer(
                weight=ExactArray.from_floats(weight),
                bias=ExactArray.from_floats(rng.standard_normal(out)),
                slope=ExactArray.from_floats(slopes),
                curves=curves,
            )
        )
    return Model(
        name="m",
        outcomes=("no", "yes"),
        inputs=tuple(AttributeInput(index) for index in range(widths[0])),
        layers=tuple(layers),
        rule=ByThreshold(relation=Relation.GT, low=F(0), high=F(0), granted=1, otherwise=0),
    )


@given(st.integers(0, 2**32 - 1))
def test_bounds_and_enclosures_hold_for_random_networks(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rule = random_network(rng, [3, *rng.integers(1, 5, rng.integers(1, 4)).tolist(), 1])
    rows = rng.standard_normal((3, 3)) * 10.0 ** rng.uniform(-2, 2, (3, 3))
    evaluator = BatchEvaluator(rule)
    true = [scores(rule, point)[0] for point in points_of(rows)]
    for by_row in (False, True):
        found, errors = evaluator.scores(rows, by_row=by_row)
        for value, error, score in zip(found[:, 0].tolist(), errors[:, 0].tolist(), true, strict=True):
            assert abs(F(value) - score) <= F(error)
    for point, score in zip(points_of(rows), true, strict=True):
        for bits in (40, 96, 300):
            enclosed = enclosed_scores(rule, point, bits)
            assert abs(enclosed.values[0] - score) <= enclosed.errors[0] + F(1, 2**400)
            assert enclosed.errors[0] <= F(10**9, 2**bits)


@pytest.mark.parametrize("curve", CURVES)
def test_the_rounding_of_a_curve_is_in_the_bound(curve: Curve) -> None:
    """Next to 0 the pre-activation is as good as exact: what is left is the rounding of the curve."""
    layers = [curved([[1]], [0], curve)]
    rows = np.random.default_rng(4).standard_normal((300, 1)) * 1e-9
    for by_row in (False, True):
        found, errors = Forward(layers).bounded(Read.of(rows), by_row=by_row)
        for (z,), (value,), (error,) in zip(rows.tolist(), found.tolist(), errors.tolist(), strict=True):
            assert abs(F(value) - bent(curve, F(0), F(z))) <= F(error)


@pytest.mark.parametrize(("curve", "steepest"), [(Curve.SIGMOID, F(1, 4)), (Curve.TANH, F(1))])
def test_a_curve_passes_the_radius_on_with_its_steepest_slope(curve: Curve, steepest: Fraction) -> None:
    """The second unit works at its steepest point, on what the first one rounded, a thousandfold."""
    for x in (F(1, 3), F(-2, 7), F(5, 9), F(1, 11), F(-3, 5)):
        near = F(round(bent(Curve.TANH, F(0), x), 6))
        hidden = curved([[1000]], [-1000 * near], curve)
        rule = model(curved([[1]], [0], Curve.TANH), hidden, layer([[1]], [0], 1), attributes=1)
        enclosed = enclosed_scores(rule, (x,), 20)
        assert abs(enclosed.values[0] - scores(rule, (x,))[0]) <= enclosed.errors[0]
        assert enclosed.errors[0] == (1000 * steepest + 1) / 2**20


def test_float_bounds_are_useful() -> None:
    rng = np.random.default_rng(1)
    rule = random_network(rng, [10, 40, 40, 40, 1])
    _, errors = BatchEvaluator(rule).scores(rng.standard_normal((50, 10)))
    assert 0 < errors.max() < 1e-3


def test_a_saturated_unit_is_told_from_one() -> None:
    """3 tanh(60) - 3 is about -1e-51: float64 has a zero, and only more bits show the sign."""
    rule = model(curved([[1]], [0], Curve.TANH), layer([[3]], [-3], 1), attributes=1, relation=">=")
    rows = np.array([[60.0], [100.0], [0.5]])
    settled = BatchEvaluator(rule).settled(rows)
    assert (settled.decisions.tolist(), settled.exactly) == ([0, 0, 0], 2)
    assert decision(rule, (F(60),)) == outcome(rule, (F(60),)) == 0
    assert decision(rule, (F(500),)) is None  # 1 - tanh(500) is below any precision that is tried
    assert BatchEvaluator(rule).settled(np.array([[500.0]])).decisions.tolist() == [UNDECIDED]


def test_ties_that_are_rational_stay_ties() -> None:
    for relation, expected in ((">", 0), (">=", 1), ("<", 0), ("<=", 1)):
        for curve, at_zero in ((Curve.TANH, F(0)), (Curve.SIGMOID, F(1, 2))):
            hidden = curved([["1/3", "-2/3"]], [0], curve)
            rule = model(hidden, layer([[2]], [0], 1), attributes=2, relation=relation, threshold=2 * at_zero)
            assert BatchEvaluator(rule).settled(np.array([[2.0, 1.0]])).decisions.tolist() == [expected]


def test_a_tie_behind_two_curves_stays_open() -> None:
    rule = model(curved([[1], [-1]], [0, 0], *[Curve.TANH] * 2), layer([[1, 1]], [0], 1), attributes=1, relation=">=")
    found, decided = settled_scores(rule, (F(1),))
    assert decided is None
    assert 0 < found.errors[0] < F(1, 2**390)
    assert BatchEvaluator(rule).settled(np.array([[1.0], [0.0]])).decisions.tolist() == [UNDECIDED, 1]


def test_the_highest_of_several() -> None:
    def known(*entries: tuple[object, object]) -> Enclosed:
        return Enclosed(tuple(F(str(v)) for v, _ in entries), tuple(F(str(e)) for _, e in entries))

    rule = ByHighest()
    assert decide_enclosed(rule, known((1, 0.1), (2, 0.1), (1.5, 0.2))) == 1
    assert decide_enclosed(rule, known((1, 0.1), (1.1, 0.1), (0, 0))) is None
    assert decide_enclosed(rule, known((1, 0.1), (0.8, 0.1))) == 0  # at worst a tie, which goes to the first
    assert decide_enclosed(rule, known((0.8, 0.1), (1, 0.1))) is None
    assert decide_enclosed(rule, known((1, 0), (1, 0))) == 0


def test_thresholds_against_enclosures() -> None:
    def at(value: object, error: object, relation: str, low: object, high: object) -> int | None:
        rule = ByThreshold(relation=Relation(relation), low=F(str(low)), high=F(str(high)), granted=1, otherwise=0)
        return decide_enclosed(rule, Enclosed((F(str(value)),), (F(str(error)),)))

    for relation in (">", ">=", "!="):
        assert [at(v, 0.5, relation, 1, 1) for v in (0, 1, 2)] == [int(relation == "!="), None, 1]
    for relation in ("<", "<=", "="):
        assert [at(v, 0.5, relation, 1, 1) for v in (0, 1, 2)] == [int(relation != "="), None, 0]
    assert [at(v, 0.5, ">", 1, 2) for v in (0, 0.75, 1.5, 2.75)] == [0, None, None, 1]


def test_gaps() -> None:
    one, two = Enclosed((F(1),), (F(1, 10),)), Enclosed((F(3),), (F(1, 10),))
    limits = {"3/2": False, "2": None, "5/2": True}
    for limit, kept in limits.items():
        assert gap_keeps(one, two, Relation.LE, F(limit)) is gap_keeps(two, one, Relation.LT, F(limit)) is kept
    assert gap_keeps(one, one, Relation.LE, F(0)) is None
    rule = model(curved([[1, 0]], [0], Curve.SIGMOID), layer([[1]], [0], 1), attributes=2)
    # The second attribute is not read: equal scores, which no enclosure shows.
    assert settled_gap(rule, ((F(1), F(2)), (F(1), F(3))), Relation.LE, F(0)) is True
    assert settled_gap(rule, ((F(1), F(2)), (F(1), F(3))), Relation.LT, F(0)) is False
    assert settled_gap(rule, ((F(50), F(0)), (F(51), F(0))), Relation.LE, F(1, 10**20)) is True
    assert settled_gap(rule, ((F(100), F(0)), (F(101), F(0))), Relation.LE, F(0)) is False
    assert settled_gap(rule, ((F(1), F(0)), (F(-1), F(0))), Relation.LE, F("0.4621171572600097585")) is False


def test_layers_know_their_curves() -> None:
    mixed = curved([[1], [1]], [0, 0], Curve.LEAKY, Curve.TANH)
    assert (mixed.rational, mixed.linear.tolist(), mixed.curve_codes.tolist()) == (False, [False, False], [0, 2])
    assert curved([[1], [1]], [0, 0], Curve.LEAKY, Curve.LEAKY) == layer([[1], [1]], [0, 0])
    assert curved([[1], [1]], [0, 0], Curve.LEAKY, Curve.TANH) != layer([[1], [1]], [0, 0])
    assert linear_layer([[F(1)]], [F(0)]).rational
    with pytest.raises(ValueError, match="1 curves for 2 units"):
        curved([[1], [1]], [0, 0], Curve.TANH)


def test_what_needs_straight_pieces_says_so() -> None:
    rule = model(curved([[1]], [0], Curve.SIGMOID), layer([[1]], [0], 1), attributes=1)
    with pytest.raises(ValueError, match="rational"):
        exact_scores(rule, (F(1),))
    with pytest.raises(ValueError, match="piecewise-linear"):
        float_layers(rule)
