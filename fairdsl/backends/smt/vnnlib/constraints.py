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

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm

from fairdsl.backends.smt.cases import pair_of
from fairdsl.ir.domain import Real
from fairdsl.ir.expr import (
    And,
    Compare,
    Linear,
    Member,
    Not,
    Or,
    Predicate,
    Relation,
    Variable,
    Who,
    conjuncts,
    rename,
    variables,
)
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ
from fairdsl.numerics.narrow import ValueSet, decided, possible, without_not

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


# ---- which pairs are comparable ------------------------------------------------------------------
#
# Which pairs are comparable, as closed inequalities: the part of a query that is not about scores.
#
# Definition (docs/semantics.md, sections 1 and 2). Both individuals lie in the domain and in the target, the
# differing attributes differ, ``pair_target`` holds, and every indicator that the network reads is 1 exactly
# where its predicate holds. The formulas here are implied by that, never more: see ``constraints``.
# What the value sets of the query say already is left out, so a question about a box stays a box.

Sets = tuple[ValueSet, ...]


@dataclass(frozen=True)
class Space:
    """A query's variables. ``number`` is the value of an attribute of ``"a"`` or ``"b"``, ``flag`` that of
    the model's input at a position, an indicator; ``a`` and ``b`` are the values that the two may have.
    """

    problem: Problem
    a: Sets
    b: Sets
    number: Callable[[str, int], Line]
    flags: Mapping[tuple[str, int], Line]

    def sets(self, who: str) -> Sets:
        """The values of one individual's attributes."""
        return self.a if who == "a" else self.b


def conditions(space: Space, *further: Formula, apart: bool = True) -> tuple[Formula, ...]:
    """Everything about the pair that its value sets do not say, and what is said ``further``, each once.

    ``apart``: that the differing attributes differ is among it.
    """
    differ = [_apart(space)] if apart else []
    joined = all_of([*further, *_membership(space), *differ, *_pair_target(space), *_indicators(space)])
    return tuple(dict.fromkeys(joined.parts if isinstance(joined, All) else (joined,)))


def _membership(space: Space) -> Iterator[Formula]:
    """Domain and target, of both."""
    pair = pair_of(space.problem)
    for predicate in (space.problem.domain.where, pair.target):
        for part in conjuncts(predicate):
            for who in "ab":
                if not _implied(part, space.sets(who)):
                    yield _about(space, part, who)


def _pair_target(space: Space) -> Iterator[Formula]:
    for part in conjuncts(pair_of(space.problem).pair_target):
        read = {variable.who for variable in variables(part)}
        if len(read) == 1:
            (who,) = read
            if _implied(rename(part, {who: Who.EACH}), space.sets(who.value)):
                continue
        yield _about(space, part, "a")


def _apart(space: Space) -> Formula:
    """The differing attributes differ: integers by 1 at least; that two reals differ says nothing when closed."""
    pair = pair_of(space.problem)
    differences = []
    for index in pair.differ:
        gap = space.number("a", index) + space.number("b", index).scaled(Fraction(-1))
        step = int(_whole(space.problem, index))
        differences.append(any_of((above(gap, step), below(gap, -step))))
    return (all_of if pair.mode is Differ.EACH else any_of)(differences)


def _indicators(space: Space) -> Iterator[Formula]:
    """Each indicator is 1 and its predicate holds, or 0 and it does not."""
    for (who, position), flag in space.flags.items():
        item = space.problem.model.inputs[position]
        assert isinstance(item, IndicatorInput)
        if flag.terms and decided(item.predicate, space.sets(who)) is None:
            on, off = _about(space, item.predicate, who), without_not(item.predicate, negated=True)
            yield any_of((all_of((above(flag, 1), on)), all_of((below(flag, 0), _about(space, off, who)))))


def _about(space: Space, predicate: Predicate, who: str) -> Formula:
    return closed(
        predicate,
        lambda variable: space.number(who if variable.who is Who.EACH else variable.who.value, variable.attribute),
        lambda variable: _whole(space.problem, variable.attribute),
    )


def _implied(predicate: Predicate, sets: Sets) -> bool:
    return not possible(without_not(predicate, negated=True), sets)


def _whole(problem: Problem, attribute: int) -> bool:
    return not isinstance(problem.domain.attributes[attribute].type, Real)
