"""Carrying out a plan: its engines in order, each with what the earlier ones found, until the demand is settled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce

from fairdsl.backends.contract import Budget, Cost, Facts, Observer, Preparation, Preparing
from fairdsl.clock import Deadline, received
from fairdsl.ir.opaque import BlackBox
from fairdsl.ir.population import Network
from fairdsl.ir.problem import Problem
from fairdsl.plan.anybody import of_somebody
from fairdsl.plan.asked import AskedEngine
from fairdsl.plan.ended import as_interrupted
from fairdsl.plan.joining import is_final, joined, known_part
from fairdsl.plan.negotiate import Plan, Unproved
from fairdsl.replay import shortened
from fairdsl.verdict import (
    Arithmetic,
    Estimated,
    Holds,
    Reason,
    Refused,
    Shares,
    Unknown,
    Vacuous,
    Value,
    Verdict,
    Violated,
    Word,
)

_Answered = Holds | Vacuous | Violated | Unknown | Shares | Estimated | Value

#: The first turn of an engine beside which others may be asked: so many seconds, and one part in so many of the time
#: that is left. Each turn after it is as long as all before.
_FIRST, _PART = 2.0, 8
#: Who is asked next has one part in so many of the time of those before.
_NEXT = 5
#: Turns of an engine asked next that may bring nothing where others have an enclosure already.
_FRUITLESS = 2


def preparations(plan: Plan, problem: Problem) -> list[Preparation]:
    """What the plan's procedures have to do once on a machine."""
    procedures = (stage.procedure for stage in plan.stages)
    found = (procedure.preparation(problem) for procedure in procedures if isinstance(procedure, Preparing))
    return [each for each in found if each is not None]


def execute(plan: Plan, problem: Problem, budget: Budget, observer: Observer) -> Verdict:
    """The verdict within one budget; nobody goes on."""
    work = Work(plan, problem)
    try:
        return work.go_on(budget, observer)
    finally:
        work.close()


class Work:
    """A plan that is carried out, within one budget after the other.

    First those who only find violations, shortly. Then the engines that decide: the plan's first has most of the time,
    and those after it a part of what it took, as long as the demand is open. What one of them ends with, no other is
    asked about; bounds of several are taken together. ``enough`` says of bounds whether they decide all that is asked.
    """

    def __init__(self, plan: Plan, problem: Problem, enough: Callable[[Verdict], bool] | None = None) -> None:
        self._plan, self._problem = plan, problem
        self._enough = enough
        self._facts = Facts(alone=plan.unproved is not None, enough=None if enough is None else self._decided)
        alone = plan.unproved is not None
        self._quick = [AskedEngine(stage) for stage in plan.stages if not stage.offer.decides and not alone]
        deciding = [stage for stage in plan.stages if stage.offer.decides or alone]
        self._engines = [AskedEngine(stage) for stage in (*deciding, *plan.then)]
        self._verdict: Verdict | None = None
        self._fruitless: dict[AskedEngine, int] = {}
        self._settled = False

    def may_go_on(self, seconds: float) -> bool:
        """Whether the demand is open, and so many seconds may change that."""
        return not self._settled and any(engine.may_go_on(seconds) for engine in self._engines)

    def _decided(self, verdict: Verdict) -> bool:
        """Whether the bounds of whoever is at work decide, together with those that others proved before."""
        assert self._enough is not None, "it is asked where bounds decide"
        return self._enough(joined(self._verdict, verdict) if isinstance(self._verdict, Shares | Value) else verdict)

    @property
    def known(self) -> float:
        """How much of the answer is known, from 0 to 1."""
        return max((engine.known for engine in self._engines), default=0.0)

    def close(self) -> None:
        """Nobody goes on."""
        for engine in self._engines:
            engine.dismiss()

    def go_on(self, budget: Budget, observer: Observer) -> Verdict:
        """What is known when the budget ends, or nobody has anything to add."""
        self._settled = self._by_turns(budget, observer)
        assert self._verdict is not None, "a plan has a stage"
        if not self._facts.somebody:
            self._verdict = of_somebody(self._verdict, self._problem, budget)
        verdict = shortened(self._verdict, self._problem, budget.remaining)
        if received() is not None:
            verdict = as_interrupted(verdict)
        if self._plan.unproved is not None:
            verdict = _unproved(verdict, self._plan.unproved)
        return verdict if isinstance(verdict, Refused) else _noted(verdict, *self._plan.notes)

    def _by_turns(self, budget: Budget, observer: Observer) -> bool:
        """Whether the demand is settled."""
        for engine in self._quick:
            part = budget.share(engine.stage.parts) if engine.stage.parts > 1 else budget
            self._verdict = self._facts.enclosed = self._turn(engine, part, observer)
            if isinstance(self._verdict, Violated | Refused) or received() is not None:
                return True
        self._quick = []
        while (found := self._whose_turn(budget)) is not None:
            engine, limit = found
            turn = replace(budget, deadline=min(budget.deadline, limit))
            self._turn(engine, turn, observer)
            self._verdict = self._together(engine)
            if self._facts.decided_by(self._verdict) or received() is not None:
                return True
            # Pairs of one arithmetic only are no last word of somebody who goes on.
            if is_final(self._verdict) and not (isinstance(self._verdict, Unknown) and engine.at_work):
                return True
        return False

    def _turn(self, engine: AskedEngine, budget: Budget, observer: Observer) -> Verdict:
        verdict = _about(engine.turn(self._problem, self._facts, budget, observer), self._problem)
        if isinstance(verdict, Holds) and self._facts.gaps:
            verdict = _shared_by_one_arithmetic(verdict, self._facts)
        engine.verdict = verdict
        return verdict

    def _whose_turn(self, budget: Budget) -> tuple[AskedEngine, Deadline] | None:
        """Who is asked now, and until when."""
        if self._engines and self._engines[0].verdict is not None and budget.exhausted:
            return None
        able = [engine for engine in self._engines if engine.may_go_on(budget.remaining)]
        if not able:
            return None
        first, others = able[0], able[1:]
        if not others:
            return first, budget.deadline
        if first.stage.offer.cost < Cost.PROOF and first.verdict is None:  # it ends by itself
            return first, Deadline.within(budget.remaining * (1 - 1 / _NEXT))
        waiting = min(others, key=lambda engine: engine.spent)
        if waiting.spent < first.spent / _NEXT:
            return waiting, Deadline.within(max(_FIRST, first.spent) / _NEXT)
        return first, Deadline.within(max(_FIRST, first.spent, budget.remaining / _PART))

    def _together(self, asked: AskedEngine) -> Verdict:
        """What all that were asked know; an engine that adds nothing to what others know has no turn any more."""
        verdicts = [engine.verdict for engine in self._engines if engine.verdict is not None]
        together = reduce(joined, verdicts)
        if asked is not self._engines[0] and isinstance(self._verdict, Shares | Value):
            fruitless = 0 if known_part(together) > known_part(self._verdict) else self._fruitless.get(asked, 0) + 1
            self._fruitless[asked] = fruitless
            if fruitless >= _FRUITLESS:
                asked.dismiss()
        return together


def _about(verdict: Verdict, problem: Problem) -> Verdict:
    """The verdict with whose model and rows it is about; of a black box it says nothing but what that answers."""
    if isinstance(verdict, Refused):
        return verdict
    evidence = verdict.evidence
    boxes = [(model.name, model.opaque) for model in problem.models if isinstance(model.opaque, BlackBox)]
    basis = evidence.basis.about(problem, answers=bool(boxes))
    found = (
        (*(each.replay.float32 for each in verdict.witnesses), *(each.float32 for each in verdict.breaches))
        if isinstance(verdict, Violated)
        else ()
    )
    if found and all(found):
        basis = replace(basis, arithmetic=Arithmetic.DEPLOYED, word=Word.OWN)  # replayed both ways
    notes = []
    distribution = problem.population
    if isinstance(distribution, Network) and distribution.has_means:
        said = "taken to be the mean of its rows (`set bins = means`): nothing is proved about the people in it"
        notes.append(f"an approximation: under `{distribution.name}` everybody in a bin is {said}")
        if basis.arithmetic is not Arithmetic.ESTIMATE:
            basis = replace(basis, arithmetic=Arithmetic.APPROXIMATE)
    verdict = replace(verdict, evidence=replace(evidence, basis=basis))
    for name, box in boxes:
        who = "the deployed file" if box.call is None else "the Python function"
        which = f" of `{name}`" if problem.others else ""
        notes.append(f"decided by {who}{which} itself, in its own arithmetic; nothing is proved about real arithmetic")
    return _noted(verdict, *notes)


def _noted(verdict: _Answered, *notes: str) -> _Answered:
    """The verdict with notes, each once."""
    evidence = verdict.evidence
    said = tuple(dict.fromkeys((*evidence.notes, *notes)))
    return replace(verdict, evidence=replace(evidence, notes=said)) if notes else verdict


def _unproved(verdict: Verdict, unproved: Unproved) -> Verdict:
    """What a search left open, with the reason why nobody could prove it, and what to write to have an answer."""
    if not isinstance(verdict, Unknown | Shares) or verdict.reason is not Reason.INCOMPLETE:
        return verdict
    instead = "" if unproved.instead is None else f"; for an answer, {unproved.instead}"
    if isinstance(verdict, Shares):
        return _noted(
            verdict,
            f"violations bound a share from one side only, and no backend can count it: {unproved.why}{instead}",
        )
    why = f"no backend can prove that there is none: {unproved.why}{instead}"
    return replace(verdict, detail=f"{verdict.detail}, and {why}")


def _shared_by_one_arithmetic(verdict: Holds, facts: Facts) -> Unknown:
    """A proof beside a pair that breaks the demand on the deployed file is not a verdict on that file."""
    return Unknown(
        reason=Reason.NUMERIC_GAP,
        detail="it is proved in exact arithmetic, but an earlier stage found a pair that the deployed file breaks",
        evidence=verdict.evidence,
        witnesses=tuple(facts.gaps),
    )
