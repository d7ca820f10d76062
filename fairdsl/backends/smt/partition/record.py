"""What became of one partition, the words for it, and what a run over partitions has found so far."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from fairdsl.backends.smt.bound_filters.boxes import Box
from fairdsl.backends.smt.solvers.chain import Status
from fairdsl.ir.domain import Category, Domain, Point
from fairdsl.numerics.narrow import Finite
from fairdsl.pruning.parts import PartFile
from fairdsl.pruning.profile import Units
from fairdsl.verdict import Reason, Tally, Witness

__all__ = ["Outcome", "Record", "box_words", "point_words"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A partition's verdict and what it rests on.

    ``key`` names the partition in its ledger: its number in a grid, or how it was halved. ``volume`` is
    its share of all units. ``by`` is what decided it. ``undecided`` of the network's ``units`` are left by
    the bounds on either side of zero. ``gap`` is a pair on which exact arithmetic and the deployed file disagree.

    ``pruned``: it holds of the network without these units, by layer, which says nothing about the model.
    ``network`` is the file of the pruned network that was asked about, whatever came of it; ``sound`` that of the
    network without the units that are proved to be 0 in the partition.
    """

    key: str
    box: Box
    volume: Fraction
    status: Status
    by: str
    units: int
    undecided: int
    seconds: float = 0.0
    witness: Witness | None = None
    gap: Witness | None = None
    reason: Reason | None = None
    detail: str = ""
    pruned: Units | None = None
    network: PartFile | None = None
    sound: PartFile | None = None


def box_words(box: Box, domain: Domain, cut: tuple[int, ...]) -> dict[str, Any]:
    """A partition's values of the attributes that are cut."""
    return {domain.attributes[index].name: _values(box, domain, index) for index in cut}


def _values(box: Box, domain: Domain, index: int) -> Any:
    """First and last value of a run of numbers, all values of numbers with gaps; the names of categories."""
    values, attribute = box[index], domain.attributes[index]
    if isinstance(values, Finite) and isinstance(attribute.type, Category):
        return tuple(attribute.show(Fraction(value)) for value in values.values)
    if isinstance(values, Finite) and not isinstance(values.values, range):
        return {"values": tuple(_number(Fraction(value)) for value in values.values)}
    return tuple(None if end is None else _number(end) for end in (values.low, values.high))


def _number(value: Fraction) -> int | str:
    return value.numerator if value.denominator == 1 else str(value)


def point_words(point: Point, domain: Domain) -> dict[str, int | str]:
    """An individual exactly: numbers as in the domain, categories by name."""
    return {
        attribute.name: attribute.show(value) if isinstance(attribute.type, Category) else _number(value)
        for attribute, value in zip(domain.attributes, point, strict=True)
    }


#: Violations, and disagreements of two arithmetics, that are kept for the report.
_WITNESSES = 64
_WORDS = {Status.HOLDS: "hold", Status.VIOLATED: "violated", Status.UNKNOWN: "unknown"}


@dataclass(slots=True)
class Outcome:
    """Counts and volumes by verdict, and a few of the pairs.

    ``reasons`` counts why partitions are unknown, ``detail`` is the first one's. ``taken`` counts those that hold
    because the ledger of an earlier run says so, ``networks`` the pruned networks that were written,
    ``sound_networks`` those without units that are 0 in their partition.
    """

    tallies: dict[Status, Tally] = field(default_factory=lambda: dict.fromkeys(Status, Tally()))
    pruned_only: Tally = field(default_factory=Tally)
    by: Counter[str] = field(default_factory=Counter)
    witnesses: list[Witness] = field(default_factory=list)
    gaps: list[Witness] = field(default_factory=list)
    reasons: Counter[Reason] = field(default_factory=Counter)
    detail: str = ""
    networks: int = 0
    sound_networks: int = 0
    undecided_units: int = 0
    units: int = 0
    taken: int = 0
    complete: bool = False
    interrupted: bool = False
    _kept: set[frozenset[Point]] = field(default_factory=set)

    @property
    def volume(self) -> Fraction:
        """The share of all units in the partitions that were asked."""
        return sum((tally.volume for tally in self.tallies.values()), start=Fraction(0))

    @property
    def asked(self) -> int:
        """How many partitions were asked."""
        return sum(tally.count for tally in self.tallies.values())

    def add(self, record: Record) -> None:
        """Count a partition."""
        self.tallies[record.status] += Tally(count=1, volume=record.volume)
        if record.status is not Status.UNKNOWN:
            self.by[record.by] += 1
        self.undecided_units += record.undecided
        self.units += record.units
        if record.witness is not None:
            self._keep(record.witness)
        if record.pruned is not None:
            self.pruned_only += Tally(count=1, volume=record.volume)
        self.networks += record.network is not None
        self.sound_networks += record.sound is not None
        if record.reason is not None:
            self.detail = self.detail or record.detail
            self.reasons[record.reason] += 1
        if record.gap is not None and len(self.gaps) < _WITNESSES:
            self.gaps.append(record.gap)

    def told(self) -> str:
        """The counts in words."""
        return ", ".join(f"{tally.count} {_WORDS[status]}" for status, tally in self.tallies.items())

    def _keep(self, found: Witness) -> None:
        """Violations once each: with a relaxed partner two partitions may have the same, seen from either side."""
        pair = frozenset((found.a.point, found.b.point))
        if len(self._kept) < _WITNESSES and pair not in self._kept:
            self._kept.add(pair)
            self.witnesses.append(found)
