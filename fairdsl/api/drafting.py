"""A first spec, from a table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairdsl.api.given import file_of_model
from fairdsl.api.paths import AnyPath, Names, names_of

if TYPE_CHECKING:
    from fairdsl.clock import Deadline
    from fairdsl.drafting import Drafted

#: What a draft calls its model and its rows.
MODEL, ROWS = "decide", "rows"


def init(
    data: AnyPath | Any,
    *,
    model: AnyPath | Any | None = None,
    label: str | None = None,
    protected: Names = (),
    output: AnyPath | None = None,
    timeout: float | None = None,
) -> Drafted:
    """Write a spec that checks at once for a table of people, and for the model that decides about them.

    Types, ranges and groups are read off the rows, each with a comment that says how; see docs/init.md.

    Args:
        data: path of a CSV or Parquet file; or a DataFrame of pandas or polars, which is written as CSV beside the
            spec, under its name.
        model: the model's file; or an estimator of scikit-learn, a booster, a module of PyTorch or a model of Keras,
            whose file is written beside the spec. How it reads the columns is found by trying the usual ways against
            the label.
        label: the column that says what became of people.
        protected: the protected column, or several; by default those that look it, each with its reason.
        output: the file to write; by default the table's name with ``.fair``. A DataFrame needs it.
        timeout: seconds that it may take; None: as long as it takes.

    Returns:
        The text, the attributes, the columns that were left out, and how the model was bound.

    Raises:
        SpecError: the table cannot be read, a column or the model cannot be used, or a file is in the way.
    """
    if isinstance(model, str | PathLike):
        _no_pickle(fspath(model))
    from fairdsl.clock import Deadline, phase
    from fairdsl.drafting import draft_spec

    deadline = Deadline.after(timeout)
    with phase("drafting the spec", deadline), _nothing_left_behind() as made:
        drafted = draft_spec(
            data=fspath(data) if isinstance(data, str | PathLike) else _written(data, output, made),
            output=None if output is None else fspath(output),
            model=None if model is None else _model(model, output, made),
            label=label,
            protected=names_of(protected),
        )
        made.append(drafted.path)
        return _held(drafted, data, model, made, deadline)


def _held(drafted: Drafted, data: Any, model: Any, made: list[str], deadline: Deadline) -> Drafted:
    """The draft, with how many rows the estimator's file decides otherwise than its ``predict``.

    SpecError (E0683) where they are more than one in a hundred.
    """
    from fairdsl.models.from_estimators import is_estimator

    if drafted.binding is None or isinstance(data, str | PathLike) or not is_estimator(model):
        return drafted
    from fairdsl.api.given import Given, held_against_estimators
    from fairdsl.data.table import open_records

    (file,) = (path for path in made if path not in (drafted.path, drafted.data))
    records = open_records(drafted.data)
    table = {header: records.cells(place) for place, header in enumerate(records.header)}
    what = Given(drafted.path, {MODEL: file}, {}, {}, {}, {MODEL: model}, {ROWS: table}, {ROWS: data})
    found = held_against_estimators(what, {}, deadline)
    said = [note for each in found if each.code == "W0709" for note in each.notes[:1]]
    return replace(drafted, binding="; ".join((drafted.binding, *said)))


def _no_pickle(path: str) -> None:
    """SpecError (E0513) for a pickle, before all that takes time."""
    from fairdsl.diagnostics import DiagnosticError
    from fairdsl.models.errors import unknown_format
    from fairdsl.models.pickles import is_pickle

    if is_pickle(path):
        raise DiagnosticError(unknown_format(path, None, None))


@contextmanager
def _nothing_left_behind() -> Iterator[list[str]]:
    """The paths of files that are written beside the spec; where there comes to be no spec, they are removed."""
    made: list[str] = []
    try:
        yield made
    except BaseException:
        for path in made:
            Path(path).unlink(missing_ok=True)
        raise


def _written(frame: Any, output: AnyPath | None, made: list[str]) -> str:
    """The DataFrame as a CSV file beside the spec."""
    from fairdsl.dataframes.errors import not_usable
    from fairdsl.diagnostics import DiagnosticError

    if hasattr(frame, "to_csv"):
        text = frame.to_csv(index=False)
    elif hasattr(frame, "write_csv"):
        text = frame.write_csv()
    else:
        reason = f"it is of the type `{type(frame).__name__}`"
        raise DiagnosticError(not_usable("`data`", reason, "give a path, or a DataFrame of pandas or polars"))
    return _beside(output, ".csv", text, made)


def _model(model: Any, output: AnyPath | None, made: list[str]) -> str:
    """The path of the model's file; that of a model in memory is written beside the spec."""
    if isinstance(model, str | PathLike):
        return fspath(model)
    content, ending = file_of_model(model, MODEL)
    return _beside(output, ending, content, made)


def _beside(output: AnyPath | None, ending: str, content: str | bytes, made: list[str]) -> str:
    """A file under the spec's name, put to ``made``; SpecError (E0682) without one, (E0671) where one is there."""
    from fairdsl.dataframes.errors import not_usable
    from fairdsl.diagnostics import DiagnosticError
    from fairdsl.drafting.errors import would_overwrite
    from fairdsl.source.writing import write_file

    if output is None:
        reason = "what is in memory is written beside the spec, which has no name"
        raise DiagnosticError(not_usable("`output`", reason, 'write `output="first.fair"`'))
    path = str(Path(fspath(output)).with_suffix(ending))
    try:
        write_file(path, content, replace=False)
    except FileExistsError:
        raise DiagnosticError(would_overwrite(path)) from None
    made.append(path)
    return path
