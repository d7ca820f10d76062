"""Predicates as what verifiers of networks understand: closed linear inequalities over real variables.

Widening. Let P be a predicate over attributes. ``closed(P)`` is a formula of ``and``, ``or`` and inequalities
``... >= 0`` over the reals that holds wherever P does:

* ``<`` becomes ``<=``; where an expression takes whole numbers only, ``L < 0`` is ``L <= -1`` and ``L != 0`` is
  ``L <= -1 or L >= 1``, which loses nobody;
* ``L != 0`` over reals says nothing any more;
* ``x in {..}`` becomes the runs of consecutive integers in the set, as intervals.

Never the other way round: so whatever admits no pair after the widening admits none before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm

from fairdsl.ir.expr import And, Compare, Linear, Member, Not, Or, Predicate, Relation, Variable
from fairdsl.numerics.narrow import without_not

__all__ = ["NEVER", "All", "Formula", "Line", "Some", "above", "all_of", "any_of", "below", "closed"]

#: A variable of the file, as it is written there.
Name = str


@dataclass(frozen=True, slots=True)
class Line:
    """``constant + sum of coefficient * variable``; as a formula: that this is at least 0."""

    terms: tuple[tuple[Name, Fraction], ...] = ()
    constant: Fraction = Fraction(0)

    @classmethod
    def of(cls, coefficients: Mapping[Name, Fraction], constant: Fraction = Fraction(0)) -> Line:
        """From a mapping, in its order; zero coefficients are dropped."""
        return cls(tuple((name, factor) for name, factor in coefficients.items() if factor), constant)

    def __add__(self, other: Line) -> Line:
        coefficients = dict(self.terms)
        for name, factor in other.terms:
            coefficients[name] = coefficients.get(name, Fraction(0)) + factor
        return Line.of(coefficients, self.constant + other.constant)

    def scaled(self, factor: Fraction) -> Line:
        """The expression times a number."""
        return Line.of({name: own * factor for name, own in self.terms}, self.constant * factor)

    def plus(self, number: Fraction | int) -> Line:
        """The expression and a number more."""
        return Line(self.terms, self.constant + number)


@dataclass(frozen=True, slots=True)
class All:
    """All parts hold; no parts: true."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """Some part holds; no parts: false."""

    parts: tuple[Formula, ...]


Formula = Line | All | Some

ALWAYS = All(())
NEVER = Some(())

#: What represents an attribute of an individual.
Number = Callable[[Variable], Line]


def all_of(parts: Iterable[Formula]) -> Formula:
    """The conjunction, flattened; what constants decide is decided."""
    kept: list[Formula] = []
    for part in map(_decided, parts):
        if part == NEVER:
            return NEVER
        kept.extend(part.parts if isinstance(part, All) else [part])
    return kept[0] if len(kept) == 1 else All(tuple(kept))


def any_of(parts: Iterable[Formula]) -> Formula:
    """The disjunction, flattened; what constants decide is decided."""
    kept: list[Formula] = []
    for part in map(_decided, parts):
        if part == ALWAYS:
            return ALWAYS
        kept.extend(part.parts if isinstance(part, Some) else [part])
    return kept[0] if len(kept) == 1 else Some(tuple(kept))


def above(line: Line, bound: Fraction | int) -> Line:
    """``line >= bound``."""
    return line.plus(-bound)


def below(line: Line, bound: Fraction | int) -> Line:
    """``line <= bound``."""
    return line.scaled(Fraction(-1)).plus(bound)


def closed(predicate: Predicate, number: Number, whole: Callable[[Variable], bool]) -> Formula:
    """A closed formula that holds wherever the predicate does.

    ``number`` gives an attribute's value in the file's variables, ``whole`` says whether it is always an integer.
    """
    return _closed(without_not(predicate), number, whole)


def _closed(predicate: Predicate, number: Number, whole: Callable[[Variable], bool]) -> Formula:
    match predicate:
        case Compare(left=left, relation=relation):
            return _compared(left, relation, number, all(whole(variable) for variable, _ in left.terms))
        case Member(variable=variable, values=values):
            return _among(number(variable), values, whole(variable))
        case Not(Member(variable=variable, values=values)):
            return _not_among(number(variable), values, whole(variable))
        case And(parts):
            return all_of(_closed(part, number, whole) for part in parts)
        case Or(parts):
            return any_of(_closed(part, number, whole) for part in parts)
        case _:
            raise AssertionError("negations stand before memberships only")


def _compared(left: Linear, relation: Relation, number: Number, whole: bool) -> Formula:
    if whole:  # so that one step is the least difference
        left = left.scaled(Fraction(lcm(left.constant.denominator, *(c.denominator for _, c in left.terms))))
    line = Line(constant=left.constant)
    for variable, coefficient in left.terms:
        line = line + number(variable).scaled(coefficient)
    step = Fraction(int(whole))
    match relation:
        case Relation.GE:
            return above(line, 0)
        case Relation.GT:
            return above(line, step)
        case Relation.LE:
            return below(line, 0)
        case Relation.LT:
            return below(line, -step)
        case Relation.EQ:
            return all_of((above(line, 0), below(line, 0)))
        case Relation.NE:
            return any_of((above(line, step), below(line, -step))) if whole else ALWAYS


def _among(line: Line, values: Iterable[Fraction], whole: bool) -> Formula:
    ordered = sorted(value for value in values if not whole or value.denominator == 1)
    runs: list[list[Fraction]] = []
    for value in ordered:
        if runs and whole and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    return any_of(all_of((above(line, run[0]), below(line, run[-1]))) for run in runs)


def _not_among(line: Line, values: Iterable[Fraction], whole: bool) -> Formula:
    """Everything but the values: over the reals everything, over integers what lies below, between and above."""
    if not whole:
        return ALWAYS
    ordered: Sequence[Fraction] = sorted(value for value in values if value.denominator == 1)
    if not ordered:
        return ALWAYS
    gaps: list[Formula] = [below(line, ordered[0] - 1)]
    gaps += [all_of((above(line, x + 1), below(line, y - 1))) for x, y in pairwise(ordered) if y > x + 1]
    return any_of((*gaps, above(line, ordered[-1] + 1)))


def _decided(formula: Formula) -> Formula:
    """A line without variables is true or false."""
    if isinstance(formula, Line) and not formula.terms:
        return ALWAYS if formula.constant >= 0 else NEVER
    return formula
