"""Rules from the text to the verdict: inline and as documents they are the same models."""

from __future__ import annotations

import json
from fractions import Fraction
from hashlib import sha256
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fairdsl
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.elaborate import load_models
from fairdsl.ir.domain import Point
from fairdsl.ir.expr import And
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.model import Model
from fairdsl.numerics import leaves as leaves_module
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.numerics.exact import decision
from fairdsl.numerics.leaves import Leaves
from fairdsl.semantics import front_end
from tests.builders import linear
from tests.drawing import examples
from tests.rule_strategies import decided, listed, model_of

DOMAIN = """\
domain Person {
  race   : category { black, "two or more" }
  age    : integer 18 .. 24
  priors : integer 0 .. 5
}

protected race
"""
PROPERTY = """
property p {
  compare  a, b : Person
  differ   in race
  require  same decision
}
"""
PEOPLE = list(product((0, 1), range(18, 25), range(6)))


def spec(folder: Path, clauses: str, *, outcomes: str = "release, detain", more: str = PROPERTY) -> str:
    path = folder / "spec.fair"
    path.write_text(f"{DOMAIN}\nmodel triage : Person -> {{ {outcomes} }}\n{clauses}\n{more}", encoding="utf-8")
    return str(path)


def document(folder: Path, content: object, name: str = "rules.json") -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def opened(path: str, **overrides: str) -> Model:
    return load_models(front_end(path)[0], overrides)[0]["triage"]


def outcomes(model: Model) -> list[str]:
    found = [decision(model, tuple(map(Fraction, person))) for person in PEOPLE]
    return [model.outcomes[outcome] for outcome in found if outcome is not None]


def refused(path: str, **overrides: str) -> list[Diagnostic]:
    with pytest.raises(DiagnosticError) as caught:
        opened(path, **overrides)
    return list(caught.value.diagnostics)


INLINE = """\
  first detain when priors > 3
  then release when age >= 22
  then detain when race = "two or more" and age < 20
  otherwise release"""
RULES = {
    "rules": [
        {"if": "priors > 3", "then": "detain"},
        {"if": "age >= 22", "then": "release"},
        {"if": 'race = "two or more" and age < 20', "then": "detain"},
    ],
    "otherwise": "release",
}


def by_definition(race: int, age: int, priors: int) -> str:
    if priors > 3:
        return "detain"
    if age >= 22:
        return "release"
    return "detain" if race == 1 and age < 20 else "release"


def test_inline_and_from_a_document(tmp_path: Path) -> None:
    expected = [by_definition(*person) for person in PEOPLE]
    inline = opened(spec(tmp_path, INLINE))
    assert outcomes(inline) == expected
    assert (inline.sha256, inline.deployed) == (None, None)
    path = document(tmp_path, RULES)
    digest = sha256(path.read_bytes()).hexdigest()
    for clause in (f'from rules "rules.json" sha256 "{digest}"', 'from "rules.json"'):
        found = opened(spec(tmp_path, f"  {clause}"))
        assert outcomes(found) == expected
        assert found.sha256 == digest
        assert found.inputs == inline.inputs


def test_three_outcomes(tmp_path: Path) -> None:
    clauses = "  first high when priors > 3\n  then middle when priors > 1 or age < 19\n  otherwise low"
    expected = ["high" if priors > 3 else "middle" if priors > 1 or age < 19 else "low" for _, age, priors in PEOPLE]
    assert outcomes(opened(spec(tmp_path, clauses, outcomes="low, middle, high"))) == expected


def test_normal_forms(tmp_path: Path) -> None:
    groups = [["age >= 22", 'race = "two or more"'], ["priors > 3"]]
    held = {
        "dnf": [(age >= 22 and race == 1) or priors > 3 for race, age, priors in PEOPLE],
        "cnf": [(age >= 22 or race == 1) and priors > 3 for race, age, priors in PEOPLE],
    }
    for form, truths in held.items():
        document(tmp_path, {form: groups, "then": "release", "otherwise": "detain"})
        model = opened(spec(tmp_path, '  from rules "rules.json"'))
        assert outcomes(model) == ["release" if truth else "detain" for truth in truths]
        assert len(model.inputs) == 1  # as of `release when ...`
        assert isinstance(model.inputs[0], IndicatorInput)


TESTS = st.sampled_from(["priors > 3", "age >= 22", "race = black", "priors = age - 20", "not age = 19", "priors < 2"])


@settings(max_examples=examples(0.35), deadline=None)
@given(st.sampled_from(["dnf", "cnf"]), st.lists(st.lists(TESTS, min_size=1, max_size=3), min_size=1, max_size=3))
def test_a_normal_form_is_the_condition_that_it_spells(
    tmp_path_factory: pytest.TempPathFactory, form: str, groups: list[list[str]]
) -> None:
    folder = tmp_path_factory.mktemp("forms")
    inner, outer = (" and ", " or ") if form == "dnf" else (" or ", " and ")
    condition = outer.join(f"({inner.join(group)})" for group in groups)
    document(folder, {form: groups, "then": "detain", "otherwise": "release"})
    written = opened(spec(folder, f"  detain when {condition}"))
    assert outcomes(opened(spec(folder, '  from rules "rules.json"'))) == outcomes(written)


def test_another_document_in_place_of_the_specs(tmp_path: Path) -> None:
    document(tmp_path, RULES)
    other = document(tmp_path, {"rules": [{"if": "age > 30", "then": "detain"}], "otherwise": "release"}, "other.json")
    path = spec(tmp_path, '  from rules "rules.json"')
    assert set(outcomes(opened(path, triage=str(other)))) == {"release"}
    pinned = spec(tmp_path, f'  from rules "rules.json" sha256 "{"0" * 64}"')
    assert [found.code for found in refused(pinned, triage=str(other))] == ["E0507"]


def test_no_file_replaces_what_is_written_in_the_spec(tmp_path: Path) -> None:
    """An option that is quietly ignored would leave another model under audit."""
    path = str(document(tmp_path, RULES))
    for clauses in (INLINE, "  score = age - 20\n  detain when score > 0", "  detain when age > 20"):
        (found,) = refused(spec(tmp_path, clauses), triage=path)
        assert found.code == "E0550"
        assert found.primary is not None


def test_files_that_do_not_decide_as_the_spec_says(tmp_path: Path) -> None:
    document(tmp_path, {"coefficients": [1, 2, 3]}, "linear.json")
    document(tmp_path, RULES)
    cases = {
        '  from "linear.json"': "E0511",
        '  from "rules.json"\n  detain when score > 0': "E0214",
        '  from "rules.json"\n  decide by highest score': "E0214",
        '  from linear "rules.json"\n  detain when score > 0': "E0510",
        '  from rules "linear.json"': "E0515",
        '  from rules "none.json"': "E0501",
        '  from "none.json"': "E0501",
        '  from "rules.json"\n  reads age, priors': "E0214",
    }
    assert {clauses: [found.code for found in refused(spec(tmp_path, clauses))] for clauses in cases} == {
        clauses: [code] for clauses, code in cases.items()
    }


def test_what_is_wrong_is_shown_in_the_document(tmp_path: Path) -> None:
    content = {
        "rules": [
            {"if": "prior > 3", "then": "detain"},
            {"if": 'race = "two or mor" and age > ', "then": "detainment"},
            {"if": "race = blck", "then": "detained"},
        ],
        "otherwise": "released",
    }
    path = document(tmp_path, content)
    found = refused(spec(tmp_path, '  from rules "rules.json"'))
    places = {(finding.code, finding.primary.span.text) for finding in found if finding.primary}
    assert places == {
        ("E0203", "prior"),
        ("E0115", ">"),
        ("E0204", "blck"),
        ("E0205", "detainment"),
        ("E0205", "detained"),
        ("E0205", "released"),
    }
    assert {finding.primary.span.file.path for finding in found if finding.primary} == {str(path)}
    assert all(finding.fix is None for finding in found)


def test_warnings_of_a_document(tmp_path: Path) -> None:
    late = {
        "rules": [{"if": "priors > 3", "then": "detain"}, {"if": "priors > 4", "then": "release"}],
        "otherwise": "release",
    }
    document(tmp_path, late)
    _, (warning,) = load_models(front_end(spec(tmp_path, '  from rules "rules.json"'))[0], {})
    assert warning.code == "W0810"
    assert warning.primary is not None
    assert warning.primary.span.text == '{"if": "priors > 4", "then": "release"}'


def test_reports_name_the_document_and_its_digest(tmp_path: Path) -> None:
    path = document(tmp_path, RULES)
    report = fairdsl.check(spec(tmp_path, '  from rules "rules.json"'))
    (file,) = report.models
    assert (file.path, file.sha256) == (str(path), sha256(path.read_bytes()).hexdigest())
    (inline,) = fairdsl.check(spec(tmp_path, INLINE)).models
    assert (inline.path, inline.sha256) == (None, None)


def test_rules_have_no_score_and_no_probability(tmp_path: Path) -> None:
    gap = PROPERTY.replace("same decision", "abs(score(a) - score(b)) <= 0.5")
    sure = PROPERTY.replace("  require", "  when     confidence(a) >= 0.9\n  require")
    for more, code in ((gap, "E0551"), (sure, "E0552")):
        report = fairdsl.check(spec(tmp_path, INLINE, more=more))
        refusals = [found.code for demand in report.properties[0].demands for found in demand.refusals]
        assert refusals == [code]


# ---- many rules --------------------------------------------------------------------------------


def many(count: int) -> tuple[Model, list[Point], list[int]]:
    """So many rules over three numbers, and what they decide of some people by definition."""
    random = np.random.default_rng(count)
    rules = []
    for number in range(count):
        first, second = random.choice(3, 2, replace=False).tolist()
        tests = (
            linear({first: 1}, ">", int(random.integers(40, 99))),
            linear({second: 1}, "<=", int(random.integers(60))),
        )
        rules.append((And(tests) if number % 3 else tests[0], int(random.integers(2))))
    source = listed(rules, 1)
    people = [tuple(map(Fraction, row)) for row in random.integers(0, 100, size=(400, 3)).tolist()]
    return model_of(source), people, [decided(source, person) for person in people]


def test_three_hundred_rules_take_three_hundred_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    model, people, expected = many(300)
    parts = [part for item in model.inputs if isinstance(item, IndicatorInput) for part in item.predicate.parts]
    assert len({id(part) for part in parts}) == 600  # each condition and its negation, shared by all leaves
    assert Leaves.of(model).depth == 300
    asked = 0
    mask = leaves_module.mask

    def counted(*arguments: object) -> object:
        nonlocal asked
        asked += 1
        return mask(*arguments)

    monkeypatch.setattr(leaves_module, "mask", counted)
    found, doubtful = BatchEvaluator(model).decisions(np.array(people, dtype=np.float64))
    assert found.tolist() == expected
    assert not doubtful.any()
    assert asked <= 300
    assert [decision(model, person) for person in people[:15]] == expected[:15]
