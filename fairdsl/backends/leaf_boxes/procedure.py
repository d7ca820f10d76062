"""The procedure: trees down to boxes of shared values, counted exactly; a share, or a verdict with replayed pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from fairdsl.backends.contract import Answering, Budget, Capability, Cost, Facts, Observer, Offer, Refusal, at_once
from fairdsl.backends.leaf_boxes.options import LeafBoxesOptions
from fairdsl.clock import Deadline, Work, spend
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Quantity, WorstPair
from fairdsl.numerics.narrow import measure_of, narrow
from fairdsl.verdict import (
    Arithmetic,
    Basis,
    Evidence,
    Holds,
    Known,
    Reason,
    Shares,
    Unknown,
    Vacuous,
    Verdict,
    Violated,
)

if TYPE_CHECKING:
    from fairdsl.backends.leaf_boxes.descent import Descent
    from fairdsl.backends.leaf_boxes.lowering import Lowered
    from fairdsl.backends.leaf_boxes.pairings import Pairings
    from fairdsl.backends.leaf_boxes.refinement import Refinement
    from fairdsl.backends.leaf_boxes.witnesses import Shown
    from fairdsl.backends.warmup import Kernels

#: What is counted where effort is given beside nodes: rounds of boxes that go down together.
_ROUNDS = Work("rounds of boxes", 40)
#: Seconds of several processes until pairs are first looked for where one decides; each time twice as many.
_FIRST_LOOK = 2.0
_QUANTITIES = (Quantity.FAIR_SHARE, Quantity.DISCRIMINATION_RATE, Quantity.HOLDS, Quantity.MAX_SCORE_GAP)
#: Witnesses that a verdict carries at most.
_SHOWN = 10


class LeafBoxes:
    """Counts the units of trees that are treated unfairly, or bounds their share where the trees are many."""

    name = "leaf_boxes"
    about = Capability(
        questions=(
            "pairs: same decision; any, each, among, where",
            "shares of pairs beside: within, regardless of, when confidence, gaps of scores",
        ),
        quantities=tuple(each.value for each in _QUANTITIES),
        models=(
            "a tree or list of rules, forests and boosters of any size (proofs: at most 2^24 combinations of leaves);"
            " tests on one attribute each, over any number of individuals, bounded reals too",
        ),
    )

    def preparation(self, problem: Problem) -> Kernels | None:
        """Compile the kernels where no run on this machine did, and load them: in a turn the alarm would cut it."""
        return None if _goes_through_leaves(problem) else _kernels()

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Refuses models that are not trees, tests of models on several attributes, and proofs of pairs elsewhere."""
        from fairdsl.backends.leaf_boxes.asked import refusal_of_any
        from fairdsl.backends.leaf_boxes.lowering import is_large, refusal_of

        if isinstance(problem.question, WorstPair):
            from fairdsl.backends.leaf_boxes.worst import refusal_of_widest

            if (refusal := refusal_of_widest(problem)) is not None:
                return refusal
            return Offer(method="bounds the gaps of scores in boxes of leaves", decides=True)
        if (refusal := refusal_of(problem)) is not None:
            if problem.quantity is Quantity.HOLDS:
                return refusal
            if (other := refusal_of_any(problem)) is not None:
                return other
            return Offer(method="bounds the scores of pairs in boxes of leaves", decides=True)
        if is_large(problem.model):
            return Offer(method="bounds the score in boxes of the protected values' leaves", decides=True)
        return Offer(method="intersects the leaves of the protected values", decides=True, cost=Cost.COUNT)

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
        """The exact share, or Holds or Violated; bounds or Unknown where the budget ends first."""
        return at_once(self.answering(problem, facts, budget, observer))

    def answering(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Answering:
        """The same by budgets: boxes that are counted stay so."""
        from fairdsl.backends.leaf_boxes.witnesses import look_for

        if isinstance(problem.question, WorstPair):
            from fairdsl.backends.leaf_boxes.worst import answering_worst

            budget = yield from _kernels().awaited(problem, self.name, budget, observer)
            return (yield from answering_worst(problem, facts, budget, observer))
        pair = problem.question
        if not isinstance(pair, Pair):
            raise ValueError("leaf_boxes was asked what it refuses")
        known = tuple(found for found in facts.witnesses if found.replay.agrees)
        if known and problem.quantity is Quantity.HOLDS:
            return Violated(witnesses=known, evidence=Evidence(backend=self.name, method="a pair found earlier"))
        if any(values.count == 0 for values in narrow(problem.domain, pair.target)):
            return Vacuous(evidence=Evidence(backend=self.name, method="nobody is asked about"))
        if not _goes_through_leaves(problem):
            budget = yield from _kernels().awaited(problem, self.name, budget, observer)
        descent, lowered = self._begun(problem, pair, budget)
        holds = problem.quantity is Quantity.HOLDS
        while True:
            shown = _run(lowered, descent, budget, observer, until_shown=holds)
            if not holds:  # looking for pairs and drawing units may take longer than there is time
                facts.so_far = _shares(lowered, descent, shown, self._evidence(problem, pair, descent))
                if descent.counts.unfair_boxes:
                    shown = look_for(lowered, descent.axes, descent.unfair, _SHOWN)
            facts.witnesses.extend(found for found in shown.witnesses if found not in facts.witnesses)
            facts.gaps.extend(found for found in shown.gaps if found not in facts.gaps)
            evidence = self._evidence(problem, pair, descent)
            if descent.finished and not descent.counts.paired:
                return Vacuous(evidence=evidence)
            found = _holds(descent, shown, evidence) if holds else _shares(lowered, descent, shown, evidence, budget)
            if descent.finished or descent.full or isinstance(found, Violated) or facts.decided_by(found):
                return found
            budget = yield found

    def _begun(self, problem: Problem, pair: Pair, budget: Budget) -> tuple[Descent | Refinement | Pairings, Lowered]:
        """What settles the question: leaves gone through, one score bounded, or pairs."""
        from fairdsl.backends.leaf_boxes.asked import refusal_of_any
        from fairdsl.backends.leaf_boxes.descent import Descent
        from fairdsl.backends.leaf_boxes.forest import forest_of
        from fairdsl.backends.leaf_boxes.judging import question_of
        from fairdsl.backends.leaf_boxes.lowering import lower, refusal_of
        from fairdsl.backends.leaf_boxes.pairings import Pairings
        from fairdsl.backends.leaf_boxes.refinement import Refinement

        if _goes_through_leaves(problem):
            lowered = lower(problem, pair)
            return Descent(lowered), lowered
        counted = refusal_of(problem) is None
        if counted and (forest := forest_of(lowered := lower(problem, pair))) is not None:
            return Refinement.start(forest, memory=budget.memory), lowered
        if problem.quantity is not Quantity.HOLDS and refusal_of_any(problem) is None:
            question, lowered = question_of(problem, pair)
            if question is not None:
                return Pairings.start(question, memory=budget.memory), lowered
        lowered = lower(problem, pair)
        return Descent(lowered), lowered

    def _evidence(self, problem: Problem, pair: Pair, descent: Descent | Refinement | Pairings) -> Evidence:
        counts, basis = descent.counts, Basis()
        notes: tuple[str, ...] = ()
        if descent.bounds:
            notes = ("of what boxes leave open, means and variances of the score bound a part",)
        if problem.model.deployed is not None:
            from fairdsl.models.float32.decision import rounds_nothing

            covered = rounds_nothing(problem.model, narrow(problem.domain, pair.target))
            if covered:
                basis = Basis(arithmetic=Arithmetic.DEPLOYED)
                notes += ("the file computes its scores without rounding",)
        return Evidence(
            backend=self.name,
            method=f"{counts.boxes:,} disjoint boxes of leaves counted exactly, {counts.unfair_boxes:,} of them unfair",
            notes=notes,
            basis=basis,
        )


def _kernels() -> Kernels:
    from fairdsl.backends.leaf_boxes.refinement import KERNELS

    return KERNELS


def _goes_through_leaves(problem: Problem) -> bool:
    """Whether leaves are gone through, which takes no kernels."""
    from fairdsl.backends.leaf_boxes.lowering import is_large, refusal_of

    return refusal_of(problem) is None and not is_large(problem.model)


def _run(
    lowered: Lowered, descent: Descent | Refinement | Pairings, budget: Budget, observer: Observer, *, until_shown: bool
) -> Shown:
    """Go on until everything is settled, the time is up, or (``until_shown``) a pair breaks the demand.

    Without ``until_shown`` no pairs are looked for.
    """
    from fairdsl.backends.leaf_boxes.witnesses import Shown, look_for

    shown, looked_at, going = Shown(), 0, _going(descent, budget, observer, looks=until_shown)
    while not descent.finished and not descent.full and not budget.exhausted and next(going):
        counts = descent.counts
        observer.progress("leaf boxes", None, f"{counts.boxes:,} boxes, {counts.unfair_boxes:,} unfair")
        # Looked for again only when there are twice as many boxes to look into.
        if until_shown and counts.unfair_boxes > 2 * looked_at:
            looked_at = counts.unfair_boxes
            shown = look_for(lowered, descent.axes, descent.unfair, _SHOWN)
            if shown.witnesses:
                return shown
    if until_shown and descent.counts.unfair_boxes > looked_at:
        shown = look_for(lowered, descent.axes, descent.unfair, _SHOWN)
    return shown


def _going(
    descent: Descent | Refinement | Pairings, budget: Budget, observer: Observer, *, looks: bool
) -> Iterator[bool]:
    """Go on a while, again and again; False where more time adds nothing. Leaf by leaf is counted in one process."""
    from fairdsl.backends.leaf_boxes.descent import Descent
    from fairdsl.backends.leaf_boxes.refinement import NODES

    scheduler, look = budget.options[LeafBoxesOptions].scheduler, _FIRST_LOOK
    if isinstance(descent, Descent) or (budget.jobs == 1 and scheduler is None):
        while True:
            spend(_ROUNDS)
            spend(NODES, descent.step(), each=descent.units_a_node)
            yield True
    from fairdsl.backends.refining.workers import refine_within
    from fairdsl.backends.solved import Ending

    while True:
        part = replace(budget, deadline=min(budget.deadline, Deadline.within(look))) if looks else budget
        yield refine_within(descent, part, observer, scheduler=scheduler) not in (Ending.STOPPED, Ending.INTERRUPTED)
        look *= 2


def _holds(descent: Descent | Refinement | Pairings, shown: Shown, evidence: Evidence) -> Verdict:
    counts = descent.counts
    if shown.witnesses:
        return Violated(witnesses=tuple(shown.witnesses), evidence=evidence)
    if counts.unfair_boxes:
        return Unknown(
            reason=Reason.NUMERIC_GAP if shown.gaps else Reason.REPLAY_FAILED,
            detail="exact arithmetic finds violations that the deployed float32 model does not share",
            evidence=evidence,
            witnesses=tuple(shown.gaps),
        )
    if not descent.finished:
        return Unknown(reason=Reason.TIMEOUT, detail="the budget ended first", evidence=evidence)
    if counts.open_boxes:
        return Unknown(reason=Reason.INCOMPLETE, detail="some decisions stayed open", evidence=evidence)
    return Holds(evidence=evidence)


def _shares(
    lowered: Lowered,
    descent: Descent | Refinement | Pairings,
    shown: Shown,
    evidence: Evidence,
    budget: Budget | None = None,
) -> Shares:
    """Of what may be in question: where the budget ended first, what is left counts as undecided, and is estimated."""
    from fairdsl.backends.leaf_boxes.answer import shares_of

    counts, left, problem = descent.counts, descent.left, lowered.problem
    known = Known(fair=counts.fair, unfair=counts.unfair, undecided=counts.undecided + left, vacuous=counts.vacuous)
    open_ = Reason.MEMORY_OUT if descent.full else Reason.TIMEOUT
    return shares_of(
        known,
        measure=measure_of(problem, lowered.pair),
        unit=problem.unit_in_words,
        evidence=evidence,
        open_for=open_ if left else Reason.INCOMPLETE,
        settled=not left,
        witnesses=tuple(shown.witnesses),
        estimate=descent.estimated(budget.seed) if left and budget is not None else None,
    )
