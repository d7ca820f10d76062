"""Error bounds contain the exact scores; decisions are exact once settled."""

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
from fairdsl.ir.model import ByThreshold, Layer, Model
from fairdsl.numerics.evaluate import BatchEvaluator, points_of
from fairdsl.numerics.exact import UNDECIDED, decide, exact_scores
from fairdsl.numerics.rounding import float_above, float_below, quantum_exponent
from fairdsl.numerics.spectral import spectral_norm
from tests.builders import layer, model, score
from tests.oracle import outcome, scores


def contains_exact_scores(rule: Model, rows: np.ndarray) -> None:
    evaluator = BatchEvaluator(rule)
    for by_row in (False, True):
        computed, errors = evaluator.scores(rows, by_row=by_row)
        for row, found, error in zip(points_of(rows), computed, errors, strict=True):
            for true, value, bound in zip(exact_scores(rule, row), found, error, strict=True):
                if np.isfinite(bound) and np.isfinite(value):
                    assert abs(true - Fraction(float(value))) <= Fraction(float(bound))


def network(weights: list[np.ndarray], slope: float = 0.0) -> Model:
    rng = np.random.default_rng(5)
    layers = [
        Layer(
            weight=ExactArray.from_floats(weight),
            bias=ExactArray.from_floats(rng.standard_normal(len(weight)) * 1e-3),
            slope=ExactArray.from_floats(np.full(len(weight), 1.0 if weight is weights[-1] else slope)),
        )
        for weight in weights
    ]
    return Model(
        name="m",
        outcomes=("no", "yes"),
        inputs=tuple(AttributeInput(index) for index in range(weights[0].shape[1])),
        layers=tuple(layers),
        rule=ByThreshold(relation=Relation.GT, low=Fraction(0), high=Fraction(0), granted=1, otherwise=0),
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("slope", [0.0, 0.1])
def test_bounds_hold_under_cancellation(seed: int, slope: float) -> None:
    """Trap: rounding errors forgotten for negative inputs. Mixed signs, huge and tiny weights that cancel."""
    rng = np.random.default_rng(seed)
    big = 10.0 ** rng.uniform(-8, 8, (6, 3)) * rng.choice((-1, 1), (6, 3))
    weights = [np.hstack([big, -big * (1 + 2.0**-50)]), rng.standard_normal((4, 6)), rng.standard_normal((1, 4))]
    rows = rng.standard_normal((40, 3)) * 10.0 ** rng.uniform(-3, 3, (40, 3))
    contains_exact_scores(network(weights, slope), np.hstack([rows, rows]))


@given(st.integers(0, 2**32 - 1))
def test_bounds_hold_for_random_networks(seed: int) -> None:
    rng = np.random.default_rng(seed)
    widths = [3, *rng.integers(1, 6, rng.integers(1, 4)).tolist(), 1]
    weights = [
        (rng.standard_normal((out, into)) * 10.0 ** rng.uniform(-4, 4, (out, into))).astype(np.float32)
        for into, out in pairwise(widths)
    ]
    contains_exact_scores(network(weights, float(rng.choice([0.0, 0.01]))), rng.standard_normal((4, 3)) * 100)


def test_bounds_hold_next_to_overflow_and_underflow() -> None:
    for scale in (1e300, 1e-300, 5e-324, 1e154):
        weights = [np.array([[scale, -scale], [scale, scale]]), np.array([[1.0, -1.0]])]
        contains_exact_scores(network(weights), np.array([[3.0, 1e8], [-1e10, 1e-10], [0.0, 0.0]]))


def test_overflow_leaves_the_decision_to_exact_arithmetic() -> None:
    rule = network([np.array([[1e308, 1e308]]), np.array([[-1e308]])])
    evaluator = BatchEvaluator(rule)
    rows = np.array([[9.0, 9.0], [-9.0, -9.0]])
    assert evaluator.settled(rows).decisions.tolist() == [outcome(rule, row) for row in points_of(rows)]


def test_small_integer_models_are_computed_without_error() -> None:
    """Trap: a score of exactly 0 is decided by the written comparison, and needs no exact arithmetic here."""
    rows = np.array([[1.0, 1.0, 0.0], [-1.0, 2.0, 0.0]])
    hidden = layer([[20, 5, 12], [-2, 7, 4]], [0, 0])
    for relation, expected in ((">", [0, 0]), (">=", [1, 0]), ("<", [0, 1]), ("<=", [1, 1])):
        rule = model(hidden, layer([[1, -5]], [0], 1), attributes=3, relation=relation)
        _, errors = BatchEvaluator(rule).scores(rows)
        assert not errors.any()
        settled = BatchEvaluator(rule).settled(rows)
        assert (settled.decisions.tolist(), settled.exactly) == (expected, 0)


def test_a_decimal_tie_is_settled_exactly_and_once() -> None:
    rule = score(["0.1", "0.2"], "-0.3", ">=")
    settled = BatchEvaluator(rule).settled(np.array([[1.0, 1.0], [1.0, 1.0], [1.0, 0.0]]))
    assert (settled.decisions.tolist(), settled.exactly) == ([1, 1, 0], 1)


def test_a_threshold_between_floats_is_not_rounded() -> None:
    for relation in ("<", "<=", ">", ">="):
        rule = score([1], 0, relation, "1/10")
        rows = np.array([[0.1], [np.nextafter(0.1, 0)], [0.0]])
        assert BatchEvaluator(rule).settled(rows).decisions.tolist() == [outcome(rule, p) for p in points_of(rows)]


def test_inside_an_open_enclosure_nothing_is_decided() -> None:
    rule = ByThreshold(relation=Relation.GE, low=Fraction(1), high=Fraction(2), granted=1, otherwise=0)
    answers = [decide(rule, (Fraction(value),)) for value in ("1/2", "1", "3/2", "2", "3")]
    assert answers == [0, 0, None, 1, 1]
    several = score([1])
    several = Model(name="m", outcomes=("n", "y"), inputs=several.inputs, layers=several.layers, rule=rule)
    settled = BatchEvaluator(several).settled(np.array([[0.5], [1.0], [1.5], [2.0], [3.0]]))
    assert settled.decisions.tolist() == [0, 0, UNDECIDED, 1, 1]


def test_exact_scores_are_those_of_the_definition() -> None:
    rule = model(layer([["1/3", -2], [5, "1/7"]], ["1/2", -1], "1/10"), layer([[3, "-1/5"]], [2], 1), attributes=2)
    where = (Fraction(-3, 4), Fraction(2))
    assert list(exact_scores(rule, where)) == scores(rule, where)


def test_the_spectral_norm_is_bounded_from_above_and_closely() -> None:
    rng = np.random.default_rng(1)
    for shape in ((1, 1), (3, 7), (40, 12), (600, 530)):
        matrix = rng.standard_normal(shape)
        true = float(np.linalg.norm(matrix, 2))
        assert true * (1 - 1e-12) <= spectral_norm(matrix) <= 1.8 * true
    assert spectral_norm(np.zeros((2, 2))) == 0


def test_deep_wide_networks_keep_a_useful_bound() -> None:
    """Elementwise bounds alone explode here; the bound on the norm does not."""
    rng = np.random.default_rng(2)
    widths = [20, *[200] * 9, 1]
    weights = [
        (rng.standard_normal((out, into)) * np.sqrt(2 / into)).astype(np.float32) for into, out in pairwise(widths)
    ]
    _, errors = BatchEvaluator(network(weights)).scores(rng.integers(0, 9, (50, 20)).astype(float))
    assert errors.max() < 1e-4


def test_directed_conversion() -> None:
    tenth = Fraction(1, 10)
    assert Fraction(float_below(tenth)) < tenth < Fraction(float_above(tenth))
    assert float_below(Fraction(1, 2)) == float_above(Fraction(1, 2)) == 0.5
    assert float_above(Fraction(10) ** 400) == np.inf
    assert float_below(Fraction(10) ** 400) == np.finfo(np.float64).max


def test_quantum() -> None:
    assert quantum_exponent(ExactArray.from_floats([3.0, -8.0, 0.0])) == 0
    assert quantum_exponent(ExactArray.from_floats([0.375, 2.0])) == 3
    assert quantum_exponent(ExactArray.from_fractions([Fraction(1, 3)])) is None
