"""The compiled look at boxes of an ensemble: what the sum is at least and at most, and where to cut."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdsl.numerics.kernels.compiled import exact, part

__all__ = ["Nodes", "look"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

#: How much more a test counts in trees that what differs may move.
_MOVED = 4.0


class Nodes(NamedTuple):
    """Trees whose nodes have one cut each: positions before it go to ``first``, others to ``second``; [nodes]."""

    roots: Integers
    #: Which attribute a node tests; -1 of leaves.
    place: Integers
    cut: Integers
    first: Integers
    second: Integers
    leaf: Floats
    #: The number of a node's test among all different ones.
    number: Integers
    #: Which attributes differ, [attributes]; and their assignments, [assignments, attributes that differ].
    differ: Flags
    differing: Integers
    assignments: Integers


@part
def _top(nodes: Nodes, node: int, low: Integers, high: Integers) -> int:
    """The first test from a node on that a box leaves open, or the leaf that it reaches."""
    while nodes.place[node] >= 0:
        place, cut = nodes.place[node], nodes.cut[node]
        if high[place] < cut:
            node = nodes.first[node]
        elif low[place] >= cut:
            node = nodes.second[node]
        else:
            break
    return node


@part
def _extent(nodes: Nodes, node: int, low: Integers, high: Integers, stack: Integers) -> tuple[float, float, bool]:
    """The least and the greatest leaf below a node that a box reaches; whether a test of what differs is open."""
    least, most, moved, waiting = np.inf, -np.inf, False, 1
    stack[0] = node
    while waiting:
        waiting -= 1
        at = _top(nodes, stack[waiting], low, high)
        place = nodes.place[at]
        if place < 0:
            least, most = min(least, nodes.leaf[at]), max(most, nodes.leaf[at])
        else:
            moved |= nodes.differ[place]
            stack[waiting], stack[waiting + 1] = nodes.first[at], nodes.second[at]
            waiting += 2
    return least, most, moved


@part
def _tree(
    nodes: Nodes, top: int, low: Integers, high: Integers, stack: Integers, gains: Floats, weight: float
) -> tuple[float, float]:
    """The least and the greatest leaf; how much the topmost test narrows that is added to ``gains``."""
    if nodes.place[top] < 0:
        return nodes.leaf[top], nodes.leaf[top]
    least, most, _ = _extent(nodes, nodes.first[top], low, high, stack)
    under, over, _ = _extent(nodes, nodes.second[top], low, high, stack)
    all_least, all_most = min(least, under), max(most, over)
    gains[nodes.number[top]] += weight * (2 * (all_most - all_least) - (most - least) - (over - under)) + 1e-12
    return all_least, all_most


@part
def _greatest(gains: Floats) -> int:
    """The test that gains most; -1 where none is left. The room is cleared for the next box."""
    chosen, most = -1, 0.0
    for test in range(len(gains)):
        if gains[test] > most:
            chosen, most = test, gains[test]
        gains[test] = 0.0
    return chosen


@exact
def look(
    nodes: Nodes,
    constant: float,
    low: Integers,
    high: Integers,
    stack: Integers,
    gains: Floats,
    ends: Floats,
    moved: Flags,
    best: Integers,
) -> None:
    """Of boxes, [boxes, attributes]: ``ends`` of the sum, [boxes, assignments, 2], ``best`` tests (-1: none is left).

    ``moved``: whether what differs may matter. ``stack`` and ``gains`` are room, for [nodes] and [tests].
    """
    for box in range(len(low)):
        shared_least, shared_most = constant, constant
        moved[box] = False
        for number in range(len(nodes.assignments)):
            ends[box, number, 0], ends[box, number, 1] = 0.0, 0.0
        under, over = low[box], high[box]
        for root in nodes.roots:
            top = _top(nodes, root, under, over)
            if nodes.place[top] < 0:
                shared_least += nodes.leaf[top]
                shared_most += nodes.leaf[top]
                continue
            _, _, tested = _extent(nodes, top, under, over, stack)
            if not tested:
                least, most = _tree(nodes, top, under, over, stack, gains, 1.0)
                shared_least += least
                shared_most += most
                continue
            moved[box] = True
            for number in range(len(nodes.assignments)):
                for place in range(len(nodes.differing)):
                    under[nodes.differing[place]] = over[nodes.differing[place]] = nodes.assignments[number, place]
                own = _top(nodes, top, under, over)
                least, most = _tree(nodes, own, under, over, stack, gains, _MOVED)
                ends[box, number, 0] += least
                ends[box, number, 1] += most
            for place in range(len(nodes.differing)):
                under[nodes.differing[place]] = 0
                over[nodes.differing[place]] = 2**40
        for number in range(len(nodes.assignments)):
            ends[box, number, 0] += shared_least
            ends[box, number, 1] += shared_most
        best[box] = _greatest(gains)
