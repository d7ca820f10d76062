"""Networks in Keras' own files: what Keras predicted, and what is refused."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fairdsl
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.declaration import Highest, WhenProbability, WhenScore
from fairdsl.ir.expr import Relation
from fairdsl.ir.model import Curve, Model
from fairdsl.models.keras_files import read_keras
from fairdsl.models.load import load_model
from fairdsl.numerics.evaluate import BatchEvaluator
from tests.models.model_files import NETWORK_PEOPLE, SPAN, declaration

h5py = pytest.importorskip("h5py")

FILES = Path(__file__).parent / "keras_files"
ANSWERS = json.loads((FILES / "answers.json").read_text())
ROWS = np.array(ANSWERS["rows"])
SCORE = WhenScore(outcome=1, relation=Relation.GT, threshold=Fraction(0), span=SPAN)
PROBABILITY = WhenProbability(outcome=1, relation=Relation.GE, threshold=Fraction(1, 2), span=SPAN)
CLAUSES: dict[str, Any] = {
    "functional": PROBABILITY,
    "sequential": Highest(span=SPAN),
    "activations": SCORE,
    "shared": SCORE,
}


def load(path: Path, clause: Any) -> Model:
    outcomes = ("low", "middle", "high") if isinstance(clause, Highest) else ("reject", "grant")
    return load_model(declaration(str(path), clause, outcomes=outcomes), NETWORK_PEOPLE)


@pytest.mark.parametrize("name", sorted(path.name for path in FILES.iterdir() if path.suffix in (".keras", ".h5")))
def test_every_file_gives_what_keras_predicted(name: str) -> None:
    kind = name.split(".")[0]
    model = load(FILES / name, CLAUSES[kind])
    assert model.opaque is None
    assert model.deployed is None, "no runtime of ours runs the file itself"
    scores = BatchEvaluator(model).settled(ROWS).scores
    mine = {
        "functional": lambda: 1 / (1 + np.exp(-scores)),
        "sequential": lambda: np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True),
    }.get(kind, lambda: scores)()
    theirs = np.array(ANSWERS[kind])
    assert mine == pytest.approx(theirs, abs=2e-5)
    assert np.ptp(theirs, axis=0).min() > 0.1, "the answers differ from row to row"


def test_every_activation_has_its_unit() -> None:
    curves = {curve for layer in load(FILES / "activations.keras", SCORE).layers for curve in layer.curves}
    assert curves >= {*Curve} - {Curve.ERF, Curve.GELU_TANH, Curve.LOG1P}


def test_both_kinds_of_file_hold_one_model() -> None:
    for kind in ("functional", "sequential"):
        one, other = (load(FILES / f"{kind}.{ending}", CLAUSES[kind]) for ending in ("keras", "h5"))
        assert one.layers == other.layers
        assert one.sha256 != other.sha256


SPEC = """
domain Person {
  debt : real -3 .. 3
  income : real -3 .. 3
  job : category { none, part, full }
}
protected debt
model approve : Person -> { reject, grant }
  from keras "functional.keras"
  grant when probability >= 50%
property same {
  compare a, b : Person
  differ in debt
  require same decision
}
"""


def test_a_spec_takes_a_file(tmp_path: Path) -> None:
    shutil.copy(FILES / "functional.keras", tmp_path)
    (tmp_path / "audit.fair").write_text(SPEC)
    report = fairdsl.check(tmp_path / "audit.fair", timeout=20)
    assert report.properties[0].judgement.value == "violated"


# ---- what is refused -----------------------------------------------------------------------------


def changed(folder: Path, change: Callable[[dict[str, Any]], None], name: str = "functional") -> Path:
    """The file with another description."""
    path = folder / "changed.keras"
    with zipfile.ZipFile(FILES / f"{name}.keras") as given, zipfile.ZipFile(path, "w") as made:
        for part in given.namelist():
            content = given.read(part)
            if part == "config.json":
                described = json.loads(content)
                change(described)
                content = json.dumps(described).encode()
            made.writestr(part, content)
    return path


def layer(described: dict[str, Any], kind: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in described["config"]["layers"] if each["class_name"] == kind)
    return found


def setting(kind: str, **values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda described: layer(described, kind)["config"].update(values)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda d: layer(d, "Dropout").update(class_name="Lambda"), "a kind that is not read: `Lambda`"),
        (lambda d: layer(d, "Dense").update(registered_name="shop>Dense"), "a class of its own: `shop>Dense`"),
        # A class of somebody's program may be called as one of Keras' is; then it has no module, or another one.
        (lambda d: layer(d, "Dense").update(registered_name="Dense", module=None), "a class of its own: `Dense`"),
        (lambda d: layer(d, "Dense").update(registered_name="Dense", module="shop"), "a class of its own: `Dense`"),
        (lambda d: d.update(module=None), "a class of its own: `Functional`"),
        (
            setting(
                "Dense",
                activation={"module": None, "class_name": "ReLU", "config": {"name": "r"}, "registered_name": "ReLU"},
            ),
            "a class of its own: `ReLU`",
        ),
        (setting("Dense", activation="exponential"), "an activation that is not read: `exponential`"),
        (setting("Dense", dtype={"config": {"name": "mixed_float16"}}), "computes in `mixed_float16`"),
        (setting("Dense", quantization_config={"mode": "int8"}), "quantised"),
        (setting("Embedding", mask_zero=True), "masks zeros"),
        (setting("Normalization", invert=True), "is inverted"),
        (setting("Normalization", axis=[0]), "something else than columns"),
        (setting("Concatenate", axis=0), "joins individuals"),
        (setting("InputLayer", dtype="string"), "takes texts"),
        (setting("InputLayer", batch_shape=[None, None]), "no fixed width"),
        (lambda d: layer(d, "Dropout")["inbound_nodes"][0]["kwargs"].update(training=True), "called with `training`"),
        (lambda d: layer(d, "Add")["inbound_nodes"][0].update(args=[3.5]), "something else than tensors"),
        (lambda d: d.update(class_name="Credit"), "which says in Python what it computes"),
        (lambda d: d["config"].update(output_layers=[["nobody", 0, 0]]), "not a whole model"),
        (
            lambda d: layer(d, "Flatten")["inbound_nodes"][0]["args"][0]["config"].update(
                keras_history=["grant", 0, 0]
            ),
            "wait for each other",
        ),
    ],
)
def test_what_is_not_read_is_refused(change: Callable[[dict[str, Any]], None], reason: str, tmp_path: Path) -> None:
    with pytest.raises(DiagnosticError) as caught:
        read_keras(str(changed(tmp_path, change)), SPAN)
    (finding,) = caught.value.diagnostics
    assert (finding.code, reason in str(caught.value)) == ("E0520", True), str(caught.value)


def test_a_threshold_of_a_relu_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DiagnosticError, match="jumps at its threshold"):
        read_keras(str(changed(tmp_path, setting("ReLU", threshold=1.0), "sequential")), SPAN)


def damaged(content: bytes) -> dict[str, bytes]:
    linked = io.BytesIO(content)
    with h5py.File(linked, "a") as file:
        name = next(name for name in file["model_weights"] if name.startswith("dense"))
        del file["model_weights"][name]
        file["model_weights"][name] = h5py.ExternalLink("/etc/other.h5", "/model_weights")
    old = io.BytesIO(content)
    with h5py.File(old, "a") as file:
        file.attrs["keras_version"] = "2.15.0"
    alone = io.BytesIO(content)
    with h5py.File(alone, "a") as file:
        del file.attrs["model_config"]
    return {
        "no folder": linked.getvalue(),
        "before 3": old.getvalue(),
        "weights alone": alone.getvalue(),
        "not a whole model": content[: len(content) // 2],
    }


@pytest.mark.parametrize("reason", ["no folder", "before 3", "weights alone", "not a whole model"])
def test_damaged_files_are_refused(reason: str, tmp_path: Path) -> None:
    path = tmp_path / "model.h5"
    path.write_bytes(damaged((FILES / "sequential.h5").read_bytes())[reason])
    with pytest.raises(DiagnosticError, match=reason):
        read_keras(str(path), SPAN)


def test_a_cut_zip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.keras"
    path.write_bytes((FILES / "sequential.keras").read_bytes()[:3000])
    with pytest.raises(DiagnosticError, match="not a whole model"):
        read_keras(str(path), SPAN)


@pytest.mark.slow
def test_trained_networks_are_read_as_keras_runs_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With Keras at hand: trained, saved, and compared on 10,000 individuals."""
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    keras = pytest.importorskip("keras")
    layers = keras.layers
    draw = np.random.default_rng(0)
    rows = np.column_stack([draw.uniform(-3, 3, (10_000, 2)).round(2), draw.integers(0, 3, 10_000)]).astype(np.float32)
    repaid = (rows[:, 0] * rows[:, 1] + rows[:, 2] > 1).astype(np.float32)
    for activation in ("relu", "gelu", "silu", "elu"):
        keras.utils.set_random_seed(1)
        numbers, job = keras.Input((2,), name="numbers"), keras.Input((1,), name="job")
        joined = layers.Concatenate()([numbers, layers.Flatten()(layers.Embedding(3, 2)(job))])
        hidden = layers.BatchNormalization()(layers.Dense(16, activation=activation)(joined))
        network = keras.Model([numbers, job], layers.Dense(1, activation="sigmoid")(layers.Dropout(0.1)(hidden)))
        network.compile(optimizer=keras.optimizers.Adam(0.02), loss="binary_crossentropy")
        given = [rows[:, :2], rows[:, 2:]]
        network.fit(given, repaid, epochs=3, batch_size=256, verbose=0)
        theirs = network.predict(given, verbose=0)[:, 0].astype(np.float64)
        for ending in ("keras", "h5"):
            network.save(tmp_path / f"model.{ending}")
            model = load(tmp_path / f"model.{ending}", PROBABILITY)
            settled = BatchEvaluator(model).settled(rows.astype(np.float64))
            assert 1 / (1 + np.exp(-settled.scores[:, 0])) == pytest.approx(theirs, abs=1e-5)
            clear = np.abs(theirs - 0.5) > 1e-5
            assert (settled.decisions == (theirs >= 0.5))[clear].all()
