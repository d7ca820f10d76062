"""The pruned network as an ONNX file, and the proof that the file is it.

The file is the original one with some initializers cut (:mod:`fairdsl.pruning.cut`): same inputs, shapes, types,
operators, final activation and labels. It is imported again, by the importer that ``check`` uses, and what
comes back has to be the pruned model, weight by weight and exactly; otherwise no file is left behind. Its
metadata say what it was made from. The bytes depend on the original file and on the units alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.model import Layer, Model
from fairdsl.models.onnx_import.file import whole_model
from fairdsl.models.running.runtime import Runtime
from fairdsl.models.which_file import PRUNED_FOR, PRUNED_FROM, REMOVED_UNITS
from fairdsl.pruning import errors
from fairdsl.pruning.cut import Cutter
from fairdsl.pruning.profile import Units
from fairdsl.pruning.remove import PrunedModel, remove, removed_layers, silenced_layers
from fairdsl.pruning.source_file import Importer
from fairdsl.pruning.stages import Stage, stages_by_layer
from fairdsl.resources import version
from fairdsl.source import Span
from fairdsl.source.writing import draft


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """The file as it was imported again.

    ``model`` is the network in the file. Its units are those of ``pruned`` (every removed unit gone), and
    in addition the ``silenced`` ones, whose weights are 0 because more than products read them.
    """

    model: Model
    pruned: PrunedModel
    silenced: Units


def write_onnx(
    source: str,
    model: Model,
    units: Units,
    target: str,
    importer: Importer,
    span: Span | None = None,
    *,
    part: str | None = None,
) -> Written:
    """Write the file at ``source``, whose model is ``model``, without the ``units`` to ``target``.

    ``importer`` reads a file as the spec declares it; ``span`` is the place in the spec that names the file;
    ``part`` says in words which people the units are seldom active for, where that is not everybody. Raises
    DiagnosticError (E0560) where the units cannot be cut out exactly; then nothing is written.
    """
    if Path(source).resolve() == Path(target).resolve():
        help_text = "name another file with `-o`: the original is what people are decided by"
        raise DiagnosticError(errors.not_cut_exactly(source, "the target is the original file", span, help_text))
    proto = _opened(source)
    # Some exporters write files that only onnxruntime is content with; theirs need not become better.
    was_valid = _objection(proto) is None
    silenced = _cut(source, proto, model, units, span)
    _sign(proto, model, units, part)
    objection = _objection(proto)
    if was_valid and objection is not None:
        raise DiagnosticError(errors.not_cut_exactly(source, objection, span))
    content: bytes = proto.SerializeToString(deterministic=True)
    with draft(target) as file:
        file.write(content)
        file.flush()
        imported = importer(file.name)
        sliced = {layer: tuple(u for u in units[layer] if u not in silenced.get(layer, ())) for layer in units}
        expected = _expected(model.layers, sliced, silenced)
        if not _same(imported, model, expected):
            reason = "the cut file does not read as the network without these units"
            raise DiagnosticError(errors.not_cut_exactly(source, reason, span))
    assert imported.deployed is not None, "ONNX files are deployed"
    deployed = replace(imported.deployed, path=target)
    Runtime(deployed, span)  # a file that does not run is not a network
    imported = replace(imported, deployed=deployed)
    return Written(model=imported, pruned=remove(model, units), silenced=silenced)


def _opened(source: str) -> Any:
    """The file with the data of its side files inside and its local functions in place."""
    import onnx.inliner

    proto = whole_model(source)
    return onnx.inliner.inline_local_functions(proto) if len(proto.functions) else proto


def _cut(source: str, proto: Any, model: Model, units: Units, span: Span | None) -> dict[int, tuple[int, ...]]:
    """Cut the graph; the units that could only be silenced are returned."""
    cutter = Cutter(proto.graph)
    placed = stages_by_layer(cutter.graph, model.layers)
    silenced: dict[int, tuple[int, ...]] = {}
    for layer, positions in sorted(units.items()):
        found = [_in_stage(placed.get(layer, ()), unit) for unit in positions]
        if None in found:
            reason = f"layer {layer + 1} of the network is not a plain row of `Relu` units in the file"
            raise DiagnosticError(errors.not_cut_exactly(source, reason, span))
        for start, stage in placed.get(layer, ()):
            own = np.array([unit - start for unit in positions if 0 <= unit - start < stage.width], dtype=np.int64)
            # A stage keeps one unit, for tensors of no numbers are refused by other programs.
            if stage.readers is not None and len(own) < stage.width:
                cutter.slice(stage, own)
            elif len(own):
                cutter.silence(stage, own)
                silenced[layer] = (*silenced.get(layer, ()), *(int(unit) + start for unit in own))
    cutter.finish()
    return silenced


def _in_stage(placed: Sequence[tuple[int, Stage]], unit: int) -> Stage | None:
    return next((stage for start, stage in placed if start <= unit < start + stage.width), None)


def _sign(proto: Any, model: Model, units: Units, part: str | None) -> None:
    """Who made the file and, where units were removed, from which network, for whom, and how many in each layer."""
    proto.producer_name, proto.producer_version = "fairdsl", version()
    counts = {layer + 1: len(units[layer]) for layer in sorted(units) if units[layer]}
    removed = ", ".join(f"{count} unit{'s' * (count != 1)} of layer {layer}" for layer, count in counts.items())
    if not removed:
        return
    ours = {PRUNED_FROM: model.sha256 or "", REMOVED_UNITS: removed}
    if part is not None:
        ours[PRUNED_FOR] = part
    kept = [(entry.key, entry.value) for entry in proto.metadata_props if entry.key not in ours]
    del proto.metadata_props[:]
    for key, value in (*kept, *ours.items()):
        proto.metadata_props.add(key=key, value=value)


def _objection(proto: Any) -> str | None:
    """What onnx's own checker says against the file; None where it is content."""
    import onnx

    try:
        onnx.checker.check_model(proto, full_check=True)
    except Exception as problem:  # the checker and shape inference raise classes of their own
        return (str(problem).strip().splitlines() or [type(problem).__name__])[0][:160]
    return None


def _expected(layers: Sequence[Layer], sliced: Units, silenced: Units) -> tuple[Layer, ...]:
    """The layers of the cut file: units silenced first, by their places in the original."""
    return removed_layers(silenced_layers(layers, silenced), sliced)


def _same(found: Model, original: Model, layers: Sequence[Layer]) -> bool:
    """Whether the model is the original one with these layers."""
    bare, wanted = (replace(model, layers=(), deployed=None, sha256=None) for model in (found, original))
    return bare == wanted and len(found.layers) == len(layers) and all(map(_equal, found.layers, layers))


def _equal(one: Layer, other: Layer) -> bool:
    arrays = ((one.weight, other.weight), (one.bias, other.bias), (one.slope, other.slope))
    return one.curves == other.curves and all(_equal_numbers(left, right) for left, right in arrays)


def _equal_numbers(one: ExactArray, other: ExactArray) -> bool:
    """Equal as rationals: the two zeros of floats are one number."""
    if one.shape != other.shape or one.is_float != other.is_float:
        return False
    if one.is_float:
        return bool(np.array_equal(one.floats, other.floats))
    return bool((one.exact == other.exact).all())
