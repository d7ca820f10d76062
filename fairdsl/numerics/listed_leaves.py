"""Trees that are given leaf by leaf, as a list of rules is: read together, the leaves are the tree again.

A group of which exactly one indicator is 1 (``Model.one_of``) is a tree if each predicate is an ``And`` of the tests on
the way to it, in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fairdsl.ir.ensemble import RELATIONS, Ensemble
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import And, Compare, Linear, Predicate, Relation, Who, opposite
from fairdsl.ir.feature import IndicatorInput, Input
from fairdsl.ir.tree_shape import TreeShape

IntArray = NDArray[np.int64]
#: A column of an ensemble, a position in RELATIONS, and a number.
Compared = tuple[int, int, Fraction]


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """The groups that are trees, and the trees; ``positions`` as in :class:`~fairdsl.numerics.leaves.Leaves`."""

    ensemble: Ensemble
    groups: tuple[tuple[int, ...], ...]
    positions: IntArray


@dataclass(slots=True)
class _Growing:
    """Nodes of all trees so far, in preorder; ``tests`` are the predicates that are not comparisons."""

    roots: list[int] = field(default_factory=list)
    yes: list[int] = field(default_factory=list)
    no: list[int] = field(default_factory=list)
    compared: list[Compared] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    tests: dict[Predicate, int] = field(default_factory=dict)

    def add(self, predicate: Predicate | None, position: int) -> int:
        """A node without its children (a leaf: no predicate); the result is its number."""
        number = len(self.yes)
        self.yes.append(number)
        self.no.append(number)
        self.positions.append(position)
        self.compared.append((0, 0, Fraction(0)) if predicate is None else compared(predicate, self.tests))
        return number


def read_listed(inputs: Sequence[Input], groups: Sequence[tuple[int, ...]]) -> Listed:
    """The trees among groups of inputs of which exactly one is 1."""
    growing, found = _Growing(), []
    for group in groups:
        ways = _ways(inputs, group)
        planned = None if ways is None else _planned(group, ways)
        if planned is not None:
            _grow(growing, planned)
            found.append(group)
    columns, relations, numbers = zip(*growing.compared, strict=True) if growing.compared else ((), (), ())
    shape = TreeShape(*(np.array(part, dtype=np.int64) for part in (growing.roots, growing.yes, growing.no)))
    return Listed(
        ensemble=Ensemble(
            shape=shape,
            columns=np.array(columns, dtype=np.int64),
            relations=np.array(relations, dtype=np.int8),
            thresholds=ExactArray.from_fractions(list(numbers)),
            tests=tuple(growing.tests),
        ),
        groups=tuple(found),
        positions=np.array(growing.positions, dtype=np.int64),
    )


def compared(predicate: Predicate, tests: dict[Predicate, int]) -> Compared:
    """A test as an ensemble holds it; all but comparisons of an attribute with a number become ``tests``."""
    match predicate:
        case Compare(left=Linear(terms=((variable, factor),), constant=constant), relation=relation):
            if variable.who is Who.EACH and relation in RELATIONS:
                relation = relation if factor > 0 else relation.mirrored
                return variable.attribute, RELATIONS.index(relation), -constant / factor
    return -1 - tests.setdefault(predicate, len(tests)), RELATIONS.index(Relation.GT), Fraction(1, 2)


def _ways(inputs: Sequence[Input], group: Sequence[int]) -> dict[int, tuple[Predicate, ...]] | None:
    ways = {}
    for position in group:
        match inputs[position]:
            case IndicatorInput(And(parts)):
                ways[position] = parts
            case _:
                return None
    return ways


@dataclass(frozen=True, slots=True)
class _Planned:
    predicate: Predicate | None
    position: int
    parent: int
    holds: bool


def _planned(group: Sequence[int], ways: dict[int, tuple[Predicate, ...]]) -> list[_Planned] | None:
    """The nodes of the tree that the ways to its leaves make, in preorder; None where they make none."""
    planned: list[_Planned] = []
    stack: list[tuple[Sequence[int], int, int, bool]] = [(group, 0, -1, True)]
    while stack:
        below, depth, parent, holds = stack.pop()
        first = ways[below[0]]
        if len(below) == 1 and len(first) == depth:
            planned.append(_Planned(None, below[0], parent, holds))
            continue
        if any(len(ways[position]) <= depth for position in below):
            return None
        test = first[depth]
        other = opposite(test)
        yes = [position for position in below if _same(ways[position][depth], test)]
        no = [position for position in below if _same(ways[position][depth], other)]
        if not no or len(yes) + len(no) < len(below):
            return None
        planned.append(_Planned(test, -1, parent, holds))
        stack += [(no, depth + 1, len(planned) - 1, False), (yes, depth + 1, len(planned) - 1, True)]
    return planned


def _grow(growing: _Growing, planned: Sequence[_Planned]) -> None:
    start = len(growing.yes)
    growing.roots.append(start)
    for node in planned:
        number = growing.add(node.predicate, node.position)
        if node.parent >= 0:
            (growing.yes if node.holds else growing.no)[start + node.parent] = number


def _same(left: Predicate, right: Predicate) -> bool:
    return left is right or left == right
