"""Boosters in the libraries' own files: labels and probabilities that the libraries gave, and what is refused.

The files are held against what was recorded about a hundred applicants, every day; with the libraries at hand they are
trained again and held against 10,000.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdsl.diagnostics import DiagnosticError, Reporter
from fairdsl.ir.declaration import Highest, WhenClass, WhenProbability, WhenScore
from fairdsl.ir.domain import Attribute, Category, CategoryValue, Domain, Integer, Real
from fairdsl.ir.expr import TRUE, Relation
from fairdsl.ir.model import Model
from fairdsl.models.boosters import library_of
from fairdsl.models.boosters.forest import UnreadBoosterError, of_nearest_float32
from fairdsl.models.boosters.ubj import decode_ubj
from fairdsl.models.boosters.xgboost import read_xgboost
from fairdsl.models.load import load_model
from fairdsl.numerics.evaluate import BatchEvaluator
from tests.models.model_files import SPAN, declaration

FILES = Path(__file__).parent / "booster_files"
ANSWERS = json.loads((FILES / "answers.json").read_text())
#: In another order than that of training, with codes that are not positions there.
JOBS = {"teacher": 3, "baker": 0, "clerk": 8, "self-employed": 1, "nurse": 5}
ATTRIBUTES = (
    Attribute(name="income", type=Real(low=Fraction(0), high=Fraction(250))),
    Attribute(
        name="job", type=Category(values=tuple(CategoryValue(name=name, code=code) for name, code in JOBS.items()))
    ),
    Attribute(name="age", type=Integer(low=18, high=80)),
    Attribute(name="sex", type=Integer(low=0, high=1)),
)
PEOPLE = Domain(name="People", attributes=ATTRIBUTES, where=TRUE)
ROWS = np.array([[income, JOBS[job], age, sex] for job, sex, age, income in ANSWERS["rows"]], dtype=np.float64)


def load(path: Path, clause: Any, outcomes: tuple[str, ...] = ("reject", "grant"), **settings: Any) -> Model:
    return load_model(declaration(str(path), clause, outcomes=outcomes, **settings), PEOPLE)


def hold(path: Path, answers: dict[str, Any], rows: np.ndarray[Any, Any]) -> None:
    """All labels, and probabilities within what float32 rounds."""
    shares = np.array(answers["probabilities"])
    grades = shares.shape[1] == 3
    clause = Highest(span=SPAN) if grades else WhenClass.of(1, 1, SPAN)
    model = load(path, clause, ("low", "middle", "high") if grades else ("reject", "grant"))
    assert model.opaque is None
    settled = BatchEvaluator(model).settled(rows)
    assert settled.decisions.tolist() == answers["labels"]
    assert len(set(answers["labels"])) == shares.shape[1]
    scores = settled.scores
    mine = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True) if grades else 1 / (1 + np.exp(-scores))
    assert np.allclose(mine, shares if grades else shares[:, 1:], atol=2e-7)


@pytest.mark.parametrize("name", [name for name in ANSWERS if name != "rows"])
def test_every_file_gives_what_its_library_gave(name: str) -> None:
    hold(FILES / name, ANSWERS[name], ROWS)


@pytest.mark.slow
def test_every_booster_decides_about_ten_thousand_as_its_library(tmp_path: Path) -> None:
    for library in ("pandas", "xgboost", "lightgbm", "catboost"):
        pytest.importorskip(library)
    from tests.models.booster_files.make_files import applicants, trained

    asked = applicants(10_000, 5)
    rows = np.array(
        [[income, JOBS[job], age, sex] for job, sex, age, income in asked.itertuples(index=False)], dtype=np.float64
    )
    names = set()
    for name, answers in trained(tmp_path, asked):
        hold(tmp_path / name, answers, rows)
        names.add(name)
    assert names == ANSWERS.keys() - {"rows"}


@given(
    relation=st.sampled_from([Relation.LT, Relation.GT]),
    threshold=st.floats(-(2.0**126), 2.0**126, width=32).map(np.float32),
    steps=st.integers(-3, 3),
    further=st.integers(-2, 2),
    half=st.booleans(),
)
def test_the_library_rounds_what_it_is_given(
    relation: Relation, threshold: np.float32, steps: int, further: int, half: bool
) -> None:
    """Numbers around the threshold and around the middles between float32 numbers, against rounding them."""
    bits = np.float32(threshold)
    for _ in range(abs(steps)):
        bits = np.nextafter(bits, np.float32(np.copysign(np.inf, steps)))
    number = float(bits)
    if half:
        number = (number + float(np.nextafter(bits, np.float32(np.inf)))) / 2
    for _ in range(abs(further)):
        number = float(np.nextafter(number, np.copysign(np.inf, further)))
    test, border = of_nearest_float32(relation, threshold)
    rounded = Fraction(float(np.float32(number)))
    assert test.compares(Fraction(number), Fraction(border)) == relation.compares(rounded, Fraction(float(threshold)))


def test_whoever_is_on_a_threshold_goes_where_the_library_sends_him() -> None:
    """46.7 is 46.70000076 to XGBoost: a decimal that a threshold was made of is not below it."""
    document = json.loads((FILES / "xgboost.json").read_text())
    feature = document["learner"]["feature_names"].index("income")
    borders = {
        np.float32(number)
        for tree in document["learner"]["gradient_booster"]["model"]["trees"]
        for left, split, number in zip(
            tree["left_children"], tree["split_indices"], tree["split_conditions"], strict=True
        )
        if left >= 0 and split == feature
    }
    written = np.array([[float(str(border)), 3, 40, 1] for border in borders])
    rounded = np.array([[float(border), 3, 40, 1] for border in borders])
    assert (written != rounded).any()
    model = load(FILES / "xgboost.json", WhenClass.of(1, 1, SPAN))
    scores = [BatchEvaluator(model).settled(rows).scores for rows in (written, rounded)]
    assert np.array_equal(*scores)


@pytest.mark.parametrize("name", ["xgboost.json", "lightgbm_forest.txt", "catboost_categories.json"])
def test_probabilities_and_scores_are_compared(name: str) -> None:
    shares = np.array(ANSWERS[name]["probabilities"])[:, 1]
    limit = Fraction(float(np.median(shares))) + Fraction(1, 10**6)
    by_share = load(FILES / name, WhenProbability(outcome=1, relation=Relation.GT, threshold=limit, span=SPAN))
    decided = BatchEvaluator(by_share).settled(ROWS).decisions
    assert decided.tolist() == (shares > float(limit)).astype(int).tolist()
    by_score = load(FILES / name, WhenScore(outcome=1, relation=Relation.GT, threshold=Fraction(-1), span=SPAN))
    decided = BatchEvaluator(by_score).settled(ROWS).decisions
    assert decided.tolist() == (np.log(shares / (1 - shares)) > -1).astype(int).tolist()


def test_a_library_is_known_by_its_file(tmp_path: Path) -> None:
    libraries = {path.name: library_of(str(path)) for path in FILES.iterdir() if path.name in ANSWERS}
    assert libraries == {name: name.partition(".")[0].partition("_")[0] for name in libraries}
    (tmp_path / "linear.json").write_text('{"coefficients": [1, 2, 3, 4]}')
    assert library_of(str(tmp_path / "linear.json")) is None
    renamed = tmp_path / "model"
    renamed.write_bytes((FILES / "lightgbm_dart.txt").read_bytes())
    assert load(renamed, WhenClass.of(1, 1, SPAN), format="lightgbm").inputs


def changed(name: str, folder: Path, change: Callable[[str], str]) -> Path:
    path = folder / name
    path.write_text(change((FILES / name).read_text()))
    return path


REFUSED: dict[str, tuple[str, Callable[[str], str], str]] = {
    "an objective through exp": ("lightgbm_dart.txt", lambda t: t.replace("binary sigmoid:1", "poisson"), "`poisson`"),
    "linear leaves": ("lightgbm_dart.txt", lambda t: t.replace("is_linear=0", "is_linear=1"), "linear_tree"),
    "zeros that are missing": (
        "lightgbm_dart.txt",
        lambda t: t.replace("decision_type=2", "decision_type=6", 1),
        "zero_as_missing",
    ),
    "a text that is cut off": (
        "lightgbm_dart.txt",
        lambda t: t[: t.index("end of trees")],
        "`end of trees` is missing",
    ),
    "an objective of XGBoost": (
        "xgboost.json",
        lambda t: t.replace("binary:logistic", "count:poisson"),
        "count:poisson",
    ),
    "early stopping": (
        "xgboost.json",
        lambda t: json.dumps(
            (d := json.loads(t)) | {"learner": d["learner"] | {"attributes": {"best_iteration": "2"}}}
        ),
        "booster[:3]",
    ),
    "a tree that is a circle": (
        "xgboost.json",
        lambda t: t.replace('"left_children":[1', '"left_children":[0', 1),
        "not a tree",
    ),
    "a document without trees": (
        "xgboost.json",
        lambda t: json.dumps({"learner": {"objective": json.loads(t)["learner"]["objective"]}}),
        "not a whole model",
    ),
    "statistics of categories": (
        "catboost_categories.json",
        lambda t: json.dumps(json.loads(t) | {"ctr_data": {"a": []}}),
        "one_hot_max_size",
    ),
    "too few leaves": (
        "catboost_grades.json",
        lambda t: json.dumps(
            (d := json.loads(t)) | {"oblivious_trees": [d["oblivious_trees"][0] | {"leaf_values": [1]}]}
        ),
        "numbers in its leaves",
    ),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_is_not_read_is_refused_with_its_reason(why: str, tmp_path: Path) -> None:
    name, change, reason = REFUSED[why]
    with pytest.raises(DiagnosticError) as caught:
        load(changed(name, tmp_path, change), WhenClass.of(1, 1, SPAN))
    (finding,) = caught.value.diagnostics
    assert finding.code == "E0520"
    assert finding.primary is not None
    assert reason in finding.primary.text


@pytest.mark.parametrize("counted", ["by the file", "by parallel trees"])
def test_rounds_of_parallel_trees_are_counted(counted: str) -> None:
    """Two trees a class and round: all of three rounds are read, and two of three are refused."""
    document = json.loads((FILES / "xgboost_forests.json").read_text())
    learner = document["learner"]
    if counted == "by parallel trees":  # as versions before 2.0 wrote it
        del learner["gradient_booster"]["model"]["iteration_indptr"]
    assert learner["attributes"]["best_iteration"] == "2"
    assert len(read_xgboost(document).trees) == 18
    learner["attributes"]["best_iteration"] = "1"
    with pytest.raises(UnreadBoosterError, match="takes 2 of its 3 rounds"):
        read_xgboost(document)


def based(objective: str, base: str, version: list[int]) -> dict[str, Any]:
    """A booster of XGBoost with another base score."""
    document: dict[str, Any] = json.loads((FILES / "xgboost.json").read_text())
    document["learner"]["objective"]["name"] = objective
    document["learner"]["learner_model_param"]["base_score"] = base
    return document | {"version": version}


@pytest.mark.parametrize(
    ("objective", "written", "taken"),
    [
        ("binary:logistic", "[3E-1]", -0.84729785),
        ("reg:logistic", "3E-1", -0.84729785),
        ("binary:logitraw", "[3E-1]", 0.3),
        ("binary:logitraw", "5E-1", 0.5),
        ("reg:squarederror", "[3E-1]", 0.3),
    ],
)
def test_base_scores_are_what_the_library_takes(objective: str, written: str, taken: float) -> None:
    """``taken`` is what `predict(output_margin=True)` of XGBoost 1.7 to 3.2 adds to the leaves."""
    (base,) = read_xgboost(based(objective, written, [1, 7, 6])).base
    assert float(base) == pytest.approx(taken, abs=1e-7)


@pytest.mark.parametrize(
    ("objective", "written", "version"),
    [
        ("binary:logitraw", "3E-1", [1, 2, 1]),  # -0.847 to this version, 0.3 to the next ones
        ("binary:logistic", "1E-7", [3, 2, 0]),  # that of 1E-6 to this version, not to earlier ones
        ("binary:logistic", "1E0", [3, 2, 0]),
    ],
)
def test_base_scores_that_versions_take_differently_are_refused(
    objective: str, written: str, version: list[int]
) -> None:
    with pytest.raises(UnreadBoosterError, match="base score"):
        read_xgboost(based(objective, written, version))


def test_categories_that_the_library_fails_on(tmp_path: Path) -> None:
    jobs = Category(values=(CategoryValue(name="clerk", code=0), CategoryValue(name="pilot", code=1)))
    people = Domain(
        name="People", attributes=(Attribute(name="job", type=jobs), *ATTRIBUTES[2:], ATTRIBUTES[0]), where=TRUE
    )
    clause = WhenClass.of(1, 1, SPAN)
    with pytest.raises(DiagnosticError) as caught:
        load_model(declaration(str(FILES / "xgboost_categories.ubj"), clause), people)
    (finding,) = caught.value.diagnostics
    assert "`pilot` of `job`" in str(finding.primary)
    # To the others it is one more name, which is in no set. That is said; another spelling of a name is a mistake.
    reporter, spelt = Reporter(), CategoryValue(name="Clerk ", code=0)
    others = replace(people, attributes=(Attribute(name="job", type=Category(values=(spelt,))), *people.attributes[1:]))
    for name in ("lightgbm_categories.txt", "catboost_categories.json"):
        assert load_model(declaration(str(FILES / name), clause), people, reporter=reporter).opaque is None
        with pytest.raises(DiagnosticError, match="name the value as the file does"):
            load_model(declaration(str(FILES / name), clause), others)
    assert [(each.code, each.title.split(" ", 1)[1]) for each in reporter] == [
        ("W0710", "does not know `pilot` of `job`")
    ] * 2


def test_binary_json() -> None:
    plain = (
        b"{i\x01aI\x01\x00i\x02bc[$d#i\x02\x3f\x80\x00\x00\xbf\x80\x00\x00i\x01d{i\x01eZ}i\x01fTi\x01g[i\x05SU\x02hi]}"
    )
    assert decode_ubj(plain) == {"a": 256, "bc": [1.0, -1.0], "d": {"e": None}, "f": True, "g": [5, "hi"]}
    for end in range(1, len(plain)):
        with pytest.raises(ValueError, match=r".+"):
            decode_ubj(plain[:end])
