"""Models that read leaves of trees: the engines against the oracle, and the bounds against all individuals."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.backends.contract import Budget, Facts, Offer, Refusal, Silent
from fairdsl.backends.intervals import Intervals
from fairdsl.backends.smt import Smt
from fairdsl.backends.smt.case_bounds import Bounder
from fairdsl.backends.smt.cases import cases
from fairdsl.backends.smt.script import case_script, whole_script
from fairdsl.ir.domain import Point
from fairdsl.ir.expr import And, Compare, Linear, Relation, Variable
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.model import ByThreshold, Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair, Quantity
from fairdsl.numerics.bounds import Lines, float_layers, greatest, preactivation_bounds, upper_lines
from fairdsl.numerics.choices import choices_of, pair_choices
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.numerics.exact import exact_inputs, exact_scores
from fairdsl.numerics.leaves import Leaves
from fairdsl.numerics.narrow import ValueSet
from fairdsl.numerics.space import input_boxes
from fairdsl.verdict import Holds, Vacuous, Violated
from tests.agreement.engines import about_somebody, ask, disagreement
from tests.builders import domain, integer, layer, linear, point, problem
from tests.drawing import examples
from tests.oracle import scores, truth
from tests.smt.second_solver import ask_cvc5
from tests.smt.test_agreement import Reluctant, ask_z3
from tests.tree_strategies import tree_problems


@settings(max_examples=examples(0.4))
@given(tree_problems(Quantity.HOLDS))
def test_scripts_about_trees(drawn: Problem) -> None:
    """Two solvers agree with the oracle on what is written, and with bounds on what these settle."""
    known = truth(drawn)
    assert ask_cvc5(whole_script(drawn)).status == ("unsat" if known.holds else "sat")
    statuses = []
    for case in cases(drawn):
        (bounded,) = Bounder(drawn.model, case).bound([case.region])
        statuses.append(ask_z3(case_script(drawn, case, bounded)).status)
        assert not (bounded.settled and statuses[-1] == "sat")
    assert ("sat" not in statuses) == known.holds


@settings(max_examples=examples(0.4))
@given(tree_problems(Quantity.HOLDS))
def test_halving_trees_loses_nobody(drawn: Problem) -> None:
    verdict = Smt(lambda jobs: Reluctant()).answer(drawn, Facts(), Budget.of(20.0), Silent())
    assert isinstance(verdict, Holds | Vacuous | Violated)
    assert disagreement(drawn, about_somebody(drawn, verdict), truth(drawn)) is None


def inside(sets: Sequence[ValueSet], individual: Point) -> bool:
    return all(values.contains(value) for values, value in zip(sets, individual, strict=True))


@settings(max_examples=examples(0.4))
@given(tree_problems(Quantity.HOLDS), st.data())
def test_bounds_enclose_everybody(drawn: Problem, data: st.DataObject) -> None:
    """Boxes of inputs, pre-activations and scores on a random part of the domain, by the definition."""
    model, people = drawn.model, truth(drawn).individuals
    for case in cases(drawn)[:1]:
        region = case.region
        for _ in range(data.draw(st.integers(0, 3))):
            ways = list(region.halves())
            region = data.draw(st.sampled_from(data.draw(st.sampled_from(ways)))) if ways else region
        low, high = input_boxes(model.inputs, Leaves.of(model), [region.a, region.b])
        _, one_by_one = input_boxes(model.inputs, Leaves.among(model.inputs), [region.a, region.b])
        bounds = preactivation_bounds(float_layers(model), low, high, choices_of(model))
        for row, sets in enumerate((region.a, region.b)):
            for individual in (person for person in people if inside(sets, person)):
                read = np.array([float(value) for value in exact_inputs(model, individual)])
                assert np.all((low[row] <= read) & (read <= high[row]))
                found = scores(model, individual)
                assert all(Fraction(b) <= s for b, s in zip(bounds[-1].low[row].tolist(), found, strict=True))
                assert all(Fraction(b) >= s for b, s in zip(bounds[-1].high[row].tolist(), found, strict=True))
            assert np.all(one_by_one[row] >= low[row])


@settings(max_examples=examples(0.4))
@given(tree_problems(Quantity.HOLDS), st.lists(st.integers(-3, 3), min_size=60, max_size=60))
def test_pairs_of_leaves_cover_all_pairs(drawn: Problem, numbers: list[int]) -> None:
    """Every admissible pair reads one entry of each choice, and a line over both is below its greatest value."""
    model = drawn.model
    width = len(model.inputs)
    for case in cases(drawn)[:1]:
        region = case.region
        choices = pair_choices(model, region.shared)
        low, high = input_boxes(model.inputs, Leaves.of(model), [region.a, region.b])
        row = np.resize(np.array(numbers, dtype=np.float64), 2 * width)
        lines = Lines(row[None, None, :], np.zeros((1, 1)))
        top = greatest(lines, np.hstack(low)[None], np.hstack(high)[None], choices)[0, 0]
        people = truth(drawn).individuals
        for a in people[:12]:
            for b in people:
                both = (
                    all(s.contains(v) for s, v in zip(x, p, strict=True)) for x, p in ((region.a, a), (region.b, b))
                )
                if not all(both) or any(s and x != y for s, x, y in zip(region.shared, a, b, strict=True)):
                    continue
                read = [float(value) for value in (*exact_inputs(model, a), *exact_inputs(model, b))]
                assert float(row @ np.array(read)) <= top
                for choice in choices:
                    on = {column for column in choice.columns.tolist() if read[column]}
                    assert on in [set(entry) for entry in choice.entries.tolist()]


STAIRS = [
    (linear({0: 1}, "<=", 1),),
    (linear({0: 1}, ">", 1), linear({1: 1}, "<=", Fraction(1, 2))),
    (linear({0: 1}, ">", 1), linear({1: 1}, ">", Fraction(1, 2))),
]


def stairs(*weights: object) -> Model:
    return Model(
        name="m",
        outcomes=("no", "yes"),
        inputs=tuple(IndicatorInput(And(way)) for way in STAIRS),
        layers=(layer([weights], [0], 1),),
        rule=ByThreshold(relation=Relation.GT, low=Fraction(5, 2), high=Fraction(5, 2), granted=1, otherwise=0),
        favourable=1,
        groups=((0, 1, 2),),
    )


PEOPLE = domain(level=integer(0, 3), sex=integer(0, 1))


def test_a_tree_is_bounded_by_its_leaves_not_by_their_sum() -> None:
    model = stairs(1, 2, 1)
    low, high = np.zeros((1, 3)), np.ones((1, 3))
    assert preactivation_bounds(float_layers(model), low, high)[0].high[0, 0] >= 4
    found = preactivation_bounds(float_layers(model), low, high, choices_of(model))[0]
    assert found.high[0, 0] == pytest.approx(2)
    assert found.low[0, 0] == pytest.approx(1)
    lines = upper_lines(float_layers(model), [found], low, high, np.array([[1.0], [-1.0]]))
    assert greatest(lines, low, high, choices_of(model))[0].tolist() == pytest.approx([2, -1])


def test_bounds_alone_settle_what_no_leaf_grants() -> None:
    """The sum of all leaves exceeds the threshold, no single one does."""
    question = problem(PEOPLE, stairs(1, 2, 1), 1)
    (first, *_) = cases(question)
    assert Bounder(question.model, first).bound([first.region])[0].settled


def test_a_and_b_go_down_a_tree_together() -> None:
    """They share the level: either both are in the first leaf or both below it."""
    pairs = pair_choices(stairs(1, 2, 3), [True, False])[0].entries.tolist()
    assert sorted(map(tuple, pairs)) == [(0, 3), (1, 4), (1, 5), (2, 4), (2, 5)]
    assert len(pair_choices(stairs(1, 2, 3), [False, False])[0].entries) == 9


def test_trees_are_read_off_their_leaves() -> None:
    model = stairs(1, 2, 3)
    leaves = Leaves.of(model)
    assert leaves.trees == 1
    assert leaves.depth == 2
    rows = np.array([[0, 0], [1, 1], [2, 0], [3, 1]], dtype=np.float64)
    assert leaves.reached(rows).ravel().tolist() == [0, 0, 1, 2]
    assert BatchEvaluator(model).scores(rows)[0].ravel().tolist() == [1, 1, 2, 3]
    assert exact_scores(model, point(2, 1)) == (3,)


def test_groups_that_make_no_tree_are_read_one_by_one() -> None:
    """Exactly one of them is 1, but there is no first test that all of them begin with."""

    def between(low: int, high: int) -> IndicatorInput:
        def side(relation: Relation, border: int) -> Compare:
            return Compare(left=Linear.of({Variable(0): Fraction(1)}, Fraction(-border)), relation=relation)

        return IndicatorInput(And((side(Relation.GE, low), side(Relation.LE, high))))

    model = Model(
        name="m",
        outcomes=("no", "yes"),
        inputs=(between(0, 0), between(1, 2), between(3, 3)),
        layers=(layer([[1, 2, 4]], [0], 1),),
        rule=ByThreshold(relation=Relation.GT, low=Fraction(1), high=Fraction(1), granted=1, otherwise=0),
        groups=((0, 1, 2),),
    )
    assert Leaves.of(model).trees == 0
    assert [exact_scores(model, point(level, 0))[0] for level in range(4)] == [1, 2, 2, 4]
    assert BatchEvaluator(model).scores(np.array([[2.0, 0.0]]))[0].item() == 2
    found = preactivation_bounds(float_layers(model), np.zeros((1, 3)), np.ones((1, 3)), choices_of(model))[0]
    assert found.high[0, 0] == pytest.approx(4)


def test_intervals_refuse_conditions_on_several_attributes_and_read_stumps() -> None:
    refused = Intervals().offer(problem(PEOPLE, stairs(1, 2, 3), 1, quantity=Quantity.FAIR_SHARE))
    assert isinstance(refused, Refusal)
    assert "several attributes" in refused.why
    stump = Model(
        name="m",
        outcomes=("no", "yes"),
        inputs=tuple(IndicatorInput(And((linear({1: 1}, sign, Fraction(1, 2)),))) for sign in ("<=", ">")),
        layers=(layer([[1, 2]], [0], 1),),
        rule=ByThreshold(relation=Relation.GT, low=Fraction(1), high=Fraction(1), granted=1, otherwise=0),
        favourable=1,
        groups=((0, 1),),
    )
    asked = Problem(
        name="p", domain=PEOPLE, model=stump, question=Pair(differ=(1,), mode=Differ.ANY), quantity=Quantity.FAIR_SHARE
    )
    assert isinstance(Intervals().offer(asked), Offer)
    verdict = ask(Intervals(), asked)
    assert verdict is not None
    assert disagreement(asked, verdict, truth(asked)) is None
