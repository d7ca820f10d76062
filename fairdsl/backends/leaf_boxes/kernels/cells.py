"""Kernels: what of a box is fair, by mean and variance of each score in every cell of the axes that matter most.

What :mod:`.pairwise` adds up says more than a variance: where the parts of some axes are given, the effects of pairs
with them become main effects of the other axes. So with f = q + r, where q is the mean and all effects of axes and of
pairs, the mean m and the variance v of q are known in each cell of a few axes, as if the box had been cut into all of
them.

In a cell c of size p_c choose a side of the threshold and a number a_c > 0. If f is on the other side, it lies more
than a_c away from the number that is a_c beyond the threshold, so the size of all such units is at most the sum of
p_c E[(q + r - that)^2 | c] / a_c^2. This is the square of a norm, and by the triangle inequality at most
(sqrt(sum of p_c (v + (m - that)^2) / a_c^2) + sqrt(E r^2) / (the least a_c))^2. Of q alone a_c = d + v / d is best
for a mean at the distance d (Cantelli's inequality); the least a_c is chosen so that r counts for little.
"""

from __future__ import annotations

from math import sqrt

from fairdsl.backends.leaf_boxes.kernels.records import Effects, Scores, Trees
from fairdsl.numerics.kernels.compiled import part

#: Cells at most, axes that they divide, and how many deviations of the rest the least distance is.
_CELLS, LEVELS, _APART = 256, 4, (6.0, 14.0)
CHOICES = len(_APART)


@part
def choose(trees: Trees, work: Effects) -> int:
    """The axes with the largest effects, while their parts make few enough cells; how many."""
    count, cells = 0, 1
    work.chosen[:] = 0
    while count < LEVELS:
        most, best = 0.0, -1
        for axis in range(trees.ordered.shape[0]):
            width = work.width[axis]
            if not trees.ordered[axis] or work.chosen[axis] or cells * width > _CELLS:
                continue
            amount = 0.0
            for score in range(work.between.shape[0]):
                for other in range(trees.ordered.shape[0]):
                    amount += work.varies[score, max(axis, other), min(axis, other)]
            if amount > most:
                most, best = amount, axis
        if best < 0:
            break
        work.chosen[best] = 1
        work.levels[count] = best
        cells *= work.width[best]
        count += 1
    return count


@part
def go_down(trees: Trees, work: Effects, level: int, count: int) -> None:
    """Fill in a level: means and main effects where one more axis is at a place."""
    axis, axes, scores = work.levels[level], trees.ordered.shape[0], work.between.shape[0]
    x = work.place[level]
    work.sizes[level + 1] = work.sizes[level] * work.part[axis, x]
    for score in range(scores):
        held, further = work.held[level, score], work.held[level + 1, score]
        work.middle[level + 1, score] = work.middle[level, score] + held[axis, x]
        varies = 0.0
        for other in range(axes):
            width = work.width[other]
            if not trees.ordered[other] or width == 1 or other == axis:
                continue
            known = False
            for above in range(level):
                known = known or work.levels[above] == other
            if known:
                continue
            begin, step = work.begins[axis, other] + x * width, 1
            if other > axis:
                begin, step = work.begins[other, axis] + x, work.width[axis]
            table, total = work.table[score], 0.0
            for y in range(width):
                amount = held[other, y] + table[begin + y * step]
                further[other, y] = amount
                total += work.part[other, y] * amount * amount
            varies += total
        if level == count - 1:
            work.middle[level + 1, score + scores] = varies


@part
def begin(trees: Trees, work: Effects, score: int, cells: int) -> None:
    """Fill in the first level of a score, and the variance of effects of pairs of which no axis is chosen."""
    axes, between = trees.ordered.shape[0], work.more[score]
    work.middle[0, score] = work.moments[score, 0]
    for axis in range(axes):
        if not trees.ordered[axis]:
            continue
        work.steps[0] += 2 * cells * work.width[axis]
        for other in range(axis):
            if trees.ordered[other] and not work.chosen[axis] and not work.chosen[other]:
                between += work.varies[score, axis, other]
        for x in range(work.width[axis]):
            work.held[0, score, axis, x] = work.main[score, axis, x]
    work.between[score] = between


@part
def fair_by_cells(scores: Scores, above: float, off: float) -> float:
    """The share of a box, all of it there, that is treated alike at least; after ``pairwise``, as it counts."""
    trees, work, number = scores.trees, scores.work, scores.work.moments.shape[0]
    count, cells = choose(trees, work), 1
    if count == 0:
        return 0.0
    for level in range(count):
        cells *= work.width[work.levels[level]]
    for score in range(number):
        begin(trees, work, score, cells)
    work.sizes[0] = 1.0
    work.spread[:] = 0.0
    work.others[:] = 0.0
    go_through(scores, count, above, off)
    best = 1.0
    for each in range(CHOICES):
        found = work.others[each]
        for side in range(2):
            for score in range(number if work.spread[each, side, number] > 0.0 else 0):
                if (side == 0 and scores.above[score]) or (side == 1 and scores.below[score]):
                    found += (sqrt(work.spread[each, side, score]) + 1.0 / _APART[each]) ** 2
        best = min(best, found * (1.0 + 2.0**-30))
    return 1.0 - best


@part
def go_through(scores: Scores, count: int, above: float, off: float) -> None:
    """Enter each cell, one place of every chosen axis after the other."""
    trees, work, level = scores.trees, scores.work, 0
    work.place[0] = 0
    while level >= 0:
        if work.place[level] == work.width[work.levels[level]]:
            level -= 1
            if level >= 0:
                work.place[level] += 1
            continue
        go_down(trees, work, level, count)
        if level < count - 1:
            level += 1
            work.place[level] = 0
            continue
        enter_cell(scores, count, above, off)
        work.place[level] += 1


@part
def outside_of(work: Effects, level: int, score: int, sign: float, limit: float, choice: int) -> float:
    """:func:`outside` of a score, or of the score turned around, in a cell."""
    middle, scores = work.middle[level], work.between.shape[0]
    least = _APART[choice] * sqrt(work.rest[score])
    return outside(sign * middle[score] - limit, middle[score + scores] + work.between[score], least)


@part
def enter_cell(scores: Scores, level: int, above: float, off: float) -> None:
    """Add a cell to the side that leaves less open, or to what is open."""
    work, number = scores.work, scores.work.between.shape[0]
    size = work.sizes[level]
    for each in range(CHOICES):
        over, under = 0.0, 0.0
        for score in range(number):
            if scores.above[score]:
                over += outside_of(work, level, score, 1.0, above + off, each)
            if scores.below[score]:
                under += outside_of(work, level, score, -1.0, off, each)
        if min(over, under) >= 1.0:
            work.others[each] += size
            continue
        side = 0 if over < under else 1
        work.spread[each, side, number] += size
        for score in range(number):
            if side == 0 and scores.above[score]:
                work.spread[each, 0, score] += size * outside_of(work, level, score, 1.0, above + off, each)
            if side == 1 and scores.below[score]:
                work.spread[each, 1, score] += size * outside_of(work, level, score, -1.0, off, each)


@part
def outside(distance: float, varies: float, least: float) -> float:
    """The mean square of how far a number is from one beyond a threshold, in units of how far that is beyond it."""
    apart = least
    if distance > 0.0:
        apart = max(least, distance + varies / distance)
    return (varies + (distance - apart) ** 2) / (apart * apart) if apart > 0.0 else 1.0
