"""The procedure: a short, seeded search for violations, the first stage of every plan."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from fairdsl.backends.contract import (
    Answering,
    Budget,
    Capability,
    Facts,
    Observer,
    Offer,
    Refusal,
    at_once,
    only_pairs,
)
from fairdsl.backends.search.climb import climb
from fairdsl.backends.search.clusters import Clusters, Measured
from fairdsl.backends.search.evaluators import evaluator_of
from fairdsl.backends.search.sampling import Sampler
from fairdsl.clock import until
from fairdsl.ir.demand import Demanded
from fairdsl.ir.domain import Point
from fairdsl.ir.expr import TRUE, Who, conjoin
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Quantity, ScoreGap
from fairdsl.numerics.narrow import count_points
from fairdsl.numerics.threads import one_blas_thread
from fairdsl.replay import Exactly, breach, witness
from fairdsl.verdict import Breach, Evidence, Fidelity, Individual, Reason, Shares, Unknown, Verdict, Violated, Witness

#: A stage takes at most this many seconds and this fraction of what remains.
_SECONDS, _FRACTION = 2.0, 0.1
#: The fraction of what remains that it takes for a model without layers over more individuals than can be gone through.
_ALONE, _LISTED = 0.9, 2**22
#: Distinct witnesses after which the search ends, and candidates checked exactly per batch.
_ENOUGH, _CHECKED = 5, 16
#: Draws in a row without an individual after which the search ends.
_BARREN = 20
#: Evaluations per individual of a small domain after which nothing new is to be expected.
_REPEATS = 40
#: Individuals evaluated at once.
_INDIVIDUALS = 16384


class Search:
    """Pool violations of pair questions; never decides that there are none."""

    name = "search"
    about = Capability(
        questions=(
            "pairs: same decision, score gap; any, each, within, regardless of, among, when, where; finds violations "
            "only",
            "any formula over decisions and scores of one individual, a pair, three or four, of several models",
        ),
        quantities=("holds", "fair_share, discrimination_rate: at most what the violations found leave"),
        models=("every model that can be evaluated, real attributes too",),
    )

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Any question about pairs, and any formula."""
        asked = problem.question
        if not isinstance(asked, Pair | Demanded):
            return only_pairs(problem)
        if isinstance(asked, Demanded) and problem.population is not None:
            return Refusal(why="it finds violations, and counts no rows", span=asked.span)
        if isinstance(asked, Pair) and isinstance(asked.demand, ScoreGap) and problem.model.score_count != 1:
            return Refusal(why="a gap of scores needs a model with one score", span=asked.span)
        sure = problem.demanded.pair.sure
        if sure and problem.model.logits is None:
            return Refusal(why="the model's confidence needs its probabilities", span=sure[0].span)
        return Offer(method="draws individuals near the decision boundary", decides=False)

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
        """Violated with replayed witnesses, or Unknown; gap witnesses go to ``facts``."""
        return at_once(self.answering(problem, facts, budget, observer))

    def answering(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Answering:
        """The same by budgets, where it has as long as there is: other individuals are drawn in each."""
        search = _Search(problem, budget.seed)
        while True:
            share = Budget.of(_seconds(search, budget, alone=facts.alone), jobs=1, seed=budget.seed)
            with one_blas_thread(), until(share.deadline):  # what was found by then is kept
                search.run(share, observer)
            facts.witnesses.extend(found for found in search.witnesses if found not in facts.witnesses)
            facts.gaps.extend(found for found in search.gaps if found not in facts.gaps)
            verdict = _found(problem, search, budget.seed)
            if search.ended or not (facts.alone and search.large):
                return verdict
            budget = yield verdict


def _found(problem: Problem, search: _Search, seed: int) -> Verdict:
    """What was found comes to."""
    evidence = Evidence(
        backend=Search.name,
        method=f"{search.evaluated:,} individuals drawn and evaluated, seed {seed}",
        fidelity=Fidelity.NARROWS,
    )
    witnesses, breaches = tuple(search.witnesses), tuple(search.breaches)
    if problem.quantity is not Quantity.HOLDS:
        return _bounded(problem, search, evidence)
    if search.found:
        return Violated(witnesses=witnesses, breaches=breaches, evidence=evidence)
    if search.gaps or search.apart:
        detail = "exact arithmetic and the deployed float32 model disagree on the violations found"
        gaps, apart = tuple(search.gaps), tuple(search.apart)
        return Unknown(reason=Reason.NUMERIC_GAP, detail=detail, evidence=evidence, witnesses=gaps, breaches=apart)
    return Unknown(reason=Reason.INCOMPLETE, detail="no violation found", evidence=evidence)


def _seconds(search: _Search, budget: Budget, *, alone: bool) -> float:
    """The seconds that the search may take: more where nobody comes after it who could prove anything."""
    if alone and search.large:
        return _ALONE * budget.remaining
    return min(_SECONDS, _FRACTION * budget.remaining)


def _bounded(problem: Problem, search: _Search, evidence: Evidence) -> Shares:
    """What the violations that were found leave of a share: each of them falsifies the units that it lies in.

    Where shared values are real a unit has no volume, so a pair bounds nothing; it is shown all the same.
    """
    asked, (total, unfair) = problem.demanded, search.units
    falsified = Fraction(unfair, total) if total else Fraction(0)
    # Conditions may leave fewer units than the product of the values, of which nobody counted how many: unless each
    # unit of the product is in a tuple that was found.
    pair = asked.pair
    conditions = conjoin(problem.domain.where, pair.target, pair.pair_target, asked.premise)
    counted = falsified == 1 or (conditions == TRUE and not pair.sure and not search.single)
    return Shares(
        certified=Fraction(0),
        falsified=falsified,
        undecided=1 - falsified,
        vacuous=Fraction(0),
        measure="counting" if total is not None else "volume",
        unit=problem.unit_in_words,
        evidence=evidence,
        witnesses=tuple(search.witnesses),
        breaches=tuple(search.breaches),
        reason=Reason.INCOMPLETE if falsified < 1 else None,
        total=total if counted else None,
    )


class _Search:
    """One run: what was found and how much was tried."""

    def __init__(self, problem: Problem, seed: int) -> None:
        self._problem, self._asked, self._exactly = problem, problem.demanded, Exactly(problem)
        self._sampler = Sampler(problem.domain, self._asked.pair.target, np.random.default_rng(seed))
        self._clusters = Clusters(problem, self._sampler, [evaluator_of(model) for model in problem.models])
        #: How many individuals the domain and the target leave, at most; None without a number.
        self.points = count_points(self._sampler.sets)
        self._met: set[frozenset[object]] = set()
        self.witnesses: list[Witness] = []
        self.breaches: list[Breach] = []
        #: What is one in one arithmetic only.
        self.gaps: list[Witness] = []
        self.apart: list[Breach] = []
        self.evaluated = 0
        #: Whether enough is found, or nothing new is to be expected.
        self.ended = False

    @property
    def found(self) -> int:
        """How many tuples were found that break the demand."""
        return len(self.witnesses) + len(self.breaches)

    @property
    def large(self) -> bool:
        """Whether there are more individuals than can be gone through."""
        return self.points is None or self.points > _LISTED

    @property
    def units(self) -> tuple[int | None, int]:
        """How many units the question has at most (None: no number), and how many are in a tuple that was found."""
        apart = () if self._asked.of_individuals else self._asked.pair.differ
        shared = [index for index in range(len(self._sampler.sets)) if index not in apart]
        ends = [place for place, who in enumerate(self._asked.people) if self._asked.one_sided in (None, who)]
        tuples: list[tuple[Individual, ...]] = [(found.a, found.b) for found in self.witnesses]
        tuples += [tuple(person.values for person in found.individuals) for found in self.breaches]
        met = {tuple(people[place].point[index] for index in shared) for people in tuples for place in ends}
        return count_points([self._sampler.sets[index] for index in shared]), len(met)

    @property
    def single(self) -> bool:
        """Whether some attribute that differs has fewer values than are compared, so that not all have partners."""
        counts = (self._sampler.sets[index].count for index in self._asked.pair.differ)
        return any(count is not None and count < len(self._asked.people) for count in counts)

    def run(self, budget: Budget, observer: Observer) -> None:
        """Search until enough is found, nothing can be drawn, or the budget ends."""
        if self._sampler.empty:
            self.ended = True
            return
        # In a small domain no more centres than there are individuals.
        batch = max(16, min(_INDIVIDUALS // self._clusters.size, self.points or _INDIVIDUALS))
        most = np.inf if self.points is None else _REPEATS * self.points
        barren = 0
        for found in climb(self._sampler, self._clusters, batch):
            self.evaluated += int(found.valid.sum())
            barren = 0 if found.valid.any() else barren + 1
            self._check(found, budget)
            self.ended = self.found >= _ENOUGH or barren >= _BARREN or self.evaluated >= most
            if self.ended or budget.exhausted:
                return
            observer.progress("search", None, f"{self.evaluated:,} individuals")

    def _check(self, found: Measured, budget: Budget) -> None:
        """Replay the candidates of a batch."""
        candidates = np.flatnonzero(found.distances <= 0)
        for row in candidates[:_CHECKED].tolist():
            if self.found >= _ENOUGH or (self.found and budget.exhausted):
                return
            self._replay(found.broken_in(row))

    def _replay(self, people: Mapping[Who, Point]) -> None:
        pairs = isinstance(self._problem.question, Pair)
        met: frozenset[object] = frozenset(people.values() if pairs else people.items())
        if met in self._met:
            return
        self._met.add(met)
        if not pairs:
            broken = breach(self._problem, people, self._exactly)
            if broken is not None:
                (self.breaches if broken.agrees else self.apart).append(broken)
            return
        a, b = people[Who.A], people[Who.B]
        for ordered in ((a, b), (b, a)):
            result = witness(self._problem, *ordered)
            if result is not None:
                (self.witnesses if result.replay.agrees else self.gaps).append(result)
                return
