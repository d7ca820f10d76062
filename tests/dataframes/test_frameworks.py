"""Boosters and modules in place of files: by stand-ins with their methods, and by the libraries where they are."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import fairdsl
from fairdsl.models.exporting import NotExportedError
from fairdsl.models.from_frameworks import writer_of
from fairdsl.models.onnx_written.chain import relu_chain

FILES = Path(__file__).parent.parent / "models" / "booster_files"
ANSWERS = json.loads((FILES / "answers.json").read_text())
SPEC = """
domain Person {
  income : real 0 .. 250
  job : category { teacher = 3, baker = 0, clerk = 8, "self-employed" = 1, nurse = 5 }
  age : integer 18 .. 80
  sex : category { female = 0, male = 1 }
}
protected sex
model approve : Person -> { reject, grant }
  from "approve.json"
  grant when class = 1
  favourable grant
distribution test over Person
  empirical from "test.csv"
property parity { across sex under test measure acceptance_rate }
"""
JOB, SEX, AGE, INCOME = zip(*ANSWERS["rows"], strict=True)


class Booster:
    """XGBoost's, as far as it is asked."""

    def __init__(self, content: bytes, best: int | None = None) -> None:
        self.content, self.best, self.cut = content, best, None

    def attributes(self) -> dict[str, str]:
        return {} if self.best is None else {"best_iteration": str(self.best)}

    def __getitem__(self, chosen: slice) -> Booster:
        cut = Booster(self.content)
        cut.cut = chosen.stop
        return cut

    def save_raw(self, raw_format: str) -> bytearray:
        assert raw_format == "ubj"
        return bytearray(self.content + (b"" if self.cut is None else b"cut at %d" % self.cut))


class Wrapped:
    """An estimator around it."""

    def __init__(self, booster: Booster) -> None:
        self.booster = booster

    def get_booster(self) -> Booster:
        return self.booster


class LightGBM:
    def model_to_string(self) -> str:
        return (FILES / "lightgbm_dart.txt").read_text()


class LightGBMEstimator:
    def __init__(self, fitted: bool = True) -> None:
        self.fitted = fitted

    @property
    def booster_(self) -> LightGBM:
        if not self.fitted:
            raise RuntimeError("No booster found. Need to call fit beforehand.")
        return LightGBM()


class CatBoost:
    __module__ = "catboost.core"

    def save_model(self, path: str, **options: str) -> None:
        assert options == {"format": "json"}
        Path(path).write_bytes((FILES / "catboost_lossguide.json").read_bytes())


XGBOOST = (FILES / "xgboost_categories.ubj").read_bytes()
GIVEN: dict[str, tuple[Any, str]] = {
    "a booster of XGBoost": (Booster(XGBOOST), "xgboost_categories.ubj"),
    "an estimator of XGBoost": (Wrapped(Booster(XGBOOST)), "xgboost_categories.ubj"),
    "a booster of LightGBM": (LightGBM(), "lightgbm_dart.txt"),
    "an estimator of LightGBM": (LightGBMEstimator(), "lightgbm_dart.txt"),
    "an estimator of CatBoost": (CatBoost(), "catboost_lossguide.json"),
}


@pytest.mark.parametrize(("model", "name"), GIVEN.values(), ids=GIVEN)
def test_a_booster_is_the_file_that_it_saves(model: Any, name: str) -> None:
    table = {"income": INCOME, "job": JOB, "age": AGE, "sex": SEX}
    report = fairdsl.check(SPEC, models={"approve": model}, data={"test": table})
    rates = report.table("groups")
    labels, sexes = np.array(ANSWERS[name]["labels"]), np.array(SEX)
    counted = {sex: labels[sexes == sex].mean() for sex in (0, 1)}
    assert dict(zip(rates["sex"], rates["value"], strict=True)) == pytest.approx(
        {"female": counted[0], "male": counted[1]}
    )


def test_an_estimator_that_stopped_early_is_cut_where_its_predict_ends() -> None:
    for model, written in ((Wrapped(Booster(b"", best=4)), b"cut at 5"), (Booster(b"", best=4), b"")):
        write = writer_of(model)
        assert write is not None
        assert write() == written


def test_what_is_not_fitted_is_said() -> None:
    write = writer_of(LightGBMEstimator(fitted=False))
    assert write is not None
    with pytest.raises(NotExportedError, match="No booster found"):
        write()
    assert writer_of(3) is None


def test_a_module_of_pytorch() -> None:
    torch: Any = pytest.importorskip("torch")
    pytest.importorskip("onnxscript")
    layer = torch.nn.Linear(4, 1)
    with torch.no_grad():
        layer.weight[:] = torch.tensor([[0.5, 0.0, 0.0, 8.0]])
        layer.bias[:] = -50.0
    module = torch.nn.Sequential(layer, torch.nn.Dropout())
    spec = SPEC.replace("class = 1", "score > 0")
    table = {"income": [85.0, 85.0], "job": [3, 3], "age": [30, 30], "sex": [0, 1]}
    report = fairdsl.check(spec, models={"approve": module}, data={"test": table})
    assert report.table("groups")["value"] == [0.0, 1.0]
    assert module.training
    write = writer_of(torch.nn.ReLU())
    assert write is not None
    with pytest.raises(NotExportedError, match="how many columns"):
        write()


class Frozen:
    """A module of which a part is not trained, as far as it is asked."""

    def __init__(self) -> None:
        self.in_features, self.training, self.parts = 4, True, []

    def forward(self) -> None:
        raise AssertionError("the exporter runs it")

    def named_modules(self) -> list[tuple[str, Any]]:
        return [("", self), *(("part", part) for part in self.parts)]

    def eval(self) -> None:
        for _, each in self.named_modules():
            each.training = False


def test_a_module_that_is_not_exported_says_why_and_each_part_keeps_its_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    def export(module: Frozen, *_: Any, **__: Any) -> None:
        assert not any(each.training for _, each in module.named_modules())
        raise RuntimeError("This is step 1/3") from ValueError("a and b must have the same width")

    torch = SimpleNamespace(
        zeros=lambda *shape: shape,
        onnx=SimpleNamespace(export=export),
        export=SimpleNamespace(Dim=SimpleNamespace(DYNAMIC=None)),
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    module, frozen = Frozen(), Frozen()
    frozen.training = False
    module.parts = [frozen]
    write = writer_of(module)
    assert write is not None
    with pytest.raises(NotExportedError, match=r"a matrix of 4 columns.*: a and b must have the same width") as caught:
        write()
    assert "give the path" in str(caught.value.help_text)
    assert (module.training, frozen.training) == (True, False)


class Keras:
    """A model of Keras, as far as it is asked; that of PyTorch's backend is a module of it as well."""

    __module__ = "keras.src.models.sequential"

    def __init__(self, missing: str = "") -> None:
        self.missing = missing

    def export(self, path: str, *, format: str, verbose: bool) -> None:  # noqa: A002 - as Keras has it
        assert (format, verbose) == ("onnx", False)
        if self.missing:
            raise ImportError(f"This requires the {self.missing} package.")
        weight = np.array([[0.5, 0.0, 0.0, 8.0]], dtype=np.float32)
        Path(path).write_bytes(relu_chain([(weight, np.array([-50.0]))], "keras", single=True))

    def forward(self) -> None:
        raise AssertionError("it exports itself")

    named_modules = forward


def test_a_model_of_keras_exports_itself() -> None:
    spec = SPEC.replace("class = 1", "score > 0")
    table = {"income": [85.0, 85.0], "job": [3, 3], "age": [30, 30], "sex": [0, 1]}
    report = fairdsl.check(spec, models={"approve": Keras()}, data={"test": table})
    assert report.table("groups")["value"] == [0.0, 1.0]
    with pytest.raises(fairdsl.SpecError, match="requires the tf2onnx package"):
        fairdsl.check(spec, models={"approve": Keras("tf2onnx")}, data={"test": table})
