"""A stored tree that grows: what a checkpoint adds to what a file holds, and all of a file's records as one tree.

A record is what lies at and below some nodes that were not split in what the file held before, in the form of
:mod:`fairdsl.backends.intervals.leaves`, with their numbers as ``at``. Nodes are numbered in the order in which records
name them, so that nothing is numbered anew when a file grows. Docs: docs/jobs.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals.claims import Grid
from fairdsl.backends.intervals.kernels.slots import Tree
from fairdsl.backends.intervals.kernels.split import NOTHING
from fairdsl.backends.intervals.leaves import KINDS, advised, by_levels, flags, halves_of, narrow, stored_below, whole
from fairdsl.backends.intervals.task import Task

__all__ = ["Recorded", "assembled"]

State = Mapping[str, NDArray[Any]]
Integers = NDArray[np.int64]


class Recorded:
    """Which nodes of a growing tree a file holds already, and what it says of those that may still change."""

    def __init__(self, kept: State) -> None:
        """``kept``: the whole tree as it was stored first."""
        roots = _roots(kept["inner"])
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
        number = _numbers(inner, at, len(self._first))
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


def _roots(inner: NDArray[np.bool_]) -> Integers:
    """The roots of a whole tree; ValueError where its nodes are fewer than its splits make."""
    roots = len(inner) - 2 * int(inner.sum())
    if roots < 0:
        raise ValueError("there are not as many nodes as its splits make")
    return np.arange(roots)


def _numbers(inner: NDArray[np.bool_], at: Integers, count: int) -> Integers:
    """The numbers of a record's nodes: those that it begins ``at``, and new ones from ``count``.

    ValueError where it is not level by level all that lies below them.
    """
    split = np.flatnonzero(inner)
    if len(inner) != len(at) + 2 * len(split) or (split >= len(at) + 2 * np.arange(len(split))).any():
        raise ValueError("there are not as many nodes as its splits make")
    return np.concatenate([at, count + np.arange(len(inner) - len(at))])


def assembled(records: Sequence[State]) -> State:
    """The whole tree, as it would be stored at once, of what was stored first and what was added since.

    A record without ``at`` is whole: what came before it does not matter. ValueError where one names nodes that are
    not there, or were split before.
    """
    begun = max(place for place, record in enumerate(records) if "at" not in record)
    if begun == len(records) - 1:
        return records[begun]
    try:
        return _assembled(records[begun:])
    except (KeyError, IndexError) as error:
        raise ValueError("an array is missing, or of another length") from error


def _assembled(records: Sequence[State]) -> State:
    roots = _roots(flags(records[0], "inner"))
    size = len(roots) + sum(2 * int(flags(record, "inner").sum()) for record in records)
    first, axis = np.full(size, -1, dtype=np.int64), np.zeros(size, dtype=np.int64)
    owning = np.ones(size, dtype=np.bool_)
    said = {name: np.zeros(size, dtype=np.int64) for name in (*KINDS, "next", "regions") if name in records[0]}
    count = len(roots)
    for record in records:
        inner, at = flags(record, "inner"), np.cumsum(whole(record, "at")) if "at" in record else roots
        if len(at) and (at[0] < 0 or at[-1] >= count or (np.diff(at) <= 0).any() or (first[at] >= 0).any()):
            raise ValueError("it goes on from an unknown node, or one that was split before")
        number = _numbers(inner, at, count)
        count += len(inner) - len(at)
        first[number[inner]] = number[len(at) :: 2]
        _put(axis, number[inner], whole(record, "axis"))
        owning[number] = True
        _put(owning, number[inner], flags(record, "own"))
        for name, values in said.items():
            _put(values, number[owning[number]] if name in KINDS else number[~inner], whole(record, name))
    order = by_levels(first, roots)
    inner, own = first[order] >= 0, owning[order]
    claims = {name: narrow(values[order][own if name in KINDS else ~inner]) for name, values in said.items()}
    return claims | {
        "inner": inner,
        "axis": narrow(axis[order][inner]),
        "own": own[inner],
        "effort": records[-1]["effort"],
    }


def _put(values: NDArray[Any], where: Integers, given: NDArray[Any]) -> None:
    if len(where) != len(given):
        raise ValueError("an array is missing, or of another length")
    values[where] = given
