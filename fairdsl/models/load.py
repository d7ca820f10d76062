"""From a declaration to a model: the file is opened, checked, bound, folded and given its decision rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from fairdsl.diagnostics import Diagnostic, DiagnosticError, Reporter, Severity
from fairdsl.ir.declaration import CallableSource, FileSource, InlineScore, ModelDeclaration, RuleList
from fairdsl.ir.domain import Domain
from fairdsl.ir.ensemble import listed_of
from fairdsl.ir.feature import Form
from fairdsl.ir.model import Deployed, Model
from fairdsl.models import errors
from fairdsl.models.binding.absent import check_read, given_forms, may_lack
from fairdsl.models.binding.columns import bind, check_whole, ends_of, feeds_of, feeds_width, few_values, texts_of
from fairdsl.models.binding.early import bind_early
from fairdsl.models.binding.elsewhere import ranges_elsewhere
from fairdsl.models.binding.indicators import EntangledError, one_hot_groups
from fairdsl.models.binding.known import unknown_values
from fairdsl.models.binding.words import binding_of
from fairdsl.models.boosters import LIBRARIES, library_of, read_booster
from fairdsl.models.classes.labels import ordered
from fairdsl.models.decide import Decided, decide
from fairdsl.models.features import fold
from fairdsl.models.graph import GraphInputs, ImportedGraph, Texts
from fairdsl.models.kernels import MixedError, kernel_machine, terms_of
from fairdsl.models.linear_json import affine_graph, read_linear
from fairdsl.models.marks import Ends
from fairdsl.models.probabilities import logits_of
from fairdsl.models.rules import rules_model
from fairdsl.models.schedule import first_blocks, lay_out
from fairdsl.models.which_file import check_pinned
from fairdsl.source import Span

#: How a fault in what was read shows itself when it is evaluated.
_FAILURES = (ArithmeticError, AssertionError, LookupError, TypeError, ValueError)
_BY_EXTENSION = {
    ".onnx": "onnx",
    ".json": "linear",
    ".ubj": "xgboost",
    ".keras": "keras",
    ".h5": "keras",
    ".hdf5": "keras",
}


def load_model(
    declaration: ModelDeclaration,
    domain: Domain,
    *,
    override_path: str | None = None,
    function: Callable[[Any], Any] | None = None,
    reporter: Reporter | None = None,
) -> Model:
    """The model that the declaration describes; warnings go to ``reporter``.

    With a ``reporter`` to say so, an ONNX file that runs and cannot be read exactly is asked as a black box.

    ``override_path`` names a file to read in place of the spec's (a pinned digest still has to match), ``function``
    is the Python function of ``from callable``.
    Raises DiagnosticError with everything that is wrong.
    """
    warnings = reporter if reporter is not None else Reporter()
    source = declaration.source
    if isinstance(source, RuleList):
        return rules_model(declaration, source)
    if isinstance(source, CallableSource):
        return _function(declaration, source, domain, function)
    if isinstance(source, FileSource) and source.format == "black_box":
        from fairdsl.models.black_boxes.file import black_box_file

        return black_box_file(declaration, source, domain, override_path)
    if isinstance(source, InlineScore):
        try:
            graph, forms = _inline(source)
        except OverflowError as problem:
            raise DiagnosticError(errors.not_finite("", "a number in it", source.span)) from problem
        decided = decide(declaration, graph, warnings.report)
    else:
        try:
            graph = _open(declaration, domain, source, override_path)
        except DiagnosticError as problem:
            from fairdsl.models.black_boxes.unread import (
                asked_instead,  # most files are read, and some models stand in the spec
            )

            return asked_instead(declaration, domain, override_path, problem, reporter)
        forms, decided = _bound_and_decided(declaration, domain, graph, source.span, warnings)
        if graph.rounded:
            warnings.report(errors.root_rounded(graph.path, graph.rounded, source.span))
    try:
        model = _assemble(declaration, domain, graph, forms, decided)
    except OverflowError as problem:
        raise DiagnosticError(errors.not_finite(graph.path, "a product of weights", source.span)) from problem
    except DiagnosticError as problem:  # some units cannot be laid out together
        from fairdsl.models.black_boxes.unread import asked_instead

        return asked_instead(declaration, domain, override_path, problem, reporter)
    except _FAILURES as problem:
        raise DiagnosticError(_not_evaluated(graph.path, problem, source.span)) from problem
    try:
        _confirm(model, graph, domain, source.span)
    except _FAILURES as problem:
        raise DiagnosticError(_not_evaluated(graph.path, problem, source.span)) from problem
    return model


def _not_evaluated(path: str, problem: Exception, span: Span) -> Diagnostic:
    from fairdsl.models.confirm.errors import not_evaluated  # models that stand in the spec are not run

    return not_evaluated(path, problem, span)


def _confirm(model: Model, graph: ImportedGraph, domain: Domain, span: Span) -> None:
    """Hold the model against its file, if it has one that runs, and note how far."""
    if model.deployed is None:
        return
    from fairdsl.models.confirm import confirm

    reading = confirm(model, graph, domain, span)
    # Nobody else has the model yet; a copy would lose what was derived of it for the confirmation.
    object.__setattr__(model, "reading", reading)
    object.__setattr__(model, "deployed", replace(model.deployed, alone=reading.alone))


def _function(
    declaration: ModelDeclaration, source: CallableSource, domain: Domain, function: Callable[[Any], Any] | None
) -> Model:
    from fairdsl.models.black_boxes.function import callable_model

    if function is None:
        raise DiagnosticError(errors.function_needed(declaration.name, source.span))
    return callable_model(declaration, domain, function)


def _inline(source: InlineScore) -> tuple[ImportedGraph, tuple[Form, ...]]:
    """``score = ...`` as a graph of one affine map over the inputs that the formula names."""
    form = source.form
    graph = affine_graph("", "", [[factor for _, factor in form.terms]], [form.constant])
    return graph, tuple(Form.of(item) for item, _ in form.terms)


def _open(
    declaration: ModelDeclaration, domain: Domain, source: FileSource, override_path: str | None
) -> ImportedGraph:
    path = override_path or source.path

    def texts(given: GraphInputs) -> list[Texts]:
        """What may fill the inputs that take text: the names of the categories that they are bound to."""
        forms, ends = bind(declaration, domain, given, source.span), [0]
        ends += accumulate(item.width for item in given.inputs)
        parts = [forms[start:end] for start, end in pairwise(ends)]
        return [texts_of(item, part, domain) for item, part in zip(given.inputs, parts, strict=True)]

    def missing(given: GraphInputs) -> Sequence[int]:
        """Which numbers somebody may lack."""
        if all(attribute.missing is None for attribute in domain.attributes):
            return ()
        return may_lack(given, bind(declaration, domain, given, source.span), domain)

    def few(given: GraphInputs) -> Mapping[int, tuple[Fraction, ...]]:
        try:
            return few_values(bind(declaration, domain, given, source.span), domain)
        except DiagnosticError:
            return {}  # reported once the file is read, together with what else does not fit

    def ends(given: GraphInputs) -> Sequence[Ends]:
        try:
            return ends_of(bind(declaration, domain, given, source.span), domain)
        except DiagnosticError:
            return ()

    wanted = source.format or library_of(path) or _BY_EXTENSION.get(Path(path).suffix.lower())
    match wanted:
        case "onnx":
            from fairdsl.models.onnx_import import import_onnx

            width = feeds_width(declaration, domain)
            graph = import_onnx(
                path, source.span, assumed_width=width, texts=texts, missing=missing, few=few, ends=ends
            )
        case "keras":
            from fairdsl.models.keras_files import read_keras

            graph = read_keras(path, source.span, missing)
        case "linear":
            graph = read_linear(path, source.span)
        case library if library in LIBRARIES:
            graph = read_booster(path, library, source.span, texts, missing)
        case _:
            raise DiagnosticError(errors.unknown_format(path, source.format, source.span))
    check_pinned(source, path, graph.sha256, replaced=override_path is not None)
    return graph


def _bound_and_decided(
    declaration: ModelDeclaration, domain: Domain, graph: ImportedGraph, span: Span, warnings: Reporter
) -> tuple[tuple[Form, ...], Decided]:
    """Bind and decide; if both go wrong, both are reported."""
    found: list[Diagnostic] = []
    forms: tuple[Form, ...] = ()
    decided: Decided | None = None
    try:
        forms = bind(declaration, domain, graph, span)
        check_read(graph, forms, domain, span)
        check_whole(graph, given_forms(graph, forms, domain), domain, span)
        found.extend(unknown_values(graph, forms, domain, span))
        found.extend(ranges_elsewhere(declaration.name, graph, forms, domain, span))
    except DiagnosticError as problem:
        found.extend(problem.diagnostics)
    except EntangledError as problem:
        found.append(_entangled(graph, problem, span))
    try:
        decided = decide(declaration, graph, warnings.report)
    except DiagnosticError as problem:
        found.extend(problem.diagnostics)
    if decided is None or any(each.severity is Severity.ERROR for each in found):
        raise DiagnosticError(*found)
    warnings.extend(found)
    return forms, decided


def _assemble(
    declaration: ModelDeclaration, domain: Domain, graph: ImportedGraph, forms: tuple[Form, ...], decided: Decided
) -> Model:
    from_file = isinstance(declaration.source, FileSource)
    blocks, given = graph.basis.blocks, given_forms(graph, forms, domain)
    logits = logits_of(declaration.decision, graph, decided)
    span = declaration.source.span
    try:
        terms = terms_of(blocks, decided.scores)
        if terms is not None and graph.basis.absent is not None:
            reason = "of a kernel machine nothing is known where its numbers are filled in"
            raise DiagnosticError(errors.node_not_exact(graph.path, terms.operator, terms.node, reason, None, span))
        read = decided.scores if terms is None else terms.features
        layers = lay_out(blocks, read)
        wanted = [number for number in first_blocks(blocks, read) if blocks[number].testing is not None]
        bound = bind_early(blocks, wanted, given, domain)
    except MixedError as problem:
        found = errors.node_not_exact(graph.path, problem.operator, problem.node, str(problem), None, span)
        raise DiagnosticError(found) from problem
    except EntangledError as problem:
        raise DiagnosticError(_entangled(graph, problem, span)) from problem
    inputs, first = fold(layers[0], given, bound)
    outcomes, favourable = ordered(declaration, decided.order)
    model = Model(
        name=declaration.name,
        outcomes=outcomes,
        inputs=inputs,
        layers=(first, *layers[1:]) if terms is None else lay_out(blocks, decided.scores),
        rule=decided.rule,
        favourable=favourable,
        deployed=_deployed(declaration, domain, graph, forms, decided) if graph.runnable else None,
        sha256=graph.sha256 if from_file else None,
        logits=logits,
        groups=one_hot_groups(listed_of(inputs), domain),
        opaque=None if terms is None else kernel_machine(terms, first),
        declaration=declaration if from_file else None,
        span=declaration.span,
    )
    return replace(model, binding=binding_of(declaration, domain, graph, forms, model)) if from_file else model


def _entangled(graph: ImportedGraph, problem: EntangledError, span: Span | None) -> Diagnostic:
    remedy = "export the trees over the attributes and indicators themselves, not over sums of them"
    return errors.node_not_exact(graph.path, problem.operator, problem.node, str(problem), remedy, span)


def _deployed(
    declaration: ModelDeclaration, domain: Domain, graph: ImportedGraph, forms: tuple[Form, ...], decided: Decided
) -> Deployed:
    plain = Deployed(
        path=graph.path,
        sha256=graph.sha256,
        features=forms,
        feeds=feeds_of(graph, forms, domain),
        output=decided.output,
        readout=decided.readout,
        channel=decided.channel,
        relation=decided.relation,
        threshold=decided.threshold,
        labels=decided.labels,
        classes=decided.classes,
        plain=graph.plain,
    )
    rule = decided.rule
    granted, otherwise = getattr(rule, "granted", 1), getattr(rule, "otherwise", 0)
    return replace(plain, granted=granted, otherwise=otherwise)
