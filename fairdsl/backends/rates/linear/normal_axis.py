"""A normal column as an axis: cut into pieces whose probabilities are enclosed, for what no closed form covers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from fairdsl.backends.rates.linear.remainder import normal_mass
from fairdsl.backends.rates.linear.task import Ends
from fairdsl.ir.domain import Attribute
from fairdsl.ir.population import Cell, CellIndex, Factor, Inside, Normal, Row
from fairdsl.numerics.pieces import Piece, pieces_of

__all__ = ["NormalAxis", "normal_axis"]

_Bounds = tuple[tuple[Fraction, ...], tuple[Fraction, ...]]
#: The grid reaches so many standard deviations from the means.
_REACH = 6


@dataclass(frozen=True, slots=True)
class NormalAxis:
    """The pieces, and for every combination of the parents' cells lower and upper bounds of their probabilities."""

    pieces: tuple[Piece, ...]
    rows: Mapping[tuple[CellIndex, ...], _Bounds]

    @classmethod
    def undivided(cls, factor: Factor) -> NormalAxis:
        """The column as its single cell, of which nothing is read."""
        one = (Fraction(1),)
        return cls((), dict.fromkeys(factor.rows, (one, one)))


def normal_axis(attribute: Attribute, cell: Cell, factor: Factor, cuts: Iterable[Fraction], parts: int) -> NormalAxis:
    """Pieces between the cuts of predicates and, with ``parts``, of a grid of about so many around the means."""
    bounds = attribute.bounds
    ends = sorted({*cuts, *_grid(factor, parts)})
    # The masses of single values are 0, of a normal law and of a uniform one.
    pieces = tuple(piece for piece in pieces_of(attribute, cell, ends) if not piece.point)
    rows = {cells: _row(row, cell, bounds, pieces) for cells, row in factor.rows.items()}
    return NormalAxis(pieces, rows)


def _grid(factor: Factor, parts: int) -> set[Fraction]:
    laws = [row for row in factor.rows.values() if isinstance(row, Normal)]
    if not parts:
        return set()
    low = min(law.mean - _REACH * law.sd for law in laws)
    high = max(law.mean + _REACH * law.sd for law in laws)
    points = [low + (high - low) * Fraction(k, parts) for k in range(parts + 1)]
    return {b for a, b in pairwise([low - 1, *points]) if a < b}


def _row(row: Row, cell: Cell, bounds: tuple[Fraction | None, Fraction | None], pieces: tuple[Piece, ...]) -> _Bounds:
    masses = [_mass(row, cell, bounds, piece) for piece in pieces]
    return tuple(low for low, _ in masses), tuple(high for _, high in masses)


def _mass(row: Row, cell: Cell, bounds: tuple[Fraction | None, Fraction | None], piece: Piece) -> Ends:
    if isinstance(row, Normal):
        return normal_mass(row, bounds, (piece.low, piece.high))
    whole = None if cell.low is None or cell.high is None else cell.high - cell.low
    if cell.inside is Inside.UNIFORM and whole and piece.size:
        share = row[0] * piece.size / whole
        return share, share
    return Fraction(0), row[0]
