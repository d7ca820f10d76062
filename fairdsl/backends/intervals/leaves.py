"""A refinement as a tree of splits with what is claimed at each node: the form in which results are kept in files.

A node is split in the middle of an attribute's positions, or of a segment of the path; so whoever knows the roots knows
every box, and no box is stored. Nothing else is stored that could make a later analysis wrong: signs of units are found
anew. The rest are *claims*, which :mod:`fairdsl.backends.intervals.recheck` recomputes. Docs: docs/jobs.md.

Nodes stand level by level, so that one flag each is the whole tree, and what is said of like boxes stands together and
compresses well. A node whose halves together decide as much claims nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals.claims import SMALL, Grid
from fairdsl.backends.intervals.graft import NODE_ARRAYS, SLOT_ARRAYS
from fairdsl.backends.intervals.kernels.slots import (
    CHOOSE_AT,
    COUNTS,
    EVALUATED,
    HEAP,
    NODES,
    REGIONS,
    SLOTS,
    TIED,
    UNSEEN,
    Tree,
)
from fairdsl.backends.intervals.kernels.split import NOTHING
from fairdsl.backends.intervals.task import AttributeKind, Task
from fairdsl.backends.refining.records import KINDS, by_levels, flags, narrow, whole

__all__ = [
    "KINDS",
    "Boxes",
    "advised",
    "boxes_of",
    "halves_of",
    "restored",
    "stored",
    "stored_below",
    "totals",
]

State = Mapping[str, NDArray[Any]]
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

#: What each child of a node has of it, before it is cut.
_BOX = ("low", "high", "path_low", "path_high", "comparison", "mass")


@dataclass(frozen=True, slots=True, kw_only=True)
class Boxes:
    """The box of every node, level by level: the nodes of level i are those from ``starts[i]`` to ``starts[i + 1]``.

    ``inner``: whether a node has children.
    """

    parent: Integers
    component: Integers
    low: Integers
    high: Integers
    path_low: NDArray[np.float32]
    path_high: NDArray[np.float32]
    comparison: Integers
    mass: Floats
    root: Integers
    inner: Flags
    starts: list[int]


def stored(task: Task, tree: Tree) -> dict[str, NDArray[Any]]:
    """What a file keeps of a tree."""
    roots = int((tree.parent[: int(tree.counts[NODES])] < 0).sum())
    return stored_below(task, tree, halves_of(tree), np.arange(roots))


def halves_of(tree: Tree) -> Integers:
    """The first half of each node, after which the second one comes; -1 where it is not split."""
    count = int(tree.counts[NODES])
    roots = int((tree.parent[:count] < 0).sum())
    first = np.full(count, -1, dtype=np.int64)
    first[tree.parent[roots:count:2]] = np.arange(roots, count, 2)
    return first


def stored_below(task: Task, tree: Tree, first: Integers, at: Integers) -> dict[str, NDArray[Any]]:
    """What a file keeps of these nodes and what is below them; ``first`` is that of :func:`halves_of`."""
    order, roots = by_levels(first, at), len(at)
    inner = first[order] >= 0
    grid, starts = Grid(task, tree.mass[order]), _starts(inner, roots)
    claims = grid.codes(*(getattr(tree, name)[order] for name in KINDS))
    own = ~inner
    for name, values in grid.values(claims).items():
        upper = name != "falsified"
        below = totals(values, inner, starts, upper=upper)[1]
        own |= values < below if upper else values > below
    following, regions = advised(tree, order[~inner])
    return {
        "inner": inner,
        "axis": narrow(tree.axis[order[inner]]),
        "own": own[inner],
        **{name: narrow(codes[own]) for name, codes in claims.items()},
        "next": narrow(following),
        "regions": narrow(regions),
        "effort": tree.counts[[EVALUATED, REGIONS, CHOOSE_AT]].astype(np.int64),
    }


def advised(tree: Tree, nodes: Integers) -> tuple[Integers, Integers]:
    """How nodes that are not split are split next, and into how many regions they were cut."""
    slot = tree.slot[nodes]
    following, regions = np.full(len(slot), NOTHING, dtype=np.int64), np.zeros(len(slot), dtype=np.int64)
    following[slot >= 0], regions[slot >= 0] = tree.split[slot[slot >= 0]], tree.cut[slot[slot >= 0]]
    return following, regions


def _starts(inner: Flags, roots: int) -> list[int]:
    """Where each level begins, and where the last one ends; ValueError where the nodes are more or fewer."""
    starts = [0, roots]
    while starts[-1] > starts[-2]:
        starts.append(starts[-1] + 2 * int(inner[starts[-2] : starts[-1]].sum()))
    if starts.pop() != len(inner):
        raise ValueError("there are not as many nodes as its splits make")
    return starts


def totals(values: Floats, inner: Flags, starts: list[int], *, upper: bool) -> tuple[Floats, Floats]:
    """The value of each node, its own or its children's together, the better; and the children's (of none: useless)."""
    best, below = values.copy(), np.full(len(values), np.inf if upper else -np.inf)
    for level, (start, stop) in reversed(list(enumerate(pairwise(starts)))[1:]):
        parents = starts[level - 1] + np.flatnonzero(inner[starts[level - 1] : start])
        below[parents] = best[start:stop:2] + best[start + 1 : stop : 2]
        best[parents] = (np.minimum if upper else np.maximum)(best[parents], below[parents])
    return best, below


def restored(task: Task, roots: State, kept: State) -> tuple[dict[str, NDArray[Any]], Boxes]:
    """The state that a file keeps, to go on from, and the boxes of its nodes; ``roots`` is the state it began with.

    ValueError for what is not a tree of splits of these roots, with claims that a node can have.
    """
    try:
        boxes = boxes_of(task, roots, flags(kept, "inner"), whole(kept, "axis"))
        return _state(task, roots, kept, boxes), boxes
    except (KeyError, IndexError, OverflowError) as error:
        raise ValueError("an array is missing, or of another length") from error


def boxes_of(task: Task, roots: State, inner: Flags, axis: Integers) -> Boxes:
    """The boxes that these splits make of the roots."""
    count, first = len(inner), len(roots["parent"])
    starts = _starts(inner, first)
    split = np.flatnonzero(inner)
    if len(axis) != len(split):
        raise ValueError("there are not as many splits as nodes that are split")
    wide = {name: np.zeros((count, *roots[name].shape[1:]), dtype=roots[name].dtype) for name in _BOX}
    slot = roots["slot"]
    for name, values in wide.items():
        values[:first] = roots[name] if name == "mass" else roots[name][slot]
    wide |= {name: np.zeros(count, dtype=np.int64) for name in ("component", "root")}
    wide["component"][:first], wide["root"][:first] = roots["component"], np.arange(first)
    for start, stop in pairwise(np.searchsorted(split, starts).tolist()):
        children = first + 2 * np.arange(start, stop)
        for values in wide.values():
            values[children] = values[children + 1] = values[split[start:stop]]
        _cut(task, wide, children, axis[start:stop])
    parent = np.concatenate([np.full(first, -1, dtype=np.int64), np.repeat(split, 2)])
    return Boxes(parent=parent, inner=inner, starts=starts, **wide)


def _cut(task: Task, wide: State, child: Integers, axis: Integers) -> None:
    """Restrict pairs of children, which have their parents' boxes, to the two sides of their splits."""
    attributes = len(task.kinds)
    placed = axis < attributes
    node, by = child[placed], axis[placed]
    if (by < 0).any():
        raise ValueError("a node is split by an unknown attribute")
    low, high = wide["low"][node, by].astype(np.int64), wide["high"][node, by].astype(np.int64)
    if (low >= high).any():
        raise ValueError("a node is split that has one position")
    last = low + (high - low) // 2
    wide["high"][node, by], wide["low"][node + 1, by] = last, last + 1
    size = (high - low + 1).astype(np.float64)
    wide["mass"][node] *= (last - low + 1) / size
    wide["mass"][node + 1] *= (high - last) / size
    node, by = child[~placed], axis[~placed]
    move = by - attributes - task.move_start[wide["comparison"][node]]
    if (move < 0).any() or (by - attributes >= task.move_start[wide["comparison"][node] + 1]).any():
        raise ValueError("a node is split along an unknown segment")
    middle = (0.5 * (wide["path_low"][node, move] + wide["path_high"][node, move])).astype(np.float32)
    wide["path_high"][node, move] = middle
    wide["path_low"][node + 1, move] = middle


def _claims(task: Task, kept: State, boxes: Boxes) -> dict[str, Floats]:
    """What is claimed of each node: no more than its box has, and nothing where the file says nothing of it."""
    own = ~boxes.inner
    own[boxes.inner] = flags(kept, "own")
    claims = {}
    for name in ("violating", "falsified", *(("violating32",) if task.float32_error is not None else ())):
        claims[name] = np.zeros(len(own), dtype=np.int64)
        claims[name][own] = whole(kept, name)
    values = Grid(task, boxes.mass).values(claims)
    values.setdefault("violating32", values["violating"])
    return {name: np.where(own, each, 0.0 if name == "falsified" else boxes.mass) for name, each in values.items()}


def _state(task: Task, roots: State, kept: State, boxes: Boxes) -> dict[str, NDArray[Any]]:
    """The arrays of a tree that goes on from there."""
    claims, effort = _claims(task, kept, boxes), whole(kept, "effort")
    count, leaves = len(boxes.parent), np.flatnonzero(~boxes.inner)
    following, regions = whole(kept, "next"), whole(kept, "regions")
    if len(following) != len(leaves) or len(regions) != len(leaves) or len(effort) != 3 or (effort < 0).any():
        raise ValueError("it does not say of each node how it goes on")
    kept_open = claims["violating"][leaves] > 0
    nodes = leaves[kept_open]
    code = _allowed(task, boxes, nodes, following[kept_open])
    slot = np.full(count, -1, dtype=np.int64)
    slot[nodes] = np.arange(len(nodes))
    undecided = (claims["violating"] - claims["falsified"])[nodes]
    waiting = ((code >= 0) | (code == UNSEEN)) & (undecided > 0)
    order = np.lexsort((nodes[waiting], -undecided[waiting]))
    state: dict[str, NDArray[Any]] = {
        **claims,
        "parent": boxes.parent,
        "component": boxes.component.astype(np.int32),
        "mass": boxes.mass,
        "axis": np.full(count, NOTHING, dtype=np.int32),
        "slot": slot,
        "split": code.astype(np.int32),
        "cut": regions[kept_open].astype(np.int32),
        "phase": roots["phase"][roots["slot"]][boxes.root[nodes]],
        "free": np.zeros(0, dtype=np.int64),
        "heap": nodes[waiting][order],
        "key": undecided[waiting][order],
    }
    state["axis"][boxes.inner] = kept["axis"]
    for name in ("low", "high", "path_low", "path_high", "comparison"):
        state[name] = getattr(boxes, name)[nodes].astype(roots[name].dtype)
    counts = np.zeros(COUNTS, dtype=np.int64)
    counts[[NODES, SLOTS, HEAP]] = count, len(nodes), int(waiting.sum())
    counts[[EVALUATED, CHOOSE_AT]] = np.minimum(effort[[0, 2]], 2**60)
    counts[REGIONS] = roots["counts"][REGIONS] if effort[1] > 32 else effort[1]
    assert {*NODE_ARRAYS, *SLOT_ARRAYS} <= set(state), "a tree has all of them"
    return state | {"counts": counts}


def _allowed(task: Task, boxes: Boxes, nodes: Integers, code: Integers) -> Integers:
    """How open nodes are split next, as the file advises; nothing where that cannot be."""
    attributes = len(task.kinds)
    placed = (code >= 0) & (code < attributes)
    by = np.where(placed, code, 0)
    wide = boxes.high[nodes, by] > boxes.low[nodes, by] if attributes else np.zeros(len(nodes), dtype=np.bool_)
    move = code - attributes
    comparison = boxes.comparison[nodes]
    along = (move >= task.move_start[comparison]) & (move < task.move_start[comparison + 1])
    # A large box would take long to be evaluated, and its units be more than a file can say of it.
    sizes = (boxes.high[nodes] - boxes.low[nodes] + 1).astype(np.float64).prod(axis=1)
    tied = (code == TIED) & (sizes <= SMALL) & (not task.relaxed) & ~(task.kinds == AttributeKind.REAL).any()
    fits = np.where(placed, wide, np.where(code < 0, (code == UNSEEN) | tied, along & (code >= attributes)))
    return np.where(fits, code, NOTHING)
