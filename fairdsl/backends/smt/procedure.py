"""The procedure: a verdict from a run of the work-list."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from dataclasses import replace

from fairdsl.backends.contract import Answer, Budget, Capability, Facts, Observer, Offer, Refusal
from fairdsl.backends.smt.cases import widened
from fairdsl.backends.smt.engine import Job, Pool, Workers, solver_name
from fairdsl.backends.smt.script import admissible_script
from fairdsl.backends.smt.worklist import Outcome, WorkList
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Quantity, ScoreGap
from fairdsl.verdict import Evidence, Fidelity, Holds, Reason, Unknown, Verdict, Violated

__all__ = ["Smt", "refusal"]

#: How long to look for somebody to compare before a proof is reported as it is.
_SECONDS_FOR_ANYBODY = 5.0


def refusal(problem: Problem) -> Refusal | None:
    """Why satisfiability says nothing about the question; None where it does."""
    question = problem.question
    if not isinstance(question, Pair):
        return Refusal(why="it has no notion of probability")
    if problem.quantity is not Quantity.HOLDS:
        return Refusal(why="it has no notion of shares")
    if isinstance(question.demand, ScoreGap) and problem.model.score_count != 1:
        return Refusal(why="a gap of scores needs a model with one score", span=question.span)
    if not problem.model.rational:
        why = f"`{problem.model.name}` has sigmoid or tanh units inside, and its arithmetic knows straight pieces only"
        return Refusal(why=why, span=problem.model.span)
    return None


class Smt:
    """Bounds, splitting and z3; decides every question about pairs, given time."""

    name = "smt"
    about = Capability(
        questions=("pairs: same decision, score gap; any, all, relax, target, where",),
        quantities=("holds",),
        models=("piecewise-linear networks, linear models and rules, real attributes too",),
    )

    def __init__(self, pool: Callable[[int], Pool] = Workers) -> None:
        self._pool = pool

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Ready for every question about pairs that has a yes or a no."""
        return refusal(problem) or Offer(method=f"proof by bounds, splitting and {solver_name()}", decides=True)

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
        """The verdict; a violation always carries a pair that was replayed."""
        known = tuple(witness for witness in facts.witnesses if witness.replay.agrees)
        if known:
            method = "a pair that an earlier stage found"
            return Violated(witnesses=known, evidence=Evidence(backend=self.name, method=method))
        pool = self._pool(budget.jobs)
        try:
            outcome = WorkList(problem, pool, facts, budget, observer).run()
            verdict = _verdict(outcome, _evidence(self.name, problem, outcome, budget))
            return _proof(verdict, problem, pool, budget) if isinstance(verdict, Holds) else verdict
        finally:
            pool.close()


def _proof(verdict: Holds, problem: Problem, pool: Pool, budget: Budget) -> Holds:
    """The proof with what it does not cover, and whether it is about anybody."""
    notes = () if problem.model.deployed is None else ("about exact arithmetic, not about float32 rounding",)
    vacuous = _compares_nobody(problem, pool, budget)
    return Holds(evidence=replace(verdict.evidence, notes=notes, vacuous=vacuous))


def _compares_nobody(problem: Problem, pool: Pool, budget: Budget) -> bool:
    """Whether the solver refutes that there is any pair to compare; only worth asking where all holds."""
    script = admissible_script(problem)
    deadline = min(budget.deadline, time.monotonic() + _SECONDS_FOR_ANYBODY)
    pool.start(Job(key="anybody", text=script, seed=budget.seed, effort=None, deadline=deadline))
    answers: list[tuple[Hashable, Answer]] = []
    while not answers:
        answers = pool.finished(deadline)
    return answers[0][1].status == "unsat"


def _evidence(name: str, problem: Problem, outcome: Outcome, budget: Budget) -> Evidence:
    parts = []
    if outcome.by_bounds:
        parts.append(f"{outcome.by_bounds} by bounds")
    if outcome.by_solver:
        parts.append(f"{outcome.by_solver} by {solver_name()}, seed {budget.seed}")
    settled = outcome.by_bounds + outcome.by_solver
    method = f"{settled} region{'s' * (settled != 1)} settled: {' and '.join(parts)}" if parts else solver_name()
    fidelity = Fidelity.WIDENS if widened(problem) else Fidelity.EXACT
    return Evidence(backend=name, method=method, fidelity=fidelity)


def _verdict(outcome: Outcome, evidence: Evidence) -> Verdict:
    """A violation decides; then whatever is open; only then does the property hold."""
    if outcome.witness is not None:
        return Violated(witnesses=(outcome.witness,), evidence=evidence)
    gaps = tuple(outcome.gaps)
    if gaps:
        detail = "a pair breaks the demand in exact arithmetic but not in the deployed file's"
        return Unknown(reason=Reason.NUMERIC_GAP, detail=detail, evidence=evidence, witnesses=gaps)
    if outcome.open:
        reason, detail = min(outcome.open, key=lambda entry: _WORST.index(entry[0]))
        return Unknown(reason=reason, detail=detail, evidence=evidence)
    return Holds(evidence=evidence)


#: Which of several reasons is told: what points at a fault comes before what more time would mend.
_WORST = (
    Reason.REPLAY_FAILED,
    Reason.MALFORMED,
    Reason.ENGINE_CRASHED,
    Reason.MEMORY_OUT,
    Reason.TIMEOUT,
    Reason.INCOMPLETE,
    Reason.NUMERIC_GAP,
)
