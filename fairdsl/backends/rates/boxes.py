"""Masses of the ways through one diagram: the *tree* order.

Every way to a favourable leaf is a box, a set of classes of each column, and the boxes have nothing in common. Their
masses by the cells of the keys are variable elimination on the distribution, restricted to the box, with the way as one
more axis of every table: all boxes at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.rates.arithmetic import Arithmetic, Distribution, Masses
from fairdsl.backends.rates.diagram import Column
from fairdsl.backends.rates.program import Program
from fairdsl.clock import look
from fairdsl.numerics.axes import Axis
from fairdsl.numerics.elimination import elimination
from fairdsl.numerics.tables import Table, aligned, joined, without_in_order

BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.int64]
#: Entries of tables that are made at once.
_BATCH = 1 << 20
#: Classes of all boxes together.
_ROOM = 1 << 28


@dataclass(frozen=True, eq=False)
class Boxes:
    """The ways to certain leaves, and behind them those to leaves that are open."""

    #: Which classes belong to a box, [boxes, classes], by column.
    inside: Mapping[int, BoolArray]
    #: How many there are, and how many of them are certain.
    count: int
    certain: int


def ways_through(program: Program) -> int:
    """How many ways there are to leaves where the event may happen, also such as nobody can go."""
    (root,) = program.roots
    made, least = program.diagrams, int(program.maybe[0])
    ways: dict[int, int] = {}

    def of(node: int) -> int:
        return ways[node] if node in ways else int(made.low[node][0] >= least)

    for node in made.below([root]):
        key = made.nodes[node]
        assert key is not None, "leaves read nothing"
        ways[node] = of(key[1]) + of(key[2])
    return of(root)


def boxes_of(program: Program, columns: Mapping[int, Column]) -> Boxes | None:
    """The boxes of a program that is one diagram of tests of one column each; None where there are too many."""
    reads = sorted(program.reads)
    starts = np.cumsum([0, *(columns[column].classes for column in reads)]).tolist()
    own = {column: slice(start, stop) for column, start, stop in zip(reads, starts, starts[1:], strict=False)}
    graph = _Graph.of(program, own, starts[-1])
    nodes, masks = np.array([len(graph.worth) - 1]), np.ones((1, starts[-1]), dtype=np.bool_)
    done: list[tuple[IntArray, BoolArray]] = []
    while len(nodes):
        look()
        here = graph.yes[nodes] == nodes
        done.append((nodes[here], masks[here]))
        nodes, masks = nodes[~here], masks[~here]
        if (sum(len(ends) for ends, _ in done) + 2 * len(nodes)) * starts[-1] > _ROOM:
            return None
        parts = [graph.below(nodes, masks, holds=holds) for holds in (True, False)]
        nodes, masks = (np.concatenate(both) for both in zip(*parts, strict=True))
    ends, masks = (np.concatenate(each) for each in zip(*done, strict=True))
    worth = graph.worth[ends]
    order = np.argsort(-worth, kind="stable")[: int((worth >= program.maybe[0]).sum())]
    inside = {column: masks[order, part] for column, part in own.items()}
    return Boxes(inside, len(order), int((worth >= program.sure[0]).sum()))


@dataclass(frozen=True, eq=False)
class _Graph:
    """The nodes of a diagram, numbered anew, the root last; all classes of all columns are one axis."""

    yes: IntArray
    no: IntArray
    #: What leaves add, and what can be reached from other nodes at most, [nodes].
    worth: IntArray
    least: int
    #: The test of a node; of tests, where they hold, and which classes are of their column, [tests, classes].
    test: IntArray
    holds: BoolArray
    column: BoolArray

    @classmethod
    def of(cls, program: Program, own: Mapping[int, slice], width: int) -> _Graph:
        """The nodes below the program's root."""
        made, (root,) = program.diagrams, program.roots
        inner = made.below([root])
        leaves = {child for node in inner for child in (made.nodes[node] or (0, 0, 0))[1:] if made.is_leaf(child)}
        listed = [*sorted(leaves), *inner] or [root]
        place = {node: number for number, node in enumerate(listed)}
        keys = [made.nodes[node] or (0, node, node) for node in listed]
        tests = len(made.tests)
        holds, column = np.zeros((max(1, tests), width), np.bool_), np.zeros((max(1, tests), width), np.bool_)
        for number, test in enumerate(made.tests):
            if isinstance(test, tuple) and test[0] in own:
                holds[number, own[test[0]]] = test[1]
                column[number, own[test[0]]] = True
        return cls(
            yes=np.array([place[key[1]] for key in keys]),
            no=np.array([place[key[2]] for key in keys]),
            worth=np.array([made.high[node][0] for node in listed]),
            least=int(program.maybe[0]),
            test=np.array([key[0] for key in keys]),
            holds=holds,
            column=column,
        )

    def below(self, nodes: IntArray, masks: BoolArray, *, holds: bool) -> tuple[IntArray, BoolArray]:
        """Where ways go on from nodes, and in which classes; only those that somebody can go, to a leaf that counts."""
        children = (self.yes if holds else self.no)[nodes]
        column = self.column[self.test[nodes]]
        truth = self.holds[self.test[nodes]]
        inside = masks & column & (truth if holds else ~truth)
        alive = inside.any(axis=1) & (self.worth[children] >= self.least)
        return children[alive], (inside | (masks & ~column))[alive]


def width_of(distribution: Distribution, keys: Sequence[int]) -> int:
    """About how many products a single box takes."""
    return sum(cells for _, cells in _eliminated(distribution, keys)) + prod(distribution.sizes[key] for key in keys)


def _order(distribution: Distribution, keys: Sequence[int]) -> list[int]:
    """The columns that are not keys, in the order in which they are summed out."""
    return [column for column, _ in _eliminated(distribution, keys)]


def _eliminated(distribution: Distribution, keys: Sequence[int]) -> Iterator[tuple[int, int]]:
    alone = ((column,) for column in distribution.sizes)
    return elimination([*(table.columns for table in distribution.tables), *alone], distribution.sizes, set(keys))


def masses_of_boxes(
    distribution: Distribution,
    boxes: Boxes,
    keys: Sequence[int],
    columns: Mapping[int, Column],
    arithmetic: Arithmetic,
) -> tuple[Masses, Masses]:
    """The mass of the event, certainly and possibly, by the cells of the keys in their order."""
    tables = _numbered(distribution, arithmetic)
    shares = {
        column: arithmetic.numbers(columns[column].shares.astype(object), columns[column].denominator)
        for column in distribution.sizes
    }
    order = _order(distribution, keys)
    arithmetic.roundings += sum(2 + size for size in distribution.sizes.values()) + len(tables) + boxes.count
    arithmetic.roundings += max(column.classes for column in columns.values())
    shape = tuple(distribution.sizes[key] for key in keys)
    found = [np.zeros(shape, dtype=arithmetic.kind.value) for _ in range(2)]
    batch = max(1, _BATCH // width_of(distribution, keys))
    for start in range(0, boxes.count, batch):
        look()
        stop = min(boxes.count, start + batch)
        sure = min(max(boxes.certain - start, 0), stop - start)
        masses = _summed(_restricted(boxes, slice(start, stop), shares, tables), order, keys, shape)
        found[0] = found[0] + masses[:sure].sum(axis=0, dtype=masses.dtype)
        found[1] = found[1] + masses.sum(axis=0, dtype=masses.dtype)
    return found[0], found[1]


#: The axis of boxes, in tables that differ between them; it comes first.
_BOXES = -1


def _numbered(distribution: Distribution, arithmetic: Arithmetic) -> list[Table]:
    """The distribution's tables in a kind of arithmetic."""
    return [
        Table(table.columns, arithmetic.numbers(np.asarray(table.numbers, dtype=object), scale))
        for table, scale in zip(distribution.tables, distribution.scales, strict=True)
    ]


def _restricted(boxes: Boxes, rows: slice, shares: Mapping[int, Masses], tables: list[Table]) -> list[Table]:
    """The distribution's tables, and of each column what of its cells lies in the boxes."""
    live = list(tables)
    for column, own in shares.items():
        inside = boxes.inside.get(column)
        if inside is None:
            live.append(Table((column,), own.sum(axis=0, dtype=own.dtype)))
        else:
            live.append(Table((_BOXES, column), inside[rows].astype(own.dtype) @ own))
    return live


def _summed(live: list[Table], order: Sequence[int], keys: Sequence[int], shape: tuple[int, ...]) -> Masses:
    """The product of tables with the columns of an order summed out, [boxes, keys]; ``shape`` has the keys' sizes.

    One box where no table differs between them.
    """
    found = joined(without_in_order(live, order))
    axes = (_BOXES, *keys)
    numbers = aligned(found.numbers, [axes.index(column) for column in found.columns], len(axes))
    return np.broadcast_to(numbers, (len(numbers), *shape))


# --------------------------------------------------------------------------------------------------
# Masses of many boxes of atoms at once, by the cells of the keys: variable elimination, the box as one more axis.

#: Weights below it are int64.
_FITS = 1 << 62


def denominator_of(distribution: Distribution, axes: Mapping[int, Axis]) -> int:
    """What the masses of boxes are whole numbers over."""
    return prod(distribution.scales) * prod(axes[column].denominator for column in distribution.sizes)


@dataclass(frozen=True, eq=False)
class _Cells:
    """A column's atoms by cells: the weights of the atoms before each, and where the cells begin and end."""

    column: int
    before: Masses
    first: IntArray
    last: IntArray
    denominator: int

    @classmethod
    def of(cls, column: int, axis: Axis, cells: int) -> _Cells:
        before = [0]
        for weight in axis.weights:
            before.append(before[-1] + weight)
        ranges = np.array([axis.range_of(cell) for cell in range(cells)], dtype=np.int64).reshape(-1, 2)
        kind = np.int64 if before[-1] < _FITS else object
        return cls(column, np.array(before, dtype=kind), ranges[:, 0], ranges[:, 1], axis.denominator)

    def inside(self, start: IntArray, stop: IntArray) -> Masses:
        """How much of each cell lies in ranges of atoms, over the denominator, [ranges, cells]; without rounding."""
        ends = np.clip(stop[:, None], self.first, self.last)
        return self.before[ends] - self.before[np.clip(start[:, None], self.first, self.last)]


class Weigher:
    """The masses of boxes in one kind of arithmetic."""

    def __init__(
        self, distribution: Distribution, axes: Mapping[int, Axis], keys: Sequence[int], arithmetic: Arithmetic
    ) -> None:
        self.arithmetic = arithmetic
        self._order, self._keys = _order(distribution, keys), tuple(keys)
        self._shape = tuple(distribution.sizes[key] for key in keys)
        self._cells = [_Cells.of(column, axes[column], size) for column, size in distribution.sizes.items()]
        self._tables = _numbered(distribution, arithmetic)
        for cells in self._cells:  # for what is counted of them
            arithmetic.numbers(np.diff(cells.before).astype(object), cells.denominator)
        arithmetic.roundings += sum(4 + size for size in distribution.sizes.values()) + len(self._tables)
        self._batch = max(1, _BATCH // max(1, width_of(distribution, keys)))

    @property
    def width(self) -> int:
        """How many cells the keys have together."""
        return prod(self._shape)

    def masses(self, start: IntArray, stop: IntArray) -> Masses:
        """The masses of boxes; ranges are [boxes, columns], the result [boxes, cells of the keys]."""
        parts = [
            self._masses(start[at : at + self._batch], stop[at : at + self._batch])
            for at in range(0, max(1, len(start)), self._batch)
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _masses(self, start: IntArray, stop: IntArray) -> Masses:
        live = list(self._tables)
        for cells in self._cells:
            inside = cells.inside(start[:, cells.column], stop[:, cells.column])
            live.append(Table((_BOXES, cells.column), self.arithmetic.shares(inside, cells.denominator)))
        found = _summed(live, self._order, self._keys, self._shape)
        return np.broadcast_to(found, (len(start), *self._shape)).reshape(len(start), self.width)
