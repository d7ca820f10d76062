"""Opening an ONNX file: the only place of the importer that touches the onnx library.

The file becomes a :class:`RawGraph` of plain Python and numpy values; whatever is wrong with the file
itself is raised here as a diagnostic.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.diagnostics import DiagnosticError
from fairdsl.models import errors
from fairdsl.source import Span
from fairdsl.source.reading import NamedPath, content_of

#: Refuse to hold more elements than this in one constant.
_ELEMENT_LIMIT = 1 << 27


@dataclass(frozen=True, slots=True, kw_only=True)
class RawNode:
    """A node: operator, attributes as Python values (tensors as arrays), names of its tensors."""

    operator: str
    domain: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    opset: int = 0
    #: What readers derived of the attributes, by keys of their own.
    kept: dict[object, Any] = field(default_factory=dict, compare=False, repr=False)

    def integers(self, name: str) -> NDArray[np.int64]:
        """A list of integers as a vector that nobody may change; empty where the file has none."""
        if name not in self.kept:
            found = np.array(self.attributes.get(name) or [], dtype=np.int64)
            found.setflags(write=False)
            self.kept[name] = found
        vector: NDArray[np.int64] = self.kept[name]
        return vector

    @property
    def where(self) -> str:
        """How messages call the node: its name, or the tensor that it makes."""
        return self.name or next((name for name in self.outputs if name), "unnamed")


@dataclass(frozen=True, slots=True, kw_only=True)
class RawInput:
    """A graph input; None in ``shape`` is a dynamic dimension."""

    name: str
    shape: tuple[int | None, ...]
    dtype: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RawGraph:
    """The graph as the file holds it, nodes in an order in which they can be computed."""

    sha256: str
    inputs: tuple[RawInput, ...]
    outputs: tuple[str, ...]
    nodes: tuple[RawNode, ...]
    constants: Mapping[str, NDArray[Any]]


def read_file(path: str, span: Span | None) -> RawGraph:
    """Parse the file and the side files that hold its weights; raises DiagnosticError.

    The digest is the SHA-256 of the file; where weights lie in side files, of the file followed by
    the side files in the order of their names (``cat model.onnx model.onnx.data | sha256sum``).
    """
    try:
        content = content_of(path)
    except OSError as problem:
        raise DiagnosticError(errors.cannot_open(path, problem.strerror or str(problem), span)) from problem
    model = parse_model(path, content, span)
    digest = digest_with_sides(path, content, model, span)
    try:
        _put_in(path, model)
        return _convert(path, model, digest, span)
    except DiagnosticError:
        raise
    except Exception as problem:  # protobuf and numpy raise what they like on damaged content
        raise DiagnosticError(errors.not_onnx(path, _short(problem), span)) from problem


def digest_with_sides(path: str, content: bytes, model: Any, span: Span | None) -> str:
    """The digest of a parsed file's content and its side files; raises DiagnosticError where one is missing."""
    digest = sha256(content)
    for side_file in _side_files(model):
        try:
            digest.update(_beside(path, side_file))
        except OSError as problem:
            raise DiagnosticError(errors.side_file_missing(path, side_file, span)) from problem
    return digest.hexdigest()


def _beside(path: str, side_file: str) -> bytes:
    """The content of a side file, which has to lie in the model's folder or below it."""
    folder = os.path.realpath(os.path.dirname(path))
    return content_of(NamedPath(os.path.join(folder, side_file), folder))


def whole_model(path: str, digest: str | None = None) -> Any:
    """The file's ``ModelProto`` with its side files inside; DiagnosticError where its digest is another one, too."""
    try:
        content = content_of(path)
        model = parse_model(path, content, None)
        if digest is not None and digest_with_sides(path, content, model, None) != digest:
            raise DiagnosticError(errors.cannot_run(path, "the file has changed since it was read"))
        _put_in(path, model)
    except OSError as problem:
        raise DiagnosticError(errors.cannot_open(path, problem.strerror or str(problem), None)) from problem
    except ValueError as problem:
        raise DiagnosticError(errors.not_onnx(path, _short(problem), None)) from problem
    return model


def whole_content(path: str, digest: str) -> bytes | None:
    """The bytes of the file of this digest, with its side files inside; None where it has another one by now."""
    try:
        content = content_of(path)
        if sha256(content).hexdigest() == digest:  # so it has no side files
            return content
        written: bytes = whole_model(path, digest).SerializeToString()
    except (OSError, DiagnosticError):
        return None
    return written


def _put_in(path: str, model: Any) -> None:
    """Put the weights that lie in side files into the model; ValueError where a side file is too short."""
    sides: dict[str, bytes] = {}
    for tensor in _tensors(model.graph):
        said = {_text(entry.key): _text(entry.value) for entry in tensor.external_data}
        if tensor.data_location != tensor.EXTERNAL or "location" not in said:
            continue
        side = said["location"]
        content = sides[side] = sides[side] if side in sides else _beside(path, side)
        start = int(said.get("offset", 0))
        end = start + int(said["length"]) if "length" in said else len(content)
        if not 0 <= start <= end <= len(content):
            raise ValueError(f"`{side}` has no bytes {start} to {end}, where `{tensor.name}` should be")
        tensor.raw_data = content[start:end]
        tensor.data_location = tensor.DEFAULT
        del tensor.external_data[:]


def torn_weights(path: str) -> str | None:
    """Which weights begin in a side file at no multiple of their numbers' size, in words; None: none, or no ONNX file.

    Files may be written so, but where a place is wrong what is read there are other numbers.
    """
    try:
        tensors = list(_tensors(parse_model(path, content_of(path), None).graph))
    except (OSError, DiagnosticError):
        return None
    for tensor in tensors:
        said = {_text(entry.key): _text(entry.value) for entry in tensor.external_data}
        start, kind = int(said.get("offset", 0)), numpy_dtype(tensor.data_type)
        if kind is not None and start % kind.itemsize:
            where = f"byte {start} of `{said['location']}`"
            return f"`{_text(tensor.name)}` begins at {where}, and a number has {kind.itemsize} bytes"
    return None


def parse_model(path: str, content: bytes, span: Span | None) -> Any:
    """The file's ``ModelProto``, with the functions that it defines put in; raises DiagnosticError."""
    import onnx

    model = onnx.ModelProto()
    try:
        model.ParseFromString(content)
    except Exception as problem:  # google.protobuf.message.DecodeError, and others from the C core
        raise DiagnosticError(errors.not_onnx(path, "it cannot be parsed", span)) from problem
    if not model.graph.output or not model.opset_import:
        reason = "it declares no graph with outputs" if content else "it is empty"
        raise DiagnosticError(errors.not_onnx(path, reason, span))
    newest = onnx.defs.onnx_opset_version()
    for entry in model.opset_import:
        if entry.domain in ("", "ai.onnx") and entry.version > newest:
            reason = f"it uses operator set {entry.version}, and {newest} is the newest that is known here"
            raise DiagnosticError(errors.not_onnx(path, reason, span))
    if len(model.functions):
        import onnx.inliner

        model = onnx.inliner.inline_local_functions(model)
    return model


def _tensors(graph: Any) -> Iterator[Any]:
    """All constants of a graph, also those in the bodies of its operators."""
    yield from graph.initializer
    for sparse in graph.sparse_initializer:
        yield from (sparse.values, sparse.indices)
    for attribute in (attribute for node in graph.node for attribute in node.attribute):
        if attribute.HasField("t"):
            yield attribute.t
        yield from attribute.tensors
        for body in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
            yield from _tensors(body)


def _side_files(model: Any) -> list[str]:
    from onnx import external_data_helper as helper

    names: set[str] = set()
    for tensor in _tensors(model.graph):
        if helper.uses_external_data(tensor):
            names.update(_text(entry.value) for entry in tensor.external_data if entry.key == "location")
    return sorted(names)


def _convert(path: str, model: Any, digest: str, span: Span | None) -> RawGraph:
    graph = model.graph
    if len(graph.sparse_initializer):
        raise DiagnosticError(errors.not_onnx(path, "sparse weights are not read", span))
    opsets = {_text(entry.domain): entry.version for entry in model.opset_import}
    opsets.setdefault("", opsets.get("ai.onnx", 1))
    constants = {_text(tensor.name): _array(tensor) for tensor in graph.initializer}
    nodes = tuple(_node(node, opsets) for node in graph.node)
    inputs = tuple(raw_input(value) for value in graph.input if _text(value.name) not in constants)
    return RawGraph(
        sha256=digest,
        inputs=inputs,
        outputs=tuple(_text(value.name) for value in graph.output),
        nodes=nodes,
        constants=constants,
    )


def _array(tensor: Any) -> NDArray[Any]:
    from onnx import numpy_helper

    count = int(np.prod([int(d) for d in tensor.dims], dtype=object)) if tensor.dims else 1
    if not 0 <= count <= _ELEMENT_LIMIT:
        raise ValueError(f"the tensor `{tensor.name}` has {count} elements")
    array = np.asarray(numpy_helper.to_array(tensor))
    if array.dtype.kind in "OSU":
        return np.array([_text(v) for v in array.ravel()], dtype=object).reshape(array.shape)
    if array.dtype.kind == "V" or array.dtype.name in ("bfloat16", "float16"):
        return array.astype(np.float32)
    return array


def _node(node: Any, opsets: Mapping[str, int]) -> RawNode:
    domain = "" if node.domain == "ai.onnx" else _text(node.domain)
    return RawNode(
        operator=_text(node.op_type),
        domain=domain,
        name=_text(node.name),
        inputs=tuple(_text(name) for name in node.input),
        outputs=tuple(_text(name) for name in node.output),
        attributes={_text(attribute.name): _attribute(attribute) for attribute in node.attribute},
        opset=opsets.get(domain, 1),
    )


def _attribute(attribute: Any) -> Any:
    import onnx

    if attribute.type == onnx.AttributeProto.TENSOR:
        return _array(attribute.t)
    kinds = (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS, onnx.AttributeProto.SPARSE_TENSOR)
    if attribute.type in kinds:
        return None  # operators with bodies are refused by name later
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, (list, tuple)) or type(value).__name__.startswith("Repeated"):
        if attribute.type != onnx.AttributeProto.STRINGS:
            return list(value)
        known = {item: _text(item) for item in set(value)}  # a forest says of each of its nodes what it does
        return [known[item] for item in value]
    return _text(value)


def raw_input(value: Any) -> RawInput:
    """The input that a ``ValueInfoProto`` describes."""
    import onnx

    kind = value.type.tensor_type
    if not value.type.HasField("tensor_type"):
        return RawInput(name=_text(value.name), shape=(), dtype="other")
    dims = tuple(d.dim_value if d.HasField("dim_value") else None for d in kind.shape.dim)
    try:
        dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)).name
    except (KeyError, TypeError, ValueError):
        dtype = "other"
    return RawInput(
        name=_text(value.name),
        shape=tuple(None if d is None or d <= 0 else d for d in dims),
        dtype="string" if kind.elem_type == onnx.TensorProto.STRING else dtype,
    )


def numpy_dtype(element_type: int) -> np.dtype[Any] | None:
    """The numpy type of a tensor element type of ONNX; None for text."""
    import onnx

    if element_type == onnx.TensorProto.STRING:
        return None
    dtype: np.dtype[Any] = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(element_type))
    return dtype


def _text(value: Any) -> Any:
    """Strings as text: protobuf gives bytes where a damaged file holds no UTF-8."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _short(problem: Exception) -> str:
    """The first line of a library's message, cut to a readable length."""
    lines = str(problem).strip().splitlines()
    return (lines[0] if lines else type(problem).__name__)[:160]
