"""The law of a sum of independent whole numbers in float64, in two halves that meet in the middle.

Each half is one array of masses by score. A column multiplies it by ``sum_c p_c z^(a_c)``, in place: with the most
probable cell b as the origin the masses are divided by p_b, so that they stay where they are, and every other cell
adds ``p_c / p_b`` times the masses at a distance of ``a_c - a_b``. The quotients that were left out are multiplied
back when their product is small, and at the end. The mass at or above a target is then the sum over the scores of one
half times what of the other reaches the rest: no array of all scores is made.

*Error analysis.* Everything is non-negative, so m rounded operations on the worst way into a number leave it within a
factor ``(1 + u)^m`` of its value, u = 2**-53 (the case ``(1 - u)^-m`` of quotients is within ``1 + 2 m u`` as well). A
column of k cells takes 1 for the quotient, which is that of two integers and correctly rounded, 1 for the product and
k - 1 additions; 2 go into the product of what was left out, and multiplying by that takes 1. A sum of n numbers takes
at most n additions, in whatever order they are done.

*Underflow.* Between two scalings the array holds masses divided by a number of at most 1, so an operation that
underflows loses at most 2**-1075 of a mass, and what it is multiplied with later is a mass of at most 1 again. With
fewer than 2**74 operations the loss is below 2**-1000; it is possible only where the least product of masses is below
2**-1000, and added there. Overflow is not possible: the array is scaled back before that number is below 2**-600.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import lcm
from operator import mul
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.rates.linear.independent import Weighed
from fairdsl.backends.rates.linear.task import Meter, TooLargeError

Floats = NDArray[np.float64]
#: Lower and upper bound as numerators, and their denominator.
Ratios = tuple[int, int, int]

#: Products between two looks at the clock.
_OFTEN = 1 << 16
#: How far probabilities move, and what they are multiplied with.
_Move = tuple[int, float]

#: Masses are multiplied back when they were divided by less than 2**-500.
_SMALL = 2.0**-500
_TINY = 2.0**-1000
_UNDERFLOW = 1000
_UNIT = 1 << 53
_ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class _Half:
    """Masses [scores] or [groups, scores] from the score ``origin`` on, after ``rounds`` operations."""

    origin: int
    masses: Floats
    rounds: int

    def of(self, group: int) -> Floats:
        """The masses of one group."""
        found: Floats = self.masses if self.masses.ndim == 1 else self.masses[group]
        return found


@dataclass(frozen=True, slots=True)
class Halves:
    """The masses of one half, and of the other what is at or above every score (0 behind the end)."""

    first: _Half
    suffixes: _Half
    smallest: float

    @property
    def shared(self) -> bool:
        """Whether all groups have one law."""
        return self.first.masses.ndim == self.suffixes.masses.ndim == 1

    def reaching(self, target: int, group: int) -> Ratios:
        """Bounds of the probability that the columns of a group add at least so much: two numerators, a denominator."""
        masses, above = self.first.of(group), self.suffixes.of(group)
        missing = target - self.first.origin - self.suffixes.origin
        count, last = len(masses), len(above) - 1
        # With the score i of the first half, missing - i or more of the second is enough.
        start, end = min(count, max(0, missing - last)), min(count, max(0, missing))
        terms = masses[start:end] * above[missing - start : missing - end : -1]
        mass = np.add.reduce(terms) + np.add.reduce(masses[end:]) * above[0]
        return self._outward(float(mass), self.first.rounds + self.suffixes.rounds + 2 + count)

    def _outward(self, mass: float, rounds: int) -> Ratios:
        """(1 + u)^m - 1 and 1 - (1 + u)^-m are below 2 m u; a probability is at most 1."""
        numerator, denominator = mass.as_integer_ratio()
        error, under = 2 * (rounds + 2), denominator * _UNIT
        least, most = numerator * (_UNIT - error), numerator * (_UNIT + error)
        if self.smallest < _TINY:
            lost, under = under, under << _UNDERFLOW  # this much is 2**-1000 of the new denominator
            least, most = max(0, (least << _UNDERFLOW) - lost), (most << _UNDERFLOW) + lost
        return min(least, under), min(most, under), under


def halved(halves: tuple[Sequence[Weighed], Sequence[Weighed]], rooms: tuple[int, int], meter: Meter) -> Halves:
    """The columns of both halves, those that reach least first, so that arrays stay short for long, and how far
    each half reaches in all.

    Raises TooLargeError and OutOfTimeError as the meter does.
    """
    first, second = (_half(half, room, meter) for half, room in zip(halves, rooms, strict=True))
    return Halves(first.half, _suffixes(second.half), first.smallest * second.smallest)


class _Made(NamedTuple):
    """A half, and the least product of masses in it; 0 where that is less than any float."""

    half: _Half
    smallest: float


def _half(columns: Sequence[Weighed], room: int, meter: Meter) -> _Made:
    made = _common([column for column in columns if len(column[1]) == 1], room, meter)
    for column in columns:
        if len(column[1]) > 1:
            made = _grouped(made, column, meter)
    return made


def _common(columns: Sequence[Weighed], room: int, meter: Meter) -> _Made:
    """The law of columns that do not depend on the group, on an array with ``room`` for all of it on both sides."""
    if 2 * room >= meter.entries:
        raise TooLargeError
    array, add = np.zeros(2 * room + 1), np.add
    array[room] = 1.0
    low, high, origin, rounds, work = room, room + 1, -room, 1, 0
    long = 2 * room * len(columns) > _OFTEN
    #: The product of the probabilities by which masses were divided since they were multiplied back.
    left = smallest = 1.0
    for adds, (law,) in columns:
        if len(adds) == 2 and adds[0] != adds[1]:  # most columns
            base, other = adds
            numerator, denominator = law[0].as_integer_ratio()
            one = denominator - numerator  # the masses of a law sum to 1
            if one > numerator:
                base, other, one, numerator = other, base, numerator, one
            if one:
                distance, quotient = other - base, one / numerator
                # The product is an array of its own before it is added, so that both places may overlap.
                place = array[low + distance : high + distance]
                add(place, array[low:high] * quotient, place)
                if distance < 0:
                    low += distance
                else:
                    high += distance
                smallest *= quotient
            moved = 1
        else:
            base, numerator, denominator, moves = _step(adds, law)
            if moves:
                low, high, least = _moved(array, low, high, moves)
                smallest *= least
            moved = len(moves)
        origin += base
        rounds += moved + 4
        left *= numerator / denominator
        if left < _SMALL:
            smallest *= left
            array[low:high] *= left
            left, rounds = 1.0, rounds + 1
        if long:
            work += (high - low) * moved
            if work > _OFTEN:
                meter.tick(work)
                work = 0
    found = array[low:high]
    found *= left
    return _Made(_Half(origin + low, found, rounds), smallest * left)


def _moved(array: Floats, low: int, high: int, moves: Sequence[_Move]) -> tuple[int, int, float]:
    """Add to the masses in [low, high) what each move makes of them; the new ends, and the least quotient."""
    before = array[low:high].copy()
    for distance, quotient in moves:
        array[low + distance : high + distance] += before * quotient
    distances = [0, *(distance for distance, _ in moves)]
    return low + min(distances), high + max(distances), min(quotient for _, quotient in moves)


def _step(adds: Sequence[int], law: Sequence[Fraction]) -> tuple[int, int, int, Sequence[_Move]]:
    """What the most probable cell adds, its probability, and how the others lie to it."""
    masses: dict[int, Fraction] = {}
    for added, mass in zip(adds, law, strict=True):
        if mass:
            masses[added] = masses[added] + mass if added in masses else mass
    if not masses:
        return 0, 0, 1, ()
    base = max(masses, key=masses.__getitem__)
    numerator, denominator = masses.pop(base).as_integer_ratio()
    moves = [
        (added - base, mass.numerator * denominator / (mass.denominator * numerator)) for added, mass in masses.items()
    ]
    return base, numerator, denominator, moves


def _grouped(made: _Made, column: Weighed, meter: Meter) -> _Made:
    """Times a column whose law differs from group to group."""
    adds, laws = column
    masses = np.atleast_2d(made.half.masses)
    chances: dict[int, list[Fraction]] = {}
    for place, added in enumerate(adds):
        law = [row[place] for row in laws]
        chances[added] = [a + b for a, b in zip(chances[added], law, strict=True)] if added in chances else law
    least, most = min(chances), max(chances)
    count = masses.shape[-1]
    if len(laws) * (count + most - least) > meter.entries:
        raise TooLargeError
    found = np.zeros((len(laws), count + most - least))
    meter.tick(found.size * len(chances))
    for added, law in chances.items():
        factors = np.array([chance.numerator / chance.denominator for chance in law])
        found[:, added - least : added - least + count] += masses * factors[:, None]
    positive = min((chance for law in chances.values() for chance in law if chance), default=_ONE)
    smallest = made.smallest * (positive.numerator / positive.denominator)
    return _Made(_Half(made.half.origin + least, found, made.half.rounds + len(chances) + 2), smallest)


def _suffixes(half: _Half) -> _Half:
    """Sums from every score to the end, and a 0 behind it."""
    count = half.masses.shape[-1]
    sums = np.zeros((*half.masses.shape[:-1], count + 1))
    np.add.accumulate(half.masses[..., ::-1], axis=-1, out=sums[..., -2::-1])
    return _Half(half.origin, sums, half.rounds + count)


# --------------------------------------------------------------------------------------------------
# The law of a sum of independent whole numbers exactly, in two halves that meet in the middle.
#
# A half is the polynomial ``sum_s N_s z^s`` of numerators N_s over one denominator, and is kept as the single integer
# that it is at ``z = 2**(8 b)`` (Kronecker's substitution): with b bytes for every score no numerator reaches into the
# next one, since each is at most the product of the denominators. A column with numerators n_c multiplies it by
# ``sum_c n_c z^(a_c)``: products with small integers, shifts and additions of one long integer instead of as many
# operations as there are scores.

#: What is added, with which numerator, and their common denominator.
_Terms = tuple[list[tuple[int, int]], int]


@dataclass(frozen=True, slots=True)
class _ExactHalf:
    """Numerators by score from ``origin`` on, or sums of them from every score to the end, over ``denominator``."""

    origin: int
    numerators: list[int]
    denominator: int


class ExactHalves:
    """The masses of both halves, of all groups together or of each group when it is asked for."""

    def __init__(self, halves: tuple[Sequence[Weighed], Sequence[Weighed]], meter: Meter) -> None:
        self._columns = halves
        self._meter = meter
        self.shared = all(len(laws) == 1 for half in halves for _, laws in half)
        self._made: dict[int, tuple[_ExactHalf, _ExactHalf]] = {}

    def reaching(self, target: int, group: int) -> tuple[int, int, int]:
        """The probability that the columns of a group add at least so much, twice, over its denominator."""
        name = 0 if self.shared else group
        if name not in self._made:
            first, second = (_exact_half(columns, name, self._meter) for columns in self._columns)
            self._made = {name: (first, _exact_suffixes(second))}  # groups come one after the other
        first, above = self._made[name]
        missing = target - first.origin - above.origin
        count, last = len(first.numerators), len(above.numerators) - 1
        # With the score i of the first half, missing - i or more of the second is enough.
        start, end = min(count, max(0, missing - last)), min(count, max(0, missing))
        rest = above.numerators[missing - end + 1 : missing - start + 1] if end > start else []
        found = sum(map(mul, first.numerators[start:end], reversed(rest)))
        found += sum(first.numerators[end:]) * above.numerators[0]
        return found, found, first.denominator * above.denominator


def _exact_half(columns: Sequence[Weighed], group: int, meter: Meter) -> _ExactHalf:
    found = [_terms(adds, laws[group if len(laws) > 1 else 0]) for adds, laws in columns]
    denominator, bits = 1, 0
    for terms, under in found:
        denominator *= under
        bits += max(under, sum([numerator for _, numerator in terms])).bit_length()
    width = (bits + 7) // 8 or 1
    value, origin, count = 1, 0, 1
    for terms, _ in found:
        (least, _), (most, _) = min(terms), max(terms)  # no number is there twice
        if (count + most - least) * width > meter.entries:
            raise TooLargeError
        meter.tick(count * len(terms))
        value = sum([(value * numerator) << (8 * width * (added - least)) for added, numerator in terms])
        origin, count = origin + least, count + most - least
    data = value.to_bytes(count * width, "little")
    numerators = [int.from_bytes(data[start : start + width], "little") for start in range(0, len(data), width)]
    return _ExactHalf(origin, numerators, denominator)


def _terms(adds: Sequence[int], law: Sequence[Fraction]) -> _Terms:
    """The masses of all numbers that are added, over a common denominator."""
    ratios = [mass.as_integer_ratio() for mass in law]
    under = lcm(*[denominator for _, denominator in ratios])
    masses: dict[int, int] = {}
    for added, (numerator, denominator) in zip(adds, ratios, strict=True):
        masses[added] = masses.get(added, 0) + numerator * (under // denominator)
    return list(masses.items()), under


def _exact_suffixes(half: _ExactHalf) -> _ExactHalf:
    """Sums from every score to the end, and a 0 behind it."""
    sums = list(accumulate(reversed(half.numerators), initial=0))
    return _ExactHalf(half.origin, sums[::-1], half.denominator)
