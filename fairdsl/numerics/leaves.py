"""Leaves of trees among a model's inputs: which one of each tree an individual reaches, and which a box can reach.

The leaves of a tree are indicators of the tests on the way to them (``Model.one_of``, and each predicate an ``And`` of
the tests in order). Read together they are the tree again, and going down a tree takes a few comparisons where
evaluating all of its leaves takes hundreds. A test of one attribute is the comparison ``x <= limit`` with a float:
for a float x, ``x <= t`` holds iff x is at most the greatest float that is at most t, and ``x < t`` iff x is at
most the greatest float below t, whatever the rational t is. Of scaled integers the limit is an integer in the same way
(``Leaves._ranked``). Every other test is evaluated once and compared as 0 or 1.
Between two borders that have one limit there are numbers, none of them a float: what must hold of every real x goes by
the borders themselves (``Leaves.borders``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import ceil, floor, inf, nextafter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.domain import Point
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.expr import And, Compare, Linear, Not, Predicate, Relation, Who
from fairdsl.ir.feature import IndicatorInput, Input
from fairdsl.ir.model import Model
from fairdsl.numerics.derived import derived
from fairdsl.numerics.predicates import holds_for, mask
from fairdsl.numerics.rounding import float_below

__all__ = ["Border", "Leaves", "opposite"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
#: All numbers below the first one, and that one too where the second one says so. Pairs compare as these sets do.
Border = tuple[Fraction | float, bool]


@dataclass(slots=True)
class _Growing:
    """Nodes of all trees so far; ``tests`` are the predicates that are evaluated as they are.

    An attribute's column is written ``-1 - attribute`` until the number of tests is known.
    """

    columns: list[int] = field(default_factory=list)
    limits: list[float] = field(default_factory=list)
    borders: list[Border] = field(default_factory=list)
    below: list[list[int]] = field(default_factory=list)  # where the comparison holds, where it does not
    positions: list[int] = field(default_factory=list)
    predicates: list[Predicate | None] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    turned: list[bool] = field(default_factory=list)
    tests: dict[Predicate, int] = field(default_factory=dict)

    def add(self, predicate: Predicate | None, position: int, depth: int) -> int:
        """A node without its children (a leaf: no predicate); the result is its number."""
        number = len(self.columns)
        column, border, turned = (0, (inf, True), False) if predicate is None else self._compared(predicate)
        self.columns.append(column)
        self.limits.append(_limit(border))
        self.borders.append(border)
        self.turned.append(turned)
        self.below.append([number, number])
        self.positions.append(position)
        self.predicates.append(predicate)
        self.depths.append(depth)
        return number

    def link(self, parent: int, child: int, holds: bool) -> None:
        """Put the child where the parent's predicate comes out so."""
        self.below[parent][int(holds == self.turned[parent])] = child

    def _compared(self, predicate: Predicate) -> tuple[int, Border, bool]:
        """A column, a border, and whether being up to the border is the predicate's negation."""
        found = _border(predicate)
        if found is not None:
            return found
        number = self.tests.setdefault(predicate, len(self.tests))
        return number, (Fraction(1, 2), True), True


@dataclass(frozen=True, eq=False)
class Leaves:
    """The trees of a model; ``others`` are the positions of the inputs that are leaves of none.

    Nodes of all trees are numbered together: node i compares ``columns[i] <= limits[i]``, and ``below[2 i]`` comes
    next where that holds, ``below[2 i + 1]`` where not; a leaf comes after itself. ``positions[i]`` is a leaf's
    position among the inputs. The columns are the truth values of ``tests`` and then the attributes. ``predicates``
    are the nodes' own tests and ``turned`` says where a comparison is the negation of its test. ``borders`` are what
    the limits stand for, of every number and not of floats alone.
    """

    others: IntArray
    groups: tuple[tuple[int, ...], ...]
    roots: IntArray
    columns: IntArray
    limits: FloatArray
    borders: tuple[Border, ...]
    below: IntArray
    positions: IntArray
    depths: IntArray
    turned: BoolArray
    predicates: tuple[Predicate | None, ...]
    tests: tuple[Predicate, ...]

    @classmethod
    def of(cls, model: Model) -> Leaves:
        """The trees that ``model.one_of`` makes; found once a model."""
        return derived(model, _read, _FOUND)

    @property
    def trees(self) -> int:
        """How many there are."""
        return len(self.roots)

    @cached_property
    def depth(self) -> int:
        """Tests on the longest way."""
        return int(self.depths.max(initial=0))

    def reached(self, points: FloatArray | ExactRows) -> IntArray:
        """The position of the leaf that each point reaches in each tree, [n, trees]."""
        if not self.trees:
            return np.zeros((len(points), 0), dtype=np.int64)
        table, limits = self._table(points) if isinstance(points, ExactRows) else (points, self.limits)
        if self.tests:
            truths = [mask(test, {Who.EACH: points}) for test in self.tests]
            table = np.column_stack([*truths, table])
        width = table.shape[1]
        flat = np.ascontiguousarray(table, dtype=np.float64).reshape(-1)
        starts = (np.arange(len(points), dtype=np.int64) * width)[:, None]
        nodes = np.repeat(self.roots[None, :], len(points), axis=0)
        for _ in range(self.depth):
            # All indices are in range; not having `take` look at that again saves a third of the time.
            columns = self.columns.take(nodes, mode="clip")
            columns += starts
            above = flat.take(columns, mode="clip") > limits.take(nodes, mode="clip")
            nodes *= 2
            nodes += above
            nodes = self.below.take(nodes, mode="clip")
        return self.positions.take(nodes)

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
            ends = [_numerator(self.borders[node], denominator) for node in nodes.tolist()]
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
        known: dict[int, bool] = {}
        found = []
        for root in self.roots.tolist():
            node = root
            while (predicate := self.predicates[node]) is not None:
                holds = known.get(id(predicate))
                if holds is None:
                    holds = known[id(predicate)] = holds_for(predicate, point)
                node = int(self.below[2 * node + int(holds == bool(self.turned[node]))])
            found.append(int(self.positions[node]))
        return found

    @cached_property
    def _tested(self) -> BoolArray:
        """Which nodes test, as leaves do not."""
        return np.array([predicate is not None for predicate in self.predicates], dtype=np.bool_)

    @cached_property
    def levels(self) -> tuple[IntArray, ...]:
        """The nodes that test, level by level from the roots."""
        return tuple(np.flatnonzero(self._tested & (self.depths == depth)) for depth in range(self.depth))

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


_FOUND: dict[int, Leaves] = {}
#: Integers below it are compared as int64.
_FITS = 2**62


def opposite(predicate: Predicate) -> Predicate:
    """The negation, as the other side of a test is written."""
    match predicate:
        case Compare(left=left, relation=relation):
            return Compare(left=left, relation=relation.negated)
        case Not(part):
            return part
        case _:
            return Not(predicate)


def _read(model: Model) -> Leaves:
    growing = _Growing()
    roots, groups = [], []
    for group in model.one_of:
        ways = _ways(model.inputs, group)
        root = None if ways is None else _grow(growing, group, ways)
        if root is not None:
            roots.append(root)
            groups.append(group)
    inside = {position for group in groups for position in group}
    columns = np.array(growing.columns, dtype=np.int64)
    return Leaves(
        others=np.array([i for i in range(len(model.inputs)) if i not in inside], dtype=np.int64),
        groups=tuple(groups),
        roots=np.array(roots, dtype=np.int64),
        columns=np.where(columns < 0, len(growing.tests) - 1 - columns, columns),
        limits=np.array(growing.limits, dtype=np.float64),
        borders=tuple(growing.borders),
        below=np.array(growing.below, dtype=np.int64).reshape(-1),
        positions=np.array(growing.positions, dtype=np.int64),
        depths=np.array(growing.depths, dtype=np.int64),
        turned=np.array(growing.turned, dtype=np.bool_),
        predicates=tuple(growing.predicates),
        tests=tuple(growing.tests),
    )


def _ways(inputs: Sequence[Input], group: Sequence[int]) -> dict[int, tuple[Predicate, ...]] | None:
    ways = {}
    for position in group:
        match inputs[position]:
            case IndicatorInput(And(parts)):
                ways[position] = parts
            case _:
                return None
    return ways


@dataclass(frozen=True, slots=True)
class _Planned:
    predicate: Predicate | None
    position: int
    depth: int
    parent: int
    holds: bool


def _grow(growing: _Growing, group: Sequence[int], ways: dict[int, tuple[Predicate, ...]]) -> int | None:
    """Add the tree that the ways to its leaves make; None where they make none."""
    planned: list[_Planned] = []
    stack: list[tuple[Sequence[int], int, int, bool]] = [(group, 0, -1, True)]
    while stack:
        below, depth, parent, holds = stack.pop()
        first = ways[below[0]]
        if len(below) == 1 and len(first) == depth:
            planned.append(_Planned(None, below[0], depth, parent, holds))
            continue
        if any(len(ways[position]) <= depth for position in below):
            return None
        test = first[depth]
        other = opposite(test)
        yes = [position for position in below if _same(ways[position][depth], test)]
        no = [position for position in below if _same(ways[position][depth], other)]
        if not no or len(yes) + len(no) < len(below):
            return None
        planned.append(_Planned(test, -1, depth, parent, holds))
        stack += [(no, depth + 1, len(planned) - 1, False), (yes, depth + 1, len(planned) - 1, True)]
    numbers: list[int] = []
    for node in planned:
        numbers.append(growing.add(node.predicate, node.position, node.depth))
        if node.parent >= 0:
            growing.link(numbers[node.parent], numbers[-1], node.holds)
    return numbers[0]


def _same(left: Predicate, right: Predicate) -> bool:
    return left is right or left == right


def _border(predicate: Predicate) -> tuple[int, Border, bool] | None:
    """Column, border and sense of a comparison of one attribute with a number; None for any other predicate."""
    match predicate:
        case Compare(left=Linear(terms=((variable, factor),), constant=constant), relation=relation):
            if variable.who is not Who.EACH or relation in (Relation.EQ, Relation.NE):
                return None
            below = (relation in (Relation.LE, Relation.LT)) == (factor > 0)
            inclusive = relation in (Relation.LE, Relation.GE)
            # Up to the border, with it or without: what lies above it is the negation of the other one.
            return -1 - variable.attribute, (-constant / factor, inclusive == below), not below
    return None


def _numerator(border: Border, denominator: int) -> int:
    """The greatest integer that, over the denominator, is up to the border."""
    number, inclusive = border
    over = Fraction(number) * denominator
    return floor(over) if inclusive else ceil(over) - 1


def _limit(border: Border) -> float:
    """The greatest float up to the border."""
    number, inclusive = border
    if not isinstance(number, Fraction):
        return number
    limit = float_below(number)
    return nextafter(limit, -inf) if limit == number and not inclusive else limit
