"""Lists of rules: the model is the list, and rates of groups under it are those of enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairdsl.backends.contract import Offer
from fairdsl.backends.rates import Rates
from fairdsl.backends.rates.cover import Cover
from fairdsl.backends.rates.gate import refusal_of_sum
from fairdsl.ir.domain import Domain, Point
from fairdsl.ir.expr import TRUE, And
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.model import ByThreshold
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.subject import subject_of
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.numerics.exact import decision
from fairdsl.numerics.leaves import Leaves
from tests import oracle
from tests.drawing import examples
from tests.rates.laws import random_laws
from tests.rates.test_covers import enumerated
from tests.rule_strategies import decided, listed, model_of, rule_lists, rule_models
from tests.strategies import domains
from tests.subset_sum.laws import asked, encloses, joint_of

RELAXED = settings(max_examples=examples(0.7), deadline=None, suppress_health_check=list(HealthCheck))


def everybody(domain: Domain) -> list[Point]:
    return list(product(*(oracle.values_of(attribute.type) for attribute in domain.attributes)))


@RELAXED
@given(domains(), st.sampled_from([2, 3]), st.data())
def test_the_model_decides_what_the_list_says(domain: Domain, count: int, data: st.DataObject) -> None:
    source = data.draw(rule_lists(domain, count))
    model = model_of(source, "abc"[:count])
    people = everybody(domain)
    expected = [decided(source, point) for point in people]
    assert [oracle.outcome(model, point) for point in people] == expected
    assert [decision(model, point) for point in people] == expected
    found, doubtful = BatchEvaluator(model).decisions(np.array(people, dtype=np.float64))
    assert found.tolist() == expected
    assert not doubtful.any()


@RELAXED
@given(domains(), st.data())
def test_the_list_is_read_off_its_indicators_again(domain: Domain, data: st.DataObject) -> None:
    source = data.draw(rule_lists(domain))
    model = model_of(source)
    leaves = Leaves.of(model)
    if not model.one_of:
        assert model.inputs == (IndicatorInput(source.rules[0].condition),)
        return
    assert leaves.trees == 1
    assert leaves.depth == len(source.rules)
    assert len(leaves.others) == 0


@st.composite
def group_problems(draw: st.DrawFn) -> Problem:
    law = draw(random_laws())
    model = draw(rule_models(Domain(name="People", attributes=law.columns, where=TRUE)))
    across = draw(st.lists(st.integers(0, len(law.columns) - 1), min_size=1, max_size=2, unique=True))
    return asked(law, model, *across)


@RELAXED
@given(group_problems())
def test_rates_of_groups_are_exact(problem: Problem) -> None:
    assert isinstance(Rates().offer(problem), Offer)
    part, total = enumerated(problem)
    found = Cover(subject_of(problem))
    while not found.finished:
        found.improve()
    joint = found.joint()
    assert {key: (bounds.low, bounds.high) for key, bounds in joint.favourable.items()} == {
        key: (truth, truth) for key, truth in part.items()
    }
    assert {key: bounds.low for key, bounds in joint.total.items()} == total
    # Sums of weighted indicators are the other engine's subject; of three outcomes there is no one sum.
    assert isinstance(problem.question, GroupMetric)
    if isinstance(problem.model.rule, ByThreshold):
        assert refusal_of_sum(problem) is None
        sums = joint_of(problem).joint
        assert sums is not None
        assert all(encloses(sums.favourable[key], truth) for key, truth in part.items())
        assert all(encloses(sums.total[key], truth) for key, truth in total.items())


def test_a_single_rule_of_two_outcomes_is_its_indicator() -> None:
    condition = And(())
    model = model_of(listed([(condition, 0)], 1))
    assert model.inputs == (IndicatorInput(condition),)
    assert model.one_of == ()
    assert (model.rule.granted, model.rule.otherwise) == (0, 1)
