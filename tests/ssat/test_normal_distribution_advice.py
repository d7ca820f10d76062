"""What the refusal of a normal law says to write is answered where it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

import fairdsl

SPEC = """\
domain Applicant {
  sex     : category { female, male }
  bracket : category { low, high }
  income  : real
}
protected sex
model approve : Applicant -> { reject, grant }
  first grant when income > 20
  otherwise reject
  favourable grant
distribution by_hand over Applicant
  sex     : table { female : 0.5, male : 0.5 }
  bracket : table { low : 0.4, high : 0.6 } given sex = female
  bracket : table { low : 0.2, high : 0.8 } given sex = male
"""
PROPERTY = "property alike {\n  across sex\n  under by_hand\n  measure parity_gap\n}\n"
NORMAL = "  income  : normal(30, 10) given sex = male\n  income  : normal(20, 10) given sex = female\n"
PIECES = "  income  : uniform(0, 20) given bracket = low\n  income  : uniform(20, 100) given bracket = high\n"


@pytest.fixture
def spec(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / "spec.fair"
    path.write_text(SPEC + request.param + PROPERTY, encoding="utf-8")
    return path


@pytest.mark.parametrize("spec", [NORMAL], indirect=True)
def test_a_normal_law_is_to_be_written_in_pieces(spec: Path) -> None:
    (plan,) = fairdsl.plans(spec)
    reasons = {name: why for name, _, why in (line.partition(":") for line in plan.reasons)}
    assert "irrational: write pieces `uniform(low, high)`" in reasons["ssat"]
    assert "bins" not in reasons["ssat"]


@pytest.mark.parametrize("spec", [PIECES], indirect=True)
def test_pieces_are_answered(spec: Path) -> None:
    (plan,) = fairdsl.plans(spec)
    assert plan.stages[0].startswith("rates")
    assert plan.stages[1].startswith("ssat")
    assert "irrational" not in "".join((*plan.stages, *plan.reasons))
