"""Predicates about columns as literals and as clauses.

A predicate about one column is a set of its places: it is constant on each, so the place's value speaks for it.
Theorem: for every assignment of the columns there is exactly one extension to the variables that are defined here,
and in it the literal of a predicate is true iff the predicate holds at the values of the places taken. By induction
over the predicate: sets of places by :func:`.gates.in_places`, ``and``, ``or``, ``not`` by gates, and a comparison of
several columns by :mod:`.linear` over all their places, which for this must be single values.

What is only required needs fewer variables: clauses are written for it directly (:meth:`Predicates.require`). Column x
is outside of a run of places iff it is below its first or not below the one after its last, two literals; so "the
parts do not hold together" is one clause where each column has one run.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from itertools import product
from operator import and_, or_

from fairdsl.backends.ssat.encode.linear import Ordered, at_least
from fairdsl.backends.ssat.gates import FALSE, TRUE, Column, Gates, Literal, NotSingleError, in_places, runs
from fairdsl.ir.expr import And, Compare, Linear, Member, Not, Or, Predicate, Relation, fold, holds, variables

#: Clauses that one disjunction may become before a column gets a variable of its own.
_SPREAD = 8


@dataclass(slots=True)
class Parts:
    """A conjunction: each column in one of its places, a set as in :mod:`..gates`, and all literals true."""

    places: dict[int, int] = field(default_factory=dict)
    literals: list[Literal] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        """Whether it plainly never holds."""
        return FALSE in self.literals or not all(self.places.values())


class Predicates:
    """Predicates over these columns; each is looked at once."""

    def __init__(self, gates: Gates, columns: Mapping[int, Column]) -> None:
        self.gates = gates
        self.columns = columns
        # By identity, since trees repeat their tests; the predicate is kept so that its identity stays its own.
        self._literals: dict[int, tuple[Predicate, Literal]] = {}
        self._single: dict[int, tuple[Predicate, tuple[int, int] | None]] = {}
        self._tests: dict[tuple[int, Fraction, Fraction, Relation], int] = {}

    def single(self, predicate: Predicate) -> tuple[int, int] | None:
        """The column and the set of places of a predicate about one column; None of any other."""
        known = self._single.get(id(predicate))
        if known is None:
            known = self._single[id(predicate)] = predicate, self._found(predicate)
        return known[1]

    def _found(self, predicate: Predicate) -> tuple[int, int] | None:
        match predicate:
            case Compare(left=Linear(terms=((variable, factor),), constant=constant), relation=relation):
                # What trees test, in thousands of paths.
                test = variable.attribute, factor, constant, relation
                places = self._tests.get(test)
                if places is None:
                    places = self._tests[test] = _places(predicate, self.columns[variable.attribute])
                return variable.attribute, places
            case _:
                mentioned = {variable.attribute for variable in variables(predicate)}
                if len(mentioned) != 1:
                    return None
                (column,) = mentioned
                return column, _places(predicate, self.columns[column])

    def literal(self, predicate: Predicate) -> Literal:
        """The literal that is true iff the predicate holds.

        Comparisons of several columns raise :class:`.gates.NotSingleError` where a place of theirs is not a single
        value, and :class:`.linear.TooLargeError`.
        """
        known = self._literals.get(id(predicate))
        if known is None:
            known = self._literals[id(predicate)] = predicate, self._made(predicate)
        return known[1]

    def _made(self, predicate: Predicate) -> Literal:
        single = self.single(predicate)
        if single is not None:
            column, places = single
            return in_places(self.gates, self.columns[column].below, places)
        match predicate:
            case Not(part):
                return -self.literal(part)
            case And():
                return self.conjunction(self.parts(predicate))
            case Or():
                return -self.conjunction(self.parts(predicate, False))
            case Compare(left=left, relation=relation):
                return self._compared(left, relation)
            case Member():
                raise ValueError("membership is about one column")

    def parts(self, predicate: Predicate, truth: bool = True) -> Parts:
        """What holds together iff the predicate has this truth, one set of places a column."""
        found = Parts()
        for each, wanted in _taken_apart(predicate, truth):
            if (single := self.single(each)) is not None:
                column, places = single
                everywhere = self.columns[column].everywhere
                here = places if wanted else everywhere ^ places
                found.places[column] = found.places.get(column, everywhere) & here
            else:
                found.literals.append(self.literal(each) if wanted else -self.literal(each))
        return found

    def conjunction(self, parts: Parts) -> Literal:
        """The literal that is true iff the parts hold together."""
        if parts.empty:
            return FALSE
        sets = (in_places(self.gates, self.columns[column].below, places) for column, places in parts.places.items())
        return self.gates.conjunction([*sets, *parts.literals])

    def against(self, parts: Parts) -> list[tuple[Literal, ...]]:
        """Clauses that hold together iff the parts do not."""
        if parts.empty:
            return []
        rest = [-literal for literal in parts.literals if literal != TRUE]
        choices: list[list[tuple[Literal, ...]]] = []
        spread = 1
        for column, places in sorted(parts.places.items(), key=lambda item: len(list(runs(item[1])))):
            below = self.columns[column].below
            outside = list(_outside(below, places))
            if spread * len(outside) > _SPREAD and len(outside) > 1:
                rest.append(-in_places(self.gates, below, places))
            else:
                spread *= len(outside)
                choices.append(outside)
        return [(*(literal for part in chosen for literal in part), *rest) for chosen in product(*choices)]

    def require(self, predicate: Predicate, truth: bool = True) -> None:
        """Demand that the predicate has this truth."""
        for each, wanted in _taken_apart(predicate, truth):
            if isinstance(each, Compare) and self.single(each) is None:
                self.gates.require(self.literal(each) if wanted else -self.literal(each))
            else:
                for clause in self.against(self.parts(each, not wanted)):
                    self.gates.require(*clause)

    def _compared(self, left: Linear, relation: Relation) -> Literal:
        groups = []
        for variable, coefficient in left.terms:
            column = self.columns[variable.attribute]
            if not all(column.single):
                raise NotSingleError(variable.attribute)
            groups.append(Ordered(column.below, tuple(coefficient * value for value in column.values)))
        return at_least(self.gates, left.constant, groups, relation, Fraction(0))


def predicate_literal(gates: Gates, predicate: Predicate, columns: Mapping[int, Column]) -> Literal:
    """The literal of one predicate; errors as of :meth:`Predicates.literal`."""
    return Predicates(gates, columns).literal(predicate)


def _taken_apart(predicate: Predicate, truth: bool) -> Iterator[tuple[Predicate, bool]]:
    """Predicates with a truth each that are no conjunctions, and hold together iff this one has its truth."""
    stack = [(predicate, truth)]
    while stack:
        each, wanted = stack.pop()
        if isinstance(each, Not):
            stack.append((each.part, not wanted))
        elif isinstance(each, And if wanted else Or):
            stack.extend((part, wanted) for part in reversed(each.parts))
        else:
            yield each, wanted


def _outside(below: Sequence[Literal], places: int) -> Iterator[tuple[Literal, ...]]:
    """Clauses that hold together iff the value is in none of the places."""
    for first, last in runs(places):
        before = below[first - 1 : first] if first else ()
        yield (*before, *(-literal for literal in below[last : last + 1]))


def _places(predicate: Predicate, column: Column) -> int:
    """The places at which a predicate about this column holds."""

    def of_atom(atom: Compare | Member) -> int:
        match atom:
            case Member(values=values):
                return sum(1 << place for place, value in enumerate(column.values) if value in values)
            case Compare(left=Linear(terms=((_, factor),), constant=constant), relation=relation):
                return _compared_places(column, relation, -constant / factor, factor > 0)
            case _:
                return column.everywhere if holds(atom, lambda _: Fraction(0)) else 0

    every = column.everywhere
    return fold(
        predicate, of_atom, lambda parts: reduce(and_, parts, every), lambda parts: reduce(or_, parts, 0), every.__xor__
    )


def _compared_places(column: Column, relation: Relation, border: Fraction, rising: bool) -> int:
    """The places where ``value RELATION border``, turned around unless the expression rises with the value."""
    under = (1 << bisect_left(column.values, border)) - 1
    up_to = (1 << bisect_right(column.values, border)) - 1
    match relation:
        case Relation.EQ:
            return up_to ^ under
        case Relation.NE:
            return column.everywhere ^ up_to ^ under
        case Relation.LT:
            return under if rising else column.everywhere ^ up_to
        case Relation.LE:
            return up_to if rising else column.everywhere ^ under
        case Relation.GT:
            return column.everywhere ^ up_to if rising else under
        case Relation.GE:
            return column.everywhere ^ under if rising else up_to
