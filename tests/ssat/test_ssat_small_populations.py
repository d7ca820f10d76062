"""Random small models and laws: satisfiability and enumeration of individuals say the same, exactly."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairdsl.backends.contract import Budget, Facts, Refusal, Silent
from fairdsl.backends.rates.engine import LAST, Ways
from fairdsl.backends.ssat import Ssat
from fairdsl.backends.ssat.distribution import Distribution
from fairdsl.backends.ssat.gate import distributions_of
from fairdsl.backends.ssat.options import SsatOptions
from fairdsl.backends.ssat.questions import Inquiry
from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import TRUE, And
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.model import Model
from fairdsl.ir.population import Network
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Excluding, GroupMetric
from fairdsl.metrics.joint import Bounds, Joint
from fairdsl.metrics.subject import Subject, subject_of, without_influence
from fairdsl.metrics.value import value_of
from fairdsl.verdict import Evidence, Refused, Value
from tests.drawing import examples
from tests.rates.laws import random_laws
from tests.rates.test_covers import enumerated
from tests.strategies import models, predicates
from tests.subset_sum.laws import asked, linear
from tests.tree_strategies import tree_models, tree_ways

F = Fraction
RELAXED = settings(max_examples=examples(1), deadline=None, suppress_health_check=list(HealthCheck))
NOBODY = Evidence(backend="", method="")


@st.composite
def trees(draw: st.DrawFn, people: Domain) -> Model:
    """One tree, whose leaves are indicators and whose decision is a threshold on their weights."""
    ways = draw(tree_ways(people.attributes))
    inputs = [IndicatorInput(And(way)) for way in ways]
    weights = [draw(st.sampled_from([0, 1, 1, 2])) for _ in inputs]
    model = linear(weights, 1, inputs=inputs)
    return replace(model, groups=(tuple(range(len(inputs))),))


@st.composite
def rules(draw: st.DrawFn, people: Domain) -> Model:
    return linear([1], 1, inputs=[IndicatorInput(draw(predicates(people.attributes)))])


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    law = draw(random_laws())
    people = Domain(name="People", attributes=law.columns, where=TRUE)
    model = draw(
        st.one_of(
            trees(people),
            rules(people),
            models(people, False, widths=(0,)),
            tree_models(people, False).filter(lambda model: len(model.layers) == 1),
        )
    )
    model = replace(model, favourable=draw(st.integers(0, len(model.outcomes) - 1)))
    across = draw(st.lists(st.integers(0, len(law.columns) - 1), min_size=1, max_size=2, unique=True))
    condition = st.one_of(st.just(TRUE), predicates(law.columns))
    return asked(law, model, *across, where=draw(condition), given=draw(condition))


def inquiry(problem: Problem, subject: Subject | None = None) -> Inquiry:
    question = problem.question
    assert isinstance(question, GroupMetric)
    law = Distribution(subject or subject_of(problem))
    return Inquiry(question, law, counts={})


def exact(joint: Joint) -> tuple[dict[tuple[Fraction, ...], Fraction], dict[tuple[Fraction, ...], Fraction]]:
    assert all(bounds.exact for bounds in (*joint.favourable.values(), *joint.total.values()))
    return (
        {key: bounds.low for key, bounds in joint.favourable.items()},
        {key: bounds.low for key, bounds in joint.total.items()},
    )


@RELAXED
@given(problems())
def test_enumerated_is_exact(problem: Problem) -> None:
    assert not isinstance(distributions_of(problem), Refusal)
    part, total = enumerated(problem)
    assert exact(inquiry(problem).enumerated()) == (part, total)


@RELAXED
@given(problems(), st.data())
def test_influence_is_a_mean_over_the_declared_values(problem: Problem, data: st.DataObject) -> None:
    """The files and the states say the same."""
    law = problem.population
    assert isinstance(law, Network)
    chosen = data.draw(st.integers(0, len(law.columns) - 1))
    assert isinstance(problem.question, GroupMetric)
    subject = without_influence(subject_of(problem), replace(problem.question, influence=(chosen,)))
    assert exact(inquiry(problem, subject).enumerated()) == exact(Ways(subject).within(LAST).joint()[0])


@st.composite
def labelled(draw: st.DrawFn) -> Problem:
    """Metrics of every kind, with the last column as the label: it may have parents and children."""
    law = replace(draw(random_laws()), has_label=True)
    last = len(law.columns) - 1
    people = Domain(name="People", attributes=law.columns[:-1], where=TRUE)
    model = draw(st.one_of(trees(people), rules(people)))
    metrics = ["parity_gap", "impact_ratio", "acceptance_rate", "most_favoured", "least_favoured"]
    if last > 1:
        metrics += ["odds_gap", "opportunity_gap", "predictive_gap"]
    metric = draw(st.sampled_from(metrics))
    across = draw(st.lists(st.integers(0, last - 1), min_size=1, max_size=2, unique=True))
    each = draw(st.lists(st.integers(0, last - 1).filter(lambda column: column not in across), max_size=1))
    condition = st.one_of(st.just(TRUE), predicates(people.attributes))
    deserving = draw(st.sampled_from([cell.low for cell in law.cells[last]]))
    return asked(
        law,
        model,
        *across,
        where=draw(condition),
        given=draw(condition),
        metric=metric,
        given_each=tuple(each),
        deserving=deserving,
        excluding=Excluding(rows=None),
    )


def answered(problem: Problem, groups: str) -> Value | Refused:
    budget = Budget.of(60.0, SsatOptions(groups=groups))
    found = Ssat().answer(problem, Facts(), budget, Silent())
    assert isinstance(found, Value | Refused)
    return found


@RELAXED
@given(labelled())
def test_enumerate_and_learn_are_the_definition(problem: Problem) -> None:
    law, question = problem.population, problem.question
    assert isinstance(law, Network)
    assert isinstance(question, GroupMetric)
    part, total = enumerated(problem)
    truth = value_of(
        question,
        Joint(
            favourable={key: Bounds.exactly(chance) for key, chance in part.items()},
            total={key: Bounds.exactly(chance) for key, chance in total.items()},
        ),
        law,
        NOBODY,
    )
    everybody, extremes = answered(problem, "enumerate"), answered(problem, "learn")
    if isinstance(truth, Refused):
        assert isinstance(everybody, Refused)
        assert isinstance(extremes, Refused)
        return
    assert isinstance(everybody, Value)
    assert isinstance(extremes, Value)
    assert (everybody.low, everybody.high) == (truth.low, truth.high) == (extremes.low, extremes.high)
    assert replace(everybody, evidence=NOBODY) == replace(truth, evidence=NOBODY)
    assert extremes.reason == truth.reason
    assert set(truth.most) <= set(extremes.most)
    assert set(truth.least) <= set(extremes.least)
    for rate, wide in zip(truth.rates, extremes.rates, strict=True):
        assert wide.low <= rate.low <= rate.high <= wide.high
