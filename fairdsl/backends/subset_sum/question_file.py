"""The part of an instance's file that says what is asked: the question, its threshold, the columns of the groups."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from fairdsl.backends.subset_sum.document import MalformedError, Node, exact
from fairdsl.ir.domain import Attribute, Boolean, Category, CategoryValue, Integer, Real, Type
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.expr import Relation
from fairdsl.ir.metric import Metric
from fairdsl.ir.metric_registry import METRICS, registered
from fairdsl.ir.population import Cell, Inside, Network, Sample, label_column
from fairdsl.ir.question import Excluding, GroupMetric, Threshold
from fairdsl.metrics.joint import key_at

__all__ = [
    "population_from",
    "population_written",
    "question_from",
    "question_written",
    "threshold_from",
    "threshold_written",
]


def question_written(question: GroupMetric, names: Sequence[str]) -> dict[str, Any]:
    """The question with its columns by name."""
    excluding = question.excluding
    return {
        "metric": question.metric.name,
        "across": [names[column] for column in question.across],
        "given_each": [names[column] for column in question.given_each],
        "deserving": _perhaps(question.deserving),
        "privileged": None if question.privileged is None else [exact(value) for value in question.privileged],
        "excluding": None if excluding is None else {"rows": excluding.rows},
        "influence": [names[column] for column in question.influence],
        "confidence": _perhaps(question.confidence),
    }


def _perhaps(value: Fraction | None) -> str | None:
    return None if value is None else exact(value)


def question_from(node: Node, population: Network) -> GroupMetric:
    """The question over the columns of the population; what its metric needs has to be there."""
    names = ("across", "given_each", "deserving", "privileged", "excluding", "influence", "confidence")
    found = node.fields(("metric",), names)
    metric = registered(found["metric"].text(), privileged="privileged" in found)
    if not isinstance(metric, Metric):
        found["metric"].refuse(f"the metrics are {', '.join(sorted({each.name for each in METRICS}))}")
    columns = {name: _columns(found.get(name), population) for name in ("across", "given_each", "influence")}
    question = GroupMetric(
        metric=metric,
        population=population.name,
        across=columns["across"],
        given_each=columns["given_each"],
        influence=columns["influence"],
        deserving=found["deserving"].number() if "deserving" in found else None,
        privileged=found["privileged"].numbers() if "privileged" in found else None,
        excluding=_excluding(found.get("excluding"), population),
        confidence=_confidence(found.get("confidence")),
    )
    _check_needs(node, question, population)
    return question


def _columns(node: Node | None, population: Network) -> tuple[int, ...]:
    places = {column.name: place for place, column in enumerate(population.columns)}
    found: list[int] = []
    for item in [] if node is None else node.items():
        place = places.get(item.text())
        if place is None or place in found:
            item.refuse("it is no column of the population, or one that stands here already")
        found.append(place)
    return tuple(found)


def _excluding(node: Node | None, population: Network) -> Excluding | None:
    if node is None:
        return None
    rows = node.fields((), ("rows",)).get("rows")
    if rows is not None and population.sample is None:
        node.refuse("the population rests on no data, so no rows can be counted")
    return Excluding(rows=None if rows is None else rows.count())


def _confidence(node: Node | None) -> Fraction | None:
    if node is None:
        return None
    value = node.number()
    if not 0 < value < 1:
        node.refuse("a confidence lies between 0 and 1")
    return value


def _check_needs(node: Node, question: GroupMetric, population: Network) -> None:
    """What defines the metric has to be there, or there would be no number."""
    label = label_column(population)
    metric = question.metric
    if metric.rate.reads_label and (label is None or label in question.across + question.given_each):
        node.refuse(f"`{metric.name}` needs a label in the population, which defines no groups")
    if metric.rate.about_deserving:
        value = question.deserving
        if value is None or label is None or key_at(population, label, value) is None:
            node.refuse(f"`{metric.name}` is about a value of the label: `deserving`")
    if metric.signed and question.privileged is None:
        node.refuse(f"`{metric.name}` compares with a group: `privileged`")
    if question.privileged is not None and len(question.privileged) != len(question.across):
        node.refuse("`privileged` has a value for each column of `across`")


def threshold_written(threshold: Threshold | None) -> dict[str, Any] | None:
    """What the value has to meet."""
    if threshold is None:
        return None
    return {"relation": threshold.relation.value, "limit": exact(threshold.limit), "text": threshold.text}


def threshold_from(node: Node | None) -> Threshold | None:
    """None for a measure; without ``text`` the limit is its own."""
    if node is None:
        return None
    found = node.fields(("relation", "limit"), ("text",))
    known = {relation.value: relation for relation in (Relation.LE, Relation.LT, Relation.GE, Relation.GT)}
    relation = known.get(found["relation"].text())
    if relation is None:
        found["relation"].refuse(f"one of {', '.join(known)} belongs here")
    limit = found["limit"].number()
    return Threshold(relation=relation, limit=limit, text=found["text"].text() if "text" in found else exact(limit))


def population_written(population: Network) -> dict[str, Any]:
    """The columns that groups are made of, with their cells."""
    sample = population.sample
    return {
        "name": population.name,
        "columns": [
            {"name": column.name, "type": _type_written(column.type), "cells": [_cell_written(cell) for cell in cells]}
            for column, cells in zip(population.columns, population.cells, strict=True)
        ],
        "label": population.has_label,
        "data": None if sample is None else {"path": sample.path, "sha256": sample.sha256},
    }


def population_from(node: Node | None) -> Network:
    """The columns; no population at all is one without groups."""
    if node is None:
        return Network(name="law", columns=(), cells=(), factors=())
    found = node.fields(("columns",), ("name", "label", "data"))
    columns: list[Attribute] = []
    cells: list[tuple[Cell, ...]] = []
    for item in found["columns"].items():
        column = item.fields(("name", "type", "cells"))
        name = column["name"].text()
        if any(other.name == name for other in columns):
            column["name"].refuse("an earlier column has this name")
        columns.append(Attribute(name=name, type=_type(column["type"])))
        cells.append(_cells(column["cells"]))
    return Network(
        name=found["name"].text() if "name" in found else "law",
        columns=tuple(columns),
        cells=tuple(cells),
        factors=(),
        has_label="label" in found and bool(columns) and found["label"].flag(),
        sample=_sample(found.get("data"), len(columns)),
    )


def _sample(node: Node | None, columns: int) -> Sample | None:
    """The file of the rows, without the rows: they are counted by key."""
    if node is None:
        return None
    found = node.fields(("path", "sha256"))
    return Sample(
        path=found["path"].text(), sha256=found["sha256"].text(), values=ExactRows.of_floats(np.zeros((0, columns)))
    )


def _type_written(type_: Type) -> dict[str, Any]:
    match type_:
        case Category(values=values):
            return {"category": [{"name": value.name, "code": value.code} for value in values]}
        case Integer(low=low, high=high):
            return {"integer": [low, high]}
        case Boolean():
            return {"boolean": True}
        case Real(low=low, high=high):
            return {"real": [_perhaps(low), _perhaps(high)]}


def _type(node: Node) -> Type:
    found = node.fields((), ("category", "integer", "boolean", "real"))
    match list(found.items()):
        case [("category", values)]:
            pairs = [item.fields(("name", "code")) for item in values.items()]
            return Category(
                values=tuple(CategoryValue(name=pair["name"].text(), code=_whole(pair["code"])) for pair in pairs)
            )
        case [("integer", ends)]:
            low, high = _pair(ends)
            return Integer(low=_whole(low), high=_whole(high))
        case [("real", ends)]:
            low, high = _pair(ends)
            return Real(low=low.bounded(), high=high.bounded())
        case [("boolean", _)]:
            return Boolean()
    raise MalformedError(node.place, "a column is one of `category`, `integer`, `boolean` and `real`")


def _whole(node: Node) -> int:
    value = node.number()
    if value.denominator != 1:
        node.refuse("a whole number belongs here")
    return value.numerator


def _pair(node: Node) -> tuple[Node, Node]:
    ends = node.items()
    if len(ends) != 2:
        node.refuse("a lower and an upper end belong here")
    return ends[0], ends[1]


def _cell_written(cell: Cell) -> Any:
    """A single value is its own cell."""
    if cell.low is not None and cell.low == cell.high:
        return exact(cell.low)
    return {"low": _perhaps(cell.low), "high": _perhaps(cell.high), "open": cell.open, "inside": cell.inside.value}


def _cells(node: Node) -> tuple[Cell, ...]:
    """The cells; no value may lie in two of them, or keys would be ambiguous."""
    cells = tuple(_cell(item) for item in node.items())
    if not cells:
        node.refuse("a column has a cell at least")
    ordered = sorted(cells, key=lambda cell: (cell.low is not None, cell.low or 0, cell.high or cell.low or 0))
    for one, other in pairwise(ordered):
        if one.high is None or other.low is None or one.high > other.low or (one.high == other.low and not one.open):
            node.refuse("no value may lie in two cells")
    return cells


def _cell(node: Node) -> Cell:
    if not isinstance(node.value, dict):
        value = node.number()
        return Cell(low=value, high=value)
    found = node.fields((), ("low", "high", "open", "inside"))
    low, high = (found[name].number() if name in found else None for name in ("low", "high"))
    if low is not None and high is not None and low >= high:
        node.refuse("a range runs from its low end to a greater one")
    known = {inside.value: inside for inside in Inside}
    inside = known.get(found["inside"].text()) if "inside" in found else Inside.UNKNOWN
    if inside is None:
        found["inside"].refuse(f"one of {', '.join(known)} belongs here")
    return Cell(low=low, high=high, open="open" in found and found["open"].flag(), inside=inside)
