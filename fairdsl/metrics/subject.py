"""What is to be computed: a model's event under a law over columns, given conditions, by key.

The *influence* of columns asks about another law: the model reads copies of them that are uniform over the declared
values and independent of everything else, while conditions, groups and other columns go on with the columns themselves.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from fairdsl.ir.domain import Attribute
from fairdsl.ir.ensemble import Inputs, reading_copy
from fairdsl.ir.expr import FALSE, And, Not, Or, Predicate, conjoin
from fairdsl.ir.feature import AttributeInput, IndicatorInput
from fairdsl.ir.model import Model
from fairdsl.ir.population import Cell, Factor, Inside, Network, Row
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.joint import columns_of
from fairdsl.numerics.axes import Axis, axis_of, mentioned
from fairdsl.numerics.truth import single_parts

__all__ = [
    "Subject",
    "axes_of",
    "crossing",
    "predicates_of",
    "subject_of",
    "uniform_on",
    "weighed_by",
    "without_influence",
]

#: A copied column with more values is one range.
_LISTED = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """``keys`` are the columns that results are listed by; ``condition`` is what is given."""

    network: Network
    model: Model
    condition: Predicate
    keys: tuple[int, ...]


def subject_of(problem: Problem) -> Subject:
    """The question about the population as it is."""
    question, population = problem.question, problem.population
    if not isinstance(question, GroupMetric) or not isinstance(population, Network):
        raise ValueError("the question is about no law")
    return Subject(
        network=population,
        model=_without_idle(problem.model),
        condition=conjoin(problem.domain.where, question.given),
        keys=columns_of(question, population),
    )


def _without_idle(model: Model) -> Model:
    """The model without numbers that it gives no weight: trees are fed columns, and read them by their tests alone."""
    weighed = np.any(model.layers[0].weight.nonzero, axis=0)
    idle = [isinstance(item, AttributeInput) and not weighed[place] for place, item in enumerate(model.listed)]
    if not any(idle):
        return model
    nothing = IndicatorInput(FALSE)
    listed = tuple(nothing if unread else item for item, unread in zip(model.listed, idle, strict=True))
    return replace(model, inputs=listed if model.ensemble is None else Inputs(listed, model.ensemble))


def without_influence(subject: Subject, columns: Iterable[int]) -> Subject:
    """The model reads uniform copies of the columns."""
    for column in columns:
        network, copy = subject.network, len(subject.network.columns)
        cells, row = uniform_on(network.columns[column])
        subject = replace(
            subject,
            network=replace(
                network,
                columns=(*network.columns, network.columns[column]),
                cells=(*network.cells, cells),
                factors=(*network.factors, Factor(column=copy, parents=(), rows={(): row})),
            ),
            model=replace(subject.model, inputs=reading_copy(subject.model.inputs, column, copy)),
        )
    return subject


def uniform_on(attribute: Attribute) -> tuple[tuple[Cell, ...], Row]:
    """The uniform law over the declared values of an attribute, with its cells."""
    values = attribute.values
    if values is not None and len(values) <= _LISTED:
        cells = tuple(Cell(low=Fraction(value), high=Fraction(value)) for value in values)
        return cells, (Fraction(1, len(cells)),) * len(cells)
    low, high = attribute.bounds
    return (Cell(low=low, high=high, inside=Inside.UNIFORM),), (Fraction(1),)


def weighed_by(model: Model) -> set[int]:
    """The columns whose numbers the model reads themselves."""
    return {item.attribute for item in model.listed if isinstance(item, AttributeInput)}


def predicates_of(subject: Subject) -> list[Predicate]:
    """What is asked of an individual: the model's indicators, each test of its trees once, and the condition."""
    model = subject.model
    indicators = [item.predicate for item in model.listed if isinstance(item, IndicatorInput)]
    tests = [] if model.ensemble is None else model.ensemble.different
    return [*indicators, *tests, subject.condition]


def axes_of(subject: Subject) -> dict[int, Axis]:
    """The columns that the model, the conditions or the keys look at, as axes."""
    predicates, weighed = predicates_of(subject), weighed_by(subject.model)
    columns = weighed | set(subject.keys) | {column for each in predicates for column in mentioned(each)}
    singles: dict[int, dict[Predicate, None]] = {column: {} for column in columns}
    together: set[int] = set()
    for predicate in predicates:
        for single in single_parts(predicate):
            singles[mentioned(single)[0]][single] = None
        together |= crossing(predicate)
    network = subject.network
    return {
        column: axis_of(
            network.columns[column], network.cells[column], singles[column], column in weighed or column in together
        )
        for column in sorted(columns)
    }


def crossing(predicate: Predicate) -> set[int]:
    """The columns that a comparison of several columns is about."""
    match predicate:
        case And(parts) | Or(parts):
            return set[int]().union(*(crossing(part) for part in parts))
        case Not(part):
            return crossing(part)
        case _:
            columns = mentioned(predicate)
            return set(columns) if len(columns) > 1 else set()
