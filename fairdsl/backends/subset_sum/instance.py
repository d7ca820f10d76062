"""Instances: lowered tasks together with all that their answer needs, so that they stand alone.

What the engine refines are tasks; what turns joint probabilities into a metric are the question and the columns that
groups are made of. An instance holds both and nothing else: no model, no data, no spec. Its tasks are those of the
engine itself, so the numbers are the ones that ``check`` reports.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from fairdsl.backends.contract import Budget, Observer, Refusal
from fairdsl.backends.solved import Asked
from fairdsl.backends.subset_sum.lowering import task_of
from fairdsl.backends.subset_sum.refinement import Refinement, upward
from fairdsl.backends.subset_sum.remainder import NormalSum
from fairdsl.backends.subset_sum.rounded import Arithmetic
from fairdsl.backends.subset_sum.subject import Event, Subject, subject_of, with_baseline, with_influence
from fairdsl.backends.subset_sum.task import Task
from fairdsl.backends.subset_sum.unknown_rows import allowing_for_unknown
from fairdsl.backends.subset_sum.window import OutOfTimeError, TooLargeError
from fairdsl.ir.expr import TRUE
from fairdsl.ir.population import Network, Sample, label_column
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import MOST_FAVOURED, GroupMetric, Threshold
from fairdsl.metrics.joint import Counted, Joint, Key, columns_of
from fairdsl.metrics.value import decided, value_of
from fairdsl.replay import rows_counted
from fairdsl.verdict import Evidence, Reason, Refused, Unknown, Value

__all__ = ["BACKEND", "Instance", "Law", "answered", "instance_of"]

#: The backend that instances are solved by.
BACKEND = "subset_sum"
#: Ranges are cut into so many parts where they have to be; such tasks are no instances.
_PARTS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """A task with the names of its axes; ``kept`` are the axes of the keys, in the keys' order.

    ``summed`` are the names of the normal columns, which are no axes: their sum is the task's remainder.
    """

    task: Task
    names: Mapping[int, str]
    kept: tuple[int, ...]
    summed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """``laws``: the law itself, and for an influence the one without it. The score has to meet ``event``.

    The question's columns are those of ``population``, which has their cells and no factors. ``counts`` are the rows
    of data by key. ``asked`` says what it was made from, None for an instance written by hand.
    """

    question: GroupMetric
    population: Network
    threshold: Threshold | None
    event: Event
    laws: tuple[Law, ...]
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
    subjects = [upward(subject) for subject in _subjects(problem, question)]
    if any(subject.unknown for subject in subjects):
        why = "the baseline sends people to combinations of parents that have no distribution: the gap is an interval"
        return Refusal(why=why, span=question.span)
    laws = []
    for subject in subjects:
        law = _law(subject)
        if isinstance(law, Refusal):
            return replace(law, span=question.span)
        laws.append(law)
    shared = _Shared.of(question, population)
    return Instance(
        question=shared.question,
        population=shared.population,
        threshold=problem.threshold,
        event=subjects[0].event,
        laws=tuple(laws),
        counts=rows_counted(question, population, problem.model),
        asked=asked,
    )


def _subjects(problem: Problem, question: GroupMetric) -> list[Subject]:
    own = subject_of(problem)
    if question.metric.rate.along_paths and isinstance(question.baseline, tuple):
        set_ = with_baseline(own, dict(zip(question.across, question.baseline, strict=True)), question.allowed)
        return [allowing_for_unknown(each) for each in with_influence(set_, question.influence)]
    return with_influence(own, question.influence)


def _law(subject: Subject) -> Law | Refusal:
    try:
        task = task_of(subject, _PARTS)
    except TooLargeError:
        return Refusal(why="a condition over several columns has too many combinations of values")
    if task.divided:
        return Refusal(why="a range of real numbers would be cut into ever more parts: it has no finite exact form")
    if task.remainder is not None and not isinstance(task.remainder, NormalSum):
        return Refusal(why="a long range of numbers weighs in the score, and has no finite list of values")
    if any(table.column is not None and not table.exact for table in task.chances):
        return Refusal(why="a condition or indicator reads a normal column: its probabilities are no rational numbers")
    names = {axis: subject.network.columns[axis].name for axis in task.sizes}
    summed = tuple(column.name for axis, column in enumerate(subject.network.columns) if axis not in task.sizes)
    return Law(task=task, names=names, kept=subject.keys, summed=summed)


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
    refinements = [_refinement(instance.event, law, budget, observer) for law in instance.laws]
    reason = _refined(instance, refinements)
    joints = _joints(instance, refinements)
    if joints is None:
        timeout = reason is Reason.TIMEOUT
        return Unknown(
            reason=Reason.TIMEOUT if timeout else Reason.MEMORY_OUT,
            detail="the budget ended before any bound was known" if timeout else "the tables of the law are too large",
            evidence=Evidence(backend=BACKEND, method="subset sums"),
        )
    joint, without = joints
    evidence = _evidence(instance, refinements)
    return value_of(instance.question, joint, instance.population, evidence, without=without, reason=reason)


def _refinement(event: Event, law: Law, budget: Budget, observer: Observer) -> Refinement:
    """The engine on a task that is there already."""
    nothing = Network(name="", columns=(), cells=(), factors=())
    subject = Subject(network=nothing, terms=(), constant=Fraction(0), conditions=(), keys=law.kept, event=event)
    return Refinement(subject, budget, observer, lambda _subject, _parts: law.task)


def _refined(instance: Instance, refinements: list[Refinement]) -> Reason | None:
    """Why it ended without an answer; None where it is decided."""
    try:
        while True:
            improved = [each.improve() for each in refinements]
            joints = _joints(instance, refinements)
            if joints is not None and _decided(instance, *joints):
                return None
            if not any(improved):
                return Reason.INCOMPLETE
    except OutOfTimeError:
        return Reason.TIMEOUT


def _decided(instance: Instance, joint: Joint, without: Joint | None) -> bool:
    """As the engine stops: rows say which groups are left out, and nothing of their decisions."""
    excluding = instance.question.excluding
    by_rows = excluding is not None and excluding.rows is not None
    open_ = {key: Counted(rows=found.rows, least=0, most=found.rows) for key, found in joint.counts.items()}
    joint = replace(joint, counts=open_ if by_rows else {})
    return decided(instance.question, instance.threshold, joint, instance.population, without=without)


def _joints(instance: Instance, refinements: Iterable[Refinement]) -> tuple[Joint, Joint | None] | None:
    """What is known of the law, and of the one without the influence; None before something is."""
    found = [each.joint for each in refinements]
    known = [joint for joint in found if joint is not None]
    if len(known) < len(found):
        return None
    return replace(known[0], counts=instance.counts), known[1] if len(known) > 1 else None


def _evidence(instance: Instance, refinements: list[Refinement]) -> Evidence:
    exact = all(each.arithmetic is Arithmetic.EXACT for each in refinements)
    how = "in exact arithmetic" if exact else "in float64 with a bound on the error"
    columns = max(len(law.names) + len(law.summed) for law in instance.laws)
    notes = tuple(dict.fromkeys(note for each in refinements for note in each.notes))
    return Evidence(backend=BACKEND, method=f"the score's law over {columns} columns {how}", notes=notes)
