"""``--cross-check``: other backends are asked as well, and a contradiction leaves nothing known."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

import fairdsl
from fairdsl.backends.contract import Budget, Facts, Observer, Offer, Silent
from fairdsl.elaborate import elaborate
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.problem import Problem
from fairdsl.plan import Plan, Stage, cross_checked, plan_of
from fairdsl.plan.joining import contradiction
from fairdsl.semantics import front_end
from fairdsl.verdict import Evidence, Holds, Judgement, Rate, Reason, Shares, Unknown, Value, Verdict, Violated

F = Fraction
EVIDENCE = Evidence(backend="one", method="by hand")
HIRING = Path(__file__).parents[2] / "examples" / "hiring" / "hiring.fair"


def value(low: int, high: int, *rates: tuple[int, int], reason: Reason | None = None) -> Value:
    groups = (
        Rate(group=((0, F(n)),), number=Enclosure(low=F(low, 100), high=F(high, 100)), mass=Enclosure.exactly(F(1, 2)))
        for n, (low, high) in enumerate(rates)
    )
    return Value(
        number=Enclosure(low=F(low, 100), high=F(high, 100)),
        evidence=EVIDENCE,
        rates=tuple(groups),
        defined=reason is None,
        reason=reason,
    )


def shares(certified: int, falsified: int) -> Shares:
    return Shares(
        certified=F(certified, 100),
        falsified=F(falsified, 100),
        undecided=F(100 - certified - falsified, 100),
        vacuous=F(0),
        measure="count",
        unit="an individual",
        evidence=EVIDENCE,
    )


HOLDS = Holds(evidence=EVIDENCE)
VIOLATED = Violated(witnesses=(), evidence=EVIDENCE)
UNKNOWN = Unknown(reason=Reason.TIMEOUT, detail="", evidence=EVIDENCE)


@pytest.mark.parametrize(
    ("one", "other", "against"),
    [
        (HOLDS, VIOLATED, True),
        (VIOLATED, HOLDS, True),
        (HOLDS, HOLDS, False),
        (HOLDS, UNKNOWN, False),
        (VIOLATED, VIOLATED, False),
        (shares(60, 30), shares(65, 35), False),
        (shares(60, 40), shares(70, 10), True),
        (shares(10, 0), shares(0, 90), False),
        (shares(11, 0), shares(0, 90), True),
        (value(20, 30), value(30, 40), False),
        (value(20, 30), value(31, 40), True),
        (value(20, 20), value(0, 100), False),
        (value(20, 30, (50, 60)), value(20, 30, (61, 70)), True),
        (value(20, 30, (50, 60)), value(20, 30, (60, 70)), False),
        (value(0, 0, reason=Reason.UNDEFINED), value(100, 100), False),
        (value(0, 0, (1, 1), reason=Reason.UNDEFINED), value(100, 100, (2, 2)), True),
    ],
)
def test_verdicts_that_cannot_both_be_true(one: Verdict, other: Verdict, against: bool) -> None:
    assert (contradiction(one, other) is not None) is against
    assert (contradiction(other, one) is not None) is against


class Says:
    """A backend that says what it was made with."""

    def __init__(self, name: str, verdict: Verdict) -> None:
        self.name = name
        self._verdict = verdict

    def offer(self, problem: Problem) -> Offer:
        return Offer(method="by hand", decides=True)

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
        return self._verdict


def stage(name: str, verdict: Verdict) -> Stage:
    return Stage(Says(name, verdict), Offer(method="by hand", decides=True))  # type: ignore[arg-type]


def asked(first: Verdict, *others: Verdict) -> Verdict:
    spec, _ = front_end(str(HIRING))
    problem = elaborate(spec, {}).demands[0].problem
    beside = tuple(stage(f"other{n}", verdict) for n, verdict in enumerate(others))
    return cross_checked(Plan((stage("first", first),), (), beside), problem, Budget.of(5.0), Silent())


def _plain(verdict: Verdict) -> Verdict:
    """The verdict as the engine gave it: the plan adds whose model it is about."""
    assert isinstance(verdict, Unknown)
    assert verdict.evidence.basis.model is not None
    return replace(verdict, evidence=replace(verdict.evidence, basis=EVIDENCE.basis))


def test_a_contradiction_is_no_verdict() -> None:
    """Also after another backend has agreed."""
    found = asked(HOLDS, HOLDS, VIOLATED)
    assert isinstance(found, Unknown)
    assert found.reason is Reason.CONTRADICTION
    assert "`one` and `other1` contradict" in found.detail


def test_notes_say_what_the_others_make_of_it() -> None:
    found = asked(value(20, 20), value(20, 20), value(10, 30), UNKNOWN)
    assert isinstance(found, Value)
    assert found.evidence.notes == (
        "cross-checked: `other0` comes to the same number",
        "cross-checked: `other1` comes to an interval that agrees, from 0.1 to 0.3",
        "cross-checked: `other2` came to no verdict",
    )
    assert replace(found, evidence=EVIDENCE) == value(20, 20)


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        # The span of several rates is known exactly where they are.
        (value(20, 60, (20, 20), (60, 60)), value(20, 60, (20, 20), (60, 60)), "comes to the same numbers"),
        (
            value(20, 60, (20, 20), (60, 60)),
            value(20, 60, (20, 30), (60, 60)),
            "comes to an interval that agrees, from 0.2 to 0.6",
        ),
        (value(40, 40, (20, 30), (60, 70)), value(40, 40, (20, 30), (60, 70)), "comes to the same number"),
        (value(20, 30), value(25, 25), "comes to 0.25, which agrees"),
        (value(20, 20), value(0, 100, reason=Reason.TIMEOUT), "came to no number"),
        (
            value(0, 100, reason=Reason.UNDEFINED),
            value(0, 100, reason=Reason.UNDEFINED),
            "comes to no number either",
        ),
        (shares(60, 40), shares(60, 40), "comes to the same number"),
        (shares(60, 40), shares(50, 30), "comes to an interval that agrees, from 0.5 to 0.7"),
        (HOLDS, HOLDS, "comes to the same verdict"),
    ],
)
def test_agreement_says_as_much_as_is_known(one: Verdict, other: Verdict, said: str) -> None:
    found = asked(one, other)
    assert isinstance(found, Value | Shares | Holds)
    assert found.evidence.notes == (f"cross-checked: `other0` {said}",)


def test_it_is_said_that_nobody_else_can_decide() -> None:
    found = asked(value(20, 20))
    assert isinstance(found, Value)
    assert found.evidence.notes == ("cross-checked: nobody else can decide it",)
    assert _plain(asked(UNKNOWN)) == UNKNOWN


def test_what_is_unknown_is_not_asked_again() -> None:
    assert _plain(asked(UNKNOWN, HOLDS)) == UNKNOWN


def test_others_are_all_who_could_decide() -> None:
    spec, _ = front_end(str(HIRING))
    for item in elaborate(spec, {}).demands:
        plan = plan_of(item)
        assert isinstance(plan, Plan)
        assert not {stage.procedure.name for stage in plan.stages} & {stage.procedure.name for stage in plan.others}
        assert all(stage.offer.decides for stage in plan.others)
        forced = plan_of(item, "intervals")
        if isinstance(forced, Plan):
            assert "enumerate" in {stage.procedure.name for stage in forced.others}


def test_a_spec_is_cross_checked() -> None:
    plain, checked = (fairdsl.check(HIRING, cross_check=wanted) for wanted in (False, True))
    assert [found.judgement for found in checked.properties] == [found.judgement for found in plain.properties]
    assert Judgement.UNKNOWN not in {found.judgement for found in checked.properties}
    notes = [note for found in checked.properties for demand in found.demands for note in demand.notes]
    assert any(note.startswith("cross-checked: `intervals`") for note in notes)
    assert not any(note.startswith("cross-checked") for f in plain.properties for d in f.demands for note in d.notes)
