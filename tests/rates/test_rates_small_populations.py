"""Random models under random distributions: by the definition, in every order and arithmetic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings

from fairdsl.backends.contract import Budget, Facts, Refusal, Silent
from fairdsl.backends.rates import Rates, cover, engine, joints
from fairdsl.backends.rates.arithmetic import Arithmetic, Kind
from fairdsl.backends.rates.gate import has_states
from fairdsl.ir.model import ByThreshold
from fairdsl.ir.problem import Problem
from fairdsl.metrics.subject import subject_of
from fairdsl.verdict import Value
from tests.agreement import group_truth
from tests.agreement.bank import groups_of_laws
from tests.drawing import examples

F = Fraction


def as_they_are(patch: pytest.MonkeyPatch) -> None:
    """Whatever is counted as the least work, in exact arithmetic."""


def by_states(patch: pytest.MonkeyPatch) -> None:
    """Sums of columns alone too."""
    patch.setattr(joints, "_reads_columns_alone", lambda model: False)


def by_boxes(patch: pytest.MonkeyPatch) -> None:
    """No course is ever short enough where the ways of a diagram are boxes."""
    by_states(patch)
    counted = engine.Courses.within

    def never(courses: Any, limit: float) -> Any:
        return None if courses.program.plain else counted(courses, limit)

    patch.setattr(engine.Courses, "within", never)


def in_floats(patch: pytest.MonkeyPatch) -> None:
    by_states(patch)
    patch.setattr(Arithmetic, "exact", classmethod(lambda cls, denominator: cls(Kind.FLOAT, 1)))


def in_large_numbers(patch: pytest.MonkeyPatch) -> None:
    by_states(patch)
    patch.setattr(Arithmetic, "exact", classmethod(lambda cls, denominator: cls(Kind.LARGE, denominator)))


def by_narrowing(patch: pytest.MonkeyPatch) -> None:
    """Nothing is counted: boxes are cut until nothing is open."""
    patch.setattr(joints, "has_states", lambda model: False)


def by_everybody(patch: pytest.MonkeyPatch) -> None:
    """Nothing is known of a model but what it decides about single people."""
    for module in (joints, cover):
        patch.setattr(module, "only_decides", lambda model: True)


#: Every way to answer; each drawn problem is answered in all of them.
WAYS = [as_they_are, by_states, by_boxes, by_narrowing, by_everybody, in_floats, in_large_numbers]


def test_rates_agree_with_the_definition() -> None:
    counted: dict[str, Counter[str]] = {way.__name__: Counter() for way in WAYS}

    @settings(max_examples=examples(1.75))
    @given(groups_of_laws())
    def agree(problem: Problem) -> None:
        known = group_truth.truth(problem)
        for way in WAYS:
            with pytest.MonkeyPatch.context() as patch:
                way(patch)
                counted[way.__name__]["asked"] += 1
                answered_in_this_way(problem, way, known, counted[way.__name__])

    agree()
    for name, answers in counted.items():
        assert answers["Value"] > answers["asked"] / 8, (name, answers)
    assert counted["by_boxes"]["boxes"] > counted["by_boxes"]["asked"] / 20, counted


def answered_in_this_way(
    problem: Problem, way: Callable[[pytest.MonkeyPatch], None], known: group_truth.Truth, counted: Counter[str]
) -> None:
    rates = Rates()
    offer = rates.offer(problem)
    if isinstance(offer, Refusal):
        others = ("cannot be listed",) if way is by_everybody else ()
        assert any(why in offer.why for why in ("irrational", *others)), way.__name__
        return
    verdict = rates.answer(problem, Facts(), Budget.of(20.0), Silent())
    assert group_truth.disagreement(problem, known, verdict) is None, way.__name__
    counted.update({type(verdict).__name__, "boxes" if "boxes" in offer.method else "states"})


@settings(max_examples=examples(1))
@given(groups_of_laws())
def test_a_threshold_between_two_numbers_has_two_ends(problem: Problem) -> None:
    """They are those of the events at either end."""
    rule = problem.model.rule
    states = has_states(problem.model) and not isinstance(Rates().offer(problem), Refusal)
    if not isinstance(rule, ByThreshold) or not states:
        return
    subject = subject_of(problem)
    low, high = rule.low - F(1, 3), rule.high + F(2, 3)
    vague = replace(subject, model=replace(subject.model, rule=replace(rule, low=low, high=high)))
    found = engine.Ways(vague).within(engine.LAST).joint()[0]
    # Strictly inside, as no score is at an end of the enclosure itself.
    ends = [
        engine.Ways(replace(subject, model=replace(subject.model, rule=one))).within(engine.LAST).joint()[0]
        for one in (at_the_ends(rule, low, least=True), at_the_ends(rule, high, least=False))
    ]
    for key, bounds in found.favourable.items():
        each = [end.favourable[key].low for end in ends]
        assert (bounds.low, bounds.high) == (min(each), max(each))
    assert found.total == ends[0].total


def at_the_ends(rule: ByThreshold, end: Fraction, *, least: bool) -> ByThreshold:
    """A score at the lower end counts as not above any threshold inside, one at the upper end as above all of them."""
    above = rule.relation.value in (">", ">=")
    relation = rule.relation
    if above:
        relation = type(relation).GT if least else type(relation).GE
    elif relation.value in ("<", "<="):
        relation = type(relation).LE if least else type(relation).LT
    return replace(rule, low=end, high=end, relation=relation)


def test_values_are_enclosures_where_they_are_floats(monkeypatch: pytest.MonkeyPatch) -> None:
    in_floats(monkeypatch)
    kinds: Counter[bool] = Counter()

    @settings(max_examples=examples(0.6))
    @given(groups_of_laws())
    def look(problem: Problem) -> None:
        rates = Rates()
        states = has_states(problem.model)
        if not states or isinstance(rates.offer(problem), Refusal):
            return
        verdict = rates.answer(problem, Facts(), Budget.of(20.0), Silent())
        if isinstance(verdict, Value) and verdict.defined and "boxes, " not in verdict.evidence.method:
            assert "float64" in verdict.evidence.method
            kinds[verdict.exact] += 1

    look()
    assert kinds[False], kinds
