"""Where a refinement runs: in this process, on a cluster, or on all cores, as the budget says.

On all cores: a process for each part, and the parent that shares out, collects and joins.

The parts are the open leaves of one tree, shared out by what they leave undecided. Every state of every part
is sound, and joining replaces leaves by what was found below them, so the order in which processes run,
stop or die changes how far the shares got and never whether they are true.
"""

from __future__ import annotations

import time

from fairdsl.backends.contract import Budget, Observer
from fairdsl.backends.refining.clock import OVERHEAD, Checkpoints, Clock, advance_until, share_out, supervised
from fairdsl.backends.refining.pool import Share, WorkerPool, worker_pool
from fairdsl.backends.refining.refinement import Refining
from fairdsl.backends.solved import Ending
from fairdsl.clock import Deadline, meter_in_force, spend

#: Bytes that a refinement may use where nothing else is said.
MEMORY = 2 << 30
#: Seconds of work before processes are started: many questions are decided sooner.
_ALONE = 0.3
#: Seconds after which what is left of unequal parts is shared out anew, at the earliest.
_ROUND = 1.0
#: What is kept back to come together again, in terms of what is expected.
_RESERVE = 1.3


def refine_in_parallel(
    refinement: Refining,
    *,
    jobs: int,
    deadline: Deadline,
    observer: Observer,
    memory: int = MEMORY,
    checkpoints: Checkpoints | None = None,
    nodes: int | None = None,
) -> Ending:
    """Refine until the deadline, the user's Ctrl-C, or until nothing is left.

    ``memory`` in bytes is for all processes together. With ``nodes`` about so many more are evaluated
    whatever the clock says, and the result depends on their number and ``jobs`` alone; only an interrupt
    ends it sooner.
    """

    def run(clock: Clock) -> None:
        if jobs == 1:
            advance_until(refinement, clock.listen, nodes)
        else:
            _refine_together(refinement, jobs, memory, clock, nodes)

    return supervised(refinement, run, deadline=deadline, observer=observer, checkpoints=checkpoints, nodes=nodes)


def _refine_together(refinement: Refining, jobs: int, memory: int, clock: Clock, nodes: int | None) -> None:
    first = refinement.nodes
    if nodes is None:
        soon = min(clock.deadline, Deadline.within(_ALONE))
        advance_until(refinement, lambda: clock.listen() or soon.passed)
        if refinement.finished or clock.up:
            return
    with worker_pool(refinement, jobs, memory // (2 * jobs + 1)) as pool:
        if nodes is None:
            advance_until(refinement, lambda: clock.listen() or pool.ready)
        reunion = _Reunion()
        while not (clock.up or pool.broken) and share_out(
            refinement, jobs, clock.listen, None if nodes is None else nodes - (refinement.nodes - first)
        ):
            if reunion.fits_only_once(refinement.nodes, clock.deadline):
                advance_until(refinement, clock.listen)
                return
            left = None if nodes is None else max(0, nodes - (refinement.nodes - first)) // jobs
            if not _round(refinement, pool, jobs, clock, left, reunion) or pool.broken or nodes is not None:
                break
    if not clock.up and (nodes is None or pool.broken):  # the processes come to nothing: this one goes on alone
        advance_until(refinement, clock.listen, None if nodes is None else nodes - (refinement.nodes - first))


class _Reunion:
    """How long it takes to come together again: states are packed, sent and joined, the longer the larger they are."""

    def __init__(self) -> None:
        self._pace = 0.0  # seconds a node of the tree

    def seconds(self, nodes: int) -> float:
        """For a tree of so many nodes."""
        return _RESERVE * self._pace * nodes

    def took(self, seconds: float, nodes: int) -> None:
        """Learn from what it took."""
        self._pace = seconds / max(1, nodes)

    def expect(self, seconds: float, nodes: int) -> None:
        """At least so long, whatever was learned before."""
        self._pace = max(self._pace, seconds / max(1, nodes))

    def fits_only_once(self, nodes: int, deadline: Deadline) -> bool:
        """Whether parting and coming together would take most of the time that is left."""
        return deadline.later(-3 * self.seconds(nodes)).passed


def _round(
    refinement: Refining, pool: WorkerPool, jobs: int, clock: Clock, nodes: int | None, reunion: _Reunion
) -> bool:
    """Fork, refine in the processes, join. False if nothing came of it."""
    parting = time.monotonic()
    shares = [Share(state) for state in refinement.fork(jobs)]
    before, at_first = refinement.nodes, refinement.undecided
    pool.give(shares, clock.deadline, nodes)
    parted = time.monotonic() - parting
    # To come together again is much the same work the other way, with larger states.
    reunion.expect(3 * parted, before)
    earliest = Deadline.within(max(_ROUND, parted / OVERHEAD))
    asked: float | None = None
    while not all(share.ended for share in shares) and not clock.up:
        pool.listen(0.1)
        reached = before + sum(share.nodes for share in shares)
        clock.tell(reached, lambda: at_first - sum(share.gained for share in shares))
        if nodes is None and clock.deadline.later(-reunion.seconds(reached)).passed:
            break
        if asked is None and clock.due:
            asked = time.monotonic()
            pool.ask()
        if asked is not None and pool.reported:
            if clock.saves:
                refinement.join([share.state for share in shares])
            clock.checkpoint(asked)
            asked = None
        if nodes is None and earliest.passed and any(share.exhausted for share in shares):
            break
    stopping = time.monotonic()
    pool.stop()
    refinement.join([share.state for share in shares])
    spend(refinement.work, refinement.nodes - before, each=refinement.units_a_node)
    reunion.took(time.monotonic() - stopping, refinement.nodes)
    return any(share.kept for share in shares)


def refine_within(
    refinement: Refining,
    budget: Budget,
    observer: Observer,
    checkpoints: Checkpoints | None = None,
    *,
    scheduler: str | None = None,
    alone: bool = False,
) -> Ending:
    """Refine until the budget ends, the user interrupts, or nothing is left; what was certified stays.

    On the cluster of ``scheduler`` where one is given; with ``alone``, or where effort is given, in this process only.
    Where not even one node is sure to be bounded in time nothing is begun.
    """
    if budget.deadline.later(-refinement.seconds_a_node).passed:
        return Ending.DEADLINE
    if scheduler is not None and not alone and meter_in_force() is None:
        from fairdsl.backends.refining.cluster import refine_on_cluster

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
