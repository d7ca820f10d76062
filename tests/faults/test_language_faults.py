"""Honest specs that meant something else than they read: shares of those in question, and properties about nobody."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

import fairdsl
from fairdsl.diagnostics.model import DiagnosticError
from fairdsl.report.text import render
from fairdsl.verdict import Judgement, Shares, Vacuous

SCORED = """
domain D { sex : category { f, m } x : integer 0 .. 9 y : integer 0 .. 9 }
protected sex
model m : D -> { no, yes } score = x + 3 * (sex = m) - 8  yes when score > 0
"""
ONE_SIDED = "among a.sex = f and a.x >= 8"
COUPLES = """
domain D { sex : category { f, m } relationship : category { husband, wife%s } income : integer 0 .. 9
  where relationship != husband or sex = m
  where relationship != wife or sex = f }
protected sex
model m : D -> { no, yes } yes when sex = m and income > 5 or relationship = husband or (sex = f and income > 5)
property p { compare a, b : D differ in sex require same decision require fair_share >= 95%% }
"""


def checked(folder: Path, text: str, backend: str | None = None) -> fairdsl.Report:
    (folder / "spec.fair").write_text(text, encoding="utf-8")
    return fairdsl.check(folder / "spec.fair", backend=backend)


def test_units_without_a_pair_are_not_counted_as_fair(tmp_path: Path) -> None:
    """Of the women with x of 8 and more half are decided otherwise than men; 80 % of all units have none of them."""
    for target in (ONE_SIDED, "among x >= 8"):
        text = f"{SCORED}property p {{ compare a, b : D differ in sex {target} measure discrimination_rate }}"
        (demand,) = checked(tmp_path, text).properties[0].demands
        assert isinstance(demand.verdict, Shares)
        assert (demand.verdict.falsified, demand.verdict.total) == (Fraction(1, 2), 20)


def test_rows_that_are_not_in_question_are_not_counted(tmp_path: Path) -> None:
    rows = [("f", 8), ("f", 9), ("f", 3), ("m", 8), ("m", 2), ("f", 9)]
    listing = "".join(f"{sex},{x},0\n" for sex, x in rows)
    (tmp_path / "rows.csv").write_text(f"sex,x,y\n{listing}", encoding="utf-8")
    text = (
        f'{SCORED}distribution rows over D empirical from "rows.csv"\n'
        f"property p {{ compare a, b : D differ in sex under rows {ONE_SIDED} measure fair_share }}"
    )
    (demand,) = checked(tmp_path, text).properties[0].demands
    assert isinstance(demand.verdict, Shares)
    assert (demand.verdict.certified, demand.verdict.total) == (Fraction(2, 3), 3)
    assert "3 of 6 rows" in (demand.method or "")


def test_a_property_about_nobody_is_vacuous(tmp_path: Path) -> None:
    report = checked(tmp_path, COUPLES % "")
    assert {type(demand.verdict) for demand in report.properties[0].demands} == {Vacuous}
    assert report.properties[0].judgement is Judgement.VACUOUS
    assert report.exit_code.value == 3


def test_what_is_vacuous_stands_beside_the_share(tmp_path: Path) -> None:
    report = checked(tmp_path, COUPLES % ", single")
    share = report.properties[0].shares
    assert share is not None
    assert (share.certified, share.total, share.vacuous) == (1, 10, Fraction(2, 3))
    assert report.exit_code.value == 0


@pytest.mark.parametrize("backend", ["enumerate", "intervals", "smt"])
def test_a_proof_of_a_relaxed_question_about_nobody_is_none(backend: str, tmp_path: Path) -> None:
    """Within 2 in each of two numbers nobody is more than 4 apart in both together, whatever all within 2 are."""
    relaxed = "differ in sex within 2 in x within 2 in y among a.x + a.y > b.x + b.y + 4"
    text = f"{SCORED.replace('- 8', '- 80')} property p {{ compare a, b : D {relaxed} require same decision }}"
    (demand,) = checked(tmp_path, text, backend).properties[0].demands
    assert isinstance(demand.verdict, Vacuous)


PEOPLE = """
domain D { sex : category { f, m } race : category { white, black, asian } citizen : boolean x : integer 0 .. 9 }
protected sex, race
model m : D -> { no, yes } score = x + 3 * (sex = m) + (race = white) - 8  yes when score > 0 favourable yes
distribution rows over D empirical from "rows.csv"
"""
#: What is written, and what `lint` says of it.
POINTED_OUT = {
    "across sex under rows privileged sex = m require statistical_parity_difference <= 5%": "bounded on one side only",
    "across race under rows privileged race = white require disparate_impact >= 80%": "is one group here",
    "compare a, b : D differ in each sex, race require same decision": "differ in all of these attributes at once",
    "compare a, b : D differ in sex require abs(score(a) - score(b)) <= 10%": "`10%` of a score is 0.1",
    "across sex under rows require impact_ratio >= 0.8%": "hardly a bound of impact ratio",
    "compare a, b : D differ in sex regardless of x among x <= b.x require same decision": "that of both individuals",
    "compare a, b : D differ in sex when confidence(a) >= 90% require same decision": "decisions no probability",
    "across sex under rows given citizen measure parity_gap": "`given` does not belong in this property",
}


@pytest.mark.parametrize("clauses", POINTED_OUT)
def test_lint_says_what_reads_one_way_and_means_another(clauses: str, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("sex,race,citizen,x\nf,white,yes,3\nm,black,no,9\n", encoding="utf-8")
    (tmp_path / "spec.fair").write_text(f"{PEOPLE}property p {{ {clauses} }}", encoding="utf-8")
    try:
        found = fairdsl.lint(tmp_path / "spec.fair").diagnostics
    except DiagnosticError as refused:
        found = refused.diagnostics
    assert POINTED_OUT[clauses] in " ".join(diagnostic.title for diagnostic in found)


def test_what_is_explained_names_everything_in_force(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("sex,race,citizen,x\nf,white,yes,3\nm,black,no,9\n", encoding="utf-8")
    (tmp_path / "spec.fair").write_text(
        f"{PEOPLE}property p {{ compare a : D under rows among x >= 3 and race = black"
        " require share(m(a) = yes) >= 50% }\n"
        "property q { across sex under rows among race = black measure parity_gap }\n"
        "property r { compare a, b : D differ in sex require same decision with confidence 95% }",
        encoding="utf-8",
    )
    share, gap, sure = fairdsl.explain(tmp_path / "spec.fair").properties
    assert share.sentence.startswith("The share of rows of `rows` with x >= 3 and race = black for which `m(a) = yes`")
    assert "#{a in rows of rows : [x >= 3 and race = black] and [m(a) = yes]} / #{a in rows of rows :" in share.formula
    assert "under rows" in share.clauses
    # Among those of one race nobody is averaged over races.
    assert not any(clause.startswith("marginalised") for clause in gap.clauses)
    assert "require same decision with confidence 95%" in sure.clauses


def test_what_is_counted_over_rows_is_called_no_estimate(tmp_path: Path) -> None:
    listing = "".join(f"{sex},{x},0\n" for sex, x in [("f", 8), ("f", 9), ("m", 8), ("m", 2)])
    (tmp_path / "rows.csv").write_text(f"sex,x,y\n{listing}", encoding="utf-8")
    text = (
        f'{SCORED}distribution rows over D empirical from "rows.csv"\n'
        "property p { compare a : D under rows require share(m(a) = yes) >= 10% }"
    )
    written = " ".join(render(checked(tmp_path, text)).split())
    assert "for whom the 4 rows were drawn from, if they are a random sample" in written
    assert "no proof" not in written
