"""Kernels: where to cut a box, by means and variances, by ranges on both sides, or by what parts extremes of trees."""

from __future__ import annotations

from fairdsl.backends.leaf_boxes.kernels.bounds import cantelli, weight
from fairdsl.backends.leaf_boxes.kernels.records import Boxes, Room, Scores, Trees
from fairdsl.numerics.kernels.compiled import part


@part
def best_cut(trees: Trees, boxes: Boxes, box: int, room: Room) -> bool:
    """Choose where to cut: where ranges gain most; False where there is nothing."""
    low, high = boxes.low[box], boxes.high[box]
    best, chosen = 0.0, -1
    for axis in range(low.shape[0]):
        if not trees.ordered[axis]:
            if room.gain[axis, 0] > best:
                best, chosen, boxes.cut[box] = room.gain[axis, 0], axis, room.sets[axis]
            continue
        for cut in range(low[axis] + 1, high[axis]):
            if room.gain[axis, cut] > best:
                best, chosen, boxes.cut[box] = room.gain[axis, cut], axis, cut
    if chosen < 0:
        return False
    boxes.axis[box] = chosen
    return True


@part
def open_distance(trees: Trees, low: int, high: int) -> float:
    """How far the range of a score is from lying on one side of the threshold."""
    return float(max(0, min(trees.limits[1] - low, high - trees.limits[0])))


@part
def nearest_cut(trees: Trees, boxes: Boxes, box: int, room: Room, first: int, last: int) -> bool:
    """Of all cuts choose that whose two sides are nearest to being settled, for two people; False if none is nearer."""
    behind, lows, highs = room.behind, room.lows_along, room.highs_along
    most = open_distance(trees, room.ends[first, 0], room.ends[first, 1])
    most += open_distance(trees, room.ends[last, 0], room.ends[last, 1])
    nearest, chosen = most * (1.0 - 2.0**-20), -1
    for axis in range(trees.ordered.shape[0]):
        low, high = boxes.low[box, axis], boxes.high[box, axis]
        if not trees.ordered[axis] or high - low < 2:
            continue
        for side, person in ((0, first), (2, last)):
            behind[high - 1, side], behind[high - 1, side + 1] = (
                lows[person, axis, high - 1],
                highs[person, axis, high - 1],
            )
            for place in range(high - 2, low, -1):
                behind[place, side] = min(behind[place + 1, side], lows[person, axis, place])
                behind[place, side + 1] = max(behind[place + 1, side + 1], highs[person, axis, place])
        whole = weight(trees, axis, low, high)
        least, most_first = lows[first, axis, low], highs[first, axis, low]
        least_last, most_last = lows[last, axis, low], highs[last, axis, low]
        for cut in range(low + 1, high):
            before = weight(trees, axis, low, cut) / whole
            left = before * (open_distance(trees, least, most_first) + open_distance(trees, least_last, most_last))
            left += (1.0 - before) * (
                open_distance(trees, behind[cut, 0], behind[cut, 1])
                + open_distance(trees, behind[cut, 2], behind[cut, 3])
            )
            if left < nearest:
                nearest, chosen, boxes.cut[box] = left, axis, cut
            least, most_first = min(least, lows[first, axis, cut]), max(most_first, highs[first, axis, cut])
            least_last, most_last = min(least_last, lows[last, axis, cut]), max(most_last, highs[last, axis, cut])
    boxes.axis[box] = chosen
    return chosen >= 0


@part
def enter_foreseen(scores: Scores, score: int, cut: int, side: int, mean: float, variance: float, above: float) -> None:
    """Add how much on a side of a cut is not above, and not below, for a score with this mean and variance there."""
    if scores.above[score]:
        scores.work.gained[cut, 2 * side] += cantelli(variance, mean - above)
    if scores.below[score]:
        scores.work.gained[cut, 2 * side + 1] += cantelli(variance, -mean)


@part
def foreseen_cut(boxes: Boxes, box: int, scores: Scores, above: float, open_now: float) -> bool:
    """Of all cuts choose that of whose sides moments will leave least open; False if none is foreseen to help.

    On either side a score has another mean, by main effects along the axis, and these vary less; the rest is taken to
    stay as it is.
    """
    trees, work = scores.trees, scores.work
    least, chosen = open_now * (1.0 - 2.0**-20), -1
    for axis in range(trees.ordered.shape[0]):
        width = work.width[axis]
        if not trees.ordered[axis] or width < 2:
            continue
        for cut in range(1, width):
            work.gained[cut, :] = 0.0
        for score in range(work.moments.shape[0]):
            total, main = 0.0, work.main[score, axis]
            for x in range(width):
                total += work.part[axis, x] * main[x] * main[x]
            mean, variance = work.moments[score, 0], max(0.0, work.moments[score, 1] - total)
            size, effect, square = 0.0, 0.0, 0.0
            for cut in range(1, width):
                part_of = work.part[axis, cut - 1]
                size, effect = size + part_of, effect + part_of * main[cut - 1]
                square += part_of * main[cut - 1] * main[cut - 1]
                if not 0.0 < size < 1.0:
                    continue
                for side in range(2):
                    share = size if side == 0 else 1.0 - size
                    shift = (effect if side == 0 else -effect) / share
                    varies = variance + max(0.0, (square if side == 0 else total - square) / share - shift * shift)
                    enter_foreseen(scores, score, cut, side, mean + shift, varies, above)
        size = 0.0
        for cut in range(1, width):
            size += work.part[axis, cut - 1]
            open_before = min(1.0, work.gained[cut, 0], work.gained[cut, 1])
            open_behind = min(1.0, work.gained[cut, 2], work.gained[cut, 3])
            left = size * open_before + (1.0 - size) * open_behind
            if left < least:
                least, chosen, boxes.cut[box] = left, axis, boxes.low[box, axis] + work.edge[axis, cut]
    boxes.axis[box] = chosen
    return chosen >= 0
