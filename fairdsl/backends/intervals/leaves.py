"""A refinement as a tree of splits with what is claimed at each node: the form in which results are kept in files.

A node is split at a position of an attribute, or in the middle of a segment of the path; so whoever knows the roots
knows every box, and no box is stored. Nothing else is stored that could make a later analysis wrong: signs of units are
found anew. The rest are *claims*, which :mod:`fairdsl.backends.intervals.recheck` recomputes. Docs: docs/jobs.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals.graft import NODE_ARRAYS, SLOT_ARRAYS
from fairdsl.backends.intervals.kernels.slots import (
    CHOOSE_AT,
    COUNTS,
    EVALUATED,
    HEAP,
    NODES,
    REGIONS,
    SLOTS,
    UNSEEN,
    Tree,
)
from fairdsl.backends.intervals.kernels.split import NOTHING
from fairdsl.backends.intervals.task import Task

__all__ = ["Boxes", "boxes_of", "restored", "stored"]

State = Mapping[str, NDArray[Any]]
Integers = NDArray[np.int64]

#: What splits a node: a position of an attribute; the middle of a segment of the path. Two more are kept free for
#: proofs: the sign of a unit, and a test of a tree.
AT_POSITION, IN_PATH, BY_SIGN, BY_TREE_TEST = range(4)
#: The parts of a box's attributes: everything but these belongs to the slot of an open node.
_BOX = ("low", "high", "path_low", "path_high", "phase", "comparison", "mass")
#: Claims may exceed a node's mass by the rounding of products, no more.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Boxes:
    """The box of every node, in the order of the nodes; ``phase`` is what is known of units at its root.

    ``inner``: whether a node has children; ``level``: how many splits lead to it.
    """

    parent: Integers
    component: Integers
    low: Integers
    high: Integers
    path_low: NDArray[np.float32]
    path_high: NDArray[np.float32]
    comparison: Integers
    mass: NDArray[np.float64]
    root: Integers
    inner: NDArray[np.bool_]
    level: Integers


def stored(tree: Tree, *, deployed: bool) -> dict[str, NDArray[Any]]:
    """What a file keeps of a tree."""
    count = int(tree.counts[NODES])
    roots = int((tree.parent[:count] < 0).sum())
    split = tree.parent[roots:count:2]
    slot = tree.slot[:count]
    held = np.where(slot >= 0, slot, 0)
    arrays: dict[str, NDArray[Any]] = {
        "split": split.astype(np.int32),
        "kind": np.where(tree.at[split] >= 0, AT_POSITION, IN_PATH).astype(np.uint8),
        "axis": tree.axis[split].astype(np.int32),
        "at": tree.at[split].astype(np.int32),
        "violating": tree.violating[:count].copy(),
        "falsified": tree.falsified[:count].copy(),
        "next": np.where(slot >= 0, tree.split[held], NOTHING).astype(np.int32),
        "regions": np.where(slot >= 0, tree.cut[held], 0).astype(np.uint8),
        "effort": tree.counts[[EVALUATED, REGIONS, CHOOSE_AT]].astype(np.int64),
    }
    return arrays | ({"violating32": tree.violating32[:count].copy()} if deployed else {})


def restored(task: Task, roots: State, kept: State) -> tuple[dict[str, NDArray[Any]], Boxes]:
    """The state that a file keeps, to go on from, and the boxes of its nodes; ``roots`` is the state it began with.

    ValueError for what is not a tree of splits of these roots, with claims that a node can have.
    """
    try:
        split, kind, axis, at = (_whole(kept, name) for name in ("split", "kind", "axis", "at"))
        boxes = boxes_of(task, roots, split, kind, axis, at)
        return _state(task, roots, kept, boxes), boxes
    except (KeyError, IndexError, OverflowError) as error:
        raise ValueError("an array is missing, or of another length") from error


def _whole(kept: State, name: str) -> Integers:
    array = kept[name]
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(f"`{name}` is not a list of whole numbers")
    return array.astype(np.int64)


def boxes_of(task: Task, roots: State, split: Integers, kind: Integers, axis: Integers, at: Integers) -> Boxes:
    """The boxes that these splits make of the roots."""
    first, pairs = len(roots["parent"]), len(split)
    if {len(kind), len(axis), len(at)} != {pairs}:
        raise ValueError("there are not as many splits as pairs of children")
    count = first + 2 * pairs
    level = np.zeros(count, dtype=np.int64)
    behind = first + 2 * np.arange(pairs)
    if (split < 0).any() or (split >= behind).any() or len(np.unique(split)) < pairs:
        raise ValueError("a node is split twice, or before it is there")
    depths = level.tolist()
    for number, node in enumerate(split.tolist()):
        depths[first + 2 * number] = depths[first + 2 * number + 1] = depths[node] + 1
    level = np.array(depths, dtype=np.int64)
    parent = np.concatenate([np.full(first, -1, dtype=np.int64), np.repeat(split, 2)])
    wide = {
        name: np.zeros((count, *roots[name].shape[1:]), dtype=roots[name].dtype) for name in _BOX if name != "phase"
    }
    wide |= {"component": np.zeros(count, dtype=np.int64), "root": np.zeros(count, dtype=np.int64)}
    slot = roots["slot"]
    for name in _BOX:
        if name != "phase":
            wide[name][:first] = roots[name][slot]
    wide["component"][:first], wide["root"][:first] = roots["component"], np.arange(first)
    order = np.argsort(level[behind], kind="stable")
    ends = np.searchsorted(level[behind][order], np.arange(1, int(level.max(initial=0)) + 2))
    for start, stop in pairwise(ends.tolist()):
        which = order[start:stop]
        for values in wide.values():
            values[behind[which]] = values[behind[which] + 1] = values[split[which]]
        _cut(task, wide, behind[which], kind[which], axis[which], at[which])
    inner = np.zeros(count, dtype=np.bool_)
    inner[split] = True
    return Boxes(parent=parent, inner=inner, level=level, **wide)


def _cut(task: Task, wide: State, child: Integers, kind: Integers, axis: Integers, at: Integers) -> None:
    """Restrict pairs of children, which have their parents' boxes, to the two sides of their splits."""
    attributes = len(task.kinds)
    if not np.isin(kind, (AT_POSITION, IN_PATH)).all():
        raise ValueError("it has splits of a kind that this version does not make")
    placed = kind == AT_POSITION
    node, by, last = child[placed], axis[placed], at[placed]
    if (by < 0).any() or (by >= attributes).any():
        raise ValueError("a node is split by an attribute that there is not")
    low, high = wide["low"][node, by].astype(np.int64), wide["high"][node, by].astype(np.int64)
    if (last < low).any() or (last >= high).any():
        raise ValueError("a node is split outside its box")
    wide["high"][node, by], wide["low"][node + 1, by] = last, last + 1
    size = (high - low + 1).astype(np.float64)
    wide["mass"][node] *= (last - low + 1) / size
    wide["mass"][node + 1] *= (high - last) / size
    node, by = child[~placed], axis[~placed]
    move = by - attributes - task.move_start[wide["comparison"][node]]
    if (move < 0).any() or (by - attributes >= task.move_start[wide["comparison"][node] + 1]).any():
        raise ValueError("a node is split along a segment that there is not")
    middle = (0.5 * (wide["path_low"][node, move] + wide["path_high"][node, move])).astype(np.float32)
    wide["path_high"][node, move] = middle
    wide["path_low"][node + 1, move] = middle


def _claims(task: Task, kept: State, boxes: Boxes) -> dict[str, NDArray[np.float64]]:
    """What is claimed of each node; ValueError where it is more than there is."""
    found = {"violating": np.asarray(kept["violating"]), "falsified": np.asarray(kept["falsified"])}
    found["violating32"] = found["violating"] if task.float32_error is None else np.asarray(kept["violating32"])
    for name, values in found.items():
        if values.dtype != np.float64 or values.shape != boxes.mass.shape:
            raise ValueError(f"`{name}` is not a number for each node")
        if not ((values >= 0) & (values <= boxes.mass * (1 + _ROUNDING))).all():
            raise ValueError("a node claims more than its box has, or less than nothing")
    if (found["falsified"] > found["violating"] * (1 + _ROUNDING)).any():
        raise ValueError("a node has more units that are surely unfair than may be")
    return {name: values.copy() for name, values in found.items()}


def _state(task: Task, roots: State, kept: State, boxes: Boxes) -> dict[str, NDArray[Any]]:
    """The arrays of a tree that goes on from there."""
    claims = _claims(task, kept, boxes)
    following, regions, effort = _whole(kept, "next"), _whole(kept, "regions"), _whole(kept, "effort")
    count = len(boxes.parent)
    if len(following) != count or len(regions) != count or len(effort) != 3 or (effort < 0).any():
        raise ValueError("it does not say of each node how it goes on")
    kept_open = ~boxes.inner & (claims["violating"] > 0)
    nodes = np.flatnonzero(kept_open)
    code = _allowed(task, boxes, nodes, following[nodes])
    slot = np.full(count, -1, dtype=np.int64)
    slot[nodes] = np.arange(len(nodes))
    undecided = (claims["violating"] - claims["falsified"])[nodes]
    waiting = (code != NOTHING) & (undecided > 0)
    order = np.lexsort((nodes[waiting], -undecided[waiting]))
    state: dict[str, NDArray[Any]] = {
        **claims,
        "parent": boxes.parent,
        "component": boxes.component.astype(np.int32),
        "axis": np.full(count, NOTHING, dtype=np.int32),
        "at": np.full(count, -1, dtype=np.int32),
        "slot": slot,
        "split": code.astype(np.int32),
        "cut": regions[nodes].astype(np.int32),
        "phase": roots["phase"][roots["slot"]][boxes.root[nodes]],
        "free": np.zeros(0, dtype=np.int64),
        "heap": nodes[waiting][order],
        "key": undecided[waiting][order],
    }
    parents = _whole(kept, "split")
    state["axis"][parents], state["at"][parents] = kept["axis"], kept["at"]
    for name in ("low", "high", "path_low", "path_high", "comparison", "mass"):
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
    fits = np.where(placed, wide, np.where(code < 0, code == UNSEEN, along & (code >= attributes)))
    return np.where(fits, code, NOTHING)
