"""Trees of a file, bound to the domain: what their nodes compare of attributes, without what nobody can reach.

A test ``feature <= t`` has the feature's form put in (:func:`fairdsl.models.binding.indicators.tested`). Where a
feature is an attribute as it stands this is done for all of its tests at once. Then what a tree's path, or the domain
alone, leaves impossible is dropped. The distinct borders of a column cut its values into cells, numbered from below; a
node is reached with a range of cells of its column, so whether its test is settled there is a comparison of integers.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.domain import Attribute, Domain, Real
from fairdsl.ir.ensemble import RELATIONS, Ensemble
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import FALSE, TRUE, Predicate, Relation
from fairdsl.ir.feature import Form
from fairdsl.ir.tree_shape import TreeShape
from fairdsl.models.basis import TREE_RELATIONS, Comparison, Trees
from fairdsl.models.binding.indicators import form_of, tested
from fairdsl.numerics.listed_leaves import compared

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]

#: Below it, numbers that differ by 1 are floats of their own.
_WHOLE = 2.0**52
_OPEN, _FALSE, _TRUE = -1, 0, 1
#: Stands for the column of a test that compares nothing.
_NO_COLUMN = -(1 << 30)


@dataclass(frozen=True, slots=True, eq=False)
class BoundTrees:
    """Trees over attributes: those of which several leaves can be reached.

    ``leaves`` are the numbers in the file of the ensemble's leaves; ``always`` those of leaves that everybody reaches.
    """

    ensemble: Ensemble
    leaves: IntArray
    always: IntArray


@dataclass(slots=True)
class _Tests:
    """Different tests, side by side: as an ensemble holds them, or the truth that they always have."""

    columns: IntArray
    relations: NDArray[np.int8]
    floats: FloatArray
    #: Numbers that may be no floats, by the test.
    numbers: dict[int, Fraction]
    truths: NDArray[np.int8]
    predicates: dict[Predicate, int]

    def thresholds(self, chosen: IntArray) -> ExactArray:
        """The numbers of some tests."""
        floats = self.floats.copy()
        rationals = {test: number for test, number in self.numbers.items() if Fraction(floats[test]) != number}
        if not rationals:
            return ExactArray.from_floats(floats[chosen])
        exact = np.empty(len(floats), dtype=object)
        exact[:] = [Fraction(value) for value in floats.tolist()]
        for test, number in rationals.items():
            exact[test] = number
        return ExactArray(floats[chosen], exact[chosen])


def bind_trees(trees: Trees, units: Mapping[int, Sequence[Form]], domain: Domain) -> BoundTrees:
    """The trees, where ``units`` are the forms of the units of the blocks that they read. Raises EntangledError."""
    forms = {
        feature: form_of(trees.features, feature, units)
        for feature in np.unique(trees.feature[trees.shape.inner]).tolist()
    }
    inner = np.flatnonzero(trees.shape.inner)
    distinct, test_of = _distinct(trees, inner)
    tests = _bound_tests(trees, distinct, forms, domain)
    number = np.full(trees.shape.nodes, -1, dtype=np.int64)
    number[inner] = test_of
    settled = _settled(trees.shape, number, tests, domain.attributes)
    return _without(trees.shape, number, tests, settled)


def _distinct(trees: Trees, inner: IntArray) -> tuple[IntArray, IntArray]:
    """A node for each different test, and the number of the test of each node that tests."""
    _, place = np.unique(trees.threshold[inner], return_inverse=True)
    kind = trees.feature[inner] * len(TREE_RELATIONS) + trees.relation[inner]
    _, first, inverse = np.unique(kind * (len(inner) + 1) + place.reshape(-1), return_index=True, return_inverse=True)
    return inner[first], inverse.reshape(-1)


def _bound_tests(trees: Trees, nodes: IntArray, forms: Mapping[int, Form], domain: Domain) -> _Tests:
    feature, relation, value = trees.feature[nodes], trees.relation[nodes], trees.threshold[nodes] + 0.0
    columns, whole = np.full((2, len(nodes)), -1, dtype=np.int64)
    for number, form in forms.items():
        attribute = form.alone
        if attribute is not None:
            columns[feature == number] = attribute
            whole[feature == number] = not isinstance(domain.attributes[attribute].type, Real)
    upper = (relation == RELATIONS.index(Relation.LE)) | (relation == RELATIONS.index(Relation.LT))
    inclusive = (relation == RELATIONS.index(Relation.LE)) | (relation == RELATIONS.index(Relation.GT))
    at_once = (columns >= 0) & (relation < len(RELATIONS)) & ((whole == 0) | (np.abs(value) < _WHOLE))
    # Of whole numbers `< t` is `<= ceil(t) - 1`.
    rounded = np.where(inclusive, np.floor(value), np.ceil(value) - 1) + 0.0
    kept = np.where(upper, RELATIONS.index(Relation.LE), RELATIONS.index(Relation.GT))
    tests = _Tests(
        columns=columns,
        relations=np.where(whole == 1, kept, relation).astype(np.int8),
        floats=np.where(whole == 1, rounded, value),
        numbers={},
        truths=np.full(len(nodes), _OPEN, dtype=np.int8),
        predicates={},
    )
    for place in np.flatnonzero(~at_once).tolist():
        test = Comparison(int(feature[place]), TREE_RELATIONS[relation[place]], Fraction(value[place]))
        predicate = tested(trees.operator, trees.node, forms[test.feature], test, domain.attributes)
        if predicate in (TRUE, FALSE):
            tests.truths[place], tests.columns[place] = _TRUE if predicate == TRUE else _FALSE, _NO_COLUMN
            continue
        tests.columns[place], tests.relations[place], border = compared(predicate, tests.predicates)
        tests.floats[place] = float(border)
        tests.numbers[place] = border
    return tests


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """For each test the border it compares with, by its number in its column, and the cells its column begins with."""

    rank: IntArray
    low: IntArray
    high: IntArray


def _cells(tests: _Tests, attributes: Sequence[Attribute]) -> _Cells:
    inclusive = (tests.relations == 0) | (tests.relations == 2)
    lowest = int(tests.columns.min(initial=0))
    order, number = _ordered(tests)
    kind = (tests.columns - lowest) * (len(order) + 1) + number
    keys, first, border = np.unique(kind * 2 + inclusive, return_index=True, return_inverse=True)
    columns = tests.columns[first]
    starts = np.searchsorted(keys, np.unique(columns - lowest) * (len(order) + 1) * 2)
    rank, low, high = np.zeros((3, len(tests.columns)), dtype=np.int64)
    for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(keys)], strict=True):
        column = int(columns[start])
        of_column = tests.columns == column
        rank[of_column] = border.reshape(-1)[of_column] - start
        ends = (None, None) if column < 0 else attributes[column].bounds
        borders = [(order[number[place]], bool(inclusive[place])) for place in first[start:end].tolist()]
        low[of_column] = 0 if ends[0] is None else _cell(borders, ends[0])
        high[of_column] = end - start if ends[1] is None else _cell(borders, ends[1])
    return _Cells(rank, low, high)


def _cell(borders: Sequence[tuple[Fraction | float, bool]], value: Fraction) -> int:
    """The cell that a value lies in: how many borders it lies above."""
    return bisect_left(borders, True, key=lambda border: value < border[0] or (border[1] and value == border[0]))


def _ordered(tests: _Tests) -> tuple[list[Fraction] | list[float], IntArray]:
    """The different numbers that are compared with, ascending, and the place of each test's among them."""
    if not tests.numbers:
        found, place = np.unique(tests.floats, return_inverse=True)
        return found.tolist(), place.reshape(-1)
    exact = [tests.numbers.get(test) or Fraction(value) for test, value in enumerate(tests.floats.tolist())]
    ascending = sorted(set(exact))
    places = {number: place for place, number in enumerate(ascending)}
    return ascending, np.array([places[number] for number in exact], dtype=np.int64)


def _settled(shape: TreeShape, number: IntArray, tests: _Tests, attributes: Sequence[Attribute]) -> NDArray[np.int8]:
    """For each node the truth that its test has for all who come there, as far as single columns tell; [nodes]."""
    if not len(tests.columns):
        return np.full(shape.nodes, _OPEN, dtype=np.int8)
    cells, turned = _cells(tests, attributes), tests.relations >= 2
    before = _before(shape, np.where(number < 0, -1, tests.columns[number]), number)
    low, high = cells.low[number], cells.high[number]
    truths = np.full(shape.nodes, _OPEN, dtype=np.int8)
    for nodes in shape.levels:
        above = before[nodes]
        met = nodes[above >= 0]
        above = above[above >= 0]
        border, upwards = cells.rank[number[above]], (met < shape.no[above]) == turned[number[above]]
        low[met] = np.where(upwards, np.maximum(low[above], border + 1), low[above])
        high[met] = np.where(upwards, high[above], np.minimum(high[above], border))
        own = number[nodes]
        border, swapped = cells.rank[own], turned[own]
        below, beyond = high[nodes] <= border, low[nodes] > border
        truth = np.where(
            below, np.where(swapped, _FALSE, _TRUE), np.where(beyond, np.where(swapped, _TRUE, _FALSE), -1)
        )
        truths[nodes] = np.where(tests.truths[own] == _OPEN, truth, tests.truths[own])
    return truths


def _before(shape: TreeShape, columns: IntArray, number: IntArray) -> IntArray:
    """For each node that tests the nearest one above it that compares the same column, -1 where there is none."""
    found = np.where(number < 0, -1, shape.parents)
    looking = np.flatnonzero(found >= 0)
    while looking.size:
        looking = looking[columns[found[looking]] != columns[looking]]
        found[looking] = shape.parents[found[looking]]
        looking = looking[found[looking] >= 0]
    return found


def _without(shape: TreeShape, number: IntArray, tests: _Tests, truths: NDArray[np.int8]) -> BoundTrees:
    """The trees without the nodes that nobody reaches, and without those whose test is settled."""
    alive = np.zeros(shape.nodes, dtype=np.bool_)
    alive[shape.roots] = True
    for nodes in shape.levels:
        alive[shape.yes[nodes]] = alive[nodes] & (truths[nodes] != _FALSE)
        alive[shape.no[nodes]] = alive[nodes] & (truths[nodes] != _TRUE)
    follows = np.arange(shape.nodes)
    for nodes in reversed(shape.levels):
        passed = nodes[truths[nodes] != _OPEN]
        follows[passed] = np.where(truths[passed] == _TRUE, follows[shape.yes[passed]], follows[shape.no[passed]])
    roots = follows[shape.roots]
    constant = ~shape.inner[roots]
    kept = alive & (~shape.inner | (truths == _OPEN))
    kept[roots[constant]] = False
    old = np.flatnonzero(kept)
    new = np.cumsum(kept) - 1
    yes, no = (
        np.where(shape.inner[old], new[follows[side[old]]], np.arange(len(old))) for side in (shape.yes, shape.no)
    )
    left = TreeShape(new[roots[~constant]], yes, no)
    test = np.maximum(number[old], 0)
    ensemble = Ensemble(
        shape=left,
        columns=np.where(left.inner, tests.columns[test], 0) if len(old) else np.zeros(0, dtype=np.int64),
        relations=tests.relations[test] if len(old) else np.zeros(0, dtype=np.int8),
        thresholds=tests.thresholds(test if len(old) else np.zeros(0, dtype=np.int64)),
        tests=tuple(tests.predicates),
    )
    return BoundTrees(ensemble, shape.leaf[old[left.leaf_nodes]], shape.leaf[roots[constant]])
