"""Grows a tree of splits whose leaves the checker itself can settle, the heaviest boxes first.

Whatever is claimed of a leaf is what :mod:`fairdsl_verify` computed for it here, so a proof claims what follows. How
boxes are chosen and split is this module's affair; it decides how much is proved, never whether it is true.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from itertools import count, product

from fairdsl.clock import Deadline
from fairdsl.proving.grown import Grown
from fairdsl.proving.pairing import Pairing
from fairdsl_verify import RejectedError
from fairdsl_verify.bounds import Integers, Pass
from fairdsl_verify.forest import Forest, Sum, Tree
from fairdsl_verify.question import MAYBE, MOST_EVALUATED, NO, YES, Box, Condition
from fairdsl_verify.relaxed import LinkedChecker, PairChecker, RelaxedChecker
from fairdsl_verify.tree import Checker, Node, Totals

#: Individuals that are evaluated one by one at most, in one leaf.
EVALUATED = min(64, MOST_EVALUATED)


#: The part of the time in which boxes are counted that are not decided.
_COUNTING = 1 / 4

#: How deep tests are looked for below what a box has left of a tree.
_LEVELS = 3

#: Assignments of what differs that are tried with each other to find two who are compared.
_RELATED = 8

#: Assignments of what differs that are tried with each other to find two who are decided differently, of trees.
_TRIED = 8

#: Boxes that are looked at to find two who are compared.
_LOOKED_AT = 2000


@dataclass(eq=False, slots=True)
class _Open:
    node: Node
    grown: Grown


def _remembering(checker: Checker) -> Checker:
    """The checker, with the last look at a box kept: what is claimed of it is counted by the same one."""
    other, last = copy(checker), list[tuple[Node, Pass | Sum]]()

    def bounded(node: Node, only: Sequence[int] | None = None, slopes: Sequence[int] = ()) -> Pass | Sum:
        if only is not None or slopes:
            return checker.bounded(node, only, slopes)
        if not last or last[0][0] is not node:
            last[:] = [(node, checker.bounded(node))]
        return last[0][1]

    other.bounded = bounded  # type: ignore[method-assign]
    return other


def grow(checker: Checker, deadline: Deadline, pairing: Pairing | None = None) -> tuple[Grown, Totals]:
    """A tree, and what its leaves come to, by the checker's own count; whatever is open at the deadline stays so.

    Where all or nothing is asked, it is tried with linear programs about two, before a box is cut.
    """
    pairing = pairing if checker.question.asks == "holds" else None
    root, numbers, checker = Grown(), count(), _remembering(checker)
    totals = Totals(somebody=bool(checker.question.compared))
    heap = [(0, next(numbers), _Open(checker.root(), root))]
    cutting = deadline.later(-_COUNTING * deadline.remaining) if counted(checker) else deadline
    while heap and not cutting.passed:
        one = heapq.heappop(heap)[2]
        halves = _step(checker, one, pairing, deadline)
        for half in halves:
            heapq.heappush(heap, (-checker.mass(half.node), next(numbers), half))
        if not halves:
            try:
                checker.leaf(one.node, one.grown.claim.split(" "), totals)
            except RejectedError:  # somebody is too near to the threshold
                one.grown.claim = "?"
                checker.leaf(one.node, "?", totals)
    counting = counted(checker)
    for _, _, one in sorted(heap):
        one.grown.claim = "~" if counting and set(one.node.admitted) == {YES} and not deadline.passed else "?"
        checker.leaf(one.node, [one.grown.claim], totals)
    root.pruned()
    return root, totals


def line_of(place: int, at: int) -> str:
    """The line that cuts a box."""
    return f"S {place} {at}"


def counted(checker: Checker) -> bool:
    """Whether boxes of which something stays open are counted; where only all or nothing is asked, none is."""
    question = checker.question
    everybody = checker.components(range(len(checker.assignments)), checker.root().box)
    units = question.asks == "share" and not question.loose
    return units and isinstance(checker.net, Integers) and any(len(each) > 1 for each in everybody)


def somebody(checker: Checker, deadline: Deadline) -> list[list[int]]:
    """Two individuals who are compared, by their positions; none where none are found at once."""
    waiting = [checker.root()]
    for _ in range(_LOOKED_AT):
        if not waiting or deadline.passed:
            break
        node = waiting.pop()
        sure = [number for number, admitted in enumerate(node.admitted) if admitted == YES]
        for two in (two for component in checker.components(sure, node.box) for two in _two(checker, component)):
            points = [_point(checker, node, number) for number in two]
            with suppress(RejectedError):  # by a condition on the two
                if checker.compares(points):
                    return points
        if isinstance(checker, RelaxedChecker) and (found := _related(checker, node)):
            return found
        cut = (by_condition(checker, node) if MAYBE in node.admitted else None) or _by_pair(checker, node)
        waiting += () if cut is None else reversed(checker.halves(node, line_of(*cut).split(" ")))
    return []


def _two(checker: Checker, component: list[int]) -> Iterator[tuple[int, int]]:
    """Each two of a component that are compared themselves, of very large ones those of one alone."""
    for one in component if isinstance(checker, PairChecker) else component[:1]:
        mine = checker.assignments[one]
        for other in component:
            if other != one and (not checker.question.each or all(map(int.__ne__, mine, checker.assignments[other]))):
                yield one, other


def _by_pair(checker: Checker, node: Node) -> tuple[int, int] | None:
    """The widest attribute of which a condition on the two speaks, in the middle; None where there is no condition."""
    if not isinstance(checker, PairChecker):
        return None
    count = len(checker.question.attributes)
    atoms = list(_atoms(checker.question.pair))
    places = {place % count for atom in atoms for place in ([atom.place] if atom.op == "in" else dict(atom.terms))}
    wide = sorted(places & set(checker.shared), key=lambda place: node.box[place][0] - node.box[place][1])
    return next(filter(None, (_middle(checker, node, place) for place in wide)), None)


def _related(checker: RelaxedChecker, node: Node) -> list[list[int]]:
    """Two who are compared, of relaxed questions: somebody at a corner of the box and somebody at one around it."""
    relax, around = checker.question.relax, checker.around(node.box)
    numbers = range(min(_RELATED, len(checker.assignments)))
    for corner in (0, 1):
        one = [ends[corner] for ends in node.box]
        for moved in product(*(sorted({one[place], *around[place]}) for place in relax)):
            other = one.copy()
            for place, at in zip(relax, moved, strict=True):
                other[place] = at
            for mine, theirs in product(numbers, repeat=2):
                points = [_placed(checker, one, mine), _placed(checker, other, theirs)]
                with suppress(RejectedError):
                    if checker.compares(points):
                        return points
    return []


def _point(checker: Checker, node: Node, number: int) -> list[int]:
    """The first individual of a box with an assignment of what differs."""
    return _placed(checker, [low for low, _ in node.box], number)


def _placed(checker: Checker, individual: Sequence[int], number: int) -> list[int]:
    """An individual with an assignment of what differs."""
    point = list(individual)
    for place, position in zip(checker.question.differ, checker.assignments[number], strict=True):
        point[place] = position
    return point


def _step(checker: Checker, one: _Open, pairing: Pairing | None, deadline: Deadline) -> tuple[_Open, ...]:
    """Settle a box, or split it."""
    node, grown = one.node, one.grown
    possible = [number for number, admitted in enumerate(node.admitted) if admitted != NO]
    sure = [number for number in possible if node.admitted[number] == YES]
    if not checker.paired(possible, node.box, MAYBE):
        grown.claim = "V"
        return ()
    found = checker.bounded(node)
    if isinstance(checker, RelaxedChecker):
        sure = checker.sure(node)
    if checker.alike(found):
        # Of a share it counts for more where it is known who is compared.
        grown.claim = "="
        known = sure == possible if checker.question.loose else checker.paired(sure, node.box)
        if known or checker.question.asks == "holds":
            return ()
    if isinstance(checker, RelaxedChecker):
        if (claim := _relaxed(checker, node, len(possible), found)) is not None:
            grown.claim = claim
            return ()
        cut = by_condition(checker, node) if checker.question.asks == "share" else None
        if grown.claim == "=" and (cut := cut or _by_pair(checker, node)) is None:
            return ()  # whoever is not asked about is around it
        # Tests that are left may all be around the box.
        where = cut or _by_model(checker, node, found) or _by_influence(checker, node, {})
    elif possible == sure:
        settled = not isinstance(checker, LinkedChecker) or checker.settled(sure, node.box)
        claim = (_evaluated(checker, node, len(sure)) if settled else None) or _unfair(checker, node, sure, found)
        if claim is None and pairing is not None:
            claim = pairing.claim(node, deadline)
        if claim is not None:
            grown.claim = claim
            return ()
        where = (None if settled else _by_pair(checker, node)) or _by_model(checker, node, found)
    else:
        where = by_condition(checker, node) or _by_model(checker, node, found)
    if where is None:
        return ()
    grown.split, grown.below = line_of(*where), (Grown(), Grown())
    first, second = checker.halves(node, grown.split.split(" "))
    return _Open(first, grown.below[0]), _Open(second, grown.below[1])


def _relaxed(checker: RelaxedChecker, node: Node, members: int, found: Pass | Sum) -> str | None:
    """What can be claimed of a box of a relaxed question where more than its bounds has to be known."""
    if _evaluated(checker, node, members) is not None:
        # Not all around it may get the same decision: where nobody is who is asked about is for smaller boxes.
        with suppress(RejectedError):
            checker.leaf(node, ["E"], Totals())
            return "E"
    if checker.question.asks == "share" and not checker.alike(found):
        asked = [at for at in range(len(node.admitted)) if checker.asked(checker.assigned(node.box, at)) == YES]
        with suppress(RejectedError):  # by a condition on the two
            if asked and (claim := _unfair(checker, node, asked, found)) is not None:
                checker.leaf(node, claim.split(" "), Totals())
                return claim
    return None


def _evaluated(checker: Checker, node: Node, members: int) -> str | None:
    """Whether the box is small enough to evaluate everybody in it."""
    most, individuals = max(EVALUATED, members), members
    for place in checker.shared:
        individuals *= _cells(checker, node, place)
        if individuals > most:
            return None
    return "E"


def _cells(checker: Checker, node: Node, place: int) -> int:
    """In how many parts the checker evaluates a range of an attribute; of reals it would take endlessly many."""
    net, ends = checker.net, checker.around(node.box)[place]
    attribute = checker.question.attributes[place]
    if checker.question.loose and checker.question.asks == "share":  # there it matters who is how near
        return MOST_EVALUATED + 1 if attribute.real else attribute.measure(ends)
    if isinstance(net, Forest):
        cuts = {cut for tree in node.known[1] for cut in tree.cuts(place)}
        return MOST_EVALUATED + 1 if cuts and attribute.real else len(cuts) + 1
    if net.idle[place] or ends[0] == ends[1]:
        return 1
    return MOST_EVALUATED + 1 if attribute.real else attribute.measure(ends)


def _unfair(checker: Checker, node: Node, sure: list[int], found: Pass | Sum) -> str | None:
    """Two assignments that are compared, and decided differently all over the box."""
    net = checker.net
    for component in checker.components(sure, node.box):
        tried = component[:_TRIED]
        if isinstance(found, Pass) and isinstance(net, Integers):
            tried = _extremes(net, found, component)
        sides = {number: net.high(node.known, _centre(checker, node, number)) for number in tried}
        high = next((number for number in tried if sides[number]), None)
        low = next((number for number in tried if not sides[number]), None)
        if high is None or low is None:  # bounds cost more than one individual, and most boxes have nobody like that
            continue
        if _side(checker, node, high) == YES and _side(checker, node, low) == NO:
            return f"U {high} {low}"
    return None


def _side(checker: Checker, node: Node, number: int) -> int:
    """On which side everybody in a box with an assignment of what differs is, as far as the checker says."""
    return checker.side(node, number) if isinstance(checker, RelaxedChecker) else checker.bounded(node, [number]).side


def _extremes(net: Integers, found: Pass, component: list[int]) -> list[int]:
    """The two of a component whose scores are furthest apart, by the slopes of the box's last bound."""
    differ = found.net.question.differ
    added = [found.adds(found.lower, place, range(found.net.question.attributes[place].size)) for place in differ]
    assignments = found.net.question.assignments
    moved = {number: sum(map(list.__getitem__, added, assignments[number])) for number in component}
    return list({min(moved, key=moved.__getitem__), max(moved, key=moved.__getitem__)})


def _centre(checker: Checker, node: Node, number: int) -> Box:
    """The individual in the middle of a box with an assignment of what differs."""
    return tuple((at, at) for at in _placed(checker, [(low + high) // 2 for low, high in node.box], number))


def _middle(checker: Checker, node: Node, place: int) -> tuple[int, int] | None:
    low, high = node.box[place]
    real = checker.question.attributes[place].real
    return (place, (low + high) // 2) if high - low > real else None


def _by_model(checker: Checker, node: Node, found: Pass | Sum) -> tuple[int, int] | None:
    if isinstance(found, Pass):
        return _by_influence(checker, node, _influence(found))
    return _by_tests(checker, node, node.known[1])


def _by_tests(checker: Checker, node: Node, trees: Sequence[Tree]) -> tuple[int, int] | None:
    """The test of shared attributes whose outcome narrows the sum most, trees that what differs moves before others."""
    differing = sum(1 << place for place in checker.question.differ)
    gains: dict[tuple[int, int], float] = {}
    for tree in trees:
        level, weight = [tree], 4.0 if tree.reads & differing else 1.0
        for _ in range(_LEVELS):
            below: list[Tree] = []
            for each in level:
                if not each.reads:
                    continue
                if not differing >> each.place & 1:
                    first, second = each.below
                    gain = weight * (2 * (each.high - each.low) - (first.high - first.low) - (second.high - second.low))
                    gains[each.place, each.cut] = gains.get((each.place, each.cut), 0.0) + gain
                below += each.below
            level, weight = below, weight / 2
    for place, cut in sorted(gains, key=lambda key: (-gains[key], key)):
        low, high = node.box[place]
        if not low < cut <= high:  # it is around the box
            continue
        if not checker.question.attributes[place].real:
            return place, cut - 1
        if high - low > 1:
            return place, cut - 1 if cut - 1 > low else cut
    return None


def _influence(found: Pass) -> dict[int, int]:
    """How far each attribute moves the score on the box, by the slopes of its last bound."""
    influence = {}
    for place in found.ranges:
        added = found.adds(found.lower, place, found.net.positions(place, found.box[place]))
        influence[place] = max(added) - min(added)
    return influence


def _by_influence(checker: Checker, node: Node, influence: dict[int, int]) -> tuple[int, int] | None:
    """The attribute that moves the score most on the box."""
    for place in sorted(influence, key=lambda place: (-influence[place], place)):
        if influence[place] and (cut := _middle(checker, node, place)) is not None:
            return cut
    net, loose = checker.net, checker.question.loose
    wide = [place for place in checker.shared if loose or isinstance(net, Forest) or not net.idle[place]]
    cuts = (_middle(checker, node, place) for place in sorted(wide, key=lambda p: node.box[p][0] - node.box[p][1]))
    return next(filter(None, cuts), None)


def by_condition(checker: Checker, node: Node) -> tuple[int, int] | None:
    """The attribute of which most depends in a condition whose truth the box does not settle."""
    question = checker.question
    best: tuple[float, int] | None = None
    for number, admitted in enumerate(node.admitted):
        if admitted != MAYBE:
            continue
        box = list(node.box)
        for place, position in zip(question.differ, checker.assignments[number], strict=True):
            box[place] = (position, position)
        for atom in (*_atoms(question.where), *_atoms(question.target)):
            if atom.truth(box) != MAYBE:
                continue
            for weight, place in _weights(atom, box):
                if place in checker.shared and _middle(checker, node, place) and (best is None or weight > best[0]):
                    best = weight, place
        break
    return None if best is None else _middle(checker, node, best[1])


def _atoms(condition: Condition) -> Iterator[Condition]:
    if condition.op in ("and", "or"):
        for part in condition.parts:
            yield from _atoms(part)
    else:
        yield condition


def _weights(atom: Condition, box: list[tuple[int, int]]) -> Iterator[tuple[float, int]]:
    if atom.op == "in":
        yield float("inf"), atom.place
        return
    for place, factor in atom.terms:
        low, high = atom.attributes[place].range(box[place])
        yield float(abs(factor) * (high - low)), place
