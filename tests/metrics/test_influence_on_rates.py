"""The influence of columns on the acceptance rate of each group: FVGM's influence function, by its definition."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import erfc, inf, sqrt
from pathlib import Path

import pytest

import fairdsl
from fairdsl.verdict import Judgement, Value

F = Fraction
EDU = {0: F(3, 10), 1: F(6, 10)}
INCOME = {(0, 0): F(2, 10), (1, 0): F(7, 10), (0, 1): F(4, 10), (1, 1): F(9, 10)}
SPEC = """
domain Person {
  sex    : category { female, male }
  edu    : boolean
  income : integer 0 .. 1
}
protected sex
graph causes {
  sex -> edu -> income -> grant_it
  edu -> grant_it
  sex -> income
}
model grant_it : Person -> { reject, grant }
  score = (edu = yes) + 2 * income
  grant when score > 1.5
  favourable grant
distribution people over Person
  sex    : table { female : 0.5, male : 0.5 }
  edu    : bernoulli(30%) given sex = female
  edu    : bernoulli(60%) given sex = male
  income : table { 0 : 0.8, 1 : 0.2 } given edu = no and sex = female
  income : table { 0 : 0.3, 1 : 0.7 } given edu = yes and sex = female
  income : table { 0 : 0.6, 1 : 0.4 } given edu = no and sex = male
  income : table { 0 : 0.1, 1 : 0.9 } given edu = yes and sex = male
distribution cohort over Person
  empirical from "people.csv"
property owed {
  across   sex
  under    people
  require  influence of income on acceptance_rate >= -10%
  measure  influence of (edu, income) on acceptance_rate
  measure  influence of (edu, income in 1 .. 1) on acceptance_rate
}
property along_paths {
  across   sex
  under    people
  allow    sex -> edu -> grant_it
  allow    sex -> edu -> income -> grant_it
  baseline sex = male
  measure  path_specific_gap, influence of income, edu, income in 0 .. 0 on path_specific_gap
}
property rows_owed {
  across   sex
  under    cohort
  measure  influence of income, income in 1 .. 1 on acceptance_rate
}
"""
ROWS = ["female,true,0", "female,true,1", "female,false,0", "male,true,1", "male,false,1"]


def rate(
    sex: int, drawn: tuple[str, ...] = (), *, edu_of: int | None = None, wages: tuple[int, ...] = (0, 1)
) -> Fraction:
    """Pr[granted | sex], where the model reads uniform values of what is ``drawn``, and edu is as of another sex."""
    found = F(0)
    for edu, income, one, other in product((0, 1), (0, 1), (0, 1), wages):
        chance, wage = EDU[sex if edu_of is None else edu_of], INCOME[edu, sex]
        law = (chance if edu else 1 - chance) * (wage if income else 1 - wage) / (2 * len(wages))
        read = one if "edu" in drawn else edu, other if "income" in drawn else income
        found += law * (read[0] + 2 * read[1] > F(3, 2))
    return found


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> fairdsl.Report:
    monkeypatch.chdir(tmp_path)
    Path("spec.fair").write_text(SPEC, encoding="utf-8")
    Path("people.csv").write_text("\n".join(["sex,edu,income", *ROWS]) + "\n", encoding="utf-8")
    return fairdsl.check("spec.fair")


def test_it_is_the_rate_less_the_rate_without(report: fairdsl.Report) -> None:
    owed, both, within = report.properties[0].demands
    every, one = (0, 1), (1,)
    for demand, drawn, wages in (
        (owed, ("income",), every),
        (both, ("edu", "income"), every),
        (within, ("edu", "income"), one),
    ):
        groups = demand.groups
        assert groups is not None
        expected = [rate(sex) - rate(sex, drawn, wages=wages) for sex in (0, 1)]
        assert [(part.low, part.high) for part in groups.parts] == [(each, each) for each in expected]
        assert (groups.low, groups.high) == (min(expected), max(expected))
    # One group that owes too much is enough to break the demand.
    assert rate(0) - rate(0, ("income",)) < F(-10, 100) < rate(1) - rate(1, ("income",))
    assert owed.judgement is Judgement.VIOLATED


def test_along_paths_both_laws_set_the_group_and_read_the_baseline(report: fairdsl.Report) -> None:
    """The allowed edge of sex is that to edu, which reads men; income reads each sex."""

    def gap(drawn: tuple[str, ...] = (), wages: tuple[int, ...] = (0, 1)) -> Fraction:
        return abs(rate(0, drawn, edu_of=1, wages=wages) - rate(1, drawn, edu_of=1, wages=wages))

    expected = [gap(), gap() - gap(("income",)), gap() - gap(("edu",)), gap() - gap(("income",), (0,))]
    found = [demand.verdict for demand in report.properties[1].demands]
    ends = [(value.low, value.high) for value in found if isinstance(value, Value)]
    assert ends == [(each, each) for each in expected]
    assert expected[1] == gap() > 0 > expected[2] - gap()


def test_over_rows_each_row_counts_with_all_values(report: fairdsl.Report) -> None:
    groups = report.properties[2].demands[0].groups
    assert groups is not None
    # Of the women one of three is granted, and half of each with a drawn income; both men, and half of them.
    assert [(part.low, part.high) for part in groups.parts] == [(F(-1, 6), F(-1, 6)), (F(1, 2), F(1, 2))]
    # Whoever is well paid is granted.
    well_paid = report.properties[2].demands[1].groups
    assert well_paid is not None
    assert [part.low for part in well_paid.parts] == [F(1, 3) - 1, 0]


def test_files_have_both_laws(report: fairdsl.Report) -> None:
    """Solved by themselves, the files of subset sums come to what `check` says."""
    fairdsl.compile("spec.fair", to="subset-sum", directory="out", properties=["owed", "along_paths"])
    asked = [demand for property_ in report.properties[:2] for demand in property_.demands]
    names = (*("owed", "owed-2", "owed-3"), *("along_paths", "along_paths-2", "along_paths-3", "along_paths-4"))
    for name, demand in zip(names, asked, strict=True):
        verdict = fairdsl.solve(f"out/{name}.json").found.verdict
        assert isinstance(verdict, Value)
        assert isinstance(demand.verdict, Value)
        assert (verdict.low, verdict.high, verdict.parts) == (
            demand.verdict.low,
            demand.verdict.high,
            demand.verdict.parts,
        )


UNBOUNDED = """
domain Person {
  sex  : category { female, male }
  work : real
}
protected sex
model hire : Person -> { no, yes }
  score = work - 40
  yes when score > 0
  favourable yes
distribution people over Person
  sex  : table { female : 0.5, male : 0.5 }
  work : normal(30, 20) given sex = female
  work : normal(42, 8) given sex = male
property owed {
  across sex
  under people
  measure influence of work on acceptance_rate
}
"""


def test_of_an_unbounded_column_by_a_stated_range(tmp_path: Path) -> None:
    """It is drawn from the range, and nothing is cut off: whoever lies outside counts under the distribution itself.

    Where the distribution is said to be truncated, it is the one that is cut off and scaled up.
    """
    spec = tmp_path / "spec.fair"
    spec.write_text(UNBOUNDED, encoding="utf-8")
    with pytest.raises(fairdsl.SpecError) as caught:
        fairdsl.check(spec)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "E0302"
    assert "`influence of work in 0 .. 100 on ...`" in str(diagnostic.help)
    stated = UNBOUNDED.replace("influence of work", "influence of work in 0 .. 100")
    truncated = UNBOUNDED.replace("work : real", "work : real 0 .. 100")
    truncated = truncated.replace("20) given", "20) truncated given").replace("8) given", "8) truncated given")

    def below(mean: float, sd: float, end: float) -> float:
        return erfc((mean - end) / (sd * sqrt(2))) / 2

    for text, low, high in ((stated, -inf, inf), (truncated, 0, 100)):
        spec.write_text(text, encoding="utf-8")
        groups = fairdsl.check(spec).properties[0].demands[0].groups
        assert groups is not None
        for part, (mean, sd) in zip(groups.parts, ((30.0, 20.0), (42.0, 8.0)), strict=True):
            inside = below(mean, sd, high) - below(mean, sd, low)
            hired = (below(mean, sd, high) - below(mean, sd, 40)) / inside
            assert part.low is not None
            assert part.high is not None
            assert float(part.low) - 1e-12 <= hired - 0.6 <= float(part.high) + 1e-12
            assert part.high - part.low < F(1, 1000)
