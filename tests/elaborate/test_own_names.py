"""The names that a file gives its features are held against what `reads` fills them with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import fairdsl

SPEC = """\
domain Applicant {
  age : integer 18 .. 75
  sex : category { female, male }
  income : integer 0 .. 100 column "earned"
}
protected sex
model approve : Applicant -> { reject, grant }
  from "approve.json"
  reads (age - 40) / 10, one_hot(sex), income
  grant when score > 0
property p {
  compare a, b : Applicant
  differ in sex
  require same decision
}
"""


@pytest.mark.parametrize(
    ("names", "displaced"),
    [
        ("age sex_female sex_male income", []),
        ("age_scaled female male earned", []),
        ("num__age x1_female cat__sex_male log_income", []),
        ("f0 f1 f2 f3", []),
        ("age sex_male sex_female income", [1, 2]),
        ("age male female income", [1, 2]),
        ("age sex=female x1_female income", [2]),
        ("income sex_female sex_male age", [0, 3]),
        ("male sex_female sex_male income", [0]),
        ("age sex_female sex_male hours", [3]),
    ],
)
def test_names_that_say_something_else(names: str, displaced: list[int], tmp_path: Path) -> None:
    (tmp_path / "s.fair").write_text(SPEC, encoding="utf-8")
    document = {"features": names.split(), "coefficients": [1, 2, 3, 4]}
    (tmp_path / "approve.json").write_text(json.dumps(document), encoding="utf-8")
    features = ["(age - 40) / 10", "sex = female", "sex = male", "income"]
    found = [each.title for each in fairdsl.lint(tmp_path / "s.fair", files=True) if each.code == "W0814"]
    wanted = [
        f"`approve` reads `{features[place]}` as what its file calls `{names.split()[place]}`" for place in displaced
    ]
    assert found == wanted
