"""What commands make of general demands: nothing that was asked for is left out in silence."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import fairdsl
from fairdsl.cli.app import cli
from fairdsl.verdict import Shares, Violated
from tests.smt.second_solver import print_by_cvc5

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
  among ann.sex = f and bob.sex = m
  require new(ann) >= new(bob)
}
property one {
  compare c : P
  among old(c) = grant
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
    assert turned.endswith("not about this pair: the pair does not meet `among`")
    assert "one   require new.score(c) <= 2   a: broken" in lines


def test_individuals_have_the_names_that_the_spec_gives_them() -> None:
    told = run("explain", "x.fair").stdout
    assert "compare ann, bob : P" in told
    assert "among (ordered pair): ann.sex = f and bob.sex = m" in told
    assert "ann.sex != bob.sex and ann.x = bob.x" in told


def test_a_search_says_what_finds_those_who_break_a_formula() -> None:
    told = run("search", "x.fair", "--property", "both").stderr
    assert "error[E0633]: `both` demands a formula" in told
    assert "fairdsl check x.fair --property both --backend search" in " ".join(told.split())


def test_a_formula_goes_into_a_file_and_its_answer_comes_home() -> None:
    written = fairdsl.compile("x.fair", to="smtlib", directory="out")
    assert [each.property for each in written.questions] == ["plain", "both", "one"]
    for path in written.files:
        (path.with_name(f"{path.name}.answer")).write_text(print_by_cvc5(path.read_text()), encoding="utf-8")
    report = fairdsl.recover("out")
    found = {item.name: item.demands[0].verdict for item in report.properties}
    assert [type(each) for each in found.values()] == [Violated, Violated, Violated]
    assert {name: len(each.breaches) for name, each in found.items()} == {"plain": 0, "both": 1, "one": 1}
    ((person,),) = (each.individuals for each in found["one"].breaches)
    assert person.values["x"] >= 6
    assert [other.name for other in found["one"].evidence.basis.others] in (["old"], ["new"])


def test_a_formula_has_no_files_of_partitions() -> None:
    written = fairdsl.compile("x.fair", to="smtlib", directory="out", partition=3)
    assert [each.property for each in written.questions] == ["plain"]
    assert {each.code for each in written.diagnostics} == {"E0615"}


def test_a_share_of_equal_decisions_is_the_fair_share(tmp_path: Path) -> None:
    path = tmp_path / "spec.fair"
    path.write_text(
        "domain P { x : real 0 .. 10  sex : category { f, m } }\nprotected sex\n"
        "model m : P -> { no < yes }\n  first yes when x > 3 and sex = f\n  then yes when x > 4\n  otherwise no\n"
        "property p { compare a, b : P  differ in sex  require share(m(b) = m(a)) >= 50%  measure fair_share }\n",
        encoding="utf-8",
    )
    share, fair_share = fairdsl.check(path).properties[0].demands
    assert (share.backend, fair_share.backend) == ("leaf_boxes", "leaf_boxes")
    for each in (share, fair_share):
        assert isinstance(each.verdict, Shares)
        assert each.verdict.certified == Fraction(9, 10)
