"""``from black_box "model.onnx"``: an ONNX file of any operators, which is only ever run.

The inputs are bound as those of other files. What the outputs are is seen by running the file on one individual.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Any

from numpy.typing import NDArray

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.declaration import (
    ByAnswer,
    DecisionClause,
    FileSource,
    Highest,
    ModelDeclaration,
    WhenClass,
    WhenProbability,
    WhenScore,
)
from fairdsl.ir.domain import Domain, Point
from fairdsl.ir.ensemble import attributes_of
from fairdsl.ir.feature import Form
from fairdsl.ir.model import Deployed, Feed, Model, Readout
from fairdsl.ir.opaque import BlackBox
from fairdsl.models import errors
from fairdsl.models.basis import Basis
from fairdsl.models.binding.columns import bind, feeds_of, feeds_width
from fairdsl.models.binding.words import binding_of
from fairdsl.models.black_boxes.asked import check_steady, some_of
from fairdsl.models.black_boxes.classes import known_classes, label_outputs
from fairdsl.models.black_boxes.reading import Kind, Told, kind_of, reading_of, rule_of, score_count
from fairdsl.models.classes.advice import by_class, by_number
from fairdsl.models.classes.known import Classes
from fairdsl.models.classes.labels import high_outcome, ordered, places_of
from fairdsl.models.graph import GraphInput, ImportedGraph
from fairdsl.models.onnx_import.signature import Signature, read_signature
from fairdsl.models.onnx_import.walk import shape_of_one
from fairdsl.models.running.runtime import Runtime
from fairdsl.models.which_file import check_pinned
from fairdsl.numerics.evaluate import points_of
from fairdsl.source import Span

#: The thresholds between two classes.
_MIDDLE = {WhenScore: Fraction(0), WhenProbability: Fraction(1, 2)}


def black_box_file(
    declaration: ModelDeclaration, source: FileSource, domain: Domain, override_path: str | None
) -> Model:
    """The model that is the file's answers; raises DiagnosticError with what is wrong."""
    path, span = override_path or source.path, source.span
    signature = read_signature(path, span)
    check_pinned(source, path, signature.sha256, replaced=override_path is not None)
    if signature.random:
        raise DiagnosticError(errors.not_steady(declaration.name, _draws(signature), span))
    graph, forms, feeds = _bound(declaration, domain, signature, path, span)
    plain = Deployed(
        path=path,
        sha256=signature.sha256,
        features=forms,
        feeds=feeds,
        output="",
        readout=Readout.LABEL,
        unread=True,
    )
    runtime = Runtime(plain, span)
    name, told = _output(declaration, signature, runtime, domain)
    outcomes, favourable = ordered(declaration, told.order)
    model = Model(
        name=declaration.name,
        outcomes=outcomes,
        inputs=tuple(dict.fromkeys(item for form in forms for item, _ in form.terms)),
        layers=(),
        rule=rule_of(declaration.decision),
        favourable=favourable,
        deployed=replace(
            plain,
            output=name,
            readout=told.readout,
            channel=told.channel,
            relation=told.relation,
            threshold=told.threshold,
            granted=told.granted,
            otherwise=told.otherwise,
            labels=told.labels,
            classes=told.classes.labels if told.classes is not None and told.classes.named else (),
        ),
        sha256=signature.sha256,
        opaque=BlackBox(
            scores=score_count(declaration.decision, declaration.outcomes),
            domain=domain,
            ignores=_ignored(signature, graph, forms, domain),
        ),
        span=span,
    )
    check_steady(model)
    return replace(model, binding=binding_of(declaration, domain, graph, forms, model))


def _draws(signature: Signature) -> str:
    listing = ", ".join(f"`{node}` ({operator})" for operator, node in signature.random[:4])
    return f"it draws at random: node {listing}"


def _bound(
    declaration: ModelDeclaration, domain: Domain, signature: Signature, path: str, span: Span
) -> tuple[ImportedGraph, tuple[Form, ...], tuple[Feed, ...]]:
    """The file as a graph of which only the inputs are known, and what fills these."""
    width = feeds_width(declaration, domain)
    inputs = []
    for raw in signature.inputs:
        if raw.dtype == "other":
            reason = "it takes values that are not numbers and no text"
            raise DiagnosticError(errors.input_not_bound(path, [raw.name], [], reason, span))
        inputs.append(GraphInput(name=raw.name, width=prod(shape_of_one(path, raw, width, span)), dtype=raw.dtype))
    graph = ImportedGraph(
        path=path, sha256=signature.sha256, inputs=tuple(inputs), basis=Basis(), outputs=(), runnable=True
    )
    forms = bind(declaration, domain, graph, span)
    return graph, forms, feeds_of(graph, forms, domain)


def _ignored(signature: Signature, graph: ImportedGraph, forms: tuple[Form, ...], domain: Domain) -> frozenset[int]:
    """The attributes that fill only columns which the file takes nothing from."""
    read: set[int] = set()
    start = 0
    for item in graph.inputs:
        taken = signature.taken.get(item.name, frozenset(range(item.width)))
        for column in taken:
            read.update(*(attributes_of(term) for term, _ in forms[start + column].terms))
        start += item.width
    return frozenset(range(len(domain.attributes))) - read


def _somebody(domain: Domain) -> Point:
    """One number for each attribute, as a try: the file runs with it or it does not."""
    found = []
    for attribute in domain.attributes:
        low, high = attribute.bounds
        number = low if low is not None else high if high is not None else Fraction(0)
        found.append(Fraction(attribute.values[0]) if attribute.values else number)
    return tuple(found)


def _output(declaration: ModelDeclaration, signature: Signature, runtime: Runtime, domain: Domain) -> tuple[str, Told]:
    """The first output that fits the decision clause; raises DiagnosticError (E0511) where none does.

    A class is what the file's label says; columns stand for classes only where there is no label.
    """
    first = runtime.outputs(_somebody(domain))
    tried = [runtime.outputs(point) for point in points_of(some_of(domain))] or [first]
    names, clause = list(first), declaration.decision
    labels = label_outputs(first)
    if isinstance(clause, WhenClass | ByAnswer) and labels:
        names = labels
    for name in names:
        output, classes = first[name], known_classes(name, signature, tried)
        _check_answers(declaration, classes, output)
        told = reading_of(declaration, classes, kind_of(output), output.shape[1])
        if told is not None:
            return name, told
    title = f"the file has no output of {_wanted(clause, len(declaration.outcomes))}"
    notes = [f"output `{name}`: {_in_words(output)}" for name, output in first.items()]
    shown = labels or names
    remedies = [
        _remedy(declaration, known_classes(name, signature, tried), [row[name] for row in tried]) for name in shown
    ]
    help_text = "; or ".join(dict.fromkeys(remedies))
    raise DiagnosticError(
        errors.decision_does_not_fit(title, "needs another output than the file has", help_text, clause.span, notes)
    )


def _check_answers(declaration: ModelDeclaration, classes: Classes, output: NDArray[Any]) -> None:
    """Without a rule the labels have to be the outcomes' names; raises DiagnosticError (E0511)."""
    if not isinstance(declaration.decision, ByAnswer) or output.shape[1] != 1 or not classes.named:
        return
    if not {*classes.labels} <= {*declaration.outcomes} or (classes.complete and len(classes.labels) > 1):
        places_of(declaration, classes)


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


def _remedy(declaration: ModelDeclaration, classes: Classes, tried: Sequence[NDArray[Any]]) -> str:
    """The clause that would fit an output, of which some answers are known; a threshold is one of the same number."""
    outcomes, clause, output = declaration.outcomes, declaration.decision, tried[0]
    as_class = not isinstance(clause, WhenScore | WhenProbability) or clause.threshold == _MIDDLE[type(clause)]
    match kind_of(output), output.shape[1]:
        case Kind.NUMBERS, 1 if len(outcomes) == 2 and as_class:
            if all(0 <= float(row[0, 0]) <= 1 for row in tried):
                return by_number(outcomes, "probability >= 0.5", "a high probability")
            return by_number(outcomes, "score > 0", "a high score")
        case Kind.NUMBERS, columns if columns == len(outcomes) and as_class:
            return by_class(outcomes, classes, _about(declaration))
        case ((Kind.CLASSES | Kind.TEXTS), 1) if as_class:
            return by_class(outcomes, classes, _about(declaration))
    return f"audit a file with another output than {_in_words(output)}"


def _about(declaration: ModelDeclaration) -> str:
    """The outcome that a rule says something of."""
    clause = declaration.decision
    if isinstance(clause, WhenScore | WhenProbability):
        return high_outcome(declaration, clause)
    return declaration.outcomes[clause.classes[0].outcome if isinstance(clause, WhenClass) else -1]
