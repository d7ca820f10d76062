"""What becomes of a formula: its cases, settled like those of any other question, or one script where they are many."""

from __future__ import annotations

from collections.abc import Hashable

from fairdsl.backends.contract import Budget, Facts, Observer
from fairdsl.backends.encoding import Answer
from fairdsl.backends.smt.engine import Job, Pool, reason_of
from fairdsl.backends.smt.formula_cases import formula_cases
from fairdsl.backends.smt.formula_script import formula_script
from fairdsl.backends.smt.recover import checked, is_violation, pair_in
from fairdsl.backends.smt.settle import CaseBounds
from fairdsl.backends.smt.worklist import Outcome, WorkList
from fairdsl.ir.demand import Demanded
from fairdsl.ir.problem import Problem
from fairdsl.verdict import Reason

__all__ = ["formula_outcome"]


def formula_outcome(problem: Problem, asked: Demanded, pool: Pool, budget: Budget, observer: Observer) -> Outcome:
    """What is left open, proved or broken when the budget ends."""
    found = formula_cases(problem, asked)
    if found is None:
        return _by_one_script(problem, asked, pool, budget)
    together, cases = found
    bounds = CaseBounds(together, cases)
    return WorkList(together, pool, Facts(), budget, observer, bounds, original=problem).run()


def _by_one_script(problem: Problem, asked: Demanded, pool: Pool, budget: Budget) -> Outcome:
    """All of it in one script; ``sat`` is replayed."""
    text = formula_script(problem, asked)
    pool.start(Job(key="formula", text=text, seed=budget.seed, effort=None, deadline=budget.deadline))
    answers: list[tuple[Hashable, Answer]] = []
    while not answers and not budget.exhausted:
        answers = list(pool.finished(budget.deadline))
    answer = answers[0][1] if answers else Answer(status="unknown", detail="timeout")
    if answer.status == "unsat":
        return Outcome(by_solver=1)
    points = pair_in(problem, answer.values) if answer.status == "sat" else None
    if points is None:
        return Outcome(open=[(reason_of(answer), answer.detail or "the solver came to no answer")])
    replayed = checked(problem, *points)
    if replayed is None:
        return Outcome(open=[(Reason.REPLAY_FAILED, "what the solver found breaks nothing when replayed")])
    return Outcome(witness=replayed) if is_violation(problem, replayed) else Outcome(gaps=[replayed])
