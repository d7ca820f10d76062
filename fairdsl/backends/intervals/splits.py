"""How a refinement halves a domain, and what it leaves open of each box, for whoever proves the same in another way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Observer, Refusal
from fairdsl.backends.intervals.roles import roles_of
from fairdsl.backends.intervals.task import AttributeKind
from fairdsl.backends.intervals.warmup import KERNELS
from fairdsl.backends.refining.clock import advance_until
from fairdsl.clock import Deadline
from fairdsl.ir.problem import Problem

if TYPE_CHECKING:
    from fairdsl.backends.intervals.kernels.layout import Net, Work
    from fairdsl.backends.intervals.kernels.slots import Tree
    from fairdsl.backends.intervals.refine import Refinement

#: What is best said of a node: nothing, that so much of it is fair, that all of it is unfair, or what its halves are.
OPEN, FAIR, UNFAIR, HALVED = range(4)
#: A box of which less than this part is not known to be unfair counts as unfair.
_REST = 1e-6
#: And where less than this part is known to be unfair, that is not worth a claim.
_PART = 1 / 64
#: Whoever checks a proof goes through each leaf, so few boxes that are well cut are worth more than many; but with 32
#: regions each there are too few for a while.
_REGIONS = 8
#: Trials of what a leaf has to gain at least, which end where there are nearly as many leaves as there may be.
_TRIALS, _NEARLY = 40, 0.98


@dataclass(frozen=True, slots=True, kw_only=True)
class Splits:
    """A tree of boxes; the first is the domain. All masses are shares of it.

    ``first`` is the first half of each node, behind which the second one stands; -1 where there is none. It is cut by
    the attribute ``place`` of the domain, in the middle of its positions.
    """

    first: NDArray[np.int64]
    place: NDArray[np.int64]
    mass: NDArray[np.float64]
    #: How much of each box may be unfair, and how much is surely unfair.
    violating: NDArray[np.float64]
    falsified: NDArray[np.float64]

    @property
    def open(self) -> NDArray[np.float64]:
        """Which part of a box may be unfair, where a part of it surely is; of all others 0."""
        return np.where(self.falsified > _PART * self.mass, self.violating / self.mass, 0.0)

    @property
    def known(self) -> NDArray[np.float64]:
        """How much of each box is decided."""
        return self.mass - self.violating + self.falsified

    def best(self, leaves: int, least: float = 0.0) -> NDArray[np.int64]:
        """What to say of each node, so that about so many leaves, at most, say most together; each at least so much.

        At a price of a leaf what is best of a node is known from what is best of its halves (Breiman et al.,
        Classification and Regression Trees, chapter 3); the price is halved until the leaves are as many.
        """
        unfair = self.falsified >= self.mass * (1 - _REST)
        gains, levels = np.where(unfair, self.mass, self.known), self._levels()
        low, high = least, 1.0
        found = self._at_price(gains, levels, low)
        enough = len(self.leaves(found)) <= leaves
        if not enough:
            found = self._at_price(gains, levels, high)
        for _ in range(0 if enough else _TRIALS):
            price = (low * high) ** 0.5 if low else high / 16
            tried = self._at_price(gains, levels, price)
            if (count := len(self.leaves(tried))) > leaves:
                low = price
                continue
            high, found = price, tried
            if count >= _NEARLY * leaves or (low and high < low * 1.01):
                break
        found[(found == FAIR) & unfair] = UNFAIR
        return found

    def leaves(self, best: NDArray[np.int64]) -> NDArray[np.int64]:
        """The nodes of which something is to be said, from the domain downwards."""
        found, level = list[NDArray[np.int64]](), np.zeros(1, dtype=np.int64)
        while len(level):
            found.append(level[(best[level] == FAIR) | (best[level] == UNFAIR)])
            below = self.first[level[best[level] == HALVED]]
            level = np.concatenate([below, below + 1])
        return np.concatenate(found)

    def _levels(self) -> list[NDArray[np.int64]]:
        levels = [np.zeros(1, dtype=np.int64)]
        while len(levels[-1]):
            halved = self.first[levels[-1]]
            halved = halved[halved >= 0]
            levels.append(np.concatenate([halved, halved + 1]))
        return levels

    def _at_price(self, gains: NDArray[np.float64], levels: list[NDArray[np.int64]], price: float) -> NDArray[np.int64]:
        worth = np.maximum(gains - price, 0.0)
        found = np.where(worth > 0, FAIR, OPEN)
        for level in reversed(levels):
            halved = level[self.first[level] >= 0]
            below = worth[self.first[halved]] + worth[self.first[halved] + 1]
            better = below > worth[halved] * (1 + 1e-9)
            worth[halved[better]], found[halved[better]] = below[better], HALVED
        return found


class RegionCuts(NamedTuple):
    """How boxes are cut into regions [boxes, regions], of which the box itself is the first.

    ``first`` is the part of a region where the unit ``unit`` (counted through all layers) is at least 0, behind which
    the other part stands; -1 where it is not cut. ``half`` is the unit on whose side the region lies so far out that
    this alone says most of it; -1 where it is none.
    """

    first: NDArray[np.int64]
    unit: NDArray[np.int64]
    half: NDArray[np.int64]


class Splitting:
    """A refinement that goes on as long as it is told to."""

    def __init__(self, refinement: Refinement, places: Sequence[int], *, regions: bool) -> None:
        self._refinement, self._places = refinement, np.array(places, dtype=np.int64)
        #: Whether what may be unfair of a box is told region by region, where that says more.
        self.regions = regions
        #: How many units the hidden layers have.
        self.widths = [len(weight) for weight in refinement.task.weights[:-1]]
        #: The network, room to work in, and the roots, for boxes that are cut into regions.
        self._scratch: tuple[Net, Work, Tree] | None = None
        #: How many positions the attributes have that boxes are cut by.
        self.sizes = dict(zip(places, refinement.task.sizes.tolist(), strict=True))

    def until(self, deadline: Deadline) -> Splits:
        """How boxes are split then."""
        advance_until(self._refinement, lambda: deadline.passed)
        tree = self._refinement.state()
        first = np.full(len(tree["parent"]), -1, dtype=np.int64)
        first[tree["parent"][1::2]] = np.arange(1, len(first), 2)
        return Splits(
            first=first,
            place=self._places[tree["axis"]],
            mass=tree["mass"],
            violating=tree["violating"],
            falsified=tree["falsified"],
        )

    def regions_of(self, ends: NDArray[np.int64], least: float) -> RegionCuts:
        """How each box is best cut into regions, if one more has to leave so much less of it (``least``).

        ``ends`` [boxes, places of the domain, 2] are the first and the last position of each attribute.
        """
        from fairdsl.backends.intervals.effort import MOST_REGIONS
        from fairdsl.backends.intervals.graft import roomy
        from fairdsl.backends.intervals.kernels.pack import net_of, work_for
        from fairdsl.backends.intervals.kernels.regions import regions_of_boxes
        from fairdsl.backends.intervals.refine import CELLS, Refinement

        task = self._refinement.task
        if self._scratch is None:
            net = net_of(task)
            roots = roomy(Refinement.start(task, regions=0).state())
            self._scratch = net, work_for(net, CELLS, MOST_REGIONS), roots
        shape = len(ends), 2 * MOST_REGIONS - 1
        found = RegionCuts(*(np.full(shape, -1, dtype=np.int64) for _ in range(3)))
        low, high = (np.ascontiguousarray(ends[:, self._places, end]) for end in range(2))
        regions_of_boxes(*self._scratch, low, high, least, CELLS, *found)
        return found


def splittings_of(problem: Problem, deadline: Deadline, observer: Observer) -> tuple[Splitting, ...]:
    """Refinements of a problem by halving alone, and with regions; none where their boxes would not be the domain's.

    Of regions the tree says what they make of a box alone, and they take time in which more boxes are halved.

    Boxes are not the domain's where conditions cut it, individuals are compared with others than those of their unit,
    or positions of an attribute are not its values in their order. Where kernels are late there are none either.
    """
    if isinstance(roles_of(problem), Refusal) or not KERNELS.ready(observer, deadline):
        return ()
    from fairdsl.backends.intervals.lowering import lower
    from fairdsl.backends.intervals.refine import Refinement

    lowered = lower(problem)
    task, places = lowered.task, [axis.attribute for axis in lowered.axes if axis.attribute is not None]
    whole = len(task.low) == 1 and not task.low.any() and bool((task.high[0] == task.sizes - 1).all())
    if not whole or task.relaxed or len(places) < len(lowered.axes) or (task.kinds != AttributeKind.LATTICE).any():
        return ()
    ways = (0, _REGIONS)
    return tuple(Splitting(Refinement.start(task, regions=each), places, regions=each > 0) for each in ways)
