"""Claims about regions of boxes: which signs of units to cut by, of many boxes side by side in float64.

Branch and bound within a box (docs/intervals.md, section 4): the region that leaves most open is cut by the unit of its
first layer with open signs whose relaxation costs most. What is found is not believed, and says no number: the checker
bounds each region anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from fairdsl.proving.looking import Looking, Passed, crossed
from fairdsl.proving.rows import Ends, Floats, below
from fairdsl_verify.question import Box

#: What is claimed of a box of which regions are bounded; words about these follow.
REGIONS = "R"

#: Boxes that are cut together, and regions of each at most.
_AT_ONCE, _MOST = 256, 32

#: A box, or a region, that leaves less than this part of it open is left as it is.
_LITTLE = 1e-3

_Ints = NDArray[np.int64]


class Cutting:
    """Makes claims about boxes in which everybody is asked about."""

    def __init__(self, looking: Looking) -> None:
        self._looking = looking
        self._weighed = looking.weighed
        #: Where each layer's units begin, among those of all layers.
        self._begins = np.cumsum([0, *(len(each) for each in self._weighed)]).tolist()

    def claims(self, boxes: Sequence[Box]) -> Iterator[str]:
        """What to claim of each: regions, or (`~`) that it is counted as it is."""
        for at in range(0, len(boxes), _AT_ONCE):
            some = boxes[at : at + _AT_ONCE]
            yield from _Regions(self._looking, self._begins, self._weighed, some).claims()


class _Regions:
    """Regions of several boxes; those of each box are numbered as they were made, the box itself is the first."""

    def __init__(self, looking: Looking, begins: list[int], weighed: list[Floats], boxes: Sequence[Box]) -> None:
        self._looking, self._begins, self._weighed = looking, begins, weighed
        self._ends = looking.ends(boxes)
        many = len(boxes), 2 * _MOST - 1
        #: Signs of units, what is open, by which half that is, by which unit to cut, and the first part; -1: by none.
        self._signs = np.zeros((*many, begins[-1]), dtype=np.int8)
        self._open, self._half, self._unit = np.zeros(many), np.full(many, -1), np.full(many, -1)
        self._first = np.full(many, -1)
        everywhere = np.arange(len(boxes))
        self._look(everywhere, np.zeros(len(boxes), dtype=np.int64))
        for count in range(1, many[1], 2):
            weight = np.where((self._unit >= 0) & (self._first < 0), self._open, 0.0)[:, :count]
            chosen = weight.argmax(axis=1)
            at = everywhere[weight[everywhere, chosen] > _LITTLE]
            if not len(at):
                break
            chosen = chosen[at]
            self._first[at, chosen] = count
            for number, sign in ((count, -1), (count + 1, 1)):
                self._signs[at, number] = self._signs[at, chosen]
                self._signs[at, number, self._unit[at, chosen]] = sign
                self._look(at, np.full(len(at), number))

    def _look(self, at: _Ints, numbers: _Ints) -> None:
        """What is open of regions, and by which unit to cut them."""
        ends, signs = Ends(*(each[at] for each in self._ends)), self._signs[at, numbers]
        layers = [signs[:, first:end] for first, end in zip(self._begins, self._begins[1:], strict=False)]
        passed = self._looking.passed(ends, layers)
        share, reach = _crossed(passed, ends), (ends.high - ends.low)[:, None]
        half, unit = np.full(len(at), -1), np.full(len(at), -1)
        for layer, (known, (under, over), rows) in enumerate(zip(layers, passed.ranges, passed.rows, strict=False)):
            off, on = np.hsplit(below(rows.least(ends), np.abs(rows.slopes) * reach), 2)
            held = np.where(known > 0, on, np.where(known < 0, off, 1.0))
            best = held.argmin(axis=1)
            less = held[np.arange(len(at)), best]
            half = np.where(less < share, self._begins[layer] + best, half)
            share = np.minimum(share, less)
            open_ = (under < 0) & (over > 0) & (known == 0)
            with np.errstate(divide="ignore", invalid="ignore"):
                cost = np.where(open_, -under * over / (over - under) * self._weighed[layer], -1.0)
            here = (unit < 0) & open_.any(axis=1)
            unit = np.where(here, self._begins[layer] + cost.argmax(axis=1), unit)
        self._open[at, numbers], self._half[at, numbers], self._unit[at, numbers] = share, half, unit

    def claims(self) -> Iterator[str]:
        """The words of each box, cut no further than it pays."""
        for at in range(len(self._open)):
            cut, total = self._first[at].copy(), self._open[at].copy()
            for number in reversed(range(len(cut))):
                if (first := cut[number]) >= 0:
                    if total[first] + total[first + 1] < total[number] * (1 - _LITTLE):
                        total[number] = total[first] + total[first + 1]
                    else:
                        cut[number] = -1
            yield "~" if cut[0] < 0 else " ".join([REGIONS, *self._words(at, cut, 0, [])])

    def _words(self, at: int, cut: _Ints, number: int, path: list[int]) -> Iterator[str]:
        if (first := int(cut[number])) < 0:
            half = int(self._half[at, number])
            yield from ("~",) if half < 0 else ("H", str(path.index(half)))
            return
        unit = int(self._unit[at, number])
        layer = int(np.searchsorted(self._begins, unit, side="right")) - 1
        yield from ("N", str(layer), str(unit - self._begins[layer]))
        for part in (first, first + 1):
            yield from self._words(at, cut, part, [*path, unit])


def _crossed(passed: Passed, ends: Ends) -> Floats:
    """About how much of each box has its zero in the region (``fairdsl_verify.regions.Region.crossed``)."""
    (under, over), rows, halves = passed.ranges[-1], passed.rows[-1], passed.halves
    if not halves:
        share = crossed(rows, ends)[:, 0]
    else:
        lower, upper = rows.one(0), rows.one(1)
        other = lower.plus(upper).cut(halves, ends).plus(lower, -1.0)
        gap = lower.start() + other.start() + lower.plus(other).reached(ends)
        alone = lower._replace(moved=np.zeros_like(lower.moved))
        least, most = (each.cut(halves, ends).least(ends) for each in (alone, alone.plus(alone, -2.0)))
        path, start = lower.moved.min(axis=2), lower.least(ends)
        first, last = np.maximum(gap, least + path), np.minimum(0.0, path - most)
        spread = np.abs(lower.slopes) * (ends.high - ends.low)[:, None]
        # Where the row does not vary it is no less than the first, however that is rounded.
        before = below(start - first + 1e-9 * np.abs(start), spread)
        share = np.clip(below(start - last, spread) - before, 0.0, 1.0)[:, 0]
    empty = (under > 0)[:, 0] | (over < 0)[:, 0]
    for half in halves:
        empty |= half.least(ends)[:, 0] > 0
    return np.where(empty, 0.0, share)
