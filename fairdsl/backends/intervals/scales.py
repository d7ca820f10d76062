"""Scales: the positions of an attribute in bins, as a map of violations restricts them and people read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals.axes import Axis
from fairdsl.backends.intervals.refine import OpenBox
from fairdsl.ir.domain import Domain, Integer, Real
from fairdsl.verdict import Among, Within

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Bins of an ordered attribute with many values.
_BINS = 64
#: How much denser than on average a part must be to say anything: nearly the whole domain is not a region.
_DENSER = 1.5


@dataclass(frozen=True, kw_only=True, eq=False)
class Scale:
    """One attribute of the boxes, the ``column``-th, in bins.

    Bin b, as positions count, goes from ``cuts[b]`` to before ``cuts[b + 1]``; ``order`` lists the bins by their
    values. What is ``ordered`` is restricted to ranges, everything else to sets of values.
    """

    column: int
    attribute: int
    axis: Axis
    cuts: Integers
    order: Integers
    ordered: bool

    def parts(self, low: Integers, high: Integers) -> Floats:
        """[boxes, bins in order]: which fraction of each box of positions lies in each bin."""
        first, last = low[:, self.column, None], high[:, self.column, None]
        below = np.clip(self.cuts[None, :] - first, 0, last - first + 1) / (last - first + 1)
        fractions: Floats = np.diff(below, axis=1)[:, self.order]
        return fractions

    def best(self, mass: Floats, volume: Floats) -> tuple[Integers, float]:
        """The bins in which the mass gathers best, and its divergence there; amounts are parts of the whole."""
        if self.ordered:
            masses, volumes = (np.concatenate([[0.0], np.cumsum(amount)]) for amount in (mass, volume))
            gathered = divergence(masses[None, 1:] - masses[:-1, None], volumes[None, 1:] - volumes[:-1, None])
            start, stop = divmod(int(np.argmax(np.triu(gathered))), len(self.order))
            return np.arange(start, stop + 1), float(gathered[start, stop])
        with np.errstate(all="ignore"):
            density = np.where(volume > 0, mass / volume, -1.0)
        densest = np.argsort(-density, kind="stable")
        gathered = divergence(np.cumsum(mass[densest]), np.cumsum(volume[densest]))
        count = int(np.argmax(gathered)) + 1
        return np.sort(densest[:count]), float(gathered[count - 1])

    def restriction(self, bins: Integers) -> Within | Among | None:
        """The bins in the domain's terms; None where they are all there are."""
        if len(bins) == len(self.order):
            return None
        kept = self.order[bins]
        if not self.ordered:
            return Among(attribute=self.attribute, values=tuple(self.axis.value(int(self.cuts[b])) for b in kept))
        if self.axis.real:
            low, high = int(self.cuts[kept[0]]), int(self.cuts[kept[-1] + 1])
            return Within(
                attribute=self.attribute,
                low=self.axis.start + self.axis.step * low,
                high=self.axis.start + self.axis.step * high,
            )
        return Within(
            attribute=self.attribute,
            low=self.axis.value(int(self.cuts[kept[0]])),
            high=self.axis.value(int(self.cuts[kept[-1] + 1]) - 1),
        )


def divergence(mass: Floats, volume: Floats) -> Floats:
    """How far parts of the mass exceed their parts of the volume; 0 where hardly at all (see regions_map)."""
    m, v = np.clip(mass, 0.0, 1.0), np.clip(volume, 0.0, 1.0)
    with np.errstate(all="ignore"):
        inside = np.where(m > 0, m * np.log(m / v), 0.0)
        outside = np.where(m < 1, (1 - m) * np.log((1 - m) / (1 - v)), 0.0)
    found: Floats = np.where((m >= _DENSER * v) & (v > 0), inside + outside, 0.0)
    return found


def scale_of(column: int, axis: Axis, domain: Domain, boxes: Sequence[OpenBox]) -> Scale | None:
    """The bins of an axis; None for what is not an attribute, and for attributes with a single position."""
    if axis.attribute is None or axis.size == 1:
        return None
    ordered = isinstance(domain.attributes[axis.attribute].type, Integer | Real)
    shuffled = axis.values is not None and any(a > b for a, b in zip(axis.values, axis.values[1:], strict=False))
    single = not ordered or shuffled or axis.size <= _BINS
    cuts = np.arange(axis.size + 1) if single else _coarse(column, axis, boxes)
    order = np.arange(len(cuts) - 1)
    if shuffled and axis.values is not None:
        order = np.array(sorted(order.tolist(), key=axis.values.__getitem__))
    return Scale(column=column, attribute=axis.attribute, axis=axis, cuts=cuts, order=order, ordered=ordered)


def _coarse(column: int, axis: Axis, boxes: Sequence[OpenBox]) -> Integers:
    """Cuts where boxes begin and end, about as many boxes' ends between any two of them."""
    ends = np.sort(np.array([[box.low[column], box.high[column] + 1] for box in boxes], dtype=np.int64).ravel())
    chosen = ends[np.linspace(0, len(ends) - 1, _BINS - 1).astype(np.int64)]
    return np.unique(np.concatenate([[0], chosen, [axis.size]])).astype(np.int64)
