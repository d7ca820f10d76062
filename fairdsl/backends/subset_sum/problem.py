"""Instances as problems again, so that every format of metrics can write what somebody wrote by hand.

Each column becomes an attribute whose values are its cells, and what cells add becomes the weight of an indicator.
Distribution, conditions and threshold stay what they are, so the answer to the problem is that to the instance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from graphlib import TopologicalSorter
from itertools import product

from fairdsl.backends.rates.linear.task import ONE, Chances, Event, State, Task
from fairdsl.backends.subset_sum.instance import Instance
from fairdsl.ir.domain import Attribute, Domain, Integer
from fairdsl.ir.expr import TRUE, Member, Or, Predicate, Variable, conjoin
from fairdsl.ir.feature import IndicatorInput
from fairdsl.ir.model import ByThreshold, Model, linear_layer
from fairdsl.ir.population import Cell, Factor, Network, Row
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import Quantity
from fairdsl.metrics.joint import columns_of, key_of

_Values = tuple[Fraction, ...]


class NotAProblemError(Exception):
    """The instance says more than that finitely many values add up; the text is what, for behind "because"."""


def problem_of(instance: Instance, name: str) -> Problem:
    """The metric of the instance, asked of a weighted sum; raises :class:`NotAProblemError` where it is none."""
    question, population, distribution = instance.question, instance.population, instance.distributions[0]
    if question.influence:
        raise NotAProblemError("an influence compares two distributions, which only an instance writes out")
    if question.metric.rate.along_paths:
        raise NotAProblemError("the groups of a path-specific gap have no distribution: they are set")
    if distribution.task.remainder is not None:
        raise NotAProblemError("normal columns have no finite list of values")
    if population.sample is not None:
        raise NotAProblemError("it counts rows, which other formats read from the data")
    read = dict(zip(columns_of(question, population), distribution.kept, strict=True))
    groups = {axis: (population.columns[at], tuple(map(key_of, population.cells[at]))) for at, axis in read.items()}
    label = read.get(len(population.columns) - 1) if population.has_label else None
    columns = _Columns(distribution.task, distribution.names, groups, label)
    at = {column: columns.group_of(axis) for column, axis in read.items()}
    return Problem(
        name=name,
        domain=Domain(name="Row", attributes=columns.attributes[: -1 if label is not None else None], where=TRUE),
        model=_model(distribution.task, columns, instance.event),
        question=replace(
            question,
            across=tuple(at[column] for column in question.across),
            given_each=tuple(at[column] for column in question.given_each),
            given=conjoin(*(columns.where(table.axes, _met(table)) for table in _conditions(distribution.task))),
        ),
        quantity=Quantity.METRIC,
        population=columns.network(distribution.task, population.name, has_label=label is not None),
        threshold=instance.threshold,
    )


@dataclass(frozen=True, slots=True)
class _Column:
    """An attribute and its values; the axis that it stands for, and the value that each of the axis's cells has."""

    attribute: Attribute
    cells: _Values
    axis: int
    values: _Values
    #: Whether it is the group of the axis's cells, and not the cells themselves.
    follows: bool = False


class _Words:
    """Names that specs and files can have: of letters, digits and underscores, each once."""

    def __init__(self, known: set[str]) -> None:
        self._taken: set[str] = set()
        self._known = known

    def named(self, attribute: Attribute) -> Attribute:
        """The attribute by such a name."""
        return replace(attribute, name=self.new(attribute.name))

    def new(self, name: str) -> str:
        """The name itself where it is one and not taken."""
        word = found = re.sub(r"\W", "_", name) or "_"
        count = 1
        while found in self._taken or (found != name and found in self._known):
            count += 1
            found = f"{word}_{count}"
        self._taken.add(found)
        return found


class _Columns:
    """The columns of the problem: the axes, and the groups of axes whose cells are not the groups one by one.

    ``groups`` are attributes and their keys, of the axes that groups are made of; the ``label``'s column is the last.
    """

    def __init__(
        self, task: Task, names: Mapping[int, str], groups: Mapping[int, tuple[Attribute, _Values]], label: int | None
    ) -> None:
        words = _Words({*names.values()})
        found: list[_Column] = []
        for axis, size in task.sizes.items():
            if axis in groups:
                attribute, keys = groups[axis]
                alone = sorted(keys) == sorted(task.keys[axis])
                values = task.keys[axis] if alone else keys
                found.append(_Column(words.named(attribute), values, axis, task.keys[axis], follows=not alone))
                if alone:
                    continue
            numbered = tuple(map(Fraction, range(size)))
            cells = Attribute(name=words.new(names[axis]), type=Integer(low=0, high=size - 1))
            found.append(_Column(cells, numbered, axis, numbered))
        last = next((each for each in found if each.axis == label), None)
        self.columns = tuple(sorted(found, key=lambda each: each is last))
        self.label = label
        self.attributes = tuple(each.attribute for each in self.columns)
        self.places = {(each.axis, each.follows): place for place, each in enumerate(self.columns)}

    def group_of(self, axis: int) -> int:
        """The place of the column that says which group a cell of the axis is of."""
        return self.places.get((axis, True), self.places[axis, False])

    def where(self, axes: Sequence[int], cells: Iterator[tuple[int, ...]]) -> Predicate:
        """That the cells of the axes are one of these combinations."""
        return Or(tuple(self.at(axes, each) for each in cells))

    def at(self, axes: Sequence[int], cells: Sequence[int]) -> Predicate:
        """That the axes are in these cells."""
        return conjoin(*map(self._cell, axes, cells))

    def _cell(self, axis: int, cell: int) -> Predicate:
        place = self.places[axis, False]
        return Member(variable=Variable(place), values=frozenset({self.columns[place].values[cell]}))

    def reads_label(self, axes: Sequence[int]) -> bool:
        """Whether one of the axes is the label's own column, which no model reads."""
        return (
            self.label is not None
            and self.places.get((self.label, False)) == len(self.columns) - 1
            and (self.label in axes)
        )

    def network(self, task: Task, name: str, *, has_label: bool) -> Network:
        """The distribution over them, parents before children."""
        tables = {table.column: table for table in task.chances if table.column is not None}
        order = TopologicalSorter({axis: table.axes[:-1] for axis, table in tables.items()}).static_order()
        factors = [self._factor(tables[axis]) for axis in order]
        return Network(
            name=name,
            columns=self.attributes,
            cells=tuple(tuple(Cell(low=value, high=value) for value in each.cells) for each in self.columns),
            factors=(*factors, *(self._following(each) for each in self.columns if each.follows)),
            has_label=has_label,
        )

    def _factor(self, table: Chances) -> Factor:
        *parents, column = table.axes
        size = table.shape[-1]
        given = product(*map(range, table.shape[:-1]))
        rows = {cells: table.least[size * at : size * (at + 1)] for at, cells in enumerate(given)}
        return Factor(
            column=self.places[column, False],
            parents=tuple(self.places[axis, False] for axis in parents),
            rows={cells: row for cells, row in rows.items() if any(row)},
        )

    def _following(self, group: _Column) -> Factor:
        """A group follows from its cell."""
        rows: dict[tuple[int, ...], Row] = {
            (cell,): tuple(Fraction(value == each) for each in group.cells) for cell, value in enumerate(group.values)
        }
        return Factor(column=self.places[group.axis, True], parents=(self.places[group.axis, False],), rows=rows)


def _model(task: Task, columns: _Columns, event: Event) -> Model:
    """The score: what cells add, and combinations of cells."""
    inputs: list[IndicatorInput] = []
    weights: list[Fraction] = []
    for axes, cells, weight in _added(task):
        if columns.reads_label(axes):
            raise NotAProblemError("the label adds to the score, and a model never reads what it is held against")
        inputs.append(IndicatorInput(columns.at(axes, cells)))
        weights.append(weight)
    return Model(
        name="sum",
        outcomes=("refused", "favoured"),
        inputs=tuple(inputs),
        layers=(linear_layer([weights], [task.constant]),),
        rule=ByThreshold(relation=event.relation, low=event.low, high=event.high, granted=1, otherwise=0),
        favourable=1,
    )


def _added(task: Task) -> Iterator[tuple[tuple[int, ...], tuple[int, ...], Fraction]]:
    """Which cells of which axes add how much."""
    for axis, read in task.readings.items():
        for cell, states in enumerate(read):
            yield (axis,), (cell,), _number(states)
    for clause in task.clauses:
        if clause.low != clause.high:
            raise NotAProblemError("an indicator adds something between two numbers")
        for cells, weight in zip(product(*map(range, clause.shape)), clause.low, strict=True):
            yield clause.axes, cells, weight


def _number(states: tuple[State, ...]) -> Fraction:
    match states:
        case (State(low=Fraction() as low, high=high, least=least),) if low == high and least == ONE:
            return low
    raise NotAProblemError("a cell has parts, which add different numbers or are left out")


def _conditions(task: Task) -> Iterator[Chances]:
    return (table for table in task.chances if table.column is None)


def _met(table: Chances) -> Iterator[tuple[int, ...]]:
    """The combinations of cells that meet a condition."""
    if not table.exact or not {*table.least} <= {0, 1}:
        raise NotAProblemError("a condition is met by a part of a combination of cells")
    return (cells for cells, met in zip(product(*map(range, table.shape)), table.least, strict=True) if met)
