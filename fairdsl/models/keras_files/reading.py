"""A saved model of Keras as a graph of units."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Sequence
from hashlib import sha256

import numpy as np

from fairdsl.diagnostics import DiagnosticError
from fairdsl.models import errors
from fairdsl.models.graph import GraphInputs, ImportedGraph
from fairdsl.models.keras_files.archive import UnreadKerasError, opened
from fairdsl.models.keras_files.network import Network
from fairdsl.models.onnx_import.file import RawGraph
from fairdsl.models.onnx_import.walk import import_graph
from fairdsl.source import Span
from fairdsl.source.reading import content_of

#: What damaged files make zipfile, h5py and the lookups in a description raise.
_DAMAGED = (ArithmeticError, AttributeError, LookupError, OSError, RecursionError, RuntimeError, TypeError, ValueError)


def read_keras(
    path: str, span: Span | None, missing: Callable[[GraphInputs], Sequence[int]] | None = None
) -> ImportedGraph:
    """A `.keras` or `.h5` file that Keras 3 has saved; raises DiagnosticError.

    ``missing`` says which numbers of the inputs somebody may lack.
    """
    try:
        content = content_of(path)
    except OSError as problem:
        raise DiagnosticError(errors.cannot_open(path, problem.strerror or str(problem), span)) from problem
    try:
        archive = opened(content)
        network = Network.of(archive.config, archive.weights)
    except UnreadKerasError as problem:
        raise DiagnosticError(errors.own_file_not_read(path, "keras", str(problem), span)) from problem
    except (*_DAMAGED, zipfile.BadZipFile) as problem:
        reason = f"it is not a whole model ({type(problem).__name__}: {problem})"
        raise DiagnosticError(errors.own_file_not_read(path, "keras", reason[:300], span)) from problem
    raw = RawGraph(
        sha256=sha256(content).hexdigest(),
        inputs=tuple(network.inputs),
        outputs=tuple(network.outputs),
        nodes=tuple(network.drawing.nodes),
        constants={name: np.asarray(array) for name, array in network.drawing.constants.items()},
    )
    return import_graph(path, raw, span, missing=missing)
