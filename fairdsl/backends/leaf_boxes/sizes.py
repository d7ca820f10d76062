"""The axes of boxes, and how large boxes are: exact sizes as whole numbers over one denominator."""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.leaf_boxes.cuts import Cut
from fairdsl.backends.leaf_boxes.graph import TERMINAL
from fairdsl.backends.leaf_boxes.lowering import Lowered

Integers = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

_FITS = 2**62


def axes_of(cuts: Sequence[Cut], differ: Sequence[int]) -> list[int]:
    """The shared attributes that fall into several parts."""
    return [i for i, cut in enumerate(cuts) if i not in differ and len(cut.parts) > 1]


class Sizes:
    """The axes of boxes, and their exact sizes as whole numbers over one denominator."""

    def __init__(
        self,
        axes: Sequence[int],
        parts: Sequence[Sequence[int]],
        ordered: BoolArray,
        factor: int,
        axis: Integers,
        passing: Integers,
    ) -> None:
        #: The shared attributes that fall into several parts.
        self.axes = tuple(axes)
        #: Of each node of the graph its axis and the parts that pass: how many, or a set of bits.
        self.axis, self.passing, self.ordered = axis, passing, ordered
        self.total = factor * prod(map(sum, parts))
        # A single point of reals has no length: then the other axes may be as long as they like.
        self.kind: Any = np.int64 if 0 < self.total < _FITS else object
        #: The size of the parts along which nothing is tested.
        self.factor = factor
        #: Sizes of parts, and running sums of them along each axis.
        self.parts = [np.array(each, dtype=self.kind) for each in parts]
        self.sums = [np.array([0, *np.cumsum(sizes).tolist()], dtype=self.kind) for sizes in self.parts]

    @classmethod
    def over(cls, lowered: Lowered) -> Sizes:
        """Those of a lowered question."""
        cuts, graph = lowered.cuts, lowered.graph
        axis_of = {attribute: axis for axis, attribute in enumerate(axes_of(cuts, lowered.pair.differ))}
        axis = [axis_of.get(attribute, TERMINAL) for attribute in graph.attributes]
        passing = [0 if at < 0 else _as_number(those) for at, those in zip(axis, graph.passing, strict=True)]
        tests = np.array(axis, dtype=np.int64), np.array(passing, dtype=np.int64)
        return cls.of_parts(cuts, lowered.pair.differ, *tests)

    @classmethod
    def of_parts(cls, cuts: Sequence[Cut], differ: Sequence[int], axis: Integers, passing: Integers) -> Sizes:
        """Those of attributes that are cut into such parts, and of the nodes of a graph over them."""
        shared, axes = [i for i in range(len(cuts)) if i not in differ], axes_of(cuts, differ)
        under = {i: lcm(*(part.weight.denominator for part in cuts[i].parts)) for i in shared}
        whole = {i: [int(part.weight * under[i]) for part in cuts[i].parts] for i in shared}
        return cls(
            axes,
            [whole[i] for i in axes],
            np.array([cuts[i].ordered for i in axes], dtype=np.bool_),
            prod(whole[i][0] for i in shared if i not in axes),
            axis,
            passing,
        )

    def whole(self) -> tuple[Integers, Integers]:
        """The ends of the box of everybody."""
        counts = [len(sizes) for sizes in self.parts]
        sides = list(zip(counts, self.ordered.tolist(), strict=True))
        low = [0 if ordered else 2**count - 1 for count, ordered in sides]
        high = [count if ordered else 0 for count, ordered in sides]
        return np.array(low, dtype=np.int64), np.array(high, dtype=np.int64)

    def of(self, low: Integers, high: Integers) -> int:
        """The size of some boxes together, [boxes, axes].

        Where it may not fit into 64 bits it is the number near a sum of floats that has the exact sum's last 64 bits.
        Floats are as exact as that if there are few enough: a size of d axes is within (d + 1) 2^-53 of itself, a sum
        of n within another (n - 1) 2^-53 of it (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2).
        """
        if not len(low):
            return 0
        if self.kind is np.int64 or not self._close(len(low)):
            return int(self.each(low, high).sum())
        near = int(self._each(low, high, np.float64, float(self.factor)).sum())
        last = int(self._each(low, high, np.uint64, self.factor % 2**64).sum())
        return near + (last - near + 2**63) % 2**64 - 2**63

    def each(self, low: Integers, high: Integers) -> NDArray[Any]:
        """The size of each box, exactly."""
        if self.kind is np.int64:
            return self._each(low, high, self.kind, self.factor)
        found: NDArray[Any] = np.full(len(low), self.factor, dtype=object)
        for axes in self._fitting():
            kind = np.int64 if all(int(self.sums[axis][-1]) < _FITS for axis in axes) else object
            found = found * self._each(low, high, kind, 1, axes)
        return found

    def _fitting(self) -> list[list[int]]:
        """The axes in groups, the sizes along which fit into 64 bits together where those along each do."""
        groups: list[list[int]] = []
        product = _FITS
        for axis, sums in enumerate(self.sums):
            product *= max(1, int(sums[-1]))
            if product >= _FITS:
                groups.append([])
                product = max(1, int(sums[-1]))
            groups[-1].append(axis)
        return groups

    def _close(self, boxes: int) -> bool:
        """Whether the sizes of so many boxes, as floats, sum up to within 2^62."""
        small = all(int(sums[-1]) <= 2**53 for sums in self.sums) and self.factor <= 2**53
        return small and self.total * (boxes + len(self.axes) + 1) < 2 ** (62 + 53)

    def _each(
        self, low: Integers, high: Integers, kind: Any, factor: Any, axes: Sequence[int] | None = None
    ) -> NDArray[Any]:
        sizes = np.full(len(low), factor, dtype=kind)
        for axis in range(len(self.axes)) if axes is None else axes:
            if self.ordered[axis]:
                sums = self.sums[axis].astype(kind)
                sizes *= sums[high[:, axis]] - sums[low[:, axis]]
            else:
                bits = (low[:, axis, None] >> np.arange(len(self.parts[axis]))) & 1
                sizes *= bits.astype(kind) @ self.parts[axis].astype(kind)
        return sizes


def _as_number(passing: tuple[int, ...] | int) -> int:
    """How many parts pass, or the set of those that pass as bits."""
    return passing if isinstance(passing, int) else sum(1 << part for part in passing)
