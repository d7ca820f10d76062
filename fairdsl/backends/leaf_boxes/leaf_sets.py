"""Leaves of many trees as sets of bits: trees that meet in few ways are made one, so that their extremes are exact."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.leaf_boxes.kernels.records import Leaves

Integers = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

#: Leaves of a word, and of trees that were made one at most.
_WORD, _MERGED = 64, 64
#: Trees that are tried as partners of one, those first that test most of the same axes.
_TRIED = 24
#: Axes that are bits of a number.
_LINES = 62
#: Bytes that the sets may take.
_BYTES = 2**28


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """The leaves of a tree: their boxes [leaves, axes], values, and who may come to them [leaves, assignments].

    A value is a number, or (until the leaves are packed) several of them [leaves, numbers]. ``members`` are the numbers
    of the trees that it is, where they have numbers.
    """

    low: Integers
    high: Integers
    value: Integers
    whose: BoolArray
    members: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.value)

    @property
    def alike(self) -> bool:
        """Whether all assignments may come to every leaf."""
        return bool(self.whose.all())

    def valued(self, value: Integers) -> Tree:
        """The same leaves with other values."""
        return replace(self, value=value)


def merged(trees: Sequence[Tree], ordered: BoolArray) -> list[Tree]:
    """The same sum in fewer trees: two are made one while their leaves meet in few enough ways.

    Trees in which all assignments are alike come first.
    """
    found: list[Tree] = []
    for alike in (True, False):
        waiting = sorted((tree for tree in trees if tree.alike == alike), key=len)
        tested = [_tested(tree) for tree in waiting]
        while waiting:
            tree, axes = waiting.pop(), tested.pop()
            while (partner := _partner(tree, axes, waiting, tested, ordered)) is not None:
                tree = _joined(tree, waiting.pop(partner), ordered)
                axes = axes | tested.pop(partner)
            found.append(tree)
    return found


def _partner(
    tree: Tree, axes: BoolArray, others: Sequence[Tree], tested: Sequence[BoolArray], ordered: BoolArray
) -> int | None:
    """The place of the tree whose leaves meet those of this one in the fewest ways, if these are few enough.

    ``axes`` and ``tested`` are the axes on which some leaf of each tree is smaller than another.
    """
    if not others or 2 * len(tree) > _MERGED:
        return None
    near = np.argsort((np.array(tested) & ~axes).sum(axis=1), kind="stable")[:_TRIED].tolist()
    ways, best = min((int(_meet(tree, others[place], ordered).sum()) / len(others[place]), place) for place in near)
    return best if round(ways * len(others[best])) <= _MERGED else None


def _tested(tree: Tree) -> BoolArray:
    """The axes on which some leaf is smaller than another."""
    return np.asarray((tree.low != tree.low[0]).any(axis=0) | (tree.high != tree.high[0]).any(axis=0), dtype=np.bool_)


def _meet(one: Tree, other: Tree, ordered: BoolArray) -> BoolArray:
    """Which leaves of two trees have somebody in common, [leaves, leaves]."""
    lines = (one.low[:, None] < other.high[None]) & (other.low[None] < one.high[:, None])
    sets = one.low[:, None] & other.low[None] != 0
    together = one.whose.astype(np.int64) @ other.whose.T.astype(np.int64) > 0
    return np.asarray(np.where(ordered, lines, sets).all(axis=2) & together, dtype=np.bool_)


def _joined(one: Tree, other: Tree, ordered: BoolArray) -> Tree:
    first, second = np.nonzero(_meet(one, other, ordered))
    low, more = one.low[first], other.low[second]
    return Tree(
        low=np.where(ordered, np.maximum(low, more), low & more),
        high=np.minimum(one.high[first], other.high[second]),
        value=one.value[first] + other.value[second],
        whose=one.whose[first] & other.whose[second],
        members=one.members + other.members,
    )


def leaves_of(trees: Sequence[Tree], ordered: BoolArray, parts: Sequence[int]) -> Leaves | None:
    """The arrays for the kernels, of trees over axes with so many parts; None where they would take too much room."""
    standing = [tree for tree in trees if tree.alike] + [tree for tree in trees if not tree.alike]
    words = [-(-len(tree) // _WORD) for tree in standing]
    starts = np.array([0, *np.cumsum(words).tolist()], dtype=np.int64)
    alike, count = sum(tree.alike for tree in trees), int(starts[-1])
    sizes = [2 * each if line else each for each, line in zip(parts, ordered.tolist(), strict=True)]
    rows = np.array([0, *np.cumsum(sizes).tolist()], dtype=np.int64)
    people = standing[0].whose.shape[1] if standing else 1
    if 8 * count * (3 * int(rows[-1]) + people + _WORD * (2 * len(parts) + 2)) > _BYTES:
        return None
    value = np.zeros(count * _WORD, dtype=np.int64)
    low, high = (np.zeros((count * _WORD, len(parts)), dtype=np.int64) for _ in range(2))
    there = np.zeros((count * _WORD, people), dtype=np.bool_)
    for tree, start in zip(standing, starts.tolist(), strict=False):
        order = np.argsort(tree.value, kind="stable")
        here = slice(start * _WORD, start * _WORD + len(tree))
        value[here], low[here], high[here], there[here] = (
            each[order] for each in (tree.value, tree.low, tree.high, tree.whose)
        )
    somewhere: BoolArray = np.asarray(there.any(axis=1), dtype=np.bool_)
    meet = np.zeros((int(rows[-1]), count), dtype=np.uint64)
    for axis, line in enumerate(ordered.tolist()):
        row = int(rows[axis])
        for place in range(parts[axis]):
            if line:
                meet[row + place] = _packed(somewhere & (low[:, axis] <= place))
                meet[row + parts[axis] + place] = _packed(somewhere & (high[:, axis] > place))
            else:
                meet[row + place] = _packed(somewhere & (low[:, axis] & 1 << place != 0))
    behind = slice(int(starts[alike]) * _WORD, None)
    whole = np.array([0 if line else (1 << count) - 1 for count, line in zip(parts, ordered.tolist(), strict=True)])
    narrow = somewhere[:, None] & ((low != whole) | (ordered & (high < np.array(parts))))
    bits = np.array([1 << axis if axis < _LINES else 0 for axis in range(len(parts))], dtype=np.int64)
    bounded = narrow @ bits
    onward = np.zeros((len(standing), int(rows[-1])), dtype=np.int32)
    for place, each in enumerate(standing):
        for axis in np.flatnonzero(ordered).tolist():
            ends = np.unique([*each.low[:, axis], *each.high[:, axis], parts[axis]])
            begins = np.arange(parts[axis])
            onward[place, rows[axis] + begins] = ends[np.searchsorted(ends, begins, side="right")]
    return Leaves(
        starts=starts,
        alike=alike,
        value=value,
        low=low,
        high=high,
        whose=_stacked(there[behind].T, people, count - int(starts[alike])),
        everywhere=_packed(somewhere),
        meet=meet,
        rows=rows,
        across=np.ascontiguousarray(meet.T),
        bounded=bounded,
        tested=np.bitwise_or.reduceat(bounded & (ordered @ bits), starts[:-1] * _WORD) if standing else bounded,
        behind=onward,
    )


def _stacked(rows: Iterable[BoolArray], count: int, words: int) -> NDArray[np.uint64]:
    found = np.zeros((count, words), dtype=np.uint64)
    for place, row in enumerate(rows):
        found[place] = _packed(row)
    return found


def _packed(flags: BoolArray) -> NDArray[np.uint64]:
    """Truth values as words, the first one lowest."""
    return np.packbits(flags, bitorder="little").view("<u8").astype(np.uint64)
