"""Columns in order encoding.

The values of a column are cut into *places*, ascending; each speaks for a part of a cell on which every predicate is
constant. Literal ``below[k]`` is true iff the value is among the places 0 .. k. Since ``below[k]`` implies
``below[k + 1]``, exactly one place is taken in every assignment, and ``x <= 3`` and ``x > 5`` exclude each other
without a clause. The places from ``first`` to ``last`` are taken iff ``below[last]`` and not ``below[first - 1]``.

Theorem: :func:`among` is true iff the value is in one of the places. It is the disjunction of the runs of neighbours
among them, or the negated disjunction of the runs between; both say the same, since every value has exactly one place.

Sets of places are whole numbers, bit k for place k.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from fairdsl.backends.ssat.gates import FALSE, TRUE, Gates, Literal

__all__ = ["Column", "NotSingleError", "in_places", "runs"]


class NotSingleError(Exception):
    """Numbers of a column are asked for where a place is more than one number."""

    def __init__(self, column: int) -> None:
        super().__init__(f"column {column} has places of several values")
        self.column = column


@dataclass(frozen=True, slots=True)
class Column:
    """The places of a column: a ``value`` of each, whether it is the place's ``single`` one, and the order literals.

    ``values`` ascend and are distinct; ``below`` has one literal less. Whoever makes the literals answers for
    ``below[k]`` implying ``below[k + 1]`` in every assignment.
    """

    values: tuple[Fraction, ...]
    single: tuple[bool, ...]
    below: tuple[Literal, ...]

    def __post_init__(self) -> None:
        if not self.values or len(self.single) != len(self.values) or len(self.below) != len(self.values) - 1:
            raise ValueError("a column has a flag for each place, and an order literal for each but the last")
        if any(left >= right for left, right in zip(self.values, self.values[1:], strict=False)):
            raise ValueError("the places of a column ascend")

    @property
    def everywhere(self) -> int:
        """The set of all places."""
        return (1 << len(self.values)) - 1


def in_places(gates: Gates, below: Sequence[Literal], wanted: int) -> Literal:
    """The literal that is true iff the value is in one of the places, given the order literals of the column."""
    inside = list(runs(wanted))
    outside = list(runs(wanted ^ ((1 << (len(below) + 1)) - 1)))
    here, there = _cost(inside, len(below)), _cost(outside, len(below))
    # Of two that cost the same the one with the first place, so that a set and its complement share a variable.
    if there < here or (there == here and not wanted & 1):
        return -_union(gates, below, outside)
    return _union(gates, below, inside)


def runs(places: int) -> Iterator[tuple[int, int]]:
    """The runs of neighbours in a set of places: the first and the last place of each, ascending."""
    start = 0
    while places:
        gap = (places & -places).bit_length() - 1
        places >>= gap
        length = (~places & (places + 1)).bit_length() - 1
        yield start + gap, start + gap + length - 1
        places >>= length
        start += gap + length


def _cost(parts: Sequence[tuple[int, int]], last: int) -> tuple[int, int]:
    """Gates that a union of runs takes; a run at an end of the column takes none."""
    return sum(first > 0 and end < last for first, end in parts) + (len(parts) > 1), len(parts)


def _union(gates: Gates, below: Sequence[Literal], parts: Sequence[tuple[int, int]]) -> Literal:
    return gates.disjunction(
        gates.conjunction(
            (below[last] if last < len(below) else TRUE, -(below[first - 1] if first else FALSE)),
        )
        for first, last in parts
    )
