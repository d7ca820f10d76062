"""Kernels: the boxes that are open, the one with most that is open first, and what those above them know of them."""

from __future__ import annotations

from fairdsl.backends.leaf_boxes.kernels.records import Boxes, Floats, Integers
from fairdsl.numerics.kernels.compiled import exact, part

_HEAP, _FREE = 0, 1
#: Where the open mass of the heap stands.
WAITING = 4


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
    boxes.pace[WAITING] += key


@part
def pop(boxes: Boxes) -> int:
    """Take the first box from the heap."""
    heap, keys, counts = boxes.heap, boxes.keys, boxes.counts
    first = heap[0]
    boxes.pace[WAITING] -= keys[0]
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
def bounding(boxes: Boxes, box: int) -> int:
    """The nearest box above one whose own bound counts, for the boxes below it show less; -1 where there is none."""
    above = boxes.above[box]
    while above >= 0 and boxes.below[above] >= boxes.fair[above]:
        above = boxes.above[above]
    return int(above)


@part
def share_left(boxes: Boxes, box: int) -> float:
    """The share of a box that counts as open: of what is open below that bound, what it does not cover any more."""
    above = bounding(boxes, box)
    if above < 0:
        return 1.0
    shown = boxes.below[above]
    rest = boxes.mass[above] + boxes.peeled[above] - shown
    return max(0.0, 1.0 - (boxes.fair[above] - shown) / rest) if rest > 0.0 else 0.0


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


@exact
def take_back(boxes: Boxes, above: Integers, amounts: Floats, parents: Integers) -> None:
    """Hand up what was shown elsewhere below boxes, and free the children of those in which nothing is open any more.

    ``above``: of each box of which so much more is fair the one whose bound counts; ``parents``: of those closed there.
    """
    for place in range(above.shape[0]):
        tell_above(boxes, above[place], amounts[place])
    for parent in parents:
        if boxes.child[parent] >= 0:  # it was not freed with another one
            free_closed(boxes, parent)
