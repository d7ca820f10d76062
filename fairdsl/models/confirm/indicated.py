"""The indicators and leaves that were read of encoders and trees, evaluated on many individuals at once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.expr import Relation
from fairdsl.models.basis import TREE_RELATIONS, Indicators, Trees
from fairdsl.numerics.tree_walk import TreeWalk

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

#: Whether a comparison is true where the left side is less, equal, greater.
_TRUE = {
    Relation.LT: (True, False, False),
    Relation.LE: (True, True, False),
    Relation.EQ: (False, True, False),
    Relation.NE: (True, False, True),
    Relation.GE: (False, True, True),
    Relation.GT: (False, False, True),
}


@dataclass(slots=True, eq=False)
class Tested:
    """Features [n, m], how far the file's may be off them, and which individuals are too near to a border to tell."""

    values: FloatArray
    off: FloatArray
    fed_off: FloatArray
    unsure: BoolArray = field(init=False)
    unsure_fed: BoolArray = field(init=False)

    def __post_init__(self) -> None:
        self.unsure = np.zeros(len(self.values), dtype=np.bool_)
        self.unsure_fed = np.zeros(len(self.values), dtype=np.bool_)

    @property
    def sure(self) -> bool:
        """Whether no feature may be off, so that every test is certain."""
        return not (self.off.any() or self.fed_off.any())

    def note(self, rows: IntArray, features: IntArray, thresholds: FloatArray) -> None:
        """Note who is too near to the border of a test: individual ``rows[i]`` at the test of ``features[i]``."""
        away = np.abs(self.values[rows, features] - thresholds)
        for off, unsure in ((self.off, self.unsure), (self.fed_off, self.unsure_fed)):
            near = off[rows, features]
            unsure[rows[(near > 0) & (away <= near)]] = True


class IndicatorReader:
    """The indicators of one block."""

    def __init__(self, indicators: Indicators) -> None:
        self._features = np.array([test.feature for test in indicators.tests], dtype=np.int64)
        self._thresholds = np.array([float(test.threshold) for test in indicators.tests], dtype=np.float64)
        self._true = np.array([_TRUE[test.relation] for test in indicators.tests], dtype=np.bool_).reshape(-1, 3)

    def evaluate(self, tested: Tested) -> FloatArray:
        """All units, [n, units]."""
        values = tested.values[:, self._features]
        rows = np.repeat(np.arange(len(values)), values.shape[1])
        if not tested.sure:
            tested.note(rows, np.tile(self._features, len(values)), np.tile(self._thresholds, len(values)))
        return _holds(values, self._thresholds, self._true).astype(np.float64)


class TreeReader:
    """The leaves of one block."""

    def __init__(self, trees: Trees) -> None:
        shape = trees.shape
        self._shape, self._trees = shape, trees
        # A leaf holds and comes after itself, so all trees can be gone down equally far.
        self._walk = TreeWalk.of(shape.roots, np.where(shape.inner, trees.feature, 0), shape.no, shape.yes, shape.depth)
        used = np.unique(trees.relation[shape.inner])
        self._only = TREE_RELATIONS[used[0]] if len(used) == 1 else None
        self._true = np.array([_TRUE[relation] for relation in TREE_RELATIONS], dtype=np.bool_)

    def evaluate(self, tested: Tested) -> IntArray:
        """The leaf that each individual reaches in each tree, [n, trees]."""
        sure = tested.sure

        def answers(nodes: IntArray, values: FloatArray, start: int) -> BoolArray:
            if not sure:
                self._note(tested, nodes, start)
            return self._answers(nodes, values)

        return np.asarray(self._shape.leaf[self._walk.arrived(tested.values, answers)], dtype=np.int64)

    def _note(self, tested: Tested, nodes: IntArray, start: int) -> None:
        rows, columns = np.nonzero(self._shape.inner[nodes])
        at = nodes[rows, columns]
        tested.note(rows + start, self._trees.feature[at], self._trees.threshold[at])

    def _answers(self, nodes: IntArray, values: FloatArray) -> BoolArray:
        """Whether the nodes' tests hold of the values."""
        thresholds = self._trees.threshold.take(nodes, mode="clip")
        match self._only:
            case Relation.LE:
                return values <= thresholds
            case Relation.LT:
                return values < thresholds
        return _holds(values, thresholds, self._true[self._trees.relation[nodes]])


def _holds(values: FloatArray, thresholds: FloatArray, true: BoolArray) -> BoolArray:
    """Whether tests hold that are true where the value is less, equal, greater: ``true`` [..., 3]."""
    below, above = values < thresholds, values > thresholds
    return np.asarray(np.where(below, true[..., 0], np.where(above, true[..., 2], true[..., 1])), dtype=np.bool_)
