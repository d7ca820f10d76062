"""Predicates over several columns on all combinations of cells: certainly true, certainly false, or neither."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.rates.linear.task import Chances, Clause
from fairdsl.backends.rates.linear.window import TooLargeError
from fairdsl.ir.expr import Not, Predicate, Variable, Who, substitute
from fairdsl.numerics.axes import mentioned
from fairdsl.numerics.narrow import Finite, ValueSet, possible
from fairdsl.numerics.predicates import mask

__all__ = ["clauses_of", "condition_of"]

#: Combinations of cells that predicates are evaluated on at most: of single values, and of ranges.
_VALUES = 1 << 19
_RANGES = 1 << 15

_Truth = NDArray[np.bool_]
_ZERO, _ONE = Fraction(0), Fraction(1)
#: The cells of every axis as sets of values.
Sets = Sequence[Sequence[ValueSet]]


def condition_of(predicate: Predicate, sets: Sets) -> Chances:
    """A condition as a table of 0 and 1 (0 to 1 where it holds in a part of a combination)."""
    axes = mentioned(predicate)
    certain, maybe = _truth(predicate, axes, sets)
    least = tuple(_ONE if true else _ZERO for true in certain.tolist())
    most = least if np.array_equal(certain, maybe) else tuple(_ONE if true else _ZERO for true in maybe.tolist())
    return Chances(axes=axes, shape=tuple(len(sets[axis]) for axis in axes), least=least, most=most)


def clauses_of(indicators: Iterable[tuple[Predicate, Fraction]], sets: Sets) -> tuple[Clause, ...]:
    """What the indicators add to the score; those whose columns lie within another's are added to its table."""
    groups: dict[tuple[int, ...], list[tuple[Predicate, Fraction]]] = {}
    for predicate, weight in sorted(indicators, key=lambda entry: -len(mentioned(entry[0]))):
        own = set(mentioned(predicate))
        home = next((axes for axes in groups if own <= set(axes)), tuple(sorted(own)))
        groups.setdefault(home, []).append((predicate, weight))
    return tuple(_clause(axes, members, sets) for axes, members in groups.items())


def _clause(axes: tuple[int, ...], members: list[tuple[Predicate, Fraction]], sets: Sets) -> Clause:
    shape = tuple(len(sets[axis]) for axis in axes)
    low, high = np.full(prod(shape), _ZERO, dtype=object), np.full(prod(shape), _ZERO, dtype=object)
    for predicate, weight in members:
        certain, maybe = _truth(predicate, axes, sets)
        below, above = (certain, maybe) if weight > 0 else (maybe, certain)
        low[below] += weight
        high[above] += weight
    return Clause(axes=axes, shape=shape, low=tuple(low.tolist()), high=tuple(high.tolist()))


def _truth(predicate: Predicate, axes: tuple[int, ...], sets: Sets) -> tuple[_Truth, _Truth]:
    """Where the predicate holds everywhere, and where it may hold somewhere, of all combinations (row-major)."""
    count = prod(len(sets[axis]) for axis in axes)
    if all(isinstance(cell, Finite) and cell.count == 1 for axis in axes for cell in sets[axis]):
        if count > _VALUES:
            raise TooLargeError
        places = {axis: place for place, axis in enumerate(axes)}
        grid = np.meshgrid(*(_numbers(sets[axis]) for axis in axes), indexing="ij")
        points = np.stack([part.ravel() for part in grid], axis=1)
        local = substitute(predicate, lambda variable: Variable(places[variable.attribute], variable.who))
        found = mask(local, {Who.EACH: points})
        return found, found
    if count > _RANGES:
        raise TooLargeError
    current = [cells[0] for cells in sets]
    certain, maybe = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.bool_)
    for number, combination in enumerate(product(*(sets[axis] for axis in axes))):
        for axis, cell in zip(axes, combination, strict=True):
            current[axis] = cell
        maybe[number] = possible(predicate, current)
        certain[number] = maybe[number] and not possible(Not(predicate), current)
    return certain, maybe


def _numbers(cells: Sequence[ValueSet]) -> NDArray[Any]:
    values = [cell.values[0] for cell in cells if isinstance(cell, Finite)]
    if all(isinstance(value, int) or value.denominator == 1 for value in values):
        return np.array([int(value) for value in values], dtype=np.int64)
    return np.array([Fraction(value) for value in values], dtype=object)
