"""Putting together a network that a file describes: every column once, no circle, every row a distribution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from fairdsl.diagnostics import DiagnosticError
from fairdsl.ir.population import Cell, CellIndex, Factor, Network, Normal, Row
from fairdsl.populations import errors
from fairdsl.populations.order import circle_of, in_order
from fairdsl.semantics.checked import CheckedDistribution
from fairdsl.source import Span
from fairdsl.source.numbers import not_one

#: Probabilities that miss 1 by more than this were not only rounded.
_ROUNDED = Fraction(1, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFactor:
    """The distribution of a column as a file has it; ``span`` is its place."""

    parents: tuple[int, ...]
    rows: Mapping[tuple[CellIndex, ...], Row]
    span: Span


def column_named(distribution: CheckedDistribution, name: str) -> int | None:
    """The column with this name, or with this header in data files."""
    columns = distribution.columns
    by_name = [place for place, attribute in enumerate(columns) if attribute.name == name]
    by_header = [place for place, attribute in enumerate(columns) if attribute.column == name]
    return next(iter((*by_name, *by_header)), None)


def assembled(
    distribution: CheckedDistribution,
    path: str,
    cells: Mapping[int, tuple[Cell, ...]],
    factors: Mapping[int, ReadFactor],
    *,
    how: str,
    causal: bool = False,
    settings: tuple[tuple[str, str], ...] = (),
) -> Network:
    """The network; raises DiagnosticError (E0572, E0575) where the parts make none.

    With `set renormalise = yes` rows that rounding has left nearly 1 in sum are scaled, and it is said how many.
    """
    columns = distribution.columns
    if dict(distribution.settings).get("renormalise"):
        factors, count = _scaled(factors)
        settings = (*settings, ("renormalise", f"yes: {count:,} of its rows scaled to sum to 1"))
    missing = [attribute.name for place, attribute in enumerate(columns) if place not in factors or place not in cells]
    if missing:
        reason = f"it says nothing about {', '.join(f'`{name}`' for name in missing[:6])}"
        help_text = "add a variable for each attribute, or leave the attributes out of the domain"
        raise DiagnosticError(errors.network_does_not_fit(path, reason, distribution.span, help_text))
    parents = {place: factors[place].parents for place in range(len(columns))}
    for place, given in parents.items():
        if len(set(given)) < len(given):
            _refuse(path, f"the distribution of `{columns[place].name}` names a parent twice", factors[place].span)
    circle = circle_of(parents)
    if circle is not None:
        names = [columns[place].name for place in circle]
        raise DiagnosticError(errors.circle(names, factors[circle[1]].span))
    for place, factor in factors.items():
        _check_rows(
            path, columns[place].name, [len(cells[parent]) for parent in factor.parents], len(cells[place]), factor
        )
    return Network(
        name=distribution.name,
        columns=columns,
        cells=tuple(cells[place] for place in range(len(columns))),
        factors=tuple(
            Factor(column=place, parents=factors[place].parents, rows=factors[place].rows)
            for place in in_order(parents)
        ),
        has_label=distribution.label is not None,
        causal=causal,
        how=how,
        settings=settings,
        span=distribution.span,
    )


def _scaled(factors: Mapping[int, ReadFactor]) -> tuple[dict[int, ReadFactor], int]:
    """The distributions with every row that sums nearly to 1 divided by its sum, and how many needed it."""
    count = 0
    scaled: dict[int, ReadFactor] = {}
    for place, factor in factors.items():
        rows: dict[tuple[CellIndex, ...], Row] = {}
        for key, row in factor.rows.items():
            total = Fraction(1) if isinstance(row, Normal) else sum(row, Fraction(0))
            nearly = total != 1 and abs(total - 1) <= _ROUNDED
            rows[key] = tuple(value / total for value in row) if nearly and not isinstance(row, Normal) else row
            count += nearly
        scaled[place] = replace(factor, rows=rows)
    return scaled, count


def _check_rows(path: str, name: str, sizes: Sequence[int], size: int, factor: ReadFactor) -> None:
    """Positions that there are, probabilities that sum to exactly 1; a normal distribution on a single cell."""
    for key, row in factor.rows.items():
        if len(key) != len(sizes) or any(not 0 <= index < most for index, most in zip(key, sizes, strict=False)):
            _refuse(path, f"the distribution of `{name}` is given values that its parents do not have", factor.span)
        if isinstance(row, Normal):
            if size != 1 or row.sd <= 0:
                _refuse(
                    path, f"the normal distribution of `{name}` needs one range and a positive deviation", factor.span
                )
        elif len(row) != size:
            _refuse(path, f"{len(row)} probabilities for the {size} values of `{name}`", factor.span)
        elif not all(0 <= probability <= 1 for probability in row):
            _refuse(path, f"a probability of `{name}` is not between 0 and 1", factor.span)
        elif (total := sum(row, Fraction(0))) != 1:
            _refuse(path, f"the probabilities of `{name}` sum to {not_one(total)}, not to 1", factor.span)
    if not factor.rows:
        _refuse(path, f"`{name}` has no probabilities", factor.span)


def _refuse(path: str, reason: str, span: Span) -> None:
    help_text = "correct the file; if its probabilities were rounded, write `set renormalise = yes` to have them scaled"
    raise DiagnosticError(errors.network_does_not_fit(path, reason, span, help_text))
