"""Kernels: what ranges settle of a box, as a whole or in the parts at its ends, which are taken off."""

from __future__ import annotations

from fairdsl.backends.leaf_boxes.kernels.bounds import weight
from fairdsl.backends.leaf_boxes.kernels.records import FAIR, OPEN, UNFAIR, Boxes, Integers, Room, Settled, Trees
from fairdsl.numerics.kernels.compiled import part


@part
def copy_box(low: Integers, high: Integers, place: int, boxes: Boxes, box: int) -> None:
    """Write the ends of a box to a row of two arrays."""
    for axis in range(low.shape[1]):
        low[place, axis], high[place, axis] = boxes.low[box, axis], boxes.high[box, axis]


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
    settled.kind[place], settled.owner[place] = kind, box
    if kind == UNFAIR:
        settled.first[place], settled.second[place] = room.pair[0], room.pair[1]
    settled.number[0] = place + 1
    return int(place)


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
def narrower(boxes: Boxes, box: int, room: Room) -> bool:
    """Whether something was peeled off a box since it was looked at."""
    for axis in range(room.low.shape[0]):
        if boxes.low[box, axis] != room.low[axis] or boxes.high[box, axis] != room.high[axis]:
            return True
    return False
