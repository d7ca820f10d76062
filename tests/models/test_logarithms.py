"""Logarithms of numbers with a fraction: units of a curve where the range keeps them above 0, else refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import fairdsl
from fairdsl.diagnostics import DiagnosticError, Reporter
from fairdsl.ir.declaration import WhenClass
from fairdsl.ir.domain import Attribute, Domain, Integer, Real
from fairdsl.ir.expr import TRUE
from fairdsl.ir.model import Curve
from fairdsl.models.from_estimators import onnx_of
from fairdsl.models.load import load_model
from fairdsl.numerics.evaluate import BatchEvaluator
from fairdsl.verdict import Shares
from tests.models.model_files import SPAN, declaration, network, node, saved


def people(*ends: tuple[str, str]) -> Domain:
    attributes = [
        Attribute(name=f"a{place}", type=Real(low=Fraction(low), high=Fraction(high)))
        for place, (low, high) in enumerate(ends)
    ]
    return Domain(name="People", attributes=tuple(attributes), where=TRUE)


def file_of(folder: Path, factor: float, shift: float) -> str:
    nodes = [node("Mul", ["x", "k"], ["m"]), node("Add", ["m", "c"], ["a"]), node("Log", ["a"], ["l"]),
             node("ReduceSum", ["l"], ["y"])]  # fmt: skip
    return saved(network(nodes, {"k": np.float32([factor]), "c": np.float32([shift])}), folder)


@pytest.mark.parametrize(
    ("factor", "shift", "ends"),
    [
        (1, 1, [("0", "250"), ("0", "90000"), ("-1/2", "3")]),
        (1, 0, [("1/1000", "2"), ("1/3", "1/2"), ("18", "90")]),
        (-2, 5, [("-1e3", "2"), ("0", "1"), ("1", "49/20")]),
    ],
    ids=["log1p", "ln", "of what falls"],
)
def test_scores_are_those_of_the_file(
    factor: float, shift: float, ends: list[tuple[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    domain = people(*ends)
    model = load_model(declaration(file_of(tmp_path, factor, shift), format="onnx"), domain)
    assert model.layers[0].curves == (Curve.LOG1P,) * 3
    assert model.deployed is not None
    assert model.reading is not None
    assert model.reading.bounded
    low, high = (np.array([float(Fraction(pair[end])) for pair in ends]) for end in (0, 1))
    rows = np.concatenate([[low, high], np.random.default_rng(1).uniform(low, high, (200, 3))])
    wanted = np.log(factor * rows + shift).sum(axis=1)
    assert BatchEvaluator(model).settled(rows).scores[:, 0] == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("low", ["-1", "-3/2"])
def test_what_may_be_0_is_refused(low: str, tmp_path: Path) -> None:
    with pytest.raises(DiagnosticError) as refused:
        load_model(declaration(file_of(tmp_path, 1, 1), format="onnx"), people(("0", "9"), (low, "9"), ("0", "9")))
    (finding,) = refused.value.diagnostics
    assert finding.code == "E0504"
    assert "may be 0 or less" in str(finding)
    assert "declare a range that keeps it above 0" in str(finding)


SEX, INCOME = Attribute(name="sex", type=Integer(low=0, high=1)), Real(low=Fraction(0), high=Fraction(250))
SPEC = """
domain Person {
  sex : integer 0 .. 1
  income : real 0 .. 250
}
protected sex
model approve : Person -> { no, yes }
  from "approve.onnx"
  yes when class = 1
property alike {
  compare a, b : Person
  differ in sex
  require fair_share >= %d%%
}
"""


@pytest.mark.sklearn
def test_a_pipeline_is_proved_and_decides_as_its_predict(tmp_path: Path) -> None:
    pytest.importorskip("skl2onnx")
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, StandardScaler

    draw = np.random.default_rng(0)
    rows = np.stack([draw.integers(0, 2, 10_000), draw.uniform(0, 250, 10_000)], axis=1).astype(np.float32)
    worth = np.log1p(rows[:, 1]) + 0.3 * rows[:, 0] + draw.normal(0, 0.3, 10_000)
    pipeline = make_pipeline(FunctionTransformer(np.log1p), StandardScaler(), LogisticRegression())
    pipeline.fit(rows[:1000], worth[:1000] > 4.2)
    said = pipeline.predict(rows).astype(int)
    assert 0.1 < said.mean() < 0.9
    other = pipeline.predict(np.stack([1 - rows[:, 0], rows[:, 1]], axis=1)).astype(int)
    path = tmp_path / "approve.onnx"
    path.write_bytes(onnx_of(pipeline, "approve"))
    domain = Domain(name="People", attributes=(SEX, Attribute(name="income", type=INCOME)), where=TRUE)
    read = load_model(declaration(str(path), WhenClass.of(1, 1, SPAN), format="onnx"), domain, reporter=Reporter())
    assert (BatchEvaluator(read).settled(rows).decisions == said).all()
    for wanted, holds in ((60, True), (99, False)):
        report = fairdsl.check(SPEC % wanted, models={"approve": pipeline}, backend="intervals")
        assert "W0707" not in {finding.code for finding in report.diagnostics}
        shares = report.properties[0].demands[0].verdict
        assert isinstance(shares, Shares)
        assert shares.certified - 0.02 <= np.mean(said == other) <= 1 - shares.falsified + 0.02
        assert shares.certified >= wanted / 100 if holds else shares.falsified > 1 - wanted / 100
