"""Predicates with some attributes fixed: what they still ask of the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from fairdsl.ir.expr import FALSE, TRUE, And, Compare, Linear, Member, Not, Or, Predicate, Variable, Who, fold
from fairdsl.numerics.narrow import ValueSet, decided

#: The number that a variable represents, or None where it stays open.
Fixing = Callable[[Variable], Fraction | None]


def restrict(predicate: Predicate, fixing: Fixing) -> Predicate:
    """The predicate with the variables fixed; the open ones are shared by all individuals (``Who.EACH``)."""

    def of_atom(atom: Compare | Member) -> Predicate:
        match atom:
            case Compare(left=left, relation=relation, span=span):
                fixed = _fixed(left, fixing)
                if not fixed.terms:
                    return _constant(relation.compares(fixed.constant, Fraction(0)))
                return Compare(left=fixed, relation=relation, span=span)
            case Member(variable=variable, values=values, span=span):
                value = fixing(variable)
                if value is not None:
                    return _constant(value in values)
                return Member(variable=Variable(variable.attribute, Who.EACH), values=values, span=span)

    return fold(predicate, of_atom, _conjunction, disjunction, _negation)


def settle(predicate: Predicate, sets: Sequence[ValueSet]) -> Predicate:
    """The predicate (over ``Who.EACH``) with what is the same for all points of the product replaced."""

    def of_atom(atom: Compare | Member) -> Predicate:
        truth = decided(atom, sets)
        return atom if truth is None else _constant(truth)

    return fold(predicate, of_atom, _conjunction, disjunction, _negation)


def _fixed(left: Linear, fixing: Fixing) -> Linear:
    terms: dict[Variable, Fraction] = {}
    constant = left.constant
    for variable, coefficient in left.terms:
        value = fixing(variable)
        if value is None:
            shared = Variable(variable.attribute, Who.EACH)
            terms[shared] = terms.get(shared, Fraction(0)) + coefficient
        else:
            constant += coefficient * value
    return Linear.of(terms, constant)


def _constant(value: bool) -> Predicate:
    return TRUE if value else FALSE


def _conjunction(parts: Sequence[Predicate]) -> Predicate:
    left = [part for part in parts if part != TRUE]
    if FALSE in left:
        return FALSE
    return left[0] if len(left) == 1 else And(tuple(left))


def disjunction(parts: Sequence[Predicate]) -> Predicate:
    """The alternative, without parts that are constant."""
    left = [part for part in parts if part != FALSE]
    if TRUE in left:
        return TRUE
    return left[0] if len(left) == 1 else Or(tuple(left))


def _negation(part: Predicate) -> Predicate:
    if part in (TRUE, FALSE):
        return FALSE if part == TRUE else TRUE
    return part.part if isinstance(part, Not) else Not(part)
