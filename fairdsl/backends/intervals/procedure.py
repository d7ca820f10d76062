"""The procedure: lower, sample, refine until the time is up, and say what the bounds come to.

A pair of individuals is only ever called a violation after its replay; a share needs none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING

from fairdsl.backends.contract import Answering, Budget, Capability, Facts, Observer, Offer, Refusal, at_once
from fairdsl.backends.intervals.options import IntervalsOptions
from fairdsl.backends.intervals.roles import roles_of
from fairdsl.clock import Deadline
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Quantity
from fairdsl.verdict import Evidence, Fidelity, Holds, Moment, Reason, Shares, Unknown, Vacuous, Verdict, Violated

if TYPE_CHECKING:
    from fairdsl.backends.intervals.estimate import Sample
    from fairdsl.backends.intervals.lowering import Lowered
    from fairdsl.backends.intervals.refine import Bounds, OpenBox, Refinement
    from fairdsl.backends.intervals.witnesses import Shown
    from fairdsl.backends.solved import Ending
    from fairdsl.backends.warmup import Kernels

#: Witnesses that a verdict carries at most, and boxes in which they are looked for.
_SHOWN, _BOXES = 10, 40
#: The fraction of the time, and the seconds at most, that are kept back to look for pairs and to draw the map.
_KEPT, _SECONDS = 0.05, 2.0
#: Units that are sampled for an estimate at most, and the fraction of the time and the seconds that it may take.
_SAMPLED, _SAMPLING, _SAMPLING_SECONDS = 100_000, 0.1, 2.0
#: Seconds after which pairs are first looked for where one decides the question, in this process alone; then
#: the seconds until the next look, and each time twice as many.
_FIRST_LOOK, _NEXT_LOOK = 0.5, 4.0


class Intervals:
    """Certifies and falsifies parts of a domain by half-spaces; a domain that is certified as a whole holds."""

    name = "intervals"
    about = Capability(
        questions=("pairs: same decision; any, each, within, regardless of, among, where",),
        quantities=(Quantity.FAIR_SHARE.value, Quantity.DISCRIMINATION_RATE.value, Quantity.HOLDS.value),
        models=(
            "networks (ReLU, sigmoid, tanh, GELU and the like) and linear models over any number of individuals,"
            " bounded reals too;"
            " rules, and leaves of trees, that are conditions on one finite attribute each",
        ),
    )

    def preparation(self, problem: Problem) -> Kernels:
        """Compile the kernels where no run on this machine did, and load them: in a turn the alarm would cut it."""
        from fairdsl.backends.intervals.warmup import KERNELS

        return KERNELS

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Refuses gaps of scores, conditions on several attributes in the model, unbounded reals."""
        roles = roles_of(problem)
        if isinstance(roles, Refusal):
            return roles
        return Offer(method="refines bounds, certifies the half-spaces that they decide", decides=True)

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
        """Shares that are sound whenever they are read; Holds where nothing is left undecided."""
        return at_once(self.answering(problem, facts, budget, observer))

    def answering(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Answering:
        """The same by budgets: the refinement goes on where it ended."""
        known = tuple(found for found in facts.witnesses if found.replay.agrees)
        if known and problem.quantity is Quantity.HOLDS:
            evidence = Evidence(backend=self.name, method="a pair that an earlier stage found")
            return Violated(witnesses=known, evidence=evidence)
        budget = yield from self.preparation(problem).awaited(problem, self.name, budget, observer)
        # Compiled kernels: not needed to offer, and slow to load.
        from fairdsl.backends.intervals.lowering import lower
        from fairdsl.backends.intervals.refine import Refinement

        observer.progress("lowering", None, "")
        lowered = lower(problem)
        run = _Run(lowered, Refinement.start(lowered.task, memory=budget.memory), budget, observer)
        run.sample()
        while True:
            facts.so_far = run.verdict()
            run.refine(facts)
            facts.so_far = run.verdict()
            run.look_for_pairs()
            facts.witnesses.extend(found for found in run.shown.witnesses if found not in facts.witnesses)
            facts.gaps.extend(found for found in run.shown.gaps if found not in facts.gaps)
            verdict = run.verdict()
            facts.so_far = verdict
            verdict = run.illustrated(verdict)
            if run.ended:
                return verdict
            run.resume((yield verdict))


class _Run:
    """One refinement, and the pairs that it came upon."""

    def __init__(self, lowered: Lowered, refinement: Refinement, budget: Budget, observer: Observer) -> None:
        from fairdsl.backends.intervals.witnesses import Shown

        self._lowered, self._refinement, self._observer = lowered, refinement, observer
        self.resume(budget)
        self._decided = False
        self._sample: Sample | None = None
        self.shown: Shown = Shown()

    def resume(self, budget: Budget) -> None:
        """Another budget."""
        self._budget = budget
        self._kept = min(_SECONDS, _KEPT * budget.remaining)
        self._ending: Ending | None = None

    @property
    def ended(self) -> bool:
        """Whether more time would add nothing that is asked for."""
        from fairdsl.backends.solved import Ending

        found = self.shown.witnesses and not self._asks_for_shares
        return bool(found) or self._decided or self._ending in (Ending.INTERRUPTED, Ending.FINISHED)

    @property
    def _asks_for_shares(self) -> bool:
        return self._lowered.problem.quantity is not Quantity.HOLDS

    def sample(self) -> None:
        """Where a share is asked for: estimate it. First of all, as what is left of the time goes to refining."""
        if not self._asks_for_shares:
            return
        from fairdsl.backends.intervals.estimate import sample_units

        self._observer.progress("sampling", None, "")
        seconds = min(_SAMPLING_SECONDS, _SAMPLING * self._budget.remaining)
        self._sample = sample_units(self._lowered.problem, _SAMPLED, self._budget.seed, Deadline.within(seconds))

    def refine(self, facts: Facts) -> None:
        """Until the time is up, nothing is left, or what is known settles what is asked."""
        from fairdsl.backends.refining.workers import refine_within
        from fairdsl.backends.solved import Ending

        end = self._budget.deadline.later(-self._kept)
        shares, scheduler = self._asks_for_shares, self._budget.options[IntervalsOptions].scheduler
        looks = not shares or facts.enough is not None
        look, alone = (_FIRST_LOOK, self._budget.jobs > 1) if looks else (inf, False)
        while True:
            deadline = min(end, Deadline.within(look))
            budget = replace(self._budget, deadline=deadline)
            self._ending = refine_within(self._refinement, budget, self._observer, scheduler=scheduler, alone=alone)
            if self._ending in (Ending.INTERRUPTED, Ending.FINISHED) or deadline >= end:
                return
            if shares:
                self._decided = facts.decided_by(self.verdict())
            else:
                self.look_for_pairs()
            if self._decided or (self.shown.witnesses and not shares):
                return
            look, alone = max(_NEXT_LOOK, 2 * look), False

    def look_for_pairs(self) -> None:
        """Among the boxes that are left and what was sampled."""
        from fairdsl.backends.intervals.witnesses import look_for_pairs

        if self.shown.witnesses or not self._refinement.bounds().violating:
            return
        boxes = self._refinement.open_boxes(_BOXES)
        known = self._sample.pairs if self._sample is not None else ()
        # What refining left over may be spent here; something always may.
        deadline = Deadline.within(max(self._kept / 2, min(_SECONDS, self._budget.remaining)))
        found = look_for_pairs(self._lowered, boxes, _SHOWN, deadline, self._budget.seed, known)
        if found.witnesses or found.gaps:
            self.shown = found

    def verdict(self) -> Verdict:
        """What the bounds and the pairs come to."""
        from fairdsl.backends.intervals.answer import Counted, verdict_of

        lowered, bounds = self._lowered, self._refinement.bounds()
        problem = lowered.problem
        witnesses, gaps = tuple(self.shown.witnesses), tuple(self.shown.gaps)
        if problem.quantity is Quantity.HOLDS and witnesses:
            return Violated(witnesses=witnesses, evidence=Evidence(backend=Intervals.name, method=self._method()))
        evidence = self._evidence(bounds)
        counted = Counted(
            quantity=problem.quantity,
            measure="counting" if lowered.counted else "volume",
            unit=problem.unit_in_words,
            factor=lowered.factor,
            vacuous=lowered.vacuous,
            unsure=lowered.unsure,
        )
        match verdict_of(lowered.task, bounds, counted, evidence, self._open_for()):
            case Shares() as shares:
                estimate = self._sample.estimate if self._sample is not None and shares.undecided else None
                reason = None if self._decided else shares.reason  # nobody asked to know more
                return replace(
                    shares, witnesses=witnesses, estimate=estimate, reason=reason, course=self._course(shares)
                )
            case Unknown() as unknown if gaps:
                detail = "a pair breaks the demand in exact arithmetic but not in the deployed file's"
                return replace(unknown, reason=Reason.NUMERIC_GAP, detail=detail, witnesses=gaps)
            case Holds() | Vacuous() | Unknown() as other:
                return other

    def _course(self, shares: Shares) -> tuple[Moment, ...]:
        """How it came to these shares; the last moment is now."""
        units = max(1, self._lowered.task.total - self._lowered.vacuous)
        passed = (Moment(seconds, min(1.0, float(left / units))) for seconds, left in self._refinement.course)
        return (*passed, Moment(self._refinement.seconds, float(shares.undecided)))

    def _open_for(self) -> Reason:
        """Why what is undecided was left so."""
        from fairdsl.backends.solved import Ending

        if self._refinement.finished:
            return Reason.INCOMPLETE
        return Reason.INTERRUPTED if self._ending is Ending.INTERRUPTED else Reason.TIMEOUT

    def illustrated(self, shares: Verdict) -> Verdict:
        """Shares with the map of where it fails."""
        if not isinstance(shares, Shares):
            return shares
        from fairdsl.backends.intervals.regions_map import BOXES, violation_map

        lowered = self._lowered
        boxes = _within(self._refinement.drawn_boxes(BOXES), self._refinement.bounds())
        regions = violation_map(
            boxes, lowered.axes, lowered.problem.domain, lowered.task, lowered.task.total - lowered.vacuous
        )
        return replace(shares, regions=regions)

    def _evidence(self, bounds: Bounds) -> Evidence:
        task = self._lowered.task
        share = (bounds.violating - bounds.falsified + task.undetermined) / max(1, task.total)
        method = self._method()
        if share:
            method += f"; {_percent(share)} left undecided"
        return Evidence(
            backend=Intervals.name,
            method=method,
            fidelity=Fidelity.WIDENS if self._lowered.widened or task.undetermined else Fidelity.EXACT,
            notes=tuple(self._notes(bounds, undecided=bool(share))),
        )

    def _method(self) -> str:
        return f"{self._refinement.nodes:,} boxes bounded in float64, rounded outward"

    def _notes(self, bounds: Bounds, *, undecided: bool) -> Iterator[str]:
        task = self._lowered.task
        if self._lowered.widened and self._lowered.roles.individuals:
            yield "certified for all within the distances, whether asked about or not"
        if task.undetermined:
            share = Fraction(task.undetermined, task.total)
            yield f"constraints leave open whether {_percent(share)} are asked about: undecided"
        if undecided and self._sample is not None and self._sample.estimate is None:
            yield f"no estimate: {self._sample.why}"


def _within(boxes: Sequence[OpenBox], bounds: Bounds) -> list[OpenBox]:
    """The boxes, with no more units in all than is known: a box further up may be known better than its parts."""
    undecided, falsified = sum(box.undecided for box in boxes), sum(box.falsified for box in boxes)
    left = min(1.0, float(bounds.violating - bounds.falsified) / undecided) if undecided else 1.0
    unfair = min(1.0, float(bounds.falsified) / falsified) if falsified else 1.0
    return [replace(box, undecided=box.undecided * left, falsified=box.falsified * unfair) for box in boxes]


def _percent(share: Fraction) -> str:
    """Rounded up."""
    return f"{float(-(-share * 10_000 // 1)) / 100:.2f} %"
