"""From verdicts to demands: thresholds are judged, never guessed; witnesses speak the spec's words."""

from __future__ import annotations

from fractions import Fraction

import pytest
from samples import EVIDENCE, GAP, PARTLY, PROVED, REFUSAL, UNSETTLED, demand, share_demand, shares, witness

from fairdsl.diagnostics import Diagnostic
from fairdsl.ir.enclosure import Enclosure
from fairdsl.ir.question import Quantity
from fairdsl.report.model import DemandReport, ExitCode, PropertyReport, Report, SpecFile
from fairdsl.verdict import Arithmetic, Fidelity, Holds, Interval, Judgement, Reason, Refused, Unknown, Value, Violated

F = Fraction


@pytest.mark.parametrize(
    ("certified", "falsified", "limit", "expected"),
    [
        (F(96, 100), F(1, 100), "95%", Judgement.HOLDS),
        (F(95, 100), F(5, 100), "95%", Judgement.HOLDS),  # exactly on the threshold
        (F(95, 100), F(0), "95%", Judgement.HOLDS),
        (F(90, 100), F(6, 100), "95%", Judgement.VIOLATED),
        (F(90, 100), F(5, 100), "95%", Judgement.UNKNOWN),  # the complement itself still reaches 95%
        (F(90, 100), F(1, 100), "95%", Judgement.UNKNOWN),
    ],
)
def test_a_required_fair_share(certified: F, falsified: F, limit: str, expected: Judgement) -> None:
    report = share_demand(shares(certified, falsified), limit)
    assert report.judgement is expected
    assert report.value == Interval(certified, 1 - falsified)
    assert (report.reason is Reason.INCOMPLETE) == (expected is Judgement.UNKNOWN)


def test_the_discrimination_rate_is_the_complement() -> None:
    report = share_demand(shares(F(90, 100), F(6, 100)), None, rate=True)
    assert report.judgement is Judgement.MEASURED
    assert report.value == Interval(F(6, 100), F(10, 100))
    assert share_demand(shares(F(90, 100), F(6, 100)), "6%", rate=True).judgement is Judgement.HOLDS


def test_an_estimate_speaks_of_the_number_that_the_demand_asks_for() -> None:
    fair, rate = share_demand(PARTLY, None).estimate, share_demand(PARTLY, None, rate=True).estimate
    assert fair is not None
    assert rate is not None
    assert (fair.interval.low, fair.value, fair.interval.high) == (F(9648, 10000), F(966, 1000), F(9672, 10000))
    assert (rate.interval, rate.value) == (fair.interval.complement, 1 - fair.value)


def test_no_estimate_ever_decides_a_demand() -> None:
    assert share_demand(PARTLY, "90%").judgement is Judgement.UNKNOWN


def test_more_certified_for_the_file_than_at_all_is_a_mistake_of_the_engine() -> None:
    with pytest.raises(ValueError, match="deployed file"):
        shares(F(8, 10), F(2, 10), float32_certified=F(9, 10))


def test_values_are_judged_or_measured() -> None:
    value = Value(number=Enclosure(low=F(1, 2), high=F(3, 4)), evidence=EVIDENCE)
    assert share_demand(value, None).judgement is Judgement.MEASURED
    assert share_demand(value, "0.5").judgement is Judgement.HOLDS
    assert share_demand(value, "0.6").judgement is Judgement.UNKNOWN
    assert share_demand(value, "0.8").judgement is Judgement.VIOLATED


def test_verdicts_keep_what_they_rest_on() -> None:
    held = demand(Holds(evidence=PROVED))
    assert held.judgement is Judgement.HOLDS
    assert (held.backend, held.method, held.fidelity) == ("smt", "two copies in z3", Fidelity.WIDENS)
    assert held.arithmetic is Arithmetic.EXACT
    assert held.notes == ("12 of 16 units folded",)
    assert held.seconds == 2.14


def test_an_unknown_keeps_its_bounds_as_bounds_and_judges_nothing() -> None:
    bounded = Unknown(reason=Reason.TIMEOUT, detail="late", evidence=PROVED, low=F(96, 100), high=F(1))
    report = share_demand(bounded, "95%")
    assert report.judgement is Judgement.UNKNOWN
    assert report.value == Interval(F(96, 100), F(1))
    assert share_demand(UNSETTLED, None).judgement is Judgement.UNKNOWN
    assert demand(UNSETTLED).value is None


def test_pairs_on_which_the_arithmetics_disagree_are_no_witnesses() -> None:
    report = demand(GAP)
    assert report.witnesses == ()
    [pair] = report.disagreements
    assert not pair.replay.agrees
    assert (pair.replay.decision_b, pair.replay.float32_decisions) == ("reject", ("grant", "grant"))


def test_refusals() -> None:
    report = demand(Refused(diagnostics=(REFUSAL,)))
    assert report.refusals == (REFUSAL,)
    assert report.judgement is Judgement.REFUSED
    assert report.backend is report.method is report.fidelity is report.arithmetic is None


def test_witnesses_speak_the_words_of_the_spec() -> None:
    report = witness()
    assert report.a == {"status": "some", "month": 12, "income": F(1, 3), "sex": "f", "foreign": True}
    assert report.a["foreign"] is True
    assert isinstance(report.a["month"], int)
    assert (report.replay.decision_a, report.replay.decision_b) == ("grant", "reject")
    assert report.differing == ("month", "sex")
    assert report.replay.agrees


def _report(*demands: DemandReport, errors: bool = False) -> Report:
    properties = tuple(
        PropertyReport(name=f"p{n}", sentence="", clauses=(), demands=(item,)) for n, item in enumerate(demands)
    )
    diagnostics = (Diagnostic(code="E0203" if errors else "W0801", title="t"),)
    return Report(fairdsl="0", spec=SpecFile(path="x.fair"), properties=properties, diagnostics=diagnostics)


def test_exit_codes_and_their_precedence() -> None:
    holds, violated = demand(Holds(evidence=PROVED)), demand(Violated(witnesses=(witness(),), evidence=EVIDENCE))
    unknown, refused = demand(UNSETTLED), demand(Refused(diagnostics=(REFUSAL,)))
    measured = share_demand(shares(F(1), F(0)), None)
    assert _report().exit_code is ExitCode.HOLDS
    assert _report(holds, measured).exit_code is ExitCode.HOLDS
    assert _report(measured).exit_code is ExitCode.HOLDS
    assert _report(holds, unknown).exit_code is ExitCode.UNKNOWN
    assert _report(unknown, refused, holds).exit_code is ExitCode.REFUSED
    assert _report(unknown, refused, violated).exit_code is ExitCode.VIOLATED
    assert _report(violated, errors=True).exit_code is ExitCode.REFUSED
    assert [code.value for code in ExitCode] == [0, 1, 2, 3, 4, 70, 74, 75, 130, 143]


def test_a_property_joins_its_demands() -> None:
    violated = demand(Violated(witnesses=(witness(), witness()), evidence=EVIDENCE))
    tight, loose = share_demand(shares(F(8, 10), F(2, 10)), None), share_demand(shares(F(8, 10), F(0)), None)
    joined = PropertyReport(name="p", sentence="", clauses=(), demands=(loose, violated, tight, violated))
    assert joined.judgement is Judgement.VIOLATED
    assert len(joined.witnesses) == 1  # each pair once
    assert joined.shares == tight.shares


def test_regions_are_a_table() -> None:
    sheet = demand(PARTLY, text="measure fair_share", metric="fair_share", quantity=Quantity.FAIR_SHARE)
    spec = SpecFile(path="spec.fair", sha256="0" * 64)
    item = PropertyReport(name="alike", sentence="", clauses=(), demands=(sheet,))
    table = Report(fairdsl="1", audit=None, spec=spec, models=(), seed=0, properties=(item,)).table("regions")
    assert table == {
        "property": ["alike"] * 3,
        "where": [
            "month in 17 .. 25 and status in { none, some }",
            "foreign = true and income in ~0.333333 .. 3.5 and month = 80",
            "everywhere",
        ],
        "share": [0.125, 0.0125, 1.0],
        "falsified": [0.012, 0.0, 0.02],
        "undecided": [0.083, 0.01, 0.109],
    }
