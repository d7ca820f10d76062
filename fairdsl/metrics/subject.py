"""What is to be computed: a model's event under a distribution over columns, given conditions, by key.

Two questions ask about another distribution than the population's own, and each is a change of the network:

* the *influence* of columns S: the model reads copies of S that are uniform over the declared values and independent of
  everything else; the columns themselves stay as they are, for conditions and groups, and for their children:
  uniform(S) x Pr[x without S | a];
* a *path-specific gap*: every child of a protected column reads it as the baseline where the edge is allowed; so does
  the model. The protected columns have no distribution of their own, they are set (the edge g-formula of
  docs/semantics.md).
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product

import numpy as np

from fairdsl.ir.domain import Attribute
from fairdsl.ir.ensemble import Inputs, attributes_of, reading_copy
from fairdsl.ir.expr import FALSE, Predicate, conjoin
from fairdsl.ir.feature import AttributeInput, IndicatorInput
from fairdsl.ir.model import Model
from fairdsl.ir.population import Cell, Factor, Inside, Network, Row
from fairdsl.ir.problem import Problem
from fairdsl.ir.question import GroupMetric
from fairdsl.metrics.joint import Key, columns_of, key_of
from fairdsl.numerics.axes import Axis, axis_of, mentioned
from fairdsl.numerics.cells import place_of
from fairdsl.numerics.truth import ByColumn, by_column

#: A copied column with more values is one range.
_LISTED = 512
#: And one of everybody whose numbers are added up: only sums of single values are exact.
_ADDED = 1 << 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """``keys`` are the columns that results are listed by; ``condition`` is what is given.

    ``network`` may have columns without a factor: they are set from outside, each cell with mass 1. ``unknown`` is mass
    of which nothing is known, by the values of the columns that are set: results leave it out, and whoever asked allows
    for all that it may be. ``copies``: the columns that the model reads in place of others, by those.
    """

    network: Network
    model: Model
    condition: Predicate
    keys: tuple[int, ...]
    unknown: Mapping[tuple[Fraction, ...], Fraction] = field(default_factory=dict)
    copies: Mapping[int, int] = field(default_factory=dict)

    @property
    def listed(self) -> list[Key]:
        """The keys that results are listed by, in the order of their cells."""
        return list(product(*([key_of(cell) for cell in self.network.cells[column]] for column in self.keys)))

    @property
    def read(self) -> frozenset[int]:
        """The columns that the keys, the model or the condition look at; all of a model that only answers."""
        asked = {*self.keys, *mentioned(self.condition)}
        model = self.model
        if model.opaque is not None:
            attributes = range(len(self.network.columns) - len(self.copies) - self.network.has_label)
            return frozenset(asked.union(self.copies.get(column, column) for column in attributes))
        weighed = np.any(model.layers[0].weight.nonzero, axis=0)
        inputs = [attributes_of(item) for place, item in enumerate(model.listed) if weighed[place]]
        tests = [] if model.ensemble is None else model.ensemble.different
        return frozenset(asked.union(*inputs, *map(mentioned, tests)))


def subject_of(problem: Problem) -> Subject:
    """The question about the population as it is."""
    question, population = problem.question, problem.population
    if not isinstance(question, GroupMetric) or not isinstance(population, Network):
        raise ValueError("the question is not about a distribution")
    return Subject(
        network=population,
        model=without_idle(problem.model),
        condition=conjoin(problem.domain.where, question.given),
        keys=columns_of(question, population),
    )


def without_idle(model: Model) -> Model:
    """The model without numbers that it gives no weight: trees are fed columns, and read them by their tests alone.

    An indicator without weight stays, which may be one of several of which exactly one is 1. What a model without
    layers weighs is its own matter.
    """
    if model.opaque is not None:
        return model
    weighed: list[bool] = np.any(model.layers[0].weight.nonzero, axis=0).tolist()
    if all(weighed):
        return model
    nothing = IndicatorInput(FALSE)
    pairs = zip(model.listed, weighed, strict=False)  # behind those that are listed are leaves of trees
    listed = tuple([item if read or not isinstance(item, AttributeInput) else nothing for item, read in pairs])
    if listed == tuple(model.listed):
        return model
    return replace(model, inputs=listed if model.ensemble is None else Inputs(listed, model.ensemble))


def single_events(subject: Subject) -> tuple[Subject, ...]:
    """The subjects of the outcomes that are favourable, one by one: a rate of several is the sum of theirs."""
    model = subject.model
    if model.favourable is None or not model.beside:
        return (subject,)
    outcomes = (model.favourable, *sorted(model.beside))
    return tuple(replace(subject, model=replace(model, favourable=outcome, beside=frozenset())) for outcome in outcomes)


def without_influence(subject: Subject, question: GroupMetric) -> Subject:
    """The model reads uniform copies of the columns whose influence is asked for."""
    for column, attribute in zip(question.influence, question.drawn(subject.network.columns), strict=True):
        subject = _with_copy(subject, column, attribute, *uniform_on(attribute))
    return subject


def _with_copy(subject: Subject, column: int, attribute: Attribute, cells: tuple[Cell, ...], row: Row) -> Subject:
    """A new column with a distribution of its own that the model reads in place of ``column``."""
    network, copy = subject.network, len(subject.network.columns)
    return replace(
        subject,
        network=replace(
            network,
            columns=(*network.columns, replace(attribute, name=f"{attribute.name} (copy)")),
            cells=(*network.cells, cells),
            factors=(*network.factors, Factor(column=copy, parents=(), rows={(): row})),
        ),
        model=replace(subject.model, inputs=reading_copy(subject.model.inputs, column, copy)),
        copies={**subject.copies, column: copy},
    )


def with_baseline(
    subject: Subject, baseline: Mapping[int, Fraction], allowed: frozenset[tuple[int, int | None]]
) -> Subject:
    """Protected columns are set; along allowed edges they are read as the baseline, along all others as set."""
    network = subject.network
    at = {column: place_of(value, network.cells[column]) for column, value in baseline.items()}
    factors = tuple(_edged(factor, at, allowed) for factor in network.factors if factor.column not in baseline)
    subject = replace(subject, network=replace(network, factors=factors))
    for column, cell in at.items():
        if cell is None:
            raise ValueError("the baseline is a value of its column")
        if (column, None) in allowed:
            attribute = network.columns[column]
            subject = _with_copy(subject, column, attribute, (network.cells[column][cell],), (Fraction(1),))
    return subject


def _edged(factor: Factor, at: Mapping[int, int | None], allowed: frozenset[tuple[int, int | None]]) -> Factor:
    """The distribution of a child in which allowed parents are fixed at the baseline's cell."""
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


def uniform_on(attribute: Attribute, most: int = _LISTED) -> tuple[tuple[Cell, ...], Row]:
    """The uniform distribution over the declared values of an attribute, with its cells: a value each, if not more."""
    values = attribute.values
    if values is not None and len(values) <= most:
        cells = tuple(Cell(low=Fraction(value), high=Fraction(value)) for value in values)
        return cells, (Fraction(1, len(cells)),) * len(cells)
    low, high = attribute.bounds
    if low is None or high is None:
        raise ValueError(f"nothing is uniform on all of `{attribute.name}`, which has no end")
    return (Cell(low=low, high=high, inside=Inside.UNIFORM),), (Fraction(1),)


def uniform_over(attributes: Sequence[Attribute], added: Container[int] = ()) -> Network:
    """All individuals of a domain, each as frequent as all others; ValueError where there is no end to some values.

    ``added`` are columns whose numbers are terms of a sum.
    """
    drawn = [uniform_on(each, _ADDED if at in added else _LISTED) for at, each in enumerate(attributes)]
    factors = tuple(Factor(column=at, parents=(), rows={(): row}) for at, (_, row) in enumerate(drawn))
    return Network(name="domain", columns=tuple(attributes), cells=tuple(cells for cells, _ in drawn), factors=factors)


def weighed_by(model: Model) -> set[int]:
    """The columns whose numbers the model reads themselves."""
    return {item.attribute for item in model.listed if isinstance(item, AttributeInput)}


def predicates_of(subject: Subject) -> list[Predicate]:
    """What is asked of an individual: the model's indicators, each test of its trees once, and the condition."""
    model = subject.model
    indicators = [item.predicate for item in model.listed if isinstance(item, IndicatorInput)]
    tests = [] if model.ensemble is None else model.ensemble.different
    return [*indicators, *tests, subject.condition]


def looked_at(subject: Subject) -> set[int]:
    """The columns that the model, the conditions or the keys look at."""
    return {*subject.keys, *by_column(predicates_of(subject)).columns, *weighed_by(subject.model)}


def axes_of(subject: Subject, tests: ByColumn | None = None) -> dict[int, Axis]:
    """The columns that the model, the conditions or the keys look at, as axes; ``tests`` are what those are about."""
    tests, weighed, network = tests or by_column(predicates_of(subject)), weighed_by(subject.model), subject.network
    numbered = weighed | tests.together
    return {
        column: axis_of(network.columns[column], network.cells[column], tests.alone.get(column, ()), column in numbered)
        for column in sorted({*subject.keys, *tests.columns, *weighed})
    }
