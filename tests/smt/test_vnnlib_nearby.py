"""From points that stand for nobody to pairs beside them that replay."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice
from math import prod

import pytest
from hypothesis import assume, given, settings

from fairdsl.backends.contract import Refusal
from fairdsl.backends.encoding import Answer, Lowered
from fairdsl.backends.smt import VnnLib
from fairdsl.backends.smt.region import whole_region
from fairdsl.backends.smt.vnnlib.nearby import pairs_near
from fairdsl.ir.expr import And, Relation
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Quantity, Relaxation, ScoreGap
from fairdsl.replay import admissible, witness
from fairdsl.verdict import Unknown, Verdict, Violated
from tests.builders import ASKED, BOOLEAN, category, domain, integer, layer, linear, model, point, problem, real, score
from tests.drawing import examples
from tests.oracle import truth
from tests.smt.test_agreement import ask_z3
from tests.smt.test_vnnlib_files import queries, script_of
from tests.strategies import problems


def answered(asked: Problem, values: dict[str, str], version: str) -> list[Verdict]:
    """What becomes of the point as an answer to each file of a version."""
    encoding, lowered = VnnLib(), VnnLib().lower(asked, ASKED)
    files = [file for file in queries(lowered) if lowered.described[file]["version"] == version]
    return [encoding.recover(asked, lowered, {file: Answer(status="sat", values=values)}) for file in files]


def test_the_edge_of_a_strict_condition_is_left_inwards() -> None:
    """Sex decides from 30 on where pay is below 30, so nobody at 30 counts, and everybody a little below does."""
    people = domain(linear({0: 1}, "<", 30), pay=real(0, 100), sex=BOOLEAN)
    asked = problem(people, score([1, 2], -31, relation=">="), 1)
    for verdict in answered(asked, {"X_0": "30.0"}, "1.0"):
        assert isinstance(verdict, Violated)
        assert 29 <= verdict.witnesses[0].a.point[0] < 30


def test_a_tie_is_left_towards_the_greater_margin() -> None:
    """A gap of 1 is allowed, and is what sex makes up to a pay of 2; from there on the gap grows."""
    network = model(layer([[1, 1], [1, 2]], [0, -4]), layer([[1, 1]], [0], 1), attributes=2)
    allowed = ScoreGap(relation=Relation.LE, limit=Fraction(1))
    asked = problem(domain(pay=real(0, 9), sex=BOOLEAN), network, 1, demand=allowed)
    assert witness(asked, point("2", 0), point("2", 1)) is None
    found = [witness(asked, *pair) for pair in pairs_near(asked, point("2", 0), point("2", 1))]
    assert any(one is not None and one.replay.agrees for one in found)


@pytest.mark.parametrize("age", ["51.5", "47.2", "44.0", "60", "40"])
def test_whole_numbers_are_looked_at_on_both_sides(age: str) -> None:
    """At 49 only sex decides, and only with a code that lies between two others."""
    people = domain(age=integer(0, 10**6), code=category(1, 4, 9), sex=BOOLEAN)
    asked = problem(people, score([1, 0, 1], -50, relation=">="), 2, target=linear({1: 1}, "=", 4))
    verdicts = answered(asked, {"X_0": age, "X_1": "4.6"}, "1.0")
    assert verdicts
    for verdict in verdicts:
        assert isinstance(verdict, Violated)
        assert verdict.witnesses[0].a.point[:2] == (49, 4)


def test_b_stays_within_what_a_relaxation_allows() -> None:
    people = domain(pay=real(0, 100), age=integer(0, 90), sex=BOOLEAN)
    relaxed = (Relaxation(attribute=0, by=Fraction("0.5")), Relaxation(attribute=1, by=Fraction(2)))
    asked = problem(people, score([1, 1, 1], -60, relation=">="), 2, relax=relaxed)
    proposed = list(pairs_near(asked, point("30.25", 29, 0), point("30.75", 31, 1)))
    assert proposed
    for a, b in proposed:
        assert admissible(asked.question, asked.domain, a, b, asked.model) is None
    assert any(a[:2] != b[:2] for a, b in proposed)


def test_nobody_is_proposed_where_nobody_is_left_or_nothing_breaks() -> None:
    people = domain(age=integer(0, 9), sex=BOOLEAN)
    fair = problem(people, score([1, 0], "-5.5"), 1)
    assert list(pairs_near(fair, point(5, 0), point(5, 1))) == []
    empty = problem(people, score([1, 1], -5), 1, target=And((linear({0: 1}, ">", 5), linear({0: 1}, "<", 4))))
    assert list(pairs_near(empty, point(5, 0), point(5, 1))) == []


def test_what_is_proposed_is_always_the_same() -> None:
    people = domain(pay=real(None, None), age=integer(0, 10**9), sex=BOOLEAN)
    asked = problem(people, score([1, 1, 1], -60), 2)
    first, second = (list(islice(pairs_near(asked, point(20, 39, 0), point(20, 39, 1)), 40)) for _ in range(2))
    assert first
    assert first == second


def few(asked: Problem) -> bool:
    """Whether there are so few pairs that all are looked at."""
    region = whole_region(asked.domain, asked.question)
    return (
        prod(sets[i].count for i, same in enumerate(region.shared) for sets in (region.a, region.b)[: 2 - same]) < 4096
    )


@settings(max_examples=examples(0.25))
@given(problems(Quantity.HOLDS))
def test_of_few_pairs_a_violation_is_found_from_any_point(asked: Problem) -> None:
    """Whichever version a solver answers: its point is one of a problem that is violated, so the pair is found."""
    encoding = VnnLib()
    assume(not isinstance(encoding.offer(asked), Refusal))
    known = truth(asked)
    assume(not known.holds)
    assume(few(asked))
    lowered: Lowered = encoding.lower(asked, ASKED)
    for alternative in lowered.settled_by:
        answers = {file: ask_z3(script_of(lowered, file)) for file in alternative}
        assert any(answer.status == "sat" for answer in answers.values())
        verdict = encoding.recover(asked, lowered, answers)
        assert not isinstance(verdict, Unknown), verdict
        assert isinstance(verdict, Violated)
        found = verdict.witnesses[0]
        assert (found.a.point, found.b.point) in known.violations or (found.b.point, found.a.point) in known.violations
