"""Confidence intervals of a proportion, Clopper and Pearson's, and of what two paired ones differ by, rounded outward.

The bounds solve equations in the binomial distribution's tails (Clopper and Pearson, Biometrika 26, 1934),
so the interval contains the proportion at least as often as it says, for every size of the sample.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import exp, lgamma, log, log1p, nextafter, ulp

from fairdsl.ir.enclosure import Enclosure

#: The equations are solved for a tail smaller by this factor: more than the error of evaluating it.
_MARGIN = 1e-6
#: The part of what an interval of paired trials may miss that is for how many of them change.
_CHANGED = 0.1
_STEPS, _TERMS, _PRECISION, _TINY = 200, 100_000, 1e-14, 1e-300


@lru_cache(maxsize=4096)  # metrics of one table ask for the same groups
def clopper_pearson(hits: int, trials: int, confidence: float) -> Enclosure:
    """An interval that contains the proportion with at least the given probability."""
    if not 0 <= hits <= trials or trials < 1:
        raise ValueError("hits are a part of the trials")
    tail = (1 - confidence) / 2 * (1 - _MARGIN)
    # That few hits are as unlikely as that many misses, so the upper bound is the misses' lower one, mirrored.
    return Enclosure(low=_lower(hits, trials, tail), high=1 - _lower(trials - hits, trials, tail))


def paired_difference(gained: int, lost: int, trials: int, confidence: float) -> Enclosure:
    """An interval for p - q with at least that probability, where the same trials hit or miss twice.

    p is the probability of a hit the second time alone, which was seen ``gained`` times, q that of one the first time
    alone, ``lost`` times. Of those that change, p / (p + q) are gained: a proportion as given how many change, which
    is McNemar's argument (Psychometrika 12, 1947), so p - q = (p + q) (2 p / (p + q) - 1) lies between the products
    of the two intervals. Both hold at once (the union bound), most of what they may miss being left to the second one.
    """
    changed, missed = gained + lost, 1 - confidence
    low, high = clopper_pearson(changed, trials, 1 - missed * _CHANGED)
    if not changed:
        return Enclosure(low=-high, high=high)
    least, most = (2 * end - 1 for end in clopper_pearson(gained, changed, 1 - missed * (1 - _CHANGED)))
    return Enclosure(low=least * (low if least > 0 else high), high=most * (high if most > 0 else low))


def _lower(hits: int, trials: int, tail: float) -> Fraction:
    """The greatest p at which so many hits are as unlikely as ``tail``, or just below; they grow likelier with p.

    Newton's steps for the logarithm of the tail over that of p, each a little too long, so that the root is soon
    between two floats; a step out of what is known is replaced by the middle. Only signs of the tail are believed.
    """
    if not hits:
        return Fraction(0)
    low, high, p, beyond = 0.0, 1.0, hits / (trials + 1), 1
    logs = lgamma(trials + 1) - lgamma(hits) - lgamma(trials - hits + 1)
    for _ in range(_STEPS):
        found = upper_tail(hits, trials, p)
        below = found <= tail
        low, high = (p, high) if below else (low, p)
        if nextafter(low, 1.0) >= high:
            break
        slope = exp(logs + hits * log(p) + (trials - hits) * log1p(-p)) / found if found > 0.0 else 0.0
        p = p * exp(log(tail / found) / slope) if slope > 0.0 else 0.0
        p += beyond * ulp(p) if below else -beyond * ulp(p)
        beyond *= 2
        if not low < p < high:
            p = (low + high) / 2
    return Fraction(low)


def upper_tail(hits: int, trials: int, p: float) -> float:
    """The probability of ``hits`` or more successes (at least one) among ``trials`` of probability ``p``.

    It is the regularised incomplete beta function I_p(hits, trials - hits + 1), by its continued fraction
    on the side of the mean where that converges quickly.
    """
    a, b = hits, trials - hits + 1
    if p <= 0.0 or p >= 1.0:
        return float(p >= 1.0)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(p) + b * log1p(-p))
    if p < (a + 1) / (a + b + 2):
        return front * _continued(a, b, p) / a
    return 1.0 - front * _continued(b, a, 1.0 - p) / b


def _continued(a: int, b: int, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1.0 / _away(1.0 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, _TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            c, d = _away(1.0 + term / c), 1.0 / _away(1.0 + term * d)
            value *= c * d
        if abs(c * d - 1.0) < _PRECISION:
            return value
    raise ArithmeticError("the continued fraction did not converge")


def _away(number: float) -> float:
    """The number, or a tiny one in place of zero."""
    return number if abs(number) > _TINY else _TINY
