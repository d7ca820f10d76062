"""The individuals as SMT-LIB: their variables, values, and which pairs are comparable.

Definition (docs/semantics.md, sections 1 and 2). Both individuals lie in the domain and in the target.
An attribute that is neither in ``differ`` nor relaxed is *one* variable for all. Of the differing
attributes any, or all, differ; relaxed ones lie within their distance; ``pair_target`` holds of (a, b).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from math import lcm

from fairdsl.backends.smt import terms
from fairdsl.backends.smt.terms import Term
from fairdsl.ir.domain import Attribute, Category, Domain, Real
from fairdsl.ir.expr import Compare, Linear, Member, Predicate, Relation, Variable, Who, fold
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair
from fairdsl.numerics.narrow import Finite, Interval, ValueSet
from fairdsl.source import Span


class Individuals:
    """Names and constraints of a pair, or of the individuals with other ``letters``; ``who`` is a letter throughout."""

    def __init__(self, domain: Domain, pair: Pair, letters: str = "ab") -> None:
        self._domain = domain
        self._pair = pair
        self.letters = letters
        apart = {*pair.differ, *(relaxation.attribute for relaxation in pair.relax)}
        self.shared = tuple(index not in apart for index in range(len(domain.attributes)))

    def symbol(self, who: str, attribute: int) -> Term:
        """The variable: ``x.NAME`` where both individuals share it, else ``a.NAME`` or ``b.NAME``."""
        name = self._domain.attributes[attribute].name
        if not name.isprintable() or "|" in name or "\\" in name:
            name = f".{attribute}"  # such a name cannot be quoted; no other name begins with a dot
        return terms.symbol(f"{'x' if self.shared[attribute] else who}.{name}")

    def number(self, who: str, attribute: int) -> Term:
        """The attribute's number as a Real."""
        symbol = self.symbol(who, attribute)
        return symbol if self._is_real(attribute) else f"(to_real {symbol})"

    def variables(self) -> Iterator[tuple[str, int]]:
        """Every variable once: (individual, attribute), in the order of the domain."""
        for attribute, shared in enumerate(self.shared):
            yield from ((letter, attribute) for letter in (self.letters[:1] if shared else self.letters))

    def declarations(self) -> Iterator[str]:
        """The variables, each with a comment on its values."""
        for index, attribute in enumerate(self._domain.attributes):
            yield from _comment(attribute)
            sort = "Real" if self._is_real(index) else "Int"
            for who, position in self.variables():
                if position == index:
                    yield f"(declare-const {self.symbol(who, index)} {sort})"

    def within(self, who: str, attribute: int, values: ValueSet) -> Term:
        """The attribute takes one of the values; gaps between them stay gaps."""
        symbol = self.symbol(who, attribute)
        if isinstance(values, Interval):
            parts = [f"(<= {terms.rational(values.low)} {symbol})"] if values.low is not None else []
            if values.high is not None:
                parts.append(f"(<= {symbol} {terms.rational(values.high)})")
            return terms.conjunction(parts)
        runs = _runs(values.values)
        return terms.disjunction(
            f"(= {symbol} {self._constant(attribute, first)})"
            if first == last
            else f"(<= {self._constant(attribute, first)} {symbol} {self._constant(attribute, last)})"
            for first, last in runs
        )

    def membership(self) -> list[Term]:
        """All individuals satisfy the domain's ``where`` and the target; what they share is said once."""
        both = [self.holds(part, who) for part in (self._domain.where, self._pair.target) for who in self.letters]
        return list(dict.fromkeys(both))

    def comparable(self) -> Iterator[Term]:
        """The rules on each two and on all, one at a time."""
        join = terms.conjunction if self._pair.mode is Differ.EACH else terms.disjunction
        for one, other in combinations(self.letters, 2):
            different = [
                f"(not (= {self.symbol(one, index)} {self.symbol(other, index)}))" for index in self._pair.differ
            ]
            if different:  # of one individual there is nobody else
                yield join(different)
            for relaxation in self._pair.relax:
                if relaxation.by is not None:
                    a, b = self.number(one, relaxation.attribute), self.number(other, relaxation.attribute)
                    by = relaxation.by
                    yield f"(<= {terms.rational(-by)} (- {a} {b}) {terms.rational(by)})"
        yield self.holds(self._pair.pair_target, "a")

    def holds(self, predicate: Predicate, who: str) -> Term:
        """The predicate about ``who``; variables of ``Who.A``, ``Who.B`` and so on are a's, b's and so on."""

        def of_atom(atom: Compare | Member) -> Term:
            match atom:
                case Compare(left=left, relation=relation):
                    return self._compare(left, relation, who)
                case Member(variable=variable, values=values):
                    return self._member(variable, values, who)

        return fold(predicate, of_atom, terms.conjunction, terms.disjunction, terms.negation)

    def _compare(self, left: Linear, relation: Relation, default: str) -> Term:
        whole = not any(self._is_real(variable.attribute) for variable, _ in left.terms)
        scale = lcm(left.constant.denominator, *(c.denominator for _, c in left.terms)) if whole else 1
        summands = []
        for variable, coefficient in left.terms:
            who = _who(variable, default)
            term = (self.symbol if whole else self.number)(who, variable.attribute)
            summands.append(terms.product(coefficient * scale, term, whole=whole))
        limit = -left.constant * scale
        right = terms.integer(limit.numerator) if whole else terms.rational(limit)
        sign = "=" if relation is Relation.NE else relation.value
        comparison = f"({sign} {terms.total(summands, whole=whole)} {right})"
        return terms.negation(comparison) if relation is Relation.NE else comparison

    def _member(self, variable: Variable, values: Iterable[Fraction], default: str) -> Term:
        symbol = self.symbol(_who(variable, default), variable.attribute)
        possible = [v for v in sorted(values) if self._is_real(variable.attribute) or v.denominator == 1]
        return terms.disjunction(f"(= {symbol} {self._constant(variable.attribute, v)})" for v in possible)

    def _constant(self, attribute: int, value: Fraction | int) -> Term:
        return terms.rational(Fraction(value)) if self._is_real(attribute) else terms.integer(int(value))

    def _is_real(self, attribute: int) -> bool:
        return isinstance(self._domain.attributes[attribute].type, Real)


def people_of(problem: Problem) -> Individuals:
    """Those whom a question is about; of one individual the second letter says nothing."""
    asked = problem.demanded
    letters = "".join(who.value for who in asked.people) if asked.several else "ab"
    return Individuals(problem.domain, asked.pair, letters)


def declared(attribute: Attribute) -> ValueSet:
    """All values of an attribute's type."""
    values = attribute.values
    return Interval(*attribute.bounds) if values is None else Finite(values)


def _who(variable: Variable, default: str) -> str:
    return default if variable.who is Who.EACH else variable.who.value


def _runs(values: Sequence[int | Fraction]) -> list[tuple[int | Fraction, int | Fraction]]:
    """First and last of each run of consecutive integers."""
    if isinstance(values, range):
        return [(values[0], values[-1])] if values else []
    ordered = sorted(values)
    cuts = [i for i, (x, y) in enumerate(pairwise(ordered), start=1) if y != x + 1]
    starts, stops = [0, *cuts], [*cuts, len(ordered)]
    return [(ordered[i], ordered[j - 1]) for i, j in zip(starts, stops, strict=True)] if ordered else []


def _comment(attribute: Attribute) -> Iterator[str]:
    yield f"; {commented(attribute.name)}{place(attribute.span)}"
    if isinstance(attribute.type, Category):
        yield ";   " + ", ".join(f"{value.code} = {commented(value.name)}" for value in attribute.type.values)


def place(span: Span | None) -> str:
    """Where in the spec something is written, for a comment; empty where it is not."""
    return "" if span is None else f" (line {span.first.line})"


def commented(text: str) -> str:
    """The text on one line, fit for a comment."""
    return " ".join(text.split())
