"""Grows proofs about networks many boxes at a time, where conditions leave boxes in which everybody is asked about.

The same pass over a box as :class:`fairdsl_verify.bounds.Pass` takes, in float64 for hundreds of boxes together. It
says which leaves are worth a claim; what it says is not believed: the checker's own pass goes through these, the
heaviest first, and whatever does not follow, or is left at the deadline, stays open.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairdsl.clock import Deadline
from fairdsl.proving.grown import Grown, Waiting
from fairdsl.proving.prover import EVALUATED, by_condition, grow
from fairdsl_verify import RejectedError
from fairdsl_verify.bounds import BITS, Integers
from fairdsl_verify.question import NO, YES, Box
from fairdsl_verify.tree import Checker, Node, Totals

__all__ = ["grow_networks", "many_passes"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

#: Boxes that are looked at together.
_AT_ONCE = 256

#: The part of the time that is left in which boxes are cut, until the checker goes through what is claimed of them.
_CUTTING = 1 / 3

#: Cuts at most until everybody or nobody is asked about.
_CUTS = 4096


def many_passes(checker: Checker) -> bool:
    """Whether the question is one about a network with hidden units that weigh every attribute."""
    question, net = checker.question, checker.net
    if question.loose or not isinstance(net, Integers) or not net.weights:
        return False
    return all(net.idle[place] or _weighs(net, place) for place in checker.shared)


def _weighs(net: Integers, place: int) -> bool:
    """Whether what an attribute adds is its value times a number for each unit."""
    table, values = net.tables[place], net.question.attributes[place].values
    if table is None or values is None:
        return table is None
    if sorted(values) != values or len(values) < 2:
        return False
    (first, second), (one, two) = values[:2], table[:2]
    return all(
        (at - one[unit]) * (second - first) == (two[unit] - one[unit]) * (value - first)
        for value, row in zip(values, table, strict=True)
        for unit, at in enumerate(row)
    )


class _Look(NamedTuple):
    """What a look at boxes says: the score of each assignment from and to, [boxes, assignments], what moves it most."""

    low: Floats
    high: Floats
    influence: Floats


class _Looking:
    """A network in float64, each layer by a power of two so large that no number overflows."""

    def __init__(self, checker: Checker, net: Integers) -> None:
        self._places = [place for place in checker.shared if not net.idle[place]]
        attributes, fixed = net.question.attributes, list(net.origin)
        self._coordinates: list[Floats | None] = []
        steps = []
        for place in checker.shared:
            table, step, values = net.tables[place], net.steps[place], attributes[place].values
            if net.idle[place]:
                fixed = net.adds(fixed, [(place, 0)])
            elif table is not None and values is not None:
                fixed = net.adds(fixed, [(place, 0)])
                apart = values[1] - values[0]
                self._coordinates.append(np.array([float((value - values[0]) / apart) for value in values]))
                steps.append([two - one for one, two in zip(*table[:2], strict=True)])
            elif step is not None:
                self._coordinates.append(None)
                steps.append(step)
        unit = _power(fixed, *steps, *net.moves)
        self._origin = _floats(fixed, unit)
        self._steps = np.array([_floats(step, unit) for step in steps]).reshape(len(steps), len(fixed))
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
        lines = [_lines(under, over)]
        for layer, (weight, bias) in enumerate(self._layers[:-1]):
            found, moved, _ = self._least(
                layer, np.vstack((weight, -weight)), np.hstack((bias, -bias)), lines, low, high
            )
            found += moved.min(axis=2)
            lines.append(_lines(found[:, : len(bias)], -found[:, len(bias) :]))
        weight, bias = self._layers[-1]
        rows, biases = np.vstack((weight, -weight)), np.hstack((bias, -bias))
        found, moved, slopes = self._least(len(self._layers) - 1, rows, biases, lines, low, high)
        moved += found[:, :, None]
        return _Look(moved[:, 0], -moved[:, 1], np.abs(slopes).sum(axis=1) * (high - low))

    def place_of(self, number: int) -> int:
        """Which attribute an influence is of."""
        return self._places[number]

    def _ends(self, boxes: Sequence[Box]) -> tuple[Floats, Floats]:
        ends = np.array([[box[place] for place in self._places] for box in boxes], dtype=np.int64)
        found = ends.reshape(len(boxes), len(self._places), 2).astype(np.float64)
        for number, values in enumerate(self._coordinates):
            if values is not None:
                found[:, number] = values[ends[:, number]]
        return found[:, :, 0], found[:, :, 1]

    def _least(
        self, layer: int, rows: Floats, biases: Floats, lines: Sequence[Sequence[Floats]], low: Floats, high: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Lower bounds of rows over a layer's units, without what differs; what that adds; slopes of attributes."""
        weights, constant = np.broadcast_to(rows, (len(low), *rows.shape)), biases
        while True:
            under, over, intercept = (each[:, None, :] for each in lines[layer])
            below = weights * np.where(weights > 0, under, over)
            constant = constant + (np.minimum(weights, 0) * intercept).sum(axis=2)
            if not layer:
                break
            layer -= 1
            weight, bias = self._layers[layer]
            constant, weights = constant + below @ bias, below @ weight
        slopes = below @ self._steps.T
        reached = np.where(slopes > 0, slopes * low[:, None, :], slopes * high[:, None, :])
        return constant + below @ self._origin + reached.sum(axis=2), below @ self._moves.T, slopes


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


def grow_networks(checker: Checker, deadline: Deadline) -> tuple[Grown, Totals]:
    """A tree of splits, and what its leaves come to by the checker's own count."""
    growing = _Growing(checker)
    return growing.grown(deadline) if growing.begun(deadline) else grow(checker, deadline)


class _Growing:
    """The boxes that are not decided, the heaviest first, and those of which something is claimed."""

    def __init__(self, checker: Checker) -> None:
        assert isinstance(checker.net, Integers)
        self._checker, self._root = checker, checker.root()
        self._looking, self._components = (
            _Looking(checker, checker.net),
            checker.components(range(len(checker.assignments))),
        )
        self._idle, self._attributes = checker.net.idle, checker.question.attributes
        self._tree = Grown()
        self._heap: list[Waiting] = []
        self._claimed: list[Waiting] = []
        self._number = count()

    def begun(self, deadline: Deadline) -> bool:
        """Cut the domain until everybody or nobody is asked about in each box; False where that takes many."""
        waiting, cuts = [(self._root, self._tree)], 0
        while waiting:
            node, grown = waiting.pop()
            if set(node.admitted) == {YES}:
                self._wait(node.box, grown)
            elif set(node.admitted) == {NO}:
                grown.claim = "N"
            elif (cut := by_condition(self._checker, node)) is None or cuts == _CUTS or deadline.passed:
                return False
            else:
                cuts += 1
                grown.split, grown.below = f"S {cut[0]} {cut[1]}", (Grown(), Grown())
                waiting += zip(self._checker.halves(node, *cut, node.known), grown.below, strict=True)
        return True

    def grown(self, deadline: Deadline) -> tuple[Grown, Totals]:
        """Cut boxes for part of what is left of the time, let the checker go through what is claimed, and so on."""
        totals = Totals(somebody=bool(self._checker.question.compared))
        while self._heap and not deadline.passed:
            cutting = deadline.later(-(1 - _CUTTING) * deadline.remaining)
            while self._heap and not cutting.passed:
                taken = [heapq.heappop(self._heap) for _ in range(min(_AT_ONCE, len(self._heap)))]
                found = self._looking.look([one.box for one in taken])
                for one, low, high, influence in zip(taken, *found, strict=True):
                    self._decided(one, low, high, influence)
            claimed, self._claimed = sorted(self._claimed), []
            for one in claimed:
                if deadline.passed or not self._follows(one, totals):
                    one.grown.claim = "?"
                    totals.open -= one.negative
        totals.open -= sum(one.negative for one in self._heap)
        self._tree.pruned()
        return self._tree, totals

    def _follows(self, one: Waiting, totals: Totals) -> bool:
        try:
            everybody = (YES,) * len(self._root.admitted)
            self._checker.leaf(Node(one.box, everybody, self._root.known), one.grown.claim.split(" "), totals)
        except RejectedError:
            return False
        return True

    def _wait(self, box: Box, grown: Grown) -> None:
        mass = self._checker.mass(Node(box, (), None))
        heapq.heappush(self._heap, Waiting(-mass, next(self._number), box, grown))

    def _decided(self, one: Waiting, low: Floats, high: Floats, influence: Floats) -> None:
        """Claim what can be claimed of a box, or cut it."""
        if low.min() > 0 or high.max() < 0:
            one.grown.claim = "="
        elif (pair := self._apart(low, high)) is not None:
            one.grown.claim = f"U {pair[0]} {pair[1]}"
        elif self._small(one.box):
            one.grown.claim = "E"
        elif (cut := self._cut(one.box, influence)) is not None:
            place, at = cut
            one.grown.split, one.grown.below = f"S {place} {at}", (Grown(), Grown())
            for half, box in zip(one.grown.below, self._checker.cut(one.box, place, at), strict=True):
                self._wait(box, half)
            return
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
