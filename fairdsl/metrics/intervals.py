"""Metrics of rates that are known as intervals: docs/semantics.md, section 4.

With rates p_a in [lo_a, hi_a] of at least two groups, and a, b different groups:

* max p - min p lies in [max(0, max lo - min hi), max(hi_a - lo_b)];
* min p / max p in [min lo_a / hi_b, min(1, min hi / max lo)], where max p is not 0.

The lower end of the ratio is sound because the least and the greatest rate belong to different groups unless all
are equal, and then the ratio is 1. ``gap <= t`` holds of all rates in the intervals exactly if every
hi_a - lo_b <= t, and of none exactly if some lo_a - hi_b > t: so a threshold may be compared with the two ends
alone, and likewise for the ratio. All arithmetic is rational.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from heapq import nlargest, nsmallest

from fairdsl.metrics.joint import Enclosure


class Defined(Enum):
    """Whether a quotient has a denominator."""

    YES = "yes"
    PERHAPS = "perhaps"
    NO = "no"


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """A number in [low, high], if it is defined; ``high`` is None where nothing bounds it from above."""

    low: Fraction
    high: Fraction | None
    defined: Defined = Defined.YES


_ZERO, _ONE = Fraction(0), Fraction(1)


def gap(rates: Sequence[Enclosure]) -> Range:
    """max p - min p; 0 of a single group."""
    if len(rates) < 2:
        return Range(low=_ZERO, high=_ZERO)
    if len(rates) == 2:  # most questions: the lower end is then the lesser of the same two differences, turned
        one, two = rates
        if one.high < two.low:
            return Range(low=two.low - one.high, high=two.high - one.low)
        if two.high < one.low:
            return Range(low=one.low - two.high, high=one.high - two.low)
    low = max(rate.low for rate in rates) - min(rate.high for rate in rates)
    return Range(low=max(_ZERO, low), high=_over_pairs(rates, lambda high, other: high - other))


def _over_pairs(rates: Sequence[Enclosure], distance: Callable[[Fraction, Fraction], Fraction]) -> Fraction:
    """The maximum of ``distance(hi_a, lo_b)`` over a != b; the distance rises with hi_a and falls with lo_b.

    So a is one of the two with the greatest hi, and b one of the two with the least lo.
    """
    if len(rates) == 2:
        one, two = rates
        return max(distance(one.high, two.low), distance(two.high, one.low))
    places = range(len(rates))
    highs = nlargest(2, places, key=lambda place: rates[place].high)
    lows = nsmallest(2, places, key=lambda place: rates[place].low)
    return max(distance(rates[a].high, rates[b].low) for a in highs for b in lows if a != b)


def ratio(rates: Sequence[Enclosure]) -> Range:
    """min p / max p; undefined where max p = 0, which is never read as 1."""
    if min(rate.low for rate in rates) < 0:  # of means
        return Range(low=_ZERO, high=_ONE, defined=Defined.NO)
    greatest_low, greatest_high = max(rate.low for rate in rates), max(rate.high for rate in rates)
    if greatest_high == 0:
        return Range(low=_ZERO, high=_ONE, defined=Defined.NO)
    if greatest_low == 0:
        return Range(low=_ZERO, high=_ONE, defined=Defined.PERHAPS)
    if len(rates) < 2:
        return Range(low=_ONE, high=_ONE)
    high = min(rate.high for rate in rates) / greatest_low
    # hi_a > 0 for at least one a; where it is greatest, -(lo_b / hi_a) is -1 or more, which is why 0 may count as -1.
    low = -_over_pairs(rates, lambda top, other: -other / top if top else -_ONE)
    return Range(low=min(_ONE, low), high=min(_ONE, high))


def difference(rate: Enclosure, other: Enclosure) -> Range:
    """p - q, signed."""
    return Range(low=rate.low - other.high, high=rate.high - other.low)


def quotient(rate: Enclosure, other: Enclosure) -> Range:
    """p / q, which may exceed 1; undefined where q = 0."""
    if other.high <= 0:
        return Range(low=_ZERO, high=None, defined=Defined.NO)
    low = rate.low / other.high
    if other.low <= 0:
        return Range(low=low, high=None, defined=Defined.PERHAPS)
    return Range(low=low, high=rate.high / other.low)


def extremes(rates: Sequence[Enclosure]) -> Range:
    """All rates: from the least to the greatest of them."""
    return Range(low=min(rate.low for rate in rates), high=max(rate.high for rate in rates))


def most_of(rates: Sequence[Enclosure]) -> tuple[int, ...]:
    """The places of those that may be the greatest: hi_a >= max lo."""
    bound = max((rate.low for rate in rates), default=_ZERO)
    return tuple([place for place, rate in enumerate(rates) if rate.low is bound or rate.high >= bound])


def least_of(rates: Sequence[Enclosure]) -> tuple[int, ...]:
    """The places of those that may be the least: lo_a <= min hi."""
    bound = min((rate.high for rate in rates), default=_ONE)
    return tuple([place for place, rate in enumerate(rates) if rate.high is bound or rate.low <= bound])


def greatest(ranges: Sequence[Range]) -> Range:
    """The greatest of several numbers."""
    return _joined(ranges, max, max)


def smallest(ranges: Sequence[Range]) -> Range:
    """The smallest of several numbers."""
    return _joined(ranges, min, min)


def hull(ranges: Sequence[Range]) -> Range:
    """Where any of several numbers lies."""
    return _joined(ranges, min, max)


def mean(ranges: Sequence[Range]) -> Range:
    """The mean of several numbers."""
    parts = Fraction(1, len(ranges))
    return _joined(ranges, lambda lows: sum(lows, _ZERO) * parts, lambda highs: sum(highs, _ZERO) * parts)


_Choice = Callable[[list[Fraction]], Fraction]


def _joined(ranges: Sequence[Range], of_lows: _Choice, of_highs: _Choice) -> Range:
    """One number out of several; it is as little defined as the least defined of them."""
    highs = [found.high for found in ranges if found.high is not None]
    among = {found.defined for found in ranges}
    return Range(
        low=of_lows([found.low for found in ranges]),
        high=of_highs(highs) if len(highs) == len(ranges) else None,
        defined=next(state for state in (Defined.NO, Defined.PERHAPS, Defined.YES) if state in among),
    )
