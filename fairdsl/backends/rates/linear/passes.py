"""One pass over a task: every contribution rounded down, or every one up, and every doubtful mass left out, or counted.

With a scale s the scores are whole: ``sum floor(s g_i) <= s S <= sum ceil(s g_i)``, so the mass that reaches the
target when all are rounded down is at most Pr[S >= t], and when rounded up at least that. Contributions are rounded,
not weights, so that it holds for values of either sign. Where every s g_i is whole and every mass is known, the two
passes are one and the result is exact.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from fairdsl.backends.rates.linear.elimination import eliminated, masses_at_least, product_of
from fairdsl.backends.rates.linear.event import Goal
from fairdsl.backends.rates.linear.rounded import Arithmetic, Rounded, Side
from fairdsl.backends.rates.linear.table import Table
from fairdsl.backends.rates.linear.task import Remainder, Task
from fairdsl.backends.rates.linear.window import Meter, Span, TooLargeError, Window

__all__ = ["Found", "masses_of"]

_ZERO = Fraction(0)
#: Products of masses may underflow where the least of them is below 2**-1000; what is lost is less than that, too:
#: every operation loses less than 2**-1074 of a mass of at most 1, and there are fewer than 2**74.
_TINY = -1000
_UNDERFLOW = Fraction(1, 1 << 1000)

#: Masses by the cells of the columns that were kept, in the order of ``kept``: lower and upper bounds.
Found = dict[tuple[int, ...], tuple[Fraction, Fraction]]


def masses_of(
    task: Task,
    goal: Goal | None,
    side: Side,
    arithmetic: Arithmetic,
    scale: Fraction,
    kept: tuple[int, ...],
    meter: Meter,
) -> Found:
    """Bounds of Pr[goal, cells of ``kept``, conditions], each from this side; the other end is the rounding error.

    Without a goal the score is not looked at. TooLargeError and OutOfTimeError are raised by the meter.
    """
    run = Rounded(task, side, arithmetic, scale if goal is not None else None)
    remainder = task.remainder if goal is not None or (task.remainder and task.remainder.conditioned) else None
    whole = kept if remainder is None else tuple(dict.fromkeys((*kept, *remainder.axes)))
    tables = run.tables(frozenset(whole))
    span = Span(sum(table.own.low for table in tables), sum(table.own.high for table in tables))
    if goal is None or remainder is not None:
        window = Window(target=0, whole=span, accepts=False, refuses=False, meter=meter)
    else:
        window = Window(
            # A threshold that no sum comes near may be far beyond 64 bits; at the ends it asks the same.
            target=min(max(goal.target(task.constant, scale), span.low), span.high + 1),
            whole=span,
            accepts=run.bounded_below,
            refuses=run.bounded_above,
            meter=meter,
        )
    left = [*eliminated(tables, task.sizes, frozenset(whole), window), run.constant()]
    if remainder is None:
        table = masses_at_least(left, window) if goal is not None else product_of(left, window)
        assert table is not None, "there is always the table of the number 1"
        return _found(run, table, kept)
    table = product_of(left, window)
    assert table is not None, "there is always the table of the number 1"
    return _completed(run, table, remainder, kept, goal, meter)


def _found(run: Rounded, table: Table, kept: tuple[int, ...]) -> Found:
    """The masses by cells, moved outward."""
    whole = np.asarray(table.total(), dtype=run.arithmetic.dtype)  # there may be no score at all
    masses = whole.transpose([table.axes.index(axis) for axis in kept])
    cells = product(*(range(size) for size in masses.shape))
    return {
        cell: _outward(run, mass, table.rounds, table.denominator)
        for cell, mass in zip(cells, masses.ravel().tolist(), strict=True)
    }


def _outward(run: Rounded, mass: Any, rounds: int, denominator: int) -> tuple[Fraction, Fraction]:
    """(1 + u)^m - 1 and 1 - (1 - u)^m are below 2 m u; underflow, where it is possible, adds less than 2**-1000."""
    if run.arithmetic is Arithmetic.EXACT:
        exact = Fraction(mass, denominator)
        return exact, exact
    value = Fraction(mass)
    error = value * Fraction(2 * (rounds + 2), 1 << 53)
    if run.smallest < _TINY:
        error += _UNDERFLOW
    return max(_ZERO, value - error), value + error


def _completed(
    run: Rounded, table: Table, remainder: Remainder, kept: tuple[int, ...], goal: Goal | None, meter: Meter
) -> Found:
    """Sum over the scores of the tables of the mass that the columns in closed form complete to the goal."""
    axes = tuple(dict.fromkeys((*kept, *remainder.axes)))
    places = [axes.index(axis) for axis in remainder.axes]
    order = [table.axes.index(axis) for axis in axes]
    masses = table.masses.transpose([*order, len(order)])
    if goal is not None and masses.size > meter.tails:
        raise TooLargeError
    settled = None if table.settled is None else table.settled.transpose(order)
    missing = [] if goal is None else [_missing(run, goal, score) for score in table.scores.tolist()]
    side = 0 if run.side is Side.LOW else 1
    totals: Found = {}
    for cells in product(*(range(size) for size in masses.shape[:-1])):
        own = tuple(cells[place] for place in places)
        parts = [] if settled is None else [(settled[cells], remainder.total(own)[side])]
        for number, mass in enumerate(masses[cells].tolist()):
            if mass or run.smallest < _TINY:
                meter.tick()
                ends = remainder.total(own) if goal is None else remainder.tail(own, missing[number], goal.strict)
                parts.append((mass, ends[side]))
        low, high = totals.get(cells[: len(kept)], (_ZERO, _ZERO))
        for mass, share in parts:
            below, above = _outward(run, mass, max(table.rounds, table.settled_rounds), table.denominator)
            low, high = low + below * share, high + above * share
        totals[cells[: len(kept)]] = (low, high)
    return totals


def _missing(run: Rounded, goal: Goal, score: int) -> Fraction:
    assert run.scale is not None, "a goal is about the score"
    return goal.needed - run.task.constant - score / run.scale
