"""Boxes cut by the signs of units: how many units may be unfair, region by region (docs/proofs.md, Regions)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fairdsl_verify import reject, require
from fairdsl_verify.bounds import Integers, Pass
from fairdsl_verify.question import MAYBE, NO, YES, Box, digits
from fairdsl_verify.slab import between, crossed

if TYPE_CHECKING:
    from fairdsl_verify.tree import Checker, Node

#: A unit by layer and place, and of some whether they are at least 0, or at most.
Unit = tuple[int, int]
Signs = dict[Unit, bool]


class Region(Pass):
    """Bounds where these signs are known: of everybody in the box, and of all between two whose first layers differ."""

    def __init__(self, net: Integers, box: Box, only: Sequence[int], signs: Signs, off: int, half: Unit | None = None):
        self._signs, self._half = signs, half
        #: What lies below the opposite of what has to be at least 0 of the unit ``half``: its number, or the opposite.
        self.beyond: list[int] | None = None
        super().__init__(net, box, only)
        (low, *_), (high, *_) = self.bounds[-1]
        # Whoever has such signs may be nobody: how far off scores may be is a matter of the two, who are anywhere.
        self.off, self.side = off, YES if low > off else NO if high < -off else MAYBE

    def within(self, layer: int, ends: tuple[list[int], list[int]]) -> tuple[list[int], list[int]]:
        """The part of the ranges of a layer's units where the signs are so."""
        lows, highs = map(list, ends)
        for (at, unit), above in self._signs.items():
            if at != layer:
                continue
            if (at, unit) == self._half:
                self.beyond = self._unit(layer, unit, -1 if above else 1)
            kept = max if above else min
            lows[unit], highs[unit] = kept(lows[unit], 0), kept(highs[unit], 0)
        return lows, highs

    def _unit(self, layer: int, unit: int, sign: int) -> list[int]:
        """What lies below a unit's number, times the sign; all layers below it are known, and no other."""
        if not layer:
            return [sign * each for each in self.net.units[0][unit]]
        weights, bias = self.net.weights[layer - 1][unit], self.net.biases[layer - 1][unit]
        return self._below([sign * weight for weight in weights], sign * bias, None)[0]


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
        elif kind == "~":
            total += crossed(Region(net, node.box, only, signs, off), mass)
        elif kind == "H" and signs:
            found = Region(net, node.box, only, signs, off, list(signs)[_number(left, len(signs))])
            if found.side == MAYBE and found.beyond is not None:
                start = found.start(found.beyond)
                total += between(found, found.beyond, mass, found.least(found.beyond) - start, -start)
        else:
            reject(f"a region is called {kind!r}, which is not a claim about it")
    require(next(left, None) is None, "a leaf about regions goes on after its last word")
    return min(mass, total)


def _number(words: Iterator[str], below: int) -> int:
    number = digits(next(words, ""))
    require(number < below, "a leaf about regions names what there is not")
    return number
