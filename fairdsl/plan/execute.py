"""Carrying out a plan: its stages in order, each with what the earlier ones found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from fairdsl.backends.contract import Budget, Facts, Observer, Preparing
from fairdsl.ir.opaque import BlackBox
from fairdsl.ir.population import Network
from fairdsl.ir.problem import Problem
from fairdsl.plan.negotiate import Plan
from fairdsl.verdict import Evidence, Holds, Reason, Refused, Unknown, Verdict, Violated

__all__ = ["execute", "prepare"]


def prepare(plans: Iterable[Plan], observer: Observer) -> float:
    """What the plans' procedures have to do once on a machine; how many seconds that took."""
    procedures = (stage.procedure for plan in plans for stage in plan.stages)
    return sum(procedure.prepare(observer) for procedure in procedures if isinstance(procedure, Preparing))


def execute(plan: Plan, problem: Problem, budget: Budget, observer: Observer) -> Verdict:
    """The verdict of the first stage that settles the problem: one that decides, or found a violation."""
    facts = Facts()
    verdict: Verdict | None = None
    for stage in plan.stages:
        try:
            verdict = stage.procedure.answer(problem, facts, budget, observer)
        except MemoryError:
            evidence = Evidence(backend=stage.procedure.name, method="ran out of memory")
            verdict = Unknown(reason=Reason.MEMORY_OUT, detail="the machine's memory was not enough", evidence=evidence)
        verdict = _about(verdict, problem)
        if isinstance(verdict, Holds) and facts.gaps:
            return _shared_by_one_arithmetic(verdict, facts)
        if stage.offer.decides or isinstance(verdict, Violated):
            return verdict
    assert verdict is not None, "a plan has a stage"
    return verdict


def _about(verdict: Verdict, problem: Problem) -> Verdict:
    """The verdict with whose model and rows it is about; of a black box it says nothing but what that answers."""
    if isinstance(verdict, Refused):
        return verdict
    evidence, box = verdict.evidence, problem.model.opaque
    notes, basis = evidence.notes, evidence.basis.about(problem, answers=isinstance(box, BlackBox))
    if isinstance(box, BlackBox):
        who = "the deployed file" if box.call is None else "the Python function"
        notes += (f"decided by {who} itself, in its own arithmetic; nothing is proved about real arithmetic",)
    elif isinstance(problem.population, Network) and problem.model.deployed is not None:
        notes += ("rates under a distribution are about exact arithmetic, not about the file's float32 rounding",)
    return replace(verdict, evidence=replace(evidence, notes=notes, basis=basis))


def _shared_by_one_arithmetic(verdict: Holds, facts: Facts) -> Unknown:
    """A proof beside a pair that breaks the demand on the deployed file is no verdict on that file."""
    return Unknown(
        reason=Reason.NUMERIC_GAP,
        detail="it is proved in exact arithmetic, but an earlier stage found a pair that the deployed file breaks",
        evidence=verdict.evidence,
        witnesses=tuple(facts.gaps),
    )
