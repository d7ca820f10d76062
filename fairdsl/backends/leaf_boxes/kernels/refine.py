"""The kernel: boxes are looked at, the one with most that is open first, and settled or cut in two."""

from __future__ import annotations

from fairdsl.backends.leaf_boxes.kernels.bounds import cantelli, reached, weight
from fairdsl.backends.leaf_boxes.kernels.cells import fair_by_cells
from fairdsl.backends.leaf_boxes.kernels.counting import count_box, worth_counting
from fairdsl.backends.leaf_boxes.kernels.cutting import best_cut, foreseen_cut, nearest_cut
from fairdsl.backends.leaf_boxes.kernels.pacing import STEPS, note_cut, note_effects, note_look, worth_effects
from fairdsl.backends.leaf_boxes.kernels.pairwise import pairwise
from fairdsl.backends.leaf_boxes.kernels.peeling import copy_box, enter_settled, narrower, peel, read_off
from fairdsl.backends.leaf_boxes.kernels.ranges import gains, profile, ranges
from fairdsl.backends.leaf_boxes.kernels.records import (
    FAIR,
    OPEN,
    PEELED,
    STUCK,
    VACUOUS,
    Boxes,
    Integers,
    Leaves,
    Parts,
    Room,
    Scores,
    Settled,
    Trees,
)
from fairdsl.backends.leaf_boxes.kernels.waiting import WAITING, free_closed, pop, push, share_left, tell_above
from fairdsl.numerics.kernels.compiled import exact, part

_HEAP, _FREE, _USED, _LOOKED, _RANGES, _PAIRWISE, _NEW, _FREED_BEFORE = 0, 1, 2, 3, 4, 6, 7, 8
#: A box is counted at once if it leaves at least this part as much open as the first that waits, else when it is first.
_SOON = 0.25
#: The share of a variance that effects of pairs may leave unexplained where cells are gone through.
_REST = 0.1


@part
def fair_by_moments(scores: Scores, above: float, off: float) -> float:
    """The share of a box, all of it there, that is treated alike at least: all are above, or all are below 0.

    Some are not where one of the sums is not that count for it. Means are ``off`` by so much at most.
    """
    not_above, not_below, moments = 0.0, 0.0, scores.work.moments
    for score in range(moments.shape[0]):
        if scores.above[score]:
            not_above += cantelli(moments[score, 1], moments[score, 0] - off - above)
        if scores.below[score]:
            not_below += cantelli(moments[score, 1], -moments[score, 0] - off)
    return max(0.0, 1.0 - min(not_above, not_below))


@part
def unexplained_part(scores: Scores) -> float:
    """The largest share of a variance that effects of pairs leave unexplained."""
    found, work = 0.0, scores.work
    for score in range(work.moments.shape[0]):
        if (scores.above[score] or scores.below[score]) and work.moments[score, 1] > 0.0:
            found = max(found, work.rest[score] / work.moments[score, 1])
    return found


@part
def look(
    trees: Trees,
    leaves: Leaves,
    boxes: Boxes,
    box: int,
    room: Room,
    scores: Scores,
    parts: Parts,
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
    return bound(trees, leaves, boxes, box, room, scores, parts, settled, first, last)


@part
def counted(
    trees: Trees, leaves: Leaves, boxes: Boxes, box: int, room: Room, parts: Parts, settled: Settled, first: int
) -> bool:
    """Count a box if few leaves are left; where it is not counted, ranges are as before."""
    if not worth_counting(trees, leaves, boxes, room):
        return False
    if count_box(trees, leaves, boxes, box, room, parts, settled, first):
        return True
    ranges(trees, leaves, boxes.low[box], boxes.high[box], room, boxes.counts)
    return False


@part
def bound(
    trees: Trees,
    leaves: Leaves,
    boxes: Boxes,
    box: int,
    room: Room,
    scores: Scores,
    parts: Parts,
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
        soon = boxes.counts[_HEAP] == 0 or boxes.mass[box] * boxes.left[box] >= _SOON * boxes.keys[0]
        if soon and counted(trees, leaves, boxes, box, room, parts, settled, first):
            return PEELED
        for axis in range(trees.ordered.shape[0]):
            room.low[axis], room.high[axis] = boxes.low[box, axis], boxes.high[box, axis]
        profile(trees, leaves, room)
        before = boxes.mass[box]
        if not peel(trees, boxes, box, room, settled, first):
            return PEELED
        if boxes.mass[box] < 0.5 * before:
            continue
        peeled = narrower(boxes, box, room)
        if worth_effects(scores.trees, boxes, box) and bound_by_moments(boxes, box, room, scores):
            return OPEN
        boxes.fair[box] = max(boxes.fair[box], boxes.peeled[box])
        if nearest_cut(trees, boxes, box, room, first, last):
            return OPEN
        gains(trees, leaves, room)
        if best_cut(trees, boxes, box, room):
            return OPEN
        if not peeled:
            return STUCK


@part
def bound_by_moments(boxes: Boxes, box: int, people: Room, scores: Scores) -> bool:
    """Bound what of a box is fair by means and variances, and choose where to cut it; False where that is not seen."""
    counts, trees, work = boxes.counts, scores.trees, scores.work
    if scores.own:
        for person in range(people.present.shape[0]):
            scores.above[person] = scores.below[person] = people.present[person]
    for axis in range(trees.ordered.shape[0]):
        work.low[axis], work.high[axis] = boxes.low[box, axis], boxes.high[box, axis]
    off, apart = pairwise(trees, scores.leaves, work), float(trees.limits[1] - trees.limits[0])
    share = fair_by_moments(scores, apart, off)
    by_cells = fair_by_cells(scores, apart, 16.0 * off) if unexplained_part(scores) < _REST else 0.0
    share = max(share, by_cells)
    keep_share(boxes, box, share)
    counts[_PAIRWISE] += work.steps[0] // STEPS
    note_effects(boxes, 1.0 - share, work.steps[0] // STEPS)
    return foreseen_cut(boxes, box, scores, apart, 1.0 - share)


@part
def keep_share(boxes: Boxes, box: int, share: float) -> None:
    """Note that at least this share of what is left of a box is fair."""
    boxes.left[box] = min(boxes.left[box], 1.0 - share)
    boxes.fair[box] = max(boxes.fair[box], boxes.peeled[box] + boxes.mass[box] * share)


@part
def settle(
    trees: Trees,
    leaves: Leaves,
    boxes: Boxes,
    box: int,
    room: Room,
    scores: Scores,
    parts: Parts,
    settled: Settled,
) -> None:
    """Look at a box that is new, and put it where it belongs."""
    counts = boxes.counts
    counts[_LOOKED] += 1
    words = counts[_RANGES]
    kind = look(trees, leaves, boxes, box, room, scores, parts, settled)
    note_look(boxes, counts[_RANGES] - words)
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
    return int(counts[_RANGES] + counts[_PAIRWISE])


@part
def counted_now(
    trees: Trees, leaves: Leaves, boxes: Boxes, box: int, room: Room, parts: Parts, settled: Settled
) -> bool:
    """Count a box that waited, and of which it is known who is there, if few leaves are left; whether that was done."""
    low, high, first = boxes.low[box], boxes.high[box], -1
    for person in range(trees.roots.shape[0]):
        node = reached(trees, trees.conditions[person], low, high)
        if trees.axis[node] >= 0:
            return False
        room.present[person] = trees.value[node] != 0
        if room.present[person] and first < 0:
            first = person
    ranges(trees, leaves, low, high, room, boxes.counts)
    if not (
        worth_counting(trees, leaves, boxes, room) and count_box(trees, leaves, boxes, box, room, parts, settled, first)
    ):
        return False
    boxes.child[box] = -2
    tell_above(boxes, boxes.above[box], boxes.peeled[box] - boxes.fair[box])
    boxes.fair[box] = max(boxes.fair[box], boxes.peeled[box])
    free_closed(boxes, boxes.parent[box])
    return True


@part
def cut_in_two(
    trees: Trees, leaves: Leaves, boxes: Boxes, box: int, room: Room, scores: Scores, parts: Parts, settled: Settled
) -> None:
    """Cut a box and look at both sides."""
    counts = boxes.counts
    if counts[_FREED_BEFORE] > 0:
        counts[_FREED_BEFORE] -= 1
        child = boxes.free[counts[_FREED_BEFORE]]
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
        boxes.parent[one], boxes.above[one], boxes.fair[one], boxes.peeled[one] = box, above, 0.0, 0.0
        boxes.left[one] = share_left(boxes, one)
        settle(trees, leaves, boxes, one, room, scores, parts, settled)
        tell_above(boxes, above, boxes.fair[one])
    free_closed(boxes, box)


@exact
def refine(
    trees: Trees,
    leaves: Leaves,
    boxes: Boxes,
    room: Room,
    scores: Scores,
    parts: Parts,
    settled: Settled,
    cuts: int,
    most: int,
) -> bool:
    """Cut up to so many boxes and visit about so many nodes; False when nothing is open, or no room is left for boxes.

    What was settled meanwhile is in ``settled``. Pairs that are freed stand behind those that were free before, and are
    not used again before the next call: so whose parts were settled, and what became of it, can be told apart.
    """
    counts = boxes.counts
    settled.number[0] = 0
    counts[_FREED_BEFORE] = counts[_FREE]
    begun = visited(counts)
    rows = 2 * leaves.meet.shape[0] + 4
    while counts[_NEW] > 0:
        if settled.number[0] + rows > settled.kind.shape[0] or visited(counts) - begun > most:
            return True
        counts[_NEW] -= 1
        box = counts[_NEW]
        settle(trees, leaves, boxes, box, room, scores, parts, settled)
        tell_above(boxes, boxes.above[box], boxes.fair[box])
    for _ in range(cuts):
        if counts[_HEAP] == 0 or (counts[_FREED_BEFORE] == 0 and counts[_USED] + 2 > boxes.mass.shape[0]):
            return False
        if settled.number[0] + rows > settled.kind.shape[0] or visited(counts) - begun > most:
            return True
        waiting = boxes.pace[WAITING]
        box = pop(boxes)
        if not counted_now(trees, leaves, boxes, box, room, parts, settled):
            cut_in_two(trees, leaves, boxes, box, room, scores, parts, settled)
        note_cut(boxes, waiting - boxes.pace[WAITING])
    return bool(counts[_HEAP] > 0)
