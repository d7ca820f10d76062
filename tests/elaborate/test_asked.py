"""Rates about another outcome than the favourable one, and about bounds of the score, against counting rows."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

import fairdsl
from fairdsl.verdict import Interval

F = Fraction
#: Everybody of the table: group, need, and whether they are sick.
PEOPLE = [
    (group, need, sick)
    for number, (group, need, sick) in enumerate(product(("a", "b"), range(6), ("no", "yes")))
    for _ in range(1 + number % 3)
]
SPEC = """
domain Patient {
  group : category { a, b }
  need  : integer 0 .. 5
}

protected group

label sick : boolean

model triage : Patient -> { low, middle, high }
  first high when need >= 4
  then middle when need >= 2 or group = b
  otherwise low

model grade : Patient -> { refuse, treat }
  score = 2 * need + (group = a)
  treat when score > 6

distribution patients over Patient, sick
  empirical from "patients.csv"

property p {
  across  group
  under   patients
  excluding groups of probability 0
  model   MODEL
  measure TERM
}
"""


def outcome(group: str, need: int) -> str:
    return "high" if need >= 4 else "middle" if need >= 2 or group == "b" else "low"


def score(group: str, need: int) -> int:
    return 2 * need + (group == "a")


CASES = {
    "most(rate(low))": lambda g, n, s: (outcome(g, n) == "low", True),
    "most(rate(middle given sick))": lambda g, n, s: (outcome(g, n) == "middle", s == "yes"),
    "most(rate(not high given sick = no and need >= 1))": lambda g, n, s: (
        outcome(g, n) != "high",
        s == "no" and n >= 1,
    ),
    "most(rate(sick given triage = high))": lambda g, n, s: (s == "yes", outcome(g, n) == "high"),
    "most(rate(sick or high))": lambda g, n, s: (s == "yes" or outcome(g, n) == "high", True),
    "most(rate(score >= 5 given not sick))": lambda g, n, s: (score(g, n) >= 5, s == "no"),
    "most(rate(sick given 4 > score))": lambda g, n, s: (s == "yes", score(g, n) < 4),
    "most(rate(treat))": lambda g, n, s: (score(g, n) > 6, True),
    "most(rate(refuse given sick))": lambda g, n, s: (not score(g, n) > 6, s == "yes"),
}


@pytest.mark.parametrize("term", CASES)
def test_a_rate_is_what_rows_say(term: str, tmp_path: Path) -> None:
    lines = ["group,need,sick", *(",".join(map(str, one)) for one in PEOPLE)]
    (tmp_path / "patients.csv").write_text("\n".join(lines) + "\n")
    model = "grade" if any(word in term for word in ("score", "treat", "refuse")) else "triage"
    (tmp_path / "spec.fair").write_text(SPEC.replace("MODEL", model).replace("TERM", term))
    report = fairdsl.check(tmp_path / "spec.fair")
    rates = []
    for group in ("a", "b"):
        found = [CASES[term](*one) for one in PEOPLE if one[0] == group]
        counted = [event for event, among in found if among]
        rates.append(F(sum(counted), len(counted)))
    assert report.properties[0].demands[0].value == Interval(max(rates), max(rates))
