"""What a file takes and gives, without reading what it computes in between: for files that are only ever run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairdsl.diagnostics import DiagnosticError
from fairdsl.models import errors
from fairdsl.models.onnx_import.file import RawInput, digest_with_sides, parse_model, raw_input
from fairdsl.source import Span

__all__ = ["Signature", "read_signature"]

#: Operators whose output is drawn at random.
_RANDOM = frozenset(
    {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """A file's digest, its inputs that no constant fills, and its operators that draw at random, by their nodes.

    ``columns`` are the names of the columns of outputs that have any, in the order in which onnxruntime gives them.
    """

    sha256: str
    inputs: tuple[RawInput, ...]
    random: tuple[tuple[str, str], ...]
    columns: Mapping[str, tuple[str, ...]]


def read_signature(path: str, span: Span | None) -> Signature:
    """Parse the file; raises DiagnosticError where that, or finding the files of its weights, fails."""
    try:
        content = Path(path).read_bytes()
    except OSError as problem:
        raise DiagnosticError(errors.cannot_open(path, problem.strerror or str(problem), span)) from problem
    model = parse_model(path, content, span)
    constants = {tensor.name for tensor in model.graph.initializer}
    constants.update(tensor.values.name for tensor in model.graph.sparse_initializer)
    return Signature(
        sha256=digest_with_sides(path, content, model, span),
        inputs=tuple(raw_input(value) for value in model.graph.input if value.name not in constants),
        random=tuple((node.op_type, node.name or next(iter(node.output), "")) for node in _random(model.graph)),
        columns={node.output[0]: _keys(node) for node in model.graph.node if node.op_type == "ZipMap"},
    )


def _keys(node: Any) -> tuple[str, ...]:
    """The texts that a ZipMap names its columns by; onnxruntime sorts them. Empty where it names them by numbers."""
    keys = (key for attribute in node.attribute if attribute.name == "classlabels_strings" for key in attribute.strings)
    return tuple(key.decode() for key in sorted(keys))


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
