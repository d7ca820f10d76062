"""Pairs moved to short decimals: the same violation, about two individuals whom somebody can write down.

Searches draw float32 numbers and solvers give fractions of any length, while a violation seldom hangs on the last
digit. So each number that is long is rounded, the same way in both individuals, first to one digit of the attribute's
range, then to more, until the pair is admissible again and does what it did: it breaks the demand in the same
arithmetics, on the original model. First all numbers of a pair are rounded together, then those that are still long one
by one. What cannot be rounded stays as it was found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import floor, log10

import numpy as np
from numpy.typing import NDArray

from fairdsl.clock import Deadline
from fairdsl.ir.domain import Point, Real, show_number
from fairdsl.ir.opaque import BlackBox
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair
from fairdsl.replay.run import witness
from fairdsl.verdict import Estimated, Shares, Unknown, Verdict, Violated, Witness

#: Characters of a decimal that is short enough; digits of a range that are tried; pairs of a verdict that are rounded.
_SHORT, _DIGITS, _PAIRS = 6, 9, 8
#: The seconds that it may take: a part of those that are left, but no less than a few replays take, and no more.
_LEAST, _FRACTION, _MOST = 0.25, 0.05, 1.0


def shortened(verdict: Verdict, problem: Problem, remaining: float) -> Verdict:
    """The verdict with its first pairs moved to short decimals where they stay what they are; ``remaining`` in seconds.

    Pairs over the rows of a table stay where the rows are, pairs of partitions in theirs, and a Python function is not
    called for it.
    """
    if not isinstance(verdict, Violated | Shares | Estimated | Unknown) or not isinstance(problem.question, Pair):
        return verdict
    if not verdict.witnesses or verdict.evidence.coverage is not None or _is_called(problem) or not _reals(problem):
        return verdict
    until = Deadline.within(min(_MOST, max(_LEAST, _FRACTION * remaining)))
    first = tuple(_moved(problem, found, until) for found in verdict.witnesses[:_PAIRS])
    return replace(verdict, witnesses=tuple(_distinct((*first, *verdict.witnesses[_PAIRS:]), verdict.witnesses)))


def as_written(problem: Problem, a: Point, b: Point) -> Witness | None:
    """The pair with float32 numbers as the shortest decimals that are read as them: 20.05 and not 20.0499992.

    None where there are none, or the pair does not violate the demand in both arithmetics.
    """
    if _is_called(problem):
        return None
    reals = frozenset(_reals(problem))
    moved = [
        tuple(_decimal(value) if index in reals else value for index, value in enumerate(point)) for point in (a, b)
    ]
    again = witness(problem, *moved) if moved != [a, b] else None
    return again if again is not None and again.replay.exact and again.replay.agrees else None


def as_written_rows(problem: Problem, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same of many individuals [n, attributes], as the float64 numbers nearest to it; nobody is replayed."""
    written = rows.copy()
    for index in () if _is_called(problem) else _reals(problem):
        with np.errstate(over="ignore"):
            single = rows[:, index].astype(np.float32)
        same = np.isfinite(single) & (single == rows[:, index])
        distinct, places = np.unique(single[same], return_inverse=True)
        written[same, index] = np.array([float(str(number)) for number in distinct])[places]
    return written


def _is_called(problem: Problem) -> bool:
    """Whether the model is a Python function, whose calls may be dear."""
    box = problem.model.opaque
    return isinstance(box, BlackBox) and box.call is not None


def _decimal(value: Fraction) -> Fraction:
    """The shortest decimal that is read as this float32; any other number as it is."""
    with np.errstate(over="ignore"):
        single = np.float32(float(value))
    return Fraction(str(single)) if np.isfinite(single) and Fraction(float(single)) == value else value


def _distinct(moved: tuple[Witness, ...], found: tuple[Witness, ...]) -> Iterator[Witness]:
    """Pairs that rounding made equal are told apart as they were found."""
    met: set[tuple[Point, Point]] = set()
    for new, old in zip(moved, found, strict=True):
        one = old if (new.a.point, new.b.point) in met else new
        met.add((one.a.point, one.b.point))
        yield one


def _reals(problem: Problem) -> list[int]:
    return [index for index, one in enumerate(problem.domain.attributes) if isinstance(one.type, Real)]


def _is_long(value: Fraction) -> bool:
    text = show_number(value)
    return "/" in text or len(text) > _SHORT


def _moved(problem: Problem, found: Witness, until: Deadline) -> Witness:
    """The pair with as many of its numbers rounded as it stands."""
    left = [index for index in _reals(problem) if _is_long(found.a.point[index]) or _is_long(found.b.point[index])]
    found = _rounded(problem, found, left, until) or found
    for index in left if len(left) > 1 else ():
        if _is_long(found.a.point[index]) or _is_long(found.b.point[index]):
            found = _rounded(problem, found, [index], until) or found
    return found


def _rounded(problem: Problem, found: Witness, which: list[int], until: Deadline) -> Witness | None:
    """The pair with these numbers at the fewest digits that do; None where none do, or the time is up."""
    met: set[tuple[Point, Point]] = {(found.a.point, found.b.point)}
    for digits in range(1, _DIGITS + 1 if which else 1):
        a, b = (_at(problem, point, which, digits) for point in (found.a.point, found.b.point))
        if (a, b) in met:
            continue
        met.add((a, b))
        if until.passed:
            return None
        again = witness(problem, a, b)
        if again is not None and _same(again, found):
            return again
    return None


def _same(again: Witness, found: Witness) -> bool:
    """Whether the pair breaks the demand in the same arithmetics."""
    one, other = again.replay, found.replay
    return (one.exact, one.float32, one.agrees) == (other.exact, other.float32, other.agrees)


def _at(problem: Problem, point: Point, which: list[int], digits: int) -> Point:
    """The individual with some numbers rounded to so many digits of their attribute's range, and inside it."""
    values = list(point)
    for index in which:
        kind = problem.domain.attributes[index].type
        assert isinstance(kind, Real)
        step = _step(kind, point[index], digits)
        units = round(point[index] / step)
        if kind.low is not None and units * step < kind.low:
            units = -floor(-kind.low / step)
        if kind.high is not None and units * step > kind.high:
            units = floor(kind.high / step)
        values[index] = units * step
    return tuple(values)


def _step(kind: Real, value: Fraction, digits: int) -> Fraction:
    """A power of ten: the first digit of the range, or of the number where there is none, moved on."""
    length = kind.high - kind.low if kind.low is not None and kind.high is not None else abs(value)
    size = floor(log10(length)) if length else 0
    return Fraction(10) ** (size - digits + 1)
