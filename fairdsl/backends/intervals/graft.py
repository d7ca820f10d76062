"""Trees lent out and taken back: open leaves become trees of their own, and grow in their old places.

A leaf that was lent keeps its number; what grew below it is appended, so children still come after their
parents. Masses are shares of the same whole in every part, hence nothing is rescaled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals.kernels.slots import (
    CHOOSE_AT,
    COUNTS,
    EVALUATED,
    FREE,
    HEAP,
    NODES,
    REGIONS,
    SLOTS,
    TIED,
    Tree,
)

State = Mapping[str, NDArray[Any]]
Integers = NDArray[np.int64]

#: The arrays that have an entry for each node, and for each slot.
NODE_ARRAYS = ("parent", "component", "violating", "falsified", "violating32", "mass", "axis", "slot")
SLOT_ARRAYS = ("low", "high", "path_low", "path_high", "phase", "comparison", "split", "cut")
_QUEUE = ("free", "heap", "key")


def trimmed(tree: Tree) -> dict[str, NDArray[Any]]:
    """Copies of the arrays as far as they are used."""
    nodes, slots, free, heap = (int(tree.counts[which]) for which in (NODES, SLOTS, FREE, HEAP))
    used = dict.fromkeys(NODE_ARRAYS, nodes) | dict.fromkeys(SLOT_ARRAYS, slots)
    used |= {"free": free, "heap": heap, "key": heap, "counts": len(tree.counts)}
    return {name: getattr(tree, name)[: used[name]].copy() for name in Tree._fields}


def roomy(state: State) -> Tree:
    """A tree to work on: every slot may become free, and may be queued."""
    slots = len(state["split"])
    arrays = {name: np.array(state[name]) for name in Tree._fields}
    for name in _QUEUE:
        padded = np.zeros(max(slots, len(arrays[name])), dtype=arrays[name].dtype)
        padded[: len(arrays[name])] = arrays[name]
        arrays[name] = padded
    return Tree(**arrays)


def lent_out(tree: Tree, nodes: Integers) -> dict[str, NDArray[Any]]:
    """A state whose roots are these open nodes; nothing of it is evaluated yet."""
    count = len(nodes)
    slots = tree.slot[nodes]
    arrays: dict[str, NDArray[Any]] = {name: getattr(tree, name)[nodes] for name in NODE_ARRAYS}
    arrays |= {name: getattr(tree, name)[slots] for name in SLOT_ARRAYS}
    numbers = np.arange(count, dtype=np.int64)
    queued = tree.split[slots] != TIED
    keys = (tree.violating[nodes] - tree.falsified[nodes])[queued]
    return arrays | {
        "parent": np.full(count, -1, dtype=np.int64),
        "slot": numbers,
        "counts": _counts(tree, nodes=count, slots=count, heap=len(keys), evaluated=0),
        **_queue(numbers[queued], keys),
        "free": np.zeros(0, dtype=np.int64),
    }


def grafted(tree: Tree, lent: Sequence[Integers], states: Sequence[State]) -> Tree:
    """A new tree in which every part stands where its leaves were; ``tree`` stays as it is."""
    base = trimmed(tree)
    nodes = {name: [base[name]] for name in NODE_ARRAYS}
    rows = {name: [base[name]] for name in SLOT_ARRAYS}
    queued = [~np.isin(base["heap"], np.concatenate([np.zeros(0, np.int64), *lent]))]
    heap, key = [base["heap"][queued[0]]], [base["key"][queued[0]]]
    evaluated, slots, count = int(tree.counts[EVALUATED]), int(tree.counts[SLOTS]), int(tree.counts[NODES])
    for leaves, state in zip(lent, states, strict=True):
        roots = len(leaves)
        number = np.concatenate([leaves, count + np.arange(len(state["parent"]) - roots)]).astype(np.int64)
        own = {name: np.asarray(state[name]) for name in NODE_ARRAYS}
        own["slot"] = np.where(own["slot"] >= 0, own["slot"] + slots, -1)
        # Roots of the part have no parent there and keep theirs here.
        own["parent"] = np.concatenate([base["parent"][leaves], number[own["parent"][roots:]]])
        for name in NODE_ARRAYS:
            base[name][leaves] = own[name][:roots]
            nodes[name].append(own[name][roots:])
        for name in SLOT_ARRAYS:
            rows[name].append(np.asarray(state[name]))
        heap.append(number[np.asarray(state["heap"], dtype=np.int64)])
        key.append(np.asarray(state["key"]))
        evaluated += int(state["counts"][EVALUATED])
        slots, count = slots + len(state["split"]), count + len(own["parent"]) - roots
    return _compact(tree, nodes, rows, np.concatenate(heap), np.concatenate(key), evaluated)


def _compact(
    tree: Tree,
    nodes: Mapping[str, Sequence[NDArray[Any]]],
    rows: Mapping[str, Sequence[NDArray[Any]]],
    heap: Integers,
    key: NDArray[np.float64],
    evaluated: int,
) -> Tree:
    """The pieces as one tree, without the slots that nobody holds."""
    arrays = {name: np.concatenate(pieces) for name, pieces in nodes.items()}
    holders = np.flatnonzero(arrays["slot"] >= 0)
    held = arrays["slot"][holders]
    arrays |= {name: np.concatenate(pieces)[held] for name, pieces in rows.items()}
    arrays["slot"][holders] = np.arange(len(holders))
    counts = _counts(tree, nodes=len(arrays["slot"]), slots=len(holders), heap=len(heap), evaluated=evaluated)
    return roomy(arrays | {"counts": counts, "free": np.zeros(0, dtype=np.int64), **_queue(heap, key)})


def _queue(nodes: Integers, keys: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    """The open nodes, heaviest first: a sorted array is a heap."""
    order = np.lexsort((nodes, -keys))
    return {"heap": nodes[order], "key": keys[order]}


def _counts(tree: Tree, *, nodes: int, slots: int, heap: int, evaluated: int) -> Integers:
    """Fresh counts; how boxes are cut is carried over."""
    counts = np.zeros(COUNTS, dtype=np.int64)
    counts[[NODES, SLOTS, HEAP, EVALUATED]] = nodes, slots, heap, evaluated
    counts[[REGIONS, CHOOSE_AT]] = tree.counts[REGIONS], evaluated + tree.counts[CHOOSE_AT] // 2
    return counts
