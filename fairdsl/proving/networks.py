"""Grows proofs about networks many boxes at a time, where conditions leave boxes in which everybody is asked about.

The same pass over a box as :class:`fairdsl_verify.bounds.Pass` takes, in float64 for hundreds of boxes together. It
says which leaves are worth a claim; what it says is not believed: the checker's own pass goes through these, the
heaviest first, and whatever does not follow, or is left at the deadline, stays open.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, count
from time import thread_time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.contract import Observer
from fairdsl.backends.intervals import FAIR, HALVED, UNFAIR, Splits, splits_of
from fairdsl.clock import Deadline
from fairdsl.ir.problem import Problem
from fairdsl.proving.grown import Grown, Waiting
from fairdsl.proving.prover import EVALUATED, by_condition, counted, grow, line_of
from fairdsl_verify import RejectedError
from fairdsl_verify.bounds import BITS, Integers
from fairdsl_verify.question import NO, YES, Box
from fairdsl_verify.tree import Checker, Node, Totals

__all__ = ["grow_networks", "many_passes"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

#: Boxes that are looked at together.
_AT_ONCE = 256

#: The part of the time that is left in which boxes are cut, until the checker goes through what is claimed of them; and
#: where it counts what is open, so that most of it comes afterwards.
_CUTTING, _COUNTED = 1 / 3, 3 / 4

#: A box of which more than this part is open, as it looks, is left open: it would cost the checker a pass for nothing.
_OPEN = 0.999

#: How much it counts how far an attribute moves the bounds, against how far apart its slopes may lie.
_MOVES = 1 / 16

#: How much longer than the proof may take the checker may: of a share only it goes through the claims, afterwards.
_CHECKING = 18

#: But no more seconds than these: whoever asked for a proof waits for it.
_WAITING = 180.0

#: The parts of the time that is left in which it is tried who cuts boxes, and in which a refinement does.
_TRIAL, _REFINING = 0.05, 0.8

#: So many leaves of a refinement are tried, of which so many, and so few at least, are drawn to know what the checker
#: makes of all; it takes slopes where they say so much more.
_TRIED, _TIMED, _STRIDE, _FEW, _WORTH = 2048, 16, 5, 4, 1.05

#: The claim that a box is counted with the best lines of several slopes, in units of 2^-BITS, for each row.
_THOROUGH = " ".join(["~", *(str((part << BITS) // 5) for part in range(5))])

#: Cuts at most until everybody or nobody is asked about.
_CUTS = 4096

#: Boxes by which it is known how long the checker takes for one, and so many it gets in any case.
_LOOKED_AT, _LEAST = 8, 64

#: How steep a logistic curve is that is close to the normal distribution's.
_STEEP = 1.702


def many_passes(checker: Checker) -> bool:
    """Whether the question is one about a network with hidden units that weigh every attribute."""
    question, net = checker.question, checker.net
    if question.loose or not isinstance(net, Integers) or not net.weights:
        return False
    return all(net.idle[place] or net.multiples[place] is not None for place in checker.shared)


class _Look(NamedTuple):
    """What a look at boxes says: the score of each assignment from and to, [boxes, assignments], what moves it most.

    ``crossed`` is about which part of a box the checker cannot say that the decision does not change in.
    """

    low: Floats
    high: Floats
    influence: Floats
    crossed: Floats


class _Looking:
    """A network in float64, each layer by a power of two so large that no number overflows."""

    def __init__(self, checker: Checker, net: Integers) -> None:
        self._places = [place for place in checker.shared if not net.idle[place]]
        steps = [net.rows[place][0] for place in self._places]
        #: Where attributes do not simply count, by which multiple of its row each adds at a position.
        self._multiples = [
            np.array(multiples, dtype=np.float64) if isinstance(multiples := net.multiples[place], list) else None
            for place in self._places
        ]
        unit = _power(net.origin, *steps, *net.moves)
        self._origin = _floats(net.origin, unit)
        self._steps = np.array([_floats(step, unit) for step in steps]).reshape(len(steps), len(net.origin))
        self._moves = np.array([_floats(move, unit) for move in net.moves])
        self._layers: list[tuple[Floats, Floats]] = []
        for rows, biases in zip(net.weights, net.biases, strict=True):
            above = _power([value * unit for row in rows for value in row], biases)
            weight = np.array([[value * unit / above for value in row] for row in rows])
            self._layers.append((weight, _floats(biases, above)))
            unit = above

    def look(self, boxes: Sequence[Box]) -> _Look:
        """One pass over each of the boxes."""
        low, high = self._ends(boxes)
        up, down = np.maximum(self._steps, 0), np.minimum(self._steps, 0)
        under = self._origin + low @ up + high @ down + self._moves.min(axis=0)
        over = self._origin + high @ up + low @ down + self._moves.max(axis=0)
        ranges, lines = [(under, over)], [_lines(under, over)]
        for layer, (weight, bias) in enumerate(self._layers[:-1]):
            found, moved, _ = self._least(
                layer, np.vstack((weight, -weight)), np.hstack((bias, -bias)), lines, low, high
            )
            found += moved.min(axis=2)
            least, most = _through(weight, *(np.maximum(ends, 0) for ends in ranges[-1]))
            under, over = (
                np.maximum(found[:, : len(bias)], least + bias),
                np.minimum(-found[:, len(bias) :], most + bias),
            )
            ranges.append((under, over))
            lines.append(_lines(under, over))
        weight, bias = self._layers[-1]
        rows, biases = np.vstack((weight, -weight)), np.hstack((bias, -bias))
        found, moved, slopes = self._least(len(self._layers) - 1, rows, biases, lines, low, high)
        moved += found[:, :, None]
        influence = (self._unsure(ranges) + _MOVES * np.abs(slopes).sum(axis=1)) * (high - low)
        return _Look(moved[:, 0], -moved[:, 1], influence, _crossed(moved.min(axis=2), slopes, low, high))

    def _unsure(self, ranges: Sequence[tuple[Floats, Floats]]) -> Floats:
        """How far apart the slopes of each attribute may lie on the boxes, by the signs of units that are open."""
        (row, _) = self._layers[-1]
        least = most = np.broadcast_to(row, (len(ranges[0][0]), row.shape[1]))
        for (under, over), weight in zip(
            reversed(ranges), (*(weight for weight, _ in self._layers[-2::-1]), self._steps.T), strict=True
        ):
            on, off = under >= 0, over <= 0
            least = np.where(on, least, np.where(off, 0.0, np.minimum(least, 0)))
            most = np.where(on, most, np.where(off, 0.0, np.maximum(most, 0)))
            least, most = _through(weight.T, least, most)
        return most - least

    def place_of(self, number: int) -> int:
        """Which attribute an influence is of."""
        return self._places[number]

    def _ends(self, boxes: Sequence[Box]) -> tuple[Floats, Floats]:
        ends = np.array([[box[place] for place in self._places] for box in boxes], dtype=np.int64)
        found = ends.reshape(len(boxes), len(self._places), 2).astype(np.float64)
        for number, multiples in enumerate(self._multiples):
            if multiples is not None:
                found[:, number] = multiples[ends[:, number]]
        found.sort(axis=2)
        return found[:, :, 0], found[:, :, 1]

    def _least(
        self, layer: int, rows: Floats, biases: Floats, lines: Sequence[Sequence[Floats]], low: Floats, high: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Lower bounds of rows over a layer's units, without what differs; what that adds; slopes of attributes."""
        weights, constant = np.broadcast_to(rows, (len(low), *rows.shape)), biases
        while True:
            under, over, intercept = (each[:, None, :] for each in lines[layer])
            falling = np.minimum(weights, 0)
            below = weights * under + falling * (over - under)
            constant = constant + np.einsum("bru,bu->br", falling, intercept[:, 0])
            if not layer:
                break
            layer -= 1
            weight, bias = self._layers[layer]
            constant, weights = constant + below @ bias, _product(below, weight)
        slopes = _product(below, self._steps.T)
        reached = np.where(slopes > 0, slopes * low[:, None, :], slopes * high[:, None, :])
        return constant + below @ self._origin + reached.sum(axis=2), _product(below, self._moves.T), slopes


def _product(rows: Floats, weight: Floats) -> Floats:
    """The rows of each box times a matrix, all in one product."""
    found: Floats = (rows.reshape(-1, rows.shape[2]) @ weight).reshape(*rows.shape[:2], weight.shape[1])
    return found


def _through(weight: Floats, least: Floats, most: Floats) -> tuple[Floats, Floats]:
    """From where to where rows are, by intervals of what they are over."""
    up, down = np.maximum(weight, 0).T, np.minimum(weight, 0).T
    return least @ up + most @ down, most @ up + least @ down


def _power(*rows: Sequence[int]) -> int:
    """A power of two that is no less than the numbers of each row together."""
    return 1 << sum(max(map(abs, row), default=0) for row in rows).bit_length()


def _floats(row: Sequence[int], unit: int) -> Floats:
    return np.array([value / unit for value in row], dtype=np.float64)


def _lines(low: Floats, high: Floats) -> tuple[Floats, Floats, Floats]:
    """Slopes of the lines below and above ``max(z, 0)``, and the upper one's intercept, as the checker has them."""
    on, open_ = low >= 0, (low < 0) & (high > 0)
    one = float(1 << BITS)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(open_, np.floor(one * high / (high - low)) / one, on)
    under = np.where(on | (open_ & (high > -low)), 1.0, 0.0)
    return under, slope, np.where(open_, np.maximum(-slope * low, (1 - slope) * high), 0.0)


def _crossed(least: Floats, slopes: Floats, low: Floats, high: Floats) -> Floats:
    """About how much of a box lies between the two half-spaces that the checker counts (``fairdsl_verify.slab``)."""
    reached = np.minimum(slopes * low[:, None], slopes * high[:, None])
    both = slopes.sum(axis=1)
    gap = (least - reached.sum(axis=2)).sum(axis=1) + np.minimum(both * low, both * high).sum(axis=1)
    spread = np.abs(slopes[:, 0]) * (high - low)
    mean, deviation = least[:, 0] + spread.sum(axis=1) / 2, np.sqrt((spread**2).sum(axis=1) / 12) + 1e-300
    below, above = (1 / (1 + np.exp(np.clip(_STEEP * (mean - at) / deviation, -500, 500))) for at in (gap, 0.0))
    crossed: Floats = np.clip(above - below, 0.0, 1.0)
    return crossed


def grow_networks(checker: Checker, deadline: Deadline, problem: Problem, observer: Observer) -> tuple[Grown, Totals]:
    """A tree of splits, and what its leaves come to by the checker's own count.

    Where boxes are counted they are cut as the refinement of the problem itself cuts them, if that can be said.
    """
    growing = _Growing(checker)
    if growing.planted(problem, deadline, observer):
        return growing.claimed(deadline)
    return growing.grown(deadline) if growing.waits or growing.begun(deadline) else grow(checker, deadline)


class _Growing:
    """The boxes that are not decided, those of which most is open first, and those of which something is claimed."""

    def __init__(self, checker: Checker) -> None:
        assert isinstance(checker.net, Integers)
        self._checker, self._root = checker, checker.root()
        self._looking, self._components = (
            _Looking(checker, checker.net),
            checker.components(range(len(checker.assignments))),
        )
        self._counted = counted(checker)
        #: How many boxes the checker may get, once that is known.
        self._most: int | None = None
        self._idle, self._attributes = checker.net.idle, checker.question.attributes
        self._tree = Grown()
        #: Boxes with the lines that would cut them, the most open first, and how many of them are worth a pass.
        self._heap: list[Waiting] = []
        self._worth = 0
        self._claimed: list[Waiting] = []
        self._number = count()

    @property
    def waits(self) -> bool:
        """Whether boxes are being cut already."""
        return bool(self._heap)

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

    def planted(self, problem: Problem, deadline: Deadline, observer: Observer) -> bool:
        """Take over how a refinement cuts boxes: as many leaves as the checker has time for, which say most.

        Only where that says more, after a while, than boxes that are cut here: the refinement may decide by how far two
        zeros on a line can be from each other, which the checker does not ask.
        """
        if not self._counted or not self._begin(splits_of(problem, self._after(_TRIAL, deadline), observer), "~"):
            return False
        plain, thorough = (self._tells(claim, self._after(_TRIAL, deadline)) for claim in ("~", _THOROUGH))
        claim, told = ("~", plain) if plain[1] * _WORTH >= thorough[1] else (_THOROUGH, thorough)
        self._tree, self._claimed = Grown(), []
        if not self.begun(deadline) or told[1] < self._tried_here(self._after(_TRIAL, deadline)):
            return False
        later = min(_CHECKING * deadline.remaining, _WAITING)
        splits = splits_of(problem, self._after(_REFINING, deadline), observer)
        if splits is None or not self._begin(splits, claim):
            return False
        seconds, _ = self._tells(claim, self._after(1 / 2, deadline))
        self._plant(splits, max(_LEAST, int(later / seconds)), claim)
        return True

    def _after(self, part: float, deadline: Deadline) -> Deadline:
        """When this part of the time that is left is over."""
        return deadline.later(-(1 - part) * deadline.remaining)

    def _begin(self, splits: Splits | None, claim: str) -> bool:
        """Claim what some leaves of these splits say, if there are any and they are of this domain."""
        if splits is None or any(self._attributes[place].size != size for place, size in splits.sizes.items()):
            return False
        self._plant(splits, _TRIED, claim)
        return bool(self._claimed)

    def _tried_here(self, end: Deadline) -> float:
        """Cut boxes for a while; which part of everything seems fair then."""
        while self._heap and not end.passed:
            self._cut_some()
        fair = sum(self._mass(one.box) + one.negative for one in self._heap)
        fair += sum(self._mass(one.box) for one in self._claimed if one.grown.claim != "E")
        return fair / self._mass(self._root.box)

    def _plant(self, splits: Splits, leaves: int, claim: str) -> None:
        """Claim what is worth most."""
        best, first, places = splits.best(leaves).tolist(), splits.first.tolist(), splits.place.tolist()
        self._tree, self._claimed = Grown(), []
        waiting = [(0, self._root.box, self._tree)]
        while waiting:
            node, box, grown = waiting.pop()
            if best[node] == HALVED:
                place = places[node]
                grown.split, grown.below = line_of(place, sum(box[place]) // 2), (Grown(), Grown())
                halves = zip(self._checker.cut(box, grown.split.split(" ")), grown.below, strict=True)
                waiting += ((first[node] + at, half, below) for at, ((_, half), below) in enumerate(halves))
            elif best[node] in (FAIR, UNFAIR):
                grown.claim = "E" if self._small(box) else claim
                self._claimed.append(Waiting(0.0, next(self._number), box, grown))
                if best[node] == UNFAIR and grown.claim == claim:
                    self._parted(self._claimed[-1])

    def _parted(self, one: Waiting) -> None:
        """Claim that all of a box is unfair, if two are far enough apart."""
        looks = self._looking.look([one.box])
        if (pair := self._apart(looks.low[0], looks.high[0])) is not None:
            one.grown.claim = f"U {pair[0]} {pair[1]}"

    def claimed(self, deadline: Deadline) -> tuple[Grown, Totals]:
        """Leave the claims that follow; what is counted the checker says."""
        totals = Totals(somebody=bool(self._checker.question.compared))
        for one in self._claimed:
            self._tried(one, totals, deadline)
        self._tree.pruned()
        return self._tree, totals

    def grown(self, deadline: Deadline) -> tuple[Grown, Totals]:
        """Cut boxes for part of what is left of the time, go through what is claimed of them, and so on.

        Where the checker counts how much of a box is open, boxes are cut until it has enough to do.
        """
        totals = Totals(somebody=bool(self._checker.question.compared))
        while self._heap or self._claimed:
            cutting = deadline.later(-(1 - (_COUNTED if self._counted else _CUTTING)) * deadline.remaining)
            while self._heap and not self._enough(cutting, deadline):
                self._cut_some()
            claimed, self._claimed = sorted(self._claimed, key=self._gained), []
            for one in claimed:
                self._tried(one, totals, deadline)
            if self._counted or deadline.passed:
                break
        for one in self._heap:
            totals.open += self._mass(one.box)
        self._tree.pruned()
        return self._tree, totals

    def _tried(self, one: Waiting, totals: Totals, deadline: Deadline) -> None:
        """Leave a claim if it follows; what is counted needs no trial."""
        if self._counted and one.grown.claim == "=":
            one.grown.claim = "~"
        elif not (self._counted and one.grown.claim == "E") and (deadline.passed or not self._follows(one, totals)):
            one.grown.claim = "~" if self._counted else "?"
            totals.open += self._mass(one.box)

    def _enough(self, cutting: Deadline, deadline: Deadline) -> bool:
        """Whether it is time to stop cutting, or the checker takes as long for the boxes as it may."""
        boxes = self._worth + len(self._claimed)
        if not self._counted:
            return cutting.passed
        if self._most is None and len(self._heap) + len(self._claimed) >= _LEAST:
            later = min(_CHECKING * deadline.remaining, _WAITING)
            self._most = max(_LEAST, int(later / self._seconds()))
        return self._most is not None and (cutting.passed or boxes >= self._most)

    def _gained(self, one: Waiting) -> float:
        """The more a claim counts for, the less this is."""
        return -self._mass(one.box)

    def _tells(self, claim: str, end: Deadline) -> tuple[float, float]:
        """How many seconds of a core the checker takes for a box, and which part of everything it says is fair.

        By leaves that are drawn at equal steps of mass, and in another order, as far as there is time.
        """
        reached = list(accumulate(self._mass(one.box) for one in self._claimed))
        started, count, part = thread_time(), 0, 0.0
        for draw in range(_TIMED):
            if count >= _FEW and end.passed:
                break
            at = reached[-1] * (2 * (draw * _STRIDE % _TIMED) + 1) // (2 * _TIMED)
            totals, one = Totals(), self._claimed[bisect_right(reached, at)]
            self._checker.leaf(self._node(one.box), claim.split(" "), totals)
            count, part = count + 1, part + totals.fair / self._mass(one.box)
        return (thread_time() - started) / count, part / count * reached[-1] / self._mass(self._root.box)

    def _cut_some(self) -> None:
        """Cut the boxes of which most is open."""
        taken = [heapq.heappop(self._heap) for _ in range(min(_AT_ONCE, len(self._heap)))]
        self._look([half for one in taken for half in self._halves(one)])

    def _seconds(self) -> float:
        """How many seconds of a core the checker takes for a box, by some that wait."""
        started, some = thread_time(), self._heap[:_LOOKED_AT]
        for one in some:
            self._checker.leaf(self._node(one.box), ["~"], Totals())
        return (thread_time() - started) / len(some) if some else 1e-3

    def _node(self, box: Box) -> Node:
        return Node(box, (YES,) * len(self._root.admitted), self._root.known)

    def _mass(self, box: Box) -> int:
        return self._checker.mass(self._node(box))

    def _follows(self, one: Waiting, totals: Totals) -> bool:
        try:
            self._checker.leaf(self._node(one.box), one.grown.claim.split(" "), totals)
        except RejectedError:
            return False
        return True

    def _halves(self, one: Waiting) -> Iterator[tuple[Box, Grown]]:
        """Cut a box that was waiting."""
        self._worth -= one.grown.claim == "~"
        one.grown.below = Grown(), Grown()
        halves = self._checker.cut(one.box, one.grown.split.split(" "))
        return zip((box for _, box in halves), one.grown.below, strict=True)

    def _look(self, boxes: Sequence[tuple[Box, Grown]]) -> None:
        """Claim what can be claimed of boxes; the others wait to be cut."""
        for at in range(0, len(boxes), _AT_ONCE):
            some = boxes[at : at + _AT_ONCE]
            looks = self._looking.look([box for box, _ in some])
            for (box, grown), low, high, influence, crossed in zip(some, *looks, strict=True):
                one = Waiting(-self._mass(box) * float(crossed), next(self._number), box, grown)
                if low.min() > 0 or high.max() < 0:
                    grown.claim = "="
                elif (pair := self._apart(low, high)) is not None:
                    grown.claim = f"U {pair[0]} {pair[1]}"
                elif self._small(box):
                    grown.claim = "E"
                elif (cut := self._cut(box, influence)) is not None:
                    grown.split = line_of(*cut)
                    grown.claim = "~" if self._counted and crossed < _OPEN else "?"
                    self._worth += grown.claim == "~"
                    heapq.heappush(self._heap, one)
                    continue
                self._claimed.append(one)

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

    def _cut(self, box: Box, influence: Floats) -> tuple[int, int] | None:
        """The attribute that moves the score most, in the middle."""
        for number in np.argsort(-influence):
            place = self._looking.place_of(number)
            low, high = box[place]
            if high - low > self._attributes[place].real:
                return place, (low + high) // 2
        return None
