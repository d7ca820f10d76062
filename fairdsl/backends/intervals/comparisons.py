"""Comparisons: the paths that join compared individuals, and what each assignment itself contributes.

The path of a set of assignments is the hull of their contributions. Where the set is a product, it is the
sum of one simplex for each differing attribute (a segment, where the attribute is read as a number);
otherwise one simplex of all its vertices, or, where these are many, the larger hull of the product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals.network import FirstLayer
from fairdsl.numerics.assignments import Assignments

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
ObjectArray = NDArray[Any]

#: Vertices of one simplex at most; more are replaced by a simplex an attribute.
_VERTICES = 12


@dataclass(frozen=True, slots=True)
class Tables:
    """The comparisons of a task, as :class:`~.task.Task` wants them."""

    origin: Floats
    moves: Floats
    move_start: Integers
    simplex: Integers
    groups: Floats
    group_start: Integers
    corners: NDArray[np.bool_]


@dataclass(kw_only=True, eq=False)
class Comparisons:
    """The comparisons met so far, each distinct one once.

    ``base`` is what all individuals have in common; ``ways`` are simplices [vertices, units] of relaxed
    attributes: their first vertex is part of every origin, what the others add are moves. ``whole`` are the
    differing attributes' values where ``assignments`` hold only some of them.
    """

    first: FirstLayer
    assignments: Assignments
    base: ObjectArray
    here: ObjectArray
    ways: Sequence[ObjectArray]
    whole: Sequence[Sequence[int | Fraction]]
    members: list[tuple[int, ...]] = field(default_factory=list)
    entries: int = 0

    def __post_init__(self) -> None:
        self._index: dict[tuple[bytes, bytes], int | None] = {}
        self._paths: dict[bytes, tuple[ObjectArray, list[ObjectArray], bool]] = {}
        self._origins: list[ObjectArray] = []
        self._moves: list[list[ObjectArray]] = []
        self._corners: list[bool] = []
        tables = [
            self.first.contributions(attribute, values)
            for attribute, values in zip(self.assignments.differ, self.assignments.values, strict=True)
        ]
        self._tables = tables
        positions = self.assignments.positions
        total = np.tile(self.here, (len(positions), 1))
        for column, contributions in enumerate(tables):
            total = total + contributions[positions[:, column]]
        self._total, self._each = total, self.first.floats(total)

    def add(self, joined: Integers, compared: Integers) -> int | None:
        """The comparison whose path covers the assignments ``joined``; None where all contribute the same.

        ``compared`` are those among which every two different decisions are a violation.
        """
        key = joined.tobytes(), compared.tobytes()
        if key not in self._index:
            self._index[key] = self._added(joined, compared)
        return self._index[key]

    def _added(self, joined: Integers, compared: Integers) -> int | None:
        origin, simplices, corners = self._path(joined)
        if not simplices:
            return None
        self._corners.append(corners and np.array_equal(joined, compared))
        self._origins.append(origin)
        self._moves.append(simplices)
        self.members.append(tuple(compared.tolist()))
        self.entries += len(compared) * self.first.units
        return len(self._origins) - 1

    def _path(self, joined: Integers) -> tuple[ObjectArray, list[ObjectArray], bool]:
        """Origin, the moves of each simplex that moves at all, and whether all corners are joined assignments."""
        key = joined.tobytes()
        if key not in self._paths:
            origin = self.base
            simplices = []
            parts, corners = self._vertices(joined)
            for vertices in (*self.ways, *parts):
                origin = origin + vertices[0]
                moves = _distinct(vertices[1:] - vertices[0])
                if len(moves):
                    simplices.append(moves)
            self._paths[key] = origin, simplices, corners
        return self._paths[key]

    def _vertices(self, joined: Integers) -> tuple[list[ObjectArray], bool]:
        """The simplices whose sum contains what the joined assignments contribute; whether it has no other corner."""
        differ = self.assignments.differ
        everybody = len(joined) == self.assignments.count
        if everybody:
            return [self._ends(attribute, values) for attribute, values in zip(differ, self.whole, strict=True)], True
        rows = self.assignments.positions[joined]
        met = [np.unique(rows[:, column]) for column in range(len(differ))]
        product = prod(len(positions) for positions in met) == len(joined)
        if not product:
            together = np.sum([table[rows[:, column]] for column, table in enumerate(self._tables)], axis=0)
            vertices = np.concatenate([together[:1], together[:1] + _distinct(together[1:] - together[0])])
            if len(vertices) <= _VERTICES:
                return [vertices], True
        ends = [
            self._ends(attribute, [values[position] for position in positions.tolist()])
            for attribute, values, positions in zip(differ, self.assignments.values, met, strict=True)
        ]
        return ends, product

    def _ends(self, attribute: int, values: Sequence[int | Fraction]) -> ObjectArray:
        """The vertices of what these values contribute: two where they lie on a line."""
        if self.first.linear(attribute):
            values = [min(values), max(values)]
        return self.first.contributions(attribute, values)

    @property
    def members_in_order(self) -> Integers:
        """The assignments of all comparisons' groups; of one that no root has, nobody's."""
        return np.array([row for compared in self.members for row in compared], dtype=np.int64)

    def numbers(self) -> ObjectArray:
        """What the groups of :meth:`tables` contribute, exactly."""
        return self._total[self.members_in_order] if self._origins else self.here.reshape(1, -1)

    def tables(self) -> Tables:
        """All comparisons as arrays of nearest floats; where there are none, one that no root has."""
        units = self.first.units
        if not self._origins:
            alone = self.first.floats(self.here.reshape(1, -1))
            none, one = np.zeros(2, dtype=np.int64), np.array([0, 1], dtype=np.int64)
            return Tables(alone, np.zeros((0, units)), none, none[:0], alone, one, np.zeros(1, dtype=np.bool_))
        flat = [move for simplices in self._moves for moves in simplices for move in moves]
        counts = [sum(len(moves) for moves in simplices) for simplices in self._moves]
        simplex = [
            number for simplices in self._moves for number, moves in enumerate(simplices) for _ in range(len(moves))
        ]
        return Tables(
            origin=self.first.floats(_stacked(self._origins, units)),
            moves=self.first.floats(_stacked(flat, units)),
            move_start=_starts(counts),
            simplex=np.array(simplex, dtype=np.int64),
            groups=self._each[self.members_in_order],
            group_start=_starts([len(compared) for compared in self.members]),
            corners=np.array(self._corners, dtype=np.bool_),
        )


def _distinct(moves: ObjectArray) -> ObjectArray:
    """The rows that are not zero, each once, in order."""
    seen: dict[tuple[Any, ...], None] = {}
    for row in moves.tolist():
        if any(row):
            seen.setdefault(tuple(row))
    return _stacked([np.array(row, dtype=object) for row in seen], moves.shape[1])


def _stacked(rows: Sequence[ObjectArray], units: int) -> ObjectArray:
    out = np.empty((len(rows), units), dtype=object)
    for position, row in enumerate(rows):
        out[position] = row
    return out


def _starts(counts: Sequence[int]) -> Integers:
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)
