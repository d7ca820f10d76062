"""Kernels: where a node's test sends a box, how large parts are, and what a mean and a variance say of a share.

Cantelli's inequality, P(f - E f <= -d) <= var / (var + d^2) for d > 0, bounds how much of a box lies on the other side
of the threshold than the mean. Ranges say nothing of large boxes, where all that is extreme is rare; this does.
"""

from __future__ import annotations

from fairdsl.backends.leaf_boxes.kernels.records import Integers, Trees
from fairdsl.numerics.kernels.compiled import part


@part
def answer(trees: Trees, node: int, low: Integers, high: Integers) -> int:
    """Of a box and a node's test: 1 where all pass, -1 where none does, 0 where the box is divided."""
    axis, cut = trees.axis[node], trees.cut[node]
    if trees.ordered[axis]:
        if high[axis] <= cut:
            return 1
        return -1 if low[axis] >= cut else 0
    if low[axis] & ~cut == 0:
        return 1
    return -1 if low[axis] & cut == 0 else 0


@part
def reached(trees: Trees, node: int, low: Integers, high: Integers) -> int:
    """The node that everybody in the box comes to from this one, the farthest."""
    while trees.axis[node] >= 0:
        told = answer(trees, node, low, high)
        if told == 0:
            break
        node = trees.yes[node] if told > 0 else trees.no[node]
    return node


@part
def weight(trees: Trees, axis: int, low: int, high: int) -> float:
    """The size of some parts of an axis."""
    if trees.ordered[axis]:
        size: float = trees.sums[axis, high] - trees.sums[axis, low]
        return size
    found, place = 0.0, 0
    while low:
        if low & 1:
            found += trees.sums[axis, place + 1] - trees.sums[axis, place]
        low >>= 1
        place += 1
    return found


@part
def cantelli(variance: float, distance: float) -> float:
    """How much at most lies this far, or farther, on one side of the mean; with what the division rounds."""
    if distance <= 0.0:
        return 1.0
    variance = max(variance, 0.0)
    return min(1.0, variance / (variance + distance * distance) * (1.0 + 1e-14))
