"""Counterfactual groups: everybody who is like a given individual in all that a question holds equal."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.domain import Domain, Integer, Real
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.expr import Predicate, Who
from fairdsl.ir.question import Pair
from fairdsl.numerics.narrow import Finite, ValueSet
from fairdsl.numerics.predicates import mask
from fairdsl.repairing.subject import Rows

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Assignments of the differing attributes that a group has at most; of more, so many are drawn.
MOST = 64
#: Distances that are computed at once.
_CELLS = 2**22


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Individuals [n, attributes] and the number of the group that each of them is in."""

    values: ExactRows
    owners: Integers

    @property
    def count(self) -> int:
        """How many groups there are."""
        return int(self.owners.max()) + 1 if len(self.owners) else 0

    def and_also(self, more: Groups) -> Groups:
        """With more members of the same groups."""
        return Groups(ExactRows.joined([self.values, more.values]), np.concatenate([self.owners, more.owners]))

    def numbered(self) -> Groups:
        """Group after group, and none without members."""
        order = np.argsort(self.owners, kind="stable")
        _, owners = np.unique(self.owners[order], return_inverse=True)
        return Groups(self.values.at(order), owners.astype(np.int64))

    def labelled(self, outcomes: Integers) -> Rows:
        """The individuals as rows, with one outcome for each group."""
        return Rows(self.values, outcomes[self.owners])


@dataclass(frozen=True, slots=True)
class Protected:
    """Assignments of the differing attributes, [k, differing]: all (``complete``), or as many as a group has."""

    values: Floats
    complete: bool


def protected_values(pair: Pair, sets: tuple[ValueSet, ...], rng: np.random.Generator) -> Protected:
    """The assignments of the attributes in which people differ; with a real one there is no list of them."""
    listed = [sets[index] for index in pair.differ]
    columns = [[float(value) for value in values.values] for values in listed if isinstance(values, Finite)]
    if len(columns) < len(listed):
        return Protected(np.empty((0, len(listed))), complete=False)
    if prod(len(column) for column in columns) <= MOST:
        return Protected(np.array(list(product(*columns)), dtype=np.float64).reshape(-1, len(listed)), complete=True)
    drawn = [np.array(column)[rng.integers(0, len(column), MOST)] for column in columns]
    return Protected(np.unique(np.column_stack(drawn), axis=0), complete=False)


def others(values: ExactRows, pair: Pair, protected: Floats, wanted: Predicate) -> Groups:
    """For each individual all whom ``wanted`` admits with these protected values; itself too, if it has one of them."""
    count, size = len(values), len(protected)
    owners = np.repeat(np.arange(count, dtype=np.int64), size)
    people = values.at(owners).replaced(pair.differ, np.tile(protected, (count, 1)))
    kept = mask(wanted, {Who.EACH: people})
    return Groups(people.at(kept), owners[kept])


def nearest_outcomes(domain: Domain, pair: Pair, values: ExactRows, rows: Rows) -> Integers:
    """The outcome of the row nearest to each individual, [n], without a look at what differs.

    The distance of numbers is a part of their range in the rows, of names 0 or 1; distances add up. Of rows equally
    near the first one counts.
    """
    shared = [index for index in range(len(domain.attributes)) if index not in pair.differ]
    found = np.zeros(len(values), dtype=np.int64)
    step = max(1, _CELLS // max(1, len(rows)))
    for start in range(0, len(values), step):
        part = values.floats[start : start + step]
        distance = np.zeros((len(part), len(rows)))
        for index in shared:
            gaps = np.abs(part[:, index, None] - rows.values.floats[None, :, index])
            if isinstance(domain.attributes[index].type, Integer | Real):
                length = float(np.ptp(rows.values.floats[:, index]))
                distance += gaps / length if length > 0 else gaps > 0
            else:
                distance += gaps > 0
        found[start : start + step] = rows.outcomes[np.argmin(distance, axis=1)]
    return found
