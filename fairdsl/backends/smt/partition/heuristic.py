"""Heuristic pruning of partitions that stay unknown: another network, asked the same question.

Units that are seldom active in a partition are removed (``fairdsl.pruning``). What holds of the smaller
network proves nothing about the model, and is counted apart; a pair that it treats differently is replayed
on the model itself. Where a folder was named, each network that a line of the ledger speaks about is a file in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from fairdsl.backends.smt.options import Partition
from fairdsl.backends.smt.partition import errors
from fairdsl.backends.smt.partition.grid import values_in_words
from fairdsl.backends.smt.sieves.boxes import Box
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair
from fairdsl.numerics.narrow import narrow
from fairdsl.pruning.parts import PartFile, check_cuts, write_part
from fairdsl.pruning.remove import PrunedModel, prune_on

__all__ = ["Heuristic", "networks_kept", "prepare_networks"]


@dataclass(frozen=True, slots=True)
class Heuristic:
    """Removes units that are active in no more than the share ``tolerance`` of ``profile`` individuals.

    ``networks`` is the folder that the networks are written into; None: they are kept out of files.
    """

    problem: Problem
    tolerance: Fraction
    profile: int
    seed: int
    networks: str | None = None

    @classmethod
    def of(cls, problem: Problem, request: Partition, seed: int) -> Heuristic | None:
        """What was asked for; None where it was not."""
        if request.tolerance is None:
            return None
        return cls(problem, request.tolerance, request.drawn, seed, request.networks)

    def prune(self, box: Box) -> PrunedModel | None:
        """A smaller network for the partition; None where no unit is that seldom active."""
        return prune_on(self.problem, box, self.tolerance, self.profile, self.seed)

    def written(self, key: str, box: Box, pruned: PrunedModel) -> PartFile | None:
        """The partition's network as a file; None where no folder was named.

        Raises DiagnosticError where the file cannot be written (E0605).
        """
        if self.networks is None:
            return None
        name = self.problem.name
        target = Path(self.networks) / f"{name}-{key}.onnx"
        part = "; ".join((f"{name}, partition {key}", *_in_words(self.problem, box)))
        try:
            return write_part(self.problem, pruned.units, str(target), part)
        except OSError as error:
            raise DiagnosticError(errors.cannot_write_network(self.networks, error)) from error


def prepare_networks(problem: Problem, request: Partition) -> None:
    """See that pruned networks can be written where the request says so, before any partition is asked.

    Raises DiagnosticError: E0605 where the folder cannot be made, E0611 where it has networks of an earlier run that
    is not resumed, E0560 and E0561 where units cannot be taken out of the model's file.
    """
    if request.networks is None:
        return
    folder = Path(request.networks)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        earlier = sorted(_networks_in(folder, problem))
    except OSError as error:
        raise DiagnosticError(errors.cannot_write_network(request.networks, error)) from error
    if earlier and not request.resume:
        raise DiagnosticError(errors.network_exists(str(earlier[0])))
    check_cuts(problem)


def networks_kept(problem: Problem, request: Partition, written: int) -> int:
    """How many networks of earlier runs the request's folder still has beside the ``written`` ones of this run.

    They are of partitions that were decided since, or had no turn: those that stay unknown are replaced.
    """
    if request.networks is None:
        return 0
    return max(0, sum(1 for _ in _networks_in(Path(request.networks), problem)) - written)


def _networks_in(folder: Path, problem: Problem) -> Iterator[Path]:
    yield from folder.glob(f"{problem.name}-*.onnx")


def _in_words(problem: Problem, box: Box) -> Iterator[str]:
    """The values of the attributes that the partition narrows."""
    question = problem.question
    whole = narrow(problem.domain, question.target) if isinstance(question, Pair) else narrow(problem.domain)
    for attribute, values, every in zip(problem.domain.attributes, box, whole, strict=True):
        if values != every:
            yield f"{attribute.name} {values_in_words(attribute, values)}"
