"""Shares of formulas about one individual as sums of rates: large domains, whose shares are known otherwise."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

import fairdsl
from fairdsl.backends.contract import Refusal
from fairdsl.backends.rates import Rates
from fairdsl.ir.enclosure import Enclosure
from fairdsl.verdict import Shares
from tests.agreement.engines import ask
from tests.demands.held import problem_of

SPEC = """\
domain P {{
  income : integer 0 .. 1999
  debt : integer 0 .. 1999
  rate : real 0 .. 1
  job : category {{ clerk, nurse, cook }}
  wish : integer 0 .. 5{missing}
}}
model m : P -> {{ no, yes }}
  score = 2 * income - 3 * debt
  yes when score > 100
model l : P -> {{ no < maybe < yes }}
  first yes when income >= 1000 and debt < 180
  then maybe when rate > 0.25 or job = cook
  otherwise no
{law}property p {{
  compare a : P
{lines}
}}
"""


def counted(inside: Callable[[int, int], int]) -> Fraction:
    """Which part of the pairs of income and debt, given how many debts there are for an income from 0 to 1,999."""
    return Fraction(sum(inside(income, 2_000) for income in range(2_000)), 2_000**2)


def spec(*lines: str, law: str = "", missing: str = "") -> str:
    return SPEC.format(lines="\n".join(f"  {line}" for line in lines), law=law, missing=missing)


#: Debts d with 2 i - 3 d > 100, of an income i.
GRANTED = counted(lambda income, many: max(0, min(many, -(-(2 * income - 100) // 3))))
LIST = Fraction(1, 2) * Fraction(180, 2_000)
#: Neither the first rule nor the second.
NEITHER = (1 - LIST) * Fraction(1, 4) * Fraction(2, 3)


@pytest.mark.parametrize(
    ("lines", "right"),
    [
        (["require share(m(a) = yes) >= 10%"], GRANTED),
        (["require share(m.score(a) <= 100) >= 10%"], 1 - GRANTED),
        (["require share(l(a) != maybe) >= 10%"], LIST + NEITHER),
        (["require share(l(a) = yes or a.job = cook and l(a) = maybe) >= 10%"], LIST + (1 - LIST) / 3),
        (["among l(a) != maybe", "require share(l(a) = yes) >= 10%"], LIST / (LIST + NEITHER)),
        (["among a.rate <= 0.5 and l(a) < yes", "require share(l(a) = no) >= 10%"], Fraction(1, 2) * Fraction(2, 3)),
    ],
)
def test_shares_are_exact_over_large_domains(lines: list[str], right: Fraction, tmp_path: Path) -> None:
    problem = problem_of(spec(*lines), tmp_path)
    assert problem is not None
    found = ask(Rates(), problem)
    assert isinstance(found, Shares)
    assert (found.certified, found.falsified, found.undecided) == (right, 1 - right, 0)
    assert found.breaches, "those who are shown are replayed"
    assert found.measure == "volume"


def test_shares_are_of_people_of_a_distribution(tmp_path: Path) -> None:
    law = """\
distribution d over P
  income : table { 800 : 0.25, 1200 : 0.75 }
  debt : table { 0 : 0.5, 500 : 0.5 } given income = 800
  debt : table { 0 : 0.125, 500 : 0.875 } given income = 1200
  rate : uniform(0, 1)
  job : table { clerk : 0.5, nurse : 0.25, cook : 0.25 }
  wish : uniform(0, 5)

"""
    problem = problem_of(spec("under d", "require share(l(a) = yes) >= 10%", law=law), tmp_path)
    assert problem is not None
    found = ask(Rates(), problem)
    assert isinstance(found, Shares)
    assert found.certified == 1 - found.falsified == Fraction(3, 4) * Fraction(1, 8)
    assert found.of_domain == Enclosure.exactly(LIST)
    assert found.measure == "probability"


def test_they_are_asked_before_boxes(tmp_path: Path) -> None:
    (tmp_path / "spec.fair").write_text(spec("require share(m(a) = yes) >= 40%", "require share(l(a) = yes) >= 2%"))
    first, second = fairdsl.check(tmp_path / "spec.fair").properties[0].demands
    assert first.backend == second.backend == "rates"


@pytest.mark.parametrize(
    ("line", "missing", "why"),
    [
        ("require share(m(a) = yes or l(a) = yes) >= 10%", "", "one model at a time"),
        ("require share(m.score(a) > 0 or m.score(a) < -5) >= 10%", "", "several numbers"),
        ("require share(m.score(a) > a.income) >= 10%", "", "more than a number"),
        ("require share(m(a) = yes) >= 10%", " or missing", "may be missing"),
        ("require m(a) = yes", "", "and shares"),
    ],
)
def test_other_formulas_are_refused(line: str, missing: str, why: str, tmp_path: Path) -> None:
    problem = problem_of(spec(line, missing=missing), tmp_path)
    assert problem is not None
    offer = Rates().offer(problem)
    assert isinstance(offer, Refusal)
    assert why in offer.why
