"""Formulas of demands on many individuals at once, in three values: true, false, and open.

What a variable is lies between two numbers: float64 scores have errors, decisions may be open, scores of curved units
are only ever enclosed. A formula is true where it is for all numbers in between. What float64 leaves open is settled by
fractions, one by one (:func:`truth`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.expr import Compare, Linear, Member, Predicate, Relation, Variable, fold
from fairdsl.numerics.rounding import float_above, float_below

#: The three values: negation is the sign, conjunction the least.
FALSE, OPEN, TRUE = -1, 0, 1

#: Powers of two that numbers are tried as multiples of.
_STEPS = (0, 1, 4, 8, 16, 32)

Floats = NDArray[np.float64]
Truths = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Between:
    """Numbers [n] that lie in [low, high]; known ones have one array for both.

    ``step``: all ends are multiples of ``2**-step``, so that sums of not too large ones are exact; None: not known.
    """

    low: Floats
    high: Floats
    step: int | None = None

    @property
    def magnitude(self) -> Between:
        """Their absolute values."""
        if self.known:
            return Between.at_once(np.abs(self.low), self.step)
        low = np.where(self.low > 0, self.low, np.where(self.high < 0, -self.high, 0.0))
        return Between(low, np.maximum(np.abs(self.low), np.abs(self.high)), self.step)

    @classmethod
    def at_once(cls, numbers: Floats, step: int | None) -> Between:
        """Numbers that are known."""
        return cls(numbers, numbers, step)

    @property
    def known(self) -> bool:
        """Whether nothing lies between the ends."""
        return self.low is self.high

    def at(self, rows: NDArray[np.intp]) -> Between:
        """Some of them."""
        if self.known:
            return Between.at_once(self.low[rows], self.step)
        return Between(self.low[rows], self.high[rows], self.step)


def truths(predicate: Predicate, of: Callable[[Variable], Between], count: int) -> Truths:
    """The predicate's value in each of ``count`` rows, where ``of`` gives each variable's numbers."""

    def of_atom(atom: Compare | Member) -> Truths:
        match atom:
            case Member(variable=variable, values=values):
                return _member(of(variable), values)
            case Compare(left=left, relation=relation):
                return _compared(sums(left, of, count), relation)

    return kleene(predicate, of_atom, count)


def kleene(predicate: Predicate, of_atom: Callable[[Compare | Member], Truths], count: int) -> Truths:
    """The predicate's value in each of ``count`` rows from those of its atoms."""
    return fold(
        predicate,
        of_atom,
        lambda parts: np.minimum.reduce([np.full(count, TRUE, dtype=np.int8), *parts]),
        lambda parts: np.maximum.reduce([np.full(count, FALSE, dtype=np.int8), *parts]),
        np.negative,
    )


def step_of(numbers: Floats) -> int | None:
    """A number k such that all numbers are multiples of ``2**-k``; None where none is small."""
    with np.errstate(all="ignore"):
        for step in _STEPS:
            raised = numbers * 2.0**step
            if bool((np.floor(raised) == raised).all()) and bool((np.abs(raised) < 2.0**52).all()):
                return step
    return None


def _step(number: Fraction) -> int | None:
    """The same of a fraction."""
    power = number.denominator.bit_length() - 1
    return power if number.denominator == 1 << power and power <= _STEPS[-1] else None


def sums(form: Linear, of: Callable[[Variable], Between], count: int) -> Between:
    """The numbers that a sum lies between, the rounding of float64 included."""
    if (exact := _exact_sum(form, of, count)) is not None:
        return exact
    constant_low, constant_high = float_below(form.constant), float_above(form.constant)
    low, high, size = (np.full(count, number) for number in (constant_low, constant_high, abs(constant_high)))
    steps = [_step(form.constant)]
    with np.errstate(all="ignore"):
        for variable, factor in form.terms:
            number, step = of(variable), _step(factor)
            steps.append(None if step is None or number.step is None else step + number.step)
            ends = [
                edge * end
                for edge in ((float_below(factor), float_above(factor)) if step is None else (float(factor),))
                for end in (number.low, number.high)
            ]
            low += np.minimum.reduce(ends)
            high += np.maximum.reduce(ends)
            size += np.maximum.reduce([np.abs(end) for end in ends])
        finest = max((step for step in steps if step is not None), default=0)
        if None not in steps and (not count or float(size.max()) * 2.0**finest < 2.0**52):
            return Between(low, high, finest)
        slack = size * ((len(form.terms) + 3) * 2.0**-51) + 1e-300
        return Between(np.nan_to_num(low - slack, nan=-np.inf), np.nan_to_num(high + slack, nan=np.inf))


def _exact_sum(form: Linear, of: Callable[[Variable], Between], count: int) -> Between | None:
    """The sum of known numbers in which nothing is rounded; None where that is not so."""
    numbers = [(of(variable), factor, _step(factor)) for variable, factor in form.terms]
    steps = [_step(form.constant)]
    for number, _, step in numbers:
        steps.append(step + number.step if number.known and step is not None and number.step is not None else None)
    finest = max((step for step in steps if step is not None), default=0)
    if None in steps:
        return None
    total, size = np.full(count, float(form.constant)), abs(float(form.constant))
    with np.errstate(all="ignore"):
        for number, factor, _ in numbers:
            product = float(factor) * number.low
            total += product
            size += float(np.abs(product).max(initial=0.0))
    return Between.at_once(total, finest) if size * 2.0**finest < 2.0**52 else None


def _compared(left: Between, relation: Relation) -> Truths:
    """``left RELATION 0``."""
    positive, negative = left.low > 0, left.high < 0
    at_least, at_most = left.low >= 0, left.high <= 0
    zero = (left.low == 0) & (left.high == 0)
    yes, no = {
        Relation.GT: (positive, at_most),
        Relation.GE: (at_least, negative),
        Relation.LT: (negative, at_least),
        Relation.LE: (at_most, positive),
        Relation.EQ: (zero, positive | negative),
        Relation.NE: (positive | negative, zero),
    }[relation]
    return np.asarray(yes.astype(np.int8) - no.astype(np.int8), dtype=np.int8)


def _member(number: Between, values: frozenset[Fraction]) -> Truths:
    known = number.low == number.high
    inside, listed = np.zeros(len(known), dtype=np.bool_), np.zeros(len(known), dtype=np.bool_)
    for value in values:
        low, high = float_below(value), float_above(value)
        listed |= (number.low <= high) & (number.high >= low)
        inside |= known & (number.low == low) & (low == high)
    return np.where(inside, TRUE, np.where(listed, OPEN, FALSE)).astype(np.int8)


def never(form: Linear) -> bool:
    """Whether a sum is known to be 0 for a reason that no bounds show: it is not."""
    return False


def truth(
    predicate: Predicate,
    of: Callable[[Variable], Enclosure],
    vanishes: Callable[[Linear], bool] = never,
) -> int:
    """The predicate's value where ``of`` encloses each variable.

    ``vanishes`` is asked of sums of which these do not tell the sign.
    """

    def of_atom(atom: Compare | Member) -> int:
        match atom:
            case Member(variable=variable, values=values):
                low, high = of(variable)
                if low == high:
                    return TRUE if low in values else FALSE
                return OPEN if any(low <= value <= high for value in values) else FALSE
            case Compare(left=left, relation=relation):
                value = _exactly(between(left, of), relation)
                if value == OPEN and vanishes(left):
                    value = _exactly(Enclosure.exactly(Fraction(0)), relation)
                return value

    return fold(predicate, of_atom, _least, _most, _negated)


def _least(values: list[int]) -> int:
    return min(values, default=TRUE)


def _most(values: list[int]) -> int:
    return max(values, default=FALSE)


def _negated(value: int) -> int:
    return -value


def between(form: Linear, of: Callable[[Variable], Enclosure]) -> Enclosure:
    """A sum of enclosed numbers."""
    low = high = form.constant
    for variable, factor in form.terms:
        ends = [factor * end for end in of(variable)]
        low, high = low + min(ends), high + max(ends)
    return Enclosure(low=low, high=high)


def magnitude(number: Enclosure) -> Enclosure:
    """The absolute value of a number."""
    least, most = sorted((abs(number.low), abs(number.high)))
    return Enclosure(low=Fraction(0) if number.low <= 0 <= number.high else least, high=most)


def _exactly(number: Enclosure, relation: Relation) -> int:
    (low, high), zero = number, Fraction(0)
    if relation in (Relation.EQ, Relation.NE):
        equal = TRUE if low == high == 0 else OPEN if low <= 0 <= high else FALSE
        return equal if relation is Relation.EQ else -equal
    answers = {relation.compares(low, zero), relation.compares(high, zero)}
    return OPEN if len(answers) > 1 else TRUE if answers.pop() else FALSE
