"""Whether a model's file is connected with the spec as it was with its training data, as far as that can be seen."""

from __future__ import annotations

from collections.abc import Mapping

from fairdsl.diagnostics import DiagnosticError, Reporter
from fairdsl.elaborate import errors
from fairdsl.ir.agreement import Agreement
from fairdsl.ir.declaration import FileSource, ModelDeclaration
from fairdsl.ir.model import Model
from fairdsl.recorded import held_against
from fairdsl.semantics.checked import CheckedSpec

__all__ = ["hold_models", "tell_order"]


def tell_order(model: Model, declaration: ModelDeclaration, reporter: Reporter) -> None:
    """Warn of inputs without names, of which the order of the attributes alone says what they are."""
    binding, source = model.binding, declaration.source
    if binding is None or not binding.by_order_alone or not isinstance(source, FileSource):
        return
    if declaration.recorded is not None:  # recorded decisions vouch for the order
        return
    path = source.path if model.deployed is None else model.deployed.path
    features = [item.feature for item in binding.inputs]
    reporter.report(errors.bound_by_order(model.name, path, binding.input_lines(), features, source.span))


def hold_models(spec: CheckedSpec, models: Mapping[str, Model], reporter: Reporter) -> dict[str, Agreement]:
    """What comes of holding these models against the decisions that their clauses `agrees with` name."""
    agreements: dict[str, Agreement] = {}
    for name, model in models.items():
        checked = spec.models[name]
        if checked.declaration.recorded is None:
            continue
        try:
            agreements[name] = held_against(model, checked.declaration, checked.domain, checked.declaration.recorded)
            reporter.extend(agreements[name].findings)
        except DiagnosticError as error:
            reporter.extend(error.diagnostics)
    return agreements
