"""Cells of a column: where a range of numbers is cut, and which cell a row lies in.

A :class:`Cut` at ``t`` separates the numbers below ``t`` from the others; one *after* ``t``, as a test
``x <= t`` makes it, leaves ``t`` on the left. Cells of whole numbers are closed: [18, 24], [25, 44]. Cells of
reals are half-open, [0, 1/2) and [1/2, 1]; to the right of a cut after ``t`` they begin with the next float64,
and no number that data or a model can hold lies in between.

Data holds the float64 nearest to what a file says, so it is compared with the float64 nearest to a cut: a row
``0.3`` lies in [3/10, ..) although its float64 is less than 3/10.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, inf, nextafter

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.domain import Attribute, Integer, show_number
from fairdsl.ir.expr import And, Compare, Member, Not, Or, Predicate, Relation
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.model import Model
from fairdsl.ir.population import Cell, Inside

__all__ = [
    "MANY",
    "Cut",
    "cells_between",
    "cuts_by_model",
    "cuts_by_quantiles",
    "cuts_in",
    "even_cuts",
    "indices",
    "points",
    "show_cell",
    "written_cuts",
]

#: Whole numbers without bins have a cell each up to this many; more are one range, or the values that occur.
MANY = 256

_MIRRORED = {Relation.LT: Relation.GT, Relation.GT: Relation.LT, Relation.LE: Relation.GE, Relation.GE: Relation.LE}


@dataclass(frozen=True, slots=True, order=True)
class Cut:
    """Between the numbers below ``at`` and the rest; ``at`` itself lies to the left where ``after``."""

    at: Fraction
    after: bool = False


def written_cuts(attribute: Attribute) -> frozenset[Cut]:
    """``bins at 25, 45``."""
    return frozenset(Cut(edge) for edge in attribute.bins)


def cuts_in(predicate: Predicate, column: int) -> Iterator[Cut]:
    """The cuts between which no comparison of this column alone with a number changes its truth."""
    match predicate:
        case Compare(left=left, relation=relation):
            if len(left.terms) == 1 and left.terms[0][0].attribute == column:
                factor = left.terms[0][1]
                yield from _sides(-left.constant / factor, relation if factor > 0 else _mirrored(relation))
        case Member(variable=variable, values=values):
            if variable.attribute == column:
                for value in values:
                    yield from _sides(value, Relation.EQ)
        case And(parts) | Or(parts):
            for part in parts:
                yield from cuts_in(part, column)
        case Not(part):
            yield from cuts_in(part, column)


def cuts_by_model(model: Model, column: int) -> frozenset[Cut]:
    """Where the model compares the attribute of this column with numbers."""
    tests = (item.predicate for item in model.inputs if isinstance(item, IndicatorInput))
    return frozenset(cut for test in tests for cut in cuts_in(test, column))


def cuts_by_quantiles(values: NDArray[np.float64], count: int) -> frozenset[Cut]:
    """At most ``count`` - 1 edges with about as many rows between them.

    The k-th is the value at place ceil(k n / count) (from 0) of the n sorted ones, but always greater than the
    least value: otherwise an attribute that is mostly 0 would have a single bin. Equal edges are one.
    """
    ordered = np.sort(values)
    above = ordered[ordered > ordered[0]]
    if not above.size:
        return frozenset()
    places = (-(-k * ordered.size // count) for k in range(1, count))
    edges = (max(float(ordered[min(place, ordered.size - 1)]), float(above[0])) for place in places)
    return frozenset(Cut(Fraction(edge)) for edge in edges)


def even_cuts(low: Fraction, high: Fraction, count: int, *, whole: bool) -> frozenset[Cut]:
    """The quantiles of the uniform law from ``low`` to ``high``."""
    if whole:
        size = high - low + 1
        return frozenset(Cut(low + ceil(k * size / count)) for k in range(1, count))
    return frozenset(Cut(low + (high - low) * k / count) for k in range(1, count))


def points(values: Iterable[Fraction | int]) -> tuple[Cell, ...]:
    """A cell a value."""
    return tuple(Cell(low=Fraction(value), high=Fraction(value)) for value in values)


def cells_between(
    low: Fraction | None, high: Fraction | None, cuts: Iterable[Cut], inside: Inside, *, whole: bool
) -> tuple[Cell, ...]:
    """The cells from ``low`` to ``high`` (None: without end), ascending; cuts that separate nothing are left out.

    Cells of a single number are points. ``whole``: only whole numbers count, and both ends are whole.
    """
    if whole:
        assert low is not None
        assert high is not None
        firsts = sorted({floor(cut.at) + 1 if cut.after else ceil(cut.at) for cut in cuts})
        starts = [low, *(Fraction(first) for first in firsts if low < first <= high)]
        ends = [start - 1 for start in starts[1:]] + [high]
        return tuple(_cell(start, end, inside) for start, end in zip(starts, ends, strict=True))
    if inside is Inside.UNIFORM:  # a single number has no mass: which side it belongs to changes nothing
        cuts = (Cut(cut.at) for cut in cuts if cut.at != high)
    kept = [cut for cut in sorted(set(cuts)) if _separates(cut, low, high)]
    cells: list[Cell] = []
    start = low
    for cut in kept:
        cells.append(_cell(start, cut.at, inside, open_=not cut.after))
        start = _next_float(cut.at) if cut.after else cut.at
    return (*cells, _cell(start, high, inside))


def indices(values: NDArray[np.float64], cells: Sequence[Cell]) -> NDArray[np.intp]:
    """The cell of each value, [rows]; every value lies in one."""
    lows = np.array([-inf if cell.low is None else float(cell.low) for cell in cells])
    order = np.argsort(lows, kind="stable")
    places = np.searchsorted(lows[order], values, side="right") - 1
    found: NDArray[np.intp] = order[places]
    return found


def show_cell(cell: Cell, attribute: Attribute) -> str:
    """The cell in the spec's words: a value, or a range such as ``[25, 45)``."""
    if cell.inside is Inside.POINT and cell.low is not None:
        return attribute.show(cell.low)
    if isinstance(attribute.type, Integer) and cell.low is not None and cell.high is not None:
        return f"{show_number(cell.low)} .. {show_number(cell.high)}"
    left = "(-inf" if cell.low is None else f"[{show_number(cell.low)}"
    right = "inf)" if cell.high is None else f"{show_number(cell.high)}{')' if cell.open else ']'}"
    return f"{left}, {right}"


def _sides(at: Fraction, relation: Relation) -> tuple[Cut, ...]:
    match relation:
        case Relation.LT | Relation.GE:
            return (Cut(at),)
        case Relation.LE | Relation.GT:
            return (Cut(at, after=True),)
        case Relation.EQ | Relation.NE:
            return (Cut(at), Cut(at, after=True))


def _mirrored(relation: Relation) -> Relation:
    """The relation of -x and -t where x and t have this one."""
    return _MIRRORED.get(relation, relation)


def _separates(cut: Cut, low: Fraction | None, high: Fraction | None) -> bool:
    """Whether there are numbers on both sides."""
    left = low is None or cut.at > low or (cut.at == low and cut.after)
    right = high is None or cut.at < high or (cut.at == high and not cut.after)
    return left and right


def _cell(low: Fraction | None, high: Fraction | None, inside: Inside, *, open_: bool = False) -> Cell:
    single = low is not None and low == high
    return Cell(low=low, high=high, open=open_ and not single, inside=Inside.POINT if single else inside)


def _next_float(number: Fraction) -> Fraction:
    """The least float64 above the one nearest to ``number``."""
    return Fraction(nextafter(float(number), inf))
