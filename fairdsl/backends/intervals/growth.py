"""A stored tree that grows: what a checkpoint adds to what a file holds (:mod:`fairdsl.backends.refining.records`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals.claims import Grid
from fairdsl.backends.intervals.kernels.slots import Tree
from fairdsl.backends.intervals.kernels.split import NOTHING
from fairdsl.backends.intervals.leaves import KINDS, advised, halves_of, stored_below
from fairdsl.backends.intervals.task import Task
from fairdsl.backends.refining.records import narrow, numbers_of, roots_of

State = Mapping[str, NDArray[Any]]
Integers = NDArray[np.int64]


class Recorded:
    """Which nodes of a growing tree a file holds already, and what it says of those that may still change."""

    def __init__(self, kept: State) -> None:
        """``kept``: the whole tree as it was stored first."""
        roots = roots_of(kept["inner"])
        self._roots = roots
        #: Of each node of the file the first half, after which the second one comes; -1 where it is not split.
        self._first = np.full(len(roots), -1, dtype=np.int64)
        #: Nodes that wait to be refined, and what was written of them: a row each kind of claim, and the advice.
        self._waiting = np.zeros(0, dtype=np.int64)
        self._said = _said(kept)[:, :0]
        self._take(kept, roots)

    def added(self, task: Task, tree: Tree) -> dict[str, NDArray[Any]]:
        """What the file lacks of ``tree``, which has grown, however it numbers nodes now; it counts as written."""
        first = halves_of(tree)
        now = self._in_tree(first)[self._waiting]
        codes = Grid(task, tree.mass[now]).codes(*(getattr(tree, name)[now] for name in KINDS))
        changed = first[now] >= 0
        for said, written in zip((*codes.values(), *advised(tree, now)), self._said, strict=True):
            changed |= said != written
        order = np.flatnonzero(changed)[np.argsort(self._waiting[changed])]
        kept, at = stored_below(task, tree, first, now[order]), self._waiting[order]
        self._waiting, self._said = self._waiting[~changed], self._said[:, ~changed]
        self._take(kept, at)
        return kept | {"at": narrow(np.diff(at, prepend=0))}

    def _in_tree(self, first: Integers) -> Integers:
        """The number in the tree of each node of the file: the same way leads to it from the same root."""
        numbers = np.full(len(self._first), -1, dtype=np.int64)
        level = numbers[: len(self._roots)] = self._roots
        while len(level):
            split = level[self._first[level] >= 0]
            here, there = self._first[split], first[numbers[split]]
            numbers[here], numbers[here + 1] = there, there + 1
            level = np.concatenate([here, here + 1])
        return numbers

    def _take(self, kept: State, at: Integers) -> None:
        """Number what a record holds."""
        inner = kept["inner"]
        number = numbers_of(inner, at, len(self._first))
        self._first = np.concatenate([self._first, np.full(len(inner) - len(at), -1, dtype=np.int64)])
        self._first[number[inner]] = number[len(at) :: 2]
        still = kept["next"] != NOTHING
        self._waiting = np.concatenate([self._waiting, number[~inner][still]])
        self._said = np.concatenate([self._said, _said(kept)[:, still]], axis=1)


def _said(kept: State) -> NDArray[np.int32]:
    """What a record says of nodes that are not split: a row each kind of claim, and the advice."""
    owning = np.ones(len(kept["inner"]), dtype=np.bool_)
    owning[kept["inner"]] = kept["own"]
    leaves = ~kept["inner"][owning]
    claims = [kept[name][leaves] for name in KINDS if name in kept]
    return np.stack([*claims, kept["next"], kept["regions"]]).astype(np.int32)
