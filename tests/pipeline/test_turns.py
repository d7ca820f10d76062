"""Several engines and several turns a demand: what one leaves open the next is asked, and time that is left is used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

import pytest

import fairdsl
from fairdsl.backends.contract import Answering, Budget, Capability, Cost, Facts, Observer, Offer, Silent
from fairdsl.backends.enumerate import Enumerate
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Quantity
from fairdsl.plan import Plan, Stage, Work
from fairdsl.plan.joining import is_final, joined
from fairdsl.report.model import Report
from fairdsl.verdict import Evidence, Holds, Interval, Judgement, Reason, Shares, Unknown, Value, Verdict, Violated
from tests.builders import BOOLEAN, domain, problem, score

F = Fraction
NOTHING = Capability(questions=(), quantities=(), models=())
ASKED = problem(domain(sex=BOOLEAN), score([1]), 0)
SHARE = replace(ASKED, quantity=Quantity.FAIR_SHARE)


def evidence(name: str) -> Evidence:
    return Evidence(backend=name, method="by heart")


def shares(name: str, certified: int, falsified: int, reason: Reason | None = Reason.TIMEOUT) -> Shares:
    return Shares(
        certified=F(certified, 100),
        falsified=F(falsified, 100),
        undecided=F(100 - certified - falsified, 100),
        vacuous=F(0),
        measure="counting",
        unit="an individual",
        evidence=evidence(name),
        reason=reason,
    )


def unknown(name: str, reason: Reason = Reason.INCOMPLETE) -> Unknown:
    return Unknown(reason=reason, detail=f"{name} knows nothing", evidence=evidence(name))


@dataclass
class Once:
    """Says one thing, and ends."""

    name: str
    verdict: Verdict
    times: int = 0
    about: Capability = NOTHING

    def offer(self, problem: Problem) -> Offer:
        return Offer(method="", decides=True)

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
        self.times += 1
        return self.verdict


@dataclass
class ByTurns:
    """Says one thing after the other, a turn each; the last one is its last."""

    name: str
    verdicts: Sequence[Verdict]
    closed: bool = False
    about: Capability = NOTHING
    budgets: list[Budget] = field(default_factory=list)

    def offer(self, problem: Problem) -> Offer:
        return Offer(method="", decides=True)

    def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
        raise AssertionError("it goes on by turns")

    def answering(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Answering:
        try:
            for verdict in self.verdicts[:-1]:
                self.budgets.append(budget)
                budget = yield verdict
            return self.verdicts[-1]
        finally:
            self.closed = True


def work(
    *procedures: Once | ByTurns,
    asked: Problem = ASKED,
    cost: Cost = Cost.PROOF,
    enough: Callable[[Verdict], bool] | None = None,
) -> Work:
    first, *then = (Stage(procedure, Offer(method="", decides=True, cost=cost)) for procedure in procedures)
    return Work(Plan((first,), (), tuple(then), then=tuple(then)), asked, enough)


def plain(verdict: Verdict) -> Verdict:
    """The verdict as the engine gave it: plans add whose model it is about."""
    assert not isinstance(verdict, fairdsl.verdict.Refused)
    return replace(verdict, evidence=replace(verdict.evidence, basis=Evidence(backend="", method="").basis))


LONG = Budget.of(3600.0)
REASONS = (Reason.INCOMPLETE, Reason.MEMORY_OUT, Reason.ENGINE_CRASHED, Reason.MALFORMED, Reason.REPLAY_FAILED)


@pytest.mark.parametrize("reason", REASONS)
def test_who_comes_next_is_asked_where_one_ends_unknown(reason: Reason) -> None:
    first, second, third = (
        Once("a", unknown("a", reason)),
        Once("b", Holds(evidence=evidence("b"))),
        Once("c", unknown("c")),
    )
    asked = work(first, second, third)
    assert plain(asked.go_on(LONG, Silent())) == Holds(evidence=evidence("b"))
    assert [engine.times for engine in (first, second, third)] == [1, 1, 0]
    assert not asked.may_go_on(3600.0)


def test_nobody_is_asked_about_what_an_engine_has_settled() -> None:
    for verdict in (Holds(evidence=evidence("a")), Violated(witnesses=(), evidence=evidence("a"))):
        second = Once("b", unknown("b"))
        assert plain(work(Once("a", verdict), second).go_on(LONG, Silent())) == verdict
        assert not second.times
    gap = unknown("a", Reason.NUMERIC_GAP)  # it is about the model, not about the engine
    second = Once("b", Holds(evidence=evidence("b")))
    assert plain(work(Once("a", gap), second).go_on(LONG, Silent())) == gap


def test_all_leave_it_open() -> None:
    asked = work(Once("a", unknown("a")), Once("b", unknown("b", Reason.MEMORY_OUT)))
    verdict = asked.go_on(LONG, Silent())
    assert isinstance(verdict, Unknown)
    assert verdict.reason is Reason.MEMORY_OUT
    assert not asked.may_go_on(3600.0)


def test_bounds_of_several_engines_are_taken_together() -> None:
    narrow = replace(shares("b", 20, 30), reason=Reason.MEMORY_OUT)
    wide = replace(
        shares("a", 40, 0),
        reason=Reason.INCOMPLETE,
        evidence=replace(evidence("a"), fidelity=fairdsl.verdict.Fidelity.WIDENS),
    )
    verdict = work(Once("a", wide), Once("b", narrow), asked=SHARE).go_on(LONG, Silent())
    assert isinstance(verdict, Shares)
    assert (verdict.certified, verdict.falsified, verdict.undecided) == (F(2, 5), F(3, 10), F(3, 10))
    assert verdict.evidence.backend == "b"
    assert "within the bounds of `a`, too" in verdict.evidence.notes[0]


def test_an_engine_ends_where_its_bounds_decide_with_those_of_others() -> None:
    """Neither decides alone: what the first one proved is in force while the second one is at work."""

    class Refining(Once):
        def answer(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Verdict:
            for self.times in range(1, 9):
                bounds = shares(self.name, 0, 10 * self.times)
                if facts.decided_by(bounds):
                    return bounds
            return bounds

    def enough(verdict: Verdict) -> bool:
        return isinstance(verdict, Shares) and verdict.undecided <= F(1, 10)

    first, second = Once("a", shares("a", 50, 0, Reason.MEMORY_OUT)), Refining("b", unknown("b"))
    verdict = work(first, second, asked=SHARE, enough=enough).go_on(LONG, Silent())
    assert isinstance(verdict, Shares)
    assert (verdict.certified, verdict.falsified) == (F(1, 2), F(2, 5))
    assert second.times == 4


def test_bounds_without_a_common_number_are_a_contradiction() -> None:
    verdict = joined(shares("a", 60, 0), shares("b", 0, 50))
    assert isinstance(verdict, Unknown)
    assert verdict.reason is Reason.CONTRADICTION
    assert is_final(verdict)


def test_values_are_between_the_better_of_both_bounds() -> None:
    def value(name: str, low: int, high: int) -> Value:
        return Value(
            number=Enclosure(low=F(low, 100), high=F(high, 100)), evidence=evidence(name), reason=Reason.TIMEOUT
        )

    verdict = joined(value("a", 20, 50), value("b", 40, 90))
    assert isinstance(verdict, Value)
    assert (verdict.low, verdict.high, verdict.evidence.backend) == (F(2, 5), F(1, 2), "a")


def test_an_engine_goes_on_where_it_ended() -> None:
    late = unknown("a", Reason.TIMEOUT)
    engine = ByTurns("a", (late, late, Holds(evidence=evidence("a"))))
    asked = work(engine)
    assert plain(asked.go_on(LONG, Silent())) == Holds(evidence=evidence("a"))
    assert len(engine.budgets) == 2
    assert engine.closed


def test_who_is_left_gives_back_what_it_holds() -> None:
    engine = ByTurns("a", [unknown("a", Reason.TIMEOUT)] * 3)
    asked = work(engine)
    asked.go_on(Budget.of(0.0), Silent())
    assert not engine.closed
    assert asked.may_go_on(3600.0)
    asked.close()
    assert engine.closed
    assert not asked.may_go_on(3600.0)


def test_who_cannot_go_on_begins_anew_with_much_more_time() -> None:
    engine = Once("a", unknown("a", Reason.TIMEOUT))
    asked = work(engine)
    asked.go_on(Budget.of(100.0), Silent())
    assert engine.times == 1
    assert not asked.may_go_on(120.0)
    assert asked.may_go_on(200.0)


def test_one_that_never_ends_does_not_keep_the_next_from_answering() -> None:
    """Each has its turns; who comes first has most of the time."""

    class Endless(ByTurns):
        def answering(self, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Answering:
            while True:
                self.budgets.append(budget)
                budget = yield unknown("a", Reason.TIMEOUT)

    first, second = Endless("a", ()), ByTurns("b", (unknown("b", Reason.TIMEOUT), Holds(evidence=evidence("b"))))
    assert plain(work(first, second).go_on(LONG, Silent())) == Holds(evidence=evidence("b"))
    assert first.budgets


def test_who_adds_nothing_has_no_turn_any_more() -> None:
    bounds = [shares("a", 10 + 10 * place, 0) for place in range(9)]
    first = ByTurns("a", (*bounds, shares("a", 100, 0, None)))
    second = ByTurns("b", [shares("b", 5, 0)] * 50)
    verdict = work(first, second, asked=SHARE).go_on(LONG, Silent())
    assert isinstance(verdict, Shares)
    assert verdict.certified == 1
    assert len(second.budgets) <= 2


# ---- whole specs -----------------------------------------------------------------------------------

SPEC = """\
domain P { sex : category { f, m }  age : integer 18 .. 30 }
protected sex
model m : P -> { no, ok }
  score = age - 20 + 3 * (sex = m)
  ok when score > 0
distribution everybody over P uniform
property first { compare a, b : P  differ in sex  measure fair_share  require discrimination_rate <= 50%
                 require fair_share >= 10% }
property other { compare a, b : P  differ in sex  require fair_share >= 20%  require same decision }
property apart { compare a, b : P  differ in sex  among age <= 25  measure fair_share }
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "spec.fair"
    path.write_text(SPEC, encoding="utf-8")
    return path


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Problem]:
    """The problems that are enumerated."""
    found: list[Problem] = []
    answer = Enumerate.answer

    def answering(self: Enumerate, problem: Problem, *others: object) -> Verdict:
        found.append(problem)
        return answer(self, problem, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(Enumerate, "answer", answering)
    return found


def test_one_quantity_is_computed_once(spec: Path, asked: list[Problem]) -> None:
    report = fairdsl.check(spec, jobs=1)
    first, other, apart = report.properties
    assert len([problem for problem in asked if problem.quantity is not Quantity.HOLDS]) == 2
    share = first.demands[0].value
    assert share is not None
    assert [demand.value for demand in (*first.demands, *other.demands[:1])] == [
        share,
        Interval(1 - share.high, 1 - share.low),
        share,
        share,
    ]
    assert apart.demands[0].value != share


def test_what_is_open_goes_on_until_it_is_known(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the others had their turn; with the time that they left."""
    turns: list[str] = []
    answer = Enumerate.answer

    def answering(self: Enumerate, problem: Problem, facts: Facts, budget: Budget, observer: Observer) -> Answering:
        verdict = unknown("enumerate", Reason.TIMEOUT)
        for _ in range(3):
            turns.append(problem.name)
            # A budget that is used up: others have their turn.
            budget = yield verdict
        return answer(self, problem, facts, budget, observer)

    monkeypatch.setattr(Enumerate, "answering", answering, raising=False)
    report = fairdsl.check(spec, jobs=1)
    expected = fairdsl.check(spec, jobs=1, backend="enumerate")
    assert [item.judgement for item in report.properties] == [item.judgement for item in expected.properties]
    assert turns.count("apart") >= 3


def test_who_comes_next_answers_whole_specs(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the planner's own order, with the engine at a loss that comes first of all these demands."""
    expected = fairdsl.check(spec, jobs=1)
    assert {demand.backend for item in expected.properties for demand in item.demands} == {"enumerate", "search"}
    monkeypatch.setattr(Enumerate, "answer", lambda *_: unknown("enumerate"))
    report = fairdsl.check(spec, effort=20_000, jobs=1)
    assert "enumerate" not in {demand.backend for item in report.properties for demand in item.demands}
    assert [item.judgement for item in report.properties] == [item.judgement for item in expected.properties]
    forced = fairdsl.check(spec, jobs=1, backend="enumerate")  # nobody else is asked silently
    assert {item.judgement for item in forced.properties} == {Judgement.UNKNOWN}


REFINED = """\
domain P { sex : category { f, m }  age : integer 18 .. 400  income : integer 0 .. 4000  height : real 0 .. 10 }
protected sex
model m : P -> { no, ok }
  score = income - 2 * age + 9 * height + 3 * (sex = m) - 60
  ok when score >= 0
"""


def refined(effort: int, **properties: str) -> Report:
    asked = "".join(f"property {name} {{ compare a, b : P  differ in sex  {it} }}\n" for name, it in properties.items())
    return fairdsl.check(REFINED + asked, effort=effort, jobs=1)


def test_what_the_others_leave_decides_the_open_one() -> None:
    """Its part is a third, which is too little, and what the three have together is enough."""
    effort, close = 36_000, "require fair_share >= 99.9252%"
    assert refined(effort // 3, close=close).properties[0].judgement is Judgement.UNKNOWN
    wealthy = "among a.income >= 2000 require fair_share >= 20%"
    alike = "among a.income >= 2500 require same decision"
    report = refined(effort, close=close, wealthy=wealthy, alike=alike)
    assert [item.judgement for item in report.properties] == [Judgement.VIOLATED, Judgement.HOLDS, Judgement.HOLDS]


def test_a_small_effort_is_spent_whole() -> None:
    """A turn has no cost of its own there, so what is left of little goes to the open one, too."""
    report = refined(6_000, wide="measure fair_share", alike="among a.income >= 2500 require same decision")
    assert report.run is not None
    assert report.run.spent >= 0.95 * 6_000
    alone = refined(3_000, wide="measure fair_share").properties[0].demands[0].value
    value = report.properties[0].demands[0].value
    assert alone is not None
    assert value is not None
    assert value.high - value.low < 0.9 * (alone.high - alone.low)


def test_a_share_that_is_asked_for_often_is_refined_once() -> None:
    asked = {
        "share": "measure fair_share",
        "rate": "measure discrimination_rate",
        "enough": "require fair_share >= 10%",
    }
    once, often = refined(3_000, share=asked["share"]), refined(3_000, **asked)
    assert once.run is not None
    assert often.run is not None
    assert (often.run.work, often.run.spent) == (once.run.work, once.run.spent)
    share, rate, enough = (item.demands[0].value for item in often.properties)
    assert share is not None
    assert share.low < share.high
    assert share == enough == once.properties[0].demands[0].value
    assert rate == Interval(1 - share.high, 1 - share.low)
