"""A population as a JSON document: exact, in the spec's own words, and enough without the data.

::

    {"schema": "fairdsl.population/2", "fairdsl": "...", "name": "cohort", "causal": false, "how": "...",
     "settings": {...}, "data": {"path": "people.csv", "sha256": "...", "rows": 1200},
     "columns": [{"name": "sex", "cells": ["female", "male"]},
                 {"name": "age", "cells": [{"low": "18", "high": "24", "open": false, "inside": "unknown"}, ...]}],
     "distributions": [{"of": "sex", "given": [], "rows": [{"where": [], "distribution": ["1/3", "2/3"]}]}, ...]}

Its classes say what the keys are. Rows of a table are saved as CSV.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from fairdsl.codec import KEYED, Document, Exact
from fairdsl.data.written import column_texts
from fairdsl.ir.domain import Attribute
from fairdsl.ir.population import Cell, Factor, Inside, Network, Normal, Population, Row, Rows
from fairdsl.source.spreadsheets import csv_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedRange:
    """A cell that is a range of values."""

    #: Its least value; without it, the range has no lower end.
    low: Exact | None = None
    #: Its greatest value; without it, the range has no upper end.
    high: Exact | None = None
    #: Whether ``high`` itself is outside.
    open: bool = False
    #: How its mass lies within it.
    inside: Inside


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedColumn:
    """A column, and what it is divided into."""

    #: The name of the attribute or of the label.
    name: str
    #: Single values, as the spec writes them, and ranges.
    cells: tuple[str | SavedRange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedNormal:
    """A normal distribution."""

    #: Its mean.
    mean: Exact
    #: Its standard deviation.
    sd: Exact
    #: Whether it is cut off at the bounds of the attribute.
    truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedRow:
    """The distribution for one combination of the parents' cells: a probability a cell, or a normal one."""

    #: The positions of the parents' cells, in the order of ``given``.
    where: tuple[int, ...]
    #: A probability for each cell of the column; they sum to 1.
    law: tuple[Exact, ...] | None = None
    #: The distribution of a column whose values are normal.
    normal: SavedNormal | None = None

    def __post_init__(self) -> None:
        if (self.law is None) is (self.normal is None):
            raise ValueError("a row has either `law` or `normal`")


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedDistribution:
    """The distribution of a column given its parents; a combination without a row has probability 0."""

    #: The column.
    of: str
    #: Its parents.
    given: tuple[str, ...]
    #: A row for each combination of the parents' cells.
    rows: tuple[SavedRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedSample:
    """The rows of data that the distribution was estimated from."""

    #: The file that they came from.
    path: str
    #: Its digest.
    sha256: str
    #: How many there were.
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedPopulation(Document):
    """A Bayesian network over the columns of a domain."""

    SCHEMA: ClassVar[str] = "fairdsl.population/2"

    #: What the spec called it.
    name: str
    #: Whether somebody wrote its edges, so that they may be read as causes.
    causal: bool
    #: Where the distribution comes from, in words.
    how: str
    #: With which settings it was made.
    settings: Annotated[tuple[tuple[str, str], ...], KEYED]
    #: The rows behind it; left out of a distribution that was written down.
    data: SavedSample | None = None
    #: Every column once.
    columns: tuple[SavedColumn, ...]
    #: One distribution a column.
    laws: tuple[SavedDistribution, ...]


def saved(population: Population) -> str:
    """The text of a file that says everything of the population: JSON of a network, CSV of rows."""
    match population:
        case Network():
            return _document(population).to_json()
        case Rows():
            return _table(population)


def _document(network: Network) -> SavedPopulation:
    sample = network.sample
    return SavedPopulation(
        name=network.name,
        causal=network.causal,
        how=network.how,
        settings=network.settings,
        data=None if sample is None else SavedSample(path=sample.path, sha256=sample.sha256, rows=sample.rows),
        columns=tuple(
            SavedColumn(name=attribute.name, cells=tuple(_cell(cell, attribute) for cell in cells))
            for attribute, cells in zip(network.columns, network.cells, strict=True)
        ),
        laws=tuple(_saved(network, factor) for factor in network.factors),
    )


def _cell(cell: Cell, attribute: Attribute) -> str | SavedRange:
    if cell.inside is Inside.POINT and cell.low is not None:
        return attribute.show(cell.low)
    return SavedRange(low=cell.low, high=cell.high, open=cell.open, inside=cell.inside)


def _saved(network: Network, factor: Factor) -> SavedDistribution:
    return SavedDistribution(
        of=network.columns[factor.column].name,
        given=tuple(network.columns[parent].name for parent in factor.parents),
        rows=tuple(_row(key, row) for key, row in sorted(factor.rows.items(), key=lambda item: item[0])),
    )


def _row(where: tuple[int, ...], row: Row) -> SavedRow:
    if isinstance(row, Normal):
        return SavedRow(where=where, normal=SavedNormal(mean=row.mean, sd=row.sd, truncated=row.truncated))
    return SavedRow(where=where, law=row)


def _table(rows: Rows) -> str:
    values = rows.sample.values
    texts = [column_texts(values.column(place), attribute) for place, attribute in enumerate(rows.columns)]
    return csv_of([[attribute.name for attribute in rows.columns], *zip(*texts, strict=True)])
