"""A task: all that the elimination needs, in exact numbers, without the language's notions.

Every column that is still there is an axis with a number of cells. What the law says of an individual within a cell
is a list of :class:`State`: shares of the cell's mass with what they contribute to the score.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

__all__ = ["ONE", "Chances", "Clause", "Remainder", "State", "Task"]

ONE = Fraction(1)
#: Lower and upper bound.
Ends = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class State:
    """Part of a cell: it contributes ``low`` to ``high`` (None: without bound) to the score.

    Of the cell's mass between ``least`` and ``most`` is in it and meets the conditions on its column.
    """

    low: Fraction | None
    high: Fraction | None
    least: Fraction
    most: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Chances:
    """Probabilities of the cells of ``axes`` (row-major, of ``shape``), each from its entry in ``least`` to ``most``.

    A conditional law of ``column`` given the other axes; None for a condition, whose entries are 0 and 1. ``complete``:
    the law of the column sums to 1 for every combination of the others, so that summing it out leaves nothing.
    """

    axes: tuple[int, ...]
    shape: tuple[int, ...]
    least: tuple[Fraction, ...]
    most: tuple[Fraction, ...]
    column: int | None = None
    complete: bool = False

    @property
    def exact(self) -> bool:
        """Whether the probabilities are known."""
        return self.least is self.most


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """What indicators of several columns contribute to the score, cell by cell (row-major): from low to high."""

    axes: tuple[int, ...]
    shape: tuple[int, ...]
    low: tuple[Fraction, ...]
    high: tuple[Fraction, ...]


class Remainder(Protocol):
    """Columns that are left out of all tables: their part of the score has a law in closed form, given some cells."""

    @property
    def axes(self) -> tuple[int, ...]:
        """The axes that the law depends on."""

    @property
    def conditioned(self) -> bool:
        """Whether its mass may be less than all: a condition is about a column, or the law has gaps."""

    def tail(self, cells: tuple[int, ...], needed: Fraction, strict: bool) -> Ends:
        """Pr[conditions, contribution >= needed (strict: >) | cells]."""

    def total(self, cells: tuple[int, ...]) -> Ends:
        """Pr[conditions | cells]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """``sizes`` of all axes, ``chances`` whose product is the law, and what adds to the score.

    ``readings``: for an axis the states of each of its cells; an axis without adds nothing and is not conditioned.
    ``keys``: axes that results are listed by, with the key of every cell (several cells may have one). ``divided``:
    ranges were cut into parts, so that finer parts tell more; ``notes`` say what is an enclosure for another reason.
    """

    sizes: Mapping[int, int]
    chances: tuple[Chances, ...]
    readings: Mapping[int, tuple[tuple[State, ...], ...]]
    clauses: tuple[Clause, ...]
    keys: Mapping[int, tuple[Fraction, ...]]
    constant: Fraction
    remainder: Remainder | None = None
    divided: bool = False
    notes: tuple[str, ...] = ()
