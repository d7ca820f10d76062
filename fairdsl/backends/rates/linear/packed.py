"""The law of a sum of independent whole numbers exactly, in two halves that meet in the middle.

A half is the polynomial ``sum_s N_s z^s`` of numerators N_s over one denominator, and is kept as the single integer
that it is at ``z = 2**(8 b)`` (Kronecker's substitution): with b bytes for every score no numerator reaches into the
next one, since each is at most the product of the denominators. A column with numerators n_c multiplies it by
``sum_c n_c z^(a_c)``: products with small integers, shifts and additions of one long integer instead of as many
operations as there are scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import lcm
from operator import mul

from fairdsl.backends.rates.linear.independent import Weighed
from fairdsl.backends.rates.linear.window import Meter, TooLargeError

__all__ = ["ExactHalves"]

#: What is added, with which numerator, and their common denominator.
_Terms = tuple[list[tuple[int, int]], int]


@dataclass(frozen=True, slots=True)
class _Half:
    """Numerators by score from ``origin`` on, or sums of them from every score to the end, over ``denominator``."""

    origin: int
    numerators: list[int]
    denominator: int


class ExactHalves:
    """The masses of both halves, of all groups together or of each group when it is asked for."""

    def __init__(self, halves: tuple[Sequence[Weighed], Sequence[Weighed]], meter: Meter) -> None:
        self._columns = halves
        self._meter = meter
        self.shared = all(len(column.laws) == 1 for half in halves for column in half)
        self._made: dict[int, tuple[_Half, _Half]] = {}

    def reaching(self, target: int, group: int) -> tuple[int, int, int]:
        """The probability that the columns of a group add at least so much, twice, over its denominator."""
        name = 0 if self.shared else group
        if name not in self._made:
            first, second = (_half(columns, name, self._meter) for columns in self._columns)
            self._made = {name: (first, _suffixes(second))}  # groups come one after the other
        first, above = self._made[name]
        missing = target - first.origin - above.origin
        count, last = len(first.numerators), len(above.numerators) - 1
        # With the score i of the first half, missing - i or more of the second is enough.
        start, end = min(count, max(0, missing - last)), min(count, max(0, missing))
        rest = above.numerators[missing - end + 1 : missing - start + 1] if end > start else []
        found = sum(map(mul, first.numerators[start:end], reversed(rest)))
        found += sum(first.numerators[end:]) * above.numerators[0]
        return found, found, first.denominator * above.denominator


def _half(columns: Sequence[Weighed], group: int, meter: Meter) -> _Half:
    found = [_terms(column, column.laws[group if len(column.laws) > 1 else 0]) for column in columns]
    denominator, bits = 1, 0
    for terms, under in found:
        denominator *= under
        bits += max(under, sum(numerator for _, numerator in terms)).bit_length()
    width = (bits + 7) // 8 or 1
    value, origin, count = 1, 0, 1
    for terms, _ in found:
        least, most = min(added for added, _ in terms), max(added for added, _ in terms)
        if (count + most - least) * width > meter.entries:
            raise TooLargeError
        meter.tick(count * len(terms))
        value = sum((value * numerator) << (8 * width * (added - least)) for added, numerator in terms)
        origin, count = origin + least, count + most - least
    data = value.to_bytes(count * width, "little")
    numerators = [int.from_bytes(data[start : start + width], "little") for start in range(0, len(data), width)]
    return _Half(origin, numerators, denominator)


def _terms(column: Weighed, law: Sequence[Fraction]) -> _Terms:
    """The masses of all numbers that are added, over a common denominator."""
    under = lcm(*{mass.denominator for mass in law})
    masses: dict[int, int] = {}
    for added, mass in zip(column.adds, law, strict=True):
        masses[added] = masses.get(added, 0) + mass.numerator * (under // mass.denominator)
    return list(masses.items()), under


def _suffixes(half: _Half) -> _Half:
    """Sums from every score to the end, and a 0 behind it."""
    sums = list(accumulate(reversed(half.numerators), initial=0))
    return _Half(half.origin, sums[::-1], half.denominator)
