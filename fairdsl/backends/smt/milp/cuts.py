"""Where to cut a region in two: so that bounds get sharper, or where the point of a relaxation is nobody.

Fixing the sign of a unit leaves the bounds of all other units as they are; halving the values of an attribute
sharpens them in every layer, and most where many units are open. The attribute whose width moves the scores
most is halved: widths times the sizes of the weights on all ways to the scores, an open unit counting with the
gradient of its relaxation's upper side. That is a choice, not a bound.

A relaxation lets attributes take any number between the ends of their values, and indicators any number from 0 to
1 unless a listing ties them to an attribute. So where all its units are exact a point may still lie between two values
of an attribute, or have an indicator that is not the truth of its predicate; a cut through the attribute's values
leaves it to neither side, or brings the predicate nearer to being decided.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.smt.milp.certificate import NOTHING, ValueSplit
from fairdsl.backends.smt.milp.highs import EXACT
from fairdsl.backends.smt.milp.place import Place
from fairdsl.backends.smt.milp.query import Query
from fairdsl.backends.smt.region import Region
from fairdsl.ir.ensemble import listed_of
from fairdsl.ir.feature import IndicatorInput
from fairdsl.numerics.bounds import LayerBounds
from fairdsl.numerics.narrow import Interval, ValueSet
from fairdsl.numerics.predicates import holds_for
from fairdsl.numerics.products import product
from fairdsl.numerics.space import halved

FloatArray = NDArray[np.float64]
#: What the point says of each attribute, by the individual and the attribute.
_Point = Mapping[tuple[str, int], float]


def open_units(query: Query, place: Place) -> int:
    """How many units of all copies the bounds leave on either side of zero."""
    return sum(
        int(((bounds.low < 0) & (bounds.high > 0) & (layer.slope < 1)).sum())
        for copy in place.bounds
        for bounds, layer in zip(copy[:-1], query.layers[:-1], strict=False)
    )


def cut_of(query: Query, place: Place) -> ValueSplit | None:
    """The cut through the middle of an attribute's values, with nothing below and above it yet.

    None where no attribute has values to cut.
    """
    influence = np.zeros(query.width)
    with np.errstate(all="ignore"):
        for copy, columns in zip(place.bounds, query.inputs, strict=True):
            np.add.at(influence, columns, _influence(query, copy))
        moved = influence * (place.high - place.low)
    moved = np.where(np.isnan(moved), 0.0, moved)
    index = {owned: column for column, owned in enumerate(query.attributes)}
    total = moved[: len(query.attributes)].copy()
    for number, attribute in np.argwhere(query.depends).tolist():
        who, _ = query.indicators[number]
        own = index.get((who, attribute), index[query.copies[0], attribute])
        total[own] += moved[len(query.attributes) + number]
    for column in np.argsort(-total, kind="stable").tolist():
        who, attribute = query.attributes[column]
        cut = _middle(place.region.sets(who)[attribute])
        if cut is not None:
            return ValueSplit(who, attribute, cut, NOTHING, NOTHING)
    return None


def _influence(query: Query, bounds: tuple[LayerBounds, ...]) -> FloatArray:
    """How far the copy's scores move with each of its inputs, roughly."""
    current = np.abs(query.layers[-1].weight).sum(axis=0)
    for layer, ends in zip(reversed(query.layers[:-1]), reversed(bounds[:-1]), strict=True):
        high = np.maximum(ends.high, 0.0)
        span = high - np.minimum(ends.low, 0.0)
        share = np.where(span > 0, high / np.where(span > 0, span, 1.0), 0.0)
        gradient = layer.slope + (1.0 - layer.slope) * np.where(np.isfinite(share), share, 1.0)
        current = product(current * gradient, np.abs(layer.weight))
    return np.asarray(current)


def _middle(values: ValueSet) -> Fraction | None:
    parts = halved(values)
    if parts is None:
        return None
    cut = parts[0].high
    return None if cut is None else Fraction(cut)


def cut_at(query: Query, region: Region, columns: FloatArray) -> ValueSplit | None:
    """The cut for a point whose first columns are the query's variables, with nothing below and above it yet.

    It goes where the point lies farthest from all values of an attribute, else where an indicator is wrong. None
    where every attribute has one of its values and every indicator is what it should be, or cannot be cut.
    """
    point = dict(zip(query.attributes, columns.tolist(), strict=False))
    indicators = columns[len(query.attributes) : query.width].tolist()
    return _between_values(region, point) or _wrong_indicator(query, region, point, indicators)


def _between_values(region: Region, point: _Point) -> ValueSplit | None:
    best, farthest = None, EXACT
    for (who, attribute), value in point.items():
        values = region.sets(who)[attribute]
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
    wrong = np.flatnonzero(np.abs(np.array(indicators) - _truths(query, region, point)) > EXACT)
    for number in wrong.tolist():
        who, _ = query.indicators[number]
        for index in np.flatnonzero(query.depends[number]).tolist():
            owner = _owner(query, point, who, index)
            cut = _near(region.sets(owner)[index], point[owner, index])
            if cut is not None:
                return ValueSplit(owner, index, cut, NOTHING, NOTHING)
    return None


def _owner(query: Query, point: _Point, who: str, attribute: int) -> str:
    """Whose variable the individual's attribute is."""
    return who if (who, attribute) in point else query.copies[0]


def _truths(query: Query, region: Region, point: _Point) -> FloatArray:
    """What the point's attributes make of the indicators, [indicators]."""
    width = len(region.shared)
    rows = {who: [point[_owner(query, point, who, index), index] for index in range(width)] for who in query.copies}
    exact = {who: tuple(Fraction(value) for value in row) for who, row in rows.items()}
    people = np.array([rows[who] for who in query.copies])
    reached = dict(zip(query.copies, (set(leaves) for leaves in query.leaves.reached(people).tolist()), strict=True))
    found = np.zeros(len(query.indicators))
    for number, (who, position) in enumerate(query.indicators):
        if position >= len(listed_of(query.reads)):
            found[number] = position in reached[who]
            continue
        item = query.reads[position]
        assert isinstance(item, IndicatorInput)
        found[number] = holds_for(item.predicate, exact[who])
    return found


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
