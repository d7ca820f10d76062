"""Certificates that a query cannot be met on a region, and their checker.

A certificate is a tree that covers the region, with the multipliers of a bound at every leaf. It is only a claim.

Theorem. The two sides of every split cover what is split: each z is <= 0 or >= 0, each value is at most the
cut or above it (reals: or equal to it), and where a and b must differ, one of them is the smaller. So if the
bound of ``numerics/dual.py`` refutes every leaf, nobody in the region meets the query. What a leaf stands for
is derived here from the splits above it: the value sets, the signs of units, the rows in force. The bounds
of the pre-activations are computed here from the value sets (or known to hold on the whole region). Only the
multipliers are the certificate's, and those may be any numbers.

A leaf is refuted by an upper bound below zero of a mixture of conditions that must all be >= 0, or by the
bound zero where a condition with a positive weight must be > 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.smt.milp.place import CopyBounds, Enclosures, Place, places
from fairdsl.backends.smt.milp.program import Unit
from fairdsl.backends.smt.milp.query import Query
from fairdsl.backends.smt.region import Region
from fairdsl.numerics.bounds import LayerBounds
from fairdsl.numerics.dual import Chain, Multipliers, Space, Table, upper_bounds
from fairdsl.numerics.narrow import Finite, Interval, ValueSet

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

#: Leaves that are checked at a time.
_BATCH = 512


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """Multipliers of the targets, of the rows, and the gradients of some units (of the others: any)."""

    targets: FloatArray
    rows: FloatArray
    units: tuple[Unit, ...]
    gradients: FloatArray


#: Proves nothing; stands where a certificate is still to come.
NOTHING = Leaf(np.zeros(0), np.zeros(0), (), np.zeros(0))


@dataclass(frozen=True, slots=True, eq=False)
class PhaseSplit:
    """One unit of one copy: ``z <= 0`` below, ``z >= 0`` above."""

    unit: Unit
    below: Tree
    above: Tree


@dataclass(frozen=True, slots=True, eq=False)
class ValueSplit:
    """One attribute of one individual: values up to ``cut`` below; above the greater ones, of reals also the cut."""

    who: str
    attribute: int
    cut: Fraction
    below: Tree
    above: Tree


@dataclass(frozen=True, slots=True, eq=False)
class OrderSplit:
    """An attribute that must differ: a's value is the smaller one below, the greater one above."""

    attribute: int
    below: Tree
    above: Tree


Tree = Leaf | PhaseSplit | ValueSplit | OrderSplit


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """A leaf and what the splits above it say; ``region`` is a position in the list of regions."""

    region: int
    signs: tuple[tuple[Unit, bool], ...]
    rows: tuple[int, ...]
    leaf: Leaf


class _MalformedError(Exception):
    """The certificate speaks of something that the query does not have."""


def certified(
    query: Query,
    region: Region,
    tree: Tree,
    known: CopyBounds | None = None,
    enclosures: Enclosures | None = None,
) -> bool:
    """Whether the certificate proves it of the region; ``known`` bounds of pre-activations hold on all of it.

    ``enclosures`` are those of the query's network, which were computed on the same value sets.
    """
    regions = [region]
    try:
        found = list(_leaves(query, tree, regions))
    except _MalformedError:
        return False
    # Only regions with leaves of their own need bounds; those of parts are computed with the parts.
    needed = sorted({item.region for item in found})
    found = [replace(item, region=needed.index(item.region)) for item in found]
    at = places(query, [regions[number] for number in needed], known, enclosures)
    parts = (found[start : start + _BATCH] for start in range(0, len(found), _BATCH))
    return all(bool(_refuted(query, at, part)[1].all()) for part in parts)


def leaf_bounds(query: Query, place: Place, leaves: Sequence[Leaf]) -> FloatArray:
    """The bounds that leaves prove on the whole place, [leaves]; for queries of one target with weight 1."""
    return _refuted(query, [place], [_Found(0, (), (), leaf) for leaf in leaves])[0]


def refutes(
    query: Query, place: Place, signs: tuple[tuple[Unit, bool], ...], rows: tuple[int, ...], leaf: Leaf
) -> bool:
    """Whether the leaf's bound refutes the place with these signs and rows; what :func:`certified` asks of each."""
    return bool(_refuted(query, [place], [_Found(0, signs, rows, leaf)])[1][0])


def _leaves(query: Query, tree: Tree, regions: list[Region]) -> Iterator[_Found]:
    """Every leaf that somebody may be on; regions below value splits are appended to the list."""
    stack: list[tuple[Tree, _Found]] = [(tree, _Found(0, (), (), NOTHING))]
    while stack:
        node, above = stack.pop()
        match node:
            case Leaf():
                yield replace(above, leaf=_fitting(query, node))
            case PhaseSplit(unit=unit, below=low, above=high):
                _check_unit(query, unit)
                stack.append((low, replace(above, signs=(*above.signs, (unit, False)))))
                stack.append((high, replace(above, signs=(*above.signs, (unit, True)))))
            case ValueSplit(below=low, above=high):
                for child, part in zip((low, high), _split(query, node, regions[above.region]), strict=True):
                    if not part.empty:
                        regions.append(part)
                        stack.append((child, replace(above, region=len(regions) - 1)))
            case OrderSplit(attribute=attribute, below=low, above=high):
                if attribute not in query.orders:
                    raise _MalformedError
                for child, row in zip((low, high), query.orders[attribute], strict=True):
                    stack.append((child, replace(above, rows=(*above.rows, row))))


def _fitting(query: Query, leaf: Leaf) -> Leaf:
    """The leaf, whose arrays have the query's sizes."""
    shapes = (leaf.targets.shape, leaf.rows.shape, leaf.gradients.shape)
    if shapes != (query.targets.constants.shape, query.limits.shape, (len(leaf.units),)):
        raise _MalformedError
    for unit in leaf.units:
        _check_unit(query, unit)
    return leaf


def _check_unit(query: Query, unit: Unit) -> None:
    inside = 0 <= unit.copy < len(query.copies) and 0 <= unit.layer < len(query.layers) - 1
    if not inside or not 0 <= unit.position < len(query.layers[unit.layer].bias):
        raise _MalformedError


def _split(query: Query, split: ValueSplit, region: Region) -> tuple[Region, Region]:
    if (split.who, split.attribute) not in query.attributes:
        raise _MalformedError
    parts = split_values(region.sets(split.who)[split.attribute], split)
    if parts is None:
        raise _MalformedError
    below, above = (region.with_values(split.who, split.attribute, part) for part in parts)
    return below, above


def split_values(values: ValueSet, split: ValueSplit) -> tuple[ValueSet, ValueSet] | None:
    """The values on either side of the cut; None where a cut lies outside of an interval."""
    cut = split.cut
    if isinstance(values, Interval):
        outside = (values.low is not None and cut <= values.low) or (values.high is not None and cut >= values.high)
        return None if outside else (Interval(values.low, cut), Interval(cut, values.high))
    count = sum(1 for value in values.values if value <= cut)
    return Finite(values.values[:count]), Finite(values.values[count:])


def _refuted(query: Query, at: Sequence[Place], found: Sequence[_Found]) -> tuple[FloatArray, BoolArray]:
    """The leaves' bounds, and whether each refutes its leaf."""
    where = [at[item.region] for item in found]
    chains = [_chain(query, copy, where, found) for copy in range(len(query.copies))]
    allowed = np.tile(query.always, (len(found), 1))
    for number, item in enumerate(found):
        allowed[number, list(item.rows)] = True
    space = Space(
        low=np.array([place.low for place in where]),
        high=np.array([place.high for place in where]),
        tables=tuple(
            Table(listing.columns, listing.table, np.array([place.allowed[number] for place in where]))
            for number, listing in enumerate(query.listings)
        ),
        rows=query.rows,
        limits=query.limits,
        allowed=allowed,
    )
    weights = np.array([item.leaf.targets for item in found])
    multipliers = Multipliers(weights, np.array([item.leaf.rows for item in found]), _gradients(query, found))
    tops = upper_bounds(chains, query.targets, space, multipliers)
    strict = ((weights > _COUNTS) & np.isfinite(weights) & query.strict).any(axis=1)
    return tops, (tops < 0) | ((tops <= 0) & strict)


#: A strict condition makes the bound zero enough where its weight is at least this, so that it counts.
_COUNTS = 2.0**-300


def _chain(query: Query, copy: int, where: Sequence[Place], found: Sequence[_Found]) -> Chain:
    """The copy on every leaf: the bounds of its place, cut at zero where a split fixes a sign."""
    bounds = []
    for layer in range(len(query.layers)):
        low = np.array([place.bounds[copy][layer].low for place in where])
        high = np.array([place.bounds[copy][layer].high for place in where])
        for number, item in enumerate(found):
            for unit, positive in item.signs:
                if unit.copy == copy and unit.layer == layer:
                    side = low if positive else high
                    side[number, unit.position] = (max if positive else min)(side[number, unit.position], 0.0)
        bounds.append(LayerBounds(low, high))
    return Chain(query.layers, tuple(bounds), query.inputs[copy])


def _gradients(query: Query, found: Sequence[_Found]) -> tuple[tuple[FloatArray, ...], ...]:
    """The proposed gradients by copy and layer, [leaves, width]; none where a leaf proposes none."""
    arrays = tuple(
        tuple(np.full((len(found), len(layer.bias)), np.nan) for layer in query.layers[:-1]) for _ in query.copies
    )
    for number, item in enumerate(found):
        for unit, gradient in zip(item.leaf.units, item.leaf.gradients.tolist(), strict=True):
            arrays[unit.copy][unit.layer][number, unit.position] = gradient
    return arrays
