"""Which discriminators a spec detects, held against everybody and every number counted again from what is printed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

import fairdsl
from fairdsl.audit_sensitivity import Fate, Kind, Planted, Sensitivity, run
from fairdsl.audit_sensitivity.choose import groups_of
from fairdsl.cli.app import cli
from fairdsl.codec import from_plain
from fairdsl.ir.domain import Attribute, Domain, Integer
from fairdsl.ir.expr import TRUE, Who
from fairdsl.numerics.predicates import mask
from fairdsl.report.model import Report
from fairdsl.verdict import Evidence, Reason, Refused, Unknown, Verdict

ROOT = Path(__file__).parents[2]
SPEC = ROOT / "examples" / "sensitivity" / "clerks.fair"
Person = dict[str, object]


@pytest.fixture(scope="module")
def ran() -> tuple[Result, Sensitivity]:
    """What the command prints, and what it prints it of: the run takes seconds."""
    kept: list[Sensitivity] = []

    def keeping(*arguments: Any, **options: Any) -> Sensitivity:
        kept.append(sensitivity(*arguments, **options))
        return kept[-1]

    sensitivity = fairdsl.sensitivity
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fairdsl, "sensitivity", keeping)
        result = CliRunner().invoke(cli, ["sensitivity", str(SPEC)])
    return result, kept[0]


@pytest.fixture(scope="module")
def found(ran: tuple[Result, Sensitivity]) -> Sensitivity:
    return ran[1]


def test_the_command_prints_what_the_page_says(ran: tuple[Result, Sensitivity]) -> None:
    result, found = ran
    assert (result.exit_code, result.stdout) == (found.exit_code.value, f"{found}\n")
    page = (ROOT / "docs" / "sensitivity.md").read_text(encoding="utf-8")
    (printed,) = re.findall(r"^\$ fairdsl sensitivity examples/sensitivity/clerks.fair\n(.*?)^```$", page, re.M | re.S)
    assert result.stdout.replace(str(SPEC), "examples/sensitivity/clerks.fair") == printed


def everybody() -> Iterator[tuple[Person, Fraction]]:
    """Everybody of the example's domain, with the probability that the example gives."""
    hours = {("female", "part_time"): 6, ("female", "full_time"): 4, ("male", "part_time"): 1, ("male", "full_time"): 9}
    for (sex, work), test, years in product(hours, range(101), range(21)):
        weight = Fraction(hours[sex, work], 20) / (101 * 21)
        yield {"sex": sex, "hours": work, "test": test, "years": years}, weight


@cache
def parts_of(condition: str) -> list[tuple[str, str, str]]:
    """A conjunction as it is printed, part by part."""
    parts = (part.split(" ") for part in condition.split(" and ") if condition != "true")
    return [(name, relation, value) for name, relation, value in parts]


def holds(condition: str, person: Person) -> bool:
    for name, relation, value in parts_of(condition):
        mine = person[name]
        if relation == "=":
            met = str(mine) == value
        else:
            assert isinstance(mine, int)
            met = mine >= int(value) if relation == ">=" else mine <= int(value)
        if not met:
            return False
    return True


def decided(person: Person, one: Planted | None) -> str:
    if one is not None and holds(one.among, person):
        if holds(one.known_by, person):
            return one.gives
        if one.gives_others is not None:
            return one.gives_others
    return "invite" if person["test"] + 2 * person["years"] >= 60 else "refuse"  # type: ignore[operator]


def truly_detected(one: Planted) -> set[str]:
    """The properties that are broken, by their definitions."""
    by_rest: dict[tuple[object, ...], set[str]] = {}
    invited = dict.fromkeys(("female", "male"), Fraction(0))
    for person, weight in everybody():
        outcome = decided(person, one)
        by_rest.setdefault((person["hours"], person["test"], person["years"]), set()).add(outcome)
        invited[str(person["sex"])] += weight * (outcome == "invite")
    broken = {"blind"} if any(len(outcomes) > 1 for outcomes in by_rest.values()) else set()
    if min(invited.values()) < Fraction(4, 5) * max(invited.values()):
        broken.add("four_fifths")
    return broken


def test_what_is_said_to_be_caught_is_and_nothing_else(found: Sensitivity) -> None:
    assert [(one.kind, one.strength) for one in found.planted] == [
        (kind, Fraction(share, 100)) for kind in Kind for share in (1, 5, 20)
    ]
    for one in found.planted:
        assert set(one.detected_by) == truly_detected(one)
        assert one.fate is (Fate.DETECTED if one.detected_by else Fate.SURVIVED)
        assert not one.undecided
    # A proxy of little strength is what nobody would have seen, and it is not an accident that `blind` never sees one.
    assert [one.kind for one in found.of_fate(Fate.SURVIVED)] == [Kind.PROXY, Kind.PROXY]
    assert found.exit_code.value == 1


def test_discriminators_have_about_the_size_that_is_asked_for_and_lie_in_one_another(found: Sensitivity) -> None:
    people = list(everybody())
    for one in found.planted:
        before, after = ([decided(person, each) for person, _ in people] for each in (None, one))
        changed = sum(weight for (_, weight), old, new in zip(people, before, after, strict=True) if old != new)
        assert abs(float(changed - one.changed)) < 0.01
        if one.kind is not Kind.PEOPLE:
            assert abs(float(one.changed_in_group / one.strength) - 1) < 0.1
    for kind in Kind:
        marks = [
            {n for n, (who, _) in enumerate(people) if holds(one.among, who)}
            for one in found.planted
            if one.kind is kind
        ]
        assert marks[0] < marks[1] < marks[2]


@pytest.mark.slow
def test_the_command_says_so_and_ends_with_it(found: Sensitivity) -> None:
    said = CliRunner().invoke(
        cli, ["sensitivity", str(SPEC), "--kind", "proxy", "--strength", "20%", "--group", "sex=female"]
    )
    assert "four_fifths  HOLDS     proxy from 20%" in said.stdout
    assert "1 planted: 1 detected; exit code 0" in said.stdout
    assert said.exit_code == 0
    said = CliRunner().invoke(cli, ["sensitivity", str(SPEC), "--kind", "proxy", "--strength", "2%", "--json"])
    assert said.exit_code == 1
    assert from_plain(Sensitivity, json.loads(said.stdout)).planted[0].fate is Fate.SURVIVED


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--group", "sex=woman"], "`woman` is not a value of group.sex; there are female, male"),
        (["--group", "hours=part_time"], "there is no protected attribute called `hours`"),
        (["--strength", "120%"], "`120%` is not"),
        (["--property", "blnd"], "there is no property called `blnd`"),
    ],
)
def test_mistakes_are_said(options: list[str], words: str) -> None:
    said = CliRunner().invoke(cli, ["sensitivity", str(SPEC), *options])
    assert said.exit_code == 2
    assert words in said.stderr


def test_who_cannot_be_refused_so_often_is_left_out() -> None:
    found = fairdsl.sensitivity(SPEC, kinds=["group", "proxy"], strengths=["90%"])
    assert [one.kind.value for one in found.left_out] == ["group", "proxy"]
    assert "too few to refuse so many" in found.left_out[0].reason
    assert not found.planted
    assert found.exit_code.value == 3


def test_a_function_is_planted_in_by_its_answers(tmp_path: Path) -> None:
    text = SPEC.read_text(encoding="utf-8")
    start = text.index("  # Half")
    text = text[:start] + "  from callable\n" + text[text.index("  favourable") :]
    path = tmp_path / "asked.fair"
    path.write_text(text, encoding="utf-8")

    def invite(people: dict[str, object]) -> list[str]:
        return ["invite" if score >= 60 else "refuse" for score in people["test"] + 2 * people["years"]]  # type: ignore[operator]

    found = fairdsl.sensitivity(
        path, callables={"invite": invite}, kinds=["group"], strengths=["20%"], properties=["blind"]
    )
    assert [one.detected_by for one in found.planted] == [("blind",)]


OPEN = Unknown(reason=Reason.INCOMPLETE, detail="", evidence=Evidence(backend="smt", method=""))


@pytest.mark.parametrize("verdict", [Refused(), OPEN])
def test_what_is_not_known_survives_nothing(verdict: Verdict, monkeypatch: pytest.MonkeyPatch) -> None:
    audits: list[Report] = []

    def audited(*arguments: Any, **options: Any) -> Report:
        report = audits[0] if audits else verify(*arguments, **options)
        if audits:
            [item] = report.properties
            demands = tuple(replace(demand, verdict=verdict) for demand in item.demands)
            report = replace(report, properties=(replace(item, demands=demands),))
        audits.append(report)
        return report

    verify = run.verify
    monkeypatch.setattr(run, "verify", audited)
    found = fairdsl.sensitivity(SPEC, kinds=["group"], strengths=["20%"], properties=["blind"])
    assert [(one.fate, one.undecided) for one in found.planted] == [(Fate.UNDECIDED, ("blind",))]
    assert found.exit_code.value == 3
    assert "blind  HOLDS     group unknown" in str(found)


@pytest.mark.parametrize(
    ("fates", "words"),
    [
        # What became of the discriminators of 1%, 5% and 20%, against one group or against two.
        (["no yes yes"], "from 5%"),
        (["yes yes no"], "in part"),  # rates need not grow with the strength
        (["yes no yes"], "from 20%"),
        (["no open yes"], "from 20% or less"),
        (["open no yes"], "from 20%"),
        (["yes yes open"], "in part"),
        (["no no open"], "unknown"),
        (["no no no"], "never"),
        (["- yes -"], "from 5%"),  # it was not asked about the others
        (["- - -"], ""),
        (["no yes yes", "no yes yes"], "from 5%"),
        (["no yes yes", "- - -"], "from 5%"),
        (["yes yes yes", "no no no"], "from 1% (group 0) / never (group 1)"),
        (["no no yes", "open open open"], "from 20% (group 0) / unknown (group 1)"),
    ],
)
def test_from_is_the_strength_from_which_on_all_are_detected(found: Sensitivity, fates: list[str], words: str) -> None:
    planted = [
        replace(
            found.planted[0],
            strength=strength,
            group=f"group {number}",
            detected_by=("blind",) if fate == "yes" else (),
            missed_by=("blind",) if fate == "no" else (),
            undecided=("blind",) if fate == "open" else (),
        )
        for number, of_one in enumerate(fates)
        for strength, fate in zip((Fraction(1, 100), Fraction(1, 20), Fraction(1, 5)), of_one.split(), strict=True)
    ]
    [line] = [line for line in replace(found, planted=tuple(planted)).lines() if line.startswith("blind")]
    assert line.split() == ["blind", "HOLDS", *(["people", *words.split()] if words else [])]


def test_a_property_says_nothing_of_models_that_it_is_not_about(tmp_path: Path) -> None:
    text = SPEC.read_text(encoding="utf-8")
    text = text.replace(
        "distribution applicants",
        "model other : Applicant -> { refuse, invite }\n  score = test - 50\n  invite when score >= 0\n"
        "  favourable invite\n\ndistribution applicants",
    )
    text = text[: text.index("property four_fifths")].replace("  require", "  model invite\n  require")
    text += "property also {\n  compare a, b : Applicant\n  differ in sex\n  model other\n  require same decision\n}\n"
    path = tmp_path / "two.fair"
    path.write_text(text, encoding="utf-8")
    found = fairdsl.sensitivity(path, kinds=["group"], strengths=["20%"])
    assert [(one.model, one.detected_by, one.missed_by) for one in found.planted] == [
        ("invite", ("blind",), ()),
        ("other", ("also",), ()),
    ]
    assert {line for line in found.lines() if "HOLDS" in line} == {
        "blind  HOLDS     group from 20%",
        "also   HOLDS     group from 20%",
    }


def test_who_lacks_a_number_is_not_of_its_upper_half() -> None:
    income = Attribute(name="income", type=Integer(low=0, high=10), present=Integer(low=0, high=9))
    lacking = Domain(name="People", attributes=(income,), where=TRUE)
    people = np.array([[0.0], [2.0], [4.0], [6.0], [10.0], [10.0], [10.0], [10.0]])
    [group] = groups_of([0], lacking, people)
    assert mask(group.who, {Who.EACH: people}).tolist() == [False, False, True, True] + [False] * 4
    assert not list(groups_of([0], lacking, people[4:]))
