"""What can be set for `smt`: how its solvers are used, and whether it answers partition by partition."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import ClassVar

from fairdsl.backends.refining.options import scheduler_option
from fairdsl.diagnostics import Diagnostic
from fairdsl.options import Section, errors, option
from fairdsl.options.kinds import OneOf, Seconds, Share, Size, SizeOr, Switch, Text, Whole


class Order(Enum):
    """In which order partitions are taken."""

    SEEDED = "seeded"  # at random, as the seed says
    LARGEST = "largest"  # by volume
    GRID = "grid"  # as they lie in the domain


@dataclass(frozen=True, kw_only=True)
class SmtOptions(Section):
    """How `smt` uses its solvers."""

    section: ClassVar[str] = "smt"

    query_timeout: float | None = option(
        None,
        "Time limit in seconds of the solvers for one question: a partition, or linear programs about a whole domain.",
        Seconds(),
        unset="10 for a partition",
    )
    query_memory: int = option(4 << 30, "Memory limit of each solver process.", Size())
    trust_milp: bool = option(
        False, "Count `infeasible` of the mixed-integer solver without a proof; the report says so.", Switch()
    )
    #: Of what is refined: how far the worst two are apart.
    scheduler: str | None = scheduler_option()


@dataclass(frozen=True, kw_only=True)
class Partition(Section):
    """A verdict for each part of the domain, by `smt` (docs/partitions.md)."""

    section: ClassVar[str] = "partition"

    size: int | str | None = option(
        None,
        "Verdicts of parts: SIZE values each, or `adaptive`.",
        SizeOr("adaptive", "a number of values"),
        unset="no parts",
        flag="--partition",
    )
    order: Order = option(Order.SEEDED, "Which partitions come first.", OneOf(Order))
    first: int | None = option(None, "Ask only the first so many partitions.", Whole(1), unset="all of them")
    keep_going: bool = option(False, "Go on after the first partition that is violated.", Switch())
    ledger: str | None = option(
        None,
        "Write the verdict of each partition to this file, a line of JSON each.",
        Text("FILE", "the path of a file", "partitions.jsonl"),
        unset="none",
    )
    resume: bool = option(False, "Go on from what stands in the ledger.", Switch())
    recheck: bool = option(
        False, "Ask again what the ledger says that solvers proved: nothing is taken from it.", Switch()
    )
    units: bool = option(
        False,
        "Before a solver is asked about a partition, ask about each unit that bounds leave undecided.",
        Switch(),
    )
    tolerance: Fraction | None = option(
        None,
        "Ask about partitions that stay unknown without the units that are active in at most this share of random "
        "individuals; what holds then proves nothing about the model and is counted apart.",
        Share(),
        unset="none",
    )
    profile: int | None = option(
        None, "Number of random individuals that pruning draws in a partition.", Whole(1), unset="1000"
    )
    networks: str | None = option(
        None,
        "Write each pruned network that is asked about into this folder, as ONNX.",
        Text("DIR", "the path of a folder", "networks"),
        unset="none",
    )
    sound_networks: str | None = option(
        None,
        "Write each partition's network into this folder, as ONNX, without the units that bounds prove to be 0 for "
        "everybody in it.",
        Text("DIR", "the path of a folder", "sound"),
        unset="none",
    )

    @property
    def chunk(self) -> int | None:
        """The number of values; None where the domain is halved on the way, or not partitioned."""
        return self.size if isinstance(self.size, int) else None

    @property
    def drawn(self) -> int:
        """How many individuals a profile takes."""
        return 1000 if self.profile is None else self.profile

    def inconsistent(self) -> tuple[Diagnostic, ...]:
        """Options without the one that they are about."""
        given = self.given
        if self.size is None:
            return tuple(errors.needs(path, "partition.size", "`--partition SIZE`") for path in given)
        found = []
        if self.recheck and not self.resume:
            found.append(errors.needs("partition.recheck", "partition.resume", "`partition.resume=yes`"))
        if self.resume and self.ledger is None:
            found.append(errors.needs("partition.resume", "partition.ledger", "`partition.ledger=FILE`"))
        if self.tolerance is None:
            alone = [path for path in ("partition.profile", "partition.networks") if path in given]
            if self.sound_networks is not None:
                alone = [path for path in alone if path != "partition.profile"]
            found += [errors.needs(path, "partition.tolerance", "`partition.tolerance=SHARE`") for path in alone]
        if self.sound_networks is not None and self.sound_networks == self.networks:
            found.append(errors.excludes("partition.sound_networks", "the other networks are written into that folder"))
        if self.chunk is None:
            why = "adaptive partitions are made on the way"
            early = [path for path in ("partition.first", "partition.order") if path in given]
            found += [errors.excludes(path, why) for path in early]
        return tuple(found)
