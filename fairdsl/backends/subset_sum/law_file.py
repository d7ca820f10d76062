"""The part of an instance's file that is a law: columns with what they add to the score, factors, conditions.

Tables are row-major: the last column's cell changes fastest. Where a condition or indicator has ``up_to``, its numbers
are lower bounds and those of ``up_to`` upper ones; without, they are exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from math import prod
from operator import lt
from typing import Any

from fairdsl.backends.subset_sum.document import Node, exact
from fairdsl.backends.subset_sum.instance import Law
from fairdsl.backends.subset_sum.remainder import NormalSum
from fairdsl.backends.subset_sum.task import ONE, Chances, Clause, State, Task
from fairdsl.ir.population import Network
from fairdsl.metrics.joint import key_of

__all__ = ["law_from", "law_written"]

_ZERO = Fraction(0)
_Numbers = tuple[Fraction, ...]


def law_written(law: Law, names: Sequence[str], keys: Sequence[int]) -> dict[str, Any]:
    """The law; its columns that results are listed by have the names of the population's."""
    task, named = law.task, dict(law.names)
    named.update({axis: names[key] for axis, key in zip(law.kept, keys, strict=True)})
    return {
        "columns": [_column_written(task, axis, name) for axis, name in named.items()],
        "factors": [
            {"column": named[table.column], "given": [named[axis] for axis in table.axes[:-1]]}
            | {"probabilities": [exact(value) for value in table.least]}
            for table in task.chances
            if table.column is not None
        ],
        "conditions": [
            {"columns": [named[axis] for axis in table.axes]} | _table_written("holds", table.least, table.most)
            for table in task.chances
            if table.column is None
        ],
        "indicators": [
            {"columns": [named[axis] for axis in clause.axes]} | _table_written("adds", clause.low, clause.high)
            for clause in task.clauses
        ],
        "constant": exact(task.constant),
        "normal": _normal_written(law, named),
        "notes": list(task.notes),
    }


def _column_written(task: Task, axis: int, name: str) -> dict[str, Any]:
    written: dict[str, Any] = {"name": name, "cells": task.sizes[axis]}
    if axis in task.keys:
        written["key"] = [exact(value) for value in task.keys[axis]]
    if axis in task.readings:
        written["adds"] = [_cell_written(states) for states in task.readings[axis]]
    return written


def _cell_written(states: tuple[State, ...]) -> Any:
    """A number where all of the cell adds it, else the parts of the cell."""
    match states:
        case (State(low=low, high=high, least=least, most=most),) if (
            low is not None and low == high and (least == most == 1)
        ):
            return exact(low)
    return [
        {"adds": _ends_written(state.low, state.high), "share": _ends_written(state.least, state.most)}
        for state in states
    ]


def _ends_written(low: Fraction | None, high: Fraction | None) -> Any:
    if low is not None and low == high:
        return exact(low)
    return [None if end is None else exact(end) for end in (low, high)]


def _table_written(name: str, least: _Numbers, most: _Numbers) -> dict[str, Any]:
    written: dict[str, Any] = {name: [exact(value) for value in least]}
    return written if least == most else written | {"up_to": [exact(value) for value in most]}


def _normal_written(law: Law, named: Mapping[int, str]) -> dict[str, Any] | None:
    remainder = law.task.remainder
    if remainder is None:
        return None
    if not isinstance(remainder, NormalSum):
        raise TypeError("only sums of normal columns have a place in the file")
    return {
        "columns": list(law.summed),
        "given": [named[axis] for axis in remainder.axes],
        "laws": [
            {"cells": list(cells), "mean": exact(mean), "variance": exact(variance)}
            for cells, (mean, variance) in remainder.moments.items()
        ],
    }


def law_from(node: Node, names: Sequence[str], keys: tuple[int, ...], population: Network, *, free: bool) -> Law:
    """The law. ``free``: columns of keys are set from outside, so that they need no factor."""
    found = node.fields(("columns",), ("factors", "conditions", "indicators", "constant", "normal", "notes"))
    reader = _Reader(found["columns"])
    kept = reader.kept([names[key] for key in keys], [tuple(map(key_of, population.cells[key])) for key in keys])
    factors = reader.factors(found.get("factors"))
    conditions = reader.conditions(found.get("conditions"))
    reader.check_laws(factors, kept if free else ())
    task = Task(
        sizes=reader.sizes,
        chances=(*factors, *conditions),
        readings=reader.readings,
        clauses=reader.clauses(found.get("indicators")),
        keys={axis: reader.keys[axis] for axis in kept},
        constant=found["constant"].number() if "constant" in found else _ZERO,
        remainder=reader.normal(found.get("normal")),
        notes=found["notes"].texts() if "notes" in found else (),
    )
    return Law(task=task, names=dict(enumerate(reader.places)), kept=kept, summed=reader.summed)


class _Reader:
    """Reads tables over the columns of a law; an axis is a column's place among them."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.places: dict[str, int] = {}
        self.sizes: dict[int, int] = {}
        self.keys: dict[int, _Numbers] = {}
        self.readings: dict[int, tuple[tuple[State, ...], ...]] = {}
        self.summed: tuple[str, ...] = ()
        for axis, item in enumerate(node.items()):
            self._column(axis, item)

    def _column(self, axis: int, node: Node) -> None:
        found = node.fields(("name", "cells"), ("key", "adds"))
        name, size = found["name"].text(), found["cells"].count()
        if name in self.places:
            found["name"].refuse("an earlier column has this name")
        if not size:
            found["cells"].refuse("a column has a cell at least")
        self.places[name], self.sizes[axis] = axis, size
        if "key" in found:
            self.keys[axis] = self._sized(found["key"], size)
        if "adds" in found:
            cells = found["adds"].items()
            if len(cells) != size:
                found["adds"].refuse(f"it has {len(cells)} entries for {size} cells")
            self.readings[axis] = tuple(_states(cell) for cell in cells)

    def _sized(self, node: Node, size: int) -> _Numbers:
        numbers = node.numbers()
        if len(numbers) != size:
            node.refuse(f"it has {len(numbers)} numbers, and {size} belong here")
        return numbers

    def axes(self, node: Node | None) -> tuple[int, ...]:
        """Columns by name, each once."""
        axes: list[int] = []
        for item in [] if node is None else node.items():
            axis = self.places.get(item.text())
            if axis is None or axis in axes:
                item.refuse("it is no column of the law, or one that stands here already")
            axes.append(axis)
        return tuple(axes)

    def kept(self, names: Sequence[str], cells: Sequence[_Numbers]) -> tuple[int, ...]:
        """The axes that results are listed by, whose cells have keys of the population's cells."""
        for name, keys in zip(names, cells, strict=True):
            axis = self.places.get(name)
            if axis is None or not set(self.keys.get(axis, (None,))) <= set(keys):
                self.node.refuse(f"`{name}` defines groups: `key` has the number of a group for each of its cells")
        return tuple(self.places[name] for name in names)

    def _table(self, node: Node, name: str, axes: tuple[int, ...]) -> tuple[_Numbers, _Numbers]:
        """Lower and upper bounds; the same tuple where they are exact."""
        found = node.fields((name,), ("up_to", "column", "given", "columns"))
        size = prod(self._shape(axes))
        least = self._sized(found[name], size)
        most = self._sized(found["up_to"], size) if "up_to" in found else least
        if any(low > high for low, high in zip(least, most, strict=True)):
            node.refuse("`up_to` is below the lower bound")
        return least, most

    def _chances(self, node: Node, name: str, axes: tuple[int, ...]) -> tuple[_Numbers, _Numbers]:
        least, most = self._table(node, name, axes)
        if min(least) < 0 or max(most) > 1:
            node.refuse(f"`{name}` are numbers from 0 to 1")
        return least, most

    def factors(self, node: Node | None) -> tuple[Chances, ...]:
        """Conditional laws: each row sums to 1, or is 0 where nothing is known of the combination."""
        found: dict[int, Chances] = {}
        for item in [] if node is None else node.items():
            members = item.fields(("column", "probabilities"), ("given",))
            axes = (*self.axes(members.get("given")), self.places.get(members["column"].text(), -1))
            column = axes[-1]
            if column < 0 or column in found or column in axes[:-1]:
                members["column"].refuse("it is no column of the law, has a factor already, or is given itself")
            chances, _ = self._chances(item, "probabilities", axes)
            complete = _rows_sum_to_one(item, chances, self.sizes[column])
            found[column] = Chances(
                axes=axes, shape=self._shape(axes), least=chances, most=chances, column=column, complete=complete
            )
        return tuple(found.values())

    def conditions(self, node: Node | None) -> tuple[Chances, ...]:
        """What has to hold: tables of 0 and 1."""
        found = []
        for item in [] if node is None else node.items():
            axes = self.axes(item.fields(("columns", "holds"), ("up_to",))["columns"])
            least, most = self._chances(item, "holds", axes)
            found.append(Chances(axes=axes, shape=self._shape(axes), least=least, most=most))
        return tuple(found)

    def _shape(self, axes: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(self.sizes[axis] for axis in axes)

    def clauses(self, node: Node | None) -> tuple[Clause, ...]:
        """What combinations of cells add to the score."""
        found = []
        for item in [] if node is None else node.items():
            axes = self.axes(item.fields(("columns", "adds"), ("up_to",))["columns"])
            low, high = self._table(item, "adds", axes)
            found.append(Clause(axes=axes, shape=self._shape(axes), low=low, high=high))
        return tuple(found)

    def normal(self, node: Node | None) -> NormalSum | None:
        """What normal columns add together: a normal law for each combination of cells."""
        if node is None:
            return None
        found = node.fields(("columns", "laws"), ("given",))
        self.summed = found["columns"].texts()
        if not self.summed or not self.places.keys().isdisjoint(self.summed):
            found["columns"].refuse("the normal columns stand here by name, and not among the other columns")
        axes = self.axes(found.get("given"))
        moments: dict[tuple[int, ...], tuple[Fraction, Fraction]] = {}
        for item in found["laws"].items():
            law = item.fields(("mean", "variance"), ("cells",))
            cells = tuple(cell.count() for cell in law["cells"].items()) if "cells" in law else ()
            within = len(cells) == len(axes) and all(map(lt, cells, self._shape(axes)))
            if not within or cells in moments:
                item.refuse("its `cells` are no cells of the columns given, or those of an earlier law")
            mean, variance = law["mean"].number(), law["variance"].number()
            if variance < 0:
                law["variance"].refuse("a variance is not negative")
            moments[cells] = (mean, variance)
        gaps = len(moments) < prod(self._shape(axes))
        return NormalSum(axes=axes, moments=moments, conditioned=gaps)

    def check_laws(self, factors: Sequence[Chances], free: Iterable[int]) -> None:
        """Every column has a law, except those that are set from outside, and none depends on itself."""
        graph = {table.column: table.axes[:-1] for table in factors}
        for name, axis in self.places.items():
            if axis not in graph and axis not in free:
                self.node.refuse(f"`{name}` has no factor, and so no law")
        try:
            TopologicalSorter(graph).prepare()
        except CycleError:
            self.node.refuse("the factors go round in a circle")


def _rows_sum_to_one(node: Node, chances: _Numbers, size: int) -> bool:
    """Whether all rows do; a row of zeros alone is left out of the law, and any other sum is refused."""
    sums = {sum(chances[start : start + size], _ZERO) for start in range(0, len(chances), size)}
    if not sums <= {_ZERO, ONE}:
        node.refuse("the probabilities of the column's cells sum to 1, for every combination of the cells given")
    return _ZERO not in sums


def _states(node: Node) -> tuple[State, ...]:
    if not isinstance(node.value, list):
        value = node.number()
        return (State(value, value, ONE, ONE),)
    states = []
    for item in node.items():
        found = item.fields(("adds",), ("share",))
        low, high = _ends(found["adds"])
        least, most = _ends(found["share"]) if "share" in found else (ONE, ONE)
        if least is None or most is None or least < 0 or most > 1:
            item.refuse("a share of a cell lies from 0 to 1")
        states.append(State(low, high, ONE if least == 1 else least, ONE if most == 1 else most))
    if sum((state.least for state in states), _ZERO) > 1:
        node.refuse("the shares of a cell are more than the cell")
    return tuple(states)


def _ends(node: Node) -> tuple[Fraction | None, Fraction | None]:
    """A number, or a lower and an upper bound (null: there is none)."""
    if not isinstance(node.value, list):
        value = node.number()
        return value, value
    ends = [item.bounded() for item in node.items()]
    if len(ends) != 2:
        node.refuse("a lower and an upper bound belong here")
    low, high = ends
    if low is not None and high is not None and low > high:
        node.refuse("the lower bound is above the upper one")
    return low, high
