"""One attribute's values, cut where a test of the model or of the target may change its answer.

A *border* lies just before a value, ``(value, 0)``, or just behind it, ``(value, 1)``; pairs are ordered as they lie on
the line. The values between two neighbouring borders, a *part*, answer every test alike, so one of them speaks for all.
That is exact for whole numbers and for reals, closed and open ends included: a real part of a single point has no
length, and is still a part.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import inf

from fairdsl.ir.expr import Compare, Linear, Member, Predicate, Relation
from fairdsl.numerics.narrow import Finite, Interval, ValueSet
from fairdsl.numerics.rounding import float_below

#: Just before (0) or just behind (1) a number; infinite at an open end of the line.
Border = tuple[Fraction | int | float, int]
Number = Fraction | int


@dataclass(frozen=True, slots=True)
class Test:
    """A test of one attribute: true for all values before ``border``, or, if that is None, for ``values``."""

    border: Border | None
    values: frozenset[Fraction] = frozenset()

    @property
    def borders(self) -> Iterator[Border]:
        """Where the answer may change."""
        if self.border is not None:
            yield self.border
        for value in self.values:
            yield from ((value, 0), (value, 1))


def test_of(predicate: Predicate) -> tuple[int, Test, bool] | None:
    """Attribute, test, and whether the predicate is the test (or its opposite); None unless it is about one."""
    match predicate:
        case Member(variable=variable, values=values):
            return variable.attribute, Test(None, values), True
        case Compare(left=Linear(terms=((variable, factor),), constant=constant), relation=relation):
            number = -constant / factor
            if relation in (Relation.EQ, Relation.NE):
                return variable.attribute, Test(None, frozenset({number})), relation is Relation.EQ
            below = relation.downwards == (factor > 0)
            inclusive = relation in (Relation.LE, Relation.GE)
            # x <= v and x > v change behind v, x < v and x >= v before it.
            return variable.attribute, Test((number, int(inclusive == below))), below
    return None


@dataclass(frozen=True, slots=True)
class Part:
    """Values that no test tells apart: listed, or (None) the reals between ``low`` and ``high``.

    ``weight`` is their number or the length, ``speaker`` one of them.
    """

    values: Sequence[Number] | None
    low: Border
    high: Border
    weight: Fraction
    speaker: Fraction

    @property
    def several(self) -> bool:
        """Whether it holds more than one value."""
        return len(self.values) > 1 if self.values is not None else self.low[0] != self.high[0]

    def some(self, count: int) -> Iterator[Fraction]:
        """Up to so many distinct values, the speaker first."""
        yield self.speaker
        if self.values is not None:
            others = (Fraction(value) for value in self.values if value != self.speaker)
            yield from (value for value, _ in zip(others, range(count - 1), strict=False))
        elif self.several:
            end = self.high[0] if not _endless(self.high[0]) else self.speaker + 1
            step = (Fraction(end) - self.speaker) / (count + 1)
            yield from (self.speaker + step * number for number in range(1, count))


class Cut:
    """The parts of one attribute in ascending order, and which of them pass a test; ``ordered`` where all tests are
    borders.
    """

    def __init__(self, parts: Iterable[Part], *, ordered: bool) -> None:
        self.parts, self.ordered = tuple(parts), ordered
        self._highs = [part.high for part in self.parts]

    @classmethod
    def of(cls, values: ValueSet, tests: Iterable[Test], beside: Iterable[Border] = ()) -> Cut:
        """The parts that ``tests`` make, cut further ``beside``."""
        wanted = {border for test in tests for border in test.borders} | set(beside)
        parts = _listed(values, wanted) if isinstance(values, Finite) else _real(values, wanted)
        return cls(parts, ordered=all(test.border is not None for test in tests))

    def passing(self, test: Test) -> tuple[int, ...] | int:
        """The parts that pass: how many from the first, or (of an unordered cut) their positions."""
        if test.border is None:
            return tuple(index for index, part in enumerate(self.parts) if part.speaker in test.values)
        # A part lies before the border if it ends there at the latest.
        count = bisect_right(self._highs, test.border)
        return count if self.ordered else tuple(range(count))


def _listed(values: Finite, wanted: Iterable[Border]) -> Iterator[Part]:
    listed = values.values
    ends = {0, len(listed)}
    for number, side in wanted:
        assert not isinstance(number, float)
        ends.add((bisect_right if side else bisect_left)(listed, number))
    starts = sorted(ends)
    for start, end in pairwise(starts):
        inside = listed[start:end]
        low, high = Fraction(inside[0]), Fraction(inside[-1])
        middle = Fraction(inside[(end - start) // 2])
        yield Part(inside, (low, 0), (high, 1), Fraction(end - start), middle)


def _real(values: Interval, wanted: Iterable[Border]) -> Iterator[Part]:
    first: Border = (-inf if values.low is None else values.low, 0)
    last: Border = (inf if values.high is None else values.high, 1)
    borders = sorted({first, last, *(border for border in wanted if first < border < last)})
    for low, high in pairwise(borders):
        yield Part(None, low, high, _length(low, high), _speaker(low, high))


def _endless(number: Number | float) -> bool:
    """Whether a border lies at an open end: only there it is a float, and others may be too large for one."""
    return isinstance(number, float)


def _length(low: Border, high: Border) -> Fraction:
    """The length of a part; of an unbounded one 1, since nobody asks for it."""
    (start, _), (end, _) = low, high
    return Fraction(1) if _endless(start) or _endless(end) else Fraction(end) - Fraction(start)


def _speaker(low: Border, high: Border) -> Fraction:
    """A value between two borders: a float where one lies there, so that a deployed file reads it as it is."""
    (start, _), (end, _) = low, high
    if _endless(start) and _endless(end):
        return Fraction(0)
    if _endless(start):
        return Fraction(end) - 1
    if _endless(end):
        return Fraction(start) + 1
    middle = (Fraction(start) + Fraction(end)) / 2
    near = float_below(middle)
    return Fraction(near) if start < near < end else middle
