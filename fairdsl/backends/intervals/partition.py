"""Boxes on which predicates are constant: best-first splitting by three-valued evaluation.

A predicate is false, mixed or true on a box (0, 1, 2): atoms by ``atom_tests``, connectives by their minimum and
maximum (Kleene). Boxes on which something is mixed are split, the largest first, where a constraint changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals.atom_tests import FALSE, MIXED, TRUE, States, atom_test
from fairdsl.backends.intervals.axes import Axis
from fairdsl.ir.expr import And, Compare, Member, Not, Or, Predicate, atoms
from fairdsl.numerics.demand import kleene
from fairdsl.numerics.narrow import without_not

__all__ = ["FALSE", "MIXED", "TRUE", "Boxes", "partition"]

Integers = NDArray[np.int64]

#: Boxes that are split at once.
_BATCH = 1024


@dataclass(frozen=True, slots=True)
class Boxes:
    """Disjoint boxes of positions (ends included, [boxes, axes]) and each predicate's state [boxes, predicates]."""

    low: Integers
    high: Integers
    states: States


def partition(predicates: Sequence[Predicate], axes: Sequence[Axis], most: int) -> Boxes:
    """Cover the product of the axes; nothing stays mixed unless ``most`` boxes do not suffice, or on reals."""
    judge = _Judge(predicates, axes)
    low = np.zeros((1, len(axes)), dtype=np.int64)
    high = np.array([[axis.size - 1 for axis in axes]], dtype=np.int64).reshape(1, len(axes))
    waiting = Boxes(low, high, judge.states(low, high))
    done: list[Boxes] = []
    count = 0
    while True:
        mixed = (waiting.states == MIXED).any(axis=1)
        done.append(_chosen(waiting, ~mixed))
        count += len(mixed) - int(mixed.sum())
        waiting = _chosen(waiting, mixed)
        room = most - count - len(waiting.low)
        if not len(waiting.low) or room <= 0:
            return _joined([*done, waiting])
        order = np.argsort(-_sizes(waiting), kind="stable")
        now, later = _chosen(waiting, order[: min(_BATCH, room)]), _chosen(waiting, order[min(_BATCH, room) :])
        axis, cut = judge.cuts(now)
        done.append(_chosen(now, axis < 0))
        count += int((axis < 0).sum())
        waiting = _joined([later, judge.halves(_chosen(now, axis >= 0), axis[axis >= 0], cut[axis >= 0])])


def _sizes(boxes: Boxes) -> NDArray[np.float64]:
    sizes: NDArray[np.float64] = np.prod((boxes.high - boxes.low + 1).astype(np.float64), axis=1)
    return sizes


def _chosen(boxes: Boxes, which: NDArray[Any]) -> Boxes:
    return Boxes(boxes.low[which], boxes.high[which], boxes.states[which])


def _joined(parts: Sequence[Boxes]) -> Boxes:
    return Boxes(
        np.concatenate([part.low for part in parts]),
        np.concatenate([part.high for part in parts]),
        np.concatenate([part.states for part in parts]),
    )


class _Judge:
    """Three-valued evaluation of the predicates' atoms, each distinct atom once."""

    def __init__(self, predicates: Sequence[Predicate], axes: Sequence[Axis]) -> None:
        self._predicates = [without_not(predicate) for predicate in predicates]
        self._atoms: dict[Predicate, int] = {}
        for predicate in self._predicates:
            for atom in atoms(predicate):
                self._atoms.setdefault(atom, len(self._atoms))
        place = {axis.attribute: position for position, axis in enumerate(axes)}
        self._tests = [atom_test(atom, axes, place) for atom in self._atoms]
        self._axes = len(axes)

    def states(self, low: Integers, high: Integers) -> States:
        """[boxes, predicates]."""
        atoms = self._atom_states(low, high)
        out = np.empty((len(low), len(self._predicates)), dtype=np.int8)
        for position, predicate in enumerate(self._predicates):
            out[:, position] = self._state(predicate, atoms)
        return out

    def halves(self, boxes: Boxes, axis: Integers, cut: Integers) -> Boxes:
        """Each box below (up to ``cut``) and above its cut."""
        rows = np.arange(len(axis))
        below, above = boxes.high.copy(), boxes.low.copy()
        below[rows, axis] = cut
        above[rows, axis] = cut + 1
        low, high = np.concatenate([boxes.low, above]), np.concatenate([below, boxes.high])
        return Boxes(low, high, self.states(low, high))

    def cuts(self, boxes: Boxes) -> tuple[Integers, Integers]:
        """For each box the axis to split (-1: none helps) and the last position below the cut."""
        low, high = boxes.low, boxes.high
        atoms = self._atom_states(low, high)
        wanted = np.zeros(atoms.shape, dtype=np.bool_)
        for position, predicate in enumerate(self._predicates):
            self._mark(predicate, atoms, boxes.states[:, position] == MIXED, wanted)
        influence = np.zeros((len(low), self._axes))
        for position, test in enumerate(self._tests):
            if wanted[:, position].any():
                influence += np.where(wanted[:, position, None], test.influence(low, high), 0.0)
        influence[low >= high] = 0.0
        axis = np.argmax(influence, axis=1).astype(np.int64) if self._axes else np.zeros(len(low), dtype=np.int64)
        axis[~(influence > 0).any(axis=1)] = -1
        cut = np.zeros(len(low), dtype=np.int64)
        for row in np.flatnonzero(axis >= 0).tolist():
            cut[row] = self._cut(low[row], high[row], int(axis[row]), np.flatnonzero(wanted[row]).tolist())
        return axis, cut

    def _cut(self, low: Integers, high: Integers, axis: int, wanted: list[int]) -> int:
        """Where an atom that varies along this axis alone changes; the middle where none does."""
        for position in wanted:
            test = self._tests[position]
            if test.influence(low[None], high[None])[0, axis] < 1.0:
                continue
            first, last = int(low[axis]), int(high[axis])
            # The longest prefix on which the atom is constant: prefixes of constant ones are constant.
            while first < last:
                middle = (first + last + 1) // 2
                shorter = high.copy()
                shorter[axis] = middle
                if test.states(low[None], shorter[None])[0] == MIXED:
                    last = middle - 1
                else:
                    first = middle
            if first < high[axis]:
                return first
        return int(low[axis] + high[axis]) // 2

    def _atom_states(self, low: Integers, high: Integers) -> States:
        out = np.empty((len(low), len(self._tests)), dtype=np.int8)
        for position, test in enumerate(self._tests):
            out[:, position] = test.states(low, high)
        return out

    def _state(self, predicate: Predicate, known: States) -> States:
        return kleene(predicate, lambda atom: known[:, self._atoms[atom]] - MIXED, len(known)) + MIXED

    def _mark(self, predicate: Predicate, atoms: States, where: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> None:
        """Which atoms keep the predicate mixed."""
        match predicate:
            case Compare() | Member():
                position = self._atoms[predicate]
                wanted[:, position] |= where & (atoms[:, position] == MIXED)
            case And(parts) | Or(parts):
                for part in parts:
                    self._mark(part, atoms, where & (self._state(part, atoms) == MIXED), wanted)
            case Not(part):
                self._mark(part, atoms, where, wanted)
