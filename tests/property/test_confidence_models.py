"""Which model files have a confidence, and that it is the one that the file itself outputs."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto

import fairdsl
from fairdsl.elaborate import load_models
from fairdsl.ir.expr import Relation, Who
from fairdsl.ir.model import Logits, Model
from fairdsl.ir.question import Sure
from fairdsl.numerics.confidence import is_sure
from fairdsl.semantics import front_end
from fairdsl.verdict import Judgement
from tests.models.model_files import ml, network, node, saved

HALF = Fraction(1, 2)
WEIGHTS = {
    1: {"w": [[1.5], [0.25]], "b": [-1.0]},
    2: {"w": [[0.5, -0.75], [0.125, 0.25]], "b": [0.5, -0.25]},
    3: {"w": [[0.5, -0.75, 1.0], [0.125, 0.25, -0.5]], "b": [0.5, -0.25, 0.0]},
}
DENSE = node("Gemm", ["x", "w", "b"], ["s"])
PROPERTY = "property p { compare a, b : People differ in sex when confidence(a) >= 60% require same decision }\n"


def spec(
    folder: Path, nodes: list[Any], width: int, rule: str, *, outputs: Any = ("y",), outcomes: str = "no, yes"
) -> str:
    saved(network(nodes, WEIGHTS[width], inputs={"x": ["N", 2]}, outputs=outputs), folder)
    path = folder / "spec.fair"
    path.write_text(
        "domain People { sex : boolean age : integer 0 .. 6 }\nprotected sex\n"
        f'model m : People -> {{ {outcomes} }} from "model.onnx" {rule}\n{PROPERTY}'
    )
    return str(path)


def opened(path: str) -> Model:
    models, _ = load_models(front_end(path)[0], {})
    return models["m"]


THREE = "no, wait, yes"
WITH = {
    "sigmoid, probability": ([DENSE, node("Sigmoid", ["s"], ["y"])], 1, "yes when probability > 30%", Logits(), {}),
    "sigmoid, score": ([DENSE, node("Sigmoid", ["s"], ["y"])], 1, "yes when score > 0.5", Logits(), {}),
    "raw score, probability": ([node("Gemm", ["x", "w", "b"], ["y"])], 1, "yes when probability > 50%", Logits(), {}),
    "softmax of two, class": ([DENSE, node("Softmax", ["s"], ["y"])], 2, "yes when class = 1", Logits(scale=HALF), {}),
    "softmax of two, highest": (
        [DENSE, node("Softmax", ["s"], ["y"])],
        2,
        "decide by highest score",
        Logits(scale=HALF),
        {},
    ),
    "softmax of two, probability": (
        [DENSE, node("Softmax", ["s"], ["y"])],
        2,
        "yes when probability > 50%",
        Logits(),
        {},
    ),
    "softmax of three": (
        [DENSE, node("Softmax", ["s"], ["y"])],
        3,
        "decide by highest score",
        Logits(),
        {"outcomes": THREE},
    ),
    "label beside a softmax": (
        [DENSE, node("Softmax", ["s"], ["y"]), node("ArgMax", ["y"], ["l"], axis=1, keepdims=0)],
        3,
        "decide by highest score",
        Logits(),
        {"outcomes": THREE, "outputs": {"l": TensorProto.INT64, "y": TensorProto.FLOAT}},
    ),
    "raw scores": (
        [node("Gemm", ["x", "w", "b"], ["y"])],
        3,
        "decide by highest score",
        Logits(assumed=True),
        {"outcomes": THREE},
    ),
    "two raw scores": ([node("Gemm", ["x", "w", "b"], ["y"])], 2, "yes when class = 1", Logits(assumed=True), {}),
}


def probabilities(path: str, name: str) -> dict[tuple[int, int], np.ndarray[Any, Any]]:
    """Of each individual the outcomes' probabilities, from what onnxruntime computes."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(Path(path).parent / "model.onnx"))
    found = {}
    for sex in (0, 1):
        for age in range(7):
            out = session.run(["y"], {"x": np.array([[sex, age]], dtype=np.float32)})[0].ravel().astype(np.float64)
            if "raw score," in name:
                out = 1 / (1 + np.exp(-out))
            elif "raw scores" in name:
                out = np.exp(out) / np.exp(out).sum()
            found[sex, age] = np.array([1 - out[0], out[0]]) if out.size == 1 else out
    return found


@pytest.mark.parametrize("name", WITH)
def test_the_confidence_is_the_files_own(name: str, tmp_path: Path) -> None:
    """A level a little below the probability that the file gives is met, one a little above is not."""
    nodes, width, rule, expected, more = WITH[name]
    path = spec(tmp_path, nodes, width, rule, **more)
    model = opened(path)
    assert model.logits == expected
    for (sex, age), found in probabilities(path, name).items():
        point = (Fraction(sex), Fraction(age))
        decided = int(found[1] > 0.3) if "30%" in rule else int(np.argmax(found))
        for step, met in ((-1e-5, True), (1e-5, False)):
            level = Fraction(float(found[decided]) + step)
            assert is_sure(model, point, (Sure(who=Who.A, relation=Relation.GE, level=level),)) is met


WITHOUT = {
    "raw score": ([node("Gemm", ["x", "w", "b"], ["y"])], 1, "yes when score > 0", {}),
    "two sigmoids": ([DENSE, node("Sigmoid", ["s"], ["y"])], 2, "yes when class = 1", {}),
    "three sigmoids": ([DENSE, node("Sigmoid", ["s"], ["y"])], 3, "decide by highest score", {"outcomes": THREE}),
    "the label alone": (
        [DENSE, node("ArgMax", ["s"], ["y"], axis=1, keepdims=0)],
        3,
        "decide by highest score",
        {"outcomes": THREE, "outputs": {"y": TensorProto.INT64}},
    ),
    "votes": (
        [
            ml(
                "TreeEnsembleClassifier",
                ["x"],
                ["l", "y"],
                nodes_treeids=[0, 0, 0],
                nodes_nodeids=[0, 1, 2],
                nodes_featureids=[0, 0, 0],
                nodes_values=[0.5, 0.0, 0.0],
                nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
                nodes_truenodeids=[1, 0, 0],
                nodes_falsenodeids=[2, 0, 0],
                class_treeids=[0, 0],
                class_nodeids=[1, 2],
                class_ids=[0, 0],
                class_weights=[0.25, 0.75],
                classlabels_int64s=[0, 1],
                post_transform="NONE",
            )
        ],
        1,
        "yes when class = 1",
        {"outputs": {"l": TensorProto.INT64, "y": TensorProto.FLOAT}},
    ),
}


@pytest.mark.parametrize("name", WITHOUT)
def test_what_has_no_confidence_is_refused(name: str, tmp_path: Path) -> None:
    nodes, width, rule, more = WITHOUT[name]
    (demand,) = fairdsl.check(spec(tmp_path, nodes, width, rule, **more)).properties[0].demands
    assert demand.judgement is Judgement.REFUSED
    assert [finding.code for finding in demand.refusals] == ["E0552"]


def test_an_audit_of_a_file_from_end_to_end(tmp_path: Path) -> None:
    """Women's logits are age / 4 - 1, men's 1.5 more: decided apart up to 4 years, one of the two surely enough."""
    nodes = [DENSE, node("Sigmoid", ["s"], ["y"])]
    path = Path(spec(tmp_path, nodes, 1, "yes when probability > 50%"))
    for level, ages in (("60%", {0, 1, 2, 3, 4}), ("66%", {0, 1, 2, 3, 4}), ("80%", {4})):
        path.write_text(path.read_text().split("property")[0] + PROPERTY.replace("60%", level))
        for backend in ("enumerate", "smt"):
            (checked,) = fairdsl.check(path, backend=backend, jobs=1).properties
            assert checked.judgement is Judgement.VIOLATED
            assert {witness.a["age"] for witness in checked.witnesses} <= ages
            if backend == "enumerate":
                assert {int(witness.a["age"]) for witness in checked.witnesses} == ages
    path.write_text(path.read_text().replace("80%", "95%"))
    report = fairdsl.check(path, backend="smt", jobs=1)
    assert report.properties[0].judgement is Judgement.VACUOUS
    assert [finding.code for finding in report.diagnostics] == ["W0812", "W0804"]
