"""Heuristic pruning of partitions that stay unknown: another network, asked the same question.

Units that are seldom active in a partition are removed (``fairdsl.pruning``). What holds of the smaller
network proves nothing about the model, and is counted apart; a pair that it treats differently is replayed
on the model itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from fairdsl.backends.contract import Partition
from fairdsl.backends.smt.partition.grid import Box
from fairdsl.ir.model import Model
from fairdsl.ir.problem import Problem
from fairdsl.pruning.remove import prune_on

__all__ = ["Heuristic", "Pruned"]


@dataclass(frozen=True, slots=True)
class Pruned:
    """The network without these units, by layer."""

    model: Model
    units: Mapping[int, tuple[int, ...]]

    @property
    def removed(self) -> int:
        """How many units are gone."""
        return sum(len(positions) for positions in self.units.values())


@dataclass(frozen=True, slots=True)
class Heuristic:
    """Removes units that are active in no more than the share ``tolerance`` of ``profile`` individuals."""

    problem: Problem
    tolerance: Fraction
    profile: int
    seed: int

    @classmethod
    def of(cls, problem: Problem, request: Partition, seed: int) -> Heuristic | None:
        """What was asked for; None where it was not."""
        if request.tolerance is None:
            return None
        return cls(problem, request.tolerance, request.profile, seed)

    def prune(self, box: Box) -> Pruned | None:
        """A smaller network for the partition; None where no unit is that seldom active."""
        problem, units = prune_on(self.problem, box, self.tolerance, self.profile, self.seed)
        return Pruned(problem.model, units) if units else None
