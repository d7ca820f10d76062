"""Reading back what :func:`fairdsl.populations.document.saved` wrote, checked against the domain."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil

from fairdsl.codec import MisfitError, Place, decode, placing
from fairdsl.data.cells import cell_value
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.domain import Attribute, Boolean, Category, Integer
from fairdsl.ir.population import Cell, Inside, Network, Normal, Row
from fairdsl.numerics.cells import points
from fairdsl.populations import errors
from fairdsl.populations.document import SavedColumn, SavedDistribution, SavedPopulation, SavedRange, SavedRow
from fairdsl.populations.network_factors import ReadFactor, assembled, column_named
from fairdsl.semantics.checked import CheckedDistribution
from fairdsl.source import SourceFile
from fairdsl.source.numbers import read_number

_LONGEST = 4_000


def network_of_document(distribution: CheckedDistribution, source: SourceFile) -> Network:
    """The network; raises DiagnosticError (E0572, E0574, E0575)."""
    try:
        document = decode(SavedPopulation, source)
        with placing(source):
            cells, factors = _cells(distribution, document), _factors(distribution, document)
    except MisfitError as at:
        help_text = "use a document as `fairdsl.populations.saved` writes it, or a network in BIF"
        raise DiagnosticError(errors.network_not_read(source.path, at.said, at.span, help_text)) from at
    data = document.data
    rows_of = "" if data is None else f", from {data.rows:,} rows with sha256 {data.sha256}"
    return assembled(
        distribution,
        source.path,
        cells,
        factors,
        how=f"read from {source.path}: {document.how}{rows_of}",
        causal=document.causal,
        settings=document.settings,
    )


def _cells(distribution: CheckedDistribution, document: SavedPopulation) -> dict[int, tuple[Cell, ...]]:
    """The cells of each column, by its place."""
    found: dict[int, tuple[Cell, ...]] = {}
    for number, saved in enumerate(document.columns):
        at = Place(("columns", number))
        column = _column(distribution, saved.name, at.at("name"))
        if column in found:
            raise at.at("name").misfit("is the name of an earlier column")
        found[column] = _cells_of(saved, distribution.columns[column], at.at("cells"))
    return found


def _factors(distribution: CheckedDistribution, document: SavedPopulation) -> dict[int, ReadFactor]:
    """The distribution of each column, by its place."""
    found: dict[int, ReadFactor] = {}
    for number, saved in enumerate(document.laws):
        at = Place(("laws", number))
        column = _column(distribution, saved.of, at.at("of"))
        if column in found:
            raise at.at("of").misfit("is a column that has a distribution already")
        found[column] = _factor(distribution, saved, at)
    return found


def _factor(distribution: CheckedDistribution, saved: SavedDistribution, at: Place) -> ReadFactor:
    parents = tuple(_column(distribution, name, at.at("given").at(place)) for place, name in enumerate(saved.given))
    rows = {row.where: _row(row) for row in saved.rows}
    if len(rows) < len(saved.rows):
        raise at.at("rows").misfit("has two rows about the same individuals")
    return ReadFactor(parents=parents, rows=rows, span=distribution.span)


def _column(distribution: CheckedDistribution, name: str, at: Place) -> int:
    column = column_named(distribution, name)
    if column is None:
        raise at.misfit(f"is not a column that `{distribution.name}` ranges over")
    return column


def _row(row: SavedRow) -> Row:
    if row.normal is not None:
        return Normal(mean=row.normal.mean, sd=row.normal.sd, truncated=row.normal.truncated)
    return row.law or ()


def _cells_of(saved: SavedColumn, attribute: Attribute, at: Place) -> tuple[Cell, ...]:
    """No two cells have a value in common, none is empty, and every value with a name is a cell."""
    cells = tuple(_cell(cell, attribute, at.at(number)) for number, cell in enumerate(saved.cells))
    if isinstance(attribute.type, Category | Boolean) and len(cells) < len(attribute.values or ()):
        raise at.misfit(f"leaves out values of `{attribute.name}`")
    ordered = sorted(cells, key=lambda cell: (cell.low is not None, cell.low or 0))
    for cell, following in zip(ordered, [*ordered[1:], None], strict=True):
        if _is_empty(cell, attribute) or (following is not None and not cell.ends_before(following)):
            raise at.misfit("has an empty range, or a value in two cells")
    return cells


def _is_empty(cell: Cell, attribute: Attribute) -> bool:
    """Whether no value of the attribute lies in it."""
    if cell.low is None or cell.high is None:
        return False
    least = Fraction(ceil(cell.low)) if isinstance(attribute.type, Integer) else cell.low
    return least > cell.high or (least == cell.high and cell.open)


def _cell(saved: str | SavedRange, attribute: Attribute, at: Place) -> Cell:
    named = isinstance(attribute.type, Category | Boolean)
    if isinstance(saved, str):
        value = cell_value(saved, attribute)
        if value is None:
            raise at.misfit(f"is not a value of `{attribute.name}`")
        return points([Fraction(value) if named else _exact(saved, at)])[0]
    cell = Cell(low=saved.low, high=saved.high, open=saved.open, inside=saved.inside)
    least, most = attribute.bounds
    if named or not _within(cell, least, most):
        raise at.misfit(f"is not a range of values of `{attribute.name}`")
    one = cell.low is not None and cell.low == cell.high and not cell.open
    return replace(cell, inside=Inside.POINT) if one else cell


def _within(cell: Cell, least: Fraction | None, most: Fraction | None) -> bool:
    low = least is None or (cell.low is not None and cell.low >= least)
    high = most is None or (cell.high is not None and cell.high <= most)
    return low and high and cell.inside is not Inside.POINT


def _exact(text: str, at: Place) -> Fraction:
    """A value as the spec writes it, exactly; a long or an exponential one is not written by anybody."""
    try:
        if len(text) > _LONGEST or "e" in text.casefold():
            raise ValueError
        return read_number(text)
    except ValueError as error:
        raise at.misfit('is not a number such as "18" or "1/3"') from error
