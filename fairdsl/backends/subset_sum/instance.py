"""Instances: lowered tasks together with all that their answer needs, so that they stand alone.

What the engine refines are tasks; what turns joint probabilities into a metric are the question and the columns that
groups are made of. An instance holds both and nothing else: no model, no data, no spec. Its tasks are those of the
engine itself, so the numbers are the ones that ``check`` reports.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

from fairdsl.backends.contract import Budget, Observer, Refusal
from fairdsl.backends.rates.enclosing import Asked as AskedOfJoints
from fairdsl.backends.rates.joints import subjects_of
from fairdsl.backends.rates.linear.lowering import task_of
from fairdsl.backends.rates.linear.refinement import Refinement
from fairdsl.backends.rates.linear.remainder import NormalSum
from fairdsl.backends.rates.linear.task import Event, Task, TooLargeError, WeightedSum, weighted_sum
from fairdsl.backends.solved import Asked
from fairdsl.ir.expr import TRUE
from fairdsl.ir.population import Network, Sample, label_column
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import MOST_FAVOURED, GroupMetric, Threshold
from fairdsl.metrics.joint import Counted, Key, columns_of
from fairdsl.replay import rows_counted
from fairdsl.verdict import Refused, Unknown, Value

#: Ranges are cut into so many parts where they have to be; such tasks are not instances.
_PARTS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """A task with the names of its axes; ``kept`` are the axes of the keys, in the keys' order.

    ``summed`` are the names of the normal columns, which are not axes: their sum is the task's remainder.
    """

    task: Task
    names: Mapping[int, str]
    kept: tuple[int, ...]
    summed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """``distributions``: that itself, and for an influence the one without it. The score has to meet ``event``.

    The question's columns are those of ``population``, which has their cells and no factors. ``counts`` are the rows
    of data by key. ``asked`` says what it was made from, None for an instance written by hand.
    """

    question: GroupMetric
    population: Network
    threshold: Threshold | None
    event: Event
    distributions: tuple[Distribution, ...]
    counts: Mapping[Key, Counted]
    asked: Asked | None


def instance_of(problem: Problem, asked: Asked | None) -> Instance | Refusal:
    """The instance of a problem that the engine answers, or why there is none that is finite and exact."""
    question, population = problem.question, problem.population
    if not isinstance(question, GroupMetric) or population is None:
        return Refusal(why="instances are about metrics of groups")
    if not isinstance(population, Network):
        why = "the population is the rows of a table: each is decided by itself, and nothing is summed"
        return Refusal(why=why, span=question.span)
    if question.baseline == MOST_FAVOURED:
        why = "which group is favoured most is found on the way; name the baseline"
        return Refusal(why=why, span=question.span)
    subjects = subjects_of(problem)
    if any(subject.unknown for subject in subjects):
        why = "the baseline sends people to combinations of parents that have no distribution: the gap is an interval"
        return Refusal(why=why, span=question.span)
    distributions = []
    sums = [weighted_sum(subject) for subject in subjects]
    for each in sums:
        distribution = _distribution(each)
        if isinstance(distribution, Refusal):
            return replace(distribution, span=question.span)
        distributions.append(distribution)
    shared = _Shared.of(question, population)
    return Instance(
        question=shared.question,
        population=shared.population,
        threshold=problem.threshold,
        event=sums[0].event,
        distributions=tuple(distributions),
        counts=rows_counted(question, population, problem.model),
        asked=asked,
    )


def _distribution(of: WeightedSum) -> Distribution | Refusal:
    try:
        task = task_of(of, _PARTS)
    except TooLargeError:
        return Refusal(why="a condition over several columns has too many combinations of values")
    if task.divided:
        return Refusal(why="a range of real numbers would be cut into ever more parts: it has no finite exact form")
    if task.remainder is not None and not isinstance(task.remainder, NormalSum):
        return Refusal(why="a long range of numbers weighs in the score, and has no finite list of values")
    if any(table.column is not None and not table.exact for table in task.chances):
        return Refusal(why="a condition or indicator reads a normal column: its probabilities are not rational numbers")
    names = {axis: of.network.columns[axis].name for axis in task.sizes}
    summed = tuple(column.name for axis, column in enumerate(of.network.columns) if axis not in task.sizes)
    return Distribution(task=task, names=names, kept=of.keys, summed=summed)


@dataclass(frozen=True, slots=True)
class _Shared:
    """The question over the columns that it mentions alone, and these columns."""

    question: GroupMetric
    population: Network

    @classmethod
    def of(cls, question: GroupMetric, population: Network) -> _Shared:
        label = label_column(population)
        columns = sorted({*columns_of(question, population), *question.influence})  # the label stays behind the others
        at = {column: place for place, column in enumerate(columns)}
        sample = population.sample
        return cls(
            replace(
                question,
                across=tuple(at[column] for column in question.across),
                given_each=tuple(at[column] for column in question.given_each),
                influence=tuple(at[column] for column in question.influence),
                given=TRUE,  # it is in the tasks
                allowed=frozenset(),
                baseline=None,
                details=(),
            ),
            Network(
                name=population.name,
                columns=tuple(population.columns[column] for column in columns),
                cells=tuple(population.cells[column] for column in columns),
                factors=(),
                has_label=label in at,
                sample=None if sample is None else _unlisted(sample, columns),
            ),
        )


def _unlisted(sample: Sample, columns: list[int]) -> Sample:
    """The file of the rows without the rows, which are counted by key."""
    return Sample(
        path=os.path.basename(sample.path), sha256=sample.sha256, values=sample.values.at(slice(0)).keep(columns)
    )


def answered(instance: Instance, budget: Budget, observer: Observer) -> Value | Refused | Unknown:
    """The metric, refined until it decides the threshold, is precise enough, or the budget ends."""
    asked = AskedOfJoints(
        question=instance.question,
        threshold=instance.threshold,
        population=instance.population,
        counts=instance.counts,
    )
    return asked.answer(
        [_refinement(instance.event, distribution, budget, observer) for distribution in instance.distributions]
    )


def _refinement(event: Event, distribution: Distribution, budget: Budget, observer: Observer) -> Refinement:
    columns = len(distribution.names) + len(distribution.summed)
    return Refinement(event, distribution.kept, lambda _: distribution.task, budget, observer, columns=columns)
