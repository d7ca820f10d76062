"""Encoders of categories as scikit-learn users write them, with its defaults, against the exported file's labels."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fairdsl
from fairdsl.diagnostics import DiagnosticError

pytestmark = pytest.mark.sklearn

SPEC = """\
domain People { sex : boolean race : category { red, green, blue } age : integer 20 .. 24 }
protected sex, race
model m : People -> { no, yes } from "model.onnx" yes when class = 7
property p { compare a, b : People differ in CLAUSES require same decision }
"""
#: The clauses of a question, and whether a pair (a, b) is one of it.
QUESTIONS = {
    "sex": lambda a, b: a[0] != b[0] and a[1:] == b[1:],
    "race": lambda a, b: a[1] != b[1] and (a[0], a[2]) == (b[0], b[2]),
    "race among age <= 21 within 1 in age": lambda a, b: (
        a[1] != b[1] and a[0] == b[0] and abs(a[2] - b[2]) <= 1 and max(a[2], b[2]) <= 21
    ),
}


def exported(model: Any, folder: Path, known: int) -> dict[tuple[int, ...], int]:
    """Train on people of ``known`` races, export, and return everybody's label in the file."""
    skl2onnx = pytest.importorskip("skl2onnx")
    import onnxruntime

    people = np.array(list(product(range(2), range(known), range(20, 25))), dtype=np.float32)
    model.fit(people, np.where(people[:, 1] * 2 - people[:, 2] + 21 + people[:, 0] > 0, 7, 3))
    options = {id(model.steps[-1][1]): {"zipmap": False}}
    content = skl2onnx.to_onnx(model, people[:1], options=options, target_opset=17).SerializeToString()
    (folder / "model.onnx").write_bytes(content)
    session = onnxruntime.InferenceSession(content)
    labels = {}
    for person in people:
        labels[tuple(int(value) for value in person)] = int(session.run(None, {"X": person[None, :]})[0][0])
    return labels


def pipelines() -> dict[str, Any]:
    pytest.importorskip("sklearn")
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    def encoded() -> ColumnTransformer:
        return ColumnTransformer(
            [("codes", OneHotEncoder(), [1]), ("numbers", StandardScaler(), [2])], remainder="passthrough"
        )

    return {
        "linear": make_pipeline(encoded(), LogisticRegression()),
        "forest": make_pipeline(encoded(), RandomForestClassifier(3, max_depth=3, random_state=1)),
    }


@pytest.mark.parametrize("name", ["linear", "forest"])
def test_an_encoder_without_a_place_for_unknown_categories(name: str, tmp_path: Path) -> None:
    labels = exported(pipelines()[name], tmp_path, known=3)
    assert set(labels.values()) == {3, 7}
    for clauses, compared in QUESTIONS.items():
        (tmp_path / "spec.fair").write_text(SPEC.replace("CLAUSES", clauses))
        (checked,) = fairdsl.check(tmp_path / "spec.fair", backend="enumerate").properties
        unfair = any(compared(a, b) and labels[a] != labels[b] for a, b in product(labels, repeat=2))
        assert checked.judgement.value == ("violated" if unfair else "holds"), clauses
    (proved,) = fairdsl.check(tmp_path / "spec.fair", backend="smt", jobs=1).properties
    assert proved.judgement is checked.judgement


def test_a_category_that_was_not_trained_on_is_said(tmp_path: Path) -> None:
    exported(pipelines()["linear"], tmp_path, known=2)
    (tmp_path / "spec.fair").write_text(SPEC.replace("CLAUSES", "sex"))
    with pytest.raises(DiagnosticError) as caught:
        fairdsl.check(tmp_path / "spec.fair")
    (finding,) = caught.value.diagnostics
    assert finding.code == "E0504"
    assert "2 may be filled in" in str(finding.primary)
