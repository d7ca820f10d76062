"""Products of value sets: what they decide of a predicate, what a model reads on them, and how they are halved."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.expr import Predicate
from fairdsl.ir.feature import IndicatorInput, Input
from fairdsl.numerics.bounds import outward
from fairdsl.numerics.leaves import Leaves
from fairdsl.numerics.narrow import Finite, Interval, ValueSet, decided


def halved(values: ValueSet) -> tuple[ValueSet, ValueSet] | None:
    """Both halves of a set; None where it cannot be cut."""
    if isinstance(values, Finite):
        middle = values.count // 2
        return (Finite(values.values[:middle]), Finite(values.values[middle:])) if middle else None
    if values.low is None or values.high is None or values.low == values.high:
        return None
    # A short cutting point keeps the solver's rationals short; both halves contain it.
    low, high = values.low, values.high
    middle_point = ((low + high) / 2).limit_denominator(max(1, int(16 / (high - low))))
    if not low < middle_point < high:
        middle_point = (low + high) / 2
    return Interval(low, middle_point), Interval(middle_point, high)


def input_boxes(
    inputs: Sequence[Input], leaves: Leaves, products: Sequence[Sequence[ValueSet]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Float bounds [products, inputs] of what a model reads on each product of value sets.

    An indicator that the sets decide is a constant. Trees, which are ``leaves``, are gone down from their roots: leaves
    out of reach are 0, and one that is alone in its tree is 1.
    """
    low, high = np.zeros((2, len(products), len(inputs)))
    others = [(position, inputs[position]) for position in leaves.others.tolist()]
    for row, sets in enumerate(products):
        for position, item in others:
            low[row, position], high[row, position] = input_ends(item, sets)
    if leaves.trees and products:
        columns = np.array([column_ends(leaves.tests, sets) for sets in products])
        reachable = leaves.reachable(columns[:, 0], columns[:, 1])
        ends = np.flatnonzero(leaves.positions >= 0)
        high[:, leaves.positions[ends]] = reachable[:, ends]
        for group in leaves.groups:
            members = slice(group.start, group.stop) if isinstance(group, range) else list(group)
            alone = high[:, members].sum(axis=1, keepdims=True) == 1
            low[:, members] = np.where(alone, high[:, members], 0.0)
    return low, high


def column_ends(tests: Sequence[Predicate], sets: Sequence[ValueSet]) -> tuple[list[float], list[float]]:
    """Ends of the columns of :class:`Leaves`: the truth of its tests, and the attributes."""
    truths = [decided(test, sets) for test in tests]
    ends = [(0.0, 1.0) if truth is None else (float(truth), float(truth)) for truth in truths]
    ends += [outward(values.low, values.high) for values in sets]
    return [low for low, _ in ends], [high for _, high in ends]


def input_ends(item: Input, sets: Sequence[ValueSet]) -> tuple[float, float]:
    """Float bounds of one input, outward: the values of an attribute, or 0 and 1 where a predicate is open."""
    if isinstance(item, IndicatorInput):
        truth = decided(item.predicate, sets)
        return (0.0, 1.0) if truth is None else (float(truth), float(truth))
    values = sets[item.attribute]
    return outward(values.low, values.high)


def constant(values: ValueSet) -> Fraction | None:
    """The only value, where there is one."""
    return values.low if values.count == 1 else None
