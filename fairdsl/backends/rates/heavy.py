"""Combinations of the columns' classes, the heaviest first: bounds where there are too many states to be counted.

A pass lets one column after the other become known, for many combinations at once, and leaves those open whose mass is
below a limit; the next pass has a lower limit. The mass of a combination is the product of what is known of it and of
what follows from its cells, which is summed up backwards once. So masses are those of all that begins so, and what is
decided early is counted as a whole. Where a few combinations have most of the mass, as under most learned networks,
little is left open soon, however many trees are added up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.rates.arithmetic import Arithmetic, Distribution, Kind, Masses
from fairdsl.backends.rates.bundles import Bound, Bundled, Move, bundled_along
from fairdsl.backends.rates.diagram import Column
from fairdsl.backends.rates.engine import TooManyError, Wholes
from fairdsl.backends.rates.path import Stage, order_of_cells, stages, weights_of
from fairdsl.metrics.joint import Bounds, Joint
from fairdsl.metrics.subject import Subject
from fairdsl.numerics.tables import aligned

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Entries of a table at most, combinations that are looked at together, and work before anybody looks at the clock.
_TABLE, _BLOCK, _WORK = 1 << 22, 1 << 13, 1 << 24
#: The limit of the first pass, and how much lower that of the next is.
_LIMIT, _LOWER = 2.0**-12, 8.0


@dataclass(frozen=True, eq=False)
class _Level:
    """A column becomes known: its branches are its classes in each of its cells, and tables by cells of columns before.

    ``cells`` are combinations of cells of columns that are still needed, as one number.
    """

    #: What a branch multiplies the mass with, and what with all that follows, [cells, branches].
    factor: FloatArray
    mass: FloatArray
    #: The cells after it, [cells, branches].
    cells: IntArray
    #: The class of each branch, [branches], and how many there are.
    kind: IntArray
    classes: int
    #: The keys of cells after it, [cells]; None where not all keys are known.
    key: IntArray | None
    #: How the bundles before it become those that read its column, and what the column makes of each.
    bound: tuple[Bound, ...] = ()
    moves: tuple[Move | None, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """Combinations of which the columns before a level are known."""

    level: int
    mass: FloatArray
    cells: IntArray
    #: The states of the bundles, [bundles, combinations], and what the sums come to at least and at most, [2, sums, c].
    left: IntArray
    ends: IntArray

    def rows(self, chosen: IntArray | BoolArray | slice) -> _Block:
        """Some of them."""
        return _Block(self.level, self.mass[chosen], self.cells[chosen], self.left[:, chosen], self.ends[..., chosen])


class Heavy:
    """Bounds of one subject's joint; TooManyError where tables are too large, or cells are open."""

    def __init__(self, subject: Subject) -> None:
        self._wholes = wholes = Wholes(subject)
        asked, distribution = wholes.asked, wholes.distribution
        self._program = program = asked.event
        if any(column.open for column in asked.columns.values()):
            raise TooManyError("cells are open")
        self._arithmetic = Arithmetic(Kind.FLOAT, 1)
        keys = subject.keys
        order = order_of_cells(program, distribution, keys, asked.columns)
        bundled = bundled_along(program, order)
        self._bundles, self._ends = bundled.count, bundled.ends
        self._levels = _Levels(distribution, asked.columns, self._arithmetic, bundled).of(order, keys)
        if not self._arithmetic.safe:
            raise TooManyError("probabilities are too small for floats")
        shape = prod(distribution.sizes[key] for key in keys)
        #: What certainly happens, and what does not: in this pass, and at best; [2, keys].
        self._sums, self._best = np.zeros((2, shape)), np.zeros((2, shape))
        self._limit = _LIMIT
        self._added = self.combinations = 0
        self._dropped = False
        self._waiting = [self._begin()]
        self.finished = False

    def _begin(self) -> _Block:
        left = np.zeros((self._bundles, 1), dtype=np.int64)
        return _Block(0, np.ones(1), np.zeros(1, dtype=np.int64), left, self._ends[..., None])

    def improve(self) -> None:
        """Look at more combinations."""
        work = 0
        while work < _WORK and not self.finished:
            if not self._waiting:
                self._pass_on()
                continue
            block = self._waiting.pop()
            if len(block.mass) > _BLOCK:
                self._waiting.append(block.rows(slice(_BLOCK, None)))
                block = block.rows(slice(0, _BLOCK))
            work += self._put_in(block)

    def _pass_on(self) -> None:
        """Begin the next pass, if anything is left."""
        self._best = np.maximum(self._best, self._sums)
        self.finished = not self._dropped
        if not self.finished:
            self._limit /= _LOWER
            self._sums, self._dropped, self._waiting = np.zeros_like(self._sums), False, [self._begin()]

    def _put_in(self, block: _Block) -> int:
        """Let the next column become known; how much work it was."""
        level = self._levels[block.level]
        mass = block.mass[:, None] * level.mass.take(block.cells, axis=0)
        keep = mass >= self._limit
        self._dropped = self._dropped or bool(((mass > 0) & ~keep).any())
        rows, branches = np.nonzero(keep)
        cells, kinds = block.cells[rows], level.kind[branches]
        left, ends = self._moved(level, block, rows, kinds)
        least, most = ends
        after = level.cells[cells, branches]
        open_ = np.arange(len(rows))
        if level.key is not None:
            sure = (least >= self._program.sure[:, None]).all(axis=0)
            never = (most < self._program.maybe[:, None]).any(axis=0)
            for place, chosen in enumerate((sure, never)):
                weights = mass[rows[chosen], branches[chosen]]
                keys = level.key[after[chosen]]
                self._sums[place] += np.bincount(keys, weights=weights, minlength=self._sums.shape[1])
                self._added += len(keys)
            open_ = np.flatnonzero(~sure & ~never)
        self.combinations += len(rows)
        if len(open_) and block.level + 1 < len(self._levels):
            open_ = open_[np.argsort(-mass[rows[open_], branches[open_]])]
            forward = block.mass[rows[open_]] * level.factor[cells[open_], branches[open_]]
            self._waiting.append(_Block(block.level + 1, forward, after[open_], left[:, open_], ends[..., open_]))
        return mass.size + len(rows) * (8 + len(left) * (1 + 2 * len(least)))

    @staticmethod
    def _moved(level: _Level, block: _Block, rows: IntArray, kinds: IntArray) -> tuple[IntArray, IntArray]:
        """The states of the bundles, and the ends of the sums, when a class becomes known of some combinations."""
        before = block.ends.copy()
        bound = np.empty((len(level.bound), len(block.mass)), dtype=np.int64)
        for place, each in enumerate(level.bound):
            bound[place] = each.together(block.left)
            if each.ends is not None:
                before += each.ends.take(bound[place], axis=-1)
        ends, left = before.take(rows, axis=-1), bound.take(rows, axis=1)
        totals = ends.reshape(2 * ends.shape[1], len(rows))
        for own, move in zip(left, level.moves, strict=True):
            if move is not None:
                own *= level.classes
                own += kinds
                for total, gained in zip(totals, move.ends, strict=True):
                    total += gained.take(own)
                own[:] = move.follows.take(own)
        return left, ends

    def joint(self) -> Joint:
        """What is known by now."""
        best = np.maximum(self._best, self._sums)
        arithmetic = replace(self._arithmetic, roundings=self._arithmetic.roundings + self._added)
        sure, never = (arithmetic.bounds(each, each) for each in best)
        everybody = self._wholes.everybody
        return self._wholes.joint(
            [
                Bounds(low=min(one.low, whole.high), high=max(min(one.low, whole.high), whole.high - other.low))
                for one, other, whole in zip(sure, never, everybody, strict=True)
            ]
        )


@dataclass(frozen=True, eq=False)
class _Levels:
    """How levels are made."""

    distribution: Distribution
    columns: dict[int, Column]
    arithmetic: Arithmetic
    bundled: Bundled

    def of(self, order: tuple[int, ...], keys: tuple[int, ...]) -> list[_Level]:
        """Those along an order."""
        after = self._constants()
        levels: list[_Level] = []
        along = zip(stages(self.distribution, order, keys), self.bundled.bound, self.bundled.moves, strict=True)
        for stage, bound, moves in reversed(list(along)):
            split = any(move is not None for move in moves)
            weights = weights_of(self.distribution, stage, self.columns, self.arithmetic, split=split)
            level, after = self._level(stage, weights, after, keys)
            levels.append(replace(level, bound=bound, moves=moves))
        return levels[::-1]

    def _constants(self) -> FloatArray:
        """What tables without columns multiply everything with, after the last column."""
        numbers = self.arithmetic.numbers
        found = 1.0
        for table, scale in zip(self.distribution.tables, self.distribution.scales, strict=True):
            if not table.columns:
                found *= float(numbers(np.asarray(table.numbers, dtype=object).reshape(1), scale)[0])
        return np.array(found)

    def _level(
        self, stage: Stage, weights: Masses, after: FloatArray, keys: tuple[int, ...]
    ) -> tuple[_Level, FloatArray]:
        """The tables of masses, and the sums of what follows, by the cells before it."""
        axes, sizes = (*stage.before, stage.column), self.distribution.sizes
        classes, shape = len(weights), weights.shape[1:]
        if weights.size > _TABLE:
            raise TooManyError("the distribution connects too many columns")
        if not after.ndim:  # behind the last column there are the keys
            after = np.full([sizes[column] for column in stage.after], float(after))
        follows = aligned(after, [axes.index(column) for column in stage.after], len(axes))
        place = np.arange(after.size).reshape(after.shape)
        cells = np.broadcast_to(aligned(place, [axes.index(column) for column in stage.after], len(axes)), shape)
        mass = weights * follows[None]
        self.arithmetic.roundings += 3 + classes * shape[-1]
        before = prod(shape[:-1])

        def by_branch(table: NDArray[Any]) -> NDArray[Any]:
            return np.ascontiguousarray(table.reshape(classes, before, -1).transpose(1, 0, 2).reshape(before, -1))

        wide = np.broadcast_to(cells[None], weights.shape)
        level = _Level(
            factor=by_branch(weights),
            mass=by_branch(mass),
            cells=by_branch(wide),
            kind=np.repeat(np.arange(classes), shape[-1]),
            classes=classes,
            key=_key(stage, sizes, keys),
        )
        return level, np.asarray(mass.sum(axis=(0, -1)))


def _key(stage: Stage, sizes: Mapping[int, int], keys: tuple[int, ...]) -> IntArray | None:
    """The keys of the cells after a stage."""
    if not set(keys) <= set(stage.after):
        return None
    places = np.indices([sizes[column] for column in stage.after]).reshape(len(stage.after), -1)
    found = np.zeros(places.shape[1], dtype=np.int64)
    for key in keys:
        found = found * sizes[key] + places[stage.after.index(key)]
    return found
