"""Findings speak as the caller does: of options on a command line, of arguments in Python."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import fairdsl
from fairdsl.cli.app import cli

SPEC = """\
domain P { sex : category { f, m } }
protected sex
model m : P -> { a, b }
  score = 1
  b when score > 0
  favourable b
distribution people over P
  uniform
property p { compare a, b : P  differ in sex  require same decision }
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.fair").write_text(SPEC, encoding="utf-8")
    rows = "".join(f"{'fm'[row % 2]},{row % 3 % 2}\n" for row in range(60))
    (tmp_path / "t.csv").write_text(f"sex,ok\n{rows}", encoding="utf-8")
    return tmp_path


def told(arguments: list[str]) -> str:
    ran = CliRunner().invoke(cli, arguments)
    assert ran.exit_code == 2
    return " ".join(ran.output.split())


def test_data_of_no_distribution(folder: Path) -> None:
    with pytest.raises(fairdsl.SpecError) as data:
        fairdsl.check("s.fair", data={"row": {"sex": ["f"]}})
    assert "`data={'row': ...}` names no distribution" in str(data.value)
    assert "--data" not in str(data.value)
    assert "`--data row=...` names no distribution" in told(["check", "s.fair", "--data", "row=t.csv"])
    with pytest.raises(fairdsl.SpecError) as model:
        fairdsl.check("s.fair", models={"n": "t.csv"})
    assert "`models={'n': ...}` names no model of this spec" in str(model.value)
    assert "`--model n=...` names no model" in told(["check", "s.fair", "--model", "n=t.csv"])


def test_a_file_in_the_way(folder: Path) -> None:
    fairdsl.init("t.csv")
    with pytest.raises(fairdsl.SpecError, match="name another file with `output=`"):
        fairdsl.init("t.csv")
    assert "name another file with `-o FILE.fair`" in told(["init", "t.csv"])
    audited = fairdsl.audit_table("t.csv", protected="sex", prediction="ok")
    with pytest.raises(fairdsl.SpecError, match=r"name another file with `write\(PATH\)`"):
        audited.write("t.fair")
    options = ["--protected", "sex", "--prediction", "ok", "--spec", "t.fair"]
    assert "name another file with `--spec FILE.fair`" in told(["audit", "t.csv", *options])


def test_one_name_stands_alone(folder: Path) -> None:
    assert fairdsl.init("t.csv", protected="sex").protected == ("sex",)
    assert [item.name for item in fairdsl.check("s.fair", properties="p").properties] == ["p"]
