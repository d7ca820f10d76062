"""Branch and bound over the signs of units, and over values where the relaxation is not whole.

Depth first, on one linear program that stays loaded: fixing a sign is a change of one column's bound, after
which the dual simplex needs a few steps. A region that takes too many nodes in this way is halved first
(:mod:`~fairdsl.backends.smt.milp.cuts`), for the bounds of its halves are sharper. What it returns is a
certificate to be checked, or a pair that was checked exactly. Time and nodes are limited; where the limits end
a run, nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.smt.milp.certificate import OrderSplit, PhaseSplit, Tree, ValueSplit, refutes, split_values
from fairdsl.backends.smt.milp.cuts import cut_at, cut_of, open_units
from fairdsl.backends.smt.milp.highs import Loaded, Solved, leaf_of
from fairdsl.backends.smt.milp.place import CopyBounds, Enclosures, Place, places
from fairdsl.backends.smt.milp.program import Unit
from fairdsl.backends.smt.milp.query import Query
from fairdsl.backends.smt.region import Region
from fairdsl.clock import Deadline
from fairdsl.ir.domain import Point
from fairdsl.numerics.narrow import ValueSet

FloatArray = NDArray[np.float64]

#: Paths longer than this are given up; the search is recursive. A cut counts as two steps, for it takes six calls
#: where a sign takes two, and Python has room for a thousand.
_DEEPEST, _CUT = 200, 2
#: Parts of the region with more open units than this, or than this share of all, are halved before a program is
#: built for them (measured on networks of 124 and of 300 units).
_WIDEST, _WIDEST_SHARE = 40, 1 / 6
#: Programs with more open units than this are not built: they would be large and hardly ever decided.
MOST_UNITS = 600
#: How many times more nodes the whole region gets than a part of it, where it has at most twice as many open units.
_AT_FIRST = 4


@dataclass(frozen=True, slots=True)
class Searched:
    """A certificate, a pair, or neither: ``detail`` then says why. ``nodes`` counts the linear programs."""

    tree: Tree | None
    pair: tuple[Point, Point] | None
    nodes: int
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
        return replace(self, region=self.region.with_values(who, attribute, values), depth=self.depth + _CUT)


class _FoundError(Exception):
    """Ends the search: a pair was found."""


class StoppedError(Exception):
    """Ends the search without a result; the message says why. What looks at its points may raise it."""


class _TooManyError(Exception):
    """Ends the search of a region that is halved instead."""


class Points(Protocol):
    """What looks at the points of relaxations."""

    def at(self, columns: FloatArray, region: Region) -> tuple[Point, Point] | None:
        """The pair that ends the search, if one is found at the point; raises StoppedError to give up."""


@dataclass(slots=True)
class Search:
    """One run on a query; ``known`` bounds hold on the region of the root.

    ``patience``: a region that takes more nodes than this is halved, as long as it can be. None: halve nothing but
    what the relaxation does not get whole.
    """

    query: Query
    known: CopyBounds | None
    candidates: Points | None
    deadline: Deadline
    limit: int
    patience: int | None = None
    enclosures: Enclosures | None = None
    nodes: int = 0
    _quota: float = inf
    _pair: tuple[Point, Point] | None = None

    def run(self, region: Region) -> Searched:
        """Search the region."""
        try:
            tree = self._covered(_Node(region))
        except _FoundError:
            return Searched(None, self._pair, self.nodes)
        except StoppedError as error:
            return Searched(None, None, self.nodes, str(error))
        return Searched(tree, None, self.nodes)

    def _covered(self, node: _Node) -> Tree:
        """Search a region in which nothing is fixed, or its halves where that takes too many nodes."""
        place = self._place(node.region)
        cut = cut_of(self.query, place) if self.patience is not None and node.depth < _DEEPEST else None
        if cut is None:
            self._quota = inf
            return self._enter(node, place)
        units = open_units(self.query, place)
        if node.depth == 0 or units <= self._widest:
            at_first = node.depth == 0 and units <= 2 * self._widest
            self._quota = self.nodes + (self.patience or 0) * (_AT_FIRST if at_first else 1)
            try:
                return self._enter(node, place)
            except _TooManyError:
                pass
        return self._parted(node, cut, self._covered)

    @property
    def _widest(self) -> float:
        every = len(self.query.copies) * sum(int((layer.slope < 1).sum()) for layer in self.query.layers[:-1])
        return max(_WIDEST, _WIDEST_SHARE * every)

    def _place(self, region: Region) -> Place:
        self._in_time()  # bounds of wide networks take their time, and so do programs about them
        return places(self.query, [region], self.known, self.enclosures)[0]

    def _below(self, node: _Node) -> Tree:
        return self._enter(node, self._place(node.region))

    def _enter(self, node: _Node, place: Place) -> Tree:
        """Search below a region whose program is not loaded yet."""
        self._in_time()
        if not place.bounded:
            raise StoppedError("units have no bounds")
        units = open_units(self.query, place)
        if units > MOST_UNITS:
            raise StoppedError(f"{units} undecided units are too many")
        loaded = Loaded.of(self.query, place)
        for unit, positive in node.signs:
            loaded.fix(unit, positive)
        for _, row in node.ordered:
            loaded.order(row, float(self.query.limits[row]))
        return self._search(node, loaded)

    def _search(self, node: _Node, loaded: Loaded) -> Tree:
        self.nodes += 1
        left = self._in_time()
        if self.nodes > self._quota:
            raise _TooManyError
        if node.depth > _DEEPEST:
            raise StoppedError("the splits on one path are too many")
        solved = loaded.relaxation.solve(left)
        if solved.duals is None:
            late = self.deadline.passed
            raise StoppedError("the time is up" if late else "the linear program was not solved")
        if solved.value == -inf:
            return self._infeasible(node, loaded, solved)
        if solved.value < 0:
            return leaf_of(loaded.program, solved)
        self._try(node, solved)
        unit = loaded.widest(solved)
        if unit is not None:
            return self._by_sign(node, loaded, unit)
        return self._by_value(node, loaded, solved)

    def _infeasible(self, node: _Node, loaded: Loaded, solved: Solved) -> Tree:
        """A leaf where nothing is feasible; its ray may be a bad one, and then the region is halved."""
        place, rows = loaded.place, tuple(row for _, row in node.ordered)
        leaf = leaf_of(loaded.program, solved)
        if not refutes(self.query, place, node.signs, rows, leaf):
            again = loaded.relaxation.anew(self._in_time())
            leaf = leaf if again.duals is None else leaf_of(loaded.program, again)
            cut = cut_of(self.query, place)
            if cut is not None and not refutes(self.query, place, node.signs, rows, leaf):
                return self._parted(node, cut, self._below)
        return leaf

    def _in_time(self) -> float:
        """The seconds that are left; ends the search where there are none, or no nodes."""
        left = self.deadline.remaining
        if left <= 0 or self.nodes > self.limit:
            raise StoppedError("the time is up" if left <= 0 else f"{self.limit} nodes were not enough")
        return left

    def _try(self, node: _Node, solved: Solved) -> None:
        if self.candidates is not None:
            self._pair = self.candidates.at(solved.columns, node.region)
            if self._pair is not None:
                raise _FoundError

    def _by_sign(self, node: _Node, loaded: Loaded, unit: Unit) -> Tree:
        parts = []
        for positive in (False, True):
            loaded.fix(unit, positive)
            parts.append(self._search(node.with_sign(unit, positive), loaded))
        loaded.fix(unit, None)
        return PhaseSplit(unit, *parts)

    def _by_value(self, node: _Node, loaded: Loaded, solved: Solved) -> Tree:
        """All units are exact here: branch where the point is not a pair of the region."""
        for attribute, rows in self.query.orders.items():
            if attribute not in dict(node.ordered):
                return self._by_order(node, loaded, attribute, rows)
        split = cut_at(self.query, node.region, solved.columns)
        if split is None:
            raise StoppedError("the relaxation is exact and neither side of zero is certain")
        return self._parted(node, split, self._below)

    def _parted(self, node: _Node, split: ValueSplit, search: Callable[[_Node], Tree]) -> ValueSplit:
        """Search either side of a cut."""
        parts = split_values(node.region.sets(split.who)[split.attribute], split)
        assert parts is not None, "the cut lies inside"
        below, above = (search(node.with_values(split.who, split.attribute, part)) for part in parts)
        return replace(split, below=below, above=above)

    def _by_order(self, node: _Node, loaded: Loaded, attribute: int, rows: tuple[int, int]) -> Tree:
        parts = []
        for row in rows:
            loaded.order(row, float(self.query.limits[row]))
            parts.append(self._search(node.with_order(attribute, row), loaded))
            loaded.order(row, inf)
        return OrderSplit(attribute, *parts)
