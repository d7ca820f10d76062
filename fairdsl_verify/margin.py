"""What float32 may make of a score: a bound that holds of everybody, in exact arithmetic.

It is that of forward error analysis (Higham, chapter 3) for the file's own nodes: sums in any order, with or without
fused multiply-adds, each operation off by 2^-24 of its result, or by 2^-126 where that is flushed to zero. A sum of n
products, with what is multiplied or added behind it, is off by less than gamma(n + 3) times the sum of their sizes.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import lcm

from fairdsl_verify import reject
from fairdsl_verify.chain import Network
from fairdsl_verify.question import Column, Model

#: Numbers up to here are float32 numbers if they are whole; the least that is not flushed to zero; the greatest.
WHOLE, LEAST, GREATEST = 1 << 24, Fraction(1, 1 << 126), 1 << 127


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


def of_column(question: Model, column: Column) -> tuple[Fraction, Fraction, Fraction]:
    """The least and the greatest number of a column, and what it is off by when the model is fed."""
    low = high = column.constant
    numbers, real = [column.constant], False
    for place, attribute in enumerate(question.attributes):
        listed = place in column.tables
        added = [
            column.adds(attribute, place, at) for at in (range(attribute.size) if listed else (0, attribute.size - 1))
        ]
        low, high = low + min(added), high + max(added)
        # Between the ends of an integer's range its values are whole multiples of the factor, which starts at one.
        numbers += [*added, column.factors.get(place, Fraction(0))]
        real |= attribute.real and place in column.factors
    most = max(abs(low), abs(high))
    sizes = sum(map(abs, numbers), Fraction(0))
    fed = Fraction(0) if not real and stored(sizes, numbers) else most * gamma(1) + LEAST
    return low, high, fed


def of_network(question: Model, network: Network) -> Fraction:
    """What the score of anybody is off by at most."""
    if network.sigmoid:
        reject("what float32 makes of a sigmoid has no bound here")
    units = [of_column(question, column) for column in question.reads]
    for step in network.nodes:
        if step is None:
            units = [(max(low, Fraction(0)), max(high, Fraction(0)), error) for low, high, error in units]
            continue
        below, units = units, []
        for row, bias in zip(step.weight, step.bias, strict=True):
            terms = [(weight, *unit) for weight, unit in zip(row, below, strict=True) if weight]
            low = bias + sum(weight * (first if weight > 0 else last) for weight, first, last, _ in terms)
            high = bias + sum(weight * (last if weight > 0 else first) for weight, first, last, _ in terms)
            carried = sum((abs(weight) * error for weight, _, _, error in terms), Fraction(0))
            sizes = sum((abs(weight) * max(abs(first), abs(last)) for weight, first, last, _ in terms), abs(bias))
            lost = gamma(len(terms) + 3) * (sizes + carried) + 2 * (len(terms) + 3) * LEAST * step.factor
            if sizes + carried + lost >= GREATEST or any(0 < abs(weight) < LEAST for weight in (*row, bias)):
                reject("a number of the model may overflow in float32, or one of the file be flushed to zero")
            units.append((low, high, carried + lost))
    return units[0][2] + of_threshold(question.threshold)


def of_trees(question: Model, sizes: Fraction, votes: list[Fraction], trees: int) -> Fraction:
    """What the sum of anybody's votes is off by; ``sizes``: the most that they come to without their signs."""
    for column in question.reads:
        if of_column(question, column)[2]:
            reject("a column of the trees is rounded when the model is fed")
    return Fraction(0) if stored(sizes, votes) else gamma(trees + 3) * sizes + 2 * (trees + 3) * LEAST
