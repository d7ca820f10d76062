"""Boxes on which predicates are constant: best-first splitting by three-valued evaluation.

A predicate is false, mixed or true on a box (0, 1, 2): linear forms by interval arithmetic in integers,
sets by counting, connectives by their minimum and maximum (Kleene). Boxes on which something is mixed are
split, the largest first, where a constraint changes. Boundaries of reals have no volume: a strict bound
that only a box's face touches counts as kept on the whole box.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals.axes import Axis, Numerators
from fairdsl.ir.expr import And, Compare, Linear, Member, Not, Or, Predicate, Relation, Variable
from fairdsl.numerics.narrow import without_not

__all__ = ["FALSE", "MIXED", "TRUE", "Boxes", "partition"]

FALSE, MIXED, TRUE = 0, 1, 2

Integers = NDArray[np.int64]
States = NDArray[np.int8]

#: Boxes that are split at once.
_BATCH = 1024
_FITS = 2**62


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
            self._collect(predicate)
        place = {axis.attribute: position for position, axis in enumerate(axes)}
        self._tests = [_test(atom, axes, place) for atom in self._atoms]
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

    def _collect(self, predicate: Predicate) -> None:
        match predicate:
            case Compare() | Member():
                self._atoms.setdefault(predicate, len(self._atoms))
            case And(parts) | Or(parts):
                for part in parts:
                    self._collect(part)
            case Not(part):
                self._collect(part)

    def _atom_states(self, low: Integers, high: Integers) -> States:
        out = np.empty((len(low), len(self._tests)), dtype=np.int8)
        for position, test in enumerate(self._tests):
            out[:, position] = test.states(low, high)
        return out

    def _state(self, predicate: Predicate, atoms: States) -> States:
        match predicate:
            case Compare() | Member():
                return atoms[:, self._atoms[predicate]]
            case And(parts):
                every = np.full(len(atoms), TRUE, dtype=np.int8)
                for part in parts:
                    every = np.minimum(every, self._state(part, atoms))
                return every
            case Or(parts):
                some = np.full(len(atoms), FALSE, dtype=np.int8)
                for part in parts:
                    some = np.maximum(some, self._state(part, atoms))
                return some
            case Not(part):
                return np.asarray(TRUE - self._state(part, atoms), dtype=np.int8)

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


class _LinearTest:
    """``form RELATION 0`` on boxes, in integers over one denominator."""

    def __init__(self, left: Linear, relation: Relation, axes: Sequence[Axis], place: dict[int | None, int]) -> None:
        self._relation = relation
        terms = [(place[variable.attribute], coefficient) for variable, coefficient in left.terms]
        values = lcm(*(axes[axis].denominator for axis, _ in terms))
        factors = lcm(left.constant.denominator, *(coefficient.denominator for _, coefficient in terms))
        self._constant = int(left.constant * factors) * values
        self._terms: list[tuple[int, int, Numerators]] = [
            (axis, int(coefficient * factors), axes[axis].numerators(values)) for axis, coefficient in terms
        ]
        reach = abs(self._constant)
        for axis, factor, numerators in self._terms:
            reach += abs(factor) * numerators.reach(axes[axis].size)
        self._kind: type = np.int64 if reach < _FITS else object
        self._real = any(axes[axis].real for axis, _, _ in self._terms)
        self._axes = len(axes)

    def states(self, low: Integers, high: Integers) -> States:
        least: NDArray[Any] = np.full(len(low), self._constant, dtype=self._kind)
        most = least.copy()
        for axis, factor, numerators in self._terms:
            first, last = numerators.ends(low[:, axis], high[:, axis], self._kind)
            least = least + factor * (first if factor > 0 else last)
            most = most + factor * (last if factor > 0 else first)
        always, never = _settled(self._relation, least, most, self._real)
        return np.where(always, TRUE, np.where(never, FALSE, MIXED)).astype(np.int8)

    def influence(self, low: Integers, high: Integers) -> NDArray[np.float64]:
        """[boxes, axes]: each axis's part of the form's range."""
        out = np.zeros((len(low), self._axes))
        for axis, factor, numerators in self._terms:
            first, last = numerators.ends(low[:, axis], high[:, axis], object)
            width = (last - first).astype(np.float64)
            out[:, axis] = np.where(low[:, axis] < high[:, axis], abs(float(factor)) * width, 0.0)
        total = out.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(out, total, out=np.zeros_like(out), where=total > 0), dtype=np.float64)


def _settled(
    relation: Relation, least: NDArray[Any], most: NDArray[Any], real: bool
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Where ``form RELATION 0`` always and where it never holds, given the form's range.

    On reals a strict bound that is only touched holds almost everywhere: it is called kept. ``never`` is
    always exact, so nobody is left out.
    """
    match relation:
        case Relation.LT:
            return (most <= 0) & (least < 0) if real else most < 0, least >= 0
        case Relation.LE:
            return most <= 0, least > 0
        case Relation.GT:
            return (least >= 0) & (most > 0) if real else least > 0, most <= 0
        case Relation.GE:
            return least >= 0, most < 0
        case Relation.EQ:
            return (least == 0) & (most == 0), (least > 0) | (most < 0)
        case Relation.NE:
            always = (least > 0) | (most < 0)
            if real:
                always |= (least < most) & ((least == 0) | (most == 0))
            return always, (least == 0) & (most == 0)


class _MemberTest:
    """Whether an axis's values lie in a set, given the positions of those that do."""

    def __init__(self, axis: int, inside: Integers, axes: int) -> None:
        self._axis, self._inside, self._axes = axis, inside, axes

    def states(self, low: Integers, high: Integers) -> States:
        first, last = low[:, self._axis], high[:, self._axis]
        found = np.searchsorted(self._inside, last, side="right") - np.searchsorted(self._inside, first)
        return np.where(found == last - first + 1, TRUE, np.where(found == 0, FALSE, MIXED)).astype(np.int8)

    def influence(self, low: Integers, high: Integers) -> NDArray[np.float64]:
        out = np.zeros((len(low), self._axes))
        out[:, self._axis] = 1.0
        return out


class _RealMemberTest:
    """Whether a real attribute takes one of finitely many values: never on a whole cell."""

    def __init__(self, axis: int, values: frozenset[Fraction], axes: Sequence[Axis]) -> None:
        equal = Relation.EQ
        self._axis, self._axes = axis, len(axes)
        place: dict[int | None, int] = {axes[axis].attribute: axis}
        attribute = axes[axis].attribute
        assert attribute is not None, "a real axis is an attribute"
        self._tests = [_LinearTest(_offset(attribute, value), equal, axes, place) for value in values]

    def states(self, low: Integers, high: Integers) -> States:
        found = np.zeros(len(low), dtype=np.int8)
        for test in self._tests:
            found = np.maximum(found, test.states(low, high))
        return found

    def influence(self, low: Integers, high: Integers) -> NDArray[np.float64]:
        out = np.zeros((len(low), self._axes))
        out[:, self._axis] = 1.0
        return out


def _offset(attribute: int, value: Fraction) -> Linear:
    return Linear.of({Variable(attribute): Fraction(1)}, -value)


def _test(
    atom: Predicate, axes: Sequence[Axis], place: dict[int | None, int]
) -> _LinearTest | _MemberTest | _RealMemberTest:
    match atom:
        case Compare(left=left, relation=relation):
            return _LinearTest(left, relation, axes, place)
        case Member(variable=variable, values=values):
            position = place[variable.attribute]
            axis = axes[position]
            if axis.real:
                return _RealMemberTest(position, values, axes)
            return _MemberTest(position, axis.among(values), len(axes))
        case _:
            raise TypeError("connectives are no atoms")
