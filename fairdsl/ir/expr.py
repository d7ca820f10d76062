"""Exact linear expressions and predicates over one individual or several.

A predicate about one individual speaks of :attr:`Who.EACH`; conditions that name ``a`` or ``b`` speak of :attr:`Who.A`
and :attr:`Who.B`, and of the others where formulas are about more than two. Everything is linear with rational
coefficients; every comparison keeps its strictness.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import TypeVar

from fairdsl.source import Span

_Value = TypeVar("_Value")


class Who(Enum):
    """Whose attribute a variable is."""

    EACH = "each"
    A = "a"
    B = "b"
    C = "c"
    D = "d"


class Relation(Enum):
    """A comparison, written as in the language."""

    EQ = "="
    NE = "!="
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="

    def compares(self, left: Fraction | int, right: Fraction | int) -> bool:
        """Whether ``left RELATION right``."""
        match self:
            case Relation.EQ:
                return left == right
            case Relation.NE:
                return left != right
            case Relation.LT:
                return left < right
            case Relation.LE:
                return left <= right
            case Relation.GT:
                return left > right
            case Relation.GE:
                return left >= right

    @property
    def upwards(self) -> bool:
        """Whether it holds of all that is large enough, and of nothing that is small."""
        return self in (Relation.GT, Relation.GE)

    @property
    def downwards(self) -> bool:
        """Whether it holds of all that is small enough, and of nothing that is large."""
        return self in (Relation.LT, Relation.LE)

    @property
    def words(self) -> str:
        """As English: ``is at least 80%``."""
        return _WORDS[self]

    @property
    def negated(self) -> Relation:
        """The relation that holds exactly when this one does not."""
        return _NEGATED[self]

    @property
    def mirrored(self) -> Relation:
        """The relation read from right to left; also that of -x and -t where x and t have this one."""
        return _MIRRORED.get(self, self)


_WORDS = {
    Relation.EQ: "equal to",
    Relation.NE: "not equal to",
    Relation.LT: "less than",
    Relation.LE: "at most",
    Relation.GT: "more than",
    Relation.GE: "at least",
}
_NEGATED = {
    Relation.EQ: Relation.NE,
    Relation.NE: Relation.EQ,
    Relation.LT: Relation.GE,
    Relation.GE: Relation.LT,
    Relation.GT: Relation.LE,
    Relation.LE: Relation.GT,
}
_MIRRORED = {Relation.LT: Relation.GT, Relation.GT: Relation.LT, Relation.LE: Relation.GE, Relation.GE: Relation.LE}


@dataclass(frozen=True, slots=True)
class Variable:
    """An attribute (by its position in the domain) of one of the individuals."""

    #: Its position in the domain.
    attribute: int
    #: Whose it is.
    who: Who = Who.EACH

    @property
    def sort_key(self) -> tuple[int, str]:
        """A total order, for stable output."""
        return (self.attribute, self.who.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Linear:
    """``constant + sum of coefficient * variable``; terms sorted, coefficients non-zero."""

    #: Variables and what they are multiplied by.
    terms: tuple[tuple[Variable, Fraction], ...] = ()
    #: What is added.
    constant: Fraction = Fraction(0)

    @classmethod
    def of(cls, coefficients: Mapping[Variable, Fraction], constant: Fraction = Fraction(0)) -> Linear:
        """Build from a mapping; zero coefficients are dropped."""
        present = ((variable, factor) for variable, factor in coefficients.items() if factor)
        return cls(terms=tuple(sorted(present, key=lambda term: term[0].sort_key)), constant=constant)

    def __add__(self, other: Linear) -> Linear:
        coefficients = dict(self.terms)
        for variable, coefficient in other.terms:
            coefficients[variable] = coefficients.get(variable, Fraction(0)) + coefficient
        return Linear.of(coefficients, self.constant + other.constant)

    def scaled(self, factor: Fraction) -> Linear:
        """The expression times a number."""
        return Linear.of({v: c * factor for v, c in self.terms}, self.constant * factor)

    def __sub__(self, other: Linear) -> Linear:
        return self + other.scaled(Fraction(-1))

    def renamed(self, who: Mapping[Who, Who]) -> Linear:
        """The same expression about other individuals."""
        return Linear.of({Variable(v.attribute, who.get(v.who, v.who)): c for v, c in self.terms}, self.constant)

    def value(self, of: Callable[[Variable], Fraction]) -> Fraction:
        """The exact value where ``of`` gives each variable's."""
        return sum((c * of(v) for v, c in self.terms), self.constant)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compare:
    """``left RELATION 0``."""

    #: What is compared with 0.
    left: Linear
    #: How.
    relation: Relation
    span: Span | None = field(compare=False, repr=False, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """``variable`` takes one of ``values`` (a finite set: categories, booleans, lists of integers)."""

    #: What is one of them.
    variable: Variable
    #: The numbers that it may be.
    values: frozenset[Fraction]
    span: Span | None = field(compare=False, repr=False, default=None)


@dataclass(frozen=True, slots=True)
class And:
    """All parts hold; no parts: true."""

    #: The parts.
    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Some part holds; no parts: false."""

    #: The parts.
    parts: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold."""

    #: What does not hold.
    part: Predicate


Predicate = Compare | Member | And | Or | Not

TRUE = And(())
FALSE = Or(())


def conjoin(*predicates: Predicate) -> Predicate:
    """The conjunction, flattened; ``TRUE`` when nothing is left."""
    parts: list[Predicate] = []
    for predicate in predicates:
        if isinstance(predicate, And):
            parts.extend(predicate.parts)
        else:
            parts.append(predicate)
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def opposite(predicate: Predicate) -> Predicate:
    """The negation, as the other side of a test is written."""
    match predicate:
        case Compare(left=left, relation=relation):
            return Compare(left=left, relation=relation.negated)
        case Not(part):
            return part
        case _:
            return Not(predicate)


def conjuncts(predicate: Predicate) -> tuple[Predicate, ...]:
    """The parts that must all hold, none of them a conjunction."""
    if isinstance(predicate, And):
        return tuple(conjunct for part in predicate.parts for conjunct in conjuncts(part))
    return (predicate,)


def atoms(predicate: Predicate) -> Iterator[Compare | Member]:
    """The comparisons and memberships that a predicate is made of, with repetitions."""
    match predicate:
        case Compare() | Member():
            yield predicate
        case And(parts) | Or(parts):
            for part in parts:
                yield from atoms(part)
        case Not(part):
            yield from atoms(part)


def fold(
    predicate: Predicate,
    atom: Callable[[Compare | Member], _Value],
    every: Callable[[list[_Value]], _Value],
    some: Callable[[list[_Value]], _Value],
    other: Callable[[_Value], _Value],
) -> _Value:
    """What a predicate is in other terms, from what its atoms are; ``other`` negates."""
    match predicate:
        case And(parts):
            return every([fold(part, atom, every, some, other) for part in parts])
        case Or(parts):
            return some([fold(part, atom, every, some, other) for part in parts])
        case Not(part):
            return other(fold(part, atom, every, some, other))
        case Compare() | Member():
            return atom(predicate)


def mapped(predicate: Predicate, atom: Callable[[Compare | Member], Predicate]) -> Predicate:
    """The same predicate of other atoms."""
    return fold(predicate, atom, lambda parts: And(tuple(parts)), lambda parts: Or(tuple(parts)), Not)


def borders(predicate: Predicate) -> Iterator[Fraction]:
    """Where a predicate about one attribute may change its truth, with repetitions."""
    for atom in atoms(predicate):
        match atom:
            case Compare(left=left):
                yield from (-left.constant / factor for _, factor in left.terms)
            case Member(values=values):
                yield from values


def variables(predicate: Predicate) -> Iterator[Variable]:
    """Every variable that occurs, with repetitions."""
    for atom in atoms(predicate):
        match atom:
            case Compare(left=left):
                yield from (variable for variable, _ in left.terms)
            case Member(variable=variable):
                yield variable


def rename(predicate: Predicate, who: Mapping[Who, Who]) -> Predicate:
    """The same predicate about other individuals, e.g. ``{EACH: A}``."""
    return substitute(predicate, lambda variable: Variable(variable.attribute, who.get(variable.who, variable.who)))


def substitute(predicate: Predicate, by: Callable[[Variable], Variable]) -> Predicate:
    """The same predicate about other variables; those that become one are added up."""

    def renamed(atom: Compare | Member) -> Predicate:
        match atom:
            case Compare(left=left, relation=relation, span=span):
                terms: dict[Variable, Fraction] = {}
                for variable, coefficient in left.terms:
                    terms[by(variable)] = terms.get(by(variable), Fraction(0)) + coefficient
                return Compare(left=Linear.of(terms, left.constant), relation=relation, span=span)
            case Member(variable=variable, values=values, span=span):
                return Member(variable=by(variable), values=values, span=span)

    return mapped(predicate, renamed)


def holds(predicate: Predicate, of: Callable[[Variable], Fraction]) -> bool:
    """Whether the predicate is true where ``of`` gives each variable's exact value."""
    match predicate:
        case Compare(left=left, relation=relation):
            return relation.compares(left.value(of), Fraction(0))
        case Member(variable=variable, values=values):
            return of(variable) in values
        case And(parts):
            return all(holds(part, of) for part in parts)
        case Or(parts):
            return any(holds(part, of) for part in parts)
        case Not(part):
            return not holds(part, of)


def holds_at(predicate: Predicate, value: Fraction) -> bool:
    """Whether a predicate about one attribute is true at a value of it."""
    return holds(predicate, lambda _: value)
