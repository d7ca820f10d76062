"""How far apart the scores of two who are compared are at most: every pair is looked at, and the farthest exactly.

Scores are known between two floats, so each pair's gap is. Whoever may be farther apart than a pair surely is stays a
candidate; candidates are replayed, the likeliest first, until none that is left can be farther apart than the worst.
"""

from __future__ import annotations

from fractions import Fraction
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Budget, Observer
from fairdsl.backends.enumerate.census import Census, take_census
from fairdsl.backends.enumerate.tuples import pairs_in_force
from fairdsl.backends.worst import Worst
from fairdsl.clock import Work, spend
from fairdsl.ir.expr import Who
from fairdsl.ir.problem import Problem
from fairdsl.numerics.exact import Enclosed, enclosed_scores
from fairdsl.numerics.grid import Grid
from fairdsl.numerics.rounding import float_below
from fairdsl.verdict import Evidence, Reason, Verdict

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: What is counted where effort is given.
_PAIRS = Work("pairs compared", 0.02)
#: Candidates that are kept until the worst are known, and individuals whose scores are computed exactly, at most.
_KEPT, _EXACT = 1 << 16, 1 << 14


def worst_of_everybody(name: str, problem: Problem, grid: Grid, budget: Budget, observer: Observer) -> Verdict:
    """The number, exactly where scores are rational."""
    census = take_census(problem, problem.demanded, grid, budget, observer, measure=True)
    worst, candidates = Worst(problem), _Candidates()
    complete = _look_at_all(census, problem, candidates, budget) and census.complete
    high = candidates.replayed(worst, census)
    method = f"all {census.count:,} individuals evaluated, and {candidates.pairs:,} pairs of them compared"
    evidence = Evidence(backend=name, method=method if complete else "stopped while comparing")
    # Whoever may be compared, or not, keeps the question from being about nobody.
    reason = Reason.INCOMPLETE if candidates.doubtful and not worst.somebody else None
    return worst.verdict(high if complete else None, evidence, reason if complete else Reason.TIMEOUT)


class _Candidates:
    """Pairs that may be the worst: the ends of their gaps [n], and who they are [n, 2]."""

    def __init__(self) -> None:
        self.pairs = 0
        #: Whether it stays open of some whether they are compared.
        self.doubtful = False
        self._least, self._most = 0.0, np.zeros(0)
        #: What is farthest apart of pairs of which it stays open whether they are compared.
        self._open = 0.0
        self._who: Integers = np.zeros((0, 2), dtype=np.int64)

    def add(self, low: Floats, high: Floats, who: Integers, sure: NDArray[np.bool_]) -> None:
        """Some pairs; of those that are not ``sure`` it is open whether they are compared."""
        self.pairs += len(who)
        self.doubtful |= not sure.all()
        self._open = max(self._open, float(high[~sure].max(initial=0.0)))
        low, high, who = low[sure], high[sure], who[sure]
        self._least = max(self._least, float(low.max(initial=0.0)))
        kept = high >= self._least
        self._most = np.concatenate([self._most, high[kept]])
        self._who = np.concatenate([self._who, who[kept]])
        if len(self._most) > _KEPT:
            self._pruned()

    def _pruned(self) -> None:
        """Only those that may be worse than the one that is known; of many alike the first are enough for a bound."""
        kept = self._most >= self._least
        order = np.argsort(-self._most[kept], kind="stable")[:_KEPT]
        left = np.sort(self._most[kept])[::-1][_KEPT:]
        self._open = max(self._open, float(left.max(initial=0.0)))
        self._most, self._who = self._most[kept][order], self._who[kept][order]

    def replayed(self, worst: Worst, census: Census) -> Fraction | None:
        """The worst of them, replayed; no pair is farther apart than what is returned, None where nothing is known."""
        if not (np.isfinite(self._most).all() and isfinite(self._open)):
            return None
        order = np.argsort(-self._most, kind="stable")
        pairs, bounds = self._who[order].tolist(), self._most[order]
        exact, model = dict[int, Enclosed](), worst.problem.model
        best, high, least = None, Fraction(self._open), Fraction(0)
        for pair, bound in zip(pairs, bounds.tolist(), strict=True):
            if bound <= float_below(least) or len(exact) >= _EXACT:
                high = max(high, Fraction(bound) if bound > float_below(least) else high)
                break
            for index in pair:
                if index not in exact:
                    exact[index] = enclosed_scores(model, census.grid.point(index))
            one, other = (exact[index] for index in pair)
            apart, error = abs(one.values[0] - other.values[0]), one.errors[0] + other.errors[0]
            high = max(high, apart + error)
            if best is None or apart - error > least:
                best, least = pair, max(least, apart - error)
        if best is not None:
            worst.meet(*(census.grid.point(index) for index in best))
        return high


def _look_at_all(census: Census, problem: Problem, candidates: _Candidates, budget: Budget) -> bool:
    """Whether every pair was looked at before the budget ended."""
    place = np.full(census.grid.size, -1, dtype=np.int64)
    place[census.listed] = np.arange(len(census.listed))
    if census.measured is None:
        return False
    scores = census.measured.scores[0]
    for rows, sure in pairs_in_force(census, problem.demanded, place):
        one, other = (place[rows[who]] for who in (Who.A, Who.B))
        seen = (one < len(census.measured)) & (other < len(census.measured))
        one, other, sure = one[seen], other[seen], sure[seen]
        spend(_PAIRS, len(seen))
        low, high = _gaps(scores.low, scores.high, one, other)
        candidates.add(low, high, np.stack([rows[Who.A][seen], rows[Who.B][seen]], axis=1), sure)
        if budget.exhausted:
            return False
    return True


def _gaps(low: Floats, high: Floats, one: Integers, other: Integers) -> tuple[Floats, Floats]:
    """The ends of the gaps of pairs: a difference is rounded once, and a step outwards covers it."""
    with np.errstate(invalid="ignore"):
        least = np.maximum(low[one] - high[other], low[other] - high[one])
        most = np.maximum(high[one] - low[other], high[other] - low[one])
    least, most = np.nextafter(least, -np.inf), np.nextafter(most, np.inf)
    return np.maximum(np.nan_to_num(least, nan=0.0), 0.0), np.nan_to_num(most, nan=np.inf, posinf=np.inf)
