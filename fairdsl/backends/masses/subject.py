"""What is to be computed: a model's event under a law over columns, given conditions, by key.

The *influence* of columns asks about another law: the model reads copies of them that are uniform over the declared
values and independent of everything else, while conditions, groups and other columns go on with the columns themselves.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from fairdsl.ir.domain import Attribute
from fairdsl.ir.expr import Predicate, Variable, conjoin, substitute
from fairdsl.ir.feature import AttributeInput, Input
from fairdsl.ir.model import Model
from fairdsl.ir.population import Cell, Factor, Inside, Network, Row
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.joint import columns_of

__all__ = ["Subject", "subject_of", "without_influence"]

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
        raise ValueError("masses were asked for of a question without a law")
    return Subject(
        network=population,
        model=problem.model,
        condition=conjoin(problem.domain.where, question.given),
        keys=columns_of(question, population),
    )


def without_influence(subject: Subject, columns: Iterable[int]) -> Subject:
    """The model reads uniform copies of the columns."""
    for column in columns:
        network, copy = subject.network, len(subject.network.columns)
        cells, row = _uniform(network.columns[column])
        subject = replace(
            subject,
            network=replace(
                network,
                columns=(*network.columns, network.columns[column]),
                cells=(*network.cells, cells),
                factors=(*network.factors, Factor(column=copy, parents=(), rows={(): row})),
            ),
            model=replace(subject.model, inputs=tuple(_reading(item, column, copy) for item in subject.model.inputs)),
        )
    return subject


def _uniform(attribute: Attribute) -> tuple[tuple[Cell, ...], Row]:
    values = attribute.values
    if values is not None and len(values) <= _LISTED:
        cells = tuple(Cell(low=Fraction(value), high=Fraction(value)) for value in values)
        return cells, (Fraction(1, len(cells)),) * len(cells)
    low, high = attribute.bounds
    return (Cell(low=low, high=high, inside=Inside.UNIFORM),), (Fraction(1),)


def _reading(item: Input, column: int, copy: int) -> Input:
    def moved(variable: Variable) -> Variable:
        return replace(variable, attribute=copy) if variable.attribute == column else variable

    if isinstance(item, AttributeInput):
        return AttributeInput(copy) if item.attribute == column else item
    return replace(item, predicate=substitute(item.predicate, moved))
