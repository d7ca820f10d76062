"""Conditions on one individual or two, in three values over boxes of parts: true, false, and open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.leaf_boxes.cuts import Cut, test_of
from fairdsl.backends.leaf_boxes.graph import Passing
from fairdsl.ir.expr import Compare, Member, Predicate, Variable, Who, atoms, fold
from fairdsl.numerics.demand import FALSE, TRUE, Between, step_of, truths
from fairdsl.numerics.rounding import float_above, float_below

Integers = NDArray[np.int64]
Truths = NDArray[np.int8]
Floats = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class People:
    """Boxes of somebody, [n, axes] each, and whose assignments they have, [n or 1, m or 1]."""

    low: Integers
    high: Integers
    assignment: Integers


class Conditions:
    """What is known of atoms over boxes; ``axes`` are attributes that are shared, in the order of the boxes."""

    def __init__(
        self, cuts: Sequence[Cut], axes: Sequence[int], differ: Sequence[int], assignments: Sequence[tuple[int, ...]]
    ) -> None:
        self._cuts = cuts
        self._axis_of = {attribute: axis for axis, attribute in enumerate(axes)}
        parts = np.array(assignments, dtype=np.int64).reshape(len(assignments), len(differ))
        self._part_of = {attribute: parts[:, place] for place, attribute in enumerate(differ)}
        self._ends: dict[int, tuple[Floats, Floats]] = {}

    def truths(self, predicate: Predicate, people: Mapping[Who, People]) -> Truths:
        """What is known of a predicate about these people, [n, m]."""
        sides = list(people.values())
        shape = np.broadcast_shapes((len(sides[0].low), 1), *(side.assignment.shape for side in sides))

        def all_of(parts: list[Truths]) -> Truths:
            return reduce(np.minimum, parts, np.full(shape, TRUE, dtype=np.int8))

        def some_of(parts: list[Truths]) -> Truths:
            return reduce(np.maximum, parts, np.full(shape, FALSE, dtype=np.int8))

        return np.broadcast_to(
            fold(predicate, lambda atom: self._atom(atom, people, shape), all_of, some_of, _not), shape
        )

    def cut(self, predicate: Predicate, people: Mapping[Who, People]) -> Integers:
        """Of each box an axis and the place where an open condition may change, [n, 2]; -1 where there is none."""
        count = len(next(iter(people.values())).low)
        found = np.full((count, 2), -1, dtype=np.int64)
        for atom in atoms(predicate):
            for axis, place in self._places(atom, people):
                new = (found[:, 0] < 0) & (place >= 0)
                found[new, 0], found[new, 1] = axis, place[new]
        return found

    def _places(self, atom: Compare | Member, people: Mapping[Who, People]) -> list[tuple[int, Integers]]:
        """Axes that an atom is about, and where it cuts each box; -1 where it does not."""
        tested = test_of(atom)
        if tested is not None:
            axis = self._axis_of.get(tested[0])
            if axis is None:
                return []
            side = people[_who(atom)]
            passing = _as_number(self._cuts[tested[0]].passing(tested[1]))
            low, high = side.low[:, axis], side.high[:, axis]
            if self._cuts[tested[0]].ordered:
                return [(axis, np.where((low < passing) & (passing < high), passing, -1))]
            inside = low & passing
            return [(axis, np.where((inside != 0) & (inside != low), inside, -1))]
        found = []
        for variable in _variables(atom):
            axis = self._axis_of.get(variable.attribute)
            if axis is not None:
                side = people[variable.who]
                found.append((axis, middle(side.low[:, axis], side.high[:, axis], self._cuts[variable.attribute])))
        return found

    def _atom(self, atom: Compare | Member, people: Mapping[Who, People], shape: tuple[int, ...]) -> Truths:
        tested = test_of(atom)
        if tested is not None:
            attribute, test, positive = tested
            cut, side = self._cuts[attribute], people[_who(atom)]
            if attribute in self._axis_of:
                passing = _as_number(cut.passing(test))
                low, high = (each[:, self._axis_of[attribute], None] for each in (side.low, side.high))
                if cut.ordered:
                    yes, no = high <= passing, low >= passing
                else:
                    yes, no = low & ~passing == 0, low & passing == 0
            else:
                yes = _passes(cut.passing(test), len(cut.parts))[self._part(attribute, side)]
                no = ~yes
            found = yes.astype(np.int8) - no.astype(np.int8)
            return found if positive else -found
        assert isinstance(atom, Compare), "members are of one attribute"
        if not atom.left.terms:
            holds = atom.relation.compares(atom.left.constant, Fraction(0))
            return np.full(shape, TRUE if holds else FALSE, dtype=np.int8)

        def of(variable: Variable) -> Between:
            low, high = (np.broadcast_to(each, shape).reshape(-1) for each in self._numbers(variable, people))
            if bool((low == high).all()):
                return Between.at_once(low, step_of(low))
            return Between(low, high, step_of(np.concatenate([low, high])))

        return truths(atom, of, int(np.prod(shape))).reshape(shape)

    def _numbers(self, variable: Variable, people: Mapping[Who, People]) -> tuple[Floats, Floats]:
        """The least and the greatest value that somebody may have."""
        attribute, side = variable.attribute, people[variable.who]
        lows, highs = self._ends_of(attribute)
        if attribute not in self._axis_of:
            part = self._part(attribute, side)
            return lows[part], highs[part]
        axis = self._axis_of[attribute]
        low, high = side.low[:, axis], side.high[:, axis]
        if self._cuts[attribute].ordered:
            return lows[low][:, None], highs[high - 1][:, None]
        there = low[:, None] >> np.arange(len(lows)) & 1 > 0
        return (
            np.where(there, lows, np.inf).min(axis=1)[:, None],
            np.where(there, highs, -np.inf).max(axis=1)[:, None],
        )

    def _part(self, attribute: int, side: People) -> Integers:
        """The part of somebody's assignment, or the only one that there is."""
        if attribute in self._part_of:
            return self._part_of[attribute][side.assignment]
        return np.zeros((1, 1), dtype=np.int64)

    def _ends_of(self, attribute: int) -> tuple[Floats, Floats]:
        if attribute not in self._ends:
            parts = self._cuts[attribute].parts
            low = [_float(part.low[0], float_below) for part in parts]
            high = [_float(part.high[0], float_above) for part in parts]
            self._ends[attribute] = np.array(low), np.array(high)
        return self._ends[attribute]


def middle(low: Integers, high: Integers, cut: Cut) -> Integers:
    """Where to halve the parts of an axis of boxes: a place, or a set of bits; -1 where there is one part."""
    if cut.ordered:
        return np.where(high - low > 1, (low + high) // 2, -1)
    found = np.full(len(low), -1, dtype=np.int64)
    for row, bits in enumerate(low.tolist()):
        parts = [place for place in range(bits.bit_length()) if bits >> place & 1]
        if len(parts) > 1:
            found[row] = sum(1 << place for place in parts[: len(parts) // 2])
    return found


def _not(found: Truths) -> Truths:
    return -found


def _passes(passing: Passing, count: int) -> BoolArray:
    """Of each of so many parts whether it passes."""
    if isinstance(passing, int):
        return np.arange(count) < passing
    return np.isin(np.arange(count), passing)


def _as_number(passing: Passing) -> int:
    return passing if isinstance(passing, int) else sum(1 << part for part in passing)


def _variables(atom: Compare | Member) -> list[Variable]:
    return [atom.variable] if isinstance(atom, Member) else [variable for variable, _ in atom.left.terms]


def _who(atom: Compare | Member) -> Who:
    return _variables(atom)[0].who


def _float(number: Fraction | int | float, towards: Any) -> float:
    return number if isinstance(number, float) else float(towards(Fraction(number)))
