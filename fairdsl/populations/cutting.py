"""Cuts of a column: written, by the model's own comparisons, by quantiles; and cells in the spec's words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import ceil

import numpy as np

from fairdsl.ir.domain import Attribute, Integer, show_number
from fairdsl.ir.exact_rows import Column, Scaled
from fairdsl.ir.expr import Compare, Member, Predicate, Relation, atoms
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.model import Model
from fairdsl.ir.population import Cell, Inside
from fairdsl.numerics.cells import Cut

#: Whole numbers without bins have a cell each up to this many; more are one range, or the values that occur.
MANY = 256


def written_cuts(attribute: Attribute) -> frozenset[Cut]:
    """``bins at 25, 45``."""
    return frozenset(Cut(edge) for edge in attribute.bins)


def cuts_in(predicate: Predicate, column: int) -> Iterator[Cut]:
    """The cuts between which no comparison of this column alone with a number changes its truth."""
    for atom in atoms(predicate):
        match atom:
            case Compare(left=left, relation=relation):
                if len(left.terms) == 1 and left.terms[0][0].attribute == column:
                    factor = left.terms[0][1]
                    yield from _sides(-left.constant / factor, relation if factor > 0 else relation.mirrored)
            case Member(variable=variable, values=values):
                if variable.attribute == column:
                    for value in values:
                        yield from _sides(value, Relation.EQ)


def cuts_by_model(model: Model, column: int) -> frozenset[Cut]:
    """Where the model compares the attribute of this column with numbers."""
    tests = [item.predicate for item in model.listed if isinstance(item, IndicatorInput)]
    tests += [] if model.ensemble is None else model.ensemble.different
    return frozenset(cut for test in tests for cut in cuts_in(test, column))


def cuts_by_quantiles(values: Column, count: int) -> frozenset[Cut]:
    """At most ``count`` - 1 edges with about as many rows between them.

    The k-th is the value at place ceil(k n / count) (from 0) of the n sorted ones, but always greater than the
    least value: otherwise an attribute that is mostly 0 would have a single bin. Equal edges are one.
    """
    numbers = values.numerators if isinstance(values, Scaled) else values
    unit = values.denominator if isinstance(values, Scaled) else 1
    ordered = np.sort(numbers)
    above = ordered[ordered > ordered[0]]
    if not above.size:
        return frozenset()
    places = (-(-k * ordered.size // count) for k in range(1, count))
    edges = (max(ordered[min(place, ordered.size - 1)], above[0]) for place in places)
    return frozenset(Cut(Fraction(edge.item() if isinstance(edge, np.generic) else edge) / unit) for edge in edges)


def even_cuts(low: Fraction, high: Fraction, count: int, *, whole: bool) -> frozenset[Cut]:
    """The quantiles of the uniform distribution from ``low`` to ``high``."""
    if whole:
        size = high - low + 1
        return frozenset(Cut(low + ceil(k * size / count)) for k in range(1, count))
    return frozenset(Cut(low + (high - low) * k / count) for k in range(1, count))


def show_cell(cell: Cell, attribute: Attribute, end: Callable[[Fraction], str] = show_number) -> str:
    """The cell in the spec's words: a value, or a range such as ``[25, 45)``, with ends as ``end`` shows them."""
    if cell.inside is Inside.POINT and cell.low is not None:
        return attribute.show(cell.low)
    if isinstance(attribute.type, Integer) and cell.low is not None and cell.high is not None:
        return f"{show_number(cell.low)} .. {show_number(cell.high)}"
    left = "(-inf" if cell.low is None else f"[{end(cell.low)}"
    right = "inf)" if cell.high is None else f"{end(cell.high)}{')' if cell.open else ']'}"
    return f"{left}, {right}"


def show_end(value: Fraction) -> str:
    """An end of a range for reading: of a float64 that is not a short decimal, the shortest one that is read as it.

    A threshold of a model is such a number, and its exact decimal has dozens of places.
    """
    exact = show_number(value)
    return repr(float(value)) if "/" in exact and float(value) == value else exact


def _sides(at: Fraction, relation: Relation) -> tuple[Cut, ...]:
    match relation:
        case Relation.LT | Relation.GE:
            return (Cut(at),)
        case Relation.LE | Relation.GT:
            return (Cut(at, after=True),)
        case Relation.EQ | Relation.NE:
            return (Cut(at), Cut(at, after=True))
