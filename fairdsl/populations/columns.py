"""The cells of each column of a population.

From data, a category, a boolean and an attribute of whole numbers without bins have a cell a value, so that
counts are exact; bins are cells of which nothing is known inside, since the counts say nothing about it. Under
the uniform distribution every value of a cell is alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from fairdsl.diagnostics import Reporter
from fairdsl.ir.domain import Attribute, Integer, ModelThresholds, Quantiles, Real
from fairdsl.ir.exact_rows import Column, ExactRows, fractions_of
from fairdsl.ir.model import Model
from fairdsl.ir.population import Cell, Inside
from fairdsl.numerics.cells import Cut, cells_between, points
from fairdsl.populations import errors
from fairdsl.populations.cutting import MANY, cuts_by_model, cuts_by_quantiles, even_cuts, written_cuts
from fairdsl.source import Span

_WRITE_BINS = "write its bins behind its type, as in `bins at 0.25, 0.5` or `bins by quantiles 4`"


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The columns of a population under construction: what divides them, and where it is reported.

    ``model`` is the one audited (None: not known), ``span`` the place of the distribution's name.
    """

    attributes: tuple[Attribute, ...]
    model: Model | None
    reporter: Reporter
    span: Span

    def of_rows(self, values: ExactRows) -> tuple[tuple[Cell, ...], ...] | None:
        """The cells for rows of data, [rows, columns]; None after reporting a column that has none."""
        found = [self._of_row_values(place, values.column(place)) for place in range(len(self.attributes))]
        return tuple(cells for cells in found if cells is not None) if None not in found else None

    def with_bins(self, values: ExactRows) -> tuple[Attribute, ...] | None:
        """The attributes with bins in numbers in place of those by quantiles or by the model, which are found in
        rows of data, [rows, columns]; None after reporting an attribute that has none."""
        found = [self._with_bins(place, values.column(place)) for place in range(len(self.attributes))]
        return tuple(attribute for attribute in found if attribute is not None) if None not in found else None

    def of_uniform(self) -> tuple[tuple[Cell, ...], ...] | None:
        """The cells under the uniform distribution; None after reporting a column that cannot have it."""
        found = [self._of_all_values(place) for place in range(len(self.attributes))]
        return tuple(cells for cells in found if cells is not None) if None not in found else None

    def _with_bins(self, place: int, values: Column) -> Attribute | None:
        attribute = self.attributes[place]
        if attribute.bins_by is None:
            return attribute
        cuts = self.cuts(place, values)
        if cuts is None:
            return None
        low, high = attribute.bounds
        whole = isinstance(attribute.type, Integer)
        cells = cells_between(low, high, cuts, Inside.UNKNOWN, whole=whole, occurring=values)
        edges = tuple(cell.low for cell in cells[1:] if cell.low is not None)
        return replace(attribute, bins=edges, bins_by=None)

    def _of_row_values(self, place: int, values: Column) -> tuple[Cell, ...] | None:
        attribute = self.attributes[place]
        if not isinstance(attribute.type, Integer | Real):
            return points(attribute.values or ())
        cuts = self.cuts(place, values)
        if cuts is None:
            return None
        low, high = attribute.bounds
        if cuts or attribute.bins_by is not None:
            whole = isinstance(attribute.type, Integer)
            return cells_between(low, high, cuts, Inside.UNKNOWN, whole=whole, occurring=values)
        if isinstance(attribute.type, Real):
            reason = f"`{attribute.name}` is real and has no bins: each row would be a value of its own"
            self._refuse(attribute, reason, _WRITE_BINS)
            return None
        if attribute.size is not None and attribute.size <= MANY:
            return points(attribute.values or ())
        return points(sorted(set(fractions_of(values))))

    def _of_all_values(self, place: int) -> tuple[Cell, ...] | None:
        attribute = self.attributes[place]
        if not isinstance(attribute.type, Integer | Real):
            return points(attribute.values or ())
        low, high = attribute.bounds
        if low is None or high is None:
            reason = f"`{attribute.name}` has no end on one side, so there is no uniform distribution of it"
            self._refuse(attribute, reason, f"declare its range, as in `{attribute.name} : real 0 .. 1`")
            return None
        cuts = self.cuts(place, None)
        if cuts is None:
            return None
        whole = isinstance(attribute.type, Integer)
        if whole and not cuts and high - low < MANY:
            return points(attribute.values or ())
        return cells_between(low, high, cuts, Inside.UNIFORM, whole=whole)

    def cuts(self, place: int, values: Column | None) -> frozenset[Cut] | None:
        """Where the attribute's bins end: written, found in rows, in the model or (None) in a uniform distribution."""
        attribute = self.attributes[place]
        match attribute.bins_by:
            case Quantiles(count=count):
                if values is not None:
                    return cuts_by_quantiles(values, count)
                low, high = attribute.bounds
                assert low is not None
                assert high is not None
                return even_cuts(low, high, count, whole=isinstance(attribute.type, Integer))
            case ModelThresholds():
                return self._model_cuts(place)
            case None:
                return written_cuts(attribute)

    def _refuse(self, attribute: Attribute, reason: str, help_text: str) -> None:
        self.reporter.report(
            errors.distribution_does_not_fit(attribute.name, reason, self.span, help_text, attribute.span)
        )

    def _model_cuts(self, place: int) -> frozenset[Cut] | None:
        """The model's own thresholds of an attribute; None after reporting that it has none."""
        attribute = self.attributes[place]
        cuts = cuts_by_model(self.model, place) if self.model is not None else frozenset()
        if not cuts:
            who = f"`{self.model.name}` compares" if self.model is not None else "no model is known that compares"
            reason = f"{who} `{attribute.name}` with no number, so there are no bins by it"
            self._refuse(attribute, reason, f"{_WRITE_BINS}; only trees and rules have thresholds of their own")
            return None
        return cuts
