"""Partitions of the units: the domain cut into boxes, each of which is a question of its own.

Definition. A unit is what a question about pairs ranges over: the attributes that the two individuals
share, and a's values of the relaxed ones. The differing attributes are never cut, since their values are
what is compared. Every other attribute that has more than ``size`` values is cut into consecutive chunks of
``size`` values, the last one holding the rest (Biswas and Rajan, *Fairify*, ICSE 2023, algorithm 1); a
bounded real attribute is cut into intervals of that length. The partitions are the products of the chunks:
they cover all units, and overlap only where two intervals of reals meet.

The property holds iff it holds on every partition: an admissible pair (a, b) belongs to the partition
of its unit. A relaxed b may leave the partition, never the domain or the target.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from hashlib import shake_256
from itertools import product
from math import ceil, prod
from typing import overload

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.smt.cases import pair_of
from fairdsl.backends.smt.sieves.boxes import Box, Boxes
from fairdsl.ir.domain import Category, Domain
from fairdsl.ir.expr import Compare, Linear, Member, Predicate, Relation, Variable, Who, conjoin
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair
from fairdsl.numerics.narrow import Finite, Interval, ValueSet, narrow

__all__ = ["Box", "Grid", "restricted", "share_of"]

#: Rounds of the permutation; with four, neighbours end up anywhere.
_ROUNDS = 4
#: Positions that are permuted at a time.
_BLOCK = 1 << 14
#: Halves of numbers up to so many bits are permuted in arrays.
_HALF = 31


@dataclass(frozen=True)
class Grid:
    """The partitions of a question, numbered row by row; nothing is stored a partition.

    ``sets`` are the values that domain and target leave; ``chunks`` are the parts of each attribute's set,
    a single one where it is not cut. A domain that leaves nobody has no partitions.
    """

    sets: Box
    chunks: tuple[Sequence[ValueSet], ...]

    @classmethod
    def of(cls, problem: Problem, size: int) -> Grid:
        """Cut the problem's units into chunks of at most ``size`` values; ValueError if that is not positive."""
        if size < 1:
            raise ValueError("a partition holds at least one value of each attribute")
        pair = pair_of(problem)
        sets = narrow(problem.domain, pair.target)
        if any(values.count == 0 for values in sets):
            return cls(sets, ())
        return cls(
            sets,
            tuple(
                (values,) if index in pair.differ or not _is_cut(values, size) else _Chunks(values, size)
                for index, values in enumerate(sets)
            ),
        )

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """How many chunks each attribute has."""
        return tuple(len(parts) for parts in self.chunks)

    @property
    def count(self) -> int:
        """How many partitions there are."""
        return prod(self.shape) if self.chunks else 0

    @property
    def cut(self) -> tuple[int, ...]:
        """The attributes that are cut."""
        return tuple(index for index, parts in enumerate(self.shape) if parts > 1)

    def digits(self, index: int) -> tuple[int, ...]:
        """Which chunk of each attribute a partition takes."""
        found = []
        for parts in reversed(self.shape):
            index, digit = divmod(index, parts)
            found.append(digit)
        return tuple(reversed(found))

    def box(self, index: int) -> Box:
        """A partition's values of each attribute."""
        return tuple(parts[digit] for parts, digit in zip(self.chunks, self.digits(index), strict=True))

    def boxes(self, indices: Sequence[int]) -> Boxes:
        """Many partitions, by their numbers; only the chunks that they take are made."""
        digits = np.array([self.digits(index) for index in indices], dtype=np.int64)
        taken = [np.unique(column, return_inverse=True) for column in digits.T]
        sets = (
            tuple(parts[digit] for digit in used.tolist()) for parts, (used, _) in zip(self.chunks, taken, strict=True)
        )
        return Boxes(tuple(sets), np.column_stack([codes for _, codes in taken]))

    def volume(self, index: int) -> Fraction:
        """The partition's share of all units, before ``where`` and further conditions of the target."""
        return share_of(self.box(index), self.sets)

    def order(self, seed: int) -> Iterator[int]:
        """All partitions in an order that the seed alone determines, each once."""
        for start in range(0, self.count, _BLOCK):
            yield from self.placed(start, min(start + _BLOCK, self.count), seed)

    def placed(self, start: int, stop: int, seed: int) -> list[int]:
        """The partitions at places ``start`` to ``stop`` of the seeded order, without computing the others."""
        half = max(1, (max(1, self.count - 1).bit_length() + 1) // 2)
        keys = np.random.default_rng(seed).integers(1, 2**62, _ROUNDS, dtype=np.uint64)
        # A permutation of a few more numbers than there are; those beyond walk on until they are within.
        if half > _HALF:
            return [self._walked(place, half, keys.tolist()) for place in range(start, stop)]
        found = np.arange(start, stop, dtype=np.uint64)
        outside = np.arange(found.size)
        while outside.size:
            found[outside] = _feistel(found[outside], half, keys)
            outside = outside[found[outside] >= self.count]
        return [int(index) for index in found.tolist()]

    def by_volume(self) -> Iterator[int]:
        """All partitions, the largest first; partitions with the same chunks cut short come row by row."""
        ways = [_lengths(parts, whole) for parts, whole in zip(self.chunks, self.sets, strict=True)]
        for chosen in sorted(product(*ways), key=lambda way: -prod(share for share, _ in way)):
            places = [digits for _, digits in chosen]
            for place in range(prod(map(len, places))):
                rest, index, stride = place, 0, 1
                for digits, parts in zip(reversed(places), reversed(self.shape), strict=True):
                    rest, digit = divmod(rest, len(digits))
                    index += stride * digits[digit]
                    stride *= parts
                yield index

    def _walked(self, place: int, half: int, keys: Sequence[int]) -> int:
        """What the permutation makes of one place, in whole numbers of any size."""
        place = _wide_feistel(place, half, keys)
        while place >= self.count:
            place = _wide_feistel(place, half, keys)
        return place


def share_of(box: Box, sets: Box) -> Fraction:
    """How much of the product of ``sets`` the box is: values are counted, intervals measured.

    An interval without end counts as whole.
    """
    return prod((_share(part, whole) for part, whole in zip(box, sets, strict=True)), start=Fraction(1))


def restricted(problem: Problem, box: Box) -> Problem:
    """The same question about the units in the box: both individuals where they share, a where it is relaxed."""
    pair = pair_of(problem)
    sets = narrow(problem.domain, pair.target)
    relaxed = {relaxation.attribute for relaxation in pair.relax}
    shared: list[Predicate] = []
    only_a: list[Predicate] = []
    for index, (values, whole) in enumerate(zip(box, sets, strict=True)):
        if values != whole:
            who = Who.A if index in relaxed else Who.EACH
            (only_a if index in relaxed else shared).extend(_within(problem.domain, Variable(index, who), values))
    question: Pair = replace(pair, target=conjoin(pair.target, *shared), pair_target=conjoin(pair.pair_target, *only_a))
    return replace(problem, question=question)


def _is_cut(values: ValueSet, size: int) -> bool:
    if isinstance(values, Finite):
        return values.count > size
    return values.low is not None and values.high is not None and values.high - values.low > size


@dataclass(frozen=True, slots=True)
class _Chunks(Sequence[ValueSet]):
    """The consecutive chunks of a set that is cut, made when they are asked for."""

    values: ValueSet
    size: int

    def __len__(self) -> int:
        values = self.values
        if isinstance(values, Finite):
            return -(-values.count // self.size)
        low, high = _bounded(values)
        return ceil((high - low) / self.size)

    @overload
    def __getitem__(self, place: int) -> ValueSet: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[ValueSet]: ...
    def __getitem__(self, place: int | slice) -> ValueSet | Sequence[ValueSet]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        start = range(len(self))[place] * self.size  # IndexError beyond the end, as of every sequence
        values = self.values
        if isinstance(values, Finite):
            return Finite(values.values[start : start + self.size])
        low, high = _bounded(values)
        return Interval(low + start, min(high, low + start + self.size))


def _bounded(values: Interval) -> tuple[Fraction, Fraction]:
    if values.low is None or values.high is None:
        raise ValueError("only bounded intervals are cut")
    return values.low, values.high


def _lengths(parts: Sequence[ValueSet], whole: ValueSet) -> list[tuple[Fraction, range]]:
    """The chunks of an attribute by their share of it: all alike, but for a shorter last one."""
    full, last = _share(parts[0], whole), _share(parts[-1], whole)
    if full == last:
        return [(full, range(len(parts)))]
    return [(full, range(len(parts) - 1)), (last, range(len(parts) - 1, len(parts)))]


def _share(part: ValueSet, whole: ValueSet) -> Fraction:
    if isinstance(part, Finite) and isinstance(whole, Finite):
        return Fraction(part.count, whole.count)
    if part == whole or whole.low is None or whole.high is None:
        return Fraction(1)
    if part.low is None or part.high is None:
        return Fraction(1)
    return (part.high - part.low) / (whole.high - whole.low)


def _within(domain: Domain, variable: Variable, values: ValueSet) -> Iterator[Predicate]:
    gapless = isinstance(values, Interval) or isinstance(values.values, range)
    if not gapless or isinstance(domain.attributes[variable.attribute].type, Category):
        assert isinstance(values, Finite)
        yield Member(variable=variable, values=frozenset(Fraction(value) for value in values.values))
        return
    for bound, relation in ((values.low, Relation.GE), (values.high, Relation.LE)):
        if bound is not None:
            yield Compare(left=Linear.of({variable: Fraction(1)}, -bound), relation=relation)


def _feistel(numbers: NDArray[np.uint64], half: int, keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A permutation of the numbers below 4**half (Luby and Rackoff, 1988): each round is its own inverse."""
    mask, shift = np.uint64((1 << half) - 1), np.uint64(half)
    left, right = numbers >> shift, numbers & mask
    for key in keys:
        left, right = right, left ^ (_mixed(right, key) & mask)
    return (left << shift) | right


def _mixed(numbers: NDArray[np.uint64], key: np.uint64) -> NDArray[np.uint64]:
    """Bits of the number and the key stirred together (the finaliser of splitmix64)."""
    stirred = numbers + key
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        stirred = (stirred ^ (stirred >> np.uint64(shift))) * np.uint64(factor)
    return stirred ^ (stirred >> np.uint64(31))


def _wide_feistel(number: int, half: int, keys: Sequence[int]) -> int:
    """The same for whole numbers of any size, stirred by a hash."""
    left, right = number >> half, number & ((1 << half) - 1)
    for key in keys:
        stirred = shake_256(f"{key} {right}".encode()).digest(half // 8 + 1)
        left, right = right, left ^ (int.from_bytes(stirred, "big") & ((1 << half) - 1))
    return (left << half) | right
