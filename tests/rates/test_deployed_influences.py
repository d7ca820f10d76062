"""Influences of files that decide anything near the threshold, against the extremes person by person."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from fairdsl.backends.contract import Budget
from fairdsl.backends.rates.deployed_influences import influences_near
from fairdsl.backends.rates.gate import has_states
from fairdsl.ir.domain import Domain
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.expr import TRUE, Relation, Who
from fairdsl.ir.model import ByThreshold, Model
from fairdsl.ir.population import Network
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric
from tests import builders, oracle
from tests.drawing import examples
from tests.rates.laws import masses, random_laws
from tests.strategies import predicates
from tests.subset_sum.laws import asked
from tests.tree_strategies import tree_models

F = Fraction
Point = tuple[Fraction, ...]


def needed(problem: Problem, widened: ByThreshold) -> Enclosure | None:
    """The least and the greatest influence in a group; None where one is nobody's."""
    law, question = problem.population, problem.question
    assert isinstance(law, Network)
    assert isinstance(question, GroupMetric)
    values = [[cell.low or F(0) for cell in cells] for cells in law.cells]
    drawn = list(product(*(values[at] for at in question.influence)))
    wholes: dict[Point, Fraction] = defaultdict(F)
    more: dict[Point, dict[Point, Fraction]] = defaultdict(lambda: defaultdict(F))
    for cells, mass in masses(law).items():
        point = tuple(values[at][cell] for at, cell in enumerate(cells))
        if not oracle.true_for(question.given, {Who.EACH: point}):
            continue
        group = tuple(point[at] for at in question.across)
        wholes[group] += mass
        more[group][point] += mass
        for instead in drawn:
            at = dict(zip(question.influence, instead, strict=True))
            more[group][tuple(at.get(column, value) for column, value in enumerate(point))] -= mass / len(drawn)
    found = []
    for group in product(*(values[at] for at in question.across)):
        if not wholes[group]:
            return None
        low = high = F(0)
        for point, mass in more[group].items():
            one, other = (
                favours(replace(problem.model, rule=replace(widened, low=at, high=at)), point)
                for at in (widened.low, widened.high)
            )
            near = (min(mass, F(0)), max(mass, F(0))) if one is not other else (mass, mass) if one else (F(0), F(0))
            low, high = low + near[0], high + near[1]
        found.append((low / wholes[group], high / wholes[group]))
    return Enclosure(low=min(low for low, _ in found), high=max(high for _, high in found))


def favours(model: Model, point: Point) -> bool:
    return bool(model.favours(np.array(oracle.outcome(model, point))))


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    law = draw(random_laws())
    group, *others = draw(st.permutations(range(len(law.columns))))
    influence = tuple(draw(st.lists(st.sampled_from(others), min_size=1, unique=True)))
    if draw(st.booleans()):
        model = draw(tree_models(Domain(name="People", attributes=law.columns, where=TRUE), True))
    else:
        weights = draw(st.lists(st.integers(-2, 2), min_size=len(law.columns), max_size=len(law.columns)))
        relation = draw(st.sampled_from([">", ">=", "<", "<="]))
        model = builders.score(weights, draw(st.integers(-4, 4)), relation)
    return asked(
        law,
        replace(model, favourable=draw(st.integers(0, 1))),
        group,
        metric="acceptance_rate",
        influence=influence,
        given=draw(st.one_of(st.just(TRUE), predicates(law.columns))),
    )


@settings(max_examples=examples(1), deadline=None, suppress_health_check=list(HealthCheck))
@given(problems(), st.fractions(0, 2, max_denominator=4))
def test_as_wide_as_it_has_to_be(problem: Problem, room: Fraction) -> None:
    rule = problem.model.rule
    assert isinstance(rule, ByThreshold)
    assume(rule.relation not in (Relation.EQ, Relation.NE) and has_states(problem.model))
    widened = replace(rule, low=rule.low - room, high=rule.high + room)
    truth = needed(problem, widened)
    assume(truth is not None)
    assert influences_near(problem, widened, Budget.of(60.0)) == truth
