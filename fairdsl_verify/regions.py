"""Boxes cut by the signs of units: how many units may be unfair, region by region (docs/proof-format.md, Regions)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import add, gt, sub
from typing import TYPE_CHECKING

from fairdsl_verify import reject, require
from fairdsl_verify.bounds import BITS, Integers, Pass
from fairdsl_verify.question import MAYBE, NO, YES, Box, digits
from fairdsl_verify.slab import between, slab

if TYPE_CHECKING:
    from fairdsl_verify.tree import Checker, Node

#: A unit by layer and place, and of some whether they are at least 0, or at most.
Unit = tuple[int, int]
Signs = dict[Unit, bool]


class Region(Pass):
    """Bounds where these signs are known: of everybody in the box, and of all between two whose first layers differ."""

    def __init__(self, net: Integers, box: Box, only: Sequence[int], signs: Signs, off: int):
        #: Of each unit whose sign is known, from the inputs on, what lies below the opposite of what has to be at least
        #: 0, which is at most 0 in the region; and whether nobody has these signs.
        self._signs, self._halves, self.empty = signs, dict[Unit, list[int]](), False
        #: Where in a row that is which attributes add: times a number between two, or one of several.
        self._ends, self._listed = list[tuple[int, int, int]](), list[slice]()
        for place, ends in enumerate(box):
            start, multiples, whole = net.starts[place], net.multiples[place], place in net.question.differ
            first, last = (0, net.question.attributes[place].size - 1) if whole else ends
            if multiples is None:
                self._listed.append(slice(start + first, start + last + 1))
            elif not net.idle[place]:
                low, high = sorted((multiples[first], multiples[last]))
                self._ends.append((start, low, high))
        self._found = dict[tuple[int, ...], tuple[list[int], int]]()
        super().__init__(net, box, only)
        (low, *_), (high, *_) = self.bounds[-1]
        # Whoever has such signs may be nobody: how far off scores may be is a matter of the two, who are anywhere.
        self.off, self.side = off, YES if low > off else NO if high < -off else MAYBE

    def within(self, layer: int, ends: tuple[list[int], list[int]]) -> tuple[list[int], list[int]]:
        """The part of the ranges of a layer's units where the signs are so."""
        lows, highs = map(list, ends)
        signs = sorted((unit, above) for (at, unit), above in self._signs.items() if at == layer)
        for unit, above in signs:
            self._halves[layer, unit] = half = self._unit(layer, unit, -1 if above else 1)
            self.empty = self.empty or super().least(half) > 0
            kept = max if above else min
            lows[unit], highs[unit] = kept(lows[unit], 0), kept(highs[unit], 0)
        # Where other units of the layer are then; its half-spaces are as coarse as these rows, which are made finer.
        for unit in range(len(lows) if signs else 0):
            if highs[unit] > 0:
                rows = ([each << BITS for each in self._unit(layer, unit, sign)] for sign in (1, -1))
                low, high = (self.least(row) >> BITS * (layer + 1) for row in rows)
                lows[unit], highs[unit] = max(lows[unit], low), min(highs[unit], -high)
        # Of nobody bounds contradict each other, by more than lanes hold.
        self.empty = self.empty or any(map(gt, lows, highs))
        return list(map(min, lows, highs)), highs

    def _unit(self, layer: int, unit: int, sign: int) -> list[int]:
        """What lies below a unit's number, times the sign; all layers below it are known, and no other."""
        if not layer:
            return [sign * each for each in self.net.units[0][unit]]
        weights, bias = self.net.weights[layer - 1][unit], self.net.biases[layer - 1][unit]
        return self._below([sign * weight for weight in weights], sign * bias, None)[0]

    def _below(self, weights: Sequence[int], constant: int, tried: int | None) -> tuple[list[int], int]:
        """Of a row that is asked for again what was found."""
        if (row := (len(self.live), constant, *weights)) not in self._found:
            self._found[row] = super()._below(weights, constant, tried)
        return self._found[row]

    def least(self, below: list[int]) -> int:
        """The least of it in the region."""
        return super().least(self.cut(below))

    def cut(self, row: list[int]) -> list[int]:
        """No more than the row in the region, where it and k times what is at most 0 there are that for any k >= 0.

        By weak duality the least of such a sum over the box is a bound, so any k may be tried; of each half-space,
        the last one first, it is about the best.
        """
        least = None
        for half in reversed(self._halves.values()):
            if times := self._times(row, half):
                found = [one + times * other for one, other in zip(row, half, strict=True)]
                least = self._least_of(row) if least is None else least
                if (more := self._least_of(found)) > least:
                    row, least = found, more
        return row

    def _least_of(self, row: list[int]) -> int:
        """The least of a row where any of what differs may be, as one number."""
        ends = sum(row[at] * (low if row[at] > 0 else high) for at, low, high in self._ends)
        return row[0] + ends + sum(min(row[each]) for each in self._listed)

    def _times(self, row: list[int], half: list[int]) -> int:
        """How often to add a half-space to a row: its least grows by what the former is there, until that is below 0.

        Wherever an attribute has another end where the sum is least, what the half-space is there is less.
        """
        ends = [(row[at], half[at], low, high) for at, low, high in self._ends if half[at]]
        gains = half[0] + sum(other * (low if (mine or other) > 0 else high) for mine, other, low, high in ends)
        gains += sum(min(zip(row[each], half[each], strict=True))[1] for each in self._listed)
        if gains <= 0:
            return 0
        bends = [
            (-(-abs(mine) // abs(other)), abs(other) * (high - low))
            for mine, other, low, high in ends
            if mine * other < 0
        ]
        for times, loses in sorted(bends):
            gains -= loses
            if gains <= 0:
                return times
        return 0

    def crossed(self, mass: int, half: Unit | None = None) -> int:
        """At most so many units of the box have their zero in the region: in a slab, or by the half-space of a unit."""
        if self.side != MAYBE or self.empty:
            return 0
        if half is not None:
            start = self.start(row := self._halves[half])
            return between(self, row, mass, Pass.least(self, row) - start, -start)
        upper = map(sub, self.cut(list(map(add, self.lower, self.upper))), self.lower)
        first, last = slab(self, self.lower, list(upper))
        alone, net = self.lower.copy(), self.net
        for place in net.question.differ:
            alone[net.starts[place] : net.starts[place + 1]] = [0] * len(net.rows[place])
        start = self.start(alone)
        least, most = (self.least([sign * each for each in alone]) for sign in (1, -1))
        return between(self, self.lower, mass, max(first, least - start), min(last, -most - start))


def open_in(checker: Checker, node: Node, words: Sequence[str]) -> int:
    """At most so many units of a box are unfair: in each one somebody between the two scores nothing, in some region.

    The words are a tree of signs in preorder; a leaf says which bound counts.
    """
    net, only = checker.net, [number for number, admitted in enumerate(node.admitted) if admitted != NO]
    if not isinstance(net, Integers) or checker.question.loose:
        reject("a leaf is cut by signs, and the model has no units, or more may differ")
    off = net.bounded(node.box, only, None).off if net.margin else 0
    left, waiting, total, mass = iter(words), [Signs()], 0, checker.mass(node)
    while waiting:
        signs, kind = waiting.pop(), next(left, "")
        if kind == "N":
            layer = _number(left, len(net.weights))
            unit = layer, _number(left, len(net.units[layer]))
            waiting += [{**signs, unit: above} for above in (True, False)]
        elif kind in ("~", "H"):
            half = list(signs)[_number(left, len(signs))] if kind == "H" else None
            total += Region(net, node.box, only, signs, off).crossed(mass, half)
        else:
            reject(f"a region is called {kind!r}, which is not a claim about it")
    require(next(left, None) is None, "a leaf about regions goes on after its last word")
    return min(mass, total)


def _number(words: Iterator[str], below: int) -> int:
    number = digits(next(words, ""))
    require(number < below, "a leaf about regions names what there is not")
    return number
