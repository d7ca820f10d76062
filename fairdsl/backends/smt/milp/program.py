"""A query on a place as a linear or mixed-integer program in float64. Nothing here is trusted.

Variables: those of the query; one weight for each value of a listing (they sum to 1); for every unit whose
sign the bounds leave open its positive part p and its negative part q, as shares of their greatest values
(z = high p - |low| q, and the output is high p - slope |low| q); and t, which is maximised, subject to
every target being at least t. The triangle relaxation of a unit is p + q <= 1; its two phases are q = 0 and
p = 0. All other units are affine and folded away. The case cannot be met where the greatest t is negative.

The dual value of a unit's row ``high p - |low| q - z(...) = 0`` is the gradient of the unit, and those of the
targets' and the domain's rows are their multipliers, in the sense of ``numerics/dual.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.smt.milp.place import Place
from fairdsl.backends.smt.milp.query import Query
from fairdsl.numerics.products import product

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


class Unit(NamedTuple):
    """A unit of one copy: positions of the copy, of the layer and in the layer."""

    copy: int
    layer: int
    position: int


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """``low <= matrix @ columns <= high``."""

    matrix: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        """All rows, in order."""
        return cls(
            np.vstack([part.matrix for part in parts]),
            np.concatenate([part.low for part in parts]),
            np.concatenate([part.high for part in parts]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """Maximise the last column subject to ``rows`` and ``low <= columns <= high``.

    ``units`` are the open units; the k-th has its p and q in the columns ``first_unit + 2 k`` and the next,
    its row at ``k``, and its triangle at ``len(units) + k``. Then come the rows of the targets, the domain
    and the listings. ``whole`` marks the columns that take whole numbers. ``scores`` are the copies' scores
    as affine functions of the columns, the constant last.
    """

    query: Query
    units: tuple[Unit, ...]
    low: FloatArray
    high: FloatArray
    whole: BoolArray
    rows: Rows
    first_unit: int
    scores: tuple[FloatArray, ...]

    @property
    def first_target(self) -> int:
        """The row of the first target; the domain's rows follow the targets'."""
        return 2 * len(self.units)

    @property
    def first_condition(self) -> int:
        """The row of the first of the domain's inequalities."""
        return self.first_target + len(self.query.targets.constants)


def program(query: Query, place: Place) -> Program:
    """The relaxation of the query on the place, where every open unit has finite bounds."""
    units = tuple(
        Unit(copy, layer, int(position))
        for copy, bounds in enumerate(place.bounds)
        for layer in range(len(query.layers) - 1)
        for position in np.flatnonzero(
            (bounds[layer].low < 0) & (bounds[layer].high > 0) & (query.layers[layer].slope < 1)
        )
    )
    listed = sum(len(listing.values) for listing in query.listings)
    first_unit = query.width + listed
    width = first_unit + 2 * len(units) + 1
    before, scores = _folded(query, place, units, first_unit, width)
    parts = [
        _unit_rows(before, place, units, first_unit, width),
        _triangles(units, first_unit, width),
        _target_rows(query, scores),
        _condition_rows(query, width),
        _listing_rows(query, width),
    ]
    low, high = np.zeros(width), np.ones(width)
    low[: query.width], high[: query.width] = place.low, place.high
    if listed:
        high[query.width : first_unit] = np.concatenate(place.allowed)
    low[-1], high[-1] = -inf, inf
    whole = np.zeros(width, dtype=np.bool_)
    whole[: query.width] = query.whole
    whole[query.width : first_unit] = True
    return Program(query, units, low, high, whole, Rows.joined(parts), first_unit, tuple(scores))


def with_binaries(relaxed: Program) -> Program:
    """The program with one more column for each open unit, 1 for z >= 0 and 0 for z <= 0; t stays last."""
    count, width = len(relaxed.units), len(relaxed.low)
    choice = width - 1 + np.arange(count)
    positive = relaxed.first_unit + 2 * np.arange(count)
    wider = np.insert(relaxed.rows.matrix, [width - 1] * count, 0.0, axis=1)
    rows = np.zeros((2 * count, width + count))
    each = np.arange(count)
    rows[each, positive], rows[each, choice] = 1.0, -1.0
    rows[count + each, positive + 1], rows[count + each, choice] = 1.0, 1.0
    above = np.concatenate([np.zeros(count), np.ones(count)])
    return Program(
        relaxed.query,
        relaxed.units,
        np.insert(relaxed.low, [width - 1] * count, 0.0),
        np.insert(relaxed.high, [width - 1] * count, 1.0),
        np.insert(relaxed.whole, [width - 1] * count, True),
        Rows.joined([Rows(wider, relaxed.rows.low, relaxed.rows.high), Rows(rows, np.full(2 * count, -inf), above)]),
        relaxed.first_unit,
        tuple(np.insert(scores, [width - 1] * count, 0.0, axis=1) for scores in relaxed.scores),
    )


def _folded(
    query: Query, place: Place, units: Sequence[Unit], first_unit: int, width: int
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Affine functions of the columns, the constant last: each open unit's z, and each copy's scores."""
    column = {unit: first_unit + 2 * number for number, unit in enumerate(units)}
    before: list[FloatArray] = []
    scores: list[FloatArray] = []
    for copy, places in enumerate(query.inputs):
        outputs = np.zeros((len(places), width + 1))
        outputs[np.arange(len(places)), places] = 1.0
        for depth, layer in enumerate(query.layers):
            affine = product(layer.weight, outputs)
            affine[:, -1] += layer.bias
            if depth + 1 == len(query.layers):
                scores.append(affine)
                break
            bounds = place.bounds[copy][depth]
            factor = np.where(bounds.low >= 0, 1.0, layer.slope)
            outputs = affine * factor[:, None]
            for position in range(len(layer.bias)):
                at = column.get(Unit(copy, depth, position))
                if at is not None:
                    before.append(affine[position])
                    outputs[position] = 0.0
                    outputs[position, at] = bounds.high[position]
                    outputs[position, at + 1] = layer.slope[position] * bounds.low[position]
    return before, scores


def _unit_rows(before: Sequence[FloatArray], place: Place, units: Sequence[Unit], first_unit: int, width: int) -> Rows:
    """``high p - |low| q - z = 0`` of every open unit."""
    count = len(units)
    affine = np.array(before).reshape(count, width + 1)
    matrix, limit = -affine[:, :-1], affine[:, -1]
    for number, unit in enumerate(units):
        bounds = place.bounds[unit.copy][unit.layer]
        matrix[number, first_unit + 2 * number] += bounds.high[unit.position]
        matrix[number, first_unit + 2 * number + 1] += bounds.low[unit.position]
    return Rows(matrix, limit, limit)


def _triangles(units: Sequence[Unit], first_unit: int, width: int) -> Rows:
    matrix = np.zeros((len(units), width))
    for number in range(len(units)):
        matrix[number, first_unit + 2 * number : first_unit + 2 * number + 2] = 1.0
    return Rows(matrix, np.full(len(units), -inf), np.ones(len(units)))


def _target_rows(query: Query, scores: Sequence[FloatArray]) -> Rows:
    """Every target is at least t."""
    affine = sum(product(rows, score) for rows, score in zip(query.targets.rows, scores, strict=True))
    matrix = np.asarray(affine)[:, :-1].copy()
    matrix[:, -1] = -1.0
    constants = np.asarray(affine)[:, -1] + query.targets.constants
    return Rows(matrix, -constants, np.full(len(constants), inf))


def _condition_rows(query: Query, width: int) -> Rows:
    """The domain's inequalities; those that only hold in some branches are not in force."""
    matrix = np.zeros((len(query.rows), width))
    matrix[:, : query.width] = query.rows
    return Rows(matrix, np.full(len(matrix), -inf), np.where(query.always, query.limits, inf))


def _listing_rows(query: Query, width: int) -> Rows:
    """The weights of a listing sum to 1, and each of its variables is the weighted sum of its values."""
    matrix: list[FloatArray] = []
    limits: list[float] = []
    start = query.width
    for listing in query.listings:
        weights = slice(start, start + len(listing.values))
        start += len(listing.values)
        total = np.zeros(width)
        total[weights] = 1.0
        matrix.append(total)
        limits.append(1.0)
        for number, variable in enumerate(listing.columns):
            row = np.zeros(width)
            row[variable], row[weights] = -1.0, listing.table[:, number]
            matrix.append(row)
            limits.append(0.0)
    bounds = np.array(limits, dtype=np.float64)
    return Rows(np.array(matrix, dtype=np.float64).reshape(len(limits), width), bounds, bounds)
