"""Cells that are ranges: uniform ones are exact, of unknown ones the bounds are those of all laws within them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fairdsl.backends.rates import engine
from fairdsl.ir.domain import Attribute, Boolean, Domain, Integer, Real
from fairdsl.ir.expr import TRUE, Who
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.model import Model
from fairdsl.ir.population import Cell, Inside, Network
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.joint import Joint, key_of
from fairdsl.metrics.subject import subject_of
from tests import builders, oracle
from tests.drawing import examples
from tests.ssat.test_ssat_small_populations import rules, trees
from tests.strategies import predicates
from tests.subset_sum.laws import asked, bernoulli, factor, linear, masses, network, points

F = Fraction
RELAXED = settings(max_examples=examples(1), deadline=None, suppress_health_check=list(HealthCheck))
Key = tuple[Fraction, ...]
Pair = tuple[Fraction, Fraction]


def joint_of(problem: Problem) -> Joint:
    return engine.Ways(subject_of(problem)).within(engine.LAST).joint()[0]


@st.composite
def ranges(draw: st.DrawFn) -> Network:
    """Two or three columns of whole numbers from 0 to 3, cut into cells of any kind; the second may have a parent."""
    count = draw(st.integers(2, 3))
    columns = tuple(Attribute(name=f"x{place}", type=Integer(low=0, high=3)) for place in range(count))
    cells, factors = [], []
    for place in range(count):
        edge = draw(st.integers(0, 2))
        kinds = st.sampled_from([Inside.UNIFORM, Inside.UNKNOWN])
        cells.append(
            (
                Cell(low=F(0), high=F(edge), inside=draw(kinds)),
                Cell(low=F(edge + 1), high=F(3), inside=draw(kinds)),
            )
        )
        parents = (0,) if place == 1 and draw(st.booleans()) else ()
        chances = st.sampled_from([F(0), F(1, 3), F(1, 2), F(4, 5)])
        rows = {key: bernoulli(draw(chances)) for key in product(range(2), repeat=len(parents))}
        factors.append(factor(place, rows, parents))
    return network(columns, factors, cells)


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    law = draw(ranges())
    people = Domain(name="People", attributes=law.columns, where=TRUE)
    model = draw(st.one_of(trees(people), rules(people), weighed(len(law.columns))))
    model = replace(model, favourable=draw(st.integers(0, 1)))
    across = draw(st.lists(st.integers(0, len(law.columns) - 1), min_size=1, max_size=2, unique=True))
    condition = st.one_of(st.just(TRUE), predicates(law.columns))
    return asked(law, model, *across, given=draw(condition))


@st.composite
def weighed(draw: st.DrawFn, count: int) -> Model:
    return linear([draw(st.integers(-2, 2)) for _ in range(count)], draw(st.integers(-2, 3)))


def values(cell: Cell) -> list[Fraction]:
    assert cell.low is not None
    assert cell.high is not None
    return [F(value) for value in range(int(cell.low), int(cell.high) + 1)]


def enclosed(problem: Problem) -> tuple[dict[Key, Pair], dict[Key, Pair]]:
    """The least and the greatest of both joint probabilities, over all laws within cells of unknown inside."""
    law, question = problem.population, problem.question
    assert isinstance(law, Network)
    assert isinstance(question, GroupMetric)
    part: dict[Key, Pair] = {}
    total: dict[Key, Pair] = {}
    for places, mass in masses(law).items():
        cells = [law.cells[column][place] for column, place in enumerate(places)]
        key = tuple(key_of(cells[column]) for column in question.across)
        known = [values(cell) if cell.inside is Inside.UNIFORM else [None] for cell in cells]
        found = list(product(*known))
        for each in found:
            open_ = [values(cell) if value is None else [value] for cell, value in zip(cells, each, strict=True)]
            inside = [oracle.true_for(question.given, {Who.EACH: point}) for point in product(*open_)]
            good = [oracle.outcome(problem.model, point) == problem.model.favourable for point in product(*open_)]
            both = [one and other for one, other in zip(inside, good, strict=True)]
            for table, truths in ((part, both), (total, inside)):
                low, high = table.get(key, (F(0), F(0)))
                share = mass / len(found)
                table[key] = (low + share * all(truths), high + share * any(truths))
    return part, total


@RELAXED
@given(problems())
def test_bounds_are_those_of_all_laws_within_the_cells(problem: Problem) -> None:
    part, total = enclosed(problem)
    joint = joint_of(problem)
    assert {key: (bounds.low, bounds.high) for key, bounds in joint.favourable.items()} == part
    assert {key: (bounds.low, bounds.high) for key, bounds in joint.total.items()} == total


def test_bins_of_reals_are_cut_by_the_tree_and_exact_where_it_decides() -> None:
    """A uniform range is cut at the tests; of one whose inside is unknown only the cell that is cut stays open."""
    column = Attribute(name="x", type=Real(low=F(0), high=F(30)))
    flag = Attribute(name="A", type=Boolean())
    rule = linear([1], 1, inputs=[IndicatorInput(builders.linear({1: 1}, "<=", 12))])

    def rates(inside: Inside) -> set[Pair]:
        bins = tuple(Cell(low=F(low), high=F(low + 10), open=low < 20, inside=inside) for low in (0, 10, 20))
        law = network(
            (flag, column),
            [factor(0, bernoulli(F(1, 2))), factor(1, (F(1, 2), F(1, 3), F(1, 6)))],
            [points((0, 1)), bins],
        )
        joint = joint_of(asked(law, rule, 0))
        return {(2 * bounds.low, 2 * bounds.high) for bounds in joint.favourable.values()}

    assert rates(Inside.UNKNOWN) == {(F(1, 2), F(5, 6))}
    assert rates(Inside.UNIFORM) == {(F(1, 2) + F(1, 15),) * 2}


def test_a_threshold_between_two_numbers_is_bracketed() -> None:
    """The logit of a probability: scores between its bounds count for the upper bound alone."""
    law = network(
        (Attribute(name="A", type=Boolean()), Attribute(name="x", type=Integer(low=0, high=3))),
        [factor(0, bernoulli(F(1, 2))), factor(1, (F(1, 4),) * 4)],
        [points((0, 1)), points((0, 1, 2, 3))],
    )
    joint = joint_of(asked(law, linear([0, 1], F(1, 2), high=F(5, 2)), 0))
    assert {(bounds.low, bounds.high) for bounds in joint.favourable.values()} == {(F(1, 8), F(3, 8))}
