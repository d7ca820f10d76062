"""``from black_box "model.onnx"``: an ONNX file of any operators, which is only ever run.

The inputs are bound as those of other files. What the outputs are is seen by running the file on one individual.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Any

from numpy.typing import NDArray

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.declaration import DecisionClause, FileSource, Highest, ModelDeclaration, WhenProbability, WhenScore
from fairdsl.ir.domain import Category, Domain, Point
from fairdsl.ir.feature import AttributeInput, Form
from fairdsl.ir.model import Deployed, Feed, Model, Readout
from fairdsl.ir.opaque import BlackBox
from fairdsl.models import errors
from fairdsl.models.basis import Basis
from fairdsl.models.bind import bind, feeds_width
from fairdsl.models.black_box import check_steady, some_of
from fairdsl.models.black_box_reading import Kind, Told, kind_of, reading_of, rule_of, score_count
from fairdsl.models.class_names import check_class_names
from fairdsl.models.graph import GraphInput, ImportedGraph
from fairdsl.models.onnx_import.signature import Signature, read_signature
from fairdsl.models.onnx_import.walk import shape_of_one
from fairdsl.models.pinned import check_pinned
from fairdsl.models.runtime import Runtime
from fairdsl.numerics.evaluate import points_of
from fairdsl.source import Span

__all__ = ["black_box_file"]


def black_box_file(
    declaration: ModelDeclaration, source: FileSource, domain: Domain, override_path: str | None
) -> Model:
    """The model that is the file's answers; raises DiagnosticError with what is wrong."""
    path, span = override_path or source.path, source.span
    signature = read_signature(path, span)
    check_pinned(source, path, signature.sha256, replaced=override_path is not None)
    if signature.random:
        raise DiagnosticError(errors.not_steady(declaration.name, _draws(signature), span))
    forms, feeds = _bound(declaration, domain, signature, path, span)
    plain = Deployed(
        path=path,
        sha256=signature.sha256,
        features=forms,
        feeds=feeds,
        output="",
        readout=Readout.LABEL,
    )
    runtime = Runtime(plain, span)
    name, told = _output(declaration, runtime.outputs(_somebody(domain)), path)
    if told.readout in (Readout.CHANNEL, Readout.HIGHEST):
        named = signature.columns.get(name, ()) or _order_by_labels(declaration.outcomes, runtime, domain, name)
        check_class_names(declaration, name, named)
    model = Model(
        name=declaration.name,
        outcomes=declaration.outcomes,
        inputs=tuple(dict.fromkeys(item for form in forms for item, _ in form.terms)),
        layers=(),
        rule=rule_of(declaration.decision),
        favourable=declaration.favourable,
        deployed=Deployed(
            path=path,
            sha256=signature.sha256,
            features=forms,
            feeds=feeds,
            output=name,
            readout=told.readout,
            channel=told.channel,
            relation=told.relation,
            threshold=told.threshold,
            granted=told.granted,
            otherwise=told.otherwise,
            labels=told.labels,
        ),
        sha256=signature.sha256,
        opaque=BlackBox(scores=score_count(declaration.decision, declaration.outcomes), domain=domain),
        span=span,
    )
    check_steady(model)
    return model


def _draws(signature: Signature) -> str:
    listing = ", ".join(f"`{node}` ({operator})" for operator, node in signature.random[:4])
    return f"it draws at random: node {listing}"


def _bound(
    declaration: ModelDeclaration, domain: Domain, signature: Signature, path: str, span: Span
) -> tuple[tuple[Form, ...], tuple[Feed, ...]]:
    """What fills the inputs of the file."""
    width = feeds_width(declaration, domain)
    inputs = []
    for raw in signature.inputs:
        if raw.dtype == "other":
            reason = "it takes values that are no numbers and no text"
            raise DiagnosticError(errors.input_not_bound(path, [raw.name], [], reason, span))
        inputs.append(GraphInput(name=raw.name, width=prod(shape_of_one(path, raw, width, span)), dtype=raw.dtype))
    graph = ImportedGraph(
        path=path, sha256=signature.sha256, inputs=tuple(inputs), basis=Basis(), outputs=(), runnable=True
    )
    forms = bind(declaration, domain, graph, span)
    feeds, start = [], 0
    for item in inputs:
        features = tuple(range(start, start + item.width))
        texts = tuple(_texts(forms[index], domain) for index in features) if item.dtype == "string" else ()
        feeds.append(Feed(name=item.name, features=features, dtype=item.dtype, texts=texts))
        start += item.width
    return forms, tuple(feeds)


def _texts(form: Form, domain: Domain) -> tuple[tuple[int, str], ...]:
    """The names that stand for the codes of the category that the form is, as :func:`bind` has seen to."""
    ((item, _),) = form.terms
    assert isinstance(item, AttributeInput)
    kind = domain.attributes[item.attribute].type
    assert isinstance(kind, Category)
    return tuple((value.code, value.name) for value in kind.values)


def _somebody(domain: Domain) -> Point:
    """One number for each attribute, as a try: the file runs with it or it does not."""
    found = []
    for attribute in domain.attributes:
        low, high = attribute.bounds
        number = low if low is not None else high if high is not None else Fraction(0)
        found.append(Fraction(attribute.values[0]) if attribute.values else number)
    return tuple(found)


def _output(declaration: ModelDeclaration, outputs: Mapping[str, NDArray[Any]], path: str) -> tuple[str, Told]:
    """The first output that fits the decision clause; raises DiagnosticError (E0511) where none does."""
    clause, outcomes = declaration.decision, declaration.outcomes
    for name, output in outputs.items():
        told = reading_of(clause, outcomes, kind_of(output), output.shape[1])
        if told is not None:
            return name, told
    wanted = _wanted(clause, len(outcomes))
    notes = [f"output `{name}`: {_in_words(output)}" for name, output in outputs.items()]
    raise DiagnosticError(
        errors.decision_does_not_fit(
            f"the file has no output of {wanted}",
            "needs another output than the file has",
            "write " + ", or ".join(dict.fromkeys(_remedy(declaration, output) for output in outputs.values())),
            clause.span,
            notes,
        )
    )


def _order_by_labels(outcomes: tuple[str, ...], runtime: Runtime, domain: Domain, name: str) -> tuple[str, ...]:
    """The alphabetical order of the outcomes, in which scikit-learn has its columns, if the file's own labels show it.

    They show it if the column of the label is a highest one for everybody of a few in that order, and not in the order
    in which the outcomes are declared.
    """
    sorted_ones = tuple(sorted(outcomes))
    tried = [runtime.outputs(point) for point in points_of(some_of(domain))]
    if sorted_ones == outcomes or not tried or any(row[name].shape[1] != len(outcomes) for row in tried):
        return ()
    for other, output in tried[0].items():
        if kind_of(output) is not Kind.TEXTS or output.shape[1] != 1:
            continue
        labels = [str(row[other][0, 0]) for row in tried]
        if all(label in outcomes for label in labels) and not _highest(outcomes, labels, tried, name):
            return sorted_ones if _highest(sorted_ones, labels, tried, name) else ()
    return ()


def _highest(
    order: tuple[str, ...], labels: Sequence[str], tried: Sequence[Mapping[str, NDArray[Any]]], name: str
) -> bool:
    """Whether everybody's label has a highest number of the output, if its columns are in that order."""
    return all(row[name][0, order.index(label)] == row[name][0].max() for label, row in zip(labels, tried, strict=True))


def _wanted(clause: DecisionClause, outcomes: int) -> str:
    match clause:
        case WhenScore():
            return "one number for each individual"
        case WhenProbability():
            return "one probability, or two, for each individual"
        case Highest():
            return f"{outcomes} numbers for each individual"
        case _:
            return "one class for each individual"


def _in_words(output: NDArray[Any]) -> str:
    kind = kind_of(output)
    return "neither numbers nor texts" if kind is None else kind.several(output.shape[1])


def _remedy(declaration: ModelDeclaration, output: NDArray[Any]) -> str:
    """The clause that would fit an output."""
    granted, outcomes = declaration.outcomes[-1], len(declaration.outcomes)
    match kind_of(output), output.shape[1]:
        case Kind.NUMBERS, 1 if outcomes == 2:
            return f"`{granted} when score > 0`"
        case Kind.NUMBERS, columns if columns == outcomes:
            return "`decide by highest score`"
        case Kind.CLASSES, 1 if outcomes == 2:
            return f"`{granted} when class = 1`"
        case ((Kind.CLASSES | Kind.TEXTS), 1):
            return "no rule: the answers name the outcomes"
    return f"a file with another output than `{_in_words(output)}`"
