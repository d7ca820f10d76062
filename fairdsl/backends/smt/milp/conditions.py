"""What restricts a pair beside boxes, as linear inequalities over the variables of a query.

Kept are the comparisons among the conjuncts of ``where``, target and pair target, and the distances of relaxed
attributes. Between whole numbers ``< n`` becomes ``<= n - 1``, other strict comparisons become non-strict ones,
and everything else is left out: the rows say less than the question, never more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, lcm

from fairdsl.backends.smt.region import Region
from fairdsl.ir.expr import And, Compare, Predicate, Relation, Variable, Who, conjoin
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair
from fairdsl.numerics.narrow import without_not

__all__ = ["Row", "order_rows", "pair_rows"]

#: Rows with coefficients outside of this range are left out: their products might vanish or overflow.
_ORDINARY = (2.0**-500, 2.0**500)


@dataclass(frozen=True, slots=True)
class Row:
    """``sum of coefficient * variable <= limit``."""

    coefficients: Mapping[int, Fraction]
    limit: Fraction


@dataclass(frozen=True, slots=True)
class _Named:
    """Where each attribute's variable stands, which attributes are shared, and which are whole numbers."""

    index: Mapping[tuple[str, int], int]
    shared: Sequence[bool]
    whole: Sequence[bool]

    def column(self, variable: Variable, who: str) -> int:
        """The variable's column where unnamed individuals are ``who``."""
        owner = who if variable.who is Who.EACH else variable.who.value
        return self.index["a" if self.shared[variable.attribute] else owner, variable.attribute]


def pair_rows(
    problem: Problem, pair: Pair, region: Region, whole: Sequence[bool], index: Mapping[tuple[str, int], int]
) -> list[Row]:
    """The rows that hold of every admissible pair; ``index`` is where each attribute's variable stands."""
    named = _Named(index, region.shared, whole)
    found = [
        row
        for who in ("a", "b")
        for part in _linear(conjoin(problem.domain.where, pair.target))
        for row in _as_rows(part, who, named)
        if len(row.coefficients) > 1  # the boxes say what concerns one attribute alone
    ]
    found += [row for part in _linear(pair.pair_target) for row in _as_rows(part, "a", named)]
    for relaxation in pair.relax:
        if relaxation.by is not None:
            a, b = index["a", relaxation.attribute], index["b", relaxation.attribute]
            for row in (
                Row({a: Fraction(1), b: Fraction(-1)}, relaxation.by),
                Row({a: Fraction(-1), b: Fraction(1)}, relaxation.by),
            ):
                found.append(_rounded(row, whole[relaxation.attribute], strict=False))
    return [row for number, row in enumerate(found) if _is_ordinary(row) and row not in found[:number]]


def order_rows(pair: Pair, whole: Sequence[bool], index: Mapping[tuple[str, int], int]) -> dict[int, tuple[Row, Row]]:
    """For each attribute that must differ: a < b and b < a, one of which holds; whole numbers differ by 1."""
    if pair.mode is not Differ.EACH and len(pair.differ) > 1:
        return {}
    orders = {}
    for attribute in pair.differ:
        a, b = index["a", attribute], index["b", attribute]
        step = Fraction(-1 if whole[attribute] else 0)
        orders[attribute] = (
            Row({a: Fraction(1), b: Fraction(-1)}, step),
            Row({a: Fraction(-1), b: Fraction(1)}, step),
        )
    return orders


def _linear(predicate: Predicate) -> Iterator[Compare]:
    """The comparisons that must all hold."""
    match without_not(predicate):
        case Compare() as compare:
            yield compare
        case And(parts):
            for part in parts:
                yield from _linear(part)
        case _:
            return


def _as_rows(part: Compare, who: str, named: _Named) -> Iterator[Row]:
    terms: dict[int, Fraction] = {}
    for variable, factor in part.left.terms:
        column = named.column(variable, who)
        terms[column] = terms.get(column, Fraction(0)) + factor
    whole = all(named.whole[variable.attribute] for variable, _ in part.left.terms)
    strict = part.relation in (Relation.LT, Relation.GT)
    if part.relation in (Relation.LE, Relation.LT, Relation.EQ):
        yield _rounded(Row(terms, -part.left.constant), whole, strict)
    if part.relation in (Relation.GE, Relation.GT, Relation.EQ):
        negated = {column: -factor for column, factor in terms.items()}
        yield _rounded(Row(negated, part.left.constant), whole, strict)


def _rounded(row: Row, whole: bool, strict: bool) -> Row:
    """The row with the least limit that whole numbers allow."""
    if not whole:
        return row
    scale = lcm(*(factor.denominator for factor in row.coefficients.values()))
    limit = ceil(row.limit * scale) - 1 if strict else floor(row.limit * scale)
    return Row(row.coefficients, Fraction(limit, scale))


def _is_ordinary(row: Row) -> bool:
    sizes = [abs(factor) for factor in row.coefficients.values() if factor]
    return all(_ORDINARY[0] <= size <= _ORDINARY[1] for size in sizes)
