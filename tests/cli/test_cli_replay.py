"""``fairdsl replay``: one pair that somebody wrote down."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import fairdsl
from fairdsl.cli.app import cli

SPEC = """\
domain Applicant {
  age  : integer 18 .. 75
  job  : category { clerk, driver }
  sex  : boolean
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
property nor_among_the_young {
  compare a, b : Applicant
  differ  in sex
  among age <= 25
  require same decision
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.fair").write_text(SPEC, encoding="utf-8")


def run(a: str, b: str, *more: str) -> Result:
    return CliRunner().invoke(cli, ["replay", "x.fair", "--a", a, "--b", b, *more])


def test_a_pair_that_breaks_one_demand_and_is_not_asked_of_by_another() -> None:
    result = run("age=30, job=clerk, sex=false", "sex=true")
    assert result.exit_code == 1, result.output
    lines = result.stdout.splitlines()
    assert "sex_never_decides   require same decision   broken" in lines
    assert "nor_among_the_young   require same decision   not about this pair: a does not meet `among`" in lines
    assert [line.split() for line in lines[1:4]] == [
        ["pair", "a", "b"],
        ["sex", "false", "true"],
        ["decision", "reject", "grant"],
    ]


@pytest.mark.parametrize(
    ("a", "b", "code"),
    [("age=40, job=clerk, sex=false", "sex=true", 0), ("age=40, job=clerk, sex=false", "age=41", 3)],
)
def test_a_pair_that_breaks_nothing_or_is_not_asked_of(a: str, b: str, code: int) -> None:
    assert run(a, b).exit_code == code


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ("age=40, sex=false", "sex=true", "a has no value for job; write each as NAME=VALUE"),
        ("age=40, job=pilot, sex=false", "sex=true", "`pilot` is not a value of a.job; there are clerk, driver"),
        ("age=40, job=clerk, sex=1", "sex=true", "`1` is not a value of a.sex; write true or false"),
        ("age=old, job=clerk, sex=true", "sex=true", "`old` is not a value of a.age, which is a number"),
        ("size=1", "sex=true", "`size` is not an attribute of `Applicant`; there are age, job, sex"),
        ("age", "sex=true", "`age` is not a value of an attribute"),
        ("age=1, age=2", "sex=true", "`age` is there twice"),
    ],
)
def test_what_is_no_individual(a: str, b: str, said: str) -> None:
    result = run(a, b)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())


def test_an_individual_outside_the_domain_is_not_run() -> None:
    result = run("age=17, job=clerk, sex=false", "sex=true")
    assert (result.exit_code, "a.age = 17 is outside the domain" in result.stdout) == (3, True)


def test_the_document_and_the_function() -> None:
    found = fairdsl.replay_pair("x.fair", a={"age": 30, "job": "clerk", "sex": False}, b={"sex": True})
    assert [one.broken for one in found.demands] == [True, False]
    printed = run("age=30, job=clerk, sex=false", "sex=true", "--json")
    assert json.loads(printed.stdout) == json.loads(found.to_json())
    assert type(found).from_json(printed.stdout) == found


OF_THREE = """\
domain Applicant {
  age : integer 18 .. 75
  sex : boolean
}
protected sex
model approve : Applicant -> { reject < grant }
  score = abs_age
  grant when score > 0
property no_dip {
  compare a, b, c : Applicant
  differ in age
  among a.age < b.age and b.age < c.age
  require approve(b) >= approve(a) or approve(b) >= approve(c)
}
property alone {
  compare a : Applicant
  require approve(a) = grant or a.age < 30
}
""".replace("score = abs_age", "score = 3 * (age < 30) + 3 * (age > 50) - 1")


def test_a_demand_about_three_is_held_against_three() -> None:
    Path("x.fair").write_text(OF_THREE, encoding="utf-8")
    missing = run("age=20, sex=true", "age=40")
    assert missing.exit_code == 1, missing.output  # `alone` is broken by b
    assert "not about this pair: it is about 3 individuals: a, b, c" in missing.stdout
    dip = run("age=20, sex=true", "age=40", "--c", "age=60", "--property", "no_dip")
    assert dip.exit_code == 1, dip.output
    assert [line.split()[0] for line in dip.stdout.splitlines()][:2] == ["no_dip", "pair"]
    assert "60" in dip.stdout
    beside = run("age=20, sex=true", "age=60", "--c", "age=40", "--property", "no_dip")
    assert (beside.exit_code, "not about this pair" in beside.stdout) == (3, True)
    fine = run("age=20, sex=true", "age=25", "--c", "age=60", "--d", "age=70", "--property", "no_dip")
    assert (fine.exit_code, "not broken" in fine.stdout) == (0, True)
    each = fairdsl.replay_pair("x.fair", a={"age": 20, "sex": True}, b={"age": 40}, c={"age": 45}, properties=["alone"])
    assert [(one.individual, one.broken) for one in each.demands] == [("a", False), ("b", True), ("c", True)]


def test_names_in_quotes_may_have_blanks_and_commas_in_them() -> None:
    """A value is found however it is written in a report, and blanks around one mean nothing to a name without them."""
    named = SPEC.replace("{ clerk, driver }", '{ " clerk", clerk, "a, b" }').replace(
        "age - 30", 'age - 30 - (job = "a, b")'
    )
    Path("x.fair").write_text(named, encoding="utf-8")
    for written, shown in (('" clerk"', " clerk"), (" clerk ", "clerk"), ('"a, b"', "a, b")):
        result = run(f"age=30, job={written}, sex=false", "sex=true")
        assert result.exit_code == 1, result.output
        assert f"both       age = 30, job = {shown}\n" in result.stdout
    unknown = run('age=30, job="clerks", sex=false', "sex=true")
    assert '`clerks` is not a value of a.job; there are " clerk", clerk, "a, b"' in unknown.stderr
    pair = fairdsl.replay_pair("x.fair", a={"age": 30, "job": " clerk", "sex": False}, b={"sex": True})
    assert [demand.broken for demand in pair.demands] == [True, False]
