"""The assignments of the differing attributes: which there are, which are compared, and which go together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.expr import Predicate, Variable, Who
from fairdsl.ir.question import Differ
from fairdsl.numerics.narrow import ValueSet
from fairdsl.numerics.restrict import Fixing, disjunction, restrict, settle

Integers = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False)
class Assignments:
    """All assignments of the attributes ``differ``: the product of ``values``, one tuple of them an attribute."""

    differ: tuple[int, ...]
    values: tuple[tuple[int | Fraction, ...], ...]
    mode: Differ

    @cached_property
    def positions(self) -> Integers:
        """[assignments, attributes]: the position of each value."""
        ranges = [range(len(values)) for values in self.values]
        return np.array(list(product(*ranges)), dtype=np.int64).reshape(-1, len(self.values))

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.positions)

    def values_of(self, assignment: int) -> dict[int, Fraction]:
        """The values by attribute."""
        row = self.positions[assignment].tolist()
        return {
            attribute: Fraction(values[position])
            for attribute, values, position in zip(self.differ, self.values, row, strict=True)
        }

    @cached_property
    def pairs(self) -> Integers:
        """[pairs, 2]: which two are comparable, each pair once."""
        apart = self.positions[:, None, :] != self.positions[None, :, :]
        comparable = apart.all(axis=2) if self.mode is Differ.EACH else apart.any(axis=2)
        return np.argwhere(np.triu(comparable)).astype(np.int64)

    def admitted(self, predicate: Predicate, sets: Sequence[ValueSet]) -> list[Predicate]:
        """For each assignment what a predicate over ``Who.EACH`` asks of the other attributes."""
        found = []
        for assignment in range(self.count):
            values = self._known(sets) | self.values_of(assignment)
            found.append(settle(restrict(predicate, _fixing(values, values)), sets))
        return found

    def compared(self, predicate: Predicate, sets: Sequence[ValueSet]) -> list[Predicate]:
        """For each pair what a predicate over ``Who.A`` and ``Who.B`` asks of the others, in either order."""
        single = self._known(sets)
        values = [single | self.values_of(assignment) for assignment in range(self.count)]
        found = []
        for first, second in self.pairs.tolist():
            orders = ((first, second), (second, first))
            found.append(
                disjunction([settle(restrict(predicate, _fixing(values[a], values[b])), sets) for a, b in orders])
            )
        return found

    def _known(self, sets: Sequence[ValueSet]) -> dict[int, Fraction]:
        return {
            index: values.low
            for index, values in enumerate(sets)
            if values.count == 1 and values.low is not None and index not in self.differ
        }


def _fixing(a: dict[int, Fraction], b: dict[int, Fraction]) -> Fixing:
    """The values of two individuals; for predicates about each of them the two are one."""

    def value(variable: Variable) -> Fraction | None:
        return (b if variable.who is Who.B else a).get(variable.attribute)

    return value


def components(present: BoolArray, pairs: Integers) -> list[Integers]:
    """The connected components of two and more among those present; ``pairs`` [.., 2] are all compared pairs."""
    edges = pairs[present[pairs[:, 0]] & present[pairs[:, 1]]]
    label = np.arange(len(present), dtype=np.int64)
    while True:
        # Everybody takes the least label next to it, then the label of its label: few rounds suffice.
        least = label.copy()
        np.minimum.at(least, edges[:, 0], label[edges[:, 1]])
        np.minimum.at(least, edges[:, 1], label[edges[:, 0]])
        least = np.minimum(least, least[least])
        if np.array_equal(least, label):
            break
        label = least
    joined = np.unique(edges)
    return [joined[label[joined] == one] for one in np.unique(label[joined]).tolist()]
