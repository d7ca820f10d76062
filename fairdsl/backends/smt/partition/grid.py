"""Partitions of the units: the domain cut into boxes, each of which is a question of its own.

Definition. A unit is what a question about pairs ranges over: the attributes that the two individuals
share, and a's values of the relaxed ones. The differing attributes are never cut, since their values are
what is compared. Every other attribute that has more than ``size`` values is cut into consecutive chunks of
``size`` values, the last one holding the rest (Biswas and Rajan, *Fairify*, ICSE 2023, algorithm 1); a
bounded real attribute is cut into intervals of that length. The partitions are the products of the chunks:
they cover all units, and overlap only where two intervals of reals meet.

The property holds iff it holds on every partition: an admissible pair (a, b) belongs to the partition
of its unit. A relaxed b may leave the partition, never the domain or the target. :class:`GridParts` are the
partitions as those who write solver files take them: by number, with their values in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from hashlib import shake_256
from heapq import heappop, heappush
from math import ceil, prod

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.smt.bound_filters.boxes import Box, Boxes
from fairdsl.backends.smt.cases import pair_of
from fairdsl.ir.domain import Attribute, Category, Domain
from fairdsl.ir.expr import Compare, Linear, Member, Predicate, Relation, Variable, Who, conjoin
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Pair
from fairdsl.numerics.narrow import Finite, Interval, ValueSet, narrow

#: Positions that are permuted at a time.
_BLOCK = 1 << 14


@dataclass(frozen=True, slots=True)
class Chunks:
    """The consecutive chunks of an attribute's values, made when they are asked for; None: it is not cut.

    There may be more of them than ``len`` can say.
    """

    values: ValueSet
    size: int | None = None

    @property
    def count(self) -> int:
        """How many chunks there are; 1 at least."""
        if self.size is None:
            return 1
        if isinstance(self.values, Finite):
            return max(1, -(-self.values.count // self.size))
        low, high = self.values.low, self.values.high
        return 1 if low is None or high is None else max(1, ceil((high - low) / self.size))

    def at(self, place: int) -> ValueSet:
        """One of them; IndexError where there is none."""
        if not 0 <= place < self.count:
            raise IndexError(f"there are {self.count} chunks")
        if self.size is None or self.count == 1:
            return self.values
        start = place * self.size
        if isinstance(self.values, Finite):
            return Finite(self.values.values[start : start + self.size])
        low, high = self.values.low, self.values.high
        assert low is not None, "only bounded intervals are cut"
        assert high is not None, "only bounded intervals are cut"
        return Interval(low + start, min(high, low + start + self.size))

    @property
    def last_share(self) -> Fraction:
        """The last chunk's size as a share of the others'; 1 where all are alike."""
        first, last = self.at(0), self.at(self.count - 1)
        return _share(last, self.values) / _share(first, self.values)


@dataclass(frozen=True)
class Grid:
    """The partitions of a question, numbered row by row; nothing is stored a partition.

    ``sets`` are the values that domain and target leave; ``chunks`` are the parts of each attribute's set.
    A domain that leaves nobody has no partitions.
    """

    sets: Box
    chunks: tuple[Chunks, ...]

    @classmethod
    def of(cls, problem: Problem, size: int | None) -> Grid:
        """Cut the problem's units into chunks of at most ``size`` values (None: a single partition, the whole).

        ValueError if that is not positive.
        """
        if size is not None and size < 1:
            raise ValueError("a partition holds at least one value of each attribute")
        pair = pair_of(problem)
        sets = narrow(problem.domain, pair.target)
        if any(values.count == 0 for values in sets):
            return cls(sets, ())
        return cls(
            sets,
            tuple(Chunks(values, None if index in pair.differ else size) for index, values in enumerate(sets)),
        )

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """How many chunks each attribute has."""
        return tuple(parts.count for parts in self.chunks)

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
        return tuple(parts.at(digit) for parts, digit in zip(self.chunks, self.digits(index), strict=True))

    def boxes(self, indices: Sequence[int]) -> Boxes:
        """Many partitions, by their numbers; only the chunks that they take are made."""
        sets, codes = [], []
        for parts, column in zip(self.chunks, zip(*map(self.digits, indices), strict=True), strict=True):
            place_of = {digit: place for place, digit in enumerate(sorted(set(column)))}
            sets.append(tuple(parts.at(digit) for digit in place_of))
            codes.append([place_of[digit] for digit in column])
        return Boxes(tuple(sets), np.array(codes, dtype=np.int64).T)

    def volume(self, index: int) -> Fraction:
        """The partition's share of all units, before ``where`` and further conditions of the target."""
        return share_of(self.box(index), self.sets)

    def order(self, seed: int) -> Iterator[int]:
        """All partitions in an order that the seed alone determines, each once."""
        for start in range(0, self.count, _BLOCK):
            yield from self.placed(start, min(start + _BLOCK, self.count), seed)

    def placed(self, start: int, stop: int, seed: int) -> list[int]:
        """The partitions at places ``start`` to ``stop`` of the seeded order, without computing the others."""
        return shuffled(self.count, seed, start, stop)

    def by_volume(self) -> Iterator[int]:
        """All partitions, the largest first; those that are short in the same attributes come row by row."""
        ratio = {index: parts.last_share for index, parts in enumerate(self.chunks)}
        short = sorted((index for index in ratio if ratio[index] < 1), key=lambda index: (-ratio[index], index))
        for taken in _by_product([ratio[index] for index in short]):
            last = {short[place] for place in taken}
            yield from self._short_in(last, set(short) - last)

    def _short_in(self, last: set[int], full: set[int]) -> Iterator[int]:
        """The partitions that take the last chunk of some attributes, and any but the last of others."""
        counts = [1 if i in last else parts - 1 if i in full else parts for i, parts in enumerate(self.shape)]
        for place in range(prod(counts)):
            rest, index, stride = place, 0, 1
            for attribute in reversed(range(len(counts))):
                rest, digit = divmod(rest, counts[attribute])
                index += stride * (self.shape[attribute] - 1 if attribute in last else digit)
                stride *= self.shape[attribute]
            yield index


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
            (only_a if index in relaxed else shared).extend(_conditions(problem.domain, Variable(index, who), values))
    question: Pair = replace(pair, target=conjoin(pair.target, *shared), pair_target=conjoin(pair.pair_target, *only_a))
    return replace(problem, question=question)


def _by_product(ratios: Sequence[Fraction]) -> Iterator[tuple[int, ...]]:
    """All subsets of the places of some numbers below 1 that descend, by descending product, one at a time.

    Every subset but the empty one comes from a greater one, by exchanging its last place for the next or adding that;
    so a heap knows the greatest that is left, and no more subsets are made than are asked for.
    """
    yield ()
    heap: list[tuple[Fraction, tuple[int, ...]]] = [(-ratios[0], (0,))] if ratios else []
    while heap:
        product, taken = heappop(heap)
        yield taken
        following = taken[-1] + 1
        if following < len(ratios):
            added = product * ratios[following]
            heappush(heap, (added, (*taken, following)))
            heappush(heap, (added / ratios[taken[-1]], (*taken[:-1], following)))


def _share(part: ValueSet, whole: ValueSet) -> Fraction:
    if isinstance(part, Finite) and isinstance(whole, Finite):
        return Fraction(part.count, whole.count)
    if part == whole or whole.low is None or whole.high is None:
        return Fraction(1)
    if part.low is None or part.high is None:
        return Fraction(1)
    return (part.high - part.low) / (whole.high - whole.low)


def _conditions(domain: Domain, variable: Variable, values: ValueSet) -> Iterator[Predicate]:
    gapless = isinstance(values, Interval) or isinstance(values.values, range)
    if not gapless or isinstance(domain.attributes[variable.attribute].type, Category):
        assert isinstance(values, Finite)
        yield Member(variable=variable, values=frozenset(Fraction(value) for value in values.values))
        return
    for bound, relation in ((values.low, Relation.GE), (values.high, Relation.LE)):
        if bound is not None:
            yield Compare(left=Linear.of({variable: Fraction(1)}, -bound), relation=relation)


def values_in_words(attribute: Attribute, values: ValueSet) -> str:
    """``18 .. 27``, or a single value; for categories, and for numbers with gaps, a list. Nothing stands for no end."""
    if isinstance(values, Finite) and not isinstance(values.values, range):
        return ", ".join(attribute.show(Fraction(value)) for value in values.values)
    low, high = ("" if end is None else attribute.show(end) for end in (values.low, values.high))
    return low if low == high else f"{low} .. {high}"


class GridParts:
    """A grid over a problem's units (:class:`~fairdsl.backends.encoding.Parts`)."""

    def __init__(self, problem: Problem, size: int) -> None:
        self._problem, self._grid = problem, Grid.of(problem, size)

    @property
    def count(self) -> int:
        """How many partitions there are."""
        return self._grid.count

    def order(self, seed: int) -> Iterator[int]:
        """All of them, in an order that the seed alone determines."""
        return self._grid.order(seed)

    def volume(self, index: int) -> Fraction:
        """A partition's share of all units."""
        return self._grid.volume(index)

    def problem(self, index: int) -> Problem:
        """The question about the units of a partition."""
        return restricted(self._problem, self._grid.box(index))

    def words(self, index: int) -> dict[str, str]:
        """A partition's values of the attributes that are cut, as the spec writes them."""
        box, attributes = self._grid.box(index), self._problem.domain.attributes
        return {attributes[cut].name: values_in_words(attributes[cut], box[cut]) for cut in self._grid.cut}


# ---- a seeded order ------------------------------------------------------------------------------
#
# Of the numbers below a count, of which any piece is computed without the rest. A Feistel network over a hash is a
# permutation of the numbers below a power of four (Luby and Rackoff, *How to construct pseudorandom permutations*, SIAM
# J. Comput. 17, 1988). Those that it sends to the count or beyond walk on until they are below it (cycle walking), so
# the numbers below the count are permuted among themselves.

#: Rounds of the permutation; with four, neighbours end up anywhere.
_ROUNDS = 4
#: Halves of numbers up to so many bits are permuted in arrays.
_HALF = 31


def shuffled(count: int, seed: int, start: int, stop: int) -> list[int]:
    """What stands at places ``start`` to ``stop`` of the seed's order of the numbers below ``count``."""
    half = max(1, (max(1, count - 1).bit_length() + 1) // 2)
    keys = np.random.default_rng(seed).integers(1, 2**62, _ROUNDS, dtype=np.uint64)
    if half > _HALF:
        return [_walked(place, count, half, keys.tolist()) for place in range(start, stop)]
    found = np.arange(start, stop, dtype=np.uint64)
    outside = np.arange(found.size)
    while outside.size:
        found[outside] = _feistel(found[outside], half, keys)
        outside = outside[found[outside] >= count]
    return [int(index) for index in found.tolist()]


def _walked(place: int, count: int, half: int, keys: Sequence[int]) -> int:
    """What the permutation makes of one place, in whole numbers of any size."""
    place = _wide_feistel(place, half, keys)
    while place >= count:
        place = _wide_feistel(place, half, keys)
    return place


def _feistel(numbers: NDArray[np.uint64], half: int, keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A permutation of the numbers below 4**half: each round can be undone, since it keeps one half as it was."""
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
