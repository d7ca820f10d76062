"""Ensembles as arrays: scores and what is derived of them, against naive walks of the trees a file was made of."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from model_files import SPAN, declaration, domain, node, saved
from tree_files import MODES, Tree, forests, regressor, sums, tree_file

from fairdsl.ir.declaration import WhenScore
from fairdsl.ir.domain import Category, CategoryValue, Integer, Real
from fairdsl.ir.ensemble import Ensemble, Inputs, joined
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import TRUE, Member, Relation, Variable, variables
from fairdsl.ir.model import Model, read_attributes
from fairdsl.ir.tree_shape import TreeShape
from fairdsl.models import load_model
from fairdsl.numerics.exact import exact_scores
from fairdsl.numerics.leaves import Leaves
from fairdsl.numerics.listed_leaves import read_listed
from fairdsl.numerics.predicates import holds_for

ORDERED = [mode for mode in MODES if mode not in ("BRANCH_EQ", "BRANCH_NEQ")]
SCORE = WhenScore(outcome=1, relation=Relation.GT, threshold=Fraction(1, 4), span=SPAN)
CODES = Category(values=tuple(CategoryValue(name=str(code), code=code) for code in (-1, 2, 5)))
COLUMNS = (Integer(low=-1, high=5), CODES, Real(low=Fraction(-1), high=None))
#: Values of each attribute, some of them no floats, and all borders among them.
VALUES = (
    [Fraction(value) for value in range(-1, 6)],
    [Fraction(value) for value in (-1, 2, 5)],
    [*(Fraction(value, 2) for value in range(-2, 13)), Fraction(1, 3), Fraction(10**17 + 1, 10**17), Fraction(0.1)],
)
QUICK = settings(
    max_examples=max(10, settings.default.max_examples // 4),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def some_points(seed: int, count: int = 40) -> list[tuple[Fraction, ...]]:
    rng = np.random.default_rng(seed)
    return [tuple(values[int(rng.integers(len(values)))] for values in VALUES) for _ in range(count)]


def opened(forest: list[Tree], folder: Path, scaled: bool, columns: Any = COLUMNS) -> Model:
    """The file as a model; ``scaled``: features are scaled first, so attributes are compared with no floats."""
    nodes = [regressor(forest, source="z" if scaled else "x")]
    if scaled:
        nodes.insert(0, node("Scaler", ["x"], ["z"], domain="ai.onnx.ml", offset=[0.5] * 3, scale=[1 / 3, -0.5, 3.0]))
    made = domain("age", "code", "debt")
    attributes = (replace(each, type=kind) for each, kind in zip(made.attributes, columns, strict=True))
    people = replace(made, attributes=tuple(attributes))
    return load_model(declaration(saved(tree_file(nodes, ["y"]), folder), SCORE), people)


@QUICK
@given(forest=forests(), scaled=st.booleans(), seed=st.integers(0, 2**32))
def test_scores_are_those_of_the_file(forest: list[Tree], scaled: bool, seed: int, tmp_path: Path) -> None:
    model = opened(forest, tmp_path, scaled)
    factors = [Fraction(float(np.float32(scale))) for scale in (1 / 3, -0.5, 3.0)]
    points = some_points(seed)
    for point in points:
        row = [(x - Fraction(1, 2)) * f for x, f in zip(point, factors, strict=True)] if scaled else list(point)
        assert exact_scores(model, point) == tuple(sums(forest, row, 1))


@QUICK
@given(forest=forests(), scaled=st.booleans(), seed=st.integers(0, 2**32))
def test_what_is_derived_of_an_ensemble(forest: list[Tree], scaled: bool, seed: int, tmp_path: Path) -> None:
    """Of each tree exactly one leaf's predicate holds, the one that is reached; and the leaves make the same trees."""
    model = opened(forest, tmp_path, scaled)
    if model.ensemble is None:
        assert not model.one_of
        return
    leaves, inputs = Leaves.of(model), model.inputs
    assert isinstance(inputs, Inputs)
    assert len(tuple(inputs)) == len(inputs) == model.layers[0].weight.shape[1]
    listed = read_listed(tuple(inputs), model.one_of)
    assert listed.groups == leaves.groups
    shape, again = leaves.ensemble.shape, listed.ensemble.shape
    assert [shape.yes.tolist(), shape.no.tolist()] == [again.yes.tolist(), again.no.tolist()]
    reached = leaves.reached(np.array([[float(value) for value in point] for point in some_points(seed)]))
    for point, positions in zip(some_points(seed), reached.tolist(), strict=True):
        exact = leaves.reached_exactly(point)
        for group, position in zip(leaves.groups, exact, strict=True):
            assert [place for place in group if holds_for(inputs[place].predicate, point)] == [position]  # type: ignore[union-attr]
        if all(Fraction(float(value)) == value for value in point):
            assert positions == exact
    weighed = np.flatnonzero(model.layers[0].weight.nonzero.any(axis=0))
    tested = {
        variable.attribute
        for place in weighed.tolist()
        for part in inputs[place].predicate.parts  # type: ignore[union-attr]
        for variable in variables(part)
    }
    assert read_attributes(model) == frozenset(tested)


@QUICK
@given(forest=forests(modes=ORDERED))
def test_every_leaf_that_is_left_is_reached_by_somebody(forest: list[Tree], tmp_path: Path) -> None:
    """Of whole numbers that are compared one by one nothing is left that nobody reaches."""
    model = opened(forest, tmp_path, scaled=False, columns=[Integer(low=-1, high=5)] * 3)
    leaves = Leaves.of(model)
    everybody = np.array(list(product(range(-1, 6), repeat=3)), dtype=np.float64)
    assert set(leaves.reached(everybody).ravel().tolist()) == {place for group in leaves.groups for place in group}
    assert all(len(group) > 1 for group in leaves.groups)


def nested(rng: np.random.Generator, depth: int) -> Any:
    """A tree as pairs of trees."""
    return (nested(rng, depth - 1), nested(rng, depth - 1)) if depth and rng.random() < 0.7 else ()


@given(seed=st.integers(0, 2**32))
def test_nodes_in_any_order_are_put_in_preorder(seed: int) -> None:
    rng = np.random.default_rng(seed)
    forest = [nested(rng, 4) for _ in range(int(rng.integers(1, 4)))]
    sides: list[list[int]] = []

    def listed(tree: Any) -> int:
        sides.append([])
        own = len(sides) - 1
        sides[own] = [listed(side) for side in tree] or [own, own]
        return own

    starts = [listed(tree) for tree in forest]
    place = rng.permutation(len(sides))
    yes, no = (np.empty(len(sides), dtype=np.int64) for _ in range(2))
    yes[place], no[place] = place[[side[0] for side in sides]], place[[side[1] for side in sides]]
    shape, before = TreeShape.in_order(place[starts], yes, no)
    # `listed` goes down in preorder, so its own numbers are what has to come out.
    assert shape.roots.tolist() == starts
    assert [[int(a), int(b)] for a, b in zip(shape.yes, shape.no, strict=True)] == sides
    assert before.tolist() == place.tolist()
    assert shape.leaf_nodes.tolist() == [own for own, side in enumerate(sides) if side == [own, own]]
    for node_ in range(shape.nodes):
        here = shape.roots[np.searchsorted(shape.roots, node_, side="right") - 1]
        for above, holds in shape.way(node_):
            assert above == here
            here = shape.yes[above] if holds else shape.no[above]
        assert here == node_
        inside = [leaf for leaf in shape.leaf_nodes.tolist() if node_ in {leaf, *(up for up, _ in shape.way(leaf))}]
        marked = rng.random(shape.leaves) < 0.3
        assert shape.any_below(marked)[node_] == any(marked[shape.leaf[leaf]] for leaf in inside)


def stump(column: int, threshold: Fraction, tests: tuple[Any, ...] = ()) -> Ensemble:
    shape = TreeShape(np.array([0]), np.array([1, 1, 2]), np.array([2, 1, 2]))
    numbers = ExactArray.from_fractions([threshold, Fraction(0), Fraction(0)])
    return Ensemble(shape, np.array([column, 0, 0]), np.zeros(3, dtype=np.int8), numbers, tests)


def test_joined_ensembles_share_predicates() -> None:
    test, other = TRUE, Member(variable=Variable(0), values=frozenset({Fraction(1)}))
    both = joined([stump(-1, Fraction(1, 2), (test,)), stump(-2, Fraction(1, 3), (test, other)), stump(4, Fraction(2))])
    assert both.tests == (test, other)
    assert both.columns[both.shape.inner].tolist() == [-1, -2, 4]
    assert [both.threshold(node_) for node_ in both.shape.roots.tolist()] == [Fraction(1, 2), Fraction(1, 3), 2]
    assert both.attributes_above(np.array([False] * 2 + [True] * 4)) == {0, 4}
    assert joined([both]) == both
    assert joined([both]) != joined([both, both])
