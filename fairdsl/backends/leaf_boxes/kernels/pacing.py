"""Kernels: which of the ways to look at a box is worth its time, by what each brought of late.

With n boxes looked at, what is open goes down like a power of n. Working effects of pairs out of a box takes as long as
cutting some more, and leaves a part of it open. So fewer boxes with effects are better than more without as long as
that part is less than what the others would leave open by then.
"""

from __future__ import annotations

from fairdsl.backends.leaf_boxes.kernels.records import Boxes, Trees
from fairdsl.backends.leaf_boxes.kernels.waiting import WAITING, bounding
from fairdsl.numerics.kernels.compiled import part

_HEAP, _LOOKED = 0, 3
_OPEN, _FOR_EFFECTS, _CLOSED, _FOR_RANGES = 0, 1, 2, 3
#: So many steps of effects count as one node, and a word of ranges as so many nodes; a node of effects takes so many
#: times as long.
STEPS, _WORD, _SLOWER = 16, 7, 2.0
#: What effects leave open is averaged over about so many boxes, the rest over about so many.
_OF_EFFECTS, _OF_ALL = 1.0 / 32, 1.0 / 2048
#: Every so many boxes effects are tried. They say little more of a box that is more than this part of one of which they
#: are known already.
_TRIED, _FRESH = 512, 0.6
#: Cuts alone settle nothing where of all boxes looked at this part waits: half of them, were each cut and none settled.
_UNSETTLED = 0.48


@part
def worth_effects(trees: Trees, boxes: Boxes, box: int) -> bool:
    """Whether effects of pairs are worked out of a box."""
    pace, looked, above = boxes.pace, boxes.counts[_LOOKED], bounding(boxes, box)
    if not trees.precise or (above >= 0 and boxes.mass[box] > _FRESH * boxes.mass[above]):
        return False
    settling = pace[WAITING] > 0.0 and boxes.counts[_HEAP] < _UNSETTLED * looked
    power = 0.5 * looked * pace[_CLOSED] / pace[WAITING] if settling else 0.0
    longer = 1.0 + _SLOWER * pace[_FOR_EFFECTS] / (2.0 * pace[_FOR_RANGES])
    ahead = pace[_OPEN] * longer ** min(1.0, max(0.0, power)) < 1.0
    return bool(ahead or looked % _TRIED == 0)


@part
def note_effects(boxes: Boxes, left: float, took: int) -> None:
    """Effects of pairs left so much of a box open, and took so many nodes."""
    pace = boxes.pace
    pace[_OPEN] += _OF_EFFECTS * (left - pace[_OPEN])
    pace[_FOR_EFFECTS] += _OF_EFFECTS * (took - pace[_FOR_EFFECTS])


@part
def note_look(boxes: Boxes, words: int) -> None:
    """Ranges of a box took so many words."""
    slowly = max(_OF_ALL, 4.0 / (4.0 + boxes.counts[_LOOKED]))
    boxes.pace[_FOR_RANGES] += slowly * (_WORD * words - boxes.pace[_FOR_RANGES])


@part
def note_cut(boxes: Boxes, closed: float) -> None:
    """A box that waited was cut, its halves looked at, and so much less is open."""
    slowly = max(_OF_ALL, 8.0 / (8.0 + boxes.counts[_LOOKED]))
    boxes.pace[_CLOSED] += slowly * (closed - boxes.pace[_CLOSED])
