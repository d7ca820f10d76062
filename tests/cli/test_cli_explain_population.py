"""``explain --population -o``: what is saved gives the same numbers without the data (trap 16)."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import fairdsl
from fairdsl.cli.app import cli

DATA = "sex,job,grade\n" + "".join(
    f"{sex},{job},{grade}\n" for sex, job, grade, times in [
        ("female", "clerk", 3, 4), ("female", "nurse", 7, 2), ("female", "nurse", 2, 1),
        ("male", "clerk", 8, 5), ("male", "nurse", 5, 3), ("male", "clerk", 1, 2),
    ] for _ in range(times)
)  # fmt: skip

SPEC = """
domain Person {{
  sex   : category {{ female, male }}
  job   : category {{ clerk, nurse }}
  grade : integer 0 .. 10
}}
protected sex
model admit : Person -> {{ no, yes }}
  score = grade + 2 * (job = nurse) - 5
  yes when score >= 0
  favourable yes
distribution people over Person
{law}
property rates {{
  across  sex
  under   people
  require parity_gap <= 5%
}}
"""


def rates(path: Path) -> list[tuple[object, object]]:
    (demand,) = fairdsl.check(path).properties[0].demands
    assert demand.value is not None
    return [(demand.value.low, demand.value.high)]


@pytest.mark.parametrize("law", ['  learn bayesian_network\n  from "people.csv"', '  empirical from "people.csv"'])
def test_a_saved_population_needs_no_data(tmp_path: Path, law: str) -> None:
    (tmp_path / "people.csv").write_text(DATA)
    spec = tmp_path / "spec.fair"
    spec.write_text(SPEC.format(law=law))
    before = rates(spec)
    result = CliRunner().invoke(cli, ["explain", str(spec), "--population", "-o", str(tmp_path / "saved")])
    assert result.exit_code == 0, result.output
    names = sorted(path.name for path in (tmp_path / "saved").iterdir())
    assert names == (["people.bif", "people.json"] if "learn" in law else ["people.csv"])
    (tmp_path / "people.csv").unlink()
    again = f'  empirical from "saved/{names[-1]}"' if "empirical" in law else f'  from "saved/{names[-1]}"'
    spec.write_text(SPEC.format(law=again))
    assert rates(spec) == before
    taken = CliRunner().invoke(cli, ["explain", str(spec), "--population", "-o", str(tmp_path / "saved")])
    assert taken.exit_code == 2
    assert "exists already" in taken.output


def test_saving_is_about_populations(tmp_path: Path) -> None:
    result = CliRunner().invoke(cli, ["explain", "E0203", "-o", str(tmp_path)])
    assert result.exit_code == 2
    assert "--population" in result.output
