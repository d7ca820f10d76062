"""How many units are drawn, and when their number is looked at.

With probability 1 - d at least, the share lies in *all* the intervals that are read off at fixed sizes n_1 < n_2 < ...
of the sample, if the k-th of them has confidence 1 - d_k and the d_k sum to d at most (the union bound). So it is safe
to look at the sample as it grows, and to stop as soon as an interval is as narrow as it has to be; to look as often
with the whole of d each time would not be.

The intervals are Clopper and Pearson's. For a distance e, the last size is n >= ln(4 / d) / (2 e^2) with d / 2 of the
probability: there each end lies at most e from the estimate, whatever was drawn. (The interval's ends are where a tail
of probability t = d / 4 begins, and by Hoeffding's inequality, Journal of the American Statistical Association 58,
1963, it begins within sqrt(ln(1 / t) / (2 n)) of the mean.) The other half is for the looks before it, at sizes that
double, with d_k = d / (2 k (k + 1)).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log, nextafter

from fairdsl.ir.question import Precision

#: The size of the first look, and the largest there is where a threshold says how close is close enough.
_FIRST, _LARGEST = 1024, 2**26
#: More than the relative error of the logarithm and of the tails.
_MARGIN = 1e-5


@dataclass(frozen=True, slots=True)
class Look:
    """An interval of that confidence is read off when so many units were drawn."""

    size: int
    confidence: float


def most_needed(precision: Precision) -> int:
    """The size of the last look."""
    if precision.within is None:
        return _LARGEST
    allowed = float(1 - precision.confidence)
    return ceil(log(4 / allowed) / (2 * float(precision.within) ** 2) * (1 + _MARGIN)) + 1


def looks(precision: Precision) -> Iterator[Look]:
    """The looks at a sample, in order; their confidences together are the one asked for."""
    missed, last = 1 - precision.confidence, most_needed(precision)
    closing = precision.within is not None
    for number in range(1, last.bit_length() + 1):
        size = _FIRST * 2 ** (number - 1)
        if size >= last:
            break
        yield Look(size, _at_least(1 - missed / (number * (number + 1) * (2 if closing else 1))))
    if closing:
        yield Look(last, _at_least(1 - missed / 2))


def _at_least(confidence: Fraction) -> float:
    """The float next to it that is not below."""
    near = float(confidence)
    return near if Fraction(near) >= confidence else nextafter(near, 1.0)
