"""The standard normal law in exact arithmetic: enclosures of Phi(z) that a proof may rest on.

``Phi(z) = 1/2 + phi(z) (z + z^3/3 + z^5/(3*5) + z^7/(3*5*7) + ...)`` for z >= 0 (integration by parts of the density
phi; every term is positive). All steps are on integers, in units of 2**-bits, and rounded down for a lower bound and up
for an upper one. The series is as large as 1/phi(z), so there are as many bits more than 128 as z^2, which is more than
``-log2 phi(z)``. Once the ratio z^2/(2n + 1) of a term to the one before is below 1/4, all that follows a term is less
than a third of it. The one transcendental step, exp(-z^2/2), is ``exp`` of :mod:`decimal`, which is correctly rounded
(the module's documentation and libmpdec's); with so many digits its error is less than a unit. ``Phi(-z)`` is
``1 - Phi(z)``, and beyond 16 standard deviations the tail lies between 0 and ``phi(z) / z < 2**-128``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import ceil, floor, isqrt

from fairdsl.ir.domain import Attribute
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.population import Cell, CellIndex, Factor, Inside, Normal, Row
from fairdsl.numerics.pieces import Piece, Reading, pieces_of

_BITS = 128
#: Fifty decimals, cut off.
_PI = Fraction(314159265358979323846264338327950288419716939937510, 10**50)
_PI_ABOVE = _PI + Fraction(1, 10**50)
_FAR = 16
_HALF = Fraction(1, 2)


def root(square: Fraction) -> Enclosure:
    """An enclosure of the square root of a positive number, within a relative 2**-120; exact for squares."""
    product = square.numerator * square.denominator
    shift = max(0, 130 - product.bit_length() // 2)
    scaled = product << (2 * shift)
    whole = isqrt(scaled)
    below = Fraction(whole, square.denominator << shift)
    above = below if whole * whole == scaled else Fraction(whole + 1, square.denominator << shift)
    return Enclosure(low=below, high=above)


@lru_cache(maxsize=1 << 16)
def cdf(z: Fraction) -> Enclosure:
    """An enclosure of Phi(z), of a width of at most 2**-110."""
    if not z:
        return Enclosure.exactly(_HALF)
    if z < 0:
        low, high = cdf(-z)
        return Enclosure(low=1 - high, high=1 - low)
    if z >= _FAR:
        return Enclosure(low=1 - Fraction(1, 1 << _BITS), high=Fraction(1))
    bits = _BITS + int(z * z) + 1
    # Phi is increasing: a lower bound at z rounded down, an upper one at z rounded up.
    floor, rest = divmod(z.numerator << bits, z.denominator)
    below = _half_mass(floor, bits, up=False)
    above = _half_mass(floor + 1 if rest else floor, bits, up=True)
    return Enclosure(low=_HALF + Fraction(below, 1 << bits), high=min(Fraction(1), _HALF + Fraction(above, 1 << bits)))


def _half_mass(z: int, bits: int, *, up: bool) -> int:
    """The mass between 0 and ``z * 2**-bits``, in units of 2**-bits, rounded down or up."""
    return _shifted(_density(z, bits, up=up) * _series(z, bits, up=up), bits, up)


def _series(z: int, bits: int, *, up: bool) -> int:
    square = _shifted(z * z, bits, up)
    term, total, odd = z, z, 1
    while term > 1:
        odd += 2
        term = _divided(_shifted(term * square, bits, up), odd, up)
        total += term
        if up and term <= 1 and odd << bits <= 4 * square:
            term = 2  # rounding up keeps a term at 1: go on until the terms fall fast enough
    # A lower bound may leave out what follows; an upper one covers it by less than a third of the last term.
    return total + 1 if up else total


def _density(z: int, bits: int, *, up: bool) -> int:
    """phi(z) = exp(-z^2/2) / sqrt(2 pi)."""
    # The exponential's slope is at most 1: an argument rounded by a unit changes it by no more.
    square = _shifted(z * z, bits, not up)
    digits = Context(
        prec=bits * 302 // 1000 + 12, rounding=ROUND_HALF_EVEN, Emin=MIN_EMIN, Emax=MAX_EMAX, clamp=0, traps=[]
    )
    power = digits.exp(digits.divide(Decimal(-square), Decimal(2 << bits)))
    numerator, denominator = power.as_integer_ratio()
    exponential = (numerator << bits) // denominator + (2 if up else -1)
    divisor = root(2 * _PI).low if up else root(2 * _PI_ABOVE).high
    return max(0, _divided(exponential * divisor.denominator, divisor.numerator, up))


def _shifted(a: int, bits: int, up: bool) -> int:
    return -(-a >> bits) if up else a >> bits


def _divided(a: int, b: int, up: bool) -> int:
    return -(-a // b) if up else a // b


# ---- Laws in closed form of the part of a score that is left out of the tables -------------------
# :class:`NormalSum`: all normal columns enter linearly, so that their sum is normal given the cells of their parents.
# :class:`SingleColumn`: one column that is uniform over wide cells, or a (truncated) normal with indicators or
# conditions; on each piece its contribution is linear, so what is needed of the score is needed of the column's value.

#: From and to a value, None without end.
Range = tuple[Fraction | None, Fraction | None]
_NONE, _ALL = Enclosure.exactly(Fraction(0)), Enclosure.exactly(Fraction(1))


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalSum:
    """A normal law of the contribution: ``moments`` are its mean and variance, by the cells of ``axes``.

    Combinations of cells without moments have probability 0.
    """

    axes: tuple[int, ...]
    moments: Mapping[tuple[int, ...], tuple[Fraction, Fraction]]
    conditioned: bool = False

    def total(self, cells: tuple[int, ...]) -> Enclosure:
        """Everything, where the law is defined."""
        return _ALL if cells in self.moments else _NONE

    def tail(self, cells: tuple[int, ...], needed: Fraction, strict: bool) -> Enclosure:
        """Phi of the distance from ``needed`` up to the mean, in standard deviations."""
        if cells not in self.moments:
            return _NONE
        mean, variance = self.moments[cells]
        return upper_tail(mean, variance, needed, strict)


def upper_tail(mean: Fraction, variance: Fraction, needed: Fraction, strict: bool) -> Enclosure:
    """Pr[X >= needed] (strict: >) of a normal law, which is a point where its variance is 0."""
    if variance == 0:
        return _ALL if (mean > needed if strict else mean >= needed) else _NONE
    low, high = root(variance)
    distance = mean - needed
    # A smaller divisor makes the quotient larger in size.
    nearest, farthest = distance / high, distance / low
    least, most = (nearest, farthest) if distance >= 0 else (farthest, nearest)
    return Enclosure(low=cdf(least).low, high=cdf(most).high)


def between(law: Normal, low: Fraction | None, high: Fraction | None) -> Enclosure:
    """Pr[low <= X <= high] of the law without its truncation."""
    if low is not None and high is not None and low >= high and law.sd:
        return _NONE
    variance = law.sd * law.sd
    above = _ALL if low is None else upper_tail(law.mean, variance, low, False)
    beyond = _NONE if high is None else upper_tail(law.mean, variance, high, True)
    return Enclosure(low=max(Fraction(0), above.low - beyond.high), high=max(Fraction(0), above.high - beyond.low))


def normal_mass(law: Normal, bounds: Range, piece: Range) -> Enclosure:
    """Pr[piece] of a normal law, truncated to ``bounds`` if it is said to be."""
    low, high = piece
    if not law.truncated:
        return between(law, low, high)
    low = bounds[0] if low is None else low if bounds[0] is None else max(low, bounds[0])
    high = bounds[1] if high is None else high if bounds[1] is None else min(high, bounds[1])
    part, whole = between(law, low, high), between(law, *bounds)
    if not whole.low:
        return Enclosure(low=Fraction(0), high=Fraction(1))
    return Enclosure(low=part.low / whole.high, high=min(Fraction(1), part.high / whole.low))


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

    def total(self, cells: tuple[int, ...]) -> Enclosure:
        """The mass of the admitted pieces."""
        return _added(self._mass(law, piece, piece.low, piece.high) for piece, law in self.laws.get(cells, ()))

    def tail(self, cells: tuple[int, ...], needed: Fraction, strict: bool) -> Enclosure:
        """Piece by piece, the mass of the values that contribute enough."""
        return _added(self._tail(piece, law, needed, strict) for piece, law in self.laws.get(cells, ()))

    def _tail(self, piece: Piece, law: Uniform | Normal, needed: Fraction, strict: bool) -> Enclosure:
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

    def _mass(self, law: Uniform | Normal, piece: Piece, low: Fraction | None, high: Fraction | None) -> Enclosure:
        if isinstance(law, Normal):
            return normal_mass(law, self.bounds, (low, high))
        if low is None or high is None:
            raise ValueError("uniform distributions have ends")
        if piece.count is not None:
            share = law.share * Fraction(int(high - low) + 1, piece.count)
        else:
            share = law.share * (high - low) / piece.size
        return Enclosure.exactly(share)


def _first(value: Fraction, strict: bool, piece: Piece) -> Fraction:
    """The first value of the piece that is at least (strict: above) ``value``; for reals strictness has no mass."""
    if piece.count is None:
        return value
    return Fraction(floor(value) + 1 if strict else ceil(value))


def _last(value: Fraction, strict: bool, piece: Piece) -> Fraction:
    if piece.count is None:
        return value
    return Fraction(ceil(value) - 1 if strict else floor(value))


def _added(masses: Iterable[Enclosure]) -> Enclosure:
    low = high = Fraction(0)
    for least, most in masses:
        low, high = low + least, high + most
    return Enclosure(low=min(low, Fraction(1)), high=min(high, Fraction(1)))


# --------------------------------------------------------------------------------------------------
# A normal column as an axis: cut into pieces whose probabilities are enclosed, for what no closed form covers.

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
    return tuple(mass.low for mass in masses), tuple(mass.high for mass in masses)


def _mass(row: Row, cell: Cell, bounds: tuple[Fraction | None, Fraction | None], piece: Piece) -> Enclosure:
    if isinstance(row, Normal):
        return normal_mass(row, bounds, (piece.low, piece.high))
    whole = None if cell.low is None or cell.high is None else cell.high - cell.low
    if cell.inside is Inside.UNIFORM and whole and piece.size:
        share = row[0] * piece.size / whole
        return Enclosure.exactly(share)
    return Enclosure(low=Fraction(0), high=row[0])
