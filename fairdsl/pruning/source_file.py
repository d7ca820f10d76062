"""The file that a network was read from: whether units can be taken out of it, and how others like it are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.declaration import FileSource, InlineScore, ModelDeclaration, ModelSource, RuleList
from fairdsl.ir.domain import Domain
from fairdsl.ir.model import Curve, Layer, Model
from fairdsl.models.load import load_model
from fairdsl.pruning import errors

#: From a path to the model that the spec's importer reads there.
Importer = Callable[[str], Model]


def removable(layer: Layer) -> list[int]:
    """The positions of a hidden layer's units that are 0 where they are not active."""
    found: list[int] = np.flatnonzero((layer.slope.floats == 0) & (layer.curve_codes == Curve.LEAKY)).tolist()
    return found


def network_file(source: ModelSource | None, original: Model, known: Sequence[str]) -> str:
    """The path of the model's file; raises DiagnosticError (E0561) where no units could be taken out of it.

    ``source`` is what the spec says of where the model is from (None: nothing), ``known`` are the spec's models.
    """
    if original.opaque is not None:
        reason = "it is not a network whose layers are known"
    elif original.deployed is None:
        reason = "it is a linear model or a list of rules"
        if isinstance(source, InlineScore | RuleList):
            reason = "it is written in the spec"
    elif not any(removable(layer) for layer in original.layers[:-1]):
        reason = "it has no hidden `Relu` units"
    else:
        return original.deployed.path
    span = original.span if source is None else source.span
    raise DiagnosticError(errors.model_not_pruned(original.name, known, reason, span))


def as_declared(declaration: ModelDeclaration, domain: Domain) -> Importer:
    """An importer that reads files as the spec declares the model; a digest that it pins is the original's alone."""
    source = declaration.source
    assert isinstance(source, FileSource), "the model was read from a file"
    unpinned = replace(declaration, source=replace(source, sha256=None))
    return lambda path: load_model(unpinned, domain, override_path=path)
