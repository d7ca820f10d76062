"""Relaxed questions: more may be different than what differs, by a distance or at all, or a condition is on the two.

Whatever is asked of a box is asked of everybody in it and around it, which is the box with each relaxed attribute as
far out as it may differ: who is compared with somebody in the box is there. Shares are of individuals; where nothing is
relaxed and a condition names both of the two, of units, in which those are linked who meet it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, combinations
from math import ceil
from typing import Any

from fairdsl_verify import reject, require
from fairdsl_verify.onnx_file import Graph
from fairdsl_verify.question import (
    MAYBE,
    MOST_EVALUATED,
    NO,
    YES,
    Box,
    Condition,
    Question,
    digits,
    exact,
    items,
    place_of,
)
from fairdsl_verify.tree import Checker, Node, Totals


def question_of(data: Any) -> Question:
    """The question of a proof about pairs."""
    loose = type(data) is dict and (data.get("relax") or data.get("pair") != ["and"])
    return RelaxedQuestion(data) if loose else Question(data)


def checker_of(question: Question, graph: Graph) -> Checker:
    """What computes the claims about a question."""
    if isinstance(question, RelaxedQuestion):
        return RelaxedChecker(question, graph) if question.loose else LinkedChecker(question, graph)
    return Checker(question, graph)


class RelaxedQuestion(Question):
    """A question about pairs who may be different in more than what differs, or who meet a condition on the two."""

    loose, units = True, "individuals"

    def __init__(self, data: Any) -> None:
        super().__init__(data)
        #: Of attributes in which two may be apart by how much; None: they may have any values of it.
        self.relax: dict[int, Fraction | None] = {}
        for item in items(data["relax"], "`relax`"):
            place, by = place_of(items(item, "a relaxation"), self.attributes), None
            if item[1] is not None:
                by = exact(item[1], "a distance")
            listed = self.attributes[place].values is not None
            if place in (*self.differ, *self.relax) or (by is not None and (by < 0 or listed)):
                reject("an attribute is relaxed twice, or differs, or is no number with a distance from 0 on")
            self.relax[place] = by
        if self.relax and not self.differ:
            reject("nothing differs beside what is relaxed")
        named = [attribute.named(f"{who}.{attribute.name}") for who in "ab" for attribute in self.attributes]
        #: What a pair of individuals, one after the other, has to meet.
        self.pair = Condition(data["pair"], named)
        #: Whose shares are asked for: 0 is who is `a`, 1 who is `b`; all of both but where the condition names one.
        self.sides = {place // len(self.attributes) for place in _places(self.pair)}
        self.sides = self.sides if len(self.sides) == 1 else {0, 1}
        if len(self.sides) == 1:
            self.units = f"individuals who are `{'ab'[min(self.sides)]}`"
        elif self.asks == "share" and not self.relax:
            self.loose, self.linked, self.units = (
                False,
                True,
                "units, in each of which those are linked who meet `pair`",
            )


def _places(condition: Condition) -> Iterator[int]:
    """What a condition speaks of."""
    if condition.op == "in":
        yield condition.place
    elif condition.op in ("and", "or"):
        yield from chain(*map(_places, condition.parts))
    else:
        yield from (place for place, _ in condition.terms)


class PairChecker(Checker):
    """Knows which two individuals are compared."""

    question: RelaxedQuestion

    def related(self, one: Sequence[int], other: Sequence[int]) -> bool:
        """Whether two are asked about, different and near enough to each other, and meet the condition on the two."""
        return self.is_asked(one) and self.is_asked(other) and self.near(one, other)

    def is_asked(self, one: Sequence[int]) -> bool:
        """Whether somebody is asked about."""
        return self.asked([(at, at) for at in one]) == YES

    def near(self, one: Sequence[int], other: Sequence[int]) -> bool:
        """Whether two are different and near enough to each other, and meet the condition on the two."""
        differ = [one[place] != other[place] for place in self.question.differ]
        if not any(differ) or (self.question.each and not all(differ)):
            return False
        for place in self.shared:
            by, value = self.question.relax.get(place, Fraction(0)), self.question.attributes[place].value
            if by is not None and abs(value(one[place]) - value(other[place])) > by:
                return False
        return self.question.pair.truth([(at, at) for at in (*one, *other)]) == YES


class LinkedChecker(PairChecker):
    """Computes what holds of units in which those are linked who meet the condition on the two, in either order."""

    def __init__(self, question: RelaxedQuestion, graph: Graph) -> None:
        super().__init__(question, graph)
        count = len(question.attributes)
        #: What is not different, and the condition speaks of; the last ranges of it, and the links there.
        self.spoken = sorted({place % count for place in _places(question.pair)} - {*question.differ})
        self.last: tuple[list[tuple[int, int]], list[bytearray]] | None = None

    def links(self, box: Box) -> list[bytearray]:
        """Of each two assignments whether they meet the condition in all units of the box, in some perhaps, or none."""
        here = [box[place] for place in self.spoken]
        if self.last is None or self.last[0] != here:
            parts, truth = [self.assigned(box, one) for one in range(len(self.assignments))], self.question.pair.truth
            found = [bytearray(len(parts)) for _ in parts]
            for one, other in combinations(range(len(parts)), 2):
                if super().compared(one, other):
                    met = max(truth(parts[one] + parts[other]), truth(parts[other] + parts[one]))
                    found[one][other] = found[other][one] = met
            self.last = here, found
        return self.last[1]

    def compared(self, one: int, other: int, box: Box = (), least: int = YES) -> bool:
        """Whether two assignments are compared where all else is equal, in each unit of a box (MAYBE: in some)."""
        return self.links(box)[one][other] >= least

    def settled(self, members: Sequence[int], box: Box) -> bool:
        """Whether the same are compared, directly or in a chain, in all units of the box."""
        certain, perhaps = ({*map(frozenset, self.components(members, box, least))} for least in (YES, MAYBE))
        return certain == perhaps

    def node(self, box: Box, admitted: tuple[int, ...], known: Any) -> Node:
        """A box, without those who are compared with nobody in it."""
        node = super().node(box, admitted, known)
        possible = [one for one, value in enumerate(node.admitted) if value != NO]
        linked = {one for one in possible if any(self.links(box)[one][other] for other in possible)}
        return Node(box, tuple(value if one in linked else NO for one, value in enumerate(node.admitted)), known)

    def evaluated(self, node: Node, members: list[int], totals: Totals) -> None:
        """Every unit of the box by itself, where it is known who is compared there."""
        require(self.settled(members, node.box), "it is not known who is compared")
        super().evaluated(node, members, totals)


class RelaxedChecker(PairChecker):
    """Computes what holds on boxes and around them."""

    def around(self, box: Box) -> Box:
        """The box with everybody who may be compared with somebody in it."""
        wide = list(box)
        for place, by in self.question.relax.items():
            low, high = box[place]
            attribute = self.question.attributes[place]
            reach = attribute.size if by is None else ceil(by / attribute.step)
            wide[place] = max(0, low - reach), min(attribute.size - 1, high + reach)
        return tuple(wide)

    def node(self, box: Box, admitted: tuple[int, ...], known: Any) -> Node:
        """A box, without those who are compared with nobody around it."""
        node, around = super().node(box, admitted, known), self.around(box)
        found = [
            NO if value == NO or not self.partners(around, one, node.admitted) else value
            for one, value in enumerate(node.admitted)
        ]
        return Node(box, tuple(found), known)

    def partners(self, around: Box, one: int, admitted: Sequence[int]) -> bool:
        """Whether somebody with an assignment may be compared with somebody, as the conditions on the two have it."""
        mine, truth = self.assigned(around, one), self.question.pair.truth
        for other, value in enumerate(admitted):
            if value != NO and self.compared(one, other):
                theirs = self.assigned(around, other)
                if max(truth(mine + theirs), truth(theirs + mine)) != NO:
                    return True
        return False

    def counts(self, mine: Box, theirs: Box) -> int:
        """Whether the condition on the two is met, by who is one of those whose share is asked for and a partner."""
        truth = self.question.pair.truth
        return max(truth(mine + theirs if side == 0 else theirs + mine) for side in self.question.sides)

    def is_partner(self, one: Sequence[int], other: Sequence[int]) -> bool:
        """Whether somebody whose share is asked for has the other one, who is asked about too, for a partner."""
        return any(self.near(*((one, other), (other, one))[side]) for side in self.question.sides)

    def side(self, node: Node, number: int) -> int:
        """On which side everybody in the box with an assignment is, as far as one pass over the box alone says."""
        known = node.known
        for place in self.question.relax:
            known = self.net.narrowed(known, place, node.box[place])
        return self.net.bounded(node.box, [number], known).side

    def sure(self, node: Node) -> list[int]:
        """Assignments with which everybody in the box has a partner for certain: one who is the same in all else."""
        asked = [one for one in range(len(node.admitted)) if self.asked(self.assigned(node.box, one)) == YES]
        return [one for one in asked if any(self.surely(node, one, other) for other in asked)]

    def surely(self, node: Node, one: int, other: int) -> bool:
        """Whether two who are asked about, and the same but for what differs, are partners wherever in the box."""
        mine, theirs = (self.assigned(node.box, each) for each in (one, other))
        return self.compared(one, other) and self.counts(mine, theirs) == YES

    def leaf(self, node: Node, claim: Sequence[str], totals: Totals) -> None:
        """Count a leaf; of a share everybody counts, with each assignment of what differs."""
        if self.question.asks == "holds" or claim[0] in ("V", "E"):
            super().leaf(node, claim, totals)
            return
        possible, mass, sure = sum(value != NO for value in node.admitted), self.mass(node), self.sure(node)
        if claim[0] == "U":
            high, low = map(digits, claim[1:])
            known = [
                number < len(node.admitted) and self.asked(self.assigned(node.box, number)) == YES
                for number in (high, low)
            ]
            partners = sum(self.surely(node, *two) for two in ((high, low), (low, high))) if all(known) else 0
            if not partners:
                reject("a leaf names two who are not compared, or may not be asked about")
            if (self.side(node, high), self.side(node, low)) != (YES, NO):
                reject("a leaf names two as decided differently, and the bounds do not say so")
            # Of all others in the box nothing is said.
            totals.counted(unfair=mass * partners)
            totals.open += mass * (possible - partners)
            totals.leaves += 1
            return
        super().leaf(node, claim, found := Totals())
        totals.leaves += 1
        totals.open += found.open * possible
        totals.counted(fair=found.unsure * len(sure), sure=bool(sure))
        totals.unsure += found.unsure * (possible - len(sure))

    def runs(self, known: Any, place: int, ends: tuple[int, int]) -> list[tuple[int, int]]:
        """Of a share each position by itself: it says who is near enough."""
        if self.question.asks == "holds":
            return super().runs(known, place, ends)
        if self.question.attributes[place].real or ends[1] - ends[0] >= MOST_EVALUATED:
            reject("a leaf is evaluated that has a range of reals, or too many individuals")
        return [(at, at) for at in range(ends[0], ends[1] + 1)]

    def counted(self, node: Node, members: list[int], totals: Totals) -> None:
        """Everybody of the box with all who are compared with them."""
        people = [
            ([low for low, _ in self.assigned(unit, number)], side)
            for unit, high in self.everybody(self.around(node.box), node.known, members)
            for number, side in high.items()
        ]
        ends = [(place, *node.box[place]) for place in self.shared]
        inside = [(at, side) for at, side in people if all(low <= at[place] <= high for place, low, high in ends)]
        if len(inside) * len(people) > MOST_EVALUATED:
            reject("a leaf is evaluated that has too many pairs")
        asked = [(one, side) for one, side in people if self.is_asked(one)]
        for one, side in inside:
            if self.is_asked(one) and (sides := {theirs for other, theirs in asked if self.is_partner(one, other)}):
                totals.counted(fair=sides == {side}, unfair=sides != {side})

    def evaluated(self, node: Node, members: list[int], totals: Totals) -> None:
        """Everybody of the box and around it gets the same decision; of a share everybody counts."""
        if self.question.asks == "share":
            self.counted(node, members, totals)
            return
        # Around a box there may be some whom nobody asks about.
        asked = {
            side
            for unit, high in self.everybody(self.around(node.box), node.known, members)
            for number, side in high.items()
            if self.asked(self.assigned(unit, number)) != NO
        }
        if len(asked) > 1:
            reject("a leaf is evaluated, and not all get the same decision")
        totals.counted(fair=self.mass(node), sure=False)
