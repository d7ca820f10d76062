"""Claims about two who are compared in a box, from certificates of branch and bound over the signs of units.

What is claimed is not believed: the checker computes the bound of every leaf anew, from its own bounds of units.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import product
from time import thread_time

import numpy as np

from fairdsl.backends.smt import Boxes, Leaf, OrderSplit, PhaseSplit, Tree, Unit, ValueSplit
from fairdsl.clock import Deadline
from fairdsl.ir.problem import Problem
from fairdsl.numerics.narrow import Finite, Interval, ValueSet
from fairdsl_verify import RejectedError
from fairdsl_verify.bounds import BITS, Integers, Pass
from fairdsl_verify.pairs import MOST_PAIRS, Parting, Two
from fairdsl_verify.question import NO, Attribute, Box
from fairdsl_verify.tree import Checker, Node, Totals

#: So many pairs of assignments are looked at one by one; more stay together, where one attribute has to differ.
_FEW = 12

#: Weights of the two are multiples of this part of the greater one.
_WEIGHT = 1 << 20

#: Multiples of a number may be so large; what the program says of a unit that hardly counts is cut off.
_LARGEST = 1 << 34


class _NoneError(Exception):
    """There is no certificate, or it says what the format has no words for."""


class Pairing:
    """Makes claims about two for boxes of a question in which everybody is asked about."""

    def __init__(self, checker: Checker, net: Integers, boxes: Boxes) -> None:
        self._checker, self._net, self._boxes = checker, net, boxes
        everybody = range(len(checker.assignments))
        self._pairs = [(one, other) for one, other in product(everybody, everybody) if checker.compared(one, other)]
        #: Seconds of a core that the checker took for what it believed.
        self.seconds = 0.0
        self._sizes = [checker.question.attributes[place].size for place in checker.question.differ]

    @classmethod
    def of(cls, checker: Checker, problem: Problem) -> Pairing | None:
        """None where no such claims can be made."""
        net, question = checker.net, checker.question
        if not isinstance(net, Integers) or not net.weights or question.loose or question.linked:
            return None
        if len(checker.assignments) ** 2 > MOST_PAIRS:
            return None
        boxes = Boxes.of(problem)
        if boxes is None or boxes.widths != tuple(map(len, net.units[:-1])):
            return None
        found = cls(checker, net, boxes)
        return found if found._pairs else None

    def claim(self, node: Node, deadline: Deadline) -> str | None:
        """What the checker believes of a box, with a few linear programs for each two; None where that is nothing."""
        made = _Claim(self._checker, self._net, self._boxes, node.box, deadline)
        whole = [(0, size - 1) for size in self._sizes]
        two = Two([pair for pair in self._pairs if all(node.admitted[one] != NO for one in pair)])
        with suppress(_NoneError, RejectedError):
            words = ["P", *made.parted(two, (whole, whole), together=len(two.pairs) > _FEW)]
            started = thread_time()
            self._checker.leaf(node, words, Totals())
            self.seconds += thread_time() - started
            return " ".join(words)
        return None


#: From which to which position each attribute that differs lies, of either of the two.
_Ranges = tuple[list[tuple[int, int]], ...]


class _Claim:
    """The words of one claim, as they are found."""

    def __init__(self, checker: Checker, net: Integers, boxes: Boxes, box: Box, deadline: Deadline) -> None:
        self._boxes, self._box, self._deadline = boxes, box, deadline
        self._parting = Parting(net, box, checker.assignments)
        self._attributes, self._differ = checker.question.attributes, checker.question.differ
        off = net.bounded(box, range(len(checker.assignments)), None).off if net.margin else 0
        self._margin = float(Fraction(off, net.scale))

    def parted(self, two: Two, ranges: _Ranges, *, together: bool) -> Iterator[str]:
        """Words about two whose attributes that differ lie in ranges: of each assignment, or of all ``together``."""
        if not two.pairs:
            yield "V"
            return
        wide = [(which, at) for which in range(2) for at, (low, high) in enumerate(ranges[which]) if low < high]
        if together or not wide:
            tree = self._boxes.tree(*self._values(ranges), self._deadline, margin=self._margin)
            if tree is None:
                raise _NoneError
            yield from self._words(tree, two, [])
            return
        which, at = wide[0]
        low, high = ranges[which][at]
        middle = (low + high) // 2
        words = ["A", str(which), str(at), str(middle)]
        yield from words
        halves = self._parting.halves(two, "A", iter(words[1:]))
        for half, ends in zip(halves, ((low, middle), (middle + 1, high)), strict=True):
            narrowed = tuple(
                [*own[:at], ends, *own[at + 1 :]] if which == number else own for number, own in enumerate(ranges)
            )
            yield from self.parted(half, narrowed, together=together)

    def _values(self, ranges: _Ranges) -> tuple[tuple[ValueSet, ...], tuple[ValueSet, ...]]:
        """The values of the two that the certificate is about, a and b."""
        found = []
        for own in ranges:
            ends = list(self._box)
            for place, differing in zip(self._differ, own, strict=True):
                ends[place] = differing
            found.append(tuple(map(_values, self._attributes, ends)))
        above, below = found
        return (above, below) if self._boxes.above == "a" else (below, above)

    def _which(self, who: str) -> int:
        """Which of the two, the one above or the one below, is a or b."""
        return int(who != self._boxes.above)

    def _words(self, tree: Tree, two: Two, found: Sequence[Pass]) -> Iterator[str]:
        if not two.pairs:
            yield "V"
            return
        if not found and not isinstance(tree, ValueSplit | OrderSplit):
            found = self._parting.passes(two)
        match tree:
            case Leaf():
                yield from self._leaf(tree, two, found)
            case PhaseSplit(unit=unit):
                which = self._which("ab"[unit.copy])
                yield from ("N", str(which), str(unit.layer), str(unit.position))
                below, above = two.signed(which, (unit.layer, unit.position))
                yield from self._words(tree.below, below, found)
                yield from self._words(tree.above, above, found)
            case OrderSplit() | ValueSplit():
                words = self._split(tree)
                yield from words
                below, above = self._parting.halves(two, words[0], iter(words[1:]))
                turned = isinstance(tree, OrderSplit) and self._boxes.above == "b"
                yield from self._words(tree.above if turned else tree.below, below, [])
                yield from self._words(tree.below if turned else tree.above, above, [])

    def _split(self, tree: OrderSplit | ValueSplit) -> list[str]:
        if tree.attribute not in self._differ:
            raise _NoneError
        at = str(self._differ.index(tree.attribute))
        if isinstance(tree, OrderSplit):
            return ["O", at]
        attribute = self._attributes[tree.attribute]
        below = sum(attribute.value(position) <= tree.cut for position in range(attribute.size))
        return ["A", str(self._which(tree.who)), at, str(max(0, below - 1))]

    def _leaf(self, leaf: Leaf, two: Two, found: Sequence[Pass]) -> Iterator[str]:
        """The multipliers of a leaf: weights of the two, and of units of open sign which part of what they count."""
        weights = self._boxes.weights(leaf.targets)
        largest = max(weights)
        if not 0 < largest < np.inf:
            raise _NoneError
        yield "D"
        ordered = weights if self._boxes.above == "a" else weights[::-1]
        yield from (str(max(0, round(weight / largest * _WEIGHT))) for weight in ordered)
        gradients = dict(zip(leaf.units, leaf.gradients.tolist(), strict=True))
        for which, (each, weight) in enumerate(zip(found, ordered, strict=True)):
            copy = which if self._boxes.above == "a" else 1 - which
            yield from self._multiples(each, copy, weight if which == 0 else -weight, gradients)

    def _multiples(self, found: Pass, copy: int, weight: float, gradients: Mapping[Unit, float]) -> Iterator[str]:
        """By how many 2^-16 of what it counts each unit of open sign counts below, from the last layer to the first."""
        layers = self._boxes.layers
        counts = weight * layers[-1].weight[0]
        for layer in reversed(range(len(layers) - 1)):
            lows, highs = found.bounds[layer]
            passed = np.zeros(len(counts))
            for unit, (count, low, high) in enumerate(zip(counts.tolist(), lows, highs, strict=True)):
                if high <= 0:
                    continue
                if low >= 0:
                    passed[unit] = count
                    continue
                passed[unit] = gradients.get(Unit(copy, layer, unit), count * (high > -low))
                multiple = round(passed[unit] / count * (1 << BITS)) if count else 0
                yield str(max(-_LARGEST, min(_LARGEST, multiple)))
            counts = passed @ layers[layer].weight


def _values(attribute: Attribute, ends: tuple[int, int]) -> ValueSet:
    """The values of an attribute from one position to another."""
    if attribute.real:
        return Interval(*map(attribute.value, ends))
    if attribute.values is None:
        return Finite(range(int(attribute.value(ends[0])), int(attribute.value(ends[1])) + 1))
    return Finite(tuple(sorted(attribute.values[ends[0] : ends[1] + 1])))
