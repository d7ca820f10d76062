"""The scale at which scores are whole numbers, and whether anything of a task is an interval."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import gcd, lcm

from fairdsl.backends.rates.linear.task import Task

__all__ = ["common_scale", "is_exact", "score_span"]

_ZERO = Fraction(0)
#: Scores are int64.
_LARGEST = 1 << 60


def is_exact(task: Task) -> bool:
    """Whether every contribution and every mass is a number, not an interval."""
    states = (state for cells in task.readings.values() for states in cells for state in states)
    return (
        all(state.low == state.high and state.least == state.most for state in states)
        and all(clause.low == clause.high for clause in task.clauses)
        and all(table.exact for table in task.chances)
    )


def _contributions(task: Task) -> Iterator[Fraction]:
    for cells in task.readings.values():
        for states in cells:
            for state in states:
                yield from (end for end in (state.low, state.high) if end is not None)
    for clause in task.clauses:
        yield from clause.low
        yield from clause.high


def common_scale(task: Task) -> Fraction | None:
    """The least scale that makes every contribution whole; None where the sums would not fit."""
    values = {value.as_integer_ratio() for value in _contributions(task)}
    scale = lcm(*{denominator for _, denominator in values})
    shared = gcd(*(numerator * (scale // denominator) for numerator, denominator in values)) or 1
    found = Fraction(scale, shared)
    low, high = score_span(task)
    return found if max(abs(low), abs(high)) * found < _LARGEST else None


def score_span(task: Task) -> tuple[Fraction, Fraction]:
    """The least and greatest sum of bounded contributions."""
    low = high = _ZERO
    for cells in task.readings.values():
        ends = {end for states in cells for state in states for end in (state.low, state.high) if end is not None}
        low, high = low + min(ends, default=_ZERO), high + max(ends, default=_ZERO)
    for clause in task.clauses:
        low, high = low + min(clause.low), high + max(clause.high)
    return low, high
