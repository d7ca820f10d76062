"""Columns as classes of values: between two of them nothing that is asked can tell the difference.

A class is a set of values of one column at which every test of it has one truth and, where its number itself is read,
a single number. Of every cell it has a share of the mass; the shares of a column are whole numbers over one
denominator.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.domain import Attribute
from fairdsl.ir.expr import Predicate, borders
from fairdsl.ir.population import Cell, Inside
from fairdsl.numerics.pieces import Piece, pieces_of, subdivided
from fairdsl.numerics.truth import truths_at

__all__ = ["Column", "OpenError", "column_of"]

#: Whole numbers of a range whose numbers are read are listed up to so many.
_LISTED = 4096


class OpenError(Exception):
    """Within a cell nothing is known, or too much is asked, of a column: its classes cannot be weighed."""

    def __init__(self, attribute: Attribute, why: str) -> None:
        super().__init__(f"`{attribute.name}` {why}")
        self.attribute = attribute


@dataclass(frozen=True, eq=False)
class Column:
    """The classes of a column, in no particular order."""

    #: The column's position in the population.
    place: int
    #: A value of each class, [classes].
    samples: tuple[Fraction, ...]
    #: How much of each cell lies in each class, whole numbers over ``denominator``, [classes, cells].
    shares: NDArray[np.int64]
    #: What the shares of a cell add up to.
    denominator: int
    _bits: dict[Predicate, tuple[bool, ...]] = field(default_factory=dict)

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return len(self.samples)

    def bits(self, predicate: Predicate) -> tuple[bool, ...]:
        """In which classes a predicate about this column alone holds; one that the column was made for."""
        found = self._bits.get(predicate)
        if found is None:
            truths = truths_at(predicate, self.place, self.samples)
            found = self._bits[predicate] = tuple(truths.tolist())
        return found


def column_of(
    place: int, attribute: Attribute, cells: Sequence[Cell], tests: Iterable[Predicate], *, weighed: bool
) -> Column:
    """The classes of a column that ``tests`` tell apart; ``weighed``: its numbers are read themselves.

    Raises OpenError where a class would have an unknown part of a cell.
    """
    tests = list(dict.fromkeys(tests))
    cuts = sorted({cut for test in tests for cut in borders(test)})
    parts = [_parts(attribute, cell, cuts, weighed) for cell in cells]
    samples = [piece.sample for pieces in parts for piece in pieces]
    truths = np.array([truths_at(test, place, samples) for test in tests], dtype=np.bool_)
    truths = truths.reshape(len(tests), len(samples)).T
    numbers = _ranks(samples) if weighed else np.zeros(len(samples), dtype=np.int64)
    marks = np.column_stack([numbers, np.packbits(truths, axis=1)])
    _, first, inverse = np.unique(marks, axis=0, return_index=True, return_inverse=True)
    inverse = inverse.reshape(-1)
    shares: list[dict[int, Fraction]] = []
    start = 0
    for cell, pieces in zip(cells, parts, strict=True):
        own = inverse[start : start + len(pieces)].tolist()
        start += len(pieces)
        shares.append(_shares(attribute, cell, pieces, own))
    denominator = lcm(*(share.denominator for cell in shares for share in cell.values()))
    if denominator.bit_length() > 60:
        raise OpenError(attribute, "has a range that is cut into too fine parts")
    whole = np.zeros((len(first), len(cells)), dtype=np.int64)
    for number, by_class in enumerate(shares):
        for kind, share in by_class.items():
            whole[kind, number] = int(share * denominator)
    return Column(place, tuple(samples[at] for at in first.tolist()), whole, denominator)


def _parts(attribute: Attribute, cell: Cell, cuts: list[Fraction], weighed: bool) -> list[Piece]:
    """The pieces of a cell that have any mass, single numbers where these are read."""
    pieces = pieces_of(attribute, cell, cuts)
    if not pieces:
        raise OpenError(attribute, "has a cell without values")
    if not _uniform(cell) or len(pieces) > 1:
        pieces = [piece for piece in pieces if piece.size] if _uniform(cell) else pieces
    if not weighed or all(piece.point for piece in pieces):
        return pieces
    if not _uniform(cell) or any(piece.count is None for piece in pieces):
        raise OpenError(attribute, "is read as a number, of which a cell has more than one")
    if sum(piece.count or 0 for piece in pieces) > _LISTED:
        raise OpenError(attribute, f"is read as a number, and has more than {_LISTED:,}")
    return [single for piece in pieces for single in subdivided(piece, piece.count or 1)]


def _uniform(cell: Cell) -> bool:
    return cell.inside is Inside.UNIFORM and cell.low is not None and cell.high is not None and cell.low != cell.high


def _shares(attribute: Attribute, cell: Cell, pieces: list[Piece], classes: list[int]) -> dict[int, Fraction]:
    """How much of a cell's mass lies in each class."""
    if len(set(classes)) == 1:
        return {classes[0]: Fraction(1)}
    if not _uniform(cell):
        raise OpenError(attribute, "is tested within a cell of which only the mass is known")
    whole = sum((piece.size for piece in pieces), Fraction(0))
    found: dict[int, Fraction] = {}
    for piece, kind in zip(pieces, classes, strict=True):
        found[kind] = found.get(kind, Fraction(0)) + piece.size / whole
    return found


def _ranks(numbers: Sequence[Fraction]) -> NDArray[np.int64]:
    place = {number: rank for rank, number in enumerate(sorted(set(numbers)))}
    return np.array([place[number] for number in numbers], dtype=np.int64)
