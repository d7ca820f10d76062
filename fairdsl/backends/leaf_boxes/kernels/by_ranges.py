"""The kernel that settles boxes by ranges of scores and keeps every cut: whoever follows these can check them.

Parts at the ends of a box are taken off many at a time where each is settled by itself. All of them together are a box
with wider ranges: where these do not settle it, it is cut in two, down to single parts. What is left of a box is
bounded by means and variances where that is worth its time (:mod:`.pacing`), and what they show is noted as well.
"""

from __future__ import annotations

from fairdsl.backends.leaf_boxes.kernels.bounds import weight
from fairdsl.backends.leaf_boxes.kernels.cutting import best_cut, foreseen_cut, nearest_cut
from fairdsl.backends.leaf_boxes.kernels.pacing import STEPS, note_cut, note_effects, note_look, worth_effects
from fairdsl.backends.leaf_boxes.kernels.pairwise import pairwise
from fairdsl.backends.leaf_boxes.kernels.peeling import copy_box, read_off
from fairdsl.backends.leaf_boxes.kernels.ranges import gains, profile, ranges
from fairdsl.backends.leaf_boxes.kernels.records import (
    FAIR,
    OPEN,
    Boxes,
    Floats,
    Found,
    Leaves,
    Places,
    Room,
    Scores,
    Trees,
)
from fairdsl.backends.leaf_boxes.kernels.refine import fair_by_moments
from fairdsl.backends.leaf_boxes.kernels.waiting import WAITING, pop, push, share_left, tell_above
from fairdsl.numerics.kernels.bits import number
from fairdsl.numerics.kernels.compiled import exact, part

#: What is known of a box: nothing, that all are decided alike, or who of two assignments is above and who below:
#: ``APART + above * assignments + below``.
NOTHING, ALIKE, APART = -1, 0, 1
_HEAP, _USED, _LOOKED, _RANGES, _NEW = 0, 2, 3, 4, 7
#: What is said of a box: nothing, what ranges show, what means and variances do, or what is said of its halves.
SAY_NOTHING, SAY_KNOWN, SAY_COUNTED, SAY_HALVED = 0, 1, 2, 3
#: What ``left`` is of a box whose parts are settled one by one, along its axis, and of others.
_BY_PARTS, _WHOLE = 2.0, 1.0
#: Less than any difference of two scores, of which the whole is above -2^63.
_LEAST = -(2**62)


@part
def cut_off(trees: Trees, boxes: Boxes, found: Found, box: int, axis: int, cut: int) -> int:
    """Cut a box in two; the number of the first half, behind which the second one stands."""
    child = int(boxes.counts[_USED])
    boxes.counts[_USED] += 2
    boxes.axis[box], boxes.cut[box], boxes.child[box] = axis, cut, child
    whole = weight(trees, axis, boxes.low[box, axis], boxes.high[box, axis])
    above = box if boxes.fair[box] > 0.0 else boxes.above[box]
    for one in range(child, child + 2):
        copy_box(boxes.low, boxes.high, one, boxes, box)
        boxes.child[one], boxes.above[one], found.known[one], boxes.left[one] = -1, above, NOTHING, _WHOLE
        boxes.fair[one] = boxes.below[one] = boxes.peeled[one] = 0.0
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
def peel_off(trees: Trees, boxes: Boxes, found: Found, box: int, room: Room, first: int) -> int:
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
                    child = cut_off(trees, boxes, found, box, axis, place if upward else place + 1)
                    peeled, rest = (child, child + 1) if upward else (child + 1, child)
                found.known[peeled], boxes.axis[peeled], boxes.left[peeled] = code, axis, _BY_PARTS
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
def enter(boxes: Boxes, found: Found, box: int) -> None:
    """Add the mass of a box of which something is known to what is decided alike, or apart."""
    code = found.known[box]
    if code != NOTHING:
        found.shown[int(code != ALIKE)] += boxes.mass[box]
    if code == ALIKE:
        tell_above(boxes, boxes.above[box], boxes.mass[box])


@part
def confirm(trees: Trees, leaves: Leaves, boxes: Boxes, found: Found, begin: int, room: Room) -> None:
    """Cut those boxes, from one on, whose parts are settled one by one, until each is settled as a whole."""
    box = begin
    while box < boxes.counts[_USED]:
        if boxes.left[box] == _BY_PARTS and found.known[box] != NOTHING:
            boxes.left[box] = _WHOLE
            axis, code = boxes.axis[box], found.known[box]
            low, high = boxes.low[box, axis], boxes.high[box, axis]
            found.known[box] = reached_at_once(trees, leaves, boxes, box, room)
            if found.known[box] == NOTHING and high - low > 1:
                child = cut_off(trees, boxes, found, box, axis, (low + high) // 2)
                for half in range(child, child + 2):
                    found.known[half], boxes.axis[half], boxes.left[half] = code, axis, _BY_PARTS
            else:
                enter(boxes, found, box)
        box += 1


@part
def count(boxes: Boxes, found: Found, box: int, scores: Scores) -> bool:
    """Bound what of a box is fair by means and variances, and choose where to cut it; False where that is not seen."""
    trees, work, leaves = scores.trees, scores.work, 0
    for axis in range(trees.ordered.shape[0]):
        work.low[axis], work.high[axis] = boxes.low[box, axis], boxes.high[box, axis]
    off, apart = pairwise(trees, scores.leaves, work), float(trees.limits[1] - trees.limits[0])
    share = fair_by_moments(scores, apart, off)
    for word in range(work.reached.shape[0]):
        leaves += number(work.reached[word])
    found.leaves[box] = leaves
    boxes.fair[box] = boxes.mass[box] * share
    boxes.left[box] = min(boxes.left[box], 1.0 - share)
    tell_above(boxes, boxes.above[box], boxes.fair[box])
    note_effects(boxes, 1.0 - share, work.steps[0] // STEPS)
    return foreseen_cut(boxes, box, scores, apart, 1.0 - share)


@part
def settle(
    trees: Trees, leaves: Leaves, boxes: Boxes, found: Found, box: int, room: Room, scores: Scores, least: float
) -> None:
    """Look at a box, settle what can be, and let the rest wait with the cut that is to be made."""
    last, words = room.present.shape[0] - 1, boxes.counts[_RANGES]
    boxes.counts[_LOOKED] += 1
    boxes.left[box] = share_left(boxes, box)
    while True:
        found.known[box] = reached_at_once(trees, leaves, boxes, box, room)
        note_look(boxes, boxes.counts[_RANGES] - words)
        if found.known[box] != NOTHING:
            enter(boxes, found, box)
            return
        for axis in range(trees.ordered.shape[0]):
            room.low[axis], room.high[axis] = boxes.low[box, axis], boxes.high[box, axis]
        profile(trees, leaves, room)
        rest = peel_off(trees, boxes, found, box, room, 0)
        if rest < 0:
            return
        if boxes.mass[rest] < 0.5 * boxes.mass[box]:
            box, words = rest, boxes.counts[_RANGES]
            continue
        boxes.left[rest] = boxes.left[box]
        heavy = boxes.mass[rest] * boxes.left[rest] >= least
        gained = heavy and worth_effects(scores.trees, boxes, rest) and count(boxes, found, rest, scores)
        if not gained:
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
def cut_by_ranges(
    trees: Trees, leaves: Leaves, boxes: Boxes, found: Found, room: Room, scores: Scores, least: float, cuts: int
) -> bool:
    """Cut so many boxes, those first that leave most open; False where none waits any more, or there is no room.

    Boxes that leave ``least`` open, or more, are bounded by means and variances.
    """
    counts, rows = boxes.counts, 4 * leaves.meet.shape[0] + 4
    if counts[_NEW]:
        counts[_NEW] = 0
        settle(trees, leaves, boxes, found, 0, room, scores, least)
        confirm(trees, leaves, boxes, found, 0, room)
    for _ in range(cuts):
        if counts[_HEAP] == 0 or counts[_USED] + rows > boxes.mass.shape[0]:
            return False
        waiting = boxes.pace[WAITING]
        box = pop(boxes)
        child = cut_off(trees, boxes, found, box, boxes.axis[box], boxes.cut[box])
        settle(trees, leaves, boxes, found, child, room, scores, least)
        settle(trees, leaves, boxes, found, child + 1, room, scores, least)
        confirm(trees, leaves, boxes, found, child, room)
        note_cut(boxes, waiting - boxes.pace[WAITING])
    return True


@exact
def weigh(
    boxes: Boxes, found: Found, seconds: Floats, price: float, unit: float, worth: Floats, said: Places, total: Floats
) -> None:
    """Choose what to ``say`` of each box so that shares, less a price for a second of who checks them, are most.

    At a price what is best of a box is known from what is best of its halves (Breiman et al., Classification and
    Regression Trees, chapter 3). ``seconds`` are those for a box that ranges settle, and for each two leaves of sums
    that bound one; what these leave open is rounded up to a whole ``unit``. ``total`` is what comes of it: decided
    alike, apart, and seconds.
    """
    total[:] = 0.0
    for box in range(boxes.counts[_USED] - 1, -1, -1):
        gain, said[box] = 0.0, SAY_NOTHING
        if found.known[box] != NOTHING:
            gain = boxes.mass[box] - price * seconds[0]
            if gain > 0.0:
                said[box] = SAY_KNOWN
        elif boxes.fair[box] > 0.0:
            gain = boxes.fair[box] - unit - price * (seconds[1] * found.leaves[box] * found.leaves[box])
            if gain > 0.0:
                said[box] = SAY_COUNTED
        child = boxes.child[box]
        if child >= 0 and worth[child] + worth[child + 1] > max(0.0, gain):
            gain, said[box] = worth[child] + worth[child + 1], SAY_HALVED
        worth[box] = max(0.0, gain)
    for box in range(boxes.counts[_USED]):
        # Each box is told about by the one above it, which stands before it.
        child = boxes.child[box]
        if child >= 0 and said[box] != SAY_HALVED:
            said[child] = said[child + 1] = SAY_NOTHING
        if said[box] == SAY_KNOWN:
            total[int(found.known[box] != ALIKE)] += boxes.mass[box]
            total[2] += seconds[0]
        elif said[box] == SAY_COUNTED:
            total[0] += boxes.fair[box] - unit
            total[2] += seconds[1] * found.leaves[box] * found.leaves[box]
