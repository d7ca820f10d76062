"""A population as a JSON document: exact, in the spec's own words, and enough without the data.

::

    {"fairdsl": "population", "version": 1, "name": "cohort", "causal": false, "how": "...", "settings": {...},
     "data": {"path": "people.csv", "sha256": "...", "rows": 1200},
     "columns": [{"name": "sex", "cells": ["female", "male"]},
                 {"name": "age", "cells": [{"low": "18", "high": "24"}, {"low": "25", "high": "75"}]}],
     "laws": [{"of": "sex", "given": [], "rows": [{"where": [], "law": ["1/3", "2/3"]}]}, ...]}

Numbers are exact: whole, decimal or ``p/q``. A cell is a value in the spec's words, or a range from ``low`` to
``high`` (left out: without end; ``"open": true`` leaves ``high`` out), whose values are ``"uniform"`` or, as
in bins of data, unknown. ``where`` has the positions of the parents' cells. Rows of a table are saved as CSV.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping

from fairdsl.data.written import column_texts
from fairdsl.ir.domain import Attribute, show_number
from fairdsl.ir.population import Cell, Factor, Inside, Network, Normal, Population, Row, Rows

__all__ = ["FORMAT", "VERSION", "saved"]

FORMAT = "population"
VERSION = 1

Document = dict[str, object]


def saved(population: Population) -> str:
    """The text of a file that says everything of the population: JSON of a network, CSV of rows."""
    match population:
        case Network():
            return json.dumps(_document(population), indent=1, ensure_ascii=False) + "\n"
        case Rows():
            return _table(population)


def _document(network: Network) -> Document:
    document: Document = {
        "fairdsl": FORMAT,
        "version": VERSION,
        "name": network.name,
        "causal": network.causal,
        "how": network.how,
        "settings": dict(network.settings),
    }
    if network.sample is not None:
        sample = network.sample
        document["data"] = {"path": sample.path, "sha256": sample.sha256, "rows": sample.rows}
    document["columns"] = [
        {"name": attribute.name, "cells": [_cell(cell, attribute) for cell in cells]}
        for attribute, cells in zip(network.columns, network.cells, strict=True)
    ]
    document["laws"] = [_law(network, factor) for factor in network.factors]
    return document


def _cell(cell: Cell, attribute: Attribute) -> str | Mapping[str, object]:
    if cell.inside is Inside.POINT and cell.low is not None:
        return attribute.show(cell.low)
    entry: Document = {}
    if cell.low is not None:
        entry["low"] = show_number(cell.low)
    if cell.high is not None:
        entry["high"] = show_number(cell.high)
    if cell.open:
        entry["open"] = True
    entry["inside"] = cell.inside.value
    return entry


def _law(network: Network, factor: Factor) -> Document:
    return {
        "of": network.columns[factor.column].name,
        "given": [network.columns[parent].name for parent in factor.parents],
        "rows": [{"where": list(key), **_row(row)} for key, row in sorted(factor.rows.items())],
    }


def _row(row: Row) -> Document:
    if isinstance(row, Normal):
        law: Document = {"mean": show_number(row.mean), "sd": show_number(row.sd)}
        return {"normal": {**law, "truncated": True} if row.truncated else law}
    return {"law": [str(probability) for probability in row]}


def _table(rows: Rows) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(attribute.name for attribute in rows.columns)
    values = rows.sample.values
    texts = [column_texts(values.column(place), attribute) for place, attribute in enumerate(rows.columns)]
    writer.writerows(zip(*texts, strict=True))
    return text.getvalue()
