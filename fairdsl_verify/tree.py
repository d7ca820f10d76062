"""The tree: its leaves cover the domain because it is made of splits alone, and each is counted by what holds there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, product
from math import prod
from typing import Any

from fairdsl_verify import reject
from fairdsl_verify.bounds import Integers, Pass
from fairdsl_verify.chain import network_of
from fairdsl_verify.forest import Forest, Sum
from fairdsl_verify.onnx_file import Graph
from fairdsl_verify.question import MAYBE, MOST_EVALUATED, NO, YES, Box, Question, digits

#: Boxes that wait for their lines at most: a tree is not deeper than that.
MOST_WAITING = 1 << 16


@dataclass
class Node:
    """A box of units, which assignments of what differs are admitted there, and bounds that hold on it."""

    box: Box
    admitted: tuple[int, ...]
    known: Any


@dataclass
class Totals:
    """Units in which two are compared, by what was found of them: counted, or in cells.

    ``unsure``: fair, and perhaps none in which anybody is compared; those are in no share.
    """

    fair: int = 0
    unfair: int = 0
    open: int = 0
    unsure: int = 0
    somebody: bool = False
    leaves: int = 0

    @property
    def certified(self) -> Fraction:
        """At least so large a part of the units in which two are compared is fair."""
        return Fraction(self.fair, max(1, self.fair + self.unfair + self.open))

    @property
    def falsified(self) -> Fraction:
        """At least so large a part is not."""
        return Fraction(self.unfair, max(1, self.fair + self.unfair + self.open + self.unsure))

    @property
    def holds(self) -> bool:
        """Whether all who are compared get the same decision, and somebody is compared."""
        return not self.open and not self.unfair and self.somebody


class Checker:
    """Computes what holds on the boxes of a question."""

    def __init__(self, question: Question, graph: Graph) -> None:
        self.question, self.shared, self.assignments = question, question.shared, question.assignments
        trees = any(node.domain == "ai.onnx.ml" for node in graph.nodes)
        self.net: Integers | Forest = Forest(question, graph) if trees else Integers(question, network_of(graph))

    def root(self) -> Node:
        """The whole domain."""
        box = tuple((0, attribute.size - 1) for attribute in self.question.attributes)
        return self._node(box, (MAYBE,) * len(self.assignments), self.net.start)

    def _node(self, box: Box, admitted: tuple[int, ...], known: Any) -> Node:
        found, around = [], self.question.around(box)
        for number, before in enumerate(admitted):
            if before == MAYBE:
                before = self._asked(self._assigned(around, number))
            found.append(before)
        if self.question.loose:
            found = [
                NO if value == NO or not self._partners(around, one, found) else value
                for one, value in enumerate(found)
            ]
        return Node(box, tuple(found), known)

    def _asked(self, box: Box) -> int:
        """Whether all, some or none of a box may be asked about."""
        return min(self.question.where.truth(box), self.question.target.truth(box))

    def _assigned(self, box: Box, number: int) -> Box:
        """The part of a box with an assignment of what differs."""
        here = list(box)
        for place, position in zip(self.question.differ, self.assignments[number], strict=True):
            here[place] = (position, position)
        return tuple(here)

    def _partners(self, around: Box, one: int, admitted: Sequence[int]) -> bool:
        """Whether somebody with an assignment may be compared with somebody, as the conditions on the two have it."""
        mine = self._assigned(around, one)
        for other, value in enumerate(admitted):
            if value != NO and self._compared(one, other):
                theirs = self._assigned(around, other)
                if max(self.question.pair.truth(mine + theirs), self.question.pair.truth(theirs + mine)) != NO:
                    return True
        return False

    def _compared(self, one: int, other: int) -> bool:
        mine, theirs = self.assignments[one], self.assignments[other]
        return all(map(int.__ne__, mine, theirs)) if self.question.each else one != other

    def cut(self, box: Box, place: int, at: int) -> tuple[Box, Box]:
        """The box cut in two: positions up to ``at``, and those after it (of reals, from it on)."""
        if place not in self.shared:
            reject("a box is split by an attribute that differs, or that there is not")
        low, high = box[place]
        real = self.question.attributes[place].real
        if not low <= at < high or (real and at == low):
            reject("a box is split outside of it")
        first, second = ((*box[:place], ends, *box[place + 1 :]) for ends in ((low, at), (at + (not real), high)))
        return first, second

    def halves(self, node: Node, place: int, at: int, known: Any) -> tuple[Node, Node]:
        """The node cut in two, each half with the bounds that hold there."""
        first, second = (
            self._node(box, node.admitted, self.net.narrowed(known, place, self.question.around(box)[place]))
            for box in self.cut(node.box, place, at)
        )
        return first, second

    def mass(self, node: Node) -> int:
        """How many units, or cells of them, the box has."""
        return prod(self.question.attributes[place].measure(node.box[place]) for place in self.shared)

    def bounded(self, node: Node, only: Sequence[int] | None = None) -> Pass | Sum:
        """One pass over the box, for all who may be admitted there, or for some assignments."""
        if only is None:
            only = [number for number, admitted in enumerate(node.admitted) if admitted != NO]
        return self.net.bounded(self.question.around(node.box), only, node.known)

    def alike(self, found: Pass | Sum) -> bool:
        """Whether all get the same decision; of a relaxed question it is not enough that what differs is not read."""
        return found.side != MAYBE if self.question.loose else found.same

    def components(self, members: Sequence[int]) -> list[list[int]]:
        """The members that are compared, directly or in a chain."""
        if not self.question.each:
            return [list(members)]
        left, found = set(members), []
        while left:
            component, edge = [], [left.pop()]
            while edge:
                one = edge.pop()
                component.append(one)
                near = [other for other in left if self._compared(one, other)]
                left.difference_update(near)
                edge.extend(near)
            found.append(component)
        return found

    def compares(self, two: Sequence[Sequence[int]]) -> bool:
        """Whether two individuals, given by their positions, are compared; rejected where they are said to be."""
        if not two:
            return False
        attributes, relax = self.question.attributes, self.question.relax
        wrong = "the two who are said to be compared are not"
        if len(two) != 2 or any(len(one) != len(attributes) for one in two):
            reject(wrong)
        if not all(0 <= at < each.size for one in two for at, each in zip(one, attributes, strict=True)):
            reject(wrong)
        different = {place for place, (one, other) in enumerate(zip(*two, strict=True)) if one != other}
        points = [[(at, at) for at in one] for one in two]
        admitted = all(min(self.question.where.truth(p), self.question.target.truth(p)) == YES for p in points)
        counted = different & set(self.question.differ)
        for place in different - counted:
            by, (one, other) = relax.get(place, Fraction(0)), (attributes[place].value(each[place]) for each in two)
            admitted &= by is None or abs(one - other) <= by
        if not admitted or not counted or (self.question.each and len(counted) < len(self.question.differ)):
            reject(wrong)
        if self.question.pair.truth(points[0] + points[1]) != YES:
            reject(wrong)
        return True

    def leaf(self, node: Node, claim: Sequence[str], totals: Totals) -> None:
        """Count a leaf by what is claimed of it, if that follows; else the proof is rejected."""
        mass, kind = self.mass(node), claim[0]
        totals.leaves += 1
        possible = [number for number, admitted in enumerate(node.admitted) if admitted != NO]
        sure = [number for number in possible if node.admitted[number] == YES]
        loose = self.question.loose
        compared = not loose and any(len(component) > 1 for component in self.components(sure))
        if kind == "?" and len(claim) == 1:
            totals.open += mass
        elif kind == "N" and len(claim) == 1:
            if possible:
                reject("a leaf is called empty, and somebody may be asked about there")
        elif kind == "V" and len(claim) == 1:
            if any(len(component) > 1 for component in self.components(possible)):
                reject("a leaf is called one of nobody who is compared, and somebody may be")
        elif kind == "=" and len(claim) == 1:
            if not possible or not self.alike(self.bounded(node)):
                reject("a leaf is called one of one decision, and the bounds do not say so")
            self._fair(totals, mass, sure=compared)
            totals.somebody |= compared
        elif kind == "E" and len(claim) == 1 and loose:
            self._all_alike(node, possible)
            self._fair(totals, mass, sure=False)
        elif kind == "U" and len(claim) == 3 and not loose:
            self._unfair(node, claim, sure)
            totals.unfair += mass
            totals.somebody = True
        elif kind == "E" and len(claim) == 1:
            if possible != sure:
                reject("a leaf is evaluated where it is not known who is asked about")
            self._evaluated(node, sure, totals)
        else:
            reject(f"a leaf claims {' '.join(claim)!r}, which is not a claim")

    def _all_alike(self, node: Node, possible: Sequence[int]) -> None:
        """Everybody of the box and around it gets the same decision."""
        sides = {high for _, _, high in self._everybody(self.question.around(node.box), node.known, possible)}
        if len(sides) > 1:
            reject("a leaf is evaluated, and not all get the same decision")

    def _fair(self, totals: Totals, mass: int, *, sure: bool) -> None:
        """``sure``: it is known that two are compared in each of the units."""
        totals.fair += mass if sure else 0
        totals.unsure += 0 if sure else mass

    def _unfair(self, node: Node, claim: Sequence[str], sure: list[int]) -> None:
        one, other = (digits(text) for text in claim[1:])
        if not any(one in component and other in component for component in self.components(sure)):
            reject("a leaf names two who are not compared, or may not be asked about")
        if (self.bounded(node, [one]).side, self.bounded(node, [other]).side) != (YES, NO):
            reject("a leaf names two as decided differently, and the bounds do not say so")

    def _evaluated(self, node: Node, sure: list[int], totals: Totals) -> None:
        """Every unit of the box by itself; those that nothing tells apart are one."""
        components = [component for component in self.components(sure) if len(component) > 1]
        units = groupby(self._everybody(node.box, node.known, sure), key=lambda one: one[:2])
        for (_, mass), members in units if components else ():
            totals.somebody = True
            high = dict(zip(sure, (one[2] for one in members), strict=True))
            if all(len({high[number] for number in component}) == 1 for component in components):
                self._fair(totals, mass, sure=True)
            else:
                totals.unfair += mass

    def _everybody(self, box: Box, known: Any, only: Sequence[int]) -> Iterator[tuple[int, int, bool]]:
        """Which unit, its mass, and the side of each assignment there; units that nothing tells apart are one."""
        cells = [self.net.cells(known, place, box[place]) for place in self.shared]
        if prod(map(len, cells)) * len(only) > MOST_EVALUATED:
            reject("a leaf is evaluated that has too many individuals")
        point, alike = [0] * len(box), list(box)
        for count, unit in enumerate(product(*cells)):
            for place, (position, size) in zip(self.shared, unit, strict=True):
                point[place] = position
                alike[place] = position, position + size - (not self.question.attributes[place].real)
            mass = prod(size for _, size in unit)
            for number in only:
                for place, position in zip(self.question.differ, self.assignments[number], strict=True):
                    point[place] = position
                # Around a box there may be some whom nobody asks about.
                if not self.question.loose or self._asked(self._assigned(tuple(alike), number)) != NO:
                    yield count, mass, self.net.high(known, point)


def split(checker: Checker, node: Node, words: Sequence[str]) -> tuple[Node, Node]:
    """The two halves that a line ``S`` or ``B`` makes of a node."""
    known = checker.bounded(node).bounds if words[0] == "B" and any(node.admitted) else node.known
    return checker.halves(node, *place_of(words), known)


def place_of(words: Sequence[str]) -> tuple[int, int]:
    """Where a line cuts: an attribute and a position."""
    if len(words) != 3:
        reject("a split is not an attribute and a position")
    return digits(words[1]), digits(words[2])


def follow(checker: Checker, lines: Iterator[str]) -> Totals:
    """Go through the tree in preorder, one line a node; what is claimed of each leaf is computed there."""
    totals, waiting = Totals(somebody=checker.compares(checker.question.compared)), [checker.root()]
    for line in lines:
        if not 0 < len(waiting) <= MOST_WAITING:
            reject("the tree goes on after its last leaf, or is too deep")
        node, words = waiting.pop(), line.split(" ")
        if words[0] in ("S", "B"):
            waiting += reversed(split(checker, node, words))
        else:
            checker.leaf(node, words, totals)
    if waiting:
        reject("the tree ends before its leaves cover the domain")
    return totals


def verdict_of(totals: Totals, *, loose: bool = False) -> str:
    """In words; nothing is said of a share where the question is relaxed."""
    asked = totals.fair + totals.unfair + totals.open + totals.unsure
    if not totals.open and not totals.unfair:
        if totals.somebody:
            return "HOLDS: all who are compared get the same decision"
        return "nobody is decided differently; nobody is shown to be compared" if asked else "nobody is asked about"
    if loose:
        return "nothing: part of the domain is open"
    share = f"fair share from {percent(totals.certified)} to {percent(1 - totals.falsified, up=True)}"
    return f"VIOLATED: two who are compared get different decisions; {share}" if totals.unfair else share


def percent(share: Fraction, *, up: bool = False) -> str:
    """With four digits, rounded down or up."""
    units = -(-share * 10**6 // 1) if up else share * 10**6 // 1
    return f"{units // 10**4}.{units % 10**4:04d} %"
