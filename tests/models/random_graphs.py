"""Random graphs over the operators that are read: what draws them, and what runs them both ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from fairdsl.diagnostics import DiagnosticError
from fairdsl.models.graph import ImportedGraph
from fairdsl.models.onnx_import import import_onnx
from tests.models.graph_values import differs, forms, scores, session, unit_values

ML = "ai.onnx.ml"
FLOATS = ("float32", "float64")
WHOLE = ("int64", "int32")
#: Operators that choose a class, and that map the label of one.
MAPS = (
    *(("", name) for name in ("ArgMax", "Cast", "Cast", "Gather", "Identity", "Reshape")),
    *((ML, name) for name in ("LabelEncoder", "LabelEncoder", "ArrayFeatureExtractor")),
)


@dataclass(frozen=True)
class Tensor:
    """A tensor of one individual.

    ``early``: computed of inputs by what is affine. ``exact``: float32 makes no error in it. ``label``: a class.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    early: bool = False
    exact: bool = True
    label: bool = False

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=int))


class CannotDrawError(Exception):
    """No tensor fits the operator."""


@dataclass
class Drawing:
    """A graph that is being drawn; ``fine``: all weights are dyadic, so that most of float32 is exact."""

    rng: np.random.Generator
    opset: int
    ml_opset: int
    fine: bool
    nodes: list[Any] = field(default_factory=list)
    constants: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)
    tensors: list[Tensor] = field(default_factory=list)
    results: list[Tensor] = field(default_factory=list)  # what a node gives, and no other may read
    inputs: list[tuple[Tensor, list[Any]]] = field(default_factory=list)
    kinds: dict[str, Any] = field(default_factory=dict)  # of outputs that are not tensors

    def chance(self, share: float = 0.5) -> bool:
        return bool(self.rng.random() < share)

    def one_of(self, choices: Sequence[Any]) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def some(self, **attributes: Any) -> dict[str, Any]:
        """Some of the attributes; the others are left out."""
        return {name: value for name, value in attributes.items() if self.chance()}

    def fresh(self) -> str:
        return f"t{len(self.nodes)}_{len(self.constants)}_{len(self.tensors)}"

    def numbers(self, *shape: int, whole: bool = False) -> np.ndarray[Any, Any]:
        """Weights: none of them 0, many, or all."""
        values = self.rng.integers(-4, 5, shape) if whole else self.rng.integers(-6, 7, shape) / 4
        if not self.fine and not whole:
            values = np.round(self.rng.normal(size=shape), 2)
        zeros = self.one_of([0.0, 0.0, 0.3, 0.7, 1.0])
        return np.where(self.rng.random(shape) < zeros, 0, values)

    def powers(self, *shape: int) -> np.ndarray[Any, Any]:
        """Numbers to divide by, or to multiply with."""
        return self.one_of([0.5, 2.0, -1.0, 4.0]) * np.exp2(self.rng.integers(-1, 2, shape))

    def constant(self, value: Any, dtype: str = "float32", *, before: bool = False) -> str:
        """An initializer, or (``before``: never) what a Constant node gives."""
        array = np.asarray(value)
        array = array.astype(object) if dtype == "string" else array.astype(dtype)
        name = f"c{len(self.constants)}_{len(self.nodes)}"
        if before or self.chance(0.8):
            self.constants[name] = array
        else:
            self.nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(array, name)))
        return name

    def pick(self, fits: Callable[[Tensor], bool]) -> Tensor:
        """A tensor that fits, late ones more often."""
        found = [tensor for tensor in self.tensors if fits(tensor)]
        if not found:
            raise CannotDrawError
        return found[-1] if self.chance(0.3) else self.one_of(found)

    def number(self, dtypes: Sequence[str] = FLOATS, **wanted: Any) -> Tensor:
        """A tensor of numbers that are not classes; ``rank`` as well as fields may be asked for."""
        rank = wanted.pop("rank", None)

        def fits(tensor: Tensor) -> bool:
            named = all(getattr(tensor, name) == value for name, value in wanted.items())
            return not tensor.label and tensor.dtype in dtypes and named and rank in (None, len(tensor.shape))

        return self.pick(fits)

    def row(self, **wanted: Any) -> Tensor:
        """A row of float32, as the operators of ai.onnx.ml take it."""
        return self.number(("float32",), rank=2, **wanted)

    def add(
        self, operator: str, sources: Sequence[Tensor | str], *results: Tensor, domain: str = "", **attributes: Any
    ) -> Tensor:
        """Append a node; the first result is given back."""
        names = [source if isinstance(source, str) else source.name for source in sources]
        node = helper.make_node(operator, names, [result.name for result in results], domain=domain, **attributes)
        self.nodes.append(node)
        self.tensors.extend(results)
        self.results.extend(results)
        return results[0]

    def like(self, source: Tensor, shape: Sequence[int], **changed: Any) -> Tensor:
        """What an operator makes of a tensor: a new one."""
        fields = {"dtype": source.dtype, "early": source.early, "exact": source.exact, "label": source.label}
        return Tensor(self.fresh(), tuple(int(d) for d in shape), **{**fields, **changed})


Builder = Callable[[Drawing], Any]


def drawn(seed: int, builders: dict[tuple[str, str], Builder]) -> tuple[onnx.ModelProto, dict[str, tuple[Any, str]]]:
    """A graph, and the shape and type of each of its inputs; the operator whose turn it is is in it if it can be."""
    rng = np.random.default_rng(seed)
    keys = sorted(builders)
    turn = keys[seed % len(keys)]
    for _ in range(20):
        drawing = Drawing(
            rng, int(rng.choice([9, 11, 12, 13, 15, 17, 18, 20, 24, 24])), int(rng.choice([2, 3])), rng.random() < 0.8
        )
        _inputs(drawing)
        wanted = [keys[i] for i in rng.integers(0, len(keys), int(rng.integers(0, 10)))]
        wanted += [drawing.one_of(MAPS) for _ in range(int(rng.choice([0, 0, 1, 2, 3])))]
        wanted.insert(int(rng.integers(0, len(wanted) + 1)), turn)
        for key in wanted:
            try:
                builders[key](drawing)
            except CannotDrawError:
                continue
        if any((node.domain, node.op_type) == turn for node in drawing.nodes):
            break
    return _model(drawing), {tensor.name: (tensor.shape, tensor.dtype) for tensor, _ in drawing.inputs}


def _inputs(drawing: Drawing) -> None:
    rng = drawing.rng
    for number in range(1 if drawing.chance(0.7) else 2):
        dtype = str(rng.choice(["float32", "float32", "float32", "float64", "int64", "int32"]))
        width = int(rng.integers(1, 5))
        declared = drawing.one_of([["N", width]] * 3 + [[1, width], [width]])
        shape = tuple(1 if d == "N" else d for d in declared)
        tensor = Tensor(f"x{number}", shape, dtype, early=True)
        drawing.inputs.append((tensor, declared))
        drawing.tensors.append(tensor)
        if len(shape) == 1 and drawing.chance(0.7):
            drawing.add("Reshape", [tensor, drawing.constant([1, -1], "int64")], drawing.like(tensor, (1, width)))
        if dtype != "float32" and drawing.chance(0.7):
            found = drawing.like(drawing.tensors[-1], drawing.tensors[-1].shape, dtype="float32")
            drawing.add("Cast", [drawing.tensors[-1]], found, to=TensorProto.FLOAT)


def _model(drawing: Drawing) -> onnx.ModelProto:
    """The last tensor is an output, and perhaps some others."""
    candidates = drawing.results or drawing.tensors
    names = {candidates[-1].name: candidates[-1]}
    for _ in range(int(drawing.rng.choice([0, 0, 1, 2]))):
        also = drawing.one_of(candidates)
        names[also.name] = also
    outputs = [
        helper.make_value_info(name, drawing.kinds[name])
        if name in drawing.kinds
        else helper.make_tensor_value_info(name, element(tensor.dtype), None)
        for name, tensor in names.items()
    ]
    graph = helper.make_graph(
        drawing.nodes,
        "random",
        [helper.make_tensor_value_info(t.name, element(t.dtype), shape) for t, shape in drawing.inputs],
        outputs,
        [numpy_helper.from_array(array, name) for name, array in drawing.constants.items()],
    )
    opsets = [helper.make_opsetid("", drawing.opset), helper.make_opsetid(ML, drawing.ml_opset)]
    model = helper.make_model(graph, opset_imports=opsets)
    model.ir_version = 8
    return model


def element(dtype: str) -> int:
    return TensorProto.STRING if dtype == "string" else helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


@dataclass(frozen=True)
class Held:
    """How a graph came out: `read`, `refused`, `cannot run`, or what is wrong; and what was read."""

    outcome: str
    graph: ImportedGraph | None = None
    reason: str = ""


def held(model: onnx.ModelProto, inputs: dict[str, tuple[Any, str]], folder: Path, seed: int) -> Held:
    """Read the file, run it, and compare all its outputs for some individuals."""
    path = folder / "random.onnx"
    path.write_bytes(model.SerializeToString())
    try:
        graph = import_onnx(str(path))
    except DiagnosticError as refusal:
        (first, *_) = refusal.diagnostics
        return Held("refused", reason=f"{first.title}: {first.primary.text if first.primary else ''}")
    try:
        runtime = session(model.SerializeToString())
    except Exception as problem:
        return Held("cannot run", graph, str(problem))
    rng, names = np.random.default_rng(seed), [output.name for output in graph.outputs]
    ran = False
    for _ in range(6):
        feeds = {name: _filled(shape, dtype, rng) for name, (shape, dtype) in inputs.items()}
        row = [Fraction(float(v)) for item in graph.inputs for v in feeds[item.name].ravel()]
        if not _whole(graph, row):
            continue
        try:
            given = runtime.run(names, feeds)
        except Exception as problem:
            return Held("cannot run", graph, str(problem))
        ran = True
        for output, array in zip(graph.outputs, given, strict=True):
            wrong = differs(output, scores(graph, output, row), array)
            if wrong:
                return Held(f"{wrong} at {feeds}", graph)
    return Held("read" if ran else "cannot run", graph, "no row fits")


def _filled(shape: Any, dtype: str, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    values = rng.integers(-4, 5, shape)
    whole = dtype in WHOLE or rng.random() < 0.5
    return (values if whole else values / 2).astype(dtype)


def _whole(graph: ImportedGraph, row: list[Fraction]) -> bool:
    """Whether the individual is one of those for which the file was read: binding sees to that."""
    units = unit_values(graph.basis.blocks, row)
    for need in graph.basis.whole:
        for value in forms(need.value, units):
            if value.denominator != 1 or (need.codes is not None and int(value) not in need.codes):
                return False
    return True
