"""What float32 may make of a score: bounds that hold of everybody in a box, in whole numbers.

It is forward error analysis (Higham, chapter 3) for the file's own nodes: sums in any order, with or without fused
multiply-adds, each operation off by u = 2^-24 of its result, or by 2^-126 where that is flushed to zero. A node of n
weights takes a number through at most n + 1 operations, so it is off by gamma(n + 1) times what it makes of sizes
instead of numbers. What is flushed to zero is less than that, since 2^-64 is added to each size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import chain
from math import ceil, lcm
from operator import add, mul

from fairdsl_verify import reject
from fairdsl_verify.chain import Affine, Network
from fairdsl_verify.question import Column, Model

#: Numbers up to here are float32 numbers if they are whole; the least that is not flushed to zero, and one over it.
WHOLE, LEAST, OVER_LEAST = 1 << 24, Fraction(1, 1 << 126), 1 << 126
#: What is below this does not overflow.
GREATEST = 1 << 127
#: Sizes and errors of networks are multiples of 2^-64, rounded up.
BITS = 64


def gamma(count: int) -> Fraction:
    """At least ``n u / (1 - n u)``, for up to 2^12 roundings."""
    if count > 1 << 12:
        reject("a sum has too many terms for a bound of its rounding")
    return Fraction(count * 1025, WHOLE * 1024)


def stored(most: Fraction, numbers: Iterable[Fraction]) -> bool:
    """Whether all whole multiples of what these numbers are multiples of, up to ``most``, are float32 numbers."""
    scale = lcm(*(number.denominator for number in numbers))
    return scale.bit_count() == 1 and scale <= WHOLE and most * scale <= WHOLE


def of_threshold(threshold: Fraction) -> Fraction:
    """What a threshold is off by that is rounded itself."""
    return Fraction(0) if stored(abs(threshold), [threshold]) else abs(threshold) * gamma(1) + LEAST


def added_to(column: Column, box: Sequence[tuple[int, int]]) -> list[list[Fraction]]:
    """What each attribute that a column reads adds to it on a box: all of a table, else at the ends."""
    found = [[column.adds(place, at) for at in box[place]] for place in column.factors]
    return found + [table[box[place][0] : box[place][1] + 1] for place, table in column.tables.items()]


def margin_of(question: Model, rounding: Callable[[], Fraction], scale: int) -> int:
    """How far from the threshold scores have to be to count, ``scale`` for 1; rejected where float32 comes to more."""
    if question.margin < (rounding() if question.deployed else 0):
        reject("the margin is smaller than what float32 may come to")
    return ceil(question.margin * scale)


class Float32:
    """How far off the scores of a network's file are, by the ranges of its units."""

    def __init__(self, question: Model, network: Network, scales: Sequence[int]) -> None:
        if network.sigmoid:
            reject("what float32 makes of a sigmoid has no bound here")
        self._reads, self._scales, self._threshold = question.reads, scales, _up(of_threshold(question.threshold))
        #: Of each node, layer by layer, what it makes of sizes, by rows, and its gamma.
        self._layers = [[_sizes(node) for node in nodes] for nodes in network.nodes]

    def off(self, box: Sequence[tuple[int, int]], bounds: Sequence[tuple[Sequence[int], Sequence[int]]]) -> int:
        """How far off the last layer is of anybody in a box where the units of each layer have these bounds."""
        added = [(column.constant, added_to(column, box)) for column in self._reads]
        ends = [[sum(map(end, each), constant) for end in (min, max)] for constant, each in added]
        sizes = [_up(max(map(abs, each))) + 1 for each in ends]
        errors = [ceil(size * gamma(1)) for size in sizes]
        for nodes, scale, (_, highs) in zip(self._layers, self._scales, bounds, strict=True):
            for rows, biases, lost in nodes:
                most, carried = list(map(add, sizes, errors)), [-(-sum(map(mul, row, errors)) >> BITS) for row in rows]
                sizes = [-(-sum(map(mul, row, sizes)) >> BITS) + bias for row, bias in zip(rows, biases, strict=True)]
                # What is read is looked at as well: zero times infinity is no number.
                if max(*most, *map(add, sizes, carried)) >= GREATEST << BITS:
                    reject("a number of the model may overflow in float32")
                errors = [error + ceil(lost * (size + error)) for size, error in zip(sizes, carried, strict=True)]
            off = errors[0]
            # Behind ReLU a unit is as far off, or as far as it may be above zero.
            most = [-(-(high << BITS) // scale) for high in highs]
            sizes = [max(0, high) for high in most]
            errors = [min(error, max(0, high + error)) for high, error in zip(most, errors, strict=True)]
        return -(-(off + self._threshold) * self._scales[-1] >> BITS)


def _sizes(node: Affine) -> tuple[list[list[int]], list[int], Fraction]:
    """What a node makes of sizes, and the gamma of the operations that a number goes through."""
    # What is divided by stands there as one over it.
    if any(number and not LEAST <= abs(number) <= OVER_LEAST for row in (node.bias, *node.weight) for number in row):
        reject("a number of the file may be flushed to zero in float32")
    count = 1 + max(sum(map(bool, row)) for row in node.weight)
    rows, biases = ([_up(abs(number)) for number in row] for row in node.weight), (_up(abs(b)) + 1 for b in node.bias)
    return list(rows), list(biases), gamma(count)


def _up(number: Fraction) -> int:
    """In 2^-BITS, rounded up."""
    return ceil(number * (1 << BITS))


def of_trees(question: Model, sizes: Fraction, votes: list[Fraction], trees: int) -> Fraction:
    """What the sum of anybody's votes is off by; ``sizes``: the most that they come to without their signs."""
    whole = [(0, attribute.size - 1) for attribute in question.attributes]
    if sizes * trees >= GREATEST:
        reject("a number of the model may overflow in float32")
    for column in question.reads:
        # Between the ends of an integer's range its values are whole multiples of the factor, which starts at one.
        numbers = [column.constant, *column.factors.values(), *chain(*added_to(column, whole))]
        real = any(question.attributes[place].real for place in column.factors)
        if real or not stored(sum(map(abs, numbers), Fraction(0)), numbers):
            reject("a column of the trees is rounded when the model is fed")
    return Fraction(0) if stored(sizes, votes) else gamma(trees + 3) * sizes + 2 * (trees + 3) * LEAST
