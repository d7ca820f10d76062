"""A column taken to pieces on which every predicate about it is constant and its contribution to the score linear.

The contribution of a column at value v is ``slope * v`` plus the weights of the indicators that hold at v. Predicates
about one column change their truth only at their *cuts*, so between two cuts one value speaks for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

from fairdsl.ir.domain import Attribute, Category, Real
from fairdsl.ir.expr import Predicate, borders, holds_at
from fairdsl.ir.population import Cell


@dataclass(frozen=True, slots=True)
class Piece:
    """The values from ``low`` to ``high`` (None: without end), both included unless the piece is a range of reals.

    ``sample`` is one of them; ``count`` says how many whole numbers, None for reals.
    """

    low: Fraction | None
    high: Fraction | None
    sample: Fraction
    count: int | None

    @property
    def point(self) -> bool:
        """Whether it is a single value."""
        return self.low == self.high and self.low is not None

    @property
    def size(self) -> Fraction:
        """How many whole numbers, or how long; 0 without end, where nothing is uniform."""
        if self.count is not None:
            return Fraction(self.count)
        return Fraction(0) if self.low is None or self.high is None else self.high - self.low


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What the score and the conditions read of one column: predicates are about that column alone."""

    slope: Fraction = Fraction(0)
    indicators: tuple[tuple[Predicate, Fraction], ...] = ()
    conditions: tuple[Predicate, ...] = ()

    @property
    def weighs(self) -> bool:
        """Whether the score reads the column."""
        return bool(self.slope or self.indicators)

    @property
    def cuts(self) -> list[Fraction]:
        """Where a predicate may change its truth, ascending."""
        predicates = (*(predicate for predicate, _ in self.indicators), *self.conditions)
        return sorted({cut for predicate in predicates for cut in borders(predicate)})

    def offset(self, piece: Piece) -> Fraction:
        """What the indicators add anywhere on a piece."""
        weights = (weight for predicate, weight in self.indicators if holds_at(predicate, piece.sample))
        return sum(weights, Fraction(0))

    def admits(self, piece: Piece) -> bool:
        """Whether the conditions hold, anywhere on a piece."""
        return all(holds_at(predicate, piece.sample) for predicate in self.conditions)

    def ends(self, piece: Piece) -> tuple[Fraction | None, Fraction | None]:
        """The least and the greatest contribution on a piece; None without bound."""
        offset = self.offset(piece)
        if not self.slope:
            return offset, offset
        low = None if piece.low is None else offset + self.slope * piece.low
        high = None if piece.high is None else offset + self.slope * piece.high
        return (low, high) if self.slope > 0 else (high, low)


def pieces_of(attribute: Attribute, cell: Cell, cuts: Iterable[Fraction]) -> list[Piece]:
    """The cell as pieces, in order; of reals the cuts themselves are pieces of a single value."""
    if cell.low is not None and cell.low == cell.high:
        return [Piece(cell.low, cell.high, cell.low, 1)]
    match attribute.type:
        case Real():
            return list(_of_reals(cell, cuts))
        case Category(values=values):
            codes = (Fraction(value.code) for value in values)
            return [Piece(code, code, code, 1) for code in codes if cell.contains(code)]
        case _:
            return list(_of_integers(cell, attribute, cuts))


def _of_integers(cell: Cell, attribute: Attribute, cuts: Iterable[Fraction]) -> Iterator[Piece]:
    lowest, highest = attribute.bounds
    low = ceil(cell.low if cell.low is not None else lowest or 0)
    high = floor(cell.high if cell.high is not None else highest or 0)
    if cell.open and cell.high is not None and high == cell.high:
        high -= 1
    starts = {low}
    for cut in cuts:
        starts.update(start for start in (ceil(cut), floor(cut) + 1) if low < start <= high)
    ordered = sorted(starts)
    for start, following in zip(ordered, [*ordered[1:], high + 1], strict=True):
        if following > start:
            yield Piece(Fraction(start), Fraction(following - 1), Fraction(start), following - start)


def _of_reals(cell: Cell, cuts: Iterable[Fraction]) -> Iterator[Piece]:
    inside = [cut for cut in cuts if cell.contains(cut) and cut not in (cell.low, cell.high)]
    if cell.low is not None:
        yield Piece(cell.low, cell.low, cell.low, None)
    start = cell.low
    for end in (*inside, cell.high):
        yield Piece(start, end, _between(start, end), None)
        if end is not None and (end != cell.high or not cell.open):
            yield Piece(end, end, end, None)
        start = end


def _between(low: Fraction | None, high: Fraction | None) -> Fraction:
    if low is None:
        return Fraction(0) if high is None else high - 1
    return low + 1 if high is None else (low + high) / 2


def subdivided(piece: Piece, parts: int) -> Sequence[Piece]:
    """A bounded piece in at most so many parts of about the same size."""
    if piece.low is None or piece.high is None or piece.point:
        return [piece]
    if piece.count is None:
        ends = [piece.low + (piece.high - piece.low) * Fraction(k, parts) for k in range(parts + 1)]
        return [Piece(a, b, _between(a, b), None) for a, b in pairwise(ends)]
    low, parts = int(piece.low), min(parts, piece.count)
    starts = [low + piece.count * k // parts for k in range(parts + 1)]
    return [Piece(Fraction(a), Fraction(b - 1), Fraction(a), b - a) for a, b in pairwise(starts)]
