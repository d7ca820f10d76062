"""The procedure: a question about groups through files, as a second opinion on whoever else answers it."""

from __future__ import annotations

from fairdsl.backends.contract import Budget, Capability, Facts, Observer, Offer, Refusal
from fairdsl.backends.ssat.distribution import Distribution
from fairdsl.backends.ssat.gate import distributions_of
from fairdsl.ir.problem import Problem
from fairdsl.verdict import Refused, Unknown, Value


class Ssat:
    """Answers metrics of groups of models of one layer by the SDIMACS files that `compile` writes of them."""

    name = "ssat"
    about = Capability(
        questions=("metrics of groups: across, under, among, for each, label, excluding, privileged, influence",),
        quantities=("every metric of groups but path_specific_gap, through SDIMACS files: a second opinion",),
        models=("trees and forests", "rules", "weighted sums of attributes and indicators, one or several"),
    )

    def __init__(self) -> None:
        self._known: tuple[Problem, tuple[Distribution, ...]] | None = None

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Refuses hidden units, normal distributions of columns that are looked at, paths, and too large tables.

        The distributions are kept for the answer.
        """
        found = distributions_of(problem)
        if isinstance(found, Refusal):
            return found
        self._known = problem, found
        return Offer(method="stochastic satisfiability through SDIMACS files", decides=True, fits=0)

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Value | Refused | Unknown:
        """The metric, exactly; as an interval where cells are known by their mass alone, or the budget ends first."""
        from fairdsl.backends.ssat.answering import answered  # most questions are answered by others

        known = self._known[1] if self._known is not None and self._known[0] is problem else ()
        return answered(problem, budget, observer, known)
