"""Building small ONNX files and declarations, and a naive exact evaluator, for the tests of models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from fairdsl.ir.declaration import DecisionClause, FileSource, ModelDeclaration, WhenScore
from fairdsl.ir.domain import Attribute, Category, CategoryValue, Domain, Integer, Real, Type
from fairdsl.ir.expr import TRUE, Relation
from fairdsl.ir.feature import Form
from fairdsl.ir.model import Curve, Layer
from fairdsl.source import SourceFile, Span
from tests.oracle import bent

JOBS = Category(values=tuple(CategoryValue(name=name, code=code) for code, name in enumerate(("none", "part", "full"))))
#: Whom the networks are about that PyTorch and Keras have saved.
NETWORK_PEOPLE = Domain(
    name="Person",
    attributes=(
        *(Attribute(name=name, type=Real(low=Fraction(-3), high=Fraction(3))) for name in ("debt", "income")),
        Attribute(name="job", type=JOBS),
    ),
    where=TRUE,
)
SPAN = Span(SourceFile("audit.fair", "model approve from file when score"), 0, 5)


def node(operator: str, inputs: Sequence[str], outputs: Sequence[str], domain: str = "", **attributes: Any) -> Any:
    return helper.make_node(
        operator, list(inputs), list(outputs), name=f"{operator}_{outputs[0]}", domain=domain, **attributes
    )


def ml(operator: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any) -> Any:
    return node(operator, inputs, outputs, domain="ai.onnx.ml", **attributes)


def network(
    nodes: Sequence[Any],
    constants: Mapping[str, Any] | None = None,
    *,
    inputs: Mapping[str, Sequence[Any]] | None = None,
    outputs: Mapping[str, int] | Sequence[str] = ("y",),
    opset: int = 17,
    dtype: int = TensorProto.FLOAT,
) -> onnx.ModelProto:
    """A model; outputs are floats unless a mapping gives their element types."""
    types = outputs if isinstance(outputs, Mapping) else dict.fromkeys(outputs, TensorProto.FLOAT)
    graph = helper.make_graph(
        list(nodes),
        "test",
        [helper.make_tensor_value_info(n, dtype, s) for n, s in (inputs or {"x": ["N", 3]}).items()],
        [helper.make_tensor_value_info(n, t, None) for n, t in types.items()],
        [numpy_helper.from_array(_array(value), name) for name, value in (constants or {}).items()],
    )
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 1), helper.make_opsetid("", opset)]
    model = helper.make_model(graph, opset_imports=opsets)
    model.ir_version = 8
    return model


def _array(value: Any) -> np.ndarray[Any, Any]:
    array = np.asarray(value)
    return array.astype(np.float32) if array.dtype == np.float64 else array


def saved(model: onnx.ModelProto, folder: Path, name: str = "model.onnx") -> str:
    path = folder / name
    path.write_bytes(model.SerializeToString())
    return str(path)


def naive(layers: Sequence[Layer], row: Sequence[Fraction | int]) -> list[Fraction]:
    """The scores at a point, by the definition of a layer (curved units: within 2**-450)."""
    values = [Fraction(v) for v in row]
    for layer in layers:
        out = []
        units = zip(layer.weight.exact, layer.bias.exact, layer.slope.exact, layer.curve_codes, strict=True)
        for weights, bias, slope, curve in units:
            z = sum((w * v for w, v in zip(weights, values, strict=True)), Fraction(bias))
            out.append(bent(Curve(curve), slope, z))
        values = out
    return values


def domain(*names: str, kind: Type | None = None) -> Domain:
    kind = kind or Integer(low=-10, high=10)
    return Domain(name="Applicant", attributes=tuple(Attribute(name=n, type=kind) for n in names), where=TRUE)


def declaration(
    path: str,
    decision: DecisionClause | None = None,
    *,
    outcomes: tuple[str, ...] = ("reject", "grant"),
    reads: tuple[Form, ...] | None = None,
    sha256: str | None = None,
    format: str | None = None,  # noqa: A002
) -> ModelDeclaration:
    return ModelDeclaration(
        name="approve",
        outcomes=outcomes,
        favourable=1,
        source=FileSource(path=path, format=format, sha256=sha256, span=SPAN),
        decision=decision or WhenScore(outcome=1, relation=Relation.GT, threshold=Fraction(0), span=SPAN),
        reads=reads,
        reads_spans=tuple(SPAN for _ in reads or ()),
        span=SPAN,
    )
