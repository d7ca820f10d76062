"""What a model's file takes, held against the table: columns that it wants and nobody has, and its own label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.drafting.columns import Column
from fairdsl.models.errors import input_not_bound
from fairdsl.models.running.session import Item, session_beside
from fairdsl.source.reading import content_of


def inputs_of(model: str) -> Sequence[Item]:
    """The inputs of an ONNX file; none where it is no such file, or cannot be opened."""
    if not model.lower().endswith(".onnx"):
        return ()
    try:
        return session_beside(content_of(model), 1).get_inputs()
    except (OSError, RuntimeError):
        return ()  # opening it as a model says what is wrong


def width_of(inputs: Sequence[Item]) -> int | None:
    """How many numbers it takes; None where it does not say, or has an input a column."""
    if len(inputs) != 1 or len(inputs[0].shape) != 2 or not isinstance(inputs[0].shape[1], int):
        return None
    return int(inputs[0].shape[1])


def texts_of(inputs: Sequence[Item], columns: Sequence[Column]) -> list[Column]:
    """The columns that the file takes as texts, by name."""
    texts = {item.name for item in inputs if item.type == "tensor(string)"}
    headers = [column.header for column in columns]
    return [each for each in columns if {each.header, each.name} & texts and headers.count(each.header) == 1]


def check_named(
    model: str, inputs: Sequence[Item], columns: Sequence[Column], label: Column | None, left_out: Sequence[Column]
) -> None:
    """Every input of a file that has one a column is a column; raises DiagnosticError (E0509) for what is not."""
    if len(inputs) < 2:
        return
    known = {name for column in columns for name in (column.header, column.name)}
    lacking = [item.name for item in inputs if item.name not in known]
    if not lacking:
        return
    if label is not None and lacking == [name for name in lacking if name in (label.header, label.name)]:
        remedy = f"train the model without it: it reads its own label `{label.header}`, which nobody knows beforehand"
        raise _refused(model, lacking, [], "the model reads the label", remedy)
    out = {name: column.why for column in left_out for name in (column.header, column.name)}
    spoilt = [f"`{name}`: {out[name]}" for name in lacking if name in out]
    if spoilt:
        raise _refused(model, [name for name in lacking if name in out], [], "; ".join(spoilt), "mend the column")
    wanted = ", ".join(f"`{name}`" for name in lacking)
    remedy = f"give the table that it was trained on: the model wants {wanted}, which this table lacks"
    raise _refused(model, lacking, [column.header for column in columns], "no column has this name", remedy)


def of_its_label(problem: DiagnosticError, label: Column) -> DiagnosticError:
    """The width that does not fit (E0508), where with the label among the columns it would."""
    first: Diagnostic = problem.diagnostics[0]
    said = f"with the label `{label.header}` among its inputs it would fit: if it was trained so, train it without"
    return DiagnosticError(replace(first, help=f"{said}; else {first.help}"), *problem.diagnostics[1:])


def _refused(model: str, lacking: list[str], known: list[str], reason: str, remedy: str) -> DiagnosticError:
    return DiagnosticError(input_not_bound(model, lacking, known, reason, None, remedy))
