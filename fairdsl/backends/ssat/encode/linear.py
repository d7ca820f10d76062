"""Comparisons of weighted sums as literals.

Theorem: for every assignment there is exactly one extension to the variables that are defined here, and in it the
literal is true iff ``constant + sum of the groups' weights RELATION bound``. A group adds the weight of the place that
is taken in it. The sum is scaled to whole numbers, each group moved up to have least weight 0, and compared by a
decision diagram (:mod:`.bdd`): a node is a variable with the truth of the child whose place is taken.

Groups are in order encoding, so the clauses of a node speak of runs of places with the same child: "in none of the
runs before, in this one: the node is its child". Of two such clauses for different runs one has a border where the
other has its negation. So whatever the other variables are, some truth of the node satisfies them all, and who solves
the formula sees that a node that is needed no more can be dropped. (That the value is not in the run before says the
same, with one border instead of all; but it takes the theory of the order to see that.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, pairwise
from math import ceil, floor, gcd, lcm

from fairdsl.backends.ssat.columns import in_places
from fairdsl.backends.ssat.encode.bdd import Diagram, Node, diagram_of
from fairdsl.backends.ssat.encode.pseudo_boolean import sum_reaches
from fairdsl.backends.ssat.gates import FALSE, TRUE, Gates, Literal
from fairdsl.backends.ssat.options import PbEncoding
from fairdsl.ir.expr import Relation

__all__ = ["Exclusive", "Group", "Ordered", "at_least"]

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

    A diagram of more than so many edges gives way to PySAT's adder; :class:`.pseudo_boolean.TooLargeError` for weights
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
