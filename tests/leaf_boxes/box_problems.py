"""Random questions that leaf boxes answer: trees, forests and lone rules, whose tests are on one attribute each."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from hypothesis import strategies as st

from fairdsl.ir.domain import Attribute, Domain
from fairdsl.ir.expr import TRUE, And, Compare, Linear, Member, Not, Or, Predicate, Relation, Variable, opposite
from fairdsl.ir.feature import IndicatorInput, Input
from fairdsl.ir.model import ByHighest, ByThreshold, DecisionRule, Logits, Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair, Quantity
from tests.strategies import COMPARISONS, RATIONAL, SMALL, domains, layers, predicates, questions, sureness

Way = tuple[Predicate, ...]


@st.composite
def single_tests(draw: st.DrawFn, columns: tuple[Attribute, ...]) -> Predicate:
    index = draw(st.integers(0, len(columns) - 1))
    values = [Fraction(value) for value in columns[index].values]
    if draw(st.integers(0, 3)) == 0:
        return Member(variable=Variable(index), values=draw(st.frozensets(st.sampled_from(values), min_size=1)))
    border = draw(st.integers(-6, 14).map(lambda value: Fraction(value, 2)))
    factor = draw(st.sampled_from([Fraction(1), Fraction(-2), Fraction(1, 3)]))
    return Compare(left=Linear.of({Variable(index): factor}, -factor * border), relation=draw(COMPARISONS))


@st.composite
def conditions(draw: st.DrawFn, columns: tuple[Attribute, ...]) -> Predicate:
    parts = [draw(single_tests(columns)) for _ in range(draw(st.integers(1, 3)))]
    joined = draw(st.sampled_from([And, Or]))(tuple(parts))
    return Not(joined) if draw(st.booleans()) else joined


@st.composite
def ways(draw: st.DrawFn, columns: tuple[Attribute, ...], depth: int = 4) -> list[Way]:
    test = draw(st.one_of(single_tests(columns), single_tests(columns), conditions(columns)))
    sides = []
    for predicate in (test, opposite(test)):
        below: list[Way] = [()]
        if depth > 1 and draw(st.booleans()):
            below = draw(ways(columns, depth - 1))
        sides.append([(predicate, *way) for way in below])
    return [*sides[0], *sides[1]]


@st.composite
def box_models(draw: st.DrawFn, domain: Domain, most_trees: int = 3) -> Model:
    columns = domain.attributes
    inputs: list[Input] = []
    groups: list[tuple[int, ...]] = []
    trees = draw(st.integers(0, most_trees))
    for _ in range(trees):
        leaves = draw(ways(columns))
        groups.append(tuple(range(len(inputs), len(inputs) + len(leaves))))
        inputs += [IndicatorInput(And(way)) for way in leaves]
    lone = draw(st.integers(0, 1)) if trees else draw(st.integers(0, 2))
    inputs += [IndicatorInput(draw(conditions(columns))) for _ in range(lone)]
    hidden = trees + lone == 1 and draw(st.booleans())
    scores = draw(st.integers(1, 3))
    stack = [draw(layers(len(inputs), 2, False))] if hidden else []
    stack.append(draw(layers(2 if hidden else len(inputs), scores, True)))
    rule: DecisionRule = ByHighest()
    if scores == 1:
        low = draw(st.one_of(st.just(Fraction(0)), SMALL, RATIONAL))
        granted = draw(st.integers(0, 1))
        relation = draw(st.sampled_from([Relation.GT, Relation.GE, Relation.LT, Relation.LE]))
        rule = ByThreshold(relation=relation, low=low, high=low, granted=granted, otherwise=1 - granted)
    names = ("no", "yes", "maybe")[: max(2, scores)]
    return Model(name="m", outcomes=names, inputs=tuple(inputs), layers=tuple(stack), rule=rule, groups=tuple(groups))


@st.composite
def box_problems(draw: st.DrawFn, quantity: Quantity, most_trees: int = 3) -> Problem:
    domain = replace(draw(domains()), where=TRUE)
    columns = domain.attributes
    domain = replace(domain, where=draw(st.one_of(st.just(TRUE), conditions(columns))))
    indices = st.integers(0, len(columns) - 1)
    question = Pair(
        differ=tuple(draw(st.lists(indices, min_size=1, max_size=3, unique=True))),
        mode=draw(st.sampled_from(list(Differ))),
        target=draw(st.one_of(st.just(TRUE), st.just(TRUE), conditions(columns))),
    )
    model = draw(box_models(domain, most_trees))
    return Problem(name="p", domain=domain, model=model, question=question, quantity=quantity)


@st.composite
def any_problems(draw: st.DrawFn) -> Problem:
    """Trees, and every clause of the language about pairs, alone and together."""
    domain = replace(draw(domains()), where=TRUE)
    columns = domain.attributes
    domain = replace(domain, where=draw(st.one_of(st.just(TRUE), conditions(columns), predicates(columns))))
    model = draw(box_models(domain, 5))
    single = isinstance(model.rule, ByThreshold) and len(model.layers) == 1
    question = draw(questions(domain, single and draw(st.integers(0, 3)) == 0))
    if len(model.layers) == 1 and draw(st.integers(0, 3)) == 0:
        halved = single and draw(st.booleans())
        model = replace(model, logits=Logits(scale=Fraction(1, 2) if halved else Fraction(1)))
        question = replace(question, sure=draw(sureness()))
    return Problem(name="p", domain=domain, model=model, question=question, quantity=Quantity.FAIR_SHARE)
