"""The procedure: a question about groups as instances, their values, and the metric."""

from __future__ import annotations

from dataclasses import replace

from fairdsl.backends.contract import Budget, Capability, Facts, Observer, Offer, Refusal
from fairdsl.backends.ssat.encode.pseudo_boolean import TooLargeError
from fairdsl.backends.ssat.engine import Engine
from fairdsl.backends.ssat.law import Law
from fairdsl.backends.ssat.offer import offer
from fairdsl.backends.ssat.options import Groups, SsatOptions
from fairdsl.backends.ssat.outside import Outside
from fairdsl.backends.ssat.questions import Inquiry, Solvers, learnable, learns, settled
from fairdsl.backends.ssat.solvers import solver_of
from fairdsl.clock import Deadline
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.population import Network
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.joint import Joint, columns_of
from fairdsl.metrics.subject import subject_of, without_influence
from fairdsl.metrics.value import value_of
from fairdsl.metrics.words import group_words
from fairdsl.replay import rows_counted
from fairdsl.verdict import Basis, Evidence, Reason, Refused, Unknown, Value, Word

__all__ = ["Ssat"]


class Ssat:
    """Answers metrics of groups: trees, rules and other models of one layer, under a law over columns."""

    name = "ssat"
    about = Capability(
        questions=("metrics of groups: across, under, given, label, excluding, privileged, influence",),
        quantities=("every metric of groups but path_specific_gap",),
        models=("trees and forests", "rules", "weighted sums of attributes and indicators, one or several"),
    )

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Refuses hidden units, normal laws of columns that are looked at, paths, and too large tables."""
        return offer(problem)

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Value | Refused | Unknown:
        """The metric, exactly; as an interval where cells are known by their mass alone, or the budget ends first."""
        question, population = problem.question, problem.population
        if not isinstance(question, GroupMetric) or not isinstance(population, Network):
            raise ValueError("satisfiability was asked for of a question that is refused")
        try:
            return _answer(problem, question, population, budget, observer)
        except TooLargeError as error:
            evidence = Evidence(backend=self.name, method="stochastic satisfiability")
            return Unknown(reason=Reason.MEMORY_OUT, detail=str(error), evidence=evidence)
        except DiagnosticError as error:  # an external solver that is not there, or not made for this
            return Refused(diagnostics=error.diagnostics)


def _answer(
    problem: Problem, question: GroupMetric, population: Network, budget: Budget, observer: Observer
) -> Value | Refused:
    own = subject_of(problem)
    subjects = [own, without_influence(own, question.influence)] if question.influence else [own]
    counts = rows_counted(question, population, problem.model)
    rests, options = _Rests(), budget.options[SsatOptions]
    solvers = rests.solvers(options.solver)
    joints = list[Joint]()
    for place, subject in enumerate(subjects):
        until = Deadline.within(budget.remaining / (len(subjects) - place))
        inquiry = Inquiry(
            question,
            Law(subject),
            solvers,
            counts=counts,
            observer=observer,
            deadline=until,
            sums=options.pb_encoding,
        )
        why_not = learnable(question, inquiry.law)
        if options.groups is Groups.LEARN and why_not is not None:
            rests.notes.append(f"every group was asked by itself, since {why_not}")
        learned = learns(question, inquiry.law, options.groups)
        joint = inquiry.learned() if learned else inquiry.enumerated()
        joints.append(replace(joint, counts=counts))
        rests.add(inquiry, population)
    without = joints[1] if len(joints) > 1 else None
    reason = None
    if not settled(question, problem.threshold, joints[0], population, without):
        reason = rests.reason or Reason.INCOMPLETE
    return value_of(question, joints[0], population, rests.evidence, without=without, reason=reason)


class _Rests:
    """What an answer rests on, over its laws."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.reason: Reason | None = None
        self._details: dict[str, None] = {}
        self._variables = self._clauses = self._asked = 0

    def solvers(self, command: str | None) -> Solvers:
        """The embedded engine, or the solver that was asked for."""
        if command is None:
            return Engine
        solver = solver_of(command)
        return lambda instance: Outside(instance, solver, self._details)

    def add(self, inquiry: Inquiry, population: Network) -> None:
        """Count what was asked about one law, and say which groups were found."""
        self.reason = self.reason or inquiry.reason
        self._variables = max(self._variables, inquiry.variables)
        self._clauses = max(self._clauses, inquiry.clauses)
        self._asked += inquiry.asked
        for kind, cells in inquiry.found:
            columns = columns_of(inquiry.question, population)
            words = group_words(tuple(zip(columns, cells, strict=True)), population)
            self.notes.append(f"{kind} favoured of all groups, found by the solver: {words}")

    @property
    def evidence(self) -> Evidence:
        """In words."""
        exact = ", ".join(self._details) or "exact rationals"
        asked = f"{self._asked} question{'' if self._asked == 1 else 's'}"
        size = f"at most {self._variables:,} variables and {self._clauses:,} clauses"
        return Evidence(
            backend=Ssat.name,
            method=f"stochastic satisfiability, {exact}: {asked} of {size}",
            notes=tuple(dict.fromkeys(self.notes)),
            basis=Basis(word=Word.SOLVER if self._details else Word.OWN),
        )
