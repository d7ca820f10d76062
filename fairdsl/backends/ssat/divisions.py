"""Columns divided for a question: parts of cells that no predicate tells apart.

Of a column the law says how probable its cells are, and the question asks predicates about it. A *part* of a cell is
what remains of it when every predicate about the column alone is constant on a part; where somebody reads the number
itself (a weight, a comparison with another column), it is a single value. So a formula needs one truth a part:
predicates are read at one value of it.

Where a cell is known by its mass alone, its mass may lie anywhere in it. It is then a single part with several
*alternatives*, one for every way that its values are told apart; which of them is taken is nobody's chance
(docs/ssat.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd

from fairdsl.ir.expr import Predicate
from fairdsl.numerics.axes import Atom, Axis
from fairdsl.numerics.truth import truths_at

__all__ = ["Division", "NumbersError", "Part", "division_of"]


class NumbersError(Exception):
    """The numbers of a column are asked for, and there are too many of them, or no list of them at all."""

    def __init__(self, column: int) -> None:
        super().__init__(f"the numbers of column {column} cannot be listed")
        self.column = column


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a cell, ``weight`` over the division's denominator of its mass.

    By alternative, ascending: what tells it from others (``kinds``), a value of it, and whether that is its only one.
    """

    cell: int
    weight: int
    kinds: tuple[int, ...]
    values: tuple[Fraction, ...]
    single: tuple[bool, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Division:
    """The parts of a column; those of a cell weigh ``denominator`` together, less what a condition leaves out."""

    column: int
    parts: tuple[Part, ...]
    denominator: int

    @property
    def open(self) -> bool:
        """Whether some part has alternatives."""
        return any(len(part.kinds) > 1 for part in self.parts)

    def within(self, condition: Predicate) -> Division | None:
        """The parts in which a condition about the column holds; None where alternatives of one part differ in it.

        The condition has to be one of the predicates that the column was divided by.
        """
        truths = iter(truths_at(condition, self.column, [value for part in self.parts for value in part.values]))
        kept = []
        for part in self.parts:
            found = {bool(next(truths)) for _ in part.values}
            if len(found) > 1:
                return None
            if found == {True}:
                kept.append(part)
        return replace(self, parts=tuple(kept))


def division_of(column: int, axis: Axis, predicates: Sequence[Predicate], *, numbered: bool, most: int) -> Division:
    """Divide a column: ``predicates`` are those about it alone, ``numbered`` says if somebody reads its numbers.

    Raises NumbersError where there would be more than ``most`` parts and alternatives, or numbers have no list.
    """
    chosen: list[tuple[Fraction, ...]] = []
    for atom in axis.atoms:
        if numbered and atom.values is None:
            raise NumbersError(column)
        chosen.append(atom.values or () if numbered else atom.samples)
    if numbered and sum(map(len, chosen)) > most:
        raise NumbersError(column)
    values = [value for each in chosen for value in each]
    truths = [truths_at(predicate, column, values).tolist() for predicate in predicates]
    numbers: dict[object, int] = {}
    kinds = [
        numbers.setdefault((value if numbered else None, *told), len(numbers))
        for value, told in zip(values, zip(*truths, strict=True) if truths else [()] * len(values), strict=True)
    ]
    parts: dict[tuple[int, frozenset[int]], Part] = {}
    start = 0
    for atom, weight, own in zip(axis.atoms, axis.weights, chosen, strict=True):
        part = _part(atom, weight, own, kinds[start : start + len(own)])
        start += len(own)
        key = (part.cell, frozenset(part.kinds))
        parts[key] = part if key not in parts else _merged(parts[key], part)
    if sum(len(part.kinds) for part in parts.values()) > most:
        raise NumbersError(column)
    scale = gcd(axis.denominator, *(part.weight for part in parts.values()))
    return Division(
        column=column,
        parts=tuple(replace(part, weight=part.weight // scale) for part in parts.values()),
        denominator=axis.denominator // scale,
    )


def _part(atom: Atom, weight: int, values: Sequence[Fraction], kinds: Sequence[int]) -> Part:
    """An atom as a part: an alternative for each kind, with the least of its values."""
    least: dict[int, Fraction] = {}
    for value, kind in sorted(zip(values, kinds, strict=True)):
        least.setdefault(kind, value)
    listed = atom.values is not None and len(atom.values) == len(values)
    return Part(
        cell=atom.cell,
        weight=weight,
        kinds=tuple(least),
        values=tuple(least.values()),
        single=tuple(listed and kinds.count(kind) == 1 for kind in least),
    )


def _merged(part: Part, other: Part) -> Part:
    return replace(part, weight=part.weight + other.weight, single=(False,) * len(part.kinds))
