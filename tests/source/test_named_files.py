"""Every kind of path that stands in a file: what leads out of the root is refused, and nothing of the file is told."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.external_data_helper import set_external_data

import fairdsl

_DOMAIN = "domain A {\n  x : boolean\n  sex : boolean\n}\nprotected sex\n"
_MODEL = "model m : A -> { no, yes }\n"
_ASKED = "property p {\n  compare a, b : A\n  differ in sex\n  require same decision\n}\n"
_LINES = {
    "use": 'use "{}"\n',
    "onnx": _MODEL + '  from onnx "{}"\n  yes when score > 0\n' + _ASKED,
    "linear": _MODEL + '  from linear "{}"\n  yes when score > 0\n' + _ASKED,
    "black box": _MODEL + '  from black_box "{}"\n  reads x, sex\n  yes when score > 0\n' + _ASKED,
    "rows": _MODEL
    + "  score = x\n  yes when score > 0\n  favourable yes\n"
    + 'distribution d over A\n  empirical from "{}"\n'
    "property p {\n  under d\n  across sex\n  measure acceptance_rate\n}\n",
}


@pytest.fixture
def audit(tmp_path: Path) -> Path:
    (tmp_path / "audit").mkdir()
    (tmp_path / "secret").write_text("x,sex\n1,hunter2\n")
    (tmp_path / "audit" / "link").symlink_to("../secret")
    return tmp_path / "audit"


@pytest.mark.parametrize("how", ["../secret", "absolute", "link", "../audit/../secret"])
@pytest.mark.parametrize("kind", _LINES)
def test_a_path_in_a_spec(audit: Path, kind: str, how: str) -> None:
    written = str(audit.parent / "secret") if how == "absolute" else how
    (audit / "a.fair").write_text(_DOMAIN + _LINES[kind].replace("{}", written))
    with pytest.raises(fairdsl.SpecError) as caught:
        fairdsl.check(audit / "a.fair")
    assert "outside of" in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("how", ["../secret", "absolute", "link"])
def test_weights_beside_a_model(audit: Path, how: str) -> None:
    weight = numpy_helper.from_array(np.ones((2, 1), dtype=np.float32), "w")
    set_external_data(weight, str(audit.parent / "secret") if how == "absolute" else how)
    weight.ClearField("raw_data")
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, size]) for name, size in (("i", 2), ("o", 1))]
    graph = helper.make_graph([helper.make_node("MatMul", ["i", "w"], ["o"])], "g", ends[:1], ends[1:], [weight])
    (audit / "m.onnx").write_bytes(helper.make_model(graph, ir_version=8).SerializeToString())
    (audit / "a.fair").write_text(_DOMAIN + _LINES["onnx"].replace("{}", "m.onnx"))
    with pytest.raises(fairdsl.SpecError) as caught:
        fairdsl.check(audit / "a.fair")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("how", ["../../secret", "absolute"])
def test_the_spec_of_a_manifest_is_not_shown_where_it_is_another(audit: Path, how: str) -> None:
    (audit / "a.fair").write_text(_DOMAIN + _MODEL + "  score = x\n  yes when score > 0\n" + _ASKED)
    fairdsl.compile(audit / "a.fair", to="smtlib", directory=audit / "out")
    manifest = json.loads((audit / "out" / "manifest.json").read_text())
    manifest["spec"]["path"] = str(audit.parent / "secret") if how == "absolute" else how
    resigned(audit / "out" / "manifest.json", manifest)
    with pytest.raises(fairdsl.SpecError) as caught:
        fairdsl.recover(audit / "out")
    assert "the spec has changed" in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("name", ["../../secret", "/etc/passwd", "../a.fair"])
def test_a_file_of_a_manifest_lies_in_its_folder(audit: Path, name: str) -> None:
    (audit / "a.fair").write_text(_DOMAIN + _MODEL + "  score = x\n  yes when score > 0\n" + _ASKED)
    fairdsl.compile(audit / "a.fair", to="smtlib", directory=audit / "out")
    manifest = json.loads((audit / "out" / "manifest.json").read_text())
    manifest["files"][name] = manifest["files"].pop("p.smt2")
    resigned(audit / "out" / "manifest.json", manifest)
    with pytest.raises(fairdsl.SpecError) as caught:
        fairdsl.recover(audit / "out")
    assert "hunter2" not in str(caught.value)


def resigned(path: Path, manifest: dict[str, Any]) -> None:
    """Write it as whoever knows how it is sealed."""
    sealed = {key: value for key, value in manifest.items() if key != "sha256"}
    sealed["sha256"] = hashlib.sha256(json.dumps(sealed, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    path.write_text(json.dumps(sealed))
