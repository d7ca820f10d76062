"""``prune``: from a spec to the file of a pruned network, with what the pruning did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from fairdsl.codec import Document
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.elaborate import load_models
from fairdsl.ir.declaration import FileSource
from fairdsl.ir.model import Model
from fairdsl.numerics.narrow import narrow
from fairdsl.options.commands import Prune
from fairdsl.pruning import errors
from fairdsl.pruning.accuracy import Accuracy, Disagreement, accuracy, disagreement, labelled
from fairdsl.pruning.onnx_file import Written, write_onnx
from fairdsl.pruning.profile import candidates, least_active, profile
from fairdsl.pruning.source_file import as_declared, network_file
from fairdsl.semantics import CheckedSpec, front_end


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerCount:
    """A hidden layer."""

    #: Its units that bend.
    units: int
    #: How many of them were removed.
    removed: int
    #: How many of those the file keeps with weight 0.
    silenced: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned(Document):
    """The file that was written and how it differs from the original.

    Verdicts on it are about the pruned network, and prove nothing about the original.
    """

    SCHEMA: ClassVar[str] = "fairdsl.pruned/2"
    ALSO_WRITTEN: ClassVar[tuple[str, ...]] = ("units", "removed")

    #: The model's name in the spec.
    model: str
    #: The file of the original.
    original: str
    #: Its digest.
    original_sha256: str | None
    #: The file that was written.
    file: str
    #: Its digest.
    sha256: str | None
    #: The share of the individuals drawn for which a removed unit may have been active.
    tolerance: Fraction
    #: How many individuals were drawn.
    profiled: int
    #: The share for which the least active unit that bends is active; None where nobody was drawn.
    least: Fraction | None
    #: Of the draws.
    seed: int
    #: Layer by layer.
    layers: tuple[LayerCount, ...]
    #: What it did to decisions on a table; None where none was given.
    accuracy: Accuracy | None
    #: How many decisions changed among other individuals; None where none can be drawn uniformly.
    disagreement: Disagreement | None
    #: Whether the spec names the original by its digest, and will not take the new file as it stands.
    pinned: bool
    #: Findings about the original's file.
    diagnostics: tuple[Diagnostic, ...]

    @property
    def units(self) -> int:
        """How many hidden units the original has."""
        return sum(layer.units for layer in self.layers)

    @property
    def removed(self) -> int:
        """How many of them the pruned network does without."""
        return sum(layer.removed for layer in self.layers)

    def __str__(self) -> str:
        from fairdsl.pruning.words import lines

        return "\n".join(lines(self))


def prune_spec(
    path: str,
    *,
    model: str | None,
    models: Mapping[str, str],
    let: Mapping[str, str] | None = None,
    settings: Prune,
    data: str | None,
    output: str,
) -> Pruned:
    """Profile, prune and write a model of the spec at ``path``; ``model`` names it where there are several.

    Raises DiagnosticError for mistakes in the spec, its files and the data.
    """
    tolerance, points, seed = settings.tolerance, settings.points, settings.seed
    spec, _ = front_end(path, let)
    name = _chosen(spec, model)
    loaded, about_models = load_models(spec, models, only=frozenset({name}))
    original, domain = loaded[name], spec.models[name].domain
    source = spec.models[name].declaration.source
    file = network_file(source, original, tuple(spec.models))
    found = profile(original, domain, narrow(domain), points, seed)
    units = candidates(found, tolerance)
    # The data come first: what is wrong with them is said before any file is written.
    rows = None if data is None else labelled(spec, domain, original, data)
    written = write_onnx(
        file,
        original,
        units,
        output,
        as_declared(spec.models[name].declaration, domain),
        source.span,
    )
    return Pruned(
        model=name,
        original=file,
        original_sha256=original.sha256,
        file=output,
        sha256=written.model.sha256,
        tolerance=tolerance,
        profiled=found.points,
        least=least_active(found),
        seed=seed,
        layers=_counts(original, written),
        accuracy=None if rows is None else accuracy(rows, original, written.model),
        disagreement=disagreement(domain, original, written.model, points, seed),
        pinned=isinstance(source, FileSource) and source.sha256 is not None,
        diagnostics=about_models,
    )


def _chosen(spec: CheckedSpec, model: str | None) -> str:
    names = tuple(spec.models)
    if model is None and len(names) == 1:
        return names[0]
    if model is not None and model in names:
        return model
    several = f"the spec declares {len(names)} models" if names else "the spec declares no model"
    reason = several if model is None else f"no model of the spec is called `{model}`"
    raise DiagnosticError(errors.model_not_pruned(model, names, reason, None))


def _counts(original: Model, written: Written) -> tuple[LayerCount, ...]:
    return tuple(
        LayerCount(
            units=int(np.count_nonzero(~layer.linear)),
            removed=len(written.pruned.units.get(number, ())),
            silenced=len(written.silenced.get(number, ())),
        )
        for number, layer in enumerate(original.layers[:-1])
    )
