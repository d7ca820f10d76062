"""Leaf boxes: exact shares against enumeration, volumes of reals, witnesses, refusals, and a short budget."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import islice

import pytest
from hypothesis import given, settings

from fairdsl.backends.contract import Budget, Facts, Offer, Refusal, Silent
from fairdsl.backends.leaf_boxes import LeafBoxes, lowering
from fairdsl.backends.leaf_boxes.descent import Descent
from fairdsl.backends.leaf_boxes.lowering import lower
from fairdsl.backends.leaf_boxes.witnesses import pairs
from fairdsl.ir.domain import Attribute, Domain
from fairdsl.ir.expr import TRUE, And, Compare, Linear, Predicate, Relation, Variable, Who, opposite
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.model import ByHighest, ByThreshold, Layer, Model
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair, Quantity, Relaxation, ScoreGap
from fairdsl.replay import witness
from fairdsl.verdict import Holds, Reason, Shares, Unknown, Vacuous, Violated
from tests.agreement.engines import ask, disagreement
from tests.builders import category, domain, integer, layer, linear, member, problem, real, score
from tests.drawing import examples
from tests.leaf_boxes.box_problems import box_problems
from tests.oracle import truth

F = Fraction


def tree(*tests: Predicate, scores: tuple[int, ...], threshold: object = 0) -> Model:
    """A tree that grows to one side: leaf i where the i-th test is the first that holds."""
    ways = [And((*(opposite(test) for test in tests[:i]), *tests[i : i + 1])) for i in range(len(tests) + 1)]
    return Model(
        name="m",
        outcomes=("no", "yes"),
        inputs=tuple(IndicatorInput(way) for way in ways),
        layers=(layer([scores], [0], 1),),
        rule=ByThreshold(
            relation=Relation.GT, low=Fraction(threshold), high=Fraction(threshold), granted=1, otherwise=0
        ),
        groups=(tuple(range(len(ways))),),
    )


def test_agrees_with_the_oracle() -> None:
    """Whether the demand holds, and the share, of the same problems."""
    counted: Counter[str] = Counter()

    @settings(max_examples=examples(2))
    @given(box_problems(Quantity.FAIR_SHARE))
    def agree(drawn: Problem) -> None:
        known = truth(drawn)
        for quantity in (Quantity.HOLDS, Quantity.FAIR_SHARE):
            asked = replace(drawn, quantity=quantity)
            verdict = ask(LeafBoxes(), asked)
            assert verdict is not None, LeafBoxes().offer(asked)
            assert disagreement(asked, verdict, known) is None
            counted[type(verdict).__name__] += 1
            if not known.total:
                assert isinstance(verdict, Vacuous)
            elif quantity is Quantity.FAIR_SHARE:
                assert isinstance(verdict, Shares)
                assert verdict.undecided == 0
                assert verdict.falsified == 1 - known.fair_share
                assert bool(verdict.witnesses) == (verdict.falsified > 0)
            else:
                assert isinstance(verdict, Holds if known.holds else Violated)

    agree()
    assert counted["Shares"]
    # Some draws of so few have no violated demand.
    assert counted["Holds"] + counted["Violated"]


@settings(max_examples=examples(0.4))
@given(box_problems(Quantity.FAIR_SHARE, most_trees=1))
def test_every_unfair_unit_yields_a_witness(drawn: Problem) -> None:
    known, pair = truth(drawn), drawn.question
    assert isinstance(pair, Pair)
    if not known.individuals:
        return
    descent = run_to_the_end(lowered := lower(drawn, pair))
    found = list(islice(pairs(lowered, descent.axes, descent.unfair), 10_000))
    unit = [tuple(value for i, value in enumerate(a) if i not in pair.differ) for a, _ in found]
    assert len(set(unit)) == len(unit) == known.total - known.fair
    assert all(pair in known.violations for pair in found)
    assert all(witness(drawn, a, b) is not None for a, b in found[:5])


def run_to_the_end(lowered: object) -> Descent:
    descent = Descent(lowered)  # type: ignore[arg-type]
    while not descent.finished:
        descent.step()
    return descent


def halves(predicate: Predicate, attribute: int) -> Predicate:
    """The predicate about x, said of the whole number k whose x is the middle of the k-th half: x = k/2 + 1/4."""
    match predicate:
        case And(parts):
            return And(tuple(halves(part, attribute) for part in parts))
        case Compare(left=left, relation=relation):
            factor = dict(left.terms).get(Variable(attribute), Fraction(0))
            terms = {v: f / 2 if v.attribute == attribute else f for v, f in left.terms}
            return Compare(left=Linear.of(terms, left.constant + factor / 4), relation=relation)
    raise AssertionError(predicate)


@pytest.mark.parametrize("end", [Fraction(4), Fraction(7, 2)])
def test_volumes_of_reals(end: Fraction) -> None:
    """Borders at halves: the volume is the share of halves whose middle is unfair."""
    tests = (
        linear({1: 2}, "<=", 3),
        linear({0: 1}, ">=", 1),
        linear({1: 1}, ">", 3),
        linear({2: 1}, "<", 2),
    )
    model = tree(*tests, scores=(1, -1, 1, 1, -1))
    people = domain(a=category(0, 1), x=real(0, end), n=integer(0, 3), where=linear({1: 2}, "!=", 1))
    question = problem(people, model, 0, quantity=Quantity.FAIR_SHARE)
    verdict = ask(LeafBoxes(), question)
    assert isinstance(verdict, Shares)
    counted = domain(a=category(0, 1), x=integer(0, int(2 * end) - 1), n=integer(0, 3))
    inputs = tuple(IndicatorInput(halves(item.predicate, 1)) for item in model.inputs)  # type: ignore[union-attr]
    known = truth(problem(counted, replace(model, inputs=inputs), 0, quantity=Quantity.FAIR_SHARE))
    assert (verdict.certified, verdict.undecided, verdict.measure) == (known.fair_share, 0, "volume")
    assert 0 < known.fair_share < 1
    assert verdict.total is None


def test_a_single_point_has_no_volume_and_still_violates() -> None:
    """Only at x = 1 exactly do the two sexes differ."""
    model = tree(linear({1: 1}, "<", 1), linear({1: 1}, ">", 1), linear({0: 1}, "=", 1), scores=(1, 1, 1, -1))
    people = domain(sex=category(0, 1), x=real(0, 2))
    verdict = ask(LeafBoxes(), problem(people, model, 0))
    assert isinstance(verdict, Violated)
    assert {w.a.point[1] for w in verdict.witnesses} == {1}
    shares = ask(LeafBoxes(), problem(people, model, 0, quantity=Quantity.FAIR_SHARE))
    assert isinstance(shares, Shares)
    assert (shares.certified, shares.falsified) == (1, 0)


def test_numbers_beyond_64_bits_are_counted_exactly() -> None:
    """Twelve numbers of a million values each; the unfair units are one value of the first, in all the others."""
    columns = {f"x{index}": integer(0, 10**6 - 1) for index in range(12)}
    people = domain(sex=category(0, 1), **columns)
    model = tree(linear({1: 1}, "!=", 77), linear({0: 1}, "=", 1), scores=(1, 1, -1))
    shares = ask(LeafBoxes(), problem(people, model, 0, quantity=Quantity.FAIR_SHARE))
    assert isinstance(shares, Shares)
    assert shares.total == 10**72
    assert shares.falsified == Fraction(1, 10**6)
    assert all(w.a.point[1] == 77 for w in shares.witnesses)
    assert len(shares.witnesses) == 10


def test_a_threshold_that_is_no_rational_leaves_what_lies_in_its_enclosure_open() -> None:
    """Leaves of 1/2 are open: with themselves they agree, with another open leaf they need not."""
    rule = ByThreshold(relation=Relation.GT, low=Fraction(1, 4), high=Fraction(3, 4), granted=1, otherwise=0)
    weights: Layer = layer([[Fraction(1, 2), Fraction(2, 5), 1, 0]], [0], 1)
    model = replace(
        tree(linear({1: 1}, "<", 1), member(0, 1), member(0, 0), scores=(0, 0, 0, 0)), layers=(weights,), rule=rule
    )
    people = domain(sex=category(0, 1), n=integer(0, 3))
    shares = ask(LeafBoxes(), problem(people, model, 0, quantity=Quantity.FAIR_SHARE))
    assert isinstance(shares, Shares)
    assert (shares.certified, shares.undecided, shares.reason) == (Fraction(1, 4), Fraction(3, 4), Reason.INCOMPLETE)
    assert isinstance(ask(LeafBoxes(), problem(people, model, 0)), Unknown)


def test_without_time_bounds_stay_sound() -> None:
    question = problem(domain(s=category(0, 1), n=integer(0, 9)), tree(member(0, 1), scores=(1, -1)), 0)
    shares = LeafBoxes().answer(replace(question, quantity=Quantity.FAIR_SHARE), Facts(), Budget.of(0.0), Silent())
    assert isinstance(shares, Shares)
    assert (shares.undecided, shares.reason, shares.total) == (1, Reason.TIMEOUT, None)
    verdict = LeafBoxes().answer(question, Facts(), Budget.of(0.0), Silent())
    assert isinstance(verdict, Unknown)
    assert verdict.reason is Reason.TIMEOUT


def test_bounds_in_between_enclose_the_share() -> None:
    model = tree(
        *(linear({1: 1}, "<", n) for n in range(1, 9)), member(0, 1), scores=(*[(-1) ** n for n in range(8)], 1, -1)
    )
    question = problem(domain(s=category(0, 1), n=integer(0, 9)), model, 0, quantity=Quantity.FAIR_SHARE)
    pair = question.question
    assert isinstance(pair, Pair)
    known, descent = truth(question), Descent(lower(question, pair))
    steps = 0
    while not descent.finished:
        descent.step()
        steps += 1
        counts = descent.counts
        assert counts.fair <= known.fair
        assert counts.unfair <= known.total - known.fair
        assert counts.fair + counts.unfair + descent.left == known.total
    assert steps > 3


PEOPLE = domain(s=category(0, 1), n=integer(0, 9), x=real(0, None))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"relax": (Relaxation(attribute=1, by=Fraction(1)),)}, "`within`"),
        ({"demand": ScoreGap(relation=Relation.LE, limit=Fraction(1))}, "not scores"),
        ({"pair_target": linear({0: 1}, "=", 1, Who.A)}, "`a` or `b`"),
        ({"target": linear({0: 1, 1: 1}, "=", 1)}, "a condition is on several attributes"),
    ],
)
def test_proofs_are_refused_where_shares_are_bounded(changes: dict[str, object], words: str) -> None:
    pair = replace(Pair(differ=(0,), mode=Differ.ANY), **changes)  # type: ignore[arg-type]
    proof = Problem(
        name="p", domain=PEOPLE, model=tree(member(0, 1), scores=(1, -1)), question=pair, quantity=Quantity.HOLDS
    )
    refused = LeafBoxes().offer(proof)
    assert isinstance(refused, Refusal)
    assert words in refused.why
    unbounded = LeafBoxes().offer(replace(proof, quantity=Quantity.FAIR_SHARE))
    assert isinstance(unbounded, Refusal)
    assert "`x` is unbounded" in unbounded.why
    bounded = replace(proof, domain=domain(s=category(0, 1), n=integer(0, 9), x=real(0, 1)))
    assert isinstance(LeafBoxes().offer(replace(bounded, quantity=Quantity.FAIR_SHARE)), Offer)


def test_a_distance_in_what_a_condition_adds_up_is_refused_where_values_are_too_many() -> None:
    """Of a part of values some are near enough, and only these may meet the condition."""
    pair = Pair(differ=(0,), mode=Differ.ANY, relax=(Relaxation(attribute=1, by=Fraction(1)),))
    summed = replace(pair, target=linear({0: 1, 1: 1}, "!=", 500))
    for most, answered in ((999, True), (9999, False)):
        people = domain(s=category(0, 1), n=integer(0, most))
        question = replace(problem(people, tree(member(0, 1), scores=(1, -1)), 0), question=summed)
        offer = LeafBoxes().offer(replace(question, quantity=Quantity.FAIR_SHARE))
        assert isinstance(offer, Offer) == answered
        assert answered or "a condition adds it" in offer.why


def test_models_that_are_no_trees_are_refused() -> None:
    people = domain(s=category(0, 1), n=integer(0, 9))
    refused = LeafBoxes().offer(problem(people, score([1, 1]), 0))
    assert isinstance(refused, Refusal)
    assert "not a tree" in refused.why
    oblique = LeafBoxes().offer(problem(people, tree(linear({0: 1, 1: 1}, ">", 3), scores=(1, 0)), 0))
    assert isinstance(oblique, Refusal)
    assert "several attributes" in oblique.why


def test_forests_are_bounded_by_their_combinations() -> None:
    people = domain(s=category(0, 1), n=integer(0, 9))
    one = tree(*(linear({1: 1}, "<", n) for n in range(1, 9)), scores=tuple(range(9)))

    def forest(size: int) -> Model:
        groups = tuple(tuple(range(9 * n, 9 * n + 9)) for n in range(size))
        weights = layer([list(range(9)) * size, list(range(9))[::-1] * size, [4] * 9 * size], [0, 0, 0], 1)
        names = ("no", "yes", "maybe")
        inputs = one.inputs * size
        return replace(one, inputs=inputs, groups=groups, layers=(weights,), rule=ByHighest(), outcomes=names)

    for quantity, most in ((Quantity.HOLDS, 7), (Quantity.FAIR_SHARE, 20)):
        assert isinstance(LeafBoxes().offer(problem(people, forest(most), 0, quantity=quantity)), Offer)
        more = LeafBoxes().offer(problem(people, forest(most + 1), 0, quantity=quantity))
        if quantity is Quantity.HOLDS:
            assert isinstance(more, Refusal)
            assert "combinations of leaves; its limit is 2^" in more.why
        else:
            assert isinstance(more, Offer)
            assert "pairs" in more.method


def test_an_unbounded_real_is_no_obstacle_to_a_proof() -> None:
    model = tree(linear({2: 1}, ">", 100), linear({1: 1}, "<", 3), scores=(1, -1, 1))
    assert isinstance(ask(LeafBoxes(), problem(PEOPLE, model, 0)), Holds)
    unfair = tree(linear({2: 1}, ">", 100), linear({1: 1}, "<", 3), member(0, 1), scores=(1, -1, 1, -1))
    verdict = ask(LeafBoxes(), problem(PEOPLE, unfair, 0))
    assert isinstance(verdict, Violated)


def test_all_asks_people_to_differ_in_each_attribute() -> None:
    """Under `all`, two people in the same part of an attribute are told apart inside it, if it has two values."""
    columns = (Attribute(name="s", type=category(0, 1)), Attribute(name="n", type=integer(0, 3)))
    people = Domain(name="People", attributes=columns, where=TRUE)
    pair = Pair(differ=(0, 1), mode=Differ.EACH)
    model = tree(linear({1: 1}, "<", 3), member(0, 1), scores=(1, 1, -1))
    question = Problem(name="p", domain=people, model=model, question=pair, quantity=Quantity.HOLDS)
    verdict = ask(LeafBoxes(), question)
    assert isinstance(verdict, Violated)
    assert disagreement(question, verdict, truth(question)) is None
    alone = replace(question, model=tree(linear({1: 1}, ">", 9), member(0, 1), scores=(1, 1, -1)))
    verdict = ask(LeafBoxes(), alone)
    assert isinstance(verdict, Violated)
    assert all(w.a.point[1] != w.b.point[1] for w in verdict.witnesses)


def test_a_single_point_of_reals_beside_very_many_numbers() -> None:
    """Only x = 1 is left, which has no length: there is somebody, and no share of a volume of 0."""
    people = domain(sex=category(0, 1), x=real(1, 1), n=integer(0, 10**15), m=integer(0, 10**15))
    question = problem(people, tree(member(0, 1), scores=(1, -1)), 0, quantity=Quantity.FAIR_SHARE)
    shares = ask(LeafBoxes(), question)
    assert isinstance(shares, Shares)
    assert (shares.undecided, shares.reason) == (1, Reason.UNDEFINED)
    assert shares.witnesses


def test_thresholds_and_leaves_of_any_size() -> None:
    """Sums beyond 64 bits, and thresholds far beyond the sums, are compared as whole numbers."""
    people = domain(sex=category(0, 1), n=integer(0, 9))
    halves = tree(member(0, 1), scores=(1, -1))
    for size, limit in ((F(1), F(10**30)), (F(10**25), F(0)), (F(1, 10**30), F(0)), (F(1, 10**30), F(-(10**20)))):
        model = replace(
            halves,
            inputs=halves.inputs * 2,
            groups=((0, 1), (2, 3)),
            layers=(layer([[size, -size, size, -size]], [0], 1),),
            rule=ByThreshold(relation=Relation.GT, low=limit, high=limit, granted=1, otherwise=0),
        )
        question = problem(people, model, 0, quantity=Quantity.FAIR_SHARE)
        shares, known = ask(LeafBoxes(), question), truth(question)
        assert isinstance(shares, Shares)
        assert (shares.certified, shares.undecided) == (known.fair_share, 0)


def test_an_answer_has_the_cuts_of_its_offer(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Problem] = []
    cut = lowering._cut

    def counted(question: Problem) -> object:
        made.append(question)
        return cut(question)

    monkeypatch.setattr(lowering, "_cut", counted)
    people = domain(sex=category(0, 1), age=integer(0, 9))
    model = tree(linear({1: 1}, "<", 4), member(0, 1), scores=(1, -1, 1))
    for quantity in (Quantity.HOLDS, Quantity.FAIR_SHARE):
        question = problem(people, model, 0, quantity=quantity)
        assert isinstance(LeafBoxes().offer(question), Offer)
        ask(LeafBoxes(), question)
    assert [question.quantity for question in made] == [Quantity.HOLDS, Quantity.FAIR_SHARE]
