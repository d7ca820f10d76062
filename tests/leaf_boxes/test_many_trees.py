"""Many trees: boxes bounded by ranges and moments, against enumeration; every bound on the way encloses the share."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdsl.backends.contract import Offer, Refusal
from fairdsl.backends.leaf_boxes import LeafBoxes, graft, lowering, refinement, rest
from fairdsl.backends.leaf_boxes.forest import forest_of
from fairdsl.backends.leaf_boxes.kernels.counting import COUNTED
from fairdsl.backends.leaf_boxes.lowering import lower
from fairdsl.backends.leaf_boxes.refinement import Refinement
from fairdsl.backends.leaf_boxes.sizes import Sizes
from fairdsl.backends.leaf_boxes.task import task_of
from fairdsl.ir.domain import Domain
from fairdsl.ir.expr import TRUE, And, Not, Relation, opposite
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.model import ByThreshold, Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair, Quantity
from fairdsl.numerics.predicates import holds_for
from fairdsl.verdict import Reason, Shares, Vacuous
from tests.agreement.engines import ask, disagreement
from tests.builders import category, domain, integer, layer, linear, member, problem
from tests.drawing import examples
from tests.leaf_boxes.box_problems import box_problems, conditions
from tests.oracle import Truth, truth


def enclosed(descent: Refinement, known: Truth) -> None:
    """What is counted by now is in what there is; only what is paired is fair or unfair."""
    counts = descent.counts
    assert counts.fair <= known.fair
    assert counts.unfair <= known.total - known.fair
    assert counts.fair + counts.unfair + counts.vacuous + counts.undecided + descent.left == descent._sizes.total


def forest(people: Domain, trees: int, seed: int) -> Model:
    """Trees of depth 2 over whole numbers; some of them test the first attribute, which is protected."""
    rng = np.random.default_rng(seed)
    width, borders = len(people.attributes), len(people.attributes[1].values) - 1
    inputs, weights, groups = [], [], []
    for _ in range(trees):
        first, second = rng.integers(1, width), rng.integers(0, width)
        one = linear({int(first): 1}, "<=", int(rng.integers(0, borders)))
        other = member(0, 1) if second == 0 else linear({int(second): 1}, "<=", int(rng.integers(0, borders)))
        ways = [And((a, b)) for a in (one, opposite(one)) for b in (other, opposite(other))]
        groups.append(tuple(range(len(inputs), len(inputs) + 4)))
        inputs += [IndicatorInput(way) for way in ways]
        weights += [Fraction(int(value), 64) for value in rng.integers(-64, 65, size=4)]
    return Model(
        name="m",
        outcomes=("no", "yes"),
        inputs=tuple(inputs),
        layers=(layer([weights], [0], 1),),
        rule=ByThreshold(relation=Relation.GT, low=Fraction(1, 3), high=Fraction(1, 3), granted=1, otherwise=0),
        groups=tuple(groups),
    )


def many(trees: int, columns: int, seed: int, values: int = 5) -> Problem:
    people = domain(s=category(0, 1), **{f"x{i}": integer(0, values - 1) for i in range(columns)})
    return problem(people, forest(people, trees, seed), 0, quantity=Quantity.FAIR_SHARE)


def test_agrees_with_the_oracle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever can be bounded as many trees is, however few they are, with one cut a round."""
    counted: Counter[str] = Counter()
    small = st.builds(many, st.integers(2, 8), st.integers(1, 2), st.integers(0, 10**6))
    monkeypatch.setattr(refinement, "_CUTS", 1)

    @settings(max_examples=examples(2))
    @given(st.one_of(box_problems(Quantity.FAIR_SHARE, most_trees=5), small), st.sampled_from([0, 0, 8, 64]))
    def agree(drawn: Problem, counting: int) -> None:
        monkeypatch.setattr(graft, "_LEAVES", counting)
        known, pair = truth(drawn), drawn.question
        assert isinstance(pair, Pair)
        if not known.individuals or (forest := forest_of(lower(drawn, pair))) is None:
            return
        descent = Refinement.start(forest, memory=2**20)
        while not descent.finished:
            enclosed(descent, known)
            descent.step()
        enclosed(descent, known)
        assert (descent.left, descent.counts.unfair) == (0, known.total - known.fair)
        assert descent.counts.fair == known.fair
        with monkeypatch.context() as forced:
            forced.setattr(lowering, "_COUNTED", 0)
            verdict = ask(LeafBoxes(), drawn)
        assert verdict is not None
        assert disagreement(drawn, verdict, known) is None
        counted["fair"] += known.fair > 0
        counted["unfair"] += known.fair < known.total

    agree()
    assert counted["fair"]
    assert counted["unfair"]


def test_forests_of_any_size_have_shares() -> None:
    question = many(24, 3, seed=5)
    offer = LeafBoxes().offer(question)
    assert isinstance(offer, Offer)
    shares, known = ask(LeafBoxes(), question), truth(question)
    assert isinstance(shares, Shares)
    assert (shares.undecided, shares.falsified) == (0, 1 - known.fair_share)
    assert 0 < shares.falsified < 1
    assert shares.witnesses
    refused = LeafBoxes().offer(replace(question, quantity=Quantity.HOLDS))
    assert isinstance(refused, Refusal)
    assert "2^24" in refused.why


@settings(max_examples=examples(1))
@given(st.data())
def test_means_and_variances_bound_what_is_open(data: st.DataObject) -> None:
    """Every box's own bound, before anything below it was looked at, against everybody in it."""
    question = many(data.draw(st.integers(2, 16)), 3, data.draw(st.integers(0, 10**6)))
    pair = question.question
    assert isinstance(pair, Pair)
    if data.draw(st.booleans()):
        target = data.draw(conditions(question.domain.attributes[1:]))
        question = replace(question, question=replace(pair, target=target))
    known = truth(question)
    if not known.individuals:
        return
    enclosed(begun(question), known)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("people", "values"), [(2, 10), (2, 4), (3, 20), (5, 50)])
def test_the_bound_by_moments_is_met_where_nothing_less_is_true(people: int, values: int, sign: int) -> None:
    """One value of x is rare for each of them, a different one, and there the score jumps just over the threshold.

    A score of two values has exactly the share beyond the threshold that Cantelli's inequality allows for, and shares
    of different values add up: a bound that were any better would be wrong.
    """
    everybody = domain(s=category(*range(people)), x=category(*range(values)))  # no ends that could be peeled off
    ways = [
        And((member(0, person), way)) for person in range(people) for way in (member(1, person), Not(member(1, person)))
    ]
    inputs, number, fine = (*ways, *ways), len(ways), Fraction(1, 4096)
    halves = [value for half in (1 - fine, 1 + fine) for value in [sign * half / 2, Fraction(0)] * people]
    model = Model(
        name="m",
        outcomes=("no", "yes"),
        inputs=tuple(map(IndicatorInput, inputs)),
        layers=(layer([halves], [0], 1),),
        rule=ByThreshold(
            relation=Relation.GT if sign > 0 else Relation.LT,
            low=sign * (1 - fine),
            high=sign * (1 - fine),
            granted=1,
            otherwise=0,
        ),
        groups=(tuple(range(number)), tuple(range(number, 2 * number))),
    )
    question = problem(everybody, model, 0, quantity=Quantity.FAIR_SHARE)
    known, fair = truth(question), begun(question).counts.fair
    assert known.fair == values - people
    assert known.fair - 1 <= fair <= known.fair, "whole units"


def begun(question: Problem) -> Refinement:
    """What is bounded of everybody, before anything is cut."""
    found = forest_of(lower(question, question.question))  # type: ignore[arg-type]
    assert found is not None
    descent = Refinement.start(found, memory=2**20)
    descent._boxes.pace[COUNTED] = 0
    descent._refine(0, 1)
    descent._enter(int(descent._settled.number[0]))
    return descent


@pytest.mark.parametrize("own", [True, False])
def test_moments_are_those_of_everybody(own: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mean and variance of each score, or of the least and the greatest sum, over what is not peeled off the domain.

    Against a loop over all people.
    """
    monkeypatch.setattr("fairdsl.backends.leaf_boxes.forest._LONGER", 0 if own else 2**20)
    question = many(12, 3, seed=11)
    pair, model = question.question, question.model
    assert isinstance(pair, Pair)
    lowered = lower(question, pair)
    found = forest_of(lowered)
    assert found is not None
    descent = Refinement.start(found, memory=2**20)
    descent._boxes.pace[COUNTED] = 0
    descent._refine(0, 1)
    weights, known = model.layers[0].weight.exact[0], truth(question)
    sides = [
        {value for part in lowered.cuts[attribute].parts[low:high] for value in part.values or ()}
        for attribute, low, high in zip(descent.axes, descent._boxes.low[0], descent._boxes.high[0], strict=True)
    ]
    below, task = int(found.trees.limits[0]), task_of(lowered)
    assert task is not None
    alike = [
        [
            [sum(weights[i] for i in group if holds_for(model.inputs[i].predicate, point)) for group in model.groups]  # type: ignore[union-attr]
            for point in known.individuals
            if point[0] == protected
            and all(point[attribute] in side for attribute, side in zip(descent.axes, sides, strict=True))
        ]
        for (protected,) in lowered.assignments
    ]
    by_trees = np.array(alike, dtype=float) * task.denominator  # [assignments, the others, trees], in one order
    scores = by_trees.sum(axis=2) if own else np.array([e(by_trees, axis=0).sum(axis=1) for e in (np.min, np.max)])
    assert descent._scores.own == own
    for score, moments in zip(scores, descent._scores.work.moments, strict=True):
        assert moments[0] + below == pytest.approx(np.mean(score), rel=1e-9)
        assert np.var(score) <= moments[1] <= np.var(score) * 1.2


def test_what_waits_is_about_what_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a box is known to hold covers its parts only while they show less: then all of them is open again."""
    monkeypatch.setattr(refinement, "_CUTS", 64)
    question = many(40, 6, seed=1, values=6)
    found = forest_of(lower(question, question.question))  # type: ignore[arg-type]
    assert found is not None
    descent = Refinement.start(found, memory=2**26)
    descent._boxes.pace[COUNTED] = 0
    for _ in range(24):
        descent.step()
    assert descent._boxes.above.max() >= 0, "something was bounded"
    assert descent.undecided > 0.8 * descent.left / descent.size > 0.0


def test_boxes_that_waited_are_counted_when_it_is_their_turn() -> None:
    """Open boxes are counted in place of being cut, and everything comes to what enumeration comes to."""
    question = many(20, 4, seed=3, values=6)
    found = forest_of(lower(question, question.question))  # type: ignore[arg-type]
    assert found is not None
    descent = Refinement.start(found, memory=2**22, kept=True)
    descent._boxes.pace[COUNTED] = 0
    for _ in range(40):
        descent._refine(1, 2**20)
        descent._enter(int(descent._settled.number[0]))
    waiting, looked_at = int(descent._boxes.counts[graft.HEAP]), descent.looked_at
    descent._boxes.pace[COUNTED] = 256
    descent._refine(4, 2**20)
    descent._enter(int(descent._settled.number[0]))
    assert (int(descent._boxes.counts[graft.HEAP]), descent.looked_at) == (waiting - 4, looked_at)
    while not descent.finished:
        descent.step()
    known = truth(question)
    assert (descent.left, descent.counts.fair) == (0, known.fair)
    assert descent.counts.unfair == known.total - known.fair


def test_without_room_for_boxes_the_rest_is_open() -> None:
    question = many(60, 6, seed=3, values=10)
    pair = question.question
    assert isinstance(pair, Pair)
    found = forest_of(lower(question, pair))
    assert found is not None
    descent = Refinement.start(found, memory=0)
    while not descent.finished and not descent.full:
        descent.step()
    assert descent.full
    assert 0 < descent.left < descent._sizes.total


def test_whoever_is_not_asked_about_is_in_no_share() -> None:
    question = many(16, 3, seed=8)
    pair = question.question
    assert isinstance(pair, Pair)
    nobody = replace(question, question=replace(pair, target=member(0, 1)))
    assert isinstance(ask(LeafBoxes(), nobody), Vacuous)
    some = replace(question, question=replace(pair, target=linear({1: 1}, "<", 3)))
    shares, known = ask(LeafBoxes(), some), truth(some)
    assert isinstance(shares, Shares)
    assert (shares.certified, shares.undecided) == (known.fair_share, 0)
    everybody = replace(some, question=replace(pair, mode=Differ.EACH, target=TRUE))
    assert isinstance(LeafBoxes().offer(everybody), Offer), "one attribute: each is any"


def test_a_short_budget_leaves_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    from fairdsl.backends.contract import Budget, Facts, Silent

    question = many(60, 6, seed=3, values=10)
    monkeypatch.setattr(refinement, "_CUTS", 64)
    shares = LeafBoxes().answer(question, Facts(), Budget.of(0.0), Silent())
    assert isinstance(shares, Shares)
    assert shares.reason is Reason.TIMEOUT


def test_what_is_left_is_estimated() -> None:
    question = many(60, 3, seed=3)
    descent, known = begun(question), truth(question)
    counts, drawn = descent.counts, [descent.estimated(seed) for seed in range(10)]
    values = [found.value for found in drawn if found is not None]
    assert len(values) == 10
    away = abs(sum(values) / 10 - known.fair_share)
    assert away < 4 * Fraction(1, 2) / 316, "four standard deviations of a mean of 100,000 draws, at most"
    found = drawn[0]
    assert found is not None
    low, high = found.interval
    assert Fraction(descent._exactly.fair, known.total) <= low < found.value < high
    assert high <= 1 - Fraction(counts.unfair, known.total)
    assert found.complement.value == 1 - found.value
    assert found.complement.complement == found


@given(st.data())
def test_sizes_of_more_than_64_bits_are_exact(data: st.DataObject) -> None:
    """Against sums of Python's integers."""
    columns = data.draw(st.integers(2, 6))
    wide = data.draw(st.sampled_from([10**3, 10**9, 10**13]))
    people = domain(s=category(0, 1), **{f"x{i}": integer(0, wide) for i in range(columns)})
    question = problem(people, forest(people, 12, data.draw(st.integers(0, 99))), 0, quantity=Quantity.FAIR_SHARE)
    sizes = Sizes.over(lower(question, question.question))  # type: ignore[arg-type]
    whole = [len(parts) for parts in sizes.parts]
    ends = st.tuples(*(st.tuples(st.integers(0, n - 1), st.integers(1, n)).map(sorted) for n in whole))
    boxes = np.array(data.draw(st.lists(ends, min_size=1, max_size=20)), dtype=np.int64).reshape(-1, len(whole), 2)
    low, high = boxes[:, :, 0], boxes[:, :, 1]
    exactly = sum(
        sizes.factor * prod(int(sizes.sums[axis][b]) - int(sizes.sums[axis][a]) for axis, (a, b) in enumerate(box))
        for box in boxes.tolist()
    )
    assert sizes.of(low, high) == exactly


@settings(max_examples=examples(0.5))
@given(st.data())
def test_units_drawn_from_what_is_left_are_decided_as_by_definition(data: st.DataObject) -> None:
    """Each drawn unit lies in an open box; fair, unfair and vacuous ones are so by the loop over all people."""
    question = many(data.draw(st.integers(6, 16)), 3, data.draw(st.integers(0, 10**6)))
    pair = question.question
    assert isinstance(pair, Pair)
    if data.draw(st.booleans()):
        target = data.draw(conditions(question.domain.attributes))
        question = replace(question, question=replace(pair, target=target))
    known = truth(question)
    if not known.individuals:
        return
    descent = begun(question)
    boxes, forest = descent._boxes, descent.task
    waiting = boxes.heap[: int(boxes.counts[0])]
    if not len(waiting):
        return
    lowered = lower(question, pair)
    units = rest.draw(forest, boxes.low[waiting], boxes.high[waiting], boxes.mass[waiting], 0)[:60]
    low, high = boxes.low[waiting], boxes.high[waiting]
    unfair = vacuous = 0
    for unit in units:
        sides = zip(low.T, high.T, unit, forest.trees.ordered, strict=True)
        inside = [(a <= x) & (x < b) if ordered else (a >> x) & 1 > 0 for a, b, x, ordered in sides]
        assert np.all(inside, axis=0).any()
        at = zip(descent.axes, unit.tolist(), strict=True)
        spoken = {attribute: lowered.cuts[attribute].parts[place].speaker for attribute, place in at}
        people = [who for who in known.individuals if all(who[attribute] == spoken[attribute] for attribute in spoken)]
        vacuous += known.asked.isdisjoint(people)
        unfair += not known.unfair.isdisjoint(people)
    drawn = rest.Drawn(forest, units)
    assert (drawn.unfair, drawn.vacuous, drawn.doubtful) == (unfair, vacuous, 0)
