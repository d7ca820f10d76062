"""Networks as PyTorch exports them, in both ways and with weights beside the file: what the modules computed.

Every day for the sixty rows that were recorded; with PyTorch at hand they are exported again, and held against 10,000.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.model import Model
from fairdsl.models.load import load_model
from fairdsl.numerics.evaluate import BatchEvaluator
from tests.models.model_files import NETWORK_PEOPLE, declaration

FILES = Path(__file__).parent / "torch_files"
ANSWERS = json.loads((FILES / "answers.json").read_text())
ROWS = np.array(ANSWERS["rows"])


def load(path: Path) -> Model:
    return load_model(declaration(str(path)), NETWORK_PEOPLE)


@pytest.mark.parametrize("name", sorted(path.stem for path in FILES.glob("*.onnx")))
def test_every_file_gives_what_the_module_computed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    model = load(FILES / f"{name}.onnx")
    assert model.opaque is None
    assert model.reading is not None
    assert model.reading.individuals == 2048
    scores = BatchEvaluator(model).settled(ROWS).scores[:, 0]
    theirs = np.array(ANSWERS[name.split("_")[0]])
    assert scores == pytest.approx(theirs, abs=2e-5)
    assert np.ptp(theirs) > 0.5


@pytest.mark.slow
def test_exports_compute_for_ten_thousand_what_the_modules_do(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("onnxscript")
    from tests.models.torch_files.make_files import exported, people

    torch.manual_seed(21)
    rows = people(10_000)
    points = np.round(rows.numpy().astype(np.float64), 2)
    for name, theirs in exported(tmp_path, rows).items():
        for way in ("script", "dynamo"):
            model = load(tmp_path / f"{name}_{way}.onnx")
            assert model.opaque is None
            settled = BatchEvaluator(model).settled(points)
            assert settled.scores[:, 0] == pytest.approx(np.array(theirs), abs=5e-5)
            clear = np.abs(theirs) > 5e-5
            assert (settled.decisions == (np.array(theirs) > 0))[clear].all()


def test_both_exports_are_one_function() -> None:
    for kind in ("coded", "embedded", "plain"):
        one, other = (
            BatchEvaluator(load(FILES / f"{kind}_{way}.onnx")).settled(ROWS).scores for way in ("script", "dynamo")
        )
        assert one == pytest.approx(other, abs=1e-6)


def test_weights_that_are_not_beside_the_file_are_missed(tmp_path: Path) -> None:
    alone = tmp_path / "plain_dynamo.onnx"
    alone.write_bytes((FILES / "plain_dynamo.onnx").read_bytes())
    with pytest.raises(DiagnosticError) as caught:
        load(alone)
    assert [finding.code for finding in caught.value.diagnostics] == ["E0505"]
