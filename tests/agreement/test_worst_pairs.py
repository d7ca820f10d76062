"""How far the worst two are apart: every engine against the definition, its bounds on both sides, and its pair."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings

import fairdsl
from fairdsl.backends.contract import Budget, Facts, Procedure, Refusal, Silent
from fairdsl.backends.leaf_boxes import LeafBoxes
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.expr import Relation
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Differ, Pair, Quantity, ScoreGap, WorstPair
from fairdsl.plan.joining import joined
from fairdsl.report.model import DemandReport
from fairdsl.verdict import Interval, Judgement, Unknown, Vacuous, Value
from tests.agreement.engines import ENGINES
from tests.builders import category, domain, problem, real, score
from tests.drawing import examples
from tests.oracle import scores, worst_gap
from tests.worst_pairs.drawn import worst_pairs

NAMES = ("enumerate", "smt", "leaf_boxes")
BY_NAME = {engine.name: engine for engine in (*ENGINES, LeafBoxes()) if engine.name in NAMES}


def asked(engine: Procedure, problem: Problem, seconds: float = 20.0) -> Value | Vacuous | Unknown | None:
    if isinstance(engine.offer(problem), Refusal):
        return None
    found = engine.answer(problem, Facts(), Budget.of(seconds), Silent())
    assert isinstance(found, Value | Vacuous | Unknown)
    return found


def shown(asks: Problem, found: Value) -> Fraction:
    """The gap of the pair that is shown."""
    if not found.witnesses:
        return Fraction(0)
    (pair,) = found.witnesses
    one, other = (scores(asks.model, side.point)[0] for side in (pair.a, pair.b))
    return abs(one - other)


@pytest.mark.parametrize("name", NAMES)
@given(asks=worst_pairs())
@settings(max_examples=examples(0.6))
def test_the_bounds_hold_the_largest_gap(name: str, asks: Problem) -> None:
    found = asked(BY_NAME[name], asks)
    if found is None:
        assert asks.model.score_count != 1 or name != "enumerate"
        return
    known = worst_gap(asks.of_pairs)
    if known is None:
        assert isinstance(found, Vacuous)
        return
    assert isinstance(found, Value)
    assert found.low <= known <= found.high
    assert shown(asks, found) == found.low
    assert found.high - found.low <= known / 10**6
    if name == "enumerate":
        assert found.exact


@pytest.mark.parametrize("name", ["smt", "leaf_boxes"])
@given(asks=worst_pairs())
@settings(max_examples=examples(0.2))
def test_bounds_that_come_too_early_hold_it_too(name: str, asks: Problem) -> None:
    known = worst_gap(asks.of_pairs)
    found = asked(BY_NAME[name], asks, 0.0)
    if found is None or known is None:
        return
    assert not isinstance(found, Vacuous)
    if isinstance(found, Value):
        assert found.low <= known <= found.high
    whole = asked(BY_NAME["enumerate"], asks)
    assert whole is not None
    both = joined(found, whole)
    assert isinstance(both, Value)
    assert both.low == both.high == known


def test_real_attributes_have_bounds() -> None:
    pair = Pair(differ=(0,), mode=Differ.ANY, demand=ScoreGap(relation=Relation.LE, limit=Fraction(0)))
    asks = problem(domain(sex=category(0, 1), income=real(0, 100)), score(["3/2", 1]), pair)
    found = asked(BY_NAME["smt"], replace(asks, question=WorstPair(pair=pair), quantity=Quantity.MAX_SCORE_GAP))
    assert isinstance(found, Value)
    assert found.low == found.high == Fraction(3, 2)


def test_who_is_compared_where_nothing_has_ends_is_not_nobody(tmp_path: Path) -> None:
    """No pair is drawn that lies on the line, and regions without ends cannot be cut until one is left."""
    spec = SPEC.replace("income : integer 0 .. 50", "income : real\n  debt : real\n  where income = 3 * debt + 0.7")
    spec = spec.replace("within 2 in income", "").replace("income / 2 + 3 * (sex = male)", "2 * (income > 3)")
    path = tmp_path / "s.fair"
    path.write_text(spec.replace("DEMAND", "measure max_score_gap"))
    (found,) = fairdsl.check(path, backend="smt").properties[0].demands
    assert found.judgement is Judgement.MEASURED
    assert found.value == Interval(Fraction(0), Fraction(0))


SPEC = """
domain D {
  sex : category { female, male }
  income : integer 0 .. 50
}
protected sex
model m : D -> { reject, grant }
  score = income / 2 + 3 * (sex = male)
  grant when score > 10

property p {
  compare a, b : D
  differ in sex
  within 2 in income
  DEMAND
}
"""


def check_of(tmp_path: Path, demand: str) -> DemandReport:
    path = tmp_path / "s.fair"
    path.write_text(SPEC.replace("DEMAND", demand))
    return fairdsl.check(path).properties[0].demands[0]


def test_a_spec_measures_it_and_shows_the_two(tmp_path: Path) -> None:
    found = check_of(tmp_path, "measure max_score_gap")
    assert found.judgement is Judgement.MEASURED
    assert found.value == Interval(Fraction(4), Fraction(4))
    (pair,) = found.witnesses
    assert abs(pair.replay.scores_a[0] - pair.replay.scores_b[0]) == 4


@pytest.mark.parametrize(("demand", "judgement"), [("<= 4", Judgement.HOLDS), ("< 4", Judgement.VIOLATED)])
def test_a_required_one_is_a_demand_about_all_pairs(tmp_path: Path, demand: str, judgement: Judgement) -> None:
    found = check_of(tmp_path, f"require max_score_gap {demand}")
    assert found.judgement is judgement
    assert found.quantity is Quantity.HOLDS


def test_shares_are_of_those_whom_a_required_gap_is_kept_for(tmp_path: Path) -> None:
    """Three and a half apart at most: only those are who have nobody of the other sex two below, or two above."""
    check_of(tmp_path, "require max_score_gap <= 3.5\n  require fair_share >= 4%\n  measure discrimination_rate")
    kept, share, rate = fairdsl.check(tmp_path / "s.fair").properties[0].demands
    assert (kept.judgement, share.judgement) == (Judgement.VIOLATED, Judgement.VIOLATED)
    assert share.value == Interval(Fraction(2, 51), Fraction(2, 51))
    assert rate.value == Interval(Fraction(49, 51), Fraction(49, 51))


@pytest.mark.parametrize(
    ("demand", "says"),
    [
        (
            "require max_score_gap <= 4\n  require same decision\n  measure fair_share",
            "this property demands two things",
        ),
        ("require max_score_gap >= 3", "bounded from above"),
        ("require max_score_gap <= -3", "a gap is never negative"),
        ("measure max_score_gap within 1%", "write `measure max_score_gap`"),
    ],
)
def test_what_means_nothing_is_said(tmp_path: Path, demand: str, says: str) -> None:
    with pytest.raises(DiagnosticError, match=says):
        check_of(tmp_path, demand)
