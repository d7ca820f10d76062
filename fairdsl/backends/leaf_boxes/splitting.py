"""How ranges of a sum of trees cut a domain, with every cut kept: for whoever proves the same in another way.

Of what ranges leave open a part is bounded by means and variances of the least and the greatest sum, if these are given
(:mod:`.kernels.by_ranges`). The tree of boxes is pruned to what says most for the time that it takes to check.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.leaf_boxes.forest import Forest, put_together
from fairdsl.backends.leaf_boxes.graft import HEAP, NEW, USED, empty, grown
from fairdsl.backends.leaf_boxes.kernels.by_ranges import (
    ALIKE,
    NOTHING,
    SAY_COUNTED,
    SAY_HALVED,
    SAY_KNOWN,
    cut_by_ranges,
    weigh,
)
from fairdsl.backends.leaf_boxes.kernels.records import Found
from fairdsl.backends.leaf_boxes.leaf_sets import Tree, merged
from fairdsl.backends.leaf_boxes.sizes import Sizes
from fairdsl.clock import Deadline

Integers = NDArray[np.int64]

#: Boxes that are cut before anybody looks at the clock; room for so many at first.
_CUTS, _FIRST = 1024, 2**14

#: Boxes that leave less of everything open are not bounded by means and variances: checking that would take too long.
_HEAVY = 1e-5
#: Prices of a second that are tried, as shares of everything.
_PRICES = [0.0, *(2.0 ** (each / 2) for each in range(-80, 0))]


class Cuts(NamedTuple):
    """A tree of boxes; the first is the domain.

    ``child`` is the first half of each box, behind which the second one stands; -1 where it is not cut. It is cut along
    ``axis``, before the part ``cut``. ``alike``: all are decided alike, ``above`` and ``below``: who of the assignments
    is above the threshold everywhere, and who below; -1 of all others. ``counted``: means and variances bound it.
    """

    child: Integers
    axis: Integers
    cut: Integers
    alike: NDArray[np.bool_]
    above: Integers
    below: Integers
    counted: NDArray[np.bool_]


class Splitting:
    """Boxes that ranges settle, of a sum of trees; trees that meet in few ways are one, as ``groups`` says."""

    def __init__(self, forest: Forest, groups: Sequence[tuple[int, ...]]) -> None:
        self._forest, self._room, self._scores = forest, forest.room(), forest.scores()
        self._room.present[:] = True
        #: Which of the trees are one, by their numbers.
        self.groups = groups
        self._boxes = empty(_FIRST, len(forest.sizes.axes))
        self._found = Found(np.full(_FIRST, NOTHING), np.zeros(_FIRST, dtype=np.int64), np.zeros(2))
        self._boxes.low[0], self._boxes.high[0] = forest.sizes.whole()
        self._boxes.mass[0] = self._boxes.left[0] = 1.0
        self._boxes.child[0] = self._boxes.above[0] = -1
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

    def bound_by(self, worst: Sequence[Tree]) -> None:
        """Bound boxes by means and variances, too, of the least sum and the greatest one, as of two assignments."""
        forest = put_together(worst, self._forest.sizes, self._limits(), moments=True)
        self._scores = replace(self._forest, worst=forest).scores()

    def _limits(self) -> tuple[int, int]:
        below, above = self._forest.trees.limits.tolist()
        return below, above

    @property
    def waiting(self) -> int:
        """How many boxes are open."""
        return int(self._boxes.counts[HEAP] + self._boxes.counts[NEW])

    @property
    def known(self) -> tuple[float, float]:
        """About which parts of the domain are decided alike at least, and apart."""
        return float(self._boxes.known[0]), float(self._found.shown[1])

    @property
    def boxes(self) -> int:
        """How many boxes there are, those that were cut among them."""
        return int(self._boxes.counts[USED])

    def go_on(self, deadline: Deadline, boxes: int, enough: tuple[float, float]) -> None:
        """Cut until the deadline, or until there are so many boxes, or none is open.

        It is enough where such parts of the domain, about, are decided alike and apart.
        """
        more, forest = 4 * (len(self._forest.leaves.meet) + _CUTS), self._forest
        while self.waiting and self.boxes < boxes and _less(self.known, enough) and not deadline.passed:
            if self.boxes + more > len(self._boxes.mass):
                self._boxes = grown(self._boxes, 2 * len(self._boxes.mass) + more)
                new = len(self._boxes.mass) - len(self._found.known)
                known = np.concatenate([self._found.known, np.full(new, NOTHING)])
                leaves = np.concatenate([self._found.leaves, np.zeros(new, dtype=np.int64)])
                self._found = Found(known, leaves, self._found.shown)
            args = self._boxes, self._found, self._room, self._scores, _HEAVY, _CUTS
            cut_by_ranges(forest.trees, forest.leaves, *args)

    def shows(self, seconds: tuple[float, float], most: float, enough: tuple[float, float]) -> bool:
        """Whether that takes somebody no more than so many seconds to check: see :meth:`cuts`."""
        alike, apart, _ = self._said(self._price(seconds, most, enough), seconds)[1]
        return not _less((alike, apart), enough)

    def cuts(self, seconds: tuple[float, float], most: float, enough: tuple[float, float]) -> Cuts:
        """Boxes that show as much as is enough in the least time, or else most in so many seconds.

        ``seconds`` are those that somebody takes to check a box that ranges settle, and for each two leaves of the sums
        that bound one. Where nothing is open all that is known is told.
        """
        price = self._price(seconds, most, enough) if self.waiting else 0
        said, boxes = self._said(price, seconds)[0], self._boxes
        known, people = np.where(said == SAY_KNOWN, self._found.known[: self.boxes], NOTHING), len(self._room.present)
        apart = known > ALIKE
        return Cuts(
            child=np.where(said == SAY_HALVED, boxes.child[: self.boxes], -1),
            axis=boxes.axis[: self.boxes].copy(),
            cut=boxes.cut[: self.boxes].copy(),
            alike=known == ALIKE,
            above=np.where(apart, (known - 1) // people, -1),
            below=np.where(apart, (known - 1) % people, -1),
            counted=said == SAY_COUNTED,
        )

    def _price(self, seconds: tuple[float, float], most: float, enough: tuple[float, float]) -> int:
        """The highest price at which enough is shown, or the lowest at which that takes no more than so many seconds.

        The higher it is the less is shown, and the sooner.
        """
        low, high = 0, len(_PRICES)  # below ``low`` it takes too long, or more than enough is shown
        while low < high:
            price = (low + high) // 2
            alike, apart, takes = self._said(price, seconds)[1]
            if takes > most or not _less((alike, apart), enough):
                low = price + 1
            else:
                high = price
        last = max(0, low - 1)
        return last if self._said(last, seconds)[1][2] <= most else min(low, len(_PRICES) - 1)

    def _said(self, price: int, seconds: tuple[float, float]) -> tuple[NDArray[np.int32], list[float]]:
        """What is best said of each box at a price, and what that comes to: decided alike, apart, and seconds."""
        worth, said, total = np.zeros(self.boxes), np.zeros(self.boxes, dtype=np.int32), np.zeros(3)
        unit = self._forest.sizes.factor / self._forest.sizes.total
        weigh(self._boxes, self._found, np.array(seconds), _PRICES[price], unit, worth, said, total)
        return said, total.tolist()

    def ends(self, box: int) -> tuple[list[int], list[int]]:
        """The first part of a box on each axis, and that behind its last one."""
        return self._boxes.low[box].tolist(), self._boxes.high[box].tolist()

    def leaves(self, boxes: Integers) -> Integers:
        """How many leaves the sums have that bound boxes."""
        return self._found.leaves[boxes]

    def sizes(self, cuts: Cuts) -> tuple[int, int]:
        """How large a part of the domain is decided alike by ranges, and how large a part apart."""
        low, high, apart = self._boxes.low[: self.boxes], self._boxes.high[: self.boxes], cuts.above >= 0
        of = self._forest.sizes.of
        return of(low[cuts.alike], high[cuts.alike]), of(low[apart], high[apart])


def _less(known: tuple[float, float], enough: tuple[float, float]) -> bool:
    return known[0] < enough[0] or known[1] < enough[1]
