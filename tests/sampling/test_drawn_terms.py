"""What is drawn beside rates of one model: means of scores, and two metrics that are held against each other."""

from __future__ import annotations

from fractions import Fraction
from math import log, sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairdsl
from fairdsl.metrics.scored import ROOTS, UNITS, Scored
from fairdsl.report.text import render
from fairdsl.verdict import Arithmetic

F = Fraction

SPEC = """
domain Person {
  sex  : category { female, male }
  age  : integer 0 .. 99
  debt : TYPE
}
protected sex
model old : Person -> { no, yes }
  score = age - debt + 20 * (sex = male)
  yes when score > 0
  favourable yes
model new : Person -> { no, yes }
  score = age - debt + 10 * (sex = male)
  yes when score > 0
  favourable yes
distribution people over Person
  LAW
property p {
  model    old
  across   sex
  under    people
  DEMAND
}
"""


def demanded(
    demand: str, *, law: str = "uniform", of: str = "integer 0 .. 99", backend: str | None = "sampling"
) -> fairdsl.DemandReport:
    spec = SPEC.replace("DEMAND", demand).replace("LAW", law).replace("TYPE", of)
    [checked] = fairdsl.check(spec, backend=backend).properties
    return checked.demands[0]


def gap(bonus: int) -> Fraction:
    """By how much men are favoured more often with that many points more."""
    return F(sum(age - debt + bonus > 0 for age in range(100) for debt in range(100)), 10**4) - F(99, 200)


# ---- means -----------------------------------------------------------------------------------------


def test_means_of_scores_are_drawn_where_a_range_bounds_them() -> None:
    found = demanded("measure gap(mean(score)) within 3 with confidence 99.99%")
    assert found.groups is not None
    assert found.groups.drawn is not None
    (low, high), (least, most) = found.groups.drawn.interval, found.groups.drawn.estimate
    assert least == most
    assert low <= 20 <= high
    assert max(high - least, most - low) <= 3
    for rate, mean in zip(found.groups.rates, (0, 20), strict=True):
        assert rate.drawn is not None
        assert rate.drawn.interval.low <= mean <= rate.drawn.interval.high
        assert rate.drawn.estimate.low == pytest.approx(mean, abs=1)


def test_a_mean_under_a_condition_decides_a_requirement() -> None:
    """Men who owe nothing have 20 points more than women who do."""
    found = demanded("among debt = 0\n  require gap(mean(score)) <= 25 within 4")
    assert found.judgement.value == "holds"
    assert demanded("among debt = 0\n  require gap(mean(score)) <= 15 within 4").judgement.value == "violated"


def test_numbers_without_bounds_have_no_mean_by_drawing() -> None:
    law = "sex  : table { female : 0.5, male : 0.5 }\n  age  : uniform(0, 99)\n  debt : normal(3, 1)"
    found = demanded("measure gap(mean(score)) within 1", law=law, of="real", backend=None)
    assert found.judgement.value == "refused"
    assert "nothing bounds the score" in str(found.verdict)


@given(st.lists(st.integers(0, UNITS), min_size=2, max_size=50), st.sampled_from(["1/2", "9/10", "999/1000"]))
def test_the_interval_is_that_of_the_closer_inequality(numbers: list[int], confidence: str) -> None:
    squares = sum((number // (UNITS // ROOTS) + 1) ** 2 for number in numbers)
    whole, count, missed = sum(numbers), len(numbers), float(1 - F(confidence))
    scored = Scored(span=(F(-1), F(3)), people=count, least=whole, most=whole, squares=squares)
    low, high = (float(end + 1) / 4 for end in scored.interval(F(confidence)))
    values = np.array(numbers) / UNITS
    hoeffding = sqrt(log(4 / missed) / (2 * count))
    spread = sqrt(2 * values.var(ddof=1) * log(8 / missed) / count)
    near = min(hoeffding, spread + 7 * log(8 / missed) / (3 * (count - 1)))
    assert low == pytest.approx(max(0, values.mean() - near), abs=3e-3)
    assert high == pytest.approx(min(1, values.mean() + near), abs=3e-3)
    assert low <= values.mean() <= high


def test_an_influence_needs_ends_and_says_how_to_give_some() -> None:
    """Of debts that may be any number, those that a range states; then the influence is a number."""
    demand = "measure influence of debt on acceptance_rate"
    law = "sex  : table { female : 0.5, male : 0.5 }\n  age  : uniform(0, 99)\n  debt : normal(3, 10)"
    with pytest.raises(fairdsl.SpecError, match="`debt` is unbounded") as refused:
        demanded(demand, law=law, of="real", backend=None)
    assert "`influence of debt in 0 .. 100 on ...`" in str(refused.value)
    found = demanded(demand.replace("debt on", "debt in -50 .. 50 on"), law=law, of="real", backend=None)
    assert found.judgement.value == "measured"


# ---- two metrics -----------------------------------------------------------------------------------

OLD, NEW = gap(20), gap(10)


@pytest.mark.parametrize(("least", "judgement"), [(5, "violated"), (15, "holds")])
def test_two_metrics_are_drawn_to_half_of_the_distance_each(least: int, judgement: str) -> None:
    found = demanded(f"require parity_gap of old <= parity_gap of new + {least}% within 4%")
    assert found.judgement.value == judgement
    assert found.groups is not None
    assert found.groups.confidence == F(95, 100)
    assert found.groups.drawn is not None
    assert found.groups.draw is not None
    assert found.groups.draw.within == F(4, 100)
    (low, high), (estimate, _) = found.groups.drawn.interval, found.groups.drawn.estimate
    assert low <= OLD - NEW <= high
    assert max(high - estimate, estimate - low) <= F(4, 100)
    assert found.basis.arithmetic is Arithmetic.ESTIMATE


def test_what_is_nearer_than_the_draw_stays_open() -> None:
    limit = float(100 * (OLD - NEW))
    found = demanded(f"require parity_gap of old <= parity_gap of new + {limit}% within 10%")
    assert found.judgement.value == "unknown"


def test_of_two_metrics_that_are_counted_nothing_is_drawn() -> None:
    demand = "require parity_gap of old <= parity_gap of new + 10% within 4%"
    found = demanded(demand, backend=None)
    assert found.groups is not None
    assert found.groups.low == found.groups.high == OLD - NEW
    assert found.groups.draw is found.groups.drawn is None
    assert found.basis.arithmetic is Arithmetic.EXACT


# ---- beside what is proved -------------------------------------------------------------------------

HIRING = Path(__file__).parents[2] / "examples" / "hiring"


def test_a_wide_enclosure_and_a_draw_meet_in_one_command(tmp_path: Path) -> None:
    """So little effort leaves open where the network's border runs, and allows few people to be drawn."""
    text = (HIRING / "hiring.fair").read_text(encoding="utf-8")
    text = text[: text.index("property")].replace("1 .. 5", "0 .. 9999").replace("0 .. 5", "0 .. 9999")
    asked = "property p {\n  across gender\n  under alike\n  measure parity_gap within 0.2%\n}\n"
    (tmp_path / "hiring.onnx").write_bytes((HIRING / "hiring.onnx").read_bytes())
    spec = tmp_path / "wide.fair"
    spec.write_text(f"{text}distribution alike over Candidate\n  uniform\n{asked}", encoding="utf-8")
    report = fairdsl.check(spec, effort=1000)
    [found] = report.properties[0].demands
    value = found.groups
    assert value is not None
    assert value.drawn is not None
    assert 0 <= value.low < value.high < F(1, 10)
    assert value.sampling == value.number.common(value.drawn.interval)
    for rate in value.rates:
        assert rate.drawn is not None
        assert rate.low < rate.high
        assert rate.sampling == rate.number.common(rate.drawn.interval)
    written = render(report)
    assert "enclosed   between 0 and " in written
    assert "drawn      0.0" in written
