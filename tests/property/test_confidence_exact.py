"""How sure a model is: exact answers, float64 bounds, and the linear conditions that solvers are given."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.backends.contract import Budget, Facts, Procedure, Refusal, Silent
from fairdsl.backends.intervals import Intervals
from fairdsl.backends.smt import worklist
from fairdsl.backends.smt.atoms import Surely, sure_of
from fairdsl.backends.smt.cases import Case, refined
from fairdsl.ir.expr import Relation, Who
from fairdsl.ir.model import ByHighest, Logits, Model
from fairdsl.ir.question import Pair, Quantity, Relaxation, Sure
from fairdsl.models.logit import logit
from fairdsl.numerics.confidence import OPEN, is_sure, sure_rows
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.verdict import Holds, Shares, Vacuous
from tests.agreement.engines import ENGINES, ask
from tests.builders import BOOLEAN, domain, integer, layer, linear, member, model, point, problem, score
from tests.oracle import confidence, sure_enough, truth
from tests.strategies import LEVELS, confident_problems

ANSWERING, DECIDING = (
    pytest.mark.parametrize("engine", [engine for engine in ENGINES if engine.name in names], ids=lambda e: e.name)
    for names in (("enumerate", "search", "smt"), ("enumerate", "smt"))
)

RATIONAL = st.builds(Fraction, st.integers(-40, 40), st.sampled_from([1, 3, 4, 10]))
WANTED = st.builds(
    Sure,
    who=st.just(Who.A),
    relation=st.sampled_from([Relation.GE, Relation.GT]),
    level=st.one_of(st.sampled_from(LEVELS), st.fractions("1/1000", "999/1000", max_denominator=1000)),
)


def sure(level: object, relation: Relation = Relation.GE, who: Who = Who.A) -> Sure:
    return Sure(who=who, relation=relation, level=Fraction(level))


def with_logits(made: Model, scale: object = 1) -> Model:
    return replace(made, logits=Logits(scale=Fraction(scale)))


def constant(*scores: object) -> Model:
    """A model with these scores, whatever it reads."""
    outcomes = tuple(f"o{index}" for index in range(len(scores)))
    made = model(layer([[0]] * len(scores), scores, 1), attributes=1)
    if len(scores) == 1:
        return with_logits(made)
    return with_logits(replace(made, outcomes=outcomes, rule=ByHighest(), favourable=None))


SCORES = st.one_of(st.lists(RATIONAL, min_size=1, max_size=1), st.lists(RATIONAL, min_size=3, max_size=4))


@given(SCORES, WANTED, st.sampled_from([1, Fraction(1, 2)]))
def test_exact_and_float64_answers_are_the_oracles(scores: list[Fraction], wanted: Sure, scale: object) -> None:
    rule = with_logits(constant(*scores), scale)
    true = confidence(rule, point(0))
    expected = sure_enough(Pair(differ=(0,), mode="any", sure=(wanted,)), true, true)
    assert is_sure(rule, point(0), (wanted,)) is expected
    settled = BatchEvaluator(rule).settled(np.zeros((1, 1)))
    (answer,) = sure_rows(rule, settled.scores, settled.errors, settled.decisions, (wanted,)).tolist()
    assert answer in (expected, OPEN)
    # A bound a thousand roundings wide leaves open what is near, and nothing else.
    blurred = sure_rows(rule, settled.scores, settled.errors + 1e-13, settled.decisions, (wanted,)).tolist()
    assert blurred[0] in (expected, OPEN)
    assert abs(true - wanted.level) < Fraction(1, 10**11) or blurred[0] == expected


@given(st.lists(RATIONAL, min_size=3, max_size=5), st.data(), WANTED)
def test_conditions_are_necessary_and_tangents_tight(scores: list[Fraction], data: st.DataObject, wanted: Sure) -> None:
    """No condition excludes scores of which the model is sure; the tangent excludes nearly all others."""
    rule = constant(*scores)
    outcome = max(range(len(scores)), key=lambda index: (scores[index], -index))
    true = confidence(rule, point(0))
    enough = sure_enough(Pair(differ=(0,), mode="any", sure=(wanted,)), true, true)
    elsewhere = data.draw(st.lists(RATIONAL, min_size=len(scores), max_size=len(scores)))
    here = Surely(rule, outcome, wanted, 0, len(scores)).cut(scores, ())
    atoms = (
        *sure_of(rule, outcome, (wanted,), of_a=True),
        here,
        Surely(rule, outcome, wanted, 0, len(scores)).cut(elsewhere, ()),
    )
    none = [Fraction(0)] * len(scores)
    assert not enough or all(atom.met(scores, none) for atom in atoms)
    assert enough or true > wanted.level - Fraction(1, 100) or not here.met(scores, none)
    assert all(Fraction(float(entry)) == entry for atom in atoms for entry in (*atom.a, *atom.b))


def test_ties_at_exactly_one_half_and_one_third() -> None:
    """Equality of a rational score's confidence with a rational level: only where all logits are equal."""
    assert is_sure(constant(0), point(0), (sure("1/2"),)) is True
    assert is_sure(constant(0), point(0), (sure("1/2", Relation.GT),)) is False
    assert is_sure(constant(5, 5, 5), point(0), (sure("1/3"),)) is True
    assert is_sure(constant(5, 5, 5), point(0), (sure("1/3", Relation.GT),)) is False


def test_next_to_a_transcendental_level() -> None:
    """ln 9 is known to 200 digits in base two; scores 2**-199 on either side of it are told apart."""
    low, high = logit(Fraction(9, 10))
    beside = Fraction(1, 2**199)
    rows = np.array([[float(low)]])
    for value, expected in ((low - beside, False), (high + beside, True)):
        rule = constant(value)
        assert is_sure(rule, point(0), (sure("9/10"),)) is expected
        assert sure_rows(rule, rows, rows * 2.0**-52, np.array([1]), (sure("9/10"),)).tolist() == [OPEN]


def test_huge_scores_neither_overflow_nor_open() -> None:
    assert is_sure(constant(10**30), point(0), (sure("999999/1000000"),)) is True
    assert is_sure(constant(10**30, 10**30, -(10**30)), point(0), (sure("51/100"),)) is False
    scores, none = np.array([[1e30], [-1e300]]), np.zeros((2, 1))
    assert sure_rows(constant(0), scores, none, np.array([1, 0]), (sure("9/10"),)).tolist() == [1, 1]
    assert sure_rows(constant(0), scores, none, np.array([0, 1]), (sure("9/10"),)).tolist() == [0, 0]


PEOPLE = domain(x=integer(0, 12), y=integer(0, 12), sex=BOOLEAN)
FIRST = member(2, 0, who=Who.A)
#: Three scores: 0, sex carries the second above it, and the third counts only in how sure the model is.
THREE = with_logits(
    replace(
        model(layer([[0, 0, 0], ["-1/4", 0, 3], [0, "-1/4", 0]], [0, 0, 0], 1), attributes=3),
        outcomes=("low", "middle", "high"),
        rule=ByHighest(),
        favourable=None,
    )
)


@ANSWERING
@pytest.mark.parametrize(("y", "violated"), [(8, False), (12, True)])
def test_between_necessary_and_sufficient(engine: Procedure, y: int, violated: bool) -> None:
    """At x = 2 and y = 8 the leads are -1/2 and -2: each is far enough, both together are not (0.573)."""
    target = linear({0: 1, 1: 100}, "=", 2 + 100 * y)
    asked = problem(PEOPLE, THREE, 2, target=target, pair_target=FIRST, sure=(sure("3/5"),))
    verdict = type(ask(engine, asked)).__name__
    # The solver does not know whether this leaves anybody; enumeration does.
    assert verdict == ("Violated" if violated else "Vacuous" if engine.name == "enumerate" else "Unknown")


def test_a_pair_that_does_not_count_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """The solver's first pair meets all conditions that are there; one more excludes it and all like it."""
    cut: list[bool] = []

    def counted(*arguments: Any) -> Case | None:
        found = refined(*arguments)
        cut.append(found is not None)
        return found

    monkeypatch.setattr(worklist, "refined", counted)
    target = linear({0: 1, 1: 100}, "=", 802)
    asked = problem(PEOPLE, THREE, 2, target=target, pair_target=FIRST, sure=(sure("3/5"),))
    smt = next(engine for engine in ENGINES if engine.name == "smt")
    assert isinstance(smt.answer(asked, Facts(), Budget.of(20.0), Silent()), Holds)
    assert cut == [True]


@ANSWERING
def test_sure_of_a_is_an_ordered_question(engine: Procedure) -> None:
    """Of 'yes' (score 3) the model is sure, of 'no' (score -1) it is not: a is the one with 'yes'."""
    people = domain(sex=BOOLEAN)
    asked = problem(people, with_logits(score([4], -1)), 0, sure=(sure("9/10"),))
    verdict = ask(engine, asked)
    assert [(witness.a.point, witness.b.point) for witness in verdict.witnesses] == [(point(1), point(0))]
    both = problem(people, with_logits(score([4], -1)), 0, sure=(sure("9/10"), sure("9/10", who=Who.B)))
    assert type(ask(engine, both)).__name__ in ("Holds", "Vacuous", "Unknown")


@DECIDING
def test_nobody_sure_is_noticed(engine: Procedure) -> None:
    asked = problem(domain(sex=BOOLEAN), with_logits(score([4], -1)), 0, sure=(sure("99/100"),))
    verdict = ask(engine, asked)
    assert isinstance(verdict, Vacuous)
    some = problem(domain(sex=BOOLEAN), with_logits(score([4], 1)), 0, sure=(sure("99/100"),))
    assert not isinstance(ask(engine, some), Vacuous)


def test_both_of_a_violating_pair_are_unfair() -> None:
    """With `relax` individuals are counted: also the one of whom nothing is asked takes part in the violation."""
    people = domain(sex=BOOLEAN, age=integer(0, 4))
    asked = problem(
        people,
        with_logits(score([4, -1], "1/2")),
        0,
        relax=(Relaxation(attribute=1, by=Fraction(1)),),
        sure=(sure("9/10"),),
        quantity=Quantity.FAIR_SHARE,
    )
    expected = truth(asked)
    assert {b for _, b in expected.violations} - {a for a, _ in expected.violations}
    shares = ask(ENGINES[0], asked)
    assert isinstance(shares, Shares)
    assert (shares.total, shares.certified) == (expected.total, expected.fair_share)
    assert shares.falsified == 1 - expected.fair_share > 0
    assert shares.vacuous == Fraction(expected.vacuous, expected.total + expected.vacuous)


@given(confident_problems())
def test_intervals_refuses(problem) -> None:
    assert isinstance(Intervals().offer(problem), Refusal)
