"""``init``: from a table, and a model, to a spec that checks at once.

Every column becomes an attribute or is left out with its reason; what looks protected is proposed; a model's inputs are
found by trying the usual ways against the label. The text is laid out and read again before it is given away.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from fairdsl.codec import Document
from fairdsl.data.table import open_records
from fairdsl.diagnostics import DiagnosticError, Reporter
from fairdsl.drafting import errors
from fairdsl.drafting.columns import Column, as_written, by_names, columns_of, known_columns, with_blanks
from fairdsl.drafting.fit import Bench, Fit, fitted
from fairdsl.drafting.inputs import inputs_of, texts_of
from fairdsl.drafting.label import Label, label_of, named_column
from fairdsl.drafting.protected import proposed
from fairdsl.drafting.relations import rules_obeyed
from fairdsl.drafting.text import Parts, domain_text, spec_text
from fairdsl.semantics.check import check_spec
from fairdsl.semantics.load import load
from fairdsl.source import SourceFile
from fairdsl.source.writing import write_file
from fairdsl.syntax.laid_out import laid_out


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A column that became no attribute."""

    #: Its header.
    column: str
    #: Why.
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafted(Document):
    """A first spec for a table."""

    SCHEMA: ClassVar[str] = "fairdsl.drafted/1"

    #: The file that was written.
    path: str
    #: Its text.
    text: str
    #: The table.
    data: str
    #: How many rows it has.
    rows: int
    #: The names of the attributes.
    attributes: tuple[str, ...]
    #: The names of those that are declared protected.
    protected: tuple[str, ...]
    #: The columns that are none, with the reason.
    left_out: tuple[LeftOut, ...]
    #: Which value of the label counts as positive, and why; None without a label.
    outcome: str | None
    #: How the model reads the columns, and with which confidence; None without a model.
    binding: str | None

    @property
    def checks(self) -> bool:
        """Whether the spec asks something yet."""
        return "\nproperty " in self.text

    def summary(self) -> list[tuple[str, str]]:
        """What was written, what was left out and what is to be decided: words with what is said of each."""
        return [
            ("attributes", f"{len(self.attributes)}, of {self.rows:,} rows of `{self.data}`"),
            ("protected", ", ".join(self.protected) or "none named, and none that looks it: write `protected NAME`"),
            *(("left out", f"`{each.column}`: {each.why}") for each in self.left_out),
            *([("outcome", self.outcome)] if self.outcome else []),
            *([("model", self.binding)] if self.binding else []),
            ("read it", "what may be assumed and what is required is yours to decide"),
        ]

    def __str__(self) -> str:
        return "\n".join((f"wrote {self.path}", *(f"    {name:<11}{text}" for name, text in self.summary())))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.path}: {len(self.attributes)} attributes, {self.rows:,} rows>"


def draft_spec(
    data: str, *, output: str | None, model: str | None, label: str | None, protected: Sequence[str]
) -> Drafted:
    """The spec for the table at ``data``, written to ``output``: by default beside the table, under its name.

    Raises DiagnosticError where the table cannot be read (E0530), a column is not there (E0670), a file stands in the
    place of the spec (E0671), nothing can be asked (E0672), or the model's file cannot be opened.
    """
    path = output or str(Path(data).with_suffix(".fair"))
    if os.path.lexists(path):
        raise DiagnosticError(errors.would_overwrite(path))
    records = open_records(data)
    columns = columns_of(records.header, [records.cells(place) for place in range(len(records.header))])
    if not known_columns(columns):
        raise DiagnosticError(errors.nothing_to_ask(data))
    parts = _parts(data, path, records.count, columns, model, label, protected)
    text = laid_out(SourceFile(path, spec_text(parts)))
    _check(path, text)
    write_file(path, text, replace=False)
    return Drafted(
        path=path,
        text=text,
        data=data,
        rows=records.count,
        attributes=tuple(column.name for column in parts.attributes),
        protected=tuple(column.name for column, _ in parts.protected),
        left_out=tuple(LeftOut(column=column.header, why=column.why) for column in parts.left_out),
        outcome=_outcome(parts),
        binding=None if parts.model is None else parts.model[1].why,
    )


def _outcome(parts: Parts) -> str | None:
    """Which outcome is taken for the good one, and why."""
    of_model = "" if parts.model is None else parts.model[1].decision.why
    return of_model or (None if parts.label is None else parts.label.why)


def _parts(
    data: str,
    path: str,
    rows: int,
    columns: Sequence[Column],
    model: str | None,
    label: str | None,
    protected: Sequence[str],
) -> Parts:
    named = None if label is None else _label(label, columns)
    if named is not None:
        columns = [named.column if column.name == named.column.name else column for column in columns]
    texts = [] if model is None else texts_of(inputs_of(model), columns)
    columns = [as_written(column) if column in texts else column for column in columns]
    first: DiagnosticError | None = None
    for taken in _taken(columns, None if named is None else named.column) if model is not None else [columns]:
        try:
            return _laid_out(data, path, rows, taken, model, named, protected)
        except DiagnosticError as problem:
            first = first or problem
    assert first is not None
    raise first


def _taken(columns: Sequence[Column], label: Column | None) -> Iterator[list[Column]]:
    """The columns, and what else a model may take them for: it may read no gaps, or know names with blanks around."""
    tried: list[list[Column]] = []
    for change in (lambda column: column, _filled, with_blanks, lambda column: with_blanks(_filled(column))):
        taken = [column if column is label else change(column) for column in columns]
        if taken not in tried:
            tried.append(taken)
            yield taken


def _laid_out(
    data: str,
    path: str,
    rows: int,
    columns: Sequence[Column],
    model: str | None,
    named: Label | None,
    protected: Sequence[str],
) -> Parts:
    apart = named.column if named is not None and model is not None else None
    attributes = [column for column in known_columns(columns) if column is not apart]
    chosen = _protected(columns, protected, None if named is None else named.column)
    fit: tuple[str, Fit] | None = None
    if model is not None:
        written, apart_from = _written(model, path), [column for column, _ in chosen]
        bench = Bench(
            written=written,
            domain=domain_text(attributes, apart_from),
            path=path,
            columns=attributes,
            protected=apart_from,
            label=named,
            left_out=[column for column in columns if column.type is None],
        )
        fit = (written, fitted(model, bench))
    return Parts(
        title=Path(data).name,
        data=_written(data, path),
        rows=rows,
        attributes=attributes,
        left_out=[column for column in columns if column.type is None],
        protected=chosen,
        rules=rules_obeyed(attributes),
        label=named,
        model=fit,
    )


def _label(name: str, columns: Sequence[Column]) -> Label:
    """The label of that name; raises DiagnosticError (E0670) where it is one of many numbers that some rows lack."""
    named = named_column(name, columns)
    column = by_names(named) if named.gaps else named
    if column.gaps or column.type is None:
        raise DiagnosticError(errors.no_such_column(column.header, [c.header for c in columns], column.why))
    return label_of(column)


def _filled(column: Column) -> Column:
    """The column where each row has a value of it, else one that is left out."""
    if not column.gaps:
        return column
    return replace(column, type=None, gaps=0, why=f"{column.why}: add it with `or missing` where the model reads gaps")


def _protected(columns: Sequence[Column], wanted: Sequence[str], label: Column | None) -> list[tuple[Column, str]]:
    """Those that were named, or else those that look it."""
    look = proposed([c for c in known_columns(columns) if c is not label])
    if wanted:
        named = [named_column(name, columns, [c.header for c, _ in look]) for name in dict.fromkeys(wanted)]
        if label is not None and any(column.header == label.header for column in named):
            headers = [column.header for column in columns]
            raise DiagnosticError(errors.no_such_column(label.header, headers, "it is named as label and as protected"))
        return [(column, "named when this was drafted") for column in named]
    return [(column, f"proposed: {why}") for column, why in look]


def _written(file: str, spec: str) -> str:
    """A file's path as a spec writes it: from its own folder."""
    return Path(os.path.relpath(file, Path(spec).parent)).as_posix()


def _check(path: str, text: str) -> None:
    """The text means something: DiagnosticError for what is wrong, which is a bug of ours."""
    reporter = Reporter()
    loaded = load(SourceFile(path, text), reporter)
    if loaded is None or check_spec(loaded, reporter) is None or reporter.has_errors:
        raise DiagnosticError(*reporter)
