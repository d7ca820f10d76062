"""The tables of one pass: a task with every contribution rounded to one side, and doubtful masses left out, or counted.

From below, what has no lower bound is refused and a mass counts as its least; from above, what has no upper bound is
accepted and a mass counts as its most.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import lcm, log2
from typing import Any

import numpy as np

from fairdsl.backends.rates.linear.table import Masses, Table
from fairdsl.backends.rates.linear.task import ONE, Chances, Clause, Span, State, Task
from fairdsl.numerics.elimination import mattering

_ZERO = Fraction(0)


class Side(Enum):
    """Which bound a pass computes."""

    LOW = "low"
    HIGH = "high"


class Arithmetic(Enum):
    """How masses are computed: in Python integers over a common denominator, or in float64 with an error bound."""

    EXACT = "exact"
    FLOAT = "float"

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of numpy's arrays."""
        return np.dtype(object) if self is Arithmetic.EXACT else np.dtype(np.float64)


@dataclass(slots=True)
class Rounded:
    """A task seen from one side, at a scale (None: scores are not looked at).

    ``bounded_below`` and ``bounded_above``: no contribution is without a bound on that end. ``smallest`` is the binary
    logarithm of the least product of masses, by which underflow is noticed.
    """

    task: Task
    side: Side
    arithmetic: Arithmetic
    scale: Fraction | None
    bounded_below: bool = True
    bounded_above: bool = True
    smallest: float = 0.0

    def constant(self) -> Table:
        """The table of the number 1."""
        return Table.of_probabilities((), np.array(1, dtype=self.arithmetic.dtype), 0, 1)

    def tables(self, kept: frozenset[int]) -> list[Table]:
        """The tables of all columns that matter: a law that sums to 1 and that nothing reads is left out."""
        readings = self._readings()
        clauses = self.task.clauses if self.scale is not None else ()
        read = {*kept, *readings, *(axis for clause in clauses for axis in clause.axes)}
        every = self.task.chances
        scopes = [(table.axes, table.column if table.complete else None) for table in every]
        chances = [every[place] for place in mattering(scopes, read)]
        users: dict[int, int] = {}
        for table in chances:
            for axis in table.axes:
                users[axis] = users.get(axis, 0) + 1
        for clause in clauses:
            for axis in clause.axes:
                users[axis] = users.get(axis, 0) + 1
        found: list[Table] = []
        for table in chances:
            own = table.axes[0] if len(table.axes) == 1 else None
            if own is not None and users[own] == 1 and own in readings and own not in kept:
                found.append(self._alone(table, readings.pop(own)))
            else:
                found.append(self._law(table))
        found += [self._reading((axis,), cells) for axis, cells in readings.items()]
        found += [self._clause(clause) for clause in clauses]
        covered = {axis for table in found for axis in table.axes}
        found += [self._set(axis) for axis in sorted(kept - covered)]
        return found

    def _set(self, axis: int) -> Table:
        """A column that is set from outside: each of its cells with mass 1."""
        return Table.of_probabilities((axis,), np.ones(self.task.sizes[axis], dtype=self.arithmetic.dtype), 0, 1)

    def _readings(self) -> dict[int, tuple[tuple[State, ...], ...]]:
        """All readings, or those that restrict the mass where the score is not looked at."""
        if self.scale is not None:
            return dict(self.task.readings)
        return {
            axis: cells
            for axis, cells in self.task.readings.items()
            if any(sum((self._share(state) for state in states), _ZERO) != 1 for states in cells)
        }

    def _share(self, state: State) -> Fraction:
        return state.least if self.side is Side.LOW else state.most

    def _score(self, state: State) -> int | None:
        """The rounded contribution; None where there is no bound."""
        if self.scale is None:
            return 0
        end = state.low if self.side is Side.LOW else state.high
        return None if end is None else self._rounded(end)

    def _rounded(self, value: Fraction) -> int:
        """The value on the scale, as a whole number on this side of it."""
        assert self.scale is not None, "only scores have a scale"
        numerator = value.numerator * self.scale.numerator
        denominator = value.denominator * self.scale.denominator
        return numerator // denominator if self.side is Side.LOW else -(-numerator // denominator)

    def _alone(self, table: Chances, cells: tuple[tuple[State, ...], ...]) -> Table:
        """A column that is connected to no other: a polynomial at once."""
        masses: dict[int | None, Fraction] = {}
        for chance, states in zip(self._entries(table), cells, strict=True):
            for state in states:
                score = self._score(state)
                mass = chance if (share := self._share(state)) is ONE else chance * share
                masses[score] = masses[score] + mass if score in masses else mass
        return self._polynomial((), (), [masses])

    def _reading(self, axes: tuple[int, ...], cells: tuple[tuple[State, ...], ...]) -> Table:
        rows = []
        for states in cells:
            masses: dict[int | None, Fraction] = {}
            for state in states:
                score = self._score(state)
                masses[score] = masses[score] + self._share(state) if score in masses else self._share(state)
            rows.append(masses)
        return self._polynomial(axes, (len(cells),), rows)

    def _clause(self, clause: Clause) -> Table:
        ends = clause.low if self.side is Side.LOW else clause.high
        return self._polynomial(clause.axes, clause.shape, [{self._rounded(end): ONE} for end in ends])

    def _polynomial(
        self, axes: tuple[int, ...], shape: tuple[int, ...], rows: list[dict[int | None, Fraction]]
    ) -> Table:
        """A row of masses by score for each cell. What has no bound is refused from below, and accepted from above."""
        scores = sorted({score for row in rows for score, mass in row.items() if score is not None})
        places = {score: place for place, score in enumerate(scores)}
        at, listed = list[int](), list[Fraction]()  # most of the masses are 0
        accepted: list[Fraction] | None = None
        for number, row in enumerate(rows):
            for score, mass in row.items():
                if score is not None:
                    at.append(number * len(scores) + places[score])
                    listed.append(mass)
                elif self.side is Side.LOW:
                    self.bounded_below = False
                else:
                    self.bounded_above = False
                    accepted = [_ZERO] * len(rows) if accepted is None else accepted
                    accepted[number] = mass
        numbers, denominator = self._numbers([*listed, *(accepted or ())])
        masses = np.zeros(len(rows) * len(scores), dtype=numbers.dtype)
        masses[at] = numbers[: len(at)]
        return Table(
            axes=axes,
            scores=np.array(scores, dtype=np.int64),
            masses=masses.reshape((*shape, len(scores))),
            settled=None if accepted is None else numbers[len(at) :].reshape(shape),
            own=Span(scores[0], scores[-1]) if scores else Span(0, 0),
            rounds=1,
            denominator=denominator,
        )

    def _law(self, table: Chances) -> Table:
        masses, denominator = self._numbers(self._entries(table))
        return Table.of_probabilities(table.axes, masses.reshape(table.shape), 1, denominator)

    def _entries(self, table: Chances) -> tuple[Fraction, ...]:
        return table.least if self.side is Side.LOW else table.most

    def _numbers(self, values: Iterable[Fraction]) -> tuple[Masses, int]:
        """The values as numerators over a common denominator, or as their nearest floats."""
        values = list(values)
        if self.arithmetic is Arithmetic.FLOAT:
            floats = np.array([float(value) for value in values], dtype=np.float64)
            least = min((value for value in values if value), default=ONE)
            self.smallest += log2(least.numerator) - log2(least.denominator)
            return floats, 1
        denominator = lcm(*(value.denominator for value in values)) if values else 1
        whole = np.empty(len(values), dtype=object)
        whole[:] = [value.numerator * (denominator // value.denominator) for value in values]
        return whole, denominator
