"""Branch and bound over the signs of units, and over values where the relaxation is not whole.

Depth first, on one linear program that stays loaded: fixing a sign is a change of one column's bound, after
which the dual simplex needs a few steps. What it returns is a certificate to be checked, or a pair that was
checked exactly. Time and nodes are limited; where the limits end a run, nothing is known.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.smt.milp.candidate import Candidates
from fairdsl.backends.smt.milp.certify import split_values
from fairdsl.backends.smt.milp.highs import Relaxation, Solved
from fairdsl.backends.smt.milp.place import CopyBounds, places
from fairdsl.backends.smt.milp.program import Program, Unit, program
from fairdsl.backends.smt.milp.query import Query
from fairdsl.backends.smt.milp.tree import Leaf, OrderSplit, PhaseSplit, Tree, ValueSplit
from fairdsl.backends.smt.region import Region
from fairdsl.ir.domain import Point
from fairdsl.ir.expr import Predicate, holds, variables
from fairdsl.ir.feature import IndicatorInput
from fairdsl.numerics.narrow import Interval, ValueSet

__all__ = ["Search", "Searched", "leaf_of"]

FloatArray = NDArray[np.float64]

#: A share, a distance of values, below which the relaxation's point counts as exact.
_EXACT = 1e-7
#: Paths longer than this are given up; the search is recursive.
_DEEPEST = 200
#: How much more a unit counts for every layer that lies before it. Of the powers of two, 4 needed the fewest
#: nodes on networks of five hidden layers; one case took 119 nodes instead of more than 4000.
_LATER = 4.0


@dataclass(frozen=True, slots=True)
class Searched:
    """A certificate, a pair, or neither: ``detail`` then says why. ``value`` is the root's greatest t."""

    tree: Tree | None
    pair: tuple[Point, Point] | None
    nodes: int
    value: float
    detail: str = ""


@dataclass(frozen=True, slots=True)
class _Node:
    """Where the search is: the region, the signs that are fixed, the attributes whose order is."""

    region: Region
    signs: tuple[tuple[Unit, bool], ...] = ()
    ordered: tuple[tuple[int, int], ...] = ()
    depth: int = 0

    def with_sign(self, unit: Unit, positive: bool) -> _Node:
        """Below a sign."""
        return replace(self, signs=(*self.signs, (unit, positive)), depth=self.depth + 1)

    def with_order(self, attribute: int, row: int) -> _Node:
        """Below an order."""
        return replace(self, ordered=(*self.ordered, (attribute, row)), depth=self.depth + 1)

    def with_values(self, who: str, attribute: int, values: ValueSet) -> _Node:
        """Below a cut."""
        return replace(self, region=self.region.with_values(who, attribute, values), depth=self.depth + 1)


class _FoundError(Exception):
    """Ends the search: a pair was found."""


class _StoppedError(Exception):
    """Ends the search without a result."""


@dataclass(slots=True)
class Search:
    """One run on a query; ``known`` bounds hold on the region of the root."""

    query: Query
    known: CopyBounds | None
    candidates: Candidates | None
    deadline: float
    limit: int
    nodes: int = 0
    _pair: tuple[Point, Point] | None = None
    _value: float = inf

    def run(self, region: Region) -> Searched:
        """Search the region."""
        try:
            tree = self._enter(_Node(region))
        except _FoundError:
            return Searched(None, self._pair, self.nodes, self._value)
        except _StoppedError as error:
            return Searched(None, None, self.nodes, self._value, str(error))
        return Searched(tree, None, self.nodes, self._value)

    def _enter(self, node: _Node) -> Tree:
        """Search below a region whose program is not loaded yet."""
        place = places(self.query, [node.region], self.known)[0]
        if not place.bounded:
            raise _StoppedError("units have no bounds")
        loaded = _Loaded.of(program(self.query, place))
        for unit, positive in node.signs:
            loaded.fix(unit, positive)
        for _, row in node.ordered:
            loaded.order(row, float(self.query.limits[row]))
        return self._search(node, loaded)

    def _search(self, node: _Node, loaded: _Loaded) -> Tree:
        self.nodes += 1
        left = self.deadline - time.monotonic()
        if left <= 0 or self.nodes > self.limit:
            raise _StoppedError("the time is up" if left <= 0 else f"{self.limit} nodes were not enough")
        if node.depth > _DEEPEST:
            raise _StoppedError(f"{_DEEPEST} splits on one path were not enough")
        solved = loaded.relaxation.solve(left)
        if self.nodes == 1:
            self._value = solved.value
        if solved.duals is None:
            late = time.monotonic() >= self.deadline
            raise _StoppedError("the time is up" if late else "the linear program was not solved")
        if solved.value < 0:
            return leaf_of(loaded.program, solved)
        self._try(node, solved)
        unit = loaded.widest(solved)
        if unit is not None:
            return self._by_sign(node, loaded, unit)
        return self._by_value(node, loaded, solved)

    def _try(self, node: _Node, solved: Solved) -> None:
        if self.candidates is not None:
            self._pair = self.candidates.at(solved.columns, node.region)
            if self._pair is not None:
                raise _FoundError

    def _by_sign(self, node: _Node, loaded: _Loaded, unit: Unit) -> Tree:
        parts = []
        for positive in (False, True):
            loaded.fix(unit, positive)
            parts.append(self._search(node.with_sign(unit, positive), loaded))
        loaded.fix(unit, None)
        return PhaseSplit(unit, *parts)

    def _by_value(self, node: _Node, loaded: _Loaded, solved: Solved) -> Tree:
        """All units are exact here: branch where the point is no pair of the region."""
        for attribute, rows in self.query.orders.items():
            if attribute not in dict(node.ordered):
                return self._by_order(node, loaded, attribute, rows)
        split = self._fractional(node, solved)
        if split is None:
            raise _StoppedError("the relaxation is exact and neither side of zero is certain")
        parts = split_values((node.region.a if split.who == "a" else node.region.b)[split.attribute], split)
        assert parts is not None, "the cut lies inside"
        trees = [self._enter(node.with_values(split.who, split.attribute, part)) for part in parts]
        return replace(split, below=trees[0], above=trees[1])

    def _by_order(self, node: _Node, loaded: _Loaded, attribute: int, rows: tuple[int, int]) -> Tree:
        parts = []
        for row in rows:
            loaded.order(row, float(self.query.limits[row]))
            parts.append(self._search(node.with_order(attribute, row), loaded))
            loaded.order(row, inf)
        return OrderSplit(attribute, *parts)

    def _fractional(self, node: _Node, solved: Solved) -> ValueSplit | None:
        """A cut where the point lies farthest from all values of an attribute, else where an indicator is wrong."""
        best, farthest = None, _EXACT
        point = dict(zip(self.query.attributes, solved.columns.tolist(), strict=False))
        for (who, attribute), value in point.items():
            values = _values(node.region, who, attribute)
            if isinstance(values, Interval):
                continue
            place = bisect_right(values.values, value)
            if 0 < place < values.count:
                below, above = values.values[place - 1], values.values[place]
                apart = min(value - float(below), float(above) - value)
                if apart > farthest:
                    best, farthest = ValueSplit(who, attribute, Fraction(below), _PENDING, _PENDING), apart
        return best or self._wrong_indicator(node, solved, point)

    def _wrong_indicator(self, node: _Node, solved: Solved, point: dict[tuple[str, int], float]) -> ValueSplit | None:
        """A cut through an attribute of an indicator that is not what its attributes make it."""
        first = len(self.query.attributes)
        for (who, position), value in zip(self.query.indicators, solved.columns[first:].tolist(), strict=False):
            item = self.query.reads[position]
            assert isinstance(item, IndicatorInput)
            read = sorted({variable.attribute for variable in variables(item.predicate)})
            owned = {index: (who if (who, index) in point else self.query.copies[0], index) for index in read}
            numbers = {index: Fraction(point[owned[index]]) for index in read}
            truth = _true(item.predicate, numbers)
            if abs(value - truth) <= _EXACT:
                continue
            for owner, index in owned.values():
                cut = _middle(_values(node.region, owner, index), point[owner, index])
                if cut is not None:
                    return ValueSplit(owner, index, cut, _PENDING, _PENDING)
        return None


@dataclass(frozen=True, slots=True, eq=False)
class _Loaded:
    """A program in the solver, and where its units stand."""

    program: Program
    relaxation: Relaxation
    places: dict[Unit, int]

    @classmethod
    def of(cls, linear: Program) -> _Loaded:
        return cls(linear, Relaxation(linear), {unit: number for number, unit in enumerate(linear.units)})

    def fix(self, unit: Unit, positive: bool | None) -> None:
        """Fix a unit's sign, or leave it open again; nothing where the bounds have decided it."""
        number = self.places.get(unit)
        if number is not None:
            column = self.program.first_unit + 2 * number
            high = np.array([float(positive is not False), float(positive is not True)])
            self.relaxation.columns_between(np.array([column, column + 1], dtype=np.int32), np.zeros(2), high)

    def order(self, row: int, limit: float) -> None:
        """Put one of the domain's rows in force, or out of it with an infinite limit."""
        self.relaxation.row_at_most(self.program.first_condition + row, limit)

    def widest(self, solved: Solved) -> Unit | None:
        """The open unit whose relaxation costs most at the point; None where all are exact."""
        count, first = len(self.program.units), self.program.first_unit
        if count == 0:
            return None
        shares = solved.columns[first : first + 2 * count].reshape(count, 2)
        apart = shares.min(axis=1)
        if apart.max() <= _EXACT:
            return None
        assert solved.duals is not None
        # The dual value of the triangle's row is what tightening it gains. Late layers first: what their units
        # relax is still there when all the units before them are fixed (measured; see `_LATER`).
        price = np.abs(solved.duals[count : 2 * count])
        wrong = np.sqrt(np.maximum(1.0 - shares.max(axis=1) + apart, 0.0))
        later = _LATER ** np.array([unit.layer for unit in self.program.units], dtype=np.float64)
        gain = (price * wrong + 1e-9 * apart) * later
        best = int(np.argmax(np.where(apart > _EXACT, gain, -1.0)))
        return self.program.units[best]


def leaf_of(linear: Program, solved: Solved) -> Leaf:
    """The multipliers that the solver's duals stand for."""
    assert solved.duals is not None
    targets = slice(linear.first_target, linear.first_condition)
    conditions = slice(linear.first_condition, linear.first_condition + len(linear.query.limits))
    duals = solved.duals
    return Leaf(-duals[targets], duals[conditions], linear.units, duals[: len(linear.units)])


_PENDING = Leaf(np.zeros(0), np.zeros(0), (), np.zeros(0))


def _values(region: Region, who: str, attribute: int) -> ValueSet:
    return (region.a if who == "a" else region.b)[attribute]


def _true(predicate: Predicate, numbers: Mapping[int, Fraction]) -> bool:
    return holds(predicate, lambda variable: numbers[variable.attribute])


def _middle(values: ValueSet, near: float) -> Fraction | None:
    """A cut that leaves something on both sides, near the number; None where there is none."""
    if isinstance(values, Interval):
        if values.low is None or values.high is None or values.low == values.high:
            return None
        return (values.low + values.high) / 2
    if values.count < 2:
        return None
    place = min(max(bisect_right(values.values, near), 1), values.count - 1)
    return Fraction(values.values[place - 1])
