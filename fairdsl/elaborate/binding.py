"""Whether a model's file is connected with the spec as it was with its training data, as far as that can be seen."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from fairdsl.diagnostics import DiagnosticError, Reporter
from fairdsl.elaborate import errors
from fairdsl.elaborate.own_names import contradictions
from fairdsl.ir.agreement import Agreement
from fairdsl.ir.binding import BoundBy
from fairdsl.ir.declaration import FileSource, ModelDeclaration
from fairdsl.ir.domain import Domain, Integer, Real
from fairdsl.ir.exact_rows import ExactRows, Scaled
from fairdsl.ir.model import Model
from fairdsl.ir.opaque import BlackBox
from fairdsl.semantics.checked import CheckedSpec
from fairdsl.semantics.ranges import beside_rows

#: Rows of which fewer may well be decided alike, and those that are looked at before all are.
_FEW, _FIRST = 30, 256
#: Numbers of which fewer may be marks, or all of one kind.
_NUMBERS = 3


def tell_binding(model: Model, declaration: ModelDeclaration, domain: Domain, reporter: Reporter) -> None:
    """Warn of inputs of which the order of the attributes alone says what they are, or that `reads` takes for others.

    Where recorded decisions vouch for the binding, nothing is to be said.
    """
    binding, source = model.binding, declaration.source
    if binding is None or not isinstance(source, FileSource) or declaration.recorded is not None:
        return
    path = source.path if model.deployed is None else model.deployed.path
    if binding.by_order_alone:
        features = [item.feature for item in binding.inputs]
        reporter.report(errors.bound_by_order(model.name, path, binding.input_lines(), features, source.span))
    if binding.by is BoundBy.READS:
        names = [(item.input, item.feature) for item in binding.inputs]
        reporter.extend(contradictions(model.name, declaration, names, domain, listed=path.endswith(".json")))


def tell_one_outcome(model: Model, rows: ExactRows, population: str, reporter: Reporter) -> None:
    """Warn of a file that decides alike about every row [n, attributes] of a table.

    Numbers in another order, unit or scale than in training often make it so, and then no group differs from another.
    Functions are not asked for it, for asking may cost something; recorded decisions vouch for whatever is decided.
    """
    declaration = model.declaration
    if declaration is None or not isinstance(declaration.source, FileSource) or declaration.recorded is not None:
        return
    if len(rows) < _FEW or (isinstance(model.opaque, BlackBox) and model.opaque.call is not None):
        return
    from fairdsl.recorded_decisions import many_decided

    some = many_decided(model, rows.at(slice(_FIRST)).floats)
    if len(set(some.tolist())) == 1 and (many_decided(model, rows.floats) == some[0]).all() and some[0] >= 0:
        outcome = model.outcomes[some[0]]
        reporter.report(errors.one_outcome(model.name, outcome, len(rows), population, declaration.source.span))


def tell_ranges(
    domain: Domain, rows: ExactRows, population: str, told: set[tuple[str, str]], reporter: Reporter
) -> None:
    """Warn of ranges that are in another unit than the rows; ``told`` are the attributes and populations so far."""
    for place, attribute in enumerate(domain.attributes if len(rows) >= _FEW else ()):
        if (attribute.name, population) in told or not isinstance(attribute.known.type, Integer | Real):
            continue
        told.add((attribute.name, population))
        column = rows.column(place)
        scaled = column if isinstance(column, Scaled) else Scaled(column, 1)
        missing = None if attribute.missing is None else attribute.missing * scaled.denominator
        numbers = np.unique(scaled.numerators if missing is None else scaled.numerators[scaled.numerators != missing])
        if len(numbers) >= _NUMBERS:
            least, largest = (Fraction(end) / scaled.denominator for end in numbers[[0, -1]].tolist())
            reporter.extend(beside_rows(attribute, (least, largest), population))


def hold_models(spec: CheckedSpec, models: Mapping[str, Model], reporter: Reporter) -> dict[str, Agreement]:
    """What comes of holding these models against the decisions that their clauses `agrees with` name."""
    agreements: dict[str, Agreement] = {}
    for name, model in models.items():
        checked = spec.models[name]
        if checked.declaration.recorded is None:
            continue
        from fairdsl.recorded_decisions import held_against  # few specs name any

        try:
            agreements[name] = held_against(model, checked.declaration, checked.domain, checked.declaration.recorded)
            reporter.extend(agreements[name].findings)
        except DiagnosticError as error:
            reporter.extend(error.diagnostics)
    return agreements
