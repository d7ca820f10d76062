"""Who is asked about, by which distribution and what model, as a document and arrays: all that a job needs.

Everything is exact: numbers that are float64 are kept as such, others as text, ``p/q``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.rates.people import People
from fairdsl.codec import Exact
from fairdsl.ir.domain import Attribute
from fairdsl.ir.ensemble import RELATIONS, Ensemble, Inputs, attributes_of
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import Predicate, Variable, Who, variables
from fairdsl.ir.feature import Input
from fairdsl.ir.model import ByHighest, ByThreshold, Curve, Layer, Model
from fairdsl.ir.population import Cell, Factor, Network
from fairdsl.ir.tree_shape import TreeShape
from fairdsl.metrics.subject import uniform_over

__all__ = ["Closed", "WrittenDistribution", "WrittenModel", "WrittenPart", "closed_from", "written"]

Arrays = Mapping[str, NDArray[Any]]

_NUMBER = re.compile(rb"-?[0-9]{1,4000}(/[0-9]{1,4000})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFactor:
    """The table of one column: its rows are the arrays ``given/N`` and ``table/N`` of its place N."""

    #: The column, by its position.
    column: int
    #: The columns that it depends on; ``given/N`` has their cells.
    parents: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenDistribution:
    """The distribution that people are drawn from, whole."""

    #: Its name in the spec.
    name: str
    #: Where it comes from, in words.
    how: str
    #: The attributes, and behind them the label where there is one.
    columns: tuple[Attribute, ...]
    #: The cells of each column.
    cells: tuple[tuple[Cell, ...], ...]
    #: The tables; a column without one is not asked about.
    factors: tuple[WrittenFactor, ...]
    #: Whether the last column is the label.
    has_label: bool
    #: How many rows it was counted in.
    rows: int | None = None
    #: The digest of the file with these rows.
    rows_sha256: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenModel:
    """The model; the arrays ``weight/N``, ``bias/N``, ``slope/N`` are its layers, those of ``tree/`` its trees."""

    #: Its name in the spec.
    name: str
    #: The digest of the file that it was read from.
    sha256: str | None
    #: What it decides for.
    outcomes: tuple[str, ...]
    #: What the first layer reads, the leaves of trees left out.
    inputs: tuple[Input, ...]
    #: Of which inputs exactly one is 1.
    groups: tuple[tuple[int, ...], ...]
    #: What the units of each layer compute; nothing where all are piecewise linear.
    curves: tuple[tuple[Curve, ...], ...]
    #: How scores become decisions.
    rule: ByThreshold | ByHighest
    #: What trees test that is not a comparison of one attribute with a number; null: there are no trees.
    tests: tuple[Predicate, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenPart:
    """Individuals by whom they are compared with."""

    #: Who they are, of those who are drawn.
    condition: Predicate
    #: Which units these are.
    units: Predicate
    #: Who is compared in such a unit, as values by column: within each group everybody with everybody.
    groups: tuple[tuple[tuple[tuple[int, Exact], ...], ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """A question about people of a distribution; ``beside``: the same of the domain, each unit counted alike.

    By ``bound`` the probabilities may be off at most in the population that the rows were drawn from.
    """

    people: People
    beside: People | None
    bound: Fraction | None


# ---- Writing ---------------------------------------------------------------------------------------------------------


def written(
    closed: Closed,
) -> tuple[WrittenDistribution, WrittenModel, tuple[WrittenPart, ...], dict[str, NDArray[Any]]]:
    """The documents, and the arrays beside them."""
    network, model = closed.people.network, closed.people.model
    arrays: dict[str, NDArray[Any]] = {}
    factors = [factor for factor in network.factors if not factor.normal]
    for place, factor in enumerate(factors):
        keys = list(factor.rows)
        arrays[f"given/{place}"] = np.array(keys, dtype=np.int32).reshape(len(keys), len(factor.parents))
        rows = [row for row in factor.rows.values() if isinstance(row, tuple)]
        numbers = ExactArray.from_fractions([number for row in rows for number in row])
        arrays[f"table/{place}"] = _numbers(numbers).reshape(len(rows), -1)
    for place, layer in enumerate(model.layers):
        arrays |= {f"{name}/{place}": _numbers(getattr(layer, name)) for name in ("weight", "bias", "slope")}
    if (trees := model.ensemble) is not None:
        arrays |= {f"tree/{name}": getattr(trees.shape, name) for name in ("roots", "yes", "no")}
        arrays |= {"tree/columns": trees.columns, "tree/relations": trees.relations}
        arrays["tree/thresholds"] = _numbers(trees.thresholds)
    sample = network.sample
    distribution = WrittenDistribution(
        name=network.name,
        how=network.how,
        columns=tuple(replace(each, column=None, bins=(), bins_by=None) for each in network.columns),
        cells=network.cells,
        factors=tuple(WrittenFactor(column=each.column, parents=each.parents) for each in factors),
        has_label=network.has_label,
        rows=None if sample is None else sample.rows,
        rows_sha256=None if sample is None else sample.sha256,
    )
    said = WrittenModel(
        name=model.name,
        sha256=model.sha256,
        outcomes=model.outcomes,
        inputs=tuple(model.listed),
        groups=model.groups,
        curves=tuple(layer.curves for layer in model.layers),
        rule=model.rule,
        tests=None if trees is None else trees.tests,
    )
    units = [None] * len(closed.people.parts) if closed.beside is None else [each for each, _ in closed.beside.parts]
    parts = tuple(
        WrittenPart(condition=condition, units=condition if own is None else own, groups=_written_groups(groups))
        for (condition, groups), own in zip(closed.people.parts, units, strict=True)
    )
    return distribution, said, parts, arrays


def _written_groups(
    groups: tuple[tuple[Mapping[int, Fraction], ...], ...],
) -> tuple[tuple[tuple[tuple[int, Fraction], ...], ...], ...]:
    return tuple(tuple(tuple(sorted(each.items())) for each in group) for group in groups)


def _numbers(array: ExactArray) -> NDArray[Any]:
    """Exact numbers as float64, or as text where one of them is none."""
    if array.is_float:
        return array.floats
    text = ["/".join(map(str, number.as_integer_ratio())) for number in array.exact.ravel().tolist()]
    return np.array(text, dtype=np.bytes_).reshape(array.shape)


# ---- Reading: refining follows what a file says without looking, so it is looked at here -----------------------------


def closed_from(
    distribution: WrittenDistribution,
    model: WrittenModel,
    parts: Sequence[WrittenPart],
    differ: tuple[int, ...],
    arrays: Arrays,
    *,
    beside: bool,
    bound: Fraction | None,
) -> Closed:
    """What was written; ValueError for what does not fit together, KeyError where an array is missing."""
    network = _network(distribution, arrays)
    given = len(network.columns) - network.has_label
    made = _model(model, arrays, given)
    _demand(bool(differ) and all(0 <= each < given for each in differ), "what differs is not there")
    groups = [tuple(tuple(map(dict, group)) for group in part.groups) for part in parts]
    for part, own in zip(parts, groups, strict=True):
        _check_read(given, (*variables(part.condition), *variables(part.units)))
        for assignment in (each for group in own for each in group):
            _demand(set(differ) <= set(assignment) <= set(range(given)), "who is compared has no values")
            fits = all(network.columns[column].contains(value) for column, value in assignment.items())
            _demand(fits, "who is compared does not exist")
        _demand(all(own), "nobody is compared in a group")
    _demand(bound is None or bound >= 0, "a bound of an error is negative")
    people = People(
        network=network,
        model=made,
        parts=tuple((part.condition, own) for part, own in zip(parts, groups, strict=True)),
        differ=differ,
    )
    of_units = tuple((part.units, own) for part, own in zip(parts, groups, strict=True))
    whole = replace(people, network=uniform_over(network.columns[:given]), parts=of_units) if beside else None
    return Closed(people=people, beside=whole, bound=bound)


def _network(said: WrittenDistribution, arrays: Arrays) -> Network:
    columns = len(said.columns)
    _demand(len(said.cells) == columns > said.has_label and all(said.cells), "a column has no cells")
    for cells in said.cells:
        ordered = all(one.ends_before(other) for one, other in pairwise(sorted(cells, key=_place_of)))
        _demand(ordered, "cells of a column overlap")
    factors, before = list[Factor](), set[int]()
    for place, each in enumerate(said.factors):
        _demand(all(0 <= at < columns for at in (each.column, *each.parents)), "a column is not there")
        factors.append(_factor(each, [len(cells) for cells in said.cells], arrays, place))
    waiting = {factor.column: set(factor.parents) for factor in factors}
    _demand(len(waiting) == len(factors), "a column has two tables")
    while waiting:
        ready = {column for column, parents in waiting.items() if not parents & waiting.keys()}
        _demand(bool(ready), "columns have a cyclic dependency")
        before |= ready
        waiting = {column: parents for column, parents in waiting.items() if column not in ready}
    return Network(
        name=said.name, columns=said.columns, cells=said.cells, factors=tuple(factors), has_label=said.has_label
    )


def _place_of(cell: Cell) -> tuple[bool, Fraction]:
    return (cell.low is not None, cell.low or Fraction(0))


def _factor(said: WrittenFactor, sizes: list[int], arrays: Arrays, place: int) -> Factor:
    keys = _whole(arrays, f"given/{place}", 2)
    numbers = _exact(arrays, f"table/{place}").exact
    _demand(keys.shape[1] == len(said.parents) == len(set(said.parents)), "a table has rows for other columns")
    _demand(numbers.shape == (len(keys), sizes[said.column]), "a table has other cells than its column")
    _demand(len(keys) <= prod(sizes[parent] for parent in said.parents), "a table has too many rows")
    rows = dict(zip(map(tuple, keys.tolist()), map(tuple, numbers.tolist()), strict=True))
    inside = all(0 <= cell < sizes[parent] for key in rows for cell, parent in zip(key, said.parents, strict=True))
    _demand(len(rows) == len(keys) and inside, "a table has rows that are not there")
    _demand(all(sum(row) == 1 and min(row) >= 0 for row in rows.values()), "probabilities do not sum to 1")
    return Factor(column=said.column, parents=said.parents, rows=rows)


def _model(said: WrittenModel, arrays: Arrays, given: int) -> Model:
    inputs: Sequence[Input] = said.inputs
    _demand(all(0 <= column < given for item in inputs for column in attributes_of(item)), "an input is not there")
    if said.tests is not None:
        _check_read(given, (variable for test in said.tests for variable in variables(test)))
        inputs = Inputs(said.inputs, _trees(said.tests, arrays, given))
    layers, below = list[Layer](), len(inputs)
    for place, curves in enumerate(said.curves):
        weight, bias, slope = (_exact(arrays, f"{name}/{place}") for name in ("weight", "bias", "slope"))
        _demand(len(weight.shape) == 2 and weight.shape[1] == below, "layers do not fit together")
        _demand(bias.shape == slope.shape == weight.shape[:1], "layers do not fit together")
        _demand(all(0 <= each <= 1 for each in slope.exact.tolist()), "a slope is not between 0 and 1")
        layers.append(Layer(weight=weight, bias=bias, slope=slope, curves=curves))
        below = weight.shape[0]
    _demand(bool(layers) and below > 0 and bool(layers[-1].linear.all()), "the scores are not linear")
    places = [place for group in said.groups for place in group]
    _demand(len(set(places)) == len(places), "an input is in two groups")
    _demand(all(0 <= place < len(said.inputs) for place in places), "an input is not there")
    outcomes = range(len(said.outcomes))
    match said.rule:
        case ByThreshold(low=low, high=high, granted=granted, otherwise=otherwise):
            _demand(below == 1 and low <= high, "the rule is not about its scores")
            _demand(granted in outcomes and otherwise in outcomes and granted != otherwise, "an outcome is not there")
        case ByHighest(slack=slack):
            _demand(below == len(outcomes) and not slack, "the rule is not about its scores")
    return Model(
        name=said.name,
        outcomes=said.outcomes,
        inputs=inputs,
        layers=tuple(layers),
        rule=said.rule,
        favourable=0,
        sha256=said.sha256,
        groups=said.groups,
    )


def _trees(tests: tuple[Predicate, ...], arrays: Arrays, given: int) -> Ensemble:
    roots, yes, no, columns, relations = (
        _whole(arrays, f"tree/{name}", 1) for name in ("roots", "yes", "no", "columns", "relations")
    )
    nodes = np.arange(len(yes))
    _demand(len(no) == len(columns) == len(relations) == len(nodes) > 0, "nodes of trees are missing")
    inner = yes != nodes
    forward = (yes > nodes) & (no > nodes) & (yes < len(nodes)) & (no < len(nodes))
    _demand(bool(np.where(inner, forward, (yes == nodes) & (no == nodes)).all()), "a node follows a later one")
    below = np.sort(np.concatenate([roots, yes[inner], no[inner]]))
    _demand(np.array_equal(below, nodes), "a node is reached twice, or never")
    _demand(np.array_equal(TreeShape.in_order(roots, yes, no)[1], nodes), "nodes of trees are in another order")
    inside = (columns >= -len(tests)) & (columns < given) & (relations >= 0) & (relations < len(RELATIONS))
    _demand(bool(inside[inner].all()), "a test is not there")
    thresholds = _exact(arrays, "tree/thresholds")
    _demand(thresholds.shape == nodes.shape, "nodes of trees are missing")
    return Ensemble(
        shape=TreeShape(roots, yes, no),
        columns=columns,
        relations=relations.astype(np.int8),
        thresholds=thresholds,
        tests=tests,
    )


def _check_read(given: int, read: Iterator[Variable] | Sequence[Variable]) -> None:
    fits = all(0 <= each.attribute < given and each.who is Who.EACH for each in read)
    _demand(fits, "a condition is about an attribute that is not there")


def _whole(arrays: Arrays, name: str, dimensions: int) -> NDArray[np.int64]:
    array = arrays[name]
    _demand(array.ndim == dimensions and array.dtype.kind in "iu", f"`{name}` is not of whole numbers")
    return array.astype(np.int64)


def _exact(arrays: Arrays, name: str) -> ExactArray:
    array = arrays[name]
    if array.dtype == np.float64:
        _demand(bool(np.isfinite(array).all()), f"`{name}` is not of numbers")
        return ExactArray.from_floats(array)
    texts = array.ravel().tolist() if array.dtype.kind == "S" else [b""]
    _demand(all(map(_NUMBER.fullmatch, texts)), f"`{name}` is not of numbers")
    try:
        numbers = np.array([Fraction(text.decode()) for text in texts], dtype=object)
    except ZeroDivisionError as error:
        raise ValueError(f"`{name}` is not of numbers") from error
    return ExactArray.from_fractions(numbers.reshape(array.shape))


def _demand(fits: bool, otherwise: str) -> None:
    if not fits:
        raise ValueError(otherwise)
