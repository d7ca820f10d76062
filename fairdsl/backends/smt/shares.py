"""The share of those who meet a formula, between two bounds: boxes of units that are cut until they are decided.

Theorem. A box of units is fair where no tuple over it breaks the demand: where each region of tuples over it is ruled
out by bounds (:mod:`.settle`), for all ways to break it, or compares nobody. It is unfair where one way to choose a
partner, the same for all of the box, makes tuples that are all compared and of which no way not to break the demand is
possible; and in question where one makes tuples that are all compared, and none of which the demand is not about.
A box is cut, or its regions are, the largest first, and boxes of few tuples are gone through one by one. So the share
lies between what is decided at any time: every number is a sum of boxes that have no unit in common (of reals, but for
a volume of 0).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Answering, Budget, Facts, Observer, Refusal
from fairdsl.backends.smt.case_bounds import Bounder, Sides
from fairdsl.backends.smt.cases import Case
from fairdsl.backends.smt.examples import Example, Examples
from fairdsl.backends.smt.region import Region
from fairdsl.backends.smt.units import OneByOne, Place, Product, Units
from fairdsl.backends.smt.ways import Split, UnsplitError, Way, split
from fairdsl.backends.smt.worst import placed
from fairdsl.ir.demand import Demanded
from fairdsl.ir.expr import Predicate, Who
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Quantity, ScoreGap
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.numerics.narrow import Interval, decided, narrow, possible
from fairdsl.numerics.space import halved
from fairdsl.verdict import Evidence, Known, Reason, Shares, Vacuous

Floats = NDArray[np.float64]

#: Boxes that are looked at together, and that are kept at most; tuples of a box that is gone through one by one.
_AT_ONCE, _MOST, FEW = 48, 1 << 17, 1 << 12
#: Regions of one box at most, and one more each time that it is cut; tuples that say how much an attribute changes.
_REGIONS, _SAMPLED = 4, 64


def refusal_of_shares(problem: Problem) -> Refusal | None:
    """Why no share is bounded; None where one is."""
    question = problem.question
    if not isinstance(question, Pair | Demanded) or problem.population is not None:
        return Refusal(why="it weighs no individuals", other=True)
    if isinstance(question, Pair) and not isinstance(question.demand, ScoreGap):
        return Refusal(why="of shares it answers those of formulas and of gaps of scores", other=True)
    if problem.quantity not in (Quantity.FAIR_SHARE, Quantity.DISCRIMINATION_RATE):
        return Refusal(why="it answers shares, and yes or no", other=True)
    pair = problem.demanded.pair
    for attribute, values in zip(problem.domain.attributes, narrow(problem.domain, pair.target), strict=True):
        if isinstance(values, Interval) and None in (values.low, values.high):
            return Refusal(why=f"`{attribute.name}` has no bounds", span=attribute.span)
    for relaxation in pair.relax:
        if problem.domain.attributes[relaxation.attribute].present is not None:
            return Refusal(why="values of what differs may be missing", span=relaxation.span)
    try:
        split(problem)
    except UnsplitError:
        why = "its formula is of too many parts, of several individuals, or of two models of trees"
        return Refusal(why=why, span=problem.demanded.span)
    return None


def answering_shares(name: str, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Answering:
    """The share by budgets; boxes that are decided stay so."""
    search = _Search(problem, budget.seed)
    while not search.finished:
        search.step()
        if search.finished:
            break
        verdict = search.verdict(name)
        facts.so_far = verdict
        if isinstance(verdict, Shares):
            observer.progress("shares", None, f"{float(verdict.undecided):.4g} undecided, {search.bounded:,} regions")
        if facts.decided_by(verdict):
            return replace(verdict, reason=None) if isinstance(verdict, Shares) else verdict
        if budget.exhausted:
            budget = yield verdict
    return search.verdict(name)


@dataclass(slots=True)
class _Box:
    """Units, their measure, and the regions that may hold a tuple which breaks the demand; ``asked``: in question."""

    sets: Product
    measure: Fraction
    open: list[tuple[Who, Region]]
    asked: bool = False
    #: Examples that are tried first.
    tried: tuple[Example, ...] = ()
    #: How often it was cut, and whether a tuple over its middle breaks the demand, so that it is not fair as a whole.
    depth: int = 0
    broken: bool = False


@dataclass(slots=True)
class _Amounts:
    """Units that are decided."""

    fair: Fraction = field(default=Fraction(0))
    unfair: Fraction = field(default=Fraction(0))
    unsure: Fraction = field(default=Fraction(0))
    vacuous: Fraction = field(default=Fraction(0))
    absent: Fraction = field(default=Fraction(0))


class _Search:
    """Branch and bound over boxes of units."""

    def __init__(self, problem: Problem, seed: int) -> None:
        self._problem, self._units = problem, Units(problem)
        units = self._units
        self._examples = Examples(problem, units, seed)
        self._listing = OneByOne(problem, units.own)
        self._heap, self._order = list[tuple[Fraction, int, _Box]](), count()
        self._amounts, self._whole = _Amounts(), Fraction(0)
        self.bounded = self._listed = 0
        #: The box of everybody, until it is looked at.
        self._first: list[_Box] = []
        if units.empty:
            return
        regions = list(units.regions(units.start))
        ways = split(problem)
        self._ruled = _Ruled(ways, regions[0][1], units)
        self._weights = self._influence(ways, units.region(units.roles[0], units.start))
        self._whole = units.measure(units.start)
        self._first = [_Box(units.start, self._whole, regions)]

    def _influence(self, ways: Split, region: Region) -> dict[Place, float]:
        """How much of what the demand compares an attribute changes, as far as tuples that are drawn show."""
        units, evaluator = self._units, BatchEvaluator(ways.problem.model)
        atoms = [atom for way in (*ways.breaking, *ways.asked) for atom in way.atoms]
        if not atoms:
            return dict.fromkeys(units.places(), 1.0)
        of_a, of_b = (
            np.array([[float(value) for value in row] for row in rows])
            for rows in ([atom.a for atom in atoms], [atom.b for atom in atoms])
        )

        def values(a: Floats, b: Floats) -> Floats:
            return np.asarray(
                evaluator.settled(a).scores @ of_a.T + evaluator.settled(b).scores @ of_b.T, dtype=np.float64
            )

        (a, b), other = self._examples.drawn(region, _SAMPLED), self._examples.drawn(region, _SAMPLED)
        before, found = values(a, b), dict[Place, Floats]()
        for who, at in units.places():
            moved = a.copy(), b.copy()
            for side in (0, 1) if units.shared[at] else (int(who is Who.B),):
                moved[side][:, at] = other[side][:, at]
            found[who, at] = np.abs(values(*moved) - before).mean(axis=0)
        total = np.sum(list(found.values()), axis=0)
        with np.errstate(all="ignore"):
            shares = {place: np.nan_to_num(change / total) for place, change in found.items()}
        return {place: float(share.sum()) + 1e-3 for place, share in shares.items()}

    @property
    def finished(self) -> bool:
        """Whether nothing is left to be cut, or no room."""
        return not self._first and (not self._heap or len(self._heap) > _MOST)

    def step(self) -> None:
        """Cut the largest boxes."""
        boxes, self._first = self._first, []
        if not boxes:
            taken = [heappop(self._heap)[2] for _ in range(min(_AT_ONCE, len(self._heap)))]
            boxes = [part for box in taken for part in self._cut(box)]
        self._place(boxes)

    # ---- cutting -------------------------------------------------------------------------------

    def _cut(self, box: _Box) -> Iterator[_Box]:
        """The box in two, or with more regions while these are few; what cannot be cut is left undecided."""
        votes, regions = dict[int, float](), list[tuple[Who, Region]]()
        for role, region in box.open:
            own, weight, free, other = self._best_cuts(role, region)
            few = own is None or (other > weight and len(box.open) <= _REGIONS + box.depth)
            if free is not None and few and not box.broken:
                who, at = free
                values = (region.b if who is Who.B else region.a)[at]
                # A region that cannot be cut stays: what is left out counts as ruled out.
                regions += [(role, region.with_values(who.value, at, part)) for part in halved(values) or (values,)]
                continue
            regions.append((role, region))
            if own is not None:
                votes[own[1]] = votes.get(own[1], 0.0) + weight
        if votes:
            yield from self._halved(replace(box, open=regions), max(votes, key=lambda at: votes[at]))
        elif len(regions) > len(box.open):
            yield replace(box, open=regions)
        elif not box.open and (left := [at for at in self._units.own if halved(box.sets[at]) is not None]):
            sizes = {at: self._units.width(at, box.sets[at]) * (1 + self._units.names(at)) for at in left}
            yield from self._halved(box, max(left, key=lambda at: sizes[at]))
        elif not box.open:
            self._amounts.unsure += box.measure

    def _halved(self, box: _Box, at: int) -> Iterator[_Box]:
        for part in halved(box.sets[at]) or ():
            sets = (*box.sets[:at], part, *box.sets[at + 1 :])
            inside = [(role, self._units.within(role, region, at, part)) for role, region in box.open]
            yield _Box(sets, self._units.measure(sets), inside, box.asked, box.tried, box.depth + 1)

    def _best_cuts(self, role: Who, region: Region) -> tuple[Place | None, float, Place | None, float]:
        """Which attribute of the unit's own changes most within the region, and which of the others."""
        open_ = decided(self._units.force, (*region.a, *region.b)) is None
        best: dict[bool, tuple[Place | None, float]] = {True: (None, 0.0), False: (None, 0.0)}
        for place, weight in self._weights.items():
            who, at = place
            values = (region.b if who is Who.B else region.a)[at]
            if values.count == 1:
                continue
            own = self._units.is_own(role, place)
            size = (weight + (open_ and self._units.names(at))) * self._units.width(at, values)
            if size > best[own][1]:
                best[own] = place, size
        return *best[True], *best[False]

    # ---- deciding ------------------------------------------------------------------------------

    def _place(self, boxes: Sequence[_Box]) -> None:
        """Decide boxes, or keep them to be cut."""
        left = [box for box in boxes if box.measure and not self._absent(box) and not self._gone_through(box)]
        unfair = self._shown([box for box in left if box.open or not box.asked])
        self._rule_out([box for box in left if not box.broken])
        for box in left:
            if id(box) in unfair:
                self._amounts.unfair += box.measure
            elif not box.open and box.asked:
                self._amounts.fair += box.measure
            elif not box.open and self._compares_nobody(box):
                self._amounts.vacuous += box.measure
            else:
                heappush(self._heap, (-box.measure, next(self._order), box))

    def _rule_out(self, boxes: Sequence[_Box]) -> None:
        """Leave the boxes with the regions that may hold a tuple which breaks the demand."""
        regions = [(box, role, region) for box in boxes for role, region in box.open]
        kept = [each for each in regions if possible(self._units.force, (*each[2].a, *each[2].b))]
        open_ = self._ruled.breaking([region for _, _, region in kept])
        self.bounded += len(kept)
        for box in boxes:
            box.open = []
        for (box, role, region), stays in zip(kept, open_, strict=True):
            if stays:
                box.open.append((role, region))

    def _compares_nobody(self, box: _Box) -> bool:
        """Whether all of a box surely are units, and none of them has a tuple that the demand is about."""
        if decided(self._units.each, box.sets) is not True:
            return False
        regions = [region for _, region in self._units.regions(box.sets)]
        inside = [region for region in regions if possible(self._units.force, (*region.a, *region.b))]
        return not any(self._ruled.asked(inside))

    def _absent(self, box: _Box) -> bool:
        """Whether no unit of the box is one."""
        own = self._units.asked.of_individuals
        if possible(self._units.each, box.sets if own else self._units.region(Who.A, box.sets).a):
            return False
        self._amounts.absent += box.measure
        return True

    def _gone_through(self, box: _Box) -> bool:
        """Whether the box has few tuples, and its units were decided one by one."""
        tuples = self._listing.tuples(box.sets)
        if tuples is None or tuples > FEW:
            return False
        found, amounts = self._listing.counts(box.sets), self._amounts
        amounts.fair, amounts.unfair = amounts.fair + found.fair, amounts.unfair + found.unfair
        amounts.vacuous, amounts.absent = amounts.vacuous + found.vacuous, amounts.absent + found.absent
        self._listed += tuples
        return True

    def _shown(self, boxes: Sequence[_Box]) -> set[int]:
        """Boxes that are unfair, by what examples at their middles suggest; others may turn out to be in question."""
        found = self._examples.found([box.sets for box in boxes], [box.tried for box in boxes])
        broken = [(box, breaks) for box, (breaks, _) in zip(boxes, found, strict=True) if breaks and box.open]
        unfair = self._surely(broken, self._ruled.unbroken)
        for box, example in broken:
            box.broken = True
            if id(box) in unfair:
                self._examples.show(example)
        left = [
            (box, counts) for box, (_, counts) in zip(boxes, found, strict=True) if counts and id(box) not in unfair
        ]
        asked = self._surely([(box, counts) for box, counts in left if not box.asked], self._ruled.unasked)
        for box, examples in zip(boxes, found, strict=True):
            box.asked |= id(box) in asked
            box.tried = tuple({id(one): one for one in examples if one is not None}.values())
        return unfair

    def _surely(
        self, suggested: Sequence[tuple[_Box, Example]], ways: Callable[[Sequence[Region]], list[bool]]
    ) -> set[int]:
        """Boxes all of whose units are compared with the partner of an example, with no such way open."""
        regions = [(id(box), self._examples.fixed(box.sets, example)) for box, example in suggested]
        sure = [each for each in regions if decided(self._units.force, (*each[1].a, *each[1].b)) is True]
        self.bounded += len(sure)
        return {at for (at, _), stays in zip(sure, ways([region for _, region in sure]), strict=True) if not stays}

    # ---- what it comes to ------------------------------------------------------------------------

    def verdict(self, name: str) -> Shares | Vacuous:
        """What is known by now."""
        found = self._amounts
        done = found.fair + found.unfair + found.unsure + found.vacuous + found.absent
        known = Known(
            fair=found.fair,
            unfair=found.unfair,
            undecided=self._whole - done,
            unsure=found.unsure,
            vacuous=found.vacuous,
        )
        method = f"bounds of {self.bounded:,} regions"
        if self._listed:
            method += f", and {self._listed:,} tuples one by one"
        evidence = Evidence(backend=name, method=method)
        if not known.possible:
            return Vacuous(evidence=evidence)
        parts, counted = known.parts(), self._units.counted
        reason = None
        if parts.undecided:
            full = len(self._heap) > _MOST
            reason = Reason.MEMORY_OUT if full else Reason.TIMEOUT if self._heap else Reason.INCOMPLETE
        return Shares(
            certified=parts.certified,
            falsified=parts.falsified,
            undecided=parts.undecided,
            vacuous=parts.vacuous,
            measure="counting" if counted else "volume",
            unit=self._problem.unit_in_words,
            evidence=evidence,
            witnesses=tuple(self._examples.witnesses),
            breaches=tuple(self._examples.breaches),
            total=int(known.possible) if counted and not parts.undecided else None,
            reason=reason,
        )


class _Ruled:
    """Which regions may hold a tuple of some way: to break the demand, not to, to be asked about, or not."""

    def __init__(self, ways: Split, region: Region, units: Units) -> None:
        self._model, self._relax, self._count = ways.problem.model, units.asked.pair.relax, units.count
        self._region = region
        self._breaking, self._unbroken = self._of(ways.breaking), self._of(ways.unbroken)
        self._asked, self._unasked = self._of(ways.asked), self._of(ways.unasked)

    def _of(self, ways: Sequence[Way]) -> list[tuple[Bounder, Predicate]]:
        cases = [Case(way.title, way.atoms, self._region, way.sure, condition=way.condition) for way in ways]
        return [(Bounder(self._model, case, self._relax), placed(case.condition, Who.A, self._count)) for case in cases]

    def breaking(self, regions: Sequence[Region]) -> list[bool]:
        """Which may hold a tuple that breaks the demand."""
        return self._open(self._breaking, regions)

    def unbroken(self, regions: Sequence[Region]) -> list[bool]:
        """Which may hold one that does not."""
        return self._open(self._unbroken, regions)

    def asked(self, regions: Sequence[Region]) -> list[bool]:
        """Which may hold one that the demand is about."""
        return self._open(self._asked, regions)

    def unasked(self, regions: Sequence[Region]) -> list[bool]:
        """Which may hold one that it is not about."""
        return self._open(self._unasked, regions)

    def _open(self, ways: Sequence[tuple[Bounder, Predicate]], regions: Sequence[Region]) -> list[bool]:
        found = [False] * len(regions)
        if not regions or not ways:
            return found
        sides = Sides(self._model, regions)
        for bounder, condition in ways:
            some = [
                at for at, region in enumerate(regions) if not found[at] and possible(condition, (*region.a, *region.b))
            ]
            if some:
                for at, bounded in zip(some, bounder.bound_on(sides, [regions[at] for at in some]), strict=True):
                    found[at] |= not bounded.settled
        return found
