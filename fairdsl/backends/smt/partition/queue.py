"""The partitions that wait for solvers, and those that solvers are at.

Those with the fewest undecided units go first: they are decided soonest, so that what is on record grows as fast as it
can. Each is asked of the model, and where that fails perhaps once more of a pruned network.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from heapq import heappop, heappush

from fairdsl.backends.contract import Budget
from fairdsl.backends.smt.bound_filters.boxes import Box
from fairdsl.backends.smt.cases import pair_of
from fairdsl.backends.smt.options import Partition, SmtOptions
from fairdsl.backends.smt.partition.grid import restricted
from fairdsl.backends.smt.solvers.chain import Chained, Limits
from fairdsl.backends.smt.solvers.pool import Solvers
from fairdsl.backends.smt.solvers.worker import Task
from fairdsl.clock import Deadline, absorb, meter_in_force
from fairdsl.ir.problem import Problem
from fairdsl.pruning.remove import PrunedModel

#: Seconds that a query about a partition takes at most, where nothing else is said.
_QUERY_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Part:
    """A partition that is asked. ``undecided`` units are left by bounds; None: they were not looked at."""

    key: str
    box: Box
    undecided: int | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """What a solver is asked: a partition of the model, or of what pruning left of it. It took ``seconds`` so far.

    ``unsettled`` is what was said of the model before a pruned network is asked about.
    """

    part: Part
    pruned: PrunedModel | None = None
    seconds: float = 0.0
    unsettled: Chained | None = None


class Queue:
    """Hands partitions to solver processes, and takes in what these say."""

    def __init__(self, problem: Problem, pool: Solvers, budget: Budget) -> None:
        self._problem, self._pool, self._budget = problem, pool, budget
        self._units = budget.options[Partition].units
        self._waiting: list[tuple[int, int, Part]] = []
        self._asked: dict[str, Query] = {}
        self._numbered = 0

    @property
    def empty(self) -> bool:
        """Whether nothing waits and no solver is at work."""
        return not self._waiting and not self._asked

    def add(self, part: Part) -> None:
        """Let the partition wait for its turn; among equals the first come first."""
        self._numbered += 1
        heappush(self._waiting, (part.undecided or 0, self._numbered, part))

    def ask(self, query: Query) -> None:
        """Hand it to an idle process, which there must be."""
        self._asked[query.part.key] = query
        wanted = self._budget.options[SmtOptions]
        limits = Limits(
            seconds=min(wanted.query_timeout or _QUERY_SECONDS, self._budget.remaining),
            seed=self._budget.seed,
            trust_milp=wanted.trust_milp,
            units=self._units,
            metered=meter_in_force() is not None,
        )
        question = pair_of(restricted(self._problem, query.part.box))
        self._pool.start(query.part.key, Task(question, limits, query.pruned))

    def verdicts(self, *, wait: bool) -> list[tuple[Query, Chained]]:
        """Give waiting partitions to idle processes, take in verdicts; with ``wait`` until one came or time is up."""
        while self._waiting and not self._pool.full and not self._budget.exhausted:
            _, _, part = heappop(self._waiting)
            self.ask(Query(part))
        if not self._asked:
            return []
        found = []
        wait |= meter_in_force() is not None  # no answer comes before another by chance
        for key, said, seconds in self._pool.finished(self._budget.deadline if wait else Deadline.within(0)):
            absorb(said.meter)
            query = self._asked.pop(str(key))
            found.append((replace(query, seconds=query.seconds + seconds), said))
        return found

    def close(self) -> None:
        """End all processes."""
        self._pool.close()
