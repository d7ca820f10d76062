"""Who is asked about, by which distribution and what model, as a document and arrays: all that a job needs.

Everything is exact: numbers that are float64 are kept as such, others as text, ``p/q``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairdsl.backends.rates.people import People
from fairdsl.backends.refining.written_models import (
    WrittenModel,
    check_read,
    demand,
    exact_in,
    model_from,
    numbers_of,
    whole_in,
    written_model,
)
from fairdsl.codec import Exact
from fairdsl.ir.domain import Attribute
from fairdsl.ir.exact_array import ExactArray
from fairdsl.ir.expr import Predicate, variables
from fairdsl.ir.population import Cell, Factor, Network
from fairdsl.metrics.subject import uniform_over

Arrays = Mapping[str, NDArray[Any]]


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
        arrays[f"table/{place}"] = numbers_of(numbers).reshape(len(rows), -1)
    said, of_model = written_model(model)
    arrays |= of_model
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
    made = model_from(model, arrays, given)
    demand(bool(differ) and all(0 <= each < given for each in differ), "what differs is not there")
    groups = [tuple(tuple(map(dict, group)) for group in part.groups) for part in parts]
    for part, own in zip(parts, groups, strict=True):
        check_read(given, (*variables(part.condition), *variables(part.units)))
        for assignment in (each for group in own for each in group):
            demand(set(differ) <= set(assignment) <= set(range(given)), "who is compared has no values")
            fits = all(network.columns[column].contains(value) for column, value in assignment.items())
            demand(fits, "who is compared does not exist")
        demand(all(own), "nobody is compared in a group")
    demand(bound is None or bound >= 0, "a bound of an error is negative")
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
    demand(len(said.cells) == columns > said.has_label and all(said.cells), "a column has no cells")
    for cells in said.cells:
        ordered = all(one.ends_before(other) for one, other in pairwise(sorted(cells, key=_place_of)))
        demand(ordered, "cells of a column overlap")
    factors, before = list[Factor](), set[int]()
    for place, each in enumerate(said.factors):
        demand(all(0 <= at < columns for at in (each.column, *each.parents)), "a column is not there")
        factors.append(_factor(each, [len(cells) for cells in said.cells], arrays, place))
    waiting = {factor.column: set(factor.parents) for factor in factors}
    demand(len(waiting) == len(factors), "a column has two tables")
    while waiting:
        ready = {column for column, parents in waiting.items() if not parents & waiting.keys()}
        demand(bool(ready), "columns have a cyclic dependency")
        before |= ready
        waiting = {column: parents for column, parents in waiting.items() if column not in ready}
    return Network(
        name=said.name, columns=said.columns, cells=said.cells, factors=tuple(factors), has_label=said.has_label
    )


def _place_of(cell: Cell) -> tuple[bool, Fraction]:
    return (cell.low is not None, cell.low or Fraction(0))


def _factor(said: WrittenFactor, sizes: list[int], arrays: Arrays, place: int) -> Factor:
    keys = whole_in(arrays, f"given/{place}", 2)
    numbers = exact_in(arrays, f"table/{place}").exact
    demand(keys.shape[1] == len(said.parents) == len(set(said.parents)), "a table has rows for other columns")
    demand(numbers.shape == (len(keys), sizes[said.column]), "a table has other cells than its column")
    demand(len(keys) <= prod(sizes[parent] for parent in said.parents), "a table has too many rows")
    rows = dict(zip(map(tuple, keys.tolist()), map(tuple, numbers.tolist()), strict=True))
    inside = all(0 <= cell < sizes[parent] for key in rows for cell, parent in zip(key, said.parents, strict=True))
    demand(len(rows) == len(keys) and inside, "a table has rows that are not there")
    demand(all(sum(row) == 1 and min(row) >= 0 for row in rows.values()), "probabilities do not sum to 1")
    return Factor(column=said.column, parents=said.parents, rows=rows)
