"""Where to cut a region in two, so that bounds get sharper.

Fixing the sign of a unit leaves the bounds of all other units as they are; halving the values of an attribute
sharpens them in every layer, and most where many units are open. The attribute whose width moves the scores
most is halved: widths times the sizes of the weights on all ways to the scores, an open unit counting with the
gradient of its relaxation's upper side. That is a choice, not a bound.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.smt.milp.place import Place
from fairdsl.backends.smt.milp.query import Query
from fairdsl.backends.smt.milp.tree import NOTHING, ValueSplit
from fairdsl.numerics.bounds import LayerBounds
from fairdsl.numerics.narrow import ValueSet
from fairdsl.numerics.products import product
from fairdsl.numerics.space import halved

__all__ = ["cut_of", "open_units"]

FloatArray = NDArray[np.float64]


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
        cut = _middle((place.region.a if who == "a" else place.region.b)[attribute])
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
