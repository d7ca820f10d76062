"""Atoms of predicates on boxes of positions: false, mixed or true (0, 1, 2), and which axes that depends on.

Linear forms go by interval arithmetic in integers, sets by counting. Boundaries of reals have no volume: a strict bound
that only a box's face touches counts as kept on the whole box.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals.axes import Axis, Numerators
from fairdsl.ir.expr import Compare, Linear, Member, Predicate, Relation, Variable

FALSE, MIXED, TRUE = 0, 1, 2

Integers = NDArray[np.int64]
States = NDArray[np.int8]

_FITS = 2**62
#: Binary digits of a number whose size is all that counts.
_DIGITS = 900


class AtomTest(Protocol):
    """An atom, asked about boxes of positions, ends included: ``low`` and ``high`` are [boxes, axes]."""

    def states(self, low: Integers, high: Integers) -> States:
        """FALSE, MIXED or TRUE on each box, [boxes]."""

    def influence(self, low: Integers, high: Integers) -> NDArray[np.float64]:
        """How much the truth on each box depends on each axis, in parts of 1, [boxes, axes]."""


class _LinearTest:
    """``form RELATION 0`` on boxes, in integers over one denominator."""

    def __init__(self, left: Linear, relation: Relation, axes: Sequence[Axis], place: Mapping[int | None, int]) -> None:
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
        self._shift = max(0, reach.bit_length() - _DIGITS)
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
            # Only proportions count; the numbers themselves may be longer than any float.
            width = ((abs(factor) * (last - first)) >> self._shift).astype(np.float64)
            out[:, axis] = np.where(low[:, axis] < high[:, axis], width, 0.0)
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
        return _of_one(self._axis, len(low), self._axes)


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
        return _of_one(self._axis, len(low), self._axes)


def _of_one(axis: int, boxes: int, axes: int) -> NDArray[np.float64]:
    """The influence where one axis decides alone."""
    out = np.zeros((boxes, axes))
    out[:, axis] = 1.0
    return out


def _offset(attribute: int, value: Fraction) -> Linear:
    return Linear.of({Variable(attribute): Fraction(1)}, -value)


def atom_test(atom: Predicate, axes: Sequence[Axis], place: Mapping[int | None, int]) -> AtomTest:
    """The test of a comparison or a membership; ``place`` says which axis an attribute is."""
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
            raise TypeError("connectives are not atoms")
