"""Regions as numbers: where the variables of a query lie, and bounds of all pre-activations there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.smt.milp.query import Listing, Query
from fairdsl.backends.smt.region import Region, input_box
from fairdsl.numerics.bounds import LayerBounds, outward, preactivation_bounds

__all__ = ["CopyBounds", "Place", "places"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
#: Pre-activation bounds of each copy, layer by layer, [width] each side.
CopyBounds = tuple[tuple[tuple[FloatArray, FloatArray], ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A region as numbers: boxes of the variables, [variables], and bounds of the copies' pre-activations.

    ``allowed`` says for each listing which of its values are left.
    """

    region: Region
    low: FloatArray
    high: FloatArray
    allowed: tuple[BoolArray, ...]
    bounds: tuple[tuple[LayerBounds, ...], ...]

    @property
    def bounded(self) -> bool:
        """Whether every unit has finite bounds."""
        return all(
            bool(np.isfinite(layer.low).all() and np.isfinite(layer.high).all())
            for copy in self.bounds
            for layer in copy[:-1]
        )


def places(query: Query, regions: Sequence[Region], known: CopyBounds | None = None) -> list[Place]:
    """The regions as numbers, with bounds computed here; ``known`` bounds hold on all of them as well."""
    boxes = [input_box(query.reads, region.a if who == "a" else region.b) for who in query.copies for region in regions]
    found = preactivation_bounds(
        query.layers, np.array([low for low, _ in boxes]), np.array([high for _, high in boxes])
    )
    result = []
    for number, region in enumerate(regions):
        ends = [_ends(region, who, attribute) for who, attribute in query.attributes]
        for who, position in query.indicators:
            low, high = boxes[query.copies.index(who) * len(regions) + number]
            ends.append((low[position], high[position]))
        bounds = []
        for copy in range(len(query.copies)):
            row = copy * len(regions) + number
            own = [LayerBounds(layer.low[row], layer.high[row]) for layer in found]
            bounds.append(tuple(own if known is None else _met(own, known[copy])))
        allowed = tuple(_allowed(listing, region) for listing in query.listings)
        low_high = np.array(ends, dtype=np.float64).reshape(-1, 2)
        result.append(Place(region, low_high[:, 0], low_high[:, 1], allowed, tuple(bounds)))
    return result


def _met(own: Sequence[LayerBounds], known: Sequence[tuple[FloatArray, FloatArray]]) -> Iterator[LayerBounds]:
    for bounds, (low, high) in zip(own, known, strict=True):
        yield LayerBounds(np.maximum(bounds.low, low), np.minimum(bounds.high, high))


def _ends(region: Region, who: str, attribute: int) -> tuple[float, float]:
    values = (region.a if who == "a" else region.b)[attribute]
    return outward(values.low, values.high)


def _allowed(listing: Listing, region: Region) -> BoolArray:
    values = (region.a if listing.who == "a" else region.b)[listing.attribute]
    return np.array([values.contains(value) for value in listing.values], dtype=np.bool_)
