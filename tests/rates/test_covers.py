"""Random small networks, trees and laws against enumeration: every bound holds at any time, and in the end is exact."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from fairdsl.backends.contract import Offer
from fairdsl.backends.rates import Rates
from fairdsl.backends.rates.arithmetic import Arithmetic, Kind
from fairdsl.backends.rates.cover import Cover
from fairdsl.backends.rates.points import Individuals
from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import TRUE, Who
from fairdsl.ir.model import ByHighest
from fairdsl.ir.population import Network
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.joint import Joint, columns_of, key_of
from fairdsl.metrics.subject import subject_of, without_influence
from tests import oracle
from tests.drawing import examples
from tests.rates.laws import masses, random_laws
from tests.strategies import models, predicates
from tests.subset_sum.laws import asked, encloses
from tests.tree_strategies import tree_models

F = Fraction
RELAXED = settings(max_examples=examples(1), deadline=None, suppress_health_check=list(HealthCheck))
Sums = dict[tuple[Fraction, ...], Fraction]


@st.composite
def problems(draw: st.DrawFn, *, trees: bool = False) -> Problem:
    """Of random models, or of trees alone."""
    law = draw(random_laws())
    people = Domain(name="People", attributes=law.columns, where=TRUE)
    single = draw(st.booleans())
    networks = (models(people, single, widths=(3, 2)), models(people, single, widths=(4,)))
    model = draw(st.one_of(*(() if trees else networks), tree_models(people, single)))
    model = replace(model, favourable=draw(st.integers(0, len(model.outcomes) - 1)))
    across = draw(st.lists(st.integers(0, len(law.columns) - 1), min_size=1, max_size=2, unique=True))
    condition = st.one_of(st.just(TRUE), predicates(law.columns))
    return asked(law, model, *across, where=draw(condition), given=draw(condition))


def enumerated(problem: Problem) -> tuple[Sums, Sums]:
    """Pr[favourable, key, given] and Pr[key, given], of single-valued cells."""
    law, question = problem.population, problem.question
    assert isinstance(law, Network)
    assert isinstance(question, GroupMetric)
    part: Sums = {}
    total: Sums = {}
    for cells, mass in masses(law).items():
        point = tuple(law.cells[column][cell].low or F(0) for column, cell in enumerate(cells))
        key = tuple(key_of(law.cells[column][cells[column]]) for column in columns_of(question, law))
        part.setdefault(key, F(0))
        total.setdefault(key, F(0))
        each = {Who.EACH: point}
        if oracle.true_for(problem.domain.where, each) and oracle.true_for(question.given, each):
            total[key] += mass
            part[key] += mass * (oracle.outcome(problem.model, point) == problem.model.favourable)
    return part, total


def check(joint: Joint, part: Mapping[tuple[Fraction, ...], Fraction], total: Sums) -> None:
    assert joint.favourable.keys() == part.keys()
    assert all(encloses(joint.favourable[key], truth) for key, truth in part.items())
    assert all(encloses(joint.total[key], truth) for key, truth in total.items())


@RELAXED
@given(st.booleans().flatmap(lambda trees: problems(trees=trees)), st.sampled_from([1, 3, 4096]), st.booleans())
def test_bounds_hold_at_any_time_and_end_exactly(problem: Problem, most: int, large: bool) -> None:
    assert isinstance(Rates().offer(problem), Offer)
    part, total = enumerated(problem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Individuals, "_MOST", most)
        if large:
            patch.setattr(Arithmetic, "exact", classmethod(lambda cls, denominator: cls(Kind.LARGE, denominator)))
        found = Cover(subject_of(problem))
        _narrowed(found, part, total)


def _narrowed(found: Cover, part: Sums, total: Sums) -> None:
    check(found.joint(), part, total)
    for _ in range(200):
        if found.finished:
            break
        found.improve()
        check(found.joint(), part, total)
    joint = found.joint()
    assert found.finished
    assert all(bounds.exact for bounds in (*joint.favourable.values(), *joint.total.values()))


@RELAXED
@given(problems())
def test_bounds_and_half_spaces_alone_enclose(problem: Problem) -> None:
    """Nobody is decided one by one, so that every number is what bounds, half-spaces and conditions prove."""
    part, total = enumerated(problem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Individuals, "_MOST", 0)
        patch.setattr(Individuals, "_MOST_EXACT", 0)
        found = Cover(subject_of(problem))
        for _ in range(4):
            found.improve()
            check(found.joint(), part, total)


@RELAXED
@given(problems(), st.data(), st.booleans())
def test_scores_that_are_off_leave_open_who_is_favoured(problem: Problem, data: st.DataObject, exactly: bool) -> None:
    """Of several scores, each off by a number of its own: those who are favoured whatever they are, and who may be."""
    model = problem.model
    assume(isinstance(model.rule, ByHighest))
    off = [data.draw(st.sampled_from([F(0), F(1, 2), F(2)])) for _ in model.outcomes]
    about = replace(problem, model=replace(model, rule=ByHighest(slack=tuple(off))))
    question, favoured, law = problem.question, model.favourable, problem.population
    assert isinstance(question, GroupMetric)
    assert isinstance(law, Network)
    sums: list[Sums] = [{}, {}, {}]
    for cells, mass in masses(law).items():
        point = tuple(law.cells[column][cell].low or F(0) for column, cell in enumerate(cells))
        key = tuple(key_of(law.cells[column][cells[column]]) for column in columns_of(question, law))
        each = {Who.EACH: point}
        inside = oracle.true_for(problem.domain.where, each) and oracle.true_for(question.given, each)
        scores = oracle.scores(model, point)
        # A tie goes to the outcome that is listed first, where the scores are not off.
        leads = [(scores[favoured] - scores[o], off[favoured] + off[o], favoured < o) for o in range(len(off))]
        leads.pop(favoured)
        counted = (
            all(lead > d * F(101, 100) for lead, d, _ in leads),
            all(lead > d or (first and lead == d == 0) for lead, d, first in leads),
            all(lead > -d or (lead == -d and (d > 0 or first)) for lead, d, first in leads),
        )
        for found, counts in zip(sums, counted, strict=True):
            found[key] = found.get(key, F(0)) + mass * (inside and counts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Individuals, "_MOST", 1024 if exactly else 1)
        cover = Cover(subject_of(about))
        for _ in range(50):
            bounds = cover.joint().favourable
            assert all(bounds[key].low <= sums[1][key] and sums[2][key] <= bounds[key].high for key in bounds)
            if cover.finished:
                assert all(sums[0][key] <= bounds[key].low for key in bounds)
                break
            cover.improve()


@RELAXED
@given(problems(), st.data())
def test_influence_is_a_mean_over_the_declared_values(problem: Problem, data: st.DataObject) -> None:
    law, question = problem.population, problem.question
    assert isinstance(law, Network)
    assert isinstance(question, GroupMetric)
    chosen = data.draw(st.integers(0, len(law.columns) - 1))
    part: Sums = {}
    for cells, mass in masses(law).items():
        point = [law.cells[column][cell].low or F(0) for column, cell in enumerate(cells)]
        key = tuple(point[column] for column in question.across)
        part.setdefault(key, F(0))
        each = {Who.EACH: tuple(point)}
        if not (oracle.true_for(problem.domain.where, each) and oracle.true_for(question.given, each)):
            continue
        values = law.columns[chosen].values or ()
        for value in values:
            point[chosen] = F(value)
            part[key] += mass / len(values) * (oracle.outcome(problem.model, tuple(point)) == problem.model.favourable)
    found = Cover(without_influence(subject_of(problem), replace(question, influence=(chosen,))))
    while not found.finished:
        found.improve()
    assert {key: (bounds.low, bounds.high) for key, bounds in found.joint().favourable.items()} == {
        key: (truth, truth) for key, truth in part.items()
    }
