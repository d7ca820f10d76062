"""Stored trees that grow: all of a file's records as one tree.

A record is what lies at and below some nodes that were not split in what the file held before, in the form of
:mod:`fairdsl.backends.intervals.leaves`, with their numbers as ``at``. Nodes are numbered in the order in which records
name them, so that nothing is numbered anew when a file grows. Docs: docs/jobs.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

State = Mapping[str, NDArray[Any]]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

#: The kinds of claims, each an array of the tree; the last one only where a file is deployed.
KINDS = ("violating", "falsified", "violating32")


def by_levels(first: Integers, roots: Integers) -> Integers:
    """These nodes and all below them, level by level."""
    levels = [roots]
    while len(levels[-1]):
        halved = first[levels[-1]]
        halved = halved[halved >= 0]
        levels.append(np.stack([halved, halved + 1], axis=1).ravel())
    return np.concatenate(levels)


def narrow(values: NDArray[Any]) -> NDArray[Any]:
    """The same whole numbers in as few bytes as hold them all."""
    ends = values.min(initial=0), values.max(initial=0)
    return values.astype(np.result_type(*map(np.min_scalar_type, map(int, ends))))


def whole(kept: State, name: str) -> Integers:
    """An array of a file that is to be whole numbers; ValueError where it is not."""
    array = kept[name]
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(f"`{name}` is not a list of whole numbers")
    return array.astype(np.int64)


def flags(kept: State, name: str) -> Flags:
    """An array of a file that is to be truth values; ValueError where it is not."""
    array = kept[name]
    if array.ndim != 1 or array.dtype != np.bool_:
        raise ValueError(f"`{name}` is not a list of truth values")
    return array.astype(np.bool_)


def roots_of(inner: NDArray[np.bool_]) -> Integers:
    """The roots of a whole tree; ValueError where its nodes are fewer than its splits make."""
    roots = len(inner) - 2 * int(inner.sum())
    if roots < 0:
        raise ValueError("there are not as many nodes as its splits make")
    return np.arange(roots)


def starts_of(inner: Flags, roots: int) -> list[int]:
    """Where each level begins, and where the last one ends; ValueError where the nodes are more or fewer."""
    starts = [0, roots]
    while starts[-1] > starts[-2]:
        starts.append(starts[-1] + 2 * int(inner[starts[-2] : starts[-1]].sum()))
    if starts[-1] != len(inner):
        raise ValueError("there are not as many nodes as its cuts make")
    return starts[:-1] if roots else [0]


def numbers_of(inner: NDArray[np.bool_], at: Integers, count: int) -> Integers:
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
    roots = roots_of(flags(records[0], "inner"))
    size = len(roots) + sum(2 * int(flags(record, "inner").sum()) for record in records)
    first, axis = np.full(size, -1, dtype=np.int64), np.zeros(size, dtype=np.int64)
    owning = np.ones(size, dtype=np.bool_)
    said = {name: np.zeros(size, dtype=np.int64) for name in (*KINDS, "next", "regions") if name in records[0]}
    count = len(roots)
    for record in records:
        inner, at = flags(record, "inner"), np.cumsum(whole(record, "at")) if "at" in record else roots
        if len(at) and (at[0] < 0 or at[-1] >= count or (np.diff(at) <= 0).any() or (first[at] >= 0).any()):
            raise ValueError("it goes on from an unknown node, or one that was split before")
        number = numbers_of(inner, at, count)
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
