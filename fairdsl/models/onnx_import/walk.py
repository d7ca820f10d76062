"""From an ONNX file to an :class:`ImportedGraph`: the nodes in order, each by its handler."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.models import errors
from fairdsl.models.basis import Affine, Basis, TooLargeError
from fairdsl.models.binding.absent import marked
from fairdsl.models.graph import GraphInput, GraphInputs, GraphOutput, ImportedGraph, OutputKind, Texts
from fairdsl.models.marks import Ends
from fairdsl.models.onnx_import import (
    activations,
    arithmetic,
    comparisons,
    encoders,
    exponentials,
    lookups,
    machines,
    reductions,
    scikit,
    shaping,
    smooth,
    tabulated,
    trees,
)
from fairdsl.models.onnx_import.chosen import by_choice, is_early
from fairdsl.models.onnx_import.columns import named_columns
from fairdsl.models.onnx_import.file import RawGraph, RawInput, RawNode, read_file
from fairdsl.models.onnx_import.integers import gives_integers
from fairdsl.models.onnx_import.machines import is_plain_machine
from fairdsl.models.onnx_import.values import (
    TEXT,
    Constant,
    Exponential,
    Handler,
    Labelled,
    Logistic,
    NodeCall,
    Power,
    Probabilities,
    Softmaxed,
    Tabulated,
    Text,
    Unread,
    UnreadableError,
    Value,
)
from fairdsl.source import Span

HANDLERS: dict[tuple[str, str], Handler] = tabulated.with_tables(
    {
        **arithmetic.HANDLERS,
        **shaping.HANDLERS,
        **lookups.HANDLERS,
        **reductions.HANDLERS,
        **activations.HANDLERS,
        **smooth.HANDLERS,
        **exponentials.HANDLERS,
        **comparisons.HANDLERS,
        **scikit.HANDLERS,
        **encoders.HANDLERS,
        **trees.HANDLERS,
        **machines.HANDLERS,
    }
)
#: Operators with several outputs that are read.
SEVERAL = {
    ("", "Split"): shaping.split,
    ("ai.onnx.ml", "LinearClassifier"): scikit.linear_classifier,
    ("ai.onnx.ml", "TreeEnsembleClassifier"): trees.tree_classifier,
    ("ai.onnx.ml", "SVMClassifier"): machines.svm_classifier,
}


#: Why an output is not read that an exponential function makes.
_POWER = "it is an exponential function of a score, and no logistic function or softmax"
_LACKING = "its result is a number for some people only: it divides by zero, or its power or logarithm does not exist"

#: Operators that go by the class that was chosen; to all others it is a number.
_OF_LABELS = {("", name) for name in ("Cast", "Equal", "Gather", "Identity", *shaping.MOVING)} | {
    ("ai.onnx.ml", name) for name in ("ArrayFeatureExtractor", "LabelEncoder", "ZipMap")
}

#: More numbers than this are not an individual.
_WIDEST = 1 << 20


def operators_read() -> list[str]:
    """The names of all operators that the importer reads, sorted."""
    return sorted({operator for _, operator in (*HANDLERS, *SEVERAL)})


#: What is said of steps that are not read.
_OF_STEPS = frozenset({"E0503", "E0504"})


def import_onnx(
    path: str,
    span: Span | None = None,
    *,
    assumed_width: int | None = None,
    texts: Callable[[GraphInputs], Sequence[Texts]] | None = None,
    missing: Callable[[GraphInputs], Sequence[int]] | None = None,
    few: Callable[[GraphInputs], Mapping[int, tuple[Fraction, ...]]] | None = None,
    ends: Callable[[GraphInputs], Sequence[Ends]] | None = None,
) -> ImportedGraph:
    """Read an ONNX file exactly; raises DiagnosticError.

    ``assumed_width`` is the width of an input that the file leaves open. A batch size fixed in the file
    is read as one individual. ``texts`` says what may fill the inputs that take text, for each input; without it such
    a file is refused. ``missing`` says which of the numbers somebody may lack, by their places; ``few`` which have few
    values, and these; ``ends`` between which numbers each lies.
    """
    raw = read_file(path, span)
    try:
        found = import_graph(
            path, raw, span, assumed_width=assumed_width, texts=texts, missing=missing, few=few, ends=ends
        )
    except DiagnosticError as problem:
        if all(item.dtype != "float64" for item in raw.inputs):
            raise
        told = (errors.of_float64(each) if each.code in _OF_STEPS else each for each in problem.diagnostics)
        raise DiagnosticError(*told) from problem
    return replace(found, runnable=True)


def import_graph(
    path: str,
    raw: RawGraph,
    span: Span | None,
    *,
    assumed_width: int | None = None,
    texts: Callable[[GraphInputs], Sequence[Texts]] | None = None,
    missing: Callable[[GraphInputs], Sequence[int]] | None = None,
    few: Callable[[GraphInputs], Mapping[int, tuple[Fraction, ...]]] | None = None,
    ends: Callable[[GraphInputs], Sequence[Ends]] | None = None,
) -> ImportedGraph:
    """Read the nodes of a graph exactly, wherever they come from: none that a runtime of ours would run."""
    nodes = _needed(raw)
    _check(path, raw, nodes, span, texts is not None)
    basis = Basis()
    values: dict[str, Value] = {
        name: Constant(array, text=array.dtype == object) for name, array in raw.constants.items()
    }
    inputs = []
    undeclared: list[tuple[str, int]] = []
    for item in raw.inputs:
        shape = shape_of_one(path, item, assumed_width, span)
        if not _says_width(item):
            undeclared.append((item.name, prod(shape)))
        if prod(shape) > _WIDEST:
            raise DiagnosticError(errors.not_onnx(path, f"it reads {prod(shape)} numbers of an individual", span))
        values[item.name] = basis.input(shape)
        inputs.append(GraphInput(name=item.name, width=prod(shape), dtype=item.dtype))
    if missing is not None:
        tensors = [value for item in inputs if isinstance(value := values[item.name], Affine)]
        places = missing(GraphInputs(path=path, inputs=tuple(inputs)))
        values |= dict(zip((item.name for item in inputs), marked(basis, tensors, places), strict=True))
    units = [(block, unit) for block, item in enumerate(inputs) for unit in range(item.width)]
    if few is not None:
        known = few(GraphInputs(path=path, inputs=tuple(inputs)))
        basis.few |= {units[place]: found for place, found in known.items()}
    if ends is not None:
        basis.ends |= dict(zip(units, ends(GraphInputs(path=path, inputs=tuple(inputs))), strict=False))
    if texts is not None and any(item.dtype == TEXT for item in inputs):
        for taken, named in zip(inputs, texts(GraphInputs(path=path, inputs=tuple(inputs))), strict=True):
            codes = values[taken.name]
            if taken.dtype == TEXT and isinstance(codes, Affine):
                values[taken.name] = Text(codes, tuple(dict(table) for table in named))
    rounded: list[str] = []
    integers = {item.name for item in raw.inputs if item.dtype.startswith(("int", "uint"))}
    integers |= {name for name, array in raw.constants.items() if array.dtype.kind in "iu"}
    for node in nodes:
        _evaluate(path, node, values, basis, rounded, undeclared, integers, span)
    return ImportedGraph(
        path=path,
        sha256=raw.sha256,
        inputs=tuple(inputs),
        basis=basis,
        outputs=_outputs(path, raw, values, span),
        runnable=False,
        rounded=tuple(rounded),
        plain=is_plain_machine(raw, nodes),
        raw=raw,
        values=values,
    )


def _needed(raw: RawGraph) -> list[RawNode]:
    """The nodes that the outputs depend on, in the file's order."""
    wanted = set(raw.outputs)
    chosen = []
    for node in reversed(raw.nodes):
        if wanted.intersection(name for name in node.outputs if name):
            wanted.update(node.inputs)
            chosen.append(node)
    return chosen[::-1]


def _check(path: str, raw: RawGraph, nodes: list[RawNode], span: Span | None, with_texts: bool) -> None:
    """Report at once every operator that is not read and every weight that is not a finite number."""
    found: list[Diagnostic] = []
    unknown: dict[str, list[str]] = {}
    for node in nodes:
        if (node.domain, node.operator) not in HANDLERS and (node.domain, node.operator) not in SEVERAL:
            unknown.setdefault(node.operator, []).append(node.where)
    for operator, places in unknown.items():
        found.append(errors.operator_not_read(path, operator, places, operators_read(), span))
    used = {name for node in nodes for name in node.inputs} | set(raw.outputs)
    for name, array in raw.constants.items():
        if name in used and not _finite(array):
            found.append(errors.not_finite(path, name, span))
    found += _no_numbers(path, raw, span, with_texts)
    if found:
        raise DiagnosticError(*found)


def _no_numbers(path: str, raw: RawGraph, span: Span | None, with_texts: bool) -> Iterator[Diagnostic]:
    """Inputs that take text where nobody says which, and that take neither text nor numbers: a finding of each kind."""
    texts = [item.name for item in raw.inputs if item.dtype == TEXT and not with_texts]
    if texts:
        takes = "it takes text" if len(texts) == 1 else "they take text"
        yield errors.input_not_bound(path, texts, [], takes, span)
    others = [item.name for item in raw.inputs if item.dtype == "other"]
    if others:
        remedy = "export the model with inputs that are numbers"
        reason = "it takes values that are not numbers" if len(others) == 1 else "they take values that are not numbers"
        yield errors.input_not_bound(path, others, [], reason, span, remedy)


def _finite(array: NDArray[Any]) -> bool:
    return array.dtype.kind != "f" or bool(np.isfinite(array).all())


def shape_of_one(path: str, item: RawInput, assumed_width: int | None, span: Span | None) -> tuple[int, ...]:
    """The shape of the input for one individual: a leading batch dimension becomes 1."""
    if len(item.shape) == 1 and item.shape[0] is not None:
        return (item.shape[0],)  # a plain vector of features, without a batch
    if len(item.shape) <= 1:
        return (1,) * len(item.shape)
    rest = tuple(assumed_width if d is None and len(item.shape) == 2 else d for d in item.shape[1:])
    if any(d is None for d in rest):
        raise DiagnosticError(errors.not_onnx(path, f"it leaves the width of `{item.name}` open", span))
    return (1, *(d for d in rest if d is not None))


def _says_width(item: RawInput) -> bool:
    """Whether the file says how many numbers of one individual the input takes."""
    return bool(item.shape) and None not in item.shape[1 if len(item.shape) > 1 else 0 :]


def _width_open(path: str, node: RawNode, undeclared: list[tuple[str, int]], span: Span | None) -> Diagnostic:
    """The file leaves the width of its inputs open, and what was assumed for them does not fit."""
    widths = " and ".join(str(width) for _, width in undeclared)
    plural = "number" if widths == "1" else "numbers"
    reason = f"the file declares no width for it, and read as {widths} {plural} it does not fit node `{node.where}`"
    return errors.input_not_bound(path, [name for name, _ in undeclared], [], reason, span)


def _evaluate(
    path: str,
    node: RawNode,
    values: dict[str, Value],
    basis: Basis,
    rounded: list[str],
    undeclared: list[tuple[str, int]],
    integers: set[str],
    span: Span | None,
) -> None:
    """Compute one node; ``undeclared`` are the inputs whose width had to be assumed, and what was assumed.

    ``integers`` are the tensors of integers.
    """
    for name in node.inputs:
        if name and name not in values:
            raise DiagnosticError(
                errors.not_onnx(path, f"node `{node.where}` reads `{name}`, which nothing computes", span)
            )
    whole = bool(node.inputs) and node.inputs[0] in integers
    call = NodeCall(node, [values.get(name) if name else None for name in node.inputs], basis, whole)
    key = (node.domain, node.operator)
    try:
        if key not in _OF_LABELS:
            call.inputs = [_as_number(call, value) for value in call.inputs]
        results = SEVERAL[key](call) if key in SEVERAL else [HANDLERS[key](call)]
    except UnreadableError as refusal:
        if undeclared and isinstance(refusal.__cause__, ValueError):
            raise DiagnosticError(_width_open(path, node, undeclared, span)) from refusal
        raise DiagnosticError(
            errors.node_not_exact(path, node.operator, node.where, refusal.reason, refusal.remedy, span)
        ) from refusal
    except (TooLargeError, MemoryError, OverflowError) as problem:
        raise DiagnosticError(
            errors.node_not_exact(path, node.operator, node.where, f"it is too large ({problem})", None, span)
        ) from problem
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as problem:
        # numpy's complaint about shapes or axes that do not fit: the file contradicts itself
        if undeclared:
            raise DiagnosticError(_width_open(path, node, undeclared, span)) from problem
        reason = f"node `{node.where}` ({node.operator}) does not fit its inputs"
        raise DiagnosticError(errors.not_onnx(path, reason, span)) from problem
    rounded.extend(call.rounded)
    if gives_integers(node, integers):
        integers.update(node.outputs)
    for name, value in zip(node.outputs, results, strict=False):
        if name:
            values[name] = _settled(value)


def _as_number(call: NodeCall, value: Value | None) -> Value | None:
    """A class that was chosen as the number that it is, where numbers of the individual choose it."""
    if not isinstance(value, Labelled) or isinstance(value.labels[0], str) or not is_early(call, value):
        return value
    return by_choice(call, value, [[Fraction(label)] for label in value.labels], value.shape)


def _settled(value: Value) -> Value:
    """A value that turned out to depend on no input is a constant."""
    if isinstance(value, Affine) and not value.parts:
        return Constant(value.bias.reshape(value.shape))
    return value


def _outputs(path: str, raw: RawGraph, values: dict[str, Value], span: Span | None) -> tuple[GraphOutput, ...]:
    """All outputs that are read; there must be one."""
    unread = {name: value.reason for name in raw.outputs if isinstance(value := values.get(name), Unread)}
    unread |= {name: _POWER for name in raw.outputs if _is_step(values.get(name))}
    unread |= {name: _LACKING for name in raw.outputs if _lacks(values.get(name))}
    if unread and len(unread) == len(raw.outputs):
        name, reason = next(iter(unread.items()))
        node = next((node for node in raw.nodes if name in node.outputs), None)
        operator, where = ("graph", name) if node is None else (node.operator, node.where)
        raise DiagnosticError(errors.node_not_exact(path, operator, where, reason, None, span))
    return tuple(_named(raw, _output(path, name, values, span)) for name in raw.outputs if name not in unread)


def _is_step(value: Value | None) -> bool:
    """Whether it is on the way to probabilities, and is not given in place of them as their logarithms are."""
    return isinstance(value, Exponential) and value.power is not Power.LOG_SHARE


def _lacks(value: Value | None) -> bool:
    """Whether it is a table that has no number for somebody."""
    return isinstance(value, Tabulated) and value.numbers is None


def _named(raw: RawGraph, output: GraphOutput) -> GraphOutput:
    """The output with the names that a ZipMap gives to its columns."""
    names = named_columns(raw.nodes, output.name)
    return output if names is None or len(names) != output.width else replace(output, labels=names)


def _output(path: str, name: str, values: dict[str, Value], span: Span | None) -> GraphOutput:
    match values.get(name):
        case (Affine() as scores) | Tabulated(numbers=Affine() as scores):
            return GraphOutput(name=name, kind=OutputKind.SCORE, scores=scores)
        case Logistic(logits=logits):
            return GraphOutput(name=name, kind=OutputKind.SIGMOID, scores=logits)
        case Probabilities(shares):
            return GraphOutput(name=name, kind=OutputKind.PROBABILITY, scores=shares)
        case Softmaxed(logits):
            return GraphOutput(name=name, kind=OutputKind.SOFTMAX, scores=logits)
        case Exponential(Power.LOG_SHARE, scores):
            return GraphOutput(name=name, kind=OutputKind.LOG_SOFTMAX, scores=scores)
        case Labelled(scores=scores, labels=labels, ties_last=ties_last):
            return GraphOutput(name=name, kind=OutputKind.LABEL, scores=scores, labels=labels, ties_last=ties_last)
        case Constant(array, text) if not text:
            constant = Affine.constant(Constant(array).numbers)
            return GraphOutput(name=name, kind=OutputKind.SCORE, scores=constant)
        case _:
            raise DiagnosticError(errors.not_onnx(path, f"nothing computes its output `{name}`", span))
