"""Carrying out a plan: its stages in order, each with what the earlier ones found."""

from __future__ import annotations

from dataclasses import replace

from fairdsl.backends.contract import Budget, Facts, Observer, Preparing
from fairdsl.backends.smt import compares_nobody
from fairdsl.clock import GRACE, received, until
from fairdsl.ir.opaque import BlackBox
from fairdsl.ir.problem import Problem
from fairdsl.plan.ended import as_interrupted, unanswered
from fairdsl.plan.negotiate import Plan, Stage, Unproved
from fairdsl.replay import shortened
from fairdsl.verdict import (
    Arithmetic,
    Estimated,
    Evidence,
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
    held,
)

__all__ = ["execute", "prepare"]

_Answered = Holds | Vacuous | Violated | Unknown | Shares | Estimated | Value


def prepare(plan: Plan, observer: Observer) -> float:
    """What the plan's procedures have to do once on a machine; how many seconds that took."""
    procedures = (stage.procedure for stage in plan.stages)
    return sum(procedure.prepare(observer) for procedure in procedures if isinstance(procedure, Preparing))


def execute(plan: Plan, problem: Problem, budget: Budget, observer: Observer) -> Verdict:
    """The verdict of the first stage that settles the problem: one that decides, or found a violation."""
    verdict = shortened(_by_stages(plan, problem, budget, observer), problem, budget.remaining)
    if received() is not None:
        verdict = as_interrupted(verdict)
    if plan.unproved is not None:
        verdict = _unproved(verdict, plan.unproved)
    return verdict if isinstance(verdict, Refused) else _noted(verdict, *plan.notes)


def _by_stages(plan: Plan, problem: Problem, budget: Budget, observer: Observer) -> Verdict:
    facts = Facts(alone=plan.unproved is not None)
    verdict: Verdict | None = None
    for stage in plan.stages:
        verdict = _about(_answer(stage, problem, facts, budget, observer), problem)
        if isinstance(verdict, Holds) and facts.gaps:
            return _shared_by_one_arithmetic(verdict, facts)
        if isinstance(verdict, Holds) and facts.perhaps_nobody:
            return held(verdict.evidence, nobody=compares_nobody(problem, budget))
        if stage.offer.decides or isinstance(verdict, Violated) or received() is not None:
            return verdict
    assert verdict is not None, "a plan has a stage"
    return verdict


def _answer(stage: Stage, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
    """What the stage makes of the problem; unknown where it does not end by itself when the time is up."""
    verdict, facts.so_far, facts.perhaps_nobody = None, None, False
    try:
        with until(budget.deadline, grace=GRACE):
            verdict = stage.procedure.answer(problem, facts, budget, observer)
    except MemoryError:
        evidence = Evidence(backend=stage.procedure.name, method="ran out of memory")
        return Unknown(reason=Reason.MEMORY_OUT, detail="the machine's memory was not enough", evidence=evidence)
    if verdict is None:
        verdict = facts.so_far
    if verdict is None:  # a backend that was ended by the clock before it knew anything
        detail, name = "the time was up before anything was decided", stage.procedure.name
        return unanswered(problem.quantity, Reason.TIMEOUT, detail, backend=name, method="ended by the clock")
    return verdict


def _about(verdict: Verdict, problem: Problem) -> Verdict:
    """The verdict with whose model and rows it is about; of a black box it says nothing but what that answers."""
    if isinstance(verdict, Refused):
        return verdict
    evidence, box = verdict.evidence, problem.model.opaque
    basis = evidence.basis.about(problem, answers=isinstance(box, BlackBox))
    if isinstance(verdict, Violated) and verdict.witnesses and all(each.replay.float32 for each in verdict.witnesses):
        basis = replace(basis, arithmetic=Arithmetic.DEPLOYED, word=Word.OWN)  # replayed both ways
    verdict = replace(verdict, evidence=replace(evidence, basis=basis))
    if isinstance(box, BlackBox):
        who = "the deployed file" if box.call is None else "the Python function"
        note = f"decided by {who} itself, in its own arithmetic; nothing is proved about real arithmetic"
        return _noted(verdict, note)
    return verdict


def _noted(verdict: _Answered, *notes: str) -> _Answered:
    evidence = verdict.evidence
    return replace(verdict, evidence=replace(evidence, notes=(*evidence.notes, *notes))) if notes else verdict


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
    """A proof beside a pair that breaks the demand on the deployed file is no verdict on that file."""
    return Unknown(
        reason=Reason.NUMERIC_GAP,
        detail="it is proved in exact arithmetic, but an earlier stage found a pair that the deployed file breaks",
        evidence=verdict.evidence,
        witnesses=tuple(facts.gaps),
    )
