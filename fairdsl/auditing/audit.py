"""From arrays, or the columns of a file, to an audit: a spec is written, and checked as any other.

There is no second way to count here. What is asked is the spec that :mod:`fairdsl.auditing.spec` writes, and who
answers are the engines of ``fairdsl check``; so the spec and the rows by themselves give the same numbers again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeVar

from fairdsl.auditing.audited import Audited, small_groups, worst_of
from fairdsl.auditing.columns import Outcome, group_column, outcome_column, outcome_values, score_column
from fairdsl.auditing.errors import not_audited
from fairdsl.auditing.favourable import Sought, good_values, score_is_good
from fairdsl.auditing.spec import Asked, first_metrics, metrics_of, spec_text
from fairdsl.backends.contract import Budget, Observer
from fairdsl.data.cells import BLANKS, blanks_apart, decimal_of
from fairdsl.data.table import open_records
from fairdsl.dataframes.tables import cells_of, csv_of, is_table, series_name
from fairdsl.dataframes.tables import columns_of as given_columns
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.diagnostics.suggest import nearest
from fairdsl.diagnostics.surface import said
from fairdsl.drafting.columns import columns_of
from fairdsl.drafting.errors import no_such_column
from fairdsl.drafting.protected import proposed
from fairdsl.drafting.words import can_be_quoted, listed, names_for
from fairdsl.metrics.sampling import FEW_ROWS
from fairdsl.options.commands import Audit
from fairdsl.pipeline import verify
from fairdsl.source import SourceFile
from fairdsl.source.reading import holding
from fairdsl.syntax.laid_out import laid_out

_T = TypeVar("_T")
#: The attributes of an audit beside its groups, and what callers call them.
_DECIDED, _LABEL, _SCORES = "prediction", "outcome", "scores"
#: The word for all metrics.
EVERY = "all"
#: The names that an audit's spec gives itself.
_NAMED_HERE = frozenset({"became_of_them", "rows"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is asked of the rows, in the caller's own words."""

    positive: object | None = None
    positive_label: object | None = None
    threshold: Fraction | None = None
    privileged: Mapping[str, object] | object | None = None
    metrics: Sequence[str] = ()
    settings: Audit = field(default_factory=Audit)

    @property
    def every_metric(self) -> bool:
        """Whether all numbers are to be printed, and not the first few."""
        return tuple(self.metrics) == (EVERY,)

    @property
    def named_metrics(self) -> Sequence[str]:
        """The metrics that are named; none: all are computed."""
        return () if self.every_metric else self.metrics


#: A column: its header and its cells.
_Part = tuple[str, Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """The table: its path, and its columns by the part that they play."""

    path: str
    groups: Mapping[str, Sequence[str]]
    decided: _Part | None
    label: _Part | None
    scores: _Part | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Called:
    """What messages call the columns, and what they say where there are no decisions."""

    label: str
    decided: str
    nothing: str
    instead: str


_ARRAYS = _Called(
    label="y_true",
    decided="y_pred",
    nothing="`y_pred` is None",
    instead="give `y_pred`, or `scores` with the `threshold` from which on one is favourable",
)


def audit_arrays(
    y_true: Any, y_pred: Any, sensitive_features: Any, scores: Any, wanted: Wanted, budget: Budget, observer: Observer
) -> Audited:
    """The audit of arrays of one length; ``y_true``, or one of ``y_pred`` and ``scores``, may be None.

    Raises DiagnosticError for what is not a column (E0680), or not clear (E0681).
    """
    groups = _groups_of(sensitive_features)
    named = {
        "y_true": None if y_true is None else cells_of(y_true, "`y_true`"),
        "y_pred": None if y_pred is None else cells_of(y_pred, "`y_pred`"),
        "scores": None if scores is None else cells_of(scores, "`scores`"),
    }
    lengths = {name: len(cells) for name, cells in (*named.items(), *groups.items()) if cells is not None}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"`{name}` has {length:,}" for name, length in lengths.items())
        raise _refused("the arrays have different lengths", said, "give each row a value in every array")
    if not next(iter(lengths.values())):
        raise _refused("there are no rows", "all arrays are empty", "give a value a row")
    headers = dict.fromkeys(groups, "")
    for key, values in ((_DECIDED, y_pred), (_LABEL, y_true), (_SCORES, scores)):
        own = series_name(values)
        headers[_free(own if own is not None and can_be_quoted(own) else key, headers)] = key
    called = {key: header for header, key in headers.items()}
    rows = _Rows(
        path="predictions.csv",
        groups=groups,
        decided=None if named["y_pred"] is None else (called[_DECIDED], named["y_pred"]),
        label=None if named["y_true"] is None else (called[_LABEL], named["y_true"]),
        scores=None if named["scores"] is None else (called[_SCORES], named["scores"]),
    )
    columns = {**groups, **{part[0]: part[1] for part in (rows.decided, rows.scores, rows.label) if part is not None}}
    content = csv_of(columns)
    with holding({rows.path: content}):
        audited = _audited(rows, wanted, _ARRAYS, budget, observer)
    return replace(audited, content=content)


def audit_table(
    data: Any,
    parts: Mapping[str, str | None],
    protected: Sequence[str],
    wanted: Wanted,
    budget: Budget,
    observer: Observer,
) -> Audited:
    """The audit of a table, or of a CSV or Parquet file, by the headers of its columns.

    ``parts`` are the columns with the ``prediction``, the ``label`` and the ``scores``, None where there is none.
    Raises DiagnosticError where the file cannot be read (E0530), or has no such column (E0670).
    """
    content: bytes | None = None
    if isinstance(data, str | PathLike):
        path, records = fspath(data), open_records(fspath(data))
        table = {header: records.cells(place) for place, header in enumerate(records.header)}
    else:
        path, table = "predictions.csv", given_columns(data, "`data`")
        content = csv_of(table)

    def column(name: str | None, *, group: bool = False) -> _Part | None:
        if name is not None and name not in table:
            look = [c.header for c, _ in proposed(columns_of([*table], [*table.values()]))] if group else []
            raise DiagnosticError(no_such_column(name, [*table], None, look))
        return None if name is None else (name, table[name])

    rows = _Rows(
        path=path,
        groups=dict(found for name in protected if (found := column(name, group=True)) is not None),
        decided=column(parts["prediction"]),
        label=column(parts["label"]),
        scores=column(parts["scores"]),
    )
    called = _Called(
        label=parts["label"] or "",
        decided=parts["prediction"] or "",
        nothing="no column was named for them",
        instead=said(
            "name their column, `--prediction COLUMN`, or that of the scores, `--scores COLUMN --threshold NUMBER`",
            "name their column, `prediction=`, or that of the scores, `scores=`, with the `threshold`",
        ),
    )
    with holding({} if content is None else {path: content}):
        audited = _audited(rows, wanted, called, budget, observer)
    return replace(audited, content=content)


def _groups_of(given: Any) -> dict[str, list[str]]:
    """Who is protected, by header: a table, a Series, an array of one or of several columns."""
    if given is None:
        help_text = "give `sensitive_features=`, a column or a table of columns with a value a row"
        raise _refused("nobody is protected", "`sensitive_features` is None", help_text)
    if is_table(given):
        return given_columns(given, "`sensitive_features`")
    shape: tuple[int, ...] = getattr(given, "shape", ())
    if len(shape) > 1 and shape[1] > 1:
        return {f"feature_{place}": cells_of(given[:, place], "`sensitive_features`") for place in range(shape[1])}
    return {series_name(given) or "group": cells_of(given, "`sensitive_features`")}


def _free(name: str, taken: Collection[str]) -> str:
    """A header that no group has."""
    return name if name not in taken else _free(f"{name}_", taken)


def _audited(rows: _Rows, wanted: Wanted, called: _Called, budget: Budget, observer: Observer) -> Audited:
    asked = _asked(rows, wanted, called)
    path = str(Path(rows.path).with_suffix(".fair"))
    text = laid_out(SourceFile(path, spec_text(asked)))
    with holding({path: text.encode("utf-8")}):
        report = verify(path, models={}, data={}, budget=budget, properties=(), observer=observer)
    first = next(iter(rows.groups.values()))
    return Audited(
        spec=text,
        report=report,
        rows=len(first),
        worst=worst_of(report),
        small=small_groups(report, FEW_ROWS),
        merged=_merged(rows),
        data=rows.path,
        favourable=asked.told,
        deserving=None if asked.label is None else asked.label.told,
        shown=first_metrics(asked) if not wanted.metrics else (),
    )


def _merged(rows: _Rows) -> tuple[str, ...]:
    """Which texts of groups, decisions and outcomes are counted as one value."""
    parts = (*rows.groups.items(), *filter(None, (rows.decided, rows.label)))
    return tuple(
        f"{header} = {word}: written {listed(written)}"
        for header, cells in parts
        for word, written in blanks_apart(cells).items()
    )


def _asked(rows: _Rows, wanted: Wanted, called: _Called) -> Asked:
    """The question; DiagnosticError with all that is wrong with any column."""
    found: list[Diagnostic] = []
    bins = wanted.settings.bins
    headers = [*rows.groups, *(part[0] for part in (rows.decided, rows.label, rows.scores) if part is not None)]
    unwritable = [header for header in headers if not header or not can_be_quoted(header)]
    if unwritable:
        reason = f"a quote, or a character that is not printed, is in `{unwritable[0]}`"
        raise _refused("a column's name cannot be written in a spec", reason, "rename it")
    names = dict(zip(headers, names_for(headers, _NAMED_HERE), strict=True))
    if not rows.groups:
        raise _refused("nobody is protected", "no column was named", "name who is protected")
    if rows.decided is None and (rows.scores is None or wanted.threshold is None):
        raise _refused("there are no decisions", called.nothing, called.instead)

    def tried(make: Callable[[], _T]) -> _T | None:
        try:
            return make()
        except DiagnosticError as error:
            found.extend(error.diagnostics)
            return None

    each = [tried(partial(group_column, names[header], header, cells, bins)) for header, cells in rows.groups.items()]
    decided, label = tried(lambda: _outcomes(rows, wanted, called, names)) or (None, None)
    scores = None
    if rows.scores is not None:
        scores = tried(partial(score_column, names[rows.scores[0]], rows.scores[0], rows.scores[1], bins))
    if found:
        raise DiagnosticError(*found)
    asked = Asked(
        title=f"Decisions by {', '.join(rows.groups)}",
        data=Path(rows.path).name,
        groups=[column for column in each if column is not None],
        decided=decided,
        label=label,
        scores=scores,
        threshold=wanted.threshold,
        privileged={},
        metrics=wanted.named_metrics,
        settings=wanted.settings,
    )
    asked = replace(asked, privileged=_privileged(wanted.privileged, rows, names))
    _check_metrics(asked)
    return asked


def _outcomes(
    rows: _Rows, wanted: Wanted, called: _Called, names: Mapping[str, str]
) -> tuple[Outcome | None, Outcome | None]:
    """The decisions, and what became of people, each with its good value."""
    own = wanted.positive_label is not None
    said_of_label = wanted.positive_label if own else wanted.positive
    decided = _sought(rows.decided, called.decided, wanted.positive, "positive")
    label = _sought(rows.label, called.label, said_of_label, "positive_label", own=own)
    good = good_values(decided, label)
    if decided is None and rows.scores is not None and label is not None and good[1] is not None:
        score_is_good(rows.scores[0], label, good[1])
    first, second = (
        None if part is None or value is None else outcome_column(names[part.header], part.header, part.values, value)
        for part, value in zip((decided, label), good, strict=True)
    )
    return first, second


def _sought(part: _Part | None, what: str, named: object | None, argument: str, *, own: bool = False) -> Sought | None:
    if part is None:
        return None
    header, cells = part
    values = outcome_values(header, cells, what)
    return Sought(header=header, values=values, what=what, named=named, argument=argument, own=own)


def _privileged(given: Any, rows: _Rows, names: Mapping[str, str]) -> dict[str, str]:
    """The privileged group: values by the names of attributes; of one column the value alone says it."""
    if given is None:
        return {}
    by_name = dict(given) if isinstance(given, Mapping) else {next(iter(rows.groups)): given}
    if not isinstance(given, Mapping) and len(rows.groups) > 1:
        example = "{" + ", ".join(f"{name!r}: ..." for name in rows.groups) + "}"
        help_text = f"write {example}, or `--privileged COLUMN=VALUE` of one or several"
        raise _refused("which column has the privileged value?", f"there are {len(rows.groups)}", help_text)
    found: dict[str, str] = {}
    for header, value in by_name.items():
        if header not in rows.groups:
            near = nearest(str(header), list(rows.groups))
            reason = f"the columns are: {', '.join(rows.groups)}"
            help_text = f"did you mean `{near}`?" if near else "name one of them"
            raise _refused(f"no protected column is `{header}`", reason, help_text)
        cell = cells_of([value], "`privileged`")[0].strip(BLANKS)
        values = dict.fromkeys(text.strip(BLANKS) for text in rows.groups[header])
        if cell not in values:
            reason = f"its values are: {', '.join(list(values)[:8])}"
            raise _refused(f"no row of `{header}` has the privileged value `{cell}`", reason, "name one of them")
        if len(values) > 8 and decimal_of(cell) is not None:
            help_text = "cut the column into groups yourself, and name one of them"
            raise _refused(f"`{header}` is cut into bins", "a single number is not a group", help_text)
        found[names[header]] = cell
    return found


def _check_metrics(asked: Asked) -> None:
    """Every metric that was named can be asked of these rows."""
    everything = replace(asked, metrics=())
    known: dict[str, None] = {}
    for signed in (False, True) if asked.privileged else (False,):
        for metric in metrics_of(everything, signed=signed):
            known |= dict.fromkeys((metric.name, *(alias.name for alias in metric.aliases)))
    for name in asked.metrics:
        if name not in known:
            near = nearest(name, list(known))
            reason = f"those that can be asked of these rows are: {', '.join(known)}"
            help_text = (
                f"did you mean `{near}`?" if near else "some need what became of people, others a privileged group"
            )
            raise _refused(f"the metric `{name}` cannot be asked here", reason, help_text)


def _refused(title: str, reason: str, help_text: str) -> DiagnosticError:
    return DiagnosticError(not_audited(title, reason, help_text))
