"""Metrics of groups by drawing: against the definition, as sure as they say, beside what is proved, by the seed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from fairdsl.backends.contract import Budget, Facts, Offer, Refusal, Silent
from fairdsl.backends.rates import Rates
from fairdsl.backends.sampling import Sampling, looks
from fairdsl.backends.sampling.people import People
from fairdsl.ir.domain import Attribute, Integer, Real
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.expr import TRUE, Relation
from fairdsl.ir.model import Model
from fairdsl.ir.population import Cell, Factor, Inside, Network, Normal
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import MOST_FAVOURED, GroupMetric, Precision, Quantity, Threshold
from fairdsl.metrics.drawn import settled
from fairdsl.metrics.subject import subject_of
from fairdsl.numerics.cells import points
from fairdsl.prelude import metric_named
from fairdsl.verdict import Arithmetic, Draw, Evidence, Judgement, Named, Rate, Reason, Unknown, Value, judged
from tests.agreement import group_truth
from tests.agreement.bank import groups_of_laws
from tests.builders import BOOLEAN, domain, integer, score
from tests.drawing import examples

F = Fraction
SURE, USUAL = F(10**8 - 1, 10**8), F(95, 100)


@contextmanager
def at_most(people: int) -> Iterator[None]:
    """No sample is larger."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(looks, "_LARGEST", people + 1)
        yield


def law(columns: tuple[Attribute, ...], *factors: Factor, cells: dict[int, tuple[Cell, ...]] | None = None) -> Network:
    own = {column: points(attribute.values or ()) for column, attribute in enumerate(columns)} | (cells or {})
    return Network(name="law", columns=columns, cells=tuple(own[at] for at in range(len(columns))), factors=factors)


def coin(column: int, chance: object = "1/2") -> Factor:
    return Factor(column=column, parents=(), rows={(): (1 - F(chance), F(chance))})  # type: ignore[arg-type]


def asked(
    population: Network,
    model: Model,
    *,
    metric: str = "parity_gap",
    within: object = "1/10",
    confidence: Fraction = USUAL,
    threshold: Threshold | None = None,
    **question: object,
) -> Problem:
    attributes = population.columns[: len(population.columns) - population.has_label]
    return Problem(
        name="p",
        domain=replace(domain(sex=BOOLEAN), attributes=attributes),
        model=replace(model, favourable=1),
        question=GroupMetric(metric=metric_named(metric), across=(0,), population="law", **question),  # type: ignore[arg-type]
        quantity=Quantity.METRIC,
        population=population,
        threshold=threshold,
        precision=Precision(within=None if within is None else F(within), confidence=confidence),  # type: ignore[arg-type]
    )


def drawn(problem: Problem, enclosed: Value | Unknown | None = None, seed: int = 0) -> Value:
    found = Sampling().answer(problem, Facts(enclosed=enclosed), Budget.of(60.0, seed=seed), Silent())
    assert isinstance(found, Value)
    return found


PEOPLE = domain(sex=BOOLEAN, age=integer(0, 9)).attributes
AGES = Factor(column=1, parents=(0,), rows={(0,): (F(1, 10),) * 10, (1,): (F(1, 5),) * 5 + (F(0),) * 5})
#: The old are granted: half of the women, and of the men nobody but the few of the age 4.
OLDER = score([0, 1], F(-7, 2))
LAW = law(PEOPLE, coin(0, "1/4"), AGES)
#: Of women 6 in 10, of men 1 in 5.
GAP = F(2, 5)


# ---- against the definition ------------------------------------------------------------------------


@settings(max_examples=examples(0.7))
@given(problem=groups_of_laws())
def test_drawn_intervals_contain_what_the_definition_says(problem: Problem) -> None:
    problem = replace(problem, precision=Precision(within=F(1, 4), confidence=SURE))
    known = group_truth.truth(problem)
    with at_most(1024):
        verdict = Sampling().answer(problem, Facts(), Budget.of(60.0), Silent())
    if isinstance(verdict, Unknown):
        return
    assert isinstance(verdict, Value)
    if verdict.drawn is not None and known.ends is not None:
        low, high = verdict.drawn.interval
        assert low <= known.ends[0] <= known.ends[1] <= high
    elif verdict.drawn is not None:  # a group has nobody, which no draw shows: `rates` refuses, and judges
        assert any(
            rate.drawn is not None and rate.drawn.interval == Enclosure(low=F(0), high=F(1)) for rate in verdict.rates
        )
    rates = {(frozenset(rate.group.items()), frozenset(rate.given.items())): rate for rate in verdict.rates}
    for at, rate in known.rates.items():
        seen = rates[group_truth._words(problem, at)].drawn
        assert seen is None or seen.interval.low <= rate <= seen.interval.high


@pytest.mark.parametrize(
    ("metric", "number"), [("parity_gap", GAP), ("impact_ratio", F(1, 3)), ("acceptance_rate", None)]
)
def test_both_ends_come_as_near_as_was_asked_for(metric: str, number: Fraction | None) -> None:
    found = drawn(asked(LAW, OLDER, metric=metric, within="1/50"))
    assert found.reason is None
    assert found.draw is not None
    assert found.draw.people < 2**18
    for part in found.parts or (found,):
        assert part.drawn is not None
        (low, high), (least, most) = part.drawn.interval, part.drawn.estimate
        assert least == most
        assert max(high - least, most - low) <= F(1, 50)
        assert number is None or low <= number <= high


def test_intervals_cover_as_often_as_they_say() -> None:
    """Of 120 samples at 80 %, 24 may miss on average, and 38 are the most that happens once in a thousand times."""
    problem = asked(LAW, OLDER, within="1/4", confidence=F(80, 100))
    found = [drawn(problem, seed=seed).drawn for seed in range(120)]
    missed = sum(one is None or not one.interval.low <= GAP <= one.interval.high for one in found)
    assert missed <= 38
    assert len({one.estimate for one in found if one is not None}) > 20


#: One in a hundred is a woman.
FEW = law(PEOPLE, coin(0, "99/100"), AGES)
#: Groups of very different sizes, of which one in two, one in four and nobody are granted.
OLDEST = {0: F(1, 2), 1: F(1, 4), 2: F(0)}
THREE = law(
    domain(group=integer(0, 2), age=integer(0, 3)).attributes,
    Factor(column=0, parents=(), rows={(): (F(4, 5), F(3, 20), F(1, 20))}),
    Factor(column=1, parents=(0,), rows={(at,): (1 - part, F(0), F(0), part) for at, part in OLDEST.items()}),
)


def test_rare_groups_are_judged_as_often_as_others() -> None:
    found = drawn(asked(FEW, OLDER, within="1/20"))
    assert found.reason is None
    assert found.draw is not None
    assert found.draw.people < 2**15, "1,000 of the rare group are 100,000 people as they come"
    assert found.drawn is not None
    assert found.drawn.interval.low <= GAP <= found.drawn.interval.high


def test_intervals_cover_as_often_where_a_group_is_rare() -> None:
    problem = asked(FEW, OLDER, within="1/4", confidence=F(80, 100))
    found = [drawn(problem, seed=seed).drawn for seed in range(60)]
    assert sum(one is None or not one.interval.low <= GAP <= one.interval.high for one in found) <= 23


def test_groups_that_are_taken_together_stay_as_they_come() -> None:
    """Against all others, three quarters of whom are of the second group and a quarter of the third."""
    question = asked(THREE, score([0, 1], F(-1)), metric="statistical_parity_difference", within="1/20")
    found = drawn(replace(question, question=replace(question.question, privileged=(F(0),))))
    assert found.drawn is not None
    assert found.drawn.interval.low <= F(3, 16) - F(1, 2) <= found.drawn.interval.high


def test_the_seed_alone_decides_who_is_drawn() -> None:
    problem = asked(LAW, OLDER)
    assert drawn(problem, seed=7).drawn == drawn(problem, seed=7).drawn != drawn(problem, seed=8).drawn


# ---- distributions ---------------------------------------------------------------------------------


def test_normal_and_uniform_columns_are_drawn_as_they_are_distributed() -> None:
    columns = (
        *domain(sex=BOOLEAN).attributes,
        Attribute(name="height", type=Real(low=None, high=None)),
        Attribute(name="weight", type=Real(low=F(0), high=F(1))),
        Attribute(name="rank", type=Integer(low=0, high=999)),
    )
    whole = (Cell(low=None, high=None, inside=Inside.UNIFORM),)
    pieces = (
        Cell(low=F(0), high=F(1, 2), open=True, inside=Inside.UNIFORM),
        Cell(low=F(1, 2), high=F(1), inside=Inside.UNIFORM),
    )
    ranks = (Cell(low=F(0), high=F(9)), Cell(low=F(10), high=F(999)))
    ranks = tuple(replace(cell, inside=Inside.UNIFORM) for cell in ranks)  # type: ignore[assignment]
    tall = Factor(column=1, parents=(0,), rows={(0,): Normal(mean=F(0), sd=F(1)), (1,): Normal(mean=F(3), sd=F(1, 2))})
    heavy = Factor(column=2, parents=(), rows={(): (F(1, 4), F(3, 4))})
    population = law(columns, coin(0), tall, heavy, coin(3, "9/10"), cells={1: whole, 2: pieces, 3: ranks})
    people = People(subject_of(asked(population, score([1, 1, 1, 1]))), np.random.default_rng(5)).draw(20_000)
    values, women = people.values[0].floats, people.values[0].floats[:, 0] == 0
    assert abs(values[women, 1].mean()) < 0.05
    assert abs(values[~women, 1].mean() - 3) < 0.05
    assert abs(values[~women, 1].std() - 0.5) < 0.05
    assert abs((values[:, 2] < 0.25).mean() - 1 / 8) < 0.02
    assert abs((values[:, 3] < 10).mean() - 0.1) < 0.02
    assert set(values[values[:, 3] < 10, 3]) == set(range(10))


def test_truncated_numbers_lie_between_the_bounds_also_far_from_the_mean() -> None:
    columns = (*domain(sex=BOOLEAN).attributes, Attribute(name="height", type=Real(low=F(5), high=F(6))))
    cells = {1: (Cell(low=F(5), high=F(6), inside=Inside.UNIFORM),)}
    factor = Factor(column=1, parents=(), rows={(): Normal(mean=F(0), sd=F(1), truncated=True)})
    population = law(columns, coin(0), factor, cells=cells)
    heights = People(subject_of(asked(population, score([1, 1]))), np.random.default_rng(5)).draw(4_000)
    found = heights.values[0].floats[:, 1]
    assert 5 <= found.min() <= found.max() <= 6
    assert abs((found < 5.2).mean() - 0.652) < 0.03  # (Phi(-5) - Phi(-5.2)) / (Phi(-5) - Phi(-6))


def test_what_lies_within_cells_is_left_open_where_it_matters() -> None:
    """Half of the people are 0 .. 4 or 5 .. 9 years old, and nobody knows how old within."""
    cells = {1: tuple(Cell(low=F(low), high=F(low + 4), inside=Inside.UNKNOWN) for low in (0, 5))}
    population = law(PEOPLE, coin(0), coin(1), cells=cells)
    found = drawn(asked(population, OLDER, within="1/20", metric="acceptance_rate", confidence=SURE))
    assert found.reason is Reason.INCOMPLETE
    assert found.draw == Draw(people=4096, within=F(1, 20))
    for rate in found.rates:
        assert rate.drawn is not None
        least, most = rate.drawn.estimate  # who is 0 .. 4 may be 4
        assert abs(least - F(1, 2)) < F(1, 10)
        assert most == 1


# ---- paths, influences ------------------------------------------------------------------------------


def test_those_whose_parents_no_row_has_may_be_favoured_or_not() -> None:
    """sex -> job -> grade: along the edge to job men are read as women, of whom some have jobs that no man has."""
    columns = domain(sex=BOOLEAN, job=integer(0, 1), grade=integer(0, 1)).attributes
    jobs = Factor(column=1, parents=(0,), rows={(0,): (F(1, 2), F(1, 2)), (1,): (F(1), F(0))})
    grades = Factor(column=2, parents=(0, 1), rows={(0, 0): (F(1), F(0)), (0, 1): (F(0), F(1)), (1, 0): (F(0), F(1))})
    population = replace(law(columns, coin(0), jobs, grades), causal=True)
    question = asked(
        population,
        score([0, 0, 1], F(-1, 2)),
        metric="path_specific_gap",
        within="1/4",
        confidence=SURE,
        baseline=(F(0),),
        allowed=frozenset({(0, 1)}),
    )
    with at_most(4096):
        found = drawn(question)
    exact = Rates().answer(question, Facts(), Budget.of(60.0), Silent())
    assert isinstance(exact, Value)
    assert [rate.group for rate in found.rates] == [rate.group for rate in exact.rates]
    for rate, proved in zip(found.rates, exact.rates, strict=True):
        assert rate.drawn is not None
        low, high = rate.drawn.interval
        assert low <= proved.low <= proved.high <= high
        assert rate.drawn.estimate.low >= proved.low - F(1, 10)
        assert rate.drawn.estimate.high <= proved.high + F(1, 10)


@pytest.mark.parametrize(("women", "known"), [("9/10", True), ("1/2", False)])
def test_the_group_that_is_favoured_most_is_found_by_drawing(women: str, known: bool) -> None:
    """sex -> job -> granted: of men half have the job. Where about as many women do, both groups may be meant."""
    columns = domain(sex=BOOLEAN, job=integer(0, 1)).attributes
    some = F(women)
    jobs = Factor(column=1, parents=(0,), rows={(0,): (1 - some, some), (1,): (F(1, 2), F(1, 2))})
    question = asked(
        replace(law(columns, coin(0), jobs), causal=True),
        score([0, 1], F(-1, 2)),
        metric="path_specific_gap",
        within="1/10",
        confidence=SURE,
        baseline=MOST_FAVOURED,
        allowed=frozenset({(0, 1)}),
    )
    found = drawn(question)
    exact = Rates().answer(question, Facts(), Budget.of(60.0), Silent())
    assert isinstance(exact, Value)
    assert exact.low == exact.high == 0
    assert found.drawn is not None
    assert found.drawn.interval.low <= 0 <= found.drawn.interval.high <= F(1, 5)
    for rate, proved in zip(found.rates, exact.rates, strict=True):
        assert rate.drawn is not None
        assert rate.drawn.interval.low <= proved.low <= proved.high <= rate.drawn.interval.high
        assert (rate.drawn.interval.low > F(3, 4)) is known


def test_an_influence_is_drawn_from_both_distributions() -> None:
    question = asked(LAW, OLDER, metric="acceptance_rate", within="1/20", influence=(1,))
    found, exact = drawn(question), Rates().answer(question, Facts(), Budget.of(60.0), Silent())
    assert isinstance(exact, Value)
    assert found.draw is not None
    for part, proved in zip(found.parts, exact.parts, strict=True):
        assert part.drawn is not None
        assert part.at == proved.at
        assert part.drawn.interval.low <= proved.low <= proved.high <= part.drawn.interval.high


# ---- beside what is proved -------------------------------------------------------------------------


def enclosure(low: object, high: object, *, of: Problem) -> Value:
    """What an engine that stopped early says of women and men."""
    number = Enclosure(low=F(low), high=F(high))  # type: ignore[arg-type]
    rates = tuple(
        Rate(
            group=Named({"sex": sex}), number=Enclosure(low=F(0), high=F(1)), mass=Enclosure(low=F(1, 4), high=F(3, 4))
        )
        for sex in (False, True)
    )
    return Value(number=number, rates=rates, reason=Reason.TIMEOUT, evidence=Evidence(backend="rates", method="boxes"))


def test_what_both_have_in_common_is_judged_and_both_are_shown() -> None:
    problem = asked(LAW, OLDER, within="1/20")
    proved = enclosure("39/100", "3/5", of=problem)
    found = drawn(problem, proved)
    assert (found.low, found.high) == (proved.low, proved.high)
    assert found.drawn is not None
    low, high = found.drawn.interval
    assert low < F(39, 100) < GAP < high < F(3, 5)
    assert found.sampling == Enclosure(low=F(39, 100), high=high)
    assert found.evidence.basis.arithmetic is Arithmetic.ESTIMATE
    assert judged(found, Threshold(relation=Relation.GE, limit=F(39, 100), text="39%")) is Judgement.HOLDS
    assert judged(found, Threshold(relation=Relation.LE, limit=F(1, 2), text="50%")) is Judgement.HOLDS
    assert judged(proved, Threshold(relation=Relation.LE, limit=F(1, 2), text="50%")) is Judgement.UNKNOWN


def test_an_enclosure_that_is_close_enough_needs_no_draw() -> None:
    problem = asked(LAW, OLDER, within="1/20")
    proved = enclosure("7/20", "9/20", of=problem)
    assert drawn(problem, proved) == replace(proved, reason=None)  # it did not have to become any closer
    limit = Threshold(relation=Relation.LE, limit=F(1, 2), text="50%")
    wide = enclosure("0", "1/2", of=problem)
    assert drawn(replace(problem, threshold=limit), wide) == replace(wide, reason=None)
    assert drawn(problem, wide).draw is not None


def test_an_enclosure_stands_where_a_sample_contradicts_it() -> None:
    problem = asked(LAW, OLDER, within="1/20")
    found = drawn(problem, enclosure("4/5", "1", of=problem))
    assert found.drawn is not None
    assert found.drawn.interval.high < F(4, 5)
    assert found.sampling == Enclosure(low=F(4, 5), high=F(1))


@pytest.mark.parametrize(("limit", "judgement"), [("1/5", Judgement.VIOLATED), ("3/5", Judgement.HOLDS)])
def test_a_requirement_is_drawn_until_it_is_decided(limit: str, judgement: Judgement) -> None:
    threshold = Threshold(relation=Relation.LE, limit=F(limit), text=limit)
    found = drawn(asked(LAW, OLDER, within=None, threshold=threshold))
    assert found.draw == Draw(people=1024)
    assert judged(found, threshold) is judgement


def test_what_is_nearer_to_the_threshold_than_the_distance_stays_open() -> None:
    threshold = Threshold(relation=Relation.LE, limit=GAP, text="40%")
    problem = asked(LAW, OLDER, within="1/10", threshold=threshold)
    found = drawn(problem)
    assert judged(found, threshold) is Judgement.UNKNOWN
    assert problem.precision is not None
    assert settled(found, problem.precision, threshold)


# ---- who is not drawn ------------------------------------------------------------------------------


def test_nothing_is_drawn_unasked_and_no_rows_are() -> None:
    problem = asked(LAW, OLDER)
    assert isinstance(Sampling().offer(problem), Offer)
    unasked = Sampling().offer(replace(problem, precision=None))
    assert isinstance(unasked, Refusal)
    assert unasked.instead is not None
    assert "within 1%" in unasked.instead


def test_numbers_that_nobody_knows_within_a_cell_are_refused_where_the_model_reads_them() -> None:
    columns = (*domain(sex=BOOLEAN).attributes, Attribute(name="income", type=Real(low=F(0), high=F(10))))
    cells = {1: tuple(Cell(low=F(low), high=F(low + 5), inside=Inside.UNKNOWN) for low in (0, 5))}
    refused = Sampling().offer(asked(law(columns, coin(0), coin(1), cells=cells), score([1, 1], F(-3))))
    assert isinstance(refused, Refusal)
    assert "`income`" in refused.why


def test_a_sample_of_nobody_says_so() -> None:
    with at_most(1024), pytest.MonkeyPatch.context() as patch:
        patch.setattr("fairdsl.backends.sampling.groups._BARREN", 4096)
        nobody = replace(LAW, factors=(coin(0), replace(AGES, rows={(0,): AGES.rows[0,], (1,): AGES.rows[1,]})))
        from fairdsl.ir.expr import Compare, Linear, Variable

        above = Compare(left=Linear.of({Variable(1): F(1)}, F(-20)), relation=Relation.GT)
        verdict = Sampling().answer(asked(nobody, OLDER, given=above), Facts(), Budget.of(60.0), Silent())
    assert isinstance(verdict, Unknown)
    assert "none is in question" in verdict.detail


def test_all_combinations_of_groups_are_drawn_evenly_along_paths() -> None:
    people = People(
        replace(subject_of(asked(replace(LAW, factors=(AGES,)), OLDER)), condition=TRUE), np.random.default_rng(1)
    )
    cells = people.draw(1000).cells[:, 0].tolist()
    assert [cells.count(sex) for (sex,) in product(range(2))] == [500, 500]
