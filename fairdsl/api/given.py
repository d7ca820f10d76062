"""What callers of Python give in place of files: a spec's text, tables, estimators, sessions, functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from fairdsl.api.paths import AnyPath, functions

if TYPE_CHECKING:
    from fairdsl.builder import Spec
    from fairdsl.clock import Deadline
    from fairdsl.dataframes.tables import Columns
    from fairdsl.diagnostics import Diagnostic

#: What files begin with: ONNX, those of LightGBM and CatBoost, and XGBoost's in binary.
_ENDINGS = {b"\x08": ".onnx", b"tree": ".txt", b'{"': ".json", b"{\n": ".json", b"{": ".ubj"}
#: The paths of what is in memory: no file of the user's is called so.
_SPEC, _MODEL, _ROWS = "<spec>.fair", "<{}>.onnx", "<{}>.csv"


@dataclass(frozen=True, slots=True)
class Given:
    """Paths and functions as the pipeline takes them, and the files among them that are in memory."""

    spec: str
    models: dict[str, str]
    data: dict[str, str]
    callables: dict[str, Callable[[Any], Any]]
    files: dict[str, bytes]
    #: Estimators by the names of models, and tables by those of distributions: they are held against each other.
    estimators: dict[str, Any] = field(default_factory=dict)
    tables: dict[str, Columns] = field(default_factory=dict)
    frames: dict[str, Any] = field(default_factory=dict)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Within it what is in memory is read under its path."""
        from fairdsl.source.reading import holding

        with holding(self.files):
            yield


def given(
    spec: AnyPath | Spec,
    models: Mapping[str, Any] | None,
    data: Mapping[str, Any] | None,
    callables: Mapping[str, Callable[[Any], Any]] | None = None,
) -> Given:
    """What was given, sorted; raises SpecError (E0680, E0682) for what is nothing of all this."""
    files: dict[str, bytes] = {}
    path = fspath(spec) if isinstance(spec, str | PathLike) else _built(spec)
    if "\n" in path:  # no path has a line break, and every spec has
        files[_SPEC], path = path.encode("utf-8"), _SPEC
    found = Given(path, {}, {}, functions(callables, models), files)
    for name, model in _named(models, "models").items():
        _add_model(found, name, model)
    for name, table in _named(data, "data").items():
        if isinstance(table, str | PathLike):
            found.data[name] = fspath(table)
            continue
        from fairdsl.dataframes.tables import columns_of, csv_of

        found.data[name] = _ROWS.format(name)
        found.tables[name] = columns_of(table, f"`data[{name!r}]`")
        found.frames[name] = table
        files[found.data[name]] = csv_of(found.tables[name])
    return found


def table_path(table: Any, argument: str, files: dict[str, bytes]) -> str:
    """The path of a table; one in memory is put into ``files``. SpecError (E0680) for what is not a table."""
    if isinstance(table, str | PathLike):
        return fspath(table)
    from fairdsl.dataframes.tables import columns_of, csv_of

    path = _ROWS.format(argument)
    files[path] = csv_of(columns_of(table, f"`{argument}`"))
    return path


def file_of_model(model: Any, name: str) -> tuple[bytes, str]:
    """The file of a model in memory, and how its name ends; SpecError (E0682) where there is none."""
    found = Given("", {}, {}, {}, {})
    _add_model(found, name, model)
    content = found.files.get(found.models.get(name, ""), b"")
    ending = next((ending for start, ending in _ENDINGS.items() if content.startswith(start)), None)
    if ending is None:
        from fairdsl.dataframes.errors import not_usable
        from fairdsl.diagnostics import DiagnosticError

        reason = f"of `{type(model).__name__}` no file is made"
        raise DiagnosticError(not_usable("`model`", reason, "save the model to a file, and give its path"))
    return content, ending


def _named(things: Mapping[str, Any] | None, argument: str) -> Mapping[str, Any]:
    if things is not None and not (isinstance(things, Mapping) and all(isinstance(name, str) for name in things)):
        from fairdsl.dataframes.errors import not_usable
        from fairdsl.diagnostics import DiagnosticError

        what = "models" if argument == "models" else "distributions"
        reason = f"it is of the type `{type(things).__name__}`"
        help_text = f"write `{argument}={{NAME: ...}}` with the names that {what} have in the spec"
        raise DiagnosticError(not_usable(f"`{argument}`", reason, help_text))
    return things or {}


def _built(spec: object) -> str:
    """The text of a spec that was built in Python; SpecError (E0682) for anything else."""
    from fairdsl.builder import Spec
    from fairdsl.dataframes.errors import not_usable
    from fairdsl.diagnostics import DiagnosticError

    if isinstance(spec, Spec):
        return spec.text
    reason, help_text = f"it is of the type `{type(spec).__name__}`", "give the path of a `.fair` file, or its text"
    raise DiagnosticError(not_usable("the spec", reason, help_text))


def _add_model(found: Given, name: str, model: Any) -> None:
    """A path, the bytes of a file, or what a file can be made of; or else a function."""
    from fairdsl.dataframes.errors import not_usable
    from fairdsl.diagnostics import DiagnosticError
    from fairdsl.models.exporting import NotExportedError
    from fairdsl.models.from_estimators import is_estimator, onnx_of
    from fairdsl.models.from_frameworks import content_of_session, is_session, writer_of

    if isinstance(model, str | PathLike):
        found.models[name] = fspath(model)
        return
    content: bytes | None = None
    try:
        if isinstance(model, bytes | bytearray):
            content = bytes(model)
        elif hasattr(model, "graph") and hasattr(model, "SerializeToString"):
            content = model.SerializeToString()
        elif is_session(model):
            content = content_of_session(model)
        elif (write := writer_of(model)) is not None:
            content = write()
            if is_estimator(model):
                found.estimators[name] = model
        elif is_estimator(model):
            content, found.estimators[name] = onnx_of(model, name, by_name=True), model
    except NotExportedError as problem:
        predict = "estimator.predict}`, with its columns behind `reads` in the spec"
        if getattr(model, "feature_names_in_", None) is not None:
            predict = "lambda people: estimator.predict(pandas.DataFrame(people))}`"
        help_text = problem.help_text or f"give its decisions as a function: `models={{{name!r}: {predict}"
        raise DiagnosticError(not_usable(f"`models[{name!r}]`", problem.reason, help_text)) from problem
    if content is not None:
        found.models[name] = _MODEL.format(name)
        found.files[found.models[name]] = content
    elif callable(model):
        found.callables[name] = model
    else:
        reason = f"it is of the type `{type(model).__module__}.{type(model).__name__}`"
        help_text = (
            "give a path, an estimator, a booster, a module, an onnxruntime session, an ONNX model, or a function"
        )
        raise DiagnosticError(not_usable(f"`models[{name!r}]`", reason, help_text))


#: The column with what an estimator predicts, and the table with it.
_PREDICTED, _BOTH = "predicted by the estimator", "<{} with predictions>.csv"
#: One row in so many may be decided otherwise by the file: it holds float32, the estimator float64.
_TOLERATED = Fraction(99, 100)


def held_against_estimators(what: Given, let: Mapping[str, str], deadline: Deadline) -> tuple[Diagnostic, ...]:
    """Hold the file that each estimator became against its ``predict`` on the rows that have its columns.

    ``let`` are numbers in place of the spec's parameters. What is not compared by the deadline is not said anything of:
    no verdict is reached then either.

    Warnings where single rows are decided otherwise. Raises SpecError (E0683) where more than one in a hundred is.
    """
    return tuple(
        finding
        for model, estimator in what.estimators.items()
        for name, frame in what.frames.items()
        for finding in _held_against(what, let, deadline, model, estimator, name, frame)
    )


def _held_against(
    what: Given, let: Mapping[str, str], deadline: Deadline, model: str, estimator: Any, name: str, frame: Any
) -> Iterator[Diagnostic]:
    from fairdsl.api.specs import agreement
    from fairdsl.clock import NEVER, is_out_of_time
    from fairdsl.dataframes.errors import not_the_estimator, rows_decided_otherwise
    from fairdsl.dataframes.tables import cells_of, csv_of
    from fairdsl.diagnostics import DiagnosticError
    from fairdsl.models.from_estimators import feature_names
    from fairdsl.semantics import front_end
    from fairdsl.source.reading import holding

    if deadline.passed:
        return
    names, table = feature_names(estimator), what.tables[name]
    checked, _ = front_end(what.spec, let)
    if model not in checked.models or name not in checked.distributions:
        return  # whoever reads the models says so
    if names is None or not set(names) <= set(table) or isinstance(frame, Mapping):
        return  # which columns it reads, and in which order, nothing says
    try:
        predicted = cells_of(estimator.predict(frame[list(names)]), "`predict`")
    except DiagnosticError:
        raise
    except Exception as problem:  # it is the user's own
        said = f"`predict` raised {type(problem).__name__} on `data[{name!r}]`: {problem}".splitlines()[0][:200]
        raise DiagnosticError(not_the_estimator(model, said, "give the rows that the estimator reads")) from problem
    path = _BOTH.format(name)
    with holding({path: csv_of({**table, _PREDICTED: predicted})}):
        try:
            found = agreement(
                what.spec,
                data=path,
                column=_PREDICTED,
                model=model,
                models=what.models,
                let=let,
                share=_TOLERATED,
                timeout=None if deadline == NEVER else deadline.remaining,
            )
        except DiagnosticError as error:
            if not is_out_of_time(error.diagnostics):
                raise
            return
    said = f"of {found.rows:,} rows of `{name}`, {found.rows - found.agreeing:,} are decided otherwise"
    if not found.kept:
        help_text = (
            "compare the decision clause with the estimator's `classes_`, and `reads` with its columns; where rows "
            "lack numbers, put a `SimpleImputer` before trees, whose files lose where they send what is missing"
        )
        raise DiagnosticError(not_the_estimator(model, said, help_text))
    if found.disagreements:
        yield rows_decided_otherwise(model, said, found.disagreements[0].in_words())
    yield from found.findings
