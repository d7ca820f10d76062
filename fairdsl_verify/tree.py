"""The tree: its leaves cover the domain because it is made of splits alone, and each is counted by what holds there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, product
from math import prod
from typing import Any

from fairdsl_verify import reject, require
from fairdsl_verify.apart import apart
from fairdsl_verify.bounds import BITS, Integers, Pass
from fairdsl_verify.classifiers import reduced
from fairdsl_verify.forest import Forest, Sum, trees_of
from fairdsl_verify.margin import margin_of
from fairdsl_verify.onnx_file import Graph
from fairdsl_verify.pairs import of_two
from fairdsl_verify.question import MAYBE, MOST_EVALUATED, NO, YES, Box, Model, Question, digits
from fairdsl_verify.regions import open_in
from fairdsl_verify.slab import crossed

#: Boxes that wait for their lines at most: a tree is not deeper than that.
MOST_WAITING = 1 << 16
#: Claims, and how many numbers they have, if it is not known how many.
NUMBERS = {"?": 0, "V": 0, "E": 0, "U": 2, "u": 2, "=": None, "~": None, "/": None, "P": None, "R": None}


@dataclass
class Node:
    """A box of units, which assignments of what differs are admitted there, and what the box has left of trees."""

    box: Box
    admitted: tuple[int, ...] = ()
    known: Any = None


@dataclass
class Totals:
    """Units in which two are compared, by what was found of them: counted, or in cells."""

    fair: int = 0
    unfair: int = 0
    open: int = 0
    #: Fair, and perhaps none in which anybody is compared; those are in no share.
    unsure: int = 0
    somebody: bool = False
    leaves: int = 0

    def counted(self, *, fair: int = 0, unfair: int = 0, sure: bool = True) -> None:
        """Units more; ``sure``: it is known that two are compared in each of them."""
        self.fair, self.unsure = self.fair + fair * sure, self.unsure + fair * (not sure)
        self.unfair, self.somebody = self.unfair + unfair, self.somebody or sure

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


@dataclass
class Checked:
    """What was reached about one proof: ``follows`` says whether that is what the proof claims, or more."""

    question: Model
    follows: bool
    claims: str
    verdict: str
    totals: Totals = field(default_factory=lambda: Totals(open=1))
    #: Of rates, from where to where the number lies, where there is one.
    number: tuple[Fraction, Fraction] | None = None
    #: How far scores may be off, where float32 counts as well.
    margin: Fraction | None = None
    #: Only some leaves were looked at: what the proof claims is not shown.
    sampled: bool = False


class Checker:
    """Computes what holds on the boxes of a question."""

    def __init__(self, question: Question, graph: Graph) -> None:
        self.question, self.shared, self.assignments = question, question.shared, question.assignments
        self.net: Integers | Forest
        self.net = Forest(question, graph) if trees_of(graph) else Integers(*reduced(question, graph))
        self.net.margin = margin_of(question, self.net.rounding, self.net.scale)

    def root(self) -> Node:
        """The whole domain."""
        box = tuple((0, attribute.size - 1) for attribute in self.question.attributes)
        return self.node(box, (MAYBE,) * len(self.assignments), self.net.start)

    def node(self, box: Box, admitted: tuple[int, ...], known: Any) -> Node:
        """A box, with who is admitted there of those who were admitted around it."""
        around = self.around(box)
        found = [was if was != MAYBE else self.asked(self.assigned(around, each)) for each, was in enumerate(admitted)]
        return Node(box, tuple(found), known)

    def around(self, box: Box) -> Box:
        """The box with everybody who may be compared with somebody in it."""
        return box

    def asked(self, box: Sequence[tuple[int, int]]) -> int:
        """Whether all, some or none of a box may be asked about."""
        return min(self.question.where.truth(box), self.question.target.truth(box))

    def assigned(self, box: Box, number: int) -> Box:
        """The part of a box with an assignment of what differs."""
        here = list(box)
        for place, position in zip(self.question.differ, self.assignments[number], strict=True):
            here[place] = (position, position)
        return tuple(here)

    def cut(self, box: Box, words: Sequence[str]) -> list[tuple[int, Box]]:
        """The box cut in two by a line `S attribute position`: up to there, and after it (of reals, from it on)."""
        if len(words) != 3 or words[0] != "S":
            reject(f"a line says {' '.join(words)!r}, which is not a claim, nor a split by an attribute at a position")
        place, at = digits(words[1]), digits(words[2])
        require(place in self.shared, "a box is split by an attribute that differs, or that there is not")
        (low, high), whole = box[place], not self.question.attributes[place].real
        require(low <= at < high and (at > low or whole), "a box is split outside of it")
        return [(place, (*box[:place], ends, *box[place + 1 :])) for ends in ((low, at), (at + whole, high))]

    def halves(self, node: Node, words: Sequence[str]) -> list[Node]:
        """The node cut in two by a line, or the same with some trees as one."""
        if words[0] == "+":
            net = self.net if isinstance(self.net, Forest) else reject("trees are put together, and the model is none")
            return [Node(node.box, node.admitted, net.added(node.known, [digits(text) for text in words[1:]]))]
        return [
            self.node(box, node.admitted, self.net.narrowed(node.known, place, self.around(box)[place]))
            for place, box in self.cut(node.box, words)
        ]

    def mass(self, node: Node) -> int:
        """How many units, or cells of them, the box has."""
        return prod(self.question.attributes[place].measure(node.box[place]) for place in self.shared)

    def bounded(self, node: Node, only: Sequence[int] | None = None, slopes: Sequence[int] = ()) -> Pass | Sum:
        """One pass over the box, for all who may be admitted there, or for some assignments."""
        if only is None:
            only = [number for number, admitted in enumerate(node.admitted) if admitted != NO]
        return self.net.bounded(self.around(node.box), only, node.known, slopes)

    def alike(self, found: Pass | Sum) -> bool:
        """Whether all who are compared get the same decision; more than what differs may be what is read."""
        return found.side != MAYBE or (found.same and not self.question.loose)

    def compared(self, one: int, other: int, box: Box = (), least: int = YES) -> bool:
        """Whether two assignments are compared where all else is equal, in each unit of a box (MAYBE: in some)."""
        mine, theirs = self.assignments[one], self.assignments[other]
        return one != other and (not self.question.each or all(map(int.__ne__, mine, theirs)))

    def components(self, members: Sequence[int], box: Box, least: int = YES) -> list[list[int]]:
        """The members that are compared in each unit of a box (MAYBE: in some, perhaps), directly or in a chain."""
        if not (self.question.each or self.question.linked):
            return [list(members)]
        found: list[list[int]] = []
        for one in members:
            joined = [group for group in found if any(self.compared(one, other, box, least) for other in group)]
            found = [*(group for group in found if group not in joined), [one, *chain(*joined)]]
        return found

    def paired(self, members: Sequence[int], box: Box, least: int = YES) -> bool:
        """Whether two of them are compared in each unit of a box; or in some, perhaps."""
        return any(len(component) > 1 for component in self.components(members, box, least))

    def compares(self, two: Sequence[Sequence[int]]) -> bool:
        """Whether two individuals, given by their positions, are compared; rejected where they are said to be."""
        ranges = [range(attribute.size) for attribute in self.question.attributes]
        known = all(len(one) == len(ranges) and all(map(range.__contains__, ranges, one)) for one in two)
        require(not two or (len(two) == 2 and known and self.related(*two)), "the two who are called compared are not")
        return bool(two)

    def related(self, one: Sequence[int], other: Sequence[int]) -> bool:
        """Whether two are in one unit, and two are compared there."""
        unit = tuple((at, at) for at in one)
        sure = [each for each in range(len(self.assignments)) if self.asked(self.assigned(unit, each)) == YES]
        return all(one[place] == other[place] for place in self.shared) and self.paired(sure, unit)

    def leaf(self, node: Node, claim: Sequence[str], totals: Totals) -> None:
        """Count a leaf by what is claimed of it, if that follows; else the proof is rejected."""
        mass, (kind, *words) = self.mass(node), claim
        numbers = [digits(text) for text in words if kind not in "PR"]
        along = numbers.pop(0) if kind == "/" and numbers else None
        if NUMBERS[kind] not in (None, len(numbers)) or (kind == "/" and along not in self.shared):
            reject(f"a leaf claims {' '.join(claim)!r}, which is not a claim")
        slopes = [min(number, 1 << BITS) for number in numbers]
        totals.leaves += 1
        possible = [number for number, admitted in enumerate(node.admitted) if admitted != NO]
        # Of relaxed questions nothing is known of who is compared in a unit.
        sure = [number for number in possible if node.admitted[number] == YES and not self.question.loose]
        if kind == "?":
            totals.open += mass
        elif kind == "V":
            require(not self.paired(possible, node.box, MAYBE), "a leaf says nobody is compared, and somebody may be")
        elif kind in "=P":
            require(bool(possible), "a leaf is called one of one decision, and nobody is asked about")
            shown = of_two(self, node, words) if kind == "P" else self.alike(self.bounded(node, slopes=slopes))
            require(shown, "a leaf is called one of one decision, and the bounds do not say so")
            totals.counted(fair=mass, sure=self.paired(sure, node.box))
        elif kind in "Uu" and not any({*numbers} <= {*each} for each in self.components(sure, node.box)):
            reject("a leaf names two who are not compared, or may not be asked about")
        elif kind in "~/Ru":
            require(possible == sure and self.paired(sure, node.box), "a leaf is counted, and perhaps nobody compared")
            unfair, slopes = (apart(self, node, numbers, mass), []) if kind == "u" else (0, slopes)
            left = open_in(self, node, words) if kind == "R" else self.crossed(node, mass, slopes, along)
            totals.open += min(mass, left) - unfair
            totals.counted(fair=max(0, mass - left), unfair=unfair)
        elif kind == "U":
            if [self.bounded(node, [number]).side for number in numbers] != [YES, NO]:
                reject("a leaf names two as decided differently, and the bounds do not say so")
            totals.counted(unfair=mass)
        else:
            self.evaluated(node, possible, totals)

    def crossed(self, node: Node, mass: int, slopes: Sequence[int], along: int | None) -> int:
        """At most so many units of a box are open: of lines along an attribute, if it is said, no more than can be."""
        found = self.bounded(node, slopes=slopes)
        return crossed(found, mass, along) if isinstance(found, Pass) else found.crossed(node.box, mass, along)

    def evaluated(self, node: Node, members: list[int], totals: Totals) -> None:
        """Every unit of the box by itself; those that nothing tells apart are one."""
        require(all(node.admitted[number] == YES for number in members), "it is not known who is asked about")
        components = [component for component in self.components(members, node.box) if len(component) > 1]
        for unit, high in self.everybody(node.box, node.known, members) if components else ():
            fair, mass = all(len({high[one] for one in each}) == 1 for each in components), self.mass(Node(unit))
            totals.counted(fair=mass * fair, unfair=mass * (not fair))

    def everybody(self, box: Box, known: Any, only: Sequence[int]) -> Iterator[tuple[Box, dict[int, int]]]:
        """The side of each assignment in each unit, or box of units that nothing tells apart."""
        runs = [self.runs(known, place, ends) if place in self.shared else [ends] for place, ends in enumerate(box)]
        require(prod(map(len, runs)) * len(only) <= MOST_EVALUATED, "a leaf is evaluated of too many individuals")
        for here in product(*runs):
            sides = {number: self.net.high(known, self.assigned(here, number)) for number in only}
            require(MAYBE not in sides.values(), "somebody is nearer to the threshold than the margin")
            yield here, sides

    def runs(self, known: Any, place: int, ends: tuple[int, int]) -> list[tuple[int, int]]:
        """An attribute's range in runs of positions that nothing tells apart."""
        cuts = self.net.cuts(known, place, ends)
        if cuts and (self.question.attributes[place].real or len(cuts) >= MOST_EVALUATED):
            reject("a leaf is evaluated that has a range of reals, or too many individuals")
        return list(zip([ends[0], *cuts], [*(cut - 1 for cut in cuts), ends[1]], strict=True))


def follow(checker: Checker, lines: Iterator[str]) -> Totals:
    """Go through the tree in preorder, one line a node; what is claimed of each leaf is computed there."""
    totals = Totals(somebody=checker.compares(checker.question.compared))
    for node, words in preorder(lines, checker.root(), checker.halves):
        if words[0] in NUMBERS:
            checker.leaf(node, words, totals)
    return totals


def preorder(lines: Iterable[str], root: Any, halves: Callable[..., Any]) -> Iterator[tuple[Any, list[str]]]:
    """Each node with the words of its line; rejected unless the lines end with the last leaf."""
    waiting = [root]
    for line in lines:
        require(0 < len(waiting) <= MOST_WAITING, "the tree goes on after its last leaf, or is too deep")
        node, words = waiting.pop(), line.split(" ")
        yield node, words
        if words[0] not in NUMBERS:  # something stands below it
            waiting += reversed(halves(node, words))
    require(not waiting, "the tree ends before its leaves cover the domain")


def verdict_of(totals: Totals, *, loose: bool = False, share: bool = False) -> str:
    """In words; nothing is said of a share where a relaxed question asks for none."""
    asked = totals.fair + totals.unfair + totals.open + totals.unsure
    if not totals.open and not totals.unfair:
        if totals.somebody:
            return "HOLDS: all who are compared get the same decision"
        return "nobody is decided differently; nobody is shown to be compared" if asked else "nobody is asked about"
    if loose:
        return "nothing: part of the domain is open"
    ends = f"fair share from {percent(totals.certified)} to {percent(1 - totals.falsified, up=True)}"
    return f"VIOLATED: two who are compared get different decisions; {ends}" if totals.unfair and not share else ends


def percent(share: Fraction, *, up: bool = False) -> str:
    """With four digits, rounded down or up."""
    units = -(-share * 10**6 // 1) if up else share * 10**6 // 1
    return f"{units // 10**4}.{units % 10**4:04d} %"
