"""Whole audits of classifiers whose labels are named, numbered or turned around: rates by group are the file's own."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from labelled_files import EVERYBODY, File, Label, answered, written
from onnx import TensorProto, helper

import fairdsl
from fairdsl.codec import plain
from fairdsl.elaborate import load_models
from fairdsl.ir.outcome_reading import outcome_readings
from fairdsl.models.running.runtime import Runtime
from fairdsl.numerics.exact import decision
from fairdsl.semantics import front_end

OUTCOMES = [("denied", "approved"), ("approved", "denied")]


def rows(folder: Path, seed: int) -> list[tuple[int, int]]:
    """A table of people, written beside the spec."""
    draw = random.Random(seed)
    people = [(draw.randrange(2), draw.randrange(10)) for _ in range(60)]
    lines = ["sex,income", *(f"{('female', 'male')[sex]},{income}" for sex, income in people)]
    (folder / "rows.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return people


def audit(folder: Path, file: File, outcomes: tuple[str, ...], rule: str) -> Any:
    """The report on the rates of `approved` in the rows."""
    path = folder / "audit.fair"
    path.write_text(
        "domain Applicant { sex : category { female, male } income : integer 0 .. 9 }\nprotected sex\n"
        f'model approve : Applicant -> {{ {", ".join(outcomes)} }}\n  from "{Path(file.path).name}"\n'
        f"  {rule}\n  favourable approved\n"
        'distribution test over Applicant empirical from "rows.csv"\n'
        "property groups { across sex under test require impact_ratio >= 50% }\n",
        encoding="utf-8",
    )
    return plain(fairdsl.check(path))


def rates(report: Any) -> dict[str, Fraction]:
    """The rate of each group in a report."""
    (demand,) = report["properties"][0]["demands"]
    rates = demand["verdict"]["rates"]
    return {rate["group"]["sex"]: Fraction(rate.get("low_exact", rate["low"])) for rate in rates}


def expected(people: list[tuple[int, int]], file: File, label: Label) -> dict[str, Fraction]:
    """The share of each group whom onnxruntime gives the label."""
    given = dict(zip(EVERYBODY, answered(file) or [], strict=True))
    found = {}
    for sex, name in enumerate(("female", "male")):
        group = [given[person] for person in people if person[0] == sex]
        found[name] = Fraction(group.count(label), len(group))
    return found


def risky(folder: Path, labels: tuple[Label, ...], seed: int) -> File:
    """A file of which neither label is everybody's."""
    draw = random.Random(seed)
    weights, offset, high = (
        (draw.choice((-2, -1, 2)), draw.choice((1, 2))),
        -2 * draw.randint(3, 6) - 1,
        draw.randrange(2),
    )
    return written(folder / "m.onnx", form="classifier", labels=labels, high=high, weights=weights, offset=offset)


@pytest.mark.parametrize("outcomes", OUTCOMES)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_labels_of_the_outcomes_names(outcomes: tuple[str, ...], seed: int, tmp_path: Path) -> None:
    """Labels in the order of their names, whatever the order of the outcomes: no number stands for either."""
    file, people = risky(tmp_path, ("approved", "denied"), seed), rows(tmp_path, seed)
    true = expected(people, file, "approved")
    assert true != {name: 1 - rate for name, rate in true.items()}
    for rule in (
        "",
        'approved when class = "approved"',
        'denied when class = "denied"',
        "decide by highest score",
        "approved when probability > 0.5",
    ):
        assert rates(audit(tmp_path, file, outcomes, rule)) == true, rule
    for rule in ("approved when class = 1", "approved when class = 0", 'approved when class = "denied"'):
        with pytest.raises(fairdsl.SpecError, match="E0511"):
            audit(tmp_path, file, outcomes, rule)


@pytest.mark.parametrize("labels", [(0, 1), (1, 0), (-1, 1), (2, 1), (0, 5), ("0", "1"), ("good", "bad")])
def test_labels_that_are_no_names(labels: tuple[Label, ...], tmp_path: Path) -> None:
    """Each label by its name or value, in both orders of the outcomes."""
    file, people = risky(tmp_path, labels, 5), rows(tmp_path, 5)
    for outcomes in OUTCOMES:
        for label in labels:
            shown = f'"{label}"' if isinstance(label, str) else str(label)
            found = audit(tmp_path, file, outcomes, f"approved when class = {shown}")
            assert rates(found) == expected(people, file, label)


def grades(folder: Path, labels: tuple[str, ...], scores: Any) -> str:
    """Three classes with tied scores."""
    nodes = [
        helper.make_node(
            "LinearClassifier",
            ["x"],
            ["label", "scores"],
            domain="ai.onnx.ml",
            coefficients=np.ravel(scores).tolist(),
            intercepts=[0.0, 0.0, 0.0],
            classlabels_strings=list(labels),
            post_transform="NONE",
        )
    ]
    values = [
        helper.make_tensor_value_info("label", TensorProto.STRING, None),
        helper.make_tensor_value_info("scores", TensorProto.FLOAT, None),
    ]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 2])], values)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 2)]
    path = folder / "m.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString())
    return str(path)


LINES = "\n  ".join(f'{name} when class = "{name[0]}"' for name in ("low", "middle", "high"))


@pytest.mark.parametrize(
    "labels", [("low", "middle", "high"), ("middle", "high", "low"), ("m", "l", "h"), ("h", "l", "m")]
)
def test_three_classes_in_any_order_with_ties(labels: tuple[str, ...], tmp_path: Path) -> None:
    """Ties go to the file's first class, and are frequent here; outcomes are bound by name, or line by line."""
    draw = random.Random(repr(labels))
    scores = [[draw.choice((-1.0, 0.0, 1.0)) for _ in range(2)] for _ in range(3)]
    path = grades(tmp_path, labels, scores)
    session = onnxruntime.InferenceSession(path)
    given = session.run(["label"], {"x": np.array(EVERYBODY, dtype=np.float32)})[0].tolist()
    rule = "" if "low" in labels else LINES
    text = (
        "domain Applicant { sex : category { female, male } income : integer 0 .. 9 }\nprotected sex\n"
        f'model approve : Applicant -> {{ low, middle, high }}\n  from "m.onnx"\n  {rule}\n  favourable high\n'
        "property same { compare a, b : Applicant differ in sex require same decision }\n"
    )
    (tmp_path / "audit.fair").write_text(text, encoding="utf-8")
    model = load_models(front_end(str(tmp_path / "audit.fair"))[0], {})[0]["approve"]
    assert model.deployed is not None
    assert model.outcomes[model.favourable or 0] == "high"
    points = [tuple(Fraction(value) for value in person) for person in EVERYBODY]
    exact = [decision(model, point) for point in points]
    assert [model.outcomes[place or 0][: len(label)] for place, label in zip(exact, given, strict=True)] == given
    assert Runtime(model.deployed).decide(points) == exact
    assert {(each.outcome[: len(str(each.label))], each.label) for each in outcome_readings(model)} == {
        (label, label) for label in labels
    }


def test_what_stands_for_an_outcome_is_said(tmp_path: Path) -> None:
    file = risky(tmp_path, ("bad risk", "good risk"), 7)
    good, bad, rest = ("good risk", None, False), ("bad risk", None, False), (None, None, True)
    said = {
        'approved when class = "good risk"': [bad, good],
        'approved when class = "bad risk"': [good, bad],
        'denied when probability(class = "bad risk") >= 70%': [("bad risk", 0, False), rest],
    }
    rows(tmp_path, 1)
    for rule, expects in said.items():
        audit(tmp_path, file, OUTCOMES[0], rule)
        model = load_models(front_end(str(tmp_path / "audit.fair"))[0], {})[0]["approve"]
        found = outcome_readings(model)
        assert [each.outcome for each in found] == list(OUTCOMES[0])
        assert [(each.label, each.column, each.otherwise) for each in found] == expects
