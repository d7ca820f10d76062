"""How far apart the scores of two who are compared are at most: regions of pairs, the farthest first, cut in two.

Every region is bounded from above, cut into parts that hold all its pairs, or is one pair, which is evaluated
(:mod:`fairdsl.backends.refining.farthest`). The number is no less than the gap of any pair, and pairs are climbed to
from drawn ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Answering, Budget, Facts, Observer
from fairdsl.backends.refining.farthest import Farthest, refined_further
from fairdsl.backends.refining.refinement import State
from fairdsl.backends.refining.regions import Asked, Bounded, Halves
from fairdsl.backends.smt.case_bounds import Bounder
from fairdsl.backends.smt.cases import Atom, Case, parts_of
from fairdsl.backends.smt.climb import Climb
from fairdsl.backends.smt.options import SmtOptions
from fairdsl.backends.smt.region import Region, whole_region
from fairdsl.backends.smt.vacuity import compares_nobody
from fairdsl.backends.worst import Worst
from fairdsl.clock import Deadline, Work, now
from fairdsl.ir.domain import Point
from fairdsl.ir.expr import Compare, Linear, Or, Predicate, Relation, Variable, Who, conjoin, substitute
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair, ScoreGap
from fairdsl.numerics.narrow import ValueSet, possible
from fairdsl.numerics.rounding import float_below
from fairdsl.verdict import Evidence, Holds, Reason, Verdict, Violated

Integers = NDArray[np.int64]
#: Whose score is to be the higher one, as a place among the signs of a question, and the pairs.
Signed = tuple[int, Region]

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
    started, worst = now(), Worst(problem)
    search = FarthestPairs.start(Asked.of(problem, budget.seed), memory=budget.memory)
    search.climb_from_anywhere()
    while not search.finished and not search.full:
        refined_further(search, budget, observer, budget.options[SmtOptions].scheduler)
        verdict = _verdict(name, search, worst)
        facts.somebody |= worst.somebody
        if search.finished or search.full:
            break
        ended = now()
        budget = yield verdict
        started += now() - ended
    _verdict(name, search, worst)
    if search.finished:
        _ask_for_anybody(search, worst, budget)
        if search.high is not None and search.high > worst.low and problem.model.rational:
            until = Deadline.within(max(_SECONDS, (now() - started) / _PART))
            _exactly(search, worst, decides, replace(budget, deadline=min(budget.deadline, until)), observer)
    return _verdict(name, search, worst)


def _verdict(name: str, search: FarthestPairs, worst: Worst) -> Verdict:
    """What is known by now."""
    evidence = Evidence(backend=name, method=f"interval bounds of {search.nodes:,} regions of pairs")
    return search.verdict(worst, evidence, Reason.TIMEOUT)


def _exactly(
    search: FarthestPairs, worst: Worst, decides: Callable[..., Verdict], budget: Budget, observer: Observer
) -> None:
    """Ask whether a pair is worse than the worst, in exact arithmetic, as long as one is."""
    asked = worst.problem.of_pairs
    for _ in range(_ASKED):
        demand = ScoreGap(relation=Relation.LE, limit=worst.low)
        assert isinstance(asked.question, Pair), "the largest score gap is asked of pairs"
        question = replace(asked, question=replace(asked.question, demand=demand))
        match decides(question, Facts(), budget, observer):
            case Holds():
                search.proved()
                return
            case Violated(witnesses=(found, *_)) if worst.meet(found.a.point, found.b.point):
                continue
            case _:
                return


def _ask_for_anybody(search: FarthestPairs, worst: Worst, budget: Budget) -> None:
    """Whether two are compared, where nobody was met: a region without ends is closed with whoever is in it."""
    if worst.somebody:
        return
    nobody = compares_nobody(worst.problem.of_pairs, budget)
    worst.somebody = search.worst.somebody = nobody is False
    search.doubtful = nobody is None


class _Made:
    """What bounding the pairs of a question takes, made once."""

    def __init__(self, problem: Problem, seed: int) -> None:
        self.asked = asked = problem.of_pairs
        pair = asked.question
        assert isinstance(pair, Pair), "the largest score gap is asked of pairs"
        self.pair, self.force = pair, in_force(pair, asked)
        self.start = start = whole_region(asked.domain, pair)
        self.regions = [] if start.empty else [region for _, region in parts_of(asked, pair, start)]
        # Where a and b may change places, one of the two signs says all.
        signs = (1,) if pair.symmetric else (1, -1)
        self.bounders = [self._bounder(Fraction(sign)) for sign in signs]
        self.climb = Climb(asked, self.force, self.regions, seed) if self.regions else None

    def _bounder(self, sign: Fraction) -> Bounder:
        atom = Atom(a=(sign,), b=(-sign,), constant=Fraction(0), strict=True)
        return Bounder(self.asked.model, Case("how far apart", (atom,), self.start), self.pair.relax)


class FarthestPairs(Farthest):
    """Branch and bound over regions of pairs."""

    work, at_once, bytes_a_region = Work("regions of pairs bounded", 0), 32, 4096
    #: Its bounds are scores. What they take of effort depends on the model, and is counted where they are computed.
    unit, seconds_a_node = Fraction(1), 1e-4
    #: Whether somebody who is compared may be where nobody was met.
    doubtful = False

    def _prepare(self) -> None:
        if FarthestPairs not in self.task.made:
            self.task.made[FarthestPairs] = _Made(self.task.problem, self.task.seed)
        self._made: _Made = self.task.made[FarthestPairs]
        #: What cuts brought, by whose attribute they were of, and how many regions were cut.
        self._gains, self._cuts = dict[tuple[str, int], float](), 0
        self._looks = 0

    def _in_units(self, gap: Fraction) -> float:
        return float_below(gap)

    def _is_news(self, bound: float) -> bool:
        low = float(self.worst.low)
        if not self.worst.somebody:
            return True
        if isfinite(bound) and Fraction(bound) <= self.worst.low:
            return False
        return bound - low > _CLOSE * max(low, bound)

    def why(self, otherwise: Reason) -> Reason | None:
        """Why the number is not known better; ``otherwise`` where regions wait for which there is room."""
        return super().why(otherwise) or (Reason.INCOMPLETE if self.doubtful else None)

    def climb_from_anywhere(self) -> None:
        """Somebody to begin with."""
        if self._made.climb is not None and not self.worst.somebody:
            self._climb(self._made.climb.from_anywhere())

    def _climb(self, pairs: Iterator[tuple[Point, Point]]) -> None:
        for a, b in pairs:
            if self.meet(a, b) is not None:
                return

    def _whole(self) -> Sequence[Signed]:
        return [(place, region) for place in range(len(self._made.bounders)) for region in self._made.regions]

    def _bounded(self, regions: Sequence[Signed]) -> list[Bounded | None]:
        found: list[Bounded | None] = [None] * len(regions)
        for sign, bounder in enumerate(self._made.bounders):
            rows = [row for row, (place, region) in enumerate(regions) if place == sign and self._holds_some(region)]
            if not rows:
                continue
            self.nodes += len(rows)
            for row, bounded in zip(rows, bounder.bound([regions[row][1] for row in rows]), strict=True):
                found[row] = Bounded(regions[row], bounded.reach)
        return found

    def _holds_some(self, region: Region) -> bool:
        return possible(self._made.force, (*region.a, *region.b))

    def _look(self, taken: Sequence[Bounded]) -> None:
        self._looks += 1
        if self._looks & (self._looks - 1) == 0:  # ever more seldom
            self.climb_from_anywhere()
        if self._made.climb is not None:
            self._climb(self._made.climb.inside(taken[0].region[1], self.worst.low))

    def _cut(self, taken: Sequence[Bounded]) -> Sequence[Halves | None]:
        """Each in the way that leaves the least of those that are tried."""
        ways = [self._ways(one.region[1]) for one in taken]
        tried = [
            (one.region[0], part) for one, each in zip(taken, ways, strict=True) for _, two in each for part in two
        ]
        left = iter(self._bounded(tried))
        return [self._best(one, each, left) for one, each in zip(taken, ways, strict=True)]

    def _best(
        self, one: Bounded, ways: Sequence[tuple[tuple[str, int], Any]], left: Iterator[Bounded | None]
    ) -> Halves | None:
        found: list[tuple[float, float, Halves]] = []
        for way, _ in ways:
            two = next(left), next(left)
            above, below = sorted((-inf if part is None else part.bound for part in two), reverse=True)
            self._learn(way, one.bound, above)
            kept = [None if part is None else replace(part, bound=min(one.bound, part.bound)) for part in two]
            found.append((above, below, Halves((self._axis(way), 0), (kept[0], kept[1]))))
        return min(found, key=lambda each: each[:2])[2] if found else None

    def _ways(self, region: Region) -> list[tuple[tuple[str, int], tuple[Region, Region]]]:
        """The cuts that lowered bounds most so far, and now and then all of them."""
        every = list(region.cuts())
        self._cuts += 1
        if self._cuts % _ALL == 0:
            return every
        return sorted(every, key=lambda cut: -self._gains.get(cut[0], 1.0))[:_TRIED]

    def _learn(self, way: tuple[str, int], before: float, after: float) -> None:
        """How much a cut lowered the bound, as a part of it, the last ones counting most."""
        gain = (before - max(0.0, after)) / before if 0 < before < inf and after < inf else 0.0
        known = self._gains.get(way)
        self._gains[way] = gain if known is None else known + (gain - known) / _LATELY

    def _axis(self, way: tuple[str, int]) -> int:
        who, attribute = way
        return attribute + (who == "b") * len(self._made.asked.domain.attributes)

    def _halved(self, regions: Sequence[Signed], axis: Integers, cut: Integers) -> list[Signed]:
        found: list[Signed] = []
        for (place, region), way in zip(regions, axis.tolist(), strict=True):
            two = next((parts for each, parts in region.cuts() if self._axis(each) == way), None)
            if two is None:
                raise ValueError("a region is cut where nothing is")
            found += [(place, part) for part in two]
        return found

    def _packed(self, regions: Sequence[Bounded]) -> State:
        bounds = np.array([one.bound for one in regions], dtype=np.float64)
        return {"regions": tuple(one.region for one in regions), "bound": bounds, "gains": dict(self._gains)}

    def _unpacked(self, state: State) -> Sequence[Bounded]:
        self._gains |= state["gains"]
        return [Bounded(*each) for each in zip(state["regions"], state["bound"].tolist(), strict=True)]

    def _close(self, one: Bounded) -> None:
        """A region that cannot be cut: one pair, or without ends."""
        region = one.region[1]
        a, b = (tuple(_only(values) for values in side) for side in (region.a, region.b))
        if None not in a and None not in b:
            met = self.meet(*(tuple(value for value in side if value is not None) for side in (a, b)))
            if met is None or met.high <= self.worst.low:
                return
        super()._close(one)


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
