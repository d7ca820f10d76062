"""What became of a partition, and the lines of a ledger: a verdict that no run writes was written by somebody else.

A ledger is believed no more than it must be, and only what a run can have found there at all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from math import inf
from typing import Any, ClassVar

from fairdsl.backends.smt.bound_filters.boxes import Box
from fairdsl.backends.smt.options import Order
from fairdsl.backends.smt.solvers.chain import Status
from fairdsl.codec import Document, from_plain, plain
from fairdsl.ir.domain import Category, Domain, Point
from fairdsl.numerics.narrow import Finite
from fairdsl.pruning.parts import PartFile
from fairdsl.pruning.profile import Units
from fairdsl.verdict import Reason, Witness


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


#: What decides: bounds prove, sampling finds pairs, solvers do both.
_DECIDES = {
    Status.HOLDS: frozenset({"bounds", "bounds of pairs", "milp", "trusted milp", "z3"}),
    Status.VIOLATED: frozenset({"sampling", "milp", "z3", "pruned network"}),
}
#: What a line says beside what all of them do, by its verdict.
_WITH = {
    Status.HOLDS: frozenset[str](),
    Status.VIOLATED: frozenset({"witness", "pruned_network"}),
    Status.UNKNOWN: frozenset({"disagreement", "reason", "detail", "holds_without_units", "pruned_network"}),
}
#: What only others say.
_WITHOUT = {status: frozenset().union(*_WITH.values()) - said for status, said in _WITH.items()}
#: First and last value of a run of numbers, all values of numbers with gaps; the names of categories.
_Values = tuple[int | str | None, ...] | Mapping[str, tuple[int | str, ...]]
#: Units by layer; layers are counted from 1, as in what people read, units from 0.
_ByLayer = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairLine:
    """Both individuals exactly: numbers as in the domain, categories by name."""

    #: The one.
    a: Mapping[str, int | str]
    #: The other.
    b: Mapping[str, int | str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkLine:
    """The network of a partition in a file, and what it decides about individuals that did not choose its units."""

    #: Its file.
    file: str
    #: Its digest.
    sha256: str
    #: The units that it does without, by layer.
    removed_units: _ByLayer
    #: Individuals of the partition that were drawn.
    drawn: int = 0
    #: Those of them that it decides otherwise than the model.
    changed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerHead(Document):
    """The first line of a ledger: what its verdicts are about."""

    SCHEMA: ClassVar[str] = "fairdsl.partitions/1"
    STAMPED: ClassVar[bool] = False

    #: The property.
    property: str
    #: A hash of domain, question and model.
    question: str
    #: The digest of the model's file; null for a model written in the spec.
    model: str | None
    #: Attributes of more values are cut into chunks of so many.
    size: int | str | None
    #: In which order partitions are asked.
    order: Order
    #: Of every random choice.
    seed: int
    #: How many partitions there are; null where they are cut as the run goes on.
    partitions: int | None
    #: The attributes that are cut.
    attributes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitLine(Document):
    """A line of a ledger: a partition was halved."""

    SCHEMA: ClassVar[str] = "fairdsl.partition-split/1"
    HEADED: ClassVar[bool] = False

    #: The partition's name.
    partition: str
    #: The attribute on which it was halved.
    split: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictLine(Document):
    """A line of a ledger: a partition's verdict. ValueError for one that no run finds."""

    SCHEMA: ClassVar[str] = "fairdsl.partition-verdict/1"
    HEADED: ClassVar[bool] = False

    #: The partition's name.
    partition: str
    #: Its values, by attribute that is cut.
    box: Mapping[str, _Values]
    #: Its share of all units, as a fraction.
    volume: str
    #: What became of it.
    verdict: Status
    #: What decided it.
    by: str
    #: Hidden units of the network; 0 where they were not bounded.
    units: int
    #: Those of them whose sign the bounds leave open.
    undecided_units: int
    #: How long it took.
    seconds: float
    #: A pair that violates the demand in it.
    witness: PairLine | None = None
    #: A pair that violates it in one arithmetic only.
    disagreement: PairLine | None = None
    #: Why it is unknown.
    reason: Reason | None = None
    #: The same in words.
    detail: str | None = None
    #: The demand holds of the network without these units.
    holds_without_units: _ByLayer | None = None
    #: The pruned network that was asked.
    pruned_network: NetworkLine | None = None
    #: The network without the units that are proved to be 0 in the partition.
    sound_network: NetworkLine | None = None

    def __post_init__(self) -> None:
        status = self.verdict
        if any(getattr(self, name) is not None for name in _WITHOUT[status]):
            raise ValueError(f"its keys are not those of a line that says `{status.value}`")
        if status in _DECIDES and self.by not in _DECIDES[status]:
            raise ValueError(f"nothing is found to be `{status.value}` by `{self.by}`")
        if status is Status.VIOLATED and self.witness is None:
            raise ValueError("a violation has its pair")
        if status is Status.UNKNOWN and self.reason is None:
            raise ValueError("what is unknown has a reason")
        if not 0 <= self.undecided_units <= self.units:
            raise ValueError("more units are undecided than there are")
        if not 0 <= self.seconds < inf:
            raise ValueError("it took no time that there is")


def verdict_line(line: object) -> VerdictLine:
    """What a line says of a partition; MisfitError for one that no run writes."""
    return from_plain(VerdictLine, line)


def record_line(record: Record, domain: Domain, cut: tuple[int, ...]) -> Mapping[str, Any]:
    """The record as a JSON object, in the spec's words; only attributes that are cut are listed."""
    line = VerdictLine(
        partition=record.key,
        box=_box_words(record.box, domain, cut),
        volume=str(record.volume),
        verdict=record.status,
        by=record.by,
        units=record.units,
        undecided_units=record.undecided,
        seconds=round(record.seconds, 6),
        witness=_pair(record.witness, domain),
        disagreement=_pair(record.gap, domain),
        reason=record.reason,
        detail=None if record.reason is None else record.detail,
        holds_without_units=None if record.pruned is None else _by_layer(record.pruned),
        pruned_network=_network(record.network),
        sound_network=_network(record.sound),
    )
    written: Mapping[str, Any] = plain(line)
    return written


def _pair(witness: Witness | None, domain: Domain) -> PairLine | None:
    if witness is None:
        return None
    return PairLine(a=_point_words(witness.a.point, domain), b=_point_words(witness.b.point, domain))


def _network(file: PartFile | None) -> NetworkLine | None:
    if file is None:
        return None
    units = _by_layer(file.units)
    return NetworkLine(file=file.path, sha256=file.sha256, removed_units=units, drawn=file.drawn, changed=file.changed)


def _by_layer(units: Units) -> dict[str, tuple[int, ...]]:
    return {f"layer {layer + 1}": tuple(positions) for layer, positions in units.items()}


def place_of(box: Box, volume: Fraction, domain: Domain, cut: tuple[int, ...]) -> str:
    """A digest of a partition as its lines describe it."""
    return _digest(_box_words(box, domain, cut), str(volume))


def said_place(line: Mapping[str, Any]) -> str:
    """The same of what a line says."""
    return _digest(line["box"], line["volume"])


def _digest(box: object, volume: object) -> str:
    return sha256(json.dumps([box, volume], sort_keys=True).encode()).hexdigest()[:16]


def _box_words(box: Box, domain: Domain, cut: tuple[int, ...]) -> dict[str, Any]:
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


def _point_words(point: Point, domain: Domain) -> dict[str, int | str]:
    """An individual exactly: numbers as in the domain, categories by name."""
    return {
        attribute.name: attribute.show(value) if isinstance(attribute.type, Category) else _number(value)
        for attribute, value in zip(domain.attributes, point, strict=True)
    }
