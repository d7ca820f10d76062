"""Shares of formulas under distributions without rows: exact on small domains, drawn where an estimate is asked for."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from statistics import NormalDist

import pytest

import fairdsl
from fairdsl.verdict import Judgement

SPEC = """
domain P {{
  x   : {x}
  sex : category {{ f, m }}
}}
protected sex
distribution people over P
{law}
model new : P -> {{ reject < grant }}
  score = 1 * x - 4 + 1 * (sex = m)
  grant when score >= 0
property p {{
  compare a, b : P
  differ in sex
  under people
  {demand}
}}
"""
NORMAL = "  sex : table { f : 0.3, m : 0.7 }\n  x : normal(4, 2) given sex = f\n  x : normal(3, 1) given sex = m"
BIF = """network p {}
variable x { type discrete [4] { 2, 3, 4, 5 }; }
variable sex { type discrete [2] { f, m }; }
probability ( x ) { table 0.1, 0.2, 0.3, 0.4; }
probability ( sex | x ) { (2) 0.5, 0.5; (3) 0.25, 0.75; (4) 1, 0; (5) 0, 1; }
"""


def checked(folder: Path, demand: str, law: str, x: str = "integer 2 .. 5") -> fairdsl.DemandReport:
    (folder / "spec.fair").write_text(SPEC.format(demand=demand, law=law, x=x), encoding="utf-8")
    (folder / "people.bif").write_text(BIF, encoding="utf-8")
    rows = [(3, "f"), (3, "m"), (3, "m"), (4, "f"), (5, "m")]
    (folder / "rows.csv").write_text("x,sex\n" + "".join(f"{x},{sex}\n" for x, sex in rows), encoding="utf-8")
    (item,) = fairdsl.check(folder / "spec.fair").properties[0].demands
    return item


@pytest.mark.parametrize(
    ("law", "share"),
    [
        ("  uniform", Fraction(3, 4)),
        ('  from "people.bif"', Fraction(4, 5)),
        ('  independent\n  from "rows.csv"', Fraction(2, 5)),
        ("  sex : table { f : 0.5, m : 0.5 }\n  x : table { 3 : 0.75, 4 : 0.25 }", Fraction(1, 4)),
    ],
)
def test_small_domains_are_counted_by_probability(tmp_path: Path, law: str, share: Fraction) -> None:
    """Those with x = 3 are decided by sex; what is weighed is how frequent they are."""
    item = checked(tmp_path, "require share(new(a) >= new(b)) >= 50%", law)
    assert item.value is not None
    assert item.value.exact == share
    assert (item.backend, item.judgement) == ("enumerate", Judgement.HOLDS if share >= 0.5 else Judgement.VIOLATED)
    assert item.breaches


def test_normal_numbers_are_drawn_where_an_estimate_is_asked_for(tmp_path: Path) -> None:
    known = NormalDist(4, 2), NormalDist(3, 1)
    unfair = sum(part * (law.cdf(4) - law.cdf(3)) for part, law in zip((0.3, 0.7), known, strict=True))
    item = checked(tmp_path, "require share(new(a) = new(b)) >= 50% with confidence 99.99999%", NORMAL, "real")
    assert item.estimate is not None
    assert item.estimate.interval.low <= 1 - unfair <= item.estimate.interval.high
    assert (item.backend, item.judgement) == ("sampling", Judgement.HOLDS)
    refused = checked(tmp_path, "require share(new(a) = new(b)) >= 50%", NORMAL, "real")
    assert refused.judgement is Judgement.REFUSED
    assert "with confidence" in (refused.refusals[0].help or "")


def test_what_has_no_mass_is_vacuous(tmp_path: Path) -> None:
    law = "  sex : table { f : 0.5, m : 0.5 }\n  x : table { 4 : 1 }"
    item = checked(tmp_path, "require share(new(a) >= new(b)) >= 50%\n  among x < 4", law)
    assert item.judgement is Judgement.VACUOUS


def test_whether_it_holds_is_no_matter_of_frequencies(tmp_path: Path) -> None:
    item = checked(tmp_path, "require new(a) >= new(b)", "  uniform")
    assert [finding.code for finding in item.refusals] == ["E0601"]


@pytest.mark.parametrize("condition", ["b.x >= 5", pytest.param("new(b) = grant", marks=pytest.mark.slow)])
def test_batches_in_which_nobody_is_asked_about_are_passed_over(tmp_path: Path, condition: str) -> None:
    """Hardly anybody drawn is in the target: a batch may hold nobody at all."""
    law = "  sex : table { f : 0.5, m : 0.5 }\n  x : table { 5 : 0.00001, 3 : 0.99999 }"
    demand = f"require share(new(a) >= new(b)) >= 50% within 20%\n  among x >= 5\n  among {condition}"
    item = checked(tmp_path, demand, law, "integer 0 .. 999999")
    assert item.backend == "sampling"
