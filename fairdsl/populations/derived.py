"""Derived attributes as columns of a population, so that whoever makes groups of columns makes groups of them.

Of rows each has its value. In a Bayesian network a derived column has the columns that it is derived from as parents,
and exactly one of its cells given each combination of theirs. That says what is meant where every combination of cells
lies on one side of all that is tested: uniform cells are cut where the derived attribute changes, which leaves the
distribution as it was; of a cell whose inside is unknown, or that is too wide to be cut into values, nothing is
guessed.

A derived column of the model's score is the score in exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import product
from math import prod
from typing import NoReturn

import numpy as np

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.domain import Attribute, Boolean, Derived, Integer, Point, Quantiles
from fairdsl.ir.exact_rows import Column, ExactRows, Scaled
from fairdsl.ir.expr import Compare, Linear, Predicate, Relation, Who, holds
from fairdsl.ir.model import Model, read_attributes
from fairdsl.ir.opaque import Access
from fairdsl.ir.population import Cell, Factor, Inside, Network, Normal, Population, Row, Sample
from fairdsl.metrics.joint import key_of
from fairdsl.numerics.cells import Cut, cells_between, places, points
from fairdsl.numerics.truth import by_column
from fairdsl.populations import errors
from fairdsl.populations.cutting import cuts_by_quantiles, cuts_in
from fairdsl.source import Span

#: Combinations of cells that a derived column is computed for, and values that a cell of whole numbers is cut into.
_COMBINATIONS, _VALUES = 1 << 16, 1 << 12
#: Distinct rows whose scores are computed exactly; those of more are enclosed.
_EXACTLY = 1 << 14


def with_derived(
    population: Population, derived: Sequence[Derived], attributes: int, model: Model, span: Span
) -> Population:
    """The population with the derived attributes as columns behind the ``attributes`` of the domain.

    Raises DiagnosticError (E0570) where one of them is not decided by the cells that the population knows; ``span`` is
    the place of who asks.
    """
    values = None if population.sample is None else population.sample.values
    made = [_Made.of(each, values, attributes, model, span) for each in derived]
    sample = None if population.sample is None else _extended(population.sample, attributes, made)
    columns = (
        *population.columns[:attributes],
        *(each.attribute for each in made),
        *population.columns[attributes:],
    )
    if not isinstance(population, Network):
        assert sample is not None, "rows have a sample"
        return replace(population, columns=columns, sample=sample)
    for each in made:
        population = each.cut(population)
    factors = [each.factor(population, attributes + place) for place, each in enumerate(made)]
    behind = partial(_behind, attributes=attributes, further=len(made))
    moved = tuple(
        replace(factor, column=behind(factor.column), parents=tuple(map(behind, factor.parents)))
        for factor in population.factors
    )
    cells = (*population.cells[:attributes], *(each.cells for each in made), *population.cells[attributes:])
    return replace(population, columns=columns, cells=cells, factors=(*moved, *factors), sample=sample)


def _behind(column: int, attributes: int, further: int) -> int:
    """Where a column lies once ``further`` ones stand behind the attributes: the label makes room."""
    return column if column < attributes else column + further


def _extended(sample: Sample, attributes: int, made: Sequence[_Made]) -> Sample:
    columns = [sample.values.column(place) for place in range(sample.values.width)]
    columns[attributes:attributes] = [each.values for each in made if each.values is not None]
    return replace(sample, values=ExactRows.of_columns(columns, len(sample.values)))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """A derived attribute whose bins have edges; ``values`` are its numbers in rows of data, where there are some."""

    derived: Derived
    attribute: Attribute
    attributes: int
    model: Model
    values: Column | None
    span: Span

    @classmethod
    def of(cls, derived: Derived, rows: ExactRows | None, attributes: int, model: Model, span: Span) -> _Made:
        """With the edges that are found in rows. Raises DiagnosticError."""
        attribute = derived.attribute
        made = cls(derived=derived, attribute=attribute, attributes=attributes, model=model, values=None, span=span)
        values = None if rows is None else made.numbers(rows)
        if isinstance(attribute.bins_by, Quantiles):
            if values is None:
                made.refuse("there are no rows whose quantiles these could be", "write its bins as `bins of ... at`")
            cuts = cuts_by_quantiles(values, attribute.bins_by.count)
            attribute = replace(attribute, bins=tuple(sorted(cut.at for cut in cuts)), bins_by=None)
        return replace(made, attribute=attribute, values=values)

    def refuse(self, reason: str, help_text: str) -> NoReturn:
        """Raises DiagnosticError."""
        raise DiagnosticError(
            errors.distribution_does_not_fit(
                self.derived.name, reason, self.span, help_text, self.derived.attribute.span
            )
        )

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Its values, or its bins."""
        if isinstance(self.attribute.type, Boolean):
            return points((0, 1))
        low, high = self.attribute.bounds
        whole = isinstance(self.attribute.type, Integer)
        return cells_between(low, high, map(Cut, self.attribute.bins), Inside.UNKNOWN, whole=whole)

    # ---- rows ------------------------------------------------------------------------------------

    def numbers(self, rows: ExactRows) -> Column:
        """Its value in every row."""
        match self.derived.of:
            case None:
                return self._scores(rows)
            case Linear() as form:
                return Scaled.of_fractions([_value(form, point) for point in rows.points()])
            case predicate:
                from fairdsl.numerics.predicates import mask

                return np.asarray(mask(predicate, {Who.EACH: rows}), dtype=np.float64)

    def _scores(self, rows: ExactRows) -> Column:
        from fairdsl.numerics.evaluate import BatchEvaluator
        from fairdsl.numerics.exact import exact_scores

        self._check_model()
        distinct, where = rows.keep(range(self.attributes)).distinct()
        if self.model.rational and len(distinct) <= _EXACTLY:
            exact = [exact_scores(self.model, point)[0] for point in distinct.points()]
            return Scaled.of_fractions([exact[place] for place in where.tolist()])
        scores, bounds = BatchEvaluator(self.model).scores(distinct)
        ends = [scores[:, 0] - bounds[:, 0], scores[:, 0] + bounds[:, 0]]
        low, high = (np.nextafter(end, away) for end, away in zip(ends, (-np.inf, np.inf), strict=True))
        if self.attribute.bins_by is not None or np.any(places(low, self.cells) != places(high, self.cells)):
            why = "scores are known but for their rounding, and some lie that near to an edge"
            self.refuse(why, "move the edges of its bins a little, as in `bins of score at ...`")
        return np.asarray(scores[where, 0], dtype=np.float64)

    def _check_model(self) -> None:
        if self.model.access is not Access.LAYERS or self.model.score_count != 1:
            why = f"`{self.model.name}` has no single score whose arithmetic is known"
            self.refuse(why, "derive it from attributes, or audit a model with a score")

    # ---- networks --------------------------------------------------------------------------------

    @property
    def _tests(self) -> tuple[Predicate, ...]:
        """What decides its cell: a condition, or for each edge whether the sum is as great."""
        match self.derived.of:
            case None:
                return ()
            case Linear() as form:
                edges = self.attribute.bins
                return tuple(Compare(left=form - Linear(constant=edge), relation=Relation.GE) for edge in edges)
            case predicate:
                return (predicate,)

    def _parents(self) -> list[int]:
        return sorted(read_attributes(self.model) if self.derived.of is None else self.derived.read)

    def cut(self, network: Network) -> Network:
        """The network with cells of the parents on each of which the tests that are about it alone do not change."""
        if self.derived.of is None:
            self._check_model()
        apart = set(self._parents()) if self.derived.of is None else by_column(self._tests).together
        for parent in self._parents():
            cuts = {cut for test in self._tests for cut in cuts_in(test, parent)}
            divided = [
                self._divided(network.columns[parent], cell, cuts, parent in apart) for cell in network.cells[parent]
            ]
            network = _recut(network, parent, divided)
        return network

    def _divided(
        self, attribute: Attribute, cell: Cell, cuts: set[Cut], apart: bool
    ) -> tuple[tuple[Cell, ...], tuple[Fraction, ...]]:
        """The parts of a cell, into values where those are to be told ``apart``, and which share of it each is."""
        if cell.inside is Inside.POINT:
            return (cell,), (Fraction(1),)
        whole, (low, high) = isinstance(attribute.type, Integer), (cell.low, cell.high)
        if apart and whole and low is not None and high is not None and high - low < _VALUES:
            cuts = {Cut(low + step) for step in range(1, int(high - low) + 1)}
        elif apart:
            why = f"it depends on every value of `{attribute.name}`, of which the distribution knows ranges"
            self.refuse(why, "take an attribute of few whole numbers, or the rows of a table")
        parts = cells_between(low, high, cuts, cell.inside, whole=whole)
        parts = (*parts[:-1], replace(parts[-1], open=cell.open)) if parts[-1].inside is not Inside.POINT else parts
        if len(parts) == 1:
            return (cell,), (Fraction(1),)
        if cell.inside is Inside.UNKNOWN or low is None or high is None:
            why = f"it changes within a range of `{attribute.name}` of which no more than its probability is known"
            self.refuse(why, f"let the bins of `{attribute.name}` end there too, or take the rows of a table")
        sizes = [(part.high or 0) - (part.low or 0) + whole for part in parts]
        return parts, tuple(Fraction(size) / sum(sizes) for size in sizes)

    def factor(self, network: Network, column: int) -> Factor:
        """Which of its cells follows from each combination of its parents'."""
        parents = self._parents()
        cells = [network.cells[parent] for parent in parents]
        if prod(map(len, cells)) > _COMBINATIONS:
            names = ", ".join(f"`{network.columns[parent].name}`" for parent in parents)
            why = f"it depends on more than {_COMBINATIONS:,} combinations of {names}"
            self.refuse(why, "take the rows of a table, or coarser bins")
        rows: dict[tuple[int, ...], Row] = {}
        for key in product(*(range(len(of_parent)) for of_parent in cells)):
            somebody = {
                parent: key_of(cells[place][cell])
                for place, (parent, cell) in enumerate(zip(parents, key, strict=True))
            }
            rows[key] = _certainly(self._cell(somebody), len(self.cells))
        return Factor(column=column, parents=tuple(parents), rows=rows)

    def _cell(self, values: Mapping[int, Fraction]) -> int:
        """The cell of everybody who has these values of the parents, or lies in their cells."""
        if self.derived.of is None:
            from fairdsl.numerics.exact import exact_scores

            point = tuple(values.get(place, Fraction(0)) for place in range(self.attributes))
            score = exact_scores(self.model, point)[0]
            return sum(score >= edge for edge in self.attribute.bins)
        return sum(holds(test, lambda variable: values[variable.attribute]) for test in self._tests)


def _value(form: Linear, point: Point) -> Fraction:
    return form.value(lambda variable: point[variable.attribute])


def _certainly(cell: int, cells: int) -> Row:
    return tuple(Fraction(place == cell) for place in range(cells))


def _recut(network: Network, column: int, divided: Sequence[tuple[tuple[Cell, ...], tuple[Fraction, ...]]]) -> Network:
    """The same distribution with cells of a column in parts."""
    if all(len(parts) == 1 for parts, _ in divided):
        return network
    first = np.cumsum([0, *(len(parts) for parts, _ in divided)]).tolist()
    inside = [range(first[place], first[place + 1]) for place in range(len(divided))]

    def keys(factor: Factor, key: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        return product(
            *(inside[c] if parent == column else (c,) for parent, c in zip(factor.parents, key, strict=True))
        )

    def row(factor: Factor, of: Row) -> Row:
        if factor.column != column or isinstance(of, Normal):
            return of
        return tuple(mass * share for mass, (_, shares) in zip(of, divided, strict=True) for share in shares)

    factors = tuple(
        replace(factor, rows={new: row(factor, of) for key, of in factor.rows.items() for new in keys(factor, key)})
        for factor in network.factors
    )
    cells = list(network.cells)
    cells[column] = tuple(part for parts, _ in divided for part in parts)
    return replace(network, cells=tuple(cells), factors=factors)
