"""The procedure: lower, refine until the time is up, and say what the bounds come to.

A pair of individuals is only ever called a violation after its replay; a share needs none.
"""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING

from fairdsl.backends.contract import Budget, Capability, Facts, Observer, Offer, Refusal
from fairdsl.backends.intervals.roles import roles_of
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Quantity
from fairdsl.verdict import Evidence, Fidelity, Holds, Reason, Shares, Unknown, Verdict, Violated

if TYPE_CHECKING:
    from fairdsl.backends.intervals.clock import Ending
    from fairdsl.backends.intervals.lowering import Lowered
    from fairdsl.backends.intervals.refine import Bounds, Refinement
    from fairdsl.backends.intervals.witnesses import Shown

__all__ = ["Intervals"]

#: Witnesses that a verdict carries at most, and boxes in which they are looked for.
_SHOWN, _BOXES = 10, 40
#: The fraction of the time, and the seconds at most, that are kept back to look for pairs.
_KEPT, _SECONDS = 0.05, 2.0
#: Seconds after which pairs are first looked for where one settles the question, in this process alone; then
#: the seconds until the next look, and each time twice as many.
_FIRST_LOOK, _NEXT_LOOK = 0.5, 4.0


class Intervals:
    """Certifies and falsifies parts of a domain by half-spaces; a domain that is certified as a whole holds."""

    name = "intervals"
    about = Capability(
        questions=("pairs: same decision; any, all, relax, target, where",),
        quantities=("fair_share", "discrimination_rate", "holds"),
        models=(
            "networks (ReLU, sigmoid, tanh) and linear models over any number of individuals, bounded reals too;"
            " rules on one attribute each",
        ),
    )

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Refuses gaps of scores, conditions on several attributes in the model, unbounded reals."""
        roles = roles_of(problem)
        if isinstance(roles, Refusal):
            return roles
        return Offer(method="refines bounds, certifies the half-spaces that they decide", decides=True)

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
        """Shares that are sound whenever they are read; Holds where nothing is left undecided."""
        known = tuple(found for found in facts.witnesses if found.replay.agrees)
        if known and problem.quantity is Quantity.HOLDS:
            evidence = Evidence(backend=self.name, method="a pair that an earlier stage found")
            return Violated(witnesses=known, evidence=evidence)
        # Compiled kernels: not needed to offer, and slow to load.
        from fairdsl.backends.intervals.lowering import lower
        from fairdsl.backends.intervals.refine import Refinement

        observer.progress("lowering", None, "")
        lowered = lower(problem)
        run = _Run(lowered, Refinement.start(lowered.task, memory=budget.memory), budget, observer)
        run.refine()
        facts.witnesses.extend(run.shown.witnesses)
        facts.gaps.extend(run.shown.gaps)
        return run.verdict(self.name)


class _Run:
    """One refinement, and the pairs that it came upon."""

    def __init__(self, lowered: Lowered, refinement: Refinement, budget: Budget, observer: Observer) -> None:
        from fairdsl.backends.intervals.witnesses import Shown

        self._lowered, self._refinement, self._observer = lowered, refinement, observer
        self._budget = budget
        self._kept = min(_SECONDS, _KEPT * budget.remaining)
        self._ending: Ending | None = None
        self.shown: Shown = Shown()

    def refine(self) -> None:
        """Until the time is up, nothing is left, or a pair was found that breaks what should hold."""
        from fairdsl.backends.intervals.clock import Ending
        from fairdsl.backends.intervals.drive import refine_within

        end = self._budget.deadline - self._kept
        holds = self._lowered.problem.quantity is Quantity.HOLDS
        look, jobs = (_FIRST_LOOK, 1) if holds else (inf, self._budget.jobs)
        while True:
            deadline = min(end, time.monotonic() + look)
            cluster = self._budget.scheduler if jobs == self._budget.jobs else None
            budget = replace(self._budget, deadline=deadline, jobs=jobs, scheduler=cluster)
            self._ending = refine_within(self._refinement, budget, self._observer)
            if self._ending is Ending.INTERRUPTED:
                return
            self._look_for_pairs()
            if self._ending is Ending.FINISHED or deadline >= end or (holds and self.shown.witnesses):
                return
            look, jobs = max(_NEXT_LOOK, 2 * look), self._budget.jobs

    def _look_for_pairs(self) -> None:
        from fairdsl.backends.intervals.witnesses import look_for_pairs

        if self._refinement.bounds().violating:
            boxes = self._refinement.open_boxes(_BOXES)
            deadline = time.monotonic() + self._kept
            found = look_for_pairs(self._lowered, boxes, _SHOWN, deadline, self._budget.seed)
            if found.witnesses or found.gaps:
                self.shown = found

    def verdict(self, backend: str) -> Verdict:
        """What the bounds and the pairs come to."""
        from fairdsl.backends.intervals.answer import Counted, verdict_of
        from fairdsl.backends.intervals.encoding import unit_in_words

        lowered, bounds = self._lowered, self._refinement.bounds()
        problem = lowered.problem
        witnesses, gaps = tuple(self.shown.witnesses), tuple(self.shown.gaps)
        if problem.quantity is Quantity.HOLDS and witnesses:
            return Violated(witnesses=witnesses, evidence=Evidence(backend=backend, method=self._method()))
        evidence = self._evidence(backend, bounds)
        counted = Counted(
            quantity=problem.quantity,
            measure="counting" if lowered.counted else "volume",
            unit=unit_in_words(problem),
            factor=lowered.factor,
            vacuous=lowered.vacuous,
        )
        open_for = Reason.INCOMPLETE if self._refinement.finished else Reason.TIMEOUT
        match verdict_of(lowered.task, bounds, counted, evidence, open_for):
            case Shares() as shares:
                return replace(shares, witnesses=witnesses)
            case Unknown() as unknown if gaps:
                detail = "a pair breaks the demand in exact arithmetic but not in the deployed file's"
                return replace(unknown, reason=Reason.NUMERIC_GAP, detail=detail, witnesses=gaps)
            case Holds() | Unknown() as other:
                return other

    def _evidence(self, backend: str, bounds: Bounds) -> Evidence:
        task = self._lowered.task
        share = (bounds.violating - bounds.falsified + task.undetermined) / max(1, task.total)
        method = self._method()
        if share:
            method += f"; {_percent(share)} left undecided"
        return Evidence(
            backend=backend,
            method=method,
            fidelity=Fidelity.WIDENS if task.relaxed or task.undetermined else Fidelity.EXACT,
            notes=tuple(self._notes(bounds)),
            vacuous=not task.decided and not task.undetermined and not self._lowered.alike,
        )

    def _method(self) -> str:
        return f"{self._refinement.nodes:,} boxes bounded in float64, rounded outward"

    def _notes(self, bounds: Bounds) -> list[str]:
        from fairdsl.backends.intervals.clock import Ending

        task, notes = self._lowered.task, []
        if self._ending is Ending.INTERRUPTED:
            notes.append("stopped by the user; what was certified until then stands")
        if task.relaxed and self._lowered.roles.individuals:
            notes.append("certified for all within the relaxations, whether in the target or not")
        if task.undetermined:
            share = Fraction(task.undetermined, task.total)
            notes.append(f"constraints leave open whether {_percent(share)} are in the target: undecided")
        if self._lowered.problem.model.deployed is not None and bounds.violating_float32 is None:
            notes.append("about exact arithmetic, not about float32 rounding")
        return notes


def _percent(share: Fraction) -> str:
    """Rounded up."""
    return f"{float(-(-share * 10_000 // 1)) / 100:.2f} %"
