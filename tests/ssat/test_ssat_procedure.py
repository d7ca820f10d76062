"""Through the file: offers, plans, budgets, learning, and the traps that others fell into."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from itertools import product

import numpy as np
import pytest
from click.testing import CliRunner

from fairdsl.backends.contract import Budget, Facts, Offer, Refusal, Silent
from fairdsl.backends.ssat import Ssat
from fairdsl.backends.ssat.files import Sdimacs
from fairdsl.backends.ssat.options import SsatOptions
from fairdsl.cli.app import cli
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.domain import Attribute, Integer, Real
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.expr import And, Predicate
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.metric import Comparison, Metric
from fairdsl.ir.model import Model
from fairdsl.ir.population import Cell, Inside, Network, Normal, Sample
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Excluding
from fairdsl.plan.negotiate import Plan, negotiate
from fairdsl.prelude import metric_named, metrics
from fairdsl.verdict import Reason, Refused, Unknown, Value
from tests import builders
from tests.subset_sum.laws import asked, bernoulli, booleans, factor, linear, network, points

F = Fraction


def answered(problem: Problem, seconds: float = 30.0, **tactics: str | None) -> Value | Refused | Unknown:
    assert isinstance(Ssat().offer(problem), Offer)
    budget = Budget.of(seconds, SsatOptions(**tactics))  # type: ignore[arg-type]
    return Ssat().answer(problem, Facts(), budget, Silent())


def value(problem: Problem, seconds: float = 30.0, **tactics: str | None) -> Value:
    found = answered(problem, seconds, **tactics)
    assert isinstance(found, Value), found
    return found


def rule(predicate: Predicate) -> Model:
    return linear([1], 1, inputs=[IndicatorInput(predicate)])


def tree(*leaves: tuple[Predicate, int]) -> Model:
    inputs = [IndicatorInput(predicate) for predicate, _ in leaves]
    model = linear([weight for _, weight in leaves], F(1, 2), inputs=inputs)
    return replace(model, groups=(tuple(range(len(inputs))),))


def flags(*chances: object) -> Network:
    """Independent booleans."""
    names = booleans(*(f"x{place}" for place in range(len(chances))))
    return network(names, [factor(place, bernoulli(chance)) for place, chance in enumerate(chances)])


def test_worked_example_of_two_groups() -> None:
    """Fitness, income and job by group: (not F or I) and (F or J) has .1881 and .7234, by hand from the chances."""
    given = {"F": ("0.82", "0.01"), "I": ("0.88", "0.99"), "J": ("0.01", "0.18")}
    law = network(
        booleans("A", *given),
        [
            factor(0, bernoulli(F(1, 2))),
            *(
                factor(place, {(0,): bernoulli(F(young)), (1,): bernoulli(F(old))}, (0,))
                for place, (young, old) in enumerate(given.values(), start=1)
            ),
        ],
    )
    fit, income, job = (builders.member(place, 1) for place in (1, 2, 3))
    unfit = builders.member(1, 0)
    model = tree(
        (And((fit, income)), 1),
        (And((fit, builders.member(2, 0))), 0),
        (And((unfit, job)), 1),
        (And((unfit, builders.member(3, 0))), 0),
    )
    found = value(asked(law, model, 0))
    assert [rate.low for rate in found.rates] == [rate.high for rate in found.rates] == [F("0.7234"), F("0.1881")]
    assert (found.low, found.high) == (F("0.5353"), F("0.5353"))
    assert "exact rationals" in found.evidence.method


def test_offers_and_refusals() -> None:
    law = flags(F(1, 2), F(1, 3))
    plain = asked(law, rule(builders.member(1, 1)), 0)
    assert isinstance(Ssat().offer(plain), Offer)
    real = Attribute(name="r", type=Real(low=F(0), high=F(1)))
    wide = (Cell(low=F(0), high=F(1), inside=Inside.UNIFORM),)
    range_ = network(
        (*booleans("A"), real), [factor(0, bernoulli(F(1, 2))), factor(1, (F(1),))], [points((0, 1)), wide]
    )
    normal = network(
        (*booleans("A"), real),
        [factor(0, bernoulli(F(1, 2))), factor(1, {(): Normal(mean=F(0), sd=F(1))})],
        [points((0, 1)), wide],
    )
    hidden = builders.model(builders.layer([[1, 1]], [0]), builders.layer([[1]], [0], 1), attributes=2)
    refused = {
        "hidden units": replace(plain, model=hidden),
        "numbers of `r`": asked(range_, linear([1, 1], 1), 0),
        "normal": asked(normal, rule(builders.linear({1: 1}, ">", F(1, 2))), 0),
        "paths": replace(plain, question=replace(plain.question, metric=metric_named("path_specific_gap"))),
        "no population": replace(plain, population=None),
        "no favourable": replace(plain, model=replace(plain.model, favourable=None)),
    }
    for why, problem in refused.items():
        found = Ssat().offer(problem)
        assert isinstance(found, Refusal), why
        assert why in found.why
    # A rule on a range is no reason, and neither is a normal column that nobody looks at.
    assert isinstance(Ssat().offer(asked(range_, rule(builders.linear({1: 1}, ">", F(1, 2))), 0)), Offer)
    assert isinstance(Ssat().offer(asked(normal, rule(builders.member(0, 1)), 0)), Offer)


@pytest.mark.parametrize(
    ("model", "first"),
    [
        (rule(And((builders.member(0, 1), builders.member(1, 1)))), "rates"),
        (linear([1, 2], 1), "rates"),
    ],
)
def test_the_file_is_a_second_opinion(model: Model, first: str) -> None:
    """Whoever else can answer is asked before; it is asked where that leaves the question open."""
    plan = negotiate(asked(flags(F(1, 2), F(1, 3)), model, 0))
    assert isinstance(plan, Plan)
    assert [stage.procedure.name for stage in plan.stages] == [first]
    assert "ssat" in [stage.procedure.name for stage in plan.others]
    assert [stage.procedure.name for stage in plan.then] == ["ssat"]


def many_groups(count: int = 9) -> Problem:
    """2^count groups; the rule grants where most of three flags differ from the chance that depends on them."""
    names = booleans(*(f"g{place}" for place in range(count)), "x", "y")
    rows = {key: bernoulli(F(1 + key[0] + 2 * key[1], 5)) for key in product(range(2), repeat=2)}
    law = network(
        names,
        [
            *(factor(place, bernoulli(F(1, 2))) for place in range(count)),
            factor(count, rows, (0, 1)),
            factor(count + 1, {(0,): bernoulli(F(1, 10)), (1,): bernoulli(F(9, 10))}, (count,)),
        ],
    )
    x, no_x, y = builders.member(count, 1), builders.member(count, 0), builders.member(count + 1, 1)
    model = tree(
        (And((x, y)), 1),
        (And((x, builders.member(count + 1, 0))), 0),
        (And((no_x, y)), 0),
        (And((no_x, builders.member(count + 1, 0))), 1),
    )
    return asked(law, replace(model), *range(count))


def test_many_groups_are_left_to_the_solver() -> None:
    problem = many_groups()
    learned, each = value(problem), value(problem, groups="enumerate")
    assert (learned.low, learned.high) == (each.low, each.high)
    assert any("found by the solver" in note for note in learned.evidence.notes)
    assert not any("found by the solver" in note for note in each.evidence.notes)


def test_learning_leaves_out_what_the_question_leaves_out() -> None:
    """A group of probability 0 would be the most favoured one."""
    group = Attribute(name="g", type=Integer(low=0, high=2))
    rates = {(0,): bernoulli(F(1, 3)), (1,): bernoulli(F(1, 2)), (2,): bernoulli(1)}
    law = network(
        (group, *booleans("x")),
        [factor(0, (F(1, 2), F(1, 2), F(0))), factor(1, rates, (0,))],
        [points(range(3)), points((0, 1))],
    )
    problem = asked(law, rule(builders.member(1, 1)), 0, excluding=Excluding(rows=None))
    for groups in ("enumerate", "learn"):
        found = value(problem, groups=groups)
        assert (found.low, found.high) == (F(1, 6), F(1, 6))
        assert found.excluded == ({"g": 2},)


@pytest.mark.parametrize("metric", ["parity_gap", "odds_gap"])
def test_groups_of_few_rows_are_not_the_extremes(metric: str) -> None:
    """Of three groups the one with two rows has the highest rate; with the label, rows of all its values count."""
    group = Attribute(name="g", type=Integer(low=0, high=2))
    rates = {(0,): bernoulli(F(1, 4)), (1,): bernoulli(F(1, 2)), (2,): bernoulli(F(9, 10))}
    law = network(
        (group, *booleans("x", "y")),
        [factor(0, (F(1, 3),) * 3), factor(1, rates, (0,)), factor(2, bernoulli(F(1, 2)))],
        [points(range(3)), points((0, 1)), points((0, 1))],
        has_label=True,
    )
    rows = np.array(
        [[group, 0, label] for group in (0, 1) for label in (0, 1) for _ in range(5)] + [[2, 1, 0], [2, 1, 1]]
    )
    sample = Sample(path="rows.csv", sha256="ab" * 32, values=ExactRows.of_floats(rows))
    problem = asked(
        replace(law, sample=sample), rule(builders.member(1, 1)), 0, metric=metric, excluding=Excluding(rows=10)
    )
    for groups in ("enumerate", "learn"):
        found = value(problem, groups=groups)
        assert (found.low, found.high) == (F(1, 4), F(1, 4))
        assert {each["g"] for each in found.excluded} == {2}


def test_what_cannot_be_learned_is_enumerated_and_said() -> None:
    problem = asked(flags(F(1, 2), F(1, 3)), rule(builders.member(1, 1)), 0, metric="acceptance_rate")
    found = value(problem, groups="learn")
    assert [(rate.low, rate.high) for rate in found.rates] == [(F(1, 3), F(1, 3))] * 2
    assert any("every group was asked by itself" in note for note in found.evidence.notes)


def test_trap_18_a_bound_is_no_value() -> None:
    """When the time is up there are bounds on both sides, and a reason: no bound is reported as the value."""
    problem = many_groups()
    for groups in ("enumerate", "learn"):
        found = value(problem, seconds=0.0, groups=groups)
        assert found.reason is Reason.TIMEOUT
        assert (found.low, found.high) == (0, 1)
        assert not found.exact


def test_trap_17_what_is_above_counts() -> None:
    """`0 A + 1 C + 2 X >= 2` with Pr[X | A] = .9 and .2: the rates differ, whatever was known of C."""
    law = network(
        booleans("A", "C", "X"),
        [
            factor(0, bernoulli(F(1, 2))),
            factor(1, bernoulli(F(1, 2))),
            factor(2, {(0,): bernoulli(F(1, 5)), (1,): bernoulli(F(9, 10))}, (0,)),
        ],
    )
    for groups in ("enumerate", "learn"):
        found = value(asked(law, linear([0, 1, 2], 2), 0, metric="impact_ratio"), groups=groups)
        assert (found.low, found.high) == (F(2, 9), F(2, 9))


BY_EXTREMES = [
    metric
    for metric in metrics()
    if metric.comparison in (Comparison.GAP, Comparison.RATIO)
    and metric.rate.of_decisions
    and not metric.rate.along_paths
]


@pytest.mark.parametrize("metric", BY_EXTREMES, ids=lambda metric: metric.name)
def test_the_extreme_groups_say_what_all_of_them_do(metric: Metric) -> None:
    """Two attributes across, a tree that reads them and another, and a label that depends on one of each."""
    draw = random.Random(0)
    columns = booleans("A", "B", "C", "Y")
    truth = {(x, y): bernoulli(F(draw.randint(1, 9), 10)) for x in (0, 1) for y in (0, 1)}
    chances = [factor(column, bernoulli(F(draw.randint(1, 9), 10))) for column in range(3)]
    law = replace(network(columns, [*chances, factor(3, truth, (0, 2))]), has_label=True)
    model = linear([draw.randint(-3, 3), draw.randint(-3, 3), draw.randint(1, 3)], 1)
    problem = asked(law, model, 0, 1, metric=metric.name, deserving=F(1))
    learned, enumerated = (value(problem, groups=groups) for groups in ("learn", "enumerate"))
    assert any("of all groups, found by the solver" in note for note in learned.evidence.notes)
    assert (learned.low, learned.high, learned.defined) == (enumerated.low, enumerated.high, enumerated.defined)


def test_trap_19_small_probabilities_and_empty_groups_are_what_they_are() -> None:
    """A chance of one in a million is not a thousandth, and nobody's rate is not a number."""
    million = F(1, 10**6)
    found = value(asked(flags(F(1, 2), million), rule(builders.member(1, 1)), 0, metric="acceptance_rate"))
    assert {(rate.low, rate.high) for rate in found.rates} == {(million, million)}
    empty = asked(flags(0, million), rule(builders.member(1, 1)), 0)
    assert isinstance(answered(empty), Refused)
    nobody = asked(flags(F(1, 2), 0), rule(builders.member(1, 1)), 0, metric="impact_ratio")
    assert value(nobody).reason is Reason.UNDEFINED


def test_trap_21_equal_rates_have_a_parity_of_exactly_nothing() -> None:
    """Chances of many digits: the parity is 0, not -1e-7, and a ratio is never above 1."""
    third, tiny = F(1, 3), F(123456789, 10**10)
    law = flags(F(1, 2), third, tiny)
    model = rule(And((builders.member(1, 1), builders.member(2, 1))))
    for groups in ("enumerate", "learn"):
        found = value(asked(law, model, 0), groups=groups)
        assert (found.low, found.high) == (0, 0)
        ratio = value(asked(law, model, 0, metric="impact_ratio"), groups=groups)
        assert (ratio.low, ratio.high) == (1, 1)
    rates = value(asked(law, model, 0, metric="acceptance_rate")).rates
    assert {rate.low for rate in rates} == {third * tiny}


def test_groups_are_chosen_on_the_command_line() -> None:
    result = CliRunner().invoke(cli, ["check", "--set", "ssat.groups=guess", __file__])
    assert result.exit_code == 2
    assert "enumerate" in result.output
    with pytest.raises(DiagnosticError, match="`enumerate` or `learn`, not `guess`"):
        SsatOptions(groups="guess")  # type: ignore[arg-type]


def test_files_that_are_solved_at_once_are_the_instances_alone() -> None:
    problem = asked(flags(F(1, 3), F(1, 2), F(1, 5)), linear([1, 1, 1], 2), 0)
    written = Sdimacs().written(problem, None)
    texts = [(written.files[each["file"]], each["instance"]) for each in written.quantities if "file" in each]
    assert texts
    for text, digest in texts:
        assert sha256(text).hexdigest() == digest  # which is that of the instance without names and comments
