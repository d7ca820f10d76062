"""Masses of states, one column after the other: the *path* order.

Beside the state there is an axis of cells for every column that a table still has to be multiplied for, and for every
key. A column is put in with all tables that are complete with it; where nothing needs it any more it is summed out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from fairdsl.backends.rates.arithmetic import Arithmetic, Masses
from fairdsl.backends.rates.columns import Column
from fairdsl.backends.rates.distribution import Distribution
from fairdsl.backends.rates.states import Course, Step
from fairdsl.clock import look
from fairdsl.numerics.tables import aligned

__all__ = ["Stage", "cells_along", "masses_of", "stages", "weights_of"]

#: Masses that are multiplied at once.
_BATCH = 1 << 20


@dataclass(frozen=True, slots=True)
class Stage:
    """A column and what becomes known with it: ``tables`` by number, the axes before and after it."""

    column: int
    tables: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]


def stages(distribution: Distribution, order: Sequence[int], keys: Sequence[int]) -> list[Stage]:
    """The columns in an order, the cells of keys being needed to the end."""
    known: list[int] = []
    live: tuple[int, ...] = ()
    waiting = {number for number, table in enumerate(distribution.tables) if table.columns}
    found = []
    for column in order:
        known.append(column)
        ready = sorted(number for number in waiting if set(distribution.tables[number].columns) <= set(known))
        waiting.difference_update(ready)
        needed = set(keys).union(*(distribution.tables[number].columns for number in waiting))
        after = tuple(each for each in (*live, column) if each in needed)
        found.append(Stage(column, tuple(ready), live, after))
        live = after
    return found


def cells_along(distribution: Distribution, order: Sequence[int], keys: Sequence[int]) -> list[int]:
    """For how many cells each state has a mass when a column becomes known, [columns]."""
    along = stages(distribution, order, keys)
    return [prod(distribution.sizes[each] for each in {*stage.before, stage.column}) for stage in along]


def masses_of(
    distribution: Distribution,
    course: Course,
    order: Sequence[int],
    keys: Sequence[int],
    columns: Mapping[int, Column],
    arithmetic: Arithmetic,
) -> tuple[Masses, Masses]:
    """The mass of the event, certainly and possibly, by the cells of the keys in their order."""
    shape = tuple(distribution.sizes[key] for key in keys)
    if not course.sure.any() and not course.maybe.any():
        nothing = np.zeros(shape, dtype=arithmetic.kind.value)
        return nothing, nothing
    masses = np.ones((1,), dtype=arithmetic.kind.value)
    for table, scale in zip(distribution.tables, distribution.scales, strict=True):
        if not table.columns:
            masses = masses * arithmetic.numbers(np.asarray(table.numbers, dtype=object).reshape(1), scale)
    live: tuple[int, ...] = ()
    for stage, step in zip(stages(distribution, order, keys), course.steps, strict=True):
        look()
        weights = weights_of(distribution, stage, columns, arithmetic, split=step.follows is not None)
        masses = _put_in(masses, weights, stage, step, arithmetic)
        live = stage.after
    places = [live.index(key) for key in keys]
    found = []
    for chosen in (course.sure, course.maybe):
        arithmetic.roundings += int(chosen.sum())
        found.append(masses[chosen].sum(axis=0, dtype=masses.dtype).transpose(places))
    return found[0], found[1]


def weights_of(
    distribution: Distribution, stage: Stage, columns: Mapping[int, Column], arithmetic: Arithmetic, *, split: bool
) -> Masses:
    """What masses are multiplied with in each class, [classes, cells of the axes before, cells of the column].

    All classes are one unless they are told apart (``split``), as are the cells of a column that nothing needs later.
    """
    axes = (*stage.before, stage.column)
    column = columns[stage.column]
    shares = arithmetic.numbers(column.shares.astype(object), column.denominator)
    if not split:
        shares = shares.sum(axis=0, keepdims=True)
        arithmetic.roundings += len(column.choices)
    weights = shares.reshape((len(shares), *[1] * len(stage.before), shares.shape[1]))
    for number in stage.tables:
        table = distribution.tables[number]
        numbers = arithmetic.numbers(table.numbers, distribution.scales[number])
        weights = weights * aligned(numbers, [axes.index(each) for each in table.columns], len(axes))[None]
        arithmetic.roundings += 1
    sizes = tuple(distribution.sizes[each] for each in axes)
    weights = np.broadcast_to(weights, (len(weights), *sizes))
    if stage.column not in stage.after:
        arithmetic.roundings += sizes[-1]
        return np.asarray(weights.sum(axis=-1, dtype=weights.dtype))[..., None]
    return weights


def _put_in(masses: Masses, weights: Masses, stage: Stage, step: Step, arithmetic: Arithmetic) -> Masses:
    """The masses after a column, [states, cells of the axes after]."""
    gone = tuple(place + 1 for place, each in enumerate(stage.before) if each not in stage.after)
    cells = weights.shape[1:]
    if stage.column not in stage.after:
        gone = (*gone, len(cells))
    arithmetic.roundings += 2 + prod(cells[place - 1] for place in gone)
    kept = tuple(size for place, size in enumerate(cells, start=1) if place not in gone)
    if step.follows is None:
        return np.asarray((masses[..., None] * weights).sum(axis=gone, dtype=masses.dtype))
    follows = step.follows.reshape(-1)
    order = np.argsort(follows, kind="stable")
    order = order[np.searchsorted(follows[order], 0) :]
    after = np.zeros((step.states, *kept), dtype=masses.dtype)
    if not order.size:
        return after
    arithmetic.roundings += int(np.bincount(follows[order]).max()) + 1
    classes = len(weights)
    batch = max(1, _BATCH // max(1, prod(cells)))
    for start in range(0, len(order), batch):
        look()
        rows = order[start : start + batch]
        states, kinds = np.divmod(rows, classes)
        parts = masses[states][..., None] * weights[kinds]
        if gone:
            parts = parts.sum(axis=gone, dtype=masses.dtype)
        to = follows[rows]
        first = np.flatnonzero(np.diff(to, prepend=-1))
        after[to[first]] += np.add.reduceat(parts, first, axis=0)
    return after
