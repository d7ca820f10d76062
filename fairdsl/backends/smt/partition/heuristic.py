"""Heuristic pruning of partitions that stay unknown: another network, asked the same question.

Units that are seldom active in a partition are removed (``fairdsl.pruning``). What holds of the smaller
network proves nothing about the model, and is counted apart; a pair that it treats differently is replayed
on the model itself. Where a folder was named, each network that a line of the ledger speaks about is a file in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from fairdsl.backends.smt.bound_filters.boxes import Box
from fairdsl.backends.smt.options import Partition
from fairdsl.backends.smt.partition.networks import PRUNED, Networks
from fairdsl.ir.problem import Problem
from fairdsl.pruning.parts import PartFile
from fairdsl.pruning.remove import PrunedModel, prune_on

__all__ = ["Heuristic"]


@dataclass(frozen=True, slots=True)
class Heuristic:
    """Removes units that are active in no more than the share ``tolerance`` of ``profile`` individuals.

    ``networks`` writes the smaller networks; None: they are kept out of files.
    """

    problem: Problem
    tolerance: Fraction
    profile: int
    seed: int
    networks: Networks | None = None

    @classmethod
    def of(cls, problem: Problem, request: Partition, seed: int) -> Heuristic | None:
        """What was asked for; None where it was not."""
        if request.tolerance is None:
            return None
        folder = request.networks
        networks = None if folder is None else Networks(problem, PRUNED, folder, request.drawn, seed)
        return cls(problem, request.tolerance, request.drawn, seed, networks)

    def prune(self, box: Box) -> PrunedModel | None:
        """A smaller network for the partition; None where no unit is that seldom active."""
        return prune_on(self.problem, box, self.tolerance, self.profile, self.seed)

    def written(self, key: str, box: Box, pruned: PrunedModel) -> PartFile | None:
        """The partition's network as a file; None where no folder was named."""
        return None if self.networks is None else self.networks.written(key, box, pruned)
