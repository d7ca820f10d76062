"""Kernel machines: float64 with its bound against fractions, exact values, ties, and cancellation at its worst."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import Relation
from fairdsl.ir.feature import AttributeInput
from fairdsl.ir.model import ByThreshold, Model, linear_layer, read_attributes
from fairdsl.ir.opaque import Kernel, KernelMachine
from fairdsl.numerics.evaluate import Around, BatchEvaluator, points_of
from fairdsl.numerics.exact import UNDECIDED, decision, enclosed_scores, settled_gap
from tests.drawing import examples
from tests.kernel_strategies import kernel_problems
from tests.oracle import outcome, scores, values_of


def machine_model(
    kernel: Kernel,
    vectors: np.ndarray,
    coefficients: np.ndarray,
    gamma: float = 0.5,
    offset: float = 0.0,
    **terms: float,
) -> Model:
    """``score >= 0`` over attributes that are the features."""
    width = vectors.shape[1]
    identity = [[Fraction(int(i == j)) for j in range(width)] for i in range(width)]
    return Model(
        name="m",
        outcomes=("no", "yes"),
        inputs=tuple(AttributeInput(index) for index in range(width)),
        layers=(linear_layer([[Fraction(1)]], [Fraction(0)]),),
        rule=ByThreshold(relation=Relation.GE, low=Fraction(0), high=Fraction(0), granted=1, otherwise=0),
        opaque=KernelMachine(
            kernel=kernel,
            gamma=gamma,
            coef0=terms.get("coef0", 0.0),
            degree=int(terms.get("degree", 3)),
            features=linear_layer(identity, [Fraction(0)] * width),
            vectors=ExactArray.from_floats(vectors),
            coefficients=ExactArray.from_floats(coefficients.reshape(1, -1)),
            offsets=ExactArray.from_floats([offset]),
        ),
    )


def farthest_off(model: Model, points: np.ndarray) -> float:
    """The greatest part of the bound that float64 uses up; asserts that it keeps the bound."""
    evaluator = BatchEvaluator(model)
    worst = 0.0
    for by_row in (False, True):
        found, errors = evaluator.scores(points, by_row=by_row)
        for point, computed, bound in zip(points_of(points), found[:, 0], errors[:, 0], strict=True):
            exact = enclosed_scores(model, point, 400)
            if not np.isfinite(bound):
                continue  # nothing is known
            off = abs(Fraction(computed) - exact.values[0])
            assert off <= Fraction(bound) + exact.errors[0], (point, float(off), bound)
            worst = max(worst, float(off) / bound)
    return worst


def everybody(problem) -> list[tuple[Fraction, ...]]:
    return list(product(*(values_of(attribute.type) for attribute in problem.domain.attributes)))[:40]


@settings(max_examples=examples(0.4))
@given(kernel_problems())
def test_scores_and_decisions_are_those_of_the_definition(problem) -> None:
    model = problem.model
    individuals = everybody(problem)
    points = np.array([[float(value) for value in point] for point in individuals])
    evaluator = BatchEvaluator(model)
    found, errors = evaluator.scores(points)
    settled = evaluator.settled(points)
    for row, point in enumerate(individuals):
        (exact,) = scores(model, point)
        assert abs(Fraction(found[row, 0]) - exact) <= Fraction(errors[row, 0])
        enclosed = enclosed_scores(model, point)
        assert abs(enclosed.values[0] - exact) <= enclosed.errors[0] + Fraction(1, 2**400)
        if model.opaque.kernel is not Kernel.SIGMOID:
            # Nothing stays open: what is a tie cancels exactly.
            assert settled.decisions[row] == decision(model, point) == outcome(model, point)
        assert settled.decisions[row] in (UNDECIDED, outcome(model, point))


@settings(max_examples=examples(0.4))
@given(kernel_problems(), st.integers(1, 4), st.randoms(use_true_random=False))
def test_rows_that_share_features_are_evaluated_as_each_alone(problem, size, random) -> None:
    """By groups, in approximate arithmetic, and in two halves, with the bound."""
    points = np.array([[float(value) for value in point] for point in everybody(problem)])
    changed = random.randrange(points.shape[1])
    members = np.repeat(points[:, None, :], size, axis=1)
    for member in range(1, size):
        members[:, member, changed] = float(member) if member % 2 else members[:, member, changed] + 1
    evaluator = BatchEvaluator(problem.model)
    flat = members.reshape(-1, points.shape[1])
    alone = np.concatenate([evaluator.approximate(row[None]) for row in flat])
    assert np.allclose(evaluator.together(members), alone, rtol=1e-9, atol=1e-9)
    halves = np.concatenate([members[:, 0], members[:, -1]])
    found, errors = evaluator.scores(halves)
    each, each_errors = zip(*(evaluator.scores(row[None]) for row in halves), strict=True)
    assert (np.abs(found - np.concatenate(each)) <= errors + np.concatenate(each_errors)).all()


@pytest.mark.parametrize("gamma", [1e-6, 0.0025, 1.0, 1e3, 1e8])
@pytest.mark.parametrize("far", [0.0, 1.0, 4096.0, 2.0**30])
def test_the_bound_survives_cancellation(gamma: float, far: float) -> None:
    """Points next to vectors that are far from each other: the squares cancel to next to nothing."""
    rng = np.random.default_rng(4)
    vectors = np.where(rng.random((24, 3)) < 0.5, far, -far) + rng.standard_normal((24, 3)).astype(np.float32)
    vectors = vectors.astype(np.float32).astype(np.float64)
    model = machine_model(Kernel.RBF, vectors, rng.standard_normal(24), gamma)
    step = 2.0**-20 / (1 + gamma)
    farthest_off(model, vectors[:12] + rng.choice([-step, 0.0, step], (12, 3)))


@pytest.mark.parametrize(
    ("kernel", "terms"),
    [(Kernel.POLY, {"degree": 2, "coef0": 1.0}), (Kernel.POLY, {"degree": 5}), (Kernel.SIGMOID, {"coef0": -0.25})],
)
def test_the_bound_of_the_other_kernels(kernel: Kernel, terms: dict[str, float]) -> None:
    rng = np.random.default_rng(5)
    vectors = rng.standard_normal((300, 6)).astype(np.float32).astype(np.float64)
    coefficients = rng.standard_normal(300).astype(np.float32).astype(np.float64)
    model = machine_model(kernel, vectors, coefficients, float(np.float32(0.3)), 0.125, **terms)
    assert farthest_off(model, rng.standard_normal((20, 6)) * 10.0 ** rng.uniform(-2, 3, (20, 1))) > 1e-9


def test_the_bound_of_numbers_whose_squares_vanish() -> None:
    rng = np.random.default_rng(9)
    model = machine_model(Kernel.POLY, rng.standard_normal((40, 3)), rng.standard_normal(40), 1 / 3, degree=1)
    assert farthest_off(model, rng.standard_normal((10, 3)) * 1e-170) > 1e-6


def test_the_bound_of_many_vectors_is_no_more_than_needed() -> None:
    rng = np.random.default_rng(6)
    vectors = rng.integers(0, 40, (3000, 8)).astype(np.float64)
    coefficients = np.where(rng.random(3000) < 0.5, 1.0, -1.0)
    model = machine_model(Kernel.RBF, vectors, coefficients, 0.002)
    points = rng.integers(0, 40, (6, 8)).astype(np.float64)
    found, errors = BatchEvaluator(model).scores(points)
    assert farthest_off(model, points) > 0
    assert errors.max() < 1e-8
    # Approximate scores come from float32 here.
    assert np.abs(BatchEvaluator(model).approximate(points) - found).max() < 1e-2


def test_what_overflows_is_in_doubt_and_settled() -> None:
    model = machine_model(Kernel.POLY, np.array([[1e30, 0.0], [0.0, 1e30]]), np.array([1.0, -1.0]), 1.0, degree=16)
    points = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 3.0]])
    settled = BatchEvaluator(model).settled(points)
    assert settled.decisions.tolist() == [0, 1, 1]
    assert settled.doubled + settled.exactly == 3


def test_ties_are_seen_where_everything_cancels() -> None:
    """Two vectors at the same distance with opposite coefficients; and a vector at the point itself."""
    symmetric = machine_model(Kernel.RBF, np.array([[1.0], [-1.0]]), np.array([0.7, -0.7]))
    assert enclosed_scores(symmetric, (Fraction(0),)).exact
    near = np.array([[0.0], [2.0**-60], [-(2.0**-60)]])
    assert BatchEvaluator(symmetric).settled(near).decisions.tolist() == [1, 1, 0]
    strict = replace(symmetric, rule=replace(symmetric.rule, relation=Relation.GT))
    assert BatchEvaluator(strict).settled(np.array([[0.0]])).decisions.tolist() == [0]
    on_it = machine_model(Kernel.RBF, np.array([[1.0]]), np.array([0.5]), offset=-0.5)
    assert BatchEvaluator(on_it).settled(np.array([[1.0], [1.0 + 2.0**-30]])).decisions.tolist() == [1, 0]


def test_gaps_between_individuals_that_the_machine_cannot_tell_apart() -> None:
    model = machine_model(Kernel.RBF, np.array([[1.0, 0.0]]), np.array([1.0]))
    first = linear_layer([[Fraction(1), Fraction(0)], [Fraction(0), Fraction(0)]], [Fraction(0)] * 2)
    blind = replace(model, opaque=replace(model.opaque, features=first))
    a, b = (Fraction(3), Fraction(0)), (Fraction(3), Fraction(5))
    assert settled_gap(blind, (a, b), Relation.LE, Fraction(0)) is True
    assert settled_gap(model, (a, b), Relation.LE, Fraction(0)) is False
    assert read_attributes(blind) == {0}
    assert read_attributes(model) == {0, 1}


@pytest.mark.parametrize("kernel", [Kernel.RBF, Kernel.POLY, Kernel.SIGMOID])
@pytest.mark.parametrize("count", [30, 2000])
def test_neighbours_are_evaluated_from_what_they_are_around(kernel: Kernel, count: int) -> None:
    """Steps in one feature, scaled; and rows that are not a step at all, for which the centres are of no use."""
    rng = np.random.default_rng(7)
    vectors = rng.integers(0, 9, (count, 4)).astype(float)
    vectors[::3] = vectors[1::3][: len(vectors[::3])]  # some come twice
    model = machine_model(kernel, vectors, rng.standard_normal(count).astype(np.float32), 0.05, degree=2)
    scaled = linear_layer(
        [[Fraction(3, 10 + j) if i == j else Fraction(0) for j in range(4)] for i in range(4)], [Fraction(1, 3)] * 4
    )
    model = replace(model, opaque=replace(model.opaque, features=scaled))
    evaluator = BatchEvaluator(model)
    centres = rng.integers(0, 9, (40, 4)).astype(float)
    owners = np.repeat(np.arange(40), 6)
    rows = centres[owners]
    steps = np.tile([(1, 1.0), (1, -1.0), (2, 1.0), (2, -1.0), (3, 1.0), (3, -1.0)], (40, 1))
    rows[np.arange(240), steps[:, 0].astype(int)] += steps[:, 1]
    members = np.repeat(rows[:, None, :], 2, axis=1)
    members[:, 0, 0], members[:, 1, 0] = 0.0, 1.0
    expected = evaluator.approximate(members.reshape(-1, 4))
    around = Around(centres, owners)
    size = 1 + np.abs(expected).max()
    assert np.abs(evaluator.together(members, around) - expected).max() < 1e-4 * size
    chosen = rng.permutation(240)[:50]
    found = evaluator.together(members[chosen], around.at(chosen))
    assert np.abs(found - expected.reshape(240, 2)[chosen].reshape(-1, 1)).max() < 1e-4 * size
    wrong = Around(centres, owners[::-1].copy())
    assert np.abs(evaluator.together(members, wrong) - expected).max() < 1e-4 * size


@pytest.mark.parametrize("far", [1.0, 40.0, 1e5])
def test_the_sizes_of_terms_are_bounded_from_above(far: float) -> None:
    """In float32 where that is close enough, else in float64; some vectors come twice."""
    rng = np.random.default_rng(8)
    vectors = np.concatenate([rng.integers(0, 9, (50, 3)) * far, np.zeros((2, 3))])
    coefficients = rng.standard_normal(52).astype(np.float32).astype(np.float64)
    coefficients[-1] = -coefficients[-2]  # what cancels are two terms all the same
    model = machine_model(Kernel.RBF, vectors, coefficients, float(np.float32(0.02)))
    points = rng.integers(0, 9, (20, 3)) * far
    evaluator = BatchEvaluator(model)
    assert evaluator.kernel is not None
    bounds = evaluator.kernel.term_sizes(points)
    for point, bound in zip(points_of(points), bounds, strict=True):
        exact = _sizes(model, point)
        assert exact <= Fraction(bound)
        assert float(bound) <= float(exact) * 1.2 + 1e-2


def _sizes(model: Model, point: tuple[Fraction, ...]) -> Fraction:
    """The sum of |c| K over all vectors, those that come twice included twice."""
    machine = model.opaque
    assert isinstance(machine, KernelMachine)
    sizes = np.abs(machine.coefficients.floats[0])
    return enclosed_scores(machine_model(Kernel.RBF, machine.vectors.floats, sizes, machine.gamma), point).values[0]
