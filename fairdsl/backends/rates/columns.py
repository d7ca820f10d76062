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
    """Too much is asked of a column: its classes cannot be listed, or not be weighed."""

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
    #: What may be drawn: the classes among which somebody chooses then, which is a single one but in open cells.
    choices: tuple[tuple[int, ...], ...]
    #: How much of each cell lies in each choice, whole numbers over ``denominator``, [choices, cells].
    shares: NDArray[np.int64]
    #: What the shares of a cell add up to.
    denominator: int
    _bits: dict[Predicate, tuple[bool, ...]] = field(default_factory=dict)

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return len(self.samples)

    @property
    def open(self) -> bool:
        """Whether some class has an unknown part of a cell; where none has, each is a choice, in their order."""
        return any(len(choice) > 1 for choice in self.choices)

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

    Raises OpenError where these are not listed.
    """
    tests = list(dict.fromkeys(tests))
    cuts = sorted({cut for test in tests for cut in borders(test)})
    parts = [_parts(attribute, cell, cuts, weighed) for cell in cells]
    samples = [piece.sample for pieces in parts for piece in pieces]
    if not samples:
        raise OpenError(attribute, "has no values")
    truths = np.array([truths_at(test, place, samples) for test in tests], dtype=np.bool_)
    truths = truths.reshape(len(tests), len(samples)).T
    numbers = _ranks(samples) if weighed else np.zeros(len(samples), dtype=np.int64)
    marks = np.column_stack([numbers, np.packbits(truths, axis=1)])
    _, first, inverse = np.unique(marks, axis=0, return_index=True, return_inverse=True)
    inverse = inverse.reshape(-1)
    shares: list[dict[tuple[int, ...], Fraction]] = []
    start = 0
    for cell, pieces in zip(cells, parts, strict=True):
        own = inverse[start : start + len(pieces)].tolist()
        start += len(pieces)
        shares.append(_shares(cell, pieces, own))
    denominator = lcm(*(share.denominator for cell in shares for share in cell.values()))
    if denominator.bit_length() > 60:
        raise OpenError(attribute, "has a range that is cut into too fine parts")
    choices = sorted({choice for cell in shares for choice in cell})
    whole = np.zeros((len(choices), len(cells)), dtype=np.int64)
    for number, by_choice in enumerate(shares):
        for choice, share in by_choice.items():
            whole[choices.index(choice), number] = int(share * denominator)
    return Column(place, tuple(samples[at] for at in first.tolist()), tuple(choices), whole, denominator)


def _parts(attribute: Attribute, cell: Cell, cuts: list[Fraction], weighed: bool) -> list[Piece]:
    """The pieces of a cell that have any mass, single numbers where these are read."""
    pieces = pieces_of(attribute, cell, cuts)
    if not _uniform(cell) or len(pieces) > 1:
        pieces = [piece for piece in pieces if piece.size] if _uniform(cell) else pieces
    if not weighed or all(piece.point for piece in pieces):
        return pieces
    if any(piece.count is None for piece in pieces):
        raise OpenError(attribute, "is read as a number, of which a cell has more than can be listed")
    if sum(piece.count or 0 for piece in pieces) > _LISTED:
        raise OpenError(attribute, f"is read as a number, and has more than {_LISTED:,}")
    return [single for piece in pieces for single in subdivided(piece, piece.count or 1)]


def _uniform(cell: Cell) -> bool:
    return cell.inside is Inside.UNIFORM and cell.low is not None and cell.high is not None and cell.low != cell.high


def _shares(cell: Cell, pieces: list[Piece], classes: list[int]) -> dict[tuple[int, ...], Fraction]:
    """How much of a cell's mass lies in each class; all of it in any of them where nothing else is known."""
    if not _uniform(cell):
        return {tuple(sorted(set(classes))): Fraction(1)}
    whole = sum((piece.size for piece in pieces), Fraction(0))
    found: dict[tuple[int, ...], Fraction] = {}
    for piece, kind in zip(pieces, classes, strict=True):
        found[kind,] = found.get((kind,), Fraction(0)) + (piece.size / whole if whole else 1)
    return found


def _ranks(numbers: Sequence[Fraction]) -> NDArray[np.int64]:
    place = {number: rank for rank, number in enumerate(sorted(set(numbers)))}
    return np.array([place[number] for number in numbers], dtype=np.int64)
