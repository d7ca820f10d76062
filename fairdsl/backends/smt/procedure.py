"""The procedure: a verdict from a run of the work-list."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

from fairdsl.backends.contract import Budget, Capability, Facts, Observer, Offer, Refusal
from fairdsl.backends.smt.cases import Case, cases, pair_of, widened
from fairdsl.backends.smt.engine import Pool, Workers, solver_name
from fairdsl.backends.smt.recover import worst
from fairdsl.backends.smt.solvers.chain import Chained, Limits, Status, left_by_bounds
from fairdsl.backends.smt.solvers.pool import PoolOf, SolverPool
from fairdsl.backends.smt.solvers.worker import Task
from fairdsl.backends.smt.vacuity import compares_nobody
from fairdsl.backends.smt.worklist import Outcome, WorkList
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair, Quantity, ScoreGap
from fairdsl.verdict import Evidence, Fidelity, Holds, Reason, Unknown, Verdict, Violated, Witness

__all__ = ["Smt", "refusal"]

#: Questions with so few undecided units go to z3 at once.
_FEW_UNITS = 6
#: What linear programs may take of the remaining time, and in seconds.
_PROGRAM_SHARE, _PROGRAM_SECONDS = 0.35, 30.0


def refusal(problem: Problem) -> Refusal | None:
    """Why satisfiability says nothing about the question; None where it does."""
    question = problem.question
    if not isinstance(question, Pair):
        return Refusal(why="it answers questions about pairs of individuals", other=True)
    if problem.quantity is not Quantity.HOLDS:
        return Refusal(why="it has no notion of shares", other=True)
    if isinstance(question.demand, ScoreGap) and problem.model.score_count != 1:
        return Refusal(why="a gap of scores needs a model with one score", span=question.span)
    if question.sure and problem.model.logits is None:
        return Refusal(why="how sure the model is needs its probabilities", span=question.sure[0].span)
    if not problem.model.rational:
        why = f"`{problem.model.name}` has sigmoid or tanh units inside, and its arithmetic knows straight pieces only"
        return Refusal(why=why, span=problem.model.span)
    return None


class Smt:
    """Bounds, splitting and z3; decides every question about pairs, given time."""

    name = "smt"
    about = Capability(
        questions=("pairs: same decision, score gap; any, all, relax, target, when, where",),
        quantities=("holds",),
        models=("piecewise-linear networks, trees, linear models and rules, real attributes too",),
    )

    def __init__(self, pool: Callable[[int], Pool] | None = None, solvers: PoolOf = SolverPool) -> None:
        self._pool, self._solvers = pool, solvers

    def offer(self, problem: Problem) -> Offer | Refusal:
        """Ready for every question about pairs that has a yes or a no."""
        return refusal(problem) or Offer(method=f"proof by bounds, linear programs, {solver_name()}", decides=True)

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
        """The verdict; a violation always carries a pair that was replayed."""
        if budget.tactics.partition is not None:
            return self._by_partitions(problem, budget, observer)
        known = tuple(witness for witness in facts.witnesses if witness.replay.agrees)
        if known:
            method = "a pair that an earlier stage found"
            return Violated(witnesses=known, evidence=Evidence(backend=self.name, method=method))
        memory = budget.tactics.query_memory
        pool = Workers(budget.jobs, memory=memory) if self._pool is None else self._pool(budget.jobs)
        try:
            left, programmed = self._by_programs(problem, budget, observer)
            outcome = WorkList(problem, pool, facts, budget, observer, only=left).run()
            outcome.witness = outcome.witness or programmed.witness
            verdict = _verdict(outcome, _evidence(self.name, problem, outcome, budget, programmed))
            return _proof(verdict, problem, pool, budget) if isinstance(verdict, Holds) else verdict
        finally:
            pool.close()

    def _by_programs(self, problem: Problem, budget: Budget, observer: Observer) -> tuple[Sequence[Case], _Programmed]:
        """The cases that linear programs leave to z3, and what they decided."""
        every = cases(problem)
        found = left_by_bounds(problem)
        if sum(bounded.undecided for _, bounded in found) <= _FEW_UNITS:
            return every, _Programmed()
        observer.progress(self.name, None, "linear programs")
        seconds = min(_PROGRAM_SECONDS, _PROGRAM_SHARE * budget.remaining)
        limits = Limits(
            seconds=min(seconds, budget.tactics.query_seconds or seconds),
            seed=budget.seed,
            trust_milp=budget.tactics.trust_milp,
            programs_only=True,
        )
        solvers = self._solvers(problem, 1, budget.tactics.query_memory)
        try:
            solvers.start("whole", Task(pair_of(problem), limits))
            answers: list[tuple[Hashable, Chained, float]] = []
            while not answers and not budget.exhausted:
                answers = solvers.finished(budget.deadline)
        finally:
            solvers.close()
        if not answers or answers[0][1].reason not in (None, Reason.INCOMPLETE):
            return every, _Programmed()  # the process did not finish: nothing is known
        said = answers[0][1]
        if said.status is Status.VIOLATED:
            return (), _Programmed(witness=said.witness)
        left = [every[number] for number in said.left]
        return left, _Programmed(cases=len(every) - len(left), trusted=said.trusted)

    def _by_partitions(self, problem: Problem, budget: Budget, observer: Observer) -> Verdict:
        """The verdict from those on partitions of the domain."""
        from fairdsl.backends.smt.partition.procedure import by_partitions

        verdict = by_partitions(self.name, problem, budget, observer, self._solvers)
        if isinstance(verdict, Holds) and not verdict.evidence.vacuous:
            return Holds(evidence=replace(verdict.evidence, vacuous=compares_nobody(problem, budget)))
        return verdict


@dataclass(frozen=True, slots=True)
class _Programmed:
    """How many cases bounds and linear programs settled, or the violation that they found."""

    cases: int = 0
    trusted: bool = False
    witness: Witness | None = None


def _proof(verdict: Holds, problem: Problem, pool: Pool, budget: Budget) -> Holds:
    """The proof with what it does not cover, and whether it is about anybody."""
    notes = () if problem.model.deployed is None else ("about exact arithmetic, not about float32 rounding",)
    vacuous = compares_nobody(problem, budget, pool)
    return Holds(evidence=replace(verdict.evidence, notes=(*verdict.evidence.notes, *notes), vacuous=vacuous))


def _evidence(name: str, problem: Problem, outcome: Outcome, budget: Budget, programmed: _Programmed) -> Evidence:
    counted = (
        (programmed.cases, "by bounds and certified linear programs"),
        (outcome.by_bounds, "by bounds"),
        (outcome.by_solver, f"by {solver_name()}, seed {budget.seed}"),
    )
    parts = [f"{count} {how}" for count, how in counted if count]
    settled = sum(count for count, _ in counted)
    method = f"{settled} region{'s' * (settled != 1)} settled: {' and '.join(parts)}" if parts else solver_name()
    if programmed.witness is not None:
        method = "linear and mixed-integer programs"
    notes = ("within a solver's tolerances, which was to be trusted without proof",) if programmed.trusted else ()
    fidelity = Fidelity.WIDENS if widened(problem) else Fidelity.EXACT
    return Evidence(backend=name, method=method, fidelity=fidelity, notes=notes)


def _verdict(outcome: Outcome, evidence: Evidence) -> Verdict:
    """A violation decides; then whatever is open; only then does the property hold."""
    if outcome.witness is not None:
        return Violated(witnesses=(outcome.witness,), evidence=evidence)
    gaps = tuple(outcome.gaps)
    if gaps:
        detail = "a pair breaks the demand in exact arithmetic but not in the deployed file's"
        return Unknown(reason=Reason.NUMERIC_GAP, detail=detail, evidence=evidence, witnesses=gaps)
    if outcome.open:
        return worst(Unknown(reason=reason, detail=detail, evidence=evidence) for reason, detail in outcome.open)
    return Holds(evidence=evidence)
