"""Roots: the boxes that are refined, each with its comparison, and the units that need no refinement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals.comparisons import Comparisons
from fairdsl.backends.intervals.partition import FALSE, MIXED, TRUE, Boxes
from fairdsl.backends.intervals.roles import Roles
from fairdsl.ir.question import Differ
from fairdsl.numerics.assignments import Assignments, components

Integers = NDArray[np.int64]
States = NDArray[np.int8]
BoolArray = NDArray[np.bool_]
Box = tuple[Integers, Integers]

#: Numbers in the comparisons' groups at most; what would need more stays undetermined.
_MOST_ENTRIES = 2**24


def _complete(roles: Roles) -> bool:
    """Whether all assignments that are admitted with one and the same rest are compared with each other."""
    return roles.pair.mode is Differ.ANY and roles.pair.symmetric and not roles.roaming


def at_home(roles: Roles) -> bool:
    """Whether a unit is compared with nobody beyond its comparison's path.

    Relaxed attributes have partners elsewhere, where other assignments may be admitted.
    """
    if roles.shifts or roles.roaming:
        return False
    return not roles.pair.relax or (_complete(roles) and roles.uniform)


def covered(roles: Roles) -> bool:
    """Whether a comparison's groups are all that a unit is compared with."""
    return at_home(roles) and not roles.sparse


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Which states of a box say of each assignment whether it is admitted, and may be a unit's own; of each pair too.

    There are no states of pairs where nothing is asked of them, and no own ones where everybody admitted is counted.
    """

    each: Integers
    pairs: Integers
    own: Integers


class Roots:
    """Sorts the boxes of a partition.

    Units are assignments of the shared attributes, or individuals: these are counted assignment by
    assignment (``by_assignment``), unless all assignments are admitted and alike everywhere.
    """

    def __init__(self, roles: Roles, assignments: Assignments, comparisons: Comparisons) -> None:
        self._roles, self._assignments, self._comparisons = roles, assignments, comparisons
        self._at_once = roles.uniform and roles.pair.mode is Differ.ANY
        self.by_assignment = roles.individuals and not self._at_once
        self.low: list[Integers] = []
        self.high: list[Integers] = []
        self.comparison: list[int] = []
        self.component: list[int] = []
        self.decided = self.vacuous = self.alike = self.undetermined = 0
        #: Of those that are decided or alike, how many are not known to have a partner.
        self.unsure = 0

    def sort(self, boxes: Boxes, places: Places) -> None:
        """All boxes, by what their states say."""
        patterns, which = np.unique(boxes.states, axis=0, return_inverse=True)
        which = which.reshape(-1)
        sizes = [prod(box) for box in (boxes.high - boxes.low + 1).tolist()]
        for number, states in enumerate(patterns):
            rows = np.flatnonzero(which == number).tolist()
            size = sum(sizes[row] for row in rows)
            admitted = states[places.each]
            counted = np.minimum(admitted, states[places.own]) if len(places.own) else admitted
            if (states == MIXED).any() or self._comparisons.entries > _MOST_ENTRIES:
                possible = int(((admitted != FALSE) & (counted != FALSE)).sum())
                self.undetermined += size * (possible if self.by_assignment else min(possible, 1))
                continue
            members = np.asarray(admitted == TRUE, dtype=np.bool_)
            if not members.any():
                continue
            here = [(boxes.low[row], boxes.high[row]) for row in rows]
            own = np.asarray(counted == TRUE, dtype=np.bool_)
            if self.by_assignment and not self._roles.pair.relax:
                self._stars(here, size, members, own)
            elif self.by_assignment:
                self._individuals(here, size, members, own, states[places.pairs])
            else:
                self._units(here, size, members, states[places.pairs])

    def _units(self, boxes: list[Box], size: int, members: BoolArray, pairs: States) -> None:
        """A root for each connected component of the assignments that are compared."""
        joined = self._joined(members, pairs)
        if not joined:
            self.vacuous += size
            return
        # An individual of a relaxed question is only surely unfair by what surely is its partner.
        whole = not self._roles.individuals or _complete(self._roles)
        found = [self._comparisons.add(component, component if whole else component[:1]) for component in joined]
        comparisons = [comparison for comparison in found if comparison is not None]
        if not comparisons:
            self.vacuous += size
            self.alike += size
            return
        self.decided += size
        for number, comparison in enumerate(comparisons):
            for low, high in boxes:
                self._add(low, high, comparison, number)

    def _joined(self, members: BoolArray, pairs: States) -> list[Integers]:
        if self._at_once:
            several = any(self._roles.sets[index].count != 1 for index in self._roles.pair.differ)
            return [np.arange(len(members))] if several else []
        compared = self._assignments.pairs
        return components(members, compared if self._roles.symmetric else compared[pairs == TRUE])

    def _individuals(self, boxes: list[Box], size: int, members: BoolArray, own: BoolArray, pairs: States) -> None:
        """A root for each run of assignments; their partners may be admitted elsewhere only."""
        compared = self._assignments.pairs if not len(pairs) else self._assignments.pairs[pairs == TRUE]
        here = np.zeros(len(members), dtype=np.bool_)
        here[compared[members[compared].all(axis=1)]] = True
        alone = own.copy()
        for joined in components(np.ones(len(members), dtype=np.bool_), self._assignments.pairs):
            alone[joined] = False
            present = joined[own[joined]]
            if len(present):
                self._runs(boxes, size, joined, present)
                self.unsure += size * int((~here[present]).sum())
        self.vacuous += size * int(alone.sum())

    def _stars(self, boxes: list[Box], size: int, members: BoolArray, own: BoolArray) -> None:
        """A root for each individual whom a one-sided target names, with all whom it is compared with.

        Where two of those are decided differently, one of the two is decided differently from the individual.
        """
        edges = self._assignments.pairs[members[self._assignments.pairs].all(axis=1)]
        for one in np.flatnonzero(own).tolist():
            star = np.unique(edges[(edges == one).any(axis=1)])
            comparison = self._comparisons.add(star, star) if len(star) else None
            if comparison is None:
                self.vacuous += size
                self.alike += size if len(star) else 0
                continue
            self.decided += size
            for low, high in boxes:
                self._add(np.append(low, one), np.append(high, one), comparison, 0)

    def _runs(self, boxes: list[Box], size: int, joined: Integers, present: Integers) -> None:
        comparison = self._comparisons.add(joined, present if _complete(self._roles) else present[:1])
        count = size * len(present)
        if comparison is None:
            self.vacuous += count
            self.alike += count
            return
        self.decided += count
        breaks = np.flatnonzero(np.diff(present) != 1)
        starts, stops = np.append(0, breaks + 1), np.append(breaks, len(present) - 1)
        for low, high in boxes:
            for start, stop in zip(present[starts], present[stops], strict=True):
                self._add(np.append(low, start), np.append(high, stop), comparison, 0)

    def _add(self, low: Integers, high: Integers, comparison: int, component: int) -> None:
        self.low.append(low)
        self.high.append(high)
        self.comparison.append(comparison)
        self.component.append(component)


def as_rows(rows: Sequence[Integers], width: int) -> Integers:
    """The rows as one array; a task without attributes has one of a single position in their place."""
    out = np.zeros((len(rows), width), dtype=np.int64)
    for position, row in enumerate(rows):
        out[position, : len(row)] = row
    return out
