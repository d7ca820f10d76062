"""Inputs of which exactly one is 1: what a linear function of them can be at most.

A *choice* is a group of columns with a list of *entries*, a column or two each, such that every point has the value
1 in the columns of one of its entries and 0 in all other columns of the group. The leaves of a tree are such a group
with an entry each. So are the leaves for a and for b of one tree, read together: the entries are the pairs of leaves
that a and b can reach at once, which share the attributes that they share.

Theorem. Over a box, ``sum over the group of c_j x_j`` is at most the greatest ``c_j`` (of a pair: ``c_j + c_k``) over
the entries whose columns can all be 1 in the box. Where nobody is in the box the maximum over all entries is taken,
for any number is a bound then. A group rounds its one sum of a pair and adds once to the total: no more operations
than a sum over its columns has, so the error that is allowed for that sum covers it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.expr import variables
from fairdsl.ir.model import Model
from fairdsl.numerics.leaves import Border, Leaves

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

#: Pairs of leaves of one tree at most; beyond them a's and b's leaves are chosen apart from each other.
_MOST_PAIRS = 20_000
#: Numbers in one block of coefficients of entries.
_BLOCK = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """The group's ``columns``, and its ``entries`` [entries, 1 or 2] as columns."""

    columns: IntArray
    entries: IntArray


def choices_of(model: Model) -> tuple[Choice, ...]:
    """A choice for each group of the model's inputs."""
    groups = [np.array(group, dtype=np.int64) for group in model.one_of]
    return tuple(Choice(group, group[:, None]) for group in groups)


def most(coefficients: FloatArray, possible: BoolArray, choices: Sequence[Choice]) -> tuple[FloatArray, FloatArray]:
    """The sum over all choices of the greatest coefficient, and the sum of the sizes, both [boxes, targets].

    ``coefficients`` is [boxes or 1, targets, columns]; ``possible`` [boxes, columns] says which columns can be 1.
    """
    count, targets = possible.shape[0], coefficients.shape[1]
    total, size = np.zeros((count, targets)), np.zeros((count, targets))
    for choice in choices:
        step = max(1, _BLOCK // max(1, targets * len(choice.entries)))
        for start in range(0, count, step):
            part = slice(start, min(start + step, count))
            block = coefficients[part] if coefficients.shape[0] > 1 else coefficients
            greatest, largest = _one(block, possible[part], choice)
            total[part] += greatest
            size[part] += largest
    return total, size


def _one(coefficients: FloatArray, possible: BoolArray, choice: Choice) -> tuple[FloatArray, FloatArray]:
    open_: BoolArray = np.all(possible[:, choice.entries], axis=-1)
    open_ = open_ | ~np.any(open_, axis=1, keepdims=True)
    parts = [coefficients[..., column] for column in choice.entries.T]
    values = np.broadcast_to(sum(parts[1:], start=parts[0]), (len(possible), *parts[0].shape[1:]))
    sizes = np.broadcast_to(sum(np.abs(part) for part in parts), values.shape)
    mask = open_[:, None, :]
    return (
        np.asarray(np.max(values, axis=-1, where=mask, initial=-inf), dtype=np.float64),
        np.asarray(np.max(sizes, axis=-1, where=mask, initial=0.0), dtype=np.float64),
    )


def pair_choices(model: Model, shared: Sequence[bool]) -> tuple[Choice, ...]:
    """Choices of a pair: a's inputs are the first columns, b's the same number of columns after them.

    ``shared`` marks the attributes that a and b have in common.
    """
    leaves, width = Leaves.of(model), len(model.inputs)
    trees = dict(zip(leaves.groups, leaves.roots.tolist(), strict=True))
    alike = _shared_columns(leaves, shared)
    found: list[Choice] = []
    for group in model.one_of:
        columns = np.array(group, dtype=np.int64)
        root = trees.get(group)
        pairs = None if root is None else _pairs(leaves, root, alike)
        if pairs is None:
            found += [Choice(columns, columns[:, None]), Choice(columns + width, columns[:, None] + width)]
        else:
            entries = np.array(pairs, dtype=np.int64) + np.array([0, width])
            found.append(Choice(np.concatenate([columns, columns + width]), entries))
    return tuple(found)


def _shared_columns(leaves: Leaves, shared: Sequence[bool]) -> BoolArray:
    """Which columns of the trees' tests have one value for a and b."""
    tests = [all(shared[variable.attribute] for variable in variables(test)) for test in leaves.tests]
    return np.array([*tests, *shared], dtype=np.bool_)


def _pairs(leaves: Leaves, root: int, alike: BoolArray) -> list[tuple[int, int]] | None:
    """The leaves that a and b can reach together, as positions; None where there are too many pairs.

    Both go down the tree at once. A test of a column that they share comes out the same for both; what the tests so
    far leave of such a column, what lies beyond one border and up to another, decides later tests of it: exactly, for
    a real number may lie between two borders where no float does.
    """
    found: list[tuple[int, int]] = []
    stack: list[tuple[int, int, Mapping[int, tuple[Border, Border]]]] = [(root, root, {})]
    while stack:
        first, second, left = stack.pop()
        node = first if leaves.positions[first] < 0 else second
        if leaves.positions[node] >= 0:
            found.append((int(leaves.positions[first]), int(leaves.positions[second])))
            if len(found) > _MOST_PAIRS:
                return None
            continue
        below, above = int(leaves.below[2 * node]), int(leaves.below[2 * node + 1])
        column = int(leaves.columns[node])
        if not alike[column]:
            ours = (below, above) if first == node else (first,)
            theirs = (below, above) if second == node else (second,)
            stack += [(x, y, left) for x in ours for y in theirs]
            continue
        low, high = left.get(column, ((-inf, False), (inf, True)))
        border = leaves.border(node)
        for child, ends in ((below, (low, min(high, border))), (above, (max(low, border), high))):
            if ends[0] < ends[1]:
                pair = (child if first == node else first, child if second == node else second)
                stack.append((*pair, {**left, column: ends}))
    return found
