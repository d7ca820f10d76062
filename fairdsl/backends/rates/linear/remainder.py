"""Laws in closed form of the part of a score that is left out of the tables.

:class:`NormalSum`: all normal columns enter linearly, so that their sum is normal given the cells of their parents.
:class:`SingleColumn`: one column that is uniform over wide cells, or a (truncated) normal with indicators or
conditions; on each piece its contribution is linear, so what is needed of the score is needed of the column's value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from fairdsl.backends.rates.linear.normal import cdf, root
from fairdsl.backends.rates.linear.task import Ends
from fairdsl.ir.population import Normal
from fairdsl.numerics.pieces import Piece, Reading

__all__ = ["NormalSum", "SingleColumn", "Uniform", "between", "normal_mass"]

#: From and to a value, None without end.
Range = tuple[Fraction | None, Fraction | None]
_NONE = (Fraction(0), Fraction(0))
_ALL = (Fraction(1), Fraction(1))


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalSum:
    """A normal law of the contribution: ``moments`` are its mean and variance, by the cells of ``axes``.

    Combinations of cells without moments have probability 0.
    """

    axes: tuple[int, ...]
    moments: Mapping[tuple[int, ...], tuple[Fraction, Fraction]]
    conditioned: bool = False

    def total(self, cells: tuple[int, ...]) -> Ends:
        """Everything, where the law is defined."""
        return _ALL if cells in self.moments else _NONE

    def tail(self, cells: tuple[int, ...], needed: Fraction, strict: bool) -> Ends:
        """Phi of the distance from ``needed`` up to the mean, in standard deviations."""
        if cells not in self.moments:
            return _NONE
        mean, variance = self.moments[cells]
        return upper_tail(mean, variance, needed, strict)


def upper_tail(mean: Fraction, variance: Fraction, needed: Fraction, strict: bool) -> Ends:
    """Pr[X >= needed] (strict: >) of a normal law, which is a point where its variance is 0."""
    if variance == 0:
        return _ALL if (mean > needed if strict else mean >= needed) else _NONE
    low, high = root(variance)
    distance = mean - needed
    # A smaller divisor makes the quotient larger in size.
    nearest, farthest = distance / high, distance / low
    least, most = (nearest, farthest) if distance >= 0 else (farthest, nearest)
    return cdf(least)[0], cdf(most)[1]


def between(law: Normal, low: Fraction | None, high: Fraction | None) -> Ends:
    """Pr[low <= X <= high] of the law without its truncation."""
    if low is not None and high is not None and low >= high and law.sd:
        return _NONE
    variance = law.sd * law.sd
    above = _ALL if low is None else upper_tail(law.mean, variance, low, False)
    beyond = _NONE if high is None else upper_tail(law.mean, variance, high, True)
    return max(Fraction(0), above[0] - beyond[1]), max(Fraction(0), above[1] - beyond[0])


def normal_mass(law: Normal, bounds: Range, piece: Range) -> Ends:
    """Pr[piece] of a normal law, truncated to ``bounds`` if it is said to be."""
    low, high = piece
    if not law.truncated:
        return between(law, low, high)
    low = bounds[0] if low is None else low if bounds[0] is None else max(low, bounds[0])
    high = bounds[1] if high is None else high if bounds[1] is None else min(high, bounds[1])
    part, whole = between(law, low, high), between(law, *bounds)
    if not whole[0]:
        return Fraction(0), Fraction(1)
    return part[0] / whole[1], min(Fraction(1), part[1] / whole[0])


@dataclass(frozen=True, slots=True)
class Uniform:
    """Every value of a piece alike; the piece has this share of its cell."""

    share: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleColumn:
    """A column by the pieces of each of its laws: ``laws`` by the cells of ``axes``.

    A law is its admitted pieces with their masses (:class:`Uniform`), or a normal law with its admitted pieces.
    """

    axes: tuple[int, ...]
    reading: Reading
    bounds: Range
    laws: Mapping[tuple[int, ...], tuple[tuple[Piece, Uniform | Normal], ...]]
    conditioned: bool

    def total(self, cells: tuple[int, ...]) -> Ends:
        """The mass of the admitted pieces."""
        return _added(self._mass(law, piece, piece.low, piece.high) for piece, law in self.laws.get(cells, ()))

    def tail(self, cells: tuple[int, ...], needed: Fraction, strict: bool) -> Ends:
        """Piece by piece, the mass of the values that contribute enough."""
        return _added(self._tail(piece, law, needed, strict) for piece, law in self.laws.get(cells, ()))

    def _tail(self, piece: Piece, law: Uniform | Normal, needed: Fraction, strict: bool) -> Ends:
        missing = needed - self.reading.offset(piece)
        slope = self.reading.slope
        if not slope or piece.point:
            missing -= slope * piece.sample
            enough = missing < 0 if strict else missing <= 0
            return self._mass(law, piece, piece.low, piece.high) if enough else _NONE
        least = missing / slope
        low, high = piece.low, piece.high
        if slope > 0:
            low = _first(least, strict, piece) if low is None or least >= low else low
        else:
            high = _last(least, strict, piece) if high is None or least <= high else high
        if low is not None and high is not None and low > high:
            return _NONE
        return self._mass(law, piece, low, high)

    def _mass(self, law: Uniform | Normal, piece: Piece, low: Fraction | None, high: Fraction | None) -> Ends:
        if isinstance(law, Normal):
            return normal_mass(law, self.bounds, (low, high))
        if low is None or high is None:
            raise ValueError("uniform distributions have ends")
        if piece.count is not None:
            share = law.share * Fraction(int(high - low) + 1, piece.count)
        else:
            share = law.share * (high - low) / piece.size
        return share, share


def _first(value: Fraction, strict: bool, piece: Piece) -> Fraction:
    """The first value of the piece that is at least (strict: above) ``value``; for reals strictness has no mass."""
    if piece.count is None:
        return value
    return Fraction(floor(value) + 1 if strict else ceil(value))


def _last(value: Fraction, strict: bool, piece: Piece) -> Fraction:
    if piece.count is None:
        return value
    return Fraction(ceil(value) - 1 if strict else floor(value))


def _added(masses: Iterable[Ends]) -> Ends:
    low = high = Fraction(0)
    for least, most in masses:
        low, high = low + least, high + most
    return min(low, Fraction(1)), min(high, Fraction(1))
