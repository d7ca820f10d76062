"""``--report``, ``--card`` and ``fairdsl report``: reports in files of every format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import fairdsl
from fairdsl.cli.app import cli
from fairdsl.report.formats import FORMATS

SPEC = """\
domain Applicant {
  age : integer 18 .. 75
  sex : boolean
}
protected sex
model approve : Applicant -> { reject, grant }
  score = age - 30 + 4 * sex
  grant when score > 0
property sex_never_decides {
  compare a, b : Applicant
  differ  in sex
  require same decision
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("x.fair").write_text(SPEC, encoding="utf-8")
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def test_a_run_writes_its_report_in_every_format_and_one_format_makes_the_others() -> None:
    endings = {suffix: name for name, one in FORMATS.items() for suffix in one.suffixes}
    files = [f"r{suffix}" for suffix in endings]
    result = run("check", "x.fair", *(word for file in files for word in ("--report", file)))
    assert result.exit_code == 1, result.output
    assert "VIOLATED" in result.stdout
    report = fairdsl.read_report("r.json")
    for suffix, name in endings.items():
        assert Path(f"r{suffix}").read_text() == report.rendered(name)
        printed = run("report", "r.json", "--format", name)
        assert (printed.exit_code, printed.stdout) == (0, report.rendered(name))
    assert run("report", "r.json", "-o", "again.html").stdout == ""
    assert Path("again.html").read_bytes() == Path("r.html").read_bytes()


def test_a_file_of_no_format_is_refused_before_anything_runs() -> None:
    result = run("check", "x.fair", "--report", "r.pdf")
    assert result.exit_code == 2
    assert "`r.pdf` ends like no format of reports; let it end in one of .json, .html, .md" in result.stderr
    assert result.stdout == ""


def test_mistakes_are_a_report_as_well() -> None:
    Path("x.fair").write_text(SPEC.replace("protected sex", "protected gender"), encoding="utf-8")
    result = run("check", "x.fair", "--report", "r.sarif", "--report", "r.html")
    assert result.exit_code == 2
    [one] = json.loads(Path("r.sarif").read_text())["runs"]
    assert one["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] == 5
    assert "E0203" in Path("r.html").read_text()


def test_a_card_has_the_report_between_its_markers() -> None:
    card = Path("CARD.md")
    card.write_text("# Model\n\n<!-- fairdsl -->\n<!-- /fairdsl -->\n\nMore.\n")
    run("check", "x.fair", "--card", "CARD.md")
    once = card.read_text()
    assert once.startswith("# Model\n\n<!-- fairdsl -->\n## Fairness of x")
    assert once.endswith("<!-- /fairdsl -->\n\nMore.\n")
    run("check", "x.fair", "--card", "CARD.md")
    assert card.read_text().count("sex_never_decides") == once.count("sex_never_decides")


def test_a_card_without_a_place_is_refused_before_anything_runs() -> None:
    Path("CARD.md").write_text("# Model\n")
    result = run("check", "x.fair", "--card", "CARD.md")
    assert result.exit_code == 2
    assert "has no place for the report; write `<!-- fairdsl -->` and `<!-- /fairdsl -->`" in " ".join(
        result.stderr.split()
    )


def test_a_file_that_is_no_report() -> None:
    Path("no.json").write_text("{}")
    result = run("report", "no.json")
    assert result.exit_code == 2
    assert "E0630" in result.stderr
