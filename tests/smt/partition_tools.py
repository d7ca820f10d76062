"""What the tests of partitions share: how to ask, and the truth about one partition."""

from __future__ import annotations

from fairdsl.backends.contract import Budget, Silent
from fairdsl.backends.smt.options import Partition
from fairdsl.backends.smt.partition.procedure import by_partitions
from fairdsl.ir.problem import Problem
from tests.solvers import InProcess


def asked(problem: Problem, seconds: float = 120.0, pool_of=InProcess, **request):
    """The verdict partition by partition."""
    if request.get("size") is not None:  # parts that are made on the way are all asked
        request.setdefault("keep_going", True)
    budget = Budget.of(seconds, Partition(**request))
    return by_partitions("smt", problem, budget, Silent(), pool_of)


def violates(problem: Problem, box, violations) -> bool:
    """Whether a pair whose unit lies in the box is among the violations (ordered pairs of the whole question)."""
    question = problem.question
    units = [index for index in range(len(box)) if index not in question.differ]
    return any(all(box[index].contains(a[index]) for index in units) for a, _ in violations)
