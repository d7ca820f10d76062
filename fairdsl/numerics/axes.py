"""Columns as axes: the cells of a distribution cut into *atoms*, the smallest parts of a box.

A cell of a single value is one atom. A cell in which every value is alike is cut at the cuts of all predicates about
the column; where the model weighs the number itself, further: a whole number an atom, reals into equal parts. Each atom
has its exact share of the cell. A cell whose inside is not known is one atom, which counts only where all of its values
agree.

The atoms of a uniform range of reals are open: their ends have no length, so predicates, which are constant between
two cuts, are read at the middle. Bounds are taken over the closed range, which contains it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, lcm

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.domain import Attribute, Category
from fairdsl.ir.expr import Predicate, borders, variables
from fairdsl.ir.population import Cell, Inside
from fairdsl.numerics.bounds import comparable, outward
from fairdsl.numerics.pieces import pieces_of

#: Equal parts of a uniform range of reals that the model weighs; whole numbers that are listed one by one.
_PARTS, _LISTED = 1024, 1 << 16


@dataclass(frozen=True, slots=True)
class Atom:
    """From ``low`` to ``high`` within one cell; ``samples`` are values at which every predicate takes all its truths.

    ``values`` are all of its values, or one that speaks for all; None where they are not listed. ``share`` is its part
    of the cell's mass.
    """

    low: Fraction | None
    high: Fraction | None
    cell: int
    share: Fraction
    samples: tuple[Fraction, ...]
    values: tuple[Fraction, ...] | None


@dataclass(frozen=True, eq=False, slots=True)
class Axis:
    """The atoms of a column in ascending order.

    ``low`` and ``high`` [atoms] enclose them in floats, ``cells`` [atoms] are their cells; ``weights`` [atoms] are
    their shares, whole numbers over ``denominator``.
    """

    atoms: tuple[Atom, ...]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    cells: NDArray[np.int64]
    weights: tuple[int, ...]
    denominator: int

    def range_of(self, cell: int) -> tuple[int, int]:
        """The first atom of a cell, and the one after its last; of an empty cell both are 0."""
        places = np.flatnonzero(self.cells == cell)
        return (int(places[0]), int(places[-1]) + 1) if places.size else (0, 0)


def axis_of(attribute: Attribute, cells: Sequence[Cell], predicates: Iterable[Predicate], weighed: bool) -> Axis:
    """The axis of a column; ``predicates`` are those about it alone, ``weighed`` says if the model reads its number."""
    cuts = sorted({cut for predicate in predicates for cut in borders(predicate)})
    atoms = [atom for place, cell in enumerate(cells) for atom in _atoms(attribute, cell, place, cuts, weighed)]
    atoms.sort(key=lambda atom: (atom.low is not None, comparable(atom.low or Fraction(0)), atom.cell))
    ends = [outward(atom.low, atom.high) for atom in atoms]
    denominator = lcm(*(atom.share.denominator for atom in atoms))
    return Axis(
        atoms=tuple(atoms),
        low=np.array([low for low, _ in ends], dtype=np.float64),
        high=np.array([high for _, high in ends], dtype=np.float64),
        cells=np.array([atom.cell for atom in atoms], dtype=np.int64),
        weights=tuple(atom.share.numerator * (denominator // atom.share.denominator) for atom in atoms),
        denominator=denominator,
    )


def mentioned(predicate: Predicate) -> tuple[int, ...]:
    """The columns that a predicate mentions, ascending."""
    return tuple(sorted({variable.attribute for variable in variables(predicate)}))


def _atoms(attribute: Attribute, cell: Cell, place: int, cuts: list[Fraction], weighed: bool) -> Iterator[Atom]:
    if cell.low is not None and cell.low == cell.high:
        yield _point(cell.low, place, Fraction(1))
    elif attribute.values is None:
        yield from _of_reals(cell, place, cuts, weighed)
    elif weighed or isinstance(attribute.type, Category) or cell.inside is not Inside.UNIFORM:
        yield from _of_numbers(attribute, cell, place, cuts)
    else:
        pieces = pieces_of(attribute, cell, cuts)
        whole = sum((piece.size for piece in pieces), Fraction(0))
        for piece in pieces:  # one of its values speaks for all
            yield Atom(piece.low, piece.high, place, piece.size / whole, (piece.sample,), (piece.sample,))


def _point(value: Fraction, place: int, share: Fraction) -> Atom:
    return Atom(value, value, place, share, (value,), (value,))


def _of_numbers(attribute: Attribute, cell: Cell, place: int, cuts: list[Fraction]) -> Iterator[Atom]:
    """Whole numbers and categories: one by one where they are alike, otherwise all together."""
    inside = _inside(attribute, cell)
    if not inside:
        return
    if cell.inside is Inside.UNIFORM and len(inside) <= _LISTED:
        share = Fraction(1, len(inside))
        for value in inside:
            yield _point(Fraction(value), place, share)
    elif cell.inside is Inside.UNIFORM:
        for start, end in pairwise(len(inside) * k // _LISTED for k in range(_LISTED + 1)):
            yield _together(inside[start:end], place, Fraction(end - start, len(inside)), cuts)
    else:
        yield _together(inside, place, Fraction(1), cuts)


def _inside(attribute: Attribute, cell: Cell) -> Sequence[int]:
    values = attribute.values or ()
    if isinstance(attribute.type, Category) or not isinstance(values, range):
        return tuple(sorted(value for value in values if cell.contains(Fraction(value))))
    low = values.start if cell.low is None else max(values.start, ceil(cell.low))
    high = values.stop - 1 if cell.high is None else min(values.stop - 1, floor(cell.high))
    return range(low, high if cell.open and cell.high == high else high + 1)


def _together(values: Sequence[int], place: int, share: Fraction, cuts: list[Fraction]) -> Atom:
    """One atom of several whole numbers; between two cuts one of them speaks for all."""
    inside = cuts[bisect_left(cuts, values[0] - 2) : bisect_right(cuts, values[-1] + 2)]
    near = {number for cut in inside for number in range(floor(cut) - 1, ceil(cut) + 2)}
    listed = tuple(Fraction(value) for value in values) if len(values) <= _LISTED else None
    if not isinstance(values, range):
        samples = tuple(Fraction(value) for value in values)
    else:
        samples = tuple(Fraction(v) for v in sorted({values[0], values[-1], *(v for v in near if v in values)}))
    return Atom(Fraction(values[0]), Fraction(values[-1]), place, share, samples, listed)


def _of_reals(cell: Cell, place: int, cuts: list[Fraction], weighed: bool) -> Iterator[Atom]:
    if cell.inside is not Inside.UNIFORM or cell.low is None or cell.high is None:
        yield Atom(cell.low, cell.high, place, Fraction(1), tuple(_speakers(cell, cuts)), None)
        return
    whole = cell.high - cell.low
    ends = [cell.low, *(cut for cut in cuts if cell.low < cut < cell.high), cell.high]
    for start, end in pairwise(ends):
        parts = max(1, ceil(_PARTS * (end - start) / whole)) if weighed else 1
        size = (end - start) / parts
        for number in range(parts):
            low, high = start + number * size, start + (number + 1) * size
            yield Atom(low, high, place, size / whole, ((low + high) / 2,), None)


def _speakers(cell: Cell, cuts: list[Fraction]) -> Iterator[Fraction]:
    """Values of a range of reals: its ends, the cuts in it, and one between any two of them."""
    marks = sorted({cut for cut in cuts if cell.contains(cut)} | {e for e in (cell.low, cell.high) if e is not None})
    if not marks:
        yield Fraction(0)
        return
    if cell.low is None:
        yield marks[0] - 1
    if cell.high is None:
        yield marks[-1] + 1
    yield from (mark for mark in marks if cell.contains(mark))
    yield from ((low + high) / 2 for low, high in pairwise(marks))
