"""How ranges of a sum of trees cut a domain, with every cut kept: for whoever proves the same in another way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.leaf_boxes.forest import Forest, put_together
from fairdsl.backends.leaf_boxes.graft import HEAP, NEW, USED, empty, grown
from fairdsl.backends.leaf_boxes.kernels.by_ranges import ALIKE, NOTHING, cut_by_ranges
from fairdsl.backends.leaf_boxes.leaf_sets import Tree, merged
from fairdsl.backends.leaf_boxes.sizes import Sizes
from fairdsl.clock import Deadline

__all__ = ["Cuts", "Splitting"]

Integers = NDArray[np.int64]

#: Boxes that are cut before anybody looks at the clock; room for so many at first.
_CUTS, _FIRST = 1024, 2**14


class Cuts(NamedTuple):
    """A tree of boxes; the first is the domain.

    ``child`` is the first half of each box, behind which the second one stands; -1 where it is not cut. It is cut along
    ``axis``, before the part ``cut``. ``alike``: all are decided alike, ``above`` and ``below``: who of the assignments
    is above the threshold everywhere, and who below; -1 of all others.
    """

    child: Integers
    axis: Integers
    cut: Integers
    alike: NDArray[np.bool_]
    above: Integers
    below: Integers


class Splitting:
    """Boxes that ranges settle, of a sum of trees; trees that meet in few ways are one, as ``groups`` says."""

    def __init__(self, forest: Forest, groups: Sequence[tuple[int, ...]]) -> None:
        self._forest, self._room = forest, forest.room()
        self._room.present[:] = True
        #: Which of the trees are one, by their numbers.
        self.groups = groups
        self._boxes = empty(_FIRST, len(forest.sizes.axes))
        self._known = np.full(_FIRST, NOTHING, dtype=np.int64)
        self._boxes.low[0], self._boxes.high[0] = forest.sizes.whole()
        self._boxes.mass[0] = self._boxes.left[0] = 1.0
        self._boxes.child[0] = -1
        self._boxes.counts[[USED, NEW]] = 1

    @classmethod
    def of(cls, trees: Sequence[Tree], parts: Sequence[Sequence[int]], limits: tuple[int, int]) -> Splitting | None:
        """Nothing known yet; None where the trees take too much room.

        The axes are ordered, with parts of these sizes. A sum up to the first limit is below the threshold, one from
        the second limit on above it.
        """
        together = merged(trees, np.ones(len(parts), dtype=np.bool_))
        nodes = np.zeros(0, dtype=np.int64)
        sizes = Sizes(range(len(parts)), parts, np.ones(len(parts), dtype=np.bool_), 1, nodes, nodes)
        forest = put_together(together, sizes, limits)
        return None if forest is None else cls(forest, [tree.members for tree in together])

    @property
    def waiting(self) -> int:
        """How many boxes are open."""
        return int(self._boxes.counts[HEAP] + self._boxes.counts[NEW])

    @property
    def known(self) -> tuple[float, float]:
        """About which parts of the domain are decided alike, and apart."""
        return float(self._boxes.known[0]), float(self._boxes.known[1])

    @property
    def boxes(self) -> int:
        """How many boxes there are, those that were cut among them."""
        return int(self._boxes.counts[USED])

    def go_on(self, deadline: Deadline, boxes: int, enough: tuple[float, float]) -> None:
        """Cut until the deadline, or until there are so many boxes, or none is open.

        It is enough where such parts of the domain, about, are decided alike and apart.
        """
        more = 4 * (len(self._forest.leaves.meet) + _CUTS)
        while self.waiting and self.boxes < boxes and (self._boxes.known < enough).any() and not deadline.passed:
            if self.boxes + more > len(self._known):
                self._boxes = grown(self._boxes, 2 * len(self._known) + more)
                new = np.full(len(self._boxes.mass) - len(self._known), NOTHING, dtype=np.int64)
                self._known = np.concatenate([self._known, new])
            cut_by_ranges(self._forest.trees, self._forest.leaves, self._boxes, self._known, self._room, _CUTS)

    def cuts(self) -> Cuts:
        """How boxes are cut by now."""
        boxes, people = self._boxes, len(self._room.present)
        known, child = self._known[: self.boxes], boxes.child[: self.boxes].copy()
        apart = known > ALIKE
        return Cuts(
            child=child,
            axis=boxes.axis[: self.boxes].copy(),
            cut=boxes.cut[: self.boxes].copy(),
            alike=known == ALIKE,
            above=np.where(apart, (known - 1) // people, -1),
            below=np.where(apart, (known - 1) % people, -1),
        )

    def sizes(self) -> tuple[int, int]:
        """How large a part of the domain is decided alike, and how large a part apart."""
        low, high, known = (each[: self.boxes] for each in (self._boxes.low, self._boxes.high, self._known))
        alike, apart = known == ALIKE, known > ALIKE
        return self._forest.sizes.of(low[alike], high[alike]), self._forest.sizes.of(low[apart], high[apart])
