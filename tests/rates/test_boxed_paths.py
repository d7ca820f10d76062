"""Path-specific gaps by boxes against the edge g-formula, one individual after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from fairdsl.backends.contract import Budget, Facts, Refusal, Silent
from fairdsl.backends.rates import Rates, anytime, cover, heavy, joints
from fairdsl.backends.rates.anytime import Narrowing
from fairdsl.backends.rates.diagram import OpenError
from fairdsl.backends.rates.gate import has_states
from fairdsl.backends.rates.points import Individuals
from fairdsl.ir.domain import Attribute, Boolean, Domain, Integer
from fairdsl.ir.expr import TRUE, Relation, Who
from fairdsl.ir.model import Model
from fairdsl.ir.population import Cell, Factor, Inside, Network
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import MOST_FAVOURED, GroupMetric, Threshold
from fairdsl.metrics.subject import subject_of
from fairdsl.verdict import Judgement, Reason, Unknown, Value, judged
from tests import builders, oracle
from tests.drawing import examples
from tests.rates.laws import random_laws
from tests.rates.test_covers import Sums, check
from tests.strategies import models, predicates, shares
from tests.subset_sum.laws import asked, bernoulli, factor, network, points
from tests.tree_strategies import tree_models

F = Fraction
CHECKED = settings(max_examples=examples(1), deadline=None, suppress_health_check=list(HealthCheck))
#: Groups, as values of the columns that are set.
Group = tuple[Fraction, ...]


def whole(law: Network, draw: Callable[[int], tuple[Fraction, ...]]) -> Network:
    """The law with a distribution, of so many cells, wherever no row has one."""
    return replace(law, factors=tuple(_whole(law, each, draw) for each in law.factors))


def _whole(law: Network, each: Factor, draw: Callable[[int], tuple[Fraction, ...]]) -> Factor:
    keys = product(*(range(len(law.cells[parent])) for parent in each.parents))
    return replace(each, rows={key: each.rows.get(key) or draw(len(law.cells[each.column])) for key in keys})


def people(problem: Problem, baseline: Group) -> Iterator[tuple[Group, Fraction, bool, bool]]:
    """Everybody of every group that is set: their group, their mass, whether they count, whether they are favoured."""
    law, question = problem.population, problem.question
    assert isinstance(law, Network)
    assert isinstance(question, GroupMetric)
    instead = dict(zip(question.across, baseline, strict=True))
    for point in product(*([cell.low or F(0) for cell in cells] for cells in law.cells)):
        mass = F(1)
        for each in law.factors:
            if each.column not in instead:
                seen = (
                    instead[p] if p in instead and (p, each.column) in question.allowed else point[p]
                    for p in each.parents
                )
                places = tuple(
                    [cell.low for cell in law.cells[p]].index(value)
                    for p, value in zip(each.parents, seen, strict=True)
                )
                row = each.rows[places]
                assert isinstance(row, tuple)
                mass *= row[[cell.low for cell in law.cells[each.column]].index(point[each.column])]
        read = tuple(
            instead[column] if column in instead and (column, None) in question.allowed else value
            for column, value in enumerate(point)
        )
        counts = all(oracle.true_for(part, {Who.EACH: point}) for part in (problem.domain.where, question.given))
        favoured = bool(problem.model.favours(np.array(oracle.outcome(problem.model, read))))
        yield tuple(point[column] for column in question.across), mass, counts, favoured


def sums(problem: Problem, baseline: Group) -> tuple[Sums, Sums]:
    """By group: Pr[favourable, given] and Pr[given]."""
    part: Sums = {}
    total: Sums = {}
    for group, mass, counts, favoured in people(problem, baseline):
        total[group] = total.get(group, F(0)) + mass * counts
        part[group] = part.get(group, F(0)) + mass * (counts and favoured)
    return part, total


def as_they_are(problem: Problem) -> Sums:
    """The acceptance rates of the groups, nobody's column set."""
    law, question = problem.population, problem.question
    assert isinstance(law, Network)
    assert isinstance(question, GroupMetric)
    favoured: Sums = {}
    total: Sums = {}
    for cells in product(*(range(len(column)) for column in law.cells)):
        mass = F(1)
        for each in law.factors:
            row = each.rows[tuple(cells[parent] for parent in each.parents)]
            assert isinstance(row, tuple)
            mass *= row[cells[each.column]]
        point = tuple(law.cells[column][cell].low or F(0) for column, cell in enumerate(cells))
        group = tuple(point[column] for column in question.across)
        total[group] = total.get(group, F(0)) + mass
        yes = bool(problem.model.favours(np.array(oracle.outcome(problem.model, point))))
        favoured[group] = favoured.get(group, F(0)) + mass * yes
    return {group: favoured[group] / mass for group, mass in total.items()}


def gap(problem: Problem, baseline: Group) -> Fraction:
    part, total = sums(problem, baseline)
    rates = [part[group] / mass for group, mass in total.items()]
    return max(rates) - min(rates)


def meant(problem: Problem) -> list[Fraction]:
    """The gaps by all the baselines that may be meant: several where groups are equally favoured."""
    baseline = problem.question.baseline
    if baseline != MOST_FAVOURED:
        return [gap(problem, baseline)]
    rates = as_they_are(problem)
    return [gap(problem, group) for group, rate in rates.items() if rate == max(rates.values())]


@st.composite
def problems(draw: st.DrawFn, *, trees: bool = False, conditions: bool = True, several: bool = False) -> Problem:
    """Random edges are allowed, and the columns that are set are nobody's children."""
    law = draw(random_laws())
    across = tuple(draw(st.lists(st.integers(0, len(law.columns) - 1), min_size=1, max_size=2, unique=True)))
    own = [
        factor(at, (F(1, len(law.cells[at])),) * len(law.cells[at])) if at in across else each
        for each in law.factors
        for at in [each.column]
    ]
    law = replace(law, factors=tuple(own))
    ends = [(p, each.column) for each in law.factors for p in each.parents if p in across]
    allowed = draw(st.sets(st.sampled_from([*ends, *((column, None) for column in across)])))
    everybody = Domain(name="People", attributes=law.columns, where=TRUE)
    single = not several and draw(st.booleans())
    networks = (models(everybody, single, widths=(3, 2)), models(everybody, single, widths=(4,)))
    model = draw(tree_models(everybody, single) if trees else st.one_of(*networks))
    favourable, *others = draw(st.permutations(range(len(model.outcomes))))
    assume(not several or len(others) > 1)
    beside = draw(st.sets(st.sampled_from(others), min_size=1)) if several else ()
    model = replace(model, favourable=favourable, beside=frozenset(beside))
    condition = st.one_of(st.just(TRUE), predicates(law.columns)) if conditions else st.just(TRUE)
    return asked(
        law,
        model,
        *across,
        where=draw(condition),
        given=draw(condition),
        metric="path_specific_gap",
        baseline=tuple(draw(st.sampled_from([cell.low for cell in law.cells[column]])) for column in across),
        allowed=frozenset(allowed),
    )


@CHECKED
@given(st.booleans().flatmap(lambda trees: problems(trees=trees)), st.data(), st.sampled_from([0, 3, 4096]))
def test_bounds_hold_at_any_time_whatever_is_not_known(problem: Problem, data: st.DataObject, most: int) -> None:
    question = problem.question
    assert isinstance(question, GroupMetric)
    law = whole(problem.population, lambda size: data.draw(shares(size)))
    part, total = sums(replace(problem, population=law), question.baseline)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Individuals, "_MOST", most)
        patch.setattr(heavy, "_LIMIT", 0.5)
        patch.setattr(heavy, "_WORK", 1)
        (subject,) = joints.set_to(subject_of(problem), question, question.baseline)
        found = Narrowing(subject)
        if has_states(problem.model):
            try:
                found.by_weight()
            except OpenError:
                assume(False)
        check(found.joint(), part, total)
        for _ in range(100):
            if found.finished:
                break
            found.improve()
            check(found.joint(), part, total)
        known = (*found.joint().favourable.values(), *found.joint().total.values())
        if most and not subject.unknown:
            assert found.finished
            assert all(bounds.high - bounds.low < F(1, 10**9) for bounds in known)


def by_boxes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(joints, "has_states", lambda model: False)


def by_everybody(patch: pytest.MonkeyPatch) -> None:
    for module in (joints, cover):
        patch.setattr(module, "only_decides", lambda model: True)


@CHECKED
@given(problems(conditions=False), st.data(), st.booleans(), st.sampled_from([by_boxes, by_everybody]))
def test_gaps_are_those_of_the_definition(
    problem: Problem, data: st.DataObject, favoured: bool, way: Callable[[pytest.MonkeyPatch], None]
) -> None:
    law = whole(problem.population, lambda size: data.draw(shares(size)))
    problem = replace(problem, population=law)
    if favoured:
        problem = replace(problem, question=replace(problem.question, baseline=MOST_FAVOURED))
    truths = meant(problem)
    with pytest.MonkeyPatch.context() as patch:
        way(patch)
        patch.setattr(anytime, "_FEW", data.draw(st.sampled_from([1, 8])))
        assert not hasattr(Rates().offer(problem), "why")
        found = Rates().answer(problem, Facts(), Budget.of(20.0), Silent())
        assert isinstance(found, Value)
        assert (found.low, found.high) == (min(truths), max(truths))
        early = Rates().answer(problem, Facts(), Budget.of(0.0), Silent())
        if isinstance(early, Unknown):
            assert favoured
            assert early.reason is Reason.TIMEOUT
        else:
            assert isinstance(early, Value)
            assert all(early.low <= truth <= early.high for truth in truths)


@CHECKED
@given(st.booleans().flatmap(lambda trees: problems(trees=trees, conditions=False, several=True)), st.data())
def test_gaps_of_several_outcomes_are_right_or_refused(problem: Problem, data: st.DataObject) -> None:
    problem = replace(problem, population=whole(problem.population, lambda size: data.draw(shares(size))))
    if data.draw(st.booleans()):
        problem = replace(problem, question=replace(problem.question, baseline=MOST_FAVOURED))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joints, "FIRST", data.draw(st.sampled_from([0, joints.FIRST])))  # or boxes would be first
        if isinstance(Rates().offer(problem), Refusal):
            assert has_states(problem.model)  # boxes, which are of one outcome, are all that is left of them
            return
        found = Rates().answer(problem, Facts(), Budget.of(20.0), Silent())
    truths = meant(problem)
    assert isinstance(found, Value)
    assert (found.low, found.high) == (min(truths), max(truths))


def test_a_gap_is_the_hull_over_equally_favoured_groups() -> None:
    law = network(
        (Attribute(name="A", type=Boolean()), Attribute(name="X", type=Integer(low=0, high=3))),
        [
            factor(0, bernoulli(0.5)),
            factor(1, {(0,): (F(1, 4),) * 4, (1,): (F(1, 2), F(1, 2), F(0), F(0))}, (0,)),
        ],
    )
    # Favourable where X + A >= 2: half of each group. Of both groups with the X of 0, 1/2 and 3/4; with that of 1, 0
    # and 1/2.
    model = builders.model(builders.layer([[1, 1]], [-1]), builders.layer([[1]], [0], 1), attributes=2, threshold=0)
    clauses = {"metric": "path_specific_gap", "baseline": MOST_FAVOURED, "allowed": frozenset({(0, 1)})}
    problem = asked(law, model, 0, **clauses)
    assert as_they_are(problem) == {(F(0),): F(1, 2), (F(1),): F(1, 2)}
    assert meant(problem) == [F(1, 4), F(1, 2)]
    found = Rates().answer(problem, Facts(), Budget.of(20.0), Silent())
    assert isinstance(found, Value)
    assert (found.low, found.high) == (F(1, 4), F(1, 2))


def ranges(low: int, high: int, count: int) -> tuple[Cell, ...]:
    """So many ranges of equally many whole numbers."""
    size = (high - low + 1) // count
    starts = range(low, high + 1, size)
    return tuple(Cell(low=F(at), high=F(at + size - 1), inside=Inside.UNIFORM) for at in starts)


#: What the probabilities of the ranges are over.
_OVER = 60
#: A -> X -> Y, A -> Y, A -> Z: the weights of ranges, by the ranges of the parents.
AGES = {(0,): (30, 20, 6, 4), (1,): (4, 10, 16, 30)}
YEARS = {(a, x): (40 - 10 * x - 4 * a, 15 + 4 * a, 5 + 10 * x) for a in (0, 1) for x in range(4)}
DEBTS = {(0,): (50, 10), (1,): (25, 35)}
#: Four units that read A, X, Y and Z, what their sum weighs, and the threshold.
UNITS = ((3, 2, -1, 1, -60), (0, 1, 3, -5, -30), (-20, -1, 2, 0, 40), (40, 0, -1, 3, 5))
OUT, LIMIT = (2, 1, -3, 1), 90


def large() -> tuple[Network, Model]:
    """120,000 people in each of 2 groups, and a network of four units."""
    law = network(
        (
            Attribute(name="A", type=Boolean()),
            Attribute(name="X", type=Integer(low=0, high=99)),
            Attribute(name="Y", type=Integer(low=0, high=59)),
            Attribute(name="Z", type=Integer(low=0, high=19)),
        ),
        [
            factor(0, bernoulli(0.5)),
            *(
                factor(
                    column,
                    {key: tuple(F(weight, _OVER) for weight in weights) for key, weights in rows.items()},
                    parents,
                )
                for column, rows, parents in ((1, AGES, (0,)), (2, YEARS, (0, 1)), (3, DEBTS, (0,)))
            ),
        ],
        [points((0, 1)), ranges(0, 99, 4), ranges(0, 59, 3), ranges(0, 19, 2)],
    )
    hidden = builders.layer([list(unit[:-1]) for unit in UNITS], [unit[-1] for unit in UNITS])
    return law, builders.model(hidden, builders.layer([list(OUT)], [0], 1), attributes=4, threshold=LIMIT)


def counted(allowed: frozenset[tuple[int, int | None]], baseline: int) -> list[float]:
    """The rates of both groups, everybody of them decided."""
    x, y, z = np.meshgrid(np.arange(100), np.arange(60), np.arange(20), indexing="ij")
    found = []
    for group in (0, 1):
        seen = {end: baseline if (0, end) in allowed else group for end in (1, 2, 3, None)}
        score = sum(
            out * np.maximum(unit[0] * seen[None] + unit[1] * x + unit[2] * y + unit[3] * z + unit[4], 0)
            for unit, out in zip(UNITS, OUT, strict=True)
        )
        ages = np.repeat(AGES[seen[1],], 25) / (25 * _OVER)
        years = np.array([np.repeat(YEARS[seen[2], age // 25], 20) / (20 * _OVER) for age in range(100)])
        debts = np.repeat(DEBTS[seen[3],], 10) / (10 * _OVER)
        found.append(float((ages[:, None, None] * years[:, :, None] * debts * (score > LIMIT)).sum()))
    return found


@pytest.mark.parametrize("allowed", [(), (1,), (2, None), (1, 2, 3, None)])
@pytest.mark.parametrize("baseline", [0, 1])
def test_bounds_of_a_large_domain_become_narrow(allowed: tuple[int | None, ...], baseline: int) -> None:
    law, model = large()
    edges = frozenset((0, end) for end in allowed)
    clauses = {"metric": "path_specific_gap", "baseline": (F(baseline),), "allowed": edges}
    problem = asked(law, model, 0, **clauses)
    truths = counted(edges, baseline)
    (subject,) = joints.set_to(subject_of(problem), problem.question, problem.question.baseline)
    found = Narrowing(subject)
    widths = []
    for _ in range(12):
        rates = [found.joint().favourable[F(group),] for group in (0, 1)]
        assert all(float(r.low) - 1e-9 <= truth <= float(r.high) + 1e-9 for r, truth in zip(rates, truths, strict=True))
        widths.append(max(float(rate.high - rate.low) for rate in rates))
        found.improve()
    assert widths[0] > 0.1
    assert widths[-1] < 0.02


def test_a_threshold_ends_it_whoever_is_favoured_most() -> None:
    law, model = large()
    edges = frozenset({(0, 1)})
    gaps = {one: abs(np.subtract(*counted(edges, one))) for one in (0, 1)}
    favoured = int(np.argmax(counted(frozenset(), 0)))
    assert abs(gaps[0] - gaps[1]) > 0.02
    problem = asked(law, model, 0, metric="path_specific_gap", baseline=MOST_FAVOURED, allowed=edges)
    for limit, expected in ((F("0.02"), Judgement.HOLDS), (F("-0.02"), Judgement.VIOLATED)):
        threshold = Threshold(relation=Relation.LE, limit=F(gaps[favoured]) + limit, text="so much")
        found = Rates().answer(replace(problem, threshold=threshold), Facts(), Budget.of(60.0), Silent())
        assert isinstance(found, Value)
        assert found.reason is None
        assert judged(found, threshold) is expected
        # The definition is a sum of floats, whose last bits depend on the machine's order of adding.
        assert float(found.low) - 1e-9 <= gaps[favoured] <= float(found.high) + 1e-9
