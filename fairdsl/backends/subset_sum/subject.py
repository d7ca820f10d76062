"""What is to be computed: a law over columns, a linear score, conditions, and the event that counts.

Three questions ask about another law than the population's own, and each is a change of the network:

* the *influence* of columns S: the score reads copies of S that are uniform over the declared values and independent of
  everything else; the columns themselves stay as they are, for conditions and groups, and for their children:
  uniform(S) x Pr[x without S | a];
* a *path-specific gap*: every child of a protected column reads it as the baseline where the edge is allowed; so does
  the score. The protected columns have no law of their own, they are set (the edge g-formula of docs/semantics.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from fairdsl.ir.ensemble import reading_copy
from fairdsl.ir.expr import Predicate, Relation, conjoin, conjuncts
from fairdsl.ir.feature import Input
from fairdsl.ir.model import ByThreshold, Model
from fairdsl.ir.population import Cell, Factor, Network, Row
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.joint import columns_of
from fairdsl.metrics.subject import uniform_on
from fairdsl.numerics.cells import place_of

__all__ = ["Event", "Subject", "subject_of", "with_baseline", "with_influence", "without_influence"]

_ONE = Fraction(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """``score RELATION t`` with t in [low, high]: strictly between them, and no rational, unless they are equal."""

    relation: Relation
    low: Fraction
    high: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """``network`` may have columns without a factor: they are set from outside, each cell with mass 1.

    The score is ``constant`` plus the sum of weight times input; ``keys`` are the columns that results are listed by.
    ``unknown`` is mass of which nothing is known, by the values of the columns that are set: results leave it out, and
    whoever asked allows for all that it may be.
    """

    network: Network
    terms: tuple[tuple[Input, Fraction], ...]
    constant: Fraction
    conditions: tuple[Predicate, ...]
    keys: tuple[int, ...]
    event: Event
    unknown: Mapping[tuple[Fraction, ...], Fraction] = field(default_factory=dict)


def subject_of(problem: Problem) -> Subject:
    """The question about the population as it is; only for problems that the offer accepts."""
    question, population, model = problem.question, problem.population, problem.model
    if not isinstance(question, GroupMetric) or not isinstance(population, Network):
        raise ValueError("the subset-sum engine was asked what it refuses")
    layer = model.layers[0]
    weights = layer.weight.exact[0].tolist()
    return Subject(
        network=population,
        terms=tuple([(item, _exact(w)) for item, w in zip(model.inputs, weights, strict=True) if w]),
        constant=Fraction(layer.bias.exact[0]),
        conditions=conjuncts(conjoin(problem.domain.where, question.given)),
        keys=columns_of(question, population),
        event=_event(model),
    )


def _exact(number: int | Fraction) -> Fraction:
    return number if isinstance(number, Fraction) else Fraction(number)


def _event(model: Model) -> Event:
    rule = model.rule
    if not isinstance(rule, ByThreshold):
        raise ValueError("the subset-sum engine was asked what it refuses")
    relation = rule.relation if model.favourable == rule.granted else rule.relation.negated
    return Event(relation=relation, low=rule.low, high=rule.high)


def without_influence(subject: Subject, columns: Iterable[int]) -> Subject:
    """The score reads uniform copies of the columns."""
    for column in columns:
        attribute = subject.network.columns[column]
        cells, row = uniform_on(attribute)
        subject = _with_copy(subject, column, cells, row)
    return subject


def with_influence(subject: Subject, columns: Sequence[int]) -> list[Subject]:
    """The subject and, of an influence, the same without: the number is that of the first less that of the second."""
    return [subject, without_influence(subject, columns)] if columns else [subject]


def _with_copy(subject: Subject, column: int, cells: tuple[Cell, ...], row: Row) -> Subject:
    """A new column with a law of its own that the score reads in place of ``column``."""
    network = subject.network
    copy = len(network.columns)
    attribute = network.columns[column]
    inputs, weights = zip(*subject.terms, strict=True) if subject.terms else ((), ())
    return replace(
        subject,
        network=replace(
            network,
            columns=(*network.columns, replace(attribute, name=f"{attribute.name} (copy)")),
            cells=(*network.cells, cells),
            factors=(*network.factors, Factor(column=copy, parents=(), rows={(): row})),
        ),
        terms=tuple(zip(reading_copy(inputs, column, copy), weights, strict=True)),
    )


def with_baseline(
    subject: Subject, baseline: Mapping[int, Fraction], allowed: frozenset[tuple[int, int | None]]
) -> Subject:
    """Protected columns are set; along allowed edges they are read as the baseline, along all others as set."""
    network = subject.network
    at = {column: _cell_of(network, column, value) for column, value in baseline.items()}
    factors = tuple(_edged(factor, at, allowed) for factor in network.factors if factor.column not in baseline)
    subject = replace(subject, network=replace(network, factors=factors))
    for column, cell in at.items():
        if (column, None) in allowed:
            subject = _with_copy(subject, column, (network.cells[column][cell],), (_ONE,))
    return subject


def _cell_of(network: Network, column: int, value: Fraction) -> int:
    place = place_of(value, network.cells[column])
    if place is None:
        raise ValueError("the baseline is a value of its column")
    return place


def _edged(factor: Factor, at: Mapping[int, int], allowed: frozenset[tuple[int, int | None]]) -> Factor:
    """The law of a child in which allowed parents are fixed at the baseline's cell."""
    fixed = {place: at[p] for place, p in enumerate(factor.parents) if p in at and (p, factor.column) in allowed}
    if not fixed:
        return factor
    free = [place for place in range(len(factor.parents)) if place not in fixed]
    return Factor(
        column=factor.column,
        parents=tuple(factor.parents[place] for place in free),
        rows={
            tuple(cells[place] for place in free): row
            for cells, row in factor.rows.items()
            if all(cells[place] == cell for place, cell in fixed.items())
        },
    )
