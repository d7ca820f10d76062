"""Guaranteed intervals for the difference and the quotient of two proportions: Buehler's bounds.

Let S(x, y) order the samples by how strongly x of m hits and y of n hits speak for p > q, whatever p and q are. Of
all lower bounds for a number f(p, q) that follow this order and miss it with probability t at most, the greatest is

    B(x, y)  =  inf { f(p, q) : P_pq(A) >= t },      A = { samples that S puts at (x, y) or above it }

(Buehler, Journal of the American Statistical Association 52, 1957; Kabaila and Lloyd, Australian and New Zealand
Journal of Statistics 45, 2003). It misses no more often than t because of all samples with B > f(p, q) the one that S
puts lowest has an A of a probability below t.

**The order** is by the limit of Newcombe's hybrid score interval for p - r q (Statistics in Medicine 17, 1998), L_r =
p' - r q' - sqrt((p' - l)^2 + r^2 (u - q')^2) with frequencies p', q' and Wilson's limits l and u. It grows with x, as
0 <= dl/dp' <= 2, and falls with y. For differences r = 1; for quotients r is where L_r(x, y) = 0, and A = {L_r >= 0},
as L_r falls with r (Donner and Zou, Statistical Methods in Medical Research 21, 2012). So A is a staircase: of each
y' all x' from some step on, and P_pq(A) grows with p and falls with q.

**The infimum** is over q in Clopper and Pearson's interval, which misses q with a small part of t, taken off t in
turn (Berger and Boos, Journal of the American Statistical Association 89, 1994). It is cut into cells: of q in [a, b]
and f(p, q) <= v the p are at most the p_v with f(p_v, b) = v, as f grows with p and falls with q, and P_pq(A) is at
most that of p_v and a. So the bound is above v if no cell's is t. Every error of rounding and every tail left out
makes A larger or t smaller: the bound is then lower, never higher.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import lgamma, log
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from fairdsl.numerics.binomial import clopper_pearson

#: More than the relative error of any probability here, and than the error of any limit that orders samples.
_MARGIN, _TIE = 1e-6, 1e-9
#: Parts of q, of each part that matters, and so on; halvings of where the bound may lie, until that is known to a part
#: of its distance from the estimate.
_PARTS, _LEVELS, _HALVINGS, _PRECISE = 8, 3, 60, 1e-3
#: The part of the tail with which q is missed.
_BESIDE = 0.004
#: Probabilities that are told from 0 and 1.
_NEVER, _EPSILON = 1e-300, 2.0**-53

_Booleans = NDArray[np.bool_]
_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Number:
    """A number ``of`` p and q, and the p that ``reach`` a value of it with several q."""

    of: Callable[[_Floats, _Floats], _Floats]
    reach: Callable[[float, _Floats], _Floats]


_DIFFERENCE = _Number(of=lambda p, q: p - q, reach=lambda v, q: v + q)
_QUOTIENT = _Number(of=lambda p, q: p / np.maximum(q, _NEVER), reach=lambda v, q: v * q)


@dataclass(frozen=True, slots=True)
class Counts:
    """``hits`` among ``trials``."""

    hits: int
    trials: int

    def __post_init__(self) -> None:
        if not 0 <= self.hits <= self.trials or self.trials < 1:
            raise ValueError("hits are a part of the trials")

    @property
    def frequency(self) -> float:
        """The hits' share of the trials."""
        return self.hits / self.trials


@lru_cache(maxsize=4096)  # metrics of one table ask for the same groups
def least_difference(one: Counts, other: Counts, tail: float) -> Fraction:
    """A bound that p - q is below with probability ``tail`` at most, of the ``one`` with p and the ``other`` with q."""
    order = _Order(one.trials, other.trials, tail, weight=1.0)
    limit = order.limit(np.array([one.hits]), np.array([other.hits]))
    region, q = _asked(order, other, float(limit[0]))
    found = _infimum(region, q, _DIFFERENCE, -1.0, one.frequency - other.frequency)
    return max(Fraction(-1), Fraction(found - _TIE))


@lru_cache(maxsize=4096)
def least_quotient(one: Counts, other: Counts, tail: float) -> Fraction:
    """The same of p / q; 0 where nothing is known."""
    if one.hits == 0:
        return Fraction(0)
    order = _Order(one.trials, other.trials, tail, weight=_root(one, other, tail))
    region, q = _asked(order, other, 0.0)
    estimate = one.frequency / max(other.frequency, 1 / other.trials)
    return max(Fraction(0), Fraction(_infimum(region, q, _QUOTIENT, 0.0, estimate) * (1 - _TIE)))


def _asked(order: _Order, other: Counts, least: float) -> tuple[_Region, tuple[float, float]]:
    """The samples from a limit on, with the tail that is left, and the q that are asked about."""
    beside = order.tail * _BESIDE
    low, high = clopper_pearson(other.hits, other.trials, 1 - beside)
    tail = (order.tail - beside) * (1 - _MARGIN)
    return _Region(order.first, order.second, order.steps(least), tail), (float(low), float(high))


def _root(one: Counts, other: Counts, tail: float) -> float:
    """About the weight at which the limit of p - weight q is 0; any number makes a valid order."""
    low, high = 0.0, 1.0
    x, y = np.array([one.hits]), np.array([other.hits])

    def positive(weight: float) -> bool:
        return bool(_Order(one.trials, other.trials, tail, weight).limit(x, y)[0] >= 0.0)

    while positive(high) and high < 1e9:
        high *= 2
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if positive(middle) else (low, middle)
    return low


@dataclass(frozen=True, slots=True)
class _Order:
    """Samples of two sizes by the lower limit of p - weight q, whose own tail is ``tail``."""

    first: int
    second: int
    tail: float
    weight: float

    def limit(self, x: _Ints, y: _Ints) -> _Floats:
        """The limit of each sample."""
        below, _ = _wilson(x, self.first, self.tail)
        _, above = _wilson(y, self.second, self.tail)
        p, q = x / self.first, y / self.second
        spread = np.sqrt((p - below) ** 2 + self.weight**2 * (above - q) ** 2)
        return np.asarray(p - self.weight * q - spread)

    def steps(self, least: float) -> _Ints:
        """For each y the first x with a limit of at least that, or a little less; one more than there are: none."""
        y = np.arange(self.second + 1)
        low, high = np.zeros_like(y), np.full_like(y, self.first + 1)
        while np.any(low < high):
            middle = (low + high) // 2
            above = self.limit(np.minimum(middle, self.first), y) >= least - _TIE * (1 + self.weight)
            above |= middle > self.first
            low, high = np.where(above | (low >= high), low, middle + 1), np.where(above & (low < high), middle, high)
        return np.maximum.accumulate(low)


def _wilson(hits: _Ints, trials: int, tail: float) -> tuple[_Floats, _Floats]:
    """Wilson's score limits (Journal of the American Statistical Association 22, 1927), each with that tail."""
    z = -NormalDist().inv_cdf(tail)
    p = hits / trials
    middle = p + z * z / (2 * trials)
    spread = z * np.sqrt(p * (1 - p) / trials + (z / (2 * trials)) ** 2)
    scale = 1 + z * z / trials
    return np.asarray((middle - spread) / scale), np.asarray((middle + spread) / scale)


def _infimum(region: _Region, q: tuple[float, float], number: _Number, least: float, estimate: float) -> float:
    """The greatest number, or just below, under which A has the tail nowhere; ``least`` is below any."""
    low, high = least, estimate
    cells = _parted(np.array([q[0]]), np.array([q[1]]))
    for _ in range(_LEVELS):
        starts, ends = cells
        others = region.others(starts)
        met = high
        for _ in range(_HALVINGS):
            if high - low <= _PRECISE * (estimate - low):
                break
            middle = (low + high) / 2
            p = number.reach(middle, ends)
            likely = region.likely(p, others)
            # Of a smaller number A is less likely: cells below the tail stay there.
            if np.any(likely):
                # There it has the tail at the cell's first q, with a number that is greater by what the cell costs.
                met = min(met, float(number.of(np.minimum(p, 1.0), starts)[likely].min()))
                high, starts, ends, others = middle, starts[likely], ends[likely], others.those(likely)
            else:
                low = middle
        high = max(low, met)
        starts, ends = cells
        wanted = region.likely(number.reach(high, ends), region.others(starts))
        if not np.any(wanted):
            return high
        cells = _parted(starts[wanted], ends[wanted])
    return low


def _parted(starts: _Floats, ends: _Floats) -> tuple[_Floats, _Floats]:
    """Cells in parts."""
    edges = np.linspace(starts, ends, _PARTS + 1)
    return edges[:-1].ravel(), edges[1:].ravel()


@dataclass(frozen=True, slots=True)
class _Others:
    """For each of several q the numbers of hits of the other group that matter [q, hits]."""

    #: How probable each is.
    weights: _Floats
    #: From how many hits of the one group on the two are in A.
    steps: _Ints

    def those(self, chosen: _Booleans) -> _Others:
        """The same of some of the q."""
        return _Others(self.weights[chosen], self.steps[chosen])


@dataclass(frozen=True, slots=True)
class _Region:
    """The samples A of two sizes: of each y those from a step on."""

    first: int
    second: int
    steps: _Ints
    tail: float

    def others(self, q: _Floats) -> _Others:
        """What :meth:`likely` asks of each q, whatever the p beside it."""
        first, weights = self._likely(self.second, q)
        return _Others(weights, self.steps[first[:, None] + np.arange(weights.shape[1])])

    def likely(self, p: _Floats, others: _Others) -> _Booleans:
        """Whether A is as likely as the tail, for each p and q; never where p < 0, since there is nobody."""
        first, weights = self._likely(self.first, np.clip(p, 0.0, 1.0))
        above = np.zeros((len(p), weights.shape[1] + 1))
        np.cumsum(weights[:, ::-1], axis=1, out=above[:, -2::-1])
        place = np.clip(others.steps - first[:, None], 0, weights.shape[1])
        found = (others.weights * np.take_along_axis(above, place, axis=1)).sum(axis=1)
        return np.asarray((found >= self.tail) & (p >= 0.0))

    def _likely(self, trials: int, p: _Floats) -> tuple[_Ints, _Floats]:
        """For each p the first number of hits, and the probabilities from it on, [p, hits].

        What lies outside is together less likely than the margin (Bernstein's inequality).
        """
        p = np.clip(p, _NEVER, 1 - _EPSILON)
        rare = -log(self.tail * _MARGIN / 8)
        off = rare / 3 + np.sqrt(rare * rare / 9 + 2 * rare * trials * p * (1 - p))
        width = min(trials, int(2 * off.max()) + 2)
        start = np.clip((trials * p - off).astype(np.int64), 0, trials - width)
        hits = start[:, None] + np.arange(width + 1)
        without = np.log1p(-p)
        return start, np.exp(
            _choices(trials)[hits] + hits * (np.log(p) - without)[:, None] + (trials * without)[:, None]
        )


@lru_cache(maxsize=64)
def _choices(trials: int) -> _Floats:
    """The logarithm of how many ways there are to hit so often, of every number of hits."""
    factorials = np.array([lgamma(n + 1.0) for n in range(trials + 1)])
    return np.asarray(factorials[-1] - factorials - factorials[::-1])
