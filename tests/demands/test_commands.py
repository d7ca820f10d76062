"""What commands make of general demands: nothing that was asked for is left out in silence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import fairdsl
from fairdsl.cli.app import cli

SPEC = """\
domain P {
  x   : integer 0 .. 9
  sex : category { f, m }
}
protected sex
model old : P -> { reject < grant }
  score = 1 * x - 4
  grant when score >= 0
model new : P -> { reject < grant }
  score = 1 * x - 4 + 1 * (sex = m)
  grant when score >= 0
property plain {
  model new
  compare a, b : P
  differ in sex
  require same decision
}
property both {
  compare ann, bob : P
  differ in sex
  target ann.sex = f and bob.sex = m
  require new(ann) >= new(bob)
}
property one {
  compare c : P
  target old(c) = grant
  require new.score(c) <= 2
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.fair").write_text(SPEC, encoding="utf-8")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments))


def test_formulas_are_not_cut_into_partitions_and_it_is_said() -> None:
    planned = fairdsl.plans("x.fair", options={"partition": {"size": 5}})
    refused = {item.property: not item.stages for item in planned.demands}
    assert refused == {"plain": False, "both": True, "one": True}
    result = run("check", "x.fair", "--partition", "5", "--property", "plain", "--property", "both")
    assert "both" in result.stdout
    assert "error[E0615]: `both` has no question to ask partition by partition" in result.stdout
    for more in ([], ["--explain-plan"]):
        assert "E0615" in run("check", "x.fair", "--partition", "5", "--property", "one", *more).stderr


def test_a_plan_is_of_the_properties_named_and_takes_no_option_about_verdicts() -> None:
    planned = json.loads(run("check", "x.fair", "--explain-plan", "--property", "one", "--json").stdout)
    assert [item["property"] for item in planned["demands"]] == ["one"]
    for flag, value in (("--report", "x.html"), ("--fail-on", "violated")):
        result = run("check", "x.fair", "--explain-plan", flag, value)
        assert result.exit_code == 2
        assert f"`{flag}` is about verdicts" in result.stderr


def test_a_pair_is_held_against_formulas_and_each_of_it_against_those_about_one() -> None:
    found = fairdsl.replay_pair("x.fair", a={"x": 3, "sex": "f"}, b={"sex": "m"})
    assert [(each.name, each.individual, each.broken, each.open) for each in found.demands] == [
        ("plain", None, True, False),
        ("both", None, True, False),
        ("one", "a", False, False),
        ("one", "b", False, False),
    ]
    assert [each.beside for each in found.demands[2:]] == ["`old(c) = grant` is not true"] * 2
    found = fairdsl.replay_pair("x.fair", a={"x": 6, "sex": "f"}, b={"sex": "m"}, properties=["both", "one"])
    assert [(each.broken, each.beside) for each in found.demands] == [(False, None), (False, None), (True, None)]
    lines = run("replay", "x.fair", "--a", "x=6,sex=m", "--b", "sex=f").stdout.splitlines()
    turned = next(line for line in lines if line.startswith("both"))
    assert turned.endswith("not about this pair: the pair is outside the target")
    assert "one   require new.score(c) <= 2   a: broken" in lines


def test_individuals_have_the_names_that_the_spec_gives_them() -> None:
    told = run("explain", "x.fair").stdout
    assert "compare ann, bob : P" in told
    assert "target (the ordered pair): ann.sex = f and bob.sex = m" in told
    assert "ann.sex != bob.sex and ann.x = bob.x" in told
