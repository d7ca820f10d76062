"""The kernel that settles boxes by ranges of scores alone and keeps every cut: whoever follows these can check them.

Parts at the ends of a box are taken off many at a time where each is settled by itself. All of them together are a box
with wider ranges: where these do not settle it, it is cut in two, down to single parts.
"""

from __future__ import annotations

from fairdsl.backends.leaf_boxes.kernels.bounds import weight
from fairdsl.backends.leaf_boxes.kernels.cutting import best_cut, nearest_cut
from fairdsl.backends.leaf_boxes.kernels.peeling import copy_box, read_off
from fairdsl.backends.leaf_boxes.kernels.ranges import gains, profile, ranges
from fairdsl.backends.leaf_boxes.kernels.records import FAIR, OPEN, Boxes, Integers, Leaves, Room, Trees
from fairdsl.backends.leaf_boxes.kernels.waiting import pop, push
from fairdsl.numerics.kernels.compiled import exact, part

__all__ = ["ALIKE", "NOTHING", "cut_by_ranges"]

#: What is known of a box: nothing, that all are decided alike, or who of two assignments is above and who below:
#: ``APART + above * assignments + below``.
NOTHING, ALIKE, APART = -1, 0, 1
_HEAP, _USED, _NEW = 0, 2, 7
#: What ``left`` is of a box whose parts are settled one by one, along its axis, and of others.
_BY_PARTS, _WHOLE = 2.0, 1.0
#: Less than any difference of two scores, of which the whole is above -2^63.
_LEAST = -(2**62)


@part
def cut_off(trees: Trees, boxes: Boxes, known: Integers, box: int, axis: int, cut: int) -> int:
    """Cut a box in two; the number of the first half, behind which the second one stands."""
    child = int(boxes.counts[_USED])
    boxes.counts[_USED] += 2
    boxes.axis[box], boxes.cut[box], boxes.child[box] = axis, cut, child
    whole = weight(trees, axis, boxes.low[box, axis], boxes.high[box, axis])
    for one in range(child, child + 2):
        copy_box(boxes.low, boxes.high, one, boxes, box)
        boxes.child[one], known[one], boxes.left[one] = -1, NOTHING, _WHOLE
    boxes.high[child, axis] = boxes.low[child + 1, axis] = cut
    for one in range(child, child + 2):
        boxes.mass[one] = boxes.mass[box] * (weight(trees, axis, boxes.low[one, axis], boxes.high[one, axis]) / whole)
    return child


@part
def code_of(room: Room, kind: int) -> int:
    """What is known of a box that was read off."""
    return ALIKE if kind == FAIR else APART + int(room.pair[0]) * room.present.shape[0] + int(room.pair[1])


@part
def run_along(trees: Trees, room: Room, first: int, axis: int, place: int, end: int, step: int, code: int) -> int:
    """How far from a place on, up to an end, the same is known of all parts of an axis; the part behind these."""
    while place != end:
        kind = read_off(trees, room, first, axis, place)
        if kind == OPEN or code_of(room, kind) != code:
            break
        place += step
    return place


@part
def peel_off(trees: Trees, boxes: Boxes, known: Integers, box: int, room: Room, first: int) -> int:
    """Cut the parts at both ends of each axis off in which all is known; the box that is left, or -1."""
    for axis in range(trees.ordered.shape[0]):
        for upward in (True, False):
            while True:
                low, high = boxes.low[box, axis], boxes.high[box, axis]
                place = low if upward else high - 1
                kind = read_off(trees, room, first, axis, place)
                if kind == OPEN:
                    break
                code = code_of(room, kind)
                end, step = (high, 1) if upward else (low - 1, -1)
                place = run_along(trees, room, first, axis, place, end, step, code)
                peeled, rest = box, -1
                if place != end:
                    child = cut_off(trees, boxes, known, box, axis, place if upward else place + 1)
                    peeled, rest = (child, child + 1) if upward else (child + 1, child)
                known[peeled], boxes.axis[peeled], boxes.left[peeled] = code, axis, _BY_PARTS
                if rest < 0:
                    return -1
                box = rest
    return box


@part
def reached_at_once(trees: Trees, leaves: Leaves, boxes: Boxes, box: int, room: Room) -> int:
    """What ranges say of a box by itself, which stay in ``room``."""
    if ranges(trees, leaves, boxes.low[box], boxes.high[box], room, boxes.counts) == 0:
        return ALIKE
    # Differences of scores are a bound of their own, which is not followed.
    for person in range(room.present.shape[0]):
        room.ends[person, 2], room.ends[person, 3] = _LEAST, -_LEAST
    kind = read_off(trees, room, 0, -1, 0)
    return NOTHING if kind == OPEN else code_of(room, kind)


@part
def enter(boxes: Boxes, known: Integers, box: int) -> None:
    """Add the mass of a box of which something is known to what is decided alike, or apart."""
    if known[box] != NOTHING:
        boxes.known[int(known[box] != ALIKE)] += boxes.mass[box]


@part
def confirm(trees: Trees, leaves: Leaves, boxes: Boxes, known: Integers, begin: int, room: Room) -> None:
    """Cut those boxes, from one on, whose parts are settled one by one, until each is settled as a whole."""
    box = begin
    while box < boxes.counts[_USED]:
        if boxes.left[box] == _BY_PARTS and known[box] != NOTHING:
            boxes.left[box] = _WHOLE
            axis, code = boxes.axis[box], known[box]
            low, high = boxes.low[box, axis], boxes.high[box, axis]
            found = reached_at_once(trees, leaves, boxes, box, room)
            if found == NOTHING and high - low > 1:
                child = cut_off(trees, boxes, known, box, axis, (low + high) // 2)
                known[box] = NOTHING
                for half in range(child, child + 2):
                    known[half], boxes.axis[half], boxes.left[half] = code, axis, _BY_PARTS
            else:
                known[box] = found
                enter(boxes, known, box)
        box += 1


@part
def settle(trees: Trees, leaves: Leaves, boxes: Boxes, known: Integers, box: int, room: Room) -> None:
    """Look at a box, settle what can be, and let the rest wait with the cut that is to be made."""
    last = room.present.shape[0] - 1
    while True:
        known[box] = reached_at_once(trees, leaves, boxes, box, room)
        if known[box] != NOTHING:
            enter(boxes, known, box)
            return
        for axis in range(trees.ordered.shape[0]):
            room.low[axis], room.high[axis] = boxes.low[box, axis], boxes.high[box, axis]
        profile(trees, leaves, room)
        rest = peel_off(trees, boxes, known, box, room, 0)
        if rest < 0:
            return
        if boxes.mass[rest] < 0.5 * boxes.mass[box]:
            box = rest
            continue
        gained = nearest_cut(trees, boxes, rest, room, 0, last)
        if not gained:
            gains(trees, leaves, room)
            gained = best_cut(trees, boxes, rest, room)
        if gained:
            push(boxes, rest)
            return
        if rest == box:  # no test is open, and nothing is known: sums of one number are on one side
            return
        box = rest


@exact
def cut_by_ranges(trees: Trees, leaves: Leaves, boxes: Boxes, known: Integers, room: Room, cuts: int) -> bool:
    """Cut so many boxes, those first that are heaviest; False where none waits any more, or there is no room."""
    counts, rows = boxes.counts, 4 * leaves.meet.shape[0] + 4
    if counts[_NEW]:
        counts[_NEW] = 0
        settle(trees, leaves, boxes, known, 0, room)
        confirm(trees, leaves, boxes, known, 0, room)
    for _ in range(cuts):
        if counts[_HEAP] == 0 or counts[_USED] + rows > boxes.mass.shape[0]:
            return False
        box = pop(boxes)
        child = cut_off(trees, boxes, known, box, boxes.axis[box], boxes.cut[box])
        settle(trees, leaves, boxes, known, child, room)
        settle(trees, leaves, boxes, known, child + 1, room)
        confirm(trees, leaves, boxes, known, child, room)
    return True
