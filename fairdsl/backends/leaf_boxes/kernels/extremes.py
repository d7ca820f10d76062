"""The kernel for boxes of which more is asked than one score's side: ranges of several numbers, and where to cut.

A tree's extremes are those of the leaves that the box reaches. A box is cut where the trees with the widest ranges
change their leaves, the more evenly the better.
"""

from __future__ import annotations

import numpy as np

from fairdsl.backends.leaf_boxes.kernels.ranges import narrow
from fairdsl.backends.leaf_boxes.kernels.records import Bits, BoolArray, Duels, Floats, Integers, Leaves
from fairdsl.numerics.kernels.bits import lowest
from fairdsl.numerics.kernels.compiled import exact, part

_NONE, _ONE = np.uint64(0), np.uint64(1)
#: What a cut counts that leaves nearly everything on one side, where one through the middle counts a half more.
_UNEVEN = 0.05


@part
def add_extremes(duels: Duels, reached: Bits, start: int, end: int, low: Integers, high: Integers) -> float:
    """Add a tree's least and greatest numbers among some leaves; the result is how far they lie apart, in all."""
    span = 0.0
    for number in range(low.shape[0]):
        first, least, most = True, 0, 0
        for word in range(start, end):
            bits = reached[word]
            while bits != _NONE:
                leaf = word * 64 + lowest(bits)
                bits &= bits - _ONE
                below, above = duels.low[leaf, number], duels.high[leaf, number]
                least = below if first else min(least, below)
                most = above if first else max(most, above)
                first = False
        low[number] += least
        high[number] += most
        span += float(most) - float(least)
    return span


@part
def vote(
    duels: Duels,
    leaves: Leaves,
    reached: Bits,
    start: int,
    end: int,
    low: Integers,
    high: Integers,
    span: float,
    votes: Floats,
    sets: Integers,
) -> None:
    """Weigh the cuts at the ends of a tree's leaves within the box; of an unordered axis one set, counted at 0."""
    for word in range(start, end):
        bits = reached[word]
        while bits != _NONE:
            leaf = word * 64 + lowest(bits)
            bits &= bits - _ONE
            for axis in range(low.shape[0]):
                first, last = leaves.low[leaf, axis], leaves.high[leaf, axis]
                if duels.ordered[axis]:
                    if low[axis] < first < high[axis]:
                        votes[axis, first] += span
                    if low[axis] < last < high[axis]:
                        votes[axis, last] += span
                else:
                    inside = first & low[axis]
                    if inside != low[axis] and inside != 0:
                        if votes[axis, 0] == 0.0:
                            sets[axis] = inside
                        votes[axis, 0] += span


@part
def best_vote(duels: Duels, low: Integers, high: Integers, may_cut: BoolArray, votes: Floats) -> tuple[int, int]:
    """The axis and the place of the cut with most votes, weighed by how even it is; -1 where there is none."""
    best, axis_found, place_found = 0.0, -1, 0
    for axis in range(low.shape[0]):
        if not may_cut[axis]:
            continue
        if not duels.ordered[axis]:
            if votes[axis, 0] * 0.25 > best:
                best, axis_found, place_found = votes[axis, 0] * 0.25, axis, 0
            continue
        whole = duels.sums[axis, high[axis]] - duels.sums[axis, low[axis]]
        for place in range(low[axis] + 1, high[axis]):
            if votes[axis, place] > 0.0:
                share = (duels.sums[axis, place] - duels.sums[axis, low[axis]]) / whole if whole > 0.0 else 0.5
                weight = votes[axis, place] * (_UNEVEN + min(share, 1.0 - share))
                if weight > best:
                    best, axis_found, place_found = weight, axis, place
    return axis_found, place_found


@exact
def extremes(
    duels: Duels,
    leaves: Leaves,
    may_cut: BoolArray,
    low: Integers,
    high: Integers,
    cut_low: Integers,
    cut_high: Integers,
    common: Integers,
    own: Integers,
    cuts: Integers,
    reached: Bits,
    union: Bits,
    mine: Bits,
    votes: Floats,
    sets: Integers,
) -> None:
    """Ranges over the boxes [n, axes] of what is ``common`` to all [2, n, numbers] and their ``own`` [2, n,
    assignments, numbers], added to what is there; and where to cut other boxes, those from ``cut_low`` to ``cut_high``:
    the axis and the place [n, 2], -1 for none.
    """
    people, parting = leaves.whose.shape[0], leaves.starts[leaves.alike]
    for box in range(low.shape[0]):
        for word in range(reached.shape[0]):
            reached[word] = leaves.everywhere[word]
        for axis in range(votes.shape[0]):
            for place in range(votes.shape[1]):
                votes[axis, place] = 0.0
        for axis in range(low.shape[1]):
            narrow(duels.ordered, leaves, axis, low[box, axis], high[box, axis], reached, union)
        for tree in range(leaves.starts.shape[0] - 1):
            start, end = leaves.starts[tree], leaves.starts[tree + 1]
            span = 0.0
            if tree < leaves.alike:
                span = add_extremes(duels, reached, start, end, common[0, box], common[1, box])
            else:
                for person in range(people):
                    for word in range(start, end):
                        mine[word] = reached[word] & leaves.whose[person, word - parting]
                    wide = add_extremes(duels, mine, start, end, own[0, box, person], own[1, box, person])
                    span = max(span, wide)
            if span > 0.0:
                vote(duels, leaves, reached, start, end, cut_low[box], cut_high[box], span, votes, sets)
        axis, place = best_vote(duels, cut_low[box], cut_high[box], may_cut, votes)
        cuts[box, 0] = axis
        cuts[box, 1] = place if axis < 0 or duels.ordered[axis] else sets[axis]
