"""Kernels: mean and variance of sums of trees over a box from the effects of single axes and of pairs, in little time.

Within a box the axes are independent, so every function is a sum of a mean, a *main effect* of each axis, an *effect*
of each pair of axes and a rest, which are uncorrelated (Hoeffding's decomposition). Effects of a sum are the sums of
the trees' effects, so all of it but the rest is added up exactly, in tables over the parts of one axis and of two; and
the deviation of the rests' sum is at most the sum of the deviations of each tree's rest, which follow from that tree.
That takes time for each tree, where exact moments take time for each two of them: after as long, these leave more open
(benchmarks/experiments.md).
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from fairdsl.backends.leaf_boxes.kernels.bounds import weight
from fairdsl.backends.leaf_boxes.kernels.ranges import narrow, own_leaves, parts_here, spans
from fairdsl.backends.leaf_boxes.kernels.records import Bits, Effects, Leaves, Trees
from fairdsl.numerics.kernels.bits import lowest
from fairdsl.numerics.kernels.compiled import part

_NONE, _ONE = np.uint64(0), np.uint64(1)


@part
def enter_lines(trees: Trees, leaves: Leaves, tree: int, own: Bits, work: Effects) -> int:
    """The axes along which a box parts a tree's leaves: their segments, and the size of each; how many axes."""
    count, start, end, axes = 0, leaves.starts[tree], leaves.starts[tree + 1], np.uint64(leaves.tested[tree])
    while axes != _NONE:
        axis = lowest(axes)
        axes &= axes - _ONE
        low, high, row = work.low[axis], work.high[axis], leaves.rows[axis]
        behind = row + (leaves.rows[axis + 1] - row) // 2 + high - 1
        if spans(own, leaves.meet[row + low], leaves.meet[behind], start, end):
            continue
        mark_ends(leaves, tree, own, axis, low, high, work)
        segment, whole, ends, begin = 0, weight(trees, axis, low, high), work.ends[count], 0
        ends[0] = 0
        for place in range(1, work.width[axis] + 1):
            if work.column[place] != 0.0:
                size = weight(trees, axis, low + work.edge[axis, begin], low + work.edge[axis, place])
                work.size[count, segment] = size / whole
                segment, begin = segment + 1, place
                ends[segment] = place
        work.axes[count], work.segments[count] = axis, segment
        count += 1
    return count


@part
def mark_ends(leaves: Leaves, tree: int, own: Bits, axis: int, low: int, high: int, work: Effects) -> None:
    """Mark in ``work.column`` at which places of an axis leaves of a tree begin or end."""
    index, column = work.numbers[axis], work.column
    for place in range(work.width[axis] + 1):
        column[place] = 0.0
    column[work.width[axis]] = 1.0
    for word in range(leaves.starts[tree], leaves.starts[tree + 1]):
        bits = own[word]
        while bits != _NONE:
            leaf = word * 64 + lowest(bits)
            bits &= bits - _ONE
            column[index[max(leaves.low[leaf, axis], low) - low]] = 1.0
            column[index[min(leaves.high[leaf, axis], high) - low]] = 1.0


@part
def enter_leaf(trees: Trees, leaves: Leaves, place: int, work: Effects, number: int, count: int) -> float:
    """Write down the segments of each line that a leaf meets, and the inverse of its share; its chance."""
    chance = 1.0
    for line in range(count):
        axis, ends, first = work.axes[line], work.ends[line], 0
        low, high = work.low[axis], work.high[axis]
        begin, behind = max(leaves.low[place, axis], low), min(leaves.high[place, axis], high)
        while ends[first + 1] <= work.numbers[axis, begin - low]:
            first += 1
        last = first
        while ends[last + 1] < work.numbers[axis, behind - low]:
            last += 1
        share = weight(trees, axis, begin, behind) / weight(trees, axis, low, high)
        work.first[number, line], work.last[number, line] = first, last
        work.inverse[number, line] = 1.0 / share if share > 0.0 else 0.0
        chance *= share
    for axis in range(trees.ordered.shape[0]):
        if not trees.ordered[axis]:
            mine = leaves.low[place, axis] & work.low[axis]
            chance *= weight(trees, axis, mine, 0) / weight(trees, axis, work.low[axis], 0)
    return chance


@part
def enter_leaves(trees: Trees, leaves: Leaves, tree: int, own: Bits, work: Effects, row: int, count: int) -> int:
    """List a tree's leaves within a box: value above the least, chance, segments; how many there are."""
    number, least = 0, 0
    for word in range(leaves.starts[tree], leaves.starts[tree + 1]):
        bits = own[word]
        while bits != _NONE:
            place = word * 64 + lowest(bits)
            bits &= bits - _ONE
            chance = enter_leaf(trees, leaves, place, work, number, count)
            if chance <= 0.0:
                continue
            if number == 0:
                least = leaves.value[place]
                work.least[row] += least
            work.value[number], work.chance[number] = float(leaves.value[place] - least), chance
            number += 1
    return number


@part
def enter_tree(trees: Trees, leaves: Leaves, tree: int, own: Bits, work: Effects, row: int) -> None:
    """Add the effects of a tree whose leaves are ``own`` to a row of the tables, and what it adds to the rest."""
    count = enter_lines(trees, leaves, tree, own, work)
    number = enter_leaves(trees, leaves, tree, own, work, row, count)
    if number == 1:
        return
    mean, square = 0.0, 0.0
    for leaf in range(number):
        work.amount[leaf] = work.chance[leaf] * work.value[leaf]
        mean += work.amount[leaf]
        square += work.amount[leaf] * work.value[leaf]
    span = work.value[number - 1]
    rest = square - mean * mean
    rest -= enter_main(work, row, count, number, mean)
    for line in range(count):
        for other in range(line):
            rest -= enter_pair(work, row, number, line, other, mean)
            work.steps[0] += 8 * number + 4 * work.segments[line] * work.segments[other]
    work.sums[row, 0] += mean
    work.sums[row, 1] += span
    axes = 0
    for line in range(count):
        axes |= 1 << work.axes[line]
    if not trees.ordered.all():
        axes = -1
    place = work.rests[row]
    work.tested[row, place] = axes
    work.deviation[row, place] = sqrt(max(0.0, rest) + 16.0 * work.rounding[0] * (1.0 + count) ** 2 * span * span)
    work.rests[row] = place + 1


@part
def enter_main(work: Effects, row: int, count: int, number: int, mean: float) -> float:
    """Add the main effects of a tree to the tables; their variance."""
    found = 0.0
    for line in range(count):
        axis, effect = work.axes[line], work.effect[line]
        for segment in range(work.segments[line]):
            effect[segment] = -mean
        for leaf in range(number):
            amount = work.amount[leaf] * work.inverse[leaf, line]
            for segment in range(work.first[leaf, line], work.last[leaf, line] + 1):
                effect[segment] += amount
        for segment in range(work.segments[line]):
            found += work.size[line, segment] * effect[segment] * effect[segment]
            for place in range(work.ends[line, segment], work.ends[line, segment + 1]):
                work.main[row, axis, place] += effect[segment]
    return found


@part
def enter_pair(work: Effects, row: int, number: int, line: int, other: int, mean: float) -> float:
    """Add the effect of two axes of a tree to the tables, as changes along both; its variance."""
    changes, effect, across = work.both, work.effect[line], work.effect[other]
    segments, others = work.segments[line], work.segments[other]
    for segment in range(segments):
        for place in range(1, others):
            changes[segment, place] = 0.0
        changes[segment, 0] = effect[segment - 1] - effect[segment] if segment > 0 else -mean - effect[0] - across[0]
    for place in range(1, others):
        changes[0, place] = across[place - 1] - across[place]
    for leaf in range(number):
        amount = work.amount[leaf] * work.inverse[leaf, line] * work.inverse[leaf, other]
        first, behind = work.first[leaf, line], work.last[leaf, line] + 1
        begin, end = work.first[leaf, other], work.last[leaf, other] + 1
        changes[first, begin] += amount
        changes[first, end] -= amount  # what lies behind the last segment is not read
        changes[behind, begin] -= amount
        changes[behind, end] += amount
    axis, second, found = work.axes[line], work.axes[other], 0.0
    table, width = work.table[row], work.width[second]
    begins, ends, across_ends = work.begins[axis, second], work.ends[line], work.ends[other]
    for place in range(others):
        work.column[place] = 0.0
    for segment in range(segments):
        begin, inside, amount = begins + ends[segment] * width, 0.0, 0.0
        for place in range(others):
            table[begin + across_ends[place]] += changes[segment, place]
            work.column[place] += changes[segment, place]
            amount += work.column[place]
            inside += work.size[other, place] * amount * amount
        found += work.size[line, segment] * inside
    return found


@part
def lay_out(trees: Trees, leaves: Leaves, work: Effects) -> None:
    """Divide each axis where leaves that the box reaches begin or end: nothing changes between two such places."""
    index = work.numbers
    for axis in range(trees.ordered.shape[0]):
        if trees.ordered[axis]:
            for place in range(work.high[axis] - work.low[axis]):
                index[axis, place] = 0
            index[axis, work.high[axis] - work.low[axis]] = 1
    for word in range(work.reached.shape[0]):
        bits = work.reached[word]
        while bits != _NONE:
            leaf = word * 64 + lowest(bits)
            bits &= bits - _ONE
            axes = np.uint64(leaves.bounded[leaf])
            while axes != _NONE:
                axis = lowest(axes)
                axes &= axes - _ONE
                if trees.ordered[axis]:
                    low, high = work.low[axis], work.high[axis]
                    index[axis, max(leaves.low[leaf, axis], low) - low] = 1
                    index[axis, min(leaves.high[leaf, axis], high) - low] = 1
    for axis in range(trees.ordered.shape[0]):
        if trees.ordered[axis]:
            width = 0
            for place in range(1, work.high[axis] - work.low[axis] + 1):
                width += index[axis, place]
                if index[axis, place] == 1:
                    work.edge[axis, width] = place
                index[axis, place] = width
            index[axis, 0] = work.edge[axis, 0] = 0
            work.width[axis] = width


@part
def clear(trees: Trees, work: Effects) -> None:
    """Empty the tables, and lay out those of two axes for this box."""
    axes, rows, place = trees.ordered.shape[0], work.main.shape[0], 0
    for axis in range(axes):
        if not trees.ordered[axis]:
            continue
        low, width, edge = work.low[axis], work.width[axis], work.edge[axis]
        whole = weight(trees, axis, low, work.high[axis])
        for x in range(width):
            work.part[axis, x] = weight(trees, axis, low + edge[x], low + edge[x + 1]) / whole
            for row in range(rows):
                work.main[row, axis, x] = 0.0
        for other in range(axis):
            # A tree names its axes in ascending order, so the second one is before.
            work.begins[axis, other] = place
            if trees.ordered[other]:
                place += width * work.width[other]
    work.steps[0] = 2 * place * rows
    for row in range(rows):
        work.sums[row, :] = 0.0
        work.least[row] = work.rests[row] = 0
        for x in range(place):
            work.table[row, x] = 0.0


@part
def explained(trees: Trees, work: Effects, score: int, alike: int) -> float:
    """The variance of main effects and of effects of pairs; main effects of all become part of the assignment's own."""
    found = 0.0
    for axis in range(trees.ordered.shape[0]):
        if not trees.ordered[axis]:
            continue
        width, total = work.width[axis], 0.0
        for x in range(width):
            work.main[score, axis, x] += work.main[alike, axis, x]
            total += work.part[axis, x] * work.main[score, axis, x] * work.main[score, axis, x]
        work.varies[score, axis, axis] = total
        found += total
        for other in range(axis):
            work.varies[score, axis, other] = 0.0
            if not trees.ordered[other] or width == 1:
                continue
            across, place = work.width[other], work.begins[axis, other]
            if across == 1:
                continue
            total = 0.0
            for y in range(across):
                work.column[y] = 0.0
            for x in range(width):
                for y in range(across):
                    work.column[y] += work.table[alike, place + y] + work.table[score, place + y]
                inside, amount = 0.0, 0.0
                for y in range(across):
                    amount += work.column[y]
                    work.table[score, place + y] = amount
                    inside += work.part[other, y] * amount * amount
                place += across
                total += work.part[axis, x] * inside
            work.varies[score, axis, other] = total
            found += total
    return found


@part
def unexplained(work: Effects, score: int, alike: int) -> float:
    """At most the variance of the sum of the rests of all trees of an assignment.

    A rest consists of effects of three axes or more that the tree tests, and effects of other axes are uncorrelated.
    """
    number, own = work.rests[alike], work.rests[score]
    for place in range(own):
        work.tested[alike, number + place] = work.tested[score, place]
        work.deviation[alike, number + place] = work.deviation[score, place]
    found = 0.0
    for one in range(number + own):
        beside, axes = 0.5 * work.deviation[alike, one], work.tested[alike, one]
        for other in range(one):
            common = axes & work.tested[alike, other]
            common &= common - 1
            if common & (common - 1) != 0:
                beside += work.deviation[alike, other]
        found += 2.0 * work.deviation[alike, one] * beside
    return found


@part
def pairwise(trees: Trees, leaves: Leaves, work: Effects) -> float:
    """Fill ``work.moments`` with the mean of each score and a bound of its variance, in whole units, of ``work.low``.

    Means are counted from the limit below; the result is how far one may be off. Let R be the width of an assignment's
    range, T trees, L leaves of a tree, a axes and P parts of an axis, u = 2^-53. An entry of a table is a sum of
    changes along two axes. Those of a tree come from at most 4 L terms of leaves and 4 P of main effects, of which each
    is 2 R_t at most, for R_t the tree's range, and off by (2 L + 4 a + 16) u R_t, and they go through at most 4 L + T +
    2 P + 16 additions. So an entry is off by g R at most, g = 2 (T + 2 P + 6 L + 4 a + 32) (8 L + 8 P) u (Higham,
    Accuracy and Stability of Numerical Algorithms, section 4.2; twofold for terms of higher order). Its absolute value
    is 4 R at most, so its square, and a mean of such, is off by 16 g R^2 if g < 1. There are fewer than (1 + a)^2
    tables, of a tree as well, and in cells at most five entries are one: 16 (8 + a)^2 g R^2 is more than all of these.
    """
    scores, off = work.moments.shape[0], 0.0
    for word in range(work.reached.shape[0]):
        work.reached[word] = leaves.everywhere[word]
    for axis in range(trees.ordered.shape[0]):
        narrow(trees.ordered, leaves, axis, work.low[axis], work.high[axis], work.reached, work.union)
    lay_out(trees, leaves, work)
    clear(trees, work)
    for tree in range(leaves.starts.shape[0] - 1):
        if tree < leaves.alike:
            enter_tree(trees, leaves, tree, work.reached, work, scores)
            continue
        parted = False
        for score in range(1, scores):
            parted = parted or parts_here(leaves, tree, work.reached, score, 0)
        for score in range(scores if parted else 1):
            own_leaves(leaves, tree, work.reached, score, work.union)
            enter_tree(trees, leaves, tree, work.union, work, score if parted else scores)
    for score in range(scores):
        span = work.sums[scores, 1] + work.sums[score, 1]
        above = float(work.least[scores] + work.least[score] - trees.limits[0])
        work.moments[score, 0] = above + (work.sums[scores, 0] + work.sums[score, 0])
        many = (8.0 + trees.ordered.shape[0]) ** 2
        work.more[score] = 16.0 * many * work.rounding[0] * span * span
        work.rest[score] = unexplained(work, score, scores) + work.more[score]
        work.moments[score, 1] = explained(trees, work, score, scores) + work.rest[score]
        off = max(off, work.rounding[0] * span + 2.0**-50 * abs(above))
    return off
