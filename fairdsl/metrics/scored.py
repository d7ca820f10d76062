"""Means of scores of people who were drawn: sums in whole numbers, and intervals that contain the mean.

A score in [a, b] counts as x = (score - a) / (b - a), which lies in [0, 1]. Of n people with the mean m and the
variance v = sum (x - m)^2 / (n - 1), with probability 1 - d the expectation is within

* sqrt(ln(4 / d) / (2 n)) of m, with half of d (Hoeffding, Journal of the American Statistical Association 58, 1963);
* sqrt(2 v ln(8 / d) / n) + 7 ln(8 / d) / (3 (n - 1)), with the other half (Maurer and Pontil, *Empirical Bernstein
  bounds and sample-variance penalization*, COLT 2009, theorem 4, on either side).

So the closer of the two may be taken whatever was drawn. Scores are rounded outward to multiples of 2^-40.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import log, sqrt

from fairdsl.ir.enclosure import Enclosure
from fairdsl.numerics.rounding import float_above

#: What 1 counts as, and what it counts as where it is squared.
UNITS, ROOTS = 1 << 40, 1 << 20
#: As far apart are the ends of a sum, for each of its people, where its numbers are rounded.
_ROUNDED = 1 << 10
#: More than the relative errors of a logarithm, a quotient and a root in float64 together.
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """People who were drawn, and the sums of their scores.

    ``span`` are the least and the greatest score that there may be. ``least`` and ``most`` enclose the sum of all x, in
    units; ``squares`` is not below that of their squares, in roots.
    """

    span: tuple[Fraction, Fraction]
    people: int = 0
    least: int = 0
    most: int = 0
    squares: int = 0

    def __add__(self, other: Scored) -> Scored:
        return Scored(
            span=self.span,
            people=self.people + other.people,
            least=self.least + other.least,
            most=self.most + other.most,
            squares=self.squares + other.squares,
        )

    @property
    def sums(self) -> Enclosure:
        """The sum of the scores."""
        low, high = self.span
        start, unit = low * self.people, (high - low) / UNITS
        return Enclosure(low=start + unit * self.least, high=start + unit * self.most)

    @property
    def estimate(self) -> Enclosure:
        """The same as an estimate: one number where no more than rounding is open."""
        sums = self.sums
        rounded = self.most - self.least <= self.people * _ROUNDED
        return Enclosure.exactly((sums.low + sums.high) / 2) if rounded else sums

    def interval(self, confidence: Fraction) -> Enclosure:
        """What contains the expectation with this probability."""
        low, high = self.span
        if self.people < 2:
            return Enclosure(low=low, high=high)
        sure = float_above(1 / (1 - confidence))
        near = (high - low) * Fraction(min(self._by_range(sure), self._by_variance(sure)))
        least, most = (total / self.people for total in self.sums)
        return Enclosure(low=max(low, least - near), high=min(high, most + near))

    def _by_range(self, sure: float) -> float:
        return sqrt(log(4 * sure) / (2 * self.people)) * (1 + _ROUNDING)

    def _by_variance(self, sure: float) -> float:
        count, size = self.people, log(8 * sure)
        mean = Fraction(self.least, count * UNITS)
        variance = max(Fraction(0), Fraction(self.squares, count * ROOTS**2) - mean**2) * Fraction(count, count - 1)
        return (sqrt(2 * float_above(variance) * size / count) + 7 * size / (3 * (count - 1))) * (1 + _ROUNDING)
