"""Groups that a searched law makes equal: said exactly where no edge and no condition connects them with the model."""

from __future__ import annotations

from contextlib import chdir
from itertools import product
from pathlib import Path

import pytest

from fairdsl.elaborate import elaborate
from fairdsl.semantics import front_end

#: Job follows sex in every row, and nothing follows from income: a search connects the first two alone.
ROWS = "".join(
    f"{sex},{job},{income},{repaid}\n"
    for (sex, job), income, repaid in product((("female", "clerk"), ("male", "nurse")), range(4), ("no", "yes"))
)
SPEC = """\
domain Person {{
  sex    : category {{ female, male }}
  job    : category {{ clerk, nurse }}
  income : integer 0 .. 3
}}
label repaid : boolean
protected sex
model approve : Person -> {{ reject, grant }}
  grant when {reads}
  favourable grant
graph none {{ sex -> income }}
distribution people over Person, repaid
  {law}
  from "people.csv"
property p {{
  across   sex
  under    people
  {clause}
}}
"""
ALIKE = "require impact_ratio >= 80%"


@pytest.mark.parametrize(
    ("reads", "law", "clause", "alike"),
    [
        ("income > 1", "learn bayesian_network", ALIKE, True),
        ("income > 1", "learn bayesian_network", "among income > 0\n  " + ALIKE, True),
        ("income > 1", "learn bayesian_network", "for each repaid\n  " + ALIKE, True),
        ("income > 1", "learn bayesian_network", "among income > 0 or job = clerk\n  " + ALIKE, False),
        ("income > 1", "learn bayesian_network", "measure odds_gap", True),
        ("income > 1 or job = clerk", "learn bayesian_network", ALIKE, False),
        ("income > 1 or sex = male", "learn bayesian_network", ALIKE, False),
        ("income > 1", "independent", ALIKE, False),
        ("income > 1", "learn none", ALIKE, False),
    ],
)
def test_where_all_groups_are_alike(reads: str, law: str, clause: str, alike: bool, tmp_path: Path) -> None:
    (tmp_path / "spec.fair").write_text(SPEC.format(reads=reads, law=law, clause=clause), encoding="utf-8")
    (tmp_path / "people.csv").write_text("sex,job,income,repaid\n" + ROWS, encoding="utf-8")
    with chdir(tmp_path):
        spec, _ = front_end("spec.fair")
        warnings = elaborate(spec, {}).warnings
    assert ("W0811" in {warning.code for warning in warnings}) is alike
