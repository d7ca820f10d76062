"""The report for people."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from samples import CLAUSES, EVIDENCE, REPORT

from fairdsl.ir.enclosure import Enclosure
from fairdsl.report.model import PropertyReport, Report, SpecFile
from fairdsl.report.text import render
from fairdsl.verdict import Violated

SAMPLE = Path(__file__).parent / "sample.txt"


def only(name: str, *, width: int = 100) -> str:
    chosen = tuple(item for item in REPORT.properties if item.name == name)
    return render(replace(REPORT, properties=chosen), width=width)


def test_every_kind_of_property(as_expected: Callable[[Path, str], None]) -> None:
    as_expected(SAMPLE, render(REPORT))


def test_a_report_prints_as_its_text_and_is_one_line_in_a_list() -> None:
    assert REPORT.rendered() == render(REPORT)
    assert str(REPORT) == f"warning[W0801]: `age` is never used\n\n{render(REPORT)}"
    assert str(replace(REPORT, diagnostics=())) == render(REPORT)
    assert repr(REPORT) == f"<Report of {REPORT.spec.path}: {render(REPORT).splitlines()[-2]}>"
    assert repr(replace(REPORT, properties=())).endswith(": 0 properties>")


def test_the_line_of_the_design() -> None:
    assert "four_fifths   VIOLATED   impact ratio 0.6132 < 0.80   exact, enumerate, 2.1 s\n" in only("four_fifths")


def test_every_clause_in_force_is_printed() -> None:
    """Trap 2: a "relaxed" question shipped with no relaxation, and nobody saw it."""
    for item in REPORT.properties:
        written = only(item.name)
        assert all(clause in written for clause in CLAUSES)


def test_colour_changes_no_letter() -> None:
    coloured = render(REPORT, colour=True)
    assert "\x1b[1;31mVIOLATED\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render(REPORT)


def test_it_fits_the_terminal() -> None:
    for width in (72, 80, 120):
        assert max(map(len, render(REPORT, width=width).splitlines())) <= width


def test_a_violated_pair_shows_what_differs_first_and_the_rest_in_one_line() -> None:
    lines = only("sex_decides").splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("    witness"))
    assert [line.split() for line in lines[at + 1 : at + 5]] == [
        ["month", "12", "14"],
        ["sex", "f", "m"],
        ["decision", "grant", "reject"],
        ["score", "1.25", "-0.333333"],
    ]
    assert lines[at + 5].split(maxsplit=1) == ["both", "status = some, income = 1/3, foreign = true"]
    assert "in exact arithmetic and in float32" in " ".join(only("sex_decides").split())


def test_further_witnesses_are_counted() -> None:
    [item] = [item for item in REPORT.properties if item.name == "sex_decides"]
    [demand] = item.demands
    (pair,) = demand.witnesses
    other = replace(pair, replay=replace(pair.replay, decision_b="other"))
    verdict = Violated(witnesses=(pair, other), evidence=EVIDENCE)
    doubled = replace(item, demands=(replace(demand, verdict=verdict),))
    assert "and 1 more in the JSON report" in render(replace(REPORT, properties=(doubled,)))


def test_witnesses_of_several_demands_say_whose_they_are() -> None:
    lines = [line.strip() for line in only("twice").splitlines()]
    assert [line for line in lines if line.startswith("found for")] == [
        "found for  require approve(a) = approve(b)",
        "found for  require fair_share >= 95%",
    ]
    assert "and 1 more in the JSON report" in lines
    assert "found for" not in only("sex_decides")


def test_a_pair_found_for_several_demands_is_shown_once() -> None:
    [item] = [item for item in REPORT.properties if item.name == "sex_decides"]
    doubled = replace(item, demands=(*item.demands, replace(item.demands[0], text="require fair_share >= 95%")))
    written = render(replace(REPORT, properties=(doubled,)))
    assert written.count("witness  ") == 1
    assert "found for  require approve(a) = approve(b); require fair_share >= 95%" in written


def test_an_estimate_says_that_it_is_none_of_the_proof() -> None:
    written = " ".join(only("partly").split())
    assert "estimate fair share 96.6% (95% interval 96.48% .. 96.72%, from 100,000 sampled units; an estim" in written
    assert "an estimate, no proof)" in written


def test_proved_bounds_stand_where_an_estimate_lies_outside() -> None:
    [item] = [item for item in REPORT.properties if item.name == "partly"]
    [demand] = [demand for demand in item.demands if demand.estimate is not None]
    interval = Enclosure(low=Fraction(0), high=Fraction(1, 20))
    least = replace(demand.estimate, sampled=100, unfair=99, interval=interval)
    off = replace(demand, verdict=replace(demand.verdict, estimate=least))
    written = " ".join(render(replace(REPORT, properties=(replace(item, demands=(off,)),))).split())
    assert "an estimate, no proof, and the proved bounds stand)" in written


def test_where_it_fails_is_written_as_conditions_of_the_language() -> None:
    lines = [" ".join(line.split()) for line in only("partly").splitlines()]
    at = lines.index("Where it fails")
    assert lines[at + 1 : at + 5] == [
        "of all falsified undecided where",
        "12.5% 1.2% 8.3% month in 17 .. 25 and status in { none, some }",
        "1.25% 0% 1% foreign = true and income in ~0.333333 .. 3.5 and month = 80",
        "100% 2% 10.9% everywhere",
    ]


def test_unknown_says_why() -> None:
    assert "the time ran out" in only("late")
    assert "exact arithmetic and the deployed float32 file disagree" in only("gap")
    assert "in float32  grant  grant" in only("gap")


def test_the_summary_counts_and_explains_the_exit_code() -> None:
    assert only("proved").endswith(
        "1 property: 1 holds\nexit code 0: nothing that is required is violated, unknown or refused\n"
    )
    assert only("late").endswith(
        "1 property: 1 unknown\nexit code 3: no property is violated, some are unknown or about nobody\n"
    )
    assert render(Report(fairdsl="0", spec=SpecFile(path="x.fair"))).splitlines()[-2] == "0 properties"


def test_names_of_a_spec_cannot_steer_the_terminal() -> None:
    spoilt = PropertyReport(name="p", sentence="\x1b[2J", clauses=("\x1b[1m",), demands=REPORT.properties[0].demands)
    report = replace(REPORT, audit="\x1b]0;x\x07", properties=(spoilt,))
    assert "\x1b" not in render(report)


def test_ascii() -> None:
    titled = replace(REPORT, audit="Prüfung \N{EM DASH} Kredit")
    assert render(titled, unicode=False).isascii()
