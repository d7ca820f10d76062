"""Repair of rates of groups: weights and thresholds by definition, the files, and the command."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import fairdsl
from fairdsl.backends.contract import Budget
from fairdsl.cli.app import cli
from fairdsl.models.onnx_written.thresholds import GroupKey
from fairdsl.repairing import RepairedRates
from fairdsl.repairing.estimators import factory_of, fitted
from fairdsl.repairing.parts import Part
from fairdsl.repairing.rates import rate_subject_of
from fairdsl.repairing.rates.choice import ScoredRows, best_thresholds
from fairdsl.repairing.rates.subject import Asked, RateSubject
from fairdsl.repairing.rates.weights import weighed
from fairdsl.repairing.result import Ending
from fairdsl.repairing.subject import Rows
from fairdsl.report.words import number
from fairdsl.semantics import front_end
from tests.repairing.learners import SPEC, Linear, export, linear, people, write_case

#: Estimators of this module are written by the ``export`` beside them.
assert callable(export)

PAIRS = SPEC[SPEC.index("property") :]
RATES = """\
distribution cohort over Applicant, repaid
  empirical from "people.csv"
property four_fifths {
  across sex
  under cohort
  require impact_ratio >= 80%
}
"""
BY_RATES = SPEC.replace(PAIRS, RATES).replace("sex  : boolean", "sex  : category { f, m }")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_case(tmp_path, people(600), BY_RATES)
    return tmp_path


def subject() -> RateSubject:
    spec, _ = front_end("spec.fair")
    return rate_subject_of(spec, spec.properties[-1], "people.csv")


@pytest.fixture(scope="module")
def everybody(tmp_path_factory: pytest.TempPathFactory) -> tuple[Asked, Rows]:
    """The demand about the rows of the table, by some model, and the rows."""
    place = tmp_path_factory.mktemp("everybody")
    write_case(place, people(600), BY_RATES)
    spec, _ = front_end(str(place / "spec.fair"))
    about = rate_subject_of(spec, spec.properties[-1], str(place / "people.csv"))
    file = place / "any.json"
    file.write_text(json.dumps({"coefficients": [0, 1, -1], "intercept": 0}), encoding="utf-8")
    return about.asked(about.load(str(file)))[0], about.rows(str(place / "people.csv"))[0]


def some(everybody: tuple[Asked, Rows], places: list[int]) -> tuple[Asked, Rows]:
    """The demand about these rows."""
    demand, rows = everybody
    part = Part(rows.at(np.array(places, dtype=np.int64)), np.array(places, dtype=np.int64))
    return demand.of(part), part.rows


@settings(max_examples=20)
@given(st.lists(st.integers(0, 599), min_size=1, max_size=60, unique=True))
def test_by_their_weights_groups_and_outcomes_are_independent(everybody: tuple[Asked, Rows], places: list[int]) -> None:
    demand, rows = some(everybody, places)
    found = weighed(demand, rows.outcomes)
    group, right = rows.values.floats[:, 0], rows.outcomes
    for g, y in product((0, 1), (0, 1)):
        inside = (group == g) & (right == y)
        wanted = (group == g).sum() * (right == y).sum() / len(rows) if inside.any() else 0.0
        assert found.each[inside].sum() == pytest.approx(wanted)
    assert {(dict(each.group)["sex"], each.outcome) for each in found.weights} == {
        (("f", "m")[int(g)], ("reject", "grant")[int(y)]) for g, y in zip(group, right, strict=True)
    }


class Weighing(Linear):
    """Least squares with weights, which it keeps."""

    given: Any = None

    def fit(self, features: Any, classes: Any, sample_weight: Any = None) -> None:
        type(self).given = sample_weight
        root = np.sqrt(np.ones(len(features)) if sample_weight is None else sample_weight)[:, None]
        inputs = np.column_stack([features.astype(np.float64), np.ones(len(features))])
        found, *_ = np.linalg.lstsq(inputs * root, (2.0 * classes - 1.0) * root[:, 0], rcond=None)
        self.weights = np.round(found, 6)


class Counting(Linear):
    """Takes no weights, and counts the rows that it learns."""

    seen: Any = None

    def fit(self, features: Any, classes: Any) -> None:
        type(self).seen = features
        super().fit(features, classes)


def test_weights_reach_the_estimator_or_draw_its_rows() -> None:
    about = subject()
    rows, _ = about.rows("people.csv")
    weights = np.where(rows.values.floats[:, 0] == 1, 2.0, 0.0)
    fitted(factory_of(Weighing), about, rows, 0, weights)
    assert np.array_equal(Weighing.given, weights)
    fitted(factory_of(Counting), about, rows, 0, weights)
    assert len(Counting.seen) == len(rows)
    assert (Counting.seen[:, 0] == 1).all()


@settings(max_examples=12)
@given(st.integers(0, 10**6), st.integers(0, 12))
def test_no_thresholds_are_better_than_those_that_are_found(
    everybody: tuple[Asked, Rows], seed: int, lost: int
) -> None:
    """Against all thresholds, for the rule by its definition: the ratio of the shares that are favoured."""
    drawn = np.random.default_rng(seed)
    places = drawn.choice(600, 24, replace=False).tolist()
    demand, rows = some(everybody, places)
    group, right = rows.values.floats[:, 0].astype(np.int64), rows.outcomes == 1
    if len(set(group.tolist())) < 2:
        return
    scores = drawn.integers(-2, 3, 24).astype(np.float32)

    def cost(limits: tuple[float, float]) -> tuple[bool, Fraction, int]:
        favoured = scores > np.array(limits)[group]
        rates = [Fraction(int(favoured[group == g].sum()), int((group == g).sum())) for g in (0, 1)]
        ratio = min(rates) / max(rates) if max(rates) else Fraction(-(10**8))
        short = max(Fraction(0), Fraction(4, 5) - ratio)
        return short > 0, short, -int((favoured == right).sum())

    at_first = -cost((0.0, 0.0))[2]
    # Between the scores of each group, or where it was.
    tried = [[0.0, *((each[1:] + each[:-1]) / 2)] for each in (np.unique(scores[group == g]) for g in (0, 1))]
    by_hand = [cost(limits) for limits in product(*tried) if -cost(limits)[2] >= at_first - lost]
    found = best_thresholds(
        ScoredRows(scores=scores, groups=group, right=right), 2, 0.0, [demand], at_first - lost, Budget.of(30)
    )
    assert cost((float(found[0]), float(found[1]))) == min(by_hand)


def test_groups_follow_each_other_along_a_number() -> None:
    key = GroupKey(np.array([2, 0, 1], dtype=np.float32), np.array([0, 1, 2, 3], dtype=np.float32))
    people_ = np.array([[0, 9, 0], [0, 9, 1], [1, 9, 0], [1, 9, 1]], dtype=np.float32)
    assert key.groups(people_).tolist() == [0, 1, 2, 3]


def repaired(**options: Any) -> RepairedRates:
    given = {"train": "people.csv", "estimator": linear, "output": "out", "max_accuracy_loss": 0.5, **options}
    found = fairdsl.repair("spec.fair", **given)
    assert isinstance(found, RepairedRates)
    return found


def test_a_recipe_that_cannot_be_is_told_and_the_others_go_on() -> None:
    found = repaired(estimator=Weighing)
    assert [each.recipe for each in found.candidates] == ["", "reweighing", "thresholds"]
    assert found.candidates[2].detail == "the model's file is not an ONNX file"
    assert found.best is found.candidates[1]
    assert len(found.best.weights) == 4
    # What is measured on new rows is what counting comes to there.
    about = subject()
    rows, _ = about.rows("people.csv")
    part = rows.at(np.random.default_rng(0).permutation(600)[120:240])
    Path("part.csv").write_text(
        "sex,age,debt,paid back\n"
        + "".join(
            f"{','.join(str(int(v)) for v in row)},{y}\n"
            for row, y in zip(part.values.floats, part.outcomes, strict=True)
        ),
        encoding="utf-8",
    )
    report = fairdsl.check("spec.fair", models={"approve": "out/approve.json"}, data={"cohort": "part.csv"})
    exactly = report.properties[0].demands[0].value
    (number,) = found.after
    assert number.value is not None
    assert exactly is not None
    assert None not in (number.value.low, number.value.high, exactly.exact)
    assert number.value.low < exactly.exact < number.value.high  # type: ignore[operator]


def test_a_document_says_it_all_again() -> None:
    found = repaired(recipe="reweighing", estimator=Weighing)
    assert RepairedRates.from_json(found.to_json()) == found
    assert Path("out/report.json").read_text(encoding="utf-8") == found.to_json()


def test_one_property_about_rates_is_meant_and_of_several_one_is_asked_for(folder: Path) -> None:
    (folder / "spec.fair").write_text(
        BY_RATES + RATES[RATES.index("property") :].replace("four", "five"), encoding="utf-8"
    )
    with pytest.raises(fairdsl.SpecError) as caught:
        repaired()
    assert caught.value.diagnostics[0].code == "E0633"
    assert "`four_fifths`, `five_fifths`" in str(caught.value)
    assert repaired(property="five_fifths", recipe="reweighing").property_name == "five_fifths"


def test_recipes_are_those_of_the_question() -> None:
    with pytest.raises(fairdsl.SpecError) as caught:
        repaired(recipe="flipped-copies")
    assert caught.value.diagnostics[0].code == "E0604"


def test_options_of_repairs_of_pairs_are_not_passed_over() -> None:
    assert not repaired(recipe="reweighing", estimator=Weighing).diagnostics
    (said,) = repaired(recipe="reweighing", estimator=Weighing, output="again", rounds=9, within=0.01).diagnostics
    assert (said.code, said.notes) == (
        "W0815",
        ("set is `--rounds`, `--within`; the run repairs rates of groups, each recipe once",),
    )


@pytest.mark.parametrize(("effort", "ending"), [(1_000, Ending.EFFORT), (1_000_000, Ending.ROUNDS)])
def test_a_repair_by_effort_reports_whatever_is_left_of_it(effort: int, ending: Ending) -> None:
    """The recipes may spend all of it; the rows that are left to report on are measured all the same."""
    found = repaired(estimator=Weighing, effort=effort)
    assert found.ending is ending
    assert [each.value is not None for each in (*found.before, *found.after)] == [True, True]


def test_a_demand_about_another_model_is_refused(folder: Path) -> None:
    other = SPEC[SPEC.index("model approve") : SPEC.index("property")].replace("approve", "other")
    both = "require impact_ratio of approve >= 80%\n  measure impact_ratio of other"
    spec = BY_RATES.replace("distribution", other + "distribution").replace("require impact_ratio >= 80%", both)
    (folder / "spec.fair").write_text(spec, encoding="utf-8")
    with pytest.raises(fairdsl.SpecError) as caught:
        repaired()
    assert caught.value.diagnostics[0].code == "E0592"


def test_what_the_command_prints() -> None:
    fixed = ["--train", "people.csv", "--estimator", "tests.repairing.learners:linear", "-o", "out"]
    result = CliRunner().invoke(cli, ["repair", "spec.fair", *fixed, "--max-accuracy-loss", "50%"])
    lines = result.stdout.splitlines()
    assert lines[3] == "    asked      1  require impact_ratio >= 80%"
    assert lines[5].split() == ["recipe", "1", "accuracy"]
    assert lines[6].endswith("the first")
    assert lines[8] == "    thresholds    failed: the model's file is not an ONNX file"
    assert result.exit_code == (0 if lines[7].endswith("better") else 3)
    assert Path("out/report.txt").read_text(encoding="utf-8").splitlines() == lines[:-1]


def test_numbers_of_the_new_file_are_written_as_check_writes_them(folder: Path) -> None:
    spec = BY_RATES.replace("require impact_ratio >= 80%", "require impact_ratio >= 80%\n  measure parity_gap")
    (folder / "spec.fair").write_text(spec, encoding="utf-8")
    found = repaired(recipe="reweighing", estimator=Weighing)
    assert found.report is not None
    ratio, gap = (demand.value for demand in found.report.properties[-1].demands)
    assert ratio is not None
    assert gap is not None
    assert f"require impact_ratio >= 80%   {number(ratio, percent=True)}\n" in str(found)
    assert str(found).endswith(f"measure parity_gap   {number(gap, percent=False)}")


def test_rows_in_memory_are_rows_of_a_file() -> None:
    rows = people(600)
    columns = dict(zip(("sex", "age", "debt", "paid back"), rows.T.tolist(), strict=True))
    one, other = (
        repaired(train=train, recipe="reweighing", estimator=Weighing, output=output)
        for train, output in (("people.csv", "one"), (columns, "other"))
    )
    assert one.candidates == other.candidates
    with pytest.raises(fairdsl.SpecError, match="E0680"):
        repaired(train=3)


@pytest.mark.parametrize("function", [fairdsl.lint, fairdsl.explain, fairdsl.plans, fairdsl.search])
def test_what_is_no_path_is_said(function: Any) -> None:
    with pytest.raises(fairdsl.SpecError, match="E0682"):
        function({"a": "table"})
