"""The cut that a point of a relaxation calls for, where all its units are exact and it is still nobody.

A relaxation lets attributes take any number between the ends of their values, and indicators any number from 0 to
1 unless a listing ties them to an attribute. A point may then lie between two values of an attribute, or have an
indicator that is not the truth of its predicate; a cut through the attribute's values leaves it to neither side, or
brings the predicate nearer to being decided.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.smt.milp.loaded import EXACT
from fairdsl.backends.smt.milp.query import Query
from fairdsl.backends.smt.milp.tree import NOTHING, ValueSplit
from fairdsl.backends.smt.region import Region
from fairdsl.ir.expr import Predicate, holds, variables
from fairdsl.ir.feature import IndicatorInput
from fairdsl.numerics.narrow import Interval, ValueSet

__all__ = ["cut_at", "values_of"]

FloatArray = NDArray[np.float64]
#: What the point says of each attribute, by the individual and the attribute.
_Point = Mapping[tuple[str, int], float]


def cut_at(query: Query, region: Region, columns: FloatArray) -> ValueSplit | None:
    """The cut for a point whose first columns are the query's variables, with nothing below and above it yet.

    It goes where the point lies farthest from all values of an attribute, else where an indicator is wrong. None
    where every attribute has one of its values and every indicator is what it should be, or cannot be cut.
    """
    point = dict(zip(query.attributes, columns.tolist(), strict=False))
    indicators = columns[len(query.attributes) : query.width].tolist()
    return _between_values(region, point) or _wrong_indicator(query, region, point, indicators)


def values_of(region: Region, who: str, attribute: int) -> ValueSet:
    """The values that are left of the individual's attribute."""
    return (region.a if who == "a" else region.b)[attribute]


def _between_values(region: Region, point: _Point) -> ValueSplit | None:
    best, farthest = None, EXACT
    for (who, attribute), value in point.items():
        values = values_of(region, who, attribute)
        if isinstance(values, Interval):
            continue
        place = bisect_right(values.values, value)
        if 0 < place < values.count:
            below, above = values.values[place - 1], values.values[place]
            apart = min(value - float(below), float(above) - value)
            if apart > farthest:
                best, farthest = ValueSplit(who, attribute, Fraction(below), NOTHING, NOTHING), apart
    return best


def _wrong_indicator(query: Query, region: Region, point: _Point, indicators: Sequence[float]) -> ValueSplit | None:
    """A cut through an attribute of an indicator that is not what its attributes make it."""
    for (who, position), value in zip(query.indicators, indicators, strict=True):
        item = query.reads[position]
        assert isinstance(item, IndicatorInput)
        read = sorted({variable.attribute for variable in variables(item.predicate)})
        owned = {index: (who if (who, index) in point else query.copies[0], index) for index in read}
        truth = _true(item.predicate, {index: Fraction(point[owned[index]]) for index in read})
        if abs(value - truth) <= EXACT:
            continue
        for owner, index in owned.values():
            cut = _near(values_of(region, owner, index), point[owner, index])
            if cut is not None:
                return ValueSplit(owner, index, cut, NOTHING, NOTHING)
    return None


def _true(predicate: Predicate, numbers: Mapping[int, Fraction]) -> bool:
    return holds(predicate, lambda variable: numbers[variable.attribute])


def _near(values: ValueSet, number: float) -> Fraction | None:
    """A cut that leaves something on both sides, near the number; None where there is none."""
    if isinstance(values, Interval):
        if values.low is None or values.high is None or values.low == values.high:
            return None
        return (values.low + values.high) / 2
    if values.count < 2:
        return None
    place = min(max(bisect_right(values.values, number), 1), values.count - 1)
    return Fraction(values.values[place - 1])
