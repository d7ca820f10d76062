"""Whether a question is about anybody at all."""

from __future__ import annotations

from collections.abc import Hashable

from fairdsl.backends.contract import Budget
from fairdsl.backends.encoding import Answer
from fairdsl.backends.smt.engine import Job, Pool, Workers
from fairdsl.backends.smt.script import admissible_script
from fairdsl.clock import Deadline
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair

__all__ = ["compares_nobody"]

#: How long to look for somebody to compare before a proof is reported as it is.
_SECONDS = 5.0


def compares_nobody(problem: Problem, budget: Budget, pool: Pool | None = None) -> bool | None:
    """Whether there is no pair to compare, as z3 says; None: it did not say. Only worth asking where all holds.

    Without a pool a process is started for it.
    """
    used = Workers(1) if pool is None else pool
    deadline = min(budget.deadline, Deadline.within(_SECONDS))
    try:
        used.start(
            Job(key="anybody", text=admissible_script(problem), seed=budget.seed, effort=None, deadline=deadline)
        )
        answers: list[tuple[Hashable, Answer]] = []
        while not answers:
            answers = used.finished(deadline)
        # Whom the model is sure of is known to the solver by necessary conditions only.
        found = None if isinstance(problem.question, Pair) and problem.question.sure else False
        return {"unsat": True, "sat": found}.get(answers[0][1].status)
    finally:
        if pool is None:
            used.close()
