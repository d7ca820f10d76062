"""Audits of predictions: the numbers are those of the definitions, and the spec says the same."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import fairdsl
from fairdsl.auditing import Audited
from fairdsl.cli.app import cli
from fairdsl.verdict import Value, Verdict
from tests.metrics.test_coined_names import AIF360, FAIRLEARN, RACES, Row, by_race, table

PLAIN = ("parity_gap", "opportunity_gap", "accuracy_gap")


def arrays(rows: list[Row]) -> tuple[list[int], list[int], list[str]]:
    return [truth for _, truth, _ in rows], [said for *_, said in rows], [RACES[race] for race, *_ in rows]


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[pytest.mark.slow] * (seed > 0)) for seed in range(10)])
def test_the_numbers_are_those_of_fairlearn_and_aif360(seed: int) -> None:
    rows = table(seed)
    truth, said, race = arrays(rows)
    names = [*FAIRLEARN, *AIF360]
    audited = fairdsl.audit(truth, said, sensitive_features={"race": race}, privileged="b", metrics=names)
    assert {name: audited.metric(name).exact for name in FAIRLEARN} == {
        name: definition(rows) for name, definition in FAIRLEARN.items()
    }
    assert {name: audited.metric(name, privileged=True).exact for name in AIF360} == {
        name: definition(rows) for name, definition in AIF360.items()
    }
    groups = audited.table("groups")
    found = {
        (rate, group): value
        for rate, group, value in zip(groups["rate"], groups["race"], groups["value"], strict=True)
        if rate != "acceptance_rate"
    }
    for race_, each in zip(RACES, by_race(rows, 1), strict=True):
        assert found["true_positive_rate", race_] == pytest.approx(float(each), abs=1e-15)


@pytest.fixture(scope="module")
def audited() -> Audited:
    """People of two sexes and three places, of whom women in one place are treated worst."""
    drawn = np.random.default_rng(3)
    sex, place = drawn.choice(["f", "m"], 600), drawn.choice(["here", "there", "far"], 600, p=[0.5, 0.46, 0.04])
    worse = (sex == "f") & (place == "there")
    said = drawn.random(600) < np.where(worse, 0.15, 0.6)
    truth = drawn.integers(0, 2, 600)
    return fairdsl.audit(truth, said, sensitive_features={"sex": sex, "place": place}, metrics=PLAIN, timeout=600)


def numbers(verdict: Verdict) -> tuple[object, ...]:
    assert isinstance(verdict, Value)
    return verdict.low, verdict.high, verdict.rates, verdict.sampling, verdict.excluded


def test_the_spec_says_the_same(audited: Audited, tmp_path: Path) -> None:
    audited.write(tmp_path / "same.fair")
    report = fairdsl.check(tmp_path / "same.fair", timeout=600)
    for ours, theirs in zip(audited.report.properties, report.properties, strict=True):
        assert [numbers(demand.verdict) for demand in ours.demands] == [
            numbers(each.verdict) for each in theirs.demands
        ]
    with pytest.raises(fairdsl.SpecError, match="E0671"):
        audited.write(tmp_path / "same.fair")


def test_the_worst_subgroup_is_found_and_not_overstated(audited: Audited) -> None:
    worst = audited.worst[0]
    assert (worst.rate, dict(worst.group)) == ("acceptance_rate", {"sex": "f", "place": "there"})
    # Intervals of three sets of groups at once: each set has a third of what may be missed.
    verdicts = [
        demand.verdict
        for item in audited.report.properties
        if item.name.startswith("subgroups_")
        for demand in item.demands
        if demand.metric == "parity_gap"
    ]
    values = [verdict for verdict in verdicts if isinstance(verdict, Value)]
    assert len(values) == 3
    assert all(1 - (value.confidence or 0) <= Fraction(5, 300) for value in values)
    others = [rate for rate in values[-1].rates if rate.group != worst.group]
    assert worst.behind == max(rate.sampling.low for rate in others if rate.sampling) - (worst.interval.high or 0)
    assert worst.behind > Fraction(1, 10)


def test_small_groups_are_pointed_out(audited: Audited) -> None:
    assert any(line.startswith("place = far: ") for line in audited.small)
    page = str(audited)
    assert "few rows: their rates say little of anybody else" in page
    assert "sex = f and place = there" in page
    assert "<pre>" in audited._repr_html_()


def test_a_document_is_read_back(audited: Audited) -> None:
    assert Audited.from_json(audited.to_json()) == audited


def test_scores_decide_and_are_held_against_what_became_of_people() -> None:
    drawn = np.random.default_rng(1)
    scores, group = np.round(drawn.random(80), 2), drawn.choice(["a", "b"], 80)
    truth = drawn.random(80) < scores
    found = fairdsl.audit(truth, sensitive_features=group, scores=scores, threshold=0.5, metrics=["parity_gap"], bins=2)
    rates = [float(np.mean(scores[group == each] >= 0.5)) for each in "ab"]
    assert float(found.metric("parity_gap").exact or 0) == pytest.approx(abs(rates[0] - rates[1]))
    calibrated = found.report.properties[-1]
    assert calibrated.name == "calibration_by_group"
    verdict = calibrated.demands[0].verdict
    assert isinstance(verdict, Value)
    for rate in verdict.rates:
        low = str(rate.given["scores"]).startswith(">= 0 ")
        inside = [group == rate.group["group"], (scores < sorted(scores)[40]) == low]
        assert float(rate.low) == pytest.approx(np.mean(truth[np.logical_and(*inside)]))


def test_without_labels_only_decisions_are_compared() -> None:
    found = fairdsl.audit(None, [1, 0, 1, 1], sensitive_features=np.array(["a", "a", "b", "b"]))
    assert {demand.metric for item in found.report.properties for demand in item.demands} == {
        *("acceptance_rate", "parity_gap", "impact_ratio", "most_favoured", "least_favoured"),
    }
    assert found.metric("demographic_parity_difference").exact == Fraction(1, 2)
    with pytest.raises(KeyError, match="the audit has no number `accuracy_gap`"):
        found.metric("accuracy_gap")


TWO: dict[str, Any] = {"y_true": [1, 0], "y_pred": [1, 0], "sensitive_features": ["a", "b"]}
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "lengths": ({"y_pred": [1]}, "E0681: the arrays have different lengths"),
    "no rows": ({"y_true": [], "y_pred": [], "sensitive_features": []}, "there are no rows"),
    "scores for decisions": (
        {"y_true": None, "y_pred": [n / 40 for n in range(40)], "sensitive_features": ["a", "b"] * 20},
        "which look like scores",
    ),
    "which is good": ({"y_pred": ["no", "maybe"]}, "write `positive='no'`"),
    "nobody has it": ({"positive": "granted"}, "no row of `y_pred` has the value `granted`"),
    "nobody protected": ({"sensitive_features": None}, "nobody is protected"),
    "a text": ({"sensitive_features": "ab"}, "E0680: `sensitive_features` cannot be read as a table"),
    "a number": ({"y_true": 3}, "E0680: `y_true` cannot be read"),
    "gaps": ({"y_true": [1, None]}, "1 of 2 rows have none"),
    "no decisions": ({"y_pred": None}, "give `y_pred`, or `scores` with the `threshold`"),
    "a metric": ({"metrics": ["oportunity_gap"]}, "did you mean `opportunity_gap`"),
    "a privileged column": ({"sensitive_features": {"sex": ["a", "b"]}, "privileged": {"sexx": "a"}}, "mean `sex`"),
    "a privileged value": ({"privileged": "c"}, "no row of `group` has the privileged value `c`"),
    "a confidence": ({"confidence": 95}, "E0661"),
    "a matrix": ({"y_pred": np.zeros((2, 2))}, "its shape is 2 x 2"),
    "columns of two lengths": ({"sensitive_features": {"a": [1, 2], "b": [1]}}, "`a` has 2, `b` has 1"),
}


@pytest.mark.parametrize(("given", "said"), WRONG.values(), ids=WRONG)
def test_what_is_unclear_is_said(given: dict[str, Any], said: str) -> None:
    with pytest.raises(fairdsl.SpecError) as problem:
        fairdsl.audit(**(TWO | given))
    assert said in str(problem.value)


def test_values_that_libraries_write_for_yes_and_no() -> None:
    for good, bad in ((1, -1), (True, False), ("yes", "no"), (1.0, 0.0)):
        found = fairdsl.audit(
            [True, True, False], [good, bad, bad], sensitive_features=["a", "a", "b"], metrics=["parity_gap"]
        )
        assert found.metric("parity_gap").exact == Fraction(1, 2)
    turned = fairdsl.audit(
        None, ["bad", "good", "bad"], sensitive_features=[1, 1, 2], positive="bad", metrics=["parity_gap"]
    )
    assert turned.metric("parity_gap").exact == Fraction(1, 2)


@pytest.mark.parametrize(("good", "bad"), [(2, 1), ("yes", "no"), ("paid", "left")])
def test_a_named_value_that_no_row_of_one_column_has_is_still_the_good_one(good: object, bad: object) -> None:
    both, none = [good, bad, good, bad], [bad] * 4
    for happened, decided, rate in ((both, none, 0), (none, both, Fraction(1, 2))):
        found = fairdsl.audit(happened, decided, sensitive_features=["a", "a", "b", "b"], positive=good)
        (groups,) = (
            demand.groups for demand in found.report.properties[0].demands if demand.metric == "acceptance_rate"
        )
        assert groups is not None
        assert [each.number.low for each in groups.rates] == [rate, rate]
        assert found.metric("least_accuracy").exact == Fraction(1, 2)


#: Columns by what their headers say of 1, each with one of every four people.
SAID = {
    "sex": ["f", "f", "m", "m"] * 3,
    "default": [0, 1, 0, 1] * 3,
    "default_pred": [0, 1, 1, 1] * 3,
    "granted": [1, 0, 0, 1] * 3,
    "model a": [1, 1, 0, 1] * 3,
    "word": ["good", "bad", "good", "good"] * 3,
    "score": [0.1, 0.2, 0.3, 0.9] * 3,
}
BAD = "(the header names a bad outcome; otherwise `positive='1'`)"
SO = "(as 1, true and yes are; otherwise `positive='0'`)"
BAD_LABEL, SO_LABEL = (text.replace("positive", "positive_label") for text in (BAD, SO))


@pytest.mark.parametrize(
    ("given", "favourable", "deserving"),
    [
        ({"prediction": "default"}, f"`default` = 0 {BAD}", None),
        ({"prediction": "default", "positive": 1}, "`default` = 1", None),
        ({"prediction": "model a"}, f"`model a` = 1 {SO}", None),
        ({"prediction": "word"}, "`word` = good (as the word says; otherwise `positive='bad'`)", None),
        ({"prediction": "granted", "label": "default"}, f"`granted` = 1 {SO}", f"`default` = 0 {BAD_LABEL}"),
        (
            {"prediction": "default_pred", "label": "default"},
            f"`default_pred` = 0 {BAD}",
            f"`default` = 0 {BAD_LABEL}",
        ),
        ({"prediction": "word", "label": "granted", "positive": "good"}, "`word` = good", f"`granted` = 1 {SO_LABEL}"),
        (
            {"prediction": "word", "label": "model a", "positive": "good", "positive_label": 0},
            "`word` = good",
            "`model a` = 0",
        ),
        (
            {"scores": "score", "threshold": 0.25, "label": "default", "positive_label": 0},
            "`score` >= 0.25",
            "`default` = 0",
        ),
    ],
)
def test_what_counts_as_favourable_is_said(given: dict[str, Any], favourable: str, deserving: str | None) -> None:
    found = fairdsl.audit_table(SAID, protected="sex", metrics="impact_ratio", **given)
    assert (found.favourable, found.deserving) == (favourable, deserving)
    assert str(found).splitlines()[1] == f"favourable: {favourable}"
    header, _, value = favourable.removeprefix("`").partition("` = ")
    if value:
        cells = [str(cell) == value.split()[0] for cell in SAID[header]]
        rates = [sum(cells[row] for row in range(12) if SAID["sex"][row] == sex) / 6 for sex in "fm"]
        assert float(found.metric("impact_ratio").exact or 0) == pytest.approx(min(rates) / max(rates))


def test_arrays_have_the_names_of_their_series() -> None:
    frames = pytest.importorskip("pandas")
    label = frames.Series(SAID["default"], name="default")
    found = fairdsl.audit(label, SAID["model a"], sensitive_features=SAID["sex"], metrics="parity_gap")
    assert found.deserving == f"`default` = 0 {BAD_LABEL}"
    why = "it is about `default`, which names a bad outcome"
    assert found.favourable == f"`prediction` = 0 ({why}; otherwise `positive='1'`)"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"prediction": "model a", "label": "default"}, "does `1` of `model a` mean the good outcome, or `default`?"),
        ({"scores": "score", "threshold": 0.5, "label": "default"}, "is a high `score` good, or does it speak for"),
        ({"prediction": "word", "label": "granted", "positive": "god"}, "no row of `word` has the value `god`"),
        ({"prediction": "word", "positive": "x", "label": "granted", "positive_label": 1}, "has the value `x`"),
        ({"label": "granted"}, "name their column, `prediction=`"),
    ],
)
def test_what_could_count_either_way_is_asked(given: dict[str, Any], said: str) -> None:
    with pytest.raises(fairdsl.SpecError) as problem:
        fairdsl.audit_table(SAID, protected="sex", **given)
    assert said in str(problem.value)


def test_the_page_begins_with_what_it_comes_to() -> None:
    said = [1] * 9 + [0] + [1] * 5 + [0] * 5
    found = fairdsl.audit(said, said, sensitive_features={"sex": ["f"] * 10 + ["m"] * 10})
    page = str(found)
    assert page.splitlines()[3] == (
        "by sex: m 50% against f 90%; the ratio 0.5556 is below four fifths, in the population it may not be"
    )
    assert found.shown == ("parity_gap", "impact_ratio", "odds_gap", "accuracy_gap")
    assert "precision ratio" not in page
    assert found.metric("precision_ratio").exact == 1
    assert f'{len(found.report.properties[0].demands) - 4} more numbers of each: `metrics="all"`' in page
    whole = str(fairdsl.audit(said, said, sensitive_features={"sex": ["f"] * 10 + ["m"] * 10}, metrics="all"))
    assert "precision ratio" in whole
    assert "more numbers" not in whole
    sure = fairdsl.audit(None, said * 100, sensitive_features=(["f"] * 10 + ["m"] * 10) * 100)
    assert "below four fifths, in the population as well" in str(sure)


def test_columns_are_called_as_they_like() -> None:
    words = ["class", "score", "model", "label", "prediction", "rows", "a column"]
    features = {word: ["a", "b", "a", "b"] for word in words}
    found = fairdsl.audit_table(
        features | {"groups": [1, 0, 1, 1]}, protected=words, prediction="groups", metrics=["parity_gap"]
    )
    assert len(found.report.properties) == 7 + 7 * 6 // 2 + 7 + 21
    assert found.metric("parity_gap", "class_").exact == Fraction(1, 2)


def test_cells_that_differ_in_blanks_are_one_group_and_said_to_be() -> None:
    found = fairdsl.audit(
        [" 1", "1", "0", "0"], [" yes", "yes", "no", "no"], sensitive_features={"sex": ["f ", " f", "m", "m"]}
    )
    assert found.merged == ("sex = f: written ` f`, `f `", "prediction = yes: written ` yes`, `yes`")
    assert "counted as one value" in str(found)
    assert found.table("groups")["sex"][:2] == ["f", "m"]
    plain = fairdsl.audit(None, ["yes", "no"], sensitive_features={"sex": [" f", " m"]}, privileged=" m")
    assert not plain.merged
    assert "counted as one value" not in str(plain)


def test_the_command_audits_a_file_and_writes_its_spec(tmp_path: Path) -> None:
    rows = table(5)
    text = "race,truth,said\n" + "".join(f"{RACES[race]},{truth},{said}\n" for race, truth, said in rows)
    (tmp_path / "rows.csv").write_text(text, encoding="utf-8")
    options = ["--label", "truth", "--prediction", "said", "--metrics", "parity_gap", "--privileged", "race=b"]
    arguments = ["audit", str(tmp_path / "rows.csv"), "--protected", "race", *options]
    run = CliRunner().invoke(cli, [*arguments, "--spec", str(tmp_path / "sub.fair"), "--json"])
    assert run.exit_code == 0, run.output
    assert json.loads(run.output)["schema"] == "fairdsl.audited/1"
    report = fairdsl.check(tmp_path / "sub.fair")
    assert report.properties[0].demands[0].value.exact == FAIRLEARN["demographic_parity_difference"](rows)  # type: ignore[union-attr]
    said = CliRunner().invoke(cli, [*arguments[:3], "rase", *options])
    assert said.exit_code == 2
    assert "did you mean `race`" in said.output
    ended = CliRunner().invoke(cli, [*arguments[:4], "--label", "truth"])
    assert "name their column, `--prediction COLUMN`" in " ".join(ended.output.split())
    named = CliRunner().invoke(cli, [*arguments, "--positive-label", "0"])
    assert named.output.splitlines()[1:3] == [
        "favourable: `said` = 1 (as 1, true and yes are; otherwise `--positive 0`)",
        "deserving: `truth` = 0",
    ]
    groups = ("b", "race=b")
    alone, of_column = (CliRunner().invoke(cli, [*arguments[:-4], "--privileged", group]).output for group in groups)
    assert "privileged race = b" in alone
    assert alone == of_column
    assert "--metrics all" in CliRunner().invoke(cli, [*arguments[:4], "--prediction", "said"]).output
    assert "is not a number" in CliRunner().invoke(cli, [*arguments, "--threshold", "half"]).output
