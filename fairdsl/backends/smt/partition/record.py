"""What became of one partition, in memory and as a line of a ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from fairdsl.backends.smt.sieves.boxes import Box
from fairdsl.backends.smt.solvers.chain import Status
from fairdsl.ir.domain import Category, Domain, Point
from fairdsl.numerics.narrow import Finite
from fairdsl.pruning.parts import PartFile
from fairdsl.pruning.profile import Units
from fairdsl.verdict import Reason, Witness

__all__ = ["Record", "box_words", "record_line"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A partition's verdict and what it rests on.

    ``key`` names the partition in its ledger: its number in a grid, or how it was halved. ``volume`` is
    its share of all units. ``by`` is what decided it. ``undecided`` of the network's ``units`` are left by
    the bounds on either side of zero. ``gap`` is a pair on which exact arithmetic and the deployed file disagree.

    ``pruned``: it holds of the network without these units, by layer, which says nothing about the model.
    ``network`` is the file of the pruned network that was asked about, whatever came of it.
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


def record_line(record: Record, domain: Domain, cut: tuple[int, ...]) -> Mapping[str, Any]:
    """The record as a JSON object, in the spec's words; only attributes that are cut are listed."""
    line: dict[str, Any] = {
        "partition": record.key,
        "box": box_words(record.box, domain, cut),
        "volume": str(record.volume),
        "verdict": record.status.value,
        "by": record.by,
        "units": record.units,
        "undecided_units": record.undecided,
        "seconds": round(record.seconds, 6),
    }
    line |= dict(_further(record, domain))
    return line


def box_words(box: Box, domain: Domain, cut: tuple[int, ...]) -> dict[str, Any]:
    """A partition's values of the attributes that are cut."""
    return {domain.attributes[index].name: _values(box, domain, index) for index in cut}


def _further(record: Record, domain: Domain) -> Iterator[tuple[str, Any]]:
    if record.witness is not None:
        yield "witness", _pair(record.witness, domain)
    if record.gap is not None:
        yield "disagreement", _pair(record.gap, domain)
    if record.reason is not None:
        yield "reason", record.reason.value
        yield "detail", record.detail
    if record.pruned is not None:
        yield "holds_without_units", _by_layer(record.pruned)
    if record.network is not None:
        network = record.network
        units = _by_layer(network.units)
        yield "pruned_network", {"file": network.path, "sha256": network.sha256, "removed_units": units}


def _by_layer(units: Units) -> dict[str, list[int]]:
    """Layers are counted from 1, as in what people read; the units are positions in the layer, from 0."""
    return {f"layer {layer + 1}": list(positions) for layer, positions in units.items()}


def _values(box: Box, domain: Domain, index: int) -> list[Any] | dict[str, list[Any]]:
    """First and last value of a run of numbers, all values of numbers with gaps; the names of categories."""
    values, attribute = box[index], domain.attributes[index]
    if isinstance(values, Finite) and isinstance(attribute.type, Category):
        return [attribute.show(Fraction(value)) for value in values.values]
    if isinstance(values, Finite) and not isinstance(values.values, range):
        return {"values": [_number(Fraction(value)) for value in values.values]}
    return [None if end is None else _number(end) for end in (values.low, values.high)]


def _number(value: Fraction) -> int | str:
    return value.numerator if value.denominator == 1 else str(value)


def _pair(witness: Witness, domain: Domain) -> Mapping[str, Any]:
    """Both individuals exactly: numbers as in the domain, categories by name."""
    return {"a": _shown(witness.a.point, domain), "b": _shown(witness.b.point, domain)}


def _shown(point: Point, domain: Domain) -> dict[str, Any]:
    return {
        attribute.name: attribute.show(value) if isinstance(attribute.type, Category) else _number(value)
        for attribute, value in zip(domain.attributes, point, strict=True)
    }
