"""What became of one partition, and the words for it."""

from __future__ import annotations

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

__all__ = ["Record", "box_words", "point_words"]


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
