"""Leaves of trees among a model's inputs: which one of each tree an individual reaches, and which a box can reach.

Going down a tree takes a few comparisons where evaluating all of its leaves takes hundreds. A test of one attribute is
the comparison ``x <= limit`` with a float: for a float x, ``x <= t`` holds iff x is at most the greatest float that is
at most t, and ``x < t`` iff x is at most the greatest float below t, whatever the rational t is. Of scaled integers the
limit is an integer in the same way (``Leaves._ranked``). Every other test is evaluated once and compared as 0 or 1.
Between two borders that have one limit there are numbers, none of them a float: what must hold of every real x goes by
the borders themselves (``Leaves.border``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil, floor, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.domain import Point
from fairdsl.ir.ensemble import Ensemble, Inputs
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.expr import Predicate, Who
from fairdsl.ir.feature import Input
from fairdsl.ir.model import Model
from fairdsl.numerics.derived import Kept, derived
from fairdsl.numerics.listed_leaves import read_listed
from fairdsl.numerics.predicates import holds_for, mask
from fairdsl.numerics.rounding import float_below
from fairdsl.numerics.tree_walk import TreeWalk

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
#: All numbers below the first one, and that one too where the second one says so. Pairs compare as these sets do.
Border = tuple[Fraction | float, bool]


@dataclass(frozen=True, eq=False)
class Leaves:
    """The trees of a model, as arrays to walk.

    Node i of all trees compares ``columns[i] <= limits[i]``, and ``below[2 i]`` comes next where that holds,
    ``below[2 i + 1]`` where not; a leaf comes after itself. The columns are the truth values of ``tests`` and then the
    attributes.
    """

    #: The trees.
    ensemble: Ensemble
    #: The positions of the inputs that are leaves of none of them.
    others: IntArray
    #: The positions of each tree's leaves among the inputs.
    groups: tuple[Sequence[int], ...]
    #: A leaf's position among the inputs, [nodes]; -1 of nodes that test.
    positions: IntArray

    @classmethod
    def of(cls, model: Model) -> Leaves:
        """The trees that the model's inputs are the leaves of, also where these are listed; found once a model."""
        return derived(model, _read, _FOUND)

    @classmethod
    def among(cls, inputs: Sequence[Input], groups: Sequence[tuple[int, ...]] = ()) -> Leaves:
        """The trees whose leaves end the inputs; without them, those that are listed as ``groups``."""
        if isinstance(inputs, Inputs):
            shape, start = inputs.ensemble.shape, len(inputs.others)
            ends = pairwise((shape.leaf_starts + start).tolist())
            positions = np.where(shape.inner, -1, shape.leaf + start)
            return cls(inputs.ensemble, np.arange(start), tuple(range(low, high) for low, high in ends), positions)
        listed = read_listed(inputs, groups)
        inside = {position for group in listed.groups for position in group}
        others = np.array([place for place in range(len(inputs)) if place not in inside], dtype=np.int64)
        return cls(listed.ensemble, others, listed.groups, listed.positions)

    @property
    def trees(self) -> int:
        """How many there are."""
        return self.ensemble.shape.trees

    @property
    def depth(self) -> int:
        """Tests on the longest way."""
        return self.ensemble.shape.depth

    @property
    def roots(self) -> IntArray:
        """The nodes that ways begin at."""
        return self.ensemble.shape.roots

    @property
    def tests(self) -> tuple[Predicate, ...]:
        """Predicates that are evaluated as they are."""
        return self.ensemble.tests

    @property
    def turned(self) -> BoolArray:
        """Whether a comparison is the negation of its node's test, [nodes]."""
        return self.ensemble.turned

    @property
    def levels(self) -> tuple[IntArray, ...]:
        """The nodes that test, level by level from the roots."""
        return self.ensemble.shape.levels

    @cached_property
    def columns(self) -> IntArray:
        """The column that a node compares, [nodes]."""
        columns = self.ensemble.columns
        return np.where(columns < 0, -1 - columns, columns + len(self.tests))

    @cached_property
    def below(self) -> IntArray:
        """What comes after the nodes, [2 nodes]."""
        shape, turned = self.ensemble.shape, self.turned
        sides = (np.where(turned, shape.no, shape.yes), np.where(turned, shape.yes, shape.no))
        return np.ascontiguousarray(np.stack(sides, axis=1).reshape(-1))

    @cached_property
    def limits(self) -> FloatArray:
        """The greatest float up to each node's border, [nodes]; infinite of leaves."""
        thresholds = self.ensemble.thresholds
        found = np.where(self.ensemble.inclusive, thresholds.floats, np.nextafter(thresholds.floats, -inf))
        if thresholds.fractions is not None:
            for node in np.flatnonzero(thresholds.fractions != thresholds.floats).tolist():
                found[node] = float_below(thresholds.at(node))
        return np.where(self._tested, found, inf)

    def border(self, node: int) -> Border:
        """What the limit of a node that tests stands for, of every number and not of floats alone."""
        return self.ensemble.threshold(node), bool(self.ensemble.inclusive[node])

    def reached(self, points: FloatArray | ExactRows) -> IntArray:
        """The position of the leaf that each point reaches in each tree, [n, trees]."""
        if not self.trees:
            return np.zeros((len(points), 0), dtype=np.int64)
        table, limits = self._table(points) if isinstance(points, ExactRows) else (points, self.limits)
        if self.tests:
            truths = [mask(test, {Who.EACH: points}) for test in self.tests]
            table = np.column_stack([*truths, table])
        walk = TreeWalk(self.roots, self.columns, self.below, self.depth)
        return self.positions.take(walk.arrived(table, lambda nodes, x, _: x > limits.take(nodes, mode="clip")))

    def _table(self, points: ExactRows) -> tuple[FloatArray, FloatArray]:
        """Floats that compare with the limits beside them as the points do with the borders."""
        if not points.scaled:
            return points.floats, self.limits
        table, limits = points.floats.copy(), self.limits.copy()
        for place, column in points.scaled.items():
            nodes = np.flatnonzero(self._tested & (self.columns == len(self.tests) + place))
            if nodes.size:
                listed, limits[nodes] = self._ranked(nodes, place, column.denominator)
                table[:, place] = np.searchsorted(listed, column.numerators)
        return table, limits

    def _ranked(self, nodes: IntArray, place: int, denominator: int) -> tuple[NDArray[Any], FloatArray]:
        """What the nodes' borders come to over a denominator, ascending, and where each node's own stands there."""
        found = self._ranks.get((place, denominator))
        if found is None:
            ends = [_numerator(self.border(node), denominator) for node in nodes.tolist()]
            listed = sorted(set(ends))
            rank = {end: float(number) for number, end in enumerate(listed)}
            kind = np.int64 if max(map(abs, listed)) < _FITS else object
            found = np.array(listed, dtype=kind), np.array([rank[end] for end in ends])
            self._ranks[place, denominator] = found
        return found

    @cached_property
    def _ranks(self) -> dict[tuple[int, int], tuple[NDArray[Any], FloatArray]]:
        return {}

    def reached_exactly(self, point: Point) -> list[int]:
        """The position of the leaf that an exact point reaches in each tree."""
        floats = [float_below(value) for value in point]
        if all(number == value for number, value in zip(floats, point, strict=True)):
            return [int(position) for position in self.reached(np.array([floats]))[0]]
        truths = [Fraction(holds_for(test, point)) for test in self.tests]
        return [self._leaf_of(root, (*truths, *point)) for root in self.roots.tolist()]

    def _leaf_of(self, node: int, columns: Sequence[Fraction]) -> int:
        """The position of the leaf that exact columns come to from a node."""
        ensemble = self.ensemble
        while self.positions[node] < 0:
            value, threshold = columns[self.columns[node]], ensemble.threshold(node)
            up_to = value < threshold or (bool(ensemble.inclusive[node]) and value == threshold)
            node = int(self.below[2 * node + (not up_to)])
        return int(self.positions[node])

    @property
    def _tested(self) -> BoolArray:
        """Which nodes test, as leaves do not."""
        return self.ensemble.shape.inner

    def reachable(self, low: FloatArray, high: FloatArray) -> BoolArray:
        """Which nodes some point of each box may reach, [boxes, nodes].

        ``low`` and ``high`` are [boxes, tests + attributes] and enclose what the boxes' points have in the columns.
        """
        found = np.zeros((len(low), len(self.columns)), dtype=np.bool_)
        found[:, self.roots] = True
        for nodes in self.levels:
            columns, limits = self.columns[nodes], self.limits[nodes]
            found[:, self.below[2 * nodes]] = found[:, nodes] & (low[:, columns] <= limits)
            found[:, self.below[2 * nodes + 1]] = found[:, nodes] & (high[:, columns] > limits)
        return found


_FOUND: Kept[Model, Leaves] = {}
#: Integers below it are compared as int64.
_FITS = 2**62


def _read(model: Model) -> Leaves:
    return Leaves.among(model.inputs, model.groups)


def _numerator(border: Border, denominator: int) -> int:
    """The greatest integer that, over the denominator, is up to the border."""
    number, inclusive = border
    over = Fraction(number) * denominator
    return floor(over) if inclusive else ceil(over) - 1
