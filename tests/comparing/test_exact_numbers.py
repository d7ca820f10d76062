"""Exact numbers stay exact from the engine to the JSON report and back."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reports import demand, group, interval, report

import fairdsl
from fairdsl.codec import plain
from fairdsl.comparing.model import Movement
from fairdsl.ir.numbers import ratio, read_ratio
from fairdsl.report.model import Report
from fairdsl.verdict import Judgement

F = Fraction

long = st.builds(
    lambda base, power, sign: sign * base**power, st.integers(2, 9), st.integers(0, 9000), st.sampled_from([1, -1])
)
rates = st.fractions(min_value=0, max_value=1) | st.builds(lambda power: 1 - F(1, 7**power), st.integers(1, 6000))


@given(long, long)
def test_fractions_of_any_length_are_written_and_read(numerator: int, denominator: int) -> None:
    """Python itself converts no number of more than 4300 digits; sums over the tables of a law have more."""
    value = F(numerator, abs(denominator))
    text = ratio(value)
    assert read_ratio(text) == value
    if len(text) < 4000:
        assert text == f"{value.numerator}/{value.denominator}"


@given(rates, rates)
def test_trap_21_rates_survive_the_report(first: F, second: F) -> None:
    """Answers were once parsed from seven printed digits: equal rates had a parity of -1e-7."""
    gap = abs(first - second)
    groups = group("f", interval(first)), group("m", interval(second))
    one = report(demand("measure parity_gap", Judgement.MEASURED, interval(gap), *groups))
    again = Report.from_json(one.to_json())
    assert again == one
    (found,) = again.properties[0].demands
    assert found.value is not None
    assert found.value.exact == gap
    assert found.groups is not None
    assert [(one.low, one.high) for one in found.groups.rates] == [(first, first), (second, second)]
    same = fairdsl.compare(again, again).properties[0].demands[0].value
    assert same is not None
    assert same.movement is Movement.SAME


SPEC = """
domain Person {{
  sex    : category {{ female, male }}
  member : boolean
}}
protected sex
model grant : Person -> {{ no, yes }}
  score = member
  yes when score > 0.5
  favourable yes
distribution people over Person
  sex    : table {{ female : 0.5, male : 0.5 }}
  member : bernoulli(0.3) given sex = female
  member : bernoulli({rate}) given sex = male
property alike {{
  across  sex
  under   people
  require parity_gap <= 0
}}
"""


@pytest.mark.parametrize("off", [F(0), F(1, 10**7), F(1, 10**15)])
def test_trap_21_a_tiny_parity_is_neither_none_nor_another_one(off: F, tmp_path: Path) -> None:
    rate = F(3, 10) + off
    path = tmp_path / "spec.fair"
    path.write_text(SPEC.format(rate=f"0.{int(rate * 10**15):015d}"), encoding="utf-8")
    found = fairdsl.check(path)
    written: Any = json.loads(json.dumps(plain(found)))
    value = written["properties"][0]["demands"][0]["value"]
    assert F(value.get("low_exact", value["low"])) == off == F(value.get("high_exact", value["high"]))
    assert value["low"] <= off <= value["high"]
    assert found.properties[0].judgement is (Judgement.VIOLATED if off else Judgement.HOLDS)
