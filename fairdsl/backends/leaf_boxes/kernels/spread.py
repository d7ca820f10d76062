"""The kernel that adds up mean and variance of a sum of leaves over a box, leaf by leaf and pair by pair.

It takes as long as there are pairs of leaves, for boxes that are few and large (:mod:`..spread`).
"""

from __future__ import annotations

from typing import Annotated

from fairdsl.backends.leaf_boxes.kernels.records import Floats, Integers
from fairdsl.numerics.kernels.compiled import exact, part

__all__ = ["spread"]


@part
def narrowed(low: Integers, high: Integers, box_low: Integers, box_high: Integers) -> int:
    """The axes in which a leaf has not all of a box, as bits; -1 where they have nothing in common."""
    found = 0
    for axis in range(box_low.shape[0]):
        if low[axis] >= box_high[axis] or high[axis] <= box_low[axis]:
            return -1
        if low[axis] > box_low[axis] or high[axis] < box_high[axis]:
            found |= 1 << axis
    return found


@part
def between(sums: Floats, low: int, high: int) -> float:
    """The size of the parts from one to another."""
    size: float = sums[high] - sums[low]
    return size


@part
def chance_of(low: Integers, high: Integers, sums: Floats, box_low: Integers, box_high: Integers, bits: int) -> float:
    """The part of a box that a leaf has."""
    found = 1.0
    for axis in range(box_low.shape[0]):
        if bits >> axis & 1:
            begin, end = max(low[axis], box_low[axis]), min(high[axis], box_high[axis])
            found *= between(sums[axis], begin, end) / between(sums[axis], box_low[axis], box_high[axis])
    return found


@part
def beyond_chance(
    low: Integers,
    high: Integers,
    first: Integers,
    last: Integers,
    sums: Floats,
    box_low: Integers,
    box_high: Integers,
    bits: int,
) -> float:
    """How much more often two leaves meet than if they were independent, by the axes in which both are narrower."""
    found = 1.0
    for axis in range(box_low.shape[0]):
        if bits >> axis & 1:
            begin, end = max(low[axis], box_low[axis]), min(high[axis], box_high[axis])
            start, until = max(first[axis], box_low[axis]), min(last[axis], box_high[axis])
            if max(begin, start) >= min(end, until):
                return -1.0
            found *= between(sums[axis], max(begin, start), min(end, until))
            found *= between(sums[axis], box_low[axis], box_high[axis])
            found /= between(sums[axis], begin, end) * between(sums[axis], start, until)
    return found - 1.0


@part
def enter_effects(
    low: Integers,
    high: Integers,
    weight: float,
    sums: Floats,
    box_low: Integers,
    box_high: Integers,
    effects: Floats,
    bits: int,
) -> None:
    """Add a leaf to the effects of each axis, at the ends of its run."""
    for axis in range(box_low.shape[0]):
        if bits >> axis & 1:
            begin, end = max(low[axis], box_low[axis]), min(high[axis], box_high[axis])
            amount = weight * between(sums[axis], box_low[axis], box_high[axis]) / between(sums[axis], begin, end)
            effects[axis, begin] += amount
            effects[axis, end] -= amount
            effects[axis, box_low[axis]] -= weight


@exact
def spread(
    low: Annotated[Integers, 2],
    high: Annotated[Integers, 2],
    value: Floats,
    sums: Annotated[Floats, 2],
    box_low: Integers,
    box_high: Integers,
    effects: Annotated[Floats, 2],
    weights: Floats,
    axes: Integers,
    rows: Integers,
    found: Floats,
) -> None:
    """Fill ``found`` with mean, variance, and how many terms the leaves have; ``effects`` [axes, parts]: those of one.

    ``weights``, ``axes`` and ``rows`` are scratch space, one entry a leaf.
    """
    count, mean, variance, terms = 0, 0.0, 0.0, 0.0
    effects[:] = 0.0
    for leaf in range(value.shape[0]):
        bits = narrowed(low[leaf], high[leaf], box_low, box_high)
        if bits < 0:
            continue
        weight = value[leaf] * chance_of(low[leaf], high[leaf], sums, box_low, box_high, bits)
        enter_effects(low[leaf], high[leaf], weight, sums, box_low, box_high, effects, bits)
        weights[count], axes[count], rows[count] = weight, bits, leaf
        mean, count, many = mean + weight, count + 1, 1.0
        while bits:
            bits &= bits - 1
            many *= 2.0
        terms += many
    for one in range(count):
        leaf, total = rows[one], 0.0
        for other in range(one):
            both, second = axes[one] & axes[other], rows[other]
            if both != 0:
                more = beyond_chance(low[leaf], high[leaf], low[second], high[second], sums, box_low, box_high, both)
                total += more * weights[other]
        own = beyond_chance(low[leaf], high[leaf], low[leaf], high[leaf], sums, box_low, box_high, axes[one])
        variance += weights[one] * (2.0 * total + own * weights[one])
    # What is added at one end of each run, and taken away behind it, is summed up.
    for axis in range(box_low.shape[0]):
        amount = 0.0
        for place in range(box_low[axis], box_high[axis]):
            amount += effects[axis, place]
            effects[axis, place] = amount
    found[0], found[1], found[2] = mean, max(0.0, variance), terms
