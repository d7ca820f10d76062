"""Kernels: small boxes are counted to the end at once, in place of being looked at part by part.

Few trees still branch in a box that is small, and few of their leaves are left. Only these are gone through: a part of
the box is the leaves that it reaches of the trees that are open in it, so that a cut takes one operation a tree, and
trees that have come down to one value take no further time. Sizes are whole numbers, added up exactly.
"""

from __future__ import annotations

import numpy as np

from fairdsl.backends.leaf_boxes.kernels.bounds import weight
from fairdsl.backends.leaf_boxes.kernels.peeling import enter_settled, read_off
from fairdsl.backends.leaf_boxes.kernels.ranges import enter_parted, first_leaf, last_leaf, own_leaves, parts_here
from fairdsl.backends.leaf_boxes.kernels.records import (
    COUNTED as BY_PARTS,
)
from fairdsl.backends.leaf_boxes.kernels.records import (
    FAIR,
    UNFAIR,
    Bits,
    Boxes,
    Integers,
    Leaves,
    Parts,
    Room,
    Settled,
    Trees,
)
from fairdsl.numerics.kernels.bits import lowest, number
from fairdsl.numerics.kernels.compiled import part

_RANGES = 4
#: Where it stands how many leaves at most may be left of the open trees of a box that is counted: one less after each
#: that takes more steps, one a tree and some a part; and so much more after each that does not.
COUNTED, _MOST, _STEPS, _MORE = 5, 4000, 4, 0.05
_NONE, _ONE = np.uint64(0), np.uint64(1)
#: A size is a whole number of 64 bits.
_FITS = 2.0**61


@part
def worth_counting(trees: Trees, leaves: Leaves, boxes: Boxes, room: Room) -> bool:
    """After ``ranges``: whether few leaves are left of the trees that are open in a box."""
    count, most = 0, int(boxes.pace[COUNTED])
    for word in range(room.reached.shape[0]):
        bits = room.reached[word]
        if bits & (bits - _ONE) != _NONE:
            count += number(bits)
    return bool(count <= most and trees.precise)


@part
def count_box(
    trees: Trees, leaves: Leaves, boxes: Boxes, box: int, room: Room, parts: Parts, settled: Settled, first: int
) -> bool:
    """After ``ranges``: count what of a box is fair and unfair; False where it takes too long."""
    whole = begin(trees, leaves, boxes, box, room, parts)
    if whole == 0:
        return False
    fair, unfair, waiting, steps = 0, 0, 1, 0
    while waiting > 0:
        if steps > _MOST or waiting + 1 >= parts.size.shape[0]:
            boxes.pace[COUNTED] = max(1.0, boxes.pace[COUNTED] - 1.0)
            return False
        waiting -= 1
        steps += parts.number[waiting] + _STEPS
        boxes.counts[_RANGES] += parts.number[waiting] // 4
        kind = look_at(trees, leaves, room, parts, waiting, first)
        if kind == FAIR:
            fair += parts.size[waiting]
        elif kind == UNFAIR:
            unfair += parts.size[waiting]
            if unfair == parts.size[waiting]:
                show(settled, boxes, box, room, parts, waiting)
        elif not cut_part(trees, leaves, room, parts, waiting):
            return False
        else:
            waiting += 2
    if unfair > 0:
        settled.number[0] += 1
        unfair -= parts.size[parts.size.shape[0] - 1]
    place = enter_settled(settled, boxes, box, BY_PARTS, room)
    settled.first[place], settled.second[place] = fair, unfair
    boxes.pace[COUNTED] += _MORE
    boxes.peeled[box] += boxes.mass[box] * (float(fair) / float(whole))
    return True


@part
def show(settled: Settled, boxes: Boxes, box: int, room: Room, parts: Parts, level: int) -> None:
    """Write the first unfair part down as a box of its own, which counts when the whole is counted."""
    place, last = enter_settled(settled, boxes, box, UNFAIR, room), parts.size.shape[0] - 1
    settled.number[0] -= 1
    for axis in range(settled.low.shape[1]):
        settled.low[place, axis], settled.high[place, axis] = parts.low[level, axis], parts.high[level, axis]
    parts.size[last] = parts.size[level]


@part
def begin(trees: Trees, leaves: Leaves, boxes: Boxes, box: int, room: Room, parts: Parts) -> int:
    """Make a box the first part, and list the trees that are open in it; its size, 0 where that is no exact number."""
    size, exact_size, count, words = 1.0, 1, 0, 0
    for axis in range(trees.ordered.shape[0]):
        low, high = boxes.low[box, axis], boxes.high[box, axis]
        parts.low[0, axis], parts.high[0, axis] = low, high
        side = weight(trees, axis, low, high)
        size *= side
        exact_size *= int(side)
    if not 0.0 < size < _FITS:
        return 0
    for person in range(room.present.shape[0]):
        for end in range(4):
            parts.base[0, person, end] = 0
    for tree in range(leaves.starts.shape[0] - 1):
        parts.trees[0, count] = tree
        count += 1
        for word in range(leaves.starts[tree], leaves.starts[tree + 1]):
            parts.reached[0, words] = room.reached[word]
            words += 1
    parts.number[0], parts.size[0] = count, exact_size
    return exact_size


@part
def look_at(trees: Trees, leaves: Leaves, room: Room, parts: Parts, level: int, first: int) -> int:
    """What a part is; of an open one, which tree is widest. Trees that have one value become part of its base."""
    ends, base, people = room.ends, parts.base[level], room.present.shape[0]
    for person in range(people):
        for end in range(4):
            ends[person, end] = base[person, end]
    kept, words, kept_words = 0, 0, 0
    parts.widest[0] = 0
    for place in range(parts.number[level]):
        tree = parts.trees[level, place]
        start, end = leaves.starts[tree], leaves.starts[tree + 1]
        for word in range(start, end):
            room.reached[word] = parts.reached[level, words + word - start]
        words += end - start
        if not enter_open(leaves, tree, room, parts, base, first):
            continue
        parts.trees[level, kept] = tree
        kept += 1
        for word in range(start, end):
            parts.reached[level, kept_words] = room.reached[word]
            kept_words += 1
    parts.number[level] = kept
    return read_off(trees, room, first, -1, 0)


@part
def widen(leaves: Leaves, parts: Parts, least: int, most: int) -> None:
    """Note the extreme leaves of a tree if its range is the widest so far."""
    amount = leaves.value[most] - leaves.value[least]
    if amount > parts.widest[0]:
        parts.widest[0], parts.widest[1], parts.widest[2] = amount, least, most


@part
def parts_anybody(leaves: Leaves, tree: int, room: Room, first: int) -> bool:
    """Whether somebody may come to another leaf of a tree than the first assignment that is there."""
    for person in range(first + 1, room.present.shape[0]):
        if room.present[person] and parts_here(leaves, tree, room.reached, person, first):
            return True
    return False


@part
def enter_alike(leaves: Leaves, tree: int, own: Bits, room: Room, parts: Parts, base: Integers) -> bool:
    """Add a tree of which all come to the same leaves; False where these have one value."""
    start, end = leaves.starts[tree], leaves.starts[tree + 1]
    lowest_leaf, highest_leaf = first_leaf(own, start, end), last_leaf(own, start, end)
    least, most = leaves.value[lowest_leaf], leaves.value[highest_leaf]
    for person in range(room.ends.shape[0]):
        room.ends[person, 0] += least
        room.ends[person, 1] += most
        if least == most:
            base[person, 0] += least
            base[person, 1] += least
    widen(leaves, parts, lowest_leaf, highest_leaf)
    return bool(least != most)


@part
def enter_open(leaves: Leaves, tree: int, room: Room, parts: Parts, base: Integers, first: int) -> bool:
    """Add a tree to the ends of the scores; where it has one value for each, to the base: then False."""
    if tree < leaves.alike:
        return enter_alike(leaves, tree, room.reached, room, parts, base)
    own = room.union
    if not parts_anybody(leaves, tree, room, first):
        own_leaves(leaves, tree, room.reached, first, own)
        return enter_alike(leaves, tree, own, room, parts, base)
    ends, present, people = room.ends, room.present, room.present.shape[0]
    start, end = leaves.starts[tree], leaves.starts[tree + 1]
    before, span = room.before, 0
    for person in range(people):
        for each in range(4):
            before[person, each] = ends[person, each]
        span -= ends[person, 1] - ends[person, 0]
    enter_parted(leaves, tree, room, first)
    for person in range(people):
        span += ends[person, 1] - ends[person, 0]
    for person in range(first, people):
        if span == 0:
            for each in range(4):
                base[person, each] += ends[person, each] - before[person, each]
        elif present[person]:
            own_leaves(leaves, tree, room.reached, person, own)
            widen(leaves, parts, first_leaf(own, start, end), last_leaf(own, start, end))
    return span != 0


@part
def cut_part(trees: Trees, leaves: Leaves, room: Room, parts: Parts, level: int) -> bool:
    """Put both sides of a part, cut where the widest tree parts, in its place and behind it; False if none does."""
    chosen, cut, low, high = -1, 0, parts.low[level], parts.high[level]
    if parts.widest[0] == 0:
        return False
    least, most = parts.widest[1], parts.widest[2]
    axes = np.uint64(leaves.bounded[least] & leaves.bounded[most])
    while axes != _NONE and chosen < 0:
        axis = lowest(axes)
        axes &= axes - _ONE
        if not trees.ordered[axis]:
            if leaves.low[least, axis] & leaves.low[most, axis] == 0:
                chosen, cut = axis, leaves.low[least, axis] & low[axis]
        elif leaves.high[least, axis] <= leaves.low[most, axis]:
            chosen, cut = axis, leaves.high[least, axis]
        elif leaves.high[most, axis] <= leaves.low[least, axis]:
            chosen, cut = axis, leaves.low[least, axis]
    if chosen < 0:
        return False
    behind = level + 1
    for axis in range(trees.ordered.shape[0]):
        parts.low[behind, axis], parts.high[behind, axis] = low[axis], high[axis]
    for person in range(room.present.shape[0]):
        for end in range(4):
            parts.base[behind, person, end] = parts.base[level, person, end]
    if trees.ordered[chosen]:
        high[chosen] = parts.low[behind, chosen] = cut
    else:
        low[chosen] &= cut
        parts.low[behind, chosen] &= ~cut
    whole = weight(trees, chosen, low[chosen], high[chosen])
    rest = weight(trees, chosen, parts.low[behind, chosen], parts.high[behind, chosen])
    one = parts.size[level] // int(whole + rest)
    parts.size[level], parts.size[behind] = one * int(whole), one * int(rest)
    narrow_part(trees, leaves, room, parts, level, chosen)
    return True


@part
def narrow_part(trees: Trees, leaves: Leaves, room: Room, parts: Parts, level: int, axis: int) -> None:
    """Keep, of both sides of a cut of an axis, the leaves that they reach; those of the whole stand in the first."""
    row, words, behind, across = leaves.rows[axis], 0, level + 1, leaves.across
    rows, cut = leaves.rows[axis + 1] - row, parts.high[level, axis]
    parts.number[behind] = parts.number[level]
    for place in range(parts.number[level]):
        tree = parts.trees[behind, place] = parts.trees[level, place]
        for word in range(leaves.starts[tree], leaves.starts[tree + 1]):
            reached = parts.reached[level, words]
            if trees.ordered[axis]:
                before, onward = across[word, row + cut - 1], across[word, row + rows // 2 + cut]
            else:
                before, onward = _NONE, _NONE
                for each in range(rows):
                    if (parts.low[level, axis] >> each) & 1:
                        before |= across[word, row + each]
                    if (parts.low[behind, axis] >> each) & 1:
                        onward |= across[word, row + each]
            parts.reached[level, words], parts.reached[behind, words] = reached & before, reached & onward
            words += 1
