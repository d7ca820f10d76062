"""Kernels: ranges of scores over a box, their means and variances, and what of the box is therefore fair.

*Ranges.* A tree's values at the leaves that a box reaches; sums of them bound the score of each assignment, and the
difference of two scores, in which trees that are at the same node cancel.

*Moments.* Within a box the attributes are independent, each uniform over its parts, so the mean of a tree's value is a
sum over its leaves, and the covariance of two trees one over pairs of leaves. They are of the least sum of all who are
compared, and of the greatest (or of each score, where these have too many leaves). Cantelli's inequality,
P(f - E f <= -d) <= var / (var + d^2) for d > 0, then bounds how much of the box lies on the other side of the threshold
than the mean. Ranges say nothing of large boxes, where all that is extreme is rare; this does.
"""

from __future__ import annotations

from fairdsl.backends.leaf_boxes.kernels.records import Floats, Integers, Room, Trees
from fairdsl.numerics.kernels.compiled import part

__all__ = ["cantelli", "moments", "reached", "weight"]

_MOMENTS = 5


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
def expected(trees: Trees, node: int, low: Integers, high: Integers, room: Room, counts: Integers) -> float:
    """The mean of a tree's value, from a node on, over the people of a box."""
    stack, chances = room.inner_stack, room.inner_chances
    found = 0.0
    stack[0], chances[0] = node, 1.0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node, chance = stack[waiting], chances[waiting]
        while trees.axis[node] >= 0:
            axis, cut = trees.axis[node], trees.cut[node]
            counts[_MOMENTS] += 1
            if trees.ordered[axis]:
                start, end = max(low[axis], trees.first[node]), min(high[axis], trees.last[node])
                before, behind = weight(trees, axis, start, min(cut, end)), weight(trees, axis, max(cut, start), end)
                if end <= cut:
                    behind = 0.0
                elif start >= cut:
                    before = 0.0
            else:
                there = low[axis] & trees.first[node]
                before, behind = weight(trees, axis, there & cut, 0), weight(trees, axis, there & ~cut, 0)
            if behind <= 0.0:
                node = trees.yes[node]
            elif before <= 0.0:
                node = trees.no[node]
            else:
                stack[waiting], chances[waiting] = trees.no[node], chance * (behind / (before + behind))
                waiting += 1
                chance *= before / (before + behind)
                node = trees.yes[node]
        found += chance * trees.real[node]
    return found


@part
def axes_tested(trees: Trees, node: int, low: Integers, high: Integers, stack: Integers) -> int:
    """The axes that are tested below a node where the box is divided, as bits."""
    found = 0
    stack[0] = node
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = reached(trees, stack[waiting], low, high)
        if trees.axis[node] >= 0:
            found |= 1 << trees.axis[node]
            stack[waiting], stack[waiting + 1] = trees.yes[node], trees.no[node]
            waiting += 2
    return found


@part
def enter_effect(trees: Trees, axis: int, low: int, high: int, amount: float, effects: Floats) -> None:
    """Add to the effect of some parts of an axis; of ordered ones at both ends, to be summed up later."""
    if trees.ordered[axis]:
        effects[axis, low] += amount
        effects[axis, high] -= amount
        return
    place = 0
    while low:
        if low & 1:
            effects[axis, place] += amount
        low >>= 1
        place += 1


@part
def own_variance(trees: Trees, place: int, low: Integers, high: Integers, room: Room, counts: Integers) -> float:
    """The variance of a tree that is active, and twice its covariances with those before it.

    Its leaves are gone through one by one, each with the box of those who reach it. Trees that test none of the axes on
    which that box is smaller are independent of the leaf.
    """
    stack, chances, lows, highs = room.stack, room.chances, room.lows, room.highs
    axes, found = low.shape[0], 0.0
    stack[0], chances[0] = room.active[place], 1.0
    for axis in range(axes):
        lows[0, axis], highs[0, axis] = low[axis], high[axis]
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node, chance = stack[waiting], chances[waiting]
        mine_low, mine_high = lows[waiting], highs[waiting]
        node = reached(trees, node, mine_low, mine_high)
        if trees.axis[node] >= 0:
            axis, cut = trees.axis[node], trees.cut[node]
            for other in range(axes):
                lows[waiting + 1, other], highs[waiting + 1, other] = mine_low[other], mine_high[other]
            whole = weight(trees, axis, mine_low[axis], mine_high[axis])
            if trees.ordered[axis]:
                mine_high[axis] = cut
                lows[waiting + 1, axis] = cut
            else:
                mine_low[axis] &= cut
                lows[waiting + 1, axis] &= ~cut
            passing = weight(trees, axis, mine_low[axis], mine_high[axis])
            failing = weight(trees, axis, lows[waiting + 1, axis], highs[waiting + 1, axis])
            stack[waiting], chances[waiting] = trees.yes[node], chance * (passing / whole)
            stack[waiting + 1], chances[waiting + 1] = trees.no[node], chance * (failing / whole)
            waiting += 2
            continue
        narrowed = 0
        value = trees.real[node]
        for axis in range(axes):
            if mine_low[axis] != low[axis] or mine_high[axis] != high[axis]:
                narrowed |= 1 << axis
                part_of = weight(trees, axis, mine_low[axis], mine_high[axis])
                within = weight(trees, axis, low[axis], high[axis])
                amount = chance * value * (within / part_of) if part_of > 0.0 else 0.0
                enter_effect(trees, axis, mine_low[axis], mine_high[axis], amount, room.effects)
        if chance <= 0.0:
            continue
        others = 0.0
        for other in range(place):
            if room.tested[other] & narrowed:
                others += expected(trees, room.active[other], mine_low, mine_high, room, counts) - room.means[other]
        value -= room.means[place]
        found += chance * value * (value + 2.0 * others)
    return found


@part
def enter(trees: Trees, node: int, place: int, low: Integers, high: Integers, room: Room, counts: Integers) -> float:
    """Make a tree active; its mean."""
    room.active[place] = node
    room.tested[place] = axes_tested(trees, node, low, high, room.inner_stack)
    room.means[place] = expected(trees, node, low, high, room, counts)
    mean: float = room.means[place]
    return mean


@part
def moments(trees: Trees, low: Integers, high: Integers, room: Room, counts: Integers) -> None:
    """Fill ``room.moments`` with mean and variance of each score, and ``room.effects``.

    Trees that are at the same node in all of them are gone through once.
    """
    room.effects[:] = 0.0
    commons, base, base_variance = 0, 0.0, 0.0
    for own in (False, True):
        for score in range(trees.roots.shape[0] if own else 1):
            place, mean, variance = commons, base, base_variance
            for tree in range(trees.roots.shape[1]):
                node = reached(trees, trees.roots[score, tree], low, high)
                same = True
                for other in range(trees.roots.shape[0]):
                    if trees.roots[other, tree] != trees.roots[score, tree]:
                        same = same and reached(trees, trees.roots[other, tree], low, high) == node
                if same == own:
                    continue
                if trees.axis[node] < 0:
                    mean += trees.real[node]
                    continue
                mean += enter(trees, node, place, low, high, room, counts)
                variance += own_variance(trees, place, low, high, room, counts)
                place += 1
            if own:
                room.moments[score, 0], room.moments[score, 1] = mean, variance
            else:
                commons, base, base_variance = place, mean, variance


@part
def cantelli(variance: float, distance: float) -> float:
    """How much at most lies this far, or farther, on one side of the mean; with what the division rounds."""
    if distance <= 0.0:
        return 1.0
    variance = max(variance, 0.0)
    return min(1.0, variance / (variance + distance * distance) * (1.0 + 1e-14))
