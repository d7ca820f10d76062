"""What is said of one box of many trees, before it is cut: everybody in it is evaluated beside."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fairdsl.backends.leaf_boxes import forest, rest
from fairdsl.backends.leaf_boxes.kernels.counting import COUNTED
from fairdsl.backends.leaf_boxes.kernels.records import COUNTED as BY_PARTS
from fairdsl.backends.leaf_boxes.kernels.records import FAIR, UNFAIR, Trees
from fairdsl.backends.leaf_boxes.lowering import lower
from fairdsl.backends.leaf_boxes.refinement import Refinement
from fairdsl.backends.leaf_boxes.task import task_of
from fairdsl.ir.expr import And, Relation, opposite
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.model import ByThreshold
from fairdsl.ir.problem import Problem
from tests.builders import layer, linear, member
from tests.drawing import examples
from tests.leaf_boxes.test_many_trees import many

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Looked:
    """A box, its ends before anything was peeled off it, and what was found."""

    descent: Refinement
    low: NDArray[np.int64]
    high: NDArray[np.int64]

    def scores(self, low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.int64]:
        """Of everybody in a box, [parts of each axis, assignments]."""
        sides = [range(a, b) for a, b in zip(low, high, strict=True)]
        units = np.array(list(product(*sides)), dtype=np.int64)
        return rest._scores(self.descent.task, units).reshape(*map(len, sides), -1)

    def bounded(self, low: NDArray[np.int64], high: NDArray[np.int64]) -> NDArray[np.int64]:
        """Of everybody in a box the sums that means and variances are of, [parts of each axis, sums], tree by tree."""
        sides, trees = [range(a, b) for a, b in zip(low, high, strict=True)], self.descent.task.trees
        units = np.array(list(product(*sides)), dtype=np.int64)
        values = np.array([[value_of(trees, int(root), units) for root in row] for row in trees.roots])
        own = self.descent._scores.own
        sums = values.sum(axis=1) if own else np.array([values.min(axis=0).sum(axis=0), values.max(axis=0).sum(axis=0)])
        return sums.T.reshape(*map(len, sides), -1)

    def sizes(self, low: NDArray[np.int64], high: NDArray[np.int64]) -> list[Floats]:
        """The share of each part of each axis."""
        sums = self.descent.task.trees.sums
        parts = [np.diff(sums[axis, a : b + 1]) for axis, (a, b) in enumerate(zip(low, high, strict=True))]
        return [each / each.sum() for each in parts]

    def fair(self, scores: NDArray[np.int64]) -> NDArray[np.bool_]:
        below, above = self.descent.task.trees.limits
        return np.asarray((scores >= above).all(axis=-1) | (scores <= below).all(axis=-1), dtype=np.bool_)


def value_of(trees: Trees, root: int, units: NDArray[np.int64]) -> NDArray[np.int64]:
    """What a tree adds, of each unit, all axes ordered."""
    nodes, rows = np.full(len(units), root), np.arange(len(units))
    while (inner := trees.axis[nodes] >= 0).any():
        passing = units[rows, trees.axis[nodes]] < trees.cut[nodes]
        nodes = np.where(inner, np.where(passing, trees.yes[nodes], trees.no[nodes]), nodes)
    return np.asarray(trees.value[nodes])


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and a box; whether few trees are made one, how few leaves counted.

    ``own``: means are of each assignment's score, as where the least and the greatest sum would have too many leaves.
    """

    question: Problem
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    merging: bool
    counting: int
    own: bool

    def looked_at(self) -> Looked:
        """By everything that there is."""
        descent = begun(self.question, merging=self.merging, own=self.own)
        boxes = descent._boxes
        boxes.low[0], boxes.high[0] = self.low, self.high
        boxes.pace[COUNTED] = self.counting
        descent._refine(0, 1)
        return Looked(descent, self.low, self.high)

    def mirrored(self) -> Asked:
        """The same with all signs changed: whoever was above is below."""
        model = self.question.model
        assert isinstance(model.rule, ByThreshold)
        rule = replace(model.rule, relation=Relation.LT, low=-model.rule.low, high=-model.rule.high)
        weights = layer([[-weight for weight in model.layers[0].weight.exact[0]]], [0], 1)
        return replace(self, question=replace(self.question, model=replace(model, layers=(weights,), rule=rule)))


def begun(question: Problem, *, merging: bool, own: bool = False) -> Refinement:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forest, "_LONGER", 0 if own else 2**20)
        if not merging:
            patch.setattr(forest, "merged", lambda trees, ordered: list(trees))
        found = forest.forest_of(lower(question, question.question))  # type: ignore[arg-type]
    assert found is not None
    return Refinement.start(found, memory=2**20)


def with_deep(question: Problem, trees: int, seed: int) -> Problem:
    """With trees of three tests besides, the same of each of them or not: only what they add differs."""
    model, rng = question.model, np.random.default_rng(seed)
    width, borders = len(question.domain.attributes), len(question.domain.attributes[1].values) - 1
    inputs, groups, weights = list(model.inputs), list(model.groups), list(model.layers[0].weight.exact[0])
    columns, same = 1 + rng.permutation(width - 1)[:3], rng.random() < 0.5
    tests = [linear({int(column): 1}, "<=", int(rng.integers(0, borders))) for column in columns]
    for _ in range(trees):
        if not same:
            tests = [linear({int(column): 1}, "<=", int(rng.integers(0, borders))) for column in columns]
        groups.append(tuple(range(len(inputs), len(inputs) + 8)))
        inputs += [IndicatorInput(And(way)) for way in product(*((test, opposite(test)) for test in tests))]
        weights += [Fraction(int(value), 64) for value in rng.integers(-64, 65, size=8)]
    layers = (layer([weights], [0], 1),)
    return replace(question, model=replace(model, inputs=tuple(inputs), groups=tuple(groups), layers=layers))


def with_parted(question: Problem, trees: int, seed: int) -> Problem:
    """With trees besides that test the protected attribute first, and then different ones, each with its values."""
    model, rng = question.model, np.random.default_rng(seed)
    width, borders = len(question.domain.attributes), len(question.domain.attributes[1].values) - 1
    inputs, groups, weights = list(model.inputs), list(model.groups), list(model.layers[0].weight.exact[0])
    for _ in range(trees):
        start = len(inputs)
        for protected in (member(0, 1), opposite(member(0, 1))):
            columns = 1 + rng.permutation(width - 1)[: int(rng.integers(1, 4))]
            tests = [linear({int(column): 1}, "<=", int(rng.integers(0, borders))) for column in columns]
            ways = product(*((test, opposite(test)) for test in tests))
            inputs += [IndicatorInput(And((protected, *way))) for way in ways]
        groups.append(tuple(range(start, len(inputs))))
        weights += [Fraction(int(value), 64) for value in rng.integers(-64, 65, size=len(inputs) - start)]
    layers = (layer([weights], [0], 1),)
    return replace(question, model=replace(model, inputs=tuple(inputs), groups=tuple(groups), layers=layers))


def at_threshold(asked: Asked, rank: float) -> Asked:
    """With the score of somebody in the box for a threshold: of the lowest one, of the highest, or between."""
    question, model = asked.question, asked.question.model
    descent, task = begun(question, merging=True), task_of(lower(question, question.question))  # type: ignore[arg-type]
    assert task is not None
    scores = np.sort(Looked(descent, asked.low, asked.high).scores(asked.low, asked.high), axis=None)
    score = Fraction(int(scores[round(rank * (len(scores) - 1))]), task.denominator)
    assert isinstance(model.rule, ByThreshold)
    rule = replace(model.rule, low=score, high=score)
    return replace(asked, question=replace(asked.question, model=replace(model, rule=rule)))


@st.composite
def boxes(draw: st.DrawFn, counting: int = 0) -> Asked:
    """A box of a random forest, from a single unit to everybody; the threshold is the score of somebody in it."""
    columns, values = draw(st.sampled_from([(4, 3), (4, 4), (4, 5), (4, 6), (6, 3)]))
    seed = draw(st.integers(0, 10**6))
    question = many(draw(st.integers(2, 40)), columns, seed, values)
    question = with_deep(question, draw(st.sampled_from([0, 0, 2, 3])), seed)
    question = with_parted(question, draw(st.sampled_from([0, 1, 4])), seed)
    ends = []
    widest = draw(st.sampled_from([1, 2, 6, 6]))
    for whole in begun(question, merging=True)._boxes.high[0].tolist():
        width = min(whole, draw(st.sampled_from([widest, max(1, widest - 1)])))
        low = draw(st.integers(0, whole - width))
        ends.append((low, low + width))
    low, high = np.array(ends).T
    asked = Asked(
        question,
        low,
        high,
        merging=draw(st.booleans()),
        counting=counting,
        own=draw(st.booleans()),
    )
    return at_threshold(asked, draw(st.sampled_from([0.0, 0.02, 0.1, 0.5, 0.9, 0.98, 1.0])))


def variances(values: Floats, sizes: list[Floats]) -> tuple[float, float]:
    """The variance of a function of independent axes, and the part that effects of one axis and of two explain."""
    axes = range(len(sizes))

    def given(kept: tuple[int, ...]) -> Floats:
        found = values
        for axis in reversed(axes):
            if axis not in kept:
                found = np.expand_dims(np.tensordot(found, sizes[axis], axes=(axis, 0)), axis)
        return found

    def spread(of: Floats) -> float:
        found = np.broadcast_to(of, values.shape) ** 2
        for axis in reversed(axes):
            found = np.tensordot(found, sizes[axis], axes=(axis, 0))
        return float(found)

    mean = given(())
    main = {axis: given((axis,)) - mean for axis in axes}
    explained = sum(spread(each) for each in main.values())
    explained += sum(spread(given((i, j)) - main[i] - main[j] - mean) for j in axes for i in range(j))
    return spread(values - mean), explained


@pytest.mark.parametrize("seed", range(6))
def test_the_least_and_the_greatest_leaf_are_those_of_all_assignments(seed: int) -> None:
    """In every unit, tree by tree."""
    question = with_parted(with_deep(many(6, 4, seed, 4), 1, seed), 4, seed)
    whole = begun(question, merging=True).task
    assert whole.worst is not None
    units = np.array(list(product(*map(range, whole.sizes.whole()[1]))), dtype=np.int64)
    for people, least, greatest in zip(whole.trees.roots.T, *whole.worst.trees.roots, strict=True):
        values = [value_of(whole.trees, int(root), units) for root in people]
        assert (value_of(whole.worst.trees, int(least), units) == np.min(values, axis=0)).all()
        assert (value_of(whole.worst.trees, int(greatest), units) == np.max(values, axis=0)).all()


@pytest.mark.parametrize("deepest", [1, 400])
def test_sums_of_trees_that_are_too_deep_are_bounded_one_by_one(deepest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two trees that test different attributes are one after the other: Python goes only so deep."""
    monkeypatch.setattr("fairdsl.backends.leaf_boxes.unfolding._DEEP", deepest)
    found = begun(with_parted(many(6, 4, 0, 4), 4, 0), merging=True)
    assert (found.task.worst is None, found._scores.own) == (deepest == 1, deepest == 1)


@settings(max_examples=examples(1))
@given(boxes())
def test_what_is_said_of_a_box_is_true_of_everybody_in_it(asked: Asked) -> None:
    """What is peeled off is as it was settled, and no more is said to be fair than is."""
    found = asked.looked_at()
    settled, known = found.descent._settled, found.descent._boxes.known[0]
    seen = np.zeros(found.high - found.low, dtype=np.int64)
    for entry in range(int(settled.number[0])):
        low, high = settled.low[entry], settled.high[entry]
        scores = found.scores(low, high)
        seen[tuple(slice(a, b) for a, b in zip(low - found.low, high - found.low, strict=True))] += 1
        if settled.kind[entry] == FAIR:
            assert found.fair(scores).all()
        elif settled.kind[entry] == UNFAIR:
            below, above = found.descent.task.trees.limits
            assert (scores[..., settled.first[entry]] >= above).all()
            assert (scores[..., settled.second[entry]] <= below).all()
    assert seen.max(initial=0) <= 1, "disjoint"
    share = found.fair(found.scores(found.low, found.high)).astype(float)
    for axis, sizes in reversed(list(enumerate(found.sizes(found.low, found.high)))):
        share = np.tensordot(share, sizes, axes=(axis, 0))
    assert known <= float(share) + 1e-12


def test_small_boxes_are_counted_exactly() -> None:
    """What is fair and what is unfair of a box, but for the unfair part that is shown, against a loop over all."""
    counted: Counter[str] = Counter()

    @settings(max_examples=examples(1))
    @given(boxes(counting=256))
    def agree(asked: Asked) -> None:
        found = asked.looked_at()
        settled, boxes = found.descent._settled, found.descent._boxes
        last = int(settled.number[0]) - 1
        if last < 0 or settled.kind[last] != BY_PARTS:
            return
        fair, unfair, last = int(settled.first[last]), int(settled.second[last]), last - 1
        low, high = boxes.low[0], boxes.high[0]
        sums = found.descent.task.trees.sums
        size = np.ones(1, dtype=np.int64)
        for axis, (a, b) in enumerate(zip(low, high, strict=True)):
            size = np.multiply.outer(size, np.diff(sums[axis, a : b + 1]).astype(np.int64))
        alike, size = found.fair(found.scores(low, high)), size[0]
        assert fair == size[alike].sum()
        shown = 0
        if not alike.all():
            assert settled.kind[last] == UNFAIR
            sides = [slice(a, b) for a, b in zip(settled.low[last] - low, settled.high[last] - low, strict=True)]
            assert not alike[tuple(sides)].any()
            shown = int(size[tuple(sides)].sum())
        assert unfair + shown == size[~alike].sum()
        counted["fair"] += bool(alike.any())
        counted["unfair"] += not alike.all()

    agree()
    assert counted["fair"]
    assert counted["unfair"]


@settings(max_examples=examples(1))
@given(boxes())
def test_effects_of_axes_and_of_pairs_explain_what_they_do(asked: Asked) -> None:
    """Mean, variance of effects, and what is left, against the decomposition of the score over the whole box."""
    found = asked.looked_at()
    descent = found.descent
    box, trees = descent._boxes, descent.task.trees
    assume(box.child[0] == -1 and descent._scores.work.steps[0])
    low, high = box.low[0], box.high[0]
    scores, sizes = found.bounded(low, high).astype(float), found.sizes(low, high)
    for person in range(scores.shape[-1]):
        mean, variance = descent._scores.work.moments[person]
        left = float(descent._scores.work.rest[person])
        whole, explained = variances(scores[..., person] - trees.limits[0], sizes)
        known = scores[..., person] - trees.limits[0]
        for axis in reversed(range(len(sizes))):
            known = np.tensordot(known, sizes[axis], axes=(axis, 0))
        scale = float(np.ptp(scores[..., person])) + 1.0
        assert mean == pytest.approx(float(known), abs=1e-9 * scale)
        assert variance - left == pytest.approx(explained, abs=1e-7 * scale**2)
        assert left >= (whole - explained) * (1 - 1e-9)


@settings(max_examples=examples(1))
@given(boxes())
def test_above_is_as_below(asked: Asked) -> None:
    """As much is found to be fair where all signs are changed."""
    one, other = (each.looked_at().descent._boxes for each in (asked, asked.mirrored()))
    assert one.known[0] == pytest.approx(float(other.known[0]), abs=1e-6)
    assert one.left[0] == pytest.approx(float(other.left[0]), abs=1e-6)
