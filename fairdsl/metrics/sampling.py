"""Sampling error: how far frequencies in rows may lie from the rates of the population they were drawn from.

Rows are taken as independent draws, and the model as fixed before they were looked at. Given which rows belong to
a cohort, its hits are then binomial with the cohort's rate, so

* Clopper and Pearson's interval at confidence 1 - d / M, for each of the M rates of a question, contains all of
  them at once with probability at least 1 - d, whatever distribution was estimated (the union bound);
* by Hoeffding's inequality (Journal of the American Statistical Association 58, 1963) a frequency among k rows is
  within sqrt(ln(2 M / d) / (2 k)) of the rate with probability at least 1 - d / M: :func:`rows_needed`.

Decisions that stay open widen the interval: it is the lower end for the fewest hits and the upper end for the most.
The error of a distribution's structure is no matter of sampling and covered by none of this.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, log, sqrt

from fairdsl.metrics.cohorts import Hits
from fairdsl.metrics.joint import Bounds
from fairdsl.numerics.binomial import clopper_pearson
from fairdsl.numerics.rounding import float_above

#: Cohorts with fewer rows are pointed out: an even split of 30 leaves 31 % to 69 % open at 95 % confidence.
FEW_ROWS = 30
#: The confidence of what is said unasked.
USUAL = Fraction(95, 100)
#: More than the relative errors of a logarithm, a quotient and a root in float64 together.
_ROUNDING = Fraction(1, 10**12)


def sampled_rate(counted: Hits, *, confidence: Fraction, rates: int) -> Bounds:
    """An interval for the rate of one of ``rates`` cohorts, all of them covered with the given probability."""
    # Rounded up: a little more confidence than asked for widens the interval.
    each = float_above(1 - (1 - confidence) / rates)
    (fewest, most), (least_misses, most_misses) = counted.hits, counted.misses
    low, high = Fraction(0), Fraction(1)
    if each >= 1.0:
        return Bounds(low=low, high=high)
    # The bounds rise with the hits and fall with the misses.
    if fewest:
        low, _ = clopper_pearson(fewest, fewest + most_misses, each)
    if least_misses:
        _, high = clopper_pearson(most, most + least_misses, each)
    return Bounds(low=low, high=high)


def frequency(counted: Hits) -> Bounds | None:
    """The hits among the rows; None where there is no row."""
    (fewest, most), (least_misses, most_misses) = counted.hits, counted.misses
    if fewest + most_misses == 0:
        return None
    return Bounds(
        low=Fraction(fewest, fewest + most_misses),
        high=Fraction(most, most + least_misses) if most else Fraction(0),
    )


def half_width(rows: int, *, confidence: Fraction, rates: int = 1) -> Fraction:
    """Hoeffding's bound on the distance of a frequency from its rate, rounded up; at most 1."""
    if rows < 1:
        return Fraction(1)
    bound = sqrt(log(2 * rates / (1 - confidence)) / (2 * rows))
    return min(Fraction(1), Fraction(bound) * (1 + _ROUNDING))


def rows_needed(width: Fraction, *, confidence: Fraction, rates: int = 1) -> int:
    """How many rows each cohort needs so that all frequencies are within ``width`` of their rates."""
    if not 0 < width < 1:
        raise ValueError("a distance between rates lies between 0 and 1")
    return ceil(Fraction(log(2 * rates / (1 - confidence))) * (1 + _ROUNDING) / (2 * width**2))
