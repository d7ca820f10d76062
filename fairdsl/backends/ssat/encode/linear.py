"""Reduced decision diagrams of sums: which groups' weights together reach a bound.

The groups are asked in order; each adds one of its weights. A node stands for a group g and the truth of
"the weights from g on reach b". That truth is the same for a whole interval of bounds b, from just above one
attainable sum of the groups from g on up to the next one that matters; a node is found again by its interval [Abio,
Nieuwenhuis, Oliveras and Rodriguez-Carbonell 2011, there for binary groups].

Theorem: let child w of a node have the interval [low_w, high_w]. Then the node's is the intersection of all
[low_w + w, high_w + w]: for these bounds, and no others, each child stays the same node. Below the least sum of the
remaining groups the truth is constantly true, above the greatest constantly false. So two bounds lead to the same node
iff they are the same function of the groups that remain, and the diagram is reduced.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby, pairwise
from math import ceil, floor, gcd, lcm

from fairdsl.backends.ssat.gates import FALSE, TRUE, Gates, Literal, in_places
from fairdsl.backends.ssat.options import PbEncoding
from fairdsl.ir.expr import Relation

FALSE_NODE, TRUE_NODE = 0, 1


@dataclass(frozen=True, slots=True)
class Node:
    """A group, and by each of its weights the number of the node that is asked next."""

    group: int
    children: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Diagram:
    """Node n is ``nodes[n - 2]``, and comes after its children; 0 and 1 are the constants."""

    nodes: tuple[Node, ...]
    root: int


@dataclass(slots=True)
class _Level:
    """The intervals of one group that are known: their ends, ascending, and their nodes."""

    lows: list[int] = field(default_factory=list)
    highs: list[int] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)

    def find(self, bound: int) -> tuple[int, int, int] | None:
        place = bisect_right(self.lows, bound) - 1
        if place < 0 or bound > self.highs[place]:
            return None
        return self.nodes[place], self.lows[place], self.highs[place]

    def add(self, node: int, low: int, high: int) -> None:
        place = bisect_right(self.lows, low)
        self.lows.insert(place, low)
        self.highs.insert(place, high)
        self.nodes.insert(place, node)


@dataclass(slots=True)
class _Open:
    """A node whose children are being found."""

    level: int
    bound: int
    low: int
    high: int
    children: list[int] = field(default_factory=list)


class _Builder:
    def __init__(self, groups: Sequence[Sequence[int]], bound: int, limit: int) -> None:
        self._groups, self._limit = groups, limit
        self._least, self._most = [0], [0]
        for weights in reversed(groups):
            self._least.append(self._least[-1] + min(weights))
            self._most.append(self._most[-1] + max(weights))
        self._least.reverse()
        self._most.reverse()
        # Further away than any bound can get: every child's bound differs from its parent's by one weight.
        self._far = 2 * (abs(bound) + sum(max(map(abs, weights)) for weights in groups)) + 2
        self._levels = [_Level() for _ in groups]
        self._nodes: list[Node] = []
        self._edges = 0

    def found(self, level: int, bound: int) -> tuple[int, int, int] | None:
        """The node and its interval, where they are known."""
        if bound <= self._least[level]:
            return TRUE_NODE, -self._far, self._least[level]
        if bound > self._most[level]:
            return FALSE_NODE, self._most[level] + 1, self._far
        return self._levels[level].find(bound)

    def build(self, bound: int) -> Diagram | None:
        stack = [_Open(0, bound, -self._far, self._far)]
        while (known := self.found(0, bound)) is None:
            top = stack[-1]
            weights = self._groups[top.level]
            while len(top.children) < len(weights):
                weight = weights[len(top.children)]
                child = self.found(top.level + 1, top.bound - weight)
                if child is None:
                    stack.append(_Open(top.level + 1, top.bound - weight, -self._far, self._far))
                    break
                node, low, high = child
                top.low, top.high = max(top.low, low + weight), min(top.high, high + weight)
                top.children.append(node)
            else:
                stack.pop()
                if not self._close(top):
                    return None
        return Diagram(tuple(self._nodes), known[0])

    def _close(self, top: _Open) -> bool:
        """Number a node whose children are known; whether the limit allows it."""
        self._edges += len(top.children)
        if self._edges > self._limit:
            return False
        node = top.children[0]
        if any(child != node for child in top.children):
            self._nodes.append(Node(top.level, tuple(top.children)))
            node = len(self._nodes) + 1
        self._levels[top.level].add(node, top.low, top.high)
        return True


def diagram_of(groups: Sequence[Sequence[int]], bound: int, limit: int) -> Diagram | None:
    """The diagram of "one weight of each group, together at least the bound"; None if it has more than ``limit`` edges.

    Groups are not empty. Edges of nodes that are left out because all of their children are the same count as well,
    so that the limit bounds the time.
    """
    return _Builder(groups, bound, limit).build(bound)


# --------------------------------------------------------------------------------------------------
# Sums of weighted literals by PySAT's encodings: binary adders and mixed-radix sorters.
#
# Most encodings of pseudo-Boolean constraints only keep satisfiability; under chances every assignment must extend in
# exactly one way. Of PySAT's, ``adder`` and ``mixedradix`` do; nothing upstream promises it, so a test counts their
# models (tests/ssat/test_encode_pseudo_boolean.py).
#
# They write constraints, not literals. Theorem: let S be a sum of literals with positive whole weights, T their total
# and L a variable. ``S + b * (not L) >= b`` holds iff L implies S >= b, and ``(T - S) + (T - b + 1) * L >= T - b + 1``
# holds iff S >= b implies L; so both together define L as S >= b.

#: PySAT takes weights of 64 bits; each constraint adds one weight to those of the sum.
_LARGEST = 1 << 61


class TooLargeError(Exception):
    """A sum that the method at hand does not encode; the message says why, for users."""


def sum_reaches(gates: Gates, terms: Iterable[tuple[Literal, int]], bound: int, encoding: str) -> Literal:
    """The literal of ``sum of the weights of true literals >= bound``; ``encoding`` is ``adder`` or ``mixedradix``.

    Raises :class:`TooLargeError` for totals of more than 61 bits.
    """
    weights, bound = _positive(terms, bound)
    total = sum(weights.values())
    if bound <= 0:
        return TRUE
    if bound > total:
        return FALSE
    if total >= _LARGEST:
        raise TooLargeError("the whole weights of a sum need more than 61 bits together")
    literals, numbers = list(weights), list(weights.values())
    top = gates.variables + 1
    clauses = _clauses([*literals, -top], [*numbers, bound], bound, top, encoding)
    last = max((abs(literal) for clause in clauses for literal in clause), default=top)
    other = total - bound + 1
    clauses += _clauses([*(-each for each in literals), top], [*numbers, other], other, max(last, top), encoding)
    return _defined(gates, top, clauses)


def _positive(terms: Iterable[tuple[Literal, int]], bound: int) -> tuple[dict[Literal, int], int]:
    """Positive weights of literals of distinct variables, and the bound that they must reach instead."""
    by_variable: dict[int, int] = {}
    for literal, weight in terms:
        variable = abs(literal)
        if literal < 0:  # the negation weighs what is left
            bound -= weight
            weight = -weight
        by_variable[variable] = by_variable.get(variable, 0) + weight
    bound -= by_variable.pop(TRUE, 0)
    bound += sum(-weight for weight in by_variable.values() if weight < 0)
    return {v if weight > 0 else -v: abs(weight) for v, weight in by_variable.items() if weight}, bound


def _clauses(literals: list[Literal], weights: list[int], bound: int, top: int, encoding: str) -> list[list[int]]:
    from pysat.pb import EncType, PBEnc

    kind = {"adder": EncType.adder, "mixedradix": EncType.mixedradix}[encoding]
    found = PBEnc.atleast(lits=literals, weights=weights, bound=bound, top_id=top, encoding=kind)
    return [list(clause) for clause in found.clauses]


def _defined(gates: Gates, top: int, clauses: Sequence[Sequence[int]]) -> Literal:
    """``top`` and the encoder's own variables as defined ones; numbers that no clause has are passed over."""
    own = sorted({abs(literal) for clause in clauses for literal in clause if abs(literal) >= top} | {top})
    number = {variable: place for place, variable in enumerate(own, start=top)}

    def renumbered(literal: int) -> int:
        variable = number.get(abs(literal), abs(literal))
        return variable if literal > 0 else -variable

    return gates.defined_together(len(own), ([renumbered(each) for each in clause] for clause in clauses))[0]


# ---- Comparisons of weighted sums as literals ----------------------------------------------------
# Theorem: for every assignment there is exactly one extension to the variables that are defined here, and in it the
# literal is true iff ``constant + sum of the groups' weights RELATION bound``. A group adds the weight of the place
# that is taken in it. The sum is scaled to whole numbers, each group moved up to have least weight 0, and compared by
# a decision diagram: a node is a variable with the truth of the child whose place is taken.
#
# Groups are in order encoding, so the clauses of a node speak of runs of places with the same child: "in none of the
# runs before, in this one: the node is its child". Of two such clauses for different runs one has a border where the
# other has its negation. So whatever the other variables are, some truth of the node satisfies them all, and who solves
# the formula sees that a node that is needed no more can be dropped. (That the value is not in the run before says the
# same, with one border instead of all; but it takes the theory of the order to see that.)

#: Edges of a diagram.
_EDGES = 1 << 18
#: Runs of places whose clauses are written without further variables.
_RUNS = 32


@dataclass(frozen=True, slots=True)
class Ordered:
    """Weights by place of a column in order encoding; a single literal is two places, true and false."""

    below: tuple[Literal, ...]
    weights: tuple[Fraction, ...]

    @classmethod
    def of(cls, literal: Literal, weight: Fraction) -> Ordered:
        """The weight where the literal is true, 0 where it is not."""
        return cls((literal,), (weight, Fraction(0)))


@dataclass(frozen=True, slots=True)
class Exclusive:
    """Weights of literals of which exactly one is true."""

    alternatives: tuple[tuple[Literal, Fraction], ...]


Group = Ordered | Exclusive


def at_least(
    gates: Gates,
    constant: Fraction,
    groups: Iterable[Group],
    relation: Relation,
    bound: Fraction,
    edges: int = _EDGES,
) -> Literal:
    """The literal of ``constant + sum of the groups RELATION bound``, encoded as ``gates.sums`` says.

    A diagram of more than so many edges gives way to PySAT's adder; :class:`TooLargeError` for weights
    that this does not take.
    """
    whole, least, unit = _scaled([_ordered(gates, group) for group in groups])
    # The sum of the whole weights is compared with this.
    limit = (bound - constant - least) / unit

    def reaches(number: int) -> Literal:
        return _reaches(gates, whole, number, edges)

    match relation:
        case Relation.GE:
            return reaches(ceil(limit))
        case Relation.LT:
            return -reaches(ceil(limit))
        case Relation.GT:
            return reaches(floor(limit) + 1)
        case Relation.LE:
            return -reaches(floor(limit) + 1)
        case Relation.EQ | Relation.NE:
            number = floor(limit)
            equal = gates.conjunction((reaches(number), -reaches(number + 1))) if number == limit else FALSE
            return equal if relation is Relation.EQ else -equal


@dataclass(frozen=True, slots=True)
class _Whole:
    """A group with whole weights, the least of them 0."""

    below: tuple[Literal, ...]
    weights: tuple[int, ...]


def _ordered(gates: Gates, group: Group) -> Ordered:
    """The group in order encoding, neighbours of equal weight joined.

    Of exclusive literals the order is that of their weights: ``below[k]`` says that one of the first ones is true.
    """
    if isinstance(group, Ordered):
        ends = [place for place, (left, right) in enumerate(pairwise(group.weights)) if left != right]
        weights = (*(group.weights[end] for end in ends), group.weights[-1])
        return Ordered(tuple(group.below[end] for end in ends), weights)
    possible = [alternative for alternative in group.alternatives if alternative[0] != FALSE]
    ranked = sorted(possible or group.alternatives, key=lambda alternative: alternative[1])
    below: list[Literal] = []
    weights_of: list[Fraction] = []
    for weight, equal in groupby(ranked, key=lambda alternative: alternative[1]):
        literals = [literal for literal, _ in equal]
        weights_of.append(weight)
        below.append(gates.disjunction([*literals, *below[-1:]]))
    return Ordered(tuple(below[:-1]), tuple(weights_of))


def _scaled(groups: Sequence[Ordered]) -> tuple[list[_Whole], Fraction, Fraction]:
    """Whole weights; the sum is ``least + unit * their sum``. Groups that always add the same are left out."""
    least = sum((min(group.weights) for group in groups), Fraction(0))
    moved = [
        (group.below, [weight - min(group.weights) for weight in group.weights]) for group in groups if group.below
    ]
    scale = lcm(*(weight.denominator for _, weights in moved for weight in weights))
    whole = [(below, [int(weight * scale) for weight in weights]) for below, weights in moved]
    common = gcd(*(weight for _, weights in whole for weight in weights)) or 1
    found = [_Whole(below, tuple(weight // common for weight in weights)) for below, weights in whole]
    # Groups that weigh much are asked first: after them less is open.
    found.sort(key=lambda group: -max(group.weights))
    return found, least, Fraction(common, scale)


def _reaches(gates: Gates, groups: Sequence[_Whole], bound: int, edges: int) -> Literal:
    if bound <= 0:
        return TRUE
    if bound > sum(max(group.weights) for group in groups):
        return FALSE
    method = gates.sums
    if method is PbEncoding.DIAGRAM:
        diagram = diagram_of([group.weights for group in groups], bound, edges)
        if diagram is not None:
            return _literal(gates, groups, diagram)
        method = PbEncoding.ADDER
    terms = [term for group in groups for term in _terms(group)]
    return sum_reaches(gates, terms, bound - sum(group.weights[-1] for group in groups), method.value)


def _terms(group: _Whole) -> Iterator[tuple[Literal, int]]:
    """The weight as that of the last place and what each order literal adds to it."""
    for literal, (left, right) in zip(group.below, pairwise(group.weights), strict=True):
        yield literal, left - right


def _literal(gates: Gates, groups: Sequence[_Whole], diagram: Diagram) -> Literal:
    literals = [FALSE, TRUE]
    for node in diagram.nodes:
        literals.append(_of_node(gates, groups[node.group], node, literals))
    return literals[diagram.root]


def _of_node(gates: Gates, group: _Whole, node: Node, literals: Sequence[Literal]) -> Literal:
    children = [literals[child] for child in node.children]
    if all(abs(child) == TRUE for child in children):
        true = sum(1 << place for place, child in enumerate(children) if child == TRUE)
        return in_places(gates, group.below, true)
    ends = [place for place, (left, right) in enumerate(pairwise(children)) if left != right]
    return _chosen(gates, [group.below[end] for end in ends], [*(children[end] for end in ends), children[-1]])


def _chosen(gates: Gates, borders: Sequence[Literal], children: Sequence[Literal]) -> Literal:
    """The child of the first border that is true, of the last run where none is; neighbours differ."""
    if len(children) == 1:
        return children[0]
    if len(children) > _RUNS:
        half = len(borders) // 2
        lower = _chosen(gates, borders[:half], children[: half + 1])
        return gates.select(borders[half], lower, _chosen(gates, borders[half + 1 :], children[half + 1 :]))
    if len(children) == 2:
        return gates.select(borders[0], *children)

    def clauses(node: Literal) -> Iterator[tuple[Literal, ...]]:
        for place, (end, child) in enumerate(zip((*borders, TRUE), children, strict=True)):
            yield *borders[:place], -end, -node, child
            yield *borders[:place], -end, node, -child
        # Implied by these; unit propagation does not find them.
        yield -node, *children
        yield node, *(-child for child in children)

    return gates.defined(("node", tuple(borders), tuple(children)), clauses)
