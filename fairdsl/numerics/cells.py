"""Cells of a column: where a range of numbers is cut, and which cell a number of data lies in.

A :class:`Cut` at ``t`` separates the numbers below ``t`` from the others; one *after* ``t``, as a test
``x <= t`` makes it, leaves ``t`` on the left. Cells of whole numbers are closed: [18, 24], [25, 44]. Cells of
reals are half-open, [0, 1/2) and [1/2, 1]; to the right of a cut after ``t`` they begin with the next float64,
and no number that data or a model can hold lies in between.

Data holds the float64 nearest to what a file says, so it is compared with the float64 nearest to a cut: a row
``0.3`` lies in [3/10, ..) although its float64 is less than 3/10. :func:`places` is that rule, and laws, counts
and groups all go by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, inf, nextafter

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.population import Cell, Inside

__all__ = ["Cut", "cells_between", "place_of", "places", "points"]


@dataclass(frozen=True, slots=True, order=True)
class Cut:
    """Between the numbers below ``at`` and the rest; ``at`` itself lies to the left where ``after``."""

    at: Fraction
    after: bool = False


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
    # Where values are alike a single number has no mass: which side it belongs to changes nothing.
    alike = inside is Inside.UNIFORM
    apart = {Cut(cut.at) for cut in cuts if cut.at != high} if alike else _told_apart(cuts)
    kept = [cut for cut in sorted(apart) if _separates(cut, low, high)]
    cells: list[Cell] = []
    start = low
    for cut in kept:
        cells.append(_cell(start, cut.at, inside, open_=not cut.after))
        start = _right_of(cut, high)
    return (*cells, _cell(start, high, inside))


def places(values: NDArray[np.float64], cells: Sequence[Cell]) -> NDArray[np.intp]:
    """The position of the cell that each number of data lies in, [values]; -1 where it lies in none."""
    lows = np.array([-inf if cell.low is None else float(cell.low) for cell in cells])
    order = np.argsort(lows, kind="stable")
    found = np.searchsorted(lows[order], values, side="right") - 1
    place: NDArray[np.intp] = np.where(found >= 0, order[found], -1)
    highs = np.array([inf if cell.high is None else float(cell.high) for cell in cells])[place]
    closed = np.array([not cell.open for cell in cells])[place]
    return np.where((values < highs) | ((values == highs) & closed), place, -1)


def place_of(value: Fraction, cells: Sequence[Cell]) -> int | None:
    """The same of one number that is written; None where it lies in no cell."""
    (place,) = places(np.array([float(value)]), cells).tolist()
    return None if place < 0 else int(place)


def _told_apart(cuts: Iterable[Cut]) -> set[Cut]:
    """Cuts that no float64 lies between are one cut: with cells between them, data would be in none or in two."""
    at: dict[float, Fraction] = {}
    ordered = sorted(cuts)
    for cut in ordered:
        at.setdefault(float(cut.at), cut.at)
    return {Cut(at[float(cut.at)], cut.after) for cut in ordered}


def _separates(cut: Cut, low: Fraction | None, high: Fraction | None) -> bool:
    """Whether there are numbers on both sides; to the right of a cut after a number, such as data can hold."""
    left = low is None or cut.at > low or (cut.at == low and cut.after)
    if high is None:
        return left
    right = nextafter(float(cut.at), inf) <= float(high) if cut.after else cut.at <= high
    return left and right


def _right_of(cut: Cut, high: Fraction | None) -> Fraction:
    """Where the cell to the right begins: after a number with the least float64 above the one nearest to it."""
    if not cut.after:
        return cut.at
    following = Fraction(nextafter(float(cut.at), inf))
    return following if high is None else min(following, high)


def _cell(low: Fraction | None, high: Fraction | None, inside: Inside, *, open_: bool = False) -> Cell:
    single = low is not None and low == high
    return Cell(low=low, high=high, open=open_ and not single, inside=Inside.POINT if single else inside)
