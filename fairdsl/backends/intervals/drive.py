"""Where a refinement runs: in this process, in several, or on a cluster, as the budget says."""

from __future__ import annotations

from fairdsl.backends.contract import Budget, Observer
from fairdsl.backends.intervals.clock import Checkpoints
from fairdsl.backends.intervals.options import IntervalsOptions
from fairdsl.backends.intervals.refine import Refinement
from fairdsl.backends.intervals.workers import refine_in_parallel
from fairdsl.backends.solved import Ending
from fairdsl.clock import meter_in_force

__all__ = ["refine_within"]


def refine_within(
    refinement: Refinement,
    budget: Budget,
    observer: Observer,
    checkpoints: Checkpoints | None = None,
    *,
    alone: bool = False,
) -> Ending:
    """Refine until the budget ends, the user interrupts, or nothing is left; what was certified stays.

    With ``alone`` in this process only. Where not even one node is sure to be bounded in time nothing is begun.
    """
    if meter_in_force() is None and budget.deadline.later(-refinement.seconds_a_node).passed:
        return Ending.DEADLINE
    scheduler = None if alone else budget.options[IntervalsOptions].scheduler
    if scheduler is not None:
        from fairdsl.backends.intervals.cluster import refine_on_cluster

        return refine_on_cluster(
            refinement,
            scheduler,
            deadline=budget.deadline,
            observer=observer,
            memory=budget.memory,
            checkpoints=checkpoints,
        )
    return refine_in_parallel(
        refinement,
        jobs=1 if alone else budget.jobs,
        deadline=budget.deadline,
        observer=observer,
        memory=budget.memory,
        checkpoints=checkpoints,
    )
