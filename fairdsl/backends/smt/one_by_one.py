"""Few units of a share, gone through one by one: every tuple over them is judged by the definition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from fairdsl.backends.contract import Refusal
from fairdsl.backends.units import units_of
from fairdsl.clock import Work, spend
from fairdsl.ir.problem import Problem
from fairdsl.numerics.grid import Grid
from fairdsl.numerics.narrow import Finite, ValueSet

__all__ = ["Counts", "OneByOne"]

#: What is counted where effort is given.
_TUPLES = Work("tuples compared", 0.05)


@dataclass(frozen=True, slots=True)
class Counts:
    """Units that are so for sure; ``undecided`` are those of which arithmetic leaves it open."""

    fair: int
    unfair: int
    undecided: int
    vacuous: int
    absent: int


class OneByOne:
    """The units of a question, small boxes of them at a time; ``own`` are the attributes that a unit is made of."""

    def __init__(self, problem: Problem, own: Sequence[int]) -> None:
        found = units_of(problem, drawn=False)
        self._units, self._own = None if isinstance(found, Refusal) else found, frozenset(own)

    def tuples(self, box: Sequence[ValueSet]) -> int | None:
        """How many there are over a box of units; None where they are not listed."""
        sets = self._sets(box)
        return None if sets is None or self._units is None else prod(s.count for s in sets) * self._units.tuples_each

    def counts(self, box: Sequence[ValueSet]) -> Counts:
        """The units of a box, whose tuples can be listed."""
        sets = self._sets(box)
        assert sets is not None and self._units is not None, "checked by whoever asks how many there are"  # noqa: PT018
        units = Grid(sets).points(np.arange(prod(values.count for values in sets)))
        spend(_TUPLES, len(units) * self._units.tuples_each)
        found = self._units.judge(units)
        return Counts(
            fair=int((found.in_question & ~found.unfair & ~found.doubtful).sum()),
            unfair=int(found.unfair.sum()),
            undecided=int(found.doubtful.sum()),
            vacuous=int(found.alone.sum()),
            absent=int((~found.present).sum()),
        )

    def _sets(self, box: Sequence[ValueSet]) -> list[Finite] | None:
        """The values of units, of what differs within one some value; None where they cannot be listed."""
        found = []
        for at, values in enumerate(box):
            if not isinstance(values, Finite) or not Grid.representable(values):
                return None
            found.append(values if at in self._own else Finite(values.values[:1]))
        return found
