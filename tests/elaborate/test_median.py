"""``score > median``: the middle of the exact scores, and the rates above it, by sorting fractions."""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

import fairdsl

SPEC = """\
domain Person {
  sex : category { f, m }
  x : integer 0 .. 9
  y : integer 0 .. 3
}

protected sex

model rank : Person -> { low, high }
  score = 0.1 * x - y / 3
  high when score > 0
  favourable high

distribution people over Person
  POPULATION

property scoring {
  across sex
  under people
  excluding groups of probability 0
  measure rate(score > median), rate(score <= median)
}
"""
PEOPLE = st.lists(st.tuples(st.sampled_from("fm"), st.integers(0, 9), st.integers(0, 3)), min_size=1, max_size=12)


@given(PEOPLE)
def test_it_is_the_middle_of_the_exact_scores(people: list[tuple[str, int, int]]) -> None:
    with TemporaryDirectory() as folder:
        with (Path(folder) / "people.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([("sex", "x", "y"), *people])
        spec = Path(folder) / "spec.fair"
        spec.write_text(SPEC.replace("POPULATION", 'empirical from "people.csv"'), encoding="utf-8")
        report = fairdsl.check(spec)
    scores = [(sex, Fraction(x, 10) - Fraction(y, 3)) for sex, x, y in people]
    middle = median(score for _, score in scores)
    above, not_above = report.properties[0].demands
    assert above.median == not_above.median == middle
    for demand, is_counted in ((above, lambda score: score > middle), (not_above, lambda score: score <= middle)):
        assert isinstance(demand.verdict, fairdsl.verdict.Value)
        for rate in demand.verdict.rates:
            of_group = [score for sex, score in scores if sex == rate.group["sex"]]
            assert rate.low == rate.high == Fraction(sum(map(is_counted, of_group)), len(of_group))


def test_without_rows_there_is_none(tmp_path: Path) -> None:
    spec = tmp_path / "spec.fair"
    spec.write_text(SPEC.replace("POPULATION", "uniform"), encoding="utf-8")
    report = fairdsl.check(spec)
    (refusal,) = {finding.code for demand in report.properties[0].demands for finding in demand.refusals}
    assert refusal == "E0556"
