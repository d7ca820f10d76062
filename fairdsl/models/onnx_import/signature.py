"""What a file takes and gives, without reading what it computes in between: for files that are only ever run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fairdsl.diagnostics import DiagnosticError
from fairdsl.models import errors
from fairdsl.models.onnx_import.columns import keys_of
from fairdsl.models.onnx_import.file import RawInput, digest_with_sides, parse_model, raw_input
from fairdsl.models.onnx_import.taken import columns_taken
from fairdsl.source import Span
from fairdsl.source.reading import content_of

#: Operators that make probabilities, those that do with some settings, and those that leave numbers as they are.
_CURVES = frozenset({"Sigmoid", "Softmax"})
_CURVED = frozenset({b"LOGISTIC", b"SOFTMAX"})
_PASSING = frozenset({"Cast", "Flatten", "Gather", "Identity", "Reshape", "Squeeze", "Unsqueeze", "ZipMap"})
#: Operators whose output is drawn at random.
_RANDOM = frozenset(
    {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
)
#: Attributes that list what labels there are.
_LISTS = frozenset(
    {
        "classes_strings",
        "classlabels_int64s",
        "classlabels_ints",
        "classlabels_strings",
        "values_int64s",
        "values_strings",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """A file's digest, its inputs that no constant fills, and its operators that draw at random, by their nodes.

    ``columns`` are the names of the columns of outputs that have any, in the order in which onnxruntime gives them;
    ``labels`` the lists of class labels of its operators, as they list them. ``taken``: of inputs of which it takes
    some columns only, which.
    """

    sha256: str
    inputs: tuple[RawInput, ...]
    random: tuple[tuple[str, str], ...]
    columns: Mapping[str, tuple[int | str, ...]]
    labels: tuple[tuple[int | str, ...], ...]
    taken: Mapping[str, frozenset[int]]


def read_signature(path: str, span: Span | None) -> Signature:
    """Parse the file; raises DiagnosticError where that, or finding the files of its weights, fails."""
    try:
        content = content_of(path)
    except OSError as problem:
        raise DiagnosticError(errors.cannot_open(path, problem.strerror or str(problem), span)) from problem
    model = parse_model(path, content, span)
    constants = {tensor.name for tensor in model.graph.initializer}
    constants.update(tensor.values.name for tensor in model.graph.sparse_initializer)
    inputs = tuple(raw_input(value) for value in model.graph.input if value.name not in constants)
    tables = {item.name: item.shape[1] for item in inputs if len(item.shape) == 2}
    return Signature(
        sha256=digest_with_sides(path, content, model, span),
        inputs=inputs,
        random=tuple((node.op_type, node.name or next(iter(node.output), "")) for node in _random(model.graph)),
        columns={node.output[0]: _keys(node) for node in model.graph.node if node.op_type == "ZipMap"},
        labels=tuple(_labels(model.graph)),
        taken=columns_taken(model.graph, {name: width for name, width in tables.items() if width is not None}),
    )


def _labels(graph: Any) -> Iterator[tuple[int | str, ...]]:
    """The lists of labels in a file: of classifiers and encoders, and tables of texts."""
    for node in reversed(graph.node):
        for attribute in node.attribute:
            if attribute.name in _LISTS and (attribute.strings or attribute.ints):
                yield tuple(
                    key.decode() if isinstance(key, bytes) else key for key in attribute.strings or attribute.ints
                )
    for tensor in graph.initializer:
        if tensor.data_type == tensor.STRING:
            yield tuple(key.decode() for key in tensor.string_data)


def _keys(node: Any) -> tuple[int | str, ...]:
    """The names that a ZipMap gives to its columns."""
    names = ("classlabels_strings", "classlabels_int64s")
    found = {a.name: a.strings or a.ints for a in node.attribute if a.name in names}
    texts = {name: [key.decode() if isinstance(key, bytes) else key for key in keys] for name, keys in found.items()}
    return tuple(sorted(keys_of(texts)))


def _random(graph: Any) -> Iterator[Any]:
    """The nodes that draw at random, also those in the bodies of others."""
    for node in graph.node:
        if node.op_type in _RANDOM:
            yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _random(attribute.g)
            for body in attribute.graphs:
                yield from _random(body)


def curved_outputs(path: str) -> frozenset[str]:
    """The outputs of a file whose numbers are made by a sigmoid or softmax, and by nothing after it."""
    graph = parse_model(path, content_of(path), None).graph
    made_by = {name: node for node in graph.node for name in node.output}
    found = set()
    for output in graph.output:
        node = made_by.get(output.name)
        while node is not None and node.op_type in _PASSING:
            node = made_by.get(node.input[0])
        if node is not None and (node.op_type in _CURVES or _post_transform(node) in _CURVED):
            found.add(output.name)
    return frozenset(found)


def _post_transform(node: Any) -> bytes:
    return next((attribute.s for attribute in node.attribute if attribute.name == "post_transform"), b"")
