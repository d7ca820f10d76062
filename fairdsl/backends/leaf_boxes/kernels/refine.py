"""The kernel: boxes are looked at, the one with most that is open first, and settled or cut in two."""

from __future__ import annotations

from fairdsl.backends.leaf_boxes.kernels.bounds import cantelli, moments, ranges, reached, weight
from fairdsl.backends.leaf_boxes.kernels.records import (
    FAIR,
    OPEN,
    STUCK,
    UNFAIR,
    VACUOUS,
    Boxes,
    Integers,
    Room,
    Settled,
    Trees,
)
from fairdsl.numerics.kernels.compiled import exact, part

__all__ = ["refine"]

_HEAP, _FREE, _USED, _RANGES, _MOMENTS, _LOOKED = 0, 1, 2, 3, 4, 5
#: Moments are worked out of boxes that leave this share of everything open: of lighter ones, ranges find as much in
#: less time, for moments take some hundred times as long.
_HEAVY = 2.0**-10


@part
def copy_box(low: Integers, high: Integers, place: int, boxes: Boxes, box: int) -> None:
    """Write the ends of a box to a row of two arrays."""
    for axis in range(low.shape[1]):
        low[place, axis], high[place, axis] = boxes.low[box, axis], boxes.high[box, axis]


@part
def push(boxes: Boxes, box: int) -> None:
    """Put a box on the heap, in which that with the largest open mass is first."""
    heap, counts = boxes.heap, boxes.counts
    place = counts[_HEAP]
    counts[_HEAP] += 1
    key = boxes.mass[box] * boxes.left[box]
    while place > 0:
        above = (place - 1) // 2
        if boxes.mass[heap[above]] * boxes.left[heap[above]] >= key:
            break
        heap[place] = heap[above]
        place = above
    heap[place] = box


@part
def pop(boxes: Boxes) -> int:
    """Take the first box from the heap."""
    heap, counts = boxes.heap, boxes.counts
    first = heap[0]
    counts[_HEAP] -= 1
    count = counts[_HEAP]
    last = heap[count]
    key = boxes.mass[last] * boxes.left[last]
    place = 0
    while True:
        below = 2 * place + 1
        if below >= count:
            break
        if below + 1 < count:
            one, other = heap[below], heap[below + 1]
            if boxes.mass[other] * boxes.left[other] > boxes.mass[one] * boxes.left[one]:
                below += 1
        if key >= boxes.mass[heap[below]] * boxes.left[heap[below]]:
            break
        heap[place] = heap[below]
        place = below
    heap[place] = last
    return int(first)


@part
def tell_above(boxes: Boxes, box: int) -> None:
    """Hand a bound up; pairs of children below which nothing is open are freed."""
    counts = boxes.counts
    while box >= 0:
        child = boxes.child[box]
        if child >= 0:
            sum_below = boxes.fair[child] + boxes.fair[child + 1]
            closed = boxes.child[child] == -2 and boxes.child[child + 1] == -2
            if sum_below <= boxes.fair[box] and not closed:
                return
            boxes.fair[box] = max(boxes.fair[box], sum_below)
            if closed:
                boxes.free[counts[_FREE]] = child
                counts[_FREE] += 1
                boxes.child[box] = -2
        box = boxes.parent[box]


@part
def best_cut(trees: Trees, boxes: Boxes, box: int, room: Room, by_effects: bool) -> bool:
    """Choose the test to cut at: of the largest main effect, or of the widest ranges; False where none is left."""
    low, high = boxes.low[box], boxes.high[box]
    best, chosen = 0.0, -1
    for test in range(trees.tests.shape[0]):
        if not by_effects:
            worth = room.gain[test]
        else:
            axis, cut = trees.tests[test, 0], trees.tests[test, 1]
            worth = 0.0
            if trees.ordered[axis] and low[axis] < cut < high[axis]:
                whole = weight(trees, axis, low[axis], high[axis])
                before = weight(trees, axis, low[axis], cut)
                inside = room.effects[axis, cut] / whole
                if 0.0 < before < whole:
                    worth = inside * inside / (before / whole * (1.0 - before / whole))
        if worth > best:
            best, chosen = worth, test
    if chosen < 0:
        return False
    boxes.axis[box], boxes.cut[box] = trees.tests[chosen, 0], trees.tests[chosen, 1]
    return True


@part
def sum_effects(trees: Trees, boxes: Boxes, box: int, room: Room) -> None:
    """Of each ordered axis: the effects of the parts before each cut, weighed, minus their part of the whole's."""
    for axis in range(trees.ordered.shape[0]):
        if not trees.ordered[axis]:
            continue
        low, high = boxes.low[box, axis], boxes.high[box, axis]
        effect, total = 0.0, 0.0
        for place in range(low, high):
            effect += room.effects[axis, place]
            size = trees.sums[axis, place + 1] - trees.sums[axis, place]
            # The sum up to here takes the place of the effect, of which nobody asks again.
            room.effects[axis, place] = total
            total += effect * size
        whole = trees.sums[axis, high] - trees.sums[axis, low]
        for place in range(low, high):
            before = trees.sums[axis, place] - trees.sums[axis, low]
            room.effects[axis, place] -= total * (before / whole)


@part
def fair_by_moments(trees: Trees, room: Room, first: int) -> float:
    """The share of a box, all of it there, that is treated alike at least.

    Unless all scores are above, or all below, something may be unfair. Not all are above where some score is below:
    bounded by the sum over the assignments, or for the first score alone, moved by how far the others may lie below it.
    """
    margins = trees.margins
    not_above, not_below = 0.0, 0.0
    lowest, highest = 0.0, 0.0
    for person in range(trees.roots.shape[0]):
        if not room.present[person]:
            continue
        mean, variance = room.moments[person, 0], room.moments[person, 1] + margins[3]
        not_above += cantelli(variance, mean - margins[2] - margins[1])
        not_below += cantelli(variance, margins[0] - mean - margins[2])
        lowest = min(lowest, room.ends[person, 2] * margins[4])
        highest = max(highest, room.ends[person, 3] * margins[4])
    mean, variance = room.moments[first, 0], room.moments[first, 1] + margins[3]
    not_above = min(not_above, cantelli(variance, mean - margins[2] - margins[1] + lowest * (1.0 + 1e-14)))
    not_below = min(not_below, cantelli(variance, margins[0] - mean - margins[2] - highest * (1.0 + 1e-14)))
    return max(0.0, 1.0 - min(not_above, not_below))


@part
def look(trees: Trees, boxes: Boxes, box: int, room: Room, settled: Settled) -> int:
    """What a box is; of an open one where to cut it, and what of it is fair at least."""
    low, high, present = boxes.low[box], boxes.high[box], room.present
    people = trees.roots.shape[0]
    there, first, paired = 0, -1, False
    for person in range(people):
        node = reached(trees, trees.conditions[person], low, high)
        if trees.axis[node] >= 0:
            boxes.axis[box], boxes.cut[box] = trees.axis[node], trees.cut[node]
            return OPEN
        present[person] = trees.value[node] != 0
        if present[person]:
            there += 1
            first = person if first < 0 else first
            paired = paired or trees.inside[person]
    if there == 0 or (there == 1 and not paired):
        return VACUOUS
    if there == 1:
        return FAIR
    apart = ranges(trees, low, high, room, boxes.counts)
    return read_off(trees, boxes, box, room, settled, first, apart)


@part
def read_off(trees: Trees, boxes: Boxes, box: int, room: Room, settled: Settled, first: int, apart: int) -> int:
    """What the ranges say of a box whose people are all there, and, where they say nothing, the moments."""
    if apart == 0:
        return FAIR
    ends, below, above = room.ends, trees.limits[0], trees.limits[1]
    base_low, base_high = ends[first, 0], ends[first, 1]
    over, under, all_over, all_under = -1, -1, True, True
    for person in range(trees.roots.shape[0]):
        if not room.present[person]:
            continue
        least = max(ends[person, 0], base_low + ends[person, 2])
        most = min(ends[person, 1], base_high + ends[person, 3])
        if least >= above:
            over = person
        else:
            all_over = False
        if most <= below:
            under = person
        else:
            all_under = False
    if all_over or all_under:
        return FAIR
    if over >= 0 and under >= 0:
        settled.first[settled.number[0]], settled.second[settled.number[0]] = over, under
        return UNFAIR
    by_effects = False
    if trees.margins[3] >= 0.0 and boxes.mass[box] * boxes.left[box] >= _HEAVY:
        moments(trees, boxes.low[box], boxes.high[box], room, boxes.counts)
        share = fair_by_moments(trees, room, first)
        boxes.left[box] = min(boxes.left[box], 1.0 - share)
        boxes.fair[box] = boxes.mass[box] * share
        sum_effects(trees, boxes, box, room)
        by_effects = best_cut(trees, boxes, box, room, True)
    if not by_effects and not best_cut(trees, boxes, box, room, False):
        return STUCK
    return OPEN


@part
def settle(trees: Trees, boxes: Boxes, box: int, room: Room, settled: Settled) -> None:
    """Look at a box that is new, and put it where it belongs."""
    boxes.counts[_LOOKED] += 1
    kind = look(trees, boxes, box, room, settled)
    if kind == OPEN:
        boxes.child[box] = -1
        push(boxes, box)
        return
    boxes.child[box] = -2
    if kind == FAIR:
        boxes.fair[box] = boxes.mass[box]
    place = settled.number[0]
    copy_box(settled.low, settled.high, place, boxes, box)
    settled.kind[place] = kind
    settled.number[0] = place + 1


@exact
def refine(trees: Trees, boxes: Boxes, room: Room, settled: Settled, cuts: int, work: int) -> bool:
    """Cut up to so many boxes and visit about so many nodes; False when nothing is open, or no room is left for boxes.

    What was settled meanwhile is in ``settled``, which has room for two boxes a cut and one more.
    """
    counts = boxes.counts
    settled.number[0] = 0
    if counts[_LOOKED] == 0:
        settle(trees, boxes, 0, room, settled)
    begun = counts[_RANGES] + counts[_MOMENTS]
    for _ in range(cuts):
        if counts[_HEAP] == 0 or (counts[_FREE] == 0 and counts[_USED] + 2 > boxes.mass.shape[0]):
            return False
        if counts[_RANGES] + counts[_MOMENTS] - begun > work:
            return True
        box = pop(boxes)
        if counts[_FREE] > 0:
            counts[_FREE] -= 1
            child = boxes.free[counts[_FREE]]
        else:
            child = counts[_USED]
            counts[_USED] += 2
        boxes.child[box] = child
        axis, cut = boxes.axis[box], boxes.cut[box]
        whole = weight(trees, axis, boxes.low[box, axis], boxes.high[box, axis])
        for side in range(2):
            one = child + side
            copy_box(boxes.low, boxes.high, one, boxes, box)
            if not trees.ordered[axis]:
                boxes.low[one, axis] &= cut if side == 0 else ~cut
            elif side == 0:
                boxes.high[one, axis] = cut
            else:
                boxes.low[one, axis] = cut
            size = weight(trees, axis, boxes.low[one, axis], boxes.high[one, axis])
            boxes.mass[one] = boxes.mass[box] * (size / whole) if whole > 0.0 else 0.0
            boxes.parent[one], boxes.left[one], boxes.fair[one] = box, boxes.left[box], 0.0
            settle(trees, boxes, one, room, settled)
        tell_above(boxes, box)
    return bool(counts[_HEAP] > 0)
