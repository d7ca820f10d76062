"""Boxes of units, boxes cut in two, and the boxes in which the partners of those in a box may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.leaf_boxes.asked import Asked
from fairdsl.backends.leaf_boxes.sizes import Sizes

Integers = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Units:
    """Boxes of units [n, axes], (of individuals) their assignment [n], and their numbers [n], where they have any."""

    low: Integers
    high: Integers
    own: Integers
    number: Integers

    def __len__(self) -> int:
        return len(self.low)

    def at(self, rows: Integers | BoolArray | slice) -> Units:
        """Some of them."""
        return Units(self.low[rows], self.high[rows], self.own[rows], self.number[rows])

    @classmethod
    def joined(cls, found: Sequence[Units]) -> Units:
        """All of them in one."""
        return cls(*(np.concatenate([getattr(each, name) for each in found]) for name in cls.__slots__))


def parted(low: Integers, high: Integers, cuts: Integers, ordered: BoolArray) -> tuple[Integers, Integers]:
    """Both sides of each box: first all that pass, then all others."""
    rows, axes, places = np.arange(len(low)), cuts[:, 0], cuts[:, 1]
    line, yes_low, yes_high, no_low = ordered[axes], low.copy(), high.copy(), low.copy()
    here = low[rows, axes]
    yes_high[rows, axes] = np.where(line, places, high[rows, axes])
    yes_low[rows, axes] = np.where(line, here, here & places)
    no_low[rows, axes] = np.where(line, places, here & ~places)
    return np.concatenate([yes_low, no_low]), np.concatenate([yes_high, high])


class Reach:
    """Where the partners of those in a box may be."""

    def __init__(self, asked: Asked, sizes: Sizes) -> None:
        self.cuts = asked.cuts
        self._ordered = sizes.ordered
        self._parts = {
            axis: np.array(asked.reach[attribute], dtype=np.int64)
            for axis, attribute in enumerate(sizes.axes)
            if attribute in asked.reach
        }
        self._asked = bool(asked.pair.relax)
        #: Axes in which a partner may be elsewhere.
        self.may_cut = np.array([axis in self._parts for axis in range(len(sizes.axes))], dtype=np.bool_)

    def __bool__(self) -> bool:
        """Whether partners may be elsewhere at all."""
        return self._asked

    def of(self, low: Integers, high: Integers, *, common: bool) -> tuple[Integers, Integers, BoolArray]:
        """The box of all partners, or the one that everybody can come to (``common``), and where there is one."""
        low, high = low.copy(), high.copy()
        some = np.ones(len(low), dtype=np.bool_)
        for axis, parts in self._parts.items():
            if self._ordered[axis]:
                first, last = low[:, axis].copy(), high[:, axis] - 1
                begin, end = (last, first) if common else (first, last)
                low[:, axis], high[:, axis] = parts[begin, 0], parts[end, 1] + 1
                some &= low[:, axis] < high[:, axis]
                high[:, axis] = np.maximum(high[:, axis], low[:, axis] + 1)
            else:
                sets = np.array([(2 << int(last)) - (1 << int(first)) for first, last in parts], dtype=np.int64)
                there = low[:, axis, None] >> np.arange(len(sets)) & 1 > 0
                if common:
                    found = np.bitwise_and.reduce(np.where(there, sets, -1), axis=1)
                else:
                    found = np.bitwise_or.reduce(np.where(there, sets, 0), axis=1)
                some &= found != 0
                low[:, axis] = np.where(found != 0, found, low[:, axis])
        return low, high, some
