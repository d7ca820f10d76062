"""``check --data`` and ``compare``, end to end: the same spec over two tables, and what is said of the two reports."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import fairdsl
from fairdsl.cli.app import cli
from fairdsl.report.model import Report

SPEC = """
domain Applicant {
  sex    : category { female, male }
  income : integer 0 .. 9
}

protected sex

model approve : Applicant -> { reject, grant }
  score = income - 4
  grant when score > 0
  favourable grant

distribution people over Applicant
  empirical from "people.csv"PIN

distribution everybody over Applicant
  uniform

property four_fifths {
  across   sex
  under    people
  require  impact_ratio >= 80%
  measure  parity_gap, acceptance_rate
}

property uniformly {
  across   sex
  under    everybody
  require  parity_gap <= 10%
}
"""

#: Rows by sex and income: 10 of 25 women and 20 of 25 men are accepted, then 19 of 25 and 20 of 25.
UNFAIR = {("female", 2): 15, ("female", 6): 10, ("male", 2): 5, ("male", 6): 20}
FAIR = {("female", 2): 6, ("female", 6): 19, ("male", 2): 5, ("male", 6): 20}


def test_a_file_that_the_spec_uses_is_compared_as_well(tmp_path: Path) -> None:
    declared, asked = SPEC.split("distribution people")[0], SPEC[SPEC.index("distribution everybody") :]
    (tmp_path / "s.fair").write_text(
        'use "parts/all.fair"\n' + asked.replace("four_fifths", "again").replace("people", "everybody")
    )
    (tmp_path / "parts").mkdir()
    reports = []
    for highest in (9, 5):
        (tmp_path / "parts" / "all.fair").write_text(declared.replace("0 .. 9", f"0 .. {highest}"))
        reports.append(fairdsl.check(tmp_path / "s.fair"))
    found = fairdsl.compare(*reports)
    assert (found.spec.same, [(file.name, file.same) for file in found.used]) == (True, [("parts/all.fair", False)])
    assert "used   " in reports[0].rendered("text")


def table(path: str, rows: Mapping[tuple[str, int], int]) -> None:
    lines = [f"{sex},{income}" for (sex, income), count in rows.items() for _ in range(count)]
    Path(path).write_text("\n".join(["sex,income", *lines]) + "\n", encoding="utf-8")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loans.fair").write_text(SPEC.replace("PIN", ""), encoding="utf-8")
    table("people.csv", UNFAIR)
    table("reweighed.csv", FAIR)


@pytest.fixture
def reports(folder: None) -> None:
    for name, arguments in {"before.json": (), "after.json": ("--data", "people=reweighed.csv")}.items():
        Path(name).write_text(run("check", "loans.fair", "--json", *arguments).stdout, encoding="utf-8")


def test_check_reads_the_other_file_and_says_so() -> None:
    before, after = run("check", "loans.fair"), run("check", "loans.fair", "--data", "people=reweighed.csv")
    assert (before.exit_code, after.exit_code) == (1, 0)
    assert "impact ratio 50% < 80%" in before.stdout
    assert "impact ratio 95% >= 80%" in after.stdout
    written = json.loads(run("check", "loans.fair", "--data", "people=reweighed.csv", "--json").stdout)
    digest = sha256(Path("reweighed.csv").read_bytes()).hexdigest()
    (people,) = written["data"]
    assert (people["name"], people["path"], people["sha256"]) == ("people", "reweighed.csv", digest)


def test_check_refuses_data_that_it_would_not_read() -> None:
    for name in ("everybody", "poeple"):
        result = run("check", "loans.fair", "--data", f"{name}=reweighed.csv")
        assert result.exit_code == 2
        assert "E0553" in result.stderr
    result = run("check", "loans.fair", "--data", "people=nowhere.csv")
    assert (result.exit_code, "E0530" in result.stderr) == (2, True)


def test_a_pin_binds_other_data_too() -> None:
    digest = sha256(Path("people.csv").read_bytes()).hexdigest()
    Path("loans.fair").write_text(SPEC.replace("PIN", f' sha256 "{digest}"'), encoding="utf-8")
    assert run("check", "loans.fair").exit_code == 1
    result = run("check", "loans.fair", "--data", "people=reweighed.csv")
    assert (result.exit_code, "E0534" in result.stderr) == (2, True)


def test_data_for_a_property_that_is_not_asked() -> None:
    result = run("check", "loans.fair", "--property", "uniformly", "--data", "people=reweighed.csv")
    assert result.exit_code == 0, result.stderr


def test_plans_are_made_for_the_other_data() -> None:
    assert run("check", "loans.fair", "--data", "people=reweighed.csv", "--explain-plan").exit_code == 0
    assert "E0530" in run("check", "loans.fair", "--data", "people=nowhere.csv", "--explain-plan").stderr


@pytest.mark.usefixtures("reports")
def test_a_violation_that_is_gone() -> None:
    result = run("compare", "before.json", "after.json", "--tolerance", "5%")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    changed = [line for line in lines if line.startswith("data ")]
    assert changed[0].startswith("data       people  people.csv -> reweighed.csv  changed, sha256 ")
    assert "four_fifths   VIOLATED -> HOLDS   better" in lines
    assert "    value      50% -> 95%, rose by 45 points" in lines
    assert "    groups     sex = female  40% -> 76%, rose by 36 points" in lines
    assert "               sex = male    80%, the same" in lines
    assert "uniformly   HOLDS   same" in lines
    assert lines[-2:] == ["2 properties: 1 same, 1 better", "exit code 0: nothing got worse"]


@pytest.mark.usefixtures("reports")
def test_a_verdict_that_got_worse() -> None:
    result = run("compare", "after.json", "before.json")
    assert result.exit_code == 1
    assert "four_fifths   HOLDS -> VIOLATED   worse" in result.stdout


@pytest.mark.usefixtures("reports")
def test_a_number_that_got_worse_with_no_verdict() -> None:
    table("drifted.csv", {**FAIR, ("female", 2): 8, ("female", 6): 17})
    drifted = run("check", "loans.fair", "--data", "people=drifted.csv", "--json")
    Path("drifted.json").write_text(drifted.stdout, encoding="utf-8")
    assert drifted.exit_code == 0
    assert run("compare", "after.json", "drifted.json").exit_code == 0
    # Impact ratio falls from 95% to 85%, parity gap rises from 4% to 12%.
    for tolerance, code in (("0.1", 0), ("9%", 1), ("1/11", 1)):
        result = run("compare", "after.json", "drifted.json", "--tolerance", tolerance)
        assert result.exit_code == code, result.output
        assert ("worse by more than the tolerance" in result.stdout) is (code == 1)


@pytest.mark.usefixtures("reports")
def test_as_json() -> None:
    result = run("compare", "before.json", "after.json", "--tolerance", "5%", "--json")
    written: Any = json.loads(result.stdout)
    assert (written["schema"], written["exit_code"], result.exit_code) == ("fairdsl.comparison/2", 0, 0)
    assert (written["tolerance_exact"], written["within_tolerance"]) == ("1/20", True)
    assert [file.get("same") for file in (written["spec"], *written["models"], *written["data"])] == [True, None, False]
    value = written["properties"][0]["demands"][0]["value"]
    assert value["difference"]["low_exact"] == "9/20"
    assert value["movement"] == "rose"
    rates = {one["at"]["sex"]: one["number"]["movement"] for one in written["properties"][0]["demands"][1]["groups"]}
    assert rates == {"female": "rose", "male": "same"}
    # Of several numbers the span has no meaning of its own.
    assert written["properties"][0]["demands"][2]["spread"] is True


@pytest.mark.usefixtures("reports")
def test_the_function_gives_what_the_command_says() -> None:
    def checked(**options: Any) -> Report:
        return fairdsl.check("loans.fair", **options)

    found = fairdsl.compare(checked(), checked(data={"people": "reweighed.csv"}))
    assert found.properties == fairdsl.compare("before.json", "after.json").properties
    assert fairdsl.compare("before.json", checked(data={"people": "reweighed.csv"})).properties == found.properties


@pytest.mark.usefixtures("reports")
def test_what_cannot_be_compared() -> None:
    result = run("compare", "before.json", "people.csv")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "error[E0630]: `people.csv` cannot be read as a report" in result.stderr
    written = json.loads(run("compare", "loans.fair", "after.json", "--json").stdout)
    assert (written["schema"], [one["code"] for one in written["diagnostics"]]) == ("fairdsl.failure/1", ["E0630"])
    failed = run("check", "loans.fair", "--data", "people=nowhere.csv", "--json")
    Path("failed.json").write_text(failed.stdout, encoding="utf-8")
    assert "error[E0631]: `failed.json`" in run("compare", "before.json", "failed.json").stderr


@pytest.mark.parametrize("tolerance", ["much", "-1%", "1/0", "nan", "", "5", "1", "10/9"])
@pytest.mark.usefixtures("reports")
def test_what_is_no_tolerance(tolerance: str) -> None:
    result = run("compare", "before.json", "after.json", "--tolerance", tolerance)
    assert result.exit_code == 2
    assert "is not a tolerance" in result.stderr


@pytest.mark.usefixtures("reports")
def test_names_reach_the_terminal_filtered() -> None:
    spoilt = Path("after.json").read_text(encoding="utf-8").replace("four_fifths", "\\u001b[31mfour")
    Path("spoilt.json").write_text(spoilt, encoding="utf-8")
    result = run("compare", "after.json", "spoilt.json")
    assert "\x1b" not in result.stdout
    assert "four_fifths   HOLDS -> not asked   worse" in result.stdout
