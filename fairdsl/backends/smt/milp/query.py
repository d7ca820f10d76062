"""Queries: can linear conditions on the scores of one or two copies of a network be met together?

The *variables* are the attributes of the individuals (one variable where both share an attribute), then the
indicators that the network reads. A query keeps, of what restricts them, boxes, tables and linear
inequalities; everything else is left out. So a query over-approximates its case: what is refuted here is
refuted there, and a point found here is still to be checked.

The inequalities are the comparisons among the conjuncts of ``where``, target and pair target, and the distances of
relaxed attributes. Between whole numbers ``< n`` becomes ``<= n - 1``, and other strict comparisons non-strict ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, lcm

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.smt.cases import Case, asked_by
from fairdsl.backends.smt.region import Region, reads_only
from fairdsl.ir.ensemble import listed_of, reads_of
from fairdsl.ir.expr import Compare, Predicate, Relation, Variable, Who, conjoin, conjuncts, holds
from fairdsl.ir.feature import AttributeInput, IndicatorInput, Input
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair
from fairdsl.numerics.bounds import FloatLayer, float_layers, outward
from fairdsl.numerics.dual import Targets
from fairdsl.numerics.leaves import Leaves
from fairdsl.numerics.narrow import Finite, Interval, without_not

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.intp]

#: Attributes with at most so many values are listed value by value where indicators depend on them.
_LISTED = 64


@dataclass(frozen=True, slots=True)
class Listing:
    """The values of one attribute of one individual, and what its variables are at each of them.

    ``table`` is [values, columns] and ``columns`` says which variables these are: the attribute itself,
    then its indicators.
    """

    who: str
    attribute: int
    values: tuple[Fraction, ...]
    columns: IntArray
    table: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """The copies of a network, what is asked of their scores, and what their variables satisfy.

    ``attributes`` are the variables that are attributes, (individual, attribute); ``indicators`` those after
    them, (individual, position among the inputs), and ``depends`` [indicators, attributes of the domain] says what
    each of them depends on. ``leaves`` are the trees among what is read. ``inputs[copy]`` is where the copy's inputs
    stand.
    ``always`` marks the rows that hold everywhere; the rows of ``orders[attribute]`` say a < b and b < a.
    """

    layers: tuple[FloatLayer, ...]
    reads: Sequence[Input]
    leaves: Leaves
    copies: tuple[str, ...]
    attributes: tuple[tuple[str, int], ...]
    indicators: tuple[tuple[str, int], ...]
    depends: BoolArray
    inputs: tuple[IntArray, ...]
    whole: BoolArray
    targets: Targets
    strict: BoolArray
    rows: FloatArray
    limits: FloatArray
    always: BoolArray
    orders: Mapping[int, tuple[int, int]]
    listings: tuple[Listing, ...]

    @property
    def width(self) -> int:
        """How many variables there are."""
        return len(self.attributes) + len(self.indicators)


def pair_query(problem: Problem, case: Case) -> Query:
    """The case as a query, for all regions inside the case's."""
    pair, region = asked_by(problem, case), case.region
    query = network_query(float_layers(problem.model), problem.model.inputs, region, ("a", "b"))
    index = {owned: column for column, owned in enumerate(query.attributes)}
    whole = [_is_whole(region, attribute) for attribute in range(len(region.a))]
    rows = pair_rows(problem, pair, region, whole, index)
    always = len(rows)
    orders: dict[int, tuple[int, int]] = {}
    for attribute, (less, more) in order_rows(pair, whole, index).items():
        orders[attribute] = (len(rows), len(rows) + 1)
        rows += [less, more]
    matrix = np.zeros((len(rows), query.width))
    for number, row in enumerate(rows):
        for column, factor in row.coefficients.items():
            matrix[number, column] = float(factor)
    targets = Targets(
        (_matrix(atom.a for atom in case.atoms), _matrix(atom.b for atom in case.atoms)),
        np.array([outward(atom.constant, atom.constant)[1] for atom in case.atoms]),
    )
    return replace(
        query,
        targets=targets,
        strict=np.array([atom.strict for atom in case.atoms], dtype=np.bool_),
        rows=matrix,
        limits=np.array([outward(row.limit, row.limit)[1] for row in rows], dtype=np.float64),
        always=np.arange(len(rows)) < always,
        orders=orders,
    )


def network_query(
    layers: Sequence[FloatLayer], reads: Sequence[Input], region: Region, copies: tuple[str, ...]
) -> Query:
    """Copies of a network on a region; asked is whether the first score can be >= 0."""
    attributes = tuple(
        (who, attribute)
        for attribute, shared in enumerate(region.shared)
        for who in copies
        if who == copies[0] or not shared
    )
    column = {who_attribute: number for number, who_attribute in enumerate(attributes)}
    flags: dict[tuple[str, int], int] = {}
    inputs: list[IntArray] = []
    listed, shared = listed_of(reads), reads_only(reads, region.shared).tolist()
    for who in copies:
        found: list[int] = []
        for position in range(len(reads)):
            owner = copies[0] if shared[position] else who
            item = listed[position] if position < len(listed) else None
            if isinstance(item, AttributeInput):
                found.append(column[owner, item.attribute])
                continue
            if (owner, position) not in flags:
                flags[owner, position] = len(attributes) + len(flags)
            found.append(flags[owner, position])
        inputs.append(np.array(found, dtype=np.intp))
    indicators = tuple(flags)
    depends = reads_of(reads, len(region.shared))[[position for _, position in indicators]]
    width = len(attributes) + len(indicators)
    whole = [_is_whole(region, attribute) for _, attribute in attributes] + [True] * len(indicators)
    first = np.zeros((1, len(layers[-1].bias)))
    first[0, 0] = 1.0
    return Query(
        layers=tuple(layers),
        reads=reads,
        leaves=Leaves.among(reads),
        copies=copies,
        attributes=attributes,
        indicators=indicators,
        depends=depends,
        inputs=tuple(inputs),
        whole=np.array(whole, dtype=np.bool_),
        targets=Targets(tuple(first if who == copies[0] else 0.0 * first for who in copies), np.zeros(1)),
        strict=np.zeros(1, dtype=np.bool_),
        rows=np.zeros((0, width)),
        limits=np.zeros(0),
        always=np.zeros(0, dtype=np.bool_),
        orders={},
        listings=tuple(_listings(reads, region, attributes, indicators, depends)),
    )


def _is_whole(region: Region, attribute: int) -> bool:
    """Whether the attribute takes whole numbers only."""
    return all(
        isinstance(values, Finite)
        and (isinstance(values.values, range) or all(Fraction(v).denominator == 1 for v in values.values))
        for values in (region.a[attribute], region.b[attribute])
    )


def _listings(
    reads: Sequence[Input],
    region: Region,
    attributes: Sequence[tuple[str, int]],
    indicators: Sequence[tuple[str, int]],
    depends: BoolArray,
) -> Iterator[Listing]:
    alone = np.where(depends.sum(axis=1) == 1, depends.argmax(axis=1), -1) if len(indicators) else np.zeros(0)
    for column, (who, attribute) in enumerate(attributes):
        values = region.sets(who)[attribute]
        if isinstance(values, Interval) or not 0 < values.count <= _LISTED:
            continue
        columns, table = [column], [[float(value) for value in values.values]]
        for number in np.flatnonzero(alone == attribute).tolist():
            owner, position = indicators[number]
            if owner == who:
                item = reads[position]
                assert isinstance(item, IndicatorInput)
                columns.append(len(attributes) + number)
                table.append([float(_true_at(item.predicate, value)) for value in values.values])
        if len(columns) > 1:
            exact = tuple(Fraction(value) for value in values.values)
            yield Listing(who, attribute, exact, np.array(columns, dtype=np.intp), np.array(table).T)


def _true_at(predicate: Predicate, value: int | Fraction) -> bool:
    return holds(predicate, lambda _: Fraction(value))


def _matrix(rows: Iterable[Sequence[Fraction]]) -> FloatArray:
    return np.array([[float(value) for value in row] for row in rows], dtype=np.float64)


# ---- what restricts a pair beside boxes ----------------------------------------------------------

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
            for row in _apart(relaxation.attribute, relaxation.by, index):
                found.append(_rounded(row, whole[relaxation.attribute], strict=False))
    return [row for number, row in enumerate(found) if _is_ordinary(row) and row not in found[:number]]


def order_rows(pair: Pair, whole: Sequence[bool], index: Mapping[tuple[str, int], int]) -> dict[int, tuple[Row, Row]]:
    """For each attribute that must differ: a < b and b < a, one of which holds; whole numbers differ by 1."""
    if pair.mode is not Differ.EACH and len(pair.differ) > 1:
        return {}
    orders = {}
    for attribute in pair.differ:
        orders[attribute] = _apart(attribute, Fraction(-1 if whole[attribute] else 0), index)
    return orders


def _apart(attribute: int, limit: Fraction, index: Mapping[tuple[str, int], int]) -> tuple[Row, Row]:
    """a's value less b's is at most the limit, and b's less a's."""
    a, b = index["a", attribute], index["b", attribute]
    return Row({a: Fraction(1), b: Fraction(-1)}, limit), Row({a: Fraction(-1), b: Fraction(1)}, limit)


def _linear(predicate: Predicate) -> Iterator[Compare]:
    """The comparisons that must all hold."""
    return (part for part in conjuncts(without_not(predicate)) if isinstance(part, Compare))


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
