"""Variable elimination on tables of masses by score: what is left are the cells of the columns to be kept.

Cost O(n k^(w+1) K) for n columns of k cells, induced width w and K scores. Columns that are connected to no other are
folded into one polynomial, one at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import product
from math import isqrt, prod
from operator import attrgetter
from typing import Any

import numpy as np

from fairdsl.backends.rates.linear.rounded import Arithmetic, Rounded, Side
from fairdsl.backends.rates.linear.table import Masses, Table, halved_sum, multiplied, suffix_sums, summed_out
from fairdsl.backends.rates.linear.task import Goal, Meter, Remainder, Span, Task, TooLargeError, Window
from fairdsl.ir.enclosure import Enclosure
from fairdsl.numerics.elimination import eliminate, elimination

#: Fewer tables are not worth an array of their own.
_FEW = 3
#: Up to so many scores the grid is short enough.
_GRID = 1 << 16


def eliminated(tables: Iterable[Table], sizes: Mapping[int, int], kept: frozenset[int], window: Window) -> list[Table]:
    """The tables over ``kept`` columns alone that are left when all others are summed out."""
    live = list(tables)
    order = elimination([table.axes for table in live], sizes, kept)
    return eliminate(
        live,
        lambda table: table.axes,
        (column for column, _ in order),
        lambda touched, column: _without(sorted(touched, key=_scores_of), column, window),
    )


def _scores_of(table: Table) -> int:
    return len(table.scores)


def _without(tables: list[Table], column: int, window: Window) -> Table:
    """The product of the tables, summed over a column that all of them have."""
    if len(tables) == 1:
        return _summed(tables[0], column)
    *others, last = tables
    return summed_out(_folded(others, window), last, column, window)


def _folded(tables: list[Table], window: Window) -> Table:
    first, *others = tables
    for other in others:
        first = multiplied(first, other, window)
    return first


def _summed(table: Table, column: int) -> Table:
    place = table.axes.index(column)
    settled = None if table.settled is None else halved_sum(np.moveaxis(table.settled, place, -1))
    count = table.masses.shape[place]
    return Table(
        axes=tuple(axis for axis in table.axes if axis != column),
        scores=table.scores,
        masses=halved_sum(np.moveaxis(table.masses, place, -1)),
        settled=None if settled is None else np.asarray(settled, dtype=table.masses.dtype),
        own=table.own,
        rounds=table.rounds + count.bit_length(),
        settled_rounds=table.settled_rounds + count.bit_length(),
        denominator=table.denominator,
    )


def product_of(tables: Iterable[Table], window: Window) -> Table | None:
    """The product, those with few scores first; None of no tables."""
    ordered = sorted(tables, key=_scores_of)
    if len(ordered) > _FEW and not any(table.axes for table in ordered) and not _gappy(ordered):
        return _convolved(ordered, window)
    return _folded(ordered, window) if ordered else None


def _gappy(tables: list[Table]) -> bool:
    """Whether a dense array of all scores between the least and the greatest would be mostly empty."""
    sums = prod(max(1, len(table.scores)) for table in tables)
    return sum(table.own.high - table.own.low for table in tables) > sums


def _convolved(tables: list[Table], window: Window) -> Table:
    """The product of many tables without axes, on one dense array of scores: the same steps with less bookkeeping.

    A mass goes through a product and as many additions as the next table has scores; what is settled is summed in
    halves first.
    """
    first, *others = tables
    settled, own, rounds, denominator = first.settled, first.own, first.rounds, first.denominator
    settled_rounds = first.settled_rounds
    origin = int(first.scores[0]) if len(first.scores) else 0
    masses = np.zeros(int(first.scores[-1]) - origin + 1 if len(first.scores) else 0, dtype=first.masses.dtype)
    masses[first.scores - origin] = first.masses
    for other in others:
        window.meter.tick((len(masses) + 1) * len(other.scores))
        own += other.own
        low, high = window.alive(own)
        added = other.scores.tolist()
        below = max(low, origin + added[0]) if added else low
        above = max(below, min(high, origin + len(masses) + added[-1])) if added else below
        if above - below > window.meter.entries:
            raise TooLargeError
        following = np.zeros(above - below, dtype=masses.dtype)
        accepted = [] if settled is None else [settled * other.total()]
        if other.settled is not None:
            accepted.append(halved_sum(masses) * other.settled)
        for score, mass in zip(added, other.masses.tolist(), strict=True):
            start = min(len(masses), max(0, below - origin - score))
            end = max(0, min(len(masses), high - origin - score))
            if start < end:
                place = origin + score + start - below
                following[place : place + end - start] += masses[start:end] * mass
            if end < len(masses):
                accepted.append(halved_sum(masses[end:]) * mass)
        if accepted:
            settled = np.asarray(sum(accepted[1:], accepted[0]), dtype=masses.dtype)
            alive = rounds + len(masses).bit_length()
            beside = max(other.rounds + len(added).bit_length(), other.settled_rounds) + 1
            settled_rounds = max(settled_rounds, alive) + beside + 1 + len(accepted)
        rounds += other.rounds + 1 + len(added)
        denominator *= other.denominator
        masses, origin = following, below
    return Table(
        axes=(),
        scores=np.arange(origin, origin + len(masses), dtype=np.int64),
        masses=masses,
        settled=settled,
        own=own,
        rounds=rounds,
        settled_rounds=settled_rounds,
        denominator=denominator,
    )


def masses_at_least(tables: Iterable[Table], window: Window) -> Table:
    """The product of all tables with what reaches the target as its only masses, a plain table.

    Where the sums of all loose tables would be few among the scores, two halves are multiplied for themselves and meet
    in the middle: the tables of n columns of k cells have k^(n/2) sums then, not k^n.
    """
    ordered = list(tables)
    singles = [table for table in ordered if not table.axes]
    first, second = _halves(singles) if _sparse(singles) else ([], singles)
    loose = product_of(second, window)
    keyed = product_of([*(table for table in ordered if table.axes), *first], window)
    if loose is None or keyed is None or loose.plain:
        one = product_of((table for table in (keyed, loose) if table is not None), window)
        assert one is not None, "there is a column that is asked for, or one that is read"
        return _reached(one, window)
    return _joined(keyed, loose, window)


def _sparse(tables: list[Table]) -> bool:
    """Whether half of the tables have far fewer sums than there are scores between the least and the greatest."""
    sums = prod(max(1, len(table.scores)) for table in tables)
    span = sum(table.own.high - table.own.low for table in tables)
    return span > _GRID and 8 * isqrt(sums) < span


def _halves(tables: list[Table]) -> tuple[list[Table], list[Table]]:
    """Two groups with about as many sums."""
    groups: tuple[list[Table], list[Table]] = ([], [])
    sums = [1, 1]
    for table in sorted(tables, key=_scores_of, reverse=True):
        smaller = 0 if sums[0] < sums[1] else 1
        groups[smaller].append(table)
        sums[smaller] *= max(1, len(table.scores))
    return groups


def _reached(table: Table, window: Window) -> Table:
    reached = halved_sum(table.masses[..., int(np.searchsorted(table.scores, window.target)) :])
    if table.settled is not None:
        reached = reached + table.settled
    return _plain(table, reached, max(table.rounds + len(table.scores).bit_length(), table.settled_rounds) + 1)


def _joined(keyed: Table, loose: Table, window: Window) -> Table:
    """Sum over the scores of one of the mass of what is missing in the other: no table of all sums is needed."""
    sums = suffix_sums(loose.masses)
    enough = sums[np.searchsorted(loose.scores, window.target - keyed.scores)]
    whole = sums[0]
    if loose.settled is not None:
        enough, whole = enough + loose.settled, whole + loose.settled
    reached = halved_sum(keyed.masses * enough)
    if keyed.settled is not None:
        reached = reached + keyed.settled * whole
    inner = max(loose.rounds + len(loose.scores).bit_length(), loose.settled_rounds) + 1
    rounds = max(keyed.rounds + len(keyed.scores).bit_length(), keyed.settled_rounds) + inner + 3
    return _plain(keyed, reached, rounds, keyed.denominator * loose.denominator)


def _plain(table: Table, masses: Masses, rounds: int, denominator: int | None = None) -> Table:
    under = table.denominator if denominator is None else denominator
    return Table.of_probabilities(table.axes, np.asarray(masses, dtype=table.masses.dtype), rounds, under)


# --------------------------------------------------------------------------------------------------
# One pass over a task: every contribution rounded down, or every one up, and every doubtful mass left out, or
# counted.
#
# With a scale s the scores are whole: ``sum floor(s g_i) <= s S <= sum ceil(s g_i)``, so the mass that reaches the
# target when all are rounded down is at most Pr[S >= t], and when rounded up at least that. Contributions are rounded,
# not weights, so that it holds for values of either sign. Where every s g_i is whole and every mass is known, the two
# passes are one and the result is exact.

_ZERO = Fraction(0)
_NOTHING = Enclosure.exactly(_ZERO)
#: Products of masses may underflow where the least of them is below 2**-1000; what is lost is less than that, too:
#: every operation loses less than 2**-1074 of a mass of at most 1, and there are fewer than 2**74.
_TINY = -1000
_UNDERFLOW = Fraction(1, 1 << 1000)

#: Masses by the cells of the columns that were kept, in the order of ``kept``: lower and upper bounds.
Found = dict[tuple[int, ...], Enclosure]


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


def _outward(run: Rounded, mass: Any, rounds: int, denominator: int) -> Enclosure:
    """(1 + u)^m - 1 and 1 - (1 - u)^m are below 2 m u; underflow, where it is possible, adds less than 2**-1000."""
    if run.arithmetic is Arithmetic.EXACT:
        return Enclosure.exactly(Fraction(mass, denominator))
    value = Fraction(mass)
    error = value * Fraction(2 * (rounds + 2), 1 << 53)
    if run.smallest < _TINY:
        error += _UNDERFLOW
    return Enclosure(low=max(_ZERO, value - error), high=value + error)


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
    side = attrgetter("low" if run.side is Side.LOW else "high")
    totals: Found = {}
    for cells in product(*(range(size) for size in masses.shape[:-1])):
        own = tuple(cells[place] for place in places)
        parts = [] if settled is None else [(settled[cells], side(remainder.total(own)))]
        for number, mass in enumerate(masses[cells].tolist()):
            if mass or run.smallest < _TINY:
                meter.tick()
                ends = remainder.total(own) if goal is None else remainder.tail(own, missing[number], goal.strict)
                parts.append((mass, side(ends)))
        low, high = totals.get(cells[: len(kept)], _NOTHING)
        for mass, share in parts:
            below, above = _outward(run, mass, max(table.rounds, table.settled_rounds), table.denominator)
            low, high = low + below * share, high + above * share
        totals[cells[: len(kept)]] = Enclosure(low=low, high=high)
    return totals


def _missing(run: Rounded, goal: Goal, score: int) -> Fraction:
    assert run.scale is not None, "a goal is about the score"
    return goal.needed - run.task.constant - score / run.scale
