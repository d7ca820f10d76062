"""Random small problems about models that read leaves of trees and one-hot codes beside attributes."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from fairdsl.ir.domain import Attribute, Domain
from fairdsl.ir.expr import And, Compare, Linear, Member, Predicate, Relation, Variable, Who, opposite
from fairdsl.ir.feature import AttributeInput, IndicatorInput, Input
from fairdsl.ir.model import ByHighest, ByThreshold, Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Quantity
from tests.strategies import ORDERS, RATIONAL, SMALL, atoms, domains, layers, questions

Way = tuple[Predicate, ...]


@st.composite
def tests_of(draw: st.DrawFn, columns: tuple[Attribute, ...]) -> Predicate:
    """Mostly what trees test: one attribute against a number."""
    if draw(st.integers(0, 4)) == 0:
        return draw(atoms(columns, (Who.EACH,)))
    index = draw(st.integers(0, len(columns) - 1))
    border = draw(st.integers(-4, 8).map(lambda value: Fraction(value, 2)))
    factor = draw(st.sampled_from([Fraction(1), Fraction(1), Fraction(-2), Fraction(1, 3)]))
    left = Linear.of({Variable(index): factor}, -factor * border)
    return Compare(left=left, relation=draw(st.sampled_from(ORDERS)))


@st.composite
def tree_ways(draw: st.DrawFn, columns: tuple[Attribute, ...], depth: int = 3) -> list[Way]:
    """The ways to the leaves of a tree, at least two."""
    test = draw(tests_of(columns))
    sides = []
    for predicate in (test, opposite(test)):
        below: list[Way] = [()]
        if depth > 1 and draw(st.booleans()):
            below = draw(tree_ways(columns, depth - 1))
        sides.append([(predicate, *way) for way in below])
    return [*sides[0], *sides[1]]


@st.composite
def tree_models(draw: st.DrawFn, domain: Domain, single_score: bool) -> Model:
    columns = domain.attributes
    inputs: list[Input] = []
    if draw(st.booleans()):
        inputs += [AttributeInput(index) for index in range(len(columns))]
    groups: list[tuple[int, ...]] = []
    if draw(st.integers(0, 2)) == 0:
        index = draw(st.integers(0, len(columns) - 1))
        codes = [Member(variable=Variable(index), values=frozenset({Fraction(v)})) for v in columns[index].values]
        groups.append(tuple(range(len(inputs), len(inputs) + len(codes))))
        inputs += [IndicatorInput(code) for code in codes]
    for _ in range(draw(st.integers(1, 3))):
        ways = draw(tree_ways(columns))
        groups.append(tuple(range(len(inputs), len(inputs) + len(ways))))
        inputs += [IndicatorInput(And(way)) for way in ways]
    width = draw(st.sampled_from([0, 0, 0, 2, 9]))
    count = 1 if single_score or draw(st.integers(0, 2)) else draw(st.integers(2, 3))
    stack = [draw(layers(len(inputs), width, False))] if width else []
    stack.append(draw(layers(width or len(inputs), count, True)))
    rule: ByThreshold | ByHighest = ByHighest()
    if count == 1:
        threshold = draw(st.one_of(st.just(Fraction(0)), SMALL, RATIONAL))
        granted = draw(st.integers(0, 1))
        relation = draw(st.sampled_from([Relation.GT, Relation.GE, Relation.LT]))
        rule = ByThreshold(relation=relation, low=threshold, high=threshold, granted=granted, otherwise=1 - granted)
    return Model(
        name="m",
        outcomes=("no", "yes") if count == 1 else tuple("abc"[:count]),
        inputs=tuple(inputs),
        layers=tuple(stack),
        rule=rule,
        favourable=0,
        groups=tuple(groups),
    )


@st.composite
def tree_problems(draw: st.DrawFn, quantity: Quantity | None = None) -> Problem:
    domain = draw(domains())
    gap = draw(st.integers(0, 4)) == 0
    return Problem(
        name="p",
        domain=domain,
        model=draw(tree_models(domain, single_score=gap)),
        question=draw(questions(domain, gap)),
        quantity=quantity or draw(st.sampled_from([Quantity.HOLDS, Quantity.FAIR_SHARE])),
    )
