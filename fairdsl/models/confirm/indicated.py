"""The indicators that were read of encoders and trees, evaluated on many individuals at once.

Of a tree's leaves exactly one is 1. They are listed in the order in which a walk meets them that takes the true branch
first, so the leaves below a node are neighbours, and going down a tree is narrowing a range.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.expr import Relation
from fairdsl.models.basis import Indicators

__all__ = ["IndicatorReader", "Reached", "Tested"]

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


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """The unit that each individual reaches in each tree, [n, trees]."""

    units: IntArray


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


@dataclass(frozen=True, slots=True, eq=False)
class _Trees:
    """The nodes of all trees: what each tests, and its children; a leaf (``tests`` -1) holds its unit in ``units``."""

    roots: IntArray
    tests: IntArray
    yes: IntArray
    no: IntArray
    units: IntArray
    depth: int


class IndicatorReader:
    """The indicators of one block."""

    def __init__(self, indicators: Indicators) -> None:
        self._indicators = indicators
        tests = indicators.tests
        self._features = np.array([test.feature for test in tests], dtype=np.int64)
        self._thresholds = np.array([float(test.threshold) for test in tests], dtype=np.float64)
        self._true = np.array([_TRUE[test.relation] for test in tests], dtype=np.bool_).reshape(-1, 3)
        grouped = {unit for group in indicators.groups for unit in group}
        self._single = [unit for unit in range(len(indicators.units)) if unit not in grouped]
        self._trees = _trees(indicators) if indicators.groups else None

    def evaluate(self, tested: Tested) -> tuple[Reached | None, FloatArray | None]:
        """The leaves that are reached; where there are others than leaves, all units instead, [n, units]."""
        reached = None if self._trees is None else Reached(self._descend(self._trees, tested))
        if not self._single and reached is not None:
            return reached, None
        units = np.zeros((len(tested.values), len(self._indicators.units)))
        if reached is not None:
            np.put_along_axis(units, reached.units, 1.0, axis=1)
        rows = np.arange(len(tested.values))
        for unit in self._single:
            held = np.ones(len(rows), dtype=np.bool_)
            for test, wanted in self._indicators.units[unit]:
                held &= self._holds(np.full(len(rows), test), rows, tested) == wanted
            units[:, unit] = held
        return None, units

    def _descend(self, trees: _Trees, tested: Tested) -> IntArray:
        count = len(tested.values)
        nodes = np.repeat(trees.roots[None, :], count, axis=0)
        for _ in range(trees.depth):
            rows, columns = np.nonzero(trees.tests[nodes] >= 0)
            if not rows.size:
                break
            at = nodes[rows, columns]
            holds = self._holds(trees.tests[at], rows, tested)
            nodes[rows, columns] = np.where(holds, trees.yes[at], trees.no[at])
        return np.asarray(trees.units[nodes], dtype=np.int64)

    def _holds(self, tests: IntArray, rows: IntArray, tested: Tested) -> BoolArray:
        """Whether the tests hold, each of the individual in its row."""
        features, thresholds, true = self._features[tests], self._thresholds[tests], self._true[tests]
        values = tested.values[rows, features]
        away = np.abs(values - thresholds)
        for off, unsure in ((tested.off, tested.unsure), (tested.fed_off, tested.unsure_fed)):
            near = off[rows, features]
            unsure[rows[(near > 0) & (away <= near)]] = True
        below, above = values < thresholds, values > thresholds
        return np.asarray(np.where(below, true[:, 0], np.where(above, true[:, 2], true[:, 1])), dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class _Fails:
    """Whether the test at a depth fails on the way to a leaf of a tree, by the leaf's place."""

    indicators: Indicators
    group: tuple[int, ...]
    depth: int

    def at(self, place: int) -> bool:
        return not self.indicators.units[self.group[place]][self.depth][1]


def _trees(indicators: Indicators) -> _Trees:
    tests: list[int] = []
    children: list[list[int]] = []
    units: list[int] = []
    roots: list[int] = []
    deepest = 0
    for group in indicators.groups:
        roots.append(len(tests))
        # A range of leaves, how many tests lead to it, and whose child it is.
        stack: list[tuple[int, int, int, int, bool]] = [(0, len(group), 0, -1, True)]
        while stack:
            low, high, depth, parent, held = stack.pop()
            number = len(tests)
            if parent >= 0:
                children[parent][0 if held else 1] = number
            literals = indicators.units[group[low]]
            deepest = max(deepest, depth)
            children.append([number, number])
            if depth == len(literals):
                tests.append(-1)
                units.append(group[low])
                continue
            tests.append(literals[depth][0])
            units.append(-1)
            middle = bisect_left(range(low, high), True, key=_Fails(indicators, group, depth).at)
            stack.append((low + middle, high, depth + 1, number, False))
            stack.append((low, low + middle, depth + 1, number, True))
    both = np.array(children, dtype=np.int64).reshape(-1, 2)
    return _Trees(
        roots=np.array(roots, dtype=np.int64),
        tests=np.array(tests, dtype=np.int64),
        yes=both[:, 0],
        no=both[:, 1],
        units=np.array(units, dtype=np.int64),
        depth=deepest,
    )
