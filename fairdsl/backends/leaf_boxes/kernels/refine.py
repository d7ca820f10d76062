"""The kernel: boxes are looked at, the one with most that is open first, and settled or cut in two."""

from __future__ import annotations

from fairdsl.backends.leaf_boxes.kernels.bounds import cantelli, moments, reached, weight
from fairdsl.backends.leaf_boxes.kernels.cells import fair_by_cells
from fairdsl.backends.leaf_boxes.kernels.cutting import best_cut, foreseen_cut, nearest_cut, sum_effects
from fairdsl.backends.leaf_boxes.kernels.pairwise import pairwise
from fairdsl.backends.leaf_boxes.kernels.ranges import gains, profile, ranges
from fairdsl.backends.leaf_boxes.kernels.records import (
    FAIR,
    OPEN,
    PEELED,
    STUCK,
    UNFAIR,
    VACUOUS,
    Boxes,
    Effects,
    Integers,
    Leaves,
    Room,
    Settled,
    Trees,
)
from fairdsl.numerics.kernels.compiled import exact, part

__all__ = ["refine"]

_HEAP, _FREE, _USED, _LOOKED, _RANGES, _MOMENTS, _PAIRWISE = 0, 1, 2, 3, 4, 5, 6
_EFFECTS, _FOR_EFFECTS, _BY_RANGES, _FOR_RANGES, _WAITING = 0, 1, 2, 3, 4
#: Effects of pairs are worked out of boxes that leave this share of everything open, or where ranges close little: what
#: is open goes down with less than this power of the number of boxes. And while they close at least a quarter of what
#: ranges close in the same time, and of every so-manieth box, to see that. So many steps count as one node, and a word
#: of ranges as so many; what they close is averaged over about so many boxes.
_LIGHT, _LITTLE, _QUARTER, _TRIED, _STEPS, _WORD = 2.0**-20, 0.3, 4.0, 32, 16, 7
_SLOWLY, _MORE_SLOWLY = 1.0 / 32, 1.0 / 256
#: Exact moments, which take some hundred times as long, are worked out where effects of pairs leave so much of the
#: variance unexplained, while they took no more of the time so far than this.
_UNEXPLAINED, _PART = 0.3, 0.02
#: The share of a variance that effects of pairs may leave unexplained where cells are gone through.
_REST = 0.1


@part
def copy_box(low: Integers, high: Integers, place: int, boxes: Boxes, box: int) -> None:
    """Write the ends of a box to a row of two arrays."""
    for axis in range(low.shape[1]):
        low[place, axis], high[place, axis] = boxes.low[box, axis], boxes.high[box, axis]


@part
def push(boxes: Boxes, box: int) -> None:
    """Put a box on the heap, in which that with the largest open mass is first."""
    heap, keys, counts = boxes.heap, boxes.keys, boxes.counts
    place = counts[_HEAP]
    counts[_HEAP] += 1
    key = boxes.mass[box] * boxes.left[box]
    while place > 0:
        above = (place - 1) // 2
        if keys[above] >= key:
            break
        heap[place], keys[place] = heap[above], keys[above]
        place = above
    heap[place], keys[place] = box, key
    boxes.pace[_WAITING] += key


@part
def pop(boxes: Boxes) -> int:
    """Take the first box from the heap."""
    heap, keys, counts = boxes.heap, boxes.keys, boxes.counts
    first = heap[0]
    boxes.pace[_WAITING] -= keys[0]
    counts[_HEAP] -= 1
    count = counts[_HEAP]
    last, key = heap[count], keys[count]
    place = 0
    while True:
        below = 2 * place + 1
        if below >= count:
            break
        if below + 1 < count and keys[below + 1] > keys[below]:
            below += 1
        if key >= keys[below]:
            break
        heap[place], keys[place] = heap[below], keys[below]
        place = below
    heap[place], keys[place] = last, key
    return int(first)


@part
def worth_effects(trees: Trees, boxes: Boxes, box: int) -> bool:
    """Whether effects of pairs are worked out of a box, which leaves so much open."""
    pace = boxes.pace
    heavy = boxes.mass[box] * boxes.left[box] >= _LIGHT
    slow = boxes.counts[_LOOKED] * pace[_BY_RANGES] < _LITTLE * pace[_WAITING]
    if trees.margins[3] < 0.0 or not (heavy or slow):
        return False
    ahead = _QUARTER * pace[_EFFECTS] * pace[_FOR_RANGES] >= pace[_BY_RANGES] * pace[_FOR_EFFECTS]
    return bool(ahead or boxes.counts[_LOOKED] % _TRIED == 0)


@part
def worth_moments(boxes: Boxes, room: Room, work: Effects, first: int) -> bool:
    """Whether moments are worked out: effects of pairs explain little, and moments took little of the time so far."""
    counts = boxes.counts
    little = counts[_MOMENTS] <= _PART * (counts[_PAIRWISE] + _WORD * counts[_RANGES])
    return bool(little and work.rest[first] > _UNEXPLAINED * room.moments[first, 1])


@part
def tell_above(boxes: Boxes, box: int, amount: float) -> None:
    """Hand up that so much more is fair below a box whose own bound counts; what goes beyond it, to the next one."""
    while box >= 0 and amount > 0.0:
        before = max(boxes.fair[box], boxes.below[box])
        boxes.below[box] += amount
        amount = max(boxes.fair[box], boxes.below[box]) - before
        box = boxes.above[box]
        boxes.known[1] += 1.0
    boxes.known[0] += max(0.0, amount)
    boxes.known[1] += 1.0


@part
def free_closed(boxes: Boxes, box: int) -> None:
    """Free the children of a box below which nothing is open, and so on above it."""
    counts = boxes.counts
    while box >= 0:
        child = boxes.child[box]
        if boxes.child[child] != -2 or boxes.child[child + 1] != -2:
            return
        boxes.free[counts[_FREE]] = child
        counts[_FREE] += 1
        boxes.child[box] = -2
        box = boxes.parent[box]


@part
def fair_by_moments(
    trees: Trees, room: Room, first: int, below: float, above: float, off: float, more: float, unit: float
) -> float:
    """The share of a box, all of it there, that is treated alike at least.

    Unless all scores are above, or all below, something may be unfair. Not all are above where some score is below:
    bounded by the sum over the assignments, or for the first score alone, moved by how far the others may lie below it.
    Limits are those of the score, means ``off`` by so much at most, variances by ``more``; ``unit`` is that of ranges.
    """
    not_above, not_below = 0.0, 0.0
    lowest, highest = 0.0, 0.0
    for person in range(trees.roots.shape[0]):
        if not room.present[person]:
            continue
        mean, variance = room.moments[person, 0], room.moments[person, 1] + more
        not_above += cantelli(variance, mean - off - above)
        not_below += cantelli(variance, below - mean - off)
        lowest = min(lowest, room.ends[person, 2] * unit)
        highest = max(highest, room.ends[person, 3] * unit)
    mean, variance = room.moments[first, 0], room.moments[first, 1] + more
    not_above = min(not_above, cantelli(variance, mean - off - above + lowest * (1.0 + 1e-14)))
    not_below = min(not_below, cantelli(variance, below - mean - off - highest * (1.0 + 1e-14)))
    return max(0.0, 1.0 - min(not_above, not_below))


@part
def look(
    trees: Trees,
    leaves: Leaves,
    boxes: Boxes,
    box: int,
    room: Room,
    work: Effects,
    settled: Settled,
) -> int:
    """What a box is; of an open one where to cut it, and what of it is fair at least."""
    low, high, present = boxes.low[box], boxes.high[box], room.present
    people = trees.roots.shape[0]
    there, first, last, paired = 0, -1, -1, False
    for person in range(people):
        node = reached(trees, trees.conditions[person], low, high)
        if trees.axis[node] >= 0:
            boxes.axis[box], boxes.cut[box] = trees.axis[node], trees.cut[node]
            return OPEN
        present[person] = trees.value[node] != 0
        if present[person]:
            there += 1
            first, last = person if first < 0 else first, person
            paired = paired or trees.inside[person]
    if there == 0 or (there == 1 and not paired):
        return VACUOUS
    if there == 1:
        return FAIR
    return bound(trees, leaves, boxes, box, room, work, settled, first, last)


@part
def read_off(trees: Trees, room: Room, first: int, axis: int, place: int) -> int:
    """What the ends of the scores say: of a box, or (``axis`` >= 0) of a part of it; ``room.pair`` is who is apart."""
    ends, below, above = room.ends, trees.limits[0], trees.limits[1]
    base_low, base_high = ends[first, 0], ends[first, 1]
    if axis >= 0:
        base_low, base_high = room.lows_along[first, axis, place], room.highs_along[first, axis, place]
    over, under, all_over, all_under = -1, -1, True, True
    for person in range(trees.roots.shape[0]):
        if not room.present[person]:
            continue
        least, most = ends[person, 0], ends[person, 1]
        if axis >= 0:
            least, most = room.lows_along[person, axis, place], room.highs_along[person, axis, place]
        if max(least, base_low + ends[person, 2]) >= above:
            over = person
        else:
            all_over = False
        if min(most, base_high + ends[person, 3]) <= below:
            under = person
        else:
            all_under = False
    if all_over or all_under:
        return FAIR
    if over >= 0 and under >= 0:
        room.pair[0], room.pair[1] = over, under
        return UNFAIR
    return OPEN


@part
def enter_settled(settled: Settled, boxes: Boxes, box: int, kind: int, room: Room) -> int:
    """Write a settled box down; its place."""
    place = settled.number[0]
    copy_box(settled.low, settled.high, place, boxes, box)
    settled.kind[place] = kind
    if kind == UNFAIR:
        settled.first[place], settled.second[place] = room.pair[0], room.pair[1]
    settled.number[0] = place + 1
    return int(place)


@part
def peel(trees: Trees, boxes: Boxes, box: int, room: Room, settled: Settled, first: int) -> bool:
    """Take off the parts at both ends of each axis in which everything is settled; False where nothing is left."""
    for axis in range(trees.ordered.shape[0]):
        if not trees.ordered[axis]:
            continue
        for upward in (True, False):
            while boxes.low[box, axis] < boxes.high[box, axis]:
                low, high = boxes.low[box, axis], boxes.high[box, axis]
                place = low if upward else high - 1
                kind = read_off(trees, room, first, axis, place)
                if kind == OPEN:
                    break
                over, under, end = room.pair[0], room.pair[1], place
                # As far as people are decided the same way.
                while low <= end < high and read_off(trees, room, first, axis, end) == kind:
                    if kind == UNFAIR and (room.pair[0] != over or room.pair[1] != under):
                        break
                    end += 1 if upward else -1
                room.pair[0], room.pair[1] = over, under
                take_off(trees, boxes, box, room, settled, kind, axis, end if upward else end + 1, upward)
            if boxes.low[box, axis] == boxes.high[box, axis]:
                return False
    return True


@part
def bound(
    trees: Trees,
    leaves: Leaves,
    boxes: Boxes,
    box: int,
    room: Room,
    work: Effects,
    settled: Settled,
    first: int,
    last: int,
) -> int:
    """What a box is whose people are all there; of an open one what moments say, and where to cut it.

    While more than half of a box is peeled off, the rest is looked at again: its ranges are narrower.
    """
    while True:
        if ranges(trees, leaves, boxes.low[box], boxes.high[box], room, boxes.counts) == 0:
            return FAIR
        kind = read_off(trees, room, first, -1, 0)
        if kind != OPEN:
            return kind
        for axis in range(trees.ordered.shape[0]):
            room.low[axis], room.high[axis] = boxes.low[box, axis], boxes.high[box, axis]
        profile(trees, leaves, room)
        before = boxes.mass[box]
        if not peel(trees, boxes, box, room, settled, first):
            return PEELED
        if boxes.mass[box] < 0.5 * before:
            continue
        peeled = narrower(boxes, box, room)
        if worth_effects(trees, boxes, box) and bound_by_moments(trees, leaves, boxes, box, room, work, first):
            return OPEN
        boxes.fair[box] = max(boxes.fair[box], boxes.peeled[box])
        if nearest_cut(trees, boxes, box, room, first, last):
            return OPEN
        gains(trees, leaves, room)
        if best_cut(trees, boxes, box, room, False):
            return OPEN
        if not peeled:
            return STUCK


@part
def bound_by_moments(
    trees: Trees, leaves: Leaves, boxes: Boxes, box: int, room: Room, work: Effects, first: int
) -> bool:
    """Bound what of a box is fair by means and variances, and choose where to cut it; False where that is not seen."""
    counts, pace, left_before = boxes.counts, boxes.pace, boxes.left[box]
    for axis in range(trees.ordered.shape[0]):
        room.low[axis], room.high[axis] = boxes.low[box, axis], boxes.high[box, axis]
    off, apart = pairwise(trees, leaves, room, work), float(trees.limits[1] - trees.limits[0])
    share = fair_by_moments(trees, room, first, 0.0, apart, off, 0.0, 1.0)
    explained = work.rest[first] < _REST * room.moments[first, 1]
    by_cells = fair_by_cells(trees, room, work, apart, 16.0 * off) if explained else 0.0
    keep_share(boxes, box, max(share, by_cells))
    took = work.steps[0] // _STEPS
    counts[_PAIRWISE] += took
    pace[_EFFECTS] += _SLOWLY * (boxes.mass[box] * (left_before - boxes.left[box]) - pace[_EFFECTS])
    pace[_FOR_EFFECTS] += _SLOWLY * (took - pace[_FOR_EFFECTS])
    if worth_moments(boxes, room, work, first):
        margins = trees.margins
        moments(trees, boxes.low[box], boxes.high[box], room, counts)
        share = fair_by_moments(trees, room, first, margins[0], margins[1], margins[2], margins[3], margins[4])
        keep_share(boxes, box, share)
        sum_effects(trees, boxes, box, room)
        return best_cut(trees, boxes, box, room, True)
    return foreseen_cut(trees, boxes, box, room, work, apart, 1.0 - share)


@part
def keep_share(boxes: Boxes, box: int, share: float) -> None:
    """Note that at least this share of what is left of a box is fair."""
    boxes.left[box] = min(boxes.left[box], 1.0 - share)
    boxes.fair[box] = max(boxes.fair[box], boxes.peeled[box] + boxes.mass[box] * share)


@part
def take_off(
    trees: Trees, boxes: Boxes, box: int, room: Room, settled: Settled, kind: int, axis: int, place: int, upward: bool
) -> None:
    """Take the parts before a place of an axis, or those from it on, off a box, as settled."""
    low, high, mass = boxes.low[box, axis], boxes.high[box, axis], boxes.mass[box]
    entry, whole = enter_settled(settled, boxes, box, kind, room), weight(trees, axis, low, high)
    if upward:
        settled.high[entry, axis] = boxes.low[box, axis] = place
    else:
        settled.low[entry, axis] = boxes.high[box, axis] = place
    rest = weight(trees, axis, boxes.low[box, axis], boxes.high[box, axis])
    boxes.mass[box] = mass * (rest / whole) if whole > 0.0 else 0.0
    if kind == FAIR:
        boxes.peeled[box] += mass - boxes.mass[box]


@part
def narrower(boxes: Boxes, box: int, room: Room) -> bool:
    """Whether something was peeled off a box since it was looked at."""
    for axis in range(room.low.shape[0]):
        if boxes.low[box, axis] != room.low[axis] or boxes.high[box, axis] != room.high[axis]:
            return True
    return False


@part
def settle(
    trees: Trees,
    leaves: Leaves,
    boxes: Boxes,
    box: int,
    room: Room,
    work: Effects,
    settled: Settled,
) -> None:
    """Look at a box that is new, and put it where it belongs."""
    counts, pace = boxes.counts, boxes.pace
    counts[_LOOKED] += 1
    before, left, words = boxes.mass[box], boxes.left[box], counts[_RANGES]
    kind = look(trees, leaves, boxes, box, room, work, settled)
    closed = before if kind != OPEN else before - boxes.mass[box]
    pace[_BY_RANGES] += _MORE_SLOWLY * (closed * left - pace[_BY_RANGES])
    pace[_FOR_RANGES] += _MORE_SLOWLY * (_WORD * (counts[_RANGES] - words) - pace[_FOR_RANGES])
    if kind == OPEN:
        boxes.child[box] = -1
        push(boxes, box)
        return
    boxes.child[box] = -2
    boxes.fair[box] = boxes.peeled[box]
    if kind == FAIR:
        boxes.fair[box] += boxes.mass[box]
    if kind != PEELED:
        enter_settled(settled, boxes, box, kind, room)


@part
def visited(counts: Integers) -> int:
    """Nodes and leaves that were gone through."""
    return int(counts[_RANGES] + counts[_MOMENTS] + counts[_PAIRWISE])


@part
def cut_in_two(
    trees: Trees, leaves: Leaves, boxes: Boxes, box: int, room: Room, work: Effects, settled: Settled
) -> None:
    """Cut a box and look at both sides."""
    counts = boxes.counts
    if counts[_FREE] > 0:
        counts[_FREE] -= 1
        child = boxes.free[counts[_FREE]]
    else:
        child = counts[_USED]
        counts[_USED] += 2
    boxes.child[box] = child
    axis, cut = boxes.axis[box], boxes.cut[box]
    above = box if boxes.fair[box] > boxes.peeled[box] else boxes.above[box]
    boxes.below[box] = boxes.peeled[box]
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
        boxes.parent[one], boxes.left[one], boxes.fair[one], boxes.peeled[one] = box, boxes.left[box], 0.0, 0.0
        boxes.above[one] = above
        settle(trees, leaves, boxes, one, room, work, settled)
        tell_above(boxes, above, boxes.fair[one])
    free_closed(boxes, box)


@exact
def refine(
    trees: Trees,
    leaves: Leaves,
    boxes: Boxes,
    room: Room,
    work: Effects,
    settled: Settled,
    cuts: int,
    most: int,
) -> bool:
    """Cut up to so many boxes and visit about so many nodes; False when nothing is open, or no room is left for boxes.

    What was settled meanwhile is in ``settled``, which has room for two boxes a cut and one more.
    """
    counts = boxes.counts
    settled.number[0] = 0
    if counts[_LOOKED] == 0:
        settle(trees, leaves, boxes, 0, room, work, settled)
        tell_above(boxes, -1, boxes.fair[0])
    begun = visited(counts)
    for _ in range(cuts):
        if counts[_HEAP] == 0 or (counts[_FREE] == 0 and counts[_USED] + 2 > boxes.mass.shape[0]):
            return False
        no_room = settled.number[0] + 2 * leaves.meet.shape[0] + 2 > settled.kind.shape[0]
        if no_room or visited(counts) - begun > most:
            return True
        cut_in_two(trees, leaves, boxes, pop(boxes), room, work, settled)
    return bool(counts[_HEAP] > 0)
