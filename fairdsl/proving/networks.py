"""Grows proofs about networks many boxes at a time, where conditions leave boxes in which everybody is asked about.

The same pass over a box as :class:`fairdsl_verify.bounds.Pass` takes, in float64 for hundreds of boxes together. It
says which leaves are worth a claim; what it says is not believed: the checker's own pass goes through these, the
heaviest first, and whatever does not follow, or is left at the deadline, stays open.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import count
from math import log2
from time import thread_time

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Observer
from fairdsl.backends.intervals import Splitting, splittings_of
from fairdsl.clock import Deadline
from fairdsl.ir.problem import Problem
from fairdsl.proving.grown import Grown, Waiting
from fairdsl.proving.looking import Floats, Looking
from fairdsl.proving.pairing import Pairing
from fairdsl.proving.planting import TRIAL, Planter, after, clearly_above, share_of
from fairdsl.proving.prover import EVALUATED, by_condition, counted, grow, line_of
from fairdsl_verify import RejectedError
from fairdsl_verify.bounds import Integers
from fairdsl_verify.question import NO, YES, Box
from fairdsl_verify.relaxed import LinkedChecker
from fairdsl_verify.tree import Checker, Node, Totals

#: Boxes that are looked at together.
_AT_ONCE = 256

#: And where a few linear programs are tried for each of them.
_PAIRED = 16

#: The part of the time that is left in which boxes are cut, until the checker goes through what is claimed of them; and
#: where it counts what is open, so that most of it comes afterwards.
_CUTTING, _COUNTED = 1 / 3, 9 / 10

#: A box of which more than this part is open, as it looks, is left open: it would cost the checker a pass for nothing.
_OPEN = 0.999

#: How much longer than the proof may take the checker may: of a share only it goes through the claims, afterwards.
_CHECKING = 18

#: But no more seconds than these, or so many times as long as the proof: whoever asked for it waits for both.
_WAITING, _PATIENT = 180.0, 4

#: The part of the time that is left for one way once all were tried, and the one after which some are given up.
_GROWS, _SOON = 1 / 2, 1 / 24

#: Cuts at most until everybody or nobody is asked about.
_CUTS = 4096

#: Boxes by which it is known how long the checker takes for one, and so many it gets in any case.
_LOOKED_AT, _LEAST = 32, 64


def many_passes(checker: Checker) -> bool:
    """Whether it is about a network with hidden units that weigh all attributes, and all units compare the same."""
    question, net = checker.question, checker.net
    if question.loose or not isinstance(net, Integers) or not net.weights:
        return False
    if isinstance(checker, LinkedChecker) and not checker.settled(range(len(checker.assignments)), checker.root().box):
        return False
    return all(net.idle[place] or net.multiples[place] is not None for place in checker.shared)


def grow_networks(checker: Checker, deadline: Deadline, problem: Problem, observer: Observer) -> tuple[Grown, Totals]:
    """A tree of splits, and what its leaves come to by the checker's own count.

    Where all or nothing is asked, linear programs about two are tried of each box before it is cut. Where boxes are
    counted it is tried for a while which way shows most: without these, with them, or by the cuts of a refinement of
    the problem itself, if these can be said, with regions of boxes or without.
    """
    pairing, shares = Pairing.of(checker, problem), counted(checker)
    growing = _Growing(checker, None if shares else pairing)
    if not growing.begun(deadline):
        return grow(checker, deadline, pairing)
    if shares:
        share = growing.tried(deadline)
        if pairing is not None:
            other = _Growing(checker, pairing)
            if other.begun(deadline) and (found := other.tried(deadline, share)) > clearly_above(share):
                growing, share = other, found
        growing.compare(splittings_of(problem, after(TRIAL, deadline), observer), share, deadline)
    return growing.grown(deadline)


class _Growing:
    """The boxes that are not decided, those of which most is open first, and those of which something is claimed."""

    def __init__(self, checker: Checker, pairing: Pairing | None) -> None:
        assert isinstance(checker.net, Integers)
        self._checker, self._root, self._pairing = checker, checker.root(), pairing
        self._looking = Looking(checker, checker.net)
        self._components = checker.components(range(len(checker.assignments)), self._root.box)
        self._counted = counted(checker)
        #: How many boxes the checker may get, once that is known, and how many there are when it is asked again.
        self._most: int | None = None
        self._next = _LEAST
        self._idle, self._attributes = checker.net.idle, checker.question.attributes
        widths = len(checker.net.origin), *map(len, checker.net.weights[:-1])
        self._planter = Planter(checker, self._say, self._apart_in, self._line, widths)
        self._measured = [(place, not self._attributes[place].real) for place in checker.shared]
        self._tree = Grown()
        #: Boxes with the lines that would cut them, the most open first, and how many of them are worth a pass.
        self._heap: list[Waiting] = []
        self._worth = 0
        self._claimed: list[Waiting] = []
        #: Boxes of which the checker has believed that no two are decided differently.
        self._closed: list[Waiting] = []
        self._number = count()

    def begun(self, deadline: Deadline) -> bool:
        """Cut the domain until everybody or nobody is asked about in each box; False where that takes many."""
        waiting, settled, cuts = [(self._root, self._tree)], list[tuple[Box, Grown]](), 0
        while waiting:
            node, grown = waiting.pop()
            if set(node.admitted) == {YES}:
                settled.append((node.box, grown))
            elif set(node.admitted) == {NO}:
                grown.claim = "V"
            elif (cut := by_condition(self._checker, node)) is None or cuts == _CUTS or deadline.passed:
                return False
            else:
                cuts += 1
                grown.split, grown.below = line_of(*cut), (Grown(), Grown())
                waiting += zip(self._checker.halves(node, grown.split.split(" ")), grown.below, strict=True)
        self._look(settled)
        return True

    def tried(self, deadline: Deadline, known: float = 0.0) -> float:
        """Go on for a part of the time; which share of everything is fair then, about.

        With linear programs, which the checker hardly needs time for, that share goes on to grow: by as much whenever
        the time doubles as it did until then. They are given up where they do not soon say more than is ``known``.
        """
        if self._pairing is None:
            return self._share_after(TRIAL, deadline)
        soon = self._share_after(_SOON, deadline)
        if soon < known:
            return soon
        share = self._share_after(TRIAL, deadline)
        return share + max(0.0, share - soon) * log2(_GROWS / TRIAL) / log2(TRIAL / _SOON)

    def _share_after(self, part: float, deadline: Deadline) -> float:
        cutting = after(part, deadline)
        while self._heap and not self._enough(cutting, deadline):
            self._go_on(cutting)
        return share_of(self._checker, [*self._heap, *self._claimed, *self._closed], deadline)

    def compare(self, splittings: Sequence[Splitting], own: float, deadline: Deadline) -> None:
        """Take over how a refinement cuts boxes, where that says more than the ``own`` share after as much time."""
        sizes = {at: attribute.size for at, attribute in enumerate(self._attributes)}
        known = (each for each in splittings if not each.regions or self._planter.has_regions(each))
        alike = (each for each in known if each.sizes.items() <= sizes.items())
        later = self._later(deadline)
        ways = (self._planter.way(each, later, deadline) for each in alike)
        way = max(ways, key=lambda each: each.share, default=None)
        if way is not None and way.share > clearly_above(own):
            self._tree, self._claimed = self._planter.grown(way, later, deadline)
            self._heap, self._closed = [], []

    def _say(self, one: Waiting, claim: str) -> None:
        """Claim that a box is evaluated, if it is small, that it is unfair, if two are far enough apart, or this."""
        if self._small(one.box):
            one.grown.claim = "E"
        elif one.grown.claim == "U" and (pair := self._parted(one.box)) is not None:
            one.grown.claim = f"U {pair[0]} {pair[1]}"
        else:
            one.grown.claim = claim

    def _apart_in(self, leaves: Sequence[Waiting]) -> None:
        """Claim of leaves in which many are decided differently how many these are, where less is left open then."""
        for at in range(0, len(leaves) if len(self._components) == 1 else 0, _AT_ONCE):
            some = leaves[at : at + _AT_ONCE]
            looks = self._looking.look([one.box for one in some])
            for one, left, pair in zip(some, looks.left.tolist(), looks.pair.tolist(), strict=True):
                if left < -one.negative:
                    one.grown.claim = f"u {pair[0]} {pair[1]}"

    def _parted(self, box: Box) -> tuple[int, int] | None:
        looks = self._looking.look([box])
        return self._apart(looks.low[0], looks.high[0])

    def _later(self, deadline: Deadline) -> float:
        """How many seconds the checker may take afterwards."""
        seconds = min(_CHECKING * deadline.remaining, max(_WAITING, _PATIENT * deadline.remaining))
        return seconds - (0.0 if self._pairing is None else self._pairing.seconds)

    def grown(self, deadline: Deadline) -> tuple[Grown, Totals]:
        """Cut boxes for part of what is left of the time, go through what is claimed of them, and so on.

        Where the checker counts how much of a box is open, boxes are cut until it has enough to do.
        """
        totals = Totals(somebody=bool(self._checker.question.compared))
        while self._heap or self._claimed:
            cutting = deadline.later(-(1 - (_COUNTED if self._counted else _CUTTING)) * deadline.remaining)
            while self._heap and not self._enough(cutting, deadline):
                self._go_on(cutting)
            claimed, self._claimed = sorted(self._claimed, key=self._gained), []
            for one in claimed:
                self._tried(one, totals, deadline)
            if self._counted or deadline.passed:
                break
        for one in self._heap:
            totals.open += self._mass(one.box)
        totals.counted(fair=sum(self._mass(one.box) for one in self._closed))
        self._tree.pruned()
        return self._tree, totals

    def _tried(self, one: Waiting, totals: Totals, deadline: Deadline) -> None:
        """Leave a claim if it follows; what is counted needs no trial."""
        if self._counted and one.grown.claim == "=":
            one.grown.claim = "~"
        elif self._counted and one.grown.claim[0] in "~/ERu":
            return
        elif deadline.passed or not (self._follows(one, totals) or self._cut_again(one)):
            one.grown.claim = "~" if self._counted else "?"
            totals.open += self._mass(one.box)

    def _cut_again(self, one: Waiting) -> bool:
        """Cut a box on which scores are nearer to the threshold than float32 may be off: of halves that is off by less.

        Whoever is evaluated is as near in any box, and where boxes are counted so is whoever is that near.
        """
        cut = None if self._counted or one.grown.claim == "E" else self._line(one.box)
        if cut is not None:
            one.grown.split, one.grown.claim = line_of(*cut), "?"
            heapq.heappush(self._heap, Waiting(-self._mass(one.box), next(self._number), one.box, one.grown))
        return cut is not None

    def _enough(self, cutting: Deadline, deadline: Deadline) -> bool:
        """Whether it is time to stop cutting, or the checker takes as long for the boxes as it may."""
        boxes = self._worth + len(self._claimed)
        if not self._counted:
            return cutting.passed
        if len(self._heap) + len(self._claimed) >= self._next:
            self._next *= 2
            self._most = max(_LEAST, int(self._later(deadline) / self._seconds(self._heap)))
        return self._most is not None and (cutting.passed or boxes >= self._most)

    def _gained(self, one: Waiting) -> float:
        """The more a claim counts for, the less this is."""
        return -self._mass(one.box)

    def _go_on(self, until: Deadline) -> None:
        """Cut the boxes of which most is open, where nothing is claimed of two in them."""
        most = _AT_ONCE if self._pairing is None else _PAIRED
        taken = [heapq.heappop(self._heap) for _ in range(min(most, len(self._heap)))]
        if self._pairing is not None:
            taken = [one for one in taken if until.passed or not self._paired(one, self._pairing, until)]
        self._look([half for one in taken for half in self._halves(one)])

    def _paired(self, one: Waiting, pairing: Pairing, until: Deadline) -> bool:
        """Claim of a box that no two in it are decided differently, if that follows."""
        if (claim := pairing.claim(self._node(one.box), until)) is None:
            return False
        self._worth -= one.grown.claim != "?"
        one.grown.split, one.grown.claim = "", claim
        self._closed.append(one)
        return True

    def _seconds(self, boxes: Sequence[Waiting]) -> float:
        """How many seconds of a core the checker takes for a box, by some of them: of small ones it is less."""
        started, some = thread_time(), boxes[:: 1 + len(boxes) // _LOOKED_AT]
        for one in some:
            with suppress(RejectedError):
                self._checker.leaf(self._node(one.box), one.grown.claim.replace("?", "~").split(" "), Totals())
        return (thread_time() - started) / len(some) if some else 1e-3

    def _node(self, box: Box) -> Node:
        return Node(box, (YES,) * len(self._root.admitted), self._root.known)

    def _mass(self, box: Box) -> int:
        """What the checker's ``mass`` is, which is asked of all boxes."""
        mass = 1
        for place, whole in self._measured:
            low, high = box[place]
            mass *= high - low + whole
        return mass

    def _follows(self, one: Waiting, totals: Totals) -> bool:
        try:
            self._checker.leaf(self._node(one.box), one.grown.claim.split(" "), totals)
        except RejectedError:
            return False
        return True

    def _halves(self, one: Waiting) -> Iterator[tuple[Box, Grown]]:
        """Cut a box that was waiting."""
        self._worth -= one.grown.claim != "?"
        one.grown.below = Grown(), Grown()
        halves = self._checker.cut(one.box, one.grown.split.split(" "))
        return zip((box for _, box in halves), one.grown.below, strict=True)

    def _look(self, boxes: Sequence[tuple[Box, Grown]]) -> None:
        """Claim what can be claimed of boxes; the others wait to be cut."""
        for at in range(0, len(boxes), _AT_ONCE):
            some = boxes[at : at + _AT_ONCE]
            looks = self._looking.look([box for box, _ in some])
            alike = (looks.low.min(axis=1) > 0) | (looks.high.max(axis=1) < 0)
            apart = (looks.low.max(axis=1) > 0) & (looks.high.min(axis=1) < 0)
            orders, several = np.argsort(-looks.influence, axis=1).tolist(), len(self._components) == 1
            parted = several & (looks.left < looks.crossed)
            crossed = np.where(parted, looks.left, looks.crossed).tolist()
            for number, (box, grown) in enumerate(some):
                one = Waiting(-self._mass(box) * crossed[number], next(self._number), box, grown)
                if alike[number]:
                    grown.claim = "="
                elif apart[number] and (pair := self._apart(looks.low[number], looks.high[number])) is not None:
                    grown.claim = f"U {pair[0]} {pair[1]}"
                elif self._small(box):
                    grown.claim = "E"
                elif (cut := self._cut(box, orders[number])) is not None:
                    grown.split = line_of(*cut)
                    worth = self._counted and crossed[number] < _OPEN
                    pair = looks.pair[number] if parted[number] else None
                    grown.claim = self._counting(int(looks.along[number]), pair) if worth else "?"
                    self._worth += worth
                    heapq.heappush(self._heap, one)
                    continue
                self._claimed.append(one)

    def _counting(self, along: int, pair: NDArray[np.int64] | None) -> str:
        """The claim that counts how much of a box is open: as it is, less who is apart, or by lines of an attribute."""
        if pair is not None:
            return f"u {pair[0]} {pair[1]}"
        return "~" if along < 0 else f"/ {self._looking.place_of(along)}"

    def _apart(self, low: Floats, high: Floats) -> tuple[int, int] | None:
        for component in self._components:
            above, below = max(component, key=low.__getitem__), min(component, key=high.__getitem__)
            if low[above] > 0 > high[below]:
                return above, below
        return None

    def _small(self, box: Box) -> bool:
        """Whether everybody in the box can be evaluated."""
        individuals = members = len(self._checker.assignments)
        for place in self._checker.shared:
            if not self._idle[place] and box[place][0] < box[place][1]:
                individuals *= box[place][1] - box[place][0] + 1
                if self._attributes[place].real or individuals > max(EVALUATED, members):
                    return False
        return True

    def _line(self, box: Box) -> tuple[int, int] | None:
        (influence,) = self._looking.look([box]).influence
        return self._cut(box, np.argsort(-influence).tolist())

    def _cut(self, box: Box, order: Sequence[int]) -> tuple[int, int] | None:
        """The first attribute in this order that can be cut, in the middle: what moves the score most comes first."""
        for number in order:
            place = self._looking.place_of(number)
            low, high = box[place]
            if high - low > self._attributes[place].real:
                return place, (low + high) // 2
        return None
