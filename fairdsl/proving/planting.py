"""Proofs that cut boxes as a refinement does: which of its leaves to claim, and what the checker makes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import thread_time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.intervals import FAIR, HALVED, UNFAIR, Splits, Splitting
from fairdsl.clock import Deadline
from fairdsl.proving.cutting import REGIONS, Cutting
from fairdsl.proving.grown import Grown, Waiting
from fairdsl.proving.prover import line_of
from fairdsl_verify.bounds import BITS
from fairdsl_verify.question import YES
from fairdsl_verify.tree import Checker, Node, Totals

__all__ = ["CLAIMS", "CLEARLY", "TRIAL", "Planter", "Told", "Way", "after", "planted", "told_by"]

#: What can be claimed of a box that is counted: as it is, or with lines of one more slope below units of open sign. In
#: deep networks a small one says no less than five slopes together, which take the checker three times as long.
CLAIMS = "~", *(f"~ {(1 << BITS) // part}" for part in (25, 5))

#: The parts of the time that is left in which it is tried who cuts boxes, and in which some leaves are drawn, to know
#: what the checker makes of all; claims are tried on a tree of so many, and at the end two trees may have to be made.
TRIAL, _TELLING, _TRIED, _PLANTED = 1 / 6, 1 / 30, 2048, 2

#: The refinement's boxes are taken where they say so much more of everything, for boxes that are cut here gain more by
#: the time that is left; and slopes, which take the checker longer, where they say so much more of some boxes.
CLEARLY = 0.02

#: Leaves at least, of however little time.
_LEAST = 64

#: So many leaves are drawn at most, in such steps, and in any case so few.
_DRAWS, _STRIDE, _FEW = 1024, 633, 8

#: Leaves that together would be so small a part of everything are not worth the checker's time.
_ALL_LIGHT = 1e-3


class Told(NamedTuple):
    """How many seconds of a core the checker takes for a leaf, and which part of everything it says is decided."""

    seconds: float
    share: float


def after(part: float, deadline: Deadline) -> Deadline:
    """When this part of the time that is left is over."""
    return deadline.later(-(1 - part) * deadline.remaining)


def told_by(checker: Checker, leaves: Sequence[Waiting], deadline: Deadline) -> Told:
    """What the checker makes of leaves, of those that claim to be counted or fair.

    By leaves that are drawn at equal steps of mass, and in another order, as far as there is time once they can be.
    """
    root, spent, tried, draws, part = checker.root(), 0.0, 0, 0, 0.0
    reached = np.cumsum(_masses(checker, leaves))
    end = after(_TELLING, deadline)
    while leaves and draws < _DRAWS and (draws < _FEW or not end.passed):
        mass = reached[-1] * ((draws * _STRIDE % _DRAWS + 0.5) / _DRAWS)
        drawn = leaves[int(np.searchsorted(reached, mass, side="right"))]
        draws += 1
        if drawn.grown.claim[0] in "EPU":
            part += 1
        elif drawn.grown.claim != "?":
            totals, started = Totals(), thread_time()
            node = Node(drawn.box, (YES,) * len(root.admitted), root.known)
            checker.leaf(node, drawn.grown.claim.replace("=", "~").split(" "), totals)
            spent, tried, part = spent + thread_time() - started, tried + 1, part + totals.fair / checker.mass(node)
    if not draws:
        return Told(1e-3, 0.0)
    return Told(max(spent / max(1, tried), 1e-4), part / draws * float(reached[-1]) / checker.mass(root))


def _masses(checker: Checker, leaves: Sequence[Waiting]) -> NDArray[np.float64]:
    """How many units, or cells of them, each leaf has, of hundreds of thousands at once."""
    shared, attributes = checker.shared, checker.question.attributes
    ends = np.array([one.box for one in leaves], dtype=np.float64).reshape(len(leaves), len(attributes), 2)
    sizes = ends[:, shared, 1] - ends[:, shared, 0] + [not attributes[place].real for place in shared]
    masses: NDArray[np.float64] = sizes.prod(axis=1)
    return masses


def planted(checker: Checker, splits: Splits, leaves: int) -> tuple[Grown, list[Waiting]]:
    """The tree whose leaves, that many at most, say most; those claim to be counted, or to be unfair (`U`)."""
    best = splits.best(leaves, _ALL_LIGHT / max(1, leaves)).tolist()
    first, places = splits.first.tolist(), splits.place.tolist()
    tree, found = Grown(), list[Waiting]()
    waiting = [(0, checker.root().box, tree)]
    while waiting:
        node, box, grown = waiting.pop()
        if best[node] == HALVED:
            place = places[node]
            (low, high), before, after = box[place], box[:place], box[place + 1 :]
            middle, below = (low + high) // 2, (Grown(), Grown())
            grown.split, grown.below = line_of(place, middle), below
            waiting.append((first[node], (*before, (low, middle), *after), below[0]))
            waiting.append((first[node] + 1, (*before, (middle + 1, high), *after), below[1]))
        elif best[node] in (FAIR, UNFAIR):
            grown.claim = "~" if best[node] == FAIR else "U"
            found.append(Waiting(0.0, len(found), box, grown))
    return tree, found


class Way(NamedTuple):
    """A refinement, the claim of its leaves, how many there are, which share of everything is fair by them, about.

    ``planting``: seconds that are left for making the tree, for each second of refining.
    """

    splitting: Splitting
    claim: str
    most: int
    share: float
    planting: float


class Planter:
    """Makes trees of refinements; ``say`` claims of a leaf what is to be claimed, or what is known without."""

    def __init__(self, checker: Checker, cutting: Cutting, say: Callable[[Waiting, str], None]) -> None:
        self._checker, self._cutting, self._say = checker, cutting, say

    def way(self, splitting: Splitting, later: float, deadline: Deadline) -> Way:
        """What comes of a refinement after a part of the time, if the checker takes so many seconds ``later``.

        As many leaves are taken as it has time for, which say most, with the claim that says most of some.
        """
        trial = deadline.remaining * TRIAL
        splits = splitting.until(after(TRIAL, deadline))
        told = {
            claim: told_by(self._checker, self.planted(splits, claim, _TRIED)[1], deadline)
            for claim in ((REGIONS,) if splitting.regions else CLAIMS)
        }
        claim = max(told, key=lambda each: told[each].share + CLEARLY * (each == CLAIMS[0]))
        most, before = max(_LEAST, int(later / told[claim].seconds)), deadline.remaining
        leaves = self.planted(splits, claim, most)[1]
        planting = _PLANTED * (before - deadline.remaining) / trial
        return Way(splitting, claim, most, told_by(self._checker, leaves, deadline).share, planting)

    def planted(self, splits: Splits, claim: str, leaves: int) -> tuple[Grown, list[Waiting]]:
        """The tree of a refinement with so many leaves at most, and what is claimed of them."""
        tree, found = planted(self._checker, splits, leaves)
        for one in found:
            self._say(one, claim)
        cut = [one for one in found if one.grown.claim == REGIONS]
        for one, words in zip(cut, self._cutting.claims([one.box for one in cut]), strict=True):
            one.grown.claim = words
        return tree, found
