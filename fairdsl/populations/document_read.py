"""Reading back what :func:`fairdsl.populations.document.saved` wrote, checked against the domain."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from fairdsl.data.cells import cell_value
from fairdsl.diagnostics import Diagnostic, DiagnosticError
from fairdsl.ir.domain import Attribute, Boolean, Category
from fairdsl.ir.population import Cell, Inside, Network, Normal, Row
from fairdsl.numerics.cells import points
from fairdsl.populations import errors
from fairdsl.populations.document import FORMAT, VERSION
from fairdsl.populations.network_laws import ReadLaw, assembled, column_named
from fairdsl.semantics.checked import CheckedDistribution
from fairdsl.source import SourceFile

__all__ = ["network_of_document"]

_LONGEST = 4_000


class _UnreadableError(Exception):
    """What the document lacks or has too much of, in words."""


def network_of_document(distribution: CheckedDistribution, source: SourceFile) -> Network:
    """The network; raises DiagnosticError (E0572, E0574, E0575)."""
    try:
        document = json.loads(source.text)
    except (ValueError, RecursionError) as problem:
        raise DiagnosticError(_not_read(source, f"it is no JSON: {problem}")) from problem
    try:
        return _network(distribution, source, document)
    except _UnreadableError as problem:
        raise DiagnosticError(_not_read(source, str(problem))) from problem
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as problem:
        reason = (
            f"it has no `{problem.args[0]}`" if isinstance(problem, KeyError) else "a part of it is of another kind"
        )
        raise DiagnosticError(_not_read(source, reason)) from problem


def _not_read(source: SourceFile, reason: str) -> Diagnostic:
    help_text = "use a document as `fairdsl.populations.saved` writes it, or a network in BIF"
    return errors.network_not_read(source.path, reason, None, help_text)


def _network(distribution: CheckedDistribution, source: SourceFile, document: Any) -> Network:
    if document["fairdsl"] != FORMAT or document["version"] != VERSION:
        raise _UnreadableError(f"it is no {FORMAT} of version {VERSION}")
    cells: dict[int, tuple[Cell, ...]] = {}
    for column in document["columns"]:
        place = _column(distribution, column["name"])
        if place in cells:
            raise _UnreadableError(f"it has two columns `{column['name']}`")
        cells[place] = tuple(_cell(entry, distribution.columns[place]) for entry in column["cells"])
        _check_cells(cells[place], distribution.columns[place])
    laws: dict[int, ReadLaw] = {}
    for law in document["laws"]:
        place = _column(distribution, law["of"])
        if place in laws:
            raise _UnreadableError(f"it has two laws of `{law['of']}`")
        parents = tuple(_column(distribution, name) for name in law["given"])
        rows = {tuple(int(index) for index in row["where"]): _row(row) for row in law["rows"]}
        if len(rows) != len(law["rows"]):
            raise _UnreadableError(f"two laws of `{law['of']}` are about the same individuals")
        laws[place] = ReadLaw(parents=parents, rows=rows, span=distribution.span)
    data = document.get("data")
    rows_of = f", from {int(data['rows']):,} rows with sha256 {data['sha256']}" if data else ""
    return assembled(
        distribution,
        source.path,
        cells,
        laws,
        how=f"read from {source.path}: {document['how']}{rows_of}",
        causal=document["causal"] is True,
        settings=tuple((str(name), str(value)) for name, value in document["settings"].items()),
    )


def _column(distribution: CheckedDistribution, name: str) -> int:
    place = column_named(distribution, name)
    if place is None:
        raise _UnreadableError(f"`{distribution.name}` does not range over its column `{name}`")
    return place


def _cell(entry: Any, attribute: Attribute) -> Cell:
    if isinstance(entry, str):
        if cell_value(entry, attribute) is None:
            raise _UnreadableError(f"`{entry}` is no value of `{attribute.name}`")
        return points([_value(entry, attribute)])[0]
    ends = {end: _number(entry[end]) if end in entry else None for end in ("low", "high")}
    cell = Cell(**ends, open=entry.get("open", False) is True, inside=Inside(entry["inside"]))
    least, most = attribute.bounds
    if isinstance(attribute.type, Category | Boolean) or not _within(cell, least, most):
        raise _UnreadableError(f"`{attribute.name}` does not have all values of one of its ranges")
    return cell


def _value(text: str, attribute: Attribute) -> Fraction:
    """The exact number of a value; its float64 is one already unless the attribute is real."""
    if isinstance(attribute.type, Category | Boolean):
        return Fraction(cell_value(text, attribute) or 0)
    return _number(text)


def _within(cell: Cell, least: Fraction | None, most: Fraction | None) -> bool:
    low = least is None or (cell.low is not None and cell.low >= least)
    high = most is None or (cell.high is not None and cell.high <= most)
    return low and high and cell.inside is not Inside.POINT


def _check_cells(cells: tuple[Cell, ...], attribute: Attribute) -> None:
    """No two cells have a value in common, none is empty, and every value with a name is a cell."""
    if isinstance(attribute.type, Category | Boolean) and len(cells) < len(attribute.values or ()):
        raise _UnreadableError(f"values of `{attribute.name}` are missing")
    ordered = sorted(cells, key=lambda cell: (cell.low is not None, cell.low or 0))
    for cell, following in zip(ordered, [*ordered[1:], None], strict=True):
        empty = (
            cell.low is not None
            and cell.high is not None
            and (cell.low > cell.high or (cell.low == cell.high and cell.open))
        )
        joins = following is not None and not cell.ends_before(following)
        if empty or joins:
            raise _UnreadableError(f"the values of `{attribute.name}` are not divided into separate cells")


def _row(row: Any) -> Row:
    if "normal" in row:
        law = row["normal"]
        return Normal(mean=_number(law["mean"]), sd=_number(law["sd"]), truncated=law.get("truncated", False) is True)
    return tuple(_number(text) for text in row["law"])


def _number(text: Any) -> Fraction:
    """An exact number, written as a text so that no reader rounds it."""
    try:
        if not isinstance(text, str) or len(text) > _LONGEST or "e" in text.casefold():
            raise ValueError
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise _UnreadableError(f'{str(text)[:40]!r} is no number written as a text such as "1/3"') from None
