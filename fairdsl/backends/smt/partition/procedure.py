"""From a run over partitions to a verdict on the whole question, with its coverage."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from fairdsl.backends.contract import Budget, Observer
from fairdsl.backends.smt.bound_filters.bounding import BoundFilter
from fairdsl.backends.smt.cases import pair_of, widened
from fairdsl.backends.smt.options import Partition, SmtOptions
from fairdsl.backends.smt.partition.grid import Grid
from fairdsl.backends.smt.partition.ledger import Ledger
from fairdsl.backends.smt.partition.networks import networks_kept, prepare_networks
from fairdsl.backends.smt.partition.run import Outcome, Run
from fairdsl.backends.smt.partition.source import Adaptive, Gridded, Source
from fairdsl.backends.smt.solvers.chain import Status
from fairdsl.backends.smt.solvers.pool import PoolOf, SolverPool
from fairdsl.ir.problem import Problem
from fairdsl.numerics.threads import one_blas_thread
from fairdsl.replay.spread import spread
from fairdsl.verdict import (
    Arithmetic,
    Basis,
    Claim,
    Coverage,
    Ended,
    Evidence,
    Fidelity,
    Holds,
    Reason,
    Unknown,
    Vacuous,
    Verdict,
    Violated,
    Witness,
    Word,
)

#: Violations in the report, chosen far from each other.
_SHOWN = 8


def by_partitions(
    name: str, problem: Problem, budget: Budget, observer: Observer, pool_of: PoolOf = SolverPool
) -> Verdict:
    """Ask the question of every partition. Raises DiagnosticError for a ledger that cannot be used."""
    request = budget.options[Partition]
    grid = Grid.of(problem, request.chunk)
    if not grid.count:
        return Vacuous(evidence=Evidence(backend=name, method="nobody is left to compare"))
    every = tuple(index for index in range(len(grid.sets)) if index not in pair_of(problem).differ)
    cut = grid.cut if request.chunk is not None else every
    total = None if request.chunk is None else grid.count
    bound_filter = BoundFilter(problem, grid.sets)
    prepare_networks(problem, request)
    ledger = Ledger.open(request, problem, budget.seed, cut, total)
    try:
        source: Source = (
            Gridded(grid, request, budget.seed)
            if request.chunk is not None
            else Adaptive(problem, grid.sets, bound_filter, ledger)
        )
        pool = pool_of(problem, budget.jobs, budget.options[SmtOptions].query_memory)
        with one_blas_thread():
            outcome = Run(problem, source, bound_filter, grid.sets, ledger, pool, budget, observer).run()
    finally:
        ledger.close()
    evidence = _evidence(name, problem, request, total, outcome, budget, ledger)
    return _verdict(problem, outcome, evidence, all_of_them=outcome.volume == 1 and total in (None, outcome.asked))


def _spread(problem: Problem, found: Sequence[Witness]) -> tuple[Witness, ...]:
    """A few violations far from each other."""
    points = np.array([[float(value) for value in one.a.point] for one in found])
    return tuple(found[row] for row in spread(points, problem.domain, _SHOWN))


def _verdict(problem: Problem, outcome: Outcome, evidence: Evidence, *, all_of_them: bool) -> Verdict:
    """A violation decides; it holds only where every partition does."""
    if outcome.witnesses:
        return Violated(witnesses=_spread(problem, outcome.witnesses), evidence=evidence)
    if outcome.gaps:
        detail = (
            "in some partition a pair breaks the demand in one of exact arithmetic and the deployed file's, not in both"
        )
        return _unknown(Reason.NUMERIC_GAP, detail, evidence, outcome)
    if outcome.interrupted:
        return _unknown(Reason.INTERRUPTED, "the run was interrupted", evidence, outcome)
    if outcome.tallies[Status.UNKNOWN].count:
        reason, detail = next(iter(outcome.reasons), Reason.INCOMPLETE), outcome.detail
        count = outcome.tallies[Status.UNKNOWN].count
        return _unknown(reason, f"{count} partition{'s' * (count != 1)} left unknown: {detail}", evidence, outcome)
    if not outcome.complete:
        return _unknown(Reason.TIMEOUT, "the time was up before every partition had its turn", evidence, outcome)
    if not all_of_them:
        return _unknown(Reason.INCOMPLETE, "only some of the partitions were to be asked", evidence, outcome)
    return Holds(evidence=evidence)


def _unknown(reason: Reason, detail: str, evidence: Evidence, outcome: Outcome) -> Unknown:
    return Unknown(reason=reason, detail=detail, evidence=evidence, witnesses=tuple(outcome.gaps[:_SHOWN]))


def _evidence(
    name: str, problem: Problem, request: Partition, total: int | None, outcome: Outcome, budget: Budget, ledger: Ledger
) -> Evidence:
    coverage = Coverage(
        size=request.chunk,
        total=total,
        holds=outcome.tallies[Status.HOLDS],
        violated=outcome.tallies[Status.VIOLATED],
        unknown=outcome.tallies[Status.UNKNOWN],
        pruned_only=outcome.pruned_only,
        networks=outcome.networks,
        networks_kept=networks_kept(problem, request.networks, outcome.networks),
        network_folder=request.networks,
        sound_networks=outcome.sound_networks,
        sound_networks_kept=networks_kept(problem, request.sound_networks, outcome.sound_networks),
        sound_folder=request.sound_networks,
        by=tuple(sorted(outcome.by.items())),
        compression=1 - Fraction(outcome.undecided_units, outcome.units) if outcome.units else None,
        ledger=request.ledger,
        ended=_ended(request, total, outcome),
        reasons=tuple(outcome.reasons.most_common()),
    )
    notes = []
    if trusted := outcome.by["trusted milp"]:
        notes.append(f"{trusted} partitions hold within a solver's tolerances only: it was to be trusted without proof")
    return Evidence(
        backend=name,
        method=f"partition by partition, seed {budget.seed}",
        fidelity=Fidelity.WIDENS if widened(problem) else Fidelity.EXACT,
        notes=tuple(notes),
        coverage=coverage,
        basis=_basis(outcome, ledger),
    )


def _basis(outcome: Outcome, ledger: Ledger) -> Basis:
    """Whose word the verdicts on the partitions rest on: that of an earlier run's file before that of a solver."""
    if outcome.taken and not ledger.private:
        said = f"{outcome.taken:,} of the partitions hold"
        claim = Claim(said=said, file=str(ledger.path), sha256=ledger.sha256, by="an earlier run")
        return Basis(word=Word.FILES, arithmetic=Arithmetic.CLAIMED, claims=(claim,))
    return Basis(word=Word.SOLVER if outcome.by["z3"] or outcome.by["trusted milp"] else Word.OWN)


def _ended(request: Partition, total: int | None, outcome: Outcome) -> Ended | None:
    """Why some partitions had no turn; None where all had."""
    if outcome.interrupted:
        return Ended.INTERRUPTED
    if not outcome.complete:
        found = outcome.tallies[Status.VIOLATED].count > 0 and not request.keep_going
        return Ended.VIOLATION if found else Ended.TIMEOUT
    return Ended.FIRST if total is not None and outcome.asked < total else None
