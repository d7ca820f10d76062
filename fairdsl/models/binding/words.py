"""The connection of a file with the spec, put into words where the file is bound."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from fairdsl.ir.binding import Binding, BoundInput, BoundOutcome
from fairdsl.ir.declaration import ModelDeclaration, WhenProbability, WhenScore
from fairdsl.ir.domain import Attribute, Boolean, Category, Domain, show_number
from fairdsl.ir.expr import Member
from fairdsl.ir.feature import AttributeInput, Form, IndicatorInput
from fairdsl.ir.model import Model
from fairdsl.ir.outcome_reading import outcome_readings
from fairdsl.models.binding.columns import bound_by, extent
from fairdsl.models.graph import ImportedGraph

#: A category with more values is not listed whole.
_VALUES = 24


def binding_of(
    declaration: ModelDeclaration,
    domain: Domain,
    graph: ImportedGraph,
    forms: Sequence[Form],
    model: Model,
) -> Binding:
    """What fills the inputs of the file, and what of its output makes a decision of the model."""
    by = bound_by(declaration, domain, graph)
    texts = [item.dtype == "string" for item in graph.inputs for _ in range(item.width)]
    inputs = []
    for position, (name, form) in enumerate(zip(_names(graph), forms, strict=True)):
        inputs.append(
            BoundInput(
                input=name,
                feature=_feature(declaration, domain, position, form),
                values=_values(form, domain, as_text=texts[position]),
                codes=() if texts[position] else _codes(form, domain),
            )
        )
    return Binding(by=by, inputs=tuple(inputs), outcomes=_outcomes(declaration, model))


# ---- inputs --------------------------------------------------------------------------------------


def _names(graph: ImportedGraph) -> list[str]:
    """The file's names of the numbers that it reads."""
    if graph.feature_names is not None:
        return list(graph.feature_names)
    names = []
    for item in graph.inputs:
        names += [item.name] if item.width == 1 else [f"{item.name}[{place}]" for place in range(item.width)]
    return names


def _feature(declaration: ModelDeclaration, domain: Domain, position: int, form: Form) -> str:
    match form.terms:
        case ((AttributeInput(attribute=index), factor),) if factor == 1 and not form.constant:
            return domain.attributes[index].name
        case ((IndicatorInput(predicate=Member(variable=variable, values=values)), factor),) if factor == 1:
            if len(values) == 1 and not form.constant:
                attribute = domain.attributes[variable.attribute]
                return f"{attribute.name} = {attribute.show(next(iter(values)))}"
    return " ".join(declaration.reads_spans[position].text.split())


def _values(form: Form, domain: Domain, *, as_text: bool) -> str:
    """Which numbers come in."""
    items = [item for item, _ in form.terms]
    if len(items) == 1 and form.terms[0][1] == 1 and not form.constant:
        item = items[0]
        return "0 or 1" if isinstance(item, IndicatorInput) else _own(domain.attributes[item.attribute], as_text)
    return _range(*extent(form, domain))


def _own(attribute: Attribute, as_text: bool) -> str:
    """The values of an attribute that is read as it stands."""
    if attribute.missing is not None:
        return f"{_own(attribute.known, as_text)}; {'the empty text' if as_text else 'NaN'} where missing"
    match attribute.type:
        case Category(values=values):
            names = [(value.name or '""', value.code) for value in values[:_VALUES]]
            shown = [name if as_text else f"{name} = {code}" for name, code in names]
            more = f" and {len(values) - _VALUES} more" if len(values) > _VALUES else ""
            return ", ".join(shown) + more
        case Boolean():
            return "false = 0, true = 1"
        case _:
            return _range(*attribute.bounds)


def _range(low: Fraction | None, high: Fraction | None) -> str:
    if low is None and high is None:
        return "any number"
    if low is None or high is None:
        return f"from {_short(low)}" if low is not None else f"to {_short(high or Fraction(0))}"
    return f"{_short(low)} .. {_short(high)}"


def _short(number: Fraction) -> str:
    exact = show_number(number)
    return exact if "/" not in exact else f"{float(number):.6g}"


def _codes(form: Form, domain: Domain) -> tuple[tuple[str, int], ...]:
    """The codes of a category that is read as it stands."""
    match form.terms:
        case ((AttributeInput(attribute=index), factor),) if factor == 1 and not form.constant:
            kind = domain.attributes[index].known.type
            return tuple((value.name, value.code) for value in kind.values) if isinstance(kind, Category) else ()
    return ()


# ---- outcomes ------------------------------------------------------------------------------------


def _outcomes(declaration: ModelDeclaration, model: Model) -> tuple[BoundOutcome, ...]:
    readings = outcome_readings(model)
    words = [reading.text for reading in readings] or _of_document(declaration)
    return tuple(BoundOutcome(outcome=name, when=when) for name, when in zip(model.outcomes, words, strict=True))


def _of_document(declaration: ModelDeclaration) -> list[str]:
    """Of a linear model's document the decision rule is all there is."""
    clause, count = declaration.decision, len(declaration.outcomes)
    match clause:
        case WhenScore() | WhenProbability():
            number = "score" if isinstance(clause, WhenScore) else "probability"
            words = ["otherwise", "otherwise"]
            words[clause.outcome] = f"{number} {clause.relation.value} {show_number(clause.threshold)}"
            return words
        case _:
            return [f"score {place} is the highest" for place in range(count)]
