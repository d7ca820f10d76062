"""Trees of boxes lent out and taken back: open boxes become roots of trees of their own, and grow in their old places.

A box that was lent keeps its number; what was cut of it is put behind all others. Masses are shares of the same whole
in every part, so nothing is rescaled. What is fair of a box beyond its own bound is handed up to the nearest bound
above it (:mod:`.kernels.waiting`), which a part does not have: there a root has a *holder* above it, of which nothing
is known, so that it holds all that is to be handed up once the part is taken back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.leaf_boxes.kernels.records import Boxes, Floats, Integers
from fairdsl.backends.leaf_boxes.kernels.waiting import WAITING, take_back
from fairdsl.backends.refining.refinement import State

#: Where boxes count what waits, what is free, what is in use; what was done; and of that the nodes that were visited;
#: then what nobody has looked at yet, and what was free before the last call and still is.
HEAP, FREE, USED, DONE, VISITED, NEW, BEFORE = 0, 1, 2, slice(3, 7), slice(4, 7), 7, 8
#: What is known of each box; and which of it are numbers of boxes.
_OF_BOXES = ("low", "high", "parent", "child", "axis", "cut", "mass", "fair", "peeled", "left", "below", "above")
_NUMBERS = ("parent", "child", "above")
#: Of a box that was cut and is closed.
_CLOSED = -2
#: Leaves that may be left of the open trees of a box that is counted, at first.
_LEAVES = 64


def empty(count: int, axes: int) -> Boxes:
    """Room for so many boxes."""
    low, high = (np.zeros((count, axes), dtype=np.int64) for _ in range(2))
    integers = ("parent", "child", "axis", "cut", "above", "heap", "free")
    columns: dict[str, Any] = {name: np.zeros(count, dtype=np.int64) for name in integers}
    columns |= {name: np.zeros(count) for name in ("mass", "fair", "peeled", "left", "below", "keys")}
    return Boxes(
        low=low,
        high=high,
        **columns,
        known=np.zeros(2),
        counts=np.zeros(9, dtype=np.int64),
        pace=np.array([0.0, 0.0, 0.0, 1.0, 0.0, _LEAVES]),
    )


def boxes_of(state: State, count: int) -> Boxes:
    """The boxes of a state, with room for so many at least."""
    boxes = empty(max(count, len(state["mass"])), state["low"].shape[1])
    for name, column in boxes._asdict().items():
        column[: len(state[name])] = state[name]
    return boxes


def grown(boxes: Boxes, count: int) -> Boxes:
    """The same boxes, with room for so many at least."""
    return boxes_of(boxes._asdict(), count)


def trimmed(boxes: Boxes) -> dict[str, NDArray[Any]]:
    """Copies of the arrays as far as they are used."""
    counts = boxes.counts
    used = dict.fromkeys(_OF_BOXES, int(counts[USED]))
    used |= {"heap": int(counts[HEAP]), "keys": int(counts[HEAP]), "free": int(counts[FREE])}
    return {name: each[: used.get(name)].copy() for name, each in boxes._asdict().items()}


def lent_out(boxes: Boxes, chosen: Integers, keys: Floats) -> dict[str, NDArray[Any]]:
    """A state whose roots are these open boxes, which leave so much open, the heaviest first."""
    count = len(chosen)
    state: dict[str, NDArray[Any]] = {}
    for name in _OF_BOXES:
        column = getattr(boxes, name)[chosen]
        state[name] = np.concatenate([column, np.zeros_like(column)])
    state["parent"] = np.full(2 * count, -1)
    state["above"] = np.concatenate([np.arange(count, 2 * count), np.full(count, -1)])
    counts, pace = boxes.counts.copy(), boxes.pace.copy()
    counts[[HEAP, FREE, USED, NEW]] = count, 0, 2 * count, 0
    pace[WAITING] = keys.sum()
    waiting = {"heap": np.arange(count), "keys": keys.copy(), "free": np.zeros(0, dtype=np.int64)}
    return state | waiting | {"known": np.zeros(2), "counts": counts, "pace": pace}


def grafted(before: State, lent: Sequence[Integers], states: Sequence[State], count: int) -> Boxes:
    """Boxes in which every part stands where its roots were, with room for so many; ``before`` stays as it is."""
    whole: dict[str, list[NDArray[Any]]] = {name: [before[name].copy()] for name in _OF_BOXES}
    counts, known = before["counts"].copy(), before["known"].copy()
    heap, keys, free, more, closed = [], [], [before["free"]], [], []
    for leaves, state in zip(lent, states, strict=True):
        roots, holders = slice(len(leaves)), slice(len(leaves), 2 * len(leaves))
        new = len(state["mass"]) - 2 * len(leaves)
        number = np.concatenate([leaves, before["above"][leaves], counts[USED] + np.arange(new)])
        for name in _OF_BOXES:
            column = state[name]
            if name in _NUMBERS:
                column = np.where(column >= 0, number[column], column)
            if name not in ("parent", "above"):  # what is above a root is what it was
                whole[name][0][leaves] = column[roots]
            whole[name].append(column[2 * len(leaves) :])
        heap.append(number[state["heap"]])
        keys.append(state["keys"])
        free.append(number[state["free"]])
        more.append(state["below"][holders])
        closed.append(before["parent"][leaves[state["child"][roots] == _CLOSED]])
        counts[USED] += new
        counts[DONE] += state["counts"][DONE] - before["counts"][DONE]
        known[1] += state["known"][1]
    open_, left = np.concatenate(heap), np.concatenate(keys)
    order = np.lexsort((open_, -left))  # a sorted array is a heap
    arrays = {name: np.concatenate(columns) for name, columns in whole.items()}
    arrays |= {
        "heap": open_[order],
        "keys": left[order],
        "free": np.concatenate(free),
        "known": known,
        "counts": counts,
    }
    arrays["pace"] = np.mean([state["pace"] for state in states], axis=0)
    arrays["pace"][WAITING] = left.sum()
    counts[[HEAP, FREE]] = len(open_), len(arrays["free"])
    boxes = boxes_of(arrays, count)
    parents = np.unique(np.concatenate(closed))
    above = np.concatenate([before["above"][leaves] for leaves in lent])
    take_back(boxes, above, np.concatenate(more), parents[parents >= 0])
    return boxes
