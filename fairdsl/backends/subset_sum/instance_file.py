"""Instances to documents: the same instance gives the same bytes. Documents to instances: :mod:`.instance_read`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from fairdsl.backends.rates.linear.remainder import NormalSum
from fairdsl.backends.rates.linear.task import Event, State, Task
from fairdsl.backends.subset_sum import document as saved
from fairdsl.backends.subset_sum.instance import Distribution, Instance
from fairdsl.ir.population import Cell, Network
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.joint import columns_of
from fairdsl.populations.document import SavedRange


def pack_instance(instance: Instance) -> bytes:
    """The file."""
    population, threshold = instance.population, instance.threshold
    names = [column.name for column in population.columns]
    keys = columns_of(instance.question, population)
    by_hand = None
    if instance.asked is None and threshold is not None:
        by_hand = saved.Threshold(relation=threshold.relation, limit=threshold.limit)
    document = saved.SavedInstance(
        asked=instance.asked,
        question=_question(instance.question, names),
        threshold=by_hand,
        population=_groups(population),
        rows=tuple(saved.Counts(key=key, counted=counted) for key, counted in sorted(instance.counts.items())),
        event=_event(instance.event),
        distributions=tuple(_distribution(distribution, names, keys) for distribution in instance.distributions),
    )
    return document.to_json().encode()


def _question(question: GroupMetric, names: Sequence[str]) -> saved.Question:
    return saved.Question(
        metric=question.metric.name,
        across=tuple(names[column] for column in question.across),
        given_each=tuple(names[column] for column in question.given_each),
        influence=tuple(names[column] for column in question.influence),
        deserving=question.deserving,
        privileged=question.privileged,
        excluding=question.excluding,
        confidence=question.confidence,
    )


def _groups(population: Network) -> saved.Population:
    sample = population.sample
    return saved.Population(
        name=population.name,
        columns=tuple(
            saved.GroupColumn(name=column.name, type=column.type, cells=tuple(map(_cell, cells)))
            for column, cells in zip(population.columns, population.cells, strict=True)
        ),
        label=population.has_label,
        data=None if sample is None else saved.RowsFile(path=sample.path, sha256=sample.sha256),
    )


def _cell(cell: Cell) -> Fraction | SavedRange:
    if cell.low is not None and cell.low == cell.high:
        return cell.low
    return SavedRange(low=cell.low, high=cell.high, open=cell.open, inside=cell.inside)


def _event(event: Event) -> saved.Favoured:
    ends = event.low if event.low == event.high else (event.low, event.high)
    return saved.Favoured(relation=event.relation, threshold=ends)


def _distribution(distribution: Distribution, names: Sequence[str], keys: Sequence[int]) -> saved.Distribution:
    """Columns that results are listed by have the names of the population's."""
    task, named = distribution.task, dict(distribution.names)
    named.update({axis: names[key] for axis, key in zip(distribution.kept, keys, strict=True)})

    def called(axes: Sequence[int]) -> tuple[str, ...]:
        return tuple(named[axis] for axis in axes)

    return saved.Distribution(
        columns=tuple(_column(task, axis, name) for axis, name in named.items()),
        factors=tuple(
            saved.Factor(column=named[table.column], given=called(table.axes[:-1]), probabilities=table.least)
            for table in task.chances
            if table.column is not None
        ),
        conditions=tuple(
            saved.Table(columns=called(table.axes), values=table.least, up_to=_upper(table.least, table.most))
            for table in task.chances
            if table.column is None
        ),
        indicators=tuple(
            saved.Table(columns=called(table.axes), values=table.low, up_to=_upper(table.low, table.high))
            for table in task.clauses
        ),
        constant=task.constant,
        normal=_normals(distribution, named),
        notes=task.notes,
    )


def _column(task: Task, axis: int, name: str) -> saved.Column:
    adds = task.readings.get(axis)
    return saved.Column(
        name=name,
        cells=task.sizes[axis],
        key=task.keys.get(axis),
        adds=None if adds is None else tuple(map(_added, adds)),
    )


def _added(states: tuple[State, ...]) -> Fraction | tuple[saved.Part, ...]:
    """A number where all of the cell adds it."""
    match states:
        case (State(low=Fraction() as low, high=high, least=1, most=1),) if low == high:
            return low
    return tuple(saved.Part(low=one.low, high=one.high, least=one.least, most=one.most) for one in states)


def _upper(least: tuple[Fraction, ...], most: tuple[Fraction, ...]) -> tuple[Fraction, ...] | None:
    return None if least == most else most


def _normals(distribution: Distribution, named: Mapping[int, str]) -> saved.Normals | None:
    remainder = distribution.task.remainder
    if remainder is None:
        return None
    if not isinstance(remainder, NormalSum):
        raise TypeError("only sums of normal columns have a place in the file")
    return saved.Normals(
        columns=distribution.summed,
        given=tuple(named[axis] for axis in remainder.axes),
        distributions=tuple(
            saved.Normal(cells=cells, mean=mean, variance=variance)
            for cells, (mean, variance) in remainder.moments.items()
        ),
    )
