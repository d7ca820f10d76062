"""Regions of pairs: for each attribute of each individual, the values that are left.

A region over-approximates the admissible pairs in it (sets of values are products; predicates are checked
by the solver). Attributes that must be equal have one set for both individuals. Regions are split until
bounds or the solver settle every part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import Predicate, variables
from fairdsl.ir.feature import AttributeInput, IndicatorInput, Input
from fairdsl.ir.question import Pair
from fairdsl.numerics.bounds import outward
from fairdsl.numerics.narrow import Finite, Interval, ValueSet, narrow, possible, without_not

__all__ = ["Region", "input_box", "reads_only", "whole_region"]


@dataclass(frozen=True, slots=True)
class Region:
    """The value sets of a's and of b's attributes; the same set where ``shared``."""

    a: tuple[ValueSet, ...]
    b: tuple[ValueSet, ...]
    shared: tuple[bool, ...]

    @property
    def empty(self) -> bool:
        """Whether nobody is left."""
        return any(values.count == 0 for values in (*self.a, *self.b))

    def with_values(self, who: str, attribute: int, values: ValueSet) -> Region:
        """The region with other values of one attribute, for both individuals where it is shared."""
        a, b = list(self.a), list(self.b)
        if who == "a" or self.shared[attribute]:
            a[attribute] = values
        if who == "b" or self.shared[attribute]:
            b[attribute] = values
        return replace(self, a=tuple(a), b=tuple(b))

    def halves(self) -> Iterator[tuple[Region, Region]]:
        """Every way to cut one attribute's values into two."""
        for attribute, shared in enumerate(self.shared):
            for who in ("a",) if shared else ("a", "b"):
                parts = _halved((self.a if who == "a" else self.b)[attribute])
                if parts is not None:
                    yield (
                        self.with_values(who, attribute, parts[0]),
                        self.with_values(who, attribute, parts[1]),
                    )


def whole_region(domain: Domain, pair: Pair) -> Region:
    """Everyone whom the domain and the target admit."""
    sets = narrow(domain, pair.target)
    apart = {*pair.differ, *(relaxation.attribute for relaxation in pair.relax)}
    return Region(sets, sets, tuple(index not in apart for index in range(len(sets))))


def _halved(values: ValueSet) -> tuple[ValueSet, ValueSet] | None:
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


def reads_only(item: Input, attributes: Sequence[bool]) -> bool:
    """Whether the input depends on marked attributes only."""
    if isinstance(item, AttributeInput):
        return attributes[item.attribute]
    return all(attributes[variable.attribute] for variable in variables(item.predicate))


def input_box(inputs: Sequence[Input], sets: Sequence[ValueSet]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Float bounds of what the model reads; an indicator that the sets decide is a constant."""
    ends = [_input_ends(item, sets) for item in inputs]
    return np.array([low for low, _ in ends], dtype=np.float64), np.array([high for _, high in ends])


def _input_ends(item: Input, sets: Sequence[ValueSet]) -> tuple[float, float]:
    if isinstance(item, IndicatorInput):
        decided = indicator(item.predicate, sets)
        return (0.0, 1.0) if decided is None else (float(decided), float(decided))
    values = sets[item.attribute]
    return outward(values.low, values.high)


def indicator(predicate: Predicate, sets: Sequence[ValueSet]) -> bool | None:
    """The predicate's truth where the sets decide it."""
    if not possible(predicate, sets):
        return False
    if not possible(without_not(predicate, negated=True), sets):
        return True
    return None


def constant(values: ValueSet) -> Fraction | None:
    """The only value, where there is one."""
    return values.low if values.count == 1 else None
