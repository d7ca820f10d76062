"""How far apart the scores of two who are compared are at most: regions of pairs, the farthest first, cut in two.

Theorem. The scores of a pair are no further apart than the bound of any region that holds the pair. Every region is
bounded from above, cut into parts that hold all its pairs, or is one pair, which is evaluated; so the number is no more
than the greatest bound that is left. It is no less than the gap of any pair, and pairs are climbed to from drawn ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count
from math import inf, isfinite

from fairdsl.backends.contract import Answering, Budget, Facts, Observer
from fairdsl.backends.smt.case_bounds import Bounder
from fairdsl.backends.smt.cases import Atom, Case, parts_of
from fairdsl.backends.smt.climb import Climb
from fairdsl.backends.smt.region import Region, whole_region
from fairdsl.backends.smt.vacuity import compares_nobody
from fairdsl.backends.worst import Worst
from fairdsl.clock import Deadline, now
from fairdsl.ir.domain import Point
from fairdsl.ir.expr import Compare, Linear, Or, Predicate, Relation, Variable, Who, conjoin, substitute
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair, ScoreGap
from fairdsl.numerics.narrow import ValueSet, possible
from fairdsl.verdict import Evidence, Holds, Reason, Verdict, Violated

__all__ = ["Farthest", "answering_worst", "in_force", "placed"]

#: Regions that are cut at once, and that are kept at most.
_AT_ONCE, _MOST = 32, 1 << 19
#: Ways to cut a region that are tried; of so many regions one is tried in all; over how many cuts gains are averaged.
_TRIED, _ALL, _LATELY = 3, 16, 8
#: Regions whose bound is no further above the worst pair than this part of it are cut no more.
_CLOSE = 1e-7
#: Where those are all that is left, it is asked whether a pair is any worse: for a part of the time that it took, or so
#: many seconds, and for so many worse pairs at most.
_PART, _SECONDS, _ASKED = 4, 2.0, 3


def answering_worst(
    name: str, problem: Problem, facts: Facts, budget: Budget, observer: Observer, decides: Callable[..., Verdict]
) -> Answering:
    """The work on one problem by budgets; regions that are closed stay so.

    ``decides`` answers whether all pairs meet a demand, as a procedure does.
    """
    search, started = Farthest(problem, budget.seed), now()
    while not search.finished:
        search.go_on(budget, observer)
        facts.somebody |= search.worst.somebody
        if search.finished:
            break
        ended = now()
        budget = yield search.verdict(name)
        started += now() - ended
    search.ask_for_anybody(budget)
    if search.nearly and problem.model.rational:
        until = Deadline.within(max(_SECONDS, (now() - started) / _PART))
        search.exactly(decides, replace(budget, deadline=min(budget.deadline, until)), observer)
    return search.verdict(name)


class Farthest:
    """Branch and bound over regions of pairs."""

    def __init__(self, problem: Problem, seed: int) -> None:
        asked = problem.of_pairs
        pair = asked.question
        assert isinstance(pair, Pair), "the largest score gap is asked of pairs"
        self.worst = Worst(problem)
        self._model, self._force = asked.model, in_force(pair, asked)
        self._order, self._heap = count(), list[tuple[float, int, int, Region]]()
        #: No pair of a region that was closed is further apart; how many regions were bounded.
        self._closed, self._bounded = 0.0, 0
        self._full = self._doubtful = False
        #: What cuts brought, by whose attribute they were of, and how many regions were cut.
        self._gains, self._cuts = dict[tuple[str, int], float](), 0
        start = whole_region(asked.domain, pair)
        regions = [] if start.empty else [region for _, region in parts_of(asked, pair, start)]
        # Where a and b may change places, one of the two signs says all.
        signs = (1,) if pair.symmetric else (1, -1)
        self._bounders = [self._bounder(Fraction(sign), start, pair) for sign in signs]
        for place, _ in enumerate(signs):
            self._put(place, regions)
        self._climb = Climb(asked, self._force, regions, seed) if regions else None

    def _bounder(self, sign: Fraction, region: Region, pair: Pair) -> Bounder:
        atom = Atom(a=(sign,), b=(-sign,), constant=Fraction(0), strict=True)
        return Bounder(self._model, Case("how far apart", (atom,), region), pair.relax)

    @property
    def finished(self) -> bool:
        """Whether nothing that is left can change the number by much."""
        return not self._heap or self._full

    @property
    def nearly(self) -> bool:
        """Whether no pair can be worse by more than rounding hides."""
        return self.finished and not self._full and self.worst.low < self._closed < inf

    def exactly(self, decides: Callable[..., Verdict], budget: Budget, observer: Observer) -> None:
        """Ask whether a pair is worse than the worst, in exact arithmetic, as long as one is."""
        asked = self.worst.problem.of_pairs
        for _ in range(_ASKED):
            demand = ScoreGap(relation=Relation.LE, limit=self.worst.low)
            assert isinstance(asked.question, Pair), "the largest score gap is asked of pairs"
            question = replace(asked, question=replace(asked.question, demand=demand))
            match decides(question, Facts(), budget, observer):
                case Holds():
                    self._closed = 0.0
                    return
                case Violated(witnesses=(found, *_)) if self.worst.meet(found.a.point, found.b.point):
                    continue
                case _:
                    return

    def ask_for_anybody(self, budget: Budget) -> None:
        """Whether two are compared, where nobody was met: a region without ends is closed with whoever is in it."""
        if self.worst.somebody or self._full:
            return
        nobody = compares_nobody(self.worst.problem.of_pairs, budget)
        self.worst.somebody, self._doubtful = nobody is False, nobody is None

    @property
    def high(self) -> Fraction | None:
        """The bound of all pairs; None where there is none."""
        top = max(self._closed, -self._heap[0][0] if self._heap else 0.0)
        return max(Fraction(top), self.worst.low) if isfinite(top) else None

    def go_on(self, budget: Budget, observer: Observer) -> None:
        """Climb to pairs, and cut regions until the budget ends."""
        if self._climb is not None and not self.worst.somebody:
            self._meet(self._climb.from_anywhere())
        while self._heap and not budget.exhausted:
            if len(self._heap) > _MOST:
                self._full = True
                return
            self._cut()
            top, low = -self._heap[0][0] if self._heap else float(self.worst.low), float(self.worst.low)
            observer.progress("worst pairs", None, f"between {low:.6g} and {top:.6g}, {self._bounded:,} regions")

    def verdict(self, name: str) -> Verdict:
        """What is known by now."""
        reason = Reason.MEMORY_OUT if self._full else Reason.TIMEOUT if self._heap else None
        if reason is None and self._doubtful:
            reason = Reason.INCOMPLETE
        evidence = Evidence(backend=name, method=f"interval bounds of {self._bounded:,} regions of pairs")
        return self.worst.verdict(self.high, evidence, reason)

    def _meet(self, pairs: Iterator[tuple[Point, Point]]) -> None:
        for a, b in pairs:
            if self.worst.meet(a, b) is not None:
                return

    def _put(self, place: int, regions: list[Region]) -> None:
        """Bound regions, and keep those that may hold a pair that is farther apart than the worst."""
        left = [region for region in regions if possible(self._force, (*region.a, *region.b))]
        self._bounded += len(left)
        for bounded in self._bounders[place].bound(left) if left else ():
            self._keep(place, bounded.region, bounded.reach)

    def _keep(self, place: int, region: Region, reach: float) -> None:
        low = float(self.worst.low)
        if self.worst.somebody and isfinite(reach) and Fraction(reach) <= self.worst.low:
            return
        if self.worst.somebody and reach - low <= _CLOSE * max(low, reach):
            self._closed = max(self._closed, reach)
            return
        heappush(self._heap, (-reach, next(self._order), place, region))

    def _cut(self) -> None:
        """Cut the regions with the greatest bounds, each in the way that leaves the least of those that are tried."""
        taken = [heappop(self._heap) for _ in range(min(_AT_ONCE, len(self._heap)))]
        for place in range(len(self._bounders)):
            some = [(-reach, region) for reach, _, at, region in taken if at == place]
            ways = [self._ways(region) for _, region in some]
            found = self._bounders[place].bound([part for each in ways for _, parts in each for part in parts])
            self._bounded += len(found)
            left = iter(found)
            for (reach, region), each in zip(some, ways, strict=True):
                halves = [(next(left), next(left)) for _ in each]
                if not halves:
                    self._close(region, reach)
                    continue
                for (way, _), two in zip(each, halves, strict=True):
                    self._learn(way, reach, max(part.reach for part in two))
                best = min(halves, key=lambda two: (max(x.reach for x in two), min(x.reach for x in two)))
                for part in best:
                    if possible(self._force, (*part.region.a, *part.region.b)):
                        self._keep(place, part.region, min(reach, part.reach))
        if self._climb is not None and taken:
            self._meet(self._climb.inside(taken[0][3], self.worst.low))

    def _ways(self, region: Region) -> list[tuple[tuple[str, int], tuple[Region, Region]]]:
        """The cuts that lowered bounds most so far, and now and then all of them."""
        every = list(region.cuts())
        self._cuts += 1
        if self._cuts % _ALL == 0:
            return every
        return sorted(every, key=lambda cut: -self._gains.get(cut[0], 1.0))[:_TRIED]

    def _learn(self, way: tuple[str, int], before: float, after: float) -> None:
        """How much a cut lowered the bound, as a part of it, the last ones counting most."""
        gain = (before - after) / before if 0 < before < inf and after < inf else 0.0
        known = self._gains.get(way)
        self._gains[way] = gain if known is None else known + (gain - known) / _LATELY

    def _close(self, region: Region, reach: float) -> None:
        """A region that cannot be cut: one pair, or without ends."""
        a, b = (tuple(_only(values) for values in side) for side in (region.a, region.b))
        if None not in a and None not in b:
            met = self.worst.meet(*(tuple(value for value in side if value is not None) for side in (a, b)))
            if met is None or met.high <= self.worst.low:
                return
        self._closed = max(self._closed, reach)


def _only(values: ValueSet) -> Fraction | None:
    """The only value that there is."""
    return values.low if values.low == values.high else None


def in_force(pair: Pair, problem: Problem) -> Predicate:
    """Whether two are compared, over the values of ``a`` and behind them those of ``b``; how sure models are aside."""
    behind = len(problem.domain.attributes)

    def apart(attribute: int) -> Linear:
        return Linear.of({Variable(attribute): Fraction(1), Variable(attribute + behind): Fraction(-1)})

    each = conjoin(problem.domain.where, pair.target)
    differ = [Compare(left=apart(attribute), relation=Relation.NE) for attribute in pair.differ]
    near = [
        Compare(left=form - Linear(constant=entry.by), relation=Relation.LE)
        for entry in pair.relax
        if entry.by is not None
        for form in (apart(entry.attribute), apart(entry.attribute).scaled(Fraction(-1)))
    ]
    chosen = conjoin(*differ) if pair.mode is Differ.EACH or len(differ) == 1 else Or(tuple(differ))
    asked = placed(pair.pair_target, Who.A, behind)
    return conjoin(placed(each, Who.A, behind), placed(each, Who.B, behind), asked, chosen, *near)


def placed(predicate: Predicate, who: Who, behind: int) -> Predicate:
    """A predicate over the values of ``a`` and behind them those of ``b``; what it says of each is said of ``who``."""
    of = {Who.EACH: behind * (who is Who.B), Who.A: 0, Who.B: behind}
    return substitute(predicate, lambda variable: Variable(variable.attribute + of[variable.who]))
