"""The one gate of proofs: what is proved of all who are compared says nothing where nobody is."""

from __future__ import annotations

from collections.abc import Callable

from fairdsl.backends.contract import Budget
from fairdsl.ir.demand import Demanded
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair
from fairdsl.verdict import Holds, Verdict, held


def of_somebody(
    verdict: Verdict,
    problem: Problem,
    budget: Budget,
    nobody: Callable[[Problem, Budget], bool | None] | None = None,
) -> Verdict:
    """The verdict, but a proof about pairs, or of a formula, only as far as it is about anybody.

    Whoever proves need not look for somebody: this is asked of each engine's proof and of each that was read back
    from files, unless the engine saw somebody who is compared. ``nobody`` finds out whether there is nobody;
    by default z3 does.
    """
    if not isinstance(verdict, Holds) or not isinstance(problem.question, Pair | Demanded):
        return verdict
    if nobody is None:
        from fairdsl.backends.smt import compares_nobody  # metrics of groups do without a solver

        nobody = compares_nobody
    return held(verdict.evidence, nobody=nobody(problem, budget))
