"""Numbers over rows of a table as reports: by everybody who decides the rows, and the rows on which they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from fairdsl.ir.domain import Domain
from fairdsl.ir.question import Quantity
from fairdsl.report.cells import cell_of
from fairdsl.report.model import Interval, RowReport
from fairdsl.verdict import ByDecider, Decider, DifferingRow, share_value

__all__ = ["by_decider", "differing_rows", "shares_by_decider"]


def by_decider(numbers: Sequence[ByDecider]) -> Mapping[Decider, Interval | None]:
    """The number by everybody who decides; None where it is none."""
    return {each.by: Interval(each.low, each.high) if each.defined else None for each in numbers}


def shares_by_decider(shares: Sequence[ByDecider], quantity: Quantity) -> Mapping[Decider, Interval | None]:
    """The same of fair shares, as what was asked for: the share itself, or its complement."""
    return {each.by: Interval(*share_value(each.low, Fraction(1) - each.high, quantity)) for each in shares}


def differing_rows(rows: Sequence[DifferingRow], domain: Domain, outcomes: Sequence[str]) -> tuple[RowReport, ...]:
    """The rows in the spec's words."""
    return tuple(
        RowReport(
            row=row.row,
            values={
                attribute.name: cell_of(attribute, value)
                for attribute, value in zip(domain.attributes, row.values, strict=True)
            },
            exact=_said(row.exact, outcomes),
            deployed=_said(row.deployed, outcomes),
        )
        for row in rows
    )


def _said(judged: int | bool | None, outcomes: Sequence[str]) -> str | None:
    match judged:
        case bool():
            return "unfair" if judged else "fair"
        case int() if judged >= 0:
            return outcomes[judged]
    return None
