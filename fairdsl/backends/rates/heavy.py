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
from fairdsl.backends.rates.diagram import Column, Diagrams
from fairdsl.backends.rates.engine import TooManyError, Wholes
from fairdsl.backends.rates.path import Stage, order_of_cells, stages, weights_of
from fairdsl.backends.rates.program import Program
from fairdsl.metrics.joint import Bounds, Joint
from fairdsl.metrics.subject import Subject
from fairdsl.numerics.tables import aligned

__all__ = ["Heavy"]

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
    #: The class of each branch, [branches].
    kind: IntArray
    #: What becomes of what is left of a diagram, [nodes before, classes]; None where the column is not read.
    places: IntArray | None
    #: What can be reached from nodes after it, [sums, nodes].
    low: IntArray
    high: IntArray
    #: What the classes add, and what columns that are left add at least and at most, [sums, classes] and [sums].
    added: IntArray
    least: IntArray
    most: IntArray
    #: The keys of cells after it, [cells]; None where not all keys are known.
    key: IntArray | None


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """Combinations of which the columns before a level are known."""

    level: int
    mass: FloatArray
    cells: IntArray
    #: Nodes that are left, [diagrams, combinations], and what was added, [sums, combinations].
    left: IntArray
    sums: IntArray

    def rows(self, chosen: IntArray | BoolArray | slice) -> _Block:
        """Some of them."""
        return _Block(self.level, self.mass[chosen], self.cells[chosen], self.left[:, chosen], self.sums[:, chosen])


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
        self._levels = _Levels(program, distribution, asked.columns, self._arithmetic).of(order, keys)
        if not self._arithmetic.safe:
            raise TooManyError("masses are too small for floats")
        shape = prod(distribution.sizes[key] for key in keys)
        #: What certainly happens, and what does not: in this pass, and at best; [2, keys].
        self._sums, self._best = np.zeros((2, shape)), np.zeros((2, shape))
        self._limit = _LIMIT
        self._added = self.combinations = 0
        self._dropped = False
        self._waiting = [self._begin()]
        self.finished = False

    def _begin(self) -> _Block:
        nodes = [0, *sorted(set(self._program.roots) - {0})]
        left = np.searchsorted(nodes, self._program.roots).reshape(-1, 1)
        zero = np.zeros(1, dtype=np.int64)
        return _Block(0, np.ones(1), zero, left, np.zeros((len(self._program.sure), 1), dtype=np.int64))

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
        left = block.left[:, rows]
        if level.places is not None:
            width, flat = level.places.shape[1], level.places.reshape(-1)
            left *= width
            left += kinds
            left = flat.take(left)
        sums = block.sums[:, rows] + level.added[:, kinds]
        least, most = sums + level.least[:, None], sums + level.most[:, None]
        for number in range(len(sums)):
            for total, table in ((least[number], level.low[number]), (most[number], level.high[number])):
                for at in left:
                    total += table.take(at)
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
            self._waiting.append(_Block(block.level + 1, forward, after[open_], left[:, open_], sums[:, open_]))
        return mass.size + len(rows) * (8 + len(left) * (1 + 2 * len(sums)))

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

    program: Program
    distribution: Distribution
    columns: dict[int, Column]
    arithmetic: Arithmetic

    def of(self, order: tuple[int, ...], keys: tuple[int, ...]) -> list[_Level]:
        """Those along an order."""
        program, made = self.program, self.program.diagrams
        along = stages(self.distribution, order, keys)
        nodes = [0, *sorted(set(program.roots) - {0})]
        read = []
        for stage in along:
            places, nodes = _put_in(made, nodes, stage.column)
            read.append((places, np.array([made.low[n] for n in nodes]).T, np.array([made.high[n] for n in nodes]).T))
        after = self._constants()
        nothing = np.zeros(len(program.sure), dtype=np.int64)
        least = most = nothing
        levels: list[_Level] = []
        for stage, (places, low, high) in reversed(list(zip(along, read, strict=True))):
            added = program.adds.get(stage.column)
            split = places is not None or added is not None
            weights = weights_of(self.distribution, stage, self.columns, self.arithmetic, split=split)
            adds = (np.zeros((len(weights), len(nothing)), np.int64) if added is None else added).T
            level, after = self._level(stage, weights, after, keys)
            levels.append(replace(level, places=places, low=low, high=high, added=adds, least=least, most=most))
            if added is not None:
                least, most = least + added.min(axis=0), most + added.max(axis=0)
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
        none = np.zeros((0, 0), dtype=np.int64)
        level = _Level(
            factor=by_branch(weights),
            mass=by_branch(mass),
            cells=by_branch(wide),
            kind=np.repeat(np.arange(classes), shape[-1]),
            places=None,
            low=none,
            high=none,
            added=none,
            least=none,
            most=none,
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


def _put_in(made: Diagrams, nodes: list[int], column: int) -> tuple[IntArray | None, list[int]]:
    """What becomes of nodes with a column, as places in those after it, [nodes, classes]; None: it is not read."""
    changing = made.below(nodes, 1 << column)
    if not changing:
        return None, nodes
    count = made.column(column).classes
    images = made.put_in(changing, column)
    becomes = np.array([images.get(node) or (node,) * count for node in nodes], dtype=np.int64)
    after, places = np.unique(becomes, return_inverse=True)
    if after.size * count > _TABLE:
        raise TooManyError("too much is left of the trees")
    return places.reshape(becomes.shape), after.tolist()
