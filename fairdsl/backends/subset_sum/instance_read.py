"""Documents to instances. What one part says by itself its class checks; here, whether parts fit together.

What masses need to be probabilities is checked: rows of a factor sum to 1 (or are all 0, where nothing is known of a
combination), no column depends on itself, and every column has a distribution.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from math import prod
from operator import lt
from pathlib import Path

import numpy as np

from fairdsl.backends.rates.linear.remainder import NormalSum
from fairdsl.backends.rates.linear.task import ONE, Chances, Clause, Event, State, Task
from fairdsl.backends.subset_sum import document as written
from fairdsl.backends.subset_sum import errors
from fairdsl.backends.subset_sum.instance import Distribution, Instance
from fairdsl.codec import AlteredError, MisfitError, Place, decode, placing, source_of
from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.domain import Attribute
from fairdsl.ir.exact_rows import ExactRows
from fairdsl.ir.metric import Metric
from fairdsl.ir.population import Cell, Network, Sample, label_column
from fairdsl.ir.question import GroupMetric, Threshold
from fairdsl.metrics.joint import Counted, Key, columns_of, key_at, key_of, keys_of
from fairdsl.populations.document import SavedRange
from fairdsl.prelude import metrics, registered
from fairdsl.source.reading import content_of

_ZERO = Fraction(0)
_Numbers = tuple[Fraction, ...]


def read_instance(path: Path) -> Instance:
    """An instance from its file. DiagnosticError for a file that is none, has mistakes, or was altered."""
    try:
        source = source_of(content_of(path), str(path))
        with placing(source):
            return _instance(decode(written.SavedInstance, source))
    except AlteredError as error:
        raise DiagnosticError(errors.altered(str(path))) from error
    except MisfitError as misfit:
        raise DiagnosticError(errors.unreadable(str(path), misfit)) from misfit


def _instance(document: written.SavedInstance) -> Instance:
    population = _population(document.population)
    question = _question(document.question, population)
    count = 2 if question.influence else 1
    at = Place(("distributions",))
    if len(document.distributions) != count:
        what = "has the distribution, and for an influence a second one without it"
        raise at.misfit(f"{what}: {count} here, not {len(document.distributions)}")
    return Instance(
        question=question,
        population=population,
        threshold=_threshold(document),
        event=_event(document.event),
        distributions=tuple(
            _Reader(saved, at.at(number)).distribution(question, population)
            for number, saved in enumerate(document.distributions)
        ),
        counts=_counts(document, question, population),
        asked=document.asked,
    )


def _threshold(document: written.SavedInstance) -> Threshold | None:
    """None for a measure."""
    if document.asked is not None:
        return document.asked.threshold
    found = document.threshold
    if found is None:
        return None
    return Threshold(relation=found.relation, limit=found.limit, text=str(found.limit))


def _event(saved: written.Favoured) -> Event:
    low, high = saved.threshold if isinstance(saved.threshold, tuple) else (saved.threshold, saved.threshold)
    return Event(relation=saved.relation, low=low, high=high)


def _counts(document: written.SavedInstance, question: GroupMetric, population: Network) -> dict[Key, Counted]:
    counts: dict[Key, Counted] = {}
    known = frozenset(keys_of(question, population))
    for number, saved in enumerate(document.rows):
        if saved.key not in known or saved.key in counts:
            raise Place(("rows", number, "key")).misfit("is not that of a group, or that of an earlier one")
        counts[saved.key] = saved.counted
    return counts


def _population(groups: written.Population) -> Network:
    """The columns, and the file of the rows without the rows: they are counted by key."""
    at = Place(("population", "columns"))
    _distinct([column.name for column in groups.columns], at, "name")
    return Network(
        name=groups.name,
        columns=tuple(Attribute(name=column.name, type=column.type) for column in groups.columns),
        cells=tuple(_cells(column, at.at(number).at("cells")) for number, column in enumerate(groups.columns)),
        factors=(),
        has_label=groups.label and bool(groups.columns),
        sample=None if groups.data is None else _sample(groups.data, len(groups.columns)),
    )


def _sample(rows: written.RowsFile, columns: int) -> Sample:
    return Sample(path=rows.path, sha256=rows.sha256, values=ExactRows.of_floats(np.zeros((0, columns))))


def _distinct(names: Sequence[str], at: Place, key: str) -> None:
    for number, name in enumerate(names):
        if name in names[:number]:
            raise at.at(number).at(key).misfit("is the name of an earlier column")


def _cells(column: written.GroupColumn, at: Place) -> tuple[Cell, ...]:
    """No value may lie in two cells, or keys would be ambiguous."""
    cells = tuple(_cell(saved, at.at(number)) for number, saved in enumerate(column.cells))
    ordered = sorted(cells, key=lambda cell: (cell.low is not None, cell.low or 0, cell.high or cell.low or 0))
    if not all(one.ends_before(other) for one, other in pairwise(ordered)):
        raise at.misfit("has a value in two cells")
    return cells


def _cell(saved: Fraction | SavedRange, at: Place) -> Cell:
    if isinstance(saved, Fraction):
        return Cell(low=saved, high=saved)
    if saved.low is not None and saved.high is not None and saved.low >= saved.high:
        raise at.misfit("does not run from its low end to a greater one")
    return Cell(low=saved.low, high=saved.high, open=saved.open, inside=saved.inside)


def _question(saved: written.Question, population: Network) -> GroupMetric:
    """The question over the columns of the population; what its metric needs has to be there."""
    at = Place(("question",))
    metric = registered(saved.metric, privileged=saved.privileged is not None)
    if not isinstance(metric, Metric):
        raise at.at("metric").misfit(f"is not one of {', '.join(sorted({each.name for each in metrics()}))}")
    places = {column.name: place for place, column in enumerate(population.columns)}
    question = GroupMetric(
        metric=metric,
        population=population.name,
        across=_places(saved.across, places, at.at("across")),
        given_each=_places(saved.given_each, places, at.at("given_each")),
        influence=_places(saved.influence, places, at.at("influence")),
        deserving=saved.deserving,
        privileged=saved.privileged,
        excluding=saved.excluding,
        confidence=saved.confidence,
    )
    if saved.excluding is not None and saved.excluding.rows is not None and population.sample is None:
        raise at.at("excluding").misfit("counts rows, and the population rests on no data")
    _check_needs(question, population, at)
    return question


def _places(names: Iterable[str], places: dict[str, int], at: Place) -> tuple[int, ...]:
    """Columns by name, each once."""
    found: list[int] = []
    for number, name in enumerate(names):
        if name not in places or places[name] in found:
            raise at.at(number).misfit("is not a column that there is, or one that stands here already")
        found.append(places[name])
    return tuple(found)


def _check_needs(question: GroupMetric, population: Network, at: Place) -> None:
    """What defines the metric has to be there, or there would be no number."""
    label, metric = label_column(population), question.metric
    if metric.rate.reads_label and (label is None or label in question.across + question.given_each):
        raise at.misfit(f"needs a label in the population for `{metric.name}`, which defines no groups")
    if metric.rate.about_deserving:
        value = question.deserving
        if value is None or label is None or key_at(population, label, value) is None:
            raise at.misfit(f"needs a value of the label for `{metric.name}`: `deserving`")
    if metric.signed and question.privileged is None:
        raise at.misfit(f"needs a group that `{metric.name}` compares with: `privileged`")
    if question.privileged is not None and len(question.privileged) != len(question.across):
        raise at.at("privileged").misfit("has not a value for each column of `across`")


class _Reader:
    """Reads tables over the columns of a distribution; an axis is a column's place among them."""

    def __init__(self, saved: written.Distribution, at: Place) -> None:
        self.saved, self.at = saved, at
        self.names = [column.name for column in saved.columns]
        _distinct(self.names, at.at("columns"), "name")
        self.places = {name: axis for axis, name in enumerate(self.names)}
        self.sizes = {axis: column.cells for axis, column in enumerate(saved.columns)}

    def distribution(self, question: GroupMetric, population: Network) -> Distribution:
        """The distribution, with the columns that results are listed by."""
        saved = self.saved
        kept = tuple(self._kept(population, key) for key in columns_of(question, population))
        factors = tuple(map(self._factor, range(len(saved.factors))))
        conditions = (
            self._condition(table, self.at.at("conditions").at(n)) for n, table in enumerate(saved.conditions)
        )
        clauses = (self._clause(table, self.at.at("indicators").at(n)) for n, table in enumerate(saved.indicators))
        self._check_factors(factors, free=kept if question.metric.rate.along_paths else ())
        task = Task(
            sizes=self.sizes,
            chances=(*factors, *conditions),
            readings={
                axis: tuple(map(_states, column.adds))
                for axis, column in enumerate(saved.columns)
                if column.adds is not None
            },
            clauses=tuple(clauses),
            keys={axis: saved.columns[axis].key or () for axis in kept},
            constant=saved.constant,
            remainder=None if saved.normal is None else self._normals(saved.normal),
            notes=saved.notes,
        )
        summed = () if saved.normal is None else saved.normal.columns
        return Distribution(task=task, names=dict(enumerate(self.names)), kept=kept, summed=summed)

    def _kept(self, population: Network, key: int) -> int:
        """The axis of a column of the keys, whose cells have keys of the population's cells."""
        name, groups = population.columns[key].name, set(map(key_of, population.cells[key]))
        axis = self.places.get(name)
        column: written.Column | None = None if axis is None else self.saved.columns[axis]
        if axis is None or column is None or column.key is None or not set(column.key) <= groups:
            raise self.at.at("columns").misfit(
                f"needs `{name}`, which defines groups, with `key`: the number of a group for each of its cells"
            )
        return axis

    def _shape(self, axes: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(self.sizes[axis] for axis in axes)

    def _sized(self, numbers: _Numbers, axes: tuple[int, ...], at: Place) -> _Numbers:
        size = prod(self._shape(axes))
        if len(numbers) != size:
            raise at.misfit(f"has {len(numbers)} numbers, and {size} belong here")
        return numbers

    def _table(self, table: written.Table, at: Place) -> tuple[tuple[int, ...], _Numbers, _Numbers]:
        """Axes, lower and upper bounds; the same tuple where they are exact."""
        axes = _places(table.columns, self.places, at.at("columns"))
        least = self._sized(table.values, axes, at.at("values"))
        return axes, least, least if table.up_to is None else self._sized(table.up_to, axes, at.at("up_to"))

    def _factor(self, number: int) -> Chances:
        """Each row sums to 1, or is 0 where nothing is known of the combination."""
        saved, at = self.saved.factors[number], self.at.at("factors").at(number)
        earlier = {factor.column for factor in self.saved.factors[:number]}
        if saved.column not in self.places or saved.column in (*earlier, *saved.given):
            raise at.at("column").misfit("is not a column that there is, has a factor already, or is given itself")
        column = self.places[saved.column]
        axes = (*_places(saved.given, self.places, at.at("given")), column)
        chances = self._sized(saved.probabilities, axes, at.at("probabilities"))
        _check_chances(chances, chances, at.at("probabilities"))
        size = self.sizes[column]
        sums = {sum(chances[start : start + size], _ZERO) for start in range(0, len(chances), size)}
        if not sums <= {_ZERO, ONE}:
            raise at.at("probabilities").misfit("do not sum to 1 for every combination of the cells given")
        return Chances(
            axes=axes,
            shape=self._shape(axes),
            least=chances,
            most=chances,
            column=column,
            complete=_ZERO not in sums,
        )

    def _condition(self, table: written.Table, at: Place) -> Chances:
        axes, least, most = self._table(table, at)
        _check_chances(least, most, at)
        return Chances(axes=axes, shape=self._shape(axes), least=least, most=most)

    def _clause(self, table: written.Table, at: Place) -> Clause:
        axes, low, high = self._table(table, at)
        return Clause(axes=axes, shape=self._shape(axes), low=low, high=high)

    def _normals(self, saved: written.Normals) -> NormalSum:
        at = self.at.at("normal")
        if not self.places.keys().isdisjoint(saved.columns):
            raise at.at("columns").misfit("has a column that stands among the others, which normal ones do not")
        axes = _places(saved.given, self.places, at.at("given"))
        shape = self._shape(axes)
        moments: dict[tuple[int, ...], tuple[Fraction, Fraction]] = {}
        for number, one in enumerate(saved.distributions):
            within = len(one.cells) == len(axes) and all(map(lt, one.cells, shape)) and min(one.cells, default=0) >= 0
            if not within or one.cells in moments:
                cells = at.at("distributions").at(number).at("cells")
                raise cells.misfit("are not cells of the columns given, or those of an earlier distribution")
            moments[one.cells] = (one.mean, one.variance)
        return NormalSum(axes=axes, moments=moments, conditioned=len(moments) < prod(shape))

    def _check_factors(self, factors: Sequence[Chances], free: Iterable[int]) -> None:
        """Every column has one, except those that are set from outside, and none depends on itself."""
        graph = {table.column: table.axes[:-1] for table in factors}
        for axis, name in enumerate(self.names):
            if axis not in graph and axis not in free:
                raise self.at.at("columns").at(axis).misfit(f"has no factor: `{name}` has no distribution")
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            raise self.at.at("factors").misfit("have a cyclic dependency") from error


def _check_chances(least: _Numbers, most: _Numbers, at: Place) -> None:
    if min(least) < 0 or max(most) > 1:
        raise at.misfit("has a number that is not from 0 to 1")


def _states(adds: Fraction | tuple[written.Part, ...]) -> tuple[State, ...]:
    """The parts of a cell."""
    if isinstance(adds, Fraction):
        return (State(adds, adds, ONE, ONE),)
    return tuple(
        State(part.low, part.high, ONE if part.least == 1 else part.least, ONE if part.most == 1 else part.most)
        for part in adds
    )
