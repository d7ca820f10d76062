"""Regions as numbers: where the variables of a query lie, and bounds of all pre-activations there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.smt.milp.query import Listing, Query
from fairdsl.backends.smt.region import Region
from fairdsl.ir.feature import Input
from fairdsl.numerics.bounds import FloatLayer, LayerBounds, outward, preactivation_bounds, spend_on_bounds
from fairdsl.numerics.leaves import Leaves
from fairdsl.numerics.narrow import ValueSet
from fairdsl.numerics.space import input_boxes

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
#: Pre-activation bounds of each copy, layer by layer, [width] each side.
CopyBounds = tuple[tuple[tuple[FloatArray, FloatArray], ...], ...]
#: The values that one individual's attributes may take.
Sets = tuple[ValueSet, ...]

#: Products of value sets whose bounds are kept, and numbers of all these bounds, at most; then they are forgotten,
#: for searches can be long and networks wide.
_KEPT, _NUMBERS = 4096, 1 << 23


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


@dataclass(frozen=True, slots=True, eq=False)
class _Enclosed:
    """The box of the inputs, [inputs] each side, and the bounds of one copy, [width] each side."""

    low: FloatArray
    high: FloatArray
    layers: tuple[LayerBounds, ...]


@dataclass(slots=True, eq=False)
class Enclosures:
    """Bounds of a network on products of value sets, computed once for each product.

    They depend on the network and the sets alone. So all queries about copies of it, a search, and the check of what
    the search found may share them: what is looked up is what would be computed again.
    """

    layers: Sequence[FloatLayer]
    reads: Sequence[Input]
    _leaves: Leaves = field(init=False)
    _found: dict[Sets, _Enclosed] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._leaves = Leaves.among(self.reads)

    @property
    def _numbers(self) -> int:
        """How many numbers the bounds on one product are."""
        return 2 * (len(self.reads) + sum(len(layer.bias) for layer in self.layers))

    def on(self, products: Sequence[Sets]) -> list[_Enclosed]:
        """The bounds on each product; what is new is computed together."""
        fresh = [sets for sets in dict.fromkeys(products) if sets not in self._found]
        known = {sets: self._found[sets] for sets in products if sets in self._found}
        count = len(self._found) + len(fresh)
        if count > _KEPT or count * self._numbers > _NUMBERS:
            self._found.clear()
        if fresh:
            low, high = input_boxes(self.reads, self._leaves, fresh)
            spend_on_bounds(self.layers, len(low))
            found = preactivation_bounds(self.layers, low, high)
            for row, sets in enumerate(fresh):
                layers = tuple(LayerBounds(layer.low[row], layer.high[row]) for layer in found)
                known[sets] = self._found[sets] = _Enclosed(low[row], high[row], layers)
        return [known[sets] for sets in products]


def places(
    query: Query, regions: Sequence[Region], known: CopyBounds | None = None, enclosures: Enclosures | None = None
) -> list[Place]:
    """The regions as numbers, with bounds computed here; ``known`` bounds hold on all of them as well.

    ``enclosures`` are those of the query's network.
    """
    products = [region.sets(who) for who in query.copies for region in regions]
    found = (Enclosures(query.layers, query.reads) if enclosures is None else enclosures).on(products)
    result = []
    for number, region in enumerate(regions):
        copies = [found[copy * len(regions) + number] for copy in range(len(query.copies))]
        values = [region.sets(who)[attribute] for who, attribute in query.attributes]
        ends = [outward(each.low, each.high) for each in values]
        for who, position in query.indicators:
            own = copies[query.copies.index(who)]
            ends.append((own.low[position], own.high[position]))
        bounds = [
            copy.layers if known is None else tuple(_met(copy.layers, known[place]))
            for place, copy in enumerate(copies)
        ]
        allowed = tuple(_allowed(listing, region) for listing in query.listings)
        low_high = np.array(ends, dtype=np.float64).reshape(-1, 2)
        result.append(Place(region, low_high[:, 0], low_high[:, 1], allowed, tuple(bounds)))
    return result


def _met(own: Sequence[LayerBounds], known: Sequence[tuple[FloatArray, FloatArray]]) -> Iterator[LayerBounds]:
    for bounds, (low, high) in zip(own, known, strict=True):
        yield LayerBounds(np.maximum(bounds.low, low), np.minimum(bounds.high, high))


def _allowed(listing: Listing, region: Region) -> BoolArray:
    values = region.sets(listing.who)[listing.attribute]
    return np.array([values.contains(value) for value in listing.values], dtype=np.bool_)
