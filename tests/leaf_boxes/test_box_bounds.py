"""What is said of one box of many trees, before it is cut: everybody in it is evaluated beside."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fairdsl.backends.leaf_boxes import rest
from fairdsl.backends.leaf_boxes.forest import forest_of
from fairdsl.backends.leaf_boxes.kernels.records import FAIR, UNFAIR
from fairdsl.backends.leaf_boxes.lowering import lower
from fairdsl.backends.leaf_boxes.refinement import Refinement
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
        return rest._scores(self.descent._forest, units).reshape(*map(len, sides), -1)

    def sizes(self, low: NDArray[np.int64], high: NDArray[np.int64]) -> list[Floats]:
        """The share of each part of each axis."""
        sums = self.descent._forest.trees.sums
        parts = [np.diff(sums[axis, a : b + 1]) for axis, (a, b) in enumerate(zip(low, high, strict=True))]
        return [each / each.sum() for each in parts]

    def fair(self, scores: NDArray[np.int64]) -> NDArray[np.bool_]:
        below, above = self.descent._forest.trees.limits
        return np.asarray((scores >= above).all(axis=-1) | (scores <= below).all(axis=-1), dtype=np.bool_)


def looked_at(data: st.DataObject, trees: tuple[int, int] = (2, 40)) -> Looked:
    """A box of a random forest, looked at by everything that there is."""
    question = many(data.draw(st.integers(*trees)), 4, data.draw(st.integers(0, 10**6)), data.draw(st.integers(3, 6)))
    found = forest_of(lowered := lower(question, question.question))  # type: ignore[arg-type]
    assert found is not None
    descent = Refinement.start(lowered, found, memory=2**20)
    boxes = descent._boxes
    whole = boxes.high[0].copy()
    ends = [sorted((data.draw(st.integers(0, n - 1)), data.draw(st.integers(1, n)))) for n in whole.tolist()]
    assume(all(a < b for a, b in ends))
    boxes.low[0], boxes.high[0] = np.array(ends).T
    low, high = boxes.low[0].copy(), boxes.high[0].copy()
    descent._refine(0, 1)
    return Looked(descent, low, high)


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


@settings(max_examples=examples(1))
@given(st.data())
def test_what_is_said_of_a_box_is_true_of_everybody_in_it(data: st.DataObject) -> None:
    """What is peeled off is as it was settled, and no more is said to be fair than is."""
    found = looked_at(data)
    settled, boxes = found.descent._settled, found.descent._boxes
    seen = np.zeros(found.high - found.low, dtype=np.int64)
    for entry in range(int(settled.number[0])):
        low, high = settled.low[entry], settled.high[entry]
        scores = found.scores(low, high)
        seen[tuple(slice(a, b) for a, b in zip(low - found.low, high - found.low, strict=True))] += 1
        if settled.kind[entry] == FAIR:
            assert found.fair(scores).all()
        elif settled.kind[entry] == UNFAIR:
            below, above = found.descent._forest.trees.limits
            assert (scores[..., settled.first[entry]] >= above).all()
            assert (scores[..., settled.second[entry]] <= below).all()
    assert seen.max(initial=0) <= 1, "disjoint"
    share = found.fair(found.scores(found.low, found.high)).astype(float)
    for axis, sizes in reversed(list(enumerate(found.sizes(found.low, found.high)))):
        share = np.tensordot(share, sizes, axes=(axis, 0))
    assert boxes.known[0] <= float(share) + 1e-12


@settings(max_examples=examples(1))
@given(st.data())
def test_effects_of_axes_and_of_pairs_explain_what_they_do(data: st.DataObject) -> None:
    """Mean, variance of effects, and what is left, against the decomposition of the score over the whole box."""
    found = looked_at(data)
    descent = found.descent
    boxes, trees = descent._boxes, descent._forest.trees
    assume(boxes.child[0] == -1 and descent._effects.steps[0])
    low, high = boxes.low[0], boxes.high[0]
    scores, sizes = found.scores(low, high).astype(float), found.sizes(low, high)
    for person in range(scores.shape[-1]):
        mean, variance = descent._room.moments[person]
        left = float(descent._effects.rest[person])
        whole, explained = variances(scores[..., person] - trees.limits[0], sizes)
        known = scores[..., person] - trees.limits[0]
        for axis in reversed(range(len(sizes))):
            known = np.tensordot(known, sizes[axis], axes=(axis, 0))
        scale = float(np.ptp(scores[..., person])) + 1.0
        assert mean == pytest.approx(float(known), abs=1e-9 * scale)
        assert variance - left == pytest.approx(explained, abs=1e-7 * scale**2)
        assert left >= (whole - explained) * (1 - 1e-9)
