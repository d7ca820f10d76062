"""Kernels: ranges of each assignment's score over a box, and of its difference from another one's, by sets of leaves.

A tree's extremes are those of the leaves that the box reaches, and sums of them bound the score. Of two assignments the
leaves that both may come to cancel: whoever in the box comes to one of them does so for both.
"""

from __future__ import annotations

import numpy as np

from fairdsl.backends.leaf_boxes.kernels.records import Bits, BoolArray, Integers, Leaves, Room, Trees
from fairdsl.numerics.kernels.bits import highest, lowest
from fairdsl.numerics.kernels.compiled import part

_RANGES = 4
_NONE, _ONE = np.uint64(0), np.uint64(1)


@part
def intersect(reached: Bits, others: Bits) -> None:
    """Keep what is in both."""
    for word in range(reached.shape[0]):
        reached[word] &= others[word]


@part
def narrow(ordered: BoolArray, leaves: Leaves, axis: int, low: int, high: int, reached: Bits, union: Bits) -> None:
    """Keep the leaves that meet these parts of an axis: those from ``low`` up to ``high``, or the set ``low``."""
    row, rows = leaves.rows[axis], leaves.rows[axis + 1] - leaves.rows[axis]
    if ordered[axis]:
        if 2 * high < rows:
            intersect(reached, leaves.meet[row + high - 1])
        if low > 0:
            intersect(reached, leaves.meet[row + rows // 2 + low])
        return
    union[:] = _NONE
    for place in range(rows):
        if (low >> place) & 1:
            for word in range(union.shape[0]):
                union[word] |= leaves.meet[row + place, word]
    intersect(reached, union)


@part
def first_leaf(reached: Bits, start: int, end: int) -> int:
    """The reached leaf of the least value of a tree whose words these are; -1 where none is."""
    for word in range(start, end):
        if reached[word] != _NONE:
            return word * 64 + lowest(reached[word])
    return -1


@part
def last_leaf(reached: Bits, start: int, end: int) -> int:
    """The reached leaf of the greatest value."""
    for word in range(end - 1, start - 1, -1):
        if reached[word] != _NONE:
            return word * 64 + highest(reached[word])
    return -1


@part
def parts_here(leaves: Leaves, tree: int, reached: Bits, person: int, other: int) -> bool:
    """Whether two assignments may come to different leaves of a tree."""
    begin, apart = leaves.starts[leaves.alike], _NONE
    for word in range(leaves.starts[tree], leaves.starts[tree + 1]):
        apart |= reached[word] & (leaves.whose[person, word - begin] ^ leaves.whose[other, word - begin])
    return bool(apart != _NONE)


@part
def own_leaves(leaves: Leaves, tree: int, reached: Bits, person: int, own: Bits) -> None:
    """Write down which of the reached leaves of a tree an assignment may come to."""
    begin = leaves.starts[leaves.alike]
    for word in range(leaves.starts[tree], leaves.starts[tree + 1]):
        own[word] = reached[word] & leaves.whose[person, word - begin]


@part
def first_present(room: Room) -> int:
    """The first assignment that is there."""
    first = 0
    while not room.present[first]:
        first += 1
    return first


@part
def enter_gain(trees: Trees, leaves: Leaves, tree: int, own: Bits, room: Room) -> None:
    """Add what the range of a tree narrows by where a cut parts its extreme leaves, at each cut that does."""
    start, end = leaves.starts[tree], leaves.starts[tree + 1]
    least, most = first_leaf(own, start, end), last_leaf(own, start, end)
    amount = leaves.value[most] - leaves.value[least]
    axes = np.uint64(leaves.bounded[least] & leaves.bounded[most])
    while axes != _NONE:
        axis = lowest(axes)
        axes &= axes - _ONE
        if not trees.ordered[axis]:
            if leaves.low[least, axis] & leaves.low[most, axis] == 0:
                room.gain[axis, 0] += float(amount)
                if amount > room.widest[axis]:
                    room.widest[axis], room.sets[axis] = amount, leaves.low[least, axis] & room.low[axis]
        elif leaves.high[least, axis] <= leaves.low[most, axis]:
            room.gain[axis, leaves.high[least, axis]] += float(amount)
        elif leaves.high[most, axis] <= leaves.low[least, axis]:
            room.gain[axis, leaves.low[least, axis]] += float(amount)


@part
def ranges(trees: Trees, leaves: Leaves, low: Integers, high: Integers, room: Room, counts: Integers) -> int:
    """Fill ``room.reached`` and ``room.ends``; the number of trees in which not all come to the same leaves.

    Of assignment i: ``ends[i]`` are the ends of its score, then those of its score minus that of the first one present.
    """
    ends, present, reached = room.ends, room.present, room.reached
    ends[:] = 0
    for word in range(reached.shape[0]):
        reached[word] = leaves.everywhere[word]
    for axis in range(low.shape[0]):
        narrow(trees.ordered, leaves, axis, low[axis], high[axis], reached, room.union)
    counts[_RANGES] += reached.shape[0]
    base_least, base_most = 0, 0
    for tree in range(leaves.alike):
        start, end = leaves.starts[tree], leaves.starts[tree + 1]
        base_least += leaves.value[first_leaf(reached, start, end)]
        base_most += leaves.value[last_leaf(reached, start, end)]
    first, apart = first_present(room), 0
    for tree in range(leaves.alike, leaves.starts.shape[0] - 1):
        apart += enter_parted(leaves, tree, room, first)
    for person in range(present.shape[0]):
        if present[person]:
            ends[person, 0] += base_least
            ends[person, 1] += base_most
    return apart


@part
def enter_parted(leaves: Leaves, tree: int, room: Room, first: int) -> bool:
    """Add the ends of a tree in which assignments part; whether some do in this box."""
    ends, own = room.ends, room.union
    start, end = leaves.starts[tree], leaves.starts[tree + 1]
    if end == start + 1:
        return enter_parted_word(leaves, start, room, first)
    base_least, base_most, apart = 0, 0, False
    for person in range(first, room.present.shape[0]):
        if not room.present[person]:
            continue
        if person != first and not parts_here(leaves, tree, room.reached, person, first):
            ends[person, 0] += base_least
            ends[person, 1] += base_most
            continue
        own_leaves(leaves, tree, room.reached, person, own)
        least, most = leaves.value[first_leaf(own, start, end)], leaves.value[last_leaf(own, start, end)]
        ends[person, 0] += least
        ends[person, 1] += most
        if person == first:
            base_least, base_most = least, most
            continue
        apart = True
        lowest_by, highest_by = difference(leaves, tree, room.reached, own, person, first)
        ends[person, 2] += lowest_by
        ends[person, 3] += highest_by
    return apart


@part
def enter_parted_word(leaves: Leaves, word: int, room: Room, first: int) -> bool:
    """The same of a tree of one word, in a third of the time: its sets stay in registers."""
    ends, reached, values = room.ends, room.reached[word], leaves.value[word * 64 : word * 64 + 64]
    place, apart = word - leaves.starts[leaves.alike], False
    theirs = reached & leaves.whose[first, place]
    base_least, base_most = values[lowest(theirs)], values[highest(theirs)]
    for person in range(first, room.present.shape[0]):
        if not room.present[person]:
            continue
        mine = reached & leaves.whose[person, place]
        if mine == theirs:
            ends[person, 0] += base_least
            ends[person, 1] += base_most
            continue
        apart = True
        ends[person, 0] += values[lowest(mine)]
        ends[person, 1] += values[highest(mine)]
        here, there = mine & ~theirs, theirs & ~mine
        by_least = values[lowest(here)] - values[highest(there)]
        by_most = values[highest(here)] - values[lowest(there)]
        if mine & theirs != _NONE:
            by_least, by_most = min(by_least, 0), max(by_most, 0)
        ends[person, 2] += by_least
        ends[person, 3] += by_most
    return apart


@part
def difference(leaves: Leaves, tree: int, reached: Bits, own: Bits, person: int, first: int) -> tuple[int, int]:
    """The ends of a tree's value for an assignment minus that for the first one, over a box in which they part.

    Whoever comes to a leaf of both has no difference; whoever does not comes to one of each alone.
    """
    begin, start, end = leaves.starts[leaves.alike], leaves.starts[tree], leaves.starts[tree + 1]
    common = _NONE
    for word in range(start, end):
        mine, theirs = leaves.whose[person, word - begin], leaves.whose[first, word - begin]
        common |= reached[word] & mine & theirs
        own[word] = reached[word] & mine & ~theirs
    least, most = first_leaf(own, start, end), last_leaf(own, start, end)
    for word in range(start, end):
        own[word] = reached[word] & leaves.whose[first, word - begin] & ~leaves.whose[person, word - begin]
    by_least = leaves.value[least] - leaves.value[last_leaf(own, start, end)]
    by_most = leaves.value[most] - leaves.value[first_leaf(own, start, end)]
    if common != _NONE:
        by_least, by_most = min(by_least, 0), max(by_most, 0)
    return by_least, by_most


@part
def gains(trees: Trees, leaves: Leaves, room: Room) -> None:
    """After :func:`ranges`: fill in what the ranges of trees gain by cuts."""
    room.widest[:] = 0
    room.gain[:] = 0.0
    for tree in range(leaves.alike):
        enter_gain(trees, leaves, tree, room.reached, room)
    for tree in range(leaves.alike, leaves.starts.shape[0] - 1):
        for person in range(room.present.shape[0]):
            if room.present[person]:
                own_leaves(leaves, tree, room.reached, person, room.union)
                enter_gain(trees, leaves, tree, room.union, room)


@part
def spans(own: Bits, begun: Bits, going_on: Bits, start: int, end: int) -> bool:
    """Whether all leaves have begun at one end of a box and go on at the other, so that no cut between parts them."""
    beside = _NONE
    for word in range(start, end):
        beside |= own[word] & ~(begun[word] & going_on[word])
    return bool(beside == _NONE)


@part
def extremes(leaves: Leaves, own: Bits, first: int, last: int, start: int, end: int) -> tuple[int, int]:
    """The least and the greatest value of the leaves in ``own`` and in the sets of two rows, of a tree with some."""
    least, most = 0, 0
    for word in range(start, end):
        bits = own[word] & leaves.across[word, first] & leaves.across[word, last]
        if bits != _NONE:
            least = leaves.value[word * 64 + lowest(bits)]
            break
    for word in range(end - 1, start - 1, -1):
        bits = own[word] & leaves.across[word, first] & leaves.across[word, last]
        if bits != _NONE:
            most = leaves.value[word * 64 + highest(bits)]
            break
    return least, most


@part
def enter_profile(leaves: Leaves, tree: int, own: Bits, room: Room, person: int) -> None:
    """Of a tree and an assignment, whose leaves are ``own``: enter how its extremes change along each axis.

    They change only where the leaf that has them ends.
    """
    start, end = leaves.starts[tree], leaves.starts[tree + 1]
    first, last = first_leaf(own, start, end), last_leaf(own, start, end)
    least, most = leaves.value[first], leaves.value[last]
    if least == most:
        return
    axes, single = leaves.tested[tree] & (leaves.bounded[first] | leaves.bounded[last]), end == start + 1
    others = np.uint64(axes)
    while others != _NONE:
        axis = lowest(others)
        others &= others - _ONE
        low, high, row = room.low[axis], room.high[axis], leaves.rows[axis]
        least_low, least_high = leaves.low[first, axis], leaves.high[first, axis]
        most_low, most_high = leaves.low[last, axis], leaves.high[last, axis]
        if max(least_low, most_low) <= low and min(least_high, most_high) >= high:
            continue
        goes_on = row + (leaves.rows[axis + 1] - row) // 2
        lows, highs = room.lows_along[person, axis], room.highs_along[person, axis]
        begin = low
        while begin < high:
            behind = min(high, leaves.behind[tree, row + begin])
            at_least, at_most = least_low <= begin < least_high, most_low <= begin < most_high
            if not (at_least and at_most):
                if single:
                    bits = own[start] & leaves.across[start, row + behind - 1] & leaves.across[start, goes_on + begin]
                    mine_least, mine_most = 0, 0
                    if bits != _NONE:
                        mine_least = leaves.value[start * 64 + lowest(bits)]
                        mine_most = leaves.value[start * 64 + highest(bits)]
                else:
                    mine_least, mine_most = extremes(leaves, own, row + behind - 1, goes_on + begin, start, end)
                lows[begin] += mine_least - least
                lows[behind] -= mine_least - least
                highs[begin] += mine_most - most
                highs[behind] -= mine_most - most
            begin = behind


@part
def profile(trees: Trees, leaves: Leaves, room: Room) -> None:
    """After :func:`ranges`: fill in, for each part of each ordered axis, the ends of the scores of those in it."""
    present, people = room.present, room.present.shape[0]
    alike = people  # the row of what all assignments have in common
    for row in range(people + 1):
        clear_along(trees, room, row)
    for tree in range(leaves.alike):
        enter_profile(leaves, tree, room.reached, room, alike)
    first = first_present(room)
    for tree in range(leaves.alike, leaves.starts.shape[0] - 1):
        parted = False
        for person in range(first + 1, people):
            parted = parted or (present[person] and parts_here(leaves, tree, room.reached, person, first))
        for person in range(first, people if parted else first + 1):
            if present[person]:
                own_leaves(leaves, tree, room.reached, person, room.union)
                enter_profile(leaves, tree, room.union, room, person if parted else alike)
    for person in range(first, people):
        if present[person]:
            sum_along(trees, room, person, alike)


@part
def clear_along(trees: Trees, room: Room, row: int) -> None:
    """Forget what stands in a row of the arrays along axes, within the box."""
    for axis in range(trees.ordered.shape[0]):
        if trees.ordered[axis]:
            room.lows_along[row, axis, room.low[axis] : room.high[axis] + 1] = 0
            room.highs_along[row, axis, room.low[axis] : room.high[axis] + 1] = 0


@part
def sum_along(trees: Trees, room: Room, person: int, alike: int) -> None:
    """Make ends of scores of the changes along each axis, those of the assignment and those of all."""
    lows, highs = room.lows_along, room.highs_along
    for axis in range(trees.ordered.shape[0]):
        if trees.ordered[axis]:
            least, most = room.ends[person, 0], room.ends[person, 1]
            for place in range(room.low[axis], room.high[axis]):
                least += lows[person, axis, place] + lows[alike, axis, place]
                most += highs[person, axis, place] + highs[alike, axis, place]
                lows[person, axis, place], highs[person, axis, place] = least, most
