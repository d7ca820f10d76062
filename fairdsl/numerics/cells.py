"""Cells of a column: where a range of numbers is cut, and which cell a number of data lies in.

A :class:`Cut` at ``t`` separates the numbers below ``t`` from the others; one *after* ``t``, as a test
``x <= t`` makes it, leaves ``t`` on the left. Cells of whole numbers are closed: [18, 24], [25, 44]. Cells of
reals are half-open, [0, 1/2) and [1/2, 1]; to the right of a cut after ``t`` they begin with the next float64, or with
the least number of the data above ``t`` where that is less: no number that a model or the data hold lies in between.

Numbers of data are exact, and compared so: :func:`places` is that rule, and distributions, counts and groups all go by
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, inf, nextafter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.exact_rows import Column, Scaled
from fairdsl.ir.population import Cell, Inside
from fairdsl.numerics.rounding import float_above, float_below

#: Integers below it are compared as int64.
_FITS = 2**62


@dataclass(frozen=True, slots=True, order=True)
class Cut:
    """Between the numbers below ``at`` and the rest; ``at`` itself lies to the left where ``after``."""

    at: Fraction
    after: bool = False


def points(values: Iterable[Fraction | int]) -> tuple[Cell, ...]:
    """A cell a value."""
    return tuple(Cell(low=Fraction(value), high=Fraction(value)) for value in values)


def cells_between(
    low: Fraction | None,
    high: Fraction | None,
    cuts: Iterable[Cut],
    inside: Inside,
    *,
    whole: bool,
    occurring: Column | None = None,
) -> tuple[Cell, ...]:
    """The cells from ``low`` to ``high`` (None: without end), ascending; cuts that separate nothing are left out.

    Cells of a single number are points. ``whole``: only whole numbers count, and both ends are whole. ``occurring``
    are numbers of data (floats need not be given), which lie in exactly one cell each.
    """
    if whole:
        assert low is not None
        assert high is not None
        firsts = sorted({floor(cut.at) + 1 if cut.after else ceil(cut.at) for cut in cuts})
        starts = [low, *(Fraction(first) for first in firsts if low < first <= high)]
        ends = [start - 1 for start in starts[1:]] + [high]
        return tuple(_cell(start, end, inside) for start, end in zip(starts, ends, strict=True))
    # Where values are alike a single number has no mass: which side it belongs to changes nothing.
    apart = sorted({Cut(cut.at) for cut in cuts if cut.at != high} if inside is Inside.UNIFORM else set(cuts))
    kept = [cut for cut in apart if _separates(cut, low, high)]
    cells: list[Cell] = []
    start = low
    for cut, following in zip(kept, _starts(kept, high, occurring), strict=True):
        if following != start:  # otherwise no number lies between this cut and the one before
            cells.append(_cell(start, cut.at, inside, open_=not cut.after))
            start = following
    return (*cells, _cell(start, high, inside))


def _starts(cuts: Sequence[Cut], high: Fraction | None, occurring: Column | None) -> list[Fraction]:
    """Where the cell to the right of each cut begins: after a number with the least that occurs above it."""
    ordered = Scaled(np.unique(occurring.numerators), occurring.denominator) if isinstance(occurring, Scaled) else None
    starts: list[Fraction] = []
    for number, cut in enumerate(cuts):
        if not cut.after:
            starts.append(cut.at)
            continue
        above = [Fraction(nextafter(float_below(cut.at), inf))]
        above += [high] if high is not None else []
        above += [cuts[number + 1].at] if number + 1 < len(cuts) else []  # as Cut(at) is less than Cut(at, after)
        if ordered is not None:
            place = int(np.searchsorted(ordered.numerators, floor(cut.at * ordered.denominator), side="right"))
            above += ordered.at(slice(place, place + 1)).fractions
        starts.append(min(above))
    return starts


def places(values: Column, cells: Sequence[Cell]) -> NDArray[np.intp]:
    """The position of the cell that each number of a column lies in, [values]; -1 where it lies in none."""
    numbers, least, most = _ends(values, cells)
    # Of cells that begin alike only one holds a number of this kind.
    order = np.lexsort((most, least)) if least.dtype != object else _sorted(least, most)
    found = np.searchsorted(least[order], numbers, side="right") - 1
    place: NDArray[np.intp] = np.where(found >= 0, order[found], -1)
    return np.where(np.asarray(numbers <= most[place], dtype=np.bool_), place, -1)


def _ends(values: Column, cells: Sequence[Cell]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The numbers, and for each cell the least and the greatest of their kind (floats, numerators) that it may hold."""
    if not isinstance(values, Scaled):
        least = [-inf if cell.low is None else float_above(cell.low) for cell in cells]
        most = [inf if cell.high is None else _float_up_to(cell.high, open_=cell.open) for cell in cells]
        return values, np.array(least), np.array(most)
    unit, numbers = values.denominator, values.numerators
    known = [end for cell in cells for end in (cell.low, cell.high) if end is not None]
    far = 2 + max([abs(int(number)) for number in (numbers.max(initial=0), numbers.min(initial=0))])
    far = max([far, *(ceil(abs(end) * unit) + 1 for end in known)])
    least = [-far if cell.low is None else ceil(cell.low * unit) for cell in cells]
    most = [far if cell.high is None else _whole_up_to(cell.high * unit, open_=cell.open) for cell in cells]
    if far >= _FITS:
        numbers = numbers.astype(object)
    kind = numbers.dtype
    return numbers, np.array(least, dtype=kind), np.array(most, dtype=kind)


def _sorted(least: NDArray[Any], most: NDArray[Any]) -> NDArray[np.intp]:
    ends = list(zip(least.tolist(), most.tolist(), strict=True))
    return np.array(sorted(range(len(ends)), key=ends.__getitem__), dtype=np.intp)


def _whole_up_to(number: Fraction, *, open_: bool) -> int:
    """The greatest whole number up to this one, or below it where ``open_``."""
    return ceil(number) - 1 if open_ else floor(number)


def _float_up_to(number: Fraction, *, open_: bool) -> float:
    """The greatest float64 up to this number, or below it where ``open_``."""
    return nextafter(float_above(number), -inf) if open_ else float_below(number)


def place_of(value: Fraction, cells: Sequence[Cell]) -> int | None:
    """The same of one number that is written; None where it lies in no cell."""
    (place,) = places(Scaled.of_fractions([value]), cells).tolist()
    return None if place < 0 else int(place)


def _separates(cut: Cut, low: Fraction | None, high: Fraction | None) -> bool:
    """Whether there are numbers on both sides."""
    left = low is None or cut.at > low or (cut.at == low and cut.after)
    return left and (high is None or cut.at < high or (cut.at == high and not cut.after))


def _cell(low: Fraction | None, high: Fraction | None, inside: Inside, *, open_: bool = False) -> Cell:
    single = low is not None and low == high
    return Cell(low=low, high=high, open=open_ and not single, inside=Inside.POINT if single else inside)
