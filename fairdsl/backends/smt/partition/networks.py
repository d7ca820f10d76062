"""The networks of single partitions as files, and how many of its individuals each decides as the model does.

A *sound* network lacks units that bounds prove to be 0 for everybody in the partition, partners with relaxed attributes
included, so there it decides as the model in exact arithmetic. Elsewhere it is another network.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from fairdsl.backends.smt.bound_filters.bounding import BoundFilter
from fairdsl.backends.smt.bound_filters.boxes import Box
from fairdsl.backends.smt.cases import pair_of
from fairdsl.backends.smt.options import Partition
from fairdsl.backends.smt.partition import errors
from fairdsl.backends.smt.partition.grid import values_in_words
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.problem import Problem
from fairdsl.numerics.narrow import narrow
from fairdsl.pruning.changes import decided_differently
from fairdsl.pruning.parts import PartFile, check_cuts, write_part
from fairdsl.pruning.remove import PrunedModel, prune_on, remove

#: The options that name a folder.
PRUNED, SOUND = "partition.networks", "partition.sound_networks"


@dataclass(frozen=True, slots=True)
class Networks:
    """Writes networks of partitions into the ``folder`` that an ``option`` names.

    ``points`` individuals of a partition say how often its network decides as the model does.
    """

    problem: Problem
    option: str
    folder: str
    points: int
    seed: int

    def written(self, key: str, box: Box, pruned: PrunedModel) -> PartFile:
        """The partition's network as a file; raises DiagnosticError where it cannot be written (E0605)."""
        problem = self.problem
        target = Path(self.folder) / f"{problem.name}-{key}.onnx"
        part = "; ".join((f"{problem.name}, partition {key}", *_in_words(problem, box)))
        drawn, changed = decided_differently(
            problem.domain, box, problem.model, pruned, self.points, self.seed, pair_of(problem).target
        )
        try:
            return write_part(problem, pruned.units, str(target), part, drawn=drawn, changed=changed)
        except OSError as error:
            raise DiagnosticError(errors.cannot_write_network(self.folder, self.option, error)) from error


@dataclass(frozen=True, slots=True)
class Sound:
    """Writes each partition's network without the units that are 0 for everybody in it."""

    bound_filter: BoundFilter
    networks: Networks

    @classmethod
    def of(cls, problem: Problem, request: Partition, bound_filter: BoundFilter, seed: int) -> Sound | None:
        """What was asked for; None where it was not."""
        if request.sound_networks is None:
            return None
        return cls(bound_filter, Networks(problem, SOUND, request.sound_networks, request.drawn, seed))

    def written(self, key: str, box: Box) -> PartFile | None:
        """The partition's network as a file; None where no unit is proved to be 0 in it."""
        units = self.bound_filter.inactive(box)
        return self.networks.written(key, box, remove(self.networks.problem.model, units)) if units else None


def prepare_networks(problem: Problem, request: Partition) -> None:
    """See that networks can be written where the request says so, before any partition is asked.

    Raises DiagnosticError: E0605 where a folder cannot be made, E0611 where it has networks of an earlier run that
    is not resumed, E0560 and E0561 where units cannot be taken out of the model's file.
    """
    named = [(PRUNED, request.networks), (SOUND, request.sound_networks)]
    for option, folder in ((option, folder) for option, folder in named if folder is not None):
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
            earlier = sorted(_networks_in(folder, problem))
        except OSError as error:
            raise DiagnosticError(errors.cannot_write_network(folder, option, error)) from error
        if earlier and not request.resume:
            raise DiagnosticError(errors.network_exists(str(earlier[0]), option))
        check_cuts(problem)


def networks_kept(problem: Problem, folder: str | None, written: int) -> int:
    """How many networks of earlier runs a folder still has beside the ``written`` ones of this run.

    They are of partitions that were decided since, or had no turn: those that stay unknown are replaced.
    """
    return 0 if folder is None else max(0, sum(1 for _ in _networks_in(folder, problem)) - written)


def _networks_in(folder: str, problem: Problem) -> Iterator[Path]:
    yield from Path(folder).glob(f"{problem.name}-*.onnx")


def _in_words(problem: Problem, box: Box) -> Iterator[str]:
    """The values of the attributes that the partition narrows."""
    whole = narrow(problem.domain, pair_of(problem).target)
    for attribute, values, every in zip(problem.domain.attributes, box, whole, strict=True):
        if values != every:
            yield f"{attribute.name} {values_in_words(attribute, values)}"


# ---- seldom active units removed -----------------------------------------------------------------
#
# Heuristic pruning of partitions that stay unknown: another network, asked the same question.
#
# Units that are seldom active in a partition are removed (``fairdsl.pruning``). What holds of the smaller
# network proves nothing about the model, and is counted apart; a pair that it treats differently is replayed
# on the model itself. Where a folder was named, each network that a line of the ledger speaks about is a file in it.


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
