"""Shares of formulas by bounds of boxes, against loops over everybody and against volumes that are known."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest

from fairdsl.backends.contract import Facts, Refusal
from fairdsl.backends.enumerate import Enumerate
from fairdsl.backends.smt import Smt, shares
from fairdsl.ir.problem import Problem
from fairdsl.verdict import Shares, Vacuous
from tests.agreement.engines import ask
from tests.demands.held import demands_of, drawn

SPEC = """\
domain P {{
  x : real 0 .. 1
  y : real 0 .. 1
  n : integer 0 .. 10000000
  sex : category {{ f, m }}
}}
protected sex
model m : P -> {{ no < yes }}
  {model}
property p {{
  {lines}
  require share({formula}) >= 50%
}}
"""
LINEAR = "score = x - y + n / 10000000000 * 0 + (sex = m) / 4\n  yes when score > 0"
TREE = "first yes when x > 1/2 and sex = m\n  then no when y > 1/4\n  otherwise yes"


def problem_of(model: str, lines: str, formula: str, folder: Path) -> Problem:
    (found,) = demands_of(SPEC.format(model=model, lines=lines, formula=formula), folder)
    return found


# f: x > y; m: x > y - 1/4; so of the square 1/2, and 1 - (3/4)^2 / 2.
MALE = 1 - Fraction(9, 32)
PAIR, SIDED = "compare a, b : P\n  differ in sex", "compare a, b : P\n  differ in sex\n  among a.sex = m"
NEAR = f"{PAIR}\n  within 0.1 in x"


@pytest.mark.parametrize(
    ("model", "lines", "formula", "share"),
    [
        (LINEAR, "compare a : P", "m(a) = yes", (Fraction(1, 2) + MALE) / 2),
        (LINEAR, "compare a : P\n  among sex = m", "m(a) = yes or a.y <= a.x + 1/2", 1 - Fraction(1, 8)),
        (
            LINEAR,
            "compare a : P\n  among score(a) > -1/4",
            "m(a) = yes",
            (Fraction(1, 2) + MALE) / (MALE + Fraction(7, 8)),
        ),
        (LINEAR, PAIR, "m(a) >= m(b)", 1 - (MALE - Fraction(1, 2))),
        (LINEAR, SIDED, "m(a) >= m(b)", Fraction(1)),
        (LINEAR, SIDED, "m(b) >= m(a)", 1 - (MALE - Fraction(1, 2))),
        # The most unequal partner is 1/10 away, and scores 1/4 + 1/10 apart: unless x is too near to its end.
        (LINEAR, NEAR, "abs(score(a) - score(b)) <= 0.3", Fraction(1, 20)),
        (LINEAR, NEAR, "abs(score(a) - score(b)) <= 0.3 + abs(a.x - b.x)", Fraction(1)),
        (TREE, "compare a : P", "m(a) = yes", (Fraction(1, 4) + Fraction(1, 2) + Fraction(1, 8)) / 2),
        (TREE, PAIR, "m(a) = m(b) or a.y >= 3/4", 1 - Fraction(1, 4)),
    ],
)
def test_a_volume_lies_between_the_bounds(
    model: str, lines: str, formula: str, share: Fraction, tmp_path: Path
) -> None:
    close = Facts(enough=lambda known: isinstance(known, Shares) and known.undecided < Fraction(1, 6))
    found = ask(Smt(), problem_of(model, lines, formula, tmp_path), 60.0, close)
    assert isinstance(found, Shares)
    assert found.certified <= share <= 1 - found.falsified
    assert found.undecided < Fraction(1, 6)
    assert found.measure == "volume"


@pytest.mark.parametrize("listed", [0, 24])
@pytest.mark.parametrize(
    ("kind", "count"),
    [
        *((kind, 5) for kind in ("formula", "network", "trees")),
        *(pytest.param(kind, 80, marks=pytest.mark.slow) for kind in ("formula", "network", "trees")),
    ],
)
def test_bounds_hold_what_is_counted(
    kind: str, count: int, listed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shares, "FEW", listed)  # boxes are bounded, and few gone through one by one
    random, said = Random(7 + listed), Counter[str]()
    while said.total() < count:
        case = drawn(random, kind, tmp_path)
        demands = demands_of(case.spec(f"share({case.demand.text}) >= 50%"), tmp_path)
        if not demands or isinstance(Smt().offer(demands[0]), Refusal):
            continue
        found, right = ask(Smt(), demands[0], 0.4), case.share()
        if isinstance(found, Vacuous):
            assert right is None
        else:
            assert isinstance(found, Shares)
            assert right is None or found.certified <= right <= 1 - found.falsified, case.spec(case.demand.text)
            assert right is not None or found.undecided, case.spec(case.demand.text)
        said["decided" if isinstance(found, Vacuous) or not found.undecided else "open"] += 1
    assert said["decided"], said


BOTH_NAMED = """\
domain P {
  x : integer 0 .. 2
  y : integer 0 .. 3
  sex : category { f, m }
}
protected sex
model m : P -> { no < yes }
  score = x - 2 * y + 2 * (sex = m) + 1
  yes when score > 0
property p {
  compare a, b : P
  differ in sex
  within 1 in y
  among a.sex = f
  among a.x + score(a) > 2 * abs(a.y - b.y) - 4
  require share(m(b) = yes) >= 50%
}
"""


def test_the_unit_is_either_of_two_whom_a_premise_names(tmp_path: Path) -> None:
    (problem,) = demands_of(BOTH_NAMED, tmp_path)
    shares = [ask(engine, problem) for engine in (Enumerate(), Smt())]
    assert all(isinstance(found, Shares) for found in shares)
    counted, bounded = (
        (found.certified, found.falsified, found.total) for found in shares if isinstance(found, Shares)
    )
    assert counted == bounded
